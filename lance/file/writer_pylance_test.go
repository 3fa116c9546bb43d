package file

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// readback is a folder of cases for testdata/readback.py.
type readback struct {
	dir   string
	cases int
}

// save writes what a case expects.
func (r *readback) save(t testing.TB, name string, rec arrow.RecordBatch) string {
	t.Helper()
	dir := filepath.Join(r.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "expected.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(rec.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r.cases++
	return dir
}

// add is a case of one file.
func (r *readback) add(t testing.TB, name string, rec arrow.RecordBatch, out *Written) {
	t.Helper()
	dir := r.save(t, name, rec)
	if err := os.WriteFile(filepath.Join(dir, "data.lance"), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// addDataset is a case of a dataset with one file. expected may show blobs in
// another way than the record that was written; their columns are named.
func (r *readback) addDataset(t testing.TB, name string, expected arrow.RecordBatch, out *Written, blobs ...string) {
	t.Helper()
	dir := r.save(t, name, expected)
	files := map[string][]byte{"data/f.lance": out.Bytes()}
	for _, s := range out.Sidecars {
		files[SidecarPath("data/f.lance", s.BlobID)] = s.Data
	}
	about, err := json.Marshal(map[string]any{"path": "f.lance", "fields": out.Fields, "columns": out.Columns, "size": out.Size,
		"blobs": append([]string{}, blobs...)})
	if err != nil {
		t.Fatal(err)
	}
	files["dataset.json"] = about
	for name, data := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// run lets pylance read all cases.
func (r *readback) run(t testing.TB) {
	t.Helper()
	out, err := exec.Command(python(t), filepath.Join("testdata", "readback.py"), r.dir).Output()
	if err != nil {
		t.Fatalf("readback.py: %v\n%s", err, out)
	}
	var answer struct {
		Pylance string
		Done    int
		Wrong   []string
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("pylance %s read %d cases", answer.Pylance, answer.Done)
	if answer.Done != r.cases {
		t.Errorf("%d cases read of %d", answer.Done, r.cases)
	}
	for _, w := range answer.Wrong {
		t.Error(w)
	}
}

func TestPylanceReads(t *testing.T) {
	r := &readback{dir: t.TempDir()}
	python(t)
	for kind := range makers(0) {
		for _, n := range []int{0, 1, 2, 100, 1025} {
			for name, schema := range schemas() {
				m := makers(uint64(n))[kind]
				rec := m.record(schema, n, memory.DefaultAllocator)
				out := writeAll(t, rec, WriteOptions{})
				if name := fmt.Sprintf("%s %s %d", name, kind, n); schema.HasField("fixed") {
					r.addDataset(t, name, rec, out) // pylance's reader of single files panics on its own ones too
				} else {
					r.add(t, name, rec, out)
				}
				rec.Release()
			}
		}
	}
	r.run(t)
}
