package file

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/file/layout"
)

// ScanOptions say which rows to scan.
type ScanOptions struct {
	From, To  int64 // physical rows [From, To); To < 0 = to the end
	BatchRows int   // at most so many rows a batch; 0 = as many as are convenient
	// Lean decodes a few short units ahead: for a consumer that takes longer
	// than the decoding, and to whom memory matters.
	Lean bool
}

// Scan yields the rows in order. Batches have the fields of cols; the consumer
// releases each. What is read ahead is bounded by bytes, not by rows. After an
// error the sequence ends. When the consumer stops, or ctx ends, all
// goroutines end before the sequence does.
func (r *Reader) Scan(ctx context.Context, cols []Column, o ScanOptions) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if o.To < 0 {
			o.To = r.rows
		}
		if o.From < 0 || o.From > o.To || o.To > r.rows {
			yield(nil, r.fail("", -1, fmt.Errorf("rows %d to %d were asked of %d", o.From, o.To, r.rows)))
			return
		}
		plans, err := r.planAll(cols)
		if err != nil {
			yield(nil, err)
			return
		}
		s := &scan{r: r, cols: plans, schema: schemaOf(plans), from: o.From, next: o.From, to: o.To, lean: o.Lean, old: oldPagesCache{r: r}}
		s.size(int64(o.BatchRows))
		s.run(ctx, yield)
	}
}

// scan is one scan under way.
type scan struct {
	r      *Reader
	cols   []*column
	schema *arrow.Schema
	batch  int64         // rows a batch
	unit   int64         // rows a unit
	bytes  int64         // about the encoded bytes of a unit
	memory int64         // about these and the decoded bytes
	from   int64         // first row
	next   int64         // first row that no unit has yet
	to     int64         // the end
	grown  int64         // units of the next stripe
	lean   bool          // see ScanOptions
	pre    *blocks       // everything there is to read, if that is little
	old    oldPagesCache // for files of format 2.0
	sem    chan struct{} // what decodes
	work   sync.WaitGroup
}

// Sizes of a scan.
const (
	maxUnitRows  = 64 << 10
	unitAlign    = 4 << 10 // rows; chunks hold a divisor of it, as a rule
	unitBytes    = 8 << 20
	maxUnitBytes = 128 << 20 // of Arrow memory; more is halved
	maxAhead     = 64
	leanUnitRows = 8 << 10
	leanAhead    = 3
	smallPreload = 256 << 10 // for sources where small reads cost little
	smallScan    = 512       // rows that are decoded at once, by the caller: less than goroutines cost
)

// size decides how many rows units and batches have.
func (s *scan) size(batchRows int64) {
	encoded, decoded := int64(0), int64(0)
	for _, c := range s.cols {
		decoded += int64(sizeOf(c.arrow.Type))
		encoded += c.bytes()
	}
	rows := max(s.r.rows, 1)
	perRow := max(encoded/rows, decoded, 1)
	s.unit = max(1, min(unitBytes/perRow, maxUnitRows))
	if s.lean {
		s.unit = min(s.unit, leanUnitRows)
	}
	// A short scan is spread over all that can decode.
	share := (s.to-s.next)/int64(2*s.r.opts.Parallelism) + 1
	s.unit = min(s.unit, (share+unitAlign-1)/unitAlign*unitAlign)
	if s.unit > unitAlign {
		s.unit -= s.unit % unitAlign
	}
	s.batch = s.unit
	if batchRows > 0 {
		s.batch = min(batchRows, s.unit)
		s.unit -= s.unit % s.batch
	}
	s.bytes = encoded/rows*s.unit + encoded%rows*s.unit/rows + 1
	s.memory = s.bytes + max(s.bytes, decoded*s.unit)
	s.grown = 1
	s.sem = make(chan struct{}, s.r.opts.Parallelism)
}

// ahead is how many units may be in flight.
func (s *scan) ahead() int {
	if s.lean {
		return leanAhead
	}
	n := 8 * s.r.opts.ReadBytes / s.memory
	return int(max(int64(s.r.opts.Parallelism)+2, min(n, maxAhead)))
}

// run produces units ahead and yields their batches in order.
func (s *scan) run(ctx context.Context, yield func(arrow.RecordBatch, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	var queue []*unit
	defer func() {
		cancel()
		s.work.Wait()
		for _, u := range queue {
			u.release()
		}
	}()
	if err := s.preload(ctx); err != nil {
		yield(nil, s.r.fail("", -1, err))
		return
	}
	for ahead := 1; ; ahead = min(2*ahead, s.ahead()) {
		for len(queue) < ahead && s.next < s.to {
			queue = append(queue, s.start(ctx)...)
		}
		if len(queue) == 0 {
			return
		}
		u := queue[0]
		select {
		case <-u.done:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil { // also where both are so
			yield(nil, err)
			return
		}
		queue = queue[1:]
		ok := s.emit(ctx, u, yield)
		u.release()
		if !ok {
			return
		}
	}
}

// preload reads everything at once if that is little, so that small tables
// cost one step of reading.
func (s *scan) preload(ctx context.Context) error {
	limit := s.r.opts.ReadBytes
	if _, ok := s.r.src.(IntoReader); ok {
		limit = min(limit, smallPreload)
	}
	var ranges []layout.Range
	total, asked, stored := int64(0), int64(0), int64(0)
	for _, c := range s.cols {
		for _, l := range c.leaves {
			if l == nil {
				continue
			}
			for _, seg := range l.segments(nil, s.next, s.to) {
				ranges = append(ranges, seg.page.buffers...)
				asked += seg.to - seg.from
				stored += seg.page.Rows()
			}
		}
		ranges = append(ranges, c.old.all()...)
	}
	for _, rg := range ranges {
		if total += rg.Len; total > limit {
			return nil
		}
	}
	if asked < stored/2 {
		return nil
	}
	var err error
	s.pre, err = s.r.fetch(ctx, ranges, false)
	s.old.pre = s.pre
	return err
}

// start starts a stripe: units whose bytes are read together.
func (s *scan) start(ctx context.Context) []*unit {
	var units []*unit
	for range s.grown {
		if s.next == s.to {
			break
		}
		u := s.newUnit(s.next, min(s.next+s.unit, s.to))
		units = append(units, u)
		s.next = u.to
	}
	st := &stripe{units: len(units)}
	for _, u := range units {
		u.stripe = st
	}
	if _, ok := s.r.src.(IntoReader); !ok && 2*s.grown*s.bytes <= s.r.opts.ReadBytes {
		s.grown *= 2
	}
	run := s.work.Go
	if s.pre != nil && s.to-s.from <= smallScan {
		run = func(f func()) { f() }
	}
	run(func() {
		err := s.read(ctx, st, units)
		for _, u := range units {
			for i := range u.arrays {
				if err != nil {
					u.finish(i, nil, err)
					continue
				}
				run(func() { s.task(ctx, u, i) })
			}
		}
	})
	return units
}

// read reads what the units of a stripe need.
func (s *scan) read(ctx context.Context, st *stripe, units []*unit) error {
	var all []part
	for _, u := range units {
		for _, parts := range u.parts {
			all = append(all, parts...)
		}
	}
	if err := s.r.openHeads(ctx, all, s.pre); err != nil {
		return s.r.fail("", -1, err)
	}
	if s.pre != nil {
		st.got = s.pre
		return nil
	}
	ranges, err := s.r.dataRanges(all)
	if err != nil {
		return err
	}
	st.got, err = s.r.fetch(ctx, ranges, true)
	st.own = true
	return s.r.fail("", -1, err)
}

// task decodes a column of a unit.
func (s *scan) task(ctx context.Context, u *unit, i int) {
	select {
	case s.sem <- struct{}{}:
	case <-ctx.Done():
		u.finish(i, nil, ctx.Err())
		return
	}
	a, err := s.decode(ctx, u, i)
	<-s.sem
	u.finish(i, a, err)
}

func (s *scan) decode(ctx context.Context, u *unit, i int) (arrow.Array, error) {
	c := s.cols[i]
	if c.old != nil {
		return s.old.column(ctx, c, u.from, u.to)
	}
	limit := s.r.opts.BatchBytes
	if u.to-u.from > 1 {
		limit = min(limit, maxUnitBytes)
	}
	return s.r.decodeColumn(ctx, c, u.parts[i], int(u.to-u.from), u.stripe.got.get, limit)
}
