package value

import "github.com/omnideck/omnideck/schema"

// String makes a Text.
func String(s string) Value { return textOf(s) }

// Equal reports whether two values are the same: of one kind, and of it
// bit for bit, but for zeros, which are equal whatever their sign.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind || v.text != w.text || string(v.bytes) != string(w.bytes) || len(v.vec) != len(w.vec) || len(v.items) != len(w.items) {
		return false
	}
	if x, ok := v.Number(); ok && (v.kind == Float32 || v.kind == Float64) {
		y, _ := w.Number()
		return x == y || v.bits == w.bits
	}
	for i := range v.vec {
		if v.vec[i] != w.vec[i] && (v.vec[i] == v.vec[i] || w.vec[i] == w.vec[i]) {
			return false
		}
	}
	for i := range v.items {
		if !v.items[i].Equal(w.items[i]) {
			return false
		}
	}
	return v.bits == w.bits
}

// Size is the least, in bytes, that a value of a type takes as a column in memory, as the
// Rust engine reckons input: 16 bytes, and what is in it.
func (v Value) Size(t schema.PropType) int64 {
	const overhead = 16
	switch {
	case t.List:
		n := int64(overhead)
		for _, item := range v.items {
			if t.Scalar.Name == "String" {
				n += 8 + int64(len(item.text))
			} else {
				n += width(t.Scalar.Name) + 1
			}
		}
		return n
	case t.Scalar.Name == "Vector":
		return overhead + 5*int64(min(t.Scalar.Dim, 1<<31))
	case v.kind == Blob:
		return overhead + int64(len(v.bytes))
	case t.Scalar.Name == "String", t.Scalar.Name == "Blob":
		return overhead + int64(len(v.text))
	}
	return overhead + width(t.Scalar.Name)
}

func width(base string) int64 {
	switch base {
	case "Bool":
		return 1
	case "I32", "U32", "F32", "Date":
		return 4
	}
	return 8
}
