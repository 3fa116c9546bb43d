// Package bytestream joins values whose bytes were stored apart: first the
// lowest byte of every value, then the second one of every value, and so on.
// With n values of b bytes, byte j of value i is at j*n + i.
//
// The numbers 0x04030201 and 0x14131211 are 01 11 02 12 03 13 04 14.
package bytestream

import (
	"unsafe"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// Word is a value that can be split.
type Word interface{ ~uint32 | ~uint64 }

// Join fills dst from src, which has as many bytes.
func Join[T Word](dst []T, src []byte) error {
	var t T
	size, n := int(unsafe.Sizeof(t)), len(dst)
	if len(src) != n*size {
		return corrupt.New("byte stream split", "as many streams of bytes as a value has", "%d bytes for %d values of %d", len(src), n, size)
	}
	for i := range dst {
		var v T
		for j := range size {
			v |= T(src[j*n+i]) << (8 * j)
		}
		dst[i] = v
	}
	return nil
}
