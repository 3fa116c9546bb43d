package bitpack

import (
	"runtime"
	"unsafe"
)

//go:generate go run ../../../internal/bitpackgen

// order is the block of 16 values that rows 8k to 8k+7 begin at.
var order = [8]int{0, 4, 2, 6, 1, 5, 3, 7}

// rowStart is the value number of row r, lane 0.
func rowStart(r int) int { return order[r/8]*16 + r%8*128 }

// anyAddress tells whether words of 64 bits may be read and written at any
// address and lie there lowest byte first.
const anyAddress = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"

// unpack unpacks a group. packed has at least Size(width) bytes, and width is
// at most the word's.
func unpack[T Word](dst *[Group]T, packed []byte, width int) {
	if width == 0 {
		clear(dst[:])
		return
	}
	if !anyAddress {
		unpackLanes(dst, packed, width)
		return
	}
	// The unpackers touch exactly Group words of dst and Size(width) bytes.
	out, in := unsafe.Pointer(dst), unsafe.Pointer(unsafe.SliceData(packed[:Size(width)]))
	switch Bits[T]() {
	case 8:
		unpackers8[width](out, in)
	case 16:
		unpackers16[width](out, in)
	case 32:
		unpackers32[width](out, in)
	default:
		unpackers64[width](out, in)
	}
}

// unpackLanes unpacks value by value, on any machine.
func unpackLanes[T Word](dst *[Group]T, packed []byte, width int) {
	bits := Bits[T]()
	lanes, size := Group/bits, bits/8
	mask := ^T(0) >> (bits - width)
	word := func(i int) T { return T(header(packed[i*size:], size)) }
	for r := range bits {
		w, s := r*width/bits, r*width%bits
		for l := range lanes {
			v := word(w*lanes+l) >> s
			if s+width > bits {
				v |= word((w+1)*lanes+l) << (bits - s)
			}
			dst[rowStart(r)+l] = v & mask
		}
	}
}
