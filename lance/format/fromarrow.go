package format

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// SchemaOf is the schema of a new table for batches of an Arrow schema, with ids
// in depth-first order. A field whose metadata has MetaPrimaryKey is part of the
// key. What cannot be written the writer of files refuses, by name.
func SchemaOf(s *arrow.Schema) *Schema {
	out, next := &Schema{}, int32(0)
	for _, f := range s.Fields() {
		out.Fields = append(out.Fields, fieldOf(f, -1, &next))
	}
	if md := s.Metadata(); md.Len() > 0 {
		out.Metadata = md.ToMap()
	}
	return out
}

func fieldOf(f arrow.Field, parent int32, next *int32) *Field {
	out := &Field{ID: *next, ParentID: parent, Name: f.Name, Nullable: f.Nullable, LogicalType: logical(f.Type)}
	*next++
	if f.Metadata.Len() > 0 {
		out.Metadata = f.Metadata.ToMap()
		out.PrimaryKey = truthy(out.Metadata[MetaPrimaryKey])
	}
	var children []arrow.Field
	switch t := f.Type.(type) {
	case *arrow.StructType:
		children = t.Fields()
	case *arrow.MapType:
		e := t.ElemField()
		e.Nullable = false
		children = []arrow.Field{e}
	case *arrow.FixedSizeListType:
		if t.Elem().ID() == arrow.STRUCT {
			children = []arrow.Field{t.ElemField()}
		}
	case arrow.ListLikeType:
		children = []arrow.Field{t.ElemField()}
	}
	for _, c := range children {
		out.Children = append(out.Children, fieldOf(c, out.ID, next))
	}
	return out
}

// logical is the logical type of an Arrow type.
func logical(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.Float16Type:
		return "halffloat"
	case *arrow.Float32Type:
		return "float"
	case *arrow.Float64Type:
		return "double"
	case *arrow.StringType:
		return "string"
	case *arrow.LargeStringType:
		return "large_string"
	case *arrow.Date32Type:
		return "date32:day"
	case *arrow.Date64Type:
		return "date64:ms"
	case *arrow.Time32Type:
		return "time32:" + t.Unit.String()
	case *arrow.Time64Type:
		return "time64:" + t.Unit.String()
	case *arrow.DurationType:
		return "duration:" + t.Unit.String()
	case *arrow.TimestampType:
		if t.TimeZone == "" {
			return "timestamp:" + t.Unit.String() + ":-"
		}
		return "timestamp:" + t.Unit.String() + ":" + t.TimeZone
	case arrow.DecimalType:
		return fmt.Sprintf("decimal:%d:%d:%d", t.BitWidth(), t.GetPrecision(), t.GetScale())
	case *arrow.FixedSizeBinaryType:
		return fmt.Sprintf("fixed_size_binary:%d", t.ByteWidth)
	case *arrow.StructType:
		return "struct"
	case *arrow.MapType:
		return "map"
	case *arrow.FixedSizeListType:
		return fmt.Sprintf("fixed_size_list:%s:%d", logical(t.Elem()), t.Len())
	case *arrow.DictionaryType:
		return fmt.Sprintf("dict:%s:%s:false", logical(t.ValueType), logical(t.IndexType))
	case arrow.ListLikeType:
		name := "list"
		if t.ID() == arrow.LARGE_LIST {
			name = "large_list"
		}
		if t.Elem().ID() == arrow.STRUCT {
			name += ".struct"
		}
		return name
	}
	return t.Name() // the others are called alike
}
