package lance_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
)

// TestPylanceTakesOver: pylance opens what a random walk wrote, finds every
// value, row id and version as the model has them, searches through its indexes
// as without, deletes, merges, compacts and cleans; and we read what it made of
// that. Some of the tables get their indexes half-way, and keep them.
func TestPylanceTakesOver(t *testing.T) {
	python(t)
	for seed := range pace.Of(2, 1) {
		indexed := seed%2 == 0
		t.Run(fmt.Sprintf("seed %d, indexes %v", 100+seed, indexed), func(t *testing.T) {
			dir := t.TempDir()
			w := newWalk(t, local(t, dir), 100+seed)
			for range 12 {
				w.act()
			}
			for len(w.rows) < 30 {
				w.act()
			}
			if indexed {
				run(t, "take_over.py", "index", dir)
				w.snap = open(t, w.store, walkRoot, lance.OpenOptions{Allocator: w.mem})
				w.how = lance.LookUpByIndex
				w.check("indexes were built")
				for n := w.kinds["overwrite"]; w.kinds["overwrite"] == n && w.step < 40; {
					w.act()
				}
			}
			for len(w.rows) < 30 {
				w.act()
			}
			w.takeOver(dir)
			list, err := w.snap.Indexes()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v, %d rows, %d index segments", w.kinds, len(w.rows), len(list))
		})
	}
}

// takeOver lets pylance go on, and goes on after it.
func (w *walk) takeOver(dir string) {
	w.t.Helper()
	w.expected(filepath.Join(dir, "expected.arrow"))
	run(w.t, "take_over.py", "check", dir)
	w.readBack(filepath.Join(dir, "after.arrow"))
	w.step++
	rows, _ := w.snap.CountRows()
	addrs := allAddresses(w.t.(*testing.T), w.snap)
	staged, err := w.snap.StageDelete(context.Background(), addrs[:2], "two", w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	w.goOn(staged)
	w.step++
	var all []*person
	for id := range byValue(w.t.(*testing.T), w.snap, "id", nil) {
		if all = append(all, w.person(id)); len(all) == 4 {
			break
		}
	}
	all = append(all, w.person("once-more"))
	staged, err = w.snap.StageUpsert(context.Background(), w.given(all, false), lance.UpsertOptions{StageOptions: w.options(), LookUp: w.how})
	if err != nil {
		w.t.Fatal(err)
	}
	w.goOn(staged)
	run(w.t, "take_over.py", "count", dir, fmt.Sprint(rows-2+1))
}

// goOn commits without a model.
func (w *walk) goOn(staged *lance.Staged) {
	w.t.Helper()
	s, _, err := staged.Commit(context.Background(), lance.CommitOptions{Exact: true, Now: w.now})
	if err != nil {
		w.t.Fatal(err)
	}
	rep, err := lance.Verify(context.Background(), s, lance.VerifyOptions{Deep: true})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range rep.Problems {
		w.t.Errorf("after pylance: %+v", p)
	}
	w.snap = s
}

// TestPylanceTakesOverMany: thousands of rows deleted at once, in the form of a
// bitmap, and a few more after that.
func TestPylanceTakesOverMany(t *testing.T) {
	python(t)
	dir := t.TempDir()
	w := newWalk(t, local(t, dir), 300)
	var all []*person
	for i := range 9000 {
		p := w.person(fmt.Sprint("many-", i))
		p.photo = nil
		all = append(all, p)
	}
	o := lance.StageOptions{UUID: "many"}
	staged, err := w.snap.StageInsert(t.Context(), w.given(all, true), o)
	if err != nil {
		t.Fatal(err)
	}
	w.commit("insert", staged, func() { w.inserted(all) })
	for i, n := range []int{6000, 7} {
		ids := w.some(n)
		o.UUID = fmt.Sprint("fewer", i)
		if staged, err = w.snap.StageDelete(t.Context(), w.addresses(ids), "many", o); err != nil {
			t.Fatal(err)
		}
		w.commit("delete", staged, func() {
			for _, id := range ids {
				delete(w.rows, id)
			}
		})
	}
	found := false
	for _, f := range w.snap.Fragments() {
		found = found || f.Deletion != nil && f.Deletion.Kind == format.DeletionBitmap && f.Deletion.Rows > 5000
	}
	if !found {
		t.Error("no deletion file is a bitmap")
	}
	w.takeOver(dir)
}

// expected writes down the rows of the model.
func (w *walk) expected(path string) {
	w.t.Helper()
	var all []*person
	var ids, made, last []uint64
	for _, id := range w.some(len(w.rows)) {
		p := w.rows[id]
		all = append(all, p)
		ids, made, last = append(ids, p.rowID), append(made, p.made), append(last, p.last)
	}
	batch := batchOf(memory.DefaultAllocator, all, true)
	fields, cols := slices.Clone(batch.Schema().Fields()), slices.Clone(batch.Columns())
	for _, c := range []struct {
		name   string
		values []uint64
	}{{lance.ColRowID, ids}, {lance.ColCreatedAt, made}, {lance.ColLastUpdated, last}} {
		b := array.NewUint64Builder(memory.DefaultAllocator)
		b.AppendValues(c.values, nil)
		fields, cols = append(fields, arrow.Field{Name: c.name, Type: arrow.PrimitiveTypes.Uint64}), append(cols, b.NewArray())
	}
	f, err := os.Create(path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	out, err := ipc.NewFileWriter(f, ipc.WithSchema(arrow.NewSchema(fields, nil)))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := out.Write(array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(len(all)))); err != nil {
		w.t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// readBack reads what pylance made of the table.
func (w *walk) readBack(path string) {
	w.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	want := arrowTable(w.t, b)
	s := open(w.t, w.store, walkRoot, lance.OpenOptions{Allocator: w.mem})
	same(w.t, "what pylance left", collect(w.t, s.Scan(context.Background(), lance.ScanOptions{Columns: want.names})), want)
	rep, err := lance.Verify(context.Background(), s, lance.VerifyOptions{Deep: true})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range rep.Problems {
		w.t.Errorf("what pylance left: %+v", p)
	}
	w.snap = s
}
