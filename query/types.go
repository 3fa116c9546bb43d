package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/schema"
)

// catalog finds the types of a schema.
type catalog struct {
	nodes, edges map[string]*schema.Type
	folded       map[string]*schema.Type // edges by lower-case name
}

func newCatalog(ir *schema.IR) *catalog {
	c := &catalog{map[string]*schema.Type{}, map[string]*schema.Type{}, map[string]*schema.Type{}}
	for i := range ir.Nodes {
		c.nodes[ir.Nodes[i].Name] = &ir.Nodes[i]
	}
	for i := range ir.Edges {
		c.edges[ir.Edges[i].Name] = &ir.Edges[i]
		c.folded[strings.ToLower(ir.Edges[i].Name)] = &ir.Edges[i]
	}
	return c
}

// operand is the type of an expression.
type operand struct {
	kind operandKind
	prop schema.PropType // scalar
	node string          // node: its type
}

type operandKind uint8

const (
	scalarOperand operandKind = iota
	nodeOperand
	aggregateOperand // also an alias that is not known
)

func scalar(name string) operand {
	return operand{prop: schema.PropType{Scalar: schema.Scalar{Name: name}}}
}

func (o operand) spell() string {
	switch o.kind {
	case nodeOperand:
		return fmt.Sprintf("node `%s`", o.node)
	case aggregateOperand:
		return "aggregate"
	}
	return spell(o.prop)
}

// is reports a single value of a base type.
func (o operand) is(names ...string) bool {
	return o.kind == scalarOperand && !o.prop.List && slices.Contains(names, o.prop.Scalar.Name)
}

func (o operand) blob() bool { return o.kind == scalarOperand && o.prop.Scalar.Name == "Blob" }

func spell(p schema.PropType) string {
	if p.Nullable {
		return p.Spell() + "?"
	}
	return p.Spell()
}

var (
	integers = []string{"I32", "I64", "U32", "U64"}
	numbers  = append(slices.Clone(integers), "F32", "F64")
)

func numeric(p schema.PropType) bool { return slices.Contains(numbers, p.Scalar.Name) }

// compatible types may be compared and assigned: both lists or neither, of one
// base type, or both numbers. Whether null is allowed does not matter.
func compatible(a, b schema.PropType) bool {
	return a.List == b.List && (a.Scalar == b.Scalar || numeric(a) && numeric(b))
}

// member is the type of an element of a list.
func member(p schema.PropType) schema.PropType {
	p.List = false
	return p
}

// litTypes are the base types of literals.
var litTypes = map[LitKind]string{
	LitString: "String", LitInteger: "I64", LitFloat: "F64", LitBool: "Bool", LitDate: "Date", LitDateTime: "DateTime",
}

// literalType is the type of a literal. An empty list is one of String.
func literalType(l Literal) (schema.PropType, string) {
	if l.Kind != LitList {
		return schema.PropType{Scalar: schema.Scalar{Name: litTypes[l.Kind]}}, ""
	}
	out := schema.PropType{Scalar: schema.Scalar{Name: "String"}}
	for i, it := range l.Items {
		if it.Kind == LitList {
			return out, "nested list literals are not supported"
		}
		t, _ := literalType(it)
		if i == 0 {
			out = t
		} else if !compatible(out, t) {
			return out, "list literal elements must share a compatible scalar type"
		}
	}
	out.List = true
	return out, ""
}

// vectorLength is the number of elements of a list of numbers; ok is false for
// any other literal and for the empty list.
func vectorLength(l Literal) (n uint64, ok bool) {
	for _, it := range l.Items {
		if it.Kind != LitInteger && it.Kind != LitFloat {
			return 0, false
		}
	}
	return uint64(len(l.Items)), len(l.Items) > 0
}
