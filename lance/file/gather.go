package file

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/encoding/variable"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
)

// gather makes an array of the elements idx of d, which may repeat.
func gather(d arrow.ArrayData, idx []int, mem memory.Allocator, budget *values.Budget) (arrow.ArrayData, error) {
	g := &gatherer{mem: mem, budget: budget}
	return g.array(d, idx)
}

type gatherer struct {
	mem    memory.Allocator
	budget *values.Budget
}

func (g *gatherer) buffer(n int) (*memory.Buffer, error) {
	if err := g.budget.Take(n); err != nil {
		return nil, err
	}
	b := memory.NewResizableBuffer(g.mem)
	b.Resize(n)
	return b, nil
}

// array gathers one level: the validity here, the rest by type.
func (g *gatherer) array(d arrow.ArrayData, idx []int) (arrow.ArrayData, error) {
	validity, nulls, err := g.validity(d, idx)
	if err != nil {
		return nil, err
	}
	buffers, children, err := g.parts(d, idx)
	defer func() {
		for _, c := range children {
			c.Release()
		}
		for _, b := range append(buffers, validity) {
			if b != nil {
				b.Release()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	all := append([]*memory.Buffer{validity}, buffers...)
	if dict, ok := d.Dictionary().(*array.Data); ok && d.DataType().ID() == arrow.DICTIONARY {
		return array.NewDataWithDictionary(d.DataType(), len(idx), all, nulls, 0, dict), nil
	}
	return array.NewData(d.DataType(), len(idx), all, children, nulls, 0), nil
}

func (g *gatherer) validity(d arrow.ArrayData, idx []int) (*memory.Buffer, int, error) {
	if d.DataType().ID() == arrow.NULL {
		return nil, len(idx), nil
	}
	src := d.Buffers()[0]
	if src == nil || d.NullN() == 0 {
		return nil, 0, nil
	}
	return g.bits(src.Bytes(), d.Offset(), idx)
}

// bits gathers bits and counts those that are clear.
func (g *gatherer) bits(src []byte, off int, idx []int) (*memory.Buffer, int, error) {
	b, err := g.buffer((len(idx) + 7) / 8)
	if err != nil {
		return nil, 0, err
	}
	dst, unset := b.Bytes(), 0
	clear(dst)
	for i, k := range idx {
		if bitutil.BitIsSet(src, off+k) {
			dst[i/8] |= 1 << (i % 8)
		} else {
			unset++
		}
	}
	return b, unset, nil
}

// parts gathers the buffers behind the validity, and the children.
func (g *gatherer) parts(d arrow.ArrayData, idx []int) ([]*memory.Buffer, []arrow.ArrayData, error) {
	switch t := d.DataType().(type) {
	case *arrow.NullType:
		return nil, nil, nil
	case *arrow.BooleanType:
		b, _, err := g.bits(d.Buffers()[1].Bytes(), d.Offset(), idx)
		return []*memory.Buffer{b}, nil, err
	case *arrow.StructType:
		return g.structs(d, idx)
	case *arrow.FixedSizeListType:
		return g.fixedLists(d, int(t.Len()), idx)
	case *arrow.DictionaryType:
		return g.words(d, t.IndexType.(arrow.FixedWidthDataType).Bytes(), idx)
	case arrow.FixedWidthDataType:
		return g.words(d, t.Bytes(), idx)
	case *arrow.StringType, *arrow.BinaryType:
		return text[int32](g, d, idx)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return text[int64](g, d, idx)
	case *arrow.ListType, *arrow.MapType:
		return lists[int32](g, d, idx)
	case *arrow.LargeListType:
		return lists[int64](g, d, idx)
	}
	return nil, nil, format.Unsupportedf("rows of %s in another order", d.DataType())
}

func (g *gatherer) words(d arrow.ArrayData, w int, idx []int) ([]*memory.Buffer, []arrow.ArrayData, error) {
	b, err := g.buffer(w * len(idx))
	if err != nil {
		return nil, nil, err
	}
	dst, src := b.Bytes(), d.Buffers()[1].Bytes()[w*d.Offset():]
	for i, k := range idx {
		copy(dst[w*i:w*i+w], src[w*k:])
	}
	return []*memory.Buffer{b}, nil, nil
}

func (g *gatherer) structs(d arrow.ArrayData, idx []int) ([]*memory.Buffer, []arrow.ArrayData, error) {
	below := shifted(idx, d.Offset())
	children := make([]arrow.ArrayData, 0, len(d.Children()))
	for _, c := range d.Children() {
		data, err := g.array(c, below)
		if err != nil {
			return nil, children, err
		}
		children = append(children, data)
	}
	return nil, children, nil
}

func shifted(idx []int, by int) []int {
	if by == 0 {
		return idx
	}
	out := make([]int, len(idx))
	for i, k := range idx {
		out[i] = k + by
	}
	return out
}

func (g *gatherer) fixedLists(d arrow.ArrayData, dim int, idx []int) ([]*memory.Buffer, []arrow.ArrayData, error) {
	if err := g.budget.Take(8 * dim * len(idx)); err != nil {
		return nil, nil, err
	}
	items := make([]int, 0, dim*len(idx))
	for _, k := range idx {
		for j := range dim {
			items = append(items, (d.Offset()+k)*dim+j)
		}
	}
	return g.child(d, items)
}

func (g *gatherer) child(d arrow.ArrayData, items []int) ([]*memory.Buffer, []arrow.ArrayData, error) {
	c, err := g.array(d.Children()[0], items)
	if err != nil {
		return nil, nil, err
	}
	return nil, []arrow.ArrayData{c}, nil
}

// borders are the offsets of an array, and an empty buffer for those of n
// elements gathered.
func borders[O variable.Offset](g *gatherer, d arrow.ArrayData, n int) (from []O, to []O, b *memory.Buffer, err error) {
	size := 4
	if o := O(math.MaxInt32); o+1 > 0 {
		size = 8
	}
	if b, err = g.buffer(size * (n + 1)); err != nil {
		return nil, nil, nil, err
	}
	to = arrow.GetData[O](b.Bytes())
	to[0] = 0
	if src := d.Buffers()[1]; src != nil && src.Len() > 0 {
		from = arrow.GetData[O](src.Bytes())[d.Offset():]
	}
	return from, to, b, nil
}

func text[O variable.Offset](g *gatherer, d arrow.ArrayData, idx []int) ([]*memory.Buffer, []arrow.ArrayData, error) {
	from, to, offsets, err := borders[O](g, d, len(idx))
	if err != nil {
		return nil, nil, err
	}
	total := 0
	for i, k := range idx {
		total += int(from[k+1] - from[k])
		if total > variable.MaxOffset[O]() {
			offsets.Release()
			return nil, nil, variable.ErrTooLong
		}
		to[i+1] = O(total)
	}
	data, err := g.buffer(total)
	if err != nil {
		offsets.Release()
		return nil, nil, err
	}
	var src []byte
	if b := d.Buffers()[2]; b != nil {
		src = b.Bytes()
	}
	for i, k := range idx {
		copy(data.Bytes()[to[i]:to[i+1]], src[from[k]:from[k+1]])
	}
	return []*memory.Buffer{offsets, data}, nil, nil
}

func lists[O variable.Offset](g *gatherer, d arrow.ArrayData, idx []int) ([]*memory.Buffer, []arrow.ArrayData, error) {
	from, to, offsets, err := borders[O](g, d, len(idx))
	if err != nil {
		return nil, nil, err
	}
	total := 0
	for i, k := range idx {
		total += int(from[k+1] - from[k])
		if total > math.MaxInt32 {
			offsets.Release()
			return nil, nil, values.ErrTooLarge
		}
		to[i+1] = O(total)
	}
	if err := g.budget.Take(8 * total); err != nil {
		offsets.Release()
		return nil, nil, err
	}
	items := make([]int, 0, total)
	for _, k := range idx {
		for j := from[k]; j < from[k+1]; j++ {
			items = append(items, int(j))
		}
	}
	_, children, err := g.child(d, items)
	return []*memory.Buffer{offsets}, children, err
}
