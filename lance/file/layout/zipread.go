package layout

import (
	"encoding/binary"

	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
)

// zipReader decodes items.
type zipReader struct {
	b     *zipBody
	rep   []uint8
	def   []uint8   // codes
	spare [2][]byte // memory to decompress to
}

func (b *zipBody) Reader() Reader { return &zipReader{b: b} }

func (r *zipReader) Read(get Get, from, to int64, s *Sink) error {
	span, err := r.b.span(from, to)
	if err != nil {
		return err
	}
	items, err := get(span)
	if err != nil {
		return err
	}
	if s.Values.Type.Kind == values.Bytes {
		if err := s.Values.ReserveBytes(len(items)); err != nil {
			return err
		}
	}
	if !r.b.indexed && r.b.control == 0 {
		s.same(int(to-from), 0)
		return r.plain(s.Values, items, int(to-from))
	}
	return r.walk(s, items, to-from)
}

// plain appends n values that follow one another without levels.
func (r *zipReader) plain(b *values.Builder, items []byte, n int) error {
	f := r.b.fixed
	if f.size == 0 {
		if err := f.shape.zeros(b, n); err != nil {
			return err
		}
		return f.shape.finish(b, n, nil)
	}
	if f.shape == nil && !f.bools {
		dst, err := b.Words(n)
		copy(dst, items)
		return err
	}
	if f.shape != nil && f.head == 0 && f.shape.nulls < 0 && f.shape.leaf.Kind == values.Fixed {
		in := innermost(b)
		dst, err := in.Words(len(items) / in.Type.Width)
		if err != nil {
			return err
		}
		copy(dst, items)
		return f.shape.finish(b, n, nil)
	}
	for i := range n {
		if err := f.append(b, items[i*f.size:(i+1)*f.size]); err != nil {
			return err
		}
	}
	return nil
}

// append appends one value.
func (f *zipFixed) append(b *values.Builder, v []byte) error {
	if f.shape == nil {
		if f.bools {
			return b.Bit(v[0] != 0)
		}
		dst, err := b.Words(1)
		copy(dst, v)
		return err
	}
	if err := f.items(b, v[f.head:]); err != nil {
		return err
	}
	return f.shape.finish(b, 1, func(k int) ([]byte, int) {
		at := 0
		for _, n := range f.bits[:k] {
			at += n
		}
		return v[at : at+f.bits[k]], 0
	})
}

// items appends the innermost items of one vector.
func (f *zipFixed) items(b *values.Builder, items []byte) error {
	in := innermost(b)
	switch {
	case f.shape.nulls >= 0:
		return f.shape.zeros(b, 1)
	case f.shape.leaf.Kind == values.Bool:
		return in.Bits(items, 0, f.shape.items[len(f.shape.items)-1])
	}
	dst, err := in.Words(len(items) / in.Type.Width)
	if err != nil {
		return err
	}
	copy(dst, items)
	return nil
}

// walk decodes all items of rows.
func (r *zipReader) walk(s *Sink, items []byte, rows int64) error {
	p := r.b.zipPage
	r.rep, r.def = r.rep[:0], r.def[:0]
	lists := uint32(p.col.Path.Lists)
	maxDef := uint32(len(p.m.Codes) - 1)
	began := int64(0)
	for at := 0; at < len(items); {
		if len(items)-at < p.control {
			return format.Corruptf("a control word of %d bytes with %d left", p.control, len(items)-at)
		}
		word := controlWord(items[at:], p.control)
		at += p.control
		rep, def := lists, word&(1<<p.bitsDef-1)
		if p.bitsRep > 0 {
			rep = word >> p.bitsDef
		}
		if rep > lists || def > maxDef {
			return format.Corruptf("a control word of levels %d and %d, at most %d and %d are possible", rep, def, lists, maxDef)
		}
		if rep == lists {
			began++
		}
		r.rep, r.def = append(r.rep, uint8(rep)), append(r.def, p.m.Codes[def])
		if int(def) > p.m.MaxVisible {
			continue
		}
		n, err := r.item(s.Values, items[at:], def)
		if err != nil {
			return err
		}
		at += n
	}
	if began != rows {
		return format.Corruptf("%d rows begin in the items of %d", began, rows)
	}
	rep, def := r.rep, r.def
	if lists == 0 {
		rep = nil
	}
	if p.bitsDef == 0 {
		def = nil
	}
	s.codes(rep, def, len(r.def))
	return nil
}

func controlWord(p []byte, n int) uint32 {
	switch n {
	case 1:
		return uint32(p[0])
	case 2:
		return uint32(binary.LittleEndian.Uint16(p))
	case 4:
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

// item appends the value at the beginning of rest and returns its length.
func (r *zipReader) item(b *values.Builder, rest []byte, def uint32) (int, error) {
	p := r.b.zipPage
	if p.fixed != nil {
		n := p.fixed.size
		if len(rest) < n {
			return 0, format.Corruptf("a value of %d bytes with %d left", n, len(rest))
		}
		return n, p.fixed.append(b, rest[:n])
	}
	if def != 0 {
		return 0, b.Zeros(1)
	}
	v, n, err := prefixed(rest, p.prefix)
	if err != nil {
		return 0, err
	}
	if p.fields != nil {
		return n, r.fields(b, v)
	}
	return n, r.text(b, p.text, v)
}

// prefixed cuts a value with its length in front, and returns also the length
// of both.
func prefixed(rest []byte, prefix int) (v []byte, n int, err error) {
	if len(rest) < prefix {
		return nil, 0, format.Corruptf("a length of %d bytes with %d left", prefix, len(rest))
	}
	var size uint64
	if prefix == 4 {
		size = uint64(binary.LittleEndian.Uint32(rest))
	} else {
		size = binary.LittleEndian.Uint64(rest)
	}
	if size > uint64(len(rest)-prefix) {
		return nil, 0, format.Corruptf("a value of %d bytes with %d left", size, len(rest)-prefix)
	}
	n = prefix + int(size)
	return rest[prefix:n], n, nil
}

// text appends one value of variable width.
func (r *zipReader) text(b *values.Builder, t *zipText, v []byte) error {
	for i, s := range t.schemes {
		out, err := s.Decompress(r.spare[i&1], v, maxChunk)
		if err != nil {
			return err
		}
		r.spare[i&1], v = out, out
	}
	return appendText(b, v, t.table)
}

// fields appends one struct whose fields are given one after the other.
func (r *zipReader) fields(b *values.Builder, v []byte) error {
	if len(v) == 0 {
		return b.Zeros(1)
	}
	for i, f := range r.b.fields {
		if f.text != nil {
			part, n, err := prefixed(v, f.prefix)
			if err != nil {
				return err
			}
			if err := r.text(b.Fields[i], f.text, part); err != nil {
				return err
			}
			v = v[n:]
			continue
		}
		if len(v) < f.width {
			return format.Corruptf("a field of %d bytes with %d left", f.width, len(v))
		}
		dst, err := raw(b.Fields[i], 1)
		if err != nil {
			return err
		}
		copy(dst, v)
		v = v[f.width:]
	}
	if len(v) != 0 {
		return format.Corruptf("a packed struct with %d bytes left over", len(v))
	}
	b.Step(1)
	return nil
}
