package lance

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
)

// Take returns the rows at the given addresses, in that order, duplicates
// allowed. columns are as in ScanOptions. Rows that do not exist or are
// deleted are a RowsMissingError that names them all.
func (s *Snapshot) Take(ctx context.Context, columns []string, addrs []uint64) (arrow.RecordBatch, error) {
	p, err := s.project(columns, nil)
	if err != nil {
		return nil, err
	}
	t := &take{s: s, p: p, bind: binder{p: p}, addrs: addrs}
	defer t.release()
	if err := t.split(); err != nil {
		return nil, err
	}
	if err := t.read(ctx); err != nil {
		return nil, err
	}
	return t.assemble()
}

// TakeRowIDs is Take by row id. Without stable row ids an id is an address.
func (s *Snapshot) TakeRowIDs(ctx context.Context, columns []string, ids []uint64) (arrow.RecordBatch, error) {
	addrs, ok, err := s.Addresses(ctx, ids)
	if err != nil {
		return nil, err
	}
	var missing []uint64
	for i, found := range ok {
		if !found {
			missing = append(missing, ids[i])
		}
	}
	if missing != nil {
		return nil, &RowsMissingError{ByID: true, Missing: missing}
	}
	return s.Take(ctx, columns, addrs)
}

// take is one running Take.
type take struct {
	s     *Snapshot
	p     *projection
	bind  binder
	addrs []uint64
	parts []*takePart // by fragment, in order of first mention
	place []int       // result row → row of the parts one after the other
}

// takePart is what is taken out of one fragment.
type takePart struct {
	st      *fragState
	plans   []filePlan
	absent  []file.Column
	offsets []int64 // in the order asked
	ld      *loaded
	cols    []arrow.Array
	missing []uint64
}

func (t *take) release() {
	for _, part := range t.parts {
		for _, c := range part.cols {
			if c != nil {
				c.Release()
			}
		}
	}
}

// split sorts the addresses by fragment.
func (t *take) split() error {
	by := map[uint64]*takePart{}
	var missing []uint64
	for _, addr := range t.addrs {
		part := by[addr>>32]
		if part == nil {
			st, err := t.s.fragment(addr >> 32)
			if err != nil {
				missing = append(missing, addr)
				continue
			}
			part = &takePart{st: st}
			if part.plans, err = t.bind.bind(st.f); err != nil {
				return err
			}
			if len(part.plans) == 0 {
				part.absent = t.bind.absentColumns()
			}
			by[addr>>32] = part
			t.parts = append(t.parts, part)
		}
		part.offsets = append(part.offsets, int64(addr&(1<<32-1)))
	}
	if missing != nil {
		return &RowsMissingError{Missing: missing}
	}
	first, at := map[uint64]int{}, 0
	for _, part := range t.parts {
		first[part.st.f.ID] = at
		at += len(part.offsets)
	}
	t.place = make([]int, len(t.addrs))
	for i, addr := range t.addrs {
		t.place[i] = first[addr>>32]
		first[addr>>32]++
	}
	return nil
}

// read takes from all fragments, side by side.
func (t *take) read(ctx context.Context) error {
	g := beside.New(ctx, t.s.env.opts.Parallelism)
	for _, part := range t.parts {
		g.Go(func(ctx context.Context) error { return t.fragment(ctx, part) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var missing []uint64
	for _, part := range t.parts {
		missing = append(missing, part.missing...)
	}
	if missing != nil {
		return &RowsMissingError{Missing: missing}
	}
	return nil
}

// fragment takes from one fragment.
func (t *take) fragment(ctx context.Context, part *takePart) error {
	s, f := t.s, part.st.f
	ld, err := s.head(ctx, t.p, part.st, part.plans, part.absent)
	if err != nil {
		return err
	}
	part.ld = ld
	for _, off := range part.offsets {
		if uint64(off) >= ld.rows || ld.set.Contains(uint32(off)) {
			part.missing = append(part.missing, f.ID<<32|uint64(off))
		}
	}
	if part.missing != nil {
		return nil
	}
	if len(t.p.fields) == 0 {
		return nil
	}
	if len(ld.parts) > 0 {
		return t.files(ctx, part)
	}
	part.cols = make([]arrow.Array, len(t.p.fields))
	n := len(part.offsets)
	for rec, err := range file.Nulls(ctx, ld.nulls, int64(n), n, s.env.opts.Allocator) {
		if err != nil {
			return s.damage(ctx, f, "", err)
		}
		for k := range part.cols {
			part.cols[k] = rec.Column(k)
			part.cols[k].Retain()
		}
		rec.Release()
		break
	}
	return nil
}

// files takes the rows of a fragment out of its data files.
func (t *take) files(ctx context.Context, part *takePart) error {
	recs := make([]arrow.RecordBatch, len(part.ld.parts))
	defer func() {
		for _, rec := range recs {
			if rec != nil {
				rec.Release()
			}
		}
	}()
	for k, p := range part.ld.parts {
		var err error
		if recs[k], err = p.r.Take(ctx, p.cols, part.offsets); err != nil {
			return t.s.damage(ctx, part.st.f, p.key, err)
		}
	}
	cols, err := columnsOf(part.ld.parts, len(t.p.fields), t.s.env.opts.Allocator, func(k, column int) arrow.Array {
		return recs[k].Column(column)
	})
	if err != nil {
		return t.s.damage(ctx, part.st.f, part.ld.keys(), err)
	}
	part.cols = cols
	return nil
}

// head is load through the cache of opened files.
func (s *Snapshot) head(ctx context.Context, p *projection, st *fragState, plans []filePlan, absent []file.Column) (*loaded, error) {
	return s.loadWith(ctx, p, st, plans, absent, false, func(d *format.DataFile) (*file.Reader, string, error) {
		return s.readers.open(ctx, s, d)
	})
}

// assemble puts the rows of all fragments into the order asked.
func (t *take) assemble() (arrow.RecordBatch, error) {
	mem := t.s.env.opts.Allocator
	cols := make([]arrow.Array, len(t.p.out))
	defer func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, o := range t.p.out {
		var err error
		if o.system != "" {
			cols[i] = numbers(mem, len(t.addrs), func(dst []uint64) []uint64 { return t.system(dst, o.system) })
			continue
		}
		if cols[i], err = t.column(o.field, t.p.schema.Field(i).Type, mem); err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(t.p.schema, cols, int64(len(t.addrs))), nil
}

// column is one column of all fragments in the order asked.
func (t *take) column(field int, typ arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	switch len(t.parts) {
	case 0:
		b := array.NewBuilder(mem, typ)
		defer b.Release()
		return b.NewArray(), nil
	case 1:
		c := t.parts[0].cols[field]
		c.Retain()
		return c, nil
	}
	arrays := make([]arrow.Array, len(t.parts))
	for i, part := range t.parts {
		arrays[i] = part.cols[field]
	}
	all, err := array.Concatenate(arrays, mem)
	if err != nil || slices.IsSorted(t.place) {
		return all, err
	}
	defer all.Release()
	return reorder(all, t.place, mem)
}

// reorder returns the rows of an array in the order of place.
func reorder(c arrow.Array, place []int, mem memory.Allocator) (arrow.Array, error) {
	var runs []span
	for i := 0; i < len(place); {
		k := i + 1
		for k < len(place) && place[k] == place[k-1]+1 {
			k++
		}
		runs = append(runs, span{uint64(place[i]), uint64(place[i] + k - i)})
		i = k
	}
	return gather(c, runs, mem)
}

// system appends the values of a system column in the order asked.
func (t *take) system(dst []uint64, name string) []uint64 {
	by := make(map[uint64]*loaded, len(t.parts))
	for _, part := range t.parts {
		by[part.st.f.ID] = part.ld
	}
	for _, addr := range t.addrs {
		off := addr & (1<<32 - 1)
		dst = by[addr>>32].system(dst, name, []span{{off, off + 1}})
	}
	return dst
}
