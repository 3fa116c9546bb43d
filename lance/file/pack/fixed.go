package pack

import (
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/omnideck/omnideck/lance/encoding/bitpack"
	"github.com/omnideck/omnideck/lance/encoding/rle"
	"github.com/omnideck/omnideck/lance/file/values"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// encoderOf chooses the encoding of values in chunks.
func encoderOf(v *Values) encoder {
	switch v.t.Kind {
	case values.Bool:
		return bools{v.bits}
	case values.Bytes:
		return newText(v)
	case values.Vector:
		return newVectors(v)
	}
	switch v.t.Width {
	case 1:
		return chooseFixed(wordsOf[uint8](v.fixed))
	case 2:
		return chooseFixed(wordsOf[uint16](v.fixed))
	case 4:
		return chooseFixed(wordsOf[uint32](v.fixed))
	case 8:
		return chooseFixed(wordsOf[uint64](v.fixed))
	}
	return newPlain(v.fixed, v.t.Width)
}

// chooseFixed chooses the smallest of runs, bit-packed and flat words.
func chooseFixed[T bitpack.Word](v []T) encoder {
	switch how, _ := measure(v); how {
	case runs:
		return runWords[T]{v}
	case inline:
		return packedWords[T]{v}
	}
	return newPlain(bytesOf(v), bitpack.Bits[T]()/8)
}

// measure finds the smallest encoding of words in chunks, and its bytes.
func measure[T bitpack.Word](v []T) (how block, bytes int) {
	size := bitpack.Bits[T]() / 8
	least, packed := len(v)*size, 0
	for at := 0; at < len(v); at += bitpack.Group {
		packed += size + bitpack.Size(bitpack.Width(v[at:min(at+bitpack.Group, len(v))]))
	}
	if n := rle.Runs(v, chunkValues) * (size + 1); n < least && n <= packed {
		return runs, n
	}
	if packed < least {
		return inline, packed
	}
	return flat, least
}

// takeAll takes what is left, or else 1 << log.
func takeAll(log, left int) int {
	if left <= 1<<log {
		return left
	}
	return 1 << log
}

// plain is values of one width.
type plain struct {
	data      []byte
	size, log int
}

func newPlain(data []byte, size int) plain {
	log := 1
	for log < 12 && size<<(log+1) <= chunkBytes {
		log++
	}
	return plain{data, size, log}
}

func (p plain) take(_, left int) int { return takeAll(p.log, left) }
func (p plain) buffers() int         { return 1 }
func (p plain) append(dst []byte, from, to int, sizes []int) []byte {
	sizes[0] = (to - from) * p.size
	return pad(append(dst, p.data[from*p.size:to*p.size]...), 0)
}

func (p plain) encoding() *enc21pb.CompressiveEncoding { return flatOf(uint64(8 * p.size)) }

// bools is bits.
type bools struct{ bits []byte }

func (b bools) take(_, left int) int { return takeAll(12, left) }
func (b bools) buffers() int         { return 1 }
func (b bools) append(dst []byte, from, to int, sizes []int) []byte {
	at := len(dst)
	dst = appendBits(dst, b.bits, from, to)
	sizes[0] = len(dst) - at
	return pad(dst, 0)
}

func (b bools) encoding() *enc21pb.CompressiveEncoding { return flatOf(1) }

// appendBits appends bits [from, to) as whole bytes.
func appendBits(dst, bits []byte, from, to int) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, (to-from+7)/8)...)
	bitutil.CopyBitmap(bits, from, to-from, dst[at:], 0)
	return dst
}

// packedWords is bit-packed words.
type packedWords[T bitpack.Word] struct{ v []T }

func (p packedWords[T]) take(_, left int) int { return takeAll(10, left) }
func (p packedWords[T]) buffers() int         { return 1 }
func (p packedWords[T]) append(dst []byte, from, to int, sizes []int) []byte {
	at := len(dst)
	dst = bitpack.AppendInline(dst, p.v[from:to])
	sizes[0] = len(dst) - at
	return pad(dst, 0)
}

func (p packedWords[T]) encoding() *enc21pb.CompressiveEncoding {
	return packedOf(uint64(bitpack.Bits[T]()))
}

// runWords is runs of equal words.
type runWords[T bitpack.Word] struct{ v []T }

func (r runWords[T]) take(_, left int) int { return takeAll(12, left) }
func (r runWords[T]) buffers() int         { return 2 }
func (r runWords[T]) append(dst []byte, from, to int, sizes []int) []byte {
	at := len(dst)
	dst, lengths := rle.Append(dst, nil, r.v[from:to])
	sizes[0], sizes[1] = len(dst)-at, len(lengths)
	return pad(append(pad(dst, 0), lengths...), 0)
}

func (r runWords[T]) encoding() *enc21pb.CompressiveEncoding {
	return runsOf(uint64(bitpack.Bits[T]()))
}

// vectors is fixed-size lists of words, bits or vectors.
type vectors struct {
	layers []*Values // outermost first, the last one has the items
	dims   []int     // items of each layer in one value
	log    int
}

func newVectors(v *Values) vectors {
	e, n := vectors{}, 1
	for v.t.Kind == values.Vector {
		n *= v.t.Dim
		e.layers, e.dims = append(e.layers, v), append(e.dims, n)
		v = v.item
	}
	e.layers = append(e.layers, v)
	e.log = newPlain(nil, max(1, e.layers[0].t.Size())).log
	return e
}

func (e vectors) take(_, left int) int { return takeAll(e.log, left) }

// masks are the layers with items that are null.
func (e vectors) buffers() int {
	n := 1
	for _, l := range e.layers {
		if l.valid != nil {
			n++
		}
	}
	return n
}

func (e vectors) append(dst []byte, from, to int, sizes []int) []byte {
	for i, l := range e.layers[:len(e.dims)] {
		if l.valid != nil {
			at := len(dst)
			dst = appendBits(dst, l.valid, from*e.dims[i], to*e.dims[i])
			sizes[0], sizes = len(dst)-at, sizes[1:]
			dst = pad(dst, 0)
		}
	}
	items, n := e.layers[len(e.dims)], e.dims[len(e.dims)-1]
	if items.t.Kind == values.Bool {
		return bools{items.bits}.append(dst, from*n, to*n, sizes)
	}
	return plain{items.fixed, items.t.Width, 0}.append(dst, from*n, to*n, sizes)
}

func (e vectors) encoding() *enc21pb.CompressiveEncoding {
	items := e.layers[len(e.dims)]
	enc := flatOf(uint64(8 * items.t.Width))
	if items.t.Kind == values.Bool {
		enc = flatOf(1)
	}
	for i := len(e.dims) - 1; i >= 0; i-- {
		l := e.layers[i]
		enc = &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_FixedSizeList{
			FixedSizeList: &enc21pb.FixedSizeList{ItemsPerValue: uint64(l.t.Dim), Values: enc, HasValidity: l.valid != nil}}}
	}
	return enc
}

// packedRows is structs, field by field in every row.
type packedRows struct {
	plain
	bits []uint64
}

// newPacked lays the fields out row by row. They are of fixed width.
func newPacked(v *Values) (packedRows, error) {
	p, size := packedRows{}, 0
	for _, f := range v.fields {
		if f.t.Kind != values.Fixed {
			return p, refused("a packed struct with a field of " + f.t.Arrow.String())
		}
		p.bits = append(p.bits, uint64(8*f.t.Width))
		size += f.t.Width
	}
	data, at := make([]byte, v.N*size), 0
	for _, f := range v.fields {
		w := f.t.Width
		for i := range v.N {
			copy(data[i*size+at:], f.fixed[i*w:(i+1)*w])
		}
		at += w
	}
	p.plain = newPlain(data, size)
	return p, nil
}

func (p packedRows) encoding() *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_PackedStruct{
		PackedStruct: &enc21pb.PackedStruct{BitsPerValue: p.bits, Values: flatOf(uint64(8 * p.size))}}}
}
