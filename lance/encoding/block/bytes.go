package block

import (
	"unsafe"

	"github.com/omnideck/omnideck/lance/encoding/bitpack"
	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	"github.com/omnideck/omnideck/lance/encoding/rle"
	"github.com/omnideck/omnideck/lance/encoding/variable"
)

// Bytes decodes a block of words of any whole number of bytes to dst, which
// has the bytes of all of them.
func (d *Decoder) Bytes(dst, buf []byte) error {
	size := d.bits / 8
	if d.IsVariable() || len(dst)%size != 0 {
		return corrupt.New("block", "words of one width", "words of %d bits for %d bytes", d.bits, len(dst))
	}
	n := len(dst) / size
	switch d.kind {
	case Inline, OutOfLine:
		return d.packed(dst, buf, n)
	case RLE:
		values, lengths, err := rle.Split(buf, size)
		if err != nil {
			return err
		}
		if total := rle.Sum(lengths); total != n {
			return corrupt.New("block", "runs of exactly the block's words", "runs of %d words for %d", total, n)
		}
		return rle.MiniBytes(dst, size, values, lengths)
	case Constant:
		for i := range n {
			copy(dst[i*size:], d.value)
		}
		return nil
	case General:
		return d.decompressed(buf, n, func(inner []byte) error { return d.inner.Bytes(dst, inner) })
	default:
		if len(buf) != len(dst) {
			return corrupt.New("block", "exactly its words", "%d bytes for %d words of %d", len(buf), n, size)
		}
		copy(dst, buf)
		return nil
	}
}

// packed unpacks to memory that need not be aligned.
func (d *Decoder) packed(dst, buf []byte, n int) error {
	switch d.bits {
	case 8:
		return packed[uint8](d, dst, buf, n)
	case 16:
		return packed[uint16](d, dst, buf, n)
	case 32:
		return packed[uint32](d, dst, buf, n)
	default:
		return packed[uint64](d, dst, buf, n)
	}
}

func packed[T bitpack.Word](d *Decoder, dst, buf []byte, n int) error {
	if n == 0 {
		return Words[T](d, nil, buf)
	}
	var word T
	if at := uintptr(unsafe.Pointer(unsafe.SliceData(dst))); at%unsafe.Alignof(word) == 0 {
		return Words(d, unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(dst))), n), buf)
	}
	words := make([]T, n)
	if err := Words(d, words, buf); err != nil {
		return err
	}
	copy(dst, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(dst)))
	return nil
}

// View checks a block of n values of variable width. A compressed block is
// decompressed to new memory, of at most limit bytes.
func (d *Decoder) View(buf []byte, n, limit int) (variable.View, error) {
	switch {
	case d.kind == Variable:
		v, err := variable.Block(buf, n)
		if err == nil && v.Width() != d.bits/8 {
			err = corrupt.New("block", "the offsets that are described", "offsets of %d bytes for %d bits", v.Width(), d.bits)
		}
		return v, err
	case d.kind == General:
		inner, err := d.scheme.Decompress(nil, buf, limit)
		if err != nil {
			return variable.View{}, err
		}
		return d.inner.View(inner, n, limit)
	default:
		return variable.View{}, corrupt.New("block", "values of variable width", "words of %d bits", d.bits)
	}
}
