package layout

import (
	"encoding/binary"
	"slices"

	"github.com/omnideck/omnideck/lance/encoding/fsst"
	"github.com/omnideck/omnideck/lance/encoding/general"
	"github.com/omnideck/omnideck/lance/file/nest"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// zipPage is a page of items, each with its own levels in front.
type zipPage struct {
	col          Column
	m            *nest.Map
	rows         int64
	bitsRep      uint
	bitsDef      uint
	control      int       // bytes of a control word
	prefix       int       // bytes of a length; 0 if values are fixed
	fixed        *zipFixed // fixed values
	text         *zipText  // variable values
	fields       []zipField
	items, index Range
	indexed      bool
}

// zipFixed is values of one width: validity bits of vectors, then words.
type zipFixed struct {
	shape *vectorShape // of a vector
	bits  []int        // bytes of validity of the items of each list
	head  int          // their sum
	size  int          // bytes of a value, validity included
	bools bool         // booleans, of a byte each
}

// zipText is how each value is packed.
type zipText struct {
	table   *fsst.Table
	schemes []general.Scheme
}

// zipField is a field of a struct whose value is the bytes of all fields.
type zipField struct {
	width  int      // bytes of a fixed field
	prefix int      // bytes of the length of a variable field
	text   *zipText // variable only
}

func parseZip(l *enc21pb.FullZipLayout, buffers []Range, rows int64, col Column) (Page, error) {
	p := &zipPage{col: col, rows: rows, bitsRep: uint(l.GetBitsRep()), bitsDef: uint(l.GetBitsDef())}
	var err error
	if p.m, err = mapOf(l.GetLayers(), col.Path); err != nil {
		return nil, err
	}
	if p.bitsRep > 16 || p.bitsDef > 16 || p.bitsRep > 0 && col.Path.Lists == 0 {
		return nil, format.Corruptf("control words of %d and %d bits for %d layers of lists", p.bitsRep, p.bitsDef, col.Path.Lists)
	}
	switch bits := p.bitsRep + p.bitsDef; {
	case bits == 0:
	case bits <= 8:
		p.control = 1
	case bits <= 16:
		p.control = 2
	default:
		p.control = 4
	}
	switch d := l.GetDetails().(type) {
	case *enc21pb.FullZipLayout_BitsPerValue:
		p.fixed, err = parseZipFixed(l.GetValueCompression(), uint64(d.BitsPerValue), col.Type)
	case *enc21pb.FullZipLayout_BitsPerOffset:
		err = p.parseVariable(l.GetValueCompression(), uint64(d.BitsPerOffset))
	default:
		err = format.Corruptf("a full-zip page that says neither the width of values nor of lengths")
	}
	if err != nil {
		return nil, err
	}
	return p, p.assign(buffers)
}

// assign gives the page's buffers their meaning.
func (p *zipPage) assign(buffers []Range) error {
	p.indexed = p.prefix > 0 || p.col.Path.Lists > 0
	if !p.indexed {
		if err := need(buffers, 1, "full-zip"); err != nil {
			return err
		}
		p.items = buffers[0]
		stride := int64(p.control + p.fixed.size) // 0 for vectors of nulls
		if stride == 0 && p.items.Len != 0 || stride > 0 && (p.items.Len/stride != p.rows || p.items.Len%stride != 0) {
			return format.Corruptf("a page of %d bytes for %d rows of %d bytes", p.items.Len, p.rows, stride)
		}
		return nil
	}
	if err := need(buffers, 2, "full-zip"); err != nil {
		return err
	}
	p.items, p.index = buffers[0], buffers[1]
	w := p.index.Len / max(p.rows+1, 1)
	if w*(p.rows+1) != p.index.Len || w != 1 && w != 2 && w != 4 && w != 8 {
		return format.Corruptf("a repetition index of %d bytes for %d rows", p.index.Len, p.rows)
	}
	return nil
}

func parseZipFixed(enc *enc21pb.CompressiveEncoding, bits uint64, t *values.Type) (*zipFixed, error) {
	f := &zipFixed{}
	leaf := t
	var err error
	if t.Kind == values.Vector {
		if f.shape, enc, err = shapeOf(enc, t); err != nil {
			return nil, err
		}
		leaf = f.shape.leaf
		f.bits = make([]int, len(f.shape.items))
		for k, has := range f.shape.validity {
			if has {
				f.bits[k] = (f.shape.items[k] + 7) / 8
				f.head += f.bits[k]
			}
		}
	}
	if f.shape != nil && f.shape.nulls >= 0 {
		f.size = f.head
		return f, checkItem(f, bits, enc, t)
	}
	flat := enc.GetFlat()
	if flat == nil {
		return nil, format.Unsupportedf("fixed values encoded as %s in a full-zip page", encodingText(enc))
	}
	switch {
	case leaf.Kind == values.Bool && f.shape == nil && flat.GetBitsPerValue() == 8:
		f.bools, f.size = true, 1
	case leaf.Kind == values.Bool && f.shape != nil && flat.GetBitsPerValue() == 1,
		leaf.Kind == values.Fixed && flat.GetBitsPerValue() == uint64(leaf.Width)*8:
		f.size = f.head + t.Size()
	default:
		return nil, format.Corruptf("values of %d bits for %s", flat.GetBitsPerValue(), t.Arrow)
	}
	return f, checkItem(f, bits, enc, t)
}

func checkItem(f *zipFixed, bits uint64, enc *enc21pb.CompressiveEncoding, t *values.Type) error {
	if bits != uint64(f.size)*8 {
		return format.Corruptf("items of %d bits for %s, encoded as %s", bits, t.Arrow, encodingText(enc))
	}
	return nil
}

func (p *zipPage) parseVariable(enc *enc21pb.CompressiveEncoding, bits uint64) (err error) {
	if bits != 32 && bits != 64 {
		return format.Corruptf("lengths of %d bits", bits)
	}
	p.prefix = int(bits / 8)
	if s := enc.GetVariablePackedStruct(); s != nil {
		return p.parseFields(s)
	}
	if p.col.Type.Kind != values.Bytes {
		return format.Corruptf("values of variable width for %s", p.col.Type.Arrow)
	}
	p.text, err = parseZipText(enc, maxDepth)
	return err
}

func parseZipText(enc *enc21pb.CompressiveEncoding, depth int) (*zipText, error) {
	plan, err := planText(enc, depth)
	if err != nil {
		return nil, err
	}
	return &zipText{plan.table, plan.schemes}, nil
}

func (p *zipPage) parseFields(s *enc21pb.VariablePackedStruct) error {
	t := p.col.Type
	if t.Kind != values.Packed || len(s.GetFields()) != len(t.Fields) {
		return format.Corruptf("a packed struct of %d fields for %s", len(s.GetFields()), t.Arrow)
	}
	for i, e := range s.GetFields() {
		f, child := zipField{}, t.Fields[i]
		switch l := e.GetLayout().(type) {
		case *enc21pb.FieldEncoding_BitsPerValue:
			flat := e.GetValue().GetFlat().GetBitsPerValue()
			if child.Kind == values.Vector {
				flat = l.BitsPerValue // of which there is no validity
			}
			if wordsOf(child) == nil || l.BitsPerValue != uint64(child.Size())*8 || flat != l.BitsPerValue {
				return format.Unsupportedf("a packed field of %d bits, encoded as %s, for %s", l.BitsPerValue, encodingText(e.GetValue()), child.Arrow)
			}
			f.width = child.Size()
		case *enc21pb.FieldEncoding_BitsPerLength:
			if child.Kind != values.Bytes || l.BitsPerLength != 32 && l.BitsPerLength != 64 {
				return format.Corruptf("a packed field with lengths of %d bits for %s", l.BitsPerLength, child.Arrow)
			}
			f.prefix = int(l.BitsPerLength / 8)
			var err error
			if f.text, err = parseZipText(e.GetValue(), maxDepth); err != nil {
				return err
			}
		default:
			return format.Corruptf("a packed field that says neither the width of values nor of lengths")
		}
		p.fields = append(p.fields, f)
	}
	return nil
}

func (p *zipPage) Rows() int64 { return p.rows }

func (p *zipPage) Heads() []Range {
	if p.indexed {
		return []Range{p.index}
	}
	return nil
}

func (p *zipPage) Open(get Get) (Body, error) {
	b := &zipBody{zipPage: p}
	if !p.indexed {
		return b, nil
	}
	starts, err := get(p.index)
	if err != nil {
		return nil, err
	}
	b.starts = slices.Clone(starts)
	b.width = int(p.index.Len / (p.rows + 1))
	if end := b.start(p.rows); end != p.items.Len {
		return nil, format.Corruptf("a repetition index that ends at %d in a page of %d bytes", end, p.items.Len)
	}
	return b, nil
}

// zipBody knows where rows begin.
type zipBody struct {
	*zipPage
	starts []byte // rows+1 positions of width bytes, if indexed
	width  int
}

func (b *zipBody) Size() int64 { return int64(len(b.starts)) }

// start is the position of row r.
func (b *zipBody) start(r int64) int64 {
	if !b.indexed {
		return r * int64(b.control+b.fixed.size)
	}
	switch p := b.starts[r*int64(b.width):]; b.width {
	case 1:
		return int64(p[0])
	case 2:
		return int64(binary.LittleEndian.Uint16(p))
	case 4:
		return int64(binary.LittleEndian.Uint32(p))
	default:
		return int64(binary.LittleEndian.Uint64(p))
	}
}

// span is the bytes of rows [from, to).
func (b *zipBody) span(from, to int64) (Range, error) {
	if from < 0 || to > b.rows || from >= to {
		return Range{}, format.Corruptf("rows %d to %d of a page of %d", from, to, b.rows)
	}
	at := b.start(from)
	return b.items.part(at, b.start(to)-at)
}

func (b *zipBody) Expect(from, to int64) (n, encoded int64) {
	r, err := b.span(from, to)
	if err != nil {
		return 0, 0 // Read will say so
	}
	return to - from, r.Len
}

func (b *zipBody) Ranges(rs []Range, from, to int64) ([]Range, error) {
	r, err := b.span(from, to)
	return append(rs, r), err
}
