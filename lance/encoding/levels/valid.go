package levels

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/omnideck/omnideck/lance/encoding/bitpack"
)

// valid writes a validity bitmap from bit at to end, counting the nulls.
type valid struct {
	bitmap  []byte
	at, end int
	nulls   int
}

// set makes the next n bits valid.
func (v *valid) set(n int) {
	bitutil.SetBitsTo(v.bitmap, int64(v.at), int64(n), true)
	v.at += n
}

// skip leaves the next n bits null.
func (v *valid) skip(n int) {
	v.at += n
	v.nulls += n
}

// groups takes the packed groups of width 1 in front of buf, and returns what
// is left: fewer than a group of levels, raw or packed.
func (v *valid) groups(buf []byte) []byte {
	for v.end-v.at >= bitpack.Group && len(buf) >= bitpack.Size(1) {
		v.group(buf)
		buf = buf[bitpack.Size(1):]
	}
	return buf
}

// group takes up to a group of levels that are packed at width 1.
func (v *valid) group(packed []byte) {
	for _, nulls := range bitpack.Bits16(packed) {
		if v.at == v.end {
			return
		}
		v.put(nulls, min(64, v.end-v.at))
	}
}

// words takes levels of 0 and 1.
func (v *valid) words(levels []uint16) {
	for len(levels) > 0 {
		k := min(64, len(levels))
		var nulls uint64
		for i, level := range levels[:k] {
			nulls |= uint64(level&1) << i
		}
		v.put(nulls, k)
		levels = levels[k:]
	}
}

// put takes k levels (1 to 64), as bits from the lowest on, 1 being null.
func (v *valid) put(nulls uint64, k int) {
	nulls &= ^uint64(0) >> (64 - k)
	v.nulls += bits.OnesCount64(nulls)
	set := nulls ^ ^uint64(0)>>(64-k)
	at, shift := v.at/8, v.at%8
	v.at += k
	if tail := v.bitmap[at:]; len(tail) >= 9 {
		binary.LittleEndian.PutUint64(tail, binary.LittleEndian.Uint64(tail)|set<<shift)
		tail[8] |= byte(set >> 1 >> (63 - shift))
		return
	}
	var word [9]byte
	binary.LittleEndian.PutUint64(word[:], set<<shift)
	word[8] = byte(set >> 1 >> (63 - shift))
	for i := range (shift + k + 7) / 8 {
		v.bitmap[at+i] |= word[i]
	}
}
