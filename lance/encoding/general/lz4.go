package general

import (
	"encoding/binary"

	"github.com/pierrec/lz4/v4"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// lz4Ratio is the most that a byte of a block can stand for: another 255 of a
// long match.
const lz4Ratio = 255

func decompressLZ4(dst, src []byte, limit int) ([]byte, error) {
	if len(src) < 4 {
		return nil, corrupt.New("lz4", "a length of 4 bytes", "%d bytes", len(src))
	}
	size, err := claim("lz4", uint64(binary.LittleEndian.Uint32(src)), limit, len(src), lz4Ratio)
	if err != nil {
		return nil, err
	}
	block := src[4:]
	for try := min(size, eager(len(block))); ; try = min(size, 4*try) {
		dst = room(dst, try)
		n, err := lz4.UncompressBlock(block, dst[:try])
		if err != nil && try < size {
			continue // perhaps only for want of room
		}
		if err != nil || n != size {
			return nil, corrupt.New("lz4", "a block of the length in front of it", "%d bytes of %d (%v)", n, size, err)
		}
		return dst[:n], nil
	}
}
