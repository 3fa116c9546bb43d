package screen

import (
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// indexes is what was built over a table: each index, what it covers, and of
// which segments it is made. It is told by the manifest that tells the
// fragments.
type indexes struct {
	browse
	table string
	data  *Load[*engine.Fragments]
}

func newIndexes(table string, data *Load[*engine.Fragments]) *indexes {
	x := &indexes{table: table, data: data}
	x.browse = newBrowse(0, x.listing)
	return x
}

func (x *indexes) label() string { return "indexes" }

func (x *indexes) scope() string { return action.OnIndexes }

func (x *indexes) start(e *Env) []Request {
	if x.data.wanted(e) {
		return x.reload(e)
	}
	return nil
}

func (x *indexes) reload(e *Env) []Request { return []Request{askLayout(e, x.data, x.table)} }

func (x *indexes) panes() []Pane { return []Pane{x.data} }

func (x *indexes) listing(*Env) listing {
	v, ok := x.data.Get()
	if !ok {
		return listing{}
	}
	ix := v.Indexes
	return listing{
		n: len(ix), of: v, what: fileName(x.table) + "-indexes",
		key:    func(i int) string { return ix[i].Name },
		record: func(i int) any { return ix[i] },
		facets: []facet{
			textFacet("index", func(i int) string { return ix[i].Name }),
			textFacet("kind", func(i int) string { return ix[i].Kind }),
			textFacet("fields", func(i int) string { return strings.Join(ix[i].Fields, " ") }),
			optFacet("covered", func(i int) (float64, bool) { return 100 * covered(ix[i]), true }),
			countFacet("uncovered", func(i int) int { return ix[i].UncoveredFragments }),
			countFacet("segments", func(i int) int { return len(ix[i].Segments) }),
			optFacet("bytes", func(i int) (float64, bool) { n, all := indexBytes(ix[i]); return float64(n), all }),
		},
	}
}

// covered is the share of the table's fragments that an index covers; of a
// table without any, all.
func covered(ix engine.TableIndex) float64 {
	all := ix.CoveredFragments + ix.UncoveredFragments
	if all == 0 {
		return 1
	}
	return float64(ix.CoveredFragments) / float64(all)
}

// indexBytes are the bytes of all segments; false when a segment does not say.
func indexBytes(ix engine.TableIndex) (n uint64, all bool) {
	for _, s := range ix.Segments {
		if s.Bytes == nil {
			return 0, false
		}
		n += *s.Bytes
	}
	return n, len(ix.Segments) > 0
}

func (x *indexes) index(e *Env) *engine.TableIndex {
	i, ok := x.selected(e)
	if !ok {
		return nil
	}
	v, _ := x.data.Get()
	return &v.Indexes[i]
}

func (x *indexes) do(e *Env, id action.ID) Effect {
	switch id {
	case action.Flip, action.Open:
		x.flip(e)
	default:
		x.move(e, id)
	}
	return Effect{}
}

// Copies implements Copier.
func (x *indexes) Copies(e *Env) []Copy {
	ix := x.index(e)
	if ix == nil {
		return nil
	}
	out := []Copy{{"index", ix.Name}}
	for i, s := range ix.Segments {
		if i == 4 {
			break
		}
		out = append(out, Copy{"segment", s.UUID})
	}
	out = append(out, Copy{"command that lists the indexes", shell.Line(append([]string{"fragments", e.Address, x.table}, atArgs(e)...)...)})
	return append(out, jsonCopy("index as JSON", ix)...)
}

func (x *indexes) render(e *Env, a Area) []string {
	v, ok := x.data.Get()
	if !ok {
		out := append([]string{title(e, a.W, part.Clean(x.table, e.Theme.Glyph), "", x.data)}, absent(e, x.data, a.W, a.H-1)...)
		return part.Fit(out, a.W, a.H)
	}
	l := x.listing(e)
	n := x.settle(l)
	shown := ""
	if n > 0 {
		shown = l.key(x.lens.item(x.list.Sel))
	}
	list := func(w, h int, focused bool) []string {
		facts := "v" + part.Count(v.Version) + " " + e.Theme.Glyph.Dot + " " + part.Plural(l.n, "index", "indexes") + " over " + part.Plural(len(v.Fragments), "fragment", "fragments")
		out := []string{title(e, w, part.Clean(x.table, e.Theme.Glyph), x.facts(e, l, n, facts), x.data)}
		if x.data.Problem() != nil {
			out = append(out, problem(e, x.data, w, 0)...)
		}
		switch {
		case l.n == 0:
			d := part.NewDoc(e.Theme, w)
			d.Text(theme.Text, "No index was built over this table at this version.")
			d.Text(theme.Muted, "Every look-up, filter and join end scans it. What the schema asks for is in the tab schema; optimize builds what is missing.")
			return part.Fit(append(out, d.Window(d.Len(), new(int))...), w, h)
		case n == 0:
			return part.Fit(append(out, x.noMatch(e, w)), w, h)
		}
		out = append(out, x.grid(e, v, n).Render(e.Theme, w, max(0, h-len(out)), &x.list, focused)...)
		return part.Fit(out, w, h)
	}
	detail := func(w int) *part.Doc {
		d := part.NewDoc(e.Theme, w)
		if n > 0 {
			indexDoc(e, d, v, v.Indexes[x.lens.item(x.list.Sel)])
		}
		return d
	}
	return x.split.render(e, a, shown, list, detail)
}

func (x *indexes) grid(e *Env, v *engine.Fragments, n int) part.Table {
	g := e.Theme.Glyph
	return part.Table{
		Columns: []part.Column{
			{Title: "index", Min: 20, Max: 40}, {Title: "kind", Drop: 2}, {Title: "fields", Min: 6, Max: 24, Drop: 3},
			{Title: "covers", Right: true}, {Title: "", Drop: 7}, {Title: "not covered", Right: true, Drop: 4}, {Title: "segments", Right: true, Drop: 6}, {Title: "bytes", Right: true, Drop: 5},
		},
		N: n, Heading: true,
		Row: func(p int) []part.Span {
			ix := v.Indexes[x.lens.item(p)]
			role, missing := theme.OK, part.R(theme.Muted, "-")
			if ix.UncoveredFragments > 0 {
				role, missing = theme.Warn, part.R(theme.Warn, part.Count(ix.UncoveredFragments))
			}
			size := part.R(theme.Muted, "not told")
			if n, all := indexBytes(ix); all {
				size = part.S(part.Bytes(n))
			}
			return []part.Span{
				part.S(part.Clean(ix.Name, g)), part.R(theme.Muted, part.Clean(ix.Kind, g)), part.S(part.Clean(strings.Join(ix.Fields, ", "), g)),
				part.R(role, part.Percent(covered(ix))), part.R(role, part.Bar(g, covered(ix), 1, 8)), missing, part.S(part.Count(len(ix.Segments))), size,
			}
		},
	}
}

func indexLine(d *part.Doc, ix engine.TableIndex) {
	g := d.Theme().Glyph
	role := theme.OK
	if ix.UncoveredFragments > 0 {
		role = theme.Warn
	}
	d.Line(part.R(theme.Strong, part.Clean(ix.Name, g)), part.R(theme.Muted, " "+part.Clean(ix.Kind, g)+" on "+part.Clean(strings.Join(ix.Fields, ", "), g)))
	d.Line(part.R(role, part.Gauge(g, covered(ix), 12)), part.S(" of the fragments"), part.R(theme.Muted, " "+g.Dot+" "+part.Plural(ix.CoveredRows, "row", "rows")+" covered"))
}

// indexDoc writes an index out: what it covers, what that costs, and each of
// its segments.
func indexDoc(e *Env, d *part.Doc, v *engine.Fragments, ix engine.TableIndex) {
	g := e.Theme.Glyph
	d.Head(ix.Name)
	d.Fact("kind", ix.Kind)
	d.Fact("fields", strings.Join(ix.Fields, ", "))
	role := theme.OK
	if ix.UncoveredFragments > 0 {
		role = theme.Warn
	}
	d.Line(part.R(role, part.Gauge(g, covered(ix), max(4, min(30, d.Width()-30)))), part.S(" of the fragments"))
	switch {
	case ix.CoveredFragments+ix.UncoveredFragments == 0:
		d.Text(theme.Muted, "The table has no fragment: there is nothing to cover.")
	case ix.UncoveredFragments == 0:
		d.Text(theme.Text, "All "+part.Plural(ix.CoveredFragments, "fragment is", "fragments are")+" covered, "+part.Plural(ix.CoveredRows, "row", "rows")+".")
	default:
		rest := v.Rows - min(v.Rows, ix.CoveredRows)
		d.Text(theme.Text, part.Plural(ix.UncoveredFragments, "fragment is", "fragments are")+" not covered, about "+part.Plural(rest, "row", "rows")+": a look-up by this index also scans that part, and answers right all the same. optimize covers it.")
	}
	d.Head(part.Plural(len(ix.Segments), "segment", "segments"))
	if len(ix.Segments) == 0 {
		d.Text(theme.Muted, "the manifest names none")
	}
	for _, s := range ix.Segments {
		segmentDoc(e, d, s)
	}
}

func segmentDoc(e *Env, d *part.Doc, s engine.IndexSegment) {
	g := e.Theme.Glyph
	d.Line(part.R(theme.Strong, part.Clean(s.UUID, g)))
	facts := "built from v" + part.Count(s.Version)
	if age := part.Ago(e.Now, s.CreatedAt); age != "" {
		facts += ", " + age + " old"
	}
	facts += " " + g.Dot + " " + part.Plural(s.Fragments, "fragment", "fragments")
	if s.Bytes != nil {
		facts += " " + g.Dot + " " + part.Bytes(*s.Bytes)
	}
	d.Indent(2, facts)
	if s.Missing > 0 {
		d.Indent(2, part.Plural(s.Missing, "fragment that it covers is", "fragments that it covers are")+" no longer in the table")
	}
	if s.Base != "" {
		d.Indent(2, "its files lie in "+part.Clean(s.Base, g))
	}
}
