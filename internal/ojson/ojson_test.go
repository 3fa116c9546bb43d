package ojson

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// The right column is what serde_json 1.0.150 printed for the left one.
func TestFloatSpelling(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0.0", "-0": "-0.0", "1": "1.0", "0.1": "0.1", "100000": "100000.0", "0.0001": "0.0001", "0.00001": "0.00001",
		"0.000001": "1e-6", "0.0000012": "1.2e-6", "0.00012345": "0.00012345", "1.234e-5": "0.00001234",
		"1234567890123456": "1234567890123456.0", "12345678901234567": "1.2345678901234568e+16",
		"1e15": "1000000000000000.0", "1e16": "1e+16", "1e17": "1e+17", "1.5e300": "1.5e+300", "5e-324": "5e-324",
		"-2.5": "-2.5", "1.7976931348623157e308": "1.7976931348623157e+308", "9007199254740993": "9007199254740992.0",
		"1e21": "1e+21", "3.5e16": "3.5e+16",
	} {
		x, err := strconv.ParseFloat(in, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(AppendFloat(nil, x)); got != want {
			t.Errorf("AppendFloat(%s) = %s, want %s", in, got, want)
		}
	}
	if got := string(Float(math.Inf(1)).Append(nil)); got != "null" {
		t.Errorf("infinity is written as %s, want null", got)
	}
}

func TestStringSpelling(t *testing.T) {
	in := "a\x7f\x00\x1f\b\f\n\r\t\"\\/<>&\u2028é"
	want := "\"a\x7f\\u0000\\u001f\\b\\f\\n\\r\\t\\\"\\\\/<>&\u2028é\""
	if got := string(AppendString(nil, in)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{
		"", " ", "{", "[", "[1,]", `{"a":1,}`, `{a:1}`, "01", "-", "1.", "1e", "1e+", "+1", ".5", "tru", "nul", "NaN",
		`"a`, `"\x"`, `"\u12"`, `"\ud800"`, `"\ud800\u0041"`, `"\udc00"`, "\"\t\"", "1 2", "\ufeff1", "\"\xff\"", "1\v",
		strings.Repeat("[", 128) + strings.Repeat("]", 128), `"\ud800\`, `"\u`, `{"a"}`, `{"a":}`, `[1 2]`,
	} {
		_, err := Parse([]byte(in))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("Parse(%q): got %v, want a SyntaxError", in, err)
		} else if syntax.Offset < 0 || syntax.Offset > len(in) {
			t.Errorf("Parse(%q): offset %d is outside the text", in, syntax.Offset)
		}
	}
	if _, err := Parse([]byte(strings.Repeat("[", 127) + strings.Repeat("]", 127))); err != nil {
		t.Errorf("127 levels are refused: %v", err)
	}
}

func TestRoundTrip(t *testing.T) {
	compact := `{"a":[1,-2.5e3,true,false,null,{}],"b":"x\"\\\n\u0001é😀","c":[],"":{"d":[[]]}}`
	pretty := "{\n  \"a\": [\n    1,\n    -2.5e3,\n    true,\n    false,\n    null,\n    {}\n  ],\n" +
		"  \"b\": \"x\\\"\\\\\\n\\u0001é😀\",\n  \"c\": [],\n  \"\": {\n    \"d\": [\n      []\n    ]\n  }\n}"
	for _, in := range []string{compact, pretty} {
		v, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(v.Append(nil)); got != compact {
			t.Errorf("compact: got %s, want %s", got, compact)
		}
		if got := string(v.AppendPretty(nil)); got != pretty {
			t.Errorf("pretty: got %s, want %s", got, pretty)
		}
	}
	v, err := Parse([]byte(`"\ud83d\ude00\/"`))
	if err != nil || v.Text() != "😀/" {
		t.Errorf("surrogate pair: got %q, %v", v.Text(), err)
	}
}

func TestFields(t *testing.T) {
	read := func(in string, ask func(Fields)) error {
		v, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		var r Reader
		ask(r.Open(v, ""))
		return r.Err()
	}
	text := `{"s":"x","n":7,"f":1.0,"z":-0,"o":{"i":[{"k":-1}]},"null":null,"d":1,"d":2,"ss":["a","b"],"b":true,"big":18446744073709551616}`
	if err := read(text, func(f Fields) {
		if f.Str("s") != "x" || f.Uint("n", 8) != 7 || f.OptStr("null") != nil || f.OptStr("absent") != nil || !f.Bool("b") ||
			f.OptBool("absent") || len(f.Strs("ss")) != 2 || f.Has("null") || f.OptUint("absent") != nil || *f.OptUint("n") != 7 {
			t.Error("a member was read wrongly")
		}
		f.Object("o").Each("i", true, func(f Fields) {
			if f.Int("k") != -1 {
				t.Error("nested member was read wrongly")
			}
		})
		f.Each("absent", false, func(Fields) { t.Error("an absent array has elements") })
		if _, ok := f.OptObject("absent"); ok {
			t.Error("an absent object is there")
		}
	}); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		ask  func(Fields)
		want string
	}{
		"missing":       {func(f Fields) { f.Str("gone") }, "member gone: missing"},
		"null":          {func(f Fields) { f.Str("null") }, "member null: missing or null"},
		"kind":          {func(f Fields) { f.Str("n") }, "member n: found number"},
		"optional kind": {func(f Fields) { f.OptStr("n") }, "member n: found number"},
		"float":         {func(f Fields) { f.Uint("f", 64) }, "member f: found 1.0"},
		"minus zero":    {func(f Fields) { f.Int("z") }, "member z: found -0"},
		"too big":       {func(f Fields) { f.Uint("big", 64) }, "member big"},
		"bits":          {func(f Fields) { f.Uint("n", 2) }, "member n: found 7"},
		"twice":         {func(f Fields) { f.Uint("d", 64) }, "member d: stands 2 times"},
		"nested":        {func(f Fields) { f.Object("o").Each("i", true, func(f Fields) { f.Str("k") }) }, "member o.i[0].k"},
		"not object":    {func(f Fields) { f.Each("ss", true, func(Fields) {}) }, "member ss[0]: found string"},
		"first counts":  {func(f Fields) { f.Str("gone"); f.Str("n") }, "member gone"},
		"strings":       {func(f Fields) { f.Object("o").Strs("i") }, "member o.i: element 0"},
	} {
		if err := read(text, c.ask); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q…", name, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":[1,-2.5e3,true,null,"\ud83d\ude00"]}`))
	f.Add([]byte(`[[[[1e400]]]]`))
	f.Add([]byte(`{"a":[1,{"b":2,"c":[3`))
	f.Add([]byte(`{"x":"","y":[],"z":{},"w":[{"a":"\n"},[1]]}`))
	var many Parser // of all texts, whatever became of those before
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Parse(data)
		if shared, wrong := many.Parse(data); !reflect.DeepEqual(shared, v) || !reflect.DeepEqual(wrong, err) {
			t.Fatalf("%s: a Parser reads %s, %v", data, shared.Append(nil), wrong)
		}
		if err != nil {
			return
		}
		again, err := Parse(v.Append(nil))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if a, b := string(v.AppendPretty(nil)), string(again.AppendPretty(nil)); a != b {
			t.Fatalf("round trip: %s became %s", a, b)
		}
	})
}
