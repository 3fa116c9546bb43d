package pack

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"github.com/omnideck/omnideck/lance/encoding/bitpack"
	"github.com/omnideck/omnideck/lance/encoding/general"
	"github.com/omnideck/omnideck/lance/encoding/variable"
	"github.com/omnideck/omnideck/lance/file/values"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

const (
	dictValues   = 100     // a page of fewer has no dictionary
	dictDistinct = 100_000 // the most that a dictionary holds
	dictSample   = 4096
)

// dictionary is the distinct values of a page, as a block, and where in it each
// value is.
type dictionary struct {
	n        int
	block    []byte
	encoding *enc21pb.CompressiveEncoding
	indices  encoder
}

// seed of hashes. Which value gets which number does not depend on it.
var seed = maphash.MakeSeed()

// finder numbers values in the order of their first appearance.
type finder struct {
	v      *Values
	size   int      // of a fixed value
	words  []uint64 // the values, if they have 8 bytes
	table  []uint32 // number + 1 by hash; 0 = free
	shift  int      // from a hash of 64 bits to a place in the table
	firsts []uint32 // by number: the first value that has it
	bytes  int      // of all distinct values
}

func newFinder(v *Values) *finder {
	f := &finder{v: v}
	if v.t.Kind == values.Fixed {
		f.size = v.t.Width
	}
	if f.size == 8 {
		f.words = wordsOf[uint64](v.fixed)
	}
	f.resize(bitsFor(2 * dictSample))
	return f
}

func (f *finder) value(i int) []byte {
	if f.size > 0 {
		return f.v.fixed[i*f.size : (i+1)*f.size]
	}
	return f.v.data[f.v.offsets[i]:f.v.offsets[i+1]]
}

func (f *finder) hash(i int) uint64 {
	if f.words != nil {
		h := f.words[i] * 0x9e3779b97f4a7c15
		return (h ^ h>>32) * 0x9e3779b97f4a7c15
	}
	return maphash.Bytes(seed, f.value(i))
}

func (f *finder) same(i, k int) bool {
	if f.words != nil {
		return f.words[i] == f.words[k]
	}
	return bytes.Equal(f.value(i), f.value(k))
}

// number is the number of value i, a new one if it has none yet.
func (f *finder) number(i int) uint32 {
	mask := len(f.table) - 1
	for at := int(f.hash(i) >> f.shift); ; at = (at + 1) & mask {
		k := f.table[at]
		if k == 0 {
			f.firsts = append(f.firsts, uint32(i))
			f.table[at] = uint32(len(f.firsts))
			f.bytes += len(f.value(i))
			if 2*len(f.firsts) > len(f.table) {
				f.resize(64 - f.shift + 1)
			}
			return uint32(len(f.firsts) - 1)
		}
		if f.same(int(f.firsts[k-1]), i) {
			return k - 1
		}
	}
}

// resize makes the table one of 1 << log places.
func (f *finder) resize(log int) {
	f.table, f.shift = make([]uint32, 1<<log), 64-log
	mask := len(f.table) - 1
	for k, first := range f.firsts {
		at := int(f.hash(int(first)) >> f.shift)
		for f.table[at] != 0 {
			at = (at + 1) & mask
		}
		f.table[at] = uint32(k + 1)
	}
}

// all numbers every value, a null like the one before it; nil if there are
// more than most.
func (f *finder) all(slots []uint8, most int) []uint32 {
	out := make([]uint32, f.v.N)
	last := uint32(0)
	for i := range out {
		if slots == nil || slots[i] == 0 {
			if last = f.number(i); len(f.firsts) > most {
				return nil
			}
		}
		out[i] = last
	}
	return out
}

// distinct guesses from a sample how many distinct values there are. If pairs
// of s values that were drawn are equal k times, of d equally frequent ones,
// then d is about s*s/2k; if some are more frequent there are more pairs, and
// the guess is too low. None in the sample that repeats is a guess of all.
func distinct(v *Values, slots []uint8) int {
	f := newFinder(v)
	step, seen := max(1, v.N/dictSample), 0
	for i := 0; i < v.N; i += step {
		if slots == nil || slots[i] == 0 {
			f.number(i)
			seen++
		}
	}
	again := seen - len(f.firsts)
	if step == 1 || 50*again < seen {
		return len(f.firsts) * step
	}
	return max(len(f.firsts), min(v.N, int(float64(seen)*float64(seen)/2/float64(again))))
}

// tryDictionary makes a dictionary if values repeat so often that it is
// smaller than any other encoding.
func tryDictionary(v *Values, lv *levels) *dictionary {
	fixed := v.t.Kind == values.Fixed && (v.t.Width == 8 || v.t.Width == 16)
	if v.N < dictValues || !fixed && v.t.Kind != values.Bytes {
		return nil
	}
	most, room := min(lv.valid/2, dictDistinct), dictionaryRoom(v)
	guess := distinct(v, lv.slots)
	if guess > most || fixed && guess*v.t.Width+v.N*bitsFor(guess)/8 > room {
		return nil
	}
	f := newFinder(v)
	indices := f.all(lv.slots, most)
	if indices == nil {
		return nil
	}
	size := v.N*bitsFor(len(f.firsts))/8 + f.bytes
	if !fixed {
		size += 4 * len(f.firsts)
	}
	if size > room {
		return nil
	}
	d := &dictionary{n: len(f.firsts), indices: chooseFixed(indices)}
	d.fill(f)
	return d
}

// dictionaryRoom is the most bytes that a dictionary and its indices may take.
func dictionaryRoom(v *Values) int {
	switch {
	case v.t.Kind != values.Bytes && v.t.Width == 8:
		_, n := measure(wordsOf[uint64](v.fixed))
		return n
	case v.t.Kind != values.Bytes:
		return len(v.fixed) * 4 / 5
	}
	raw := int(v.offsets[v.N]-v.offsets[0]) + 4*v.N
	if raw >= symbolsFrom {
		return raw * 3 / 5
	}
	return raw * 4 / 5
}

// dictionaryFor makes the dictionary of a column that has one by its type,
// with indices of so many bits.
func dictionaryFor(v *Values, lv *levels, width int, signed bool) (*dictionary, error) {
	f := newFinder(v.item)
	most := 1<<31 - 1
	if n := width; n < 32 {
		if signed {
			n--
		}
		most = 1 << n
	}
	indices := f.all(lv.slots, most)
	if indices == nil {
		return nil, refused(fmt.Sprintf("a page of a dictionary column with more than %d values, the most that its indices count", most))
	}
	d := &dictionary{n: len(f.firsts)}
	switch width {
	case 8:
		d.indices = chooseFixed(narrowed[uint8](indices))
	case 16:
		d.indices = chooseFixed(narrowed[uint16](indices))
	case 32:
		d.indices = chooseFixed(indices)
	default:
		d.indices = chooseFixed(narrowed[uint64](indices))
	}
	d.fill(f)
	return d, nil
}

func narrowed[T bitpack.Word](v []uint32) []T {
	out := make([]T, len(v))
	for i, x := range v {
		out[i] = T(x)
	}
	return out
}

// fill writes the distinct values as the smallest block.
func (d *dictionary) fill(f *finder) {
	if f.size > 0 {
		var data []byte
		for _, i := range f.firsts {
			data = append(data, f.value(int(i))...)
		}
		d.block, d.encoding = data, flatOf(uint64(8*f.size))
		if f.size == 8 {
			words := wordsOf[uint64](data)
			how := chooseWords(words, 1)
			d.block, d.encoding = how.append(nil, words), how.encoding()
		}
	} else {
		var data []byte
		offsets := []uint32{0}
		for _, i := range f.firsts {
			data = append(data, f.value(int(i))...)
			offsets = append(offsets, uint32(len(data)))
		}
		width := 4
		if f.v.t.Large {
			width = 8
		}
		d.block, d.encoding = variable.AppendBlock(nil, width, data, offsets), variableOf(width)
	}
	if small := general.AppendLZ4(nil, d.block); len(small) < len(d.block)*9/10 {
		d.block, d.encoding = small, generalOf(enc21pb.CompressionScheme_LZ4, d.encoding)
	}
}
