package layout

import (
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/file/nest"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
)

// Sink collects the values and the level pairs of a run of rows, over any
// number of pages of a column.
type Sink struct {
	Values *values.Builder
	n      int     // pairs
	rep    []uint8 // empty: every pair begins a row
	def    []uint8 // empty: all codes are 0
	lists  int     // the rep level that begins a row

	encoded, done int64 // bytes that are to be decoded, and that were
	text          bool  // the bytes of text are still to be made room for
}

// Reset prepares the sink for another run; the memory of levels is kept.
func (s *Sink) Reset(col Column, mem memory.Allocator, budget *values.Budget) {
	s.Values = values.New(col.Type, mem, budget)
	s.n, s.rep, s.def, s.lists = 0, s.rep[:0], s.def[:0], col.Path.Lists
}

// Levels are the pairs collected. They are the sink's until the next Reset.
func (s *Sink) Levels() *nest.Levels {
	lv := &nest.Levels{N: s.n}
	if len(s.rep) > 0 {
		lv.Rep = s.rep
	}
	if len(s.def) > 0 {
		lv.Def = s.def
	}
	return lv
}

// Expect makes room for about n values that encoded bytes hold, as far as
// these justify it.
func (s *Sink) Expect(n, encoded int64) error {
	s.encoded, s.done, s.text = encoded, 0, s.Values.Type.Kind == values.Bytes
	most := s.most() / int64(max(s.Values.Type.Size(), 1))
	return s.Values.Reserve(int(min(n, most, math.MaxInt32)))
}

// expansion is how many times the encoded bytes are made room for at once.
const expansion = 32

func (s *Sink) most() int64 { return expansion*s.encoded + 4096 }

// after says that the next so many encoded bytes were decoded. When the first
// were, they tell how much text is to come.
func (s *Sink) after(encoded int64) error {
	s.done += encoded
	if !s.text || s.Values.Len() == 0 || s.done >= s.encoded {
		return nil
	}
	s.text = false
	got := float64(s.Values.BytesLen())
	more := got*1.03*(float64(s.encoded)/float64(s.done)-1) + 64
	return s.Values.ReserveBytes(int(min(more, float64(s.most()), math.MaxInt32)))
}

// same appends n pairs (lists, code).
func (s *Sink) same(n int, code uint8) {
	if code != 0 && len(s.def) == 0 {
		s.def = fill(s.def, s.n, 0)
	}
	if len(s.def) > 0 || code != 0 {
		s.def = fill(s.def, n, code)
	}
	if len(s.rep) > 0 {
		s.rep = fill(s.rep, n, uint8(s.lists))
	}
	s.n += n
}

// codes appends n pairs. rep may be empty, for pairs that all begin a row, and
// def, for codes that are all 0.
func (s *Sink) codes(rep, def []uint8, n int) {
	if len(rep) > 0 {
		s.rep = append(s.room(s.rep, n, uint8(s.lists)), rep...)
	} else if len(s.rep) > 0 {
		s.rep = fill(s.rep, n, uint8(s.lists))
	}
	if len(def) > 0 {
		s.def = append(s.room(s.def, n, 0), def...)
	} else if len(s.def) > 0 {
		s.def = fill(s.def, n, 0)
	}
	s.n += n
}

// room grows levels by n; when there are none yet it adds those that were left
// out, which are all before.
func (s *Sink) room(levels []uint8, n int, before uint8) []uint8 {
	if len(levels) == 0 && s.n > 0 {
		levels = fill(levels, s.n, before)
	}
	return slices.Grow(levels, n)
}

func fill(levels []uint8, n int, v uint8) []uint8 {
	at := len(levels)
	levels = slices.Grow(levels, n)[:at+n]
	for i := at; i < len(levels); i++ {
		levels[i] = v
	}
	return levels
}

// translate turns levels, which were checked against the map, into codes.
func translate(dst []uint8, levels []uint16, codes []uint8) {
	if len(codes) == 2 { // levels are 0 and 1
		c := codes[1]
		for i, l := range levels {
			dst[i] = c & -uint8(l)
		}
		return
	}
	var table [256]uint8
	copy(table[:], codes)
	for i, l := range levels {
		dst[i] = table[uint8(l)]
	}
}

// narrow turns repetition levels, which were checked, into bytes.
func narrow(dst []uint8, levels []uint16) {
	for i, l := range levels {
		dst[i] = uint8(l)
	}
}

// asInt checks a count of the file against what an int and memory can hold.
func asInt(n uint64, what string) (int64, error) {
	if n > 1<<48 {
		return 0, format.Corruptf("%d %s in a page", n, what)
	}
	return int64(n), nil
}
