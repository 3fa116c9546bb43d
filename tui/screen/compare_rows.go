package screen

import (
	"context"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// compareRows puts two entities side by side, property by property: two of one
// type, or one at two moments.
type compareRows struct {
	board
	pins  [2]Pin
	sides [2]Load[*engine.RowPage]
	hide  bool
	pairs []rowPair
	of    [2]*engine.RowPage
}

// rowPair is one property on both sides; nil where the type does not have it.
type rowPair struct {
	name string
	typ  string
	v    [2]*engine.Cell
	same bool
}

func newCompareRows(a, b Pin) *compareRows {
	s := &compareRows{board: newBoard(56), pins: [2]Pin{a, b}}
	for i, p := range s.pins {
		s.sides[i].name = p.Table + " " + p.ID
	}
	return s
}

// Name implements Screen.
func (s *compareRows) Name() string { return action.OnCompare }

// Title implements Screen.
func (s *compareRows) Title() string {
	if s.pins[0].ID == s.pins[1].ID {
		return s.pins[0].ID + " twice"
	}
	return s.pins[0].ID + " and " + s.pins[1].ID
}

// Place implements Screen: rows are compared from one of them.
func (s *compareRows) Place() string { return s.pins[1].Table + "/rows/" + s.pins[1].ID }

// Start implements Screen.
func (s *compareRows) Start(e *Env) []Request {
	var out []Request
	for i := range s.sides {
		if s.sides[i].wanted(e) {
			out = append(out, s.ask(e, i))
		}
	}
	return out
}

// Reload implements Screen.
func (s *compareRows) Reload(e *Env) []Request { return []Request{s.ask(e, 0), s.ask(e, 1)} }

func (s *compareRows) ask(e *Env, i int) Request {
	p := s.pins[i]
	return s.sides[i].ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.RowPage, error) {
		return ws.Entity(ctx, p.Table, p.ID, p.At)
	})
}

// Panes implements Screen.
func (s *compareRows) Panes(*Env) []Pane { return []Pane{&s.sides[0], &s.sides[1]} }

// arrange pairs the properties when an answer is new.
func (s *compareRows) arrange() {
	var now [2]*engine.RowPage
	for i := range s.sides {
		now[i], _ = s.sides[i].Get()
	}
	if now != s.of {
		s.of, s.pairs = now, pairRows(now)
	}
	s.lens.look(len(s.pairs), lookedAt{s.of, s.hide}, s.facets())
	s.hideSame()
	s.list.Settle(s.places(len(s.pairs)), s.key)
}

// lookedAt is what the order of the properties rests on.
type lookedAt struct {
	of   [2]*engine.RowPage
	hide bool
}

// hideSame takes the equal properties out of the order.
func (s *compareRows) hideSame() {
	if !s.hide {
		return
	}
	order := []int32{}
	for place := range s.lens.len(len(s.pairs)) {
		if i := s.lens.item(place); !s.pairs[i].same {
			order = append(order, int32(i))
		}
	}
	s.lens.order = order
}

func pairRows(pages [2]*engine.RowPage) []rowPair {
	var out []rowPair
	at := map[string]int{}
	for side, page := range pages {
		if page == nil || len(page.Rows) == 0 {
			continue
		}
		for c, name := range page.Columns {
			if c >= len(page.Rows[0].Values) {
				break
			}
			i, ok := at[name]
			if !ok {
				i = len(out)
				at[name], out = i, append(out, rowPair{name: name})
			}
			if c < len(page.Types) && out[i].typ == "" {
				out[i].typ = page.Types[c]
			}
			out[i].v[side] = &page.Rows[0].Values[c]
		}
	}
	for i := range out {
		a, b := out[i].v[0], out[i].v[1]
		out[i].same = a != nil && b != nil && *a == *b
	}
	return out
}

func (s *compareRows) key(place int) string {
	if i, ok := s.at(place, len(s.pairs)); ok {
		return s.pairs[i].name
	}
	return ""
}

func (s *compareRows) selected() *rowPair {
	if i, ok := s.at(s.list.Sel, len(s.pairs)); ok {
		return &s.pairs[i]
	}
	return nil
}

func (s *compareRows) facets() []facet {
	value := func(side int) func(int) string {
		return func(i int) string {
			if v := s.pairs[i].v[side]; v != nil {
				return v.Text
			}
			return ""
		}
	}
	return []facet{
		{name: "property", text: func(i int) string { return s.pairs[i].name }},
		{name: "left", text: value(0)}, {name: "right", text: value(1)},
	}
}

// Context implements Screen.
func (s *compareRows) Context(*Env) action.Context {
	s.arrange()
	return action.Context{Items: s.places(len(s.pairs)), Openable: true, Detail: s.selected() != nil}
}

// Do implements Screen.
func (s *compareRows) Do(e *Env, id action.ID) Effect {
	s.arrange()
	switch {
	case id == action.Open:
		return Effect{Push: s.entity(e)}
	case id == action.Flip:
		s.onRight = !s.onRight && s.selected() != nil
	case id == action.HideSame:
		s.hide = !s.hide
		s.list.Sel = 0
	case s.move(id, s.places(len(s.pairs))) && !s.onRight:
		s.list.Remember(s.key(s.list.Sel))
	}
	return Effect{}
}

// entity is the screen of the right one, or of the left one where that is the
// only one there.
func (s *compareRows) entity(e *Env) Screen {
	p := s.pins[1]
	if s.of[1] == nil && s.of[0] != nil {
		p = s.pins[0]
	}
	next := NewEntity(p.Table, p.ID)
	if p.At == e.At {
		return next
	}
	return next.on(p.At)
}

// Filter implements Filterer.
func (s *compareRows) Filter() string { return s.lens.text }

// SetFilter implements Filterer.
func (s *compareRows) SetFilter(_ *Env, text string) Effect {
	out := s.narrow(text, s.facets())
	s.lens.of = nil
	s.arrange()
	return out
}

// NextMatch implements Filterer.
func (s *compareRows) NextMatch(_ *Env, d int) Effect { return s.match(d, len(s.pairs), s.facets()) }

// Copies implements Copier.
func (s *compareRows) Copies(e *Env) []Copy {
	var out []Copy
	if p := s.selected(); p != nil {
		for i, label := range []string{"value at the left", "value at the right"} {
			if p.v[i] != nil {
				out = append(out, Copy{Label: label, Text: p.v[i].Text})
			}
		}
	}
	for i, p := range s.of {
		if p != nil && len(p.Rows) > 0 && len(p.Rows[0].Line) > 0 {
			out = append(out, Copy{Label: []string{"left", "right"}[i] + " row as JSON", Text: string(p.Rows[0].Line)})
		}
	}
	return out
}

// Render implements Screen.
func (s *compareRows) Render(e *Env, a Area) []string {
	s.arrange()
	list := func(w, h int, focused bool) []string { return s.renderList(e, w, h, focused) }
	detail := func(w int) *part.Doc { return s.detail(e, w) }
	if s.selected() == nil {
		return s.alone(list(a.W, a.H, true), a.W)
	}
	return s.render(e, a, s.key(s.list.Sel), list, detail)
}

// label names a side: the moment is said where the two differ in it.
func (s *compareRows) label(e *Env, i int) string {
	p := s.pins[i]
	out := p.Table + " " + p.ID
	if s.pins[0].At != s.pins[1].At {
		out += " at " + moment(p.At, e.Theme.Glyph.More)
	}
	return part.Clean(out, e.Theme.Glyph)
}

func (s *compareRows) renderList(e *Env, w, h int, focused bool) []string {
	t := e.Theme
	var out []string
	for i, side := range []string{"left", "right"} {
		p := &s.sides[i]
		out = append(out, title(e, w, side, s.label(e, i), p))
		if p.Problem() != nil {
			out = append(out, problem(e, p, w, 0)...)
		} else if p.Loaded().IsZero() {
			out = append(out, absent(e, p, w, 1)...)
		}
	}
	same := 0
	for _, p := range s.pairs {
		if p.same {
			same++
		}
	}
	if len(s.pairs) == 0 {
		return part.Fit(out, w, h)
	}
	facts := part.Count(len(s.pairs)-same) + " of " + part.Plural(len(s.pairs), "property", "properties") + " differ"
	if s.hide && same > 0 {
		facts += ", " + part.Count(same) + " equal hidden, " + press(e, action.HideSame) + " shows them"
	}
	if s.of[0] == nil || s.of[1] == nil {
		facts = "only one side is there"
	}
	if !s.lens.filter.Empty() {
		facts += ", /" + part.Clean(s.lens.text, t.Glyph)
	}
	out = append(out, part.Line(t, w, part.S("  "), part.S(facts)))
	return part.Fit(append(out, s.rowsOf(e, w).Render(t, w, max(0, h-len(out)), &s.list, focused)...), w, h)
}

func (s *compareRows) rowsOf(e *Env, w int) part.Table {
	t := e.Theme
	most := max(8, (w-24)/2)
	value := func(v *engine.Cell) part.Span {
		if v == nil {
			return part.R(theme.Muted, "-")
		}
		text, role := cell(t, *v, most)
		return part.R(role, text)
	}
	return part.Table{
		Columns: []part.Column{{Title: "property", Min: 8, Max: 20}, {Title: "left", Min: 8}, {Title: "right", Min: 8}},
		N:       s.places(len(s.pairs)), Heading: true,
		Row: func(place int) []part.Span {
			i, ok := s.at(place, len(s.pairs))
			if !ok {
				return []part.Span{part.S(""), part.S(""), part.S("")}
			}
			p := s.pairs[i]
			name := part.Clean(p.name, t.Glyph)
			if p.same {
				return []part.Span{part.R(theme.Muted, name), part.R(theme.Muted, value(p.v[0]).Text), part.R(theme.Muted, "=")}
			}
			return []part.Span{part.R(theme.Strong, name), value(p.v[0]), value(p.v[1])}
		},
	}
}

// detail is the selected property in full on both sides.
func (s *compareRows) detail(e *Env, w int) *part.Doc {
	d := part.NewDoc(e.Theme, w)
	p := s.selected()
	if p == nil {
		return d
	}
	d.Line(part.R(theme.Strong, part.Clean(p.name, e.Theme.Glyph)), part.R(theme.Muted, " "+part.Clean(p.typ, e.Theme.Glyph)))
	if p.same {
		d.Text(theme.Muted, "equal on both sides")
		valueDoc(e, d, theme.Muted, "= ", *p.v[0])
		return d
	}
	if pair := (part.Pair{}); p.v[0] != nil && p.v[1] != nil {
		pair.Old, pair.New = oneLine(e.Theme.Glyph, *p.v[0]), oneLine(e.Theme.Glyph, *p.v[1])
		if !pair.Fits(e.Theme, 0, w) { // where long ones differ
			d.Add(pair.Render(e.Theme, 0, w)...)
		}
	}
	for i, v := range p.v {
		d.Head(s.label(e, i))
		switch {
		case v != nil:
			valueDoc(e, d, theme.Accent, "", *v)
		case s.of[i] == nil:
			d.Text(theme.Muted, "was not read")
		default:
			d.Text(theme.Muted, "this type has no such property")
		}
	}
	return d
}
