package engine

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/manifest"
)

// comparer is what the comparisons of several tables share.
type comparer struct {
	*operation
	limit int                 // changes told of all tables
	held  uint64              // ids of a table that are held at once
	room  *semaphore.Weighted // bytes of memory, about
}

func (o *operation) comparer(limit, held int) *comparer {
	return &comparer{operation: o, limit: limit, held: uint64(held), room: semaphore.NewWeighted(diffRoom)}
}

// tableDiff compares two versions of one table.
type tableDiff struct {
	*operation
	a, b   *diffSide // nil where the table is not there
	remade bool      // two tables of one name
	count  DiffCount
	refs   changeHeap
	hold   *atomic.Int64
	alike  [][2]*diffRow // rows that differ at most in their blobs: before, after
}

// compare counts what differs between two versions of a table and keeps the
// first changes.
func (c *comparer) compare(ctx context.Context, p tablePair) (*tableDiff, error) {
	d, err := c.openPair(ctx, p)
	if err != nil {
		return nil, err
	}
	return d, c.run(ctx, d)
}

// openPair opens both versions. No rows are read.
func (c *comparer) openPair(ctx context.Context, p tablePair) (*tableDiff, error) {
	d := &tableDiff{operation: c.operation, count: DiffCount{Table: p.name}, refs: changeHeap{limit: c.limit}, hold: &atomic.Int64{}}
	d.hold.Store(diffLines)
	open := func(e *manifest.Entry, s **diffSide) func() error {
		return func() error {
			if e == nil {
				return nil
			}
			r, err := c.readerOf(ctx, *e, RowsOptions{})
			if err != nil {
				return err
			}
			*s = &diffSide{rowReader: r, hold: d.hold, sieve: map[uint64]*deletion.Set{}}
			return nil
		}
	}
	if err := c.together(open(p.a, &d.a), open(p.b, &d.b)); err != nil {
		return nil, err
	}
	name := ""
	if p.a != nil {
		d.count.From, name = p.a.Version, p.a.Name()
	}
	if p.b != nil {
		d.count.To, name = p.b.Version, p.b.Name()
	}
	for _, s := range []*diffSide{d.a, d.b} {
		if s != nil {
			s.layout = load.Table{Edge: s.cols.edge, Name: name, Properties: s.props}
		}
	}
	if p.a != nil && p.b != nil {
		d.remade = p.a.Identity != p.b.Identity
		if p.a.Name() != p.b.Name() {
			d.hold.Store(0) // lines are compared under one name and told under two
		}
	}
	return d, nil
}

// run reads what must be read and compares it.
func (c *comparer) run(ctx context.Context, d *tableDiff) error {
	if err := d.divide(ctx); err != nil {
		return err
	}
	rows := d.heldRows()
	weight := int64(min(diffRoom, min(rows, c.held)*diffRowBytes+d.a.ahead()+d.b.ahead()))
	if err := c.room.Acquire(ctx, weight); err != nil {
		return err
	}
	defer c.room.Release(weight)
	if d.remade || d.a == nil || d.b == nil {
		return d.apart(ctx)
	}
	d.a.idsOnly = d.b.rows == 0 && d.a.rows > uint64(c.limit)
	d.b.idsOnly = d.a.rows == 0 && d.b.rows > uint64(c.limit)
	if x, y := d.a.cols.entry, d.b.cols.entry; x.Location == y.Location && x.Owner == y.Owner && d.a.recordsOrigins() && d.b.recordsOrigins() {
		d.a.origins, d.b.origins = true, true
	}
	parts := max(1, (rows+c.held-1)/c.held)
	for part := range parts {
		for _, s := range []*diffSide{d.a, d.b} {
			s.part, s.parts = part, parts
		}
		if err := d.meet(ctx); err != nil {
			return err
		}
	}
	d.count.Physical = d.changes() == 0
	return nil
}

// heldRows is about how many rows are held to be met by others.
func (d *tableDiff) heldRows() uint64 {
	if d.remade || d.a == nil || d.b == nil {
		return 0
	}
	return min(d.a.rows, d.b.rows)
}

// apart counts the rows of tables that have no counterpart.
func (d *tableDiff) apart(ctx context.Context) error {
	for _, s := range []*diffSide{d.a, d.b} {
		if s == nil {
			continue
		}
		s.idsOnly = s.rows > uint64(d.refs.limit)
		err := s.read(ctx, func(rows []diffRow) error {
			for i := range rows {
				d.alone(s, &rows[i])
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// changes is how many there are.
func (d *tableDiff) changes() uint64 { return d.count.Inserted + d.count.Updated + d.count.Deleted }

// meet compares the rows of both sides by id: those of the side with fewer
// are held, while those of the other pass.
func (d *tableDiff) meet(ctx context.Context) error {
	small, large := d.a, d.b
	if small.rows > large.rows {
		small, large = large, small
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	ahead := make(chan []diffRow, diffAhead)
	var passing error
	wg.Go(func() {
		defer close(ahead)
		passing = large.read(ctx, func(rows []diffRow) error {
			select {
			case ahead <- rows:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	err := d.pass(ctx, small, large, ahead)
	cancel()
	wg.Wait()
	if err == nil {
		err = passing
	}
	return err
}

// pass lets the rows of the larger side pass those of the smaller one.
func (d *tableDiff) pass(ctx context.Context, small, large *diffSide, ahead <-chan []diffRow) error {
	held := rowIndex{first: map[string]*diffRow{}}
	err := small.read(ctx, func(rows []diffRow) error {
		for i := range rows {
			r := rows[i] // a copy, so that a batch is not held by one row of it
			held.add(&r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for rows := range ahead {
		for i := range rows {
			r := &rows[i]
			other := held.take(r)
			if other == nil {
				d.alone(large, r)
				continue
			}
			if small == d.a {
				err = d.met(ctx, other, r)
			} else {
				err = d.met(ctx, r, other)
			}
			if err != nil {
				return err
			}
		}
	}
	held.rest(func(r *diffRow) { d.alone(small, r) })
	return d.settle(ctx)
}

// met takes note of a row that both sides have.
func (d *tableDiff) met(ctx context.Context, before, after *diffRow) error {
	switch {
	case before.sum != after.sum:
		d.updated(before, after)
		return nil
	case before.sameBytes(after):
		d.drop(before, after)
		return nil
	}
	x, y := *before, *after
	d.alike = append(d.alike, [2]*diffRow{&x, &y})
	if len(d.alike) < diffAlike {
		return nil
	}
	return d.settle(ctx)
}

func (d *tableDiff) updated(before, after *diffRow) {
	d.count.Updated++
	d.keep(change{id: before.id, op: opUpdate, before: before, after: after})
}

// alone takes note of a row that only one side has.
func (d *tableDiff) alone(s *diffSide, r *diffRow) {
	if s == d.a {
		d.count.Deleted++
		d.keep(change{id: r.id, op: opDelete, before: r})
		return
	}
	d.count.Inserted++
	d.keep(change{id: r.id, op: opInsert, after: r})
}

// rowIndex finds rows by id. A sound table has an id once.
type rowIndex struct {
	first map[string]*diffRow
	more  map[string][]*diffRow
}

func (x *rowIndex) add(r *diffRow) {
	if x.first[r.id] == nil {
		x.first[r.id] = r
		return
	}
	if x.more == nil {
		x.more = map[string][]*diffRow{}
	}
	x.more[r.id] = append(x.more[r.id], r)
}

// take gives away a row of the same id, an equal one when there are several.
func (x *rowIndex) take(r *diffRow) *diffRow {
	out := x.first[r.id]
	more := x.more[r.id]
	if len(more) == 0 {
		delete(x.first, r.id)
		return out
	}
	k := len(more) - 1
	for i, m := range more {
		if out.sum != r.sum && m.sum == r.sum {
			k = i
		}
	}
	if out.sum != r.sum && more[k].sum == r.sum {
		out, more[k] = more[k], out
	}
	x.first[r.id] = more[len(more)-1]
	x.more[r.id] = more[:len(more)-1]
	return out
}

// rest visits what nobody took.
func (x *rowIndex) rest(visit func(*diffRow)) {
	for id, r := range x.first {
		visit(r)
		for _, m := range x.more[id] {
			visit(m)
		}
	}
}

// countFragments fills in what two layouts have in common.
func (v *VersionDiff) countFragments(a, b *lance.Snapshot) error {
	f, err := diffFragments(a, b)
	if err != nil {
		return err
	}
	v.Added, v.Removed = len(f.onlyB), len(f.onlyA)
	for _, p := range f.both {
		if p.kept {
			v.Kept++
		} else {
			v.Touched++
		}
	}
	return nil
}
