package layout

import (
	"encoding/binary"
	"slices"

	"github.com/omnideck/omnideck/lance/file/nest"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
)

// miniReader decodes chunks.
type miniReader struct {
	b       *miniBody
	chunk   int // the one that is loaded; -1 = none
	n       int // its values
	vals    chunkValues
	index   *wordChunk // instead of vals, with a dictionary
	bufs    [][]byte
	rep     []uint8 // levels, of the loaded chunk; nil without
	def     []uint8 // codes; nil without
	repMem  []uint8
	defMem  []uint8
	words   []uint16
	indices []byte
}

func (b *miniBody) Reader() Reader {
	r := &miniReader{b: b, chunk: -1, bufs: make([][]byte, b.plan.buffers())}
	if b.index != nil {
		r.index = b.index.chunk()
	} else {
		r.vals = b.plan.values()
	}
	return r
}

func (r *miniReader) Read(get Get, from, to int64, s *Sink) error {
	if r.b.first != nil {
		return r.readLists(get, from, to, s)
	}
	for from < to {
		k := r.b.chunkOf(from)
		if err := r.load(get, k); err != nil {
			return err
		}
		a, e := int(from-r.b.vals[k]), int(min(to, r.b.vals[k+1])-r.b.vals[k])
		if err := r.append(s.Values, a, e); err != nil {
			return err
		}
		if r.def != nil {
			s.codes(nil, r.def[a:e], e-a)
		} else {
			s.same(e-a, 0)
		}
		from = r.b.vals[k] + int64(e)
		if err := s.after(r.b.bytes[k+1] - r.b.bytes[k]); err != nil {
			return err
		}
	}
	return nil
}

// append appends values [a, e) of the loaded chunk.
func (r *miniReader) append(b *values.Builder, a, e int) error {
	if r.index == nil {
		return r.vals.append(b, a, e)
	}
	w := r.index.plan.width
	r.indices = grown(r.indices, (e-a)*w)
	if err := r.index.words(r.indices, a, e); err != nil {
		return err
	}
	switch w {
	case 1:
		return values.Lookup(b, r.b.lookup, cast[uint8](r.indices))
	case 2:
		return values.Lookup(b, r.b.lookup, cast[uint16](r.indices))
	case 4:
		return values.Lookup(b, r.b.lookup, cast[uint32](r.indices))
	}
	return values.Lookup(b, r.b.lookup, cast[uint64](r.indices))
}

// load reads and checks chunk k, unless it is the one that is loaded.
func (r *miniReader) load(get Get, k int) error {
	if r.chunk == k {
		return nil
	}
	r.chunk = -1
	part, err := r.b.chunks.part(r.b.bytes[k], r.b.bytes[k+1]-r.b.bytes[k])
	if err != nil {
		return err
	}
	c, err := get(part)
	if err != nil {
		return err
	}
	if r.n = int(r.b.vals[k+1] - r.b.vals[k]); r.n == 0 {
		return format.Corruptf("chunk %d has no values", k)
	}
	if err := r.split(c); err != nil {
		return err
	}
	if r.index != nil {
		err = r.index.load(r.bufs, r.n)
	} else {
		err = r.vals.load(r.bufs, r.n)
	}
	if err == nil {
		r.chunk = k
	}
	return err
}

// split cuts a chunk into its buffers and decodes the levels.
func (r *miniReader) split(c []byte) error {
	p := r.b.miniPage
	size := 2
	if p.large {
		size = 4
	}
	head := 2 + size*len(r.bufs)
	if p.rep != nil {
		head += 2
	}
	if p.def != nil {
		head += 2
	}
	if head > len(c) {
		return format.Corruptf("a chunk of %d bytes with a header of %d", len(c), head)
	}
	nlev, at := int(binary.LittleEndian.Uint16(c)), 2
	var repLen, defLen int
	if p.rep != nil {
		repLen, at = int(binary.LittleEndian.Uint16(c[at:])), at+2
	}
	if p.def != nil {
		defLen, at = int(binary.LittleEndian.Uint16(c[at:])), at+2
	}
	body := cursor{c, (head + 7) &^ 7}
	if err := r.levels(&body, nlev, repLen, defLen); err != nil {
		return err
	}
	var err error
	for i := range r.bufs {
		var n uint32
		if p.large {
			n = binary.LittleEndian.Uint32(c[at:])
		} else {
			n = uint32(binary.LittleEndian.Uint16(c[at:]))
		}
		at += size
		if r.bufs[i], err = body.next(int64(n)); err != nil {
			return err
		}
	}
	if body.at != len(c) {
		return format.Corruptf("a chunk of %d bytes whose buffers end at %d", len(c), body.at)
	}
	return r.count(nlev)
}

// levels decodes the levels of a chunk.
func (r *miniReader) levels(body *cursor, n, repLen, defLen int) (err error) {
	r.rep, r.def = nil, nil
	p := r.b.miniPage
	if p.rep != nil {
		if r.words, err = body.levels(p.rep, r.words, n, repLen); err != nil {
			return err
		}
		r.repMem = slices.Grow(r.repMem[:0], n)[:n]
		r.rep = r.repMem
		narrow(r.rep, r.words)
	}
	if p.def != nil {
		if r.words, err = body.levels(p.def, r.words, n, defLen); err != nil {
			return err
		}
		r.defMem = slices.Grow(r.defMem[:0], n)[:n]
		r.def = r.defMem
		translate(r.def, r.words, p.m.Codes)
	}
	return nil
}

// visible counts the pairs that have a value.
func (r *miniReader) visible(def []uint8) int {
	if r.rep == nil {
		return len(def)
	}
	return nest.CountBelow(def, r.b.col.Path.Visible())
}

// count checks the number of levels against that of values.
func (r *miniReader) count(nlev int) error {
	n := nlev
	if r.def != nil {
		n = r.visible(r.def)
	}
	if n == r.n || nlev == 0 && r.rep == nil && r.def == nil {
		return nil
	}
	return format.Corruptf("a chunk of %d values with %d level pairs, %d of which have values", r.n, nlev, n)
}

// readLists decodes rows of pages with lists. A row begins at a pair whose rep
// level is the number of lists.
func (r *miniReader) readLists(get Get, from, to int64, s *Sink) error {
	b := r.b
	begins := uint8(b.col.Path.Lists)
	for k, end := b.span(from, to); k < end; k++ {
		if err := r.load(get, k); err != nil {
			return err
		}
		starts := len(r.rep) - nest.CountBelow(r.rep, begins)
		if want := b.first[k+1] - b.first[k]; int64(starts) != want || (r.rep[0] != begins) != b.pre[k] {
			return format.Corruptf("chunk %d begins %d rows, the repetition index says %d and a preamble: %t", k, starts, want, b.pre[k])
		}
		a, e := 0, len(r.rep)
		if from >= b.first[k] { // row from begins here; what is before goes
			a = nthBegin(r.rep, begins, from-b.first[k])
		}
		if to < b.first[k+1] {
			e = nthBegin(r.rep, begins, to-b.first[k])
		}
		if err := r.appendPairs(s, a, e); err != nil {
			return err
		}
		if err := s.after(b.bytes[k+1] - b.bytes[k]); err != nil {
			return err
		}
	}
	return nil
}

// nthBegin is the pair that begins row n of those that begin in a chunk, which
// has more.
func nthBegin(rep []uint8, begins uint8, n int64) int {
	for i, l := range rep {
		if l != begins {
			continue
		}
		if n == 0 {
			return i
		}
		n--
	}
	return len(rep)
}

// appendPairs appends pairs [a, e) of the loaded chunk and their values.
func (r *miniReader) appendPairs(s *Sink, a, e int) error {
	if a >= e {
		return nil
	}
	from, to := a, e
	var def []uint8
	if r.def != nil {
		def = r.def[a:e]
		from = r.visible(r.def[:a])
		to = r.n - r.visible(r.def[e:])
	}
	s.codes(r.rep[a:e], def, e-a)
	if from == to {
		return nil
	}
	return r.append(s.Values, from, to)
}
