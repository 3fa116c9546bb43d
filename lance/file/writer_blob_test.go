package file

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/format"
)

// blobSchema is an id and a blob column, as in a manifest.
func blobSchema(meta map[string]string) []*format.Field {
	all := map[string]string{format.MetaExtensionName: format.ExtBlobV2, format.MetaExtensionMetadata: ""}
	for k, v := range meta {
		all[k] = v
	}
	blob := &format.Field{ID: 1, ParentID: -1, Name: "b", LogicalType: "struct", Nullable: true, Metadata: all}
	for i, c := range []struct{ name, kind string }{{"data", "large_binary"}, {"uri", "string"}, {"position", "uint64"}, {"size", "uint64"}} {
		blob.Children = append(blob.Children, &format.Field{ID: int32(2 + i), ParentID: 1, Name: c.name, LogicalType: c.kind, Nullable: true})
	}
	return []*format.Field{{ID: 0, ParentID: -1, Name: "id", LogicalType: "int32"}, blob}
}

// payload is a value of a blob column: nil is null, a uri begins with "uri:".
type payload []byte

// blobRecord is the rows as they are written, and as they are expected.
func blobRecord(rows []payload) (rec, expected arrow.RecordBatch) {
	mem := memory.DefaultAllocator
	in := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int32},
		nullable("b", arrow.StructOf(nullable("data", arrow.BinaryTypes.LargeBinary), nullable("uri", arrow.BinaryTypes.String)))}, nil)
	out := arrow.NewSchema([]arrow.Field{in.Field(0), nullable("b", arrow.BinaryTypes.LargeBinary)}, nil)
	a, b := array.NewRecordBuilder(mem, in), array.NewRecordBuilder(mem, out)
	for i, p := range rows {
		a.Field(0).(*array.Int32Builder).Append(int32(i))
		b.Field(0).(*array.Int32Builder).Append(int32(i))
		s, want := a.Field(1).(*array.StructBuilder), b.Field(1).(*array.BinaryBuilder)
		if p == nil {
			s.AppendNull()
			want.AppendNull()
			continue
		}
		s.Append(true)
		if uri, ok := bytes.CutPrefix(p, []byte("uri:")); ok {
			s.FieldBuilder(0).AppendNull()
			s.FieldBuilder(1).(*array.StringBuilder).Append(string(uri))
			want.Append(bytes.ReplaceAll(uri, []byte(" "), []byte("%20")))
		} else {
			s.FieldBuilder(0).(*array.BinaryBuilder).Append(p)
			s.FieldBuilder(1).AppendNull()
			want.Append(p)
		}
	}
	return a.NewRecordBatch(), b.NewRecordBatch()
}

func noise(n int) payload {
	p := make([]byte, n)
	x := uint32(n) | 1
	for i := range p {
		x = x*1664525 + 1013904223
		p[i] = byte(x >> 24)
	}
	return p
}

// blobCases are payloads around every limit.
func blobCases() map[string]struct {
	rows []payload
	meta map[string]string
} {
	type c = struct {
		rows []payload
		meta map[string]string
	}
	many := []payload{}
	for i := range 700 {
		many = append(many, noise(i%300))
		if i%7 == 0 {
			many = append(many, nil)
		}
	}
	return map[string]c{
		"inline":      {[]payload{noise(10), nil, {}, noise(3000), noise(64<<10 - 1), noise(64 << 10)}, nil},
		"packed":      {[]payload{noise(64<<10 + 1), {}, noise(200 << 10), nil, noise(5)}, nil},
		"dedicated":   {[]payload{noise(4 << 20), noise(4<<20 + 1), nil, noise(70 << 10)}, nil},
		"all null":    {[]payload{nil, nil, nil}, nil},
		"one":         {[]payload{noise(7)}, nil},
		"none":        {nil, nil},
		"many":        {many, nil},
		"limits":      {[]payload{noise(100), noise(101), noise(1000), noise(1001), nil}, map[string]string{metaInline: "100", metaDedicated: "1000"}},
		"rolled":      {[]payload{noise(500), noise(600), noise(700), noise(50)}, map[string]string{metaInline: "100", metaPack: "1200"}},
		"external":    {[]payload{payload("uri:file:///tmp/x y"), noise(9), nil, payload("uri:s3://bucket/key")}, nil},
		"only uris":   {[]payload{payload("uri:file:///a"), payload("uri:file:///b")}, nil},
		"empty, null": {[]payload{{}, nil, {}}, nil},
	}
}

func writeBlobs(t testing.TB, rows []payload, meta map[string]string) (out *Written, expected arrow.RecordBatch) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	rec, expected := blobRecord(rows)
	defer rec.Release()
	w, err := NewWriter(blobSchema(meta), WriteOptions{Allocator: mem})
	if err != nil {
		t.Fatal(err)
	}
	half := rec.NumRows() / 2
	for _, part := range []arrow.RecordBatch{rec.NewSlice(0, half), rec.NewSlice(half, rec.NumRows())} {
		if err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		part.Release()
	}
	if out, err = w.Finish(); err != nil {
		t.Fatal(err)
	}
	if tt, ok := t.(*testing.T); ok {
		mem.AssertSize(tt, 0)
	}
	return out, expected
}

func TestWriteBlobs(t *testing.T) {
	for name, c := range blobCases() {
		out, expected := writeBlobs(t, c.rows, c.meta)
		files := archive{"f.lance": out.Bytes()}
		for _, s := range out.Sidecars {
			files[SidecarPath("f.lance", s.BlobID)] = s.Data
		}
		o := openBytes(t, "f.lance", out.Bytes(), Options{})
		got := scanAll(t, o, ScanOptions{To: -1})
		v := files.blobs("f.lance")
		inner := v.payload
		v.payload = func(s *array.Struct, i int) string {
			if refs, err := BlobRefs(s); err == nil && refs[i].Kind == BlobExternal {
				return fmt.Sprintf("%q", refs[i].URI)
			}
			return inner(s, i)
		}
		diff(t, name, namesOf(expected), v.rows(got), (&viewer{}).rows(expected))
		got.Release()
		if want := map[string]int{"packed": 1, "dedicated": 2, "limits": 2, "rolled": 2}[name]; len(out.Sidecars) != want {
			t.Errorf("%s: %d side-cars, want %d", name, len(out.Sidecars), want)
		}
	}
}

func TestPylanceReadsBlobs(t *testing.T) {
	python(t)
	r := &readback{dir: t.TempDir()}
	for name, c := range blobCases() {
		out, expected := writeBlobs(t, c.rows, c.meta)
		if got := fmt.Sprint(out.Fields, out.Columns); got != "[0 1] [0 1]" {
			t.Errorf("%s: fields and columns %s", name, got)
		}
		if len(c.rows) > 0 {
			r.addDataset(t, name, expected, out, "b")
		}
	}
	r.run(t)
}

// What a blob column cannot be is an error that says so.
func TestBlobRefusals(t *testing.T) {
	rec, _ := blobRecord([]payload{payload("uri:relative/path")})
	w, err := NewWriter(blobSchema(nil), WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); !errors.Is(err, ErrInput) {
		t.Errorf("a relative uri: %v", err)
	}
	if _, err := w.Finish(); !errors.Is(err, ErrInput) {
		t.Errorf("Finish after an error: %v", err)
	}
	first := blobSchema(nil)
	first[1] = &format.Field{ID: 1, ParentID: -1, Name: "b", LogicalType: "large_binary", Metadata: map[string]string{format.MetaBlob: "true"}}
	if _, err := NewWriter(first, WriteOptions{}); !errors.Is(err, format.ErrUnsupported) {
		t.Errorf("blobs of the first form: %v", err)
	}
	w, err = NewWriter(blobSchema(map[string]string{metaInline: "many"}), WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); !errors.Is(err, format.ErrUnsupported) {
		t.Errorf("a limit that is no number: %v", err)
	}
}
