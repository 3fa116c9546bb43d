package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Do is what an operation is.
type Do string

// The operations.
const (
	Mutate    Do = "mutate"
	Append    Do = "append" // the modes of a load
	Merge     Do = "merge"
	Overwrite Do = "overwrite"
	Read      Do = "read"    // an export
	Recover   Do = "recover" // what is there: to be looked at and settled
	Wait      Do = "wait"    // nothing, for a time
)

// Op is one operation.
type Op struct {
	N          int // its actor is op-N
	Client     int
	Do         Do
	Statements []Statement // of a mutation
	Rows       []Row       // of a load
	If         bool        // only when the branch is where the client last saw it
	Handle     bool        // for what the handle saw last (BaseHandle)
	Now        bool        // recover: also what is young
	For        time.Duration
	Faults     []Fault
}

// Fault is what goes wrong at a call.
type Fault struct {
	Do    string // kill, die, lose, fail, pause
	At    int    // call of the operation, from 0; of a lose: among those that write
	Until int    // pause: so many operations of others ended or stopped
	For   time.Duration
}

// Statement is one of a mutation.
type Statement struct {
	Verb, Type string // insert, update, delete
	From, To   string // of an edge that is inserted
	Set        map[string]string
	Where, Is  string // a property, from or to; a JSON value
}

func (s Statement) String() string {
	var set []string
	if s.From != "" {
		set = append(set, fmt.Sprintf("from: %q, to: %q", s.From, s.To))
	}
	for _, p := range slices.Sorted(maps.Keys(s.Set)) {
		set = append(set, p+": "+s.Set[p])
	}
	body := " { " + strings.Join(set, ", ") + " }"
	switch s.Verb {
	case "insert":
		return "insert " + s.Type + body
	case "update":
		return "update " + s.Type + " set" + body + " where " + s.Where + " = " + s.Is
	}
	return "delete " + s.Type + " where " + s.Where + " = " + s.Is
}

// Source is a mutation's text.
func (o Op) Source() string {
	out := make([]string, len(o.Statements))
	for i, s := range o.Statements {
		out[i] = s.String()
	}
	return "query q() { " + strings.Join(out, "\n  ") + " }"
}

// Lines are a load's text.
func (o Op) Lines() string {
	out := make([]string, len(o.Rows))
	for i, r := range o.Rows {
		out[i] = r.Line()
	}
	return strings.Join(out, "\n")
}

// Actor names the operation in the history.
func (o Op) Actor() string { return fmt.Sprint("op-", o.N) }

func (o Op) writes() bool {
	return o.Do == Mutate || o.Do == Append || o.Do == Merge || o.Do == Overwrite
}

func (o Op) String() string {
	s := fmt.Sprintf("%s of client %d: %s", o.Actor(), o.Client, o.Do)
	switch {
	case o.Do == Mutate:
		s += " " + o.Source()
	case o.writes():
		s += " " + o.Lines()
	case o.Do == Wait:
		s += " " + o.For.String()
	}
	if o.If {
		s += ", if the branch is where it saw it"
	}
	if o.Handle {
		s += ", on what its handle saw"
	}
	if o.Now {
		s += " now"
	}
	for _, f := range o.Faults {
		s += fmt.Sprintf(" [%s at %d", f.Do, f.At)
		if f.Do == "pause" {
			s += fmt.Sprintf(" until %d and for %v", f.Until, f.For)
		}
		s += "]"
	}
	return s
}

// Came is what an operation comes to.
type Came struct {
	Nodes, Edges int  // affected, of a mutation
	Nothing      bool // there is nothing to write
	Conflict     bool // an append of what is there
	Rule         bool // a rule is broken
}

// Apply is what a write makes of a state.
func (o Op) Apply(s State) (State, Came) {
	var next State
	var came Came
	if o.Do == Mutate {
		next, came = o.mutate(s)
	} else {
		next, came = o.load(s)
	}
	came.Rule = came.Rule || next.broken()
	return next, came
}

func (o Op) load(s State) (State, Came) {
	var came Came
	next := s.clone()
	if o.Do == Overwrite {
		for _, r := range o.Rows {
			next[r.Type] = nil
		}
	}
	for _, r := range o.Rows {
		r.name()
		_, there := next[r.Type][r.ID]
		came.Conflict = came.Conflict || there && o.Do == Append && r.ID[0] != '~'
		next.add(r)
	}
	return next, came
}

func (o Op) mutate(s State) (State, Came) {
	m := mutation{base: s, next: s.clone(), gone: map[string]bool{}}
	for _, st := range o.Statements {
		switch st.Verb {
		case "insert":
			m.insert(st)
		case "update":
			m.update(st)
		default:
			m.remove(st)
		}
	}
	m.came.Nothing = m.came.Nodes+m.came.Edges == 0
	return m.next, m.came
}

type mutation struct {
	base, next State
	came       Came
	gone       map[string]bool
}

func (m *mutation) count(typ string) {
	if kinds[typ].from == "" {
		m.came.Nodes++
	} else {
		m.came.Edges++
	}
}

// wrote counts a row; its values must be right also when a later statement
// replaces them.
func (m *mutation) wrote(r Row) {
	m.count(r.Type)
	m.came.Rule = m.came.Rule || !kinds[r.Type].inRange(r)
}

func (m *mutation) insert(st Statement) {
	r := Row{Type: st.Type, From: st.From, To: st.To, Data: st.Set}
	r.name()
	m.next.add(r)
	m.wrote(r)
}

// meets asks a condition of a row.
func (st Statement) meets(r Row) bool {
	switch st.Where {
	case "from":
		return r.From == plain(st.Is)
	case "to":
		return r.To == plain(st.Is)
	}
	return r.Data[st.Where] == st.Is
}

func (m *mutation) update(st Statement) {
	for _, r := range m.next[st.Type] {
		if !st.meets(r) {
			continue
		}
		r.Data = maps.Clone(r.Data)
		maps.Copy(r.Data, st.Set) // never what names the row
		m.next[st.Type][r.ID] = r
		m.wrote(r)
	}
}

// remove takes rows of the base away, and the edges at a node.
func (m *mutation) remove(st Statement) {
	for id, r := range m.base[st.Type] {
		if !st.meets(r) {
			continue
		}
		m.take(st.Type, id)
		for t, k := range kinds {
			for eid, e := range m.base[t] {
				if k.from == st.Type && e.From == id || k.to == st.Type && e.To == id {
					m.take(t, eid)
				}
			}
		}
	}
}

func (m *mutation) take(typ, id string) {
	if k := typ + "/" + id; !m.gone[k] {
		m.gone[k] = true
		delete(m.next[typ], id)
		m.count(typ)
	}
}
