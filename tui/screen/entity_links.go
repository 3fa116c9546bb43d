package screen

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/engine"
)

// relink makes the links anew when what they are made from has changed, and
// arranges them.
func (s *Entity) relink(e *Env) {
	around, _ := s.around.Get()
	record, _ := s.record.Get()
	now := linkSource{around, record, s.side}
	if now != s.of {
		s.of = now
		if isEdge(s.table) {
			s.links = endsOf(record)
		} else {
			s.links = s.linksOf(around)
		}
	}
	// The links are compared by the pointers that they are made from.
	s.lens.look(len(s.links), s.of, s.facets())
	if s.goal != "" && len(s.links) > 0 {
		s.list.Remember(s.goal)
		s.goal = ""
	}
	s.list.Settle(s.places(len(s.links)), s.key)
}

// endsOf are both ends of an edge.
func endsOf(page *engine.RowPage) []link {
	if page == nil || len(page.Rows) == 0 {
		return nil
	}
	row := &page.Rows[0]
	return []link{
		{in: true, edge: "from", table: nodeTable(page.Ends.From), id: row.Src},
		{out: true, edge: "to", table: nodeTable(page.Ends.To), id: row.Dst},
	}
}

// linksOf are the edges of a node on the side that is looked at, in the order
// of the engine: by type.
func (s *Entity) linksOf(n *engine.Neighbors) []link {
	if n == nil {
		return nil
	}
	type pair struct{ from, to string }
	types := map[string]pair{} // a name is made once for all edges of a type
	var out []link
	for _, edge := range n.Edges {
		p, ok := types[edge.Type]
		if !ok {
			p = pair{nodeTable(n.Ends[edge.Type].From), nodeTable(n.Ends[edge.Type].To)}
			types[edge.Type] = p
		}
		l := link{edge: edge.Type, edgeID: edge.ID}
		l.out = edge.From == s.id && (p.from == "" || p.from == s.table)
		l.in = edge.To == s.id && (p.to == "" || p.to == s.table)
		if l.table, l.id = p.to, edge.To; !l.out {
			l.table, l.id = p.from, edge.From
		}
		if s.side == sideOut && !l.out || s.side == sideIn && !l.in {
			continue
		}
		out = append(out, l)
	}
	return out
}

// counts are how many edges lead out, in, and both ways, whatever side is
// looked at.
func (s *Entity) counts() (out, in int) {
	n, _ := s.around.Get()
	if n == nil {
		return 0, 0
	}
	all := *s
	all.side = sideAll
	for _, l := range all.linksOf(n) {
		if l.out {
			out++
		}
		if l.in {
			in++
		}
	}
	return out, in
}

// group is the edges of one type in one direction.
type group struct {
	edge    string
	out, in bool
	other   string
	n       int
}

// groups count the links that are listed.
func (s *Entity) groups() []group {
	var all []group
	at := map[group]int{}
	for _, l := range s.links {
		g := group{edge: l.edge, out: l.out, in: l.in, other: l.table}
		i, ok := at[g]
		if !ok {
			i = len(all)
			at[g], all = i, append(all, g)
		}
		all[i].n++
	}
	return all
}

func (l link) way() string {
	switch {
	case l.out && l.in:
		return "loop"
	case l.out:
		return "out"
	}
	return "in"
}

// facets are the properties of a link by which a list of them is narrowed and
// ordered.
func (s *Entity) facets() []facet {
	links := s.links // a command may look at them: they are replaced, never changed
	text := func(f func(l *link) string) func(int) string { return func(i int) string { return f(&links[i]) } }
	return []facet{
		{name: "way", text: text(func(l *link) string { return l.way() })},
		{name: "edge", text: text(func(l *link) string { return l.edge })},
		{name: "type", text: text(func(l *link) string { return typeOf(l.table) })},
		{name: "id", text: text(func(l *link) string { return l.id })},
		{name: "edge id", text: text(func(l *link) string { return l.edgeID })},
	}
}

// Filter implements Filterer.
func (s *Entity) Filter() string { return s.lens.text }

// SetFilter implements Filterer.
func (s *Entity) SetFilter(e *Env, text string) Effect {
	s.relink(e)
	out := s.narrow(text, s.facets())
	out.Ask = s.need(e)
	return out
}

// NextMatch implements Filterer.
func (s *Entity) NextMatch(e *Env, d int) Effect {
	s.relink(e)
	out := s.match(d, len(s.links), s.facets())
	out.Ask = s.need(e)
	return out
}

// SortColumns implements Sorter.
func (s *Entity) SortColumns(*Env) []string { return names(s.facets()) }

// Sorted implements Sorter.
func (s *Entity) Sorted() (column int, desc bool) { return s.lens.column, s.lens.desc }

// SetSort implements Sorter.
func (s *Entity) SetSort(e *Env, column int, desc bool) Effect {
	s.lens.column, s.lens.desc = column, desc
	return Effect{Ask: s.need(e)}
}

// seen is the entity that is looked at: the other end when a link is selected,
// else the entity itself.
func (s *Entity) seen() (table, id string, page *engine.RowPage) {
	if l := s.selected(); l != nil {
		if p := s.others[otherKey(*l)]; p != nil {
			page, _ = p.Get()
		}
		return l.table, l.id, page
	}
	page, _ = s.record.Get()
	return s.table, s.id, page
}

// Pin implements Pinner: the entity that is looked at.
func (s *Entity) Pin(e *Env) *Pin {
	table, id, _ := s.seen()
	if table == "" {
		return nil
	}
	return rowPin(table, id, s.when(e))
}

func rowPin(table, id string, at engine.At) *Pin {
	return &Pin{Kind: PinRow, Label: table + " " + id, At: at, Table: table, ID: id}
}

// Copies implements Copier.
func (s *Entity) Copies(e *Env) []Copy {
	table, id, page := s.seen()
	out := []Copy{{Label: "id", Text: id}}
	if page != nil && len(page.Rows) > 0 && len(page.Rows[0].Line) > 0 {
		out = append(out, Copy{Label: "row as JSON", Text: string(page.Rows[0].Line)})
	}
	at := s.when(e)
	if l := s.selected(); l != nil && l.edgeID != "" {
		out = append(out, Copy{Label: "id of the edge", Text: l.edgeID})
	}
	switch {
	case isEdge(table):
		out = append(out, Copy{Label: "command line", Text: onGraph(e, at, "rows", table, "--where", "id = "+whereText(id))})
	case table != "":
		out = append(out, Copy{Label: "command line", Text: onGraph(e, at, "neighbors", typeOf(table), id)})
	default:
		out = append(out, Copy{Label: "command line", Text: onGraph(e, at, "find", id)})
	}
	return out
}

// keptEntity is what outlives the program, and a change of the moment.
type keptEntity struct {
	Side   int    `json:"side,omitempty"`
	Filter string `json:"filter,omitempty"`
	Key    string `json:"key,omitempty"`
}

// Keep implements Keeper.
func (s *Entity) Keep() json.RawMessage {
	k := keptEntity{s.side, s.lens.text, s.list.Key}
	if s.goal != "" {
		k.Key = s.goal
	}
	if k == (keptEntity{}) {
		return nil
	}
	out, err := json.Marshal(k)
	if err != nil {
		return nil
	}
	return out
}

// Restore implements Keeper.
func (s *Entity) Restore(raw json.RawMessage) {
	var k keptEntity
	if json.Unmarshal(raw, &k) != nil {
		return
	}
	if slices.Contains(s.sides(), k.Side) {
		s.side = k.Side
	}
	_ = s.lens.set(k.Filter, s.facets()) // a filter that cannot be read is forgotten
	s.goal = k.Key
}

// whereText spells text as a string of package where.
func whereText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\t", `\t`).Replace(s) + "'"
}
