package lance

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/rowid"
)

// span is the physical rows from..to, to excluded.
type span struct{ from, to uint64 }

// live lists the runs of rows of a piece that are not deleted, and their
// number.
func (ld *loaded) live(pc *piece) (runs []span, rows uint64) {
	if ld.set == nil {
		return []span{{pc.at, pc.at + pc.n}}, pc.n
	}
	for from, to := range ld.set.Live(pc.at, pc.at+pc.n) {
		runs = append(runs, span{from, to})
		rows += to - from
	}
	return runs, rows
}

// finish makes the result batch of a piece: deleted rows taken out, system
// columns put in. It releases the piece. A piece without live rows is nil.
func (ld *loaded) finish(p *projection, pc piece, mem memory.Allocator) (arrow.RecordBatch, error) {
	defer pc.release()
	runs, rows := ld.live(&pc)
	if rows == 0 {
		return nil, nil
	}
	cols := make([]arrow.Array, len(p.out))
	defer func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, o := range p.out {
		if o.system != "" {
			cols[i] = numbers(mem, int(rows), func(dst []uint64) []uint64 { return ld.system(dst, o.system, runs) })
			continue
		}
		c, err := pick(pc.cols[o.field], runs, pc.at, mem)
		if err != nil {
			return nil, err
		}
		cols[i] = c
	}
	return array.NewRecordBatch(p.schema, cols, int64(rows)), nil
}

// pick returns the rows of runs out of an array whose first row is physical
// row at.
func pick(c arrow.Array, runs []span, at uint64, mem memory.Allocator) (arrow.Array, error) {
	if len(runs) == 1 {
		if runs[0].from == at && runs[0].to-at == uint64(c.Len()) {
			c.Retain()
			return c, nil
		}
		return array.NewSlice(c, int64(runs[0].from-at), int64(runs[0].to-at)), nil
	}
	shifted := make([]span, len(runs))
	for i, r := range runs {
		shifted[i] = span{r.from - at, r.to - at}
	}
	return gather(c, shifted, mem)
}

// numbers builds a uint64 array of n values that fill appends.
func numbers(mem memory.Allocator, n int, fill func(dst []uint64) []uint64) arrow.Array {
	buf := memory.NewResizableBuffer(mem)
	defer buf.Release()
	buf.Resize(8 * n)
	fill(arrow.Uint64Traits.CastFromBytes(buf.Bytes())[:0:n])
	data := array.NewData(arrow.PrimitiveTypes.Uint64, n, []*memory.Buffer{nil, buf}, nil, 0, 0)
	defer data.Release()
	return array.NewUint64Data(data)
}

// system appends the values of a system column for runs of rows.
func (ld *loaded) system(dst []uint64, name string, runs []span) []uint64 {
	for _, r := range runs {
		switch {
		case name == ColRowID && ld.ids != nil:
			dst = ld.ids.Append(dst, r.from, r.to)
		case name == ColCreatedAt:
			dst = appendVersions(dst, ld.made, nil, r)
		case name == ColLastUpdated:
			dst = appendVersions(dst, ld.last, ld.made, r)
		default:
			base := ld.st.f.ID << 32
			for i := r.from; i < r.to; i++ {
				dst = append(dst, base|i)
			}
		}
	}
	return dst
}

// appendVersions appends from the first sequence that is recorded; without any
// a row counts as made in version 1.
func appendVersions(dst []uint64, v, fallback *rowid.Versions, r span) []uint64 {
	if v == nil {
		v = fallback
	}
	if v != nil {
		return v.Append(dst, r.from, r.to)
	}
	for ; r.from < r.to; r.from++ {
		dst = append(dst, 1)
	}
	return dst
}
