package value

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/schema"
)

// Append appends the value to the builder of its column, whose type is that of
// schema.Column.Arrow. A value of another kind than the column is an error, and
// nothing is appended.
func Append(b array.Builder, v Value) error {
	if v.kind == Null {
		b.AppendNull()
		return nil
	}
	ok := false
	switch b := b.(type) {
	case *array.StringBuilder:
		if ok = v.kind == Text; ok {
			b.Append(v.text)
		}
	case *array.BooleanBuilder:
		if ok = v.kind == Bool; ok {
			b.Append(v.Bool())
		}
	case *array.ListBuilder:
		if ok = v.kind == List; ok {
			return appendList(b, v)
		}
	case *array.FixedSizeListBuilder:
		if ok = v.kind == Vector && len(v.vec) == int(b.Type().(*arrow.FixedSizeListType).Len()); ok {
			b.Append(true)
			b.ValueBuilder().(*array.Float32Builder).AppendValues(v.vec, nil)
		}
	case *array.StructBuilder:
		if ok = v.kind == Blob || v.kind == BlobURI; ok {
			appendBlob(b, v)
		}
	default:
		ok = appendNumber(b, v)
	}
	if !ok {
		return fmt.Errorf("appending a value to a column of %s: found %s", b.Type(), shorten(string(v.JSON().Append(nil))))
	}
	return nil
}

func appendNumber(b array.Builder, v Value) bool {
	x, _ := v.Number()
	switch b := b.(type) {
	case *array.Int32Builder:
		return push(v.kind == Int, b.Append, int32(v.Int()))
	case *array.Int64Builder:
		return push(v.kind == Int, b.Append, v.Int())
	case *array.Uint32Builder:
		return push(v.kind == Uint, b.Append, uint32(v.bits))
	case *array.Uint64Builder:
		return push(v.kind == Uint, b.Append, v.bits)
	case *array.Float32Builder:
		return push(v.kind == Float32, b.Append, float32(x))
	case *array.Float64Builder:
		return push(v.kind == Float64, b.Append, x)
	case *array.Date32Builder:
		return push(v.kind == Date, b.Append, arrow.Date32(v.Int()))
	case *array.Date64Builder:
		return push(v.kind == DateTime, b.Append, arrow.Date64(v.Int()))
	}
	return false
}

func push[T any](fits bool, add func(T), x T) bool {
	if fits {
		add(x)
	}
	return fits
}

// appendList appends the items; the first that does not fit is an error, and
// the row then has those before it.
func appendList(b *array.ListBuilder, v Value) error {
	b.Append(true)
	for _, item := range v.items {
		if err := Append(b.ValueBuilder(), item); err != nil {
			return err
		}
	}
	return nil
}

// appendBlob fills data or uri, and leaves the other null.
func appendBlob(b *array.StructBuilder, v Value) {
	b.Append(true)
	if v.kind == Blob {
		b.FieldBuilder(0).(*array.BinaryBuilder).Append(v.bytes)
		b.FieldBuilder(1).AppendNull()
		return
	}
	b.FieldBuilder(0).AppendNull()
	b.FieldBuilder(1).(*array.StringBuilder).Append(v.text)
}

// At is the value in a row of a column of type t, as it is scanned or as Append
// makes it. A scanned blob is its descriptor, which is an error here. Text and
// bytes are copied.
func At(t schema.PropType, arr arrow.Array, row int) (Value, error) {
	if arr.IsNull(row) {
		return Value{}, nil
	}
	switch a := arr.(type) {
	case *array.List:
		if t.List {
			from, to := a.ValueOffsets(row)
			return listAt(t, a.ListValues(), int(from), int(to))
		}
	case *array.FixedSizeList:
		items, ok := a.ListValues().(*array.Float32)
		if from, to := a.ValueOffsets(row); ok && t.Scalar.Name == "Vector" && !t.List {
			return Value{kind: Vector, vec: append([]float32(nil), items.Float32Values()[from:to]...)}, nil
		}
	case *array.Struct:
		if data, ok := a.Field(0).(*array.LargeBinary); ok && t.Scalar.Name == "Blob" {
			if !data.IsNull(row) {
				return Value{kind: Blob, bytes: append([]byte(nil), data.Value(row)...)}, nil
			}
			if uri, ok := a.Field(1).(*array.String); ok && !uri.IsNull(row) {
				return Value{kind: BlobURI, text: string(append([]byte(nil), uri.Value(row)...))}, nil
			}
		}
	default:
		if v, ok := scalarAt(arr, row); ok && !t.List && v.kind == kindOf(t.Scalar.Name) {
			return v, nil
		}
	}
	return Value{}, fmt.Errorf("reading a value of type %s: found a column of %s", t.Spell(), arr.DataType())
}

func listAt(t schema.PropType, items arrow.Array, from, to int) (Value, error) {
	t.List = false
	out := Value{kind: List, items: make([]Value, 0, to-from)}
	for i := from; i < to; i++ {
		v, err := At(t, items, i)
		if err != nil {
			return Value{}, err
		}
		out.items = append(out.items, v)
	}
	return out, nil
}

func scalarAt(arr arrow.Array, row int) (Value, bool) {
	switch a := arr.(type) {
	case *array.String:
		return textOf(string(append([]byte(nil), a.Value(row)...))), true
	case *array.Boolean:
		return boolean(a.Value(row)), true
	case *array.Int32:
		return integer(Int, int64(a.Value(row))), true
	case *array.Int64:
		return integer(Int, a.Value(row)), true
	case *array.Uint32:
		return Value{kind: Uint, bits: uint64(a.Value(row))}, true
	case *array.Uint64:
		return Value{kind: Uint, bits: a.Value(row)}, true
	case *array.Float32:
		return float(Float32, float64(a.Value(row))), true
	case *array.Float64:
		return float(Float64, a.Value(row)), true
	case *array.Date32:
		return integer(Date, int64(a.Value(row))), true
	case *array.Date64:
		return integer(DateTime, int64(a.Value(row))), true
	}
	return Value{}, false
}

// kindOf is the kind of the values of a base type.
func kindOf(base string) Kind {
	switch base {
	case "String":
		return Text
	case "Bool":
		return Bool
	case "I32", "I64":
		return Int
	case "U32", "U64":
		return Uint
	case "F32":
		return Float32
	case "F64":
		return Float64
	case "Date":
		return Date
	case "DateTime":
		return DateTime
	case "Vector":
		return Vector
	}
	return Null
}
