package file

import (
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/format"
)

// python is an interpreter with pylance: the one that OMNIDECK_PYTHON names,
// else python3.
func python(t testing.TB) string {
	t.Helper()
	name := os.Getenv("OMNIDECK_PYTHON")
	if name == "" {
		name = "python3"
	}
	if out, err := exec.Command(name, "-c", "import lance").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no pylance in %s, which OMNIDECK_PYTHON may name: %v: %.200s", name, err, out)
	}
	return name
}

// written lets testdata/tables.py write tables and returns them.
func written(t testing.TB, args ...string) (archive, []fixtureCase) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(python(t), append([]string{filepath.Join("testdata", "tables.py"), dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	files := archive{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err == nil {
			files[filepath.ToSlash(rel)], err = os.ReadFile(p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Pylance string
		Refused []string
	}
	if err := json.Unmarshal(files["index.json"], &index); err != nil {
		t.Fatal(err)
	}
	cases := files.cases(t)
	t.Logf("pylance %s wrote %d tables and refused or failed on: %v", index.Pylance, len(cases), index.Refused)
	return files, cases
}

// fragment is a fragment of a dataset: its files, each with the columns that it
// holds, and the place of each in the schema.
type fragment struct {
	rows  int64
	files []opened
	at    [][]int
	none  []Column // columns that no file holds
	noneN []int
}

// fragments binds the columns of a dataset to the files of every fragment.
func (a archive) fragments(t testing.TB, dataset string, opts Options) (*format.Manifest, []fragment) {
	t.Helper()
	m := a.manifest(t, dataset)
	var out []fragment
	for _, f := range m.Fragments {
		frag := fragment{rows: int64(f.PhysicalRows)}
		found := make([]bool, len(m.Schema.Fields))
		for _, d := range f.Files {
			opts.Name = path.Join(dataset, d.DataPath())
			r, err := Open(t.Context(), Bytes(a[opts.Name]), opts)
			if err != nil {
				t.Fatal(err)
			}
			major, minor := r.Version()
			o, at := opened{path: opts.Name, r: r}, []int{}
			for i, c := range BindByID(m.Schema.Fields, d.Fields, d.ColumnIndices, major, minor) {
				if slices.Max(append(c.Leaves, -1)) >= 0 {
					o.cols, at, found[i] = append(o.cols, c), append(at, i), true
				}
			}
			frag.files, frag.at = append(frag.files, o), append(frag.at, at)
		}
		for i, ok := range found {
			if !ok {
				frag.none = append(frag.none, Column{Field: m.Schema.Fields[i]})
				frag.noneN = append(frag.noneN, i)
			}
		}
		out = append(out, frag)
	}
	return m, out
}

// read reads a fragment with f for files and nulls for the rest, as text.
func (fr *fragment) read(t testing.TB, width int, f func(o opened) arrow.RecordBatch, n int64) [][]string {
	t.Helper()
	out := make([][]string, width)
	v := &viewer{}
	for i, o := range fr.files {
		b := f(o)
		for k, col := range v.rows(b) {
			out[fr.at[i][k]] = col
		}
		b.Release()
	}
	for b, err := range Nulls(t.Context(), fr.none, n, 1000, nil) {
		if err != nil {
			t.Fatal(err)
		}
		for k, col := range v.rows(b) {
			out[fr.noneN[k]] = append(out[fr.noneN[k]], col...)
		}
		b.Release()
	}
	return out
}

// compare reads a table in every way.
func compare(t *testing.T, files archive, c fixtureCase) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	names, want := files.expected(t, c)
	m, frags := files.fragments(t, c.Dataset, Options{Allocator: mem, Parallelism: 2})
	rng := rand.New(rand.NewPCG(9, uint64(len(c.Case))))
	first := int64(0)
	for _, fr := range frags {
		n := fr.rows
		part := slice(want, first, first+n)
		whole := fr.read(t, len(m.Schema.Fields), func(o opened) arrow.RecordBatch {
			return scanAll(t, o, ScanOptions{To: -1, BatchRows: 1 + rng.IntN(5000)})
		}, n)
		diff(t, "scan", names, whole, part)
		rg := rangesOf(rng, n)[5]
		some := fr.read(t, len(m.Schema.Fields), func(o opened) arrow.RecordBatch {
			return scanAll(t, o, ScanOptions{From: rg.from, To: rg.to})
		}, rg.to-rg.from)
		diff(t, "range", names, some, slice(part, rg.from, rg.to))
		backwards := make([]int64, 0, min(n, 40))
		for i := n - 1; i >= 0 && len(backwards) < 40; i -= 1 + n/40 {
			backwards = append(backwards, i)
		}
		taken := fr.read(t, len(m.Schema.Fields), func(o opened) arrow.RecordBatch {
			b, err := o.r.Take(t.Context(), o.cols, backwards)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}, int64(len(backwards)))
		diff(t, "take", names, taken, pick(part, backwards))
		first += n
	}
	if first != c.Rows {
		t.Errorf("%d rows, want %d", first, c.Rows)
	}
}

// TestRandomTables compares random tables that pylance writes now. The seed is
// OMNIDECK_SEED or 1, and OMNIDECK_TABLES says how many.
func TestRandomTables(t *testing.T) {
	seed, count := 1, 60
	if s, err := strconv.Atoi(os.Getenv("OMNIDECK_SEED")); err == nil {
		seed = s
	}
	if n, err := strconv.Atoi(os.Getenv("OMNIDECK_TABLES")); err == nil {
		count = n
	}
	files, cases := written(t, "random", strconv.Itoa(seed), strconv.Itoa(count))
	if len(cases) < count/2 {
		t.Errorf("only %d of %d tables were written", len(cases), count)
	}
	for _, c := range cases {
		t.Run(c.Case, func(t *testing.T) { compare(t, files, c) })
	}
}

// TestNullsAndEmpties is case 9 of the field reports, with the page that
// pylance itself cannot read.
func TestNullsAndEmpties(t *testing.T) {
	files, cases := written(t, "nulls")
	unreadable := 0
	for _, c := range cases {
		if strings.HasPrefix(c.Case, "vector-null-items") && !strings.Contains(c.Case, "-and-null") && !strings.Contains(c.Case, "-list") {
			unreadable++
		}
		t.Run(c.Case, func(t *testing.T) { compare(t, files, c) })
	}
	if unreadable != 12 {
		t.Errorf("%d tables of the page that pylance cannot read, want 12", unreadable)
	}
}

// TestColumnsByID is case 12 of the field reports: permuted, dropped, added
// again and absent columns.
func TestColumnsByID(t *testing.T) {
	files, cases := written(t, "fields")
	if len(cases) != 3 {
		t.Errorf("%d tables, want 3", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Case, func(t *testing.T) { compare(t, files, c) })
	}
	_, frags := files.fragments(t, "absent/data.lance", Options{})
	if len(frags) != 1 || len(frags[0].files) != 0 || frags[0].rows != 3 {
		t.Errorf("the table whose columns were all dropped has %d fragments, the first with %d files", len(frags), len(frags[0].files))
	}
}
