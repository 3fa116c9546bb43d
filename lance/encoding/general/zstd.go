package general

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

const (
	zstdMagic = 0xfd2fb528
	zstdBlock = 128 << 10 // the most that a block can hold
	zstdRatio = zstdBlock / 4
)

// decoder is a zstd decoder for whole payloads and, growing, for streams.
type decoder struct {
	*zstd.Decoder
	in bytes.Reader
}

// decoders keeps decoders for the next payload: making one costs more than
// decompressing a small payload.
var decoders sync.Pool

func borrow() (*decoder, error) {
	if d, ok := decoders.Get().(*decoder); ok {
		return d, nil
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	return &decoder{Decoder: d}, err
}

func decompressZstd(dst, src []byte, limit int) ([]byte, error) {
	frame, size := src, -1
	if !bare(src) {
		var err error
		if size, err = claim("zstd", binary.LittleEndian.Uint64(src), limit, len(src), zstdRatio); err != nil {
			return nil, err
		}
		frame = src[8:]
		limit = size
	}
	d, err := borrow()
	if err != nil {
		return nil, err
	}
	defer decoders.Put(d)
	var out []byte
	if size >= 0 && size <= eager(len(frame)) {
		out, err = d.DecodeAll(frame, room(dst, size))
	} else {
		out, err = d.stream(dst, frame, limit)
	}
	if err != nil || size >= 0 && len(out) != size {
		return nil, corrupt.New("zstd", "a frame within its length", "%d bytes of %d (%v)", len(out), limit, err)
	}
	return out, nil
}

// bare tells a frame from a length and a frame.
func bare(src []byte) bool {
	return len(src) < 8 || binary.LittleEndian.Uint32(src) == zstdMagic && src[4]&0x10 == 0
}

// stream decompresses piece by piece, so that memory grows with the output.
func (d *decoder) stream(dst, frame []byte, limit int) ([]byte, error) {
	d.in.Reset(frame)
	defer d.in.Reset(nil)
	if err := d.Reset(&d.in); err != nil {
		return nil, err
	}
	dst = room(dst, min(limit, eager(len(frame))))
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := d.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if len(dst) > limit {
			return nil, corrupt.New("zstd", "a result within its limit", "more than %d bytes", limit)
		}
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
