package value

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/schema"
)

// Of is the value that a Go value stands for, as query.Value has it: nil,
// string (of a blob "base64:…" or a URI), bool, int32, int64, uint32, uint64,
// float32, float64, arrow.Date32, arrow.Date64, []float32, or []any of these. It
// must be of the type; null is any type's. The error is a *Refusal for the text
// of a blob.
func Of(t schema.PropType, x any) (Value, error) {
	var v Value
	switch x := x.(type) {
	case nil:
		return v, nil
	case []any:
		return listOf(t, x)
	case string:
		if t.Scalar.Name == "Blob" {
			return parseBlob("", ojson.Str(x))
		}
		v = textOf(x)
	case bool:
		v = boolean(x)
	case int32:
		v = integer(Int, int64(x))
	case int64:
		v = integer(Int, x)
	case uint32:
		v = Value{kind: Uint, bits: uint64(x)}
	case uint64:
		v = Value{kind: Uint, bits: x}
	case float32:
		v = float(Float32, float64(x))
	case float64:
		v = float(Float64, x)
	case arrow.Date32:
		v = integer(Date, int64(x))
	case arrow.Date64:
		v = integer(DateTime, int64(x))
	case []float32:
		v = Value{kind: Vector, vec: x}
	}
	if v.kind == Null || t.List || v.kind != kindOf(t.Scalar.Name) {
		return Value{}, fmt.Errorf("making a value of type %s: found a %T", t.Spell(), x)
	}
	return v, nil
}

func listOf(t schema.PropType, items []any) (Value, error) {
	if !t.List {
		return Value{}, fmt.Errorf("making a value of type %s: found a list", t.Spell())
	}
	t.List = false
	out := Value{kind: List, items: make([]Value, len(items))}
	for i, item := range items {
		var err error
		if out.items[i], err = Of(t, item); err != nil {
			return Value{}, err
		}
		if out.items[i].kind == Null {
			return Value{}, fmt.Errorf("making a list of %s: item %d is null", t.Spell(), i)
		}
	}
	return out, nil
}
