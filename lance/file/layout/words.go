package layout

import (
	"unsafe"

	"github.com/omnideck/omnideck/lance/encoding/bitpack"
	"github.com/omnideck/omnideck/lance/encoding/bytestream"
	"github.com/omnideck/omnideck/lance/encoding/general"
	"github.com/omnideck/omnideck/lance/encoding/rle"
	"github.com/omnideck/omnideck/lance/format"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// maxDepth bounds the nesting of encodings.
const maxDepth = 8

// maxChunk bounds what a chunk may become when it is decompressed.
const maxChunk = 1 << 30

// wordKind is how words of one width are stored in a chunk.
type wordKind uint8

const (
	flatWords wordKind = iota
	packedWords
	runWords
	splitWords
)

// wordPlan is the checked description of words in chunks.
type wordPlan struct {
	kind    wordKind
	width   int // bytes of a word
	schemes []general.Scheme
}

// buffers is the number of value buffers of a chunk.
func (p *wordPlan) buffers() int {
	if p.kind == runWords {
		return 2
	}
	return 1
}

// planWords reads the description of words.
func planWords(enc *enc21pb.CompressiveEncoding, depth int) (*wordPlan, error) {
	if depth == 0 {
		return nil, format.Corruptf("an encoding of more than %d nested parts", maxDepth)
	}
	switch e := enc.GetCompression().(type) {
	case *enc21pb.CompressiveEncoding_Flat:
		return newWordPlan(flatWords, e.Flat.GetBitsPerValue())
	case *enc21pb.CompressiveEncoding_InlineBitpacking:
		return newWordPlan(packedWords, e.InlineBitpacking.GetUncompressedBitsPerValue())
	case *enc21pb.CompressiveEncoding_Rle:
		v, n := e.Rle.GetValues().GetFlat(), e.Rle.GetRunLengths().GetFlat()
		if v == nil || n.GetBitsPerValue() != 8 {
			return nil, format.Unsupportedf("runs other than of flat values with flat 8-bit lengths")
		}
		return newWordPlan(runWords, v.GetBitsPerValue())
	case *enc21pb.CompressiveEncoding_ByteStreamSplit:
		return newWordPlan(splitWords, e.ByteStreamSplit.GetValues().GetFlat().GetBitsPerValue())
	case *enc21pb.CompressiveEncoding_General:
		p, err := planWords(e.General.GetValues(), depth-1)
		if err != nil {
			return nil, err
		}
		p.schemes = append([]general.Scheme{general.Scheme(e.General.GetCompression().GetScheme())}, p.schemes...)
		return p, nil
	}
	return nil, format.Unsupportedf("values encoded as %s in a chunk", encodingText(enc))
}

func newWordPlan(kind wordKind, bits uint64) (*wordPlan, error) {
	small := bits == 8 || bits == 16 || bits == 32 || bits == 64
	switch {
	case bits == 0 || bits%8 != 0 || bits > 1<<30,
		kind == packedWords && !small,
		kind == splitWords && bits != 32 && bits != 64:
		return nil, format.Corruptf("words of %d bits in an encoding that cannot hold them", bits)
	}
	return &wordPlan{kind: kind, width: int(bits / 8)}, nil
}

// wordChunk decodes the words of one chunk after another.
type wordChunk struct {
	plan  *wordPlan
	n     int
	main  []byte   // value buffer 0, decompressed
	runs  []byte   // run lengths
	spare [][]byte // memory to decompress to, one for each scheme
	whole []byte   // all words, once they were decoded for a part of them
	memo  bool
}

func (p *wordPlan) chunk() *wordChunk {
	return &wordChunk{plan: p, spare: make([][]byte, len(p.schemes))}
}

// load checks the buffers of a chunk of n words.
func (c *wordChunk) load(bufs [][]byte, n int) error {
	if len(bufs) != c.plan.buffers() {
		return format.Corruptf("a chunk with %d value buffers, expected %d", len(bufs), c.plan.buffers())
	}
	c.n, c.main, c.memo = n, bufs[0], false
	if c.plan.kind == runWords {
		c.runs = bufs[1]
	}
	limit := c.limit(n)
	for i, s := range c.plan.schemes {
		out, err := s.Decompress(c.spare[i], c.main, limit)
		if err != nil {
			return err
		}
		c.spare[i], c.main = out, out
	}
	return c.check()
}

// limit is the most bytes that n words may be decompressed to.
func (c *wordChunk) limit(n int) int {
	if int64(n)*int64(c.plan.width+1) > maxChunk/2 {
		return maxChunk
	}
	return 64 + (n+bitpack.Group)*(c.plan.width+1)
}

func (c *wordChunk) check() error {
	have, want := int64(len(c.main)), int64(c.n)*int64(c.plan.width)
	switch c.plan.kind {
	case flatWords, splitWords:
		if have != want {
			return format.Corruptf("a chunk of %d bytes for %d values of %d bytes", have, c.n, c.plan.width)
		}
	case packedWords:
		if c.n > bitpack.Group {
			return format.Corruptf("a bit-packed chunk of %d values, at most %d are possible", c.n, bitpack.Group)
		}
	case runWords:
		if sum := rle.Sum(c.runs); sum < c.n {
			return format.Corruptf("runs of %d values in a chunk of %d", sum, c.n)
		}
	}
	return nil
}

// words decodes words [from, to) to dst, which is aligned for them.
func (c *wordChunk) words(dst []byte, from, to int) error {
	w := c.plan.width
	if c.plan.kind == flatWords {
		copy(dst, c.main[from*w:to*w])
		return nil
	}
	if from == 0 && to == c.n {
		return c.all(dst)
	}
	if !c.memo {
		c.whole = grown(c.whole, c.n*w)
		if err := c.all(c.whole); err != nil {
			return err
		}
		c.memo = true
	}
	copy(dst, c.whole[from*w:to*w])
	return nil
}

// all decodes all words of the chunk.
func (c *wordChunk) all(dst []byte) error {
	if len(dst) == 0 {
		return nil
	}
	switch c.plan.width {
	case 1:
		return allWords(c, cast[uint8](dst))
	case 2:
		return allWords(c, cast[uint16](dst))
	case 4:
		return allWords(c, cast[uint32](dst))
	case 8:
		return allWords(c, cast[uint64](dst))
	}
	return rle.MiniBytes(dst, c.plan.width, c.main, c.runs)
}

func allWords[T bitpack.Word](c *wordChunk, dst []T) error {
	switch c.plan.kind {
	case packedWords:
		return bitpack.Inline(dst, c.main)
	case runWords:
		return rle.Mini(dst, c.main, c.runs)
	}
	switch d := any(dst).(type) {
	case []uint32:
		return bytestream.Join(d, c.main)
	case []uint64:
		return bytestream.Join(d, c.main)
	}
	return format.Corruptf("a byte stream split of %d bytes a value", c.plan.width)
}

// grown is a slice of n bytes, aligned for any word, in b's memory if it has
// enough. What it holds is undefined.
func grown(b []byte, n int) []byte {
	if cap(b) >= n {
		return b[:n]
	}
	words := make([]uint64, (n+n/2+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))[:n]
}

func cast[T any](p []byte) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(p))), len(p)/int(unsafe.Sizeof(t)))
}
