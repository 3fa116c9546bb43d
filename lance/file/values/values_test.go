package values

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/encoding/variable"
	"github.com/omnideck/omnideck/lance/format"
)

func builder(t *testing.T, dt arrow.DataType, budget int64) (*Builder, *memory.CheckedAllocator) {
	t.Helper()
	typ, err := TypeOf(dt)
	if err != nil {
		t.Fatal(err)
	}
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	return New(typ, mem, NewBudget(budget)), mem
}

// show finishes a builder and shows its array.
func show(t *testing.T, b *Builder) string {
	t.Helper()
	data, err := b.Finish(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Release()
	arr := array.MakeFromData(data)
	defer arr.Release()
	if d, ok := arr.(*array.Dictionary); ok {
		out := ""
		for i := range d.Len() {
			out += d.ValueStr(i) + " "
		}
		return fmt.Sprintf("%s of %d", out, d.Dictionary().Len())
	}
	return fmt.Sprint(arr)
}

func texts(t *testing.T, item *Type, vs ...string) *Dictionary {
	t.Helper()
	block := []byte{32, 0, 0, 0, byte(12 + 4*len(vs)), 0, 0, 0, 0, 0, 0, 0}
	data := ""
	for _, v := range vs {
		data += v
		block = append(block, byte(len(data)), 0, 0, 0)
	}
	v, err := variable.Block(append(block, data...), len(vs))
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewTextDictionary(item, v)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDictionariesJoin: indices into the dictionaries of several pages point
// into one that holds what is in use.
func TestDictionariesJoin(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.LargeString}
	b, mem := builder(t, dt, 1<<20)
	defer mem.AssertSize(t, 0)
	one := texts(t, b.Type.Item, "a", "unused", "b")
	two := texts(t, b.Type.Item, "b", "c")
	for _, err := range []error{
		Lookup(b, one, []uint8{0, 2, 0}), Lookup(b, two, []uint8{0, 1}), Lookup(b, one, []uint8{2}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := show(t, b); got != "a b a b c b  of 3" {
		t.Error(got)
	}
	if err := Lookup(b, one, []uint8{3}); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("an index outside: %v", err)
	}
}

// TestDictionariesOverflow: more distinct values than an index counts.
func TestDictionariesOverflow(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Uint16}
	b, mem := builder(t, dt, 1<<20)
	defer mem.AssertSize(t, 0)
	for page := range 3 {
		words := make([]byte, 200)
		idx := make([]uint8, 100)
		for i := range idx {
			idx[i], words[2*i], words[2*i+1] = uint8(i), byte(i), byte(page)
		}
		d, err := NewDictionary(b.Type.Item, 100, words)
		if err != nil {
			t.Fatal(err)
		}
		if err := Lookup(b, d, idx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Finish(nil, 0); !errors.Is(err, ErrTooLarge) {
		t.Errorf("300 values for an int8: %v", err)
	}
	b.Release()
}

// TestLookupPlain: dictionaries of columns that are none by their schema.
func TestLookupPlain(t *testing.T) {
	b, mem := builder(t, arrow.BinaryTypes.String, 1<<20)
	defer mem.AssertSize(t, 0)
	long := "seventeen letters" // longer than what is copied in one piece
	d := texts(t, b.Type, "", "x", long)
	if err := Lookup(b, d, []uint32{2, 1, 0, 2, 2}); err != nil {
		t.Fatal(err)
	}
	if got, want := show(t, b), fmt.Sprintf("[%q \"x\" \"\" %q %q]", long, long, long); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestBudget: nothing is allocated beyond it, and the error says that fewer
// rows may be read.
func TestBudget(t *testing.T) {
	for _, dt := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String,
		arrow.FixedSizeListOf(100, arrow.PrimitiveTypes.Float32)} {
		b, mem := builder(t, dt, 1000)
		if err := b.Zeros(1 << 20); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", dt, err)
		}
		if got := mem.CurrentAlloc(); got > 2000 {
			t.Errorf("%s: %d bytes allocated of a budget of 1000", dt, got)
		}
		b.Release()
		mem.AssertSize(t, 0)
	}
	b, _ := builder(t, arrow.BinaryTypes.String, math.MaxInt64)
	if err := b.Repeat(make([]byte, 1<<20), 1<<40); !errors.Is(err, ErrTooLarge) {
		t.Errorf("2^60 bytes: %v", err)
	}
	if err := b.Repeat([]byte("ab"), 1<<30); !errors.Is(err, variable.ErrTooLong) && !errors.Is(err, ErrTooLarge) {
		t.Errorf("more than 32-bit offsets count: %v", err)
	}
	b.Release()
}

// TestItemValidity: items are valid until something else is said, and those
// of later pages again.
func TestItemValidity(t *testing.T) {
	b, mem := builder(t, arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Uint8), 1<<20)
	defer mem.AssertSize(t, 0)
	add := func(bits byte, given bool) {
		p, err := b.Items.Words(3)
		if err != nil {
			t.Fatal(err)
		}
		copy(p, []byte{1, 2, 3})
		b.Step(1)
		if given {
			if err := b.Items.Valid([]byte{bits << 1}, 1, 3); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(0, false)
	add(7, true)
	add(5, true)
	add(0, false)
	add(6, true)
	if got := show(t, b); got != "[[1 2 3] [1 2 3] [1 (null) 3] [1 2 3] [(null) 2 3]]" {
		t.Error(got)
	}
}

func TestTypesRefused(t *testing.T) {
	for _, dt := range []arrow.DataType{
		arrow.ListOf(arrow.PrimitiveTypes.Int8), arrow.FixedSizeListOf(2, arrow.BinaryTypes.String),
		arrow.FixedSizeListOf(math.MaxInt32, arrow.PrimitiveTypes.Int64),
		arrow.StructOf(arrow.Field{Name: "n", Type: arrow.Null}),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.FixedWidthTypes.Boolean},
	} {
		if _, err := TypeOf(dt); !errors.Is(err, format.ErrUnsupported) {
			t.Errorf("%s: %v", dt, err)
		}
	}
}
