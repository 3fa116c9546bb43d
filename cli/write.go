package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
)

// writing is the run of a verb that changes a graph.
func writing(f func(context.Context, *call, *engine.Graph) error) func(context.Context, *call) error {
	return func(ctx context.Context, c *call) (err error) {
		o, err := c.engineOptions(c.uri)
		if err != nil {
			return err
		}
		o.Write = true
		g, err := engine.Open(ctx, c.uri, o)
		if err != nil {
			return err
		}
		defer func() {
			if e := g.Close(); err == nil && e != nil {
				err = fmt.Errorf("close %s: %w", c.uri, e)
			}
		}()
		return f(ctx, c, g)
	}
}

// isLocal: the address is a path, a file URL, or lies in this process.
func isLocal(uri string) bool {
	scheme, _, ok := strings.Cut(opener.Spelled(uri), "://")
	return !ok || scheme == "file" || scheme == "mem"
}

// target says on stderr what is about to be written to, as the Rust CLI does.
func (c *call) target() {
	where := "local"
	if !isLocal(c.uri) {
		where = "remote storage"
	}
	if !c.boolean("quiet") {
		fmt.Fprintf(c.env.Stderr, "omnideck %s → %s (direct, %s)\n", c.verb.name, out.Clean(c.uri), where)
	}
}

// confirm asks before what destroys is done to a graph that is not local: with
// --yes not at all, and where nobody can answer it is refused.
func (c *call) confirm(label string) error {
	yes := c.boolean("yes")
	if yes || isLocal(c.uri) {
		return nil
	}
	if c.boolean("json") || !isTerminal(c.env.Stdin) {
		return fmt.Errorf("refusing destructive `%s` against non-local target %s without confirmation; pass --yes", label, c.uri)
	}
	fmt.Fprintf(c.env.Stderr, "About to run a destructive `%s` against %s (not local). Type 'yes' to continue: ", label, out.Clean(c.uri))
	answer, err := bufio.NewReader(c.env.Stdin).ReadString('\n')
	if err != nil && answer == "" {
		return fmt.Errorf("read the answer: %w", err)
	}
	if strings.TrimSpace(answer) != "yes" {
		return fmt.Errorf("aborted: destructive `%s` not confirmed", label)
	}
	return nil
}

// actor is who is recorded: --as, else operator.actor, else nobody.
func (c *call) actor() *string {
	name := c.text("actor")
	if !c.given("actor") {
		name = c.op.Operator.Actor
	}
	if name == "" {
		return nil
	}
	return &name
}

// writeOptions are those of load and mutate.
func (c *call) writeOptions() (engine.WriteOptions, error) {
	branch, err := c.branchOf("branch-to")
	return engine.WriteOptions{Branch: branch, Actor: c.actor(), DryRun: c.boolean("dry-run")}, err
}

// receipt takes what the ledger and the user should know of a write.
func (c *call) receipt(r *engine.Receipt) {
	if r == nil {
		return
	}
	if r.Commit != nil {
		c.commit = r.Commit.ID
	}
	if r.Warning != nil {
		c.warn("%v", r.Warning)
	}
}

// planned is the document of --dry-run.
func (c *call) planned(r *engine.Receipt, more ...out.Member) error {
	doc := append([]out.Member{
		out.M("uri", c.uri), out.M("branch", r.Branch), out.M("dry_run", true), out.M("pinned_head", r.Base),
		out.M("tables", append([]engine.WrittenTable{}, r.Tables...)),
	}, more...)
	return c.answer(doc, func(t *out.Text) {
		t.Line("nothing was written; on %s at %s this would", r.Branch, r.Base)
		if len(r.Tables) == 0 {
			t.Line("  change no table")
		}
		for _, x := range r.Tables {
			switch {
			case x.Deleted > 0:
				t.Line("  %s: delete %s (of %d): %s", x.Table, part.Plural(int64(x.Deleted), "row", "rows"), x.Rows, x.Text)
			default:
				t.Line("  %s: write %s (beside %d)", x.Table, part.Plural(int64(x.Written), "row", "rows"), x.Rows)
			}
		}
	})
}

// movedError is said on stdout with --json, and decides the exit code alone.
type movedError struct{ *engine.HeadMovedError }

func (e *movedError) Unwrap() error { return e.HeadMovedError }

// moved prints the body that scripts read when the head moved.
func (c *call) moved(err error) error {
	var m *engine.HeadMovedError
	if !errors.As(err, &m) || !c.boolean("json") {
		return err
	}
	body := struct {
		Expected string `json:"expected"`
		Actual   string `json:"actual"`
	}{m.Expected, m.Actual}
	return also(out.Document(c.out, out.M("error", m.Error()), out.M("precondition_failure", body)), &movedError{m})
}
