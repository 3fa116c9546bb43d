package screen

import (
	"context"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Tables shows the published tables, and `__manifest` as the last of them. How
// they lie on disk is in a manifest of each, and is read when it is asked for.
type Tables struct {
	browse
	at      engine.At // where the layouts are of
	layouts map[string]*Load[*layout]
	made    *tablesMade
}

// layout is what one manifest says of a table, in numbers.
type layout struct {
	version         uint64
	fragments       int
	small           int
	bytes           uint64
	indexes         int
	covered         float64 // share of fragments that the worst index covers
	deleted         float64
	uncoveredIndex  string
	uncoveredInWork int
}

// tablesMade is what the listing rests on: new whenever one of it is.
type tablesMade struct {
	snap    *engine.Snapshot
	seen    int
	layouts map[string]*layout // what was known then
}

// NewTables makes the screen.
func NewTables() *Tables {
	s := &Tables{layouts: map[string]*Load[*layout]{}}
	s.browse = newBrowse(0, s.listing)
	return s
}

// Name implements Screen.
func (s *Tables) Name() string { return action.OnTables }

// Title implements Screen.
func (s *Tables) Title() string { return "tables" }

// Place implements Screen.
func (s *Tables) Place() string { return "tables" }

// Start implements Screen. Layouts that were asked for before are asked for
// again where they were cancelled, or are of another moment.
func (s *Tables) Start(e *Env) []Request {
	if s.at != e.At {
		s.forget(e)
	}
	if e.Data.Snapshot.wanted(e) {
		return []Request{e.Data.AskSnapshot(e)}
	}
	return s.need(e)
}

// forget drops the layouts; what is on its way is for nobody.
func (s *Tables) forget(e *Env) {
	for _, l := range s.layouts {
		l.reset()
	}
	s.at, s.layouts = e.At, map[string]*Load[*layout]{}
}

// Reload implements Screen.
func (s *Tables) Reload(e *Env) []Request {
	out := []Request{e.Data.AskSnapshot(e)}
	if len(s.layouts) > 0 {
		out = append(out, s.askLayouts(e)...)
	}
	return out
}

// askLayouts asks for the layout of every table, one request each.
func (s *Tables) askLayouts(e *Env) []Request {
	s.at = e.At
	var out []Request
	for _, d := range s.rows(e) {
		table, at := d.Table(), e.At
		l := s.layouts[table]
		if l == nil {
			l = &Load[*layout]{name: "layouts"}
			s.layouts[table] = l
		}
		out = append(out, l.ask(e, func(ctx context.Context, ws workspace.Workspace) (*layout, error) {
			f, err := ws.Fragments(ctx, table, at)
			if f == nil {
				return nil, err
			}
			return layoutOf(f), err
		}))
	}
	return out
}

func layoutOf(f *engine.Fragments) *layout {
	l := &layout{version: f.Version, fragments: len(f.Fragments), small: f.Small, bytes: f.Bytes, indexes: len(f.Indexes), covered: 1, deleted: f.DeletedShare}
	for _, ix := range f.Indexes {
		if share := covered(ix); share < l.covered {
			l.covered, l.uncoveredIndex, l.uncoveredInWork = share, ix.Name, ix.UncoveredFragments
		}
	}
	return l
}

// Panes implements Screen.
func (s *Tables) Panes(e *Env) []Pane {
	out := []Pane{&e.Data.Snapshot}
	for _, d := range s.rows(e) {
		if l := s.layouts[d.Table()]; l != nil {
			out = append(out, l)
		}
	}
	return s.with(out...)
}

// manifestTable is the name by which the graph's own table is asked for.
const manifestTable = "__manifest"

// rows are the tables in display order.
func (s *Tables) rows(e *Env) []engine.Dataset {
	snap, ok := e.Data.Snapshot.Get()
	if !ok {
		return nil
	}
	return snap.Datasets
}

func (s *Tables) key(rows []engine.Dataset, i int) string {
	if i < len(rows) {
		return rows[i].Table()
	}
	return manifestTable
}

// identity is new when something came that the listing rests on.
func (s *Tables) identity(snap *engine.Snapshot) *tablesMade {
	seen := 0
	for _, l := range s.layouts {
		if _, ok := l.Get(); ok {
			seen += 1 + int(l.gen)
		}
	}
	if s.made == nil || s.made.snap != snap || s.made.seen != seen {
		s.made = &tablesMade{snap, seen, map[string]*layout{}}
		for table, l := range s.layouts {
			if v, ok := l.Get(); ok {
				s.made.layouts[table] = v
			}
		}
	}
	return s.made
}

func (s *Tables) listing(e *Env) listing {
	snap, ok := e.Data.Snapshot.Get()
	if !ok {
		return listing{}
	}
	rows := snap.Datasets
	of := func(i int) engine.Dataset {
		if i < len(rows) {
			return rows[i]
		}
		return engine.Dataset{Version: snap.GraphManifestVersion}
	}
	made := s.identity(snap)
	num := func(f func(*layout) float64) func(i int) (float64, bool) {
		return func(i int) (float64, bool) {
			if l := made.layouts[s.key(rows, i)]; l != nil {
				return f(l), true
			}
			return 0, false
		}
	}
	return listing{
		n: len(rows) + 1, of: made, what: "tables",
		key:    func(i int) string { return s.key(rows, i) },
		record: func(i int) any { return s.record(snap, i) },
		facets: []facet{
			textFacet("table", func(i int) string { return s.key(rows, i) }),
			countFacet("rows", func(i int) uint64 { return of(i).EntityCount }),
			countFacet("version", func(i int) uint64 { return of(i).Version }),
			textFacet("owner", func(i int) string { return ownerOf(of(i)) }),
			optFacet("fragments", num(func(l *layout) float64 { return float64(l.fragments) })),
			optFacet("small", num(func(l *layout) float64 { return float64(l.small) })),
			optFacet("bytes", num(func(l *layout) float64 { return float64(l.bytes) })),
		},
	}
}

// record is what is exported of a table.
func (s *Tables) record(snap *engine.Snapshot, i int) any {
	if i >= len(snap.Datasets) {
		return map[string]any{"table": manifestTable, "graph_manifest_version": snap.GraphManifestVersion, "graph_branch": snap.GraphBranch}
	}
	return snap.Datasets[i]
}

func ownerOf(d engine.Dataset) string {
	if d.NativeBranch == nil {
		return "main"
	}
	return *d.NativeBranch
}

// Context implements Screen.
func (s *Tables) Context(e *Env) action.Context {
	out := s.context(e)
	out.Truncated = len(s.rows(e)) > 0 && !s.reading()
	return out
}

func (s *Tables) reading() bool {
	for _, l := range s.layouts {
		if l.busy {
			return true
		}
	}
	return false
}

// Do implements Screen.
func (s *Tables) Do(e *Env, id action.ID) Effect {
	rows := s.rows(e)
	i, ok := s.selected(e)
	switch {
	case id == action.Layouts:
		if reqs := s.askLayouts(e); len(reqs) > 0 {
			return Effect{Ask: reqs, Note: "reading " + part.Plural(len(reqs), "manifest", "manifests")}
		}
	case !ok:
	case id == action.Open && i == len(rows):
		return Effect{Push: NewVersions(manifestTable)}
	case id == action.Open:
		return Effect{Push: NewTable(rows[i].Table())}
	case id == action.Flip:
		s.flip(e)
	default:
		s.move(e, id)
	}
	return Effect{}
}

// Copies implements Copier.
func (s *Tables) Copies(e *Env) []Copy {
	i, ok := s.selected(e)
	rows := s.rows(e)
	switch {
	case !ok:
		return nil
	case i == len(rows):
		return []Copy{{"table", manifestTable}, {"command that lists its versions", shell.Line("versions", e.Address)}}
	}
	return tableCopies(e, rows[i])
}

func tableCopies(e *Env, d engine.Dataset) []Copy {
	return append([]Copy{
		{"table", d.Table()},
		{"path", d.Path},
		{"command that prints its rows", shell.Line(append([]string{"rows", e.Address, d.Table()}, atArgs(e)...)...)},
		{"command that shows how it lies on disk", shell.Line(append([]string{"fragments", e.Address, d.Table()}, atArgs(e)...)...)},
	}, jsonCopy("table as JSON", d)...)
}

// Render implements Screen.
func (s *Tables) Render(e *Env, a Area) []string {
	p := &e.Data.Snapshot
	snap, ok := p.Get()
	if !ok {
		out := append([]string{title(e, a.W, "tables", "", p)}, absent(e, p, a.W, a.H-1)...)
		return part.Fit(out, a.W, a.H)
	}
	l := s.listing(e)
	n := s.settle(l)
	if s.share = 0; len(s.layouts) > 0 {
		s.share = 60 // the list says more
	}
	list := func(w, h int, focused bool) []string {
		facts := part.Count(len(snap.Datasets)) + " published " + e.Theme.Glyph.Dot + " rows as recorded"
		out := []string{title(e, w, "tables", s.facts(e, l, n, facts), s.busyPane(p))}
		if p.Problem() != nil {
			out = append(out, problem(e, p, w, 0)...)
		}
		if n == 0 {
			return part.Fit(append(out, s.noMatch(e, w)), w, h)
		}
		out = append(out, s.table(e, snap, n).Render(e.Theme, w, max(0, h-len(out)), &s.list, focused)...)
		return part.Fit(out, w, h)
	}
	shown := ""
	if n > 0 {
		shown = l.key(s.lens.item(s.list.Sel))
	}
	detail := func(w int) *part.Doc {
		d := part.NewDoc(e.Theme, w)
		if n > 0 {
			s.detailOf(e, d, snap, s.lens.item(s.list.Sel))
		}
		return d
	}
	return s.render(e, a, shown, list, detail)
}

// busyPane is a layout that is on its way, else the pane of the tables.
func (s *Tables) busyPane(p Pane) Pane {
	for _, l := range s.layouts {
		if l.busy && !p.Busy() {
			return l
		}
	}
	return p
}

func (s *Tables) detailOf(e *Env, d *part.Doc, snap *engine.Snapshot, i int) {
	if i >= len(snap.Datasets) {
		d.Head(manifestTable)
		d.Text(theme.Text, "The graph's own table: one row per published version, commit and registration. Its versions are the graph's history.")
		d.Gap().Text(theme.Muted, press(e, action.Open)+" opens its version chain")
		return
	}
	ds := snap.Datasets[i]
	tableDoc(d, ds)
	if l := s.layouts[ds.Table()]; l != nil {
		d.Head("on disk")
		if v, ok := l.Get(); ok {
			layoutDoc(d, v)
		} else {
			d.Add(absent(e, l, d.Width(), 6)...)
		}
		d.Gap()
	}
	lieDoc(d, ds)
	d.Gap().Text(theme.Muted, press(e, action.Open)+" opens its schema, fragments, versions, indexes and rows; "+press(e, action.Layouts)+" reads how all tables lie on disk, one manifest each")
}
