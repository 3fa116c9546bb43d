package v20

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	enc20pb "github.com/omnideck/omnideck/lance/pb/encodings"
)

// Read reads rows from to to (exclusive) of a field. Memory is in proportion
// to the buffers of the pages that hold these rows, and to to-from; the
// caller bounds the latter.
func Read(f *Field, from, to int64) (arrow.Array, error) {
	if from < 0 || to < from {
		return nil, fmt.Errorf("read rows %d to %d: not a range of rows", from, to)
	}
	if to-from > math.MaxInt32 {
		return nil, fmt.Errorf("read rows %d to %d: more than 2^31 rows at once", from, to)
	}
	if f.Kind == Struct {
		return readStruct(f, span{from, to})
	}
	return readPages(f, span{from, to})
}

// readStruct reads the children; the struct's own pages hold nothing.
func readStruct(f *Field, s span) (arrow.Array, error) {
	st, ok := f.Type.(*arrow.StructType)
	if !ok || st.NumFields() != len(f.Children) {
		return nil, fmt.Errorf("read a struct: %d children for %v", len(f.Children), f.Type)
	}
	children := make([]arrow.ArrayData, len(f.Children))
	for i, child := range f.Children {
		a, err := Read(child, s.from, s.to)
		if err != nil {
			return nil, fmt.Errorf("child %q: %w", st.Field(i).Name, err)
		}
		defer a.Release()
		children[i] = a.Data()
	}
	return array.MakeFromData(newData(f.Type, s.len(), children)), nil
}

// readPages reads the rows of each page that has some, and joins them.
func readPages(f *Field, s span) (arrow.Array, error) {
	var parts []arrow.Array
	defer func() {
		for _, part := range parts {
			part.Release()
		}
	}()
	start, items := int64(0), int64(0)
	for i := range f.Pages {
		p := &f.Pages[i]
		if p.Rows < 0 || p.Rows > math.MaxInt64-start {
			return nil, corrupt.New("format 2.0", "pages of the file's rows", "page %d of %d rows", i, p.Rows)
		}
		rows := span{max(s.from-start, 0), min(s.to-start, p.Rows)}
		if rows.from < rows.to {
			part, err := f.readPage(p, rows, items)
			if err != nil {
				return nil, fmt.Errorf("page %d: %w", i, err)
			}
			parts = append(parts, part)
		}
		start += p.Rows
		if f.Kind == List {
			n := p.Encoding.GetList().GetNumItems()
			if n > uint64(math.MaxInt64-items) {
				return nil, corrupt.New("format 2.0", "lists of the file's items", "page %d of %d items", i, n)
			}
			items += int64(n)
		}
	}
	if start < s.to {
		return nil, corrupt.New("format 2.0", "pages of all rows", "pages of %d rows for row %d", start, s.to-1)
	}
	switch len(parts) {
	case 0:
		return array.MakeArrayOfNull(memory.DefaultAllocator, f.Type, 0), nil
	case 1:
		whole := parts[0]
		parts = nil
		return whole, nil
	}
	return array.Concatenate(parts, memory.DefaultAllocator)
}

// readPage reads rows of a page. items is the number of items of the pages
// before, of a list.
func (f *Field) readPage(p *Page, rows span, items int64) (arrow.Array, error) {
	bufs, err := p.Load()
	if err != nil {
		return nil, err
	}
	at := &page{bufs, p.Rows}
	var data arrow.ArrayData
	switch f.Kind {
	case List:
		data, err = f.readList(at, p.Encoding.GetList(), rows, items)
	case Blob:
		if data, err = at.array(p.Encoding, BlobType, rows, p.Rows, maxDepth); err == nil {
			data = blobNulls(data)
		}
	default:
		data, err = at.array(p.Encoding, f.Type, rows, p.Rows, maxDepth)
	}
	if err != nil {
		return nil, err
	}
	return array.MakeFromData(data), nil
}

// blobNulls makes nulls of the descriptors that stand for them.
func blobNulls(data arrow.ArrayData) arrow.ArrayData {
	position, size := data.Children()[0].Buffers()[1].Bytes(), data.Children()[1].Buffers()[1].Bytes()
	valid := make([]byte, (data.Len()+7)/8)
	for i := range data.Len() {
		null := binary.LittleEndian.Uint64(position[8*i:]) == 1 && binary.LittleEndian.Uint64(size[8*i:]) == 0
		bitutil.SetBitTo(valid, i, !null)
	}
	return withValidity(data, valid)
}

// readList reads offsets, and the items that they span.
func (f *Field) readList(p *page, node *enc20pb.List, rows span, before int64) (arrow.ArrayData, error) {
	list, ok := f.Type.(arrow.ListLikeType)
	if !ok || len(f.Children) != 1 || node == nil {
		return nil, corrupt.New("format 2.0", "a list's offsets and item", "%d children for %v", len(f.Children), f.Type)
	}
	ends, valid, err := p.ends(node.GetOffsets(), rows, p.rows, node.GetNullOffsetAdjustment())
	if err != nil {
		return nil, err
	}
	first, last := ends[0], ends[len(ends)-1]
	if uint64(last) > node.GetNumItems() {
		return nil, corrupt.New("format 2.0", "lists within the page's items", "items up to %d of %d", last, node.GetNumItems())
	}
	child, err := Read(f.Children[0], before+first, before+last)
	if err != nil {
		return nil, fmt.Errorf("item: %w", err)
	}
	defer child.Release()
	offsets, err := listOffsets(list, ends)
	if err != nil {
		return nil, err
	}
	data := newData(f.Type, rows.len(), []arrow.ArrayData{child.Data()}, offsets)
	if valid != nil {
		data = withValidity(data, valid)
	}
	return data, nil
}

// listOffsets makes Arrow's offsets, which begin with 0.
func listOffsets(typ arrow.DataType, ends []int64) ([]byte, error) {
	switch typ.ID() {
	case arrow.LIST:
		offsets := make([]byte, 4*len(ends))
		for i, end := range ends {
			binary.LittleEndian.PutUint32(offsets[4*i:], uint32(end-ends[0]))
		}
		return offsets, nil
	case arrow.LARGE_LIST:
		offsets := make([]byte, 8*len(ends))
		for i, end := range ends {
			binary.LittleEndian.PutUint64(offsets[8*i:], uint64(end-ends[0]))
		}
		return offsets, nil
	}
	return nil, corrupt.Unsupported("format 2.0", "a list of type %s", typ.Name())
}
