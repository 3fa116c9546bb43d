package file

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/omnideck/omnideck/lance/file/nest"
	"github.com/omnideck/omnideck/lance/file/pack"
	"github.com/omnideck/omnideck/lance/file/values"
)

// offsets are those of a list or of text.
type offsets struct {
	buf  []byte
	wide bool
}

func offsetsOf(d arrow.ArrayData, wide bool) offsets {
	if b := d.Buffers()[1]; b != nil {
		return offsets{b.Bytes(), wide}
	}
	return offsets{}
}

// at is offset i, counted from the beginning of the buffer. An array without
// elements may have no offsets.
func (o offsets) at(i int) int {
	switch {
	case o.buf == nil:
		return 0
	case o.wide:
		return int(binary.LittleEndian.Uint64(o.buf[8*i:]))
	}
	return int(int32(binary.LittleEndian.Uint32(o.buf[4*i:])))
}

// validity tells which elements of an array are null.
type validity struct {
	bits []byte // nil: none
	off  int
	all  bool      // all are
	d    *validity // of a dictionary's values
	dict func(i int) int
}

func validityOf(d arrow.ArrayData, t *values.Type) validity {
	v := validity{off: d.Offset(), all: d.DataType().ID() == arrow.NULL}
	if !v.all && d.NullN() != 0 && d.Buffers()[0] != nil && d.Buffers()[0].Len() > 0 {
		v.bits = d.Buffers()[0].Bytes()
	}
	if t != nil && t.Kind == values.Dict && d.Dictionary() != nil {
		if of := validityOf(d.Dictionary(), t.Item); of.bits != nil {
			width, keys := t.Width, d.Buffers()[1].Bytes()
			v.d, v.dict = &of, func(i int) int {
				var word [8]byte
				copy(word[:], keys[(v.off+i)*width:][:width])
				return int(binary.LittleEndian.Uint64(word[:]))
			}
		}
	}
	return v
}

func (v *validity) none() bool { return !v.all && v.bits == nil && v.d == nil }

func (v *validity) null(i int) bool {
	switch {
	case v.all, v.bits != nil && !bitutil.BitIsSet(v.bits, v.off+i):
		return true
	}
	return v.d != nil && v.d.null(v.dict(i))
}

// run is the end of the run of elements from i on, before to, that are null
// like it, or valid like it.
func (v *validity) run(i, to int) (end int, null bool) {
	null = v.null(i)
	for i++; i < to; i++ {
		if at := v.off + i; !null && v.d == nil && at%8 == 0 && i+8 <= to && v.bits[at/8] == 0xff {
			i += 7
			continue
		}
		if v.null(i) != null {
			break
		}
	}
	return i, null
}

// walk is slots of one layer: where each is in the layer's array, -1 if it is
// inside something that is null or empty, and the pair it makes so far.
type walk struct {
	at   []int
	rep  []uint8
	code []uint8
}

func newWalk(n int) *walk {
	return &walk{make([]int, 0, n), make([]uint8, 0, n), make([]uint8, 0, n)}
}

func (w *walk) add(at int, rep, code uint8) {
	w.at, w.rep, w.code = append(w.at, at), append(w.rep, rep), append(w.code, code)
}

// flatten makes the leaf of rows.
func (s *stream) flatten(pieces []piece) (*pack.Leaf, error) {
	l := &pack.Leaf{Values: pack.NewValues(s.col.Type), Claims: s.claims}
	for _, p := range pieces {
		l.Rows += int64(p.to-p.from) * s.factor
		var err error
		if len(s.steps) == 0 {
			err = s.flat(l, p)
		} else {
			err = s.nested(l, p)
		}
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

// flat appends rows of a column that is its own leaf.
func (s *stream) flat(l *pack.Leaf, p piece) error {
	v := validityOf(p.d, s.col.Type)
	n := p.to - p.from
	if v.none() {
		if l.Codes != nil {
			l.Codes = append(l.Codes, make([]uint8, n)...)
		}
		return l.Values.Append(p.d, p.from, p.to)
	}
	if l.Codes == nil {
		l.Codes = make([]uint8, l.Values.N, l.Values.N+n)
	}
	l.Values.Reserve(n)
	for i := p.from; i < p.to; {
		end, null := v.run(i, p.to)
		code := uint8(0)
		if null {
			code = nest.Null(0)
			l.Values.Zeros(end - i)
		} else if err := l.Values.Append(p.d, i, end); err != nil {
			return err
		}
		if null && !s.nullable {
			return s.nullIn(s.leafName)
		}
		for ; i < end; i++ {
			l.Codes = append(l.Codes, code)
		}
	}
	return nil
}

// nullIn is the error for a null in a field that has none.
func (s *stream) nullIn(name string) error {
	return fmt.Errorf("%w: a null in the field %q, which is not nullable", ErrInput, name)
}

// nested appends rows of a leaf inside other things, layer by layer.
func (s *stream) nested(l *pack.Leaf, p piece) error {
	w, d := newWalk(p.to-p.from), p.d
	top := uint8(s.col.Path.Lists)
	for i := p.from; i < p.to; i++ {
		w.add(i, top, 0)
	}
	lists := s.col.Path.Lists
	for _, st := range s.steps {
		v := validityOf(d, nil)
		var err error
		switch st.kind {
		case nest.Item:
			err = s.throughStruct(w, st, v)
		case nest.List:
			lists--
			w, err = s.throughList(w, st, v, d, uint8(lists))
		case nest.FixedList:
			w, err = s.throughFixed(w, st, v)
		}
		if err != nil {
			return err
		}
		if st.kind != nest.List && d.Offset() != 0 {
			scale := max(1, st.dim)
			for i, at := range w.at {
				if at >= 0 {
					w.at[i] = at + scale*d.Offset()
				}
			}
		}
		d = d.Children()[st.child]
	}
	if top > 0 {
		l.Reps = append(l.Reps, w.rep...)
	}
	return s.leaves(l, w, d)
}

// throughStruct closes the slots of null structs.
func (s *stream) throughStruct(w *walk, st step, v validity) error {
	if v.none() {
		return nil
	}
	for i, at := range w.at {
		if at >= 0 && v.null(at) {
			if !st.nullable {
				return s.nullIn(st.name)
			}
			w.at[i], w.code[i] = -1, nest.Null(st.layer)
		}
	}
	return nil
}

// throughList opens the items of lists. rep is the level of an item that goes
// on with its list.
func (s *stream) throughList(w *walk, st step, v validity, d arrow.ArrayData, rep uint8) (*walk, error) {
	o, all := offsetsOf(d, st.wide), v.none()
	most := len(w.at)
	for _, at := range w.at {
		if at >= 0 {
			most += o.at(d.Offset()+at+1) - o.at(d.Offset()+at)
		}
	}
	out := &walk{make([]int, most), make([]uint8, most), make([]uint8, most)}
	n := 0
	for i, at := range w.at {
		out.at[n], out.rep[n], out.code[n] = -1, w.rep[i], w.code[i]
		if at < 0 {
			n++
			continue
		}
		if !all && v.null(at) {
			if !st.nullable {
				return nil, s.nullIn(st.name)
			}
			out.code[n] = nest.Null(st.layer)
			n++
			continue
		}
		from, to := o.at(d.Offset()+at), o.at(d.Offset()+at+1)
		if from == to {
			out.code[n] = nest.Empty(st.layer)
			n++
			continue
		}
		items, reps := out.at[n:n+to-from], out.rep[n+1:n+to-from]
		for k := range items {
			items[k] = from + k
		}
		for k := range reps {
			reps[k] = rep
		}
		n += to - from
	}
	out.at, out.rep, out.code = out.at[:n], out.rep[:n], out.code[:n]
	return out, nil
}

// throughFixed opens the items of fixed-size lists; what is null has as many.
func (s *stream) throughFixed(w *walk, st step, v validity) (*walk, error) {
	out := newWalk(st.dim * len(w.at))
	all := v.none()
	for i, at := range w.at {
		code := w.code[i]
		if at >= 0 && !all && v.null(at) {
			if !st.nullable {
				return nil, s.nullIn(st.name)
			}
			at, code = -1, nest.Null(st.layer)
		}
		for k := range st.dim {
			item := -1
			if at >= 0 {
				item = at*st.dim + k
			}
			out.add(item, w.rep[i], code)
		}
	}
	return out, nil
}

// leaves appends the values of slots, and their codes.
func (s *stream) leaves(l *pack.Leaf, w *walk, d arrow.ArrayData) error {
	v := validityOf(d, s.col.Type)
	visible, all := s.col.Path.Visible(), v.none()
	l.Values.Reserve(len(w.at))
	from, to := 0, 0 // values that are not yet appended
	flush := func() error {
		err := l.Values.Append(d, from, to)
		from, to = 0, 0
		return err
	}
	for i, at := range w.at {
		if at >= 0 && !all && v.null(at) {
			if !s.nullable {
				return s.nullIn(s.leafName)
			}
			w.code[i], at = nest.Null(0), -1
		}
		switch {
		case at >= 0 && at == to && to > from:
			to++
			continue
		case at < 0 && w.code[i] >= visible:
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if at < 0 {
			l.Values.Zeros(1)
		} else {
			from, to = at, at+1
		}
	}
	l.Codes = append(l.Codes, w.code...)
	return flush()
}
