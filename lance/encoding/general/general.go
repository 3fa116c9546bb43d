// Package general compresses with the general compressors, zstd and lz4, and
// undoes it.
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
// "a", "bb" 50 times over, as a block of package variable, whose 23 bytes do
// not get shorter: 17000000 6220000000140001 00b0 01000000 03000000 616262.
// Empty is empty.
//
// # Bounds
//
// A length in front of a payload is a claim. It is refused above the caller's
// limit. Above Eager times the payload (and 64 KiB) it is only believed once
// the payload bears it out: an lz4 block is walked from sequence to sequence,
// and a zstd frame from block to block, none of which holds more than 128 KiB.
// So memory is never taken that the payload does not fill, or, in zstd, has
// not at least a block for.
package general

import (
	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// Eager is how many bytes of output one byte of input may claim unseen.
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
		return decompressLZ4(dst, src, limit)
	case Zstd:
		return decompressZstd(dst, src, limit)
	}
	return nil, corrupt.Unsupported("general compression", "scheme %d, which is neither lz4 (1) nor zstd (2)", int(s))
}

// claim checks a claimed length against the caller's limit.
func claim(codec string, claimed uint64, limit int) (int, error) {
	if claimed > uint64(max(limit, 0)) {
		return 0, corrupt.New(codec, "a result within its limit", "%d bytes claimed, with a limit of %d", claimed, limit)
	}
	return int(claimed), nil
}

// believable tells whether n bytes may claim size bytes unseen.
func believable(size, n int) bool { return size <= eagerMinimum || size/Eager <= n }

// room returns dst, empty, with at least n bytes of capacity.
func room(dst []byte, n int) []byte {
	if cap(dst) >= n {
		return dst[:0]
	}
	return make([]byte, 0, n)
}
