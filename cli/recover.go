package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

func recoverVerb() *verb {
	return &verb{
		name: "recover", group: "change", flags: []string{"apply", "at-once", "moved", "operation", "set-aside", "why"},
		short: "What operations that stopped part-way left, and what is right about each",
		long: "Show every record in __recovery/: what it means, whose it is, since when, what it waits for, what would be done, table by\ntable and key by key, and what waits for it. Changes nothing.\n\n" +
			"--apply does it, oldest first. A record that is younger than 30 seconds may be that of a writer at work and is waited for;\n--now acts on it at once, which can lose a write when its writer still runs. A graph that was moved or copied since needs --moved, or its name\ntyped at a terminal. What nobody may act on is left, with the reason.\n\n" +
			"--set-aside shows how one such record is moved out of the way, with --apply it is moved; nothing is deleted. Exits with 6 when a record stays\nthat cannot be recovered by itself.",
		example: "recover demo:\nrecover s3://bucket/graph --apply\nrecover s3://bucket/graph --set-aside __recovery/01ABC.json --why 'cut by a full disk'",
		run: func(ctx context.Context, c *call) error {
			r, err := c.recovery()
			switch {
			case err != nil:
				return err
			case c.given("set-aside"):
				return c.setAside(ctx)
			case c.boolean("apply"):
				return writing(func(ctx context.Context, c *call, g *engine.Graph) error { return applyRecovery(ctx, c, g, r) })(ctx, c)
			}
			return reading(func(ctx context.Context, c *call, g *engine.Graph, _ engine.At) error {
				return showRecovery(ctx, c, g, r)
			})(ctx, c)
		},
	}
}

// recovery reads what may be done from the command line.
func (c *call) recovery() (r engine.RecoverOptions, err error) {
	r = engine.RecoverOptions{Only: c.texts("operation"), Now: c.boolean("at-once"), Moved: c.boolean("moved")}
	aside, apply := c.given("set-aside"), c.boolean("apply")
	switch {
	case (r.Now || r.Moved) && (!apply || aside):
		return r, usagef("--now and --moved say what --apply may act on: they cannot be used without it, nor with --set-aside")
	case aside && len(r.Only) > 0:
		return r, usagef("--set-aside names a record itself: it cannot be used with --operation")
	case aside != c.given("why"), aside && (c.text("set-aside") == "" || strings.TrimSpace(c.text("why")) == ""):
		return r, usagef("--set-aside KEY and --why TEXT go together, and neither is empty: what is moved away says why")
	}
	return r, nil
}

// refusedError decides the exit code of what was said on stdout.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

// showRecovery prints the plan.
func showRecovery(ctx context.Context, c *call, g *engine.Graph, r engine.RecoverOptions) error {
	p, err := g.PlanRecovery(ctx)
	if err != nil {
		return err
	}
	if err := onlyThese(p, r.Only); err != nil {
		return err
	}
	if err := c.own(p, func(t *out.Text) { c.printRecovery(t, p, r.Only) }); err != nil {
		return err
	}
	var stays []string
	for i := range p.Records {
		if p.Records[i].Stops(p.LookedAt, r) == engine.RecoveryRefused {
			stays = append(stays, p.Records[i].Key)
		}
	}
	if p.Staging != nil && p.Staging.Do == "decide" {
		stays = append(stays, p.Staging.Keys...)
	}
	if len(stays) > 0 {
		return &refusedError{fmt.Errorf("%s cannot be recovered by itself", strings.Join(stays, ", "))}
	}
	return nil
}

// onlyThese leaves the records that were asked for.
func onlyThese(p *engine.RecoveryPlan, ids []string) error {
	asked := func(r engine.RecoveryRecord, id string) bool { return r.Operation == id || r.Key == id }
	for _, id := range ids {
		if !slices.ContainsFunc(p.Records, func(r engine.RecoveryRecord) bool { return asked(r, id) }) {
			return &engine.NotFoundError{What: "recovery record", Name: id, Where: "in __recovery/"}
		}
	}
	if len(ids) > 0 {
		p.Staging = nil
		p.Records = slices.DeleteFunc(p.Records, func(r engine.RecoveryRecord) bool {
			return !slices.ContainsFunc(ids, func(id string) bool { return asked(r, id) })
		})
	}
	return nil
}

// applyRecovery does what is right.
func applyRecovery(ctx context.Context, c *call, g *engine.Graph, r engine.RecoverOptions) error {
	if !r.Moved && !c.boolean("json") && isTerminal(c.env.Stdin) {
		moved, err := c.confirmMoved(ctx, g, r.Only)
		if err != nil {
			return err
		}
		r.Moved = moved
	}
	told := newRecoveryTalk(c)
	r.Events = told.hear
	rec, err := g.Recover(ctx, r)
	told.end()
	if err != nil && len(rec.Settled) == 0 {
		return err
	}
	for _, s := range rec.Settled {
		if s.Commit != "" {
			c.commit = s.Commit
		}
	}
	if printed := c.own(rec, func(t *out.Text) { printRecovered(t, rec) }); printed != nil || err != nil {
		return also(printed, err)
	}
	if refused := rec.Refused(); refused != nil {
		return &refusedError{refused}
	}
	return nil
}

// confirmMoved asks for the name of a graph that was moved or copied since its
// records were written (decisions 41).
func (c *call) confirmMoved(ctx context.Context, g *engine.Graph, only []string) (bool, error) {
	p, err := g.PlanRecovery(ctx)
	if err == nil {
		err = onlyThese(p, only)
	}
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(p.Records, func(r engine.RecoveryRecord) bool {
		return r.Stops(p.LookedAt, engine.RecoverOptions{Now: true}) == engine.RecoveryMoved
	})
	if i < 0 {
		return false, nil
	}
	name := graphName(c.uri)
	fmt.Fprintf(c.env.Stderr, "%s was written when this graph lay at %s. Recover it here only when nothing recovers it there. Type '%s' to go on: ",
		out.Clean(p.Records[i].Key), out.Clean(p.Records[i].RecordedRoot), out.Clean(name))
	answer, err := bufio.NewReader(c.env.Stdin).ReadString('\n')
	if err != nil && answer == "" {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	if strings.TrimSpace(answer) != name {
		return false, errors.New("aborted: that this is the moved graph was not confirmed; nothing was changed")
	}
	return true, nil
}

// graphName is what people call a graph: the last part of its address.
func graphName(uri string) string {
	uri = strings.TrimRight(uri, "/")
	if uri == "" || strings.HasSuffix(uri, ":") {
		return uri
	}
	return path.Base(uri)
}

// setAside shows how a record is moved out of the way, or moves it.
func (c *call) setAside(ctx context.Context) error {
	key, why, apply := c.text("set-aside"), c.text("why"), c.boolean("apply")
	do := func(ctx context.Context, c *call, g *engine.Graph) error {
		p, err := g.PlanSetAside(ctx, key, why)
		if err != nil {
			return err
		}
		if !apply || p.Refused != "" {
			if err := c.own(p, func(t *out.Text) { c.printAside(t, p) }); err != nil {
				return err
			}
			if p.Refused != "" {
				return &refusedError{errors.New(p.Refused)}
			}
			return nil
		}
		done, err := g.SetAside(ctx, p)
		if err != nil {
			return err
		}
		return c.own(done, func(t *out.Text) {
			for _, o := range done.Objects {
				t.Line("moved %s to %s", o.Key, o.To)
			}
			t.Line("%s says what and why", done.Manifest)
		})
	}
	if apply {
		return writing(do)(ctx, c)
	}
	return reading(func(ctx context.Context, c *call, g *engine.Graph, _ engine.At) error { return do(ctx, c, g) })(ctx, c)
}
