package file

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/format"
)

// sharedFixtures is the archive of 189 cases that pylance 10.0.0 wrote and read
// back.
const sharedFixtures = "../../../shared/lance/fixtures.tar.gz"

// ownFixtures is the part of it that this repository keeps.
const ownFixtures = "../../fixtures/lance/cases.tar.gz"

// fixtureCase is a case of index.json.
type fixtureCase struct {
	Case, Version, Kind string
	Rows                int64
	Dataset, Expected   string
	DataFiles           []struct{ Path string } `json:"data_files"`
}

func (c fixtureCase) name() string { return c.Case + "@" + c.Version }

// archive is files by path.
type archive map[string][]byte

var (
	readShared = sync.OnceValues(func() (archive, error) { return readArchive(sharedFixtures) })
	readOwn    = sync.OnceValues(func() (archive, error) { return readArchive(ownFixtures) })
)

// readArchive reads the files of a packed archive.
func readArchive(name string) (archive, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	files := archive{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		p, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		files[strings.TrimPrefix(path.Clean(h.Name), "lf/")] = p
	}
}

// fixtures returns the shared cases, or where these are missing our own part
// of them, and says so.
func fixtures(t testing.TB) (archive, []fixtureCase) {
	t.Helper()
	files, err := readShared()
	want := 189
	if err != nil {
		t.Logf("ONLY A PART IS TESTED: the shared Lance fixtures are missing: %v", err)
		files, want = own(t), 23
	}
	cases := files.cases(t)
	if len(cases) != want {
		t.Errorf("%d cases, %d are known", len(cases), want)
	}
	return files, cases
}

// own is the part of the cases that this repository keeps.
func own(t testing.TB) archive {
	t.Helper()
	files, err := readOwn()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func (a archive) cases(t testing.TB) []fixtureCase {
	t.Helper()
	var index struct{ Cases []fixtureCase }
	if err := json.Unmarshal(a["index.json"], &index); err != nil {
		t.Fatal(err)
	}
	return index.Cases
}

// opened is a data file of a case with its columns.
type opened struct {
	path string
	r    *Reader
	cols []Column
}

// open opens the data files of a case in order; of a dataset through its
// newest manifest.
func (a archive) open(t testing.TB, c fixtureCase, opts Options) []opened {
	t.Helper()
	if c.Kind == "file" {
		return []opened{openBytes(t, c.DataFiles[0].Path, a[c.DataFiles[0].Path], opts)}
	}
	m := a.manifest(t, c.Dataset)
	var out []opened
	for _, f := range m.Fragments {
		if len(f.Files) != 1 || f.Deletion != nil {
			t.Fatalf("%s: fragment %d has %d files and deletions: %v", c.name(), f.ID, len(f.Files), f.Deletion)
		}
		p := path.Join(c.Dataset, f.Files[0].DataPath())
		opts.Name = p
		r, err := Open(t.Context(), Bytes(a[p]), opts)
		if err != nil {
			t.Fatalf("%s: %v", c.name(), err)
		}
		major, minor := r.Version()
		cols := BindByID(m.Schema.Fields, f.Files[0].Fields, f.Files[0].ColumnIndices, major, minor)
		out = append(out, opened{p, r, cols})
	}
	return out
}

func openBytes(t testing.TB, name string, data []byte, opts Options) opened {
	t.Helper()
	opts.Name = name
	r, err := Open(t.Context(), Bytes(data), opts)
	if err != nil {
		t.Fatal(err)
	}
	cols, err := r.BindAll()
	if err != nil {
		t.Fatal(err)
	}
	return opened{name, r, cols}
}

// manifest is the newest manifest of a dataset.
func (a archive) manifest(t testing.TB, dataset string) *format.Manifest {
	t.Helper()
	var best *format.Manifest
	for name, p := range a {
		if !strings.HasPrefix(name, dataset+"/_versions/") || !strings.HasSuffix(name, ".manifest") {
			continue
		}
		m, err := format.ParseManifest(p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if best == nil || m.Version > best.Version {
			best = m
		}
	}
	if best == nil {
		t.Fatalf("%s has no manifest", dataset)
	}
	return best
}

// readIPC reads an Arrow file to one record.
func readIPC(t testing.TB, p []byte) arrow.RecordBatch {
	t.Helper()
	r, err := ipc.NewFileReader(bytes.NewReader(p))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var batches []arrow.RecordBatch
	for i := range r.NumRecords() {
		b, err := r.RecordBatchAt(i)
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
	}
	return join(t, r.Schema(), batches)
}

// join makes one record of batches, which it releases.
func join(t testing.TB, schema *arrow.Schema, batches []arrow.RecordBatch) arrow.RecordBatch {
	t.Helper()
	if len(batches) == 1 {
		return batches[0]
	}
	cols := make([]arrow.Array, schema.NumFields())
	rows := int64(0)
	for i := range cols {
		parts := make([]arrow.Array, len(batches))
		for k, b := range batches {
			parts[k] = b.Column(i)
		}
		var err error
		if len(parts) == 0 {
			cols[i] = array.MakeArrayOfNull(memory.DefaultAllocator, schema.Field(i).Type, 0)
		} else if cols[i], err = array.Concatenate(parts, memory.DefaultAllocator); err != nil {
			t.Fatal(err)
		}
		defer cols[i].Release()
	}
	for _, b := range batches {
		rows += b.NumRows()
		b.Release()
	}
	return array.NewRecordBatch(schema, cols, rows)
}

// scanAll scans rows of a file to one record.
func scanAll(t testing.TB, o opened, s ScanOptions) arrow.RecordBatch {
	t.Helper()
	plans, err := o.r.planAll(o.cols)
	if err != nil {
		t.Fatal(err)
	}
	var batches []arrow.RecordBatch
	for b, err := range o.r.Scan(t.Context(), o.cols, s) {
		if err != nil {
			t.Fatal(err)
		}
		if s.BatchRows > 0 && b.NumRows() > int64(s.BatchRows) {
			t.Fatalf("a batch of %d rows, at most %d were asked", b.NumRows(), s.BatchRows)
		}
		batches = append(batches, b)
	}
	return join(t, schemaOf(plans), batches)
}

// text is element i of an array, for comparison: dictionaries by value, blob
// descriptors by payload.
func (v *viewer) text(arr arrow.Array, i int) string {
	if arr.IsNull(i) {
		return "null"
	}
	switch a := arr.(type) {
	case *array.Dictionary:
		return v.text(a.Dictionary(), a.GetValueIndex(i))
	case *array.Map:
		from, to := a.ValueOffsets(i)
		return v.items(a.ListValues(), int(from), int(to))
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		return v.items(a.ListValues(), int(from), int(to))
	case *array.Struct:
		if v.payload != nil && isDescriptor(a) {
			return v.payload(a, i)
		}
		var parts []string
		for k := range a.NumField() {
			parts = append(parts, v.text(a.Field(k), i))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case *array.Binary:
		return fmt.Sprintf("%q", a.Value(i))
	case *array.LargeBinary:
		return fmt.Sprintf("%q", a.Value(i))
	case *array.FixedSizeBinary:
		return fmt.Sprintf("%q", a.Value(i))
	case *array.String:
		return fmt.Sprintf("%q", a.Value(i))
	case *array.LargeString:
		return fmt.Sprintf("%q", a.Value(i))
	case *array.Float64:
		return fmt.Sprintf("%x", math.Float64bits(a.Value(i)))
	case *array.Float32:
		return fmt.Sprintf("%x", math.Float32bits(a.Value(i)))
	}
	return arr.ValueStr(i)
}

func (v *viewer) items(arr arrow.Array, from, to int) string {
	parts := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		parts = append(parts, v.text(arr, i))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func isDescriptor(s *array.Struct) bool {
	t := s.DataType().(*arrow.StructType)
	_, pos := t.FieldByName("position")
	_, size := t.FieldByName("size")
	return pos && size && (t.NumFields() == 2 || t.NumFields() == 5)
}

// viewer makes text of arrays.
type viewer struct {
	payload func(s *array.Struct, i int) string // of a blob
}

// rows is all rows of a record as text, column by column.
func (v *viewer) rows(b arrow.RecordBatch) [][]string {
	out := make([][]string, b.NumCols())
	for i, col := range b.Columns() {
		out[i] = make([]string, col.Len())
		for k := range out[i] {
			out[i][k] = v.text(col, k)
		}
	}
	return out
}

// blobs is a viewer that shows the payloads of blobs of one data file.
func (a archive) blobs(file string) *viewer {
	return &viewer{payload: func(s *array.Struct, i int) string {
		refs, err := BlobRefs(s)
		if err != nil {
			return err.Error()
		}
		ref := refs[i]
		src, from, n := file, ref.Position, ref.Size
		switch ref.Kind {
		case BlobPacked:
			src = SidecarPath(file, ref.BlobID)
		case BlobDedicated:
			src, from, n = SidecarPath(file, ref.BlobID), 0, uint64(len(a[SidecarPath(file, ref.BlobID)]))
		}
		p := a[src]
		if from+n > uint64(len(p)) {
			return fmt.Sprintf("%d bytes at %d of %s, which has %d", n, from, src, len(p))
		}
		return fmt.Sprintf("%q", p[from:from+n])
	}}
}

// diff compares records as text, column by column.
func diff(t testing.TB, what string, names []string, got, want [][]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d columns, want %d", what, len(got), len(want))
	}
	for i := range got {
		if len(got[i]) != len(want[i]) {
			t.Errorf("%s: column %s has %d rows, want %d", what, names[i], len(got[i]), len(want[i]))
			continue
		}
		for k := range got[i] {
			if got[i][k] != want[i][k] {
				t.Errorf("%s: column %s, row %d: got %.200s, want %.200s", what, names[i], k, got[i][k], want[i][k])
				break
			}
		}
	}
}

func namesOf(b arrow.RecordBatch) []string {
	var out []string
	for _, f := range b.Schema().Fields() {
		out = append(out, f.Name)
	}
	return out
}

// pick is the rows idx of every column.
func pick(cols [][]string, idx []int64) [][]string {
	out := make([][]string, len(cols))
	for i, c := range cols {
		for _, k := range idx {
			out[i] = append(out[i], c[k])
		}
	}
	return out
}

func slice(cols [][]string, from, to int64) [][]string {
	out := make([][]string, len(cols))
	for i, c := range cols {
		out[i] = slices.Clone(c[from:to])
	}
	return out
}

// le is a little-endian word, to make files by hand.
func le(n int, v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v)[:n] }
