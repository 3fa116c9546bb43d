package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/schema"
)

func (c *checker) binding(b *Binding) error {
	t := c.nodes[b.Type]
	if t == nil {
		return c.fail(b.At, "T1", "unknown node type `%s`", b.Type)
	}
	for _, m := range b.Props {
		p, ok := t.Property(m.Name)
		if !ok {
			return c.fail(m.At, "T2", "type `%s` has no property `%s`", t.Name, m.Name)
		}
		if p.Type.Scalar.Name == "Blob" {
			return c.fail(m.At, "T3", "property `%s.%s` is a Blob, which cannot be matched", t.Name, p.Name)
		}
		if err := c.propMatch(m, p); err != nil {
			return err
		}
	}
	if was := c.bound[b.Var]; was != nil && was != t {
		if was.Kind == schema.KindEdge {
			return c.fail(b.At, "T23", "variable `$%s` is an edge `%s` already and cannot be a node `%s`", b.Var, was.Name, t.Name)
		}
		return c.fail(b.At, "", "variable `$%s` already bound to type `%s`, cannot rebind to `%s`", b.Var, was.Name, t.Name)
	}
	c.bind(b.Var, t)
	return nil
}

// propMatch: the value of a list property is one that the list has.
func (c *checker) propMatch(m Assign, p *schema.Property) error {
	switch m.Value.Kind {
	case ExprNow:
		return c.nowFits(m, p.Type)
	case ExprVar:
		actual, declared := c.out.params[m.Value.Var]
		switch {
		case !declared:
			c.refuse(m.Value.At, "variable `$%s` is not a declared parameter, so property `%s` would match anything", m.Value.Var, p.Name)
		case p.Type.List && actual.List:
			return c.fail(m.At, "T7", "list equality is not supported for property `%s`; match one element with a parameter of its type", p.Name)
		case p.Type.List && !compatible(actual, member(p.Type)):
			return c.fail(m.At, "T7", "property `%s` has elements of %s, which cannot be compared with %s", p.Name, spell(p.Type), spell(actual))
		case !p.Type.List && !compatible(actual, p.Type):
			return c.mismatch(m.At, actual, p.Type, p.Name)
		}
		return nil
	}
	if !p.Type.List {
		return c.literalFits(m, p.Type)
	}
	t, problem := literalType(m.Value.Lit)
	switch {
	case problem != "":
		return c.fail(m.Value.At, "", "%s", problem)
	case t.List:
		return c.fail(m.At, "T3", "list equality is not supported for property `%s`; match one element", p.Name)
	case !compatible(t, member(p.Type)):
		return c.fail(m.At, "T3", "property `%s` has elements of %s, and the value is %s", p.Name, spell(p.Type), spell(t))
	}
	return nil
}

func (c *checker) mismatch(at int, actual, expected schema.PropType, name string) error {
	return c.fail(at, "T7", "cannot assign/compare %s with %s for property `%s`", spell(actual), spell(expected), name)
}

func (c *checker) nowFits(m Assign, expected schema.PropType) error {
	if now := scalar("DateTime").prop; !compatible(now, expected) {
		return c.mismatch(m.At, now, expected, m.Name)
	}
	return nil
}

// literalFits holds a literal against the type of a property.
func (c *checker) literalFits(m Assign, expected schema.PropType) error {
	lit := m.Value.Lit
	if n, ok := vectorLength(lit); ok && expected.Scalar.Name == "Vector" {
		if n != expected.Scalar.Dim {
			return c.fail(m.Value.At, "T3", "property `%s` has type %s but got a list of %d numbers", m.Name, spell(expected), n)
		}
		return nil
	}
	t, problem := literalType(lit)
	if problem != "" {
		return c.fail(m.Value.At, "", "%s", problem)
	}
	if !compatible(t, expected) {
		return c.fail(m.Value.At, "T3", "property `%s` has type %s but got %s", m.Name, spell(expected), spell(t))
	}
	if expected.Enum != nil && !slices.Contains(expected.Enum, lit.Text) {
		return c.fail(m.Value.At, "T3", "property `%s` expects one of [%s], got '%s'", m.Name, strings.Join(expected.Enum, ", "), lit.Text)
	}
	return nil
}

func (c *checker) traversal(t *Traversal) error {
	e := c.edges[t.Edge]
	if e == nil {
		e = c.folded[strings.ToLower(t.Edge)]
	}
	if e == nil {
		return c.fail(t.At, "T4", "unknown edge type `%s`", t.Edge)
	}
	switch {
	case t.Min == 0:
		return c.fail(t.At, "T15", "traversal min hop bound must be >= 1")
	case t.Max == nil:
		return c.fail(t.At, "T15", "unbounded traversal is disabled; use bounded traversal {min,max}")
	case *t.Max < t.Min:
		return c.fail(t.At, "T15", "invalid traversal bounds {%d,%d}; max must be >= min", t.Min, *t.Max)
	case t.Undirected && e.From.Name != e.To.Name:
		return c.fail(t.At, "T22", "<%s> goes both ways, which needs one type at both ends, and the edge is %s; write it in one direction", e.Name, spellEdge(e))
	}
	if err := c.edgeVar(t, e); err != nil {
		return err
	}
	return c.ends(t, e)
}

func spellEdge(e *schema.Type) string {
	return fmt.Sprintf("`%s: %s -> %s`", e.Name, e.From.Name, e.To.Name)
}

func (c *checker) edgeVar(t *Traversal, e *schema.Type) error {
	if t.EdgeVar == nil {
		return nil
	}
	name := *t.EdgeVar
	switch {
	case t.Min != 1 || *t.Max != 1:
		return c.fail(t.At, "T23", "edge binding `$%s` names one edge, and a traversal with bounds follows several", name)
	case name == "_":
		return nil
	case name == t.From || name == t.To:
		return c.fail(t.At, "T23", "edge binding `$%s` has the name of an end of its own traversal", name)
	case c.bound[name] != nil:
		return c.fail(t.At, "T23", "edge binding `$%s` has the name of a variable that is bound already", name)
	}
	c.bind(name, e)
	return nil
}

// ends gives types to the ends of a traversal. An end that is bound says which
// way it goes: along the edge where it fits both.
func (c *checker) ends(t *Traversal, e *schema.Type) error {
	from, to := t.From, t.To // of the edge
	first := t.From
	if c.bound[t.From] == nil && c.bound[t.To] != nil {
		first = t.To
	}
	if have := c.bound[first]; have != nil {
		if have.Kind == schema.KindEdge {
			return c.edgeAsEnd(t, first)
		}
		along, against := e.From.Name, e.To.Name
		if first == t.To && first != t.From {
			along, against = against, along
		}
		switch have.Name {
		case along:
		case against:
			from, to = to, from
		default:
			return c.fail(t.At, "T5", "variable `$%s` has type `%s`, which is not an endpoint of edge %s", first, have.Name, spellEdge(e))
		}
	}
	for _, end := range []struct{ name, want string }{{from, e.From.Name}, {to, e.To.Name}} {
		have := c.bound[end.name]
		switch {
		case end.name == "_":
		case have == nil:
			c.bind(end.name, c.nodes[end.want])
		case have.Kind == schema.KindEdge:
			return c.edgeAsEnd(t, end.name)
		case have.Name != end.want:
			return c.fail(t.At, "T5", "variable `$%s` has type `%s` but edge `%s` expects `%s`", end.name, have.Name, e.Name, end.want)
		}
	}
	return nil
}

func (c *checker) edgeAsEnd(t *Traversal, name string) error {
	return c.fail(t.At, "T23", "edge binding `$%s` cannot be the end of a traversal, which is a node", name)
}

func (c *checker) filter(f *Filter) error {
	l, err := c.expr(f.Left)
	if err != nil {
		return err
	}
	r, err := c.expr(f.Right)
	if err != nil {
		return err
	}
	if l.kind != scalarOperand || r.kind != scalarOperand {
		return c.fail(f.At, "T7", "filter comparisons require scalar operands, got %s and %s", l.spell(), r.spell())
	}
	switch {
	case l.blob() || r.blob():
		return c.fail(f.At, "T7", "a Blob cannot be compared")
	case f.Op == Contains && !l.is("String"):
		return c.membership(f, l, r)
	case f.Op == Contains || f.Op == StartsWith:
		if !l.is("String") || !r.is("String") {
			return c.fail(f.At, "T7", "%s requires a String on both sides, got %s and %s", f.Op, l.spell(), r.spell())
		}
		return nil
	case l.prop.List || r.prop.List:
		return c.fail(f.At, "T7", "list comparisons in filters are not supported; `contains` asks for one element")
	case l.is("Vector") || r.is("Vector"):
		return c.fail(f.At, "T7", "vectors cannot be compared; order by nearest(…)")
	case !compatible(l.prop, r.prop):
		return c.fail(f.At, "T7", "cannot compare %s with %s", l.spell(), r.spell())
	}
	return nil
}

func (c *checker) membership(f *Filter, l, r operand) error {
	switch {
	case !l.prop.List:
		return c.fail(f.At, "T7", "contains requires a list or a String on the left, got %s", l.spell())
	case r.prop.List:
		return c.fail(f.At, "T7", "contains asks for one element, got %s", r.spell())
	case !compatible(member(l.prop), r.prop):
		return c.fail(f.At, "T7", "%s has no elements of type %s", l.spell(), r.spell())
	}
	return nil
}
