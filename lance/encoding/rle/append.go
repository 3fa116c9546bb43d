package rle

import (
	"encoding/binary"
	"unsafe"
)

const longest = 255 // of a run; a longer one is cut

// Runs is the number of runs, each of at most 255, that the values make when
// they are cut into chunks of the given number of values.
func Runs[T Word](values []T, chunk int) int {
	runs := 0
	for len(values) > 0 {
		part := values[:min(chunk, len(values))]
		values = values[len(part):]
		start := 0
		for i := 1; i < len(part); i++ {
			if part[i] != part[i-1] {
				runs += (i - start + longest - 1) / longest
				start = i
			}
		}
		runs += (len(part) - start + longest - 1) / longest
	}
	return runs
}

// Append appends the runs of a chunk: their values and their lengths.
func Append[T Word](words, lengths []byte, values []T) (w, l []byte) {
	for i := 0; i < len(values); {
		v, n := values[i], 1
		for i+n < len(values) && n < longest && values[i+n] == v {
			n++
		}
		words, lengths = appendWord(words, v), append(lengths, byte(n))
		i += n
	}
	return words, lengths
}

// AppendBlock appends a block of the values.
func AppendBlock[T Word](dst []byte, values []T) []byte {
	words, lengths := Append(nil, nil, values)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(words)))
	return append(append(dst, words...), lengths...)
}

func appendWord[T Word](dst []byte, v T) []byte {
	u := uint64(v)
	for range unsafe.Sizeof(v) {
		dst = append(dst, byte(u))
		u >>= 8
	}
	return dst
}
