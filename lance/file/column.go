package file

import (
	"errors"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/omnideck/omnideck/lance/file/layout"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/pb"
	enc20pb "github.com/omnideck/omnideck/lance/pb/encodings"
)

// columnSlot is the metadata of a physical column, parsed once.
type columnSlot struct {
	once sync.Once
	meta *columnMeta
	err  error
}

// meta parses the metadata of physical column i.
func (r *Reader) meta(i int) (*columnMeta, error) {
	if i < 0 || i >= len(r.cmo) {
		return nil, format.Corruptf("physical column %d of a file of %d", i, len(r.cmo))
	}
	r.mu.Lock()
	slot := r.columns[i]
	if slot == nil {
		slot = &columnSlot{}
		r.columns[i] = slot
	}
	r.mu.Unlock()
	slot.once.Do(func() { slot.meta, slot.err = r.parseMeta(i) })
	return slot.meta, slot.err
}

func (r *Reader) parseMeta(i int) (*columnMeta, error) {
	if err := checkRange(r.cmo[i], r.foot.metaStart, r.foot.cmoStart, "column metadata"); err != nil {
		return nil, err
	}
	block, err := r.held(r.cmo[i])
	if err != nil {
		return nil, err
	}
	m, err := r.foot.parseColumn(block)
	if err != nil {
		return nil, err
	}
	if isPlain(m.encoding) {
		return m, nil
	}
	return m, unwrap(m.encoding, pb.ColumnEncodingName, new(enc20pb.ColumnEncoding))
}

// unwrap reads the message of a direct encoding.
func unwrap(d description, name string, into proto.Message) error {
	if d == nil {
		return format.Unsupportedf("an encoding that is described elsewhere, or not at all")
	}
	wrapped := new(anypb.Any)
	if err := proto.Unmarshal(d, wrapped); err != nil {
		return format.Corruptf("the description of an encoding is no protobuf message: %w", err)
	}
	got, err := pb.AnyName(wrapped.GetTypeUrl())
	if err != nil {
		return format.Corruptf("the description of an encoding: %w", err)
	}
	if got != name {
		return format.Unsupportedf("an encoding described by %s, expected %s", got, name)
	}
	if err := proto.Unmarshal(wrapped.GetValue(), into); err != nil {
		return format.Corruptf("%s is no protobuf message: %w", name, err)
	}
	return nil
}

// column is a Column with everything that can be known before data are read.
type column struct {
	Column
	arrow  arrow.Field
	root   *node
	leaves []*leaf // nil where the file has no such column
	old    *oldField
}

// leaf is a physical column of format 2.1 or later, bound to a schema.
type leaf struct {
	name   string
	number int // of the physical column
	node   *node
	factor int64 // rows of pages for each row
	pages  []*page
	starts []int64 // first row of each page, counted as pages do, and the end
	bytes  int64   // of all buffers
}

// page is a page with what was read to find rows in it.
type page struct {
	layout.Page
	number  int
	buffers []layout.Range
	head    headSlot
}

// plan looks a column up, or makes it.
func (r *Reader) plan(c Column) (*column, error) {
	if c.Field == nil {
		return nil, r.fail("", -1, errors.New("a column without a field"))
	}
	r.mu.Lock()
	p := r.plans[c.Field]
	r.mu.Unlock()
	if p != nil && slices.Equal(p.Leaves, c.Leaves) {
		return p, nil
	}
	p, err := r.newColumn(c)
	if err != nil {
		return nil, r.fail(c.Field.Name, -1, err)
	}
	r.mu.Lock()
	if len(r.plans) >= 4096 { // a caller that makes new fields for every call
		clear(r.plans)
	}
	r.plans[c.Field] = p
	r.mu.Unlock()
	return p, nil
}

func (r *Reader) newColumn(c Column) (*column, error) {
	p := &column{Column: Column{c.Field, slices.Clone(c.Leaves)}}
	var err error
	if p.arrow, err = c.Field.ArrowField(); err != nil {
		return nil, err
	}
	if n := len(owners(nil, c.Field, r.foot.minor == 0)); n != len(c.Leaves) {
		return nil, format.Corruptf("%d physical columns were bound to a field that owns %d", len(c.Leaves), n)
	}
	next := 0
	if p.root, err = tree(c.Field, p.arrow.Type, nil, &next); err != nil {
		return nil, err
	}
	if r.foot.minor == 0 {
		p.old, err = r.newOldField(c)
		return p, err
	}
	for i, n := range p.root.leaves(nil) {
		if c.Leaves[i] < 0 {
			p.leaves = append(p.leaves, nil)
			continue
		}
		l, err := r.newLeaf(c.Field.Name, c.Leaves[i], n)
		if err != nil {
			return nil, err
		}
		p.leaves = append(p.leaves, l)
	}
	return p, nil
}

// newLeaf parses the pages of a physical column.
func (r *Reader) newLeaf(name string, i int, n *node) (*leaf, error) {
	meta, err := r.meta(i)
	if err != nil {
		return nil, err
	}
	l := &leaf{name: name, number: i, node: n}
	if l.factor, err = n.col.Path.RowFactor(); err != nil {
		return nil, err
	}
	if meta.rows != r.rows*l.factor {
		return nil, format.Corruptf("physical column %d has %d rows, the file has %d", i, meta.rows, r.rows*l.factor)
	}
	start := int64(0)
	for k, m := range meta.pages {
		l.starts = append(l.starts, start)
		start += m.rows
		pl, err := pageLayout(m.encoding)
		if err != nil {
			return nil, r.fail(name, k, err)
		}
		parsed, err := layout.Parse(pl, m.buffers, m.rows, n.col)
		if err != nil {
			return nil, r.fail(name, k, err)
		}
		l.pages = append(l.pages, &page{Page: parsed, number: k, buffers: m.buffers})
		for _, b := range m.buffers {
			l.bytes += b.Len
		}
	}
	l.starts = append(l.starts, start)
	return l, nil
}
