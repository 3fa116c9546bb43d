package schema

// IR is the accepted schema with identities, _schema.ir.json.
type IR struct {
	Version    uint32
	Domain     string
	NextID     uint64
	Interfaces []Type
	Nodes      []Type
	Edges      []Type
}

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
	ID          uint64
	Incarnation uint64  // 0 for interfaces
	From, To    TypeRef // edges
	Card        Card    // edges
	Annotations []Annotation
	Implements  []TypeRef // nodes
	Properties  []Property
	Constraints []Constraint
}

// TypeRef points at a type.
type TypeRef struct {
	ID   uint64
	Name string
}

// Card is an edge type's cardinality: Max nil = unbounded.
type Card struct {
	Min uint32
	Max *uint32
}

// Annotation is @name(value, k="v").
type Annotation struct {
	Name   string
	Value  *string
	Kwargs [][2]string // sorted by key
}

// Scalar is a base type.
type Scalar struct {
	Name string // String, Bool, I32 … Blob, Vector
	Dim  uint32 // of a Vector
}

// PropType is the type of a property.
type PropType struct {
	Scalar   Scalar
	Nullable bool
	List     bool
	Enum     []string // nil = not an enum
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
	Constraints []string // subset of key, unique, index in that order
	Embed       *Embed
	Declared    bool // declared_directly
	Satisfies   []PropRef
}

// Embed is @embed(src, model=…).
type Embed struct {
	Source PropRef
	Model  *string
}

// Constraint is a type-level constraint.
type Constraint struct {
	Kind     string     // key, unique, index, range, check
	Fields   []FieldRef // one for range and check
	Min, Max *Bound
	Pattern  string
}

// FieldRef is a property or a system column.
type FieldRef struct {
	Prop        *PropRef
	Role        string // id, src, dst when Prop is nil
	TableID     uint64
	TableName   string
	Incarnation uint64
}

// Bound is an end of a range.
type Bound struct {
	IsFloat bool
	Int     int64
	Float   float64
}

// Columns are the columns of a node or edge table in order: id, (src, dst),
// then properties by name.
type Column struct {
	Name     string
	Type     string // as .pg spells it: String, [I32], Vector(8), enum(a, b)
	Arrow    string // utf8, int32 … as the Lance logical type
	Nullable bool
	Prop     *Property // nil for id, src, dst
}

// Type finds a node or edge type.
func (ir *IR) Type(kind Kind, name string) (*Type, bool) { return nil, false }

// Columns of a node or edge type.
func (t *Type) Columns() []Column { return nil }

// Key are the names of the properties of the type's key, nil when it has none.
func (t *Type) Key() []string { return nil }

// Spell is the type as .pg spells it, without '?'.
func (p PropType) Spell() string { return "" }

// Spell is the constraint as .pg spells it: @unique(a, b).
func (c Constraint) Spell() string { return "" }
