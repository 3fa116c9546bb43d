package value_test

import (
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		base string
		list bool
		x    any
		want string // "" = refused
	}{
		{"String", false, "a", `"a"`}, {"Bool", false, true, "true"}, {"I32", false, int32(-1), "-1"}, {"I64", false, int64(1), "1"},
		{"U32", false, uint32(1), "1"}, {"U64", false, uint64(1 << 63), "9223372036854775808"}, {"F32", false, float32(0.1), "0.10000000149011612"},
		{"F64", false, 0.1, "0.1"}, {"Date", false, arrow.Date32(-1), "-1"}, {"DateTime", false, arrow.Date64(5), "5"}, {"Vector", false, []float32{1, 2}, "[1.0,2.0]"},
		{"Blob", false, "base64:aGk=", `"base64:aGk="`}, {"Blob", false, "s3://x", `"s3://x"`}, {"I32", true, []any{int32(1)}, "[1]"}, {"Date", true, []any{}, "[]"}, {"F32", false, nil, "null"},
		{"Blob", false, "base64:x", ""}, {"String", false, 1, ""}, {"I32", false, "1", ""}, {"I32", false, []any{int32(1)}, ""}, {"I32", true, int32(1), ""},
		{"I32", true, []any{nil}, ""}, {"I32", true, []any{"1"}, ""}, {"Date", false, int32(1), ""}, {"F64", false, float32(1), ""}, {"String", false, struct{}{}, ""},
	} {
		pt := schema.PropType{Scalar: schema.Scalar{Name: c.base, Dim: 2}, List: c.list, Nullable: true}
		v, err := value.Of(pt, c.x)
		if got := string(v.JSON().Append(nil)); c.want == "" && err == nil || c.want != "" && (err != nil || got != c.want) {
			t.Errorf("%#v as %s: %s, %v, want %s", c.x, pt.Spell(), got, err, c.want)
		}
		if r := new(value.Refusal); c.x == "base64:x" && !errors.As(err, &r) {
			t.Errorf("a wrong blob: %v", err)
		}
	}
}
