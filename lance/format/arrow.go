package format

import (
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// simpleTypes are the logical types that are one word.
var simpleTypes = map[string]arrow.DataType{
	"null": arrow.Null, "bool": arrow.FixedWidthTypes.Boolean,
	"int8": arrow.PrimitiveTypes.Int8, "uint8": arrow.PrimitiveTypes.Uint8,
	"int16": arrow.PrimitiveTypes.Int16, "uint16": arrow.PrimitiveTypes.Uint16,
	"int32": arrow.PrimitiveTypes.Int32, "uint32": arrow.PrimitiveTypes.Uint32,
	"int64": arrow.PrimitiveTypes.Int64, "uint64": arrow.PrimitiveTypes.Uint64,
	"halffloat": arrow.FixedWidthTypes.Float16, "float": arrow.PrimitiveTypes.Float32, "double": arrow.PrimitiveTypes.Float64,
	"string": arrow.BinaryTypes.String, "large_string": arrow.BinaryTypes.LargeString,
	"binary": arrow.BinaryTypes.Binary, "large_binary": arrow.BinaryTypes.LargeBinary,
	"json":       arrow.BinaryTypes.LargeBinary,
	"date32:day": arrow.FixedWidthTypes.Date32, "date64:ms": arrow.FixedWidthTypes.Date64,
}

// maxTypeText bounds a logical type: the longest that Lance writes, a
// timestamp in a dictionary in a vector, has fewer than a hundred characters.
const maxTypeText = 1024

// blobV1Type and blobV2Type are what a scan returns for a blob column: where
// the payload is.
var (
	blobV1Type = arrow.StructOf(
		arrow.Field{Name: "position", Type: arrow.PrimitiveTypes.Uint64},
		arrow.Field{Name: "size", Type: arrow.PrimitiveTypes.Uint64},
	)
	blobV2Type = arrow.StructOf(
		arrow.Field{Name: "kind", Type: arrow.PrimitiveTypes.Uint8},
		arrow.Field{Name: "position", Type: arrow.PrimitiveTypes.Uint64},
		arrow.Field{Name: "size", Type: arrow.PrimitiveTypes.Uint64},
		arrow.Field{Name: "blob_id", Type: arrow.PrimitiveTypes.Uint32},
		arrow.Field{Name: "blob_uri", Type: arrow.BinaryTypes.String},
	)
)

// Arrow is the schema of scanned data.
func (s *Schema) Arrow() (*arrow.Schema, error) {
	fields := make([]arrow.Field, len(s.Fields))
	for i, f := range s.Fields {
		var err error
		if fields[i], err = f.ArrowField(); err != nil {
			return nil, err
		}
	}
	md := arrowMetadata(s.Metadata)
	return arrow.NewSchema(fields, &md), nil
}

// ArrowField is the Arrow field of scanned data, metadata included; a blob
// column is the struct of its descriptor. An unknown logical type is an error
// wrapping ErrUnsupported, a malformed one wraps ErrCorrupt.
func (f *Field) ArrowField() (arrow.Field, error) {
	t, err := f.arrowType()
	if err != nil {
		return arrow.Field{}, err
	}
	return arrow.Field{Name: f.Name, Type: t, Nullable: f.Nullable, Metadata: arrowMetadata(f.Metadata)}, nil
}

func (f *Field) arrowType() (arrow.DataType, error) {
	if len(f.LogicalType) > maxTypeText {
		return nil, Corruptf("field %q has a logical type of %d characters", f.Name, len(f.LogicalType))
	}
	switch f.Blob() {
	case BlobV1:
		return blobV1Type, nil
	case BlobV2:
		return blobV2Type, nil
	}
	switch f.LogicalType {
	case "struct":
		return f.structType()
	case "list", "list.struct", "large_list", "large_list.struct", "map":
		return f.listType()
	}
	if rest, ok := strings.CutPrefix(f.LogicalType, "fixed_size_list:"); ok {
		item, n, err := f.lastNumber(rest)
		if err != nil {
			return nil, err
		}
		if item == "struct" {
			child, err := f.onlyChild()
			if err != nil {
				return nil, err
			}
			return arrow.FixedSizeListOfField(n, child), nil
		}
		t, err := f.leafType(item)
		if err != nil {
			return nil, err
		}
		return arrow.FixedSizeListOfField(n, arrow.Field{Name: "item", Type: t, Nullable: true}), nil
	}
	return f.leafType(f.LogicalType)
}

func (f *Field) structType() (arrow.DataType, error) {
	fields := make([]arrow.Field, len(f.Children))
	for i, c := range f.Children {
		var err error
		if fields[i], err = c.ArrowField(); err != nil {
			return nil, err
		}
	}
	return arrow.StructOf(fields...), nil
}

func (f *Field) listType() (arrow.DataType, error) {
	child, err := f.onlyChild()
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasPrefix(f.LogicalType, "large_list"):
		return arrow.LargeListOfField(child), nil
	case f.LogicalType != "map":
		return arrow.ListOfField(child), nil
	}
	entries, ok := child.Type.(*arrow.StructType)
	if !ok || entries.NumFields() != 2 {
		return nil, Corruptf("map %q: its entries are %s, not a struct of key and value", f.Name, child.Type)
	}
	key, value := entries.Field(0), entries.Field(1)
	key.Nullable = false
	m := arrow.MapOfFields(key, value)
	return m, nil
}

func (f *Field) onlyChild() (arrow.Field, error) {
	if len(f.Children) != 1 {
		return arrow.Field{}, Corruptf("field %q of type %q has %d children, not 1", f.Name, f.LogicalType, len(f.Children))
	}
	return f.Children[0].ArrowField()
}

// leafType is the type of text without children. It recurses only over the
// text, which gets shorter.
func (f *Field) leafType(text string) (arrow.DataType, error) {
	if t, ok := simpleTypes[text]; ok {
		return t, nil
	}
	head, rest, _ := strings.Cut(text, ":")
	switch head {
	case "timestamp":
		return f.timestamp(rest)
	case "time32", "time64", "duration":
		return f.timeType(head, rest)
	case "decimal":
		return f.decimal(rest)
	case "fixed_size_binary":
		_, n, err := f.lastNumber(":" + rest)
		if err != nil {
			return nil, err
		}
		return &arrow.FixedSizeBinaryType{ByteWidth: int(n)}, nil
	case "fixed_size_list":
		item, n, err := f.lastNumber(rest)
		if err != nil {
			return nil, err
		}
		t, err := f.leafType(item)
		if err != nil {
			return nil, err
		}
		return arrow.FixedSizeListOfField(n, arrow.Field{Name: "item", Type: t, Nullable: true}), nil
	case "dict":
		return f.dictionary(rest)
	}
	return nil, Unsupportedf("field %q has the logical type %q, which this program does not know", f.Name, f.LogicalType)
}

// lastNumber splits "inner:n".
func (f *Field) lastNumber(text string) (inner string, n int32, err error) {
	i := strings.LastIndexByte(text, ':')
	v, err := strconv.ParseInt(text[i+1:], 10, 32)
	if i < 0 || err != nil || v < 0 {
		return "", 0, Corruptf("field %q: no size at the end of the logical type %q", f.Name, f.LogicalType)
	}
	return text[:i], int32(v), nil
}

var timeUnits = map[string]arrow.TimeUnit{"s": arrow.Second, "ms": arrow.Millisecond, "us": arrow.Microsecond, "ns": arrow.Nanosecond}

func (f *Field) timestamp(rest string) (arrow.DataType, error) {
	unit, zone, _ := strings.Cut(rest, ":")
	u, ok := timeUnits[unit]
	if !ok {
		return nil, Corruptf("field %q: no time unit in the logical type %q", f.Name, f.LogicalType)
	}
	if zone == "-" {
		zone = ""
	}
	return &arrow.TimestampType{Unit: u, TimeZone: zone}, nil
}

func (f *Field) timeType(head, unit string) (arrow.DataType, error) {
	u, ok := timeUnits[unit]
	fine := u == arrow.Microsecond || u == arrow.Nanosecond
	if !ok || head == "time32" && fine || head == "time64" && !fine {
		return nil, Corruptf("field %q: the logical type %q has a wrong time unit", f.Name, f.LogicalType)
	}
	switch {
	case head == "duration":
		return &arrow.DurationType{Unit: u}, nil
	case fine:
		return &arrow.Time64Type{Unit: u}, nil
	}
	return &arrow.Time32Type{Unit: u}, nil
}

func (f *Field) decimal(rest string) (arrow.DataType, error) {
	parts := strings.Split(rest, ":")
	if len(parts) == 3 {
		p, errP := strconv.ParseInt(parts[1], 10, 8)
		s, errS := strconv.ParseInt(parts[2], 10, 8)
		limit := map[string]int64{"128": 38, "256": 76}[parts[0]]
		if errP == nil && errS == nil && p >= 1 && p <= limit {
			if limit == 38 {
				return &arrow.Decimal128Type{Precision: int32(p), Scale: int32(s)}, nil
			}
			return &arrow.Decimal256Type{Precision: int32(p), Scale: int32(s)}, nil
		}
	}
	return nil, Corruptf("field %q: %q is no decimal type", f.Name, f.LogicalType)
}

// dictionary reads "value:index:ordered"; the value type may hold colons.
func (f *Field) dictionary(rest string) (arrow.DataType, error) {
	parts := strings.Split(rest, ":")
	if n := len(parts); n >= 3 {
		value, err := f.leafType(strings.Join(parts[:n-2], ":"))
		if err != nil {
			return nil, err
		}
		if index, ok := simpleTypes[parts[n-2]]; ok && arrow.IsInteger(index.ID()) {
			return &arrow.DictionaryType{IndexType: index, ValueType: value, Ordered: parts[n-1] == "true"}, nil
		}
	}
	return nil, Corruptf("field %q: %q is no dictionary type", f.Name, f.LogicalType)
}

// arrowMetadata sorts the keys, so that schemas compare and print alike.
func arrowMetadata(m map[string]string) arrow.Metadata {
	if len(m) == 0 {
		return arrow.Metadata{}
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	values := make([]string, len(keys))
	for i, k := range keys {
		values[i] = m[k]
	}
	return arrow.NewMetadata(keys, values)
}
