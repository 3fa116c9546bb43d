package file

import (
	"context"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/file/layout"
	"github.com/omnideck/omnideck/lance/file/nest"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
)

// sinks keeps the memory of levels.
var sinks = sync.Pool{New: func() any { return new(layout.Sink) }}

// decoded is what came of one leaf: values and the shapes of its layers.
type decoded struct {
	values *values.Builder
	shapes []nest.Shape
}

func (d *decoded) release() {
	if d.values != nil {
		d.values.Release()
	}
	nest.Release(d.shapes)
}

// decodeLeaf decodes the segments of a leaf, in order.
func (r *Reader) decodeLeaf(ctx context.Context, p part, get layout.Get, budget *values.Budget) (d decoded, err error) {
	sink := sinks.Get().(*layout.Sink)
	defer sinks.Put(sink)
	sink.Reset(p.leaf.node.col, r.opts.Allocator, budget)
	d.values = sink.Values
	defer func() { sink.Values = nil }()
	defer func() {
		if err != nil {
			d.release()
			d = decoded{}
		}
	}()
	var n, encoded int64
	for _, s := range p.segments {
		v, b := s.body.Expect(s.from, s.to)
		n, encoded = n+v, encoded+b
	}
	sink.Values = d.values
	if err := sink.Expect(n, encoded); err != nil {
		return d, err
	}
	var reader layout.Reader
	for i, s := range p.segments {
		if i == 0 || s.body != p.segments[i-1].body {
			reader = s.body.Reader()
		}
		if i&63 == 0 && ctx.Err() != nil {
			return d, ctx.Err()
		}
		if err := reader.Read(get, s.from, s.to, sink); err != nil {
			return d, r.fail(p.leaf.name, s.page.number, err)
		}
	}
	lv := sink.Levels()
	if err := budget.Take(lv.N * len(p.leaf.node.col.Path.Layers) / 2); err != nil {
		return d, err
	}
	if d.shapes, err = p.leaf.node.col.Path.Build(lv, r.opts.Allocator); err != nil {
		return d, r.fail(p.leaf.name, -1, err)
	}
	return d, nil
}

// decodeColumn decodes rows of a column: one part for each of its leaves, with
// a nil leaf where the file has none. It makes at most limit bytes of Arrow
// memory.
func (r *Reader) decodeColumn(ctx context.Context, c *column, parts []part, rows int, get layout.Get, limit int64) (arrow.Array, error) {
	budget := values.NewBudget(limit)
	leaves := make([]decoded, len(parts))
	defer func() {
		for i := range leaves {
			leaves[i].release()
		}
	}()
	for i, p := range parts {
		if p.leaf == nil {
			continue
		}
		var err error
		if leaves[i], err = r.decodeLeaf(ctx, p, get, budget); err != nil {
			return nil, err
		}
	}
	a := &assembly{r: r, leaves: leaves, budget: budget}
	data, err := a.node(c.root, rows)
	if err != nil {
		return nil, r.fail(c.Field.Name, -1, err)
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

// assembly builds the arrays of a column from its leaves.
type assembly struct {
	r      *Reader
	leaves []decoded
	budget *values.Budget
}

// node builds the array of a node, which has to have n elements.
func (a *assembly) node(n *node, length int) (arrow.ArrayData, error) {
	first := n.from
	for first < n.to && a.leaves[first].values == nil {
		first++
	}
	if first == n.to {
		return a.nulls(n.dt, length)
	}
	d := &a.leaves[first]
	shape := &d.shapes[len(d.shapes)-1-n.depth]
	if shape.Len != length {
		return nil, format.Corruptf("%d elements of %s where %d are expected: the columns of one field disagree", shape.Len, n.dt, length)
	}
	if n.leaf {
		if d.values.Len() != length {
			return nil, format.Corruptf("%d values of %s in %d places", d.values.Len(), n.dt, length)
		}
		validity := shape.Validity
		shape.Validity = nil
		return d.values.Finish(validity, shape.Nulls)
	}
	return a.nested(n, shape)
}

// nested builds a struct, list, map or fixed-size list around its children.
func (a *assembly) nested(n *node, shape *nest.Shape) (arrow.ArrayData, error) {
	buffers := []*memory.Buffer{shape.Validity}
	below := shape.Len
	switch n.kind {
	case nest.List:
		buffers = append(buffers, shape.Offsets)
		below = lastOffset(n.dt, shape)
	case nest.FixedList:
		below *= int(n.dt.(*arrow.FixedSizeListType).Len())
	}
	children := make([]arrow.ArrayData, 0, len(n.children))
	defer func() {
		for _, c := range children {
			c.Release()
		}
	}()
	for _, c := range n.children {
		data, err := a.node(c, below)
		if err != nil {
			return nil, err
		}
		children = append(children, data)
	}
	if n.dt.ID() == arrow.MAP {
		if entries := children[0]; entries.NullN() != 0 || entries.Children()[0].NullN() != 0 {
			return nil, format.Corruptf("a map with null entries or null keys, or whose keys are not in the file")
		}
	}
	return array.NewData(n.dt, shape.Len, buffers, children, shape.Nulls, 0), nil
}

// lastOffset is the number of items of all lists of a layer.
func lastOffset(dt arrow.DataType, shape *nest.Shape) int {
	if dt.ID() == arrow.LARGE_LIST {
		return int(arrow.Int64Traits.CastFromBytes(shape.Offsets.Bytes())[shape.Len])
	}
	return int(arrow.Int32Traits.CastFromBytes(shape.Offsets.Bytes())[shape.Len])
}

// nulls is the array of a field that the file does not have.
func (a *assembly) nulls(dt arrow.DataType, n int) (arrow.ArrayData, error) {
	if err := a.budget.Take(n * (sizeOf(dt) + 1)); err != nil {
		return nil, err
	}
	arr := array.MakeArrayOfNull(a.r.opts.Allocator, dt, n)
	defer arr.Release()
	arr.Data().Retain()
	return arr.Data(), nil
}

// sizeOf is about the bytes of a null of a type.
func sizeOf(dt arrow.DataType) int {
	switch t := dt.(type) {
	case *arrow.StructType:
		n := 0
		for _, f := range t.Fields() {
			n += sizeOf(f.Type)
		}
		return n
	case *arrow.FixedSizeListType:
		return min(int(t.Len()), 1<<24) * min(sizeOf(t.Elem()), 1<<24)
	case arrow.FixedWidthDataType:
		return t.BitWidth()/8 + 1
	}
	return 8
}
