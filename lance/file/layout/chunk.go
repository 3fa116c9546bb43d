package layout

import (
	"github.com/omnideck/omnideck/lance/encoding/fsst"
	"github.com/omnideck/omnideck/lance/encoding/general"
	"github.com/omnideck/omnideck/lance/encoding/variable"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// plan is the checked description of a page's values in chunks. It does not
// change.
type plan interface {
	// buffers is the number of value buffers of a chunk.
	buffers() int
	// values makes a decoder.
	values() chunkValues
}

// chunkValues decodes the values of one chunk after another.
type chunkValues interface {
	// load takes the value buffers of a chunk of n values, and checks them.
	load(bufs [][]byte, n int) error
	// append appends values [from, to) of the chunk.
	append(b *values.Builder, from, to int) error
}

// planValues reads the description of values of a type.
func planValues(enc *enc21pb.CompressiveEncoding, t *values.Type, depth int) (plan, error) {
	if depth == 0 {
		return nil, format.Corruptf("an encoding of more than %d nested parts", maxDepth)
	}
	switch t.Kind {
	case values.Fixed:
		p, err := planWords(enc, depth)
		if err == nil && p.width != t.Width {
			err = format.Corruptf("words of %d bytes for values of %s", p.width, t.Arrow)
		}
		return fixedPlan{p}, err
	case values.Bool:
		return planBits(enc)
	case values.Bytes:
		return planText(enc, depth)
	case values.Vector:
		return planVector(enc, t, depth)
	case values.Packed:
		return planPacked(enc, t)
	}
	return nil, format.Corruptf("chunks of values of %s without a dictionary", t.Arrow)
}

type fixedPlan struct{ words *wordPlan }

func (p fixedPlan) buffers() int        { return p.words.buffers() }
func (p fixedPlan) values() chunkValues { return &fixedChunk{p.words.chunk()} }

type fixedChunk struct{ *wordChunk }

func (c *fixedChunk) append(b *values.Builder, from, to int) error {
	dst, err := b.Words(to - from)
	if err != nil {
		return err
	}
	return c.words(dst, from, to)
}

// bitPlan is booleans: one bit each.
type bitPlan struct{}

func planBits(enc *enc21pb.CompressiveEncoding) (plan, error) {
	if f := enc.GetFlat(); f == nil || f.GetBitsPerValue() != 1 {
		return nil, format.Unsupportedf("booleans encoded as %s in a chunk", encodingText(enc))
	}
	return bitPlan{}, nil
}

func (bitPlan) buffers() int        { return 1 }
func (bitPlan) values() chunkValues { return &bitChunk{} }

type bitChunk struct{ bits []byte }

func (c *bitChunk) load(bufs [][]byte, n int) error {
	c.bits = bufs[0]
	if int64(len(c.bits)) < (int64(n)+7)/8 {
		return format.Corruptf("a chunk of %d bytes for %d booleans", len(c.bits), n)
	}
	return nil
}

func (c *bitChunk) append(b *values.Builder, from, to int) error {
	return b.Bits(c.bits, from, to-from)
}

// textPlan is values of variable width, maybe packed with a symbol table, maybe
// compressed.
type textPlan struct {
	width   int // bytes of an offset
	table   *fsst.Table
	schemes []general.Scheme
}

func planText(enc *enc21pb.CompressiveEncoding, depth int) (*textPlan, error) {
	if depth == 0 {
		return nil, format.Corruptf("an encoding of more than %d nested parts", maxDepth)
	}
	switch e := enc.GetCompression().(type) {
	case *enc21pb.CompressiveEncoding_Variable:
		bits := e.Variable.GetOffsets().GetFlat().GetBitsPerValue()
		if bits != 32 && bits != 64 {
			return nil, format.Corruptf("offsets of %d bits", bits)
		}
		return &textPlan{width: int(bits / 8)}, nil
	case *enc21pb.CompressiveEncoding_Fsst:
		p, err := planText(e.Fsst.GetValues(), depth-1)
		if err != nil {
			return nil, err
		}
		if p.table != nil {
			return nil, format.Unsupportedf("text packed with two symbol tables")
		}
		p.table, err = fsst.Parse(e.Fsst.GetSymbolTable())
		return p, err
	case *enc21pb.CompressiveEncoding_General:
		p, err := planText(e.General.GetValues(), depth-1)
		if err != nil {
			return nil, err
		}
		p.schemes = append([]general.Scheme{general.Scheme(e.General.GetCompression().GetScheme())}, p.schemes...)
		return p, nil
	}
	return nil, format.Unsupportedf("text encoded as %s in a chunk", encodingText(enc))
}

func (p *textPlan) buffers() int { return 1 }

func (p *textPlan) values() chunkValues {
	return &textChunk{plan: p, spare: make([][]byte, len(p.schemes))}
}

type textChunk struct {
	plan  *textPlan
	view  variable.View
	spare [][]byte
}

func (c *textChunk) load(bufs [][]byte, n int) error {
	buf := bufs[0]
	for i, s := range c.plan.schemes {
		out, err := s.Decompress(c.spare[i], buf, maxChunk)
		if err != nil {
			return err
		}
		c.spare[i], buf = out, out
	}
	var err error
	c.view, err = variable.Mini(buf, c.plan.width, n)
	return err
}

func (c *textChunk) append(b *values.Builder, from, to int) error {
	if from == 0 && to == c.view.Len() {
		return appendView(b, c.view, c.plan.table)
	}
	for i := from; i < to; i++ {
		if err := appendText(b, c.view.At(i), c.plan.table); err != nil {
			return err
		}
	}
	return nil
}

// appendView appends all values of a view, unpacked with table if there is one.
func appendView(b *values.Builder, v variable.View, table *fsst.Table) error {
	if table == nil {
		return b.AppendTo(v.Len(), v.Bytes(),
			func(d []byte, e []int32) ([]byte, []int32, error) { return variable.Append(d, e, v) },
			func(d []byte, e []int64) ([]byte, []int64, error) { return variable.Append(d, e, v) })
	}
	return b.AppendTo(v.Len(), table.MaxLen(v.Bytes()),
		func(d []byte, e []int32) ([]byte, []int32, error) { return fsst.AppendAll(table, d, e, v) },
		func(d []byte, e []int64) ([]byte, []int64, error) { return fsst.AppendAll(table, d, e, v) })
}

// appendText appends one value.
func appendText(b *values.Builder, v []byte, table *fsst.Table) error {
	if table == nil {
		return b.Value(v)
	}
	return b.AppendTo(1, table.MaxLen(len(v)),
		func(d []byte, e []int32) ([]byte, []int32, error) { return unpackOne(table, d, e, v) },
		func(d []byte, e []int64) ([]byte, []int64, error) { return unpackOne(table, d, e, v) })
}

func unpackOne[O variable.Offset](table *fsst.Table, data []byte, ends []O, v []byte) ([]byte, []O, error) {
	out, err := table.Append(data, v)
	if err == nil && len(out) > variable.MaxOffset[O]() {
		err = variable.ErrTooLong
	}
	return out, append(ends, O(len(out))), err
}
