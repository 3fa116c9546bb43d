package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

// statements are a mutation in the making.
type statements struct {
	r      *draw
	rs     rows
	tag    string
	lines  []string
	params []string // declared
	values map[string]json.RawMessage
}

// mutation draws one of one or several statements: inserts and updates, or
// deletions.
func (r *draw) mutation(s *step, rs rows, tag string) {
	m := &statements{r: r, rs: rs, tag: tag, values: map[string]json.RawMessage{}}
	removes := r.IntN(4) == 0
	for range pick(r, 1, 1, 1, 2, 3, 4) {
		switch {
		case removes && r.IntN(3) == 0:
			m.deleteNode()
		case removes:
			m.deleteEdge()
		case r.IntN(3) == 0:
			m.insertEdge()
		case r.IntN(2) == 0:
			m.insertNode()
		default:
			m.update()
		}
	}
	s.text = "query q(" + strings.Join(m.params, ", ") + ") { " + strings.Join(m.lines, "\n") + " }"
	if len(m.values) > 0 {
		b, err := json.Marshal(m.values)
		if err != nil {
			panic(err)
		}
		s.params = string(b)
	}
}

func (m *statements) add(format string, args ...any) {
	m.lines = append(m.lines, fmt.Sprintf(format, args...))
}

// assign sets a property, by a literal or a parameter.
func (m *statements) assign(p prop) string {
	js, literal := m.r.value(p.kind)
	if p.nullable && p.kind != "Blob" && m.r.IntN(6) == 0 { // see TestWhereTheRustEngineErrs
		js, literal = "null", ""
	}
	if p.name == "text" {
		m.r.n++
		js, literal = text(fmt.Sprint("text ", m.r.n))
	}
	return p.name + ": " + m.give(p, js, literal)
}

func (m *statements) give(p prop, js, literal string) string {
	if literal != "" && m.r.IntN(2) == 0 {
		return literal
	}
	kind := p.kind
	if kind == "enum" {
		kind = "String"
	}
	if p.nullable {
		kind += "?"
	}
	name := fmt.Sprint("p", len(m.params))
	m.params = append(m.params, "$"+name+": "+kind)
	m.values[name] = json.RawMessage(js)
	return "$" + name
}

// set draws assignments of properties; all that an insert needs.
func (m *statements) set(props []prop, insert bool) string {
	var out []string
	for _, p := range props {
		if insert && !p.nullable || m.r.IntN(3) == 0 {
			out = append(out, m.assign(p))
		}
	}
	if len(out) == 0 && !insert {
		out = append(out, m.assign(props[m.r.IntN(len(props))]))
	}
	return strings.Join(out, " ")
}

func (m *statements) insertNode() {
	k := walkKind(pick(m.r, "Person", "Person", "Item", "Item", "Note", "Slot"))
	keys := m.r.keys(k.name, m.tag)
	var out []string
	for _, p := range k.keys {
		js := string(keys[p.name])
		out = append(out, p.name+": "+m.give(p, js, js))
	}
	m.add("insert %s { %s %s }", k.name, strings.Join(out, " "), m.set(k.props, true))
}

func (m *statements) update() {
	k := walkKind(pick(m.r, "Person", "Person", "Item", "Item", "Note", "Slot"))
	m.add("update %s set { %s } where %s", k.name, m.set(k.props, false), m.where(k.name))
}

// where is a predicate on nodes; by their keys mostly.
func (m *statements) where(kind string) string {
	wide, op := m.tag == "m" && m.r.IntN(4) == 0, pick(m.r, "=", "!=", "<", ">", "<=", ">=")
	id := m.rs.some(m.r, kind, m.tag)
	n := m.r.IntN(100)
	switch {
	case kind == "Person" && wide:
		return pick(m.r, fmt.Sprintf("age %s %d", op, n), "ok = true", "label "+op+` "it's"`, fmt.Sprintf("g %s %d.5", op, n), fmt.Sprintf("big %s %d", op, n))
	case kind == "Person":
		js, literal := text(id)
		return "code = " + m.give(prop{kind: "String"}, js, literal)
	case kind == "Item" && wide:
		return pick(m.r, `state = "open"`, `label != "a"`, fmt.Sprintf("num %s %d", op, n))
	case kind == "Item":
		if id == "nobody1" {
			id = "-5"
		}
		return "num = " + m.give(prop{kind: "I64"}, id, strings.ReplaceAll(id, "-5", "5"))
	case kind == "Note":
		return pick(m.r, fmt.Sprintf("n = %d", n), m.textOf(id))
	}
	return fmt.Sprintf("at %s %d", op, m.r.IntN(30))
}

// textOf is the predicate that finds a note.
func (m *statements) textOf(id string) string {
	for _, l := range m.rs["Note"] {
		if l.id() == id {
			return "text = " + string(l.Data["text"])
		}
	}
	return `text = "nothing"`
}

func (m *statements) deleteNode() {
	kind := pick(m.r, "Person", "Item", "Note", "Slot")
	m.add("delete %s where %s", kind, m.where(kind))
}

func (m *statements) insertEdge() {
	k := walkKind(pick(m.r, "Knows", "Knows", "Owns", "About", "In"))
	_, from := text(m.rs.some(m.r, k.from, m.tag))
	_, to := text(m.rs.some(m.r, k.to, m.tag))
	m.add("insert %s { from: %s to: %s %s }", k.name, from, to, m.set(k.props, true))
}

func (m *statements) deleteEdge() {
	k := walkKind(pick(m.r, "Knows", "Owns", "About", "In"))
	end, kind := "from", k.from
	if m.r.IntN(2) == 0 {
		end, kind = "to", k.to
	}
	_, id := text(m.rs.some(m.r, kind, m.tag))
	switch {
	case k.name == "Knows" && m.r.IntN(3) == 0:
		m.add("delete Knows where w %s 2.5", pick(m.r, "<", ">", "="))
	case k.name == "Owns" && m.r.IntN(3) == 0:
		m.add("delete Owns where n %s %d", pick(m.r, "<", ">"), m.r.IntN(100))
	default:
		m.add("delete %s where %s = %s", k.name, end, id)
	}
}
