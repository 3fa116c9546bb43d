// Package block decodes blocks: single opaque buffers that hold levels and the
// values of dictionaries.
//
// A block's encoding is a tree, of which these nodes are known here; the bytes
// are those that the package of the node describes:
//
//	flat                   words as in Arrow
//	constant               nothing; every word is the one in the description
//	inline bit-packing     bitpack, at most 1024 words
//	out-of-line            bitpack, whose width is that of the flat node inside
//	rle                    rle, over flat words and flat 8-bit lengths
//	variable               variable, only for View
//	general(…)             general, around any of them
package block

import (
	"math"
	"sync"

	"github.com/omnideck/omnideck/lance/encoding/bitpack"
	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	"github.com/omnideck/omnideck/lance/encoding/general"
	"github.com/omnideck/omnideck/lance/encoding/rle"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// Kind is a node of an encoding.
type Kind int

// The nodes.
const (
	Flat Kind = iota
	Constant
	Inline
	OutOfLine
	RLE
	Variable
	General
)

// maxDepth bounds the nesting of nodes.
const maxDepth = 8

// Decoder is a checked description. It does not change and may be used by
// several goroutines.
type Decoder struct {
	kind   Kind
	bits   int    // of a word; of an offset if variable
	width  int    // out-of-line only
	value  []byte // constant only
	scheme general.Scheme
	inner  *Decoder // general only
}

// Raw is the decoder of words of so many bits as they are.
func Raw(bits int) *Decoder { return &Decoder{kind: Flat, bits: bits} }

// New reads a description.
func New(enc *enc21pb.CompressiveEncoding) (*Decoder, error) { return newNode(enc, maxDepth) }

func newNode(enc *enc21pb.CompressiveEncoding, depth int) (*Decoder, error) {
	if depth == 0 {
		return nil, corrupt.New("block", "at most 8", "more nodes in an encoding")
	}
	switch node := enc.GetCompression().(type) {
	case *enc21pb.CompressiveEncoding_Flat:
		return newWords(Flat, node.Flat.GetBitsPerValue())
	case *enc21pb.CompressiveEncoding_InlineBitpacking:
		return newWords(Inline, node.InlineBitpacking.GetUncompressedBitsPerValue())
	case *enc21pb.CompressiveEncoding_OutOfLineBitpacking:
		return newOutOfLine(node.OutOfLineBitpacking)
	case *enc21pb.CompressiveEncoding_Rle:
		return newRLE(node.Rle)
	case *enc21pb.CompressiveEncoding_Constant:
		value := node.Constant.GetValue()
		d, err := newWords(Constant, uint64(len(value))*8)
		if err == nil {
			d.value = value
		}
		return d, err
	case *enc21pb.CompressiveEncoding_Variable:
		return newWords(Variable, node.Variable.GetOffsets().GetFlat().GetBitsPerValue())
	case *enc21pb.CompressiveEncoding_General:
		inner, err := newNode(node.General.GetValues(), depth-1)
		if err != nil {
			return nil, err
		}
		scheme := general.Scheme(node.General.GetCompression().GetScheme())
		return &Decoder{kind: General, bits: inner.bits, scheme: scheme, inner: inner}, nil
	case *enc21pb.CompressiveEncoding_FixedSizeList:
		return nil, corrupt.Unsupported("block", "fixed-size lists")
	case nil:
		return nil, corrupt.Unsupported("block", "an encoding without a known node")
	default:
		return nil, corrupt.New("block", "an encoding for blocks", "%T", node)
	}
}

// newWords checks a word's width: bytes, and few enough for any type.
func newWords(kind Kind, bits uint64) (*Decoder, error) {
	if bits == 0 || bits%8 != 0 || bits > math.MaxInt32 {
		return nil, corrupt.New("block", "words of whole bytes", "%d bits", bits)
	}
	if kind == Inline && bits != 8 && bits != 16 && bits != 32 && bits != 64 {
		return nil, corrupt.New("block", "packed words of 8, 16, 32 or 64 bits", "%d bits", bits)
	}
	if kind == Variable && bits != 32 && bits != 64 {
		return nil, corrupt.New("block", "offsets of 32 or 64 bits", "%d bits", bits)
	}
	return &Decoder{kind: kind, bits: int(bits)}, nil
}

func newOutOfLine(node *enc21pb.OutOfLineBitpacking) (*Decoder, error) {
	d, err := newWords(Inline, node.GetUncompressedBitsPerValue())
	if err != nil {
		return nil, err
	}
	width := node.GetValues().GetFlat().GetBitsPerValue()
	if node.GetValues().GetFlat() == nil || width > uint64(d.bits) {
		return nil, corrupt.New("block", "a flat width within the word", "width %d of %d", width, d.bits)
	}
	return &Decoder{kind: OutOfLine, bits: d.bits, width: int(width)}, nil
}

func newRLE(node *enc21pb.Rle) (*Decoder, error) {
	values, lengths := node.GetValues().GetFlat(), node.GetRunLengths().GetFlat()
	if values == nil || lengths == nil || lengths.GetBitsPerValue() != 8 {
		return nil, corrupt.Unsupported("block", "runs other than of flat words with flat 8-bit lengths")
	}
	return newWords(RLE, values.GetBitsPerValue())
}

// Kind is the outermost node.
func (d *Decoder) Kind() Kind { return d.kind }

// Bits is the bits of a word, or of an offset if it is variable.
func (d *Decoder) Bits() int { return d.bits }

// Width is the bits of a packed word of an out-of-line block.
func (d *Decoder) Width() int { return d.width }

// IsVariable tells whether the block is one for View and not for Words.
func (d *Decoder) IsVariable() bool {
	return d.kind == Variable || d.kind == General && d.inner.IsVariable()
}

// Words decodes a block of len(dst) words.
func Words[T bitpack.Word](d *Decoder, dst []T, buf []byte) error {
	if bits := bitpack.Bits[T](); d.bits != bits || d.IsVariable() {
		return corrupt.New("block", "words of the type's width", "%d bits for a type of %d", d.bits, bits)
	}
	switch d.kind {
	case Inline:
		return bitpack.Inline(dst, buf)
	case OutOfLine:
		return bitpack.OutOfLine(dst, buf, d.width)
	case RLE:
		return rle.Block(dst, buf)
	case Constant:
		return constant(dst, d.value)
	case General:
		return d.decompressed(buf, len(dst), func(inner []byte) error { return Words(d.inner, dst, inner) })
	default:
		return bitpack.Raw(dst, buf)
	}
}

// constant fills dst with one word.
func constant[T bitpack.Word](dst []T, value []byte) error {
	if len(dst) == 0 {
		return nil
	}
	if err := bitpack.Raw(dst[:1], value); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = dst[0]
	}
	return nil
}

// scratch keeps the memory that blocks are decompressed to.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// decompressed calls f with the inner bytes of a general node over n words.
// The bytes are only f's while it runs.
func (d *Decoder) decompressed(buf []byte, n int, f func(inner []byte) error) error {
	memory := scratch.Get().(*[]byte)
	defer scratch.Put(memory)
	inner, err := d.scheme.Decompress(*memory, buf, d.limit(n))
	if err != nil {
		return err
	}
	*memory = inner
	return f(inner)
}

// limit is the most bytes that n words can take in any encoding: a run for
// each, or a group of 1024 at full width.
func (d *Decoder) limit(n int) int { return 64 + (n+bitpack.Group)*(d.bits/8+1) }
