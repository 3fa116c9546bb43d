package engine

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"errors"
	"slices"

	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance"
)

// What became of an entity, in the order in which changes of one id stand.
const (
	opDelete = iota
	opUpdate
	opInsert
)

var opNames = [...]string{"delete", "update", "insert"}

// change is a change that may be told.
type change struct {
	id            string
	op            uint8
	before, after *diffRow
}

func (a change) compare(b change) int {
	return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.op, b.op))
}

// changeHeap holds the first changes by id, the last of them on top.
type changeHeap struct {
	limit int
	list  []change
}

func (h *changeHeap) Len() int           { return len(h.list) }
func (h *changeHeap) Less(i, j int) bool { return h.list[i].compare(h.list[j]) > 0 }
func (h *changeHeap) Swap(i, j int)      { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *changeHeap) Push(x any)         { h.list = append(h.list, x.(change)) }
func (h *changeHeap) Pop() any {
	last := h.list[len(h.list)-1]
	h.list[len(h.list)-1] = change{}
	h.list = h.list[:len(h.list)-1]
	return last
}

// keep holds a change as long as it is among the first.
func (d *tableDiff) keep(c change) {
	if len(d.refs.list) == d.refs.limit && c.compare(d.refs.list[0]) >= 0 {
		d.drop(c.before, c.after)
		return
	}
	for _, r := range []**diffRow{&c.before, &c.after} {
		if *r != nil {
			x := **r // a copy, so that a batch is not held by one row of it
			*r = &x
		}
	}
	heap.Push(&d.refs, c)
	if len(d.refs.list) > d.refs.limit {
		last := heap.Pop(&d.refs).(change)
		d.drop(last.before, last.after)
	}
}

// tell spells the first changes, at most n: rows whose lines were not held are
// taken.
func (d *tableDiff) tell(ctx context.Context, n int) ([]Change, error) {
	slices.SortFunc(d.refs.list, change.compare)
	list := d.refs.list[:min(n, len(d.refs.list))]
	var before, after []*diffRow
	for _, c := range list {
		if c.before != nil && c.before.line == nil {
			before = append(before, c.before)
		}
		if c.after != nil && c.after.line == nil {
			after = append(after, c.after)
		}
	}
	err := d.together(
		func() error { return d.a.fill(ctx, before) },
		func() error { return d.b.fill(ctx, after) },
	)
	if err != nil {
		return nil, err
	}
	out := make([]Change, len(list))
	for i, c := range list {
		s := d.b
		if c.after == nil {
			s = d.a
		}
		e := s.cols.entry
		out[i] = Change{Kind: e.Kind(), Type: e.Name(), ID: c.id, Op: opNames[c.op]}
		if c.before != nil {
			out[i].Before = c.before.line
		}
		if c.after != nil {
			out[i].After = c.after.line
		}
	}
	return out, nil
}

// types notes the types of properties, those of after where both sides have one,
// under each name that changes are told by.
func (d *tableDiff) types(of func(alias string) map[string]string) {
	for _, s := range []*diffSide{d.a, d.b} {
		if s == nil {
			continue
		}
		into := of(s.cols.entry.Alias)
		for i, label := range s.cols.labels(s.props, nil) {
			into[s.props[i]] = label
		}
	}
}

// fill takes the lines of rows.
func (s *diffSide) fill(ctx context.Context, rows []*diffRow) error {
	for part := range slices.Chunk(rows, exportTake) {
		addrs := make([]uint64, len(part))
		for i, r := range part {
			addrs[i] = r.addr
		}
		batch, err := s.snap.Take(ctx, s.takeColumns(), addrs)
		if err == nil {
			i := 0
			err = s.tell(ctx, batch, func(row Row) error {
				part[i].line = row.Line
				i++
				return nil
			})
			batch.Release()
		}
		if err != nil {
			return s.rowsError(ctx, err, s.cols.entry)
		}
	}
	return nil
}

// settle compares the bytes of blobs of rows that differ in nothing else.
func (d *tableDiff) settle(ctx context.Context) error {
	if len(d.alike) == 0 {
		return nil
	}
	differ := make([]bool, len(d.alike))
	for _, name := range d.b.cols.blobNames(d.b.props) {
		before, err := d.a.blobsAt(ctx, name, d.alike, 0)
		if err != nil {
			return err
		}
		after, err := d.b.blobsAt(ctx, name, d.alike, 1)
		if err != nil {
			return err
		}
		g := beside.New(ctx, diffBlobs)
		for i := range d.alike {
			if differ[i] {
				continue
			}
			g.Go(func(ctx context.Context) error {
				same, err := sameBlob(ctx, before[i], after[i])
				differ[i] = !same
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	for i, p := range d.alike {
		if differ[i] {
			d.updated(p[0], p[1])
		} else {
			d.drop(p[0], p[1])
		}
	}
	d.alike = d.alike[:0]
	return nil
}

// blobsAt are the blobs of one side of pairs.
func (s *diffSide) blobsAt(ctx context.Context, name string, pairs [][2]*diffRow, side int) ([]*lance.Blob, error) {
	addrs := make([]uint64, len(pairs))
	for i, p := range pairs {
		addrs[i] = p[side].addr
	}
	list, err := s.snap.Blobs(ctx, name, addrs)
	return list, s.rowsError(ctx, err, s.cols.entry)
}

// sameBlob compares two blobs that are spelled alike, in parts.
func sameBlob(ctx context.Context, a, b *lance.Blob) (bool, error) {
	if a.Null || b.Null || a.Kind == lance.BlobExternal || b.Kind == lance.BlobExternal {
		return a.Null == b.Null && (a.Kind == lance.BlobExternal) == (b.Kind == lance.BlobExternal) && a.URI == b.URI, nil
	}
	before, errA := a.Place()
	after, errB := b.Place()
	switch {
	case errA != nil || errB != nil:
		return false, errors.Join(errA, errB)
	case a.Size != b.Size:
		return false, nil
	case before == after:
		return true, nil
	}
	for off := int64(0); uint64(off) < a.Size; off += diffPart {
		x, err := a.Read(ctx, off, diffPart)
		if err != nil {
			return false, err
		}
		y, err := b.Read(ctx, off, diffPart)
		if err != nil {
			return false, err
		}
		if !bytes.Equal(x, y) {
			return false, nil
		}
	}
	return true, nil
}
