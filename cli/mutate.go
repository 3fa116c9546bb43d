package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

func mutateVerb() *verb {
	return &verb{
		name: "mutate", alias: "change", args: "[NAME]", more: 1, named: true, group: "change",
		flags: []string{"query-file", "query-string", "params", "params-file", "branch-to", "if-commit", "actor", "yes", "dry-run", "plan"},
		short: "Insert, update and delete, as one commit",
		long:  "Run a mutation of a .gq source as one commit: all of it or nothing. NAME chooses one of several queries.\n\n--if-commit runs it only when the branch is at that commit; else nothing is written and the exit code is 4.\n--dry-run checks it against the graph and says what it would do; --plan does what a plan shown says, or nothing (exit code 4).",
		example: "mutate demo: -e 'query q() { delete Port where code = \"NLRTM\" }' --dry-run\n" +
			"mutate ports --query edits.gq rename --params '{\"code\":\"NLRTM\"}'",
		run: func(ctx context.Context, c *call) error {
			c.boolean("yes") // confirms what destroys, which a mutation is not taken for
			m, err := c.mutation()
			if err != nil {
				return err
			}
			return writing(func(ctx context.Context, c *call, g *engine.Graph) error { return mutate(ctx, c, g, m) })(ctx, c)
		},
	}
}

// mutation reads what to run from the command line.
func (c *call) mutation() (m engine.MutateOptions, err error) {
	switch {
	case c.given("query-file") && c.given("query-string"):
		return m, usagef("--query and -e cannot be used together: name one source")
	case c.given("params") && c.given("params-file"):
		return m, usagef("--params and --params-file cannot be used together: give the parameters once")
	}
	if m.WriteOptions, err = c.writeOptions(); err != nil {
		return m, err
	}
	if c.given("if-commit") {
		id := c.text("if-commit")
		m.IfCommit = &id
	}
	if len(c.args) > 0 {
		m.Name = c.args[0]
	}
	switch {
	case c.given("query-string"):
		m.Source = c.text("query-string")
	case c.given("query-file"):
		source, err := os.ReadFile(c.text("query-file"))
		if err != nil {
			return m, fmt.Errorf("read the query: %w", err)
		}
		m.Source = string(source)
	default:
		return m, errors.New("no mutation to run: give -e 'GQ' or --query FILE")
	}
	m.Params, err = c.params()
	return m, err
}

func (c *call) params() (p []byte, err error) {
	switch {
	case c.given("params"):
		p = []byte(c.text("params"))
	case c.given("params-file"):
		if p, err = os.ReadFile(c.text("params-file")); err != nil {
			return nil, fmt.Errorf("read the parameters: %w", err)
		}
	default:
		return nil, nil
	}
	if !json.Valid(p) {
		return nil, fmt.Errorf("read the parameters: %w", json.Unmarshal(p, new(any)))
	}
	return p, nil
}

func mutate(ctx context.Context, c *call, g *engine.Graph, m engine.MutateOptions) error {
	id, err := c.asked()
	if err != nil {
		return err
	}
	if c.boolean("dry-run") {
		p, err := g.PlanMutate(ctx, m)
		if err != nil {
			return c.moved(err)
		}
		return c.planned(p, out.M("actor_id", m.Actor))
	}
	if id != "" {
		if m.Plan, err = g.PlanMutate(ctx, m); err == nil {
			err = m.Plan.Check(id)
		}
		if err != nil {
			return c.moved(err)
		}
	}
	name, r, err := g.Mutate(ctx, m)
	if err != nil {
		return c.moved(err)
	}
	c.receipt(r)
	nodes, edges := out.M("affected_nodes", r.Nodes), out.M("affected_edges", r.Edges)
	doc := []out.Member{out.M("branch", r.Branch), out.M("query_name", name), nodes, edges, out.M("actor_id", m.Actor), out.M("commit", r.Commit)}
	return c.answer(doc, func(t *out.Text) {
		t.Line("changed %s via %s: %d nodes, %d edges", r.Branch, name, r.Nodes, r.Edges)
		if m.Actor != nil {
			t.Line("actor_id: %s", *m.Actor)
		}
	})
}
