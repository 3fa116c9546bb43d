package query

import (
	"strconv"

	"github.com/omnideck/omnideck/internal/lex"
)

// clause reads one clause; the alternatives are tried in this order, and the
// first that fits is taken.
func (p *parser) clause(into *[]Clause) bool {
	at := p.Next()
	for _, try := range []func(at int) Clause{p.not, p.binding, p.traversal, p.filter, p.search} {
		var c Clause
		if p.Rule("clause", func() bool { c = try(at); return c != nil }) {
			*into = append(*into, c)
			return true
		}
	}
	return false
}

func (p *parser) not(at int) Clause {
	n := &Not{At: at}
	if !p.nested("not", func() bool {
		return p.Take("not") && p.block("clause", func() bool { return p.clause(&n.Clauses) })
	}) {
		return nil
	}
	return n
}

func (p *parser) binding(at int) Clause {
	b := &Binding{At: at}
	var ok bool
	if b.Var, ok = p.variable(); !ok || !p.Take(":") {
		return nil
	}
	if b.Type, ok = p.TypeName(); !ok {
		return nil
	}
	if !p.Rule("properties", func() bool { return p.propMatches(b) }) {
		b.Props = nil
	}
	return b
}

func (p *parser) propMatches(b *Binding) bool {
	if !p.Take("{") || !p.pair(&b.Props) {
		return false
	}
	for p.Take(",") {
		if !p.Rule("property", func() bool { return p.pair(&b.Props) }) {
			break // the one comma that may trail
		}
	}
	return p.Take("}")
}

func (p *parser) traversal(at int) Clause {
	t := &Traversal{At: at, Min: 1}
	var ok bool
	if t.From, ok = p.variable(); !ok {
		return nil
	}
	p.Rule("edge binding", func() bool {
		name, ok := p.variable()
		if ok = ok && p.Take(":"); ok {
			t.EdgeVar = &name
		}
		return ok
	})
	if t.Undirected = p.Take("<"); t.Undirected {
		t.Edge, ok = p.edgeWord()
		ok = ok && p.Take(">")
	} else {
		t.Edge, ok = p.edgeWord()
	}
	if !ok {
		return nil
	}
	if !p.Rule("bounds", func() bool { return p.bounds(t) }) {
		one := uint32(1)
		t.Bounded, t.Min, t.Max = false, 1, &one
	}
	if t.To, ok = p.variable(); !ok {
		return nil
	}
	return t
}

func (p *parser) bounds(t *Traversal) bool {
	if !p.Take("{") {
		return false
	}
	lo, ok := p.hops()
	if !ok || !p.Take(",") {
		return false
	}
	t.Bounded, t.Min, t.Max = true, lo, nil
	if hi, ok := p.hops(); ok {
		t.Max = &hi
	}
	return p.Take("}")
}

func (p *parser) hops() (uint32, bool) {
	at := p.Next()
	digits, ok := p.Integer()
	n, err := strconv.ParseUint(digits, 10, 32)
	if ok && err != nil {
		p.Refuse(at, "%s hops do not fit 32 bits", digits)
	}
	return uint32(n), ok
}

func (p *parser) filter(at int) Clause {
	f := &Filter{At: at}
	if f.Left = p.expr(); f.Left == nil {
		return nil
	}
	var ok bool
	if f.Op, ok = p.op(true); !ok {
		return nil
	}
	if f.Right = p.expr(); f.Right == nil {
		return nil
	}
	return f
}

// search reads a search that stands alone.
func (p *parser) search(at int) Clause {
	for _, call := range searches {
		if e := p.call(at, call); e != nil {
			return &Filter{At: at, Left: e, Op: Eq, Right: &Expr{At: at, Lit: Literal{Kind: LitBool, Bool: true}}}
		}
	}
	return nil
}

// op reads an operator; those of text only in filters.
func (p *parser) op(text bool) (Op, bool) {
	ops := []string{string(StartsWith), string(Contains), string(Ge), string(Le), string(Ne), string(Gt), string(Lt), string(Eq)}
	if !text {
		ops = ops[2:]
	}
	var found string
	ok := p.Rule("operator", func() (ok bool) { found, ok = p.TakeAny(ops...); return ok })
	return Op(found), ok
}

func identLen(s string) int {
	if s == "" || !lex.Lower(s[0]) {
		return 0
	}
	n := 1
	for n < len(s) && lex.Alnum(s[n]) {
		n++
	}
	return n
}

// variable reads $name and returns the name.
func (p *parser) variable() (string, bool) {
	text, ok := p.Token("variable", func(s string) int {
		if s == "" || s[0] != '$' || identLen(s[1:]) == 0 {
			return 0
		}
		return 1 + identLen(s[1:])
	})
	if !ok {
		return "", false
	}
	return text[1:], true
}

// edgeWord reads the name of an edge, which is not `not`: neither alone nor
// before anything but a letter or a digit.
func (p *parser) edgeWord() (string, bool) {
	return p.Token("edge", func(s string) int {
		n := identLen(s)
		if n >= 3 && s[:3] == "not" && (n == 3 || s[3] == '_') {
			return 0
		}
		return n
	})
}
