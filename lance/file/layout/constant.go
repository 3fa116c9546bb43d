package layout

import (
	"encoding/binary"

	"github.com/omnideck/omnideck/lance/encoding/levels"
	"github.com/omnideck/omnideck/lance/file/nest"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// constantPage is a page whose valid values are all the same, or that has none.
type constantPage struct {
	col    Column
	m      *nest.Map
	rows   int64
	inline []byte // the value, nil if it is in a buffer or there is none
	scalar Range  // the buffer of the value
	stored bool   // there is one
	nulls  bool   // no levels are stored, every row is null

	rep, def       *levels.Decoder // nil: nothing is stored
	repBuf, defBuf Range
	repN, defN     int64 // levels; -1 = as many as the buffer has
}

func parseConstant(l *enc21pb.ConstantLayout, buffers []Range, rows int64, col Column) (Page, error) {
	p := &constantPage{col: col, rows: rows, inline: l.InlineValue}
	var err error
	if p.m, err = mapOf(l.GetLayers(), col.Path); err != nil {
		return nil, err
	}
	if len(buffers) > 0 && len(buffers)%2 == 1 && p.inline == nil {
		p.scalar, p.stored, buffers = buffers[0], true, buffers[1:]
	}
	value := p.inline != nil || p.stored
	switch {
	case len(buffers) == 2:
		return p, p.parseLevels(l, buffers)
	case len(buffers) != 0:
		return nil, format.Corruptf("a constant page with %d buffers of levels", len(buffers))
	case value:
		return p, nil
	}
	p.nulls = len(l.GetLayers()) == 1 && l.GetLayers()[0] == enc21pb.RepDefLayer_NULLABLE_ITEM
	if !p.nulls {
		return nil, format.Corruptf("a constant page of %d layers without a value and without levels", len(l.GetLayers()))
	}
	// Structs without fields have no other page, and are never null.
	p.nulls = col.Type.Kind != values.Packed || len(col.Type.Fields) > 0
	return p, nil
}

func (p *constantPage) parseLevels(l *enc21pb.ConstantLayout, buffers []Range) (err error) {
	p.repBuf, p.defBuf = buffers[0], buffers[1]
	p.rep, p.repN, err = constantLevels(l.GetRepCompression(), l.GetNumRepValues(), p.repBuf, p.col.Path.Lists)
	if err != nil {
		return err
	}
	p.def, p.defN, err = constantLevels(l.GetDefCompression(), l.GetNumDefValues(), p.defBuf, len(p.m.Codes)-1)
	return err
}

// constantLevels is the decoder and number of one kind of levels; nil for none.
func constantLevels(enc *enc21pb.CompressiveEncoding, n uint64, buf Range, most int) (*levels.Decoder, int64, error) {
	if buf.Len == 0 {
		return nil, 0, nil
	}
	d, err := levels.New(enc, uint16(most))
	if err != nil {
		return nil, 0, err
	}
	if enc == nil {
		if buf.Len%2 != 0 {
			return nil, 0, format.Corruptf("raw levels of %d bytes", buf.Len)
		}
		return d, buf.Len / 2, nil
	}
	// Three bytes are a run of 255 levels at best; a group of zeros takes two.
	if n > uint64(buf.Len)*128+1024 {
		return nil, 0, format.Corruptf("%d levels in %d bytes", n, buf.Len)
	}
	return d, int64(n), nil
}

func (p *constantPage) Rows() int64 { return p.rows }

func (p *constantPage) Heads() []Range {
	var rs []Range
	if p.stored {
		rs = append(rs, p.scalar)
	}
	if p.rep != nil {
		rs = append(rs, p.repBuf)
	}
	if p.def != nil {
		rs = append(rs, p.defBuf)
	}
	return rs
}

func (p *constantPage) Open(get Get) (Body, error) {
	b := &constantBody{constantPage: p, value: p.inline}
	if p.stored {
		buf, err := get(p.scalar)
		if err != nil {
			return nil, err
		}
		value, err := scalarOf(buf, p.col.Type)
		if err != nil {
			return nil, err
		}
		b.value = append(make([]byte, 0, len(value)+1), value...) // never nil
	}
	var err error
	if b.rep, err = decodeLevels(get, p.rep, p.repBuf, p.repN, nil); err != nil {
		return nil, err
	}
	if b.def, err = decodeLevels(get, p.def, p.defBuf, p.defN, p.m.Codes); err != nil {
		return nil, err
	}
	if b.rep != nil && b.def != nil && len(b.rep) != len(b.def) {
		return nil, format.Corruptf("%d repetition and %d definition levels in one page", len(b.rep), len(b.def))
	}
	return b, b.indexRows()
}

// decodeLevels decodes all levels of a page: through codes, if there are some.
func decodeLevels(get Get, d *levels.Decoder, r Range, n int64, codes []uint8) ([]uint8, error) {
	if d == nil {
		return nil, nil
	}
	buf, err := get(r)
	if err != nil {
		return nil, err
	}
	words := make([]uint16, n)
	if err := d.Decode(words, buf); err != nil {
		return nil, err
	}
	out := make([]uint8, n)
	if codes != nil {
		translate(out, words, codes)
		return out, nil
	}
	narrow(out, words)
	return out, nil
}

// scalarOf reads a value from a buffer: a count, lengths, Arrow buffers.
func scalarOf(buf []byte, t *values.Type) ([]byte, error) {
	if len(buf) < 4 {
		return nil, format.Corruptf("a constant's buffer of %d bytes", len(buf))
	}
	n := int64(binary.LittleEndian.Uint32(buf))
	if n > 3 || int64(len(buf)) < 4+4*n {
		return nil, format.Corruptf("a constant of %d buffers in %d bytes", n, len(buf))
	}
	lens, rest := buf[4:4+4*n], buf[4+4*n:]
	var parts [][]byte
	for i := range n {
		size := int64(binary.LittleEndian.Uint32(lens[4*i:]))
		if size > int64(len(rest)) {
			return nil, format.Corruptf("a constant's part of %d bytes with %d left", size, len(rest))
		}
		parts, rest = append(parts, rest[:size]), rest[size:]
	}
	if t.Kind != values.Bytes {
		if len(parts) != 1 {
			return nil, format.Corruptf("a constant of %d buffers for %s", len(parts), t.Arrow)
		}
		return parts[0], nil
	}
	if len(parts) != 2 {
		return nil, format.Corruptf("a constant of %d buffers for %s", len(parts), t.Arrow)
	}
	var from, to uint64
	switch {
	case t.Large && len(parts[0]) == 16:
		from, to = binary.LittleEndian.Uint64(parts[0]), binary.LittleEndian.Uint64(parts[0][8:])
	case !t.Large && len(parts[0]) == 8:
		from, to = uint64(binary.LittleEndian.Uint32(parts[0])), uint64(binary.LittleEndian.Uint32(parts[0][4:]))
	default:
		return nil, format.Corruptf("a constant with offsets of %d bytes for %s", len(parts[0]), t.Arrow)
	}
	if from > to || to > uint64(len(parts[1])) {
		return nil, format.Corruptf("a constant from %d to %d of %d bytes", from, to, len(parts[1]))
	}
	return parts[1][from:to], nil
}

// rowsPerMark is how many rows lie between two marks of a constant page.
const rowsPerMark = 1024

// constantBody holds the value and all levels of a page.
type constantBody struct {
	*constantPage
	value    []byte
	rep, def []uint8 // of our codes; nil: all begin rows, all 0
	marks    []int32 // with lists: the pair that begins each rowsPerMark-th row
}

func (b *constantBody) indexRows() error {
	if b.rep == nil {
		if b.def != nil && int64(len(b.def)) != b.rows {
			return format.Corruptf("%d definition levels for %d rows", len(b.def), b.rows)
		}
		return nil
	}
	rows, begins := int64(0), uint8(b.col.Path.Lists)
	for i, r := range b.rep {
		if r != begins {
			continue
		}
		if rows%rowsPerMark == 0 {
			b.marks = append(b.marks, int32(i))
		}
		rows++
	}
	if rows != b.rows || len(b.rep) > 0 && b.rep[0] != begins {
		return format.Corruptf("levels of %d rows in a page of %d", rows, b.rows)
	}
	return nil
}

func (b *constantBody) Size() int64 {
	return int64(len(b.value)) + int64(len(b.rep)) + int64(len(b.def)) + 4*int64(len(b.marks))
}

func (b *constantBody) Ranges(rs []Range, from, to int64) ([]Range, error) { return rs, nil }

// Expect is nothing: room is made when the number of values is known.
func (b *constantBody) Expect(from, to int64) (n, encoded int64) { return 0, 0 }

func (b *constantBody) Reader() Reader { return b }

func (b *constantBody) Read(_ Get, from, to int64, s *Sink) error {
	if from < 0 || to > b.rows || from >= to {
		return format.Corruptf("rows %d to %d of a page of %d", from, to, b.rows)
	}
	if b.nulls {
		s.same(int(to-from), nest.Null(0))
		return s.Values.Zeros(int(to - from))
	}
	first, end := b.pairOf(from), b.pairOf(to)
	var rep, def []uint8
	if b.rep != nil {
		rep = b.rep[first:end]
	}
	n := end - first
	if b.def != nil {
		def = b.def[first:end]
		if b.col.Path.Lists > 0 {
			n = nest.CountBelow(def, b.col.Path.Visible())
		}
	}
	s.codes(rep, def, end-first)
	if b.value == nil {
		return s.Values.Zeros(n)
	}
	return s.Values.Repeat(b.value, n)
}

// pairOf is the pair that begins row r, or the end.
func (b *constantBody) pairOf(r int64) int {
	if b.rep == nil {
		return int(r)
	}
	if r == b.rows {
		return len(b.rep)
	}
	i, begins := int(b.marks[r/rowsPerMark]), uint8(b.col.Path.Lists)
	for left := r % rowsPerMark; left > 0; {
		i++
		if b.rep[i] == begins {
			left--
		}
	}
	return i
}
