package model

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Walk is a list of operations.
type Walk struct {
	Seed  uint64
	Woven bool // whose turn it is follows from the seed; else from the list and its pauses
	Ops   []Op
}

// begin is what every walk begins with.
var begin = Op{Do: Append, Rows: []Row{
	person("p0", "age", "10"), person("p1", "mail", `"m1"`), person("p2"), item(0), item(1, "label", `"first"`), note("t0"),
	edge("Knows", "p0", "p1", "k0"), edge("Knows", "p1", "p2", "k1"), edge("Owns", "p0", "0", "o0"), edge("Owns", "p1", "1", "o1"),
}}

func person(code string, more ...string) Row { return row("Person", "code", quoted(code), more...) }
func item(num int, more ...string) Row       { return row("Item", "num", fmt.Sprint(num), more...) }
func note(text string, more ...string) Row   { return row("Note", "text", quoted(text), more...) }

func edge(typ, from, to, tag string) Row {
	r := row(typ, "tag", quoted(tag))
	r.From, r.To = from, to
	return r
}

func row(typ, prop, value string, more ...string) Row {
	r := Row{Type: typ, Data: map[string]string{prop: value}}
	for i := 0; i < len(more); i += 2 {
		r.Data[more[i]] = more[i+1]
	}
	r.name()
	return r
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// Draw is the walk of a seed.
func Draw(seed uint64) Walk {
	r := rand.New(rand.NewPCG(seed, 0))
	w := Walk{Seed: seed, Woven: r.IntN(2) == 0}
	clients := 2 + r.IntN(3)
	for n := range 5 + r.IntN(9) {
		w.Ops = append(w.Ops, drawOp(seed, n+1, clients))
	}
	return w
}

// drawing draws one operation.
type drawing struct {
	*rand.Rand
	n    int
	tags int
}

func pick[T any](d *drawing, from ...T) T { return from[d.IntN(len(from))] }

func drawOp(seed uint64, n, clients int) Op {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, uint64(n))), n: n}
	o := Op{N: n, Client: d.IntN(clients)}
	switch x := d.IntN(100); {
	case x < 45:
		o.Do = Mutate
		d.statements(&o)
	case x < 70:
		o.Do = pick(d, Append, Append, Merge, Merge, Overwrite)
		d.lines(&o)
	case x < 80:
		o.Do = Read
	case x < 93:
		o.Do, o.Now = Recover, d.IntN(2) == 0
	default:
		o.Do, o.For = Wait, pick(d, time.Second, 20*time.Second, 40*time.Second)
	}
	if o.writes() {
		o.If, o.Handle = d.IntN(8) == 0, d.IntN(5) == 0
	}
	if o.Do != Wait {
		d.faults(&o)
	}
	return o
}

func (d *drawing) faults(o *Op) {
	if d.IntN(100) < 40 {
		f := Fault{Do: "pause", At: d.IntN(45), Until: d.IntN(4)}
		switch d.IntN(6) {
		case 0, 1:
			f.For = time.Duration(d.IntN(500)) * time.Millisecond
		case 2:
			f.For = 60 * time.Second
		}
		o.Faults = append(o.Faults, f)
	}
	switch x := d.IntN(100); {
	case x < 18:
		o.Faults = append(o.Faults, Fault{Do: pick(d, "kill", "die"), At: d.IntN(45)})
	case x < 30:
		o.Faults = append(o.Faults, Fault{Do: "lose", At: d.IntN(14)})
	case x < 36:
		o.Faults = append(o.Faults, Fault{Do: "fail", At: d.IntN(45)})
	}
}

func (d *drawing) code() string { return fmt.Sprint("p", d.IntN(6)) }
func (d *drawing) num() string  { return fmt.Sprint(d.IntN(4)) }

// tag is new in the whole walk.
func (d *drawing) tag() string {
	d.tags++
	return fmt.Sprintf("%d.%d", d.n, d.tags)
}

func (d *drawing) statements(o *Op) {
	removes := d.IntN(4) == 0
	for range pick(d, 1, 1, 2, 3) {
		switch {
		case removes:
			o.Statements = append(o.Statements, d.removal())
		case d.IntN(2) == 0:
			o.Statements = append(o.Statements, d.insertion())
		default:
			o.Statements = append(o.Statements, d.update())
		}
	}
}

func (d *drawing) insertion() Statement {
	st := Statement{Verb: "insert", Type: pick(d, "Person", "Item", "Note", "Knows", "Owns")}
	r := d.row(st.Type)
	st.From, st.To, st.Set = r.From, r.To, r.Data
	return st
}

// row draws an entity, there or not.
func (d *drawing) row(typ string) Row {
	switch typ {
	case "Person":
		r := person(d.code())
		if d.IntN(2) == 0 {
			r.Data["age"] = fmt.Sprint(d.IntN(103)) // some break the rule
		}
		if d.IntN(3) == 0 {
			r.Data["mail"] = quoted(fmt.Sprint("m", d.IntN(12)))
		}
		return r
	case "Item":
		return row("Item", "num", d.num(), "label", quoted(d.tag()))
	case "Note":
		if d.IntN(8) == 0 {
			return note(fmt.Sprint("t", d.IntN(2))) // may be there
		}
		return note(d.tag(), "n", d.num())
	case "Owns":
		return edge("Owns", d.code(), d.num(), d.tag())
	}
	return edge("Knows", d.code(), d.code(), d.tag())
}

func (d *drawing) update() Statement {
	st := Statement{Verb: "update", Type: pick(d, "Person", "Person", "Item", "Note")}
	switch st.Type {
	case "Person":
		st.Set = map[string]string{"age": fmt.Sprint(d.IntN(102))}
		st.Where, st.Is = "code", quoted(d.code())
	case "Item":
		st.Set, st.Where, st.Is = map[string]string{"label": quoted(d.tag())}, "num", d.num()
	default:
		st.Set, st.Where, st.Is = map[string]string{"n": fmt.Sprint(d.IntN(9))}, "n", d.num()
		if d.IntN(2) == 0 {
			st.Where, st.Is = "text", quoted("t0")
		}
	}
	return st
}

func (d *drawing) removal() Statement {
	st := Statement{Verb: "delete", Type: pick(d, "Person", "Item", "Note", "Knows", "Owns")}
	switch st.Type {
	case "Person":
		st.Where, st.Is = "code", quoted(d.code())
	case "Item":
		st.Where, st.Is = "num", d.num()
	case "Note":
		st.Where, st.Is = "n", d.num()
	default:
		st.Where, st.Is = "from", quoted(d.code())
	}
	return st
}

// lines draws what is loaded: each id once.
func (d *drawing) lines(o *Op) {
	seen := map[string]bool{}
	types := []string{"Person", "Item", "Note", "Knows", "Owns"}
	if o.Do == Overwrite {
		types = []string{pick(d, types...)}
	}
	for range 1 + d.IntN(5) {
		r := d.row(pick(d, types...))
		if k := kinds[r.Type]; k.from != "" && o.Do != Overwrite && d.IntN(2) == 0 {
			r.ID = fmt.Sprint("e", d.IntN(3)) // its own
		}
		unique := r.Data[kinds[r.Type].unique]
		if seen[r.Type+"/"+r.ID] || unique != "" && seen[unique] {
			continue
		}
		seen[r.Type+"/"+r.ID], seen[unique] = true, true
		o.Rows = append(o.Rows, r)
	}
}
