package schema

import (
	"fmt"
	"strconv"

	"github.com/omnideck/omnideck/lance/format"
)

// logicalTypes are the base types as Lance spells them, but for Vector and
// Blob.
var logicalTypes = map[string]string{
	"String": "string", "Bool": "bool", "I32": "int32", "I64": "int64", "U32": "uint32", "U64": "uint64",
	"F32": "float", "F64": "double", "Date": "date32:day", "DateTime": "date64:ms",
}

// LanceSchema is the schema of a node or edge table as it is created: columns
// in table order, field ids in preorder from 0 (a list has its item below it, a
// blob data and uri, a vector nothing), id as the unenforced primary key, and
// every property with its identity. Tables that were rewritten since have other
// ids: what binds there is the table's own manifest.
func (t *Type) LanceSchema() *format.Schema {
	b := new(fieldBuilder)
	for _, c := range t.Columns() {
		b.column(c)
	}
	return &format.Schema{Fields: b.fields}
}

type fieldBuilder struct {
	fields []*format.Field
	next   int32
}

func (b *fieldBuilder) field(parent int32, name, logical string, nullable bool) *format.Field {
	f := &format.Field{ID: b.next, ParentID: parent, Name: name, LogicalType: logical, Nullable: nullable}
	b.next++
	return f
}

func (b *fieldBuilder) column(c Column) {
	f := b.field(-1, c.Name, "string", c.Nullable)
	b.fields = append(b.fields, f)
	if c.Prop == nil {
		if c.Name == "id" {
			f.PrimaryKey = true
			f.Metadata = map[string]string{format.MetaPrimaryKey: "true"}
		}
		return
	}
	f.Metadata = map[string]string{StablePropertyKey: strconv.FormatUint(c.Prop.ID, 10)}
	logical := logicalTypes[c.Prop.Type.Scalar.Name]
	switch {
	case c.Prop.Type.List:
		f.LogicalType = "list"
		f.Children = []*format.Field{b.field(f.ID, "item", logical, true)}
	case c.Blob:
		f.LogicalType = "struct"
		f.Metadata[format.MetaExtensionName] = format.ExtBlobV2
		f.Children = []*format.Field{b.field(f.ID, "data", "large_binary", true), b.field(f.ID, "uri", "string", true)}
	case c.Prop.Type.Scalar.Name == "Vector":
		f.LogicalType = fmt.Sprintf("fixed_size_list:float:%d", c.Prop.Type.Scalar.Dim)
	default:
		f.LogicalType = logical
	}
}
