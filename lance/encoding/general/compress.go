package general

import (
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// AppendLZ4 appends src as an lz4 payload.
func AppendLZ4(dst, src []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(src)))
	at := len(dst)
	dst = append(dst, make([]byte, lz4.CompressBlockBound(len(src)))...)
	n, err := lz4.CompressBlock(src, dst[at:], nil)
	if err != nil || n == 0 { // does not get shorter: one run of literals
		return append(appendLiterals(dst[:at], len(src)), src...)
	}
	return dst[:at+n]
}

// appendLiterals begins a block of n literals and nothing else.
func appendLiterals(dst []byte, n int) []byte {
	if n < 15 {
		return append(dst, byte(n<<4))
	}
	dst = append(dst, 0xf0)
	for n -= 15; n >= 255; n -= 255 {
		dst = append(dst, 255)
	}
	return append(dst, byte(n))
}

// encoders keeps encoders for the next payload.
var encoders sync.Pool

// AppendZstd appends src as a zstd payload.
func AppendZstd(dst, src []byte) []byte {
	e, ok := encoders.Get().(*zstd.Encoder)
	if !ok {
		e, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)) // only refuses wrong options
	}
	defer encoders.Put(e)
	return e.EncodeAll(src, binary.LittleEndian.AppendUint64(dst, uint64(len(src))))
}
