package screen

import (
	"context"
	"errors"
	"slices"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Entity shows one entity and what it is tied to: of a node its edges, out and
// in, each with the entity at its other end; of an edge both its ends. The
// first place of the list is the entity itself. What stands at the other end is
// read when it is looked at, one at a time.
type Entity struct {
	board
	table, id string
	fixed     *engine.At // a moment of its own; nil = that of all screens
	record    Load[*engine.RowPage]
	around    Load[*engine.Neighbors]
	limit     int // edges asked for
	others    map[string]*Load[*engine.RowPage]
	side      int // index into sides
	links     []link
	of        linkSource
	goal      string // key of the place to select once there are links; "" = none
}

// link is one edge seen from an entity, or one end seen from an edge.
type link struct {
	out, in bool // both: the edge leads back to where it begins
	edge    string
	edgeID  string
	table   string // of the entity at the other end; "" when the schema does not say
	id      string
}

// linkSource is what links were made from.
type linkSource struct {
	around *engine.Neighbors
	record *engine.RowPage
	side   int
}

// The sides of a node that can be looked at; an edge has the first and the
// last.
const (
	sideAll = iota
	sideOut
	sideIn
	sideFields
)

const (
	firstEdges = 1000 // edges asked for at first
	othersKept = 64   // entities at other ends that are kept
)

// NewEntity makes the screen of the entity with an id in a table.
func NewEntity(table, id string) *Entity {
	s := &Entity{board: newBoard(50), table: table, id: id, limit: firstEdges, others: map[string]*Load[*engine.RowPage]{}}
	s.heads = 1
	s.record.name = table + " " + id
	s.around.name = "edges of " + id
	return s
}

// on makes the entity be read at a moment of its own.
func (s *Entity) on(at engine.At) *Entity {
	s.fixed = &at
	return s
}

// when is the moment at which the entity is read.
func (s *Entity) when(e *Env) engine.At {
	if s.fixed != nil {
		return *s.fixed
	}
	return e.At
}

// to is another entity at the same moment.
func (s *Entity) to(table, id string) *Entity {
	next := NewEntity(table, id)
	next.fixed = s.fixed
	return next
}

// Name implements Screen.
func (s *Entity) Name() string { return action.OnEntity }

// Title implements Screen.
func (s *Entity) Title() string { return s.id }

// Place implements Screen.
func (s *Entity) Place() string { return s.table + "/rows/" + s.id }

// Start implements Screen.
func (s *Entity) Start(e *Env) []Request {
	s.forgetOld(e)
	var out []Request
	if s.record.wanted(e) {
		out = append(out, s.askRecord(e))
	}
	if !isEdge(s.table) && s.around.wanted(e) {
		out = append(out, s.askAround(e))
	}
	return append(out, s.need(e)...)
}

// forgetOld forgets what was read at another moment than the one that is shown
// now.
func (s *Entity) forgetOld(e *Env) {
	if s.fixed != nil {
		return
	}
	s.record.aim(e)
	s.around.aim(e)
	for _, l := range s.others {
		l.aim(e)
	}
}

// Reload implements Screen.
func (s *Entity) Reload(e *Env) []Request {
	out := []Request{s.askRecord(e)}
	if !isEdge(s.table) {
		out = append(out, s.askAround(e))
	}
	shown := s.shownOthers()
	for key, l := range s.others {
		if !shown[key] {
			l.reset()
			delete(s.others, key)
		}
	}
	for _, l := range s.shownLinks() {
		if l.table != "" {
			out = append(out, s.askOther(e, l))
		}
	}
	return out
}

func (s *Entity) askRecord(e *Env) Request {
	at, table, id := s.when(e), s.table, s.id
	return s.record.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.RowPage, error) {
		return ws.Entity(ctx, table, id, at)
	})
}

// askAround asks for the edges. Whether the node is there, the record says.
func (s *Entity) askAround(e *Env) Request {
	at, typ, id, limit := s.when(e), typeOf(s.table), s.id, s.limit
	return s.around.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.Neighbors, error) {
		return ws.Neighbors(ctx, typ, id, at, engine.NeighborsOptions{Limit: limit, Unchecked: true})
	})
}

func otherKey(l link) string { return l.table + "\x00" + l.id }

func (s *Entity) askOther(e *Env, l link) Request {
	key, at := otherKey(l), s.when(e)
	p := s.others[key]
	if p == nil {
		p = &Load[*engine.RowPage]{name: l.table + " " + l.id}
		s.others[key] = p
	}
	return p.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.RowPage, error) {
		return ws.Entity(ctx, l.table, l.id, at)
	})
}

// need asks for the entities at other ends that are shown and not known, one
// at a time of a node's: while one is read the selection may move on.
func (s *Entity) need(e *Env) []Request {
	s.relink(e)
	shown := s.shownOthers()
	busy := false
	for key, l := range s.others {
		busy = busy || l.Busy()
		if len(s.others) > othersKept && !shown[key] && !l.Busy() {
			delete(s.others, key)
		}
	}
	out := s.lens.need(e, len(s.links), s.of, s.facets())
	for _, l := range s.shownLinks() {
		if l.table == "" || busy && !isEdge(s.table) {
			continue
		}
		if p := s.others[otherKey(l)]; p == nil || p.wanted(e) {
			out = append(out, s.askOther(e, l))
		}
	}
	return out
}

// shownLinks are the links whose other ends are shown: both of an edge, the
// selected one of a node.
func (s *Entity) shownLinks() []link {
	if isEdge(s.table) {
		return s.links
	}
	if l := s.selected(); l != nil {
		return []link{*l}
	}
	return nil
}

func (s *Entity) shownOthers() map[string]bool {
	out := map[string]bool{}
	for _, l := range s.shownLinks() {
		out[otherKey(l)] = true
	}
	return out
}

// selected is the link that is selected; nil when the entity itself is.
func (s *Entity) selected() *link {
	if s.side == sideFields {
		return nil
	}
	if i, ok := s.at(s.list.Sel, len(s.links)); ok {
		return &s.links[i]
	}
	return nil
}

// Panes implements Screen.
func (s *Entity) Panes(*Env) []Pane {
	out := []Pane{&s.record}
	if !isEdge(s.table) {
		out = append(out, &s.around)
	}
	for _, l := range s.shownLinks() {
		if p := s.others[otherKey(l)]; p != nil {
			out = append(out, p)
		}
	}
	return s.working(out)
}

// Context implements Screen.
func (s *Entity) Context(e *Env) action.Context {
	s.relink(e)
	n := s.places(len(s.links))
	l := s.selected()
	a, _ := s.around.Get()
	c := action.Context{
		Items: n, Openable: l != nil, Detail: s.side != sideFields, Tabs: true,
		Truncated: a != nil && a.Truncated,
	}
	page, _ := s.record.Get()
	c.NoEdit, c.NoDelete = noChange(s.table, page != nil && s.record.Problem() == nil)
	if s.fixed != nil {
		c.NoEdit, c.NoDelete = pastMoment, pastMoment
	}
	c.NoInsert = s.noEdge()
	return c
}

// Do implements Screen.
func (s *Entity) Do(e *Env, id action.ID) Effect {
	s.relink(e)
	n := s.places(len(s.links))
	switch id {
	case action.NextTab, action.PrevTab:
		s.turn(e, id == action.NextTab)
	case action.Open:
		return s.open()
	case action.Insert:
		return s.insertEdge(e)
	case action.Edit, action.Delete:
		return Effect{Form: newChange(e, id, s.table, s.id, s.written)}
	case action.OpenEdge:
		if l := s.selected(); l != nil && !isEdge(s.table) {
			return Effect{Push: s.to("edge:"+l.edge, l.edgeID)}
		}
		return Effect{Note: "select an edge first"}
	case action.Flip:
		s.onRight = !s.onRight && s.side != sideFields
	case action.Bottom:
		if a, _ := s.around.Get(); a != nil && a.Truncated && !s.onRight && s.side != sideFields && !s.around.Busy() {
			s.limit *= 10
			return Effect{Ask: []Request{s.askAround(e)}, Note: "reading up to " + part.Count(s.limit) + " edges"}
		}
		s.moveIn(id, n)
	default:
		s.moveIn(id, n)
	}
	return Effect{Ask: s.need(e)}
}

func (s *Entity) moveIn(id action.ID, n int) {
	if s.side == sideFields {
		Scroll(&s.scroll, id)
		return
	}
	if s.move(id, n) && !s.onRight {
		s.list.Remember(s.key(s.list.Sel))
	}
}

// turn goes to the next side, or to the one before.
func (s *Entity) turn(e *Env, next bool) {
	sides := s.sides()
	step := 1
	if !next {
		step = len(sides) - 1
	}
	s.show(e, sides[(max(0, slices.Index(sides, s.side))+step)%len(sides)])
}

// show looks at a side.
func (s *Entity) show(e *Env, side int) {
	s.side, s.onRight, s.scroll = side, false, 0
	s.relink(e)
}

func (s *Entity) sides() []int {
	if isEdge(s.table) {
		return []int{sideAll, sideFields}
	}
	return []int{sideAll, sideOut, sideIn, sideFields}
}

// open leads to the entity at the other end of the selected link.
func (s *Entity) open() Effect {
	l := s.selected()
	switch {
	case l == nil:
		return Effect{Note: "select an edge to go to its other end"}
	case l.table == "":
		return Effect{Note: "the schema does not say of which type " + l.id + " is; find looks in all of them", Push: NewFind(l.id)}
	case s.gone(*l) != nil:
		return Effect{Note: s.gone(*l).Error()}
	}
	return Effect{Push: s.to(l.table, l.id)}
}

// gone says why the entity at the other end cannot be shown: it does not
// exist. nil as long as nothing says so.
func (s *Entity) gone(l link) *engine.NotFoundError {
	p := s.others[otherKey(l)]
	if p == nil || p.Problem() == nil {
		return nil
	}
	return noEntity(p.Problem())
}

// noEntity is the error when it says that an entity is not there.
func noEntity(err error) *engine.NotFoundError {
	var e *engine.NotFoundError
	if errors.As(err, &e) && e.What == "entity" {
		return e
	}
	return nil
}

// key names a place of the list.
func (s *Entity) key(place int) string {
	i, ok := s.at(place, len(s.links))
	if !ok {
		return "\x00self"
	}
	l := s.links[i]
	if isEdge(s.table) {
		return l.edge
	}
	return l.edge + "\x00" + l.edgeID
}
