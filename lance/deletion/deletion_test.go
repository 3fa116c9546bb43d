package deletion_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// arrowFile writes an Arrow file with the batches of one column of offsets.
func arrowFile(t testing.TB, schema *arrow.Schema, batches [][]uint32, opts ...ipc.Option) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&out, append(opts, ipc.WithSchema(schema))...)
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range batches {
		b := array.NewUint32Builder(memory.DefaultAllocator)
		b.AppendValues(values, nil)
		cols := make([]arrow.Array, schema.NumFields())
		for i := range cols {
			cols[i] = b.NewUint32Array()
			b.AppendValues(values, nil)
		}
		if err := w.Write(array.NewRecordBatch(schema, cols, int64(len(values)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func field(name string, t arrow.DataType, nullable bool) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: nullable}
}

var strict = arrow.NewSchema([]arrow.Field{field("row_id", arrow.PrimitiveTypes.Uint32, false)}, nil)

func binFile(t testing.TB, values []uint32, runs bool) []byte {
	t.Helper()
	bits := roaring.BitmapOf(values...)
	if runs {
		bits.RunOptimize()
	}
	b, err := bits.ToBytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecodeBothForms(t *testing.T) {
	values := []uint32{70000, 3, 0, 4999, 5}
	for name, decode := range map[string]func() (*deletion.Set, error){
		"arrow": func() (*deletion.Set, error) {
			return deletion.DecodeArrow(arrowFile(t, strict, [][]uint32{values}), 70001)
		},
		"arrow, zstd": func() (*deletion.Set, error) {
			return deletion.DecodeArrow(arrowFile(t, strict, [][]uint32{values}, ipc.WithZstd()), 70001)
		},
		"bin":       func() (*deletion.Set, error) { return deletion.DecodeBitmap(binFile(t, values, false), 70001) },
		"bin, runs": func() (*deletion.Set, error) { return deletion.DecodeBitmap(binFile(t, values, true), 0) },
	} {
		s, err := decode()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Len() != 5 || !s.Contains(4999) || s.Contains(4) || s.Before(5) != 2 || s.Before(0) != 0 {
			t.Errorf("%s: len %d, before 5 %d", name, s.Len(), s.Before(5))
		}
		var live []uint64
		for from, to := range s.Live(1, 7) {
			live = append(live, from, to)
		}
		if want := []uint64{1, 3, 4, 5, 6, 7}; !slices.Equal(live, want) {
			t.Errorf("%s: live %v, want %v", name, live, want)
		}
	}
}

// The bytes of lance-table.md §11.2: offsets 0..4999.
func TestDecodeRealBitmapHead(t *testing.T) {
	head, err := hex.DecodeString("3a300000010000000000871310000000")
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.Repeat([]byte{0xff}, 625)
	file := append(head, append(body, make([]byte, 8192-625)...)...)
	s, err := deletion.DecodeBitmap(file, 5000)
	if err != nil || s.Len() != 5000 || !s.Contains(4999) || s.Contains(5000) {
		t.Fatalf("%v, %d offsets", err, s.Len())
	}
}

func TestDecodeRefuses(t *testing.T) {
	u32 := arrow.PrimitiveTypes.Uint32
	md := arrow.NewMetadata([]string{"a"}, []string{"b"})
	good := arrowFile(t, strict, [][]uint32{{1, 2}})
	for name, b := range map[string][]byte{
		"other name":      arrowFile(t, arrow.NewSchema([]arrow.Field{field("row", u32, false)}, nil), [][]uint32{{1}}),
		"nullable":        arrowFile(t, arrow.NewSchema([]arrow.Field{field("row_id", u32, true)}, nil), [][]uint32{{1}}),
		"two columns":     arrowFile(t, arrow.NewSchema([]arrow.Field{field("row_id", u32, false), field("b", u32, false)}, nil), [][]uint32{{1}}),
		"schema metadata": arrowFile(t, arrow.NewSchema(strict.Fields(), &md), [][]uint32{{1}}),
		"two batches":     arrowFile(t, strict, [][]uint32{{1}, {2}}),
		"no batch":        arrowFile(t, strict, nil),
		"twice":           arrowFile(t, strict, [][]uint32{{1, 1}}),
		"out of bounds":   arrowFile(t, strict, [][]uint32{{10}}),
		"empty":           {},
		"half":            good[:len(good)/2],
	} {
		if _, err := deletion.DecodeArrow(b, 10); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("arrow, %s: error %v, want one that wraps ErrCorrupt", name, err)
		}
	}
	bin := binFile(t, []uint32{1, 2}, false)
	for name, b := range map[string][]byte{
		"out of bounds": binFile(t, []uint32{10}, false),
		"empty":         {},
		"half":          bin[:len(bin)/2],
		"longer":        append(slices.Clone(bin), 0),
	} {
		if _, err := deletion.DecodeBitmap(b, 10); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("bin, %s: error %v, want one that wraps ErrCorrupt", name, err)
		}
	}
}

func TestNilSetIsEmpty(t *testing.T) {
	var s *deletion.Set
	n := 0
	for from, to := range s.Live(2, 9) {
		if n++; from != 2 || to != 9 {
			t.Errorf("live %d..%d, want 2..9", from, to)
		}
	}
	if n != 1 || s.Len() != 0 || s.Contains(0) || s.Before(7) != 0 {
		t.Errorf("a nil set is not empty: %d runs", n)
	}
}

func TestLiveModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfDistinct(rapid.Uint32Range(0, 300), rapid.ID).Draw(t, "deleted")
		bits, err := roaring.BitmapOf(values...).ToBytes()
		if err != nil {
			t.Fatal(err)
		}
		s, err := deletion.DecodeBitmap(bits, 301)
		if err != nil {
			t.Fatal(err)
		}
		from := rapid.Uint64Range(0, 301).Draw(t, "from")
		to := rapid.Uint64Range(from, 301).Draw(t, "to")
		var got, want []uint64
		for a, b := range s.Live(from, to) {
			for ; a < b; a++ {
				got = append(got, a)
			}
		}
		for x := from; x < to; x++ {
			if !slices.Contains(values, uint32(x)) {
				want = append(want, x)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("live of %d..%d without %v: %v", from, to, values, got)
		}
	})
}

// TestEveryByteFlipped: an error or a value, never a panic.
func TestEveryByteFlipped(t *testing.T) {
	values := []uint32{70000, 3, 0, 4999, 5}
	arrow, bin := arrowFile(t, strict, [][]uint32{values}, ipc.WithZstd()), binFile(t, values, false)
	for i := range arrow {
		for _, x := range []byte{1, 0x80, 0xff} {
			arrow[i] ^= x
			check(t, deletion.DecodeArrow, arrow)
			arrow[i] ^= x
		}
	}
	for i := range bin {
		for _, x := range []byte{1, 0x80, 0xff} {
			bin[i] ^= x
			check(t, deletion.DecodeBitmap, bin)
			bin[i] ^= x
		}
	}
}

func check(t *testing.T, decode func([]byte, uint64) (*deletion.Set, error), b []byte) {
	t.Helper()
	s, err := decode(b, 70001)
	if err != nil && !errors.Is(err, corrupt.ErrCorrupt) {
		t.Fatal(err)
	}
	if err == nil {
		s.Contains(3)
		for range s.Live(0, 70001) {
		}
	}
}

func FuzzDecodeArrow(f *testing.F) {
	f.Add(arrowFile(f, strict, [][]uint32{{1, 2, 70000}}))
	f.Add(arrowFile(f, strict, [][]uint32{{1, 2, 70000}}, ipc.WithZstd()))
	f.Fuzz(func(t *testing.T, b []byte) { check(t, deletion.DecodeArrow, b) })
}

func FuzzDecodeBitmap(f *testing.F) {
	f.Add(binFile(f, []uint32{1, 2, 70000}, false))
	f.Add(binFile(f, []uint32{1, 2, 3, 4, 5, 6, 7, 8}, true))
	f.Fuzz(func(t *testing.T, b []byte) { check(t, deletion.DecodeBitmap, b) })
}

// TestRealFiles reads every deletion file of a graph that another program
// wrote, and compares it with the general reader of the format.
func TestRealFiles(t *testing.T) {
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for key, b := range files {
		if !strings.Contains(key, "_deletions/") {
			continue
		}
		seen++
		s, err := deletion.DecodeArrow(b, 0)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		want := general(t, b)
		if s.Len() != uint64(len(want)) {
			t.Errorf("%s: %d offsets, want %d", key, s.Len(), len(want))
		}
		for _, x := range want {
			if !s.Contains(x) {
				t.Errorf("%s: %d is missing", key, x)
			}
		}
	}
	if seen == 0 {
		t.Error("no deletion file in the graph")
	}
	t.Logf("%d deletion files", seen)
}

func general(t *testing.T, b []byte) []uint32 {
	t.Helper()
	r, err := ipc.NewMappedFileReader(b)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, err := r.RecordBatchAt(0)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	return slices.Clone(rec.Column(0).(*array.Uint32).Uint32Values())
}
