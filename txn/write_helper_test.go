package txn_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
	"github.com/omnideck/omnideck/txn/validate"
)

const (
	ports     = "node:Port"
	companies = "node:Company"
)

// demo is a graph in memory to be written to.
func demo(t testing.TB) *memstore.Store {
	t.Helper()
	s, err := fixtures.DemoStore()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// counting is randomness that repeats itself; concurrent readers get other
// numbers.
type counting struct{ n atomic.Uint64 }

func (c *counting) Read(p []byte) (int, error) {
	for i := 0; i < len(p); i += 8 {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], c.n.Add(1)*0x9e3779b97f4a7c15)
		copy(p[i:], b[:])
	}
	return len(p), nil
}

// clock is a time that moves by a millisecond at every look.
type clock struct{ n atomic.Int64 }

func (c *clock) now() time.Time {
	return time.UnixMilli(1796000000000 + c.n.Add(1)).UTC()
}

// writing are options with a clock and ids of a test's own, of which nothing
// sleeps; seed tells writers apart.
func writing(seed uint64) txn.Options {
	c, r := &clock{}, &counting{}
	c.n.Store(int64(seed) * 1000)
	r.n.Store(seed << 32)
	return txn.Options{
		Now: c.now, IDs: txn.NewIDs(c.now, r), Grace: time.Second,
		Sleep:   func(ctx context.Context, d time.Duration) error { return ctx.Err() },
		Backoff: func(ctx context.Context, n int) error { return ctx.Err() },
	}
}

// with is a batch with another text in one column.
func with(batch arrow.RecordBatch, column, text string) arrow.RecordBatch {
	cols := slices.Clone(batch.Columns())
	for i, f := range batch.Schema().Fields() {
		if f.Name != column {
			continue
		}
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for range batch.NumRows() {
			b.Append(text)
		}
		cols[i] = b.NewArray()
	}
	return array.NewRecordBatch(batch.Schema(), cols, batch.NumRows())
}

// step stages something on a Txn.
type step func(ctx context.Context, t *txn.Txn) error

// set changes the text in a column of one row.
func set(alias, id, column, text string) step {
	return func(ctx context.Context, t *txn.Txn) error {
		addrs, batch, err := row(ctx, t, alias, id)
		if err != nil {
			return err
		}
		_, err = t.Update(ctx, alias, addrs, lance.RowsOf(with(batch, column, text)))
		return err
	}
}

func row(ctx context.Context, t *txn.Txn, alias, id string) ([]uint64, arrow.RecordBatch, error) {
	snap, err := t.Table(ctx, alias)
	if err != nil {
		return nil, nil, err
	}
	found, err := snap.FindText(ctx, "id", []string{id}, lance.LookUpByCost)
	if err != nil {
		return nil, nil, err
	}
	addrs := found.Rows[id]
	if len(addrs) != 1 {
		return nil, nil, &txn.KeyConflictError{Table: alias, ID: id}
	}
	batch, err := snap.Take(ctx, nil, addrs)
	return addrs, batch, err
}

// add inserts a row like another, with an id of its own.
func add(alias, key, like, id string) step {
	return func(ctx context.Context, t *txn.Txn) error {
		snap, err := t.Table(ctx, alias)
		if err != nil {
			return err
		}
		found, err := snap.FindText(ctx, "id", []string{id}, lance.LookUpByCost)
		if err != nil {
			return err
		}
		if len(found.Rows) > 0 {
			return &txn.KeyConflictError{Table: alias, ID: id}
		}
		_, batch, err := row(ctx, t, alias, like)
		if err != nil {
			return err
		}
		_, err = t.Insert(ctx, alias, lance.RowsOf(with(with(batch, "id", id), key, id)))
		return err
	}
}

// remove deletes one row.
func remove(alias, id string) step {
	return func(ctx context.Context, t *txn.Txn) error {
		addrs, _, err := row(ctx, t, alias, id)
		if err != nil {
			return err
		}
		_, err = t.Delete(ctx, alias, addrs, "id = '"+id+"'")
		return err
	}
}

// plan is the function of Run that takes steps.
func plan(class txn.Class, steps ...step) func(context.Context, *txn.Txn) (*txn.PublishPlan, error) {
	return func(ctx context.Context, t *txn.Txn) (*txn.PublishPlan, error) {
		for _, s := range steps {
			if err := s(ctx, t); err != nil {
				return nil, err
			}
		}
		return t.Plan(sidecar.Mutation, class, validate.ReadSet{})
	}
}

func run(t testing.TB, s blob.Store, o txn.Options, class txn.Class, steps ...step) *txn.Receipt {
	t.Helper()
	r, err := txn.Run(context.Background(), s, o, plan(class, steps...))
	if err != nil {
		t.Fatalf("%T: %v", err, err)
	}
	if r.Warning != nil {
		t.Fatal(r.Warning)
	}
	return r
}

// reading is what a fresh reader of main sees.
type reading struct {
	view *manifest.View
	s    blob.Store
}

func look(t testing.TB, s blob.Store) reading {
	t.Helper()
	v, err := manifest.Open(context.Background(), s, manifest.Options{ReadDeletions: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Problems) > 0 {
		t.Fatal(v.Problems)
	}
	return reading{v, s}
}

func (r reading) head() string { return r.view.Heads[manifest.Main] }

// text is a column of a row as it is published; "" = there is no such row.
func (r reading) text(t testing.TB, alias, id, column string) string {
	t.Helper()
	e, ok := r.view.Table(alias)
	if !ok {
		t.Fatalf("no table %s", alias)
	}
	snap, err := lance.Open(context.Background(), r.s, e.Location, lance.OpenOptions{Version: e.Version, Branch: e.Owner})
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := snap.CountRows(); n != e.Rows {
		t.Errorf("%s has %d rows, %d are published", alias, n, e.Rows)
	}
	found, err := snap.FindText(context.Background(), "id", []string{id}, lance.LookUpByScan)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Rows[id]) == 0 {
		return ""
	}
	batch, err := snap.Take(context.Background(), []string{column}, found.Rows[id])
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	if batch.NumRows() != 1 {
		t.Errorf("%d rows of %s have the id %s", batch.NumRows(), alias, id)
	}
	return batch.Column(0).ValueStr(0)
}

// atRest checks that no record is left and that every table's newest version is
// the published one.
func (r reading) atRest(t testing.TB) {
	t.Helper()
	if left := recordsIn(t, r.s); len(left) > 0 {
		t.Errorf("records are left: %v", left)
	}
	for _, e := range r.view.Tables {
		snap, err := lance.Open(context.Background(), r.s, e.Location, lance.OpenOptions{Branch: e.Owner})
		if err != nil {
			t.Fatal(err)
		}
		if e.Owner == "" && txn.Judge(e.Version, snap.Version(), false) != txn.AtRest {
			t.Errorf("%s is published at version %d, its newest is %d", e.Alias, e.Version, snap.Version())
		}
	}
}

func recordsIn(t testing.TB, s blob.Store) (keys []string) {
	t.Helper()
	for e, err := range s.List(context.Background(), blob.ListOptions{Prefix: sidecar.Folder}) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, e.Key)
	}
	return keys
}

// drift makes a version of a table that nobody publishes.
func drift(t testing.TB, s blob.Store, alias, id string) {
	t.Helper()
	ctx := context.Background()
	e, _ := look(t, s).view.Table(alias)
	snap, err := lance.Open(ctx, s, e.Location, lance.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := snap.FindText(ctx, "id", []string{id}, lance.LookUpByScan)
	if err != nil {
		t.Fatal(err)
	}
	st, err := snap.StageDelete(ctx, found.Rows[id], "", lance.StageOptions{UUID: "somebody-" + id})
	if err == nil {
		_, _, err = st.Commit(ctx, lance.CommitOptions{Exact: true})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// wantErr checks the type of an error and its class.
func wantErr[E error](t testing.TB, err error, class error) E {
	t.Helper()
	var e E
	if !errors.As(err, &e) {
		t.Fatalf("%T: %v, expected a %T", err, err, e)
	}
	if !errors.Is(err, class) {
		t.Errorf("%v is not of the class %v", err, class)
	}
	return e
}

// ids are those of a table, as published.
func ids(t testing.TB, s blob.Store, alias string) (out []string) {
	t.Helper()
	e, _ := look(t, s).view.Table(alias)
	snap, err := lance.Open(context.Background(), s, e.Location, lance.OpenOptions{Version: e.Version, Branch: e.Owner})
	if err != nil {
		t.Fatal(err)
	}
	for batch, err := range snap.Scan(context.Background(), lance.ScanOptions{Columns: []string{"id"}}) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range int(batch.NumRows()) {
			out = append(out, batch.Column(0).ValueStr(i))
		}
		batch.Release()
	}
	slices.Sort(out)
	return out
}
