package nest

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/format"
)

// Levels are the pairs of a run of rows.
type Levels struct {
	N   int     // pairs
	Rep []uint8 // rep levels; nil: every pair begins a row
	Def []uint8 // codes; nil: all 0
}

// Shape is the structure of one layer. Its buffers belong to the caller.
type Shape struct {
	Len      int
	Nulls    int
	Validity *memory.Buffer // bit i set: element i is valid; nil without nulls
	Offsets  *memory.Buffer // of a list: Len+1 of 32 or, if wide, 64 bits
}

// Release gives back the buffers that were not taken out of the shapes.
func Release(shapes []Shape) {
	for i := range shapes {
		for _, b := range []**memory.Buffer{&shapes[i].Validity, &shapes[i].Offsets} {
			if *b != nil {
				(*b).Release()
				*b = nil
			}
		}
	}
}

// Build makes the shapes of all layers, innermost first. Levels must be in
// range for the path, as Map and the rep levels' own limit ensure.
func (p *Path) Build(lv *Levels, mem memory.Allocator) ([]Shape, error) {
	if lv.Rep != nil && lv.N > 0 && int(lv.Rep[0]) != p.Lists {
		return nil, format.Corruptf("a page begins with repetition level %d, which continues a row", lv.Rep[0])
	}
	if int64(lv.N) >= math.MaxInt32 {
		return nil, format.Unsupportedf("%d level pairs in one batch; read fewer rows at once", lv.N)
	}
	shapes, err := p.count(lv)
	if err != nil {
		return nil, err
	}
	for i := range shapes {
		s := &shapes[i]
		if s.Nulls > 0 {
			s.Validity = zeroed(mem, (s.Len+7)/8)
		}
		if p.Layers[i].Kind == List {
			s.Offsets = memory.NewResizableBuffer(mem)
			s.Offsets.Resize((s.Len + 1) * p.offsetSize(i))
		}
	}
	switch {
	case p.Lists == 0 && !p.fixed:
		for i := range shapes {
			if shapes[i].Nulls > 0 {
				validBelow(shapes[i].Validity.Bytes(), lv.Def, Null(i))
			}
		}
	case p.isOneList() && !p.Layers[1].Wide:
		p.oneList(lv, shapes)
	default:
		p.walk(lv, shapes)
	}
	return shapes, p.trim(shapes)
}

// isOneList tells whether the path is a list of leaves.
func (p *Path) isOneList() bool { return len(p.Layers) == 2 && p.Layers[1].Kind == List }

func (p *Path) offsetSize(i int) int {
	if p.Layers[i].Wide {
		return 8
	}
	return 4
}

func zeroed(mem memory.Allocator, n int) *memory.Buffer {
	b := memory.NewResizableBuffer(mem)
	b.Resize(n)
	clear(b.Bytes())
	return b
}

// count finds the length and number of nulls of every layer. With fixed-size
// lists they are upper bounds, set right by trim.
func (p *Path) count(lv *Levels) ([]Shape, error) {
	shapes := make([]Shape, len(p.Layers))
	if p.Lists == 0 && !p.fixed {
		p.countFlat(lv, shapes)
		return shapes, nil
	}
	if p.isOneList() {
		if !countOne(lv, shapes) {
			return nil, format.Corruptf("a level pair without a value that begins no list")
		}
		return shapes, nil
	}
	add := func(rep, def uint8, n int) error {
		hi, lo := p.hi[rep], p.lo[def]
		if lo > hi {
			return format.Corruptf("a level pair (%d, %d) that neither begins a list nor holds a value", rep, def)
		}
		for i := lo; i <= hi; i++ {
			shapes[i].Len += n
			shapes[i].Nulls += n * int(p.nulls[def]>>i&1)
		}
		return nil
	}
	if lv.Def == nil && lv.Rep == nil {
		return shapes, add(uint8(p.Lists), 0, lv.N)
	}
	seen := make([]int, (p.Lists+1)*len(p.lo))
	switch {
	case lv.Rep == nil:
		tally := seen[p.Lists*len(p.lo):]
		for _, d := range lv.Def[:lv.N] {
			tally[d]++
		}
	case lv.Def == nil:
		for _, r := range lv.Rep[:lv.N] {
			seen[int(r)*len(p.lo)]++
		}
	default:
		for i, r := range lv.Rep[:lv.N] {
			seen[int(r)*len(p.lo)+int(lv.Def[i])]++
		}
	}
	for k, n := range seen {
		if n == 0 {
			continue
		}
		if err := add(uint8(k/len(p.lo)), uint8(k%len(p.lo)), n); err != nil {
			return nil, err
		}
	}
	return shapes, nil
}

// oneList is walk for a list of leaves, by far the most common one. It has no
// branches that depend on the data: what is written for a pair that begins no
// list, or has no value, is written again by the next that does.
func (p *Path) oneList(lv *Levels, shapes []Shape) {
	offsets := arrow.Int32Traits.CastFromBytes(shapes[1].Offsets.Bytes())
	n, rep, def := lv.N, lv.Rep, lv.Def
	switch {
	case rep == nil && def == nil:
		for i := range offsets {
			offsets[i] = int32(i)
		}
		return
	case rep == nil:
		rep = make([]uint8, n)
		for i := range rep {
			rep[i] = 1
		}
	case def == nil:
		list := 0
		for i, r := range rep[:n] {
			offsets[list] = int32(i)
			list += int(r)
		}
		offsets[list] = int32(n)
		return
	}
	var value [256]uint8 // 1 for codes of pairs that have a value
	value[0], value[Null(0)] = 1, 1
	list, items := 0, 0
	rep, def = rep[:n], def[:n]
	for i, r := range rep {
		offsets[list] = int32(items)
		list += int(r)
		items += int(value[def[i]])
	}
	offsets[list] = int32(items)
	if bits := bitmapOf(&shapes[0]); bits != nil {
		items = 0
		for _, d := range def {
			if d > Null(0) {
				continue
			}
			bits[items>>3] |= (1 - d) << (items & 7)
			items++
		}
	}
	if bits := bitmapOf(&shapes[1]); bits != nil {
		list = 0
		for i, r := range rep {
			if r == 0 {
				continue
			}
			if def[i] != Null(1) {
				bits[list>>3] |= 1 << (list & 7)
			}
			list++
		}
	}
}

func bitmapOf(s *Shape) []byte {
	if s.Validity == nil {
		return nil
	}
	return s.Validity.Bytes()
}

// layerState is what walk fills of one layer.
type layerState struct {
	len, nulls int
	bits       []byte
	list       bool
	dim        int
	off32      []int32
	off64      []int64
}

// walk is the general algorithm.
func (p *Path) walk(lv *Levels, shapes []Shape) {
	st := make([]layerState, len(shapes))
	for i := range st {
		l := p.Layers[i]
		st[i] = layerState{bits: bitmapOf(&shapes[i]), list: l.Kind == List}
		if l.Kind == FixedList {
			st[i].dim = l.Dim
		}
		if st[i].list && l.Wide {
			st[i].off64 = arrow.Int64Traits.CastFromBytes(shapes[i].Offsets.Bytes())
		} else if st[i].list {
			st[i].off32 = arrow.Int32Traits.CastFromBytes(shapes[i].Offsets.Bytes())
		}
	}
	for k := range lv.N {
		hi, lo, nulls := len(st)-1, 0, uint64(0)
		if lv.Rep != nil {
			hi = int(p.hi[lv.Rep[k]])
		}
		if lv.Def != nil {
			lo, nulls = int(p.lo[lv.Def[k]]), p.nulls[lv.Def[k]]
		}
		if p.fixed {
			hi = clip(st, lo, hi)
		}
		for i := hi; i >= lo; i-- {
			st[i].append(st, i, nulls>>i&1 != 0)
		}
	}
	for i := range st {
		if st[i].list {
			st[i].border(st[i-1].len)
		}
		shapes[i].Len, shapes[i].Nulls = st[i].len, st[i].nulls
	}
}

// clip lowers hi to below the first fixed-size list that this pair is not the
// first item of.
func clip(st []layerState, lo, hi int) int {
	for i := lo + 1; i <= hi; i++ {
		if st[i].dim > 0 && st[i-1].len%st[i].dim != 0 {
			return i - 1
		}
	}
	return hi
}

// border writes the next offset.
func (s *layerState) border(at int) {
	if s.off64 != nil {
		s.off64[s.len] = int64(at)
	} else {
		s.off32[s.len] = int32(at)
	}
}

// append adds an element to layer i.
func (s *layerState) append(st []layerState, i int, null bool) {
	if s.list {
		s.border(st[i-1].len)
	}
	if null {
		s.nulls++
	} else if s.bits != nil {
		s.bits[s.len>>3] |= 1 << (s.len & 7)
	}
	s.len++
}

// trim cuts the buffers to the lengths found.
func (p *Path) trim(shapes []Shape) error {
	for i := range shapes {
		s := &shapes[i]
		if s.Validity != nil && s.Nulls == 0 {
			s.Validity.Release()
			s.Validity = nil
		}
		if s.Validity != nil {
			s.Validity.ResizeNoShrink((s.Len + 7) / 8)
		}
		if s.Offsets != nil {
			s.Offsets.ResizeNoShrink((s.Len + 1) * p.offsetSize(i))
		}
		if l := p.Layers[i]; l.Kind == FixedList && shapes[i-1].Len != s.Len*l.Dim {
			err := format.Corruptf("%d items for %d fixed-size lists of %d", shapes[i-1].Len, s.Len, l.Dim)
			Release(shapes)
			return err
		}
	}
	return nil
}
