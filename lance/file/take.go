package file

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance/file/values"
)

// run is a run of rows.
type run struct{ from, to int64 }

// Take returns the given rows, in that order, duplicates allowed. What finds
// the rows in their pages is read together for all columns, unless an earlier
// call did; then the data, together for all columns, near ranges at once.
func (r *Reader) Take(ctx context.Context, cols []Column, rows []int64) (arrow.RecordBatch, error) {
	plans, err := r.planAll(cols)
	if err != nil {
		return nil, err
	}
	sorted, runs, err := r.runs(rows)
	if err != nil {
		return nil, err
	}
	t := &take{r: r, cols: plans, runs: runs, n: len(sorted), old: oldPagesCache{r: r}}
	arrays := make([]arrow.Array, len(plans))
	defer func() {
		for _, a := range arrays {
			if a != nil {
				a.Release()
			}
		}
	}()
	if err := t.decode(ctx, arrays); err != nil {
		return nil, err
	}
	if !slices.Equal(sorted, rows) {
		if err := t.reorder(arrays, sorted, rows); err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(schemaOf(plans), arrays, int64(len(rows))), nil
}

// runs sorts rows, drops duplicates, and joins neighbours.
func (r *Reader) runs(rows []int64) (sorted []int64, runs []run, err error) {
	sorted = rows
	for i, row := range rows {
		if row < 0 || row >= r.rows {
			return nil, nil, r.fail("", -1, fmt.Errorf("row %d was asked of %d", row, r.rows))
		}
		if i > 0 && row <= rows[i-1] && len(sorted) == len(rows) {
			sorted = nil
		}
	}
	if sorted == nil && len(rows) > 0 {
		sorted = slices.Clone(rows)
		slices.Sort(sorted)
		sorted = slices.Compact(sorted)
	}
	for _, row := range sorted {
		if n := len(runs); n > 0 && runs[n-1].to == row {
			runs[n-1].to++
		} else {
			runs = append(runs, run{row, row + 1})
		}
	}
	return sorted, runs, nil
}

// take is a take under way.
type take struct {
	r    *Reader
	cols []*column
	runs []run
	n    int // rows in runs
	old  oldPagesCache
}

// aloneBelow is how many values are decoded by one goroutine alone.
const aloneBelow = 512

// decode fills arrays with the rows in the order of the file.
func (t *take) decode(ctx context.Context, arrays []arrow.Array) error {
	var all []part
	parts := make([][]part, len(t.cols))
	for i, c := range t.cols {
		parts[i] = make([]part, len(c.leaves))
		for k, l := range c.leaves {
			if l == nil {
				continue
			}
			segs := make([]segment, 0, len(t.runs))
			for _, run := range t.runs {
				segs = l.segments(segs, run.from, run.to)
			}
			parts[i][k] = part{l, segs}
		}
		all = append(all, parts[i]...)
	}
	if err := t.r.openHeads(ctx, all, nil); err != nil {
		return t.r.fail("", -1, err)
	}
	ranges, err := t.r.dataRanges(all)
	if err != nil {
		return err
	}
	got, err := t.r.fetch(ctx, ranges, true)
	if err != nil {
		return t.r.fail("", -1, err)
	}
	defer got.release()
	one := func(i int) (err error) {
		if t.cols[i].old != nil {
			arrays[i], err = t.oldColumn(ctx, t.cols[i])
		} else {
			arrays[i], err = t.r.decodeColumn(ctx, t.cols[i], parts[i], t.n, got.get, t.r.opts.BatchBytes)
		}
		return err
	}
	if t.n*len(t.cols) < aloneBelow {
		for i := range t.cols {
			if err := one(i); err != nil {
				return err
			}
		}
		return nil
	}
	return beside.All(len(t.cols), t.r.opts.Parallelism, one)
}

// oldColumn reads the runs of a column of format 2.0 one by one.
func (t *take) oldColumn(ctx context.Context, c *column) (arrow.Array, error) {
	if len(t.runs) == 0 {
		return t.old.column(ctx, c, 0, 0)
	}
	var pieces []arrow.Array
	defer func() {
		for _, p := range pieces {
			p.Release()
		}
	}()
	for _, run := range t.runs {
		a, err := t.old.column(ctx, c, run.from, run.to)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, a)
	}
	out, err := array.Concatenate(pieces, t.r.opts.Allocator)
	return out, t.r.fail(c.Field.Name, -1, err)
}

// reorder brings the rows into the order asked.
func (t *take) reorder(arrays []arrow.Array, sorted, rows []int64) error {
	idx := make([]int, len(rows))
	for i, row := range rows {
		idx[i], _ = slices.BinarySearch(sorted, row)
	}
	budget := values.NewBudget(t.r.opts.BatchBytes)
	for i, a := range arrays {
		data, err := gather(a.Data(), idx, t.r.opts.Allocator, budget)
		if err != nil {
			return t.r.fail(t.cols[i].Field.Name, -1, err)
		}
		a.Release()
		arrays[i] = array.MakeFromData(data)
		data.Release()
	}
	return nil
}
