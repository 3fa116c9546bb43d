package general

import (
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

const (
	zstdMagic = 0xfd2fb528
	zstdBlock = 128 << 10 // the most that a block can hold
)

// decoders keeps decoders for the next payload: making one costs more than
// decompressing a small payload.
var decoders sync.Pool

func borrow() (*zstd.Decoder, error) {
	if d, ok := decoders.Get().(*zstd.Decoder); ok {
		return d, nil
	}
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
}

func decompressZstd(dst, src []byte, limit int) ([]byte, error) {
	frame, size := src, -1
	if !bare(src) {
		var err error
		if size, err = claim("zstd", binary.LittleEndian.Uint64(src), limit); err != nil {
			return nil, err
		}
		frame = src[8:]
	}
	need := size
	if size < 0 || !believable(size, len(frame)) {
		most, err := zstdMost(frame)
		if err != nil {
			return nil, err
		}
		if size > most {
			return nil, corrupt.New("zstd", "blocks for the length in front", "blocks of at most %d bytes, %d claimed", most, size)
		}
		if size < 0 {
			need = min(most, limit)
		}
	}
	d, err := borrow()
	if err != nil {
		return nil, err
	}
	defer decoders.Put(d)
	out, err := d.DecodeAll(frame, room(dst, need)[:0:need])
	if err != nil || size >= 0 && len(out) != size {
		return nil, corrupt.New("zstd", "a frame of its length", "%d bytes of %d (%v)", len(out), need, err)
	}
	return out, nil
}

// bare tells a frame from a length and a frame.
func bare(src []byte) bool {
	return len(src) < 8 || binary.LittleEndian.Uint32(src) == zstdMagic && src[4]&0x10 == 0
}

// zstdMost is the most that frames can hold, by their headers and by the
// headers of their blocks.
func zstdMost(frames []byte) (int, error) {
	total := 0
	for len(frames) > 0 {
		var h zstd.Header
		if err := h.Decode(frames); err != nil {
			return 0, corrupt.New("zstd", "the header of a frame", "%d bytes (%v)", len(frames), err)
		}
		if h.Skippable {
			size := uint64(h.HeaderSize) + uint64(h.SkippableSize)
			if size > uint64(len(frames)) {
				return 0, cutFrame()
			}
			frames = frames[size:]
			continue
		}
		most, rest, err := blocksMost(frames[h.HeaderSize:])
		if err != nil {
			return 0, err
		}
		if h.HasFCS && h.FrameContentSize < uint64(most) {
			most = int(h.FrameContentSize)
		}
		total += most
		if h.HasCheckSum {
			rest = rest[min(4, len(rest)):]
		}
		frames = rest
	}
	return total, nil
}

// blocksMost is the most that the blocks of a frame can hold, and what follows
// them. A block's header is 3 bytes: bit 0 marks the last, bits 1 and 2 are
// the type, the others the size, which is what a raw block (0) and one of a
// repeated byte (1) hold.
func blocksMost(blocks []byte) (most int, rest []byte, err error) {
	for {
		if len(blocks) < 3 {
			return 0, nil, cutFrame()
		}
		header := int(blocks[0]) | int(blocks[1])<<8 | int(blocks[2])<<16
		kind, size := header>>1&3, header>>3
		stored, held := size, size
		switch kind {
		case 1:
			stored = 1
		case 2:
			held = zstdBlock
		}
		if stored > len(blocks)-3 {
			return 0, nil, cutFrame()
		}
		most, blocks = most+min(held, zstdBlock), blocks[3+stored:]
		if header&1 != 0 {
			return most, blocks, nil
		}
	}
}

func cutFrame() error { return corrupt.New("zstd", "whole blocks", "a frame that ends within one") }
