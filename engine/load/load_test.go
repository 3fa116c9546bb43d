package load

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"
)

// The spellings that the Rust engine printed.
func TestFloatSpelling(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "0.0"}, {math.Copysign(0, -1), "-0.0"}, {4, "4.0"}, {-2, "-2.0"}, {8.67, "8.67"},
		{float64(float32(0.1)), "0.10000000149011612"},
		{1e15, "1000000000000000.0"}, {9999999999999998, "9999999999999998.0"},
		{1e16, "1e+16"}, {1.5e16, "1.5e+16"}, {1.2345e300, "1.2345e+300"},
		{1e-5, "0.00001"}, {1.5e-5, "0.000015"}, {9.9e-6, "9.9e-6"}, {1.5e-7, "1.5e-7"}, {5e-324, "5e-324"},
		{math.MaxFloat64, "1.7976931348623157e+308"},
	} {
		got, ok := AppendFloat(nil, c.x)
		if string(got) != c.want || !ok {
			t.Errorf("%g is spelled %s (%v), want %s", c.x, got, ok, c.want)
		}
	}
	for x, want := range map[float64]string{math.Inf(1): `"Infinity"`, math.Inf(-1): `"-Infinity"`} {
		if got, ok := AppendFloat(nil, x); ok || string(got) != want {
			t.Errorf("%g is spelled %s (%v), want %s and not ok", x, got, ok, want)
		}
	}
}

func TestFloatReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		if math.IsInf(x, 0) {
			return
		}
		text, ok := AppendFloat(nil, x)
		var back float64
		if err := json.Unmarshal(text, &back); err != nil || !ok || math.Float64bits(back) != math.Float64bits(x) {
			t.Fatalf("%s reads back as %g (%v)", text, back, err)
		}
		plain := !strings.ContainsAny(string(text), "e")
		abs := math.Abs(x)
		if plain != (abs == 0 || abs >= 1e-5 && abs < 1e16) {
			t.Fatalf("%s is in the wrong form", text)
		}
		if !plain && (strings.Contains(string(text), "e-0") || strings.Contains(string(text), "e+0")) {
			t.Fatalf("%s has a zero before its exponent", text)
		}
	})
}

func TestStringReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		text, ok := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(text, &back); err != nil || !ok || back != s {
			t.Fatalf("%s reads back as %q (%v)", text, back, err)
		}
	})
}

func TestStringSpelling(t *testing.T) {
	for s, want := range map[string]string{
		"":                     `""`,
		"Ann é <&>\u2028\x7f":  "\"Ann é <&>\u2028\x7f\"",
		"a\"b\\c/d":            `"a\"b\\c/d"`,
		"\b\f\n\r\t\x00\x1f":   `"\b\f\n\r\t\u0000\u001f"`,
		"\U0001F6A2 \uFFFD ok": "\"\U0001F6A2 \uFFFD ok\"",
	} {
		if got, ok := AppendString(nil, s); string(got) != want || !ok {
			t.Errorf("%q is spelled %s, want %s", s, got, want)
		}
	}
	got, ok := AppendString(nil, "a\xffb\xc3")
	if ok || string(got) != "\"a\uFFFDb\uFFFD\"" || !utf8.Valid(got) {
		t.Errorf("wrong bytes are spelled %s, ok %v", got, ok)
	}
}

var spelled = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.BinaryTypes.String},
	{Name: "src", Type: arrow.BinaryTypes.String},
	{Name: "dst", Type: arrow.BinaryTypes.String},
	{Name: "d", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
	{Name: "t", Type: arrow.FixedWidthTypes.Date64, Nullable: true},
	{Name: "u", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
	{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "f", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
	{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
	{Name: "v", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), Nullable: true},
	{Name: "blob", Type: arrow.StructOf(arrow.Field{Name: "kind", Type: arrow.PrimitiveTypes.Uint8}), Nullable: true},
}, nil)

const rows = `[
 {"id":"k\"1","src":"a","dst":"b","d":19782,"t":1704110400500,"u":18446744073709551615,"n":-3,"f":0.1,"x":4,"b":true,"l":[1,null,-2],"v":[1,0.1],"blob":{"kind":0}},
 {"id":"2","src":"c","dst":"d","l":[],"blob":{"kind":3}},
 {"id":"3","src":"e","dst":"f"}]`

func record(t *testing.T) arrow.RecordBatch {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	b, _, err := array.RecordFromJSON(mem, spelled, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Release(); mem.AssertSize(t, 0) })
	return b
}

func properties() []string {
	var out []string
	for _, f := range spelled.Fields()[3:] {
		out = append(out, f.Name)
	}
	return out
}

func blobs(_ string, row int) ([]byte, string, bool, error) {
	switch row {
	case 0:
		return []byte("hi"), "", false, nil
	case 1:
		return nil, "s3://x/y", false, nil
	}
	return nil, "", true, nil
}

func TestLines(t *testing.T) {
	b := record(t)
	edge, err := Bind(Table{Edge: true, Name: "Owns", Properties: properties()}, b, blobs)
	if err != nil {
		t.Fatal(err)
	}
	node, err := Bind(Table{Name: "Port", Properties: []string{"u"}}, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		l    *Lines
		row  int
		want string
	}{
		{edge, 0, `{"edge":"Owns","from":"a","to":"b","data":{"id":"k\"1","d":19782,"t":1704110400500,"u":18446744073709551615,"n":-3,"f":0.10000000149011612,"x":4.0,"b":true,"l":[1,null,-2],"v":[1.0,0.10000000149011612],"blob":"base64:aGk="}}`},
		{edge, 1, `{"edge":"Owns","from":"c","to":"d","data":{"id":"2","d":null,"t":null,"u":null,"n":null,"f":null,"x":null,"b":null,"l":[],"v":null,"blob":"s3://x/y"}}`},
		{edge, 2, `{"edge":"Owns","from":"e","to":"f","data":{"id":"3","d":null,"t":null,"u":null,"n":null,"f":null,"x":null,"b":null,"l":null,"v":null,"blob":null}}`},
		{node, 0, `{"type":"Port","data":{"id":"k\"1","u":18446744073709551615}}`},
	} {
		got, err := c.l.Append(nil, c.row)
		if err != nil || string(got) != c.want {
			t.Errorf("row %d: %v\n got %s\nwant %s", c.row, err, got, c.want)
		}
	}
}

// A batch may be a slice of a larger one.
func TestSlicedBatch(t *testing.T) {
	b := record(t)
	s := b.NewSlice(1, 3)
	defer s.Release()
	l, err := Bind(Table{Edge: true, Name: "Owns", Properties: []string{"l", "v"}}, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.Append(nil, 0); err != nil || string(got) != `{"edge":"Owns","from":"c","to":"d","data":{"id":"2","l":[],"v":null}}` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestBindRefuses(t *testing.T) {
	b := record(t)
	for name, table := range map[string]Table{
		"blob without bytes": {Name: "T", Properties: []string{"blob"}},
		"absent column":      {Name: "T", Properties: []string{"absent"}},
	} {
		if _, err := Bind(table, b, nil); err == nil || !strings.Contains(err.Error(), "T") {
			t.Errorf("%s: error %v, want one that names the type", name, err)
		}
	}
}

func TestValuesThatJSONHasNoWordFor(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	bld := array.NewRecordBuilder(mem, arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.BinaryTypes.String}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil))
	defer bld.Release()
	bld.Field(0).(*array.StringBuilder).AppendValues([]string{"a", "b\xff"}, nil)
	bld.Field(1).(*array.Float64Builder).AppendValues([]float64{math.NaN(), 1}, nil)
	b := bld.NewRecordBatch()
	defer b.Release()
	l, err := Bind(Table{Name: "T", Properties: []string{"x"}}, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range []string{`{"type":"T","data":{"id":"a","x":"NaN"}}`, "{\"type\":\"T\",\"data\":{\"id\":\"b\uFFFD\",\"x\":1.0}}"} {
		got, err := l.Append(nil, row)
		var v *ValueError
		if string(got) != want || !errors.As(err, &v) || v.Property != []string{"x", "id"}[row] {
			t.Errorf("row %s: got %s, %v; want %s and a ValueError", strconv.Itoa(row), got, err, want)
		}
	}
}
