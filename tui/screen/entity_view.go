package screen

import (
	"slices"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// Render implements Screen.
func (s *Entity) Render(e *Env, a Area) []string {
	s.relink(e)
	labels, active := s.labels()
	out := []string{part.Tabs(e.Theme, labels, active, a.W)}
	a.H = max(0, a.H-1)
	if s.side == sideFields {
		return part.Fit(append(out, s.renderFields(e, a)...), a.W, a.H+1)
	}
	if noEntity(s.record.Problem()) != nil && s.record.Loaded().IsZero() {
		return part.Fit(append(out, s.nothing(e, a)...), a.W, a.H+1)
	}
	list := func(w, h int, focused bool) []string { return s.renderList(e, w, h, focused) }
	detail := func(w int) *part.Doc { return s.detail(e, w) }
	return part.Fit(append(out, s.render(e, a, s.key(s.list.Sel), list, detail)...), a.W, a.H+1)
}

// labels are the names of the sides, and which is looked at.
func (s *Entity) labels() (labels []string, active int) {
	labels = []string{"all", "out", "in", "fields"}
	if isEdge(s.table) {
		labels = []string{"ends", "fields"}
	}
	return labels, max(0, slices.Index(s.sides(), s.side))
}

func (s *Entity) renderFields(e *Env, a Area) []string {
	out := []string{title(e, a.W, s.name(e), s.moment(e), &s.record)}
	d := part.NewDoc(e.Theme, a.W)
	s.recordDoc(e, d, &s.record, s.table, s.id)
	return append(out, d.Window(max(0, a.H-1), &s.scroll)...)
}

// nothing says that there is no such entity at the moment that is read.
func (s *Entity) nothing(e *Env, a Area) []string {
	t := e.Theme
	out := []string{title(e, a.W, s.name(e), s.moment(e), &s.record)}
	d := part.NewDoc(t, a.W)
	d.Line(part.R(theme.Bad, t.Glyph.Bad+" no such "+part.Clean(typeOf(s.table), t.Glyph)))
	d.Text(theme.Text, s.table+" has no entity with the id "+s.id+" at "+moment(s.when(e), t.Glyph.More)+".")
	if e.Travelling() {
		d.Text(theme.Muted, "It may be there at another moment; "+press(e, action.Travel)+" goes back to now.")
	}
	d.Text(theme.Muted, press(e, action.Find)+" looks for an id in all types, "+press(e, action.Reload)+" reads again.")
	return append(out, d.Window(max(0, a.H-1), new(int))...)
}

func (s *Entity) name(e *Env) string { return part.Clean(s.table+" "+s.id, e.Theme.Glyph) }

// moment says at which moment the entity is read, when that is its own.
func (s *Entity) moment(e *Env) string {
	if s.fixed == nil || *s.fixed == e.At {
		return ""
	}
	return "at " + part.Clean(moment(*s.fixed, e.Theme.Glyph.More), e.Theme.Glyph)
}

// renderList draws the entity and, below it, what it is tied to.
func (s *Entity) renderList(e *Env, w, h int, focused bool) []string {
	t := e.Theme
	var p Pane = &s.around
	if isEdge(s.table) {
		p = &s.record
	}
	out := []string{title(e, w, s.name(e), s.facts(e), p)}
	if p.Problem() != nil {
		out = append(out, problem(e, p, w, max(0, h-len(out)-2))...)
	}
	if said := s.lens.said(s.lens.len(len(s.links)), len(s.links), s.facets()); said != "" {
		out = append(out, part.Line(t, w, part.S("  "), part.R(theme.Accent, part.Clean(said, t.Glyph))))
	}
	tail := s.tail(e, w)
	room := max(0, h-len(out)-len(tail))
	out = append(out, s.table3(e, room).Render(t, w, min(room, s.places(len(s.links))), &s.list, focused)...)
	return part.Fit(append(out, tail...), w, h)
}

// tail is what stands below the list: that more was not read, or that there is
// nothing.
func (s *Entity) tail(e *Env, w int) []string {
	t := e.Theme
	say := func(text string) []string {
		return []string{part.Line(t, w, part.S("  "), part.R(theme.Muted, text))}
	}
	if isEdge(s.table) {
		if page, ok := s.record.Get(); !ok && s.record.Problem() == nil {
			return absent(e, &s.record, w, 4)
		} else if ok && page != nil && s.endsUnknown() {
			return say(unknownEnds)
		}
		return nil
	}
	n, ok := s.around.Get()
	switch {
	case !ok && s.around.Problem() == nil:
		return absent(e, &s.around, w, 4)
	case !ok || n == nil:
		return nil
	case s.endsUnknown() && n.Truncated:
		return append(say(unknownEnds), s.rest(e, w)...)
	case s.endsUnknown():
		return say(unknownEnds)
	case n.Truncated:
		return s.rest(e, w)
	case len(s.links) > 0:
		return nil
	case s.side == sideOut:
		return say("no edge leads out")
	case s.side == sideIn:
		return say("no edge leads in")
	}
	return say("no edge: nothing is tied to it")
}

// rest says that there are more edges.
func (s *Entity) rest(e *Env, w int) []string {
	g := e.Theme.Glyph
	text := g.Folded + " more edges were not read " + g.Dot + " " + press(e, action.Bottom) + " reads up to " + part.Count(s.limit*10)
	return []string{part.Line(e.Theme, w, part.S("  "), part.R(theme.Muted, text))}
}

// unknownEnds says why there is no type at an end.
const unknownEnds = "?: the schema does not say of which type the other end is"

func (s *Entity) endsUnknown() bool {
	for _, l := range s.links {
		if l.table == "" {
			return true
		}
	}
	return false
}

// facts say how many edges there are, and at which moment.
func (s *Entity) facts(e *Env) string {
	var out []string
	if n, ok := s.around.Get(); ok && n != nil && !isEdge(s.table) {
		leave, enter := s.counts()
		text := part.Count(leave) + " out, " + part.Count(enter) + " in"
		if n.Truncated {
			text = "first " + part.Count(len(n.Edges)) + " edges: " + text
		}
		out = append(out, text)
	}
	if m := s.moment(e); m != "" {
		out = append(out, m)
	}
	return strings.Join(out, " "+e.Theme.Glyph.Dot+" ")
}

// table3 lists the entity and its links. The type of the edges stands once for
// those that follow each other.
func (s *Entity) table3(e *Env, height int) part.Table {
	g := e.Theme.Glyph
	s.list.Fit(s.places(len(s.links)), height)
	count := map[string]int{}
	for _, l := range s.links {
		count[l.way()+l.edge]++
	}
	return part.Table{
		Columns: []part.Column{{Title: "", Min: 14, Max: 26}, {Title: "", Right: true}, {Title: "", Min: 10, Max: 24}, {Title: "", Min: 12}, {Title: "", Drop: 1}},
		N:       s.places(len(s.links)),
		Row: func(place int) []part.Span {
			i, ok := s.at(place, len(s.links))
			if !ok {
				return []part.Span{part.R(theme.Strong, "this"), part.S(""), part.S(part.Clean(typeOf(s.table), g)), part.R(theme.Strong, part.Clean(s.id, g)), part.S("")}
			}
			l := s.links[i]
			lead, n := s.arrow(g, l)+" "+part.Clean(l.edge, g), ""
			if !isEdge(s.table) {
				n = part.Count(count[l.way()+l.edge])
			}
			if prev, ok := s.at(place-1, len(s.links)); ok && place > s.list.Top && s.links[prev].edge == l.edge && s.links[prev].way() == l.way() {
				lead, n = s.arrow(g, l), ""
			}
			typ := part.S(part.Clean(typeOf(l.table), g))
			if l.table == "" {
				typ = part.R(theme.Muted, "?")
			}
			id := part.S(part.Clean(l.id, g))
			if s.gone(l) != nil {
				id = part.R(theme.Bad, g.Bad+" "+part.Clean(l.id, g))
			}
			return []part.Span{part.S(lead), part.R(theme.Muted, n), typ, id, part.R(theme.Muted, part.Clean(l.edgeID, g))}
		},
	}
}

// arrow is the direction of a link.
func (s *Entity) arrow(g theme.Glyphs, l link) string {
	switch {
	case l.out && l.in:
		return g.Back + g.Arrow
	case l.out:
		return g.Arrow
	}
	return g.Back
}

// detail shows the entity itself, or what stands at the other end of the
// selected link.
func (s *Entity) detail(e *Env, w int) *part.Doc {
	d := part.NewDoc(e.Theme, w)
	l := s.selected()
	if l == nil {
		s.selfDoc(e, d)
		return d
	}
	s.linkDoc(e, d, *l)
	if l.table != "" {
		s.recordDoc(e, d, s.others[otherKey(*l)], l.table, l.id)
	}
	return d
}

// selfDoc is the entity with, of an edge, both its ends and, of a node, its
// edges counted by type.
func (s *Entity) selfDoc(e *Env, d *part.Doc) {
	s.recordDoc(e, d, &s.record, s.table, s.id)
	if isEdge(s.table) {
		for _, l := range s.links {
			d.Head(l.edge + " " + strings.TrimPrefix(l.table, "node:") + " " + l.id)
			if l.table != "" {
				s.briefDoc(e, d, l)
			}
		}
		return
	}
	if groups := s.groups(); len(groups) > 0 {
		d.Head("edges by type")
		for _, g := range groups {
			l := link{out: g.out, in: g.in}
			d.Line(part.S(part.Pad(s.arrow(e.Theme.Glyph, l), 3)), part.R(theme.Strong, part.Pad(part.Clean(g.edge, e.Theme.Glyph), 18)), part.S(" "+part.PadLeft(part.Count(g.n), 7)), part.R(theme.Muted, "  "+l.way()+", "+part.Clean(typeOf(g.other), e.Theme.Glyph)))
		}
	}
}

// linkDoc says how the selected link ties the two.
func (s *Entity) linkDoc(e *Env, d *part.Doc, l link) {
	g := e.Theme.Glyph
	if isEdge(s.table) {
		d.Line(part.R(theme.Muted, l.edge+" end of "), part.S(s.name(e)))
	} else {
		from, to := s.id, l.id
		if !l.out {
			from, to = l.id, s.id
		}
		d.Line(part.R(theme.Accent, part.Clean(l.edge, g)), part.S(" "+part.Clean(from, g)+" "+g.Arrow+" "+part.Clean(to, g)))
		d.Line(part.R(theme.Muted, "edge "+part.Clean(l.edgeID, g)+" "+g.Dot+" "+press(e, action.OpenEdge)+" opens it"))
	}
	switch {
	case l.table == "":
		d.Gap().Text(theme.Muted, "The schema does not say of which type this entity is.")
	case s.gone(l) != nil:
		d.Gap()
		d.Line(part.R(theme.Bad, g.Bad+" no such "+part.Clean(typeOf(l.table), g)))
		d.Text(theme.Text, "The edge names "+l.table+" "+l.id+", which does not exist: it leads nowhere.")
	}
}

// recordDoc is one record, or why it is not there.
func (s *Entity) recordDoc(e *Env, d *part.Doc, p *Load[*engine.RowPage], table, id string) {
	if p == nil {
		d.Gap().Text(theme.Muted, "reading "+table+" "+id+e.Theme.Glyph.More)
		return
	}
	if err := p.Problem(); err != nil {
		if noEntity(err) == nil || p == &s.record {
			d.Gap().Add(problem(e, p, d.Width(), 0)...)
		}
		if noEntity(err) != nil {
			return
		}
	}
	page, ok := p.Get()
	switch {
	case ok && page != nil && len(page.Rows) > 0:
		rowFields(e, d, table, page, &page.Rows[0])
	case p.Problem() == nil:
		d.Add(absent(e, p, d.Width(), 2)...)
	}
}

// briefFields is how many fields of an end are shown beside the edge.
const briefFields = 5

// briefDoc is the beginning of an end's record.
func (s *Entity) briefDoc(e *Env, d *part.Doc, l link) {
	p := s.others[otherKey(l)]
	switch {
	case s.gone(l) != nil:
		d.Line(part.R(theme.Bad, e.Theme.Glyph.Bad+" no such "+part.Clean(typeOf(l.table), e.Theme.Glyph)+": the edge leads nowhere"))
		return
	case p == nil:
		d.Text(theme.Muted, "not read yet")
		return
	case p.Problem() != nil:
		d.Add(problem(e, p, d.Width(), 0)...)
	}
	page, ok := p.Get()
	if !ok || page == nil || len(page.Rows) == 0 {
		if p.Problem() == nil {
			d.Add(absent(e, p, d.Width(), 2)...)
		}
		return
	}
	shown, rest := 0, 0
	for i, name := range page.Columns {
		if name == "id" || i >= len(page.Rows[0].Values) {
			continue
		}
		if shown == briefFields {
			rest++
			continue
		}
		shown++
		text, role := cell(e.Theme, page.Rows[0].Values[i], max(8, d.Width()-18))
		d.FactRole(name, role, text)
	}
	if rest > 0 {
		d.Text(theme.Muted, part.Plural(rest, "field", "fields")+" more")
	}
}
