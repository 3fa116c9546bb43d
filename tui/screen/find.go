package screen

import (
	"context"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Find shows in which types an id stands: ids are unique within one type only.
type Find struct {
	board
	id      string
	hits    Load[[]engine.Hit]
	records map[string]*Load[*engine.RowPage]
}

// NewFind makes the screen that looks for an id in all types.
func NewFind(id string) *Find {
	s := &Find{board: newBoard(40), id: id, records: map[string]*Load[*engine.RowPage]{}}
	s.hits.name = "search for " + id
	return s
}

// Name implements Screen.
func (s *Find) Name() string { return action.OnFind }

// Title implements Screen.
func (s *Find) Title() string { return "find " + s.id }

// Place implements Screen.
func (s *Find) Place() string { return "find/" + s.id }

// Start implements Screen.
func (s *Find) Start(e *Env) []Request {
	s.hits.aim(e)
	for _, p := range s.records {
		p.aim(e)
	}
	var out []Request
	if s.hits.wanted(e) {
		out = append(out, s.ask(e))
	}
	if hits, ok := s.hits.Get(); ok && len(hits) == 0 && e.Data.Snapshot.wanted(e) { // says how many tables were searched
		out = append(out, e.Data.AskSnapshot(e))
	}
	return append(out, s.need(e)...)
}

// Reload implements Screen.
func (s *Find) Reload(e *Env) []Request {
	for _, p := range s.records {
		p.reset()
	}
	clear(s.records)
	return []Request{s.ask(e)}
}

func (s *Find) ask(e *Env) Request {
	at, id := e.At, s.id
	return s.hits.ask(e, func(ctx context.Context, ws workspace.Workspace) ([]engine.Hit, error) { return ws.Find(ctx, id, at) })
}

// need asks for the record of the selected hit, one at a time.
func (s *Find) need(e *Env) []Request {
	h := s.selected()
	if h == nil {
		return nil
	}
	for _, p := range s.records {
		if p.Busy() {
			return nil
		}
	}
	table := h.Kind + ":" + h.Type
	p := s.records[table]
	if p == nil {
		p = &Load[*engine.RowPage]{name: table + " " + s.id}
		s.records[table] = p
	}
	if !p.wanted(e) {
		return nil
	}
	at, id := e.At, s.id
	return []Request{p.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.RowPage, error) {
		return ws.Entity(ctx, table, id, at)
	})}
}

func (s *Find) all() []engine.Hit {
	hits, _ := s.hits.Get()
	return hits
}

func (s *Find) selected() *engine.Hit {
	hits := s.all()
	s.arrange(hits)
	if i, ok := s.at(s.list.Sel, len(hits)); ok {
		return &hits[i]
	}
	return nil
}

func (s *Find) arrange(hits []engine.Hit) {
	s.lens.look(len(hits), s.hits.Loaded(), s.facets())
	s.list.Settle(s.places(len(hits)), s.key)
}

func (s *Find) key(place int) string {
	hits := s.all()
	if i, ok := s.at(place, len(hits)); ok {
		return hits[i].Kind + ":" + hits[i].Type
	}
	return ""
}

// facets are the properties of a hit.
func (s *Find) facets() []facet {
	return []facet{
		{name: "kind", text: func(i int) string { return s.all()[i].Kind }},
		{name: "type", text: func(i int) string { return s.all()[i].Type }},
	}
}

// Panes implements Screen.
func (s *Find) Panes(*Env) []Pane {
	out := []Pane{&s.hits}
	if h := s.selected(); h != nil {
		if p := s.records[h.Kind+":"+h.Type]; p != nil {
			out = append(out, p)
		}
	}
	return out
}

// Context implements Screen.
func (s *Find) Context(*Env) action.Context {
	h := s.selected()
	return action.Context{Items: s.places(len(s.all())), Openable: h != nil, Detail: h != nil}
}

// Do implements Screen.
func (s *Find) Do(e *Env, id action.ID) Effect {
	h := s.selected()
	switch {
	case id == action.Open && h != nil:
		return Effect{Push: NewEntity(h.Kind+":"+h.Type, h.ID)}
	case id == action.Flip:
		s.onRight = !s.onRight && h != nil
	case s.move(id, s.places(len(s.all()))) && !s.onRight:
		s.list.Remember(s.key(s.list.Sel))
	}
	return Effect{Ask: s.need(e)}
}

// Filter implements Filterer.
func (s *Find) Filter() string { return s.lens.text }

// SetFilter implements Filterer.
func (s *Find) SetFilter(e *Env, text string) Effect {
	out := s.narrow(text, s.facets())
	out.Ask = s.need(e)
	return out
}

// NextMatch implements Filterer.
func (s *Find) NextMatch(e *Env, d int) Effect {
	out := s.match(d, len(s.all()), s.facets())
	out.Ask = s.need(e)
	return out
}

// Pin implements Pinner.
func (s *Find) Pin(e *Env) *Pin {
	if h := s.selected(); h != nil {
		return rowPin(h.Kind+":"+h.Type, h.ID, e.At)
	}
	return nil
}

// Copies implements Copier.
func (s *Find) Copies(e *Env) []Copy {
	out := []Copy{{Label: "id", Text: s.id}}
	if h := s.selected(); h != nil {
		if page, ok := s.record(*h); ok && len(page.Rows[0].Line) > 0 {
			out = append(out, Copy{Label: "row as JSON", Text: string(page.Rows[0].Line)})
		}
	}
	return append(out, Copy{Label: "command line", Text: onGraph(e, e.At, "find", s.id)})
}

func (s *Find) record(h engine.Hit) (*engine.RowPage, bool) {
	p := s.records[h.Kind+":"+h.Type]
	if p == nil {
		return nil, false
	}
	page, ok := p.Get()
	return page, ok && page != nil && len(page.Rows) > 0
}

// Render implements Screen.
func (s *Find) Render(e *Env, a Area) []string {
	s.selected()
	name := "find " + part.Clean(s.id, e.Theme.Glyph)
	hits, ok := s.hits.Get()
	if !ok {
		out := append([]string{title(e, a.W, name, "", &s.hits)}, absent(e, &s.hits, a.W, a.H-1)...)
		return part.Fit(out, a.W, a.H)
	}
	if len(hits) == 0 {
		return part.Fit(s.nothing(e, a.W, a.H, name), a.W, a.H)
	}
	list := func(w, h int, focused bool) []string { return s.renderList(e, hits, w, h, name, focused) }
	detail := func(w int) *part.Doc { return s.detail(e, w) }
	return s.render(e, a, s.key(s.list.Sel), list, detail)
}

// nothing says where the id was looked for, and what else can be done.
func (s *Find) nothing(e *Env, w, h int, name string) []string {
	out := []string{title(e, w, name, "", &s.hits)}
	if s.hits.Problem() != nil {
		out = append(out, problem(e, &s.hits, w, h-4)...)
	}
	d := part.NewDoc(e.Theme, w)
	where := "all types"
	if snap, ok := e.Data.Snapshot.Get(); ok {
		where = part.Plural(len(snap.Datasets), "table", "tables")
	}
	if s.hits.Problem() != nil {
		d.Text(theme.Text, "In what could be read of "+where+" no entity has the id "+s.id+".")
	} else {
		d.Text(theme.Text, "No entity has the id "+s.id+": "+where+" were searched, nodes and edges.")
	}
	d.Text(theme.Muted, "An id is looked for as it is written, whole and with its capitals. To look for a part of one, open the rows of a type and filter by id contains "+whereText(s.id)+".")
	return append(out, d.Window(max(0, h-len(out)), new(int))...)
}

func (s *Find) renderList(e *Env, hits []engine.Hit, w, h int, name string, focused bool) []string {
	g := e.Theme.Glyph
	facts := part.Plural(len(hits), "entity", "entities")
	if said := s.lens.said(s.lens.len(len(hits)), len(hits), s.facets()); said != "" {
		facts = part.Clean(said, g)
	}
	out := []string{title(e, w, name, facts, &s.hits)}
	if s.hits.Problem() != nil {
		out = append(out, problem(e, &s.hits, w, 0)...)
	}
	tb := part.Table{
		Columns: []part.Column{{Title: "kind"}, {Title: "type", Min: 10}, {Title: "id", Min: 8, Drop: 1}},
		N:       s.places(len(hits)), Heading: true,
		Row: func(place int) []part.Span {
			i, ok := s.at(place, len(hits))
			if !ok {
				return []part.Span{part.S(""), part.S(""), part.S("")}
			}
			return []part.Span{part.R(theme.Muted, part.Clean(hits[i].Kind, g)), part.S(part.Clean(hits[i].Type, g)), part.S(part.Clean(hits[i].ID, g))}
		},
	}
	return part.Fit(append(out, tb.Render(e.Theme, w, max(0, h-len(out)), &s.list, focused)...), w, h)
}

func (s *Find) detail(e *Env, w int) *part.Doc {
	d := part.NewDoc(e.Theme, w)
	h := s.selected()
	if h == nil {
		return d
	}
	p := s.records[h.Kind+":"+h.Type]
	if p == nil {
		return d.Text(theme.Muted, "reading "+s.id+e.Theme.Glyph.More)
	}
	if p.Problem() != nil {
		d.Add(problem(e, p, w, 0)...)
	}
	if page, ok := s.record(*h); ok {
		rowFields(e, d, h.Kind+":"+h.Type, page, &page.Rows[0])
	} else if p.Problem() == nil {
		d.Add(absent(e, p, w, 2)...)
	}
	return d
}
