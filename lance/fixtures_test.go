package lance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
)

// fixture is one case of make_lance_fixtures.py.
type fixture struct {
	Case     string `json:"case"`
	Version  string `json:"version"`
	Kind     string `json:"kind"`
	Rows     int    `json:"rows"`
	Dataset  string `json:"dataset"`
	Expected string `json:"expected"`
}

// TestFixtures reads every dataset of the shared fixtures: whole, in ranges,
// by address and by row id, blobs with their payloads. (Cases of a single
// file have no manifest; package file reads those.)
func TestFixtures(t *testing.T) {
	archive, err := fixtures.Shared("lance", "fixtures.tar.gz")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	files, err := fixtures.Unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Cases []fixture }
	if err := json.Unmarshal(files["lf/index.json"], &index); err != nil {
		t.Fatal(err)
	}
	store := inMemory(t, "fixtures", files)
	datasets, single := 0, 0
	for _, f := range index.Cases {
		if f.Kind != "dataset" {
			single++
			continue
		}
		datasets++
		t.Run(f.Case+"@"+f.Version, func(t *testing.T) {
			checkFixture(t, store, f, arrowTable(t, files["lf/"+f.Expected]))
		})
	}
	t.Logf("%d datasets, %d single files", datasets, single)
	if datasets+single != 189 || datasets < 150 {
		t.Errorf("%d datasets and %d single files, want 189 cases", datasets, single)
	}
}

func checkFixture(t *testing.T, store blob.Store, f fixture, want table) {
	s := open(t, store, "lf/"+f.Dataset, lance.OpenOptions{External: fromDisk})
	if rows, known := s.CountRows(); !known && f.Rows != 0 || int(rows) != f.Rows || want.rows != f.Rows {
		t.Errorf("%d rows, want %d", rows, f.Rows)
	}
	var blobs []string
	for _, field := range s.Schema().Fields {
		if field.Blob() != format.NoBlob && want.rows > 0 && want.cols[field.Name].DataType().ID() == arrow.LARGE_BINARY {
			blobs = append(blobs, field.Name)
		}
	}
	o := lance.ScanOptions{WithRowAddress: true}
	all := withPayload(t, s, blobs, collect(t, s.Scan(t.Context(), o)))
	addrs := numbersOf(t, all, lance.ColRowAddress)
	same(t, "scan", drop(all, lance.ColRowAddress), want)
	if want.rows == 0 {
		return
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 3 {
		from, n := rnd.IntN(want.rows), 1+rnd.IntN(want.rows)
		o := lance.ScanOptions{WithRowAddress: true, Offset: int64(from), Limit: int64(n), BatchRows: 1 + rnd.IntN(300)}
		var rows []int
		for i := from; i < min(from+n, want.rows); i++ {
			rows = append(rows, i)
		}
		part := withPayload(t, s, blobs, collect(t, s.Scan(t.Context(), o)))
		same(t, fmt.Sprintf("%d rows from %d", n, from), drop(part, lance.ColRowAddress), pickRows(t, want, rows))
	}
	for k := range 4 {
		rows := make([]int, 1+rnd.IntN(min(2*want.rows, 200)))
		at := make([]uint64, len(rows))
		for i := range rows {
			rows[i] = rnd.IntN(want.rows)
			at[i] = addrs[rows[i]]
		}
		cols := append(slices.Clone(want.names), lance.ColRowAddress)
		rec, err := s.Take(t.Context(), cols, at)
		if k == 3 {
			rec.Release()
			rec, err = s.TakeRowIDs(t.Context(), cols, idsOf(t, s, at))
		}
		if err != nil {
			t.Fatal(err)
		}
		got := withPayload(t, s, blobs, join(t, []arrow.RecordBatch{rec}))
		same(t, "take", drop(got, lance.ColRowAddress), pickRows(t, want, rows))
	}
}

// idsOf looks the row ids of addresses up.
func idsOf(t *testing.T, s *lance.Snapshot, addrs []uint64) []uint64 {
	t.Helper()
	rec, err := s.Take(t.Context(), []string{lance.ColRowID}, addrs)
	if err != nil {
		t.Fatal(err)
	}
	return numbersOf(t, join(t, []arrow.RecordBatch{rec}), lance.ColRowID)
}

// drop is a table without a column.
func drop(in table, name string) table {
	in.names = slices.DeleteFunc(slices.Clone(in.names), func(n string) bool { return n == name })
	return in
}

// withPayload replaces the descriptors of blob columns by the bytes.
func withPayload(t *testing.T, s *lance.Snapshot, blobs []string, in table) table {
	t.Helper()
	for _, name := range blobs {
		schema := arrow.NewSchema([]arrow.Field{
			{Name: name, Type: in.cols[name].DataType(), Nullable: true}, {Name: lance.ColRowAddress, Type: arrow.PrimitiveTypes.Uint64},
		}, nil)
		rec := array.NewRecordBatch(schema, []arrow.Array{in.cols[name], in.cols[lance.ColRowAddress]}, int64(in.rows))
		list, err := s.BlobsOf(rec, name)
		if err != nil {
			t.Fatal(err)
		}
		b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.LargeBinary)
		for _, x := range list {
			data, err := x.Read(t.Context(), 0, -1)
			switch {
			case err != nil:
				t.Fatal(err)
			case x.Null:
				b.AppendNull()
			default:
				b.Append(data)
			}
		}
		in.cols[name] = b.NewLargeBinaryArray()
	}
	return in
}

// TestExternalBlobs: where the bytes are is always told, and they are read
// only when that was allowed.
func TestExternalBlobs(t *testing.T) {
	archive, err := fixtures.Shared("lance", "fixtures.tar.gz")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	files, err := fixtures.Unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	const root = "lf/blob_v2_external@2.2/data.lance"
	store := inMemory(t, "external", files)
	closed := open(t, store, root, lance.OpenOptions{})
	var asked []string
	reading := func(_ context.Context, uri string, off, n int64) ([]byte, error) {
		asked = append(asked, fmt.Sprintf("%d+%d", off, n))
		return []byte("x"), nil
	}
	opened := open(t, store, root, lance.OpenOptions{External: reading})
	all := collect(t, closed.Scan(t.Context(), lance.ScanOptions{Columns: []string{}, WithRowAddress: true}))
	addrs := numbersOf(t, all, lance.ColRowAddress)
	list, err := closed.Blobs(t.Context(), "b", addrs)
	if err != nil {
		t.Fatal(err)
	}
	external := 0
	for _, b := range list {
		if b.Null || b.Kind != lance.BlobExternal {
			continue
		}
		external++
		if _, err := b.Read(t.Context(), 0, -1); !errors.Is(err, lance.ErrExternal) || !strings.Contains(err.Error(), b.URI) {
			t.Errorf("row %d: %v", b.Addr, err)
		}
	}
	if list, err = opened.Blobs(t.Context(), "b", addrs); err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		if b.Kind == lance.BlobExternal && !b.Null {
			if _, err := b.Read(t.Context(), 1, 1); err != nil {
				t.Error(err)
			}
		}
	}
	if external == 0 || len(asked) == 0 {
		t.Errorf("%d external blobs, asked %q", external, asked)
	}
}

// fromDisk reads file URIs.
func fromDisk(_ context.Context, uri string, off, n int64) ([]byte, error) {
	b, err := os.ReadFile(strings.TrimPrefix(uri, "file://"))
	if err != nil {
		return nil, err
	}
	b = b[off:]
	if n >= 0 {
		b = b[:n]
	}
	return b, nil
}
