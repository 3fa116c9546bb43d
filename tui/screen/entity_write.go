package screen

import (
	"maps"
	"slices"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
)

const pastMoment = "a moment that is past is shown"

// noChange is why an entity of a table cannot be edited or deleted, as far as
// the table tells.
func noChange(table string, there bool) (edit, del string) {
	if !there {
		return "nothing is selected", "nothing is selected"
	}
	if isEdge(table) {
		return "the language cannot change an edge: delete it and insert it anew", ""
	}
	return "", ""
}

// newChange is the form of an action that changes an entity.
func newChange(e *Env, id action.ID, table, entity string, done func(*Env) Effect) *Form {
	if id == action.Edit {
		return NewEdit(e, table, entity, done)
	}
	return NewDelete(e, table, entity, done)
}

// written reads again what a write may have changed.
func (s *Entity) written(e *Env) Effect { return Effect{Ask: s.Reload(e)} }

// noEdge is why no edge can be inserted from or to the entity.
func (s *Entity) noEdge() string {
	switch {
	case isEdge(s.table):
		return "an edge has no edges; the rows of its type take a new one"
	case s.fixed != nil:
		return pastMoment
	}
	if n, ok := s.around.Get(); ok && n != nil && n.Ends != nil && len(s.edgeKinds()) == 0 {
		return "no edge type begins or ends at a " + typeOf(s.table)
	}
	return ""
}

// edgeKind is an edge type and the side on which the entity may stand.
type edgeKind struct {
	name, end, other string // other is the type at the other end
}

// edgeKinds are the edges that may be tied to the entity, as the walk around it
// tells.
func (s *Entity) edgeKinds() []edgeKind {
	n, ok := s.around.Get()
	if !ok || n == nil {
		return nil
	}
	return edgeKindsOf(n.Ends, typeOf(s.table))
}

func edgeKindsOf(all map[string]engine.Ends, node string) []edgeKind {
	var out []edgeKind
	for _, name := range slices.Sorted(maps.Keys(all)) {
		ends := all[name]
		if ends.From == node {
			out = append(out, edgeKind{name, "from", ends.To})
		}
		if ends.To == node {
			out = append(out, edgeKind{name, "to", ends.From})
		}
	}
	return out
}

// insertEdge asks for the type of an edge that begins or ends here, and opens
// its form.
func (s *Entity) insertEdge(e *Env) Effect {
	kinds := s.edgeKinds()
	if len(kinds) == 0 {
		return Effect{Note: "which edges may be tied to it was not read yet"}
	}
	m := &Menu{Title: "a new edge of " + part.Head(s.id, 60)}
	g := e.Theme.Glyph
	for _, k := range kinds {
		it := MenuItem{Label: k.name, Detail: "from here " + g.Arrow + " " + k.other}
		if k.end == "to" {
			it.Detail = "to here " + g.Back + " " + k.other
		}
		m.Items = append(m.Items, it)
	}
	m.Choose = func(e *Env, i int) Effect {
		return Effect{Form: NewInsert(e, "edge:"+kinds[i].name, map[string]string{kinds[i].end: s.id}, s.written)}
	}
	return Effect{Menu: m}
}
