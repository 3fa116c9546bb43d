package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnideck/omnideck/engine"
)

// line is one line of an export, or of what is loaded.
type walkLine struct {
	Type string                     `json:"type,omitempty"`
	Edge string                     `json:"edge,omitempty"`
	From string                     `json:"from,omitempty"`
	To   string                     `json:"to,omitempty"`
	Data map[string]json.RawMessage `json:"data"`
}

func (l walkLine) id() string { return plain(l.Data["id"]) }

func plain(js json.RawMessage) string {
	if s, err := strconv.Unquote(string(js)); err == nil {
		return s
	}
	return string(js)
}

func (l walkLine) String() string {
	b, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// rows are what a branch holds, as far as a step may name it.
type rows map[string][]walkLine

func (w *rustWalk) rows(branch string) rows {
	w.t.Helper()
	out := rows{}
	for text := range strings.Lines(w.export(branch)) {
		var l walkLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			w.t.Fatal(err)
		}
		if name := l.Type + l.Edge; !minted.MatchString(l.id()) { // the id that the other graph has is another one
			out[name] = append(out[name], l)
		}
	}
	return out
}

// some is the id of a node that there is; mostly one that the branch tends, and
// one time in fifty of none.
func (rs rows) some(r *draw, kind, tag string) string {
	all := rs[kind]
	if own := slices.DeleteFunc(slices.Clone(all), func(l walkLine) bool { return !tended(kind, l.id(), tag) }); len(own) > 0 && r.IntN(20) > 0 {
		all = own
	}
	if len(all) == 0 || r.IntN(50) == 0 {
		return "nobody1"
	}
	return pick(r, all...).id()
}

// tended reports whether a node is one of those that the branch of a tag mostly
// writes, so that merges have a chance.
func tended(kind, id, tag string) bool {
	switch kind {
	case "Item":
		n, err := strconv.Atoi(id)
		return err == nil && n%2 == strings.IndexByte("mb", tag[0])
	case "Slot":
		return strings.HasSuffix(id, fmt.Sprintf(",%q]", tag))
	}
	return strings.HasPrefix(strings.TrimPrefix(id, "n-"), tag)
}

// keys draws the key of a node, there or not.
func (r *draw) keys(kind, tag string) map[string]json.RawMessage {
	n := r.IntN(30)
	switch kind {
	case "Person":
		return map[string]json.RawMessage{"code": fmt.Appendf(nil, "%q", fmt.Sprint(tag, n))}
	case "Item":
		return map[string]json.RawMessage{"num": fmt.Appendf(nil, "%d", 2*n+max(0, strings.IndexByte("mb", tag[0])))}
	case "Slot":
		return map[string]json.RawMessage{"shelf": fmt.Appendf(nil, "%q", tag), "at": fmt.Appendf(nil, "%d", n)}
	}
	return map[string]json.RawMessage{"id": fmt.Appendf(nil, "%q", fmt.Sprint("n-", tag, n))}
}

// fill draws the properties of an entity.
func (r *draw) fill(k kind, data map[string]json.RawMessage) {
	for _, p := range k.props {
		if p.nullable && r.IntN(3) == 0 {
			continue
		}
		js, _ := r.value(p.kind)
		if p.name == "text" {
			r.n++
			js = fmt.Sprintf("%q", fmt.Sprint("text ", r.n))
		}
		data[p.name] = json.RawMessage(js)
	}
}

func (r *draw) node(kind, tag string) walkLine {
	l := walkLine{Type: kind, Data: r.keys(kind, tag)}
	r.fill(walkKind(kind), l.Data)
	return l
}

func (r *draw) edge(kind, from, to string) walkLine {
	r.n++
	l := walkLine{Edge: kind, From: from, To: to, Data: map[string]json.RawMessage{"id": fmt.Appendf(nil, "%q", fmt.Sprint("e-", r.n))}}
	r.fill(walkKind(kind), l.Data)
	return l
}

// everything is some of every type.
func (r *draw) everything(tag string, n int) (out []string) {
	nodes := map[string][]string{}
	for _, k := range walkKinds {
		for i := range n {
			if k.from == "" {
				l := r.node(k.name, tag)
				id := idOf(l)
				if slices.Contains(nodes[k.name], id) {
					continue
				}
				nodes[k.name] = append(nodes[k.name], id)
				out = append(out, l.String())
			} else if i < len(nodes[k.from]) {
				out = append(out, r.edge(k.name, nodes[k.from][i], pick(r, nodes[k.to]...)).String())
			}
		}
	}
	return out
}

func idOf(l walkLine) string {
	switch l.Type {
	case "Person":
		return plain(l.Data["code"])
	case "Item":
		return plain(l.Data["num"])
	case "Slot":
		return fmt.Sprintf("[%q,%s]", l.Data["at"], l.Data["shelf"])
	}
	return l.id()
}

// next draws a step: we and the Rust CLI in turn. Main is not merged into the
// branch: once both have written a table, the Rust CLI may take a version of main
// whose number the branch has used itself, and then no program can write to the
// graph any more (case 1 of the field reports).
func (w *rustWalk) next() step {
	s := step{ours: w.at%2 == 1}
	tag := "m"
	if w.r.IntN(10) < 4 {
		s.branch, tag = w.side, "b"
	}
	if !s.ours {
		switch n := w.r.IntN(100); {
		case n < 10:
			return step{kind: "verb", args: []string{"optimize", "ROOT"}}
		case n < 15:
			return step{kind: "verb", args: []string{"cleanup", "--keep", fmt.Sprint(1 + w.r.IntN(3)), "--confirm", "ROOT"}}
		case n < 26:
			return step{kind: "verb", args: []string{"branch", "merge", w.side, "--store", "ROOT"}}
		}
	}
	rs := w.rows(s.branch)
	if w.r.IntN(10) < 3 {
		s.kind = "load"
		w.r.load(&s, rs, tag)
		return s
	}
	s.kind = "mutate"
	w.r.mutation(&s, rs, tag)
	return s
}

func (r *draw) load(s *step, rs rows, tag string) {
	switch n := r.IntN(20); {
	case n == 0:
		s.mode = pick(r, engine.LoadAppend, engine.LoadMerge, engine.LoadOverwrite) // of nothing
	case n < 9:
		s.mode = engine.LoadAppend
		r.some(s, rs, tag, true)
	case n < 16:
		s.mode = engine.LoadMerge
		r.some(s, rs, tag, false)
	default:
		s.mode = engine.LoadOverwrite
		r.over(s, rs, tag)
	}
}

// some draws lines of nodes, fresh ones or any, and of edges between these and
// what is there.
func (r *draw) some(s *step, rs rows, tag string, fresh bool) {
	seen := map[string]bool{}
	news := map[string][]string{}
	for range 1 + r.IntN(8) {
		l := r.node(pick(r, "Person", "Item", "Note", "Slot"), tag)
		id := idOf(l)
		there := slices.ContainsFunc(rs[l.Type], func(x walkLine) bool { return x.id() == id })
		if seen[l.Type+id] || fresh && there && r.IntN(40) > 0 {
			continue
		}
		seen[l.Type+id] = true
		news[l.Type] = append(news[l.Type], id)
		s.lines = append(s.lines, l.String())
	}
	end := func(kind string) string {
		if ids := news[kind]; len(ids) > 0 && r.IntN(2) == 0 {
			return pick(r, ids...)
		}
		return rs.some(r, kind, tag)
	}
	for range r.IntN(6) {
		k := walkKind(pick(r, "Knows", "Owns", "About", "In"))
		l := r.edge(k.name, end(k.from), end(k.to))
		if old := rs[k.name]; !fresh && len(old) > 0 && r.IntN(2) == 0 {
			if id := pick(r, old...).Data["id"]; !seen[k.name+string(id)] {
				l.Data["id"], seen[k.name+string(id)] = id, true
			}
		}
		s.lines = append(s.lines, l.String())
	}
}

// over draws lines that take the place of all of a type: edges, or nodes to
// which no edge leads, or nodes with all those that edges lead to.
func (r *draw) over(s *step, rs rows, tag string) {
	name := pick(r, "Knows", "Owns", "About", "In", "Slot", "Person", "Note")
	k := walkKind(name)
	if k.from != "" {
		for range 1 + r.IntN(6) {
			s.lines = append(s.lines, r.edge(name, rs.some(r, k.from, tag), rs.some(r, k.to, tag)).String())
		}
		return
	}
	seen := map[string]bool{}
	for _, l := range rs[name] {
		seen[l.id()] = true
		s.lines = append(s.lines, l.String())
	}
	for range r.IntN(5) {
		if l := r.node(name, tag); !seen[idOf(l)] {
			seen[idOf(l)] = true
			s.lines = append(s.lines, l.String())
		}
	}
}
