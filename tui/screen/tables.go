package screen

import (
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// Tables shows the published tables, and `__manifest` as the last of them.
type Tables struct {
	split
}

// NewTables makes the screen.
func NewTables() *Tables { return &Tables{} }

// Name implements Screen.
func (s *Tables) Name() string { return action.OnTables }

// Title implements Screen.
func (s *Tables) Title() string { return "tables" }

// Place implements Screen.
func (s *Tables) Place() string { return "tables" }

// Start implements Screen.
func (s *Tables) Start(e *Env) []Request {
	if e.Data.Snapshot.wanted() {
		return s.Reload(e)
	}
	return nil
}

// Reload implements Screen.
func (s *Tables) Reload(e *Env) []Request { return []Request{e.Data.AskSnapshot(e)} }

// Panes implements Screen.
func (s *Tables) Panes(e *Env) []Pane { return []Pane{&e.Data.Snapshot} }

// manifestTable is the name by which the graph's own table is asked for.
const manifestTable = "__manifest"

// rows are the names of the tables in display order.
func (s *Tables) rows(e *Env) []engine.Dataset {
	snap, ok := e.Data.Snapshot.Get()
	if !ok {
		return nil
	}
	return snap.Datasets
}

// Context implements Screen.
func (s *Tables) Context(e *Env) action.Context {
	n := len(s.rows(e))
	if _, ok := e.Data.Snapshot.Get(); ok {
		n++
	}
	return action.Context{Items: n, Openable: n > 0, Detail: n > 0}
}

// Do implements Screen.
func (s *Tables) Do(e *Env, id action.ID) Effect {
	rows := s.rows(e)
	_, ok := e.Data.Snapshot.Get()
	switch {
	case !ok:
	case id == action.Open && s.list.Sel == len(rows):
		return Effect{Push: NewVersions(manifestTable)}
	case id == action.Open && s.list.Sel < len(rows):
		return Effect{Push: NewTable(rows[s.list.Sel].Table())}
	case id == action.Flip:
		s.onRight = !s.onRight
	default:
		if s.move(id, len(rows)+1) {
			s.list.Remember(s.key(rows, s.list.Sel))
		}
	}
	return Effect{}
}

func (s *Tables) key(rows []engine.Dataset, i int) string {
	if i < len(rows) {
		return rows[i].Table()
	}
	return manifestTable
}

// Render implements Screen.
func (s *Tables) Render(e *Env, a Area) []string {
	p := &e.Data.Snapshot
	snap, ok := p.Get()
	if !ok {
		out := append([]string{title(e, a.W, "tables", "", p)}, absent(e, p, a.W, a.H-1)...)
		return part.Fit(out, a.W, a.H)
	}
	rows := snap.Datasets
	s.list.Settle(len(rows)+1, func(i int) string { return s.key(rows, i) })
	list := func(w, h int, focused bool) []string {
		facts := part.Count(len(rows)) + " published " + e.Theme.Glyph.Dot + " rows as recorded"
		out := []string{title(e, w, "tables", facts, p)}
		if p.Problem() != nil {
			out = append(out, problem(e, p, w, 0)...)
		}
		out = append(out, s.table(e, snap).Render(e.Theme, w, max(0, h-len(out)), &s.list, focused)...)
		return part.Fit(out, w, h)
	}
	detail := func(w int) *part.Doc {
		d := part.NewDoc(e.Theme, w)
		if s.list.Sel < len(rows) {
			tableDoc(d, rows[s.list.Sel])
			d.Gap().Text(theme.Muted, "enter opens its fragments, versions and rows")
		} else {
			d.Head(manifestTable)
			d.Text(theme.Text, "The graph's own table: one row per published version, commit and registration. Its versions are the graph's history.")
			d.Gap().Text(theme.Muted, "enter opens its version chain")
		}
		return d
	}
	return s.render(e, a, s.key(rows, s.list.Sel), list, detail)
}

func (s *Tables) table(e *Env, snap *engine.Snapshot) part.Table {
	g := e.Theme.Glyph
	rows := snap.Datasets
	var most uint64
	for _, d := range rows {
		most = max(most, d.EntityCount)
	}
	return part.Table{
		Columns: []part.Column{
			{Title: "table", Min: 12},
			{Title: "rows", Right: true},
			{Title: "", Min: 4, Max: 12, Drop: 3},
			{Title: "version", Right: true, Drop: 2},
			{Title: "owner", Min: 6, Max: 20, Drop: 1},
		},
		N: len(rows) + 1, Heading: true,
		Row: func(i int) []part.Span {
			if i == len(rows) {
				return []part.Span{part.S(manifestTable), part.R(theme.Muted, "-"), part.S(""), part.S("v" + part.Count(snap.GraphManifestVersion)), part.R(theme.Muted, "the graph itself")}
			}
			d := rows[i]
			owner, role := "main", theme.Muted
			if d.NativeBranch != nil {
				owner, role = part.Clean(*d.NativeBranch, g), theme.Accent
			}
			return []part.Span{
				part.S(part.Clean(d.Table(), g)), part.S(part.Count(d.EntityCount)),
				part.R(theme.Accent, part.Bar(g, float64(d.EntityCount), float64(most), 12)),
				part.S("v" + part.Count(d.Version)), part.R(role, owner),
			}
		},
	}
}

func tableDoc(d *part.Doc, ds engine.Dataset) {
	d.Head(ds.Table())
	d.Fact("rows", part.Count(ds.EntityCount)+", as recorded at the last publish")
	d.Fact("version", "v"+part.Count(ds.Version)+" is published")
	owner := "main"
	if ds.NativeBranch != nil {
		owner = *ds.NativeBranch
	}
	d.Fact("owner", owner+": the branch on which this version was written")
	d.Fact("path", ds.Path)
	d.Fact("table id", part.Count(ds.StableID))
	if ds.IncarnationID != 0 {
		d.Fact("incarnation", part.Count(ds.IncarnationID))
	}
}
