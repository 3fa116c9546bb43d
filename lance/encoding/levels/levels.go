// Package levels decodes repetition and definition levels: blocks of 16-bit
// words.
//
// A level is a small number, at most a maximum that follows from the page's
// layers; a greater one is damage. Where no level is more than 1 and nothing
// repeats, the definition levels are the inverse of a validity bitmap, and
// Validity makes that bitmap without the words between.
package levels

import (
	"encoding/binary"
	"math/bits"
	"sync"

	"github.com/omnideck/omnideck/lance/encoding/block"
	"github.com/omnideck/omnideck/lance/encoding/corrupt"
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
	if d.words.Kind() == block.OutOfLine && 1<<d.words.Width()-1 <= int(d.max) {
		return nil
	}
	var top uint16
	for _, level := range dst {
		top = max(top, level)
	}
	return d.check(top)
}

func (d *Decoder) check(top uint16) error {
	if top > d.max {
		return corrupt.New("levels", "a level that the layers have", "level %d above %d", top, d.max)
	}
	return nil
}

// Validity sets bit at+i of bitmap, lowest bit of each byte first, for each of
// the n levels that is 0, and returns the number of the others. The n bits
// must be clear before. Only for a maximum of 1.
func (d *Decoder) Validity(bitmap []byte, at, n int, buf []byte) (nulls int, err error) {
	if d.max != 1 {
		return 0, corrupt.New("levels", "1 for a bitmap", "a greatest level of %d", d.max)
	}
	memory := scratch.Get().(*[]uint16)
	defer scratch.Put(memory)
	if cap(*memory) < n {
		*memory = make([]uint16, n)
	}
	words := (*memory)[:n]
	if err := d.Decode(words, buf); err != nil {
		return 0, err
	}
	for len(words) > 0 {
		k := min(64, len(words))
		var set uint64
		for i, level := range words[:k] {
			set |= uint64(level&1) << i
		}
		nulls += bits.OnesCount64(set)
		setBits(bitmap, at, ^set, k)
		at, words = at+k, words[k:]
	}
	return nulls, nil
}

var scratch = sync.Pool{New: func() any { return new([]uint16) }}

// setBits ors the lowest k bits (1 to 64) of set to the bitmap from bit at on.
func setBits(bitmap []byte, at int, set uint64, k int) {
	set &= ^uint64(0) >> (64 - k)
	first, shift := at/8, at%8
	var word [16]byte
	binary.LittleEndian.PutUint64(word[:], set<<shift)
	binary.LittleEndian.PutUint64(word[8:], set>>(64-shift)) // 0 for no shift
	for i := range (shift + k + 7) / 8 {
		bitmap[first+i] |= word[i]
	}
}
