package v20

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	"github.com/omnideck/omnideck/lance/encoding/variable"
	enc20pb "github.com/omnideck/omnideck/lance/pb/encodings"
)

// maxDepth bounds the nesting of nodes.
const maxDepth = 16

// array decodes rows s of a page to an array of typ. total is the number of
// values that the node stores.
func (p *page) array(enc *enc20pb.ArrayEncoding, typ arrow.DataType, s span, total int64, depth int) (arrow.ArrayData, error) {
	if depth == 0 {
		return nil, corrupt.New("format 2.0", "at most 16", "more nodes in an encoding")
	}
	switch node := enc.GetArrayEncoding().(type) {
	case *enc20pb.ArrayEncoding_Nullable:
		return p.nullable(node.Nullable, typ, s, total, depth)
	case *enc20pb.ArrayEncoding_FixedSizeList:
		return p.fixedSizeList(node.FixedSizeList, typ, s, total, depth)
	case *enc20pb.ArrayEncoding_Binary, *enc20pb.ArrayEncoding_FixedSizeBinary, *enc20pb.ArrayEncoding_Fsst:
		t, err := p.text(enc, s, total, depth)
		if err != nil {
			return nil, err
		}
		return t.array(typ)
	case *enc20pb.ArrayEncoding_Dictionary:
		return p.dictionary(node.Dictionary, typ, s, total, depth)
	case *enc20pb.ArrayEncoding_PackedStruct:
		return p.packedStruct(node.PackedStruct, typ, s)
	}
	fixed, ok := typ.(arrow.FixedWidthDataType)
	if !ok {
		return nil, corrupt.New("format 2.0", "an encoding of "+typ.Name(), "words")
	}
	data, err := p.words(enc, s, total, int64(fixed.BitWidth()))
	if err != nil {
		return nil, err
	}
	return newData(typ, s.len(), nil, data), nil
}

// newData makes array data without nulls of up to two buffers besides the
// validity.
func newData(typ arrow.DataType, rows int64, children []arrow.ArrayData, bufs ...[]byte) arrow.ArrayData {
	all := make([]*memory.Buffer, 1, 1+len(bufs))
	for _, buf := range bufs {
		all = append(all, memory.NewBufferBytes(buf))
	}
	return array.NewData(typ, int(rows), all, children, 0, 0)
}

// withValidity replaces the validity of data by a bitmap.
func withValidity(data arrow.ArrayData, valid []byte) arrow.ArrayData {
	rows := data.Len()
	bufs := append([]*memory.Buffer{memory.NewBufferBytes(valid)}, data.Buffers()[1:]...)
	nulls := rows - bitutil.CountSetBits(valid, 0, rows)
	if data.DataType().ID() == arrow.DICTIONARY {
		return array.NewDataWithDictionary(data.DataType(), rows, bufs, nulls, 0, data.Dictionary().(*array.Data))
	}
	return array.NewData(data.DataType(), rows, bufs, data.Children(), nulls, 0)
}

// nullable decodes values with their validity.
func (p *page) nullable(node *enc20pb.Nullable, typ arrow.DataType, s span, total int64, depth int) (arrow.ArrayData, error) {
	switch n := node.GetNullability().(type) {
	case *enc20pb.Nullable_NoNulls:
		return p.array(n.NoNulls.GetValues(), typ, s, total, depth-1)
	case *enc20pb.Nullable_SomeNulls:
		data, err := p.array(n.SomeNulls.GetValues(), typ, s, total, depth-1)
		if err != nil {
			return nil, err
		}
		valid, err := p.words(n.SomeNulls.GetValidity(), s, total, 1)
		if err != nil {
			return nil, err
		}
		if data.NullN() != 0 {
			return nil, corrupt.New("format 2.0", "one validity for each value", "two")
		}
		return withValidity(data, valid), nil
	case *enc20pb.Nullable_AllNulls:
		// Nothing is stored, so that only the type says how much memory it takes.
		if bytes, err := s.times(max(packedSize(typ), 1)); err != nil || bytes.len() > math.MaxInt32 {
			return nil, variable.ErrTooLong
		}
		nulls := array.MakeArrayOfNull(memory.DefaultAllocator, typ, int(s.len()))
		return nulls.Data(), nil
	}
	return nil, corrupt.Unsupported("format 2.0", "a nullability without a known node")
}

// fixedSizeList decodes the items of lists of one size.
func (p *page) fixedSizeList(node *enc20pb.FixedSizeList, typ arrow.DataType, s span, total int64, depth int) (arrow.ArrayData, error) {
	list, ok := typ.(*arrow.FixedSizeListType)
	if !ok || int64(list.Len()) != int64(node.GetDimension()) {
		return nil, corrupt.New("format 2.0", "an encoding of "+typ.String(), "fixed-size lists of %d", node.GetDimension())
	}
	k := int64(list.Len())
	items, err := s.times(k)
	if err != nil {
		return nil, err
	}
	all, err := span{0, total}.times(k)
	if err != nil {
		return nil, err
	}
	child, err := p.array(node.GetItems(), list.Elem(), items, all.to, depth-1)
	if err != nil {
		return nil, err
	}
	return newData(typ, s.len(), []arrow.ArrayData{child}), nil
}

// packedStruct parts rows into their children.
func (p *page) packedStruct(node *enc20pb.PackedStruct, typ arrow.DataType, s span) (arrow.ArrayData, error) {
	st, ok := typ.(*arrow.StructType)
	if !ok {
		return nil, corrupt.New("format 2.0", "an encoding of "+typ.Name(), "packed structs")
	}
	widths, rowSize := make([]int64, st.NumFields()), int64(0)
	for i, f := range st.Fields() {
		if widths[i] = packedSize(f.Type); widths[i] == 0 {
			return nil, corrupt.New("format 2.0", "children of whole bytes in a packed struct", "a %s", f.Type)
		}
		rowSize += widths[i]
	}
	buf, err := p.get(node.GetBuffer())
	if err != nil {
		return nil, err
	}
	bytes, err := s.times(rowSize)
	if err != nil {
		return nil, err
	}
	if bytes.to > int64(len(buf)) {
		return nil, tooShort(buf, s, rowSize*8)
	}
	rows := buf[bytes.from:bytes.to]
	children, at := make([]arrow.ArrayData, len(widths)), int64(0)
	for i, f := range st.Fields() {
		column := make([]byte, 0, s.len()*widths[i])
		for row := at; row < int64(len(rows)); row += rowSize {
			column = append(column, rows[row:row+widths[i]]...)
		}
		children[i] = packedData(f.Type, s.len(), column)
		at += widths[i]
	}
	return newData(typ, s.len(), children), nil
}

// packedSize is the bytes of a value in a packed struct, or 0 if it cannot be
// in one.
func packedSize(typ arrow.DataType) int64 {
	switch t := typ.(type) {
	case *arrow.FixedSizeListType:
		return int64(t.Len()) * packedSize(t.Elem())
	case *arrow.BooleanType, *arrow.DictionaryType:
		return 0
	case arrow.FixedWidthDataType:
		return int64(t.BitWidth()) / 8
	}
	return 0
}

func packedData(typ arrow.DataType, rows int64, column []byte) arrow.ArrayData {
	if t, ok := typ.(*arrow.FixedSizeListType); ok {
		items := packedData(t.Elem(), rows*int64(t.Len()), column)
		return newData(typ, rows, []arrow.ArrayData{items})
	}
	return newData(typ, rows, nil, column)
}
