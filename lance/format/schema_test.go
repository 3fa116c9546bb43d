package format_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/format"
	filepb "github.com/omnideck/omnideck/lance/pb/file"
)

func TestLogicalTypes(t *testing.T) {
	item := func(t arrow.DataType) arrow.Field { return arrow.Field{Name: "item", Type: t, Nullable: true} }
	for text, want := range map[string]arrow.DataType{
		"null": arrow.Null, "bool": arrow.FixedWidthTypes.Boolean, "int8": arrow.PrimitiveTypes.Int8, "uint64": arrow.PrimitiveTypes.Uint64,
		"halffloat": arrow.FixedWidthTypes.Float16, "float": arrow.PrimitiveTypes.Float32, "double": arrow.PrimitiveTypes.Float64,
		"string": arrow.BinaryTypes.String, "large_string": arrow.BinaryTypes.LargeString, "binary": arrow.BinaryTypes.Binary,
		"large_binary": arrow.BinaryTypes.LargeBinary, "json": arrow.BinaryTypes.LargeBinary,
		"date32:day": arrow.FixedWidthTypes.Date32, "date64:ms": arrow.FixedWidthTypes.Date64,
		"time32:s": arrow.FixedWidthTypes.Time32s, "time32:ms": arrow.FixedWidthTypes.Time32ms,
		"time64:us": arrow.FixedWidthTypes.Time64us, "time64:ns": arrow.FixedWidthTypes.Time64ns,
		"timestamp:us:-":                           &arrow.TimestampType{Unit: arrow.Microsecond},
		"timestamp:ns:Europe/Berlin":               &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "Europe/Berlin"},
		"timestamp:s:+02:00":                       &arrow.TimestampType{Unit: arrow.Second, TimeZone: "+02:00"},
		"duration:ms":                              arrow.FixedWidthTypes.Duration_ms,
		"decimal:128:20:3":                         &arrow.Decimal128Type{Precision: 20, Scale: 3},
		"decimal:256:76:-2":                        &arrow.Decimal256Type{Precision: 76, Scale: -2},
		"fixed_size_binary:16":                     &arrow.FixedSizeBinaryType{ByteWidth: 16},
		"fixed_size_list:float:384":                arrow.FixedSizeListOfField(384, item(arrow.PrimitiveTypes.Float32)),
		"fixed_size_list:fixed_size_list:int8:2:3": arrow.FixedSizeListOfField(3, item(arrow.FixedSizeListOfField(2, item(arrow.PrimitiveTypes.Int8)))),
		"fixed_size_list:timestamp:us:-:2":         arrow.FixedSizeListOfField(2, item(&arrow.TimestampType{Unit: arrow.Microsecond})),
		"dict:string:int8:false":                   &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		"dict:timestamp:us:-:int32:false":          &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: &arrow.TimestampType{Unit: arrow.Microsecond}},
	} {
		f := &format.Field{Name: "x", LogicalType: text, Nullable: true}
		got, err := f.ArrowField()
		if err != nil || !arrow.TypeEqual(got.Type, want) || got.Name != "x" || !got.Nullable {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
		if text == "json" { // whose Arrow type is that of large_binary
			continue
		}
		if back := format.SchemaOf(arrow.NewSchema([]arrow.Field{{Name: "x", Type: want, Nullable: true}}, nil)); back.Fields[0].LogicalType != text {
			t.Errorf("%v is written as %q, expected %q", want, back.Fields[0].LogicalType, text)
		}
	}
	for _, text := range []string{
		"", "int", "timestamp", "timestamp:xs:-", "time32:us", "time64:ms", "time:us", "duration:", "decimal:128:39:0", "decimal:64:3:0", "decimal:128:x:0",
		"fixed_size_binary:", "fixed_size_binary:-1", "fixed_size_list:float", "fixed_size_list:float:99999999999", "fixed_size_list::3", "dict:string:int8",
		"dict:string:float:false", "list", "map", "fixed_size_list:struct:2", "union", strings.Repeat("fixed_size_list:", 1000),
	} {
		f := &format.Field{Name: "x", LogicalType: text}
		if _, err := f.ArrowField(); !errors.Is(err, format.ErrCorrupt) && !errors.Is(err, format.ErrUnsupported) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestNestedTypes(t *testing.T) {
	s, err := format.SchemaFromProto([]*filepb.Field{
		{Name: "id", Id: 0, ParentId: -1, LogicalType: "string", Metadata: map[string][]byte{format.MetaPrimaryKey: []byte("TRUE")}},
		{Name: "l", Id: 1, ParentId: -1, LogicalType: "list.struct", Nullable: true},
		{Name: "item", Id: 2, ParentId: 1, LogicalType: "struct", Nullable: true},
		{Name: "a", Id: 3, ParentId: 2, LogicalType: "int32", Nullable: true},
		{Name: "m", Id: 4, ParentId: -1, LogicalType: "map"},
		{Name: "entries", Id: 5, ParentId: 4, LogicalType: "struct"},
		{Name: "key", Id: 6, ParentId: 5, LogicalType: "string"},
		{Name: "value", Id: 7, ParentId: 5, LogicalType: "int8", Nullable: true},
		{Name: "b2", Id: 8, ParentId: -1, LogicalType: "struct", Nullable: true, Metadata: map[string][]byte{format.MetaExtensionName: []byte(format.ExtBlobV2)}},
		{Name: "data", Id: 9, ParentId: 8, LogicalType: "large_binary", Nullable: true},
		{Name: "b1", Id: 10, ParentId: -1, LogicalType: "large_binary", Nullable: true, Metadata: map[string][]byte{format.MetaBlob: []byte("true")}},
	}, map[string][]byte{"k": []byte("v")})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Arrow()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"utf8", "list<item: struct<a: int32 nullable>, nullable>", "map<utf8, int8, items_nullable>",
		"struct<kind: uint8, position: uint64, size: uint64, blob_id: uint32, blob_uri: utf8>", "struct<position: uint64, size: uint64>",
	} {
		if g := got.Field(i).Type.String(); g != want {
			t.Errorf("%s: %s, want %s", got.Field(i).Name, g, want)
		}
	}
	if len(s.PrimaryKey()) != 1 || s.PrimaryKey()[0].Name != "id" || s.ByID(7).Name != "value" || s.ByID(99) != nil || s.Lookup("a") != nil || s.Metadata["k"] != "v" {
		t.Errorf("%+v", s)
	}
}

// The children of a blob v2 column in a file's own schema have no ids.
func TestBlobChildrenWithoutIDs(t *testing.T) {
	s, err := format.SchemaFromProto([]*filepb.Field{
		{Name: "b", Id: 3, ParentId: -1, LogicalType: "struct", Metadata: map[string][]byte{format.MetaBlob: []byte("true"), "lance-encoding:packed": []byte("true")}},
		{Name: "kind", Id: -1, ParentId: -1, LogicalType: "uint8"},
		{Name: "position", Id: -1, ParentId: -1, LogicalType: "uint64"},
		{Name: "z", Id: 4, ParentId: -1, LogicalType: "int8"},
	}, nil)
	if err != nil || len(s.Fields) != 2 || len(s.Fields[0].Children) != 2 || s.Fields[0].Blob() != format.BlobV2 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestSchemaRefuses(t *testing.T) {
	leaf := func(name string, id, parent int32) *filepb.Field {
		return &filepb.Field{Name: name, Id: id, ParentId: parent, LogicalType: "struct"}
	}
	deep := []*filepb.Field{leaf("a", 0, -1)}
	for i := range int32(100) {
		deep = append(deep, leaf("a", i+1, i))
	}
	for what, fields := range map[string][]*filepb.Field{
		"negative id":         {leaf("a", -1, -1)},
		"id twice":            {leaf("a", 1, -1), leaf("b", 1, -1)},
		"own parent":          {leaf("a", 0, 0)},
		"parent after":        {leaf("a", 0, 1), leaf("b", 1, -1)},
		"parent left at zero": {leaf("a", 1, 0)},
		"a hundred levels":    deep,
	} {
		if _, err := format.SchemaFromProto(fields, nil); !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestSchemaOf: the schema of a new table gives back the Arrow schema that it was
// made of, and knows its key.
func TestSchemaOf(t *testing.T) {
	p := arrow.PrimitiveTypes
	pair := arrow.StructOf(arrow.Field{Name: "a", Type: p.Int32}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true})
	item := func(t arrow.DataType) arrow.Field { return arrow.Field{Name: "item", Type: t, Nullable: true} }
	md := arrow.NewMetadata([]string{"made by"}, []string{"a test"})
	want := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.BinaryTypes.String, Metadata: arrow.NewMetadata([]string{format.MetaPrimaryKey}, []string{"true"})},
		{Name: "pairs", Type: arrow.ListOfField(item(pair)), Nullable: true},
		{Name: "lists", Type: arrow.LargeListOfField(item(arrow.ListOfField(item(p.Float64))))},
		{Name: "map", Type: arrow.MapOf(arrow.BinaryTypes.String, p.Int64), Nullable: true},
		{Name: "vectors", Type: arrow.FixedSizeListOfField(2, item(pair)), Nullable: true},
		{Name: "last", Type: arrow.FixedWidthTypes.Boolean},
	}, &md)
	s := format.SchemaOf(want)
	for i, id := range s.IDs() {
		if int(id) != i {
			t.Errorf("ids are %v, expected depth-first order from 0", s.IDs())
			break
		}
	}
	if key := s.PrimaryKey(); len(key) != 1 || key[0].Name != "id" {
		t.Errorf("the key is %v", key)
	}
	fields, meta := s.Proto()
	again, err := format.SchemaFromProto(fields, meta)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*format.Schema{s, again} {
		got, err := s.Arrow()
		if err != nil || !got.Equal(want) || got.Metadata().Len() != 1 {
			t.Errorf("gives back %v, %v\nof %v", got, err, want)
		}
	}
}
