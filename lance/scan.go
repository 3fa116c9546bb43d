package lance

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
)

// ScanOptions say what to scan. The zero value is every live row of every
// column.
type ScanOptions struct {
	Columns        []string // top-level or system columns; nil = all of the schema, empty = none
	Fragments      []uint64 // ids; nil = all. Scanned in manifest order
	WithRowID      bool     // append _rowid
	WithRowAddress bool     // append _rowaddr
	WithVersions   bool     // append _row_created_at_version, _row_last_updated_at_version
	BatchRows      int      // at most so many physical rows a batch; 0 = as many as are convenient
	Lean           bool     // hold little: decode no more ahead than a slow consumer needs
	Offset, Limit  int64    // in rows of the result; Limit 0 = all
	// WithDeleted yields physical rows: deletion files are not read and
	// deleted rows are among the result. Ask Deletions for the sets.
	WithDeleted bool
	// OnDamaged, when not nil, is asked about every fragment that cannot be
	// read. true goes on with the next one (some of its rows may have been
	// yielded), false ends the scan with the error.
	OnDamaged func(*FragmentError) bool
}

const (
	defaultBatchRows = 8192
	aheadBytes       = 64 << 20 // of files fetched before the consumer came to them
	headBytes        = 64 << 10 // what an opened large file holds on to
	aheadRows        = 4096     // in fragments that are decoded before the consumer came to them
)

// Scan yields the rows of the snapshot in fragment order, deletions applied.
// A batch never spans fragments and is never empty; the consumer releases each
// batch. Fragments are opened side by side, in bounded memory; small ones are
// also decoded side by side. After an error the sequence ends.
func (s *Snapshot) Scan(ctx context.Context, o ScanOptions) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		sc, err := s.newScan(o)
		if err != nil {
			yield(nil, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer sc.drain()
		defer cancel()
		sc.run(ctx, yield)
	}
}

// scan is one running scan. Fragments are loaded by workers, as far ahead as
// memory allows, and handed out in order.
type scan struct {
	s     *Snapshot
	o     ScanOptions
	p     *projection
	bind  binder
	frags []*fragState
	slots []slot
	begun int   // fragments whose loading began
	ahead int64 // bytes of those that were not handed out
	skip  uint64
	left  uint64 // rows still wanted
	wg    sync.WaitGroup

	queue   chan int // fragments that workers load
	workers int
}

// slot is where the loaded fragment is put.
type slot struct {
	done   chan struct{}
	weight int64
	plans  []filePlan
	absent []file.Column // of a fragment without files: the fields as columns of none
	ld     *loaded
	err    error
}

func (s *Snapshot) newScan(o ScanOptions) (*scan, error) {
	var extra []string
	if o.WithRowID {
		extra = append(extra, ColRowID)
	}
	if o.WithRowAddress {
		extra = append(extra, ColRowAddress)
	}
	if o.WithVersions {
		extra = append(extra, ColCreatedAt, ColLastUpdated)
	}
	p, err := s.project(o.Columns, extra)
	if err != nil {
		return nil, err
	}
	o.BatchRows = max(o.BatchRows, 0)
	sc := &scan{s: s, o: o, p: p, bind: binder{p: p}, skip: uint64(max(o.Offset, 0)), left: ^uint64(0)}
	if o.Limit > 0 {
		sc.left = uint64(o.Limit)
	}
	if sc.frags, err = s.choose(o.Fragments); err != nil {
		return nil, err
	}
	sc.trim()
	sc.slots = make([]slot, len(sc.frags))
	sc.queue = make(chan int, len(sc.frags))
	return sc, nil
}

// choose lists fragments by id in manifest order; nil = all.
func (s *Snapshot) choose(ids []uint64) ([]*fragState, error) {
	if ids == nil {
		out := make([]*fragState, len(s.frags))
		for i := range s.frags {
			out[i] = &s.frags[i]
		}
		return out, nil
	}
	want := make(map[uint64]bool, len(ids))
	for _, id := range ids {
		if _, err := s.fragment(id); err != nil {
			return nil, err
		}
		want[id] = true
	}
	var out []*fragState
	for i := range s.frags {
		if want[s.frags[i].f.ID] {
			out = append(out, &s.frags[i])
		}
	}
	return out, nil
}

// result is the number of rows that a fragment gives to this scan, if the
// manifest says.
func (sc *scan) result(f *format.Fragment) (uint64, bool) {
	if sc.o.WithDeleted {
		return f.PhysicalRows, f.PhysicalRows != 0
	}
	return f.LiveRows()
}

// trim drops fragments that lie whole before the offset or behind the limit by
// the manifest's numbers.
func (sc *scan) trim() {
	for len(sc.frags) > 0 {
		n, known := sc.result(sc.frags[0].f)
		if !known || n > sc.skip {
			break
		}
		sc.skip -= n
		sc.frags = sc.frags[1:]
	}
	if sc.o.Limit <= 0 {
		return
	}
	have := uint64(0)
	for i, st := range sc.frags {
		n, known := sc.result(st.f)
		if !known {
			return
		}
		if have += n; have >= sc.skip+sc.left {
			sc.frags = sc.frags[:i+1]
			return
		}
	}
}

// run hands out the fragments in order.
func (sc *scan) run(ctx context.Context, yield func(arrow.RecordBatch, error) bool) {
	for i := range sc.frags {
		sc.begin(ctx, i)
		sl := &sc.slots[i]
		<-sl.done
		ld, err := sl.ld, sl.err
		sl.ld = nil
		sc.ahead -= sl.weight
		if err == nil {
			var more bool
			if more, err = sc.hand(ctx, ld, yield); err == nil {
				if !more {
					return
				}
				continue
			}
		}
		var damage *FragmentError
		if errors.As(err, &damage) && sc.o.OnDamaged != nil && sc.o.OnDamaged(damage) {
			continue
		}
		yield(nil, err)
		return
	}
}

// begin starts to load fragment i and as many after it as memory allows.
func (sc *scan) begin(ctx context.Context, i int) {
	for sc.begun < len(sc.frags) {
		next := sc.begun
		sl, st := &sc.slots[next], sc.frags[next]
		plans, err := sc.bind.bind(st.f)
		sl.weight = sc.weight(st.f, plans)
		if next > i && (next-i >= sc.s.env.opts.Parallelism || sc.ahead+sl.weight > aheadBytes) {
			return
		}
		sc.begun++
		sc.ahead += sl.weight
		if len(plans) == 0 {
			sl.absent = sc.bind.absentColumns()
		}
		sl.done = make(chan struct{})
		if err != nil {
			sl.err = sc.s.damage(ctx, st.f, "", err)
			close(sl.done)
			continue
		}
		sl.plans = plans
		if len(sc.frags) == 1 {
			sc.fill(ctx, next)
			return
		}
		sc.queue <- next
		if sc.workers < sc.s.env.opts.Parallelism {
			sc.workers++
			sc.wg.Go(func() {
				for i := range sc.queue {
					sc.fill(ctx, i)
				}
			})
		}
	}
}

// fill loads fragment i into its slot.
func (sc *scan) fill(ctx context.Context, i int) {
	sl := &sc.slots[i]
	defer close(sl.done)
	if sl.err = ctx.Err(); sl.err == nil {
		sl.ld, sl.err = sc.load(ctx, sc.frags[i], sl)
	}
}

// weight is about how many bytes a loaded fragment holds on to.
func (sc *scan) weight(f *format.Fragment, plans []filePlan) int64 {
	n := int64(0)
	for _, plan := range plans {
		if size := f.Files[plan.file].Size; size != 0 && size <= uint64(sc.s.env.small) {
			n += int64(size)
		} else {
			n += headBytes
		}
	}
	return n
}

// load opens a fragment, and decodes it at once when all of it is small and
// wanted.
func (sc *scan) load(ctx context.Context, st *fragState, sl *slot) (*loaded, error) {
	ld, err := sc.s.load(ctx, sc.p, st, sl.plans, sl.absent, sc.o.WithDeleted)
	if err != nil || sc.o.Limit > 0 || sc.o.Offset > 0 || len(ld.parts) == 0 || ld.rows > aheadRows {
		return ld, err
	}
	for _, part := range ld.parts {
		if d := &st.f.Files[part.file]; d.Size == 0 || d.Size > uint64(sc.s.env.small) {
			return ld, nil
		}
	}
	ld.ready = true
	err = sc.batches(ctx, ld, span{0, ld.rows}, func(rec arrow.RecordBatch) bool {
		ld.out = append(ld.out, rec)
		return true
	})
	if err != nil {
		ld.release()
		return nil, err
	}
	return ld, nil
}

// batches decodes physical rows of a fragment into result batches. more may
// stop it by returning false. Its errors are FragmentErrors.
func (sc *scan) batches(ctx context.Context, ld *loaded, rows span, more func(arrow.RecordBatch) bool) error {
	s := sc.s
	for pc, err := range s.physical(ctx, sc.p, ld, rows.from, rows.to, sc.o.BatchRows, sc.o.Lean) {
		if err == nil {
			var rec arrow.RecordBatch
			if rec, err = ld.finish(sc.p, pc, s.env.opts.Allocator); err == nil && rec != nil && !more(rec) {
				return nil
			}
		}
		if err != nil {
			return s.damage(ctx, ld.st.f, ld.keys(), err)
		}
	}
	return ctx.Err()
}

// hand yields the rows of a loaded fragment that are wanted. more is false when
// the scan has come to its end.
func (sc *scan) hand(ctx context.Context, ld *loaded, yield func(arrow.RecordBatch, error) bool) (more bool, err error) {
	more = true
	if ld.ready {
		for i, rec := range ld.out {
			ld.out[i] = nil
			if more = yield(rec, nil); !more {
				break
			}
		}
		ld.release()
		return more, nil
	}
	err = sc.batches(ctx, ld, sc.window(ld), func(rec arrow.RecordBatch) bool {
		sc.left -= uint64(rec.NumRows())
		more = yield(rec, nil)
		return more
	})
	return more && sc.left > 0, err
}

// window is the physical rows of a fragment that hold the next rows wanted.
func (sc *scan) window(ld *loaded) span {
	left, w := sc.left, span{}
	for from, to := range ld.set.Live(0, ld.rows) {
		if n := to - from; sc.skip >= n {
			sc.skip -= n
			continue
		}
		from += sc.skip
		sc.skip = 0
		if w.to == 0 {
			w.from = from
		}
		if to-from >= left {
			w.to = from + left
			return w
		}
		left -= to - from
		w.to = to
	}
	return w
}

// drain waits for what was begun and releases what nobody took.
func (sc *scan) drain() {
	close(sc.queue)
	sc.wg.Wait()
	for i := range sc.begun {
		if ld := sc.slots[i].ld; ld != nil {
			ld.release()
		}
	}
}
