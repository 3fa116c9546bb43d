package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

func versionsVerb() *verb {
	return &verb{
		name: "versions", args: "[TABLE]", more: 1, group: "look", flags: []string{"branch", "limit", "ndjson"},
		short:   "The version chain of a table, newest first, and what holds each version",
		long:    "The version chain of a table, newest first: what made each version, how large it is, and what holds it.\nTABLE is node:TYPE, edge:TYPE or __manifest (the default). Reads manifests, never rows.",
		example: "versions demo:\nversions demo: node:Port --limit 5",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
			table := manifestTable
			if len(c.args) > 0 {
				var err error
				if table, err = tableName(c.args[0]); err != nil {
					return err
				}
			}
			v, err := g.Versions(ctx, table, at.Branch, engine.VersionsOptions{Limit: c.integer("limit"), Details: true, Holders: true})
			if err != nil && (v == nil || !partial(err)) {
				return err
			}
			if c.boolean("ndjson") {
				return also(lines(c, slices.Values(v.Versions)), err)
			}
			return also(c.own(v, func(t *out.Text) { printVersions(t, c.uri, v) }), err)
		}),
	}
}

func printVersions(t *out.Text, uri string, v *engine.Versions) {
	head := fmt.Sprintf("%s on %s: %s, oldest %d, %s of manifests, %s", v.Table, mainOr(v.Branch), part.Plural(v.Count, "version", "versions"),
		v.Oldest, part.Bytes(v.Bytes), part.Plural(v.ListPages, "list page", "list pages"))
	if len(v.Versions) < v.Count {
		head += fmt.Sprintf("; the newest %d follow", len(v.Versions))
	}
	t.Line("%s", head)
	rows := make([][]out.Cell, 0, len(v.Versions))
	for _, x := range v.Versions {
		rows = append(rows, versionRow(x, v.Head, v.Published))
	}
	t.Table([]out.Column{{Name: ""}, {Name: "version", Right: true}, {Name: "written"}, {Name: "operation"}, {Name: "rows recorded", Right: true},
		{Name: "fragments", Right: true}, {Name: "data", Right: true}, {Name: "added", Right: true}, {Name: "manifest", Right: true}, {Name: "writer"}, {Name: "held by"}}, rows)
	findings(t, uri, v.Findings)
}

// versionRow marks the version that exists last (H) and the one that the graph
// names (P); between them is drift.
func versionRow(x engine.Version, head, published uint64) []out.Cell {
	mark := ""
	if x.Version == head {
		mark = "H"
	}
	if x.Version == published {
		mark += "P"
	}
	var held []string
	for _, h := range x.HeldBy {
		held = append(held, holderText(h))
	}
	if x.Problem != "" {
		held = append([]string{x.Problem}, held...)
	}
	return []out.Cell{{Text: mark, Role: theme.Strong}, out.C(decimal(x.Version)), {Text: moment(x.CreatedAt), Role: theme.Muted}, out.C(x.Operation),
		out.C(optional(x.Rows)), out.C(optional(x.Fragments)), out.C(sizeOr(x.DataBytes)), out.C(sizeOr(x.AddedBytes)), out.C(part.Bytes(x.ManifestBytes)), out.C(x.Writer), heldCell(x, held)}
}

func heldCell(x engine.Version, held []string) out.Cell {
	cell := out.C(strings.Join(held, ", "))
	if x.Problem != "" {
		cell.Role = theme.Bad
	}
	return cell
}

func holderText(h engine.Holder) string {
	kind := strings.ReplaceAll(h.Kind, "_", " ")
	if h.Name == "" || h.Name == kind {
		return kind
	}
	return kind + " " + h.Name
}

// optional is a number that may be unknown.
func optional[T ~int | ~uint64](n *T) string {
	if n == nil {
		return "?"
	}
	return decimal(*n)
}

// sizeOr is a number of bytes that may be unknown.
func sizeOr(n *uint64) string {
	if n == nil {
		return "?"
	}
	return part.Bytes(*n)
}

// mainOr is a branch name, "" being main.
func mainOr(name string) string {
	if name == "" {
		return "main"
	}
	return name
}
