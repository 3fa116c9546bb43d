package lance

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/format"
)

// gather copies runs of rows of an array, in the order given, into a new one.
// It does what joining slices of the array would do, at the price of a copy a
// run instead of an array a run.
func gather(c arrow.Array, runs []span, mem memory.Allocator) (arrow.Array, error) {
	n := int64(0)
	for _, r := range runs {
		n += int64(r.to - r.from)
	}
	if n > math.MaxInt32 {
		return nil, format.Unsupportedf("%d rows in one batch", n)
	}
	g := &gathering{mem: mem}
	defer g.release()
	d, err := g.data(c.Data(), runs, int(n))
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

// gathering is one running gather. It holds a reference to every buffer that
// it made until the end.
type gathering struct {
	mem  memory.Allocator
	made []*memory.Buffer
}

func (g *gathering) release() {
	for _, b := range g.made {
		b.Release()
	}
}

func (g *gathering) buffer(size int) *memory.Buffer {
	b := memory.NewResizableBuffer(g.mem)
	b.Resize(size)
	g.made = append(g.made, b)
	return b
}

// data gathers n rows. Runs count from the array's own first row.
func (g *gathering) data(d arrow.ArrayData, runs []span, n int) (arrow.ArrayData, error) {
	at := uint64(d.Offset())
	valid, nulls := g.validity(d, runs, n)
	switch t := d.DataType().(type) {
	case *arrow.NullType:
		return array.NewData(t, n, []*memory.Buffer{nil}, nil, n, 0), nil
	case *arrow.BooleanType:
		bits := g.buffer(int(bitutil.BytesForBits(int64(n))))
		copyBits(bits.Bytes(), bytesOf(d, 1), at, runs)
		return array.NewData(t, n, []*memory.Buffer{valid, bits}, nil, nulls, 0), nil
	case *arrow.StructType:
		return g.structs(d, runs, n, valid, nulls)
	case *arrow.FixedSizeListType:
		size := uint64(t.Len())
		child, err := g.data(d.Children()[0], scaled(runs, at, size), n*int(size))
		if err != nil {
			return nil, err
		}
		defer child.Release()
		return array.NewData(t, n, []*memory.Buffer{valid}, []arrow.ArrayData{child}, nulls, 0), nil
	case *arrow.ListType, *arrow.MapType:
		return g.lists(d, runs, n, valid, nulls, false)
	case *arrow.LargeListType:
		return g.lists(d, runs, n, valid, nulls, true)
	case *arrow.StringType, *arrow.BinaryType:
		return g.texts(d, runs, n, valid, nulls, false)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return g.texts(d, runs, n, valid, nulls, true)
	case *arrow.DictionaryType:
		values := g.fixed(bytesOf(d, 1), at, runs, n, t.IndexType.(arrow.FixedWidthDataType).Bytes())
		return array.NewDataWithDictionary(t, n, []*memory.Buffer{valid, values}, nulls, 0, d.Dictionary().(*array.Data)), nil
	case arrow.FixedWidthDataType:
		return array.NewData(t, n, []*memory.Buffer{valid, g.fixed(bytesOf(d, 1), at, runs, n, t.Bytes())}, nil, nulls, 0), nil
	}
	return nil, format.Unsupportedf("rows of type %s", d.DataType())
}

// bytesOf are the bytes of a buffer, which may be absent.
func bytesOf(d arrow.ArrayData, i int) []byte {
	if b := d.Buffers()[i]; b != nil {
		return b.Bytes()
	}
	return nil
}

// validity gathers the validity bits and counts the nulls.
func (g *gathering) validity(d arrow.ArrayData, runs []span, n int) (*memory.Buffer, int) {
	if d.NullN() == 0 || len(d.Buffers()) == 0 || d.Buffers()[0] == nil {
		return nil, 0
	}
	b := g.buffer(int(bitutil.BytesForBits(int64(n))))
	copyBits(b.Bytes(), bytesOf(d, 0), uint64(d.Offset()), runs)
	return b, n - bitutil.CountSetBits(b.Bytes(), 0, n)
}

// copyBits puts runs of bits one after the other.
func copyBits(dst, src []byte, at uint64, runs []span) {
	clear(dst)
	to := 0
	for _, r := range runs {
		n := int(r.to - r.from)
		bitutil.CopyBitmap(src, int(at+r.from), n, dst, to)
		to += n
	}
}

// fixed gathers values of width bytes each.
func (g *gathering) fixed(src []byte, at uint64, runs []span, n, width int) *memory.Buffer {
	out := g.buffer(n * width)
	dst, w := out.Bytes(), uint64(width)
	for _, r := range runs {
		dst = dst[copy(dst, src[(at+r.from)*w:(at+r.to)*w]):]
	}
	return out
}

func (g *gathering) structs(d arrow.ArrayData, runs []span, n int, valid *memory.Buffer, nulls int) (arrow.ArrayData, error) {
	children := make([]arrow.ArrayData, 0, len(d.Children()))
	defer func() {
		for _, c := range children {
			c.Release()
		}
	}()
	moved := scaled(runs, uint64(d.Offset()), 1)
	for _, child := range d.Children() {
		c, err := g.data(child, moved, n)
		if err != nil {
			return nil, err
		}
		children = append(children, c)
	}
	return array.NewData(d.DataType(), n, []*memory.Buffer{valid}, children, nulls, 0), nil
}

// scaled are runs of the rows below: size for each row.
func scaled(runs []span, at, size uint64) []span {
	out := make([]span, len(runs))
	for i, r := range runs {
		out[i] = span{(at + r.from) * size, (at + r.to) * size}
	}
	return out
}

// ends gathers the offsets of lists or texts, in 4 or 8 bytes, and gives the
// runs and the number of what they refer to.
func (g *gathering) ends(d arrow.ArrayData, runs []span, n int, wide bool) (ends *memory.Buffer, below []span, total int64, err error) {
	src, at, ok := bytesOf(d, 1), uint64(d.Offset()), false
	if wide {
		ends = g.buffer((n + 1) * arrow.Int64SizeBytes)
		below, total, ok = moveEnds(arrow.Int64Traits.CastFromBytes(ends.Bytes()), arrow.Int64Traits.CastFromBytes(src), at, runs)
	} else {
		ends = g.buffer((n + 1) * arrow.Int32SizeBytes)
		below, total, ok = moveEnds(arrow.Int32Traits.CastFromBytes(ends.Bytes()), arrow.Int32Traits.CastFromBytes(src), at, runs)
	}
	if !ok {
		err = format.Unsupportedf("more values in one batch than type %s can hold", d.DataType())
	}
	return ends, below, total, err
}

// moveEnds writes the offsets of runs of rows one after the other. ok is false
// when they do not fit.
func moveEnds[T int32 | int64](dst, src []T, at uint64, runs []span) (below []span, total int64, ok bool) {
	below = make([]span, len(runs))
	dst[0] = 0
	k := 1
	for i, r := range runs {
		if r.from == r.to { // no rows may come without offsets
			continue
		}
		part := src[at+r.from : at+r.to+1]
		first, last := part[0], part[len(part)-1]
		shift := T(total) - first
		if total += int64(last - first); int64(T(total)) != total {
			return nil, 0, false
		}
		for j, end := range part[1:] {
			dst[k+j] = end + shift
		}
		k += len(part) - 1
		below[i] = span{uint64(first), uint64(last)}
	}
	return below, total, true
}

func (g *gathering) lists(d arrow.ArrayData, runs []span, n int, valid *memory.Buffer, nulls int, wide bool) (arrow.ArrayData, error) {
	ends, below, total, err := g.ends(d, runs, n, wide)
	if err != nil {
		return nil, err
	}
	child, err := g.data(d.Children()[0], below, int(total))
	if err != nil {
		return nil, err
	}
	defer child.Release()
	return array.NewData(d.DataType(), n, []*memory.Buffer{valid, ends}, []arrow.ArrayData{child}, nulls, 0), nil
}

func (g *gathering) texts(d arrow.ArrayData, runs []span, n int, valid *memory.Buffer, nulls int, wide bool) (arrow.ArrayData, error) {
	ends, below, total, err := g.ends(d, runs, n, wide)
	if err != nil {
		return nil, err
	}
	values := g.fixed(bytesOf(d, 2), 0, below, int(total), 1)
	return array.NewData(d.DataType(), n, []*memory.Buffer{valid, ends, values}, nil, nulls, 0), nil
}
