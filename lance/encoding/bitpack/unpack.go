package bitpack

import "encoding/binary"

// order is the block of 16 values that rows 8k to 8k+7 begin at.
var order = [8]int{0, 4, 2, 6, 1, 5, 3, 7}

// rowStart is the value number of row r, lane 0.
func rowStart(r int) int { return order[r/8]*16 + r%8*128 }

// rowSize is the bytes of a row: its lanes side by side, at any word width.
const rowSize = 128

// unpack unpacks a group. packed has at least Size(width) bytes, and width is
// at most the word's.
func unpack[T Word](dst *[Group]T, packed []byte, width int) {
	switch {
	case width == 0:
		clear(dst[:])
	case littleEndian:
		unpackRows(bytesOf(dst[:]), packed, Bits[T](), width)
	default:
		unpackLanes(dst, packed, width)
	}
}

// unpackRows unpacks to the memory of the words, 64/bits lanes at a time.
func unpackRows(dst, packed []byte, bits, width int) {
	dst, packed = dst[:Group*bits/8], packed[:Size(width)]
	for r := range bits {
		w, s := r*width/bits, r*width%bits
		out := (*[rowSize]byte)(dst[rowStart(r)*bits/8:])
		in := (*[rowSize]byte)(packed[w*rowSize:])
		if s+width <= bits {
			shiftRow(out, in, uint(s), repeat(width, bits))
			continue
		}
		low := bits - s // bits that are in this row, the rest begins the next
		next := (*[rowSize]byte)(packed[(w+1)*rowSize:])
		joinRow(out, in, next, uint(s), uint(low), repeat(low, bits), repeat(width-low, bits))
	}
}

// repeat is a mask of the lowest width bits of each lane.
func repeat(width, bits int) uint64 {
	lane := ^uint64(0) >> (64 - width)
	for ; bits < 64; bits *= 2 {
		lane |= lane << bits
	}
	return lane
}

// shiftRow takes the bits of mask from s on in every lane.
func shiftRow(out, in *[rowSize]byte, s uint, mask uint64) {
	for i := 0; i < rowSize; i += 8 {
		v := binary.LittleEndian.Uint64(in[i:])
		binary.LittleEndian.PutUint64(out[i:], v>>(s&63)&mask)
	}
}

// joinRow takes the upper bits of one row, from s on, as the lower ones, and
// the lower bits of the next row as the upper ones, from low on.
func joinRow(out, in, next *[rowSize]byte, s, low uint, lowMask, highMask uint64) {
	for i := 0; i < rowSize; i += 8 {
		a := binary.LittleEndian.Uint64(in[i:])
		b := binary.LittleEndian.Uint64(next[i:])
		binary.LittleEndian.PutUint64(out[i:], a>>(s&63)&lowMask|b&highMask<<(low&63))
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
