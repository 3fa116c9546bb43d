package pack

import (
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/omnideck/omnideck/lance/file/values"
)

// Values are the values of a leaf in a row. What they were appended from may
// be used in place and must not change before they are encoded.
type Values struct {
	N int

	t       *values.Type
	fixed   []byte    // Fixed: N words
	bits    []byte    // Bool: N bits; bits behind the last are clear
	data    []byte    // Bytes: value i lies at offsets[i] to offsets[i+1]
	offsets []uint32  // Bytes: N+1
	lent    bool      // fixed, or data and offsets, are the array's
	valid   []byte    // Vector: a bit for each of the N*Dim items; nil: all are valid
	item    *Values   // Vector: N*Dim; Dict: N
	fields  []*Values // Packed
}

// NewValues makes an empty row of values of a type.
func NewValues(t *values.Type) *Values {
	v := &Values{t: t}
	switch t.Kind {
	case values.Vector, values.Dict:
		v.item = NewValues(t.Item)
	case values.Packed:
		for _, f := range t.Fields {
			v.fields = append(v.fields, NewValues(f))
		}
	case values.Bytes:
		v.offsets = []uint32{0}
	}
	return v
}

// Reserve makes room for n values that come in many parts, if their type is of
// fixed width.
func (v *Values) Reserve(n int) {
	if v.t.Kind == values.Fixed && v.N == 0 && cap(v.fixed) == 0 {
		v.fixed = make([]byte, 0, n*v.t.Width)
	}
}

// Append appends elements [from, to) of an array, whose nulls it does not look
// at but for the items of vectors.
func (v *Values) Append(d arrow.ArrayData, from, to int) error {
	n, at := to-from, d.Offset()+from
	if n == 0 {
		return nil
	}
	defer func() { v.N += n }()
	switch v.t.Kind {
	case values.Fixed:
		w := v.t.Width
		v.appendFixed(d.Buffers()[1].Bytes()[at*w : (at+n)*w])
	case values.Bool:
		v.bits = grownBits(v.bits, v.N+n)
		bitutil.CopyBitmap(d.Buffers()[1].Bytes(), at, n, v.bits, v.N)
	case values.Bytes:
		return v.appendText(d, at, n)
	case values.Vector:
		child := d.Children()[0]
		if err := v.item.Append(child, at*v.t.Dim, (at+n)*v.t.Dim); err != nil {
			return err
		}
		v.appendValidity(child, at*v.t.Dim, n*v.t.Dim)
	case values.Packed:
		for i, f := range v.fields {
			child := d.Children()[i]
			if hasNull(child, at, n) {
				return refused("a packed struct of which a field is null")
			}
			if err := f.Append(child, at, at+n); err != nil {
				return err
			}
		}
	case values.Dict:
		dict := d.Dictionary()
		for i := range n {
			k := index(d.Buffers()[1].Bytes(), v.t.Width, at+i)
			if err := v.item.Append(dict, k, k+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// Zeros appends n values for what has none: zeros, or nothing.
func (v *Values) Zeros(n int) {
	switch v.t.Kind {
	case values.Fixed:
		v.own()
		v.fixed = append(v.fixed, make([]byte, n*v.t.Width)...)
	case values.Bool:
		v.bits = grownBits(v.bits, v.N+n)
	case values.Bytes:
		v.own()
		last := v.offsets[v.N]
		for range n {
			v.offsets = append(v.offsets, last)
		}
	case values.Vector:
		items := v.N * v.t.Dim
		v.item.Zeros(n * v.t.Dim)
		if v.valid != nil {
			v.valid = grownBits(v.valid, items+n*v.t.Dim)
			bitutil.SetBitsTo(v.valid, int64(items), int64(n*v.t.Dim), true)
		}
	case values.Dict:
		v.item.Zeros(n)
	case values.Packed:
		for _, f := range v.fields {
			f.Zeros(n)
		}
	}
	v.N += n
}

func (v *Values) appendFixed(part []byte) {
	if v.N == 0 && cap(v.fixed) == 0 {
		v.fixed, v.lent = part[:len(part):len(part)], true
		return
	}
	v.own()
	v.fixed = append(v.fixed, part...)
}

// own copies what is lent, so that it can grow.
func (v *Values) own() {
	if !v.lent {
		return
	}
	v.lent = false
	if v.t.Kind == values.Fixed {
		v.fixed = append(make([]byte, 0, 2*len(v.fixed)), v.fixed...)
		return
	}
	first, last := v.offsets[0], v.offsets[v.N]
	v.data = append(make([]byte, 0, 2*int(last-first)), v.data[first:last]...)
	v.offsets = append(make([]uint32, 0, 2*len(v.offsets)), v.offsets...)
	for i := range v.offsets {
		v.offsets[i] -= first
	}
}

func (v *Values) appendText(d arrow.ArrayData, at, n int) error {
	var data []byte
	if b := d.Buffers()[2]; b != nil {
		data = b.Bytes()
	}
	offsets := d.Buffers()[1].Bytes()
	if v.t.Large {
		return appendText(v, data, unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(offsets))), len(offsets)/8)[at:at+n+1])
	}
	o := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(offsets))), len(offsets)/4)[at : at+n+1]
	if v.N == 0 && len(v.data) == 0 {
		v.data, v.lent = data, true
		v.offsets = unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(o))), n+1)
		v.offsets = v.offsets[: n+1 : n+1]
		return nil
	}
	return appendText(v, data, o)
}

func appendText[O int32 | int64](v *Values, data []byte, o []O) error {
	v.own()
	first, last := o[0], o[len(o)-1]
	if int64(len(v.data))+int64(last-first) > math.MaxUint32 {
		return refused("text of 4 GiB and more in one page")
	}
	shift := int64(len(v.data)) - int64(first)
	for _, end := range o[1:] {
		v.offsets = append(v.offsets, uint32(int64(end)+shift))
	}
	v.data = append(v.data, data[first:last]...)
	return nil
}

// appendValidity appends which items of vectors are valid; at is without the
// child's own offset. The items themselves were appended already.
func (v *Values) appendValidity(child arrow.ArrayData, at, n int) {
	before := v.N * v.t.Dim
	if !hasNull(child, at, n) {
		if v.valid != nil {
			v.valid = grownBits(v.valid, before+n)
			bitutil.SetBitsTo(v.valid, int64(before), int64(n), true)
		}
		return
	}
	if v.valid == nil {
		v.valid = grownBits(nil, before)
		bitutil.SetBitsTo(v.valid, 0, int64(before), true)
	}
	v.valid = grownBits(v.valid, before+n)
	bitutil.CopyBitmap(child.Buffers()[0].Bytes(), child.Offset()+at, n, v.valid, before)
}

// hasNull tells whether one of the elements [at, at+n) of an array is null.
func hasNull(d arrow.ArrayData, at, n int) bool {
	if d.NullN() == 0 || d.Buffers()[0] == nil || d.Buffers()[0].Len() == 0 {
		return false
	}
	return bitutil.CountSetBits(d.Buffers()[0].Bytes(), d.Offset()+at, n) < n
}

func index(buf []byte, width, i int) int {
	n := 0
	for k := width - 1; k >= 0; k-- {
		n = n<<8 | int(buf[i*width+k])
	}
	return n
}

// grownBits makes a bitmap longer, with clear bits.
func grownBits(bits []byte, n int) []byte {
	if more := (n+7)/8 - len(bits); more > 0 {
		bits = append(bits, make([]byte, more)...)
	}
	return bits
}

// widest is the bytes of the widest value.
func (v *Values) widest() int {
	if v.t.Kind != values.Bytes {
		return v.t.Size()
	}
	most := uint32(0)
	for i := range v.N {
		most = max(most, v.offsets[i+1]-v.offsets[i])
	}
	return int(most)
}

// isBits tells whether the values are bits, or vectors of them.
func (v *Values) isBits() bool {
	for v.item != nil {
		v = v.item
	}
	return v.t.Kind == values.Bool
}

func signed(t arrow.DataType) bool {
	d, ok := t.(*arrow.DictionaryType)
	return ok && arrow.IsSignedInteger(d.IndexType.ID())
}
