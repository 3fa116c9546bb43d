package file

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/lance/format"
)

// pickType chooses a type of at most so many levels of nesting.
func pickType(rng *rand.Rand, depth int) arrow.DataType {
	if depth == 0 || rng.IntN(3) > 0 {
		leaves := leafTypes()
		return leaves[rng.IntN(len(leaves))]
	}
	item := func() arrow.Field {
		t := pickType(rng, depth-1)
		if logical(t) == "timestamp:ns:-" { // for which Python has no value inside others
			t = arrow.PrimitiveTypes.Int64
		}
		return arrow.Field{Name: "item", Type: t, Nullable: t.ID() == arrow.NULL || rng.IntN(3) > 0}
	}
	switch rng.IntN(4) {
	case 0:
		return arrow.LargeListOfField(item())
	case 1:
		return arrow.ListOfField(item())
	case 2:
		return arrow.MapOf(arrow.BinaryTypes.String, pickType(rng, depth-1))
	}
	var fields []arrow.Field
	for i := range 1 + rng.IntN(3) {
		f := item()
		f.Name = fmt.Sprint("f", i)
		fields = append(fields, f)
	}
	return arrow.StructOf(fields...)
}

// randomTable is a random table of a seed, and how it is cut.
func randomTable(seed uint64) (arrow.RecordBatch, WriteOptions, []int64) {
	rng := rand.New(rand.NewPCG(seed, 77))
	var fields []arrow.Field
	for i := range 1 + rng.IntN(4) {
		t := pickType(rng, 3)
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: t, Nullable: t.ID() == arrow.NULL || rng.IntN(3) > 0})
	}
	m := &maker{rng, []float64{0, 0.1, 0.7, 1}[rng.IntN(4)], []int{0, 1, 3, 200}[rng.IntN(4)], []int{3, 40, 600}[rng.IntN(3)], rng.IntN(6)}
	rec := m.record(arrow.NewSchema(fields, nil), []int{1, 2, 30, 150, 1500}[rng.IntN(5)], memory.DefaultAllocator)
	o := WriteOptions{PageBytes: []int64{0, 50, 3000}[rng.IntN(3)], piecesToJoin: 1 + rng.IntN(5), Parallelism: 1 + rng.IntN(3)}
	return rec, o, []int64{1 + rng.Int64N(7), 1 + rng.Int64N(1000)}
}

// seeds are OMNIDECK_TABLES seeds from OMNIDECK_SEED on, or n from 1 on.
func seeds(n int) (out []uint64) {
	first, err := strconv.Atoi(os.Getenv("OMNIDECK_SEED"))
	if err != nil {
		first = 1
	}
	if k, err := strconv.Atoi(os.Getenv("OMNIDECK_TABLES")); err == nil {
		n = k
	}
	for i := range n {
		out = append(out, uint64(first+i))
	}
	return out
}

// TestWriteRandom reads random tables back.
func TestWriteRandom(t *testing.T) {
	for _, seed := range seeds(pace.Of(150, 20)) {
		rec, o, cut := randomTable(seed)
		check(t, rec, writeAll(t, rec, o, cut...))
		if t.Failed() {
			t.Fatalf("of seed %d: %s, cut at %v with %+v", seed, rec.Schema(), cut, o)
		}
		rec.Release()
	}
}

// FuzzWriter reads tables of any seed back.
func FuzzWriter(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rec, o, cut := randomTable(seed)
		defer rec.Release()
		check(t, rec, writeAll(t, rec, o, cut...))
	})
}

// TestPylanceReadsRandom lets pylance read random tables.
func TestPylanceReadsRandom(t *testing.T) {
	python(t)
	r := &readback{dir: t.TempDir()}
	for _, seed := range seeds(60) {
		rec, o, cut := randomTable(seed)
		r.add(t, fmt.Sprint("random ", seed), rec, writeAll(t, rec, o, cut...))
		rec.Release()
	}
	r.run(t)
}

// The same batches make the same bytes, however many pages are encoded at once.
func TestWriteIsDeterministic(t *testing.T) {
	rec := makers(4)["nulls"].record(leafSchema(), 900, memory.DefaultAllocator)
	defer rec.Release()
	first := writeAll(t, rec, WriteOptions{PageBytes: 1000, Parallelism: 1}, 100).Bytes()
	for _, n := range []int{1, 2, 7} {
		if again := writeAll(t, rec, WriteOptions{PageBytes: 1000, Parallelism: n}, 100).Bytes(); string(again) != string(first) {
			t.Errorf("with %d at once the file differs", n)
		}
	}
}

// What does not fit the schema is refused, and nothing is kept.
func TestWriteRefusals(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	field := func(f arrow.Field) *format.Field { return fieldsOf(arrow.NewSchema([]arrow.Field{f}, nil))[0] }
	i32, i64 := arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	person := func(nullable bool) arrow.DataType {
		return arrow.StructOf(arrow.Field{Name: "a", Type: i32, Nullable: nullable})
	}
	for name, c := range map[string]struct{ want, got arrow.Field }{
		"another type":          {nullable("c", i32), nullable("c", i64)},
		"a null":                {arrow.Field{Name: "c", Type: i32}, nullable("c", i32)},
		"another item":          {nullable("c", arrow.ListOf(i32)), nullable("c", arrow.ListOf(i64))},
		"a null item":           {nullable("c", arrow.ListOfField(arrow.Field{Name: "item", Type: i32})), nullable("c", arrow.ListOf(i32))},
		"a null in a struct":    {nullable("c", person(false)), nullable("c", person(true))},
		"another vector":        {nullable("c", arrow.FixedSizeListOf(3, i32)), nullable("c", arrow.FixedSizeListOf(4, i32))},
		"another field's name":  {nullable("c", arrow.StructOf(nullable("b", i32))), nullable("c", person(true))},
		"text for large text":   {nullable("c", arrow.BinaryTypes.LargeString), nullable("c", arrow.BinaryTypes.String)},
		"seconds for thousands": {nullable("c", arrow.FixedWidthTypes.Timestamp_ms), nullable("c", arrow.FixedWidthTypes.Timestamp_s)},
	} {
		w, err := NewWriter([]*format.Field{field(c.want)}, WriteOptions{Allocator: mem})
		if err != nil {
			t.Fatal(err)
		}
		rec := makers(5)["nulls"].record(arrow.NewSchema([]arrow.Field{c.got}, nil), 50, mem)
		err = w.Write(rec)
		if err == nil {
			_, err = w.Finish()
		}
		rec.Release()
		if !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	list := arrow.ListOfField(itemOf(arrow.FixedSizeListOfField(2, itemOf(person(true)))))
	if _, err := NewWriter([]*format.Field{field(nullable("c", list))}, WriteOptions{}); !errors.Is(err, format.ErrUnsupported) {
		t.Errorf("fixed-size lists of structs in lists: %v", err)
	}
	w, err := NewWriter([]*format.Field{field(nullable("c", i32))}, WriteOptions{Allocator: mem})
	if err != nil {
		t.Fatal(err)
	}
	rec := makers(5)["nulls"].record(arrow.NewSchema([]arrow.Field{nullable("c", i32)}, nil), 50, mem)
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	rec.Release()
	w.Abort()
	if err := w.Write(rec); err == nil {
		t.Error("a write after Abort")
	}
}

// More distinct values than the indices of a dictionary column count, from
// batches that have each a dictionary of their own, are refused.
func TestDictionaryOverflow(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	s := arrow.NewSchema([]arrow.Field{nullable("d", dt)}, nil)
	for _, batches := range []int{1, 2} {
		w, err := NewWriter(fieldsOf(s), WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range batches {
			rec := one(s.Field(0), 100, func(b array.Builder, i int) {
				if err := b.(*array.BinaryDictionaryBuilder).AppendString(fmt.Sprint(100*k + i)); err != nil {
					t.Fatal(err)
				}
			})
			if err := w.Write(rec); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Finish(); (batches > 1) != errors.Is(err, format.ErrUnsupported) {
			t.Errorf("%d batches: %v", batches, err)
		}
	}
}
