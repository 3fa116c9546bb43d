// Package nest turns repetition and definition levels into the structure of
// Arrow arrays: validity, lengths and offsets of every layer of a leaf.
//
// # Layers
//
// The path from a leaf to the root of its column is a row of layers, innermost
// first: the leaf, then one for each struct, list (also large list and map)
// and fixed-size list of structs around it. A map's entries are a struct.
//
// # Pairs
//
// A leaf is walked once; each leaf slot, and each list that has no items,
// gives one pair (rep, def).
//
//   - rep is how many list layers begin a new list here, counted from inside.
//     Equal to the number of list layers it begins a row, 0 goes on with the
//     innermost list.
//   - def says what is missing: 0 nothing; else the outermost layer at this
//     place that is null, or the list that is empty.
//
// In pages the number of a def level depends on the kinds of the page's
// layers. Here it does not: Null(i) and Empty(i) are the codes of layer i, so
// that pages of one column can follow one another. Map is the table from one
// to the other.
//
// # From pairs to arrays
//
// With rho(i) the number of list layers inside layer i, and origin the layer
// that a code belongs to, a pair is an element of layer i if
//
//	rep >= rho(i) + (1 if i is a list)     the outermost such i is hi
//	no list j with i < j <= origin         the innermost such i is lo
//
// so the elements of a pair are the layers lo to hi. One is null if i <=
// origin, unless the code says that it is the empty one. The offset of a list
// is the number of elements of the layer inside it that came before. The
// elements of the leaf are its values, one by one; a pair without one (lo > 0)
// is invisible. A fixed-size list of dimension D, and what is outside it,
// takes only every D-th element of the layer inside it.
//
// Example, list<i32> [[1,2], null, [], [null,3], [4]] (layers 0 leaf, 1 list):
//
//	rep  1 0 1       1        1       0 1
//	def  0 0 Null(1) Empty(1) Null(0) 0 0
//
// gives offsets 0 2 2 2 4 5, list validity 1 0 1 1 1, leaf validity 1 1 0 1 1.
package nest

import (
	"fmt"

	"github.com/omnideck/omnideck/lance/format"
)

// Kind is what a layer is in the schema.
type Kind uint8

// The kinds of layers.
const (
	Item      Kind = iota // a leaf or a struct
	List                  // list, large list or map
	FixedList             // fixed-size list of structs
)

// MaxLayers is the deepest nesting that is read.
const MaxLayers = 64

// Layer is one layer of a leaf's path.
type Layer struct {
	Kind Kind
	Dim  int  // of a FixedList
	Wide bool // a List with 64-bit offsets
}

// Path is the layers of a leaf, innermost first, with what follows from them.
// It does not change after NewPath.
type Path struct {
	Layers []Layer
	Lists  int // number of list layers; the rep level that begins a row
	fixed  bool
	hi     []uint8  // by rep level
	lo     []uint8  // by code
	nulls  []uint64 // by code: bit i set if an element of layer i is null
	first  int      // the innermost list layer, or len(Layers)
}

// NewPath prepares the tables of a path.
func NewPath(layers []Layer) (*Path, error) {
	n := len(layers)
	if n == 0 || n > MaxLayers {
		return nil, format.Unsupportedf("%d layers of nesting; 1 to %d are read", n, MaxLayers)
	}
	p := &Path{Layers: layers, first: n}
	for i, l := range layers {
		if l.Kind == List {
			p.hi = append(p.hi, uint8(i-1))
			p.Lists++
			p.first = min(p.first, i)
		}
		p.fixed = p.fixed || l.Kind == FixedList
	}
	p.hi = append(p.hi, uint8(n-1))
	p.tables()
	return p, nil
}

// tables fills what is looked up by code.
func (p *Path) tables() {
	n := len(p.Layers)
	p.lo = make([]uint8, 2*n+1)
	p.nulls = make([]uint64, 2*n+1)
	list := 0
	for i, l := range p.Layers {
		if l.Kind == List {
			list = i
		}
		upto := ^uint64(0) >> (63 - i) // layers 0 to i
		p.lo[Null(i)], p.lo[Empty(i)] = uint8(list), uint8(list)
		p.nulls[Null(i)] = upto
		p.nulls[Empty(i)] = upto &^ (1 << i)
	}
}

// Null is the code of a null in layer i.
func Null(i int) uint8 { return uint8(1 + 2*i) }

// Empty is the code of an empty list in layer i.
func Empty(i int) uint8 { return uint8(2 + 2*i) }

// Visible is the limit of the codes of pairs that have a value: these are
// below it.
func (p *Path) Visible() uint8 { return uint8(1 + 2*p.first) }

// RowFactor is the number of pair-groups that a row has: the product of the
// dimensions of fixed-size lists of structs outside every list.
func (p *Path) RowFactor() (int64, error) {
	f := int64(1)
	for i := len(p.Layers) - 1; i >= 0 && p.Layers[i].Kind != List; i-- {
		if p.Layers[i].Kind != FixedList {
			continue
		}
		if p.Layers[i].Dim <= 0 {
			return 0, format.Unsupportedf("a fixed-size list of structs of dimension %d", p.Layers[i].Dim)
		}
		if f *= int64(p.Layers[i].Dim); f > 1<<31 {
			return 0, format.Unsupportedf("fixed-size lists of structs with %d items a row", f)
		}
	}
	return f, nil
}

// LayerKind is a layer of a page, by its number in the format: what occurs in
// the data of that page.
type LayerKind int

// The layer kinds of pages.
const (
	AllValidItem     LayerKind = 1
	AllValidList     LayerKind = 2
	NullableItem     LayerKind = 3
	NullableList     LayerKind = 4
	EmptyableList    LayerKind = 5
	NullAndEmptyList LayerKind = 6
)

// Map is the table from a page's def levels to codes.
type Map struct {
	Codes      []uint8 // by def level of the page; level 0 is code 0
	MaxVisible int     // pairs with a def level up to this one have a value
}

// Map makes the table of a page with the given layers, innermost first.
func (p *Path) Map(kinds []LayerKind) (*Map, error) {
	if len(kinds) != len(p.Layers) {
		return nil, format.Corruptf("a page of %d layers, where the schema has %d", len(kinds), len(p.Layers))
	}
	m := &Map{Codes: []uint8{0}}
	for i, k := range kinds {
		if isList := p.Layers[i].Kind == List; k < AllValidItem || k > NullAndEmptyList ||
			isList != (k != AllValidItem && k != NullableItem) {
			return nil, format.Corruptf("layer %d of a page is of kind %d, which does not fit the schema", i, k)
		}
		if i == p.first {
			m.MaxVisible = len(m.Codes) - 1
		}
		switch k {
		case NullableItem, NullableList:
			m.Codes = append(m.Codes, Null(i))
		case EmptyableList:
			m.Codes = append(m.Codes, Empty(i))
		case NullAndEmptyList:
			m.Codes = append(m.Codes, Null(i), Empty(i))
		}
	}
	if p.first == len(p.Layers) {
		m.MaxVisible = len(m.Codes) - 1
	}
	return m, nil
}

// String names a layer kind as the format's documents do.
func (k LayerKind) String() string {
	switch k {
	case AllValidItem:
		return "all valid item"
	case AllValidList:
		return "all valid list"
	case NullableItem:
		return "nullable item"
	case NullableList:
		return "nullable list"
	case EmptyableList:
		return "emptyable list"
	case NullAndEmptyList:
		return "null and empty list"
	}
	return fmt.Sprintf("layer kind %d", int(k))
}
