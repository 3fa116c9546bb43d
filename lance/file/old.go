package file

import (
	"context"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/omnideck/omnideck/lance/encoding/v20"
	"github.com/omnideck/omnideck/lance/file/layout"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/pb"
	enc20pb "github.com/omnideck/omnideck/lance/pb/encodings"
)

// oldField is a field of a file of format 2.0, where every field has a
// physical column.
type oldField struct {
	dt       arrow.DataType
	kind     v20.Kind
	number   int // of the physical column; -1 = not in the file
	pages    []oldPage
	children []*oldField
	missing  bool // this field or one below it is not in the file
}

// oldPage is a page and what it addresses.
type oldPage struct {
	pageMeta
	encoding *enc20pb.ArrayEncoding
	column   []layout.Range // buffers of the column, if there are any
	globals  bool           // it addresses buffers of the file
}

func (r *Reader) newOldField(c Column) (*oldField, error) {
	leaves := c.Leaves
	af, err := c.Field.ArrowField()
	if err != nil {
		return nil, err
	}
	f, err := r.oldTree(c.Field, af.Type, &leaves)
	if err != nil {
		return nil, err
	}
	if f.number >= 0 {
		rows := int64(0)
		for _, p := range f.pages {
			rows += p.rows
		}
		if rows != r.rows {
			return nil, format.Corruptf("physical column %d has %d rows, the file has %d", f.number, rows, r.rows)
		}
	}
	return f, nil
}

func (r *Reader) oldTree(f *format.Field, dt arrow.DataType, leaves *[]int) (*oldField, error) {
	o := &oldField{dt: dt, number: (*leaves)[0]}
	*leaves = (*leaves)[1:]
	o.missing = o.number < 0
	if err := r.oldPages(o); err != nil {
		return nil, err
	}
	switch {
	case f.Blob() != format.NoBlob:
		o.kind = v20.Blob
		return o, nil
	case isPacked(f):
		o.kind = v20.Packed
		return o, nil
	case isLeaf(f):
		_, err := values.TypeOf(dt)
		return o, err
	}
	_, types, err := childTypes(dt)
	if err != nil {
		return nil, err
	}
	switch dt.ID() {
	case arrow.STRUCT:
		o.kind = v20.Struct
	case arrow.LIST, arrow.LARGE_LIST:
		o.kind = v20.List
	default:
		return nil, format.Unsupportedf("%s in a file of format 2.0", dt)
	}
	for i, c := range f.Children {
		child, err := r.oldTree(c, types[i], leaves)
		if err != nil {
			return nil, err
		}
		o.missing = o.missing || child.missing
		o.children = append(o.children, child)
	}
	return o, nil
}

func (r *Reader) oldPages(o *oldField) error {
	if o.number < 0 {
		return nil
	}
	meta, err := r.meta(o.number)
	if err != nil {
		return err
	}
	for _, m := range meta.pages {
		p := oldPage{pageMeta: m, column: meta.buffers, encoding: new(enc20pb.ArrayEncoding)}
		if err := unwrap(m.encoding, pb.ArrayEncodingName, p.encoding); err != nil {
			return err
		}
		p.globals = addressesFile(p.encoding.ProtoReflect(), 32)
		o.pages = append(o.pages, p)
	}
	return nil
}

// addressesFile tells whether a tree of encodings has a buffer of the file.
func addressesFile(m protoreflect.Message, depth int) bool {
	if b, ok := m.Interface().(*enc20pb.Buffer); ok {
		return b.GetBufferType() == enc20pb.BufferType_FILE
	}
	found := false
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if fd.Message() != nil && !fd.IsList() && !fd.IsMap() && depth > 0 {
			found = found || addressesFile(v.Message(), depth-1)
		}
		return !found
	})
	return found
}

// each calls f for all fields of the tree that are in the file.
func (o *oldField) each(f func(*oldField)) {
	if o == nil {
		return
	}
	if o.number >= 0 {
		f(o)
	}
	for _, c := range o.children {
		c.each(f)
	}
}

// bytes is the size of all buffers.
func (o *oldField) bytes() int64 {
	n := int64(0)
	o.each(func(o *oldField) {
		for _, p := range o.pages {
			for _, b := range p.buffers {
				n += b.Len
			}
		}
	})
	return n
}

// all are all buffers of all pages.
func (o *oldField) all() []layout.Range {
	var out []layout.Range
	o.each(func(o *oldField) {
		for _, p := range o.pages {
			out = append(out, p.buffers...)
		}
	})
	return out
}

// oldPagesCache keeps the buffers of whole pages during one call, those read
// last, since units are smaller than pages.
type oldPagesCache struct {
	r     *Reader
	pre   *blocks
	mu    sync.Mutex
	order []*oldPage
	held  map[*oldPage]*oldLoad
	size  int64
}

type oldLoad struct {
	once  sync.Once
	bufs  v20.Buffers
	bytes int64
	err   error
}

// maxOldPages bounds the bytes of pages that are kept.
const maxOldPages = 256 << 20

func (c *oldPagesCache) load(ctx context.Context, p *oldPage) (v20.Buffers, error) {
	c.mu.Lock()
	if c.held == nil {
		c.held = map[*oldPage]*oldLoad{}
	}
	l := c.held[p]
	if l == nil {
		l = &oldLoad{}
		for _, b := range p.buffers {
			l.bytes += b.Len
		}
		c.held[p] = l
		c.order = append(c.order, p)
		c.size += l.bytes
		for c.size > maxOldPages && len(c.order) > 1 {
			c.size -= c.held[c.order[0]].bytes
			delete(c.held, c.order[0])
			c.order = c.order[1:]
		}
	}
	c.mu.Unlock()
	l.once.Do(func() { l.bufs, l.err = c.read(ctx, p) })
	return l.bufs, l.err
}

func (c *oldPagesCache) read(ctx context.Context, p *oldPage) (v20.Buffers, error) {
	var globals []layout.Range
	if p.globals {
		globals = c.r.gbo
		for _, g := range globals {
			if err := checkRange(g, 0, c.r.src.Size(), "a global buffer"); err != nil {
				return v20.Buffers{}, err
			}
		}
	}
	ranges := append(append(append([]layout.Range{}, p.buffers...), p.column...), globals...)
	got := c.pre
	if got == nil || len(p.column)+len(globals) > 0 {
		var err error
		if got, err = c.r.fetch(ctx, ranges, false); err != nil {
			return v20.Buffers{}, err
		}
	}
	var out v20.Buffers
	for _, group := range []struct {
		from []layout.Range
		to   *[][]byte
	}{{p.buffers, &out.Page}, {p.column, &out.Column}, {globals, &out.File}} {
		for _, rg := range group.from {
			b, err := got.get(rg)
			if err != nil {
				return out, err
			}
			*group.to = append(*group.to, b)
		}
	}
	return out, nil
}

// field makes what package v20 reads.
func (c *oldPagesCache) field(ctx context.Context, o *oldField) *v20.Field {
	f := &v20.Field{Type: o.dt, Kind: o.kind}
	for i := range o.pages {
		p := &o.pages[i]
		f.Pages = append(f.Pages, v20.Page{Rows: p.rows, Encoding: p.encoding,
			Load: func() (v20.Buffers, error) { return c.load(ctx, p) }})
	}
	for _, child := range o.children {
		f.Children = append(f.Children, c.field(ctx, child))
	}
	return f
}

// read reads rows of a column.
func (c *oldPagesCache) column(ctx context.Context, col *column, from, to int64) (arrow.Array, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := c.node(ctx, col.old, from, to)
	if err != nil {
		return nil, c.r.fail(col.Field.Name, -1, err)
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

// node reads a field; of a struct child by child, since some may be missing.
func (c *oldPagesCache) node(ctx context.Context, o *oldField, from, to int64) (arrow.ArrayData, error) {
	switch {
	case o.number < 0:
		a := &assembly{r: c.r, budget: values.NewBudget(c.r.opts.BatchBytes)}
		return a.nulls(o.dt, int(to-from))
	case o.kind != v20.Struct:
		if o.missing {
			return nil, format.Unsupportedf("%s, of which the file holds only some fields", o.dt)
		}
		arr, err := v20.Read(c.field(ctx, o), from, to)
		if err != nil {
			return nil, err
		}
		defer arr.Release()
		arr.Data().Retain()
		return arr.Data(), nil
	}
	children := make([]arrow.ArrayData, 0, len(o.children))
	defer func() {
		for _, child := range children {
			child.Release()
		}
	}()
	for _, child := range o.children {
		data, err := c.node(ctx, child, from, to)
		if err != nil {
			return nil, err
		}
		children = append(children, data)
	}
	return array.NewData(o.dt, int(to-from), noValidity(), children, 0, 0), nil
}
