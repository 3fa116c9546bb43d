package value

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/schema"
)

func typ(name string, list bool) schema.PropType {
	t := schema.PropType{Scalar: schema.Scalar{Name: name}, List: list, Nullable: true}
	if name == "Vector" {
		t.Scalar.Dim = 2
	}
	return t
}

// What Go says and what JSON says are one value.
func TestGoIsJSON(t *testing.T) {
	for _, c := range []struct {
		t    schema.PropType
		x    any
		json string
		size int64 // as the Rust engine reckons input
	}{
		{typ("String", false), "ab", `"ab"`, 18}, {typ("Bool", false), true, `true`, 17}, {typ("I32", false), int32(-3), `-3`, 20},
		{typ("I64", false), int64(math.MinInt64), `-9223372036854775808`, 24}, {typ("U32", false), uint32(7), `7`, 20}, {typ("U64", false), uint64(math.MaxUint64), `18446744073709551615`, 24},
		{typ("F32", false), float32(0.1), `0.1`, 20}, {typ("F64", false), 0.1, `0.1`, 24}, {typ("Date", false), arrow.Date32(19782), `"2024-02-29"`, 20},
		{typ("DateTime", false), arrow.Date64(1704110400500), `"2024-01-01T12:00:00.5Z"`, 24}, {typ("Vector", false), []float32{1, -2.5}, `[1,-2.5]`, 26},
		{typ("Blob", false), "base64:aGk=", `"base64:aGk="`, 18}, {typ("Blob", false), "s3://x/y", `"s3://x/y"`, 24}, {typ("I32", true), []any{int32(1), int32(2)}, `[1,2]`, 26},
		{typ("String", true), []any{"a", "bc"}, `["a","bc"]`, 35}, {typ("String", true), []any{}, `[]`, 16}, {typ("I64", false), nil, `null`, 24}, {typ("Vector", false), nil, `null`, 26}, {typ("String", false), nil, `null`, 16},
	} {
		j, err := ojson.Parse([]byte(c.json))
		if err != nil {
			t.Fatal(err)
		}
		want, err := Parse("p", c.t, j)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Of(c.t, c.x)
		if err != nil || !got.Equal(want) || !want.Equal(got) {
			t.Errorf("%v as %s: %s, %v, expected %s", c.x, c.t.Spell(), got.JSON().Append(nil), err, c.json)
		}
		if n := got.Size(c.t); n != c.size {
			t.Errorf("%s of %s counts %d, expected %d", c.json, c.t.Spell(), n, c.size)
		}
	}
}

func TestEqual(t *testing.T) {
	f := func(x float64) Value { v, _ := Of(typ("F64", false), x); return v }
	list := func(items ...any) Value { v, _ := Of(typ("I64", true), items); return v }
	vec := func(items ...float32) Value { v, _ := Of(typ("Vector", false), items); return v }
	nan, zero := math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		a, b Value
		want bool
	}{
		{Value{}, Value{}, true}, {Value{}, String(""), false}, {String("a"), String("b"), false}, {f(0), f(zero), true}, {f(nan), f(nan), true}, {f(1), f(2), false},
		{list(int64(1)), list(int64(1)), true}, {list(int64(1)), list(int64(2)), false}, {list(), list(int64(2)), false}, {list(), Value{}, false},
		{vec(1, float32(nan)), vec(1, float32(nan)), true}, {vec(0, 1), vec(float32(zero), 1), true}, {vec(1, 1), vec(1, 2), false}, {vec(1, float32(nan)), vec(1, 1), false},
	} {
		if c.a.Equal(c.b) != c.want || c.b.Equal(c.a) != c.want {
			t.Errorf("%s and %s: %v expected", c.a.JSON().Append(nil), c.b.JSON().Append(nil), c.want)
		}
	}
}
