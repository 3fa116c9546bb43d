package schema

import (
	"cmp"
	"slices"
	"strings"
)

// IR is the accepted schema with identities, _schema.ir.json.
type IR struct {
	Version    uint64 // 2
	Domain     string // ULID of the graph's identity domain
	NextID     uint64 // next unused identity
	Interfaces []Type // by name
	Nodes      []Type // by name
	Edges      []Type // by name
}

// IRVersion is the only ir_version that is understood.
const IRVersion = 2

// Kind of a type.
type Kind uint8

// The kinds.
const (
	KindInterface Kind = iota
	KindNode
	KindEdge
)

func (k Kind) String() string { return [...]string{"interface", "node", "edge"}[k%3] }

// Type is an interface, node or edge type.
type Type struct {
	Kind        Kind
	Name        string
	ID          uint64       // type_id, the stable table id of nodes and edges
	Incarnation uint64       // table_incarnation_id; 0 for interfaces
	From, To    TypeRef      // edges
	Card        Card         // edges
	Annotations []Annotation // nodes, edges
	Implements  []TypeRef    // nodes
	Properties  []Property   // by name
	Constraints []Constraint // nodes, edges
}

// Alias is the table's name in `__manifest`: node:Port.
func (t *Type) Alias() string { return t.Kind.String() + ":" + t.Name }

// Compare puts nodes before edges, and types of one kind in the order of their
// names.
func (t *Type) Compare(o *Type) int {
	return cmp.Or(cmp.Compare(t.Kind, o.Kind), strings.Compare(t.Name, o.Name))
}

// TypeRef points at a type.
type TypeRef struct {
	ID   uint64
	Name string
}

// Card is how many edges of a type a source node may have.
type Card struct {
	Min uint64
	Max *uint64 // nil = unbounded
}

// Annotation is @name(value, k="v"). The typed ones (key, unique, index, embed,
// rename_from) are never among them.
type Annotation struct {
	Name   string
	Value  *string
	Kwargs [][2]string // name and value, sorted by name
}

// Scalar is a base type: String, Bool, I32, I64, U32, U64, F32, F64, Date,
// DateTime, Blob, or Vector with its dimension.
type Scalar struct {
	Name string
	Dim  uint64 // of a Vector
}

// PropType is the type of a property.
type PropType struct {
	Scalar   Scalar
	Nullable bool
	List     bool
	Enum     []string // allowed values, sorted; nil = not an enum
}

// PropRef points at a property.
type PropRef struct {
	OwnerID   uint64
	OwnerName string
	ID        uint64
	Name      string
}

// Property is one property of a type.
type Property struct {
	Name        string
	ID          uint64
	Type        PropType
	Annotations []Annotation
	Constraints []string // subset of key, unique, index, in that order
	Embed       *Embed
	Declared    bool      // written in the body, not injected by an interface
	Satisfies   []PropRef // interface properties that it fulfils
}

// Embed is @embed(src, model=…).
type Embed struct {
	Source PropRef
	Model  *string
}

// Constraint is a constraint of a type.
type Constraint struct {
	Kind     string     // key, unique, index, range, check
	Fields   []FieldRef // exactly one for range and check
	Min, Max *Bound     // range
	Pattern  string     // check
}

// FieldRef is a property, or a system column when Prop is nil.
type FieldRef struct {
	Prop        *PropRef
	Role        string // id, src, dst
	TableID     uint64
	TableName   string
	Incarnation uint64
}

// Name of the column that is meant.
func (f FieldRef) Name() string {
	if f.Prop != nil {
		return f.Prop.Name
	}
	return f.Role
}

// Bound is an end of a range, inclusive.
type Bound struct {
	IsFloat bool
	Int     int64
	Float   float64
}

// kinds returns the lists of types in canonical order.
func (ir *IR) kinds() [3][]Type { return [3][]Type{ir.Interfaces, ir.Nodes, ir.Edges} }

// Type finds a type by kind and name.
func (ir *IR) Type(kind Kind, name string) (*Type, bool) {
	types := ir.kinds()[kind%3]
	i := slices.IndexFunc(types, func(t Type) bool { return t.Name == name })
	if i < 0 {
		return nil, false
	}
	return &types[i], true
}

// Table finds the node or edge type of a table by identity.
func (ir *IR) Table(id, incarnation uint64) (*Type, bool) {
	for _, types := range [][]Type{ir.Nodes, ir.Edges} {
		for i := range types {
			if types[i].ID == id && types[i].Incarnation == incarnation {
				return &types[i], true
			}
		}
	}
	return nil, false
}

// Property finds a property by name.
func (t *Type) Property(name string) (*Property, bool) {
	i := slices.IndexFunc(t.Properties, func(p Property) bool { return p.Name == name })
	if i < 0 {
		return nil, false
	}
	return &t.Properties[i], true
}

// Key are the properties of the type's key in the order in which they make the
// id (by property id), nil when it has none.
func (t *Type) Key() []PropRef {
	for _, c := range t.Constraints {
		if c.Kind != "key" {
			continue
		}
		var key []PropRef
		for _, f := range c.Fields {
			if f.Prop != nil {
				key = append(key, *f.Prop)
			}
		}
		slices.SortFunc(key, func(a, b PropRef) int { return int(min(max(int64(a.ID)-int64(b.ID), -1), 1)) })
		return key
	}
	return nil
}
