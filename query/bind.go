package query

import (
	"fmt"
	"time"

	"github.com/omnideck/omnideck/schema"
)

// Bound is a query with its parameters: ready to run.
type Bound struct {
	Query *Query
	// Params by name. A nullable one that was not handed over is null; one
	// that is required, not handed over, and used nowhere is missing.
	Params map[string]Literal
	// Statements of a mutation, in order; nil when the query reads.
	Statements []Statement
}

// Statement is one thing that a mutation does. A list of statements inserts and
// updates, or deletes.
type Statement struct {
	Verb     Verb
	Type     *schema.Type
	From, To string    // ends of an inserted edge: ids of nodes
	Set      []Setting // insert: what is not named is null; update: what is not named stays
	Where    Predicate // update, delete
}

// Setting is a property and its new value.
type Setting struct {
	Property *schema.Property
	Value    Value
}

// Value is a value of a property, by its type:
//
//	String, enum   string                 I32  int32     F32  float32
//	Blob           string: base64:… or    I64  int64     F64  float64
//	               a URI                  U32  uint32    Date      arrow.Date32
//	Bool           bool                   U64  uint64    DateTime  arrow.Date64
//	Vector(n)      []float32 of length n  [T]  []any of values of T, none nil
//
// nil is null. Values of enum types are not held against the enum.
type Value any

// Predicate is a condition on one column. No condition is true of null.
type Predicate struct {
	Column string // a property, or src or dst of an edge
	Test   Test
	Value  Value // of the column's type; nil for Present and Never
}

// Test is how a column is compared with a value.
type Test string

// The tests. Strings are compared by bytes, false is less than true.
const (
	Equal   Test = "="
	Unequal Test = "!="
	Less    Test = "<"
	AtMost  Test = "<="
	Greater Test = ">"
	AtLeast Test = ">="
	Present Test = "is not null" // true of all values that the column can have
	Never   Test = "never"       // true of none
)

// Bind gives the query its parameters, a JSON object (null and nothing are an
// empty one), and makes statements of a mutation. now is the instant of now(),
// one for the whole call. The error is c.Refused, a *ParamError, or a
// *RefusedError about a value that its property cannot have.
func (c *Checked) Bind(params []byte, now time.Time) (*Bound, error) {
	if c.Refused != nil {
		return nil, c.Refused
	}
	values, err := c.values(params)
	if err != nil {
		return nil, err
	}
	b := &binder{c: c, now: now, out: &Bound{Query: c.Query, Params: values}}
	if err := b.used(); err != nil {
		return nil, err
	}
	for i := range c.Query.Mutations {
		s, err := b.statement(&c.Query.Mutations[i], c.types[i])
		if err != nil {
			return nil, err
		}
		b.out.Statements = append(b.out.Statements, s)
	}
	return b.out, nil
}

type binder struct {
	c   *Checked
	now time.Time
	out *Bound
}

func (b *binder) refuse(at int, format string, args ...any) error {
	return refused(b.out.Query, at, format, args...)
}

// missing is about a parameter that has no value where it is used.
func missing(name string) error {
	return &ParamError{name, fmt.Sprintf("parameter '%s' not provided; it is used, and not declared with a type that may be null", name)}
}

// used demands a value of every parameter that a reading query mentions; those
// of a mutation are looked up as its statements are made.
func (b *binder) used() error {
	var lacks string
	lack := func(name string) bool {
		_, declared := b.c.params[name]
		_, given := b.out.Params[name]
		if declared && !given {
			lacks = name
		}
		return declared && !given
	}
	q := b.c.Query
	exprs := clauseExprs(q.Match, nil)
	for _, p := range q.Return {
		exprs = append(exprs, p.Expr)
	}
	for _, o := range q.Order {
		exprs = append(exprs, o.Expr)
	}
	for _, e := range exprs {
		if e.mentions(lack) {
			return missing(lacks)
		}
	}
	return nil
}

// clauseExprs are the expressions of a block and of the blocks in it.
func clauseExprs(block []Clause, out []*Expr) []*Expr {
	for _, cl := range block {
		switch cl := cl.(type) {
		case *Binding:
			for _, m := range cl.Props {
				out = append(out, m.Value)
			}
		case *Filter:
			out = append(out, cl.Left, cl.Right)
		case *Not:
			out = clauseExprs(cl.Clauses, out)
		}
	}
	return out
}

func (b *binder) statement(m *Mutation, t *schema.Type) (Statement, error) {
	s := Statement{Verb: m.Verb, Type: t}
	for _, a := range m.Set {
		lit, err := b.literal(a.Value)
		if err != nil {
			return s, err
		}
		if endpoint(t, a.Name) {
			if lit.Kind != LitString {
				return s, b.refuse(a.At, "`%s` of `%s` is the id of a node and cannot be null", a.Name, t.Name)
			}
			if a.Name == "from" {
				s.From = lit.Text
			} else {
				s.To = lit.Text
			}
			continue
		}
		p, _ := t.Property(a.Name)
		set := Setting{Property: p}
		var problem string
		if lit.Kind == LitNull && !p.Type.Nullable {
			problem = "it is required and cannot be null"
		} else {
			set.Value, problem = convert(lit, p.Type)
		}
		if problem != "" {
			return s, b.refuse(a.Value.At, "property `%s.%s` of type %s: %s", t.Name, p.Name, spell(p.Type), problem)
		}
		s.Set = append(s.Set, set)
	}
	if m.Where == nil {
		return s, nil
	}
	var err error
	s.Where, err = b.predicate(m.Where, t)
	return s, err
}

// literal is the value of an expression of a mutation.
func (b *binder) literal(e *Expr) (Literal, error) {
	switch e.Kind {
	case ExprVar:
		lit, ok := b.out.Params[e.Var]
		if !ok {
			return Literal{}, missing(e.Var)
		}
		return lit, nil
	case ExprNow:
		return Literal{Kind: LitDateTime, Text: b.now.UTC().Format("2006-01-02T15:04:05.000Z")}, nil
	}
	return e.Lit, nil
}

func (b *binder) predicate(w *Where, t *schema.Type) (Predicate, error) {
	pt, column := scalar("String").prop, map[string]string{"from": "src", "to": "dst"}[w.Name]
	if !endpoint(t, w.Name) {
		p, _ := t.Property(w.Name)
		pt, column = p.Type, w.Name
	}
	lit, err := b.literal(w.Value)
	if err != nil {
		return Predicate{}, err
	}
	if pt.List || pt.Scalar.Name == "Vector" {
		return Predicate{}, b.refuse(w.At, "`%s.%s` is %s, which where cannot compare: the Rust engine would find no row", t.Name, w.Name, spell(pt))
	}
	out, problem := compare(lit, pt, Test(w.Op))
	if problem != "" {
		return Predicate{}, b.refuse(w.Value.At, "where `%s.%s` of type %s: %s", t.Name, w.Name, spell(pt), problem)
	}
	out.Column = column
	return out, nil
}
