package bitpack

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
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
	at := len(dst)
	dst = append(dst, make([]byte, Size(width))...)
	if width == 0 {
		return dst
	}
	var group [Group]T
	in := &group
	if len(values) >= Group {
		in = (*[Group]T)(values)
	} else {
		copy(group[:], values)
	}
	if anyAddress {
		pack(dst[at:], unsafe.Slice((*uint64)(unsafe.Pointer(in)), Group*Bits[T]()/64), Bits[T](), width)
	} else {
		packLanes(dst[at:], in, width)
	}
	return dst
}

// pack packs a group that is given as words of 64 bits, each of which holds
// 64/bits lanes, to out, which is clear.
func pack(out []byte, in []uint64, bits, width int) {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(out))), len(out)/8)
	for r := range bits {
		row := (*[16]uint64)(in[rowStart(r)*bits/64:])
		w, s := r*width/bits, r*width%bits
		low := (*[16]uint64)(words[16*w:])
		if left := bits - s; width > left {
			high := (*[16]uint64)(words[16*(w+1):])
			below, above := laneMask(bits, left), laneMask(bits, width-left)
			for l := range 16 {
				low[l] |= row[l] & below << s
				high[l] |= row[l] >> left & above
			}
			continue
		}
		mask := laneMask(bits, width)
		for l := range 16 {
			low[l] |= row[l] & mask << s
		}
	}
}

// laneMask is the lowest width bits, at least 1, of every lane.
func laneMask(bits, width int) uint64 {
	lane := ^uint64(0) >> (64 - width)
	for ; bits < 64; bits *= 2 {
		lane |= lane << bits
	}
	return lane
}

// packLanes packs value by value, on any machine.
func packLanes[T Word](packed []byte, group *[Group]T, width int) {
	n := Bits[T]()
	lanes, size := Group/n, n/8
	put := func(i int, v T) {
		var word [8]byte
		copy(word[:], packed[i*size:][:size])
		binary.LittleEndian.PutUint64(word[:], binary.LittleEndian.Uint64(word[:])|uint64(v))
		copy(packed[i*size:][:size], word[:])
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
