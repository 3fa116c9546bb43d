package lance_test

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance"
)

// mapColumn changes the values of a column of text.
func mapColumn(rows lance.Rows, name string, f func(string) string) lance.Rows {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for batch, err := range rows {
			if err == nil {
				batch = mapBatch(batch, name, f)
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

func mapBatch(batch arrow.RecordBatch, name string, f func(string) string) arrow.RecordBatch {
	defer batch.Release()
	cols := make([]arrow.Array, batch.NumCols())
	for i, field := range batch.Schema().Fields() {
		cols[i] = batch.Column(i)
		if field.Name != name {
			continue
		}
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for _, v := range values(batch.Column(i)) {
			b.Append(f(v))
		}
		cols[i] = b.NewArray()
	}
	return array.NewRecordBatch(batch.Schema(), cols, batch.NumRows())
}

// values spells all values of a column.
func values(c arrow.Array) []string {
	out := make([]string, c.Len())
	for i := range out {
		out[i] = c.ValueStr(i)
	}
	return out
}
