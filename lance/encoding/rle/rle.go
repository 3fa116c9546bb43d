// Package rle holds runs of equal values: the value of each run, and its
// length as one byte. Longer runs are cut into several.
//
// # Mini-block
//
// Two buffers for n values:
//
//	word[r]  the value of each run
//	u8[r]    the length of each run
//
// Lengths that sum up to more than n are cut (older writers made them); fewer
// are damage. 300 times 7 and 5 times 9 in 32 bits:
//
//	07000000 07000000 09000000 and ff 2d 05
//
// # Block
//
//	u64      bytes of the run values
//	word[r]  the value of each run
//	u8[r]    the length of each run
//
// Here the lengths must sum up to exactly n.
package rle

import (
	"encoding/binary"
	"unsafe"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// Word is a value of up to 64 bits.
type Word interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Mini fills dst, which has the number of values of the chunk.
func Mini[T Word](dst []T, values, lengths []byte) error {
	var t T
	size := int(unsafe.Sizeof(t))
	if len(values) != len(lengths)*size {
		return unequal(len(values), len(lengths), size)
	}
	at := 0
	for i, length := range lengths {
		if at == len(dst) {
			return nil
		}
		run := dst[at:min(at+int(length), len(dst))]
		v := word[T](values[i*size:], size)
		for k := range run {
			run[k] = v
		}
		at += len(run)
	}
	return enough(at, len(dst))
}

// MiniBytes fills dst with values of size bytes.
func MiniBytes(dst []byte, size int, values, lengths []byte) error {
	if size <= 0 || len(dst)%size != 0 || len(values) != len(lengths)*size {
		return unequal(len(values), len(lengths), size)
	}
	at := 0
	for i, length := range lengths {
		v := values[i*size:][:size]
		for range length {
			if at == len(dst) {
				return nil
			}
			at += copy(dst[at:], v)
		}
	}
	return enough(at/size, len(dst)/size)
}

// Block fills dst, which has the number of values of the block.
func Block[T Word](dst []T, block []byte) error {
	var t T
	values, lengths, err := Split(block, int(unsafe.Sizeof(t)))
	if err != nil {
		return err
	}
	if total := Sum(lengths); total != len(dst) {
		return corrupt.New("rle", "runs of exactly the block's values", "runs of %d values for %d", total, len(dst))
	}
	return Mini(dst, values, lengths)
}

// Split parts a block into the run values, of size bytes each, and as many
// run lengths.
func Split(block []byte, size int) (values, lengths []byte, err error) {
	if len(block) < 8 {
		return nil, nil, corrupt.New("rle", "a size of 8 bytes", "a block of %d bytes", len(block))
	}
	n := binary.LittleEndian.Uint64(block)
	block = block[8:]
	if n > uint64(len(block)) {
		return nil, nil, corrupt.New("rle", "run values within the block", "%d bytes of %d", n, len(block))
	}
	values, lengths = block[:n], block[n:]
	if size <= 0 || len(values) != len(lengths)*size {
		return nil, nil, unequal(len(values), len(lengths), size)
	}
	return values, lengths, nil
}

// Sum is the number of values in runs.
func Sum(lengths []byte) int {
	total := 0
	for _, n := range lengths {
		total += int(n)
	}
	return total
}

func word[T Word](b []byte, size int) T {
	switch size {
	case 1:
		return T(b[0])
	case 2:
		return T(binary.LittleEndian.Uint16(b))
	case 4:
		return T(binary.LittleEndian.Uint32(b))
	default:
		return T(binary.LittleEndian.Uint64(b))
	}
}

func unequal(values, lengths, size int) error {
	return corrupt.New("rle", "a length for each run", "%d bytes of values of %d and %d lengths", values, size, lengths)
}

func enough(got, want int) error {
	if got < want {
		return corrupt.New("rle", "runs for every value", "runs of %d values for %d", got, want)
	}
	return nil
}
