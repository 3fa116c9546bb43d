package lance_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/lance"
)

// walk is a random walk over one dataset, beside a model of what is in it.
type walk struct {
	t     testing.TB
	mem   memory.Allocator
	rnd   *rand.Rand
	store blob.Store
	snap  *lance.Snapshot
	rows  map[string]*person
	next  uint64 // row id
	step  int
	seed  int
	how   lance.LookUpMode
	kinds map[string]int
	clock time.Time
}

const walkRoot = "t.lance"

func newWalk(t testing.TB, store blob.Store, seed int) *walk {
	w := &walk{
		t: t, mem: checked(t), rnd: rand.New(rand.NewPCG(uint64(seed), 5)), store: store, rows: map[string]*person{}, seed: seed,
		kinds: map[string]int{}, clock: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC),
	}
	var first []*person
	for range w.rnd.IntN(20) {
		first = append(first, w.person(w.fresh()))
	}
	o := lance.CreateOptions{Schema: people(), UUID: fmt.Sprint("create-", seed), Now: w.now, Rand: seeded(seed << 32), Allocator: w.mem}
	if len(first) > 0 {
		o.Rows = w.given(first, true)
	}
	var err error
	if w.snap, _, err = lance.Create(context.Background(), store, walkRoot, o); err != nil {
		t.Fatal(err)
	}
	w.inserted(first)
	w.check("create")
	return w
}

func (w *walk) now() time.Time { w.clock = w.clock.Add(time.Second); return w.clock }

func (w *walk) fresh() string {
	for {
		if id := fmt.Sprintf("p%d", w.rnd.IntN(100000)); w.rows[id] == nil {
			return id
		}
	}
}

// person makes a row up.
func (w *walk) person(id string) *person {
	r := w.rnd
	p := &person{id: id, text: fmt.Sprintf("%s likes %s", []string{"ann", "bob", "eve"}[r.IntN(3)], []string{"tea", "salt", "wind"}[r.IntN(3)]), day: int32(r.IntN(30000)), at: int64(r.IntN(1 << 40))}
	if n := int64(r.IntN(50)); r.IntN(5) > 0 {
		p.n = &n
	}
	if r.IntN(4) > 0 {
		p.tags = []string{}
		for range r.IntN(3) {
			p.tags = append(p.tags, fmt.Sprint("t", r.IntN(9)))
		}
	}
	if r.IntN(4) > 0 {
		p.vec = []float32{r.Float32(), 1, -r.Float32()}
	}
	if k := r.IntN(60); k < 30 {
		p.photo = bytes.Repeat([]byte{byte(k)}, map[bool]int{true: 70000, false: k}[k == 29])
	}
	return p
}

// given are rows in batches of random sizes. With photos or without.
func (w *walk) given(all []*person, photos bool) lance.Rows {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for len(all) > 0 {
			n := 1 + w.rnd.IntN(len(all))
			batch := batchOf(w.mem, all[:n], false)
			all = all[n:]
			rows := lance.Rows(func(yield func(arrow.RecordBatch, error) bool) { yield(batch, nil) })
			if !photos {
				rows = without(rows, []string{"photo"})
			}
			for batch, err := range rows {
				if !yield(batch, err) {
					return
				}
			}
		}
	}
}

func (w *walk) options() lance.StageOptions {
	o := lance.StageOptions{UUID: fmt.Sprintf("walk-%d-%d", w.seed, w.step), Rand: seeded(w.seed<<32 + w.step + 1), CarryBytes: 1 << 30}
	if w.rnd.IntN(3) == 0 {
		o.FragmentRows = int64(1 + w.rnd.IntN(9))
	}
	if w.rnd.IntN(5) == 0 {
		o.FragmentBytes = 4096
	}
	return o
}

// inserted and moved tell the model.
func (w *walk) inserted(all []*person) {
	for _, p := range all {
		p.rowID, p.made, p.last = w.next, w.snap.Version(), w.snap.Version()
		w.next++
		w.rows[p.id] = p
	}
}

func (w *walk) moved(all []*person) {
	for _, p := range all {
		old := w.rows[p.id]
		p.rowID, p.made, p.last = old.rowID, old.made, w.snap.Version()
		w.rows[p.id] = p
	}
}

// some are ids that are there, in random order.
func (w *walk) some(n int) []string {
	ids := slices.Sorted(maps.Keys(w.rows))
	w.rnd.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
	return ids[:min(n, len(ids))]
}

func (w *walk) people(ids []string) (out []*person) {
	for _, id := range ids {
		out = append(out, w.person(id))
	}
	return out
}

// addresses are where ids stand.
func (w *walk) addresses(ids []string) (out []uint64) {
	found, err := w.snap.FindText(context.Background(), "id", ids, w.how)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, id := range ids {
		if len(found.Rows[id]) != 1 {
			w.t.Fatalf("%s stands at %v", id, found.Rows[id])
		}
		out = append(out, found.Rows[id][0])
	}
	return out
}

// act does one random thing.
func (w *walk) act() {
	w.step++
	var fresh []string
	for range 1 + w.rnd.IntN(12) {
		if id := w.fresh(); !slices.Contains(fresh, id) {
			fresh = append(fresh, id)
		}
	}
	old := w.some(1 + w.rnd.IntN(12))
	keep := w.rnd.IntN(2) == 0
	var staged *lance.Staged
	var err error
	var what string
	var after func() // tells the model
	ctx := context.Background()
	switch k := w.rnd.IntN(20); {
	case k < 4:
		all := w.people(fresh)
		what, after = "insert", func() { w.inserted(all) }
		staged, err = w.snap.StageInsert(ctx, w.given(all, true), w.options())
	case k < 10:
		mixed := w.mixed(old, fresh, keep)
		what, after = "upsert", func() { w.upserted(mixed) }
		staged, err = w.snap.StageUpsert(ctx, w.given(mixed, !keep), lance.UpsertOptions{StageOptions: w.options(), LookUp: w.how})
	case k < 13 && len(old) > 0:
		all := w.again(old, keep)
		what, after = "update", func() { w.moved(all) }
		staged, err = w.snap.StageUpdate(ctx, w.addresses(old), w.given(all, !keep), w.options())
	case k < 18 && len(old) > 0:
		ids := w.doomed(old)
		what, after = "delete", func() { w.deleted(ids) }
		staged, err = w.snap.StageDelete(ctx, w.addresses(ids), fmt.Sprintf("id IN (%q)", ids), w.options())
	case k == 18:
		all := w.people(fresh)
		what, after = "append", func() { w.inserted(all) }
		staged, err = w.snap.StageAppend(ctx, w.given(all, true), w.options())
	default:
		if w.rnd.IntN(4) > 0 {
			return
		}
		all := w.people(fresh)
		what, after = "overwrite", func() { w.rows = map[string]*person{}; w.inserted(all) }
		staged, err = w.snap.StageOverwrite(ctx, nil, w.given(all, true), w.options())
	}
	if err != nil {
		w.t.Fatalf("step %d, %s: %v", w.step, what, err)
	}
	w.commit(what, staged, after)
}

// again makes people anew, who keep their photos or get others.
func (w *walk) again(old []string, keep bool) []*person {
	all := w.people(old)
	if keep {
		for _, p := range all {
			p.photo = w.rows[p.id].photo
		}
	}
	return all
}

// mixed are people that are there and new ones, in any order. Where photos are
// kept, the new ones have none.
func (w *walk) mixed(old, fresh []string, keep bool) []*person {
	was, all := w.again(old, keep), w.people(fresh)
	if keep {
		for _, p := range all {
			p.photo = nil
		}
	}
	mixed := slices.Concat(was, all)
	w.rnd.Shuffle(len(mixed), func(i, k int) { mixed[i], mixed[k] = mixed[k], mixed[i] })
	return mixed
}

// doomed are the ids to delete: mostly old, now and then all, or those of a whole
// fragment.
func (w *walk) doomed(old []string) []string {
	frags := w.snap.Fragments()
	switch {
	case w.rnd.IntN(10) == 0:
		return w.some(len(w.rows))
	case w.rnd.IntN(3) == 0:
		f := frags[w.rnd.IntN(len(frags))].ID
		return slices.Sorted(maps.Keys(byValue(w.t.(*testing.T), w.snap, "id", []uint64{f})))
	}
	return old
}

func (w *walk) deleted(ids []string) {
	for _, id := range ids {
		delete(w.rows, id)
	}
}

// upserted tells the model: moved rows first, then the inserted ones.
func (w *walk) upserted(mixed []*person) {
	var fresh []*person
	for _, p := range mixed {
		if w.rows[p.id] == nil {
			fresh = append(fresh, p)
		} else {
			w.moved([]*person{p})
		}
	}
	w.inserted(fresh)
}

func (w *walk) commit(what string, staged *lance.Staged, after func()) {
	w.t.Helper()
	snap, c, err := staged.Commit(context.Background(), lance.CommitOptions{Exact: true, Now: w.now})
	if err != nil {
		w.t.Fatalf("step %d, %s: %v", w.step, what, err)
	}
	if c.Version != w.snap.Version()+1 || c.UUID != staged.UUID() {
		w.t.Errorf("step %d, %s: version %d after %d, %s", w.step, what, c.Version, w.snap.Version(), c.UUID)
	}
	w.snap = snap
	w.kinds[what]++
	after()
	if n := uint64(len(w.rows)); staged.RowsAfter != n {
		w.t.Errorf("step %d, %s: staged says %d rows, there are %d", w.step, what, staged.RowsAfter, n)
	}
	w.check(what)
	for _, o := range staged.Objects {
		if a, err := w.store.Head(context.Background(), o.Key); err != nil || a.Size != o.Size {
			w.t.Errorf("step %d, %s: %s has %d bytes, told were %d, %v", w.step, what, o.Key, a.Size, o.Size, err)
		}
	}
}

// check opens the newest version and compares it with the model.
func (w *walk) check(what string) {
	w.t.Helper()
	s, err := lance.Open(context.Background(), w.store, walkRoot, lance.OpenOptions{Allocator: w.mem})
	if err != nil {
		w.t.Fatal(err)
	}
	what = fmt.Sprintf("seed %d, step %d, %s, version %d", w.seed, w.step, what, s.Version())
	w.same(what+", as committed", w.snap)
	w.same(what, s)
	rep, err := lance.Verify(context.Background(), s, lance.VerifyOptions{Deep: true})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range rep.Problems {
		w.t.Errorf("%s: %+v", what, p)
	}
	if w.t.Failed() {
		w.t.Fatal("stopped")
	}
}

func (w *walk) same(what string, s *lance.Snapshot) {
	w.t.Helper()
	o := lance.ScanOptions{WithRowID: true, WithVersions: true, WithRowAddress: true}
	got := collect(w.t, without(s.Scan(context.Background(), o), []string{"photo"}))
	if n, _ := s.CountRows(); got.rows != len(w.rows) || n != uint64(got.rows) {
		w.t.Errorf("%s: %d rows, the manifest says %d, there must be %d", what, got.rows, n, len(w.rows))
		return
	}
	if got.rows == 0 {
		return
	}
	var all []*person
	ids, last, made := numbersOf(w.t, got, lance.ColRowID), numbersOf(w.t, got, lance.ColLastUpdated), numbersOf(w.t, got, lance.ColCreatedAt)
	for i, id := range values(got.cols["id"]) {
		p := w.rows[id]
		if p == nil {
			w.t.Fatalf("%s: there is a row %s", what, id)
		}
		if p.rowID != ids[i] || p.made != made[i] || p.last != last[i] {
			w.t.Errorf("%s: %s has row id %d, made in %d, last written in %d; want %d, %d, %d", what, id, ids[i], made[i], last[i], p.rowID, p.made, p.last)
		}
		all = append(all, p)
	}
	batch := batchOf(memory.DefaultAllocator, all, true)
	for i, f := range batch.Schema().Fields() {
		if f.Name == "photo" {
			continue
		}
		if err := sameColumn(got.cols[f.Name], batch.Column(i)); err != nil {
			w.t.Errorf("%s, column %s: %v", what, f.Name, err)
		}
	}
	blobs, err := s.Blobs(context.Background(), "photo", numbersOf(w.t, got, lance.ColRowAddress))
	if err != nil {
		w.t.Fatal(err)
	}
	for i, b := range blobs {
		data, err := b.Read(context.Background(), 0, -1)
		if err != nil || b.Null != (all[i].photo == nil) || !bytes.Equal(data, all[i].photo) {
			w.t.Errorf("%s: photo of %s: %d bytes, want %d; %v", what, all[i].id, len(data), len(all[i].photo), err)
		}
	}
}

// TestWalk: random changes, each compared with a model: values, blobs, row ids,
// the versions in which rows were made and written.
func TestWalk(t *testing.T) {
	kinds := map[string]int{}
	for seed := range pace.Of(8, 2) {
		w := newWalk(t, memstore.New(memstore.Options{Name: "walk", MaxPage: 100}), seed)
		for range 40 {
			w.act()
		}
		for k, n := range w.kinds {
			kinds[k] += n
		}
	}
	t.Log(kinds)
	for _, k := range []string{"insert", "upsert", "update", "delete", "append", "overwrite"} {
		if kinds[k] == 0 {
			t.Errorf("there was no %s", k)
		}
	}
}
