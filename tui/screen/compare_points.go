package screen

import (
	"context"
	"io"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// comparePoints shows what changed between two points of the graph: how much in
// each table, then the entities, and of the selected one its properties before
// and after.
type comparePoints struct {
	changeList[engine.Diff]
	from, to string // as ResolveAt reads them
	a, b     *Pin   // nil: what from and to say
	tables   []string
}

func newComparePoints(from, to string, a, b *Pin) *comparePoints {
	s := &comparePoints{from: from, to: to, a: a, b: b}
	s.changeList = newChangeList(50, s.placeKey, func(d *engine.Diff) (*changeSet, int) {
		return newChangeSet(d.Changes, func(table string) map[string]string { return d.Types[table] }), len(d.Counts)
	})
	s.data.name = "changes from " + from + " to " + to
	return s
}

// only narrows the comparison to one table.
func (s *comparePoints) only(table string) *comparePoints {
	next := newComparePoints(s.from, s.to, s.a, s.b)
	next.tables = []string{table}
	return next
}

// Name implements Screen.
func (s *comparePoints) Name() string { return action.OnCompare }

// Title implements Screen.
func (s *comparePoints) Title() string {
	if len(s.tables) == 1 {
		return s.tables[0]
	}
	return "diff " + shortPoint(s.from) + ".." + shortPoint(s.to)
}

// shortPoint is a point for the breadcrumb: of a commit the end of its id.
func shortPoint(text string) string {
	if len(text) == 26 && strings.ToUpper(text) == text {
		return text[len(text)-6:]
	}
	return text
}

// Place implements Screen.
func (s *comparePoints) Place() string { return "diff/" + s.from + ".." + s.to }

// Start implements Screen.
func (s *comparePoints) Start(e *Env) []Request { return s.start(e, s.Reload) }

// Reload implements Screen.
func (s *comparePoints) Reload(e *Env) []Request {
	read, o := s.reader(e), engine.DiffOptions{Tables: s.tables, Limit: s.limit}
	return []Request{s.data.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.Diff, error) { return read(ctx, ws, o) })}
}

// reader makes the question, for a screen and for a file alike.
func (s *comparePoints) reader(e *Env) func(context.Context, workspace.Workspace, engine.DiffOptions) (*engine.Diff, error) {
	branch, pins, texts := e.At.Branch, [2]*Pin{s.a, s.b}, [2]string{s.from, s.to}
	return func(ctx context.Context, ws workspace.Workspace, o engine.DiffOptions) (*engine.Diff, error) {
		var ask []string
		for i, p := range pins {
			if p == nil {
				ask = append(ask, texts[i])
			}
		}
		var found []engine.At
		if len(ask) > 0 {
			var err error
			if found, err = ws.ResolveAll(ctx, branch, ask...); err != nil {
				return nil, err
			}
		}
		var ends [2]engine.At
		for i, p := range pins {
			if p != nil {
				ends[i] = p.At
				continue
			}
			ends[i], found = found[0], found[1:]
		}
		return ws.Diff(ctx, ends[0], ends[1], o)
	}
}

func (s *comparePoints) placeKey(place int) string {
	if i, ok := s.at(place, len(s.set.changes)); ok {
		return s.set.key(i)
	}
	if place < s.heads {
		return s.of.Counts[place].Table
	}
	return ""
}

// selected is the change that is selected, or the table.
func (s *comparePoints) selected() (change int, table *engine.DiffCount) {
	if i, ok := s.at(s.list.Sel, len(s.set.changes)); ok {
		return i, nil
	}
	if s.list.Sel < s.heads {
		return -1, &s.of.Counts[s.list.Sel]
	}
	return -1, nil
}

// Context implements Screen.
func (s *comparePoints) Context(*Env) action.Context {
	d, ok := s.arrange()
	if !ok {
		return action.Context{}
	}
	i, table := s.selected()
	open := i >= 0 || table != nil && len(s.tables) == 0 && len(d.Counts) > 1
	return action.Context{Items: s.places(len(d.Changes)), Openable: open, Detail: i >= 0 || table != nil, Truncated: d.Truncated}
}

// Do implements Screen.
func (s *comparePoints) Do(e *Env, id action.ID) Effect {
	d, ok := s.arrange()
	if !ok {
		return Effect{}
	}
	i, table := s.selected()
	switch {
	case id == action.Open && i >= 0:
		return Effect{Push: s.entity(e, d, i)}
	case id == action.Open && table != nil:
		return Effect{Push: s.only(table.Table)}
	case id == action.Flip:
		s.onRight = !s.onRight && (i >= 0 || table != nil)
	default:
		return s.moves(e, id, d.Truncated, s.Reload)
	}
	return Effect{}
}

// entity is the screen of a changed entity, on the side where it exists.
func (s *comparePoints) entity(e *Env, d *engine.Diff, i int) Screen {
	c := &s.set.changes[i]
	at := d.B
	if c.Op == "delete" {
		at = d.A
	}
	next := NewEntity(s.set.table(i), c.ID)
	if at == e.At {
		return next
	}
	return next.on(at)
}

// Pin implements Pinner.
func (s *comparePoints) Pin(*Env) *Pin {
	d, ok := s.arrange()
	if !ok {
		return nil
	}
	if i, _ := s.selected(); i >= 0 {
		at := d.B
		if s.set.changes[i].Op == "delete" {
			at = d.A
		}
		return rowPin(s.set.table(i), s.set.changes[i].ID, at)
	}
	return nil
}

// Copies implements Copier.
func (s *comparePoints) Copies(e *Env) []Copy {
	var out []Copy
	if _, ok := s.arrange(); ok {
		if i, _ := s.selected(); i >= 0 {
			out = s.set.copies(i)
		}
	}
	return append(out, Copy{Label: "command line", Text: s.command(e)})
}

func (s *comparePoints) command(e *Env) string {
	args := []string{s.from, s.to}
	for _, t := range s.tables {
		args = append(args, "--table", t)
	}
	return onGraph(e, engine.At{}, "diff", args...)
}

// Exports implements Exporter.
func (s *comparePoints) Exports(e *Env) *Export {
	if _, ok := s.arrange(); !ok {
		return nil
	}
	read, tables := s.reader(e), s.tables
	name := "diff-" + shortPoint(s.from) + "-" + shortPoint(s.to)
	return &Export{
		Name: fileName(name) + ".ndjson", Title: "every change from " + s.from + " to " + s.to + ", one JSON object a line",
		Write: func(ctx context.Context, ws workspace.Workspace, w io.Writer) (int, error) {
			d, err := read(ctx, ws, engine.DiffOptions{Tables: tables, Limit: allChanges})
			if err != nil {
				return 0, err
			}
			return writeChanges(ctx, w, d.Changes)
		},
	}
}

// fileName makes a name that every file system takes.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, part.Head(s, 80))
}

// Render implements Screen.
func (s *comparePoints) Render(e *Env, a Area) []string {
	d, ok := s.arrange()
	if !ok {
		out := append([]string{title(e, a.W, s.heading(e), "", &s.data)}, absent(e, &s.data, a.W, a.H-1)...)
		return part.Fit(out, a.W, a.H)
	}
	list := func(w, h int, focused bool) []string { return s.renderList(e, d, w, h, focused) }
	detail := func(w int) *part.Doc { return s.detail(e, d, w) }
	return s.render(e, a, s.placeKey(s.list.Sel), list, detail)
}

func (s *comparePoints) heading(e *Env) string {
	name := func(pin *Pin, text string) string {
		if pin != nil && pin.Label != "" {
			return pin.Label
		}
		if short := shortPoint(text); short != text {
			return "commit " + e.Theme.Glyph.More + short
		}
		return text
	}
	g := e.Theme.Glyph
	out := part.Clean(name(s.a, s.from), g) + " " + g.Arrow + " " + part.Clean(name(s.b, s.to), g)
	if len(s.tables) > 0 {
		out = part.Clean(strings.Join(s.tables, ", "), g) + ": " + out
	}
	return out
}

func (s *comparePoints) renderList(e *Env, d *engine.Diff, w, h int, focused bool) []string {
	t := e.Theme
	n := len(d.Changes)
	out := []string{title(e, w, s.heading(e), resolved(d, e.Theme.Glyph), &s.data)}
	if s.data.Problem() != nil {
		out = append(out, problem(e, &s.data, w, 0)...)
	}
	if len(d.Counts) == 0 {
		return part.Fit(append(out, part.Line(t, w, part.S("  "), part.R(theme.Muted, "nothing differs: no table has another version"))), w, h)
	}
	out = append(out, part.Line(t, w, part.S("  "), part.S(part.Clean(s.facts(d), t.Glyph))))
	var tail []string
	switch {
	case d.Truncated:
		tail = append(tail, part.Line(t, w, part.S("  "), part.R(theme.Muted, t.Glyph.Folded+" the first "+part.Count(n)+" changes; more were not read "+t.Glyph.Dot+" "+press(e, action.Bottom)+" reads up to "+part.Count(s.limit*10))))
	case n == 0:
		tail = append(tail, part.Line(t, w, part.S("  "), part.R(theme.Muted, "no entity differs")))
	}
	room := max(0, h-len(out)-len(tail))
	out = append(out, s.rowsOf(e, d, room).Render(t, w, min(room, s.places(n)), &s.list, focused)...)
	return part.Fit(append(out, tail...), w, h)
}

// resolved says which versions of the graph were compared.
func resolved(d *engine.Diff, g theme.Glyphs) string {
	if d.A.Version == 0 || d.B.Version == 0 {
		return ""
	}
	name := func(at engine.At) string {
		out := "v" + part.Count(at.Version)
		if branchOf(d.A) != branchOf(d.B) {
			out = part.Clean(branchOf(at), g) + " " + out
		}
		return out
	}
	return name(d.A) + " " + g.Arrow + " " + name(d.B)
}

// facts sum up the counts of all tables, which are always whole.
func (s *comparePoints) facts(d *engine.Diff) string {
	var ins, upd, del uint64
	physical := 0
	for _, c := range d.Counts {
		ins, upd, del = ins+c.Inserted, upd+c.Updated, del+c.Deleted
		if c.Physical {
			physical++
		}
	}
	out := part.Plural(len(d.Counts), "table differs", "tables differ") + ": " + plusMinus(ins, upd, del)
	if physical > 0 {
		out += ", " + part.Count(physical) + " only rewritten"
	}
	if said := s.lens.said(s.lens.len(len(d.Changes)), len(d.Changes), s.set.facets()); said != "" {
		out = said
	}
	return out
}

// rowsOf lists the tables and below them the changes.
func (s *comparePoints) rowsOf(e *Env, d *engine.Diff, height int) part.Table {
	g := e.Theme.Glyph
	n := len(d.Changes)
	s.list.Fit(s.places(n), height)
	return part.Table{
		Columns: []part.Column{{Title: ""}, {Title: "", Min: 14, Max: 24}, {Title: "", Min: 26}, {Title: "", Min: 8, Drop: 1}},
		N:       s.places(n),
		Row: func(place int) []part.Span {
			i, ok := s.at(place, n)
			if ok {
				before := -1
				if prev, ok := s.at(place-1, n); ok && place > s.list.Top {
					before = prev
				}
				return s.set.row(g, i, before)
			}
			c := d.Counts[place]
			return []part.Span{part.R(theme.Muted, "table"), part.R(theme.Strong, part.Clean(c.Table, g)), part.S(counts(c)), part.R(theme.Muted, fromTo(g, c))}
		},
	}
}

func (s *comparePoints) detail(e *Env, d *engine.Diff, w int) *part.Doc {
	doc := part.NewDoc(e.Theme, w)
	i, table := s.selected()
	if i >= 0 {
		s.set.doc(e, doc, i, s.hide)
		return doc
	}
	if table != nil {
		countDoc(e, doc, *table)
		if len(s.tables) == 0 && len(d.Counts) > 1 {
			doc.Gap().Text(theme.Muted, press(e, action.Open)+" shows the changes of this table alone")
		}
	}
	return doc
}

func countDoc(e *Env, d *part.Doc, c engine.DiffCount) {
	d.Head(c.Table)
	switch {
	case c.From == 0:
		d.Text(theme.Text, "The table did not exist before.")
	case c.To == 0:
		d.Text(theme.Text, "The table was dropped.")
	case c.Physical:
		d.Text(theme.Text, "The table was rewritten: its versions differ, no entity does. Maintenance does that, or a change that was taken back.")
	}
	d.Fact("versions", fromTo(e.Theme.Glyph, c))
	d.Fact("inserted", part.Count(c.Inserted))
	d.Fact("updated", part.Count(c.Updated))
	d.Fact("deleted", part.Count(c.Deleted))
}
