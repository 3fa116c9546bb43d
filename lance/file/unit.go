package file

import (
	"context"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// stripe is the bytes that some units share.
type stripe struct {
	mu    sync.Mutex
	units int // that still need the bytes
	got   *blocks
	own   bool
}

func (st *stripe) release() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.units--; st.units == 0 && st.own && st.got != nil {
		st.got.release()
	}
}

// unit is a run of rows that is decoded at once, each column by a task.
type unit struct {
	from, to int64
	stripe   *stripe
	parts    [][]part // by column and leaf
	mu       sync.Mutex
	arrays   []arrow.Array
	errs     []error
	left     int // tasks
	done     chan struct{}
}

func (s *scan) newUnit(from, to int64) *unit {
	n := len(s.cols)
	u := &unit{from: from, to: to, left: n, done: make(chan struct{}),
		arrays: make([]arrow.Array, n), errs: make([]error, n), parts: make([][]part, n)}
	for i, c := range s.cols {
		u.parts[i] = c.parts(from, to)
	}
	if n == 0 {
		close(u.done)
	}
	return u
}

// parts are the segments of rows [from, to), for each leaf.
func (c *column) parts(from, to int64) []part {
	out := make([]part, len(c.leaves))
	for i, l := range c.leaves {
		if l != nil {
			out[i] = part{l, l.segments(nil, from, to)}
		}
	}
	return out
}

// finish records what task i made.
func (u *unit) finish(i int, a arrow.Array, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.arrays[i], u.errs[i] = a, err
	if u.left--; u.left == 0 {
		close(u.done)
	}
}

// release gives back what the unit holds. All its tasks have ended.
func (u *unit) release() {
	for i, a := range u.arrays {
		if a != nil {
			a.Release()
			u.arrays[i] = nil
		}
	}
	if u.stripe != nil {
		u.stripe.release()
	}
}

// failure is the error of the first column that has one.
func (u *unit) failure() error {
	for _, err := range u.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// emit yields the batches of a unit and tells whether the scan goes on.
func (s *scan) emit(ctx context.Context, u *unit, yield func(arrow.RecordBatch, error) bool) bool {
	if err := u.failure(); err != nil {
		if tooLarge(err) && u.to-u.from > 1 {
			return s.halve(ctx, u, yield)
		}
		yield(nil, err)
		return false
	}
	rows := u.to - u.from
	whole := array.NewRecordBatch(s.schema, u.arrays, rows)
	if rows <= s.batch {
		return yield(whole, nil)
	}
	defer whole.Release()
	for at := int64(0); at < rows; at += s.batch {
		if !yield(whole.NewSlice(at, min(at+s.batch, rows)), nil) {
			return false
		}
	}
	return true
}

// halve decodes a unit that was too large in two halves, one after the other.
func (s *scan) halve(ctx context.Context, u *unit, yield func(arrow.RecordBatch, error) bool) bool {
	mid := (u.from + u.to) / 2
	for _, half := range []*unit{s.newUnit(u.from, mid), s.newUnit(mid, u.to)} {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return false
		}
		for _, parts := range half.parts {
			if err := s.r.openHeads(ctx, parts, s.pre); err != nil {
				yield(nil, s.r.fail("", -1, err))
				return false
			}
		}
		half.stripe = &stripe{units: 1, got: u.stripe.got}
		for i := range half.arrays {
			s.work.Go(func() { s.task(ctx, half, i) })
		}
		<-half.done
		ok := s.emit(ctx, half, yield)
		half.release()
		if !ok {
			return false
		}
	}
	return true
}
