package nest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// The tests emit the pairs of random nested values by the recursive rule of a
// writer and compare what Build makes of them with the values themselves.

// elem is an element of a layer: null, or a list's children, or the one child
// of an item layer.
type elem struct {
	null  bool
	items []*elem
}

type emitter struct {
	layers []Layer
	rho    []int
	lv     Levels
	maxrep int
}

func newEmitter(layers []Layer) *emitter {
	e := &emitter{layers: layers}
	for _, l := range layers {
		e.rho = append(e.rho, e.maxrep)
		if l.Kind == List {
			e.maxrep++
		}
	}
	return e
}

func (e *emitter) out(r int, code uint8) {
	e.lv.Rep = append(e.lv.Rep, uint8(r))
	e.lv.Def = append(e.lv.Def, code)
	e.lv.N++
}

func (e *emitter) emit(i int, x *elem, r int) {
	switch {
	case x.null && e.layers[i].Kind != FixedList:
		e.out(r, Null(i))
	case e.layers[i].Kind == List && len(x.items) == 0:
		e.out(r, Empty(i))
	case i == 0:
		e.out(r, 0)
	case e.layers[i].Kind == FixedList && x.null:
		for range e.layers[i].Dim {
			e.out(r, Null(i))
		}
	default:
		for k, c := range x.items {
			rep := r
			if k > 0 && e.layers[i].Kind == List {
				rep = e.rho[i]
			}
			e.emit(i-1, c, rep)
		}
	}
}

func random(rng *rand.Rand, layers []Layer, i int) *elem {
	x := &elem{null: rng.IntN(5) == 0}
	n := 1
	switch layers[i].Kind {
	case List:
		n = rng.IntN(4)
	case FixedList:
		n = layers[i].Dim
	}
	if x.null || i == 0 {
		return x
	}
	for range n {
		x.items = append(x.items, random(rng, layers, i-1))
	}
	return x
}

// want is the expected shape of each layer as text.
func want(layers []Layer, rows []*elem) []string {
	out := make([]string, len(layers))
	level := rows
	for i := len(layers) - 1; i >= 0; i-- {
		var next []*elem
		offsets, valid := []int{0}, []int{}
		for _, x := range level {
			v := 1
			if x == nil || x.null {
				v = 0
			}
			valid = append(valid, v)
			switch {
			case layers[i].Kind == List:
				if v == 1 {
					next = append(next, x.items...)
				}
				offsets = append(offsets, len(next))
			case v == 1:
				next = append(next, x.items...)
			case layers[i].Kind == FixedList:
				next = append(next, make([]*elem, layers[i].Dim)...)
			default:
				next = append(next, nil) // a null struct has a null child
			}
		}
		if layers[i].Kind != List {
			offsets = nil
		}
		out[i] = fmt.Sprint(len(level), valid, offsets)
		level = next
	}
	return out
}

func got(layers []Layer, shapes []Shape) []string {
	out := make([]string, len(layers))
	for i, s := range shapes {
		valid := make([]int, s.Len)
		for k := range valid {
			valid[k] = 1
			if s.Validity != nil {
				valid[k] = int(s.Validity.Bytes()[k/8] >> (k % 8) & 1)
			}
		}
		var offsets []int
		if s.Offsets != nil && layers[i].Wide {
			for _, o := range arrow.Int64Traits.CastFromBytes(s.Offsets.Bytes()) {
				offsets = append(offsets, int(o))
			}
		} else if s.Offsets != nil {
			for _, o := range arrow.Int32Traits.CastFromBytes(s.Offsets.Bytes()) {
				offsets = append(offsets, int(o))
			}
		}
		out[i] = fmt.Sprint(s.Len, valid, offsets)
	}
	return out
}

func TestBuildRandom(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	paths := [][]Layer{
		{{}},
		{{}, {}, {}},
		{{}, {Kind: List}},
		{{}, {Kind: List, Wide: true}},
		{{}, {}, {Kind: List}, {}},
		{{}, {Kind: List}, {Kind: List}},
		{{}, {Kind: List}, {}, {Kind: List, Wide: true}, {}, {Kind: List}},
		{{}, {Kind: FixedList, Dim: 3}},
		{{}, {}, {Kind: FixedList, Dim: 2}, {}},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, layers := range paths {
		p, err := NewPath(layers)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			var rows []*elem
			e := newEmitter(layers)
			for range rng.IntN(40) {
				x := random(rng, layers, len(layers)-1)
				rows = append(rows, x)
				e.emit(len(layers)-1, x, e.maxrep)
			}
			if p.fixed {
				e.lv.Rep = nil
				e.lv, rows = fixedOnly(layers, rows)
			}
			if p.Lists == 0 {
				e.lv.Rep = nil
			}
			shapes, err := p.Build(&e.lv, mem)
			if err != nil {
				t.Fatalf("%v: %v", layers, err)
			}
			w, g := want(layers, rows), got(layers, shapes)
			for i := range w {
				if w[i] != g[i] {
					t.Fatalf("layers %v, layer %d: got %s, want %s\nrep %v\ndef %v", layers, i, g[i], w[i], e.lv.Rep, e.lv.Def)
				}
			}
			Release(shapes)
		}
	}
}

// fixedOnly emits rows of fixed-size lists: one pair for each item, also below
// nulls.
func fixedOnly(layers []Layer, rows []*elem) (Levels, []*elem) {
	var lv Levels
	var rec func(i int, x *elem, code uint8)
	rec = func(i int, x *elem, code uint8) {
		if code == 0 && x.null {
			code = Null(i)
		}
		if i == 0 {
			lv.Def = append(lv.Def, code)
			lv.N++
			return
		}
		n := 1
		if layers[i].Kind == FixedList {
			n = layers[i].Dim
		}
		for k := range n {
			var c *elem
			if code == 0 {
				c = x.items[k]
			}
			rec(i-1, c, code)
		}
	}
	for _, x := range rows {
		rec(len(layers)-1, x, 0)
	}
	return lv, rows
}

func TestBuildWithoutLevels(t *testing.T) {
	p, _ := NewPath([]Layer{{}, {Kind: List}, {}})
	shapes, err := p.Build(&Levels{N: 3}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	defer Release(shapes)
	if g := got(p.Layers, shapes); g[1] != "3 [1 1 1] [0 1 2 3]" || g[0] != "3 [1 1 1] []" {
		t.Error(g)
	}
}

func TestBuildRefuses(t *testing.T) {
	p, _ := NewPath([]Layer{{}, {Kind: List}, {Kind: List}})
	for _, lv := range []Levels{
		{N: 1, Rep: []uint8{0}, Def: []uint8{0}},              // nothing to continue
		{N: 2, Rep: []uint8{2, 0}, Def: []uint8{0, Null(2)}},  // a null list that does not begin
		{N: 2, Rep: []uint8{2, 1}, Def: []uint8{0, Empty(2)}}, // the outer list does not begin
	} {
		if _, err := p.Build(&lv, memory.DefaultAllocator); err == nil {
			t.Errorf("%v %v: no error", lv.Rep, lv.Def)
		}
	}
	if _, err := NewPath(make([]Layer, MaxLayers+1)); err == nil {
		t.Error("too many layers: no error")
	}
}

func TestMap(t *testing.T) {
	p, _ := NewPath([]Layer{{}, {}, {Kind: List}, {}})
	m, err := p.Map([]LayerKind{NullableItem, AllValidItem, NullAndEmptyList, NullableItem})
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprint(m.Codes, m.MaxVisible); s != fmt.Sprint([]uint8{0, Null(0), Null(2), Empty(2), Null(3)}, 1) {
		t.Error(s)
	}
	for _, kinds := range [][]LayerKind{
		{NullableItem}, {NullableItem, 1, 1, 1}, {1, 1, 2, 2}, {0, 1, 2, 1}, {1, 1, 7, 1},
	} {
		if _, err := p.Map(kinds); err == nil {
			t.Errorf("%v: no error", kinds)
		}
	}
}
