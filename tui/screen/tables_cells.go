package screen

import (
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

func (s *Tables) table(e *Env, snap *engine.Snapshot, n int) part.Table {
	rows := snap.Datasets
	var most uint64
	for i := range rows {
		most = max(most, rows[i].EntityCount)
	}
	tb := part.Table{
		Columns: []part.Column{
			{Title: "table", Min: 24},
			{Title: "rows", Right: true},
			{Title: "", Max: 12, Drop: 9},
			{Title: "version", Right: true, Drop: 2},
			{Title: "owner", Min: 6, Max: 20, Drop: 1},
		},
		N: n, Heading: true,
		Row: func(p int) []part.Span { return s.row(e, snap, s.lens.item(p), most) },
	}
	if len(s.layouts) > 0 {
		tb.Columns[3].Drop, tb.Columns[4].Drop = 7, 8
		tb.Columns = append(tb.Columns, part.Column{Title: "fragments", Right: true, Drop: 3}, part.Column{Title: "small", Right: true, Drop: 5},
			part.Column{Title: "bytes", Right: true, Drop: 4}, part.Column{Title: "indexed", Right: true, Drop: 6})
	}
	return tb
}

func (s *Tables) row(e *Env, snap *engine.Snapshot, i int, most uint64) []part.Span {
	g := e.Theme.Glyph
	if i >= len(snap.Datasets) {
		out := []part.Span{part.S(manifestTable), part.R(theme.Muted, "-"), part.S(""), part.S("v" + part.Count(snap.GraphManifestVersion)), part.R(theme.Muted, "the graph itself")}
		if len(s.layouts) > 0 {
			out = append(out, part.S(""), part.S(""), part.S(""), part.S(""))
		}
		return out
	}
	d := snap.Datasets[i]
	owner, role := "main", theme.Muted
	if d.NativeBranch != nil {
		owner, role = part.Clean(*d.NativeBranch, g), theme.Accent
	}
	out := []part.Span{
		part.S(part.Clean(d.Table(), g)), part.S(part.Count(d.EntityCount)),
		part.R(theme.Accent, part.Bar(g, float64(d.EntityCount), float64(most), 12)),
		part.S("v" + part.Count(d.Version)), part.R(role, owner),
	}
	if len(s.layouts) > 0 {
		out = append(out, s.layoutCells(e, d.Table())...)
	}
	return out
}

// layoutCells are what one manifest says of a table, or why it does not.
func (s *Tables) layoutCells(e *Env, table string) []part.Span {
	l := s.layouts[table]
	none := part.S("")
	if l == nil {
		return []part.Span{none, none, none, none}
	}
	v, ok := l.Get()
	switch {
	case !ok && l.busy:
		return []part.Span{part.R(theme.Muted, e.Theme.Glyph.More), none, none, none}
	case !ok && l.err != nil:
		return []part.Span{part.R(theme.Bad, e.Theme.Glyph.Bad+" unread"), none, none, none}
	case !ok:
		return []part.Span{part.R(theme.Muted, "-"), none, none, none}
	}
	small, indexed := part.R(theme.Muted, "-"), part.R(theme.Muted, "none")
	if v.fragments > 1 {
		small = part.S(part.Percent(float64(v.small) / float64(v.fragments)))
	}
	if v.indexes > 0 {
		indexed = part.S(part.Percent(v.covered))
		if v.covered < 1 {
			indexed.Role = theme.Warn
		}
	}
	return []part.Span{part.S(part.Count(v.fragments)), small, part.S(part.Bytes(v.bytes)), indexed}
}

func layoutDoc(d *part.Doc, v *layout) {
	frags := part.Count(v.fragments)
	if v.fragments > 1 {
		frags += ", " + part.Count(v.small) + " of them small"
	}
	d.Fact("fragments", frags)
	d.Fact("bytes", part.Bytes(v.bytes))
	d.Fact("deleted rows", part.Percent(v.deleted))
	switch {
	case v.indexes == 0:
		d.Fact("indexes", "none")
	case v.covered < 1:
		d.FactRole("indexes", theme.Warn, part.Count(v.indexes)+"; "+v.uncoveredIndex+" covers "+part.Percent(v.covered)+": a look-up also scans "+part.Plural(v.uncoveredInWork, "fragment", "fragments"))
	default:
		d.Fact("indexes", part.Count(v.indexes)+", all fragments covered")
	}
}

func tableDoc(d *part.Doc, ds engine.Dataset) {
	d.Head(ds.Table())
	d.Fact("rows", part.Count(ds.EntityCount)+", as recorded at the last publish")
	d.Fact("version", "v"+part.Count(ds.Version)+" is published")
	d.Fact("owner", ownerOf(ds)+": the branch on which this version was written")
}

// lieDoc says where a table lies.
func lieDoc(d *part.Doc, ds engine.Dataset) {
	d.Fact("path", ds.Path)
	d.Fact("table id", part.Count(ds.StableID))
	if ds.IncarnationID != 0 {
		d.Fact("incarnation", part.Count(ds.IncarnationID))
	}
}
