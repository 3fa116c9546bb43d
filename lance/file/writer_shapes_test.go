package file

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/internal/pace"
)

// shape is a table at a limit of the format, and how it is written.
type shape struct {
	rec  arrow.RecordBatch
	opts WriteOptions
	cut  []int64 // rows of the batches
}

// one makes a record of one column.
func one(f arrow.Field, n int, fill func(b array.Builder, i int)) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{f}, nil))
	for i := range n {
		fill(b.Field(0), i)
	}
	return b.NewRecordBatch()
}

func texts(n int, s func(i int) string) arrow.RecordBatch {
	return one(nullable("s", arrow.BinaryTypes.String), n, func(b array.Builder, i int) {
		if i%11 == 5 {
			b.AppendNull()
		} else {
			b.(*array.StringBuilder).Append(s(i))
		}
	})
}

func integers(n int, f func(i int) int64) arrow.RecordBatch {
	return one(arrow.Field{Name: "i", Type: arrow.PrimitiveTypes.Int64}, n, func(b array.Builder, i int) { b.(*array.Int64Builder).Append(f(i)) })
}

// lists makes lists of so many numbers each; -1 is null.
func intLists(n int, items func(i int) int) arrow.RecordBatch {
	return one(nullable("l", arrow.ListOfField(itemOf(arrow.PrimitiveTypes.Int32))), n, func(b array.Builder, i int) {
		appendList(b.(*array.ListBuilder), items(i), func(v array.Builder, k int) { v.(*array.Int32Builder).Append(int32(i * k)) })
	})
}

func appendList(b *array.ListBuilder, n int, item func(v array.Builder, k int)) {
	if n < 0 {
		b.AppendNull()
		return
	}
	b.Append(true)
	for k := range n {
		item(b.ValueBuilder(), k)
	}
}

// rarely is lists of which only some have items.
func rarely(every int) func(i int) int {
	return func(i int) int {
		switch {
		case i%every == 1:
			return 1 + i%3
		case i%2 == 0:
			return -1
		}
		return 0
	}
}

func edges() map[string]shape {
	rng := rand.New(rand.NewPCG(3, 3))
	out := map[string]shape{}
	prose := func(i int) string { return strings.Repeat(lorem[i%50:], 2)[:20+i%30] }
	for _, n := range []int{4095, 4096, 4097} {
		out[fmt.Sprintf("random %d", n)] = shape{rec: integers(n, func(int) int64 { return rng.Int64() })}
		out[fmt.Sprintf("packed %d", n)] = shape{rec: integers(n, func(i int) int64 { return int64(i * 7919 % 5000) })}
		out[fmt.Sprintf("runs %d", n)] = shape{rec: integers(n, func(i int) int64 { return int64(i / 300) })}
		out[fmt.Sprintf("prose %d", n)] = shape{rec: texts(n, prose)}
		out[fmt.Sprintf("bools %d", n)] = shape{rec: one(nullable("b", arrow.FixedWidthTypes.Boolean), n, func(b array.Builder, i int) {
			if i%13 == 0 {
				b.AppendNull()
			} else {
				b.(*array.BooleanBuilder).Append(rng.IntN(2) == 0)
			}
		})}
		out[fmt.Sprintf("bytes %d", n)] = shape{rec: one(arrow.Field{Name: "u", Type: arrow.PrimitiveTypes.Uint8}, n, func(b array.Builder, i int) { b.(*array.Uint8Builder).Append(uint8(rng.Uint32())) })}
	}
	out["negative"] = shape{rec: integers(3000, func(i int) int64 { return int64(i%100) - 50 })}
	out["one outlier"] = shape{rec: integers(3000, func(i int) int64 { return int64(i%100) << (i / 2999 * 50) })}
	for _, n := range []int{99, 100, 101, 5000} {
		out[fmt.Sprintf("half distinct %d", n)] = shape{rec: texts(n, func(i int) string { return fmt.Sprintf("a value of some length %d", i/2) })}
		out[fmt.Sprintf("few distinct %d", n)] = shape{rec: texts(n, func(i int) string { return fmt.Sprintf("value %d", i*i%5) })}
		out[fmt.Sprintf("few numbers %d", n)] = shape{rec: integers(n, func(i int) int64 { return int64(i*i%5) << 50 })}
	}
	for _, n := range []int{254, 255, 256, 257, 32768, 32769, 70000} {
		out[fmt.Sprintf("text of %d", n)] = shape{rec: texts(40, func(i int) string { return strings.Repeat(lorem, n/len(lorem)+1)[:max(0, n-i)] })}
		out[fmt.Sprintf("noise of %d", n)] = shape{rec: one(nullable("b", arrow.BinaryTypes.Binary), 30, func(b array.Builder, i int) { b.(*array.BinaryBuilder).Append(noise(max(0, n-i))) })}
	}
	for _, total := range []int{32767, 32768, 33000} { // bytes in all, where symbols begin
		out[fmt.Sprintf("prose of %d bytes", total)] = shape{rec: one(arrow.Field{Name: "s", Type: arrow.BinaryTypes.LargeString}, 500, func(b array.Builder, i int) {
			b.(*array.LargeStringBuilder).Append((strings.Repeat(lorem, 12))[i%80:][:total/500+min(1, max(0, total%500-i))])
		})}
	}
	out["long prose"] = shape{rec: texts(300, func(i int) string { return strings.Repeat(lorem[i%40:], 20)[:400+i] })}
	out["empty text"] = shape{rec: texts(5000, func(i int) string { return strings.Repeat("x", i%2*(i/4999)) })}
	out["constant with many nulls"] = shape{rec: texts(9000, func(i int) string { return "the same" })}
	addLists(out)
	for _, c := range []struct {
		name string
		s    *arrow.Schema
	}{{"leaves", leafSchema()}, {"nested", nestedSchema()}} {
		m := makers(9)["nulls"]
		rec := m.record(c.s, 700, memory.DefaultAllocator)
		out[c.name+" in small pages"] = shape{rec, WriteOptions{PageBytes: 700}, nil}
		out[c.name+" in small batches"] = shape{rec, WriteOptions{piecesToJoin: 4}, []int64{1, 2, 300, 7}}
		out[c.name+" in small batches and pages"] = shape{rec, WriteOptions{PageBytes: 900, piecesToJoin: 3, Parallelism: 1}, []int64{5}}
		out[c.name+" from the middle"] = shape{rec: rec.NewSlice(13, 688)}
		out[c.name+" by rows"] = shape{rec, WriteOptions{maxPageRows: 100}, []int64{333}}
	}
	return out
}

// addLists adds lists around the limits of levels.
func addLists(out map[string]shape) {
	for _, n := range []int{32766, 32767, 32768, 65535, 65536, 100000} {
		out[fmt.Sprintf("%d empty lists", n)] = shape{rec: intLists(n, func(i int) int { return min(0, n/2-i) })}
		out[fmt.Sprintf("item, %d empty lists, item", n)] = shape{rec: intLists(n+2, func(i int) int {
			if i == 0 || i == n+1 {
				return 2
			}
			return i%2 - 1
		})}
	}
	out["rare items"] = shape{rec: intLists(50000, rarely(97))}
	out["rarer items"] = shape{rec: intLists(90000, rarely(31000))}
	out["long lists"] = shape{rec: intLists(40, func(i int) int { return i * 150 })}
	out["lists in rows of a chunk"] = shape{rec: intLists(3000, func(i int) int { return 1 })}
	out["constant items"] = shape{rec: one(nullable("l", arrow.ListOfField(itemOf(arrow.PrimitiveTypes.Int32))), 6000, func(b array.Builder, i int) {
		appendList(b.(*array.ListBuilder), i%4-1, func(v array.Builder, k int) { v.(*array.Int32Builder).Append(7) })
	})}
	inner := arrow.ListOfField(itemOf(arrow.ListOfField(itemOf(arrow.BinaryTypes.String))))
	out["a row of 70000 empty lists"] = shape{rec: one(nullable("l", inner), 3, func(b array.Builder, i int) {
		appendList(b.(*array.ListBuilder), 70000, func(v array.Builder, k int) {
			appendList(v.(*array.ListBuilder), k/69999, func(v array.Builder, k int) { v.(*array.StringBuilder).Append("item") })
		})
	})}
	wide := arrow.StructOf(nullable("l", arrow.ListOfField(itemOf(arrow.BinaryTypes.String))))
	for _, nulls := range []int{2, 1000} {
		out[fmt.Sprintf("wide items in structs, a null every %d", nulls)] = shape{rec: one(nullable("s", wide), 200, func(b array.Builder, i int) {
			s := b.(*array.StructBuilder)
			if i%nulls == 1 {
				s.AppendNull()
				return
			}
			s.Append(true)
			appendList(s.FieldBuilder(0).(*array.ListBuilder), i%4-1, func(v array.Builder, k int) {
				v.(*array.StringBuilder).Append(lorem + strings.Repeat(lorem, 3)[k%70:][:240])
			})
		})}
	}
	for _, dim := range []int32{63, 64} {
		t := arrow.FixedSizeListOfField(dim, itemOf(arrow.PrimitiveTypes.Float32))
		for _, holes := range []bool{false, true} {
			out[fmt.Sprintf("vectors of %d, holes %t", dim, holes)] = shape{rec: one(nullable("v", t), 500, func(b array.Builder, i int) {
				v := b.(*array.FixedSizeListBuilder)
				if i%7 == 3 {
					v.AppendNull()
					return
				}
				v.Append(true)
				for k := range dim {
					if holes && (int(k)+i)%50 == 0 {
						v.ValueBuilder().AppendNull()
					} else {
						v.ValueBuilder().(*array.Float32Builder).Append(float32(i) + float32(k)/100)
					}
				}
			})}
		}
	}
}

func TestWriteShapes(t *testing.T) {
	all := edges()
	for _, name := range pace.Every(t, 15, slices.Sorted(maps.Keys(all))) {
		s := all[name]
		out := writeAll(t, s.rec, s.opts, s.cut...)
		check(t, s.rec, out)
		if t.Failed() {
			t.Fatalf("in %s", name)
		}
	}
}

func TestPylanceReadsShapes(t *testing.T) {
	python(t)
	r := &readback{dir: t.TempDir()}
	for name, s := range edges() {
		r.add(t, name, s.rec, writeAll(t, s.rec, s.opts, s.cut...))
	}
	r.run(t)
}
