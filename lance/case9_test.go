package lance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
)

// TestCase9NullsAndEmpties: every table of nulls and empties, in five fragments,
// after its first row was deleted, and compacted: we read what pylance wrote,
// pylance reads what we wrote, and we read what it compacted of that. The pages
// of vectors that hold nothing but null items, which pylance writes and cannot
// read, we read, and we write none such.
func TestCase9NullsAndEmpties(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command(python(t), "testdata/case9.py", dir, "make").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var tables []struct {
		Name      string
		Compacted bool
	}
	b, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err == nil {
		err = json.Unmarshal(b, &tables)
	}
	if err != nil || len(tables) < 30 {
		t.Fatalf("%d tables: %v", len(tables), err)
	}
	store := local(t, dir)
	for _, c := range tables {
		t.Run(c.Name, func(t *testing.T) {
			want := life9(t, dir, c.Name)
			theirs := c.Name + "/theirs"
			newest := read9(t, store, theirs, want, c.Compacted)
			if c.Name == unwritten9 { // not of the case: Lance reads no such file, so we make none
				if err := write9(t, store, c.Name, newest.Schema(), dir); !errors.Is(err, format.ErrUnsupported) {
					t.Error(err)
				}
				return
			}
			if err := write9(t, store, c.Name, newest.Schema(), dir); err != nil {
				t.Fatal(err)
			}
			read9(t, store, c.Name+"/ours", want, false)
		})
	}
	if t.Failed() {
		return
	}
	var said struct{ Wrong, Unread []string }
	out, err := exec.Command(python(t), "testdata/case9.py", dir, "check").Output()
	if err == nil {
		err = json.Unmarshal(out, &said)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, w := range said.Wrong {
		t.Error(w)
	}
	for _, c := range tables {
		if c.Name == unwritten9 {
			continue
		}
		if slices.Contains(said.Unread, c.Name) != !c.Compacted && !strings.HasPrefix(c.Name, "vector-") {
			t.Errorf("%s: pylance could not compact what we wrote", c.Name)
		}
		read9(t, store, c.Name+"/ours", life9(t, dir, c.Name), !slices.Contains(said.Unread, c.Name))
	}
	t.Logf("%d tables; pylance could not compact or read again %q", len(tables), said.Unread)
}

const unwritten9 = "fixed-list-of-structs-of-lists"

// lived are the rows of one table at version 5 and later.
type lived struct{ five, rest table }

func life9(t *testing.T, dir, name string) lived {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name, "values.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	once := arrowTable(t, b)
	var five []int
	for range 5 {
		for i := range once.rows {
			five = append(five, i)
		}
	}
	return lived{pickRows(t, once, five), pickRows(t, once, five[1:])}
}

// read9 reads a dataset in the states of its life, whole, backwards and one
// column alone; compacted where it could be.
func read9(t *testing.T, store blob.Store, root string, want lived, compacted bool) *lance.Snapshot {
	t.Helper()
	var s *lance.Snapshot
	for _, version := range []uint64{5, 6, 0} {
		if s = open(t, store, root, lance.OpenOptions{Version: version}); version == 0 && !compacted {
			break
		}
		rows := want.rest
		if version == 5 {
			rows = want.five
		}
		what := fmt.Sprintf("%s, version %d", root, version)
		same(t, what, collect(t, s.Scan(t.Context(), lance.ScanOptions{})), rows)
		got := collect(t, s.Scan(t.Context(), lance.ScanOptions{Columns: []string{"v"}}))
		same(t, what+", one column", got, table{names: []string{"v"}, cols: map[string]arrow.Array{"v": rows.cols["v"]}, rows: rows.rows})
		addrs := numbersOf(t, collect(t, s.Scan(t.Context(), lance.ScanOptions{Columns: []string{"id"}, WithRowAddress: true})), lance.ColRowAddress)
		var back []int
		for i := len(addrs) - 1; i >= 0 && len(back) < 50; i-- {
			back = append(back, i)
		}
		at := make([]uint64, len(back))
		for i, r := range back {
			at[i] = addrs[r]
		}
		rec, err := s.Take(t.Context(), rows.names, at)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		same(t, what+", backwards", join(t, []arrow.RecordBatch{rec}), pickRows(t, rows, back))
		if rep, err := lance.Verify(t.Context(), s, lance.VerifyOptions{Deep: true}); err != nil || len(rep.Problems) > 0 {
			t.Errorf("%s: %+v, %v", what, rep, err)
		}
	}
	return s
}

// write9 lets our writer live the same life.
func write9(t *testing.T, store blob.Store, name string, schema *format.Schema, dir string) error {
	t.Helper()
	root := name + "/ours"
	rows := func() lance.Rows {
		b, err := os.ReadFile(filepath.Join(dir, name, "values.arrow"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := ipc.NewFileReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		rec, err := r.RecordBatchAt(0)
		if err != nil {
			t.Fatal(err)
		}
		return lance.RowsOf(rec)
	}
	n := 0
	next := func() lance.StageOptions {
		n++
		return lance.StageOptions{UUID: fmt.Sprintf("00000000-0000-4000-8000-%012d", n), Rand: seeded(n)}
	}
	o := next()
	s, _, err := lance.Create(t.Context(), store, root, lance.CreateOptions{Schema: schema, Rows: rows(), UUID: o.UUID, Rand: o.Rand})
	for range 4 {
		if err != nil {
			return err
		}
		var st *lance.Staged
		if st, err = s.StageAppend(t.Context(), rows(), next()); err == nil {
			s, _, err = st.Commit(t.Context(), lance.CommitOptions{Exact: true})
		}
	}
	if err != nil {
		return err
	}
	st, err := s.StageDelete(t.Context(), []uint64{0}, "the first", next())
	if err == nil {
		_, _, err = st.Commit(t.Context(), lance.CommitOptions{Exact: true})
	}
	return err
}
