package lance

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// BenchmarkPick takes a tenth of the rows, here and there, out of columns.
func BenchmarkPick(b *testing.B) {
	const n = 64 << 10
	rnd := rand.New(rand.NewPCG(1, 1))
	var runs []span
	for from := uint64(0); from < n; {
		to := min(from+1+uint64(rnd.IntN(18)), n)
		runs = append(runs, span{from, to})
		from = to + 1
	}
	ints, texts, lists := array.NewInt64Builder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator), array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int32)
	for i := range n {
		ints.Append(int64(i))
		texts.Append(fmt.Sprint("value ", i))
		lists.Append(true)
		lists.ValueBuilder().(*array.Int32Builder).Append(int32(i))
	}
	for _, c := range []arrow.Array{ints.NewArray(), texts.NewArray(), lists.NewArray()} {
		b.Run(c.DataType().String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out, err := pick(c, runs, 0, memory.DefaultAllocator)
				if err != nil {
					b.Fatal(err)
				}
				out.Release()
			}
		})
	}
}
