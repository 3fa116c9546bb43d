package cli

import (
	"context"
	"strings"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/theme"
)

func branchListVerb() *verb {
	return &verb{
		name: "branch list", flags: []string{"uri", "details"},
		short:   "The names of the branches, main among them",
		long:    "The names of the branches in byte order, main among them. --details reads each branch and prints where it\nbegan, its head, how far it is ahead of main, which tables it owns and which branches need it.",
		example: "branch list demo:\nbranch list demo: --details",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, _ engine.At) error {
			if c.boolean("details") {
				return branchDetails(ctx, c, g)
			}
			names, err := g.BranchNames(ctx)
			if err != nil {
				return err
			}
			return c.shared(struct {
				Branches []string `json:"branches"`
			}{names}, func(t *out.Text) {
				for _, n := range names {
					t.Line("%s", n)
				}
			})
		}),
	}
}

func branchDetails(ctx context.Context, c *call, g *engine.Graph) error {
	all, err := g.Branches(ctx)
	if err != nil {
		return err
	}
	return c.own(struct {
		Branches []engine.Branch `json:"branches"`
	}{all}, func(t *out.Text) {
		rows := make([][]out.Cell, 0, len(all))
		for _, b := range all {
			rows = append(rows, branchRow(b))
		}
		t.Table([]out.Column{{Name: "branch"}, {Name: "version", Right: true}, {Name: "head"}, {Name: "ahead", Right: true},
			{Name: "owned", Right: true}, {Name: "began at"}, {Name: "created"}, {Name: "needed by"}}, rows)
		for _, b := range all {
			findings(t, c.uri, b.Findings)
		}
	})
}

func branchRow(b engine.Branch) []out.Cell {
	if b.Problem != "" {
		return []out.Cell{out.C(b.Name), out.C(""), {Text: b.Problem, Role: theme.Bad}, out.C(""), out.C(""), out.C(""), out.C(""), out.C("")}
	}
	head, began := b.Head, ""
	if !b.OwnHead && b.Parent != "" {
		head += " (of " + b.Parent + ")"
	}
	if b.Parent != "" {
		began = b.Parent + " version " + decimal(b.ForkVersion)
	}
	return []out.Cell{out.C(b.Name), out.C(decimal(b.ManifestVersion)), out.C(head), out.C(decimal(b.Ahead)),
		out.C(decimal(b.OwnedTables)), out.C(began), out.C(moment(b.Created)), out.C(strings.Join(b.NeededBy, ", "))}
}
