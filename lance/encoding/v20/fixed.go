package v20

import (
	"encoding/binary"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/omnideck/omnideck/lance/encoding/bitpack"
	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	"github.com/omnideck/omnideck/lance/encoding/general"
	enc20pb "github.com/omnideck/omnideck/lance/pb/encodings"
)

// page is a page whose buffers are here.
type page struct {
	Buffers
	rows int64
}

// storedBits is how many bits the page and its column store.
func (p *page) storedBits() int64 {
	n := int64(0)
	for _, buf := range slices.Concat(p.Page, p.Column) {
		n += 8 * int64(len(buf))
	}
	return n
}

// words decodes words of so many bits, rows of s, to new memory. total is the
// number of words that are stored.
func (p *page) words(enc *enc20pb.ArrayEncoding, s span, total int64, width int64) ([]byte, error) {
	switch node := enc.GetArrayEncoding().(type) {
	case *enc20pb.ArrayEncoding_Nullable:
		inner := node.Nullable.GetNoNulls()
		if inner == nil {
			return nil, corrupt.New("format 2.0", "words without nulls", "nullable ones")
		}
		return p.words(inner.GetValues(), s, total, width)
	case *enc20pb.ArrayEncoding_Flat:
		return p.flat(node.Flat, s, total, width)
	case *enc20pb.ArrayEncoding_Bitpacked:
		return p.bitpacked(node.Bitpacked, s, width)
	case *enc20pb.ArrayEncoding_BitpackedForNonNeg:
		return p.groups(node.BitpackedForNonNeg, s, width)
	case *enc20pb.ArrayEncoding_Constant:
		value := node.Constant.GetValue()
		if err := sameWidth(uint64(len(value))*8, width); err != nil {
			return nil, err
		}
		return slices.Repeat(value, int(s.len())), nil
	case nil:
		return nil, corrupt.Unsupported("format 2.0", "an encoding without a known node")
	default:
		return nil, corrupt.New("format 2.0", "an encoding of words", "%T", node)
	}
}

// flat cuts out words as they are.
func (p *page) flat(node *enc20pb.Flat, s span, total, width int64) ([]byte, error) {
	if err := sameWidth(node.GetBitsPerValue(), width); err != nil {
		return nil, err
	}
	buf, err := p.get(node.GetBuffer())
	if err != nil {
		return nil, err
	}
	if buf, err = decompress(node.GetCompression(), buf, total, width); err != nil {
		return nil, err
	}
	bits, err := s.times(width)
	if err != nil {
		return nil, err
	}
	if bits.to > int64(len(buf))*8 {
		return nil, tooShort(buf, s, width)
	}
	if width == 1 {
		out := make([]byte, (s.len()+7)/8)
		bitutil.CopyBitmap(buf, int(s.from), int(s.len()), out, 0)
		return out, nil
	}
	return slices.Clone(buf[bits.from/8 : bits.to/8]), nil
}

// decompress undoes the compression of a buffer of total words.
func decompress(c *enc20pb.Compression, buf []byte, total, width int64) ([]byte, error) {
	bits, err := span{0, total}.times(width)
	if err != nil || c == nil {
		return buf, err
	}
	limit := int((bits.to + 7) / 8)
	switch c.GetScheme() {
	case "", "none":
		return buf, nil
	case "zstd":
		return general.Zstd.Decompress(nil, buf, limit)
	case "lz4":
		return general.LZ4.Decompress(nil, buf, limit)
	}
	return nil, corrupt.Unsupported("format 2.0", "a buffer compressed with %q", c.GetScheme())
}

// bitpacked widens words that lie one after the other.
func (p *page) bitpacked(node *enc20pb.Bitpacked, s span, width int64) ([]byte, error) {
	packed := node.GetCompressedBitsPerValue()
	if err := packedWidth(packed, node.GetUncompressedBitsPerValue(), width); err != nil {
		return nil, err
	}
	buf, err := p.get(node.GetBuffer())
	if err != nil {
		return nil, err
	}
	bits, err := s.times(int64(packed))
	if err != nil {
		return nil, err
	}
	if bits.to > int64(len(buf))*8 {
		return nil, tooShort(buf, s, int64(packed))
	}
	out := make([]byte, s.len()*width/8)
	for i := range s.len() {
		v := wordAt(buf, bits.from+i*int64(packed), packed)
		if node.GetSigned() && packed > 0 && v>>(packed-1) != 0 {
			v |= ^uint64(0) << packed
		}
		putWord(out[i*width/8:], v, width)
	}
	return out, nil
}

// wordAt takes n bits, at most 64, from bit at on.
func wordAt(buf []byte, at int64, n uint64) uint64 {
	if n == 0 {
		return 0
	}
	var nine [16]byte
	copy(nine[:9], buf[at/8:])
	shift := uint(at % 8)
	v := binary.LittleEndian.Uint64(nine[:])>>shift | uint64(nine[8])<<(64-shift)
	return v & (^uint64(0) >> (64 - n))
}

// putWord writes the lowest width bits of v.
func putWord(dst []byte, v uint64, width int64) {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], v)
	copy(dst, word[:width/8])
}

// groups unpacks groups of 1024 words.
func (p *page) groups(node *enc20pb.BitpackedForNonNeg, s span, width int64) ([]byte, error) {
	packed := node.GetCompressedBitsPerValue()
	if err := packedWidth(packed, node.GetUncompressedBitsPerValue(), width); err != nil {
		return nil, err
	}
	buf, err := p.get(node.GetBuffer())
	if err != nil {
		return nil, err
	}
	switch width {
	case 8:
		return unpack[uint8](buf, s, int(packed))
	case 16:
		return unpack[uint16](buf, s, int(packed))
	case 32:
		return unpack[uint32](buf, s, int(packed))
	default:
		return unpack[uint64](buf, s, int(packed))
	}
}

func unpack[T bitpack.Word](buf []byte, s span, packed int) ([]byte, error) {
	size, width := int64(bitpack.Size(packed)), int64(bitpack.Bits[T]())
	if last := (s.to + bitpack.Group - 1) / bitpack.Group; last > 0 && packed > 0 && last > int64(len(buf))/size {
		return nil, tooShort(buf, s, int64(packed))
	}
	out := make([]byte, s.len()*width/8)
	var group [bitpack.Group]T
	for at := s.from; at < s.to; {
		g := at / bitpack.Group
		if err := bitpack.Unpack(group[:], buf[g*size:], packed); err != nil {
			return nil, err
		}
		end := min(s.to, (g+1)*bitpack.Group)
		for ; at < end; at++ {
			putWord(out[(at-s.from)*width/8:], uint64(group[at%bitpack.Group]), width)
		}
	}
	return out, nil
}

func packedWidth(packed, unpacked uint64, width int64) error {
	if err := sameWidth(unpacked, width); err != nil {
		return err
	}
	if packed > unpacked || width != 8 && width != 16 && width != 32 && width != 64 {
		return corrupt.New("format 2.0", "packed words of 8, 16, 32 or 64 bits", "%d bits in %d", packed, unpacked)
	}
	return nil
}

func sameWidth(found uint64, want int64) error {
	if found != uint64(want) || want != 1 && want%8 != 0 || want <= 0 {
		return corrupt.New("format 2.0", "words of the type's width", "%d bits for a type of %d", found, want)
	}
	return nil
}

func tooShort(buf []byte, s span, width int64) error {
	return corrupt.New("format 2.0", "a word for every row", "%d bytes for rows up to %d of %d bits", len(buf), s.to, width)
}
