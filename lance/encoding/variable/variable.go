// Package variable holds values of variable width: offsets and bytes.
//
// # Mini-block
//
// One buffer for n values, words of w (4 or 8) bytes:
//
//	word[n+1]  offsets, counted from the buffer's beginning
//	bytes      the values; value i lies at offset[i] to offset[i+1]
//	           filled up to a multiple of w with any bytes
//
// The first offset is (n+1)*w or more. "x", "", "zz" in 32 bits:
//
//	10000000 11000000 11000000 13000000 787a7a 48
//
// # Block
//
//	word       32 or 64, the bits of a word (4 or 8 bytes wide accordingly)
//	word       start: where the bytes begin, counted from the buffer's beginning
//	word[n+1]  offsets, counted from start, the first one 0
//	bytes
//
// "a", "bb" in 32 bits: 20000000 14000000 | 00000000 01000000 03000000 | 616262.
//
// Offsets never fall and never point outside; anything else is damage.
package variable

import (
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"unsafe"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// ErrTooLong: the bytes of a column are more than its offsets can count (2^31
// for the types with 32-bit offsets). The data is whole; read fewer rows at
// once, or as a Large type.
var ErrTooLong = errors.New("more bytes than 32-bit offsets can count")

// Offset is an Arrow offset.
type Offset interface{ ~int32 | ~int64 }

// View is a checked buffer: n values, value i at offset i to offset i+1 of
// the data. It was checked when it was made; its zero value has no values.
type View struct {
	data    []byte // what the offsets point into
	offsets []byte // n+1 little-endian words, never falling, all within data
	width   int    // bytes of a word, 4 or 8
}

// Mini checks the buffer of a mini-block chunk with n values.
func Mini(buf []byte, width, n int) (View, error) {
	if width != 4 && width != 8 || n < 0 {
		return View{}, corrupt.New("variable", "words of 4 or 8 bytes", "%d values with words of %d", n, width)
	}
	if n >= len(buf)/width {
		return View{}, corrupt.New("variable", "one offset more than values", "%d bytes for %d values", len(buf), n)
	}
	v := View{buf, buf[:(n+1)*width], width}
	if first := v.offset(0); first < uint64(len(v.offsets)) {
		return View{}, corrupt.New("variable", "values behind the offsets", "the first at %d of %d", first, len(v.offsets))
	}
	return v, v.check()
}

// Block checks a block with n values.
func Block(buf []byte, n int) (View, error) {
	width := 0
	if len(buf) >= 4 {
		switch binary.LittleEndian.Uint32(buf) {
		case 32:
			width = 4
		case 64:
			width = 8
		}
	}
	if width == 0 || n < 0 || len(buf)/width < 3 || n > len(buf)/width-3 {
		return View{}, corrupt.New("variable", "32 or 64, a start, and one offset more than values",
			"a block of %d bytes for %d values", len(buf), n)
	}
	word := View{offsets: buf[:2*width], width: width}
	head := (n + 3) * width
	if start := word.offset(1); word.offset(0) != uint64(width)*8 || start < uint64(head) || start > uint64(len(buf)) {
		return View{}, corrupt.New("variable", "bytes that start behind the offsets and in the block",
			"a start at %d of %d with offsets to %d", start, len(buf), head)
	}
	v := View{buf[word.offset(1):], buf[2*width : head], width}
	return v, v.check()
}

// Len is the number of values.
func (v View) Len() int { return max(0, len(v.offsets)/max(v.width, 1)-1) }

// Data is what the offsets point into, and Offsets the offsets, Len()+1
// little-endian words of Width() bytes.
func (v View) Data() []byte    { return v.data }
func (v View) Offsets() []byte { return v.offsets }
func (v View) Width() int      { return v.width }

// At is value i, a part of the buffer.
func (v View) At(i int) []byte { return v.data[v.offset(i):v.offset(i+1):v.offset(i+1)] }

// Bytes is the number of bytes of all values.
func (v View) Bytes() int {
	if len(v.offsets) == 0 {
		return 0
	}
	return int(v.offset(v.Len()) - v.offset(0))
}

func (v View) offset(i int) uint64 {
	if v.width == 4 {
		return uint64(binary.LittleEndian.Uint32(v.offsets[4*i:]))
	}
	return binary.LittleEndian.Uint64(v.offsets[8*i:])
}

// check looks at every offset.
func (v View) check() error {
	if last := v.offset(v.Len()); last > uint64(len(v.data)) {
		return corrupt.New("variable", "offsets within the buffer", "an offset of %d in %d bytes", last, len(v.data))
	}
	if v.width == 4 {
		return ascending(words[uint32](v.offsets))
	}
	return ascending(words[uint64](v.offsets))
}

func ascending[W uint32 | uint64](offsets []W) error {
	before, falls := offsets[0], false
	for _, at := range offsets[1:] {
		falls = falls || at < before
		before = at
	}
	if falls {
		return corrupt.New("variable", "offsets that never fall", "one below the one before")
	}
	return nil
}

// Append appends the values: their bytes to data, and the end of each, its
// position in data, to ends. ErrTooLong if O cannot hold an end; data and ends
// are then returned as they were.
func Append[O Offset](data []byte, ends []O, v View) ([]byte, []O, error) {
	n := v.Len()
	if n == 0 {
		return data, ends, nil
	}
	first, last := v.offset(0), v.offset(n)
	if len(data)+int(last-first) > MaxOffset[O]() {
		return data, ends, ErrTooLong
	}
	at := len(ends)
	if cap(ends)-at >= n {
		ends = ends[:at+n]
	} else {
		ends = append(ends, make([]O, n)...)
	}
	if shift := O(len(data)) - O(first); v.width == 4 {
		shiftAll(ends[at:], words[uint32](v.offsets)[1:], shift)
	} else {
		shiftAll(ends[at:], words[uint64](v.offsets)[1:], shift)
	}
	return append(data, v.data[first:last]...), ends, nil
}

// shiftAll sets ends to offsets that are moved by shift.
func shiftAll[O Offset, W uint32 | uint64](ends []O, offsets []W, shift O) {
	offsets = offsets[:len(ends)]
	for i := range ends {
		ends[i] = O(offsets[i]) + shift
	}
}

// words reads little-endian words, in place where the machine can.
func words[W uint32 | uint64](b []byte) []W {
	var w W
	n := len(b) / int(unsafe.Sizeof(w))
	if anyAddress {
		return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(b))), n)
	}
	out := make([]W, n)
	v := View{offsets: b, width: int(unsafe.Sizeof(w))}
	for i := range out {
		out[i] = W(v.offset(i))
	}
	return out
}

// anyAddress tells whether words may be read at any address and lie there
// lowest byte first.
const anyAddress = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"

// MaxOffset is the largest offset.
func MaxOffset[O Offset]() int {
	if o := O(math.MaxInt32); o+1 < 0 {
		return math.MaxInt32
	}
	return math.MaxInt
}
