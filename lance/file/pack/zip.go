package pack

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/omnideck/omnideck/lance/encoding/general"
	"github.com/omnideck/omnideck/lance/file/values"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// zstdFrom: with a value of more bytes, and so many in all, every value is
// compressed with zstd.
const zstdFrom = 32 << 10

// zipValue is how full-zip pages hold values.
type zipValue interface {
	// append appends the bytes of value i, without a length.
	append(dst []byte, i int) []byte
	encoding() *enc21pb.CompressiveEncoding
	// length is the bytes of the length in front; 0 = all values have size bytes.
	length() int
	size() int
}

// zip makes a page of control words and values, one after the other.
func zip(l *Leaf, lv *levels) (*Page, error) {
	v, err := zipValueOf(l.Values)
	if err != nil {
		return nil, err
	}
	if lv.pairs > math.MaxUint32 {
		return nil, ErrSplit
	}
	m := &enc21pb.FullZipLayout{Layers: lv.kinds, NumItems: uint32(lv.pairs), NumVisibleItems: uint32(l.Values.N),
		ValueCompression: v.encoding()}
	if lv.rep != nil {
		m.BitsRep = uint32(bits.Len16(slices.Max(lv.rep)))
	}
	m.BitsDef = uint32(bits.Len16(lv.maxDef))
	if v.length() == 0 {
		m.Details = &enc21pb.FullZipLayout_BitsPerValue{BitsPerValue: uint32(8 * v.size())}
	} else {
		m.Details = &enc21pb.FullZipLayout_BitsPerOffset{BitsPerOffset: uint32(8 * v.length())}
	}
	data, starts := zipItems(l, lv, v, m)
	buffers := [][]byte{data}
	if v.length() > 0 || lv.rep != nil {
		buffers = append(buffers, positions(append(starts, uint64(len(data)))))
	}
	return pageOf(l.Rows, buffers, m), nil
}

// zipItems makes the items, and the position of each row.
func zipItems(l *Leaf, lv *levels, v zipValue, m *enc21pb.FullZipLayout) (data []byte, starts []uint64) {
	control := controlSize(m.BitsRep + m.BitsDef)
	data = make([]byte, 0, lv.pairs*control+l.Values.N*v.size())
	starts = make([]uint64, 0, l.Rows+1)
	for i, k := 0, 0; i < lv.pairs; i++ {
		var rep, def uint16
		if lv.rep != nil {
			rep = lv.rep[i]
		}
		if lv.def != nil {
			def = lv.def[i]
		}
		if rep == lv.maxRep {
			starts = append(starts, uint64(len(data)))
		}
		word := uint32(rep)<<m.BitsDef | uint32(def)
		for range control {
			data = append(data, byte(word))
			word >>= 8
		}
		if lv.rep != nil && def > lv.visible {
			continue
		}
		switch n := v.length(); {
		case n == 0:
			data = v.append(data, k)
		case def == 0:
			at := len(data)
			data = v.append(append(data, make([]byte, n)...), k)
			size := uint64(len(data) - at - n)
			for b := range n {
				data[at+b] = byte(size >> (8 * b))
			}
		}
		k++
	}
	return data, starts
}

// controlSize is the bytes of a control word.
func controlSize(bits uint32) int {
	switch {
	case bits == 0:
		return 0
	case bits <= 8:
		return 1
	case bits <= 16:
		return 2
	}
	return 4
}

// positions are numbers in as few bytes as the last of them needs.
func positions(at []uint64) []byte {
	width := 1
	for last := at[len(at)-1]; width < 8 && last>>(8*width) > 0; {
		width *= 2
	}
	out := make([]byte, 0, len(at)*width)
	var word [8]byte
	for _, p := range at {
		binary.LittleEndian.PutUint64(word[:], p)
		out = append(out, word[:width]...)
	}
	return out
}

func zipValueOf(v *Values) (zipValue, error) {
	switch v.t.Kind {
	case values.Fixed:
		return zipFixed{plain{v.fixed, v.t.Width, 0}}, nil
	case values.Vector:
		return zipVector{newVectors(v)}, nil
	case values.Bytes:
		return newZipText(v), nil
	case values.Packed:
		return newZipPacked(v)
	}
	return nil, refused("a full-zip page of " + v.t.Arrow.String())
}

type zipFixed struct{ plain }

func (z zipFixed) length() int { return 0 }
func (z zipFixed) size() int   { return z.plain.size }
func (z zipFixed) append(dst []byte, i int) []byte {
	n := z.plain.size
	return append(dst, z.data[i*n:(i+1)*n]...)
}

type zipVector struct{ vectors }

func (z zipVector) length() int { return 0 }

func (z zipVector) size() int {
	n := 0
	for i, l := range z.layers[:len(z.dims)] {
		if l.valid != nil {
			n += (z.dims[i] + 7) / 8
		}
	}
	return n + z.layers[0].t.Size()
}

func (z zipVector) append(dst []byte, i int) []byte {
	for k, l := range z.layers[:len(z.dims)] {
		if l.valid != nil {
			dst = appendBits(dst, l.valid, i*z.dims[k], (i+1)*z.dims[k])
		}
	}
	n := z.layers[0].t.Size()
	return append(dst, z.layers[len(z.dims)].fixed[i*n:(i+1)*n]...)
}

// zipText is text, maybe packed with symbols or compressed one by one.
type zipText struct {
	*text
	zstd bool
}

func newZipText(v *Values) zipText {
	total := int(v.offsets[v.N] - v.offsets[0])
	width := 4
	if v.t.Large {
		width = 8
	}
	if v.widest() <= zstdFrom || total+width*(v.N+1) < zstdFrom {
		return zipText{newText(v), false}
	}
	z := zipText{&text{width: width, offsets: make([]uint32, 1, v.N+1)}, true}
	for i := range v.N {
		if s := v.data[v.offsets[i]:v.offsets[i+1]]; len(s) > 0 {
			z.data = general.AppendZstd(z.data, s)
		}
		z.offsets = append(z.offsets, uint32(len(z.data)))
	}
	return z
}

func (z zipText) length() int { return z.width }
func (z zipText) size() int   { return z.width }
func (z zipText) append(dst []byte, i int) []byte {
	return append(dst, z.data[z.offsets[i]:z.offsets[i+1]]...)
}

func (z zipText) encoding() *enc21pb.CompressiveEncoding {
	if z.zstd {
		return generalOf(enc21pb.CompressionScheme_ZSTD, variableOf(z.width))
	}
	return z.text.encoding()
}

// zipPacked is structs, of which some fields are text.
type zipPacked struct{ fields []*Values }

func newZipPacked(v *Values) (zipValue, error) {
	for _, f := range v.fields {
		if f.t.Kind != values.Fixed && f.t.Kind != values.Bytes {
			return nil, refused("a packed struct with a field of " + f.t.Arrow.String())
		}
	}
	return zipPacked{v.fields}, nil
}

func (z zipPacked) length() int { return 4 }

func (z zipPacked) size() int {
	n := 4
	for _, f := range z.fields {
		n += f.t.Size()
	}
	return n
}

func (z zipPacked) append(dst []byte, i int) []byte {
	for _, f := range z.fields {
		if f.t.Kind == values.Fixed {
			dst = append(dst, f.fixed[i*f.t.Width:(i+1)*f.t.Width]...)
			continue
		}
		s := f.data[f.offsets[i]:f.offsets[i+1]]
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)))
		if f.t.Large {
			dst = append(dst, 0, 0, 0, 0)
		}
		dst = append(dst, s...)
	}
	return dst
}

func (z zipPacked) encoding() *enc21pb.CompressiveEncoding {
	p := &enc21pb.VariablePackedStruct{}
	for _, f := range z.fields {
		e := &enc21pb.FieldEncoding{}
		switch {
		case f.t.Kind == values.Fixed:
			e.Value, e.Layout = flatOf(uint64(8*f.t.Width)), &enc21pb.FieldEncoding_BitsPerValue{BitsPerValue: uint64(8 * f.t.Width)}
		case f.t.Large:
			e.Value, e.Layout = variableOf(8), &enc21pb.FieldEncoding_BitsPerLength{BitsPerLength: 64}
		default:
			e.Value, e.Layout = variableOf(4), &enc21pb.FieldEncoding_BitsPerLength{BitsPerLength: 32}
		}
		p.Fields = append(p.Fields, e)
	}
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_VariablePackedStruct{VariablePackedStruct: p}}
}
