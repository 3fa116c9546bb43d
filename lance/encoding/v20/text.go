package v20

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	"github.com/omnideck/omnideck/lance/encoding/fsst"
	"github.com/omnideck/omnideck/lance/encoding/variable"
	enc20pb "github.com/omnideck/omnideck/lance/pb/encodings"
)

// text is values of variable width.
type text struct {
	ends  []int64 // in data, 0 in front
	data  []byte
	valid []byte // bitmap, or nil if there are no nulls
}

func (t *text) rows() int { return len(t.ends) - 1 }

// text decodes rows s.
func (p *page) text(enc *enc20pb.ArrayEncoding, s span, total int64, depth int) (*text, error) {
	if depth == 0 {
		return nil, corrupt.New("format 2.0", "at most 16", "more nodes in an encoding")
	}
	switch node := enc.GetArrayEncoding().(type) {
	case *enc20pb.ArrayEncoding_Binary:
		return p.binary(node.Binary, s, total)
	case *enc20pb.ArrayEncoding_FixedSizeBinary:
		return p.fixedSizeBinary(node.FixedSizeBinary, s, total)
	case *enc20pb.ArrayEncoding_Fsst:
		packed, err := p.text(node.Fsst.GetBinary(), s, total, depth-1)
		if err != nil {
			return nil, err
		}
		return packed.unpack(node.Fsst.GetSymbolTable())
	case *enc20pb.ArrayEncoding_Nullable:
		if inner := node.Nullable.GetNoNulls(); inner != nil {
			return p.text(inner.GetValues(), s, total, depth-1)
		}
	}
	return nil, corrupt.New("format 2.0", "an encoding of values of variable width", "%T", enc.GetArrayEncoding())
}

// ends decodes ends under the null rule: rows s, and in front where the first
// of them begins.
func (p *page) ends(enc *enc20pb.ArrayEncoding, s span, total int64, adjustment uint64) (ends []int64, valid []byte, err error) {
	if adjustment == 0 || adjustment > math.MaxInt64 {
		return nil, nil, corrupt.New("format 2.0", "a null adjustment above every end", "%d", adjustment)
	}
	wide := span{max(s.from-1, 0), s.to}
	words, err := p.words(enc, wide, total, 64)
	if err != nil {
		return nil, nil, err
	}
	ends = make([]int64, 1, s.len()+1)
	valid = make([]byte, (s.len()+7)/8)
	nulls := false
	for i := range wide.len() {
		end := binary.LittleEndian.Uint64(words[8*i:])
		null := end >= adjustment
		if null {
			end -= adjustment
		}
		if end > math.MaxInt64 {
			return nil, nil, corrupt.New("format 2.0", "ends below twice the null adjustment", "an end %d above %d", end, adjustment)
		}
		if wide.from+i < s.from {
			ends[0] = int64(end)
			continue
		}
		if int64(end) < ends[len(ends)-1] {
			return nil, nil, corrupt.New("format 2.0", "ends that never fall", "%d after %d", end, ends[len(ends)-1])
		}
		bitutil.SetBitTo(valid, len(ends)-1, !null)
		ends, nulls = append(ends, int64(end)), nulls || null
	}
	if !nulls {
		valid = nil
	}
	return ends, valid, nil
}

// binary decodes ends and bytes.
func (p *page) binary(node *enc20pb.Binary, s span, total int64) (*text, error) {
	ends, valid, err := p.ends(node.GetIndices(), s, total, node.GetNullAdjustment())
	if err != nil {
		return nil, err
	}
	first, last := ends[0], ends[len(ends)-1]
	data, err := p.words(node.GetBytes(), span{first, last}, int64(node.GetNullAdjustment()), 8)
	if err != nil {
		return nil, err
	}
	for i := range ends {
		ends[i] -= first
	}
	return &text{ends, data, valid}, nil
}

// fixedSizeBinary decodes values that are all of one width.
func (p *page) fixedSizeBinary(node *enc20pb.FixedSizeBinary, s span, total int64) (*text, error) {
	width := int64(node.GetByteWidth())
	bytes, err := s.times(width)
	if err != nil {
		return nil, err
	}
	all, err := span{0, total}.times(width)
	if err != nil {
		return nil, err
	}
	data, err := p.words(node.GetBytes(), bytes, all.to, 8)
	if err != nil {
		return nil, err
	}
	if width == 0 && s.len() > math.MaxInt32 {
		return nil, corrupt.New("format 2.0", "a number that can be read at once", "%d empty values", s.len())
	}
	t := &text{ends: make([]int64, s.len()+1), data: data}
	for i := range t.ends {
		t.ends[i] = int64(i) * width
	}
	return t, nil
}

// unpack undoes FSST.
func (t *text) unpack(table []byte) (*text, error) {
	symbols, err := fsst.Parse(table)
	if err != nil {
		return nil, err
	}
	out := &text{ends: make([]int64, 1, len(t.ends)), valid: t.valid}
	for i := range t.rows() {
		if out.data, err = symbols.Append(out.data, t.data[t.ends[i]:t.ends[i+1]]); err != nil {
			return nil, err
		}
		out.ends = append(out.ends, int64(len(out.data)))
	}
	return out, nil
}

// array makes Arrow data of a type of variable width, or of fixed bytes.
func (t *text) array(typ arrow.DataType) (arrow.ArrayData, error) {
	var data arrow.ArrayData
	switch typ.ID() {
	case arrow.STRING, arrow.BINARY:
		if len(t.data) > math.MaxInt32 {
			return nil, variable.ErrTooLong
		}
		offsets := make([]byte, 4*len(t.ends))
		for i, end := range t.ends {
			binary.LittleEndian.PutUint32(offsets[4*i:], uint32(end))
		}
		data = newData(typ, int64(t.rows()), nil, offsets, t.data)
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		offsets := make([]byte, 8*len(t.ends))
		for i, end := range t.ends {
			binary.LittleEndian.PutUint64(offsets[8*i:], uint64(end))
		}
		data = newData(typ, int64(t.rows()), nil, offsets, t.data)
	default:
		return nil, corrupt.New("format 2.0", "an encoding of "+typ.String(), "values of variable width")
	}
	if t.valid != nil {
		data = withValidity(data, t.valid)
	}
	return data, nil
}

// dictionary looks indices up, or hands them out for a dictionary type.
func (p *page) dictionary(node *enc20pb.Dictionary, typ arrow.DataType, s span, total int64, depth int) (arrow.ArrayData, error) {
	n := int64(node.GetNumDictionaryItems())
	all := span{0, n}
	if most := p.storedBits() + 1<<20; n > most {
		return nil, corrupt.New("format 2.0", "a dictionary that the buffers can hold", "%d items, more than %d", n, most)
	}
	if dict, ok := typ.(*arrow.DictionaryType); ok {
		items, err := p.array(node.GetItems(), dict.ValueType, all, n, depth-1)
		if err != nil {
			return nil, err
		}
		return p.indices(node, dict, items, s, total)
	}
	items, err := p.text(node.GetItems(), all, n, depth-1)
	if err != nil {
		return nil, err
	}
	index, err := p.index(node.GetIndices(), s, total, n+1)
	if err != nil {
		return nil, err
	}
	t := &text{ends: make([]int64, 1, s.len()+1), valid: make([]byte, (s.len()+7)/8)}
	size := 0
	for _, i := range index {
		if i > 0 {
			size += int(items.ends[i] - items.ends[i-1])
		}
		if size > math.MaxInt32 {
			return nil, variable.ErrTooLong
		}
	}
	t.data = make([]byte, 0, size)
	for row, i := range index {
		if i > 0 {
			t.data = append(t.data, items.data[items.ends[i-1]:items.ends[i]]...)
			bitutil.SetBitTo(t.valid, row, items.valid == nil || bitutil.BitIsSet(items.valid, int(i-1)))
		}
		t.ends = append(t.ends, int64(len(t.data)))
	}
	return t.array(typ)
}

// index decodes indices below n of any width.
func (p *page) index(enc *enc20pb.ArrayEncoding, s span, total, n int64) ([]int64, error) {
	width := indexWidth(enc, maxDepth)
	words, err := p.words(enc, s, total, width)
	if err != nil {
		return nil, err
	}
	index := make([]int64, s.len())
	for i := range index {
		v := wordAt(words, int64(i)*width, uint64(width))
		if v >= uint64(n) {
			return nil, corrupt.New("format 2.0", "an index into the dictionary", "index %d of %d", v, n)
		}
		index[i] = int64(v)
	}
	return index, nil
}

// indexWidth is the width of the words that enc stands for, or 0.
func indexWidth(enc *enc20pb.ArrayEncoding, depth int) int64 {
	var width uint64
	switch node := enc.GetArrayEncoding().(type) {
	case *enc20pb.ArrayEncoding_Nullable:
		if depth > 0 {
			return indexWidth(node.Nullable.GetNoNulls().GetValues(), depth-1)
		}
	case *enc20pb.ArrayEncoding_Flat:
		width = node.Flat.GetBitsPerValue()
	case *enc20pb.ArrayEncoding_Bitpacked:
		width = node.Bitpacked.GetUncompressedBitsPerValue()
	case *enc20pb.ArrayEncoding_BitpackedForNonNeg:
		width = node.BitpackedForNonNeg.GetUncompressedBitsPerValue()
	}
	if width == 8 || width == 16 || width == 32 || width == 64 {
		return int64(width)
	}
	return 0
}

// indices makes an array of a dictionary type. A row whose item is null is
// null.
func (p *page) indices(node *enc20pb.Dictionary, typ *arrow.DictionaryType, items arrow.ArrayData, s span, total int64) (arrow.ArrayData, error) {
	width := int64(typ.IndexType.(arrow.FixedWidthDataType).BitWidth())
	words, err := p.words(node.GetIndices(), s, total, width)
	if err != nil {
		return nil, err
	}
	index, err := p.index(node.GetIndices(), s, total, int64(items.Len()))
	if err != nil {
		return nil, err
	}
	data := newData(typ.IndexType, s.len(), nil, words)
	out := array.NewDataWithDictionary(typ, int(s.len()), data.Buffers(), 0, 0, items.(*array.Data))
	if items.NullN() == 0 {
		return out, nil
	}
	valid := make([]byte, (s.len()+7)/8)
	present := items.Buffers()[0].Bytes()
	for row, i := range index {
		bitutil.SetBitTo(valid, row, bitutil.BitIsSet(present, int(i)))
	}
	return withValidity(out, valid), nil
}
