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

func fragmentsVerb() *verb {
	return &verb{
		name: "fragments", args: "TABLE", need: 1, group: "look", flags: []string{"branch", "at"},
		short:   "How a table lies on disk: fragments, files, deletions, indexes",
		example: "fragments demo: node:Port\nfragments demo: edge:CallsAt --at archive --json",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
			table, err := tableName(c.args[0])
			if err != nil {
				return err
			}
			f, err := g.Fragments(ctx, table, at)
			if err != nil {
				return err
			}
			return c.own(f, func(t *out.Text) { printFragments(t, f) })
		}),
	}
}

func printFragments(t *out.Text, f *engine.Fragments) {
	t.Line("%s v%d on %s: %s, %d rows recorded, %s, %d small, %.1f %% deleted", f.Table, f.Version, mainOr(f.Branch),
		part.Plural(len(f.Fragments), "fragment", "fragments"), f.Rows, part.Bytes(f.Bytes), f.Small, f.DeletedShare*100)
	rows := make([][]out.Cell, 0, len(f.Fragments))
	for _, x := range f.Fragments {
		rows = append(rows, fragmentRow(x))
	}
	t.Table([]out.Column{{Name: "fragment", Right: true}, {Name: "rows", Right: true}, {Name: "deleted", Right: true}, {Name: "bytes", Right: true},
		{Name: "format"}, {Name: "files"}}, rows)
	printHistogram(t, f)
	for _, i := range f.Indexes {
		t.Line("index %s  %s on %s  covers %d rows in %d fragments, %d fragments uncovered", i.Name, i.Kind, strings.Join(i.Fields, ", "),
			i.CoveredRows, i.CoveredFragments, i.UncoveredFragments)
		for _, x := range i.Segments {
			t.Line("  %s", segmentLine(x))
		}
	}
}

// segmentLine is one physical part of an index.
func segmentLine(x engine.IndexSegment) string {
	text := fmt.Sprintf("segment %s  of version %d  covers %s", x.UUID, x.Version, part.Plural(x.Fragments, "fragment", "fragments"))
	if x.Missing > 0 {
		text += fmt.Sprintf(", %d of them gone", x.Missing)
	}
	if x.Bytes != nil {
		text += ", " + part.Bytes(*x.Bytes)
	}
	if !x.CreatedAt.IsZero() {
		text += ", built " + moment(x.CreatedAt)
	}
	if x.Base != "" {
		text += ", of " + x.Base
	}
	return text
}

func fragmentRow(x engine.Fragment) []out.Cell {
	var (
		bytes   uint64
		formats []string
		files   []string
	)
	for _, file := range x.Files {
		bytes += file.Bytes
		if len(formats) == 0 || formats[len(formats)-1] != file.Version {
			formats = append(formats, file.Version)
		}
		name := file.Path
		if file.Base != "" {
			name += " of " + file.Base
		}
		files = append(files, name)
	}
	if x.DeletionFile != "" {
		files = append(files, x.DeletionFile)
	}
	return []out.Cell{out.C(decimal(x.ID)), out.C(decimal(x.Rows)), out.C(decimal(x.Deleted)), out.C(part.Bytes(bytes)),
		out.C(strings.Join(formats, ", ")), out.C(strings.Join(files, ", "))}
}

// printHistogram draws how many fragments have how many rows.
func printHistogram(t *out.Text, f *engine.Fragments) {
	const full = 30
	top, label := 0, 0
	for _, b := range f.Histogram {
		top, label = max(top, b.Count), max(label, len(bucketText(b)))
	}
	for _, b := range f.Histogram {
		bar := strings.Repeat("#", (b.Count*full+top-1)/max(top, 1))
		t.Raw(fmt.Sprintf("%*s rows  %s %d\n", label, bucketText(b), t.Paint(theme.Accent, bar), b.Count))
	}
}

func bucketText(b engine.Bucket) string {
	if b.From == b.To {
		return decimal(b.From)
	}
	return decimal(b.From) + "–" + decimal(b.To)
}
