package layout

import (
	"encoding/binary"

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
	rep     []uint16
	def     []uint16
	repMem  []uint16
	defMem  []uint16
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
	first, end := r.b.span(from, to)
	hint := newHint(s.Values, r.b.bytes[end]-r.b.bytes[first])
	if r.b.first != nil {
		return r.readLists(get, from, to, s, hint)
	}
	if err := hint.exactly(to - from); err != nil {
		return err
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
			s.defs(r.def[a:e], r.b.m)
		} else {
			s.same(e-a, 0)
		}
		from = r.b.vals[k] + int64(e)
		if err := hint.after(r.b.bytes[k+1] - r.b.bytes[first]); err != nil {
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
	var err error
	if r.rep, r.repMem, err = body.levels(p.rep, r.repMem, nlev, repLen); err != nil {
		return err
	}
	if r.def, r.defMem, err = body.levels(p.def, r.defMem, nlev, defLen); err != nil {
		return err
	}
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

// count checks the number of levels against that of values.
func (r *miniReader) count(nlev int) error {
	n := nlev
	if r.rep != nil && r.def != nil {
		n = visible(r.def, r.b.m)
	}
	if n == r.n || nlev == 0 && r.rep == nil && r.def == nil {
		return nil
	}
	return format.Corruptf("a chunk of %d values with %d level pairs, %d of which have values", r.n, nlev, n)
}

// readLists decodes rows of pages with lists. A row begins at a pair whose rep
// level is the number of lists.
func (r *miniReader) readLists(get Get, from, to int64, s *Sink, hint *hint) error {
	first, end := r.b.span(from, to)
	begins := uint16(r.b.col.Path.Lists)
	row := r.b.first[first] - 1 // the row that the next pair belongs to, once its begin was seen
	for k := first; k < end; k++ {
		if err := r.load(get, k); err != nil {
			return err
		}
		if want := r.b.first[k+1] - r.b.first[k]; int64(count(r.rep, begins)) != want || (r.rep[0] != begins) != r.b.pre[k] {
			return format.Corruptf("chunk %d begins %d rows, the repetition index says %d and a preamble: %t", k, count(r.rep, begins), want, r.b.pre[k])
		}
		a, e := len(r.rep), len(r.rep)
		for i, l := range r.rep {
			if l == begins {
				row++
			}
			if row >= from {
				a = i
				break
			}
		}
		if a < e && row < to {
			e, row = r.rowsEnd(a, row, to)
		} else {
			e = a
		}
		if err := r.appendPairs(s, a, e); err != nil {
			return err
		}
		if err := hint.after(r.b.bytes[k+1] - r.b.bytes[first]); err != nil {
			return err
		}
	}
	return nil
}

// rowsEnd is the pair behind a, in row, that begins row to, or the end of the
// chunk; and the row of the pair before it.
func (r *miniReader) rowsEnd(a int, row, to int64) (int, int64) {
	begins := uint16(r.b.col.Path.Lists)
	if r.b.first[r.chunk+1] <= to { // no row from to on begins here
		return len(r.rep), r.b.first[r.chunk+1] - 1
	}
	for i := a + 1; i < len(r.rep); i++ {
		if r.rep[i] == begins {
			if row+1 == to {
				return i, row
			}
			row++
		}
	}
	return len(r.rep), row
}

// appendPairs appends pairs [a, e) of the loaded chunk and their values.
func (r *miniReader) appendPairs(s *Sink, a, e int) error {
	if a == e {
		return nil
	}
	from, to := a, e
	if r.def != nil {
		from = visible(r.def[:a], r.b.m)
		to = r.n
		if e < len(r.def) {
			to = from + visible(r.def[a:e], r.b.m)
		}
		s.pairs(r.rep[a:e], r.def[a:e], r.b.m)
	} else {
		s.pairs(r.rep[a:e], nil, r.b.m)
	}
	if from == to {
		return nil
	}
	return r.append(s.Values, from, to)
}

func count(rep []uint16, level uint16) int {
	n := 0
	for _, r := range rep {
		if r == level {
			n++
		}
	}
	return n
}
