package bitpack

import (
	"encoding/binary"
	"math/bits"
)

// Width is the number of bits that the largest of the values needs.
func Width[T Word](values []T) int {
	var all T
	for _, v := range values {
		all |= v
	}
	return bits.Len64(uint64(all))
}

// Append appends a group of the values, at most Group of them, the missing
// ones taken as 0. Bits above width are dropped.
func Append[T Word](dst []byte, values []T, width int) []byte {
	var group [Group]T
	copy(group[:], values[:min(len(values), Group)])
	n := Bits[T]()
	lanes, size := Group/n, n/8
	at := len(dst)
	dst = append(dst, make([]byte, Size(width))...)
	packed := dst[at:]
	put := func(i int, v T) {
		var word [8]byte
		copy(word[:], packed[i*size:][:size])
		binary.LittleEndian.PutUint64(word[:], binary.LittleEndian.Uint64(word[:])|uint64(v))
		copy(packed[i*size:][:size], word[:])
	}
	if width == 0 {
		return dst
	}
	mask := ^T(0) >> (n - width)
	for r := range n {
		w, s := r*width/n, r*width%n
		for l := range lanes {
			v := group[rowStart(r)+l] & mask
			put(w*lanes+l, v<<s)
			if s+width > n {
				put((w+1)*lanes+l, v>>(n-s))
			}
		}
	}
	return dst
}

// AppendInline appends an inline block of at most Group values.
func AppendInline[T Word](dst []byte, values []T) []byte {
	width := Width(values)
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], uint64(width))
	dst = append(dst, word[:Bits[T]()/8]...)
	return Append(dst, values, width)
}

// AppendOutOfLine appends an out-of-line block. Its rest is raw where that is
// not longer.
func AppendOutOfLine[T Word](dst []byte, values []T, width int) []byte {
	for ; len(values) >= Group; values = values[Group:] {
		dst = Append(dst, values[:Group], width)
	}
	size := Bits[T]() / 8
	if len(values) == 0 {
		return dst
	}
	if len(values)*size > Size(width) {
		return Append(dst, values, width)
	}
	for _, v := range values {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], uint64(v))
		dst = append(dst, word[:size]...)
	}
	return dst
}
