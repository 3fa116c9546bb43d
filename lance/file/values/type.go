// Package values collects the values of a leaf straight in the layout of the
// Arrow array that they become: contiguous words, bits, or offsets and bytes.
//
// A leaf is whatever one physical column holds: a primitive, text, a vector
// (a fixed-size list of primitives, also nested), a packed struct, or an Arrow
// dictionary. Which of its values are null is not known here: levels say that,
// and null slots have some value, whatever is stored for them.
//
// Decoders make room first (an error when the Budget is used up) and then
// write without asking.
package values

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/format"
)

// Kind is how the values of a leaf are laid out.
type Kind uint8

// The kinds of leaves.
const (
	Null   Kind = iota // no values at all
	Fixed              // words of Width bytes
	Bool               // bits
	Bytes              // offsets (64-bit if Large) and bytes
	Vector             // Dim Items each
	Packed             // one value of every one of Fields
	Dict               // indices of Width bytes into values of type Item
)

// Type is the layout of a leaf.
type Type struct {
	Kind   Kind
	Arrow  arrow.DataType
	Width  int
	Large  bool
	Dim    int
	Item   *Type
	Fields []*Type
}

// maxVector bounds the bytes of one vector.
const maxVector = 1 << 30

// TypeOf is the layout of an Arrow type that is stored in one column. A struct
// is a packed one.
func TypeOf(dt arrow.DataType) (*Type, error) {
	switch t := dt.(type) {
	case *arrow.NullType:
		return &Type{Kind: Null, Arrow: dt}, nil
	case *arrow.BooleanType:
		return &Type{Kind: Bool, Arrow: dt}, nil
	case *arrow.StringType, *arrow.BinaryType:
		return &Type{Kind: Bytes, Arrow: dt}, nil
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return &Type{Kind: Bytes, Arrow: dt, Large: true}, nil
	case *arrow.FixedSizeListType:
		return vectorType(t)
	case *arrow.StructType:
		return packedType(t)
	case *arrow.DictionaryType:
		item, err := TypeOf(t.ValueType)
		if err != nil {
			return nil, err
		}
		if item.Kind != Fixed && item.Kind != Bytes {
			return nil, format.Unsupportedf("a dictionary of %s", t.ValueType)
		}
		return &Type{Kind: Dict, Arrow: dt, Width: t.IndexType.(arrow.FixedWidthDataType).Bytes(), Item: item}, nil
	case arrow.FixedWidthDataType:
		if t.BitWidth() <= 0 || t.BitWidth()%8 != 0 {
			return nil, format.Unsupportedf("a column of %s, of %d bits", dt, t.BitWidth())
		}
		return &Type{Kind: Fixed, Arrow: dt, Width: t.BitWidth() / 8}, nil
	}
	return nil, format.Unsupportedf("a column of %s", dt)
}

func vectorType(t *arrow.FixedSizeListType) (*Type, error) {
	item, err := TypeOf(t.Elem())
	if err != nil {
		return nil, err
	}
	v := &Type{Kind: Vector, Arrow: t, Dim: int(t.Len()), Item: item}
	switch item.Kind {
	case Fixed, Bool, Vector:
	default:
		return nil, format.Unsupportedf("a column of %s", t)
	}
	if v.Dim <= 0 || v.Size() > maxVector || v.Size() <= 0 {
		return nil, format.Unsupportedf("a column of %s, with vectors of %d bytes", t, v.Size())
	}
	return v, nil
}

func packedType(t *arrow.StructType) (*Type, error) {
	p := &Type{Kind: Packed, Arrow: t}
	for _, f := range t.Fields() {
		c, err := TypeOf(f.Type)
		if err != nil {
			return nil, err
		}
		if c.Kind == Null || c.Kind == Dict {
			return nil, format.Unsupportedf("a packed struct with a field of %s", f.Type)
		}
		p.Fields = append(p.Fields, c)
	}
	return p, nil
}

// Size is about the bytes of a value: exact for fixed widths (a vector of
// booleans rounded up), the fixed part of others.
func (t *Type) Size() int {
	switch t.Kind {
	case Fixed, Dict:
		return t.Width
	case Bool:
		return 1
	case Bytes:
		return t.offsetSize()
	case Vector:
		if t.Item.Kind == Bool {
			return (t.Dim + 7) / 8
		}
		n := int64(t.Dim) * int64(t.Item.Size())
		return int(min(n, 2*maxVector))
	case Packed:
		n := 0
		for _, f := range t.Fields {
			n += f.Size()
		}
		return n
	}
	return 0
}

func (t *Type) offsetSize() int {
	if t.Large {
		return 8
	}
	return 4
}
