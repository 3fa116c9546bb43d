package screen

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// compareVersions shows two versions of one table: how they lie in the store,
// and which rows differ. Of `__manifest` it shows the layouts alone.
type compareVersions struct {
	changeList[engine.VersionDiff]
	table, branch string
	a, b          uint64
}

func newCompareVersions(a, b Pin) *compareVersions {
	s := &compareVersions{table: a.Table, branch: a.Branch, a: a.Version, b: b.Version}
	s.changeList = newChangeList(46, s.placeKey, func(d *engine.VersionDiff) (*changeSet, int) {
		return newChangeSet(d.Changes, func(string) map[string]string { return d.Types }), 1
	})
	s.data.name = s.table + " v" + part.Count(s.a) + " and v" + part.Count(s.b)
	return s
}

// Name implements Screen.
func (s *compareVersions) Name() string { return action.OnCompare }

// Title implements Screen.
func (s *compareVersions) Title() string { return "v" + part.Count(s.a) + "..v" + part.Count(s.b) }

// Place implements Screen: versions of a table are compared from its chain.
func (s *compareVersions) Place() string {
	if s.table == manifestTable {
		return "versions"
	}
	return s.table + "/versions"
}

// Start implements Screen.
func (s *compareVersions) Start(e *Env) []Request { return s.start(e, s.Reload) }

// Reload implements Screen.
func (s *compareVersions) Reload(e *Env) []Request {
	limit := s.limit
	return []Request{s.data.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.VersionDiff, error) {
		return ws.DiffVersions(ctx, s.table, s.branch, s.a, s.b, engine.DiffOptions{Limit: limit})
	})}
}

func (s *compareVersions) placeKey(place int) string {
	if i, ok := s.at(place, len(s.set.changes)); ok {
		return s.set.key(i)
	}
	return "\x00layout"
}

// selected is the change that is selected; -1 when the layout is.
func (s *compareVersions) selected() int {
	if i, ok := s.at(s.list.Sel, len(s.set.changes)); ok {
		return i
	}
	return -1
}

// Context implements Screen.
func (s *compareVersions) Context(*Env) action.Context {
	d, ok := s.arrange()
	if !ok {
		return action.Context{}
	}
	return action.Context{Items: s.places(len(d.Changes)), Openable: s.selected() >= 0, Detail: true, Truncated: d.Truncated}
}

// Do implements Screen.
func (s *compareVersions) Do(e *Env, id action.ID) Effect {
	d, ok := s.arrange()
	if !ok {
		return Effect{}
	}
	switch {
	case id == action.Open && s.selected() >= 0:
		return Effect{Push: NewEntity(s.table, s.set.changes[s.selected()].ID)}
	case id == action.Flip:
		s.onRight = !s.onRight
	default:
		return s.moves(e, id, d.Truncated, s.Reload)
	}
	return Effect{}
}

// Copies implements Copier.
func (s *compareVersions) Copies(*Env) []Copy {
	var out []Copy
	if _, ok := s.arrange(); ok && s.selected() >= 0 {
		out = s.set.copies(s.selected())
	}
	return out
}

// Exports implements Exporter.
func (s *compareVersions) Exports(*Env) *Export {
	d, ok := s.arrange()
	if !ok || len(d.Changes) == 0 {
		return nil
	}
	what := s.table + " from v" + part.Count(s.a) + " to v" + part.Count(s.b)
	return &Export{
		Name: fileName("diff-" + s.table + "-v" + plainNumber(s.a) + "-v" + plainNumber(s.b) + ".ndjson"), Title: "every change of " + what + ", one JSON object a line",
		Write: func(ctx context.Context, ws workspace.Workspace, w io.Writer) (int, error) {
			d, err := ws.DiffVersions(ctx, s.table, s.branch, s.a, s.b, engine.DiffOptions{Limit: allChanges})
			if err != nil {
				return 0, err
			}
			return writeChanges(ctx, w, d.Changes)
		},
	}
}

// Render implements Screen.
func (s *compareVersions) Render(e *Env, a Area) []string {
	d, ok := s.arrange()
	if !ok {
		out := append([]string{title(e, a.W, s.heading(e), "", &s.data)}, absent(e, &s.data, a.W, a.H-1)...)
		return part.Fit(out, a.W, a.H)
	}
	list := func(w, h int, focused bool) []string { return s.renderList(e, d, w, h, focused) }
	detail := func(w int) *part.Doc {
		doc := part.NewDoc(e.Theme, w)
		if i := s.selected(); i >= 0 {
			s.set.doc(e, doc, i, s.hide)
		} else {
			layoutsDoc(e, doc, d)
		}
		return doc
	}
	return s.render(e, a, s.placeKey(s.list.Sel), list, detail)
}

func (s *compareVersions) heading(e *Env) string {
	g := e.Theme.Glyph
	out := part.Clean(s.table, g) + " v" + part.Count(s.a) + " " + g.Arrow + " v" + part.Count(s.b)
	if s.branch != "" && s.branch != "main" {
		out += " on " + part.Clean(s.branch, g)
	}
	return out
}

func (s *compareVersions) renderList(e *Env, d *engine.VersionDiff, w, h int, focused bool) []string {
	t := e.Theme
	n := len(d.Changes)
	said := s.lens.said(s.lens.len(n), n, s.set.facets())
	if said == "" {
		said = counts(d.Count)
		if s.table == manifestTable {
			said = "layouts only: its rows are the graph's own"
		}
	}
	out := []string{title(e, w, s.heading(e), part.Clean(said, t.Glyph), &s.data)}
	if s.data.Problem() != nil {
		out = append(out, problem(e, &s.data, w, 0)...)
	}
	var tail []string
	switch {
	case d.Truncated:
		tail = append(tail, part.Line(t, w, part.S("  "), part.R(theme.Muted, t.Glyph.Folded+" the first "+part.Count(n)+" changes; more were not read "+t.Glyph.Dot+" "+press(e, action.Bottom)+" reads up to "+part.Count(s.limit*10))))
	case n == 0 && s.table != manifestTable:
		tail = append(tail, part.Line(t, w, part.S("  "), part.R(theme.Muted, "no row differs")))
	}
	room := max(0, h-len(out)-len(tail))
	s.list.Fit(s.places(n), room)
	tb := part.Table{
		Columns: []part.Column{{Title: ""}, {Title: "", Min: 26}, {Title: "", Min: 8, Drop: 1}},
		N:       s.places(n),
		Row: func(place int) []part.Span {
			if i, ok := s.at(place, n); ok {
				row := s.set.row(t.Glyph, i, i)
				return []part.Span{row[0], row[2], row[3]}
			}
			return []part.Span{part.R(theme.Strong, "layout"), part.S(fragmentChange(d)), part.S("")}
		},
	}
	out = append(out, tb.Render(t, w, min(room, s.places(n)), &s.list, focused)...)
	return part.Fit(append(out, tail...), w, h)
}

// fragmentChange sums up what became of the fragments.
func fragmentChange(d *engine.VersionDiff) string {
	return part.Count(d.Kept) + " kept, " + part.Count(d.Touched) + " touched, +" + part.Count(d.Added) + " -" + part.Count(d.Removed) + " fragments"
}

// layoutsDoc puts two layouts of a table side by side.
func layoutsDoc(e *Env, d *part.Doc, v *engine.VersionDiff) {
	a, b := v.Before, v.After
	if a == nil || b == nil {
		d.Text(theme.Muted, "One of the layouts was not told.")
		return
	}
	col := max(10, min(20, (d.Width()-16)/2))
	pair := func(name, before, after string) {
		role := theme.Text
		if before == after {
			role, after = theme.Muted, "= "+after
		}
		d.Line(part.R(theme.Muted, part.Pad(name, 14)), part.S(part.PadLeft(before, col)), part.R(role, "  "+part.PadLeft(after, col)))
	}
	d.Line(part.S(part.Pad("", 14)), part.R(theme.Strong, part.PadLeft("v"+part.Count(v.A), col)), part.R(theme.Strong, "  "+part.PadLeft("v"+part.Count(v.B), col)))
	pair("fragments", part.Count(len(a.Fragments)), part.Count(len(b.Fragments)))
	pair("rows", part.Count(a.Rows), part.Count(b.Rows))
	pair("bytes", part.Bytes(a.Bytes), part.Bytes(b.Bytes))
	pair("deleted rows", part.Percent(a.DeletedShare), part.Percent(b.DeletedShare))
	pair("small", part.Count(a.Small), part.Count(b.Small))
	d.Head("fragments")
	d.Fact("kept", part.Count(v.Kept)+", the same files and deletions")
	d.Fact("touched", part.Count(v.Touched)+", the same files with other deletions")
	d.Fact("added", part.Count(v.Added))
	d.Fact("removed", part.Count(v.Removed))
	histograms(e, d, a, b)
	indexesDoc(e, d, a, b)
}

// histograms draws rows per fragment before and after, beside each other.
func histograms(e *Env, d *part.Doc, a, b *engine.Fragments) {
	g := e.Theme.Glyph
	type bucket struct {
		engine.Bucket
		n [2]int
	}
	var all []bucket
	most := 1
	for side, f := range []*engine.Fragments{a, b} {
		for _, x := range f.Histogram {
			if x.Count == 0 {
				continue
			}
			i, ok := slices.BinarySearchFunc(all, x.From, func(b bucket, from uint64) int { return cmp.Compare(b.From, from) })
			if !ok {
				all = slices.Insert(all, i, bucket{Bucket: x})
			}
			all[i].n[side] += x.Count
			most = max(most, all[i].n[side])
		}
	}
	if len(all) == 0 {
		return
	}
	label := 0
	for _, x := range all {
		label = max(label, part.Width(bucketLabel(x.Bucket)))
	}
	d.Head("rows per fragment, before and after")
	bar := max(4, (d.Width()-label-18)/2)
	side := func(n int) string {
		return part.Pad(part.Bar(g, float64(n), float64(most), bar), bar) + " " + part.PadLeft(part.Count(n), 5)
	}
	for _, x := range all {
		d.Line(part.R(theme.Muted, part.PadLeft(bucketLabel(x.Bucket), label)+" "), part.R(theme.Accent, side(x.n[0])), part.R(theme.Border, " "+g.V+" "), part.R(theme.Accent, side(x.n[1])))
	}
}

func bucketLabel(b engine.Bucket) string {
	switch {
	case b.To < b.From || b.To == ^uint64(0):
		return part.Count(b.From) + "+"
	case b.From == b.To:
		return part.Count(b.From)
	}
	return part.Count(b.From) + "-" + part.Count(b.To)
}

// indexesDoc tells what the indexes cover on both sides.
func indexesDoc(e *Env, d *part.Doc, a, b *engine.Fragments) {
	g := e.Theme.Glyph
	find := func(f *engine.Fragments, name string) *engine.TableIndex {
		for i := range f.Indexes {
			if f.Indexes[i].Name == name {
				return &f.Indexes[i]
			}
		}
		return nil
	}
	covers := func(ix *engine.TableIndex) string {
		if ix == nil {
			return "none"
		}
		return part.Count(ix.CoveredFragments) + " of " + part.Count(ix.CoveredFragments+ix.UncoveredFragments)
	}
	seen := map[string]bool{}
	var all []string
	for _, f := range []*engine.Fragments{a, b} {
		for _, ix := range f.Indexes {
			if !seen[ix.Name] {
				seen[ix.Name] = true
				all = append(all, ix.Name)
			}
		}
	}
	d.Head("indexes: fragments covered")
	if len(all) == 0 {
		d.Text(theme.Muted, "none built on either side")
	}
	for _, name := range all {
		before, after := covers(find(a, name)), covers(find(b, name))
		role := theme.Text
		if before == after {
			role = theme.Muted
		}
		d.Line(part.R(theme.Strong, part.Clean(name, g)), part.R(role, "  "+before+" "+g.Arrow+" "+after))
	}
}
