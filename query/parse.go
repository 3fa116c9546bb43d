package query

import (
	"math"
	"strconv"

	"github.com/omnideck/omnideck/internal/lex"
	"github.com/omnideck/omnideck/schema"
)

// deepest is how deep not blocks, calls and lists may nest together.
const deepest = 128

// Parse reads a .gq source. The error is a *lex.Error: "parse error: line 1,
// column 9: expected …".
func Parse(source string) (*File, error) {
	p := &parser{Cursor: lex.New(source), source: source, tooDeep: -1}
	file := &File{Source: source}
	parsed := true
	for parsed && !p.End() {
		var q *Query
		if parsed = p.Rule("query", func() bool { q = p.query(); return q != nil }); parsed {
			file.Queries = append(file.Queries, q)
		}
	}
	if !parsed && p.tooDeep >= 0 {
		return nil, &lex.Error{Pos: lex.Position(source, p.tooDeep), Problem: "not blocks, calls and lists are nested more than " + strconv.Itoa(deepest) + " deep"}
	}
	if err := p.Err(parsed); err != nil {
		return nil, err
	}
	return file, nil
}

type parser struct {
	*lex.Cursor
	source  string
	depth   int
	tooDeep int // offset where the nesting was too deep; -1 = nowhere
}

// nested runs a piece of the grammar that may contain itself.
func (p *parser) nested(what string, parse func() bool) bool {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > deepest {
		p.tooDeep = p.Next()
		return false
	}
	return p.Rule(what, parse)
}

// block reads { item item … } with at least one item.
func (p *parser) block(what string, item func() bool) bool {
	if !p.Take("{") || !p.Rule(what, item) {
		return false
	}
	for p.Rule(what, item) {
	}
	return p.Take("}")
}

func (p *parser) query() *Query {
	q := &Query{source: p.source}
	if !p.Take("query") {
		return nil
	}
	var ok bool
	q.At = p.Next()
	if q.Name, ok = p.Ident(); !ok || !p.Take("(") {
		return nil
	}
	param := func() bool { return p.Rule("parameter", func() bool { return p.param(q) }) }
	for more := param(); more; {
		if more = p.Take(","); more && !param() {
			return nil
		}
	}
	if !p.Take(")") {
		return nil
	}
	for p.annotation(q) {
	}
	if !p.Take("{") || !p.Rule("match", func() bool { return p.read(q) }) && !p.mutations(q) || !p.Take("}") {
		return nil
	}
	return q
}

func (p *parser) param(q *Query) bool {
	pa := Param{At: p.Next()}
	var ok bool
	if pa.Name, ok = p.variable(); !ok || !p.Take(":") {
		return false
	}
	if !p.Rule("type", func() bool { return p.paramType(&pa) }) {
		return false
	}
	pa.Type.Nullable = p.Take("?")
	q.Params = append(q.Params, pa)
	return true
}

func (p *parser) paramType(pa *Param) bool {
	if p.Take("[") {
		base, ok := p.TakeAny(schema.BaseTypes...)
		pa.Spelled, pa.Type = "["+base+"]", schema.PropType{Scalar: schema.Scalar{Name: base}, List: true}
		return ok && p.Take("]")
	}
	if base, ok := p.TakeAny(schema.BaseTypes...); ok {
		pa.Spelled, pa.Type = base, schema.PropType{Scalar: schema.Scalar{Name: base}}
		return true
	}
	if !p.Take("Vector") || !p.Take("(") {
		return false
	}
	digits, ok := p.Integer()
	dim, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || dim > math.MaxInt32 {
		dim = 0 // no vector has this length; Check says so
	}
	pa.Spelled, pa.Type = "Vector("+digits+")", schema.PropType{Scalar: schema.Scalar{Name: "Vector", Dim: dim}}
	return ok && p.Take(")")
}

func (p *parser) annotation(q *Query) bool {
	at, mark := p.Next(), p.Mark()
	name, ok := p.TakeAny("@description", "@instruction")
	if !ok || !p.Take("(") {
		p.Reset(mark)
		return false
	}
	text, ok := p.Quoted()
	if !ok || !p.Take(")") {
		p.Reset(mark)
		return false
	}
	into := &q.Description
	if name == "@instruction" {
		into = &q.Instruction
	}
	if *into != nil {
		p.Refuse(at, "duplicate %s: query `%s` may have one", name, q.Name)
	}
	*into = &text
	return true
}

// read reads match, return, order, limit.
func (p *parser) read(q *Query) bool {
	if !p.Take("match") || !p.block("clause", func() bool { return p.clause(&q.Match) }) {
		return false
	}
	if !p.Take("return") || !p.block("projection", func() bool { return p.projection(q) }) {
		return false
	}
	if p.Take("order") && !p.orderings(q) {
		return false
	}
	if !p.Take("limit") {
		return true
	}
	at := p.Next()
	digits, ok := p.Integer()
	n, err := strconv.ParseUint(digits, 10, 64)
	if ok && err != nil {
		p.Refuse(at, "limit %s does not fit 64 bits", digits)
	}
	q.Limit = &n
	return ok
}

func (p *parser) projection(q *Query) bool {
	var pr Projection
	if pr.Expr = p.expr(); pr.Expr == nil {
		return false
	}
	mark := p.Mark()
	if p.Take("as") {
		if alias, ok := p.Ident(); ok {
			pr.Alias = &alias
		} else {
			p.Reset(mark)
		}
	}
	p.Take(",")
	q.Return = append(q.Return, pr)
	return true
}

func (p *parser) orderings(q *Query) bool {
	if !p.Take("{") || !p.ordering(q) {
		return false
	}
	for p.Take(",") {
		if !p.ordering(q) {
			return false
		}
	}
	return p.Take("}")
}

func (p *parser) ordering(q *Query) bool {
	e := p.expr()
	if e == nil {
		return false
	}
	o := Ordering{Expr: e}
	if !e.calls("nearest") { // which is nearest first, always
		dir, _ := p.TakeAny("asc", "desc")
		o.Desc = dir == "desc"
	}
	q.Order = append(q.Order, o)
	return true
}

func (p *parser) mutations(q *Query) bool {
	for p.Rule("statement", func() bool { return p.mutation(q) }) {
	}
	return len(q.Mutations) > 0
}

func (p *parser) mutation(q *Query) bool {
	var m Mutation
	verb, ok := p.TakeAny("insert", "update", "delete")
	if !ok {
		return false
	}
	m.At = p.Next()
	if m.Type, ok = p.TypeName(); !ok {
		return false
	}
	assigns := func() bool { return p.block("assignment", func() bool { return p.assign(&m.Set) }) }
	switch verb {
	case "insert":
		m.Verb, ok = Insert, assigns()
	case "update":
		m.Verb, ok = Update, p.Take("set") && assigns() && p.where(&m)
	case "delete":
		m.Verb, ok = Delete, p.where(&m)
	}
	if ok {
		q.Mutations = append(q.Mutations, m)
	}
	return ok
}

// assign reads name: value and a comma that may be left out.
func (p *parser) assign(into *[]Assign) bool {
	if !p.pair(into) {
		return false
	}
	p.Take(",")
	return true
}

func (p *parser) pair(into *[]Assign) bool {
	a := Assign{At: p.Next()}
	var ok bool
	if a.Name, ok = p.Ident(); !ok || !p.Take(":") {
		return false
	}
	if a.Value = p.value(); a.Value == nil {
		return false
	}
	*into = append(*into, a)
	return true
}

func (p *parser) where(m *Mutation) bool {
	if !p.Take("where") {
		return false
	}
	w := &Where{At: p.Next()}
	var ok bool
	if w.Name, ok = p.Ident(); !ok {
		return false
	}
	if w.Op, ok = p.op(false); !ok {
		return false
	}
	w.Value = p.value()
	m.Where = w
	return w.Value != nil
}
