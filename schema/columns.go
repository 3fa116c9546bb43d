package schema

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
)

// Column is one column of a node or edge table.
type Column struct {
	Name     string
	Spelled  string         // type as .pg spells it
	Arrow    arrow.DataType // type of the stored column; a blob's is the struct of data and uri
	Nullable bool
	Blob     bool      // stored as blob v2: scanned data has its descriptor instead
	Prop     *Property // nil for id, src, dst
}

// StablePropertyKey is the field metadata that carries a property's id.
const StablePropertyKey = "omnigraph.stable_property_id"

// Columns of a node or edge type in table order: id, of an edge src and dst,
// then the properties by name.
func (t *Type) Columns() []Column {
	names := []string{"id"}
	if t.Kind == KindEdge {
		names = append(names, "src", "dst")
	}
	var out []Column
	for _, n := range names {
		out = append(out, Column{Name: n, Spelled: "String", Arrow: arrow.BinaryTypes.String})
	}
	for i := range t.Properties {
		p := &t.Properties[i]
		out = append(out, Column{
			Name: p.Name, Spelled: p.Type.Spell(), Arrow: p.Type.Arrow(), Nullable: p.Type.Nullable,
			Blob: p.Type.Scalar.Name == "Blob", Prop: p,
		})
	}
	return out
}

// StoredNames are the names by which messages call what a base type is stored
// as.
var StoredNames = map[string]string{
	"String": "Utf8", "Blob": "Blob", "Bool": "Boolean", "I32": "Int32", "I64": "Int64", "U32": "UInt32", "U64": "UInt64",
	"F32": "Float32", "F64": "Float64", "Date": "Date32", "DateTime": "Date64", "Vector": "Vector",
}

var scalarTypes = map[string]arrow.DataType{
	"String": arrow.BinaryTypes.String, "Bool": arrow.FixedWidthTypes.Boolean,
	"I32": arrow.PrimitiveTypes.Int32, "I64": arrow.PrimitiveTypes.Int64,
	"U32": arrow.PrimitiveTypes.Uint32, "U64": arrow.PrimitiveTypes.Uint64,
	"F32": arrow.PrimitiveTypes.Float32, "F64": arrow.PrimitiveTypes.Float64,
	"Date": arrow.FixedWidthTypes.Date32, "DateTime": arrow.FixedWidthTypes.Date64,
	"Blob": arrow.StructOf(
		arrow.Field{Name: "data", Type: arrow.BinaryTypes.LargeBinary, Nullable: true},
		arrow.Field{Name: "uri", Type: arrow.BinaryTypes.String, Nullable: true}),
}

// Arrow is the type of the stored column. Items of lists and vectors are
// nullable.
func (p PropType) Arrow() arrow.DataType {
	t := scalarTypes[p.Scalar.Name]
	if p.Scalar.Name == "Vector" {
		t = arrow.FixedSizeListOf(int32(min(p.Scalar.Dim, math.MaxInt32)), arrow.PrimitiveTypes.Float32)
	}
	if p.List {
		return arrow.ListOf(t)
	}
	return t
}
