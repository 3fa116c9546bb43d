package schema

import (
	"slices"
	"strings"
)

// Unique are the groups of columns whose values together stand once in a table;
// a row with a null among them is exempt. A group of an edge type may hold src
// and dst. The key of a node is not among them: see Key.
func (t *Type) Unique() [][]string {
	var out [][]string
	for _, c := range t.Constraints {
		if c.Kind == "unique" {
			out = append(out, c.names())
		}
	}
	return out
}

// Ranges are the bounds of properties, inclusive, by property name.
func (t *Type) Ranges() []Constraint { return t.only("range") }

// Checks are the patterns of properties, by property name.
func (t *Type) Checks() []Constraint { return t.only("check") }

func (t *Type) only(kind string) (out []Constraint) {
	for _, c := range t.Constraints {
		if c.Kind == kind {
			out = append(out, c)
		}
	}
	return out
}

// Number is the bound as values are compared with it, and as messages spell it.
func (b *Bound) Number() float64 {
	if b.IsFloat {
		return b.Float
	}
	return float64(b.Int)
}

// Edge finds an edge type by its name in any letter case, as queries and lines
// of data may write it.
func (ir *IR) Edge(name string) (*Type, bool) {
	if t, ok := ir.Type(KindEdge, name); ok {
		return t, true
	}
	folded := strings.ToLower(name)
	i := slices.IndexFunc(ir.Edges, func(t Type) bool { return strings.ToLower(t.Name) == folded })
	if i < 0 {
		return nil, false
	}
	return &ir.Edges[i], true
}
