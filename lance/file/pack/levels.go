package pack

import (
	"github.com/omnideck/omnideck/lance/encoding/bitpack"
	"github.com/omnideck/omnideck/lance/encoding/rle"
	"github.com/omnideck/omnideck/lance/file/nest"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// levels are the levels of a page, as its layers number them.
type levels struct {
	pairs, valid int // pairs in all, and those whose value is valid
	kinds        []enc21pb.RepDefLayer
	rep, def     []uint16 // nil: none are stored
	maxRep       uint16
	maxDef       uint16
	visible      uint16 // def levels up to this have a value
	hidden       int    // pairs without a value
	masked       bool   // a struct outside a list is null
	slots        []uint8
}

// newLevels numbers the levels that occur.
func newLevels(l *Leaf, path *nest.Path) *levels {
	lv := &levels{pairs: l.Values.N, maxRep: uint16(path.Lists)}
	var seen [256]int
	if l.Codes == nil {
		seen[0] = lv.pairs
		if l.Reps != nil {
			lv.pairs = len(l.Reps)
		}
	} else {
		lv.pairs = len(l.Codes)
		for _, c := range l.Codes {
			seen[c]++
		}
	}
	lv.valid = seen[0]
	if l.Codes == nil {
		lv.valid = lv.pairs
	}
	var number [256]uint16
	lv.kindsOf(path, l.Claims, &seen, &number)
	if lv.maxDef > 0 { // without codes all are 0
		lv.def = make([]uint16, lv.pairs)
		for i, c := range l.Codes {
			lv.def[i] = number[c]
		}
	}
	if path.Lists > 0 {
		lv.rep = make([]uint16, lv.pairs)
		for i, r := range l.Reps {
			lv.rep[i] = uint16(r)
		}
	}
	lv.hidden = lv.pairs - l.Values.N
	lv.slots = slotsOf(l, lv, path.Visible())
	return lv
}

// kindsOf finds the kind of every layer and gives a number to each code that
// was seen or claimed.
func (lv *levels) kindsOf(path *nest.Path, claims []bool, seen *[256]int, number *[256]uint16) {
	next := func(code uint8) {
		lv.maxDef++
		number[code] = lv.maxDef
	}
	inside, lists := true, path.Lists // no list layer came yet
	nulls := nullLayers(path, claims, seen)
	for i, layer := range path.Layers {
		null, empty := nulls[i], layer.Kind == nest.List && (claims != nil || seen[nest.Empty(i)] > 0)
		if layer.Kind == nest.List {
			if inside {
				lv.visible, inside = lv.maxDef, false
			}
			lists--
		}
		kind := nest.AllValidItem
		switch {
		case layer.Kind == nest.List && null && empty:
			kind = nest.NullAndEmptyList
		case layer.Kind == nest.List && null:
			kind = nest.NullableList
		case layer.Kind == nest.List && empty:
			kind = nest.EmptyableList
		case layer.Kind == nest.List:
			kind = nest.AllValidList
		case null:
			kind = nest.NullableItem
		}
		lv.masked = lv.masked || kind == nest.NullableItem && lists < path.Lists
		if null {
			next(nest.Null(i))
		}
		if empty {
			next(nest.Empty(i))
		}
		lv.kinds = append(lv.kinds, enc21pb.RepDefLayer(kind))
	}
	if inside {
		lv.visible = lv.maxDef
	}
}

// nullLayers tells which layers have nulls. What lies in a null struct, up to
// the first list, is null with it: the reader of Lance 10 counts on layers that
// say so, although no pair has their levels.
func nullLayers(path *nest.Path, claims []bool, seen *[256]int) []bool {
	out, within := make([]bool, len(path.Layers)), false
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = within || seen[nest.Null(i)] > 0 || claims != nil && claims[i]
		within = out[i] && path.Layers[i].Kind != nest.List
	}
	return out
}

// slotsOf is the code of every value; nil if all are valid.
func slotsOf(l *Leaf, lv *levels, visible uint8) []uint8 {
	switch {
	case lv.valid == l.Values.N:
		return nil
	case lv.hidden == 0:
		return l.Codes
	}
	out := make([]uint8, 0, l.Values.N)
	for _, c := range l.Codes {
		if c < visible {
			out = append(out, c)
		}
	}
	return out
}

// words is a way to keep words in blocks.
type words[T bitpack.Word] struct {
	how   block
	width int
}

type block uint8

const (
	flat block = iota
	inline
	outOfLine
	runs
)

// chooseWords chooses the smallest block for values that are cut into chunks.
func chooseWords[T bitpack.Word](v []T, chunks int) words[T] {
	size := bitpack.Bits[T]() / 8
	best, least := words[T]{how: flat}, len(v)*size
	width := bitpack.Width(v)
	packed := words[T]{outOfLine, width}
	n := max(len(v)/bitpack.Group, chunks)*bitpack.Size(width) + len(v)%bitpack.Group*size
	if len(v) <= bitpack.Group {
		packed.how, n = inline, size+bitpack.Size(width)
	}
	if n < least {
		best, least = packed, n
	}
	if n := chunks*8 + rle.Runs(v, max(1, len(v)))*(size+1); n < least {
		best = words[T]{how: runs}
	}
	return best
}

func (w words[T]) append(dst []byte, v []T) []byte {
	switch w.how {
	case inline:
		return bitpack.AppendInline(dst, v)
	case outOfLine:
		return bitpack.AppendOutOfLine(dst, v, w.width)
	case runs:
		return rle.AppendBlock(dst, v)
	}
	return append(dst, bytesOf(v)...)
}

func (w words[T]) encoding() *enc21pb.CompressiveEncoding {
	bits := uint64(bitpack.Bits[T]())
	switch w.how {
	case inline:
		return packedOf(bits)
	case outOfLine:
		return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_OutOfLineBitpacking{
			OutOfLineBitpacking: &enc21pb.OutOfLineBitpacking{UncompressedBitsPerValue: bits, Values: flatOf(uint64(w.width))}}}
	case runs:
		return runsOf(bits)
	}
	return flatOf(bits)
}
