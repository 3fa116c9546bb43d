package query

import (
	"strconv"
)

// shape is how a function is called: its arguments, of which the last may be
// left out when opt is set.
type shape struct {
	name string
	args []argument
	opt  bool
}

// argument is what may stand as an argument.
type argument uint8

const (
	anyExpr     argument = iota
	anyProperty          // $x.p
	anyRank              // nearest(…) or bm25(…)
)

var (
	nearest  = shape{name: "nearest", args: []argument{anyProperty, anyExpr}}
	bm25     = shape{name: "bm25", args: []argument{anyExpr, anyExpr}}
	searches = []shape{
		{name: "search", args: []argument{anyExpr, anyExpr}},
		{name: "fuzzy", args: []argument{anyExpr, anyExpr, anyExpr}, opt: true},
		{name: "match_text", args: []argument{anyExpr, anyExpr}},
	}
	rrf = shape{name: "rrf", args: []argument{anyRank, anyRank, anyExpr}, opt: true}
)

// calls in the order in which an expression tries them.
var calls = func() []shape {
	out := []shape{{name: "now"}, nearest, searches[0], searches[1], searches[2], bm25, rrf}
	for _, name := range aggregates {
		out = append(out, shape{name: name, args: []argument{anyExpr}})
	}
	return out
}()

// expr reads an expression, nil when none stands next. The alternatives are
// tried in order and by the letter: trueish is the literal true, and ish.
func (p *parser) expr() *Expr {
	var e *Expr
	if !p.nested("expression", func() bool { e = p.anyExpr(); return e != nil }) {
		return nil
	}
	return e
}

func (p *parser) anyExpr() *Expr {
	at := p.Next()
	for _, c := range calls {
		if e := p.call(at, c); e != nil {
			return e
		}
	}
	if e := p.property(at); e != nil {
		return e
	}
	if name, ok := p.variable(); ok {
		return &Expr{At: at, Kind: ExprVar, Var: name}
	}
	if lit, ok := p.literal(); ok {
		return &Expr{At: at, Lit: lit}
	}
	if name, ok := p.Ident(); ok {
		return &Expr{At: at, Kind: ExprAlias, Name: name}
	}
	return nil
}

// value reads what may be assigned or compared with a property.
func (p *parser) value() *Expr {
	var e *Expr
	at := p.Next()
	p.Rule("value", func() bool {
		if lit, ok := p.literal(); ok {
			e = &Expr{At: at, Lit: lit}
		} else if name, ok := p.variable(); ok {
			e = &Expr{At: at, Kind: ExprVar, Var: name}
		} else {
			e = p.call(at, calls[0]) // now()
		}
		return e != nil
	})
	return e
}

func (p *parser) property(at int) *Expr {
	mark := p.Mark()
	if name, ok := p.variable(); ok && p.Take(".") {
		if prop, ok := p.Ident(); ok {
			return &Expr{At: at, Kind: ExprProperty, Var: name, Name: prop}
		}
	}
	p.Reset(mark)
	return nil
}

// call reads one function's call, nil when none stands next.
func (p *parser) call(at int, f shape) *Expr {
	mark := p.Mark()
	if p.Take(f.name) && p.Take("(") {
		e := &Expr{At: at, Kind: ExprCall, Name: f.name}
		if f.name == "now" {
			e = &Expr{At: at, Kind: ExprNow}
		}
		if p.arguments(f, e) && p.Take(")") {
			return e
		}
	}
	p.Reset(mark)
	return nil
}

func (p *parser) arguments(f shape, e *Expr) bool {
	for i, kind := range f.args {
		if i > 0 && !p.Take(",") {
			return f.opt && i == len(f.args)-1
		}
		arg := p.argument(kind)
		if arg == nil {
			return false
		}
		e.Args = append(e.Args, arg)
	}
	return true
}

func (p *parser) argument(kind argument) *Expr {
	at := p.Next()
	switch kind {
	case anyProperty:
		return p.property(at)
	case anyRank:
		if e := p.call(at, nearest); e != nil {
			return e
		}
		return p.call(at, bm25)
	}
	return p.expr()
}

func (p *parser) literal() (Literal, bool) {
	at := p.Next()
	if lit, ok := p.list(); ok {
		return lit, true
	}
	for _, f := range []struct {
		name string
		kind LitKind
	}{{"datetime", LitDateTime}, {"date", LitDate}} {
		mark := p.Mark()
		if p.Take(f.name) && p.Take("(") {
			if text, ok := p.Quoted(); ok && p.Take(")") {
				return Literal{Kind: f.kind, Text: text}, true
			}
		}
		p.Reset(mark)
	}
	if text, ok := p.Quoted(); ok {
		return Literal{Kind: LitString, Text: text}, true
	}
	if text, ok := p.Float(); ok {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			p.Refuse(at, "the number is beyond a double")
		}
		return Literal{Kind: LitFloat, Float: x}, true
	}
	if text, ok := p.Integer(); ok {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			p.Refuse(at, "integer %s does not fit 64 bits", text)
		}
		return Literal{Kind: LitInteger, Int: n}, true
	}
	word, ok := p.TakeAny("true", "false")
	return Literal{Kind: LitBool, Bool: word == "true"}, ok
}

func (p *parser) list() (Literal, bool) {
	lit := Literal{Kind: LitList}
	item := func() bool {
		it, ok := p.literal()
		if ok {
			lit.Items = append(lit.Items, it)
		}
		return ok
	}
	ok := p.nested("list", func() bool {
		if !p.Take("[") {
			return false
		}
		for more := item(); more; {
			if more = p.Take(","); more && !item() {
				return false
			}
		}
		return p.Take("]")
	})
	return lit, ok
}
