package v20

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// builder makes fields from a schema and a container's columns, in order.
type builder struct {
	t    testing.TB
	c    container
	next int
}

func (b *builder) field(f arrow.Field) *Field {
	out := &Field{Type: f.Type, Kind: Leaf}
	out.Pages = b.pages(b.next)
	b.next++
	metadata := func(key string) bool {
		v, ok := f.Metadata.GetValue(key)
		return ok && v == "true"
	}
	switch t := f.Type.(type) {
	case *arrow.StructType:
		if metadata("lance-encoding:packed") {
			out.Kind = Packed
			return out
		}
		out.Kind = Struct
		for _, child := range t.Fields() {
			out.Children = append(out.Children, b.field(child))
		}
	case *arrow.ListType:
		out.Kind = List
		out.Children = []*Field{b.field(t.ElemField())}
	case *arrow.LargeListType:
		out.Kind = List
		out.Children = []*Field{b.field(t.ElemField())}
	case *arrow.LargeBinaryType:
		if metadata("lance-encoding:blob") {
			out.Type, out.Kind = BlobType, Blob
		}
	}
	return out
}

func (b *builder) pages(column int) []Page {
	var pages []Page
	for _, page := range b.c.columns[column].GetPages() {
		pages = append(pages, Page{
			Rows:     int64(page.GetLength()),
			Encoding: pageEncoding(b.t, page),
			Load:     func() (Buffers, error) { return Buffers{Page: b.c.pageBuffers(page)}, nil },
		})
	}
	return pages
}

// fixture is a case: its fields in order, and what they must read as.
type fixture struct {
	file   container
	fields []*Field
	want   arrow.Table
}

func fixtures(t testing.TB) map[string]fixture {
	files := fixtureFiles(t)
	cases := map[string]fixture{}
	for name, data := range files {
		if !strings.HasSuffix(name, ".lance") {
			continue
		}
		dir := strings.SplitN(name, "/data", 2)[0]
		cases[path.Base(dir)] = newFixture(t, dir, data, files[path.Join(dir, "expected.arrow")])
	}
	if len(cases) != 22 {
		t.Fatalf("%d cases of 2.0, want 22", len(cases))
	}
	return cases
}

func newFixture(t testing.TB, name string, data, rows []byte) fixture {
	t.Helper()
	f := fixture{file: readContainer(t, data), want: readTable(t, rows)}
	b := &builder{t: t, c: f.file}
	for _, column := range f.want.Schema().Fields() {
		column.Metadata = fileMetadata(f.file, column.Name)
		f.fields = append(f.fields, b.field(column))
	}
	if b.next != len(f.file.columns) {
		t.Fatalf("%s: %d of %d columns are of a field", name, b.next, len(f.file.columns))
	}
	return f
}

// fileMetadata is the metadata that the file's own schema has for a root field.
func fileMetadata(c container, name string) arrow.Metadata {
	values := map[string]string{}
	for _, f := range c.schema.GetSchema().GetFields() {
		if f.GetParentId() == -1 && f.GetName() == name {
			for k, v := range f.GetMetadata() {
				values[k] = string(v)
			}
		}
	}
	return arrow.MetadataFrom(values)
}

func readTable(t testing.TB, data []byte) arrow.Table {
	t.Helper()
	r, err := ipc.NewFileReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var records []arrow.RecordBatch
	for i := range r.NumRecords() {
		record, err := r.RecordBatchAt(i)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	return array.NewTableFromRecords(r.Schema(), records)
}

// column is rows of a column of the expected table as one array.
func (f fixture) column(t testing.TB, i int) arrow.Array {
	t.Helper()
	chunks := f.want.Column(i).Data().Chunks()
	if len(chunks) == 0 {
		return array.MakeArrayOfNull(memory.DefaultAllocator, f.want.Schema().Field(i).Type, 0)
	}
	whole, err := array.Concatenate(chunks, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// same compares rows as text: dictionaries by value, blobs by payload, and
// types only where both show them.
func (f fixture) same(got, want arrow.Array, blob bool) (row int, a, b string) {
	for i := range want.Len() {
		a, b := got.ValueStr(i), want.ValueStr(i)
		if blob && !got.IsNull(i) {
			st := got.(*array.Struct)
			at := st.Field(0).(*array.Uint64).Value(i)
			a = payload(f.file.data[at : at+st.Field(1).(*array.Uint64).Value(i)])
		}
		if got.IsNull(i) != want.IsNull(i) || a != b {
			return i, a, b
		}
	}
	return -1, "", ""
}

// payload is a binary value as ValueStr gives it.
func payload(value []byte) string {
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.LargeBinary)
	defer b.Release()
	b.Append(value)
	a := b.NewArray()
	defer a.Release()
	return a.ValueStr(0)
}

// Every case reads as pylance read it: whole, and in random ranges.
func TestFixtures(t *testing.T) {
	for name, f := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, 7))
			for i := range f.fields {
				testRanges(t, f, i, f.column(t, i), random, 20)
			}
		})
	}
}

// testRanges reads all rows of a column, no rows, and n random ranges.
func testRanges(t *testing.T, f fixture, column int, want arrow.Array, random *rand.Rand, n int) {
	t.Helper()
	rows := int64(want.Len())
	ranges := [][2]int64{{0, rows}, {0, 0}, {rows, rows}}
	for range n {
		a, b := random.Int64N(rows+1), random.Int64N(rows+1)
		ranges = append(ranges, [2]int64{min(a, b), max(a, b)})
	}
	field := f.fields[column]
	for _, r := range ranges {
		got, err := Read(field, r[0], r[1])
		if err != nil {
			t.Fatalf("column %d, rows %v: %v", column, r, err)
		}
		part := array.NewSlice(want, r[0], r[1])
		if got.Len() != part.Len() {
			t.Fatalf("column %d, rows %v: %d rows", column, r, got.Len())
		}
		if row, a, b := f.same(got, part, field.Kind == Blob); row >= 0 {
			t.Fatalf("column %d, rows %v, row %d: %s, want %s", column, r, row, a, b)
		}
	}
	for _, r := range [][2]int64{{0, rows + 1}, {-1, 0}, {1, 0}} {
		if _, err := Read(field, r[0], r[1]); err == nil {
			t.Errorf("column %d, rows %v: no error", column, r)
		}
	}
}

// The file of testdata has what the shared cases lack: several pages of lists
// and of lists in lists, and strings under FSST, zstd and lz4.
func TestManyPages(t *testing.T) {
	f := manyPages(t)
	random := rand.New(rand.NewPCG(8, 8))
	for i, field := range f.fields {
		if len(field.Pages) < 2 {
			t.Errorf("column %d has %d pages", i, len(field.Pages))
		}
		want := f.column(t, i)
		testRanges(t, f, i, want, random, 60)
	}
}

func manyPages(t testing.TB) fixture {
	t.Helper()
	data, err := os.ReadFile("testdata/many.lance")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := os.ReadFile("testdata/many.arrow")
	if err != nil {
		t.Fatal(err)
	}
	return newFixture(t, "many", data, rows)
}
