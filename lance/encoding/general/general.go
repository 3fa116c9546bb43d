// Package general undoes the general compressors, zstd and lz4.
//
// # zstd
//
//	u64    length once decompressed
//	frame
//
// or a bare frame. A payload is bare if it is shorter than 8 bytes, or begins
// with the mark of a frame, 28 b5 2f fd, and has bit 4 of its byte 4 clear (a
// bit that frames must have clear). Empty is empty.
//
// # lz4
//
//	u32    length once decompressed
//	block  without a frame
//
// Twice "a" 50 times would be 64000000 and a block of 6 bytes. Empty is empty.
//
// # Bounds
//
// A length in front of a payload is a claim. It is refused above the caller's
// maximum, and above what so many bytes can hold: 255 times as many in lz4,
// and in zstd 128 KiB for each 4 bytes, which is a block of one repeated byte.
// Memory is made for a claim only up to Eager bytes for each byte of input;
// beyond that it grows with what really comes out.
package general

import (
	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// Eager is how many bytes of output one byte of input may claim at once, over
// a minimum of 64 KiB.
const Eager = 64

const eagerMinimum = 64 << 10

// Scheme is a compressor.
type Scheme int

// The compressors, by their numbers in the format.
const (
	LZ4  Scheme = 1
	Zstd Scheme = 2
)

func (s Scheme) String() string {
	switch s {
	case LZ4:
		return "lz4"
	case Zstd:
		return "zstd"
	}
	return "unknown"
}

// Decompress decompresses src and returns the bytes in dst's memory if it has
// enough, else in new memory; what dst holds is overwritten. A result of more
// than limit bytes is an error.
func (s Scheme) Decompress(dst, src []byte, limit int) ([]byte, error) {
	if len(src) == 0 {
		return dst[:0], nil
	}
	switch s {
	case LZ4:
		return decompressLZ4(dst[:0], src, limit)
	case Zstd:
		return decompressZstd(dst[:0], src, limit)
	}
	return nil, corrupt.New("general compression", "lz4 (1) or zstd (2)", "scheme %d", int(s))
}

// claim checks a claimed length: against the caller's limit, and against what
// n bytes can hold.
func claim(codec string, claimed uint64, limit, n, perByte int) (int, error) {
	if claimed > uint64(max(limit, 0)) {
		return 0, corrupt.New(codec, "a result within its limit", "%d bytes claimed, with a limit of %d", claimed, limit)
	}
	if claimed/uint64(perByte) > uint64(n) {
		return 0, corrupt.New(codec, "a result that the bytes can hold", "%d bytes claimed by %d", claimed, n)
	}
	return int(claimed), nil
}

// eager is how much memory n bytes of input may ask for before any output.
func eager(n int) int { return max(eagerMinimum, Eager*n) }

// room returns dst, empty, with at least n bytes of capacity.
func room(dst []byte, n int) []byte {
	if cap(dst) >= n {
		return dst[:0]
	}
	return make([]byte, 0, n)
}
