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
	return engine.WriteOptions{Branch: branch, Actor: c.actor(), Events: c.others()}, err
}

// others tells of other operations: one that is waited for, once, and one that
// was recovered first.
func (c *call) others() func(engine.WriteEvent) {
	told := ""
	return func(e engine.WriteEvent) {
		switch {
		case e.Step == engine.StepWaiting && e.Operation != told:
			told = e.Operation
			c.note("waiting for operation %s, whose writer may be at work, until %s", e.Operation, moment(e.Until))
		case e.Step == engine.StepRecovered:
			c.note("operation %s, which was left half done and stood in the way, was recovered first", e.Operation)
		}
	}
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

// asked is --plan: the id of a plan that was looked at; "" = none.
func (c *call) asked() (id string, err error) {
	id = c.text("plan")
	switch {
	case c.given("plan") && id == "":
		return "", usagef("--plan is empty: give the plan_id that --dry-run showed")
	case id != "" && c.boolean("dry-run"):
		return "", usagef("--plan and --dry-run cannot be used together: the one does what the other shows")
	}
	return id, nil
}

// planned prints the plan of --dry-run.
func (c *call) planned(p *engine.WritePlan, more ...out.Member) error {
	c.commit = p.PinnedHead
	doc := append([]out.Member{out.M("uri", c.uri), out.M("dry_run", true), out.All(p)}, more...)
	return c.answer(doc, func(t *out.Text) {
		t.Line("nothing was written; on %s at %s this would", p.Branch, p.PinnedHead)
		if len(p.Tables) == 0 {
			t.Line("  change no table")
		}
		for _, x := range p.Tables {
			t.Line("  %s: %s (of %d): %s", x.Table, changes(x), x.Rows+x.Deleted-x.Inserted, x.Why)
			if x.Text != "" {
				t.Line("    where %s", x.Text)
			}
		}
		if p.Reversible != "" {
			t.Line("it can be taken back %s", p.Reversible)
		}
		t.Line("it asks the store for about %s; plan %s, to be done as it is with --plan %s", part.Plural(p.RequestsEstimate, "request", "requests"), p.ID, p.ID)
	})
}

// changes says what becomes of rows.
func changes(t engine.WrittenTable) string {
	var parts []string
	for _, x := range []struct {
		verb string
		n    uint64
	}{{"insert", t.Inserted}, {"update", t.Updated}, {"delete", t.Deleted}} {
		if x.n > 0 {
			parts = append(parts, x.verb+" "+part.Plural(int64(x.n), "row", "rows"))
		}
	}
	return strings.Join(parts, ", ")
}

// movedError is said on stdout with --json, and decides the exit code alone.
type movedError struct{ error }

func (e *movedError) Unwrap() error { return e.error }

// moved prints the body that scripts read when the head, or a plan, moved.
func (c *call) moved(err error) error {
	type heads struct {
		Expected string `json:"expected"`
		Actual   string `json:"actual"`
	}
	var (
		head *engine.HeadMovedError
		plan *engine.PlanMovedError
	)
	switch {
	case !c.boolean("json"):
		return err
	case errors.As(err, &head):
		return also(out.Document(c.out, out.M("error", head.Error()), out.M("precondition_failure", heads{head.Expected, head.Actual})), &movedError{err})
	case errors.As(err, &plan):
		body := []out.Member{out.M("error", plan.Error()), out.M("precondition_failure", heads{plan.Planned, plan.Now}), out.M("plan_id", plan.Plan), out.M("why", plan.Why)}
		return also(out.Document(c.out, body...), &movedError{err})
	}
	return err
}
