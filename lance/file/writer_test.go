package file

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/internal/pace"
)

func nullable(name string, t arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true}
}

func itemOf(t arrow.DataType) arrow.Field { return nullable("item", t) }

// leafTypes is every type that is one column.
func leafTypes() []arrow.DataType {
	p := arrow.PrimitiveTypes
	return []arrow.DataType{
		arrow.Null, arrow.FixedWidthTypes.Boolean, p.Int8, p.Uint8, p.Int16, p.Uint16, p.Int32, p.Uint32, p.Int64, p.Uint64,
		arrow.FixedWidthTypes.Float16, p.Float32, p.Float64, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64,
		arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Timestamp_us, &arrow.TimestampType{Unit: arrow.Nanosecond},
		arrow.FixedWidthTypes.Duration_ms, &arrow.Decimal128Type{Precision: 38, Scale: 2}, &arrow.Decimal256Type{Precision: 60, Scale: 2},
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary,
		&arrow.FixedSizeBinaryType{ByteWidth: 3}, &arrow.FixedSizeBinaryType{ByteWidth: 16}, &arrow.FixedSizeBinaryType{ByteWidth: 300},
		arrow.FixedSizeListOfField(4, itemOf(p.Float32)), arrow.FixedSizeListOfField(70, itemOf(p.Float32)),
		arrow.FixedSizeListOfField(5, itemOf(arrow.FixedWidthTypes.Boolean)),
		arrow.FixedSizeListOfField(3, itemOf(arrow.FixedSizeListOfField(2, itemOf(p.Int16)))),
		&arrow.DictionaryType{IndexType: p.Int8, ValueType: arrow.BinaryTypes.String},
		&arrow.DictionaryType{IndexType: p.Uint32, ValueType: arrow.BinaryTypes.String},
	}
}

// leafSchema has a column of every leaf type, each nullable and not.
func leafSchema() *arrow.Schema {
	var fields []arrow.Field
	for _, t := range leafTypes() {
		name := logical(t)
		fields = append(fields, nullable(name+"?", t))
		if t.ID() != arrow.NULL {
			fields = append(fields, arrow.Field{Name: name, Type: t})
		}
	}
	return arrow.NewSchema(fields, nil)
}

// nestedSchema has columns of lists, structs and maps in one another.
func nestedSchema() *arrow.Schema {
	p := arrow.PrimitiveTypes
	person := arrow.StructOf(nullable("a", p.Int32), nullable("b", arrow.BinaryTypes.String), arrow.Field{Name: "c", Type: p.Int64})
	return arrow.NewSchema([]arrow.Field{
		nullable("list", arrow.ListOfField(itemOf(p.Int32))),
		{Name: "tags", Type: arrow.ListOfField(itemOf(arrow.BinaryTypes.String))},
		nullable("large", arrow.LargeListOfField(itemOf(p.Float64))),
		nullable("lists", arrow.ListOfField(itemOf(arrow.ListOfField(itemOf(p.Int8))))),
		nullable("struct", person),
		nullable("people", arrow.ListOfField(itemOf(person))),
		nullable("deep", arrow.StructOf(nullable("x", p.Int16), nullable("l", arrow.ListOfField(itemOf(arrow.StructOf(nullable("y", arrow.ListOfField(itemOf(p.Uint8))))))))),
		nullable("map", arrow.MapOf(arrow.BinaryTypes.String, p.Int32)),
		nullable("vecs", arrow.ListOfField(itemOf(arrow.FixedSizeListOfField(70, itemOf(p.Float32))))),
		nullable("bools", arrow.ListOfField(itemOf(arrow.FixedWidthTypes.Boolean))),
		nullable("nulls", arrow.ListOfField(itemOf(arrow.Null))),
	}, nil)
}

// fixedSchema has fixed-size lists of structs, which pylance reads only with
// their like: their pages count items.
func fixedSchema() *arrow.Schema {
	p := arrow.PrimitiveTypes
	pair := arrow.StructOf(nullable("p", p.Float32), nullable("q", arrow.BinaryTypes.String))
	return arrow.NewSchema([]arrow.Field{
		nullable("fixed", arrow.FixedSizeListOfField(2, itemOf(pair))),
		nullable("inside", arrow.StructOf(nullable("f", arrow.FixedSizeListOfField(2, itemOf(arrow.StructOf(nullable("n", p.Int64))))))),
	}, nil)
}

// schemas are those of all tests.
func schemas() map[string]*arrow.Schema {
	return map[string]*arrow.Schema{"leaves": leafSchema(), "nested": nestedSchema(), "fixed": fixedSchema()}
}

// check reads a file back, all of it, in ranges and by rows.
func check(t testing.TB, rec arrow.RecordBatch, out *Written) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	o := openBytes(t, "written", out.Bytes(), Options{Allocator: mem})
	v, names := &viewer{}, namesOf(rec)
	want := v.rows(rec)
	n := rec.NumRows()
	if o.r.NumRows() != n || out.Rows != n || out.Size != int64(len(out.Bytes())) {
		t.Fatalf("%d rows in the file, %d said, want %d", o.r.NumRows(), out.Rows, n)
	}
	got := scanAll(t, o, ScanOptions{To: -1})
	diff(t, "scan", names, v.rows(got), want)
	got.Release()
	if n == 0 {
		return
	}
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	from := rng.Int64N(n)
	to := from + 1 + rng.Int64N(n-from)
	got = scanAll(t, o, ScanOptions{From: from, To: to, BatchRows: 100})
	diff(t, "range", names, v.rows(got), slice(want, from, to))
	got.Release()
	idx := []int64{0, n - 1, from, rng.Int64N(n)}
	b, err := o.r.Take(t.Context(), o.cols, idx)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "take", names, v.rows(b), pick(want, idx))
	b.Release()
	if tt, ok := t.(*testing.T); ok {
		mem.AssertSize(tt, 0)
	}
}

// makers are the kinds of values that are tested.
func makers(seed uint64) map[string]*maker {
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }
	return map[string]*maker{
		"valid":     {rng(), 0, 0, 30, 4},
		"nulls":     {rng(), 0.2, 0, 30, 4},
		"few":       {rng(), 0.1, 7, 10, 3},
		"one":       {rng(), 0.3, 1, 0, 2},
		"all null":  {rng(), 1, 0, 3, 3},
		"no items":  {rng(), 0.5, 0, 3, 0},
		"long text": {rng(), 0.1, 0, 700, 5},
	}
}

func TestWriteAll(t *testing.T) {
	for kind, m := range makers(1) {
		sizes := []int{0, 1, 3, 100}
		if kind == "valid" || kind == "nulls" {
			sizes = append(sizes, 1023, 1024, 1025)
		}
		for _, n := range pace.Every(t, 2, sizes) {
			all := schemas()
			for _, name := range slices.Sorted(maps.Keys(all)) { // the values are drawn in this order
				schema := all[name]
				mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
				rec := m.record(schema, n, mem)
				out := writeAll(t, rec, WriteOptions{Allocator: mem})
				t.Logf("%s, %s, %d rows: %d bytes", kind, name, n, out.Size)
				check(t, rec, out)
				rec.Release()
				mem.AssertSize(t, 0)
				if t.Failed() {
					t.FailNow()
				}
			}
		}
	}
}
