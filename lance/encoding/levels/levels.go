// Package levels decodes repetition and definition levels: blocks of 16-bit
// words.
//
// A level is a small number, at most a maximum that follows from the page's
// layers; a greater one is damage. Where no level is more than 1 and nothing
// repeats, the definition levels are the inverse of a validity bitmap, and
// Validity makes that bitmap without the words between.
package levels

import (
	"slices"
	"sync"

	"github.com/omnideck/omnideck/lance/encoding/bitpack"
	"github.com/omnideck/omnideck/lance/encoding/block"
	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	"github.com/omnideck/omnideck/lance/encoding/rle"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// Decoder decodes the levels of a page. It does not change and may be used by
// several goroutines.
type Decoder struct {
	words *block.Decoder
	max   uint16
}

// New reads the description of a page's repetition or definition levels, none
// of which is above max. Without a description (nil) they are raw.
func New(enc *enc21pb.CompressiveEncoding, max uint16) (*Decoder, error) {
	words := block.Raw(16)
	if enc != nil {
		var err error
		if words, err = block.New(enc); err != nil {
			return nil, err
		}
	}
	if words.Bits() != 16 || words.IsVariable() {
		return nil, corrupt.New("levels", "levels of 16 bits", "%d bits", words.Bits())
	}
	return &Decoder{words, max}, nil
}

// Decode decodes len(dst) levels.
func (d *Decoder) Decode(dst []uint16, buf []byte) error {
	if err := block.Words(d.words, dst, buf); err != nil {
		return err
	}
	return d.check(dst)
}

// check looks for a level above the maximum.
func (d *Decoder) check(levels []uint16) error {
	var all uint16
	for _, level := range levels {
		all |= level
	}
	if all <= d.max {
		return nil
	}
	if top := slices.Max(levels); top > d.max {
		return corrupt.New("levels", "a level that the layers have", "level %d above %d", top, d.max)
	}
	return nil
}

// Validity sets bit at+i of bitmap, lowest bit of each byte first, for each of
// the n levels that is 0, and returns the number of the others. The bitmap has
// room for at+n bits, of which these n are clear before. Only for a maximum
// of 1.
func (d *Decoder) Validity(bitmap []byte, at, n int, buf []byte) (nulls int, err error) {
	if d.max != 1 {
		return 0, corrupt.New("levels", "1 for a bitmap", "a greatest level of %d", d.max)
	}
	out := &valid{bitmap: bitmap, at: at, end: at + n}
	switch d.words.Kind() {
	case block.Inline:
		// The header is a word of 16 bits.
		if len(buf) >= 2+bitpack.Size(1) && buf[0] == 1 && buf[1] == 0 && n <= bitpack.Group {
			out.group(buf[2:])
			return out.nulls, nil
		}
	case block.OutOfLine:
		if d.words.Width() == 1 {
			if buf = out.groups(buf); out.at == out.end && len(buf) == 0 {
				return out.nulls, nil
			}
		}
	case block.RLE:
		return out.nulls, out.runs(buf)
	}
	n = out.end - out.at
	memory := scratch.Get().(*[]uint16)
	defer scratch.Put(memory)
	if cap(*memory) < n {
		*memory = make([]uint16, n)
	}
	words := (*memory)[:n]
	if err := d.Decode(words, buf); err != nil {
		return 0, err
	}
	out.words(words)
	return out.nulls, nil
}

// scratch keeps the memory of levels that are only on their way to a bitmap.
var scratch = sync.Pool{New: func() any { return new([]uint16) }}

// runs sets the bits of a run-length block.
func (v *valid) runs(buf []byte) error {
	values, lengths, err := rle.Split(buf, 2)
	if err != nil {
		return err
	}
	if total := rle.Sum(lengths); total != v.end-v.at {
		return corrupt.New("levels", "runs of exactly the levels", "runs of %d levels for %d", total, v.end-v.at)
	}
	for i, length := range lengths {
		switch level := uint16(values[2*i]) | uint16(values[2*i+1])<<8; level {
		case 0:
			v.set(int(length))
		case 1:
			v.skip(int(length))
		default:
			return corrupt.New("levels", "a level that the layers have", "level %d above 1", level)
		}
	}
	return nil
}
