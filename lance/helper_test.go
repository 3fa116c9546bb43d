package lance_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/localfs"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
)

// checked is an allocator that fails the test when something is not released.
func checked(t testing.TB) memory.Allocator {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

// local is a store of a folder.
func local(t testing.TB, dir string) blob.Store {
	t.Helper()
	s, err := localfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inMemory is a store of files.
func inMemory(t testing.TB, name string, files map[string][]byte) *memstore.Store {
	t.Helper()
	s := memstore.New(memstore.Options{Name: name, MaxPage: 100})
	for key, b := range files {
		if _, err := s.Put(context.Background(), key, b); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// under are the files of a folder, by key below it.
func under(files map[string][]byte, folder string) map[string][]byte {
	out := map[string][]byte{}
	for key, b := range files {
		if rest, ok := strings.CutPrefix(key, folder+"/"); ok {
			out[rest] = b
		}
	}
	return out
}

// files reads a folder.
func files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// graph unpacks one of the graphs that another program wrote, once. The demo
// graph is always there; a missing other one skips the test.
func graph(t testing.TB, name string) map[string][]byte {
	t.Helper()
	graphs.Lock()
	defer graphs.Unlock()
	if files, ok := graphs.files[name]; ok {
		return files
	}
	var out map[string][]byte
	var err error
	if name == fixtures.Demo {
		out, err = fixtures.Graph(name)
	} else {
		archive, absent := fixtures.Shared("graphs", name+".tar.gz")
		if absent != nil {
			t.Skipf("SKIPPED, graph %s: %v", name, absent)
		}
		out, err = fixtures.Unpack(archive)
	}
	if err != nil {
		t.Fatal(err)
	}
	graphs.files[name] = out
	return out
}

var graphs = struct {
	sync.Mutex
	files map[string]map[string][]byte
}{files: map[string]map[string][]byte{}}

// python finds an interpreter that has pylance, or skips.
func python(t testing.TB) string {
	t.Helper()
	if py := interpreter(); py != "" {
		return py
	}
	t.Skip("SKIPPED: no Python with pylance; set OMNIDECK_PYTHON to one (pip install pylance==10.0.0)")
	return ""
}

var interpreter = sync.OnceValue(func() string {
	for _, py := range []string{os.Getenv("OMNIDECK_PYTHON"), "python3"} {
		if py != "" && exec.Command(py, "-c", "import lance, pyarrow").Run() == nil {
			return py
		}
	}
	return ""
})

// run runs a script of testdata and fails the test when it fails.
func run(t testing.TB, script string, args ...string) {
	t.Helper()
	out, err := exec.Command(python(t), append([]string{filepath.Join("testdata", script)}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// table is columns by name with the rows of all batches.
type table struct {
	names []string
	cols  map[string]arrow.Array
	rows  int
}

// collect puts the batches of a scan together and releases them.
func collect(t testing.TB, batches iter.Seq2[arrow.RecordBatch, error]) table {
	t.Helper()
	var all []arrow.RecordBatch
	for rec, err := range batches {
		if err != nil {
			t.Fatal(err)
		}
		if rec.NumRows() == 0 {
			t.Error("an empty batch")
		}
		all = append(all, rec)
	}
	return join(t, all)
}

// join puts batches together, by value, and releases them.
func join(t testing.TB, all []arrow.RecordBatch) table {
	t.Helper()
	out := table{cols: map[string]arrow.Array{}}
	for _, rec := range all {
		out.rows += int(rec.NumRows())
	}
	if len(all) > 0 {
		for i, f := range all[0].Schema().Fields() {
			out.names = append(out.names, f.Name)
			parts := make([]arrow.Array, len(all))
			for k, rec := range all {
				parts[k] = rec.Column(i)
			}
			c, err := array.Concatenate(parts, memory.DefaultAllocator)
			if err != nil {
				t.Fatal(err)
			}
			out.cols[f.Name] = c
		}
	}
	for _, rec := range all {
		rec.Release()
	}
	return out
}

// arrowTable reads an Arrow file.
func arrowTable(t testing.TB, b []byte) table {
	t.Helper()
	r, err := ipc.NewFileReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []arrow.RecordBatch
	for i := range r.NumRecords() {
		rec, err := r.RecordBatchAt(i)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rec)
	}
	out := join(t, all)
	if len(all) == 0 {
		for _, f := range r.Schema().Fields() {
			out.names = append(out.names, f.Name)
		}
	}
	return out
}

// pickRows are rows of a table in the order given.
func pickRows(t testing.TB, in table, rows []int) table {
	t.Helper()
	out := table{names: in.names, cols: map[string]arrow.Array{}, rows: len(rows)}
	for name, c := range in.cols {
		parts := make([]arrow.Array, len(rows))
		for i, r := range rows {
			parts[i] = array.NewSlice(c, int64(r), int64(r+1))
		}
		if len(parts) == 0 {
			parts = []arrow.Array{array.NewSlice(c, 0, 0)}
		}
		joined, err := array.Concatenate(parts, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		out.cols[name] = joined
	}
	return out
}

// same compares two tables value by value, columns by name in order.
func same(t testing.TB, what string, got, want table) {
	t.Helper()
	if got.rows != want.rows {
		t.Errorf("%s: %d rows, want %d", what, got.rows, want.rows)
		return
	}
	if got.rows == 0 {
		return
	}
	if !slices.Equal(got.names, want.names) {
		t.Errorf("%s: columns %q, want %q", what, got.names, want.names)
		return
	}
	for _, name := range want.names {
		if err := sameColumn(got.cols[name], want.cols[name]); err != nil {
			t.Errorf("%s, column %s: %v", what, name, err)
		}
	}
}

func sameColumn(got, want arrow.Array) error {
	if got.Len() != want.Len() {
		return fmt.Errorf("%d values, want %d", got.Len(), want.Len())
	}
	if array.Equal(got, want) {
		return nil
	}
	for i := range got.Len() {
		if got.IsNull(i) != want.IsNull(i) || !got.IsNull(i) && value(got, i) != value(want, i) {
			return fmt.Errorf("row %d of %d: %.200s, want %.200s (types %s and %s)", i, got.Len(), value(got, i), value(want, i), got.DataType(), want.DataType())
		}
	}
	return nil
}

// value spells one value; of a dictionary the value that it stands for.
func value(c arrow.Array, i int) string {
	if d, ok := c.(*array.Dictionary); ok && !d.IsNull(i) {
		return d.Dictionary().ValueStr(d.GetValueIndex(i))
	}
	return c.ValueStr(i)
}

// numbersOf are the values of a uint64 column.
func numbersOf(t testing.TB, in table, name string) []uint64 {
	t.Helper()
	if in.rows == 0 {
		return nil
	}
	c, ok := in.cols[name].(*array.Uint64)
	if !ok {
		t.Fatalf("column %s is %v", name, in.cols[name])
	}
	return slices.Clone(c.Uint64Values())
}

// metered counts the calls made under the context that it returns.
func metered(t testing.TB) (context.Context, func() []string) {
	m := blob.NewMeter(nil, blob.Keep(100000))
	return blob.WithMeter(t.Context(), m), func() []string {
		calls := m.Calls()
		slices.SortFunc(calls, func(a, b blob.Call) int { return int(a.Seq - b.Seq) })
		out := make([]string, len(calls))
		for i, c := range calls {
			out[i] = string(c.Op) + " " + c.Key
			if c.Op == blob.OpGet && c.Range != blob.All {
				out[i] += fmt.Sprintf(" %d+%d", c.Range.Off, c.Range.Len)
			}
		}
		return out
	}
}

// open opens a version with a checked allocator.
func open(t testing.TB, store blob.Store, root string, o lance.OpenOptions) *lance.Snapshot {
	t.Helper()
	if o.Allocator == nil {
		o.Allocator = checked(t)
	}
	s, err := lance.Open(context.Background(), store, root, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
