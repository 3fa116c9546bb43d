package query

import (
	"github.com/omnideck/omnideck/schema"
)

func (c *checker) mutations() error {
	q := c.out.Query
	for i := range q.Mutations {
		m := &q.Mutations[i]
		twice := c.twice(m)
		if twice != nil && m.Verb == Insert {
			return twice
		}
		t, err := c.target(m)
		if err == nil {
			err = twice
		}
		if err != nil {
			return err
		}
		if err := c.mutation(m, t); err != nil {
			return err
		}
		c.out.types = append(c.out.types, t)
	}
	c.runnable()
	return nil
}

// target finds the type of a statement: a node's before an edge's.
func (c *checker) target(m *Mutation) (*schema.Type, error) {
	if t := c.nodes[m.Type]; t != nil {
		return t, nil
	}
	t := c.edges[m.Type]
	switch {
	case t == nil:
		return nil, c.fail(m.At, "T10", "unknown node/edge type `%s`", m.Type)
	case m.Verb == Update:
		return nil, c.fail(m.At, "T16", "`%s` is an edge type; edges cannot be updated: delete the edge and insert it anew", m.Type)
	}
	return t, nil
}

// twice refuses a second value for one property.
func (c *checker) twice(m *Mutation) error {
	seen := map[string]bool{}
	for _, a := range m.Set {
		if seen[a.Name] {
			return c.fail(a.At, "T13", "duplicate assignment for property `%s`", a.Name)
		}
		seen[a.Name] = true
	}
	return nil
}

func (c *checker) mutation(m *Mutation, t *schema.Type) error {
	given := map[string]bool{}
	for _, a := range m.Set {
		given[a.Name] = true
		p, err := c.assigned(a.At, t, a.Name)
		if err != nil {
			return err
		}
		if err := c.valueFits(a, p); err != nil {
			return err
		}
	}
	if m.Verb == Insert {
		return c.complete(m, t, given)
	}
	p, err := c.assigned(m.Where.At, t, m.Where.Name)
	if err != nil {
		return err
	}
	if p.Scalar.Name == "Blob" {
		return c.fail(m.Where.At, "T11", "property `%s` is a Blob, which cannot stand in where", m.Where.Name)
	}
	return c.valueFits(Assign{m.Where.At, m.Where.Name, m.Where.Value}, p)
}

// assigned is the type of what a statement may name: a property, or an end of
// an edge.
func (c *checker) assigned(at int, t *schema.Type, name string) (schema.PropType, error) {
	if endpoint(t, name) {
		return scalar("String").prop, nil
	}
	p, ok := t.Property(name)
	if !ok {
		return schema.PropType{}, c.fail(at, "T11", "type `%s` has no property `%s`", t.Name, name)
	}
	return p.Type, nil
}

func endpoint(t *schema.Type, name string) bool {
	return t.Kind == schema.KindEdge && (name == "from" || name == "to")
}

func (c *checker) valueFits(a Assign, expected schema.PropType) error {
	switch a.Value.Kind {
	case ExprLiteral:
		return c.literalFits(a, expected)
	case ExprNow:
		return c.nowFits(a, expected)
	}
	actual, ok := c.out.params[a.Value.Var]
	if !ok {
		return c.fail(a.Value.At, "T14", "variable `$%s` of a mutation must be a declared query parameter", a.Value.Var)
	}
	uri := expected.Scalar.Name == "Blob" && actual.Scalar.Name == "String" && !actual.List
	if !uri && !compatible(actual, expected) {
		return c.mismatch(a.At, actual, expected, a.Name)
	}
	return nil
}

// complete demands that an insert names everything that is required.
func (c *checker) complete(m *Mutation, t *schema.Type, given map[string]bool) error {
	if t.Kind == schema.KindEdge {
		for _, end := range []string{"from", "to"} {
			if !given[end] {
				return c.fail(m.At, "T12", "insert for `%s` must provide required endpoint `%s`", t.Name, end)
			}
		}
	}
	for _, p := range t.Properties {
		switch {
		case p.Type.Nullable || given[p.Name]:
		case p.Embed == nil:
			return c.fail(m.At, "T12", "insert for `%s` must provide non-nullable property `%s`", t.Name, p.Name)
		case !given[p.Embed.Source.Name]:
			return c.fail(m.At, "T12", "insert for `%s` must provide non-nullable property `%s` or its @embed source `%s`", t.Name, p.Name, p.Embed.Source.Name)
		default:
			c.refuse(m.At, "insert for `%s` gives no value for required property `%s`: @embed only records where a vector comes from, so hand over the vector", t.Name, p.Name)
		}
	}
	return nil
}

// runnable refuses what the Rust engine refuses once it runs.
func (c *checker) runnable() {
	q := c.out.Query
	for i := range q.Mutations {
		m, t := &q.Mutations[i], c.out.types[i]
		if (m.Verb == Delete) != (q.Mutations[0].Verb == Delete) {
			c.refuse(m.At, "it mixes inserts/updates and deletes; make it two queries, inserts and updates first, then deletes, or run both on a branch and merge that")
		}
		if m.Verb != Update {
			continue
		}
		for _, k := range t.Key() {
			for _, a := range m.Set {
				if a.Name == k.Name {
					c.refuse(a.At, "cannot update @key property '%s' of `%s`, which makes its id; delete the entity and insert it anew", k.Name, t.Name)
				}
			}
		}
	}
}
