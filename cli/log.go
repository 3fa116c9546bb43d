package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

func logVerb() *verb {
	return &verb{
		name: "log", group: "look", flags: []string{"branch", "limit", "graph", "ndjson"},
		short:   "Commits newest first, with the tables that each one changed",
		long:    "Commits newest first, with the tables that each one changed. Without --graph those that one branch can reach;\nwith --graph those of all branches, drawn as a graph (--branch then narrows it to one).",
		example: "log demo:\nlog demo: --graph\nlog demo: --branch review/new-calls --limit 3 --json",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
			drawn := c.boolean("graph")
			var (
				all *engine.Log
				err error
			)
			if drawn && at.Branch == "" {
				all, err = g.LogAll(ctx, c.integer("limit"))
			} else {
				all, err = g.Log(ctx, at.Branch, c.integer("limit"))
			}
			if err != nil && !partial(err) {
				return err
			}
			if c.boolean("ndjson") {
				return also(lines(c, all.Entries()), err)
			}
			return also(c.own(struct {
				Commits *engine.Log `json:"commits"`
			}{all}, func(t *out.Text) { printLog(t, all, drawn, c.integer("limit")) }), err)
		}),
	}
}

// printLog prints a row for each commit and, without the drawing, a line for
// each table that it changed. A merged commit that is not in a whole history
// went with its branch, and gets no lane.
func printLog(t *out.Text, all *engine.Log, drawn bool, limit int) {
	var rows []part.Row
	lanes := 0
	if drawn {
		cut := limit > 0 && all.Len() >= limit
		dag := part.NewDag(all.Len(), func(i int) part.Node {
			n := dagNode(all.Commit(i))
			if !cut && all.Merged(i) < 0 {
				n.Merged = ""
			}
			return n
		})
		rows = dag.Window(t.Theme(), 0, all.Len())
		for _, r := range rows {
			lanes = max(lanes, r.Width())
		}
	}
	for i := range all.Len() {
		e := all.Entry(i)
		var b strings.Builder
		if drawn {
			for _, s := range rows[i].Cells {
				b.WriteString(t.Paint(s.Role, s.Text))
			}
			b.WriteString(strings.Repeat(" ", lanes-rows[i].Width()) + " ")
		}
		b.WriteString(commitLine(t, e, drawn))
		t.Raw(b.String() + "\n")
		if !drawn {
			for _, ch := range e.Changed {
				t.Line("  %s", changeText(ch))
			}
		}
	}
}

func dagNode(k engine.Commit) part.Node {
	n := part.Node{ID: k.ID}
	if k.Parent != nil {
		n.Parent = *k.Parent
	}
	if k.MergedParent != nil {
		n.Merged, n.Mark = *k.MergedParent, part.MarkMerge
	}
	if k.Actor != nil && strings.HasPrefix(*k.Actor, "omnigraph:") {
		n.Mark = part.MarkSystem
	}
	return n
}

func commitLine(t *out.Text, e engine.LogEntry, drawn bool) string {
	words := []string{
		t.Paint(theme.Strong, e.ID),
		t.Paint(theme.Muted, moment(e.Time())),
		out.Clean(e.BranchName()) + " v" + decimal(e.ManifestVersion),
	}
	if e.Actor != nil {
		words = append(words, "by "+out.Clean(*e.Actor))
	}
	if e.MergedParent != nil {
		words = append(words, "merges "+out.Clean(*e.MergedParent))
	}
	if drawn {
		var changed []string
		for _, ch := range e.Changed {
			changed = append(changed, rowsText(ch))
		}
		words = append(words, t.Paint(theme.Muted, strings.Join(changed, ", ")))
	}
	return strings.TrimRight(strings.Join(words, "  "), " ")
}

// rowsText is a change in a few words: node:Port +3.
func rowsText(ch engine.TableChange) string {
	switch {
	case ch.FromVersion == 0:
		return fmt.Sprintf("%s new, %d rows", ch.Table, ch.RowsDelta)
	case ch.ToVersion == 0:
		return ch.Table + " dropped"
	case ch.RowsDelta == 0:
		return ch.Table
	}
	return fmt.Sprintf("%s %+d", ch.Table, ch.RowsDelta)
}

func changeText(ch engine.TableChange) string {
	s := fmt.Sprintf("%s  v%d → v%d", ch.Table, ch.FromVersion, ch.ToVersion)
	switch {
	case ch.FromVersion == 0:
		s = fmt.Sprintf("%s  new at v%d", ch.Table, ch.ToVersion)
	case ch.ToVersion == 0:
		s = fmt.Sprintf("%s  dropped at v%d", ch.Table, ch.FromVersion)
	}
	s += fmt.Sprintf("  rows %+d", ch.RowsDelta)
	if ch.FragmentsDelta != nil {
		s += fmt.Sprintf("  fragments %+d", *ch.FragmentsDelta)
	}
	return s
}
