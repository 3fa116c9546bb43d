package file

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
)

// Nulls yields what Scan yields when no file holds any of the columns: rows of
// nulls, as in a fragment without data files.
func Nulls(ctx context.Context, cols []Column, rows int64, batchRows int, alloc memory.Allocator) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		r := &Reader{opts: Options{Allocator: alloc}.withDefaults(), rows: rows, plans: map[*format.Field]*column{}}
		plans := make([]*column, len(cols))
		for i, c := range cols {
			af, err := c.Field.ArrowField()
			if err != nil {
				yield(nil, err)
				return
			}
			plans[i] = &column{Column: c, arrow: af}
		}
		s := &scan{r: r, cols: plans, schema: schemaOf(plans), to: rows}
		s.size(int64(batchRows))
		for s.next < rows {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			n := min(s.batch, rows-s.next)
			b, err := s.nulls(n)
			if !yield(b, err) || err != nil {
				return
			}
			s.next += n
		}
	}
}

// nulls is a batch of n rows of nulls.
func (s *scan) nulls(n int64) (arrow.RecordBatch, error) {
	arrays := make([]arrow.Array, len(s.cols))
	defer func() {
		for _, a := range arrays {
			if a != nil {
				a.Release()
			}
		}
	}()
	a := &assembly{r: s.r, budget: values.NewBudget(s.r.opts.BatchBytes)}
	for i, c := range s.cols {
		data, err := a.nulls(c.arrow.Type, int(n))
		if err != nil {
			return nil, err
		}
		arrays[i] = array.MakeFromData(data)
		data.Release()
	}
	return array.NewRecordBatch(s.schema, arrays, n), nil
}

// noValidity is the buffers of a struct without nulls.
func noValidity() []*memory.Buffer { return []*memory.Buffer{nil} }
