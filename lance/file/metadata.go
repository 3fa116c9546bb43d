package file

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/omnideck/omnideck/lance/file/layout"
	"github.com/omnideck/omnideck/lance/format"
)

// description is the bytes of an encoding that is described in place: an Any.
// nil is one that is described elsewhere, or not at all.
type description []byte

// pageMeta is a page's place and description, not yet parsed.
type pageMeta struct {
	rows     int64 // as the page says
	buffers  []layout.Range
	encoding description
}

// columnMeta is the metadata of a physical column.
type columnMeta struct {
	encoding description
	pages    []pageMeta
	buffers  []layout.Range
	rows     int64 // sum of the pages
}

// places are the positions and sizes of buffers, as two lists of numbers.
type places struct {
	offsets, sizes []uint64
	mem            [2][8]uint64 // most lists are short
}

// parseColumn reads the metadata of a column (lance.file.v2.ColumnMetadata) by
// hand: small tables are mostly this, and reflection made it a third of what
// reading them cost.
func (f *footer) parseColumn(block []byte) (*columnMeta, error) {
	c := &columnMeta{}
	var at places
	at.reset()
	err := fields(block, func(num protowire.Number, typ protowire.Type, n uint64, b []byte) (err error) {
		switch {
		case num == 1 && typ == protowire.BytesType:
			c.encoding, err = parseEncoding(b)
		case num == 2 && typ == protowire.BytesType:
			var m pageMeta
			if m, err = f.parsePage(b); err != nil {
				return err
			}
			if c.rows > maxRows<<16 {
				return format.Corruptf("a column of %d rows and more", c.rows)
			}
			c.rows += m.rows
			c.pages = append(c.pages, m)
		case num == 3:
			at.offsets, err = numbers(at.offsets, typ, n, b)
		case num == 4:
			at.sizes, err = numbers(at.sizes, typ, n, b)
		}
		return err
	})
	if err == nil {
		c.buffers, err = f.ranges(at.offsets, at.sizes, "a column buffer")
	}
	return c, err
}

func (p *places) reset() { p.offsets, p.sizes = p.mem[0][:0], p.mem[1][:0] }

// parsePage reads the metadata of a page (lance.file.v2.Page).
func (f *footer) parsePage(block []byte) (m pageMeta, err error) {
	var at places
	at.reset()
	err = fields(block, func(num protowire.Number, typ protowire.Type, n uint64, b []byte) (err error) {
		switch {
		case num == 1:
			at.offsets, err = numbers(at.offsets, typ, n, b)
		case num == 2:
			at.sizes, err = numbers(at.sizes, typ, n, b)
		case num == 3 && typ == protowire.VarintType:
			// Below fixed-size lists of structs pages count items.
			if n > maxRows<<16 {
				return format.Corruptf("a column of %d rows and more", n)
			}
			m.rows = int64(n)
		case num == 4 && typ == protowire.BytesType:
			m.encoding, err = parseEncoding(b)
		}
		return err
	})
	if err == nil {
		m.buffers, err = f.ranges(at.offsets, at.sizes, "a page buffer")
	}
	return m, err
}

// parseEncoding reads where a description is (lance.file.v2.Encoding).
func parseEncoding(block []byte) (d description, err error) {
	err = fields(block, func(num protowire.Number, typ protowire.Type, _ uint64, b []byte) error {
		if typ != protowire.BytesType || num < 1 || num > 3 {
			return nil
		}
		if d = nil; num != 2 {
			return nil
		}
		d = description{}
		return fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, b []byte) error {
			if num == 1 && typ == protowire.BytesType {
				d = b
			}
			return nil
		})
	})
	return d, err
}

// fields calls f with each field of a message: the value of a varint, or the
// bytes of what is length-delimited.
func fields(block []byte, f func(num protowire.Number, typ protowire.Type, n uint64, b []byte) error) error {
	for len(block) > 0 {
		num, typ, used := protowire.ConsumeTag(block)
		var n uint64
		var b []byte
		if used >= 0 {
			block = block[used:]
			switch typ {
			case protowire.VarintType:
				n, used = protowire.ConsumeVarint(block)
			case protowire.BytesType:
				b, used = protowire.ConsumeBytes(block)
			default:
				used = protowire.ConsumeFieldValue(num, typ, block)
			}
		}
		if used < 0 {
			return format.Corruptf("column metadata is no protobuf message: %w", protowire.ParseError(used))
		}
		block = block[used:]
		if err := f(num, typ, n, b); err != nil {
			return err
		}
	}
	return nil
}

// numbers appends to a repeated field, packed or not.
func numbers(out []uint64, typ protowire.Type, n uint64, b []byte) ([]uint64, error) {
	switch typ {
	case protowire.VarintType:
		return append(out, n), nil
	case protowire.BytesType:
		for len(b) > 0 {
			v, used := protowire.ConsumeVarint(b)
			if used < 0 {
				return nil, format.Corruptf("column metadata is no protobuf message: %w", protowire.ParseError(used))
			}
			out, b = append(out, v), b[used:]
		}
	}
	return out, nil
}
