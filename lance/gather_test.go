package lance

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"
)

// gatherTypes are one type of each way in which arrays are stored.
var gatherTypes = []arrow.DataType{
	arrow.Null, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Timestamp_us,
	&arrow.Decimal128Type{Precision: 9, Scale: 2}, &arrow.FixedSizeBinaryType{ByteWidth: 3}, arrow.FixedWidthTypes.Float16,
	arrow.BinaryTypes.String, arrow.BinaryTypes.LargeBinary,
	arrow.ListOf(arrow.BinaryTypes.String), arrow.LargeListOf(arrow.FixedWidthTypes.Boolean), arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32),
	arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, arrow.Field{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int16), Nullable: true}),
	arrow.ListOf(arrow.StructOf(arrow.Field{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true})),
	arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64),
	arrow.FixedSizeListOf(2, arrow.StructOf(arrow.Field{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true})),
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
}

// TestGatherModel compares gathering with joining slices, also of arrays that
// are slices themselves.
func TestGatherModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		typ := rapid.SampledFrom(gatherTypes).Draw(t, "type")
		rows := rapid.IntRange(0, 40).Draw(t, "rows")
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		for range rows {
			fill(t, b)
		}
		whole := b.NewArray()
		from := rapid.IntRange(0, rows).Draw(t, "from")
		c := array.NewSlice(whole, int64(from), int64(rapid.IntRange(from, rows).Draw(t, "to")))
		var runs []span
		slices := []arrow.Array{array.NewSlice(c, 0, 0)}
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			lo := rapid.IntRange(0, c.Len()).Draw(t, "lo")
			hi := rapid.IntRange(lo, c.Len()).Draw(t, "hi")
			runs = append(runs, span{uint64(lo), uint64(hi)})
			slices = append(slices, array.NewSlice(c, int64(lo), int64(hi)))
		}
		want, err := array.Concatenate(slices, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		got, err := gather(c, runs, mem)
		if err != nil {
			t.Fatal(err)
		}
		if got.NullN() != want.NullN() || got.Len() != want.Len() || got.Len() > 0 && !array.Equal(got, want) {
			t.Fatalf("%s: runs %v of %v: %v, want %v", typ, runs, c, got, want)
		}
		got.Release()
		if n := mem.CurrentAlloc(); n != 0 {
			t.Fatalf("%s: %d bytes were not released", typ, n)
		}
	})
}

// fill appends a value or a null.
func fill(t *rapid.T, b array.Builder) {
	if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.ListBuilder:
		b.Append(true)
		several(t, b.ValueBuilder(), 3)
	case *array.LargeListBuilder:
		b.Append(true)
		several(t, b.ValueBuilder(), 3)
	case *array.MapBuilder:
		b.Append(true)
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			b.KeyBuilder().(*array.StringBuilder).Append("k")
			fill(t, b.ItemBuilder())
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range b.Type().(*arrow.FixedSizeListType).Len() {
			fill(t, b.ValueBuilder())
		}
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			fill(t, b.FieldBuilder(i))
		}
	case *array.NullBuilder:
		b.AppendNull()
	default:
		if err := b.AppendValueFromString(text(t, b.Type())); err != nil {
			t.Fatal(err)
		}
	}
}

func several(t *rapid.T, b array.Builder, most int) {
	for range rapid.IntRange(0, most).Draw(t, "items") {
		fill(t, b)
	}
}

// text is a random value of a leaf type as its builder reads it.
func text(t *rapid.T, typ arrow.DataType) string {
	n := rapid.IntRange(0, 99).Draw(t, "value")
	switch typ.ID() {
	case arrow.BOOL:
		return []string{"true", "false"}[n%2]
	case arrow.TIMESTAMP:
		return []string{"2026-01-02 03:04:05Z", "1969-12-31 23:59:59Z"}[n%2]
	case arrow.FIXED_SIZE_BINARY:
		return []string{"YWJj", "eHl6"}[n%2]
	case arrow.LARGE_BINARY:
		return []string{"", "YWJj", "eA=="}[n%3]
	case arrow.STRING, arrow.DICTIONARY:
		return []string{"", "a", "ünï", "longer than others"}[n%4]
	}
	return []string{"0", "1", "77"}[n%3]
}
