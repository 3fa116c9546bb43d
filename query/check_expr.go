package query

import (
	"github.com/omnideck/omnideck/schema"
)

// expr is the type of an expression.
func (c *checker) expr(e *Expr) (operand, error) {
	switch e.Kind {
	case ExprNow:
		return scalar("DateTime"), nil
	case ExprLiteral:
		t, problem := literalType(e.Lit)
		if problem != "" {
			return operand{}, c.fail(e.At, "", "%s", problem)
		}
		return operand{prop: t}, nil
	case ExprAlias: // one that the answer does not have is found when it runs
		if o, ok := c.aliases[e.Name]; ok {
			return o, nil
		}
		return operand{kind: aggregateOperand}, nil
	case ExprVar:
		return c.variable(e)
	case ExprProperty:
		return c.property(e)
	}
	return c.call(e)
}

func (c *checker) variable(e *Expr) (operand, error) {
	if p, ok := c.out.params[e.Var]; ok {
		return operand{prop: p}, nil
	}
	switch t := c.bound[e.Var]; {
	case t == nil:
		return operand{}, c.fail(e.At, "", "variable `$%s` is not bound", e.Var)
	case t.Kind == schema.KindEdge:
		return operand{}, c.fail(e.At, "T23", "edge binding `$%s` cannot be used bare; name one of its properties: $%s.p", e.Var, e.Var)
	default:
		return operand{kind: nodeOperand, node: t.Name}, nil
	}
}

func (c *checker) property(e *Expr) (operand, error) {
	t := c.bound[e.Var]
	if t == nil {
		return operand{}, c.fail(e.At, "T6", "variable `$%s` is not bound", e.Var)
	}
	p, ok := t.Property(e.Name)
	switch {
	case !ok && t.Kind == schema.KindEdge:
		return operand{}, c.fail(e.At, "T6", "edge `%s` has no property `%s`", t.Name, e.Name)
	case !ok:
		return operand{}, c.fail(e.At, "T6", "type `%s` has no property `%s`", t.Name, e.Name)
	case p.Type.Scalar.Name == "Blob":
		return operand{}, c.fail(e.At, "T24", "Blob property `$%s.%s` is not available as a .gq read value; read it with `blob get`", e.Var, e.Name)
	}
	return operand{prop: p.Type}, nil
}

func (c *checker) call(e *Expr) (operand, error) {
	switch e.Name {
	case "nearest":
		return scalar("F64"), c.nearest(e)
	case "rrf":
		return scalar("F64"), c.rrf(e)
	case "bm25":
		return scalar("F64"), c.textSearch(e, "T20")
	case "match_text":
		return scalar("Bool"), c.textSearch(e, "T20")
	case "search", "fuzzy":
		return scalar("Bool"), c.textSearch(e, "T19")
	}
	return operand{kind: aggregateOperand}, c.aggregated(e)
}

func (c *checker) aggregated(e *Expr) error {
	o, err := c.readable(e.Args[0])
	if err != nil || o.kind != scalarOperand {
		return err
	}
	switch {
	case (e.Name == "sum" || e.Name == "avg") && !o.is(numbers...):
		return c.fail(e.At, "T8", "%s requires numeric type, got %s", e.Name, o.spell())
	case (e.Name == "min" || e.Name == "max") && !o.is(numbers...) && !o.is("String"):
		return c.fail(e.At, "T8", "%s requires numeric or string type, got %s", e.Name, o.spell())
	}
	return nil
}

// textSearch: a field and a query of type String, and for fuzzy how many edits.
func (c *checker) textSearch(e *Expr, code string) error {
	field := e.Args[0]
	if t := c.bound[field.Var]; field.Kind == ExprProperty && t != nil && t.Kind == schema.KindEdge {
		return c.fail(field.At, "T23", "%s cannot search `$%s.%s`: only nodes are searched, and that is an edge", e.Name, field.Var, field.Name)
	}
	for i, what := range []string{"field", "query"} {
		o, err := c.expr(e.Args[i])
		if err != nil {
			return err
		}
		if !o.is("String") {
			return c.fail(e.Args[i].At, code, "%s %s must be String, got %s", e.Name, what, o.spell())
		}
	}
	if len(e.Args) > 2 {
		return c.integer(e.Args[2], code, "the number of edits of fuzzy")
	}
	return nil
}

func (c *checker) integer(e *Expr, code, what string) error {
	o, err := c.expr(e)
	if err == nil && !o.is(integers...) {
		err = c.fail(e.At, code, "%s must be an integer, got %s", what, o.spell())
	}
	return err
}

func (c *checker) rrf(e *Expr) error {
	for _, rank := range e.Args[:2] {
		if _, err := c.expr(rank); err != nil {
			return err
		}
	}
	if len(e.Args) == 2 {
		return nil
	}
	k := e.Args[2]
	if err := c.integer(k, "T21", "k of rrf"); err != nil {
		return err
	}
	if k.Kind == ExprLiteral && k.Lit.Int <= 0 {
		return c.fail(k.At, "T21", "k of rrf must be greater than 0")
	}
	return nil
}

func (c *checker) nearest(e *Expr) error {
	field, query := e.Args[0], e.Args[1]
	t := c.bound[field.Var]
	if t == nil {
		return c.fail(field.At, "T15", "variable `$%s` is not bound", field.Var)
	}
	if t.Kind == schema.KindEdge {
		return c.fail(field.At, "T23", "nearest cannot search the edge binding `$%s`: only nodes are searched", field.Var)
	}
	p, ok := t.Property(field.Name)
	if !ok {
		return c.fail(field.At, "T15", "type `%s` has no property `%s`", t.Name, field.Name)
	}
	if p.Type.Scalar.Name != "Vector" || p.Type.List {
		return c.fail(field.At, "T15", "nearest requires a Vector property, and `%s.%s` is %s", t.Name, field.Name, spell(p.Type))
	}
	dim := p.Type.Scalar.Dim
	if n, ok := vectorLength(query.Lit); ok && query.Kind == ExprLiteral {
		if n != dim {
			return c.fail(query.At, "T15", "nearest vector dimension mismatch: property is Vector(%d), query literal has %d elements", dim, n)
		}
		return nil
	}
	o, err := c.expr(query)
	switch {
	case err != nil:
		return err
	case o.is("Vector") && o.prop.Scalar.Dim != dim:
		return c.fail(query.At, "T15", "nearest vector dimension mismatch: property is Vector(%d), query is %s", dim, o.spell())
	case !o.is("Vector") && !o.is("String"):
		return c.fail(query.At, "T15", "nearest query must be Vector(%d) or String, got %s", dim, o.spell())
	}
	return nil
}
