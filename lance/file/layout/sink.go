package layout

import (
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

// defs appends n pairs that begin rows, with definition levels of a page.
func (s *Sink) defs(levels []uint16, m *nest.Map) {
	s.def = s.room(s.def, len(levels), 0)
	at := len(s.def)
	s.def = s.def[:at+len(levels)]
	translate(s.def[at:], levels, m.Codes)
	if len(s.rep) > 0 {
		s.rep = fill(s.rep, len(levels), uint8(s.lists))
	}
	s.n += len(levels)
}

// pairs appends pairs. def may be nil, for all 0.
func (s *Sink) pairs(rep, def []uint16, m *nest.Map) {
	n := len(rep)
	s.rep = s.room(s.rep, n, uint8(s.lists))
	at := len(s.rep)
	s.rep = s.rep[:at+n]
	for i, r := range rep {
		s.rep[at+i] = uint8(r)
	}
	if def != nil || len(s.def) > 0 {
		s.def = s.room(s.def, n, 0)
		at := len(s.def)
		s.def = s.def[:at+n]
		if def != nil {
			translate(s.def[at:], def, m.Codes)
		} else {
			clear(s.def[at:])
		}
	}
	s.n += n
}

// codes appends pairs that are in our form already; rep and def may be empty.
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
	if len(codes) == 2 { // a plain nullable column
		c := codes[1]
		for i, l := range levels {
			dst[i] = c & -uint8(l)
		}
		return
	}
	for i, l := range levels {
		dst[i] = codes[l]
	}
}

// visible counts the pairs that have a value.
func visible(def []uint16, m *nest.Map) int {
	n := 0
	for _, d := range def {
		if int(d) <= m.MaxVisible {
			n++
		}
	}
	return n
}

// asInt checks a count of the file against what an int and memory can hold.
func asInt(n uint64, what string) (int64, error) {
	if n > 1<<48 {
		return 0, format.Corruptf("%d %s in a page", n, what)
	}
	return int64(n), nil
}
