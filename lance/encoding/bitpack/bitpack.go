// Package bitpack holds integers in as many bits as the largest needs, in the
// FastLanes order of Lance 2.1 and later.
//
// # Group
//
// A group is 1024 values of a word of T bits (8, 16, 32 or 64) at one width W
// (0 to T), packed in 128*W bytes. The words form L = 1024/T lanes; lane l
// holds T values, whose bits follow one another, lowest first. Bit b of a
// lane's stream is bit b%T of the packed word (b/T)*L + l. The value in row r
// of lane l, whose bits begin at r*W, is value number
//
//	order[r/8]*16 + (r%8)*128 + l        order = 0 4 2 6 1 5 3 7
//
// of the group. Width 0 stores nothing: all values are 0. At width T the order
// is the same, so a group is then not a copy of its values.
//
// # Inline block
//
// Up to 1024 values, fewer being filled up with zeros:
//
//	word      W, in T bits
//	128*W     the group
//
// The values 31, 12, 4 … of 8 bits at width 5 begin 05 5f cc c4.
//
// # Out-of-line block
//
// Any number n of values at a width that is known from elsewhere: n/1024
// groups, and then t = n%1024 values either raw (exactly t words are left) or
// as another group.
//
// # Several lanes at once
//
// A row of a group is L values side by side, 128 bytes whatever T is, and so
// is each of the W packed rows. Both are handled as 16 words of 64 bits, each
// of which holds 64/T lanes: a shift moves all of them, and a mask clears what
// came over from the neighbour.
package bitpack

import (
	"encoding/binary"
	"unsafe"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// Group is the number of values that are packed together.
const Group = 1024

// Word is the integer that is packed.
type Word interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Bits is the width of T.
func Bits[T Word]() int {
	var t T
	return int(unsafe.Sizeof(t)) * 8
}

// Size is the number of bytes of a packed group.
func Size(width int) int { return 128 * width }

// Unpack unpacks the group at the beginning of packed to dst[:Group].
func Unpack[T Word](dst []T, packed []byte, width int) error {
	if err := check[T](packed, width); err != nil {
		return err
	}
	unpack((*[Group]T)(dst), packed, width)
	return nil
}

// Inline unpacks an inline block to dst, which has the number of values of the
// block, at most Group.
func Inline[T Word](dst []T, block []byte) error {
	size := Bits[T]() / 8
	if len(block) < size {
		return corrupt.New("bitpack", "a header word of the value's width", "a block of %d bytes", len(block))
	}
	if len(dst) > Group {
		return corrupt.New("bitpack", "at most 1024 in an inline block", "%d values", len(dst))
	}
	width := header(block, size)
	packed := block[size:]
	if width > uint64(Bits[T]()) || len(packed) < Size(int(width)) {
		return corrupt.New("bitpack", "a width within the word, and 128 times as many bytes",
			"width %d in %d bits, and %d bytes", width, Bits[T](), len(packed))
	}
	unpackSome(dst, packed, int(width))
	return nil
}

// OutOfLine unpacks a block of len(dst) values at one width.
func OutOfLine[T Word](dst []T, block []byte, width int) error {
	bits := Bits[T]()
	if width < 0 || width > bits {
		return corrupt.New("bitpack", "a width within the word", "width %d in %d bits", width, bits)
	}
	group, whole, tail := Size(width), len(dst)/Group, len(dst)%Group
	left := len(block) - whole*group
	if left != tail*bits/8 && (tail == 0 || left != group) {
		return corrupt.New("bitpack", "whole groups and a raw or packed rest",
			"%d bytes for %d values at width %d of %d", len(block), len(dst), width, bits)
	}
	for range whole {
		unpack((*[Group]T)(dst), block, width)
		dst, block = dst[Group:], block[group:]
	}
	if left == tail*bits/8 {
		copyWords(dst, block)
	} else {
		unpackSome(dst, block, width)
	}
	return nil
}

// Raw copies len(dst) little-endian words.
func Raw[T Word](dst []T, src []byte) error {
	if len(src) != len(dst)*Bits[T]()/8 {
		return corrupt.New("words", "exactly as many", "%d bytes for %d words of %d bits", len(src), len(dst), Bits[T]())
	}
	copyWords(dst, src)
	return nil
}

// check refuses a width that the word does not have, or too few bytes.
func check[T Word](packed []byte, width int) error {
	if width < 0 || width > Bits[T]() {
		return corrupt.New("bitpack", "a width within the word", "width %d in %d bits", width, Bits[T]())
	}
	if len(packed) < Size(width) {
		return corrupt.New("bitpack", "128 times the width", "%d bytes at width %d", len(packed), width)
	}
	return nil
}

// header reads the width in front of an inline block.
func header(block []byte, size int) uint64 {
	var word [8]byte
	copy(word[:], block[:size])
	return binary.LittleEndian.Uint64(word[:])
}

// unpackSome unpacks the first values of a group.
func unpackSome[T Word](dst []T, packed []byte, width int) {
	if len(dst) == Group {
		unpack((*[Group]T)(dst), packed, width)
		return
	}
	var all [Group]T
	unpack(&all, packed, width)
	copy(dst, all[:])
}

// copyWords copies little-endian words.
func copyWords[T Word](dst []T, src []byte) {
	if len(dst) == 0 {
		return
	}
	if littleEndian {
		copy(bytesOf(dst), src)
		return
	}
	size := Bits[T]() / 8
	for i := range dst {
		dst[i] = T(header(src[i*size:], size))
	}
}

// bytesOf is the memory of words.
func bytesOf[T Word](words []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*Bits[T]()/8)
}

// littleEndian tells whether words lie in memory as they do in files.
var littleEndian = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}()
