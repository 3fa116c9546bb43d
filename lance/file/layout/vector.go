package layout

import (
	"github.com/omnideck/omnideck/lance/encoding/general"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// vectorShape is the fixed-size lists of a vector, outermost first.
type vectorShape struct {
	items    []int  // items that one vector has in this list and those outside it
	validity []bool // whether the items have validity bits
	nulls    int    // the list whose items are all null, which is not stored; -1 = none
	leaf     *values.Type
}

// constantNull tells whether a description stands for values that are all null.
func constantNull(enc *enc21pb.CompressiveEncoding) bool {
	c := enc.GetConstant()
	return c != nil && c.Value == nil
}

// shapeOf follows the description and the type inwards, and returns what
// encodes the innermost items.
func shapeOf(enc *enc21pb.CompressiveEncoding, t *values.Type) (*vectorShape, *enc21pb.CompressiveEncoding, error) {
	s, factor := &vectorShape{nulls: -1}, 1
	for k := 0; t.Kind == values.Vector; k, t = k+1, t.Item {
		if s.nulls < 0 && constantNull(enc) {
			s.nulls = k
		}
		if s.nulls >= 0 {
			factor *= t.Dim
			s.items = append(s.items, factor)
			s.validity = append(s.validity, false)
			continue
		}
		l := enc.GetFixedSizeList()
		if l == nil || l.GetItemsPerValue() != uint64(t.Dim) {
			return nil, nil, format.Corruptf("%s encoded as %s", t.Arrow, encodingText(enc))
		}
		factor *= t.Dim
		s.items = append(s.items, factor)
		s.validity = append(s.validity, l.GetHasValidity())
		enc = l.GetValues()
	}
	s.leaf = t
	return s, enc, nil
}

// bitmaps is the number of lists whose items have validity bits.
func (s *vectorShape) bitmaps() int {
	n := 0
	for _, v := range s.validity {
		if v {
			n++
		}
	}
	return n
}

// innermost is the builder of the innermost items.
func innermost(b *values.Builder) *values.Builder {
	for b.Items != nil {
		b = b.Items
	}
	return b
}

// zeros appends the innermost items of n vectors, of which nothing is stored.
func (s *vectorShape) zeros(b *values.Builder, n int) error {
	return innermost(b).Zeros(n * s.items[len(s.items)-1])
}

// finish steps the builders of all lists of b over n vectors whose innermost
// items were appended. bits gives the validity of the items of list k.
func (s *vectorShape) finish(b *values.Builder, n int, bits func(k int) (src []byte, from int)) error {
	return s.finishList(b, 0, n, bits)
}

func (s *vectorShape) finishList(b *values.Builder, k, n int, bits func(k int) ([]byte, int)) error {
	count := n * s.items[k] / b.Type.Dim
	if k+1 < len(s.items) {
		if err := s.finishList(b.Items, k+1, n, bits); err != nil {
			return err
		}
	}
	b.Step(count)
	if k == s.nulls {
		return b.Items.Nulls(n * s.items[k])
	}
	if !s.validity[k] {
		return nil
	}
	src, from := bits(k)
	return b.Items.Valid(src, from, n*s.items[k])
}

// vectorPlan is fixed-size lists in chunks: a bitmap for each list whose items
// have validity, outermost first, then the items.
type vectorPlan struct {
	*vectorShape
	inner   plan
	schemes []general.Scheme // around buffer 0
}

func planVector(enc *enc21pb.CompressiveEncoding, t *values.Type, depth int) (plan, error) {
	if g := enc.GetGeneral(); g != nil && depth > 1 {
		p, err := planVector(g.GetValues(), t, depth-1)
		if err != nil {
			return nil, err
		}
		v := p.(*vectorPlan)
		v.schemes = append([]general.Scheme{general.Scheme(g.GetCompression().GetScheme())}, v.schemes...)
		return v, nil
	}
	shape, enc, err := shapeOf(enc, t)
	if err != nil {
		return nil, err
	}
	if shape.nulls >= 0 {
		return nil, format.Unsupportedf("a chunk of vectors of nulls, encoded as %s", encodingText(enc))
	}
	inner, err := planValues(enc, shape.leaf, depth-1)
	if err != nil {
		return nil, err
	}
	return &vectorPlan{vectorShape: shape, inner: inner}, nil
}

func (p *vectorPlan) buffers() int { return p.bitmaps() + p.inner.buffers() }

func (p *vectorPlan) values() chunkValues {
	return &vectorChunk{plan: p, inner: p.inner.values(), bits: make([][]byte, len(p.items)), spare: make([][]byte, len(p.schemes))}
}

type vectorChunk struct {
	plan  *vectorPlan
	inner chunkValues
	bits  [][]byte // by list; nil without validity
	spare [][]byte
}

func (c *vectorChunk) load(bufs [][]byte, n int) error {
	for i, s := range c.plan.schemes {
		out, err := s.Decompress(c.spare[i], bufs[0], maxChunk)
		if err != nil {
			return err
		}
		c.spare[i], bufs[0] = out, out
	}
	for k, has := range c.plan.validity {
		if !has {
			continue
		}
		if items := int64(n) * int64(c.plan.items[k]); int64(len(bufs[0])) < (items+7)/8 {
			return format.Corruptf("a chunk with %d bytes of validity for %d items of vectors", len(bufs[0]), items)
		}
		c.bits[k], bufs = bufs[0], bufs[1:]
	}
	return c.inner.load(bufs, n*c.plan.items[len(c.plan.items)-1])
}

func (c *vectorChunk) append(b *values.Builder, from, to int) error {
	f := c.plan.items[len(c.plan.items)-1]
	if err := c.inner.append(innermost(b), from*f, to*f); err != nil {
		return err
	}
	return c.plan.finish(b, to-from, func(k int) ([]byte, int) { return c.bits[k], from * c.plan.items[k] })
}

// packedPlan is structs of fixed width, one after the other.
type packedPlan struct {
	rows   *wordPlan
	widths []int // bytes of each field
}

func planPacked(enc *enc21pb.CompressiveEncoding, t *values.Type) (plan, error) {
	s := enc.GetPackedStruct()
	if s == nil || len(s.GetBitsPerValue()) != len(t.Fields) {
		return nil, format.Corruptf("%s encoded as %s in a chunk", t.Arrow, encodingText(enc))
	}
	rows, err := planWords(s.GetValues(), maxDepth)
	if err != nil {
		return nil, err
	}
	p, sum := &packedPlan{rows: rows}, 0
	for i, bits := range s.GetBitsPerValue() {
		f := t.Fields[i]
		if bits != uint64(f.Size())*8 || wordsOf(f) == nil {
			return nil, format.Unsupportedf("a packed field of %d bits for %s", bits, f.Arrow)
		}
		p.widths = append(p.widths, f.Size())
		sum += f.Size()
	}
	if sum != rows.width {
		return nil, format.Corruptf("packed structs of %d bytes, with fields of %d", rows.width, sum)
	}
	return p, nil
}

// wordsOf is the fixed-width type inside a field, nil if there is none.
func wordsOf(t *values.Type) *values.Type {
	for t.Kind == values.Vector {
		t = t.Item
	}
	if t.Kind != values.Fixed {
		return nil
	}
	return t
}

// raw takes the bytes of n values of a field with words inside.
func raw(b *values.Builder, n int) ([]byte, error) {
	if b.Items == nil {
		return b.Words(n)
	}
	p, err := raw(b.Items, n*b.Type.Dim)
	b.Step(n)
	return p, err
}

func (p *packedPlan) buffers() int { return 1 }

func (p *packedPlan) values() chunkValues { return &packedChunk{plan: p, rows: p.rows.chunk()} }

type packedChunk struct {
	plan *packedPlan
	rows *wordChunk
	mem  []byte
}

func (c *packedChunk) load(bufs [][]byte, n int) error { return c.rows.load(bufs, n) }

func (c *packedChunk) append(b *values.Builder, from, to int) error {
	size := c.plan.rows.width
	c.mem = grown(c.mem, (to-from)*size)
	if err := c.rows.words(c.mem, from, to); err != nil {
		return err
	}
	off := 0
	for i, w := range c.plan.widths {
		dst, err := raw(b.Fields[i], to-from)
		if err != nil {
			return err
		}
		for r := range to - from {
			copy(dst[r*w:r*w+w], c.mem[r*size+off:])
		}
		off += w
	}
	b.Step(to - from)
	return nil
}
