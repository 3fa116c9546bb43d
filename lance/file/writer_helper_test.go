package file

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/format"
)

// fieldsOf makes the fields of a schema, with ids in depth-first order.
func fieldsOf(s *arrow.Schema) []*format.Field { return format.SchemaOf(s).Fields }

// logical is the logical type of an Arrow type.
func logical(t arrow.DataType) string {
	return fieldsOf(arrow.NewSchema([]arrow.Field{{Type: t}}, nil))[0].LogicalType
}

// maker makes random values.
type maker struct {
	*rand.Rand
	nulls    float64 // share of nulls
	distinct int     // most distinct values; 0 = no limit
	text     int     // longest text
	items    int     // longest list
}

func (m *maker) number() uint64 {
	if m.distinct > 0 {
		return uint64(m.IntN(m.distinct))
	}
	return m.Uint64() >> m.IntN(64)
}

const lorem = "the quick brown fox jumps over a lazy dog and then goes home to sleep near the river bank "

func (m *maker) word() string {
	n := m.IntN(m.text + 1)
	if m.distinct > 0 {
		k := m.IntN(m.distinct)
		return fmt.Sprintf("value %d", k)[:min(6+n, len(fmt.Sprintf("value %d", k)))]
	}
	at := m.IntN(len(lorem))
	return strings.Repeat(lorem[at:]+lorem[:at], n/len(lorem)+1)[:n]
}

// append appends a random value to a builder.
func (m *maker) append(b array.Builder, nullable bool) {
	if nullable && m.Float64() < m.nulls {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.NullBuilder:
		b.AppendNull()
	case *array.BooleanBuilder:
		b.Append(m.IntN(2) == 0 && m.distinct != 1)
	case *array.StringBuilder:
		b.Append(m.word())
	case *array.LargeStringBuilder:
		b.Append(m.word())
	case *array.BinaryBuilder:
		b.Append([]byte(m.word()))
	case *array.FixedSizeBinaryBuilder:
		p := make([]byte, b.Type().(*arrow.FixedSizeBinaryType).ByteWidth)
		for i := range p {
			p[i] = byte(m.number())
		}
		b.Append(p)
	default:
		m.appendNumber(b)
	}
}

func (m *maker) appendNumber(b array.Builder) {
	switch b := b.(type) {
	case *array.Int8Builder:
		b.Append(int8(m.number()))
	case *array.Uint8Builder:
		b.Append(uint8(m.number()))
	case *array.Int16Builder:
		b.Append(int16(m.number()))
	case *array.Uint16Builder:
		b.Append(uint16(m.number()))
	case *array.Int32Builder:
		b.Append(int32(m.number()))
	case *array.Uint32Builder:
		b.Append(uint32(m.number()))
	case *array.Int64Builder:
		b.Append(int64(m.number()))
	case *array.Uint64Builder:
		b.Append(m.number())
	case *array.Float16Builder:
		b.Append(float16.New(float32(m.number() % 1000)))
	case *array.Float32Builder:
		b.Append(float32(m.number()))
	case *array.Float64Builder:
		b.Append(float64(m.number()))
	case *array.Decimal128Builder:
		b.Append(decimal128.FromU64(m.number()))
	case *array.Decimal256Builder:
		b.Append(decimal256.FromU64(m.number()))
	default:
		m.appendTime(b)
	}
}

func (m *maker) appendTime(b array.Builder) {
	switch b := b.(type) {
	case *array.Date32Builder:
		b.Append(arrow.Date32(m.number() % 100000))
	case *array.Date64Builder:
		b.Append(arrow.Date64(m.number() % 100000 * 86400000))
	case *array.Time32Builder:
		b.Append(arrow.Time32(m.number() % 80000))
	case *array.Time64Builder:
		b.Append(arrow.Time64(m.number() % 80000))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(m.number() % (1 << 40)))
	case *array.DurationBuilder:
		b.Append(arrow.Duration(m.number() >> 1))
	default:
		m.appendNested(b)
	}
}

func (m *maker) appendNested(b array.Builder) {
	switch b := b.(type) {
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			m.append(b.FieldBuilder(i), b.Type().(*arrow.StructType).Field(i).Nullable)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		t := b.Type().(*arrow.FixedSizeListType)
		for range t.Len() {
			m.append(b.ValueBuilder(), t.ElemField().Nullable && t.Elem().ID() != arrow.FIXED_SIZE_LIST)
		}
	case *array.MapBuilder:
		b.Append(true)
		for range m.IntN(m.items + 1) {
			m.append(b.KeyBuilder(), false)
			m.append(b.ItemBuilder(), b.Type().(*arrow.MapType).ItemField().Nullable)
		}
	case array.ListLikeBuilder:
		b.(interface{ Append(bool) }).Append(true)
		for range m.IntN(m.items + 1) {
			m.append(b.ValueBuilder(), b.Type().(arrow.ListLikeType).ElemField().Nullable)
		}
	case array.DictionaryBuilder:
		values := array.NewStringBuilder(memory.DefaultAllocator)
		values.Append(fmt.Sprintf("value %d", m.IntN(min(max(m.distinct, 1), 100))))
		one := values.NewStringArray()
		if err := b.AppendArray(one); err != nil {
			panic(err)
		}
	default:
		panic(fmt.Sprintf("no values for %T", b))
	}
}

// record makes a random record of n rows.
func (m *maker) record(s *arrow.Schema, n int, mem memory.Allocator) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, s)
	defer b.Release()
	for range n {
		for i, f := range s.Fields() {
			m.append(b.Field(i), f.Nullable)
		}
	}
	return b.NewRecordBatch()
}

var _ = decimal.Decimal128{}

// writeAll writes a record in batches of the given numbers of rows, the last
// one taken again and again.
func writeAll(t testing.TB, rec arrow.RecordBatch, o WriteOptions, sizes ...int64) *Written {
	t.Helper()
	w, err := NewWriter(fieldsOf(rec.Schema()), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(sizes) == 0 {
		sizes = []int64{max(rec.NumRows(), 1)}
	}
	for at, k := int64(0), 0; at < rec.NumRows(); k = min(k+1, len(sizes)-1) {
		end := min(at+sizes[k], rec.NumRows())
		part := rec.NewSlice(at, end)
		err := w.Write(part)
		part.Release()
		if err != nil {
			t.Fatal(err)
		}
		at = end
	}
	out, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return out
}
