package general

import (
	"encoding/binary"

	"github.com/pierrec/lz4/v4"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

func decompressLZ4(dst, src []byte, limit int) ([]byte, error) {
	if len(src) < 4 {
		return nil, corrupt.New("lz4", "a length of 4 bytes", "%d bytes", len(src))
	}
	size, err := claim("lz4", uint64(binary.LittleEndian.Uint32(src)), limit)
	if err != nil {
		return nil, err
	}
	block := src[4:]
	if !believable(size, len(block)) {
		if held := lz4Length(block); held != size {
			return nil, corrupt.New("lz4", "a block of the length in front of it", "%d bytes in a block, %d claimed", held, size)
		}
	}
	dst = room(dst, max(size, 1)) // the decoder mistakes nil for much room
	n, err := lz4.UncompressBlock(block, dst[:size])
	if err != nil || n != size {
		return nil, corrupt.New("lz4", "a block of the length in front of it", "%d bytes of %d (%v)", n, size, err)
	}
	return dst[:n], nil
}

// lz4Length is the length of a block once decompressed, or -1 if it is not
// whole. A sequence is a token, literals, and a copy of at least 4 bytes from
// before; the last has no copy. A length of 15 in the token goes on in bytes,
// up to one that is not 255.
func lz4Length(block []byte) int {
	total, at := 0, 0
	longer := func(n int) int {
		if n < 15 {
			return n
		}
		for at < len(block) {
			more := block[at]
			at++
			if n += int(more); more != 255 {
				return n
			}
		}
		return -1
	}
	for at < len(block) {
		token := block[at]
		at++
		literals := longer(int(token >> 4))
		if literals < 0 || literals > len(block)-at {
			return -1
		}
		total, at = total+literals, at+literals
		if at == len(block) {
			return total
		}
		if at += 2; at > len(block) {
			return -1
		}
		match := longer(int(token & 15))
		if match < 0 {
			return -1
		}
		total += match + 4
	}
	return -1
}
