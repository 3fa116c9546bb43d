package pack

import (
	"bytes"
	"encoding/binary"

	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

const (
	// rawPairs is the most pairs whose levels are stored raw, as a constant
	// page with a value must: with more, chunks are smaller.
	rawPairs  = 4096
	inlineMax = 32 // bytes of a value in the description
)

// noValue makes the page of a leaf without a valid value.
func noValue(l *Leaf, lv *levels, t *values.Type) (*Page, error) {
	m := &enc21pb.ConstantLayout{Layers: lv.kinds}
	if t.Kind == values.Packed && len(t.Fields) == 0 {
		return nil, format.Unsupportedf("a null in a struct without fields, which no page can tell from an empty one")
	}
	if len(lv.kinds) == 1 {
		return pageOf(l.Rows, nil, m), nil
	}
	var rep, def []byte
	if lv.rep != nil {
		how := chooseWords(lv.rep, 1)
		rep, m.RepCompression, m.NumRepValues = how.append(nil, lv.rep), how.encoding(), uint64(len(lv.rep))
	}
	if lv.def != nil {
		how := chooseWords(lv.def, 1)
		def, m.DefCompression, m.NumDefValues = how.append(nil, lv.def), how.encoding(), uint64(len(lv.def))
	}
	return pageOf(l.Rows, [][]byte{rep, def}, m), nil
}

// emptyStructs makes the page of structs without fields.
func emptyStructs(l *Leaf) *Page {
	return pageOf(l.Rows, nil, &enc21pb.ConstantLayout{Layers: []enc21pb.RepDefLayer{enc21pb.RepDefLayer_NULLABLE_ITEM}})
}

// constantOf is the one value that all valid values are.
func constantOf(l *Leaf, lv *levels) ([]byte, bool) {
	v := l.Values
	if (lv.rep != nil || lv.def != nil) && lv.pairs > rawPairs {
		return nil, false
	}
	var at func(i int) []byte
	switch v.t.Kind {
	case values.Fixed:
		if w := v.t.Width; lv.slots == nil {
			return v.fixed[:w], bytes.Equal(v.fixed[w:], v.fixed[:len(v.fixed)-w])
		}
		at = func(i int) []byte { return v.fixed[i*v.t.Width : (i+1)*v.t.Width] }
	case values.Bool:
		one := [2][]byte{{0}, {1}}
		at = func(i int) []byte { return one[v.bits[i/8]>>(i%8)&1] }
	case values.Bytes:
		at = func(i int) []byte { return v.data[v.offsets[i]:v.offsets[i+1]] }
	default:
		return nil, false
	}
	var value []byte
	found := false
	for i := range v.N {
		if lv.slots != nil && lv.slots[i] != 0 {
			continue
		}
		if !found {
			value, found = at(i), true
		} else if !bytes.Equal(value, at(i)) {
			return nil, false
		}
	}
	return value, found
}

// constantPage makes the page of a value.
func constantPage(l *Leaf, lv *levels, value []byte) *Page {
	m := &enc21pb.ConstantLayout{Layers: lv.kinds}
	var buffers [][]byte
	switch t := l.Values.t; {
	case t.Kind == values.Bytes:
		head := make([]byte, 0, 28+len(value))
		width := 4
		if t.Large {
			width = 8
		}
		head = binary.LittleEndian.AppendUint32(head, 2)
		head = binary.LittleEndian.AppendUint32(head, uint32(2*width))
		head = binary.LittleEndian.AppendUint32(head, uint32(len(value)))
		head = append(head, make([]byte, width)...)
		head = append(binary.LittleEndian.AppendUint32(head, uint32(len(value))), make([]byte, width-4)...)
		buffers = append(buffers, append(head, value...))
	case len(value) <= inlineMax:
		m.InlineValue = append([]byte{}, value...)
	default:
		head := binary.LittleEndian.AppendUint32(nil, 1)
		head = binary.LittleEndian.AppendUint32(head, uint32(len(value)))
		buffers = append(buffers, append(head, value...))
	}
	if lv.rep != nil || lv.def != nil {
		buffers = append(buffers, bytes.Clone(bytesOf(lv.rep)), bytes.Clone(bytesOf(lv.def)))
	}
	return pageOf(l.Rows, buffers, m)
}
