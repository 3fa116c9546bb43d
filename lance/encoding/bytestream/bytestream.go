// Package bytestream joins values whose bytes were stored apart: first the
// lowest byte of every value, then the second one of every value, and so on.
// With n values of b bytes, byte j of value i is at j*n + i.
//
// The numbers 0x04030201 and 0x14131211 are 01 11 02 12 03 13 04 14.
package bytestream

import (
	"encoding/binary"
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
	i := 0
	for ; i+8 <= n; i += 8 {
		var eight [8]uint64
		for j := range size {
			eight[j] = binary.LittleEndian.Uint64(src[j*n+i:])
		}
		if size == 4 {
			join4(dst[i:i+8], &eight)
		} else {
			join8(dst[i:i+8], &eight)
		}
	}
	for ; i < n; i++ {
		var v T
		for j := range size {
			v |= T(src[j*n+i]) << (8 * j)
		}
		dst[i] = v
	}
	return nil
}

// join4 turns four streams of eight bytes into eight values: bytes are
// exchanged across the diagonal, first in blocks of two, then singly, which
// leaves value j in the lower and value j+4 in the upper half of word j.
func join4[T Word](dst []T, s *[8]uint64) {
	dst = dst[:8]
	swap(&s[0], &s[2], 16, 0x0000ffff0000ffff)
	swap(&s[1], &s[3], 16, 0x0000ffff0000ffff)
	swap(&s[0], &s[1], 8, 0x00ff00ff00ff00ff)
	swap(&s[2], &s[3], 8, 0x00ff00ff00ff00ff)
	for j := range 4 {
		dst[j], dst[j+4] = T(s[j]&0xffffffff), T(s[j]>>32)
	}
}

// join8 turns eight streams of eight bytes into eight values.
func join8[T Word](dst []T, s *[8]uint64) {
	dst = dst[:8]
	for j := range 4 {
		swap(&s[j], &s[j+4], 32, 0x00000000ffffffff)
	}
	for j := 0; j < 8; j += 4 {
		swap(&s[j], &s[j+2], 16, 0x0000ffff0000ffff)
		swap(&s[j+1], &s[j+3], 16, 0x0000ffff0000ffff)
	}
	for j := 0; j < 8; j += 2 {
		swap(&s[j], &s[j+1], 8, 0x00ff00ff00ff00ff)
	}
	for j := range dst {
		dst[j] = T(s[j])
	}
}

// swap exchanges the bits of a that lie n above mask with those of b under it.
func swap(a, b *uint64, n uint, mask uint64) {
	t := (*a>>n ^ *b) & mask
	*b ^= t
	*a ^= t << n
}
