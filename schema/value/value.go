package value

import (
	"encoding/base64"
	"math"

	"github.com/omnideck/omnideck/internal/ojson"
)

// Kind says what a Value holds.
type Kind uint8

// The kinds.
const (
	Null     Kind = iota
	Text          // String, enum
	Bool          // Bool
	Int           // I32, I64
	Uint          // U32, U64
	Float32       // F32
	Float64       // F64
	Date          // days since 1970
	DateTime      // milliseconds since 1970
	Vector
	List
	Blob    // bytes
	BlobURI // where the bytes are
)

// Value is one value. The zero value is null. Values are not changed once made.
type Value struct {
	kind  Kind
	bits  uint64 // of a number, a boolean, a date
	text  string
	bytes []byte
	vec   []float32
	items []Value
}

// Kind of the value.
func (v Value) Kind() Kind { return v.kind }

// Text of a String, or the URI of a blob.
func (v Value) Text() string { return v.text }

// Bool is a Bool.
func (v Value) Bool() bool { return v.bits != 0 }

// Int is an Int, or a Date in days or a DateTime in milliseconds.
func (v Value) Int() int64 { return int64(v.bits) }

// Uint is a Uint.
func (v Value) Uint() uint64 { return v.bits }

// Bytes of a Blob.
func (v Value) Bytes() []byte { return v.bytes }

// Floats of a Vector.
func (v Value) Floats() []float32 { return v.vec }

// Items of a List.
func (v Value) Items() []Value { return v.items }

// Number is the double nearest to a number; ok is false of anything else.
func (v Value) Number() (x float64, ok bool) {
	switch v.kind {
	case Int:
		return float64(v.Int()), true
	case Uint:
		return float64(v.bits), true
	case Float32, Float64:
		return math.Float64frombits(v.bits), true
	}
	return 0, false
}

// textOf and the like make values.
func textOf(s string) Value { return Value{kind: Text, text: s} }

func integer(kind Kind, n int64) Value { return Value{kind: kind, bits: uint64(n)} }

func boolean(b bool) Value {
	if b {
		return Value{kind: Bool, bits: 1}
	}
	return Value{kind: Bool}
}

func float(kind Kind, x float64) Value { return Value{kind: kind, bits: math.Float64bits(x)} }

// JSON is what export prints of the value: dates and times as numbers, a blob as
// "base64:…" or its URI. A number that is not finite is null.
func (v Value) JSON() ojson.Value {
	switch v.kind {
	case Text, BlobURI:
		return ojson.Str(v.text)
	case Bool:
		return ojson.Yes(v.Bool())
	case Int, Date, DateTime:
		return ojson.Int(v.Int())
	case Uint:
		return ojson.Uint(v.bits)
	case Float32, Float64:
		x, _ := v.Number()
		return ojson.Float(x)
	case Vector:
		items := make([]ojson.Value, len(v.vec))
		for i, x := range v.vec {
			items[i] = ojson.Float(float64(x))
		}
		return ojson.Arr(items...)
	case List:
		items := make([]ojson.Value, len(v.items))
		for i, item := range v.items {
			items[i] = item.JSON()
		}
		return ojson.Arr(items...)
	case Blob:
		return ojson.Str(base64Prefix + base64.StdEncoding.EncodeToString(v.bytes))
	}
	return ojson.Value{}
}

// base64Prefix is how the text of a blob starts that holds its bytes.
const base64Prefix = "base64:"
