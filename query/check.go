package query

import (
	"fmt"

	"github.com/omnideck/omnideck/internal/lex"
	"github.com/omnideck/omnideck/schema"
)

// Checked is a query that fits a schema.
type Checked struct {
	Query *Query
	// Refused is why the query is not run though it fits; nil for nothing.
	Refused *RefusedError

	params map[string]schema.PropType
	types  []*schema.Type // of each mutation
}

// nowParam is the name under which the Rust engine hands over now().
const nowParam = "__nanograph_now"

// Check holds a query against a schema. The error is a *TypeError, the first
// in the order of the Rust engine: clauses as they stand, each seeing what is
// bound before it, then what is returned, then the order; or the statements.
func Check(q *Query, ir *schema.IR) (*Checked, error) { return check(q, newCatalog(ir)) }

func check(q *Query, cat *catalog) (*Checked, error) {
	c := &checker{catalog: cat, out: &Checked{Query: q, params: map[string]schema.PropType{}}}
	if err := c.declared(); err != nil {
		return nil, err
	}
	run := c.mutations
	if q.Reads() {
		run = c.read
	}
	if err := run(); err != nil {
		return nil, err
	}
	return c.out, nil
}

type checker struct {
	*catalog
	out     *Checked
	bound   map[string]*schema.Type
	order   []string // the names in bound, in the order in which they came
	aliases map[string]operand
}

// bind gives a variable its type until its block ends.
func (c *checker) bind(name string, t *schema.Type) {
	if c.bound[name] == nil {
		c.bound[name] = t
		c.order = append(c.order, name)
	}
}

func (c *checker) fail(at int, code, format string, args ...any) error {
	return &TypeError{lex.Position(c.out.Query.source, at), code, fmt.Sprintf(format, args...)}
}

// refuse notes why the query will not be run; the first reason counts.
func (c *checker) refuse(at int, format string, args ...any) {
	if c.out.Refused == nil {
		c.out.Refused = refused(c.out.Query, at, format, args...)
	}
}

// declared reads the parameters' types; of two with one name the last counts.
func (c *checker) declared() error {
	for _, p := range c.out.Query.Params {
		switch {
		case p.Name == nowParam:
			return c.fail(p.At, "", "parameter name `$%s` is reserved for runtime timestamp injection", p.Name)
		case p.Type.Scalar.Name == "Vector" && p.Type.Scalar.Dim == 0:
			return c.fail(p.At, "", "unknown parameter type `%s` for `$%s`", p.Spelled, p.Name)
		}
		c.out.params[p.Name] = p.Type
	}
	return nil
}

func (c *checker) read() error {
	q := c.out.Query
	c.bound, c.aliases = map[string]*schema.Type{}, map[string]operand{}
	if err := c.clauses(q.Match); err != nil {
		return err
	}
	named := map[string]*Expr{}
	for _, p := range q.Return {
		o, err := c.readable(p.Expr)
		if err != nil {
			return err
		}
		if p.Alias != nil {
			c.aliases[*p.Alias], named[*p.Alias] = o, p.Expr
		}
	}
	for _, o := range q.Order {
		if _, err := c.readable(o.Expr); err != nil {
			return err
		}
	}
	if err := c.ranking(named); err != nil {
		return err
	}
	return c.grouping()
}

// readable is the type of an expression whose value is answered.
func (c *checker) readable(e *Expr) (operand, error) {
	o, err := c.expr(e)
	if err == nil && o.blob() {
		what := "this expression"
		switch e.Kind {
		case ExprVar:
			what = fmt.Sprintf("parameter `$%s`", e.Var)
		case ExprAlias:
			what = fmt.Sprintf("alias `%s`", e.Name)
		}
		err = c.fail(e.At, "T24", "%s is a Blob, which is not available as a .gq read value; read it with `blob get`", what)
	}
	return o, err
}

// ranking demands limits and refuses what cannot be ordered together.
func (c *checker) ranking(named map[string]*Expr) error {
	q := c.out.Query
	has := func(name string) *Expr {
		for _, o := range q.Order {
			if ranksBy(o.Expr, name, named, map[string]bool{}) {
				return o.Expr
			}
		}
		return nil
	}
	if e := has("rrf"); e != nil && q.Limit == nil {
		return c.fail(e.At, "T21", "rrf ordering requires a limit clause")
	}
	e := has("nearest")
	if e == nil {
		return nil
	}
	if q.Limit == nil {
		return c.fail(e.At, "T17", "nearest ordering requires a limit clause")
	}
	for _, o := range q.Order {
		if o.Expr.Kind == ExprAlias {
			return c.fail(o.Expr.At, "T18", "an alias cannot be ordered by together with nearest")
		}
	}
	return nil
}

// ranksBy reports that an order uses nearest outside of rrf, or rrf, itself or
// through aliases.
func ranksBy(e *Expr, name string, named map[string]*Expr, seen map[string]bool) bool {
	switch {
	case e.calls(name):
		return true
	case e.calls("rrf"):
		return false
	case e.Kind == ExprAlias && !seen[e.Name]:
		seen[e.Name] = true
		return named[e.Name] != nil && ranksBy(named[e.Name], name, named, seen)
	}
	for _, a := range e.Args {
		if ranksBy(a, name, named, seen) {
			return true
		}
	}
	return false
}

// grouping demands that what stands beside an aggregate can be grouped by.
func (c *checker) grouping() error {
	var other *Expr
	aggregates := false
	for _, p := range c.out.Query.Return {
		switch e := p.Expr; {
		case e.aggregate():
			aggregates = true
		case e.Kind != ExprProperty && e.Kind != ExprVar && other == nil:
			other = e
		}
	}
	if aggregates && other != nil {
		return c.fail(other.At, "T9", "non-aggregate expressions in an aggregate query must be property accesses or variables")
	}
	return nil
}

// clauses checks a block and leaves what it binds bound.
func (c *checker) clauses(block []Clause) error {
	outside := len(c.order)
	for _, cl := range block {
		var err error
		switch cl := cl.(type) {
		case *Binding:
			err = c.binding(cl)
		case *Traversal:
			err = c.traversal(cl)
		case *Filter:
			err = c.filter(cl)
		case *Not:
			err = c.not(cl)
		}
		if err != nil {
			return err
		}
	}
	c.connected(block, c.order[outside:])
	return nil
}

func (c *checker) not(n *Not) error {
	outside := len(c.order)
	if err := c.clauses(n.Clauses); err != nil {
		return err
	}
	for _, name := range c.order[outside:] {
		delete(c.bound, name)
	}
	c.order = c.order[:outside]
	isOuter := func(name string) bool { return c.bound[name] != nil }
	for _, cl := range n.Clauses {
		switch cl := cl.(type) {
		case *Binding:
			if isOuter(cl.Var) {
				return nil
			}
		case *Traversal:
			if isOuter(cl.From) || isOuter(cl.To) {
				return nil
			}
		case *Filter:
			if cl.Left.mentions(isOuter) || cl.Right.mentions(isOuter) {
				return nil
			}
		}
	}
	return c.fail(n.At, "T9", "negation block must reference at least one outer-bound variable")
}

// connected refuses what the Rust engine runs with wrong rows: a variable that
// is bound twice, which it scans twice, and a traversal that no binding leads
// to, which it leaves out. inner are the names that the block binds.
func (c *checker) connected(block []Clause, inner []string) {
	missing := map[string]bool{} // no binding leads there
	for _, name := range inner {
		missing[name] = true
	}
	var reached []string
	next := map[string][]string{} // by traversals
	for _, cl := range block {
		switch cl := cl.(type) {
		case *Binding:
			if !missing[cl.Var] {
				c.refuse(cl.At, "variable `$%s` is bound a second time; state all its conditions in one binding or as filters", cl.Var)
			}
			delete(missing, cl.Var)
			reached = append(reached, cl.Var)
		case *Traversal:
			next[cl.From], next[cl.To] = append(next[cl.From], cl.To), append(next[cl.To], cl.From)
		}
	}
	for from := range next {
		if from != "_" && !missing[from] {
			reached = append(reached, from)
		}
	}
	for len(reached) > 0 {
		from := reached[len(reached)-1]
		reached = reached[:len(reached)-1]
		for _, to := range next[from] {
			if missing[to] {
				delete(missing, to)
				reached = append(reached, to)
			}
		}
	}
	for _, cl := range block {
		if t, ok := cl.(*Traversal); ok && (t.From == "_" || missing[t.From]) && (t.To == "_" || missing[t.To]) {
			c.refuse(t.At, "no binding leads to the traversal `$%s %s $%s`; bind one of its ends: $%s: Type", t.From, t.Edge, t.To, t.From)
		}
	}
}
