package out

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/tui/theme"
)

func document(t *testing.T, members ...Member) string {
	t.Helper()
	var b bytes.Buffer
	if err := Document(&b, members...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The form is that of serde_json's pretty printer, which the recorded answers
// of the Rust CLI come from.
func TestDocumentIsPrintedAsSerdePrints(t *testing.T) {
	null := (*string)(nil)
	got := document(t, M("s", "a<b>&\"\\\u2028\u2029\x01\b\f\n\r\t/\x7f é \\u2028"), M("none", null), M("empty", []int{}), M("object", struct{}{}),
		All(struct {
			A int      `json:"a"`
			B []string `json:"b"`
		}{1, []string{"x"}}), M("last", map[string]int{"z": 1, "a": 2}))
	want := "{\n  \"s\": \"a<b>&\\\"\\\\\u2028\u2029\\u0001\\b\\f\\n\\r\\t/\x7f é \\\\u2028\",\n  \"none\": null,\n  \"empty\": [],\n  \"object\": {},\n" +
		"  \"a\": 1,\n  \"b\": [\n    \"x\"\n  ],\n  \"last\": {\n    \"a\": 2,\n    \"z\": 1\n  }\n}\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDocumentRefusesMembersOfWhatIsNoObject(t *testing.T) {
	if err := Document(&bytes.Buffer{}, All([]int{1})); err == nil {
		t.Error("an array has no members, and no error came")
	}
}

func TestArrayPrintsWhatDocumentWould(t *testing.T) {
	type item struct {
		ID string `json:"id"`
		N  []int  `json:"n"`
	}
	for _, items := range [][]item{{}, {{"a", []int{}}}, {{"a", []int{1, 2}}, {"b", nil}}} {
		var b bytes.Buffer
		a, err := NewArray(&b, "rows", M("uri", "demo:"))
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range items {
			line, err := Compact(i)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Add(line); err != nil {
				t.Fatal(err)
			}
		}
		rpc := map[string]any{"requests": 1, "ops": map[string]int{"get": 1}}
		if err := a.Close(M("truncated", false), M("rpc", rpc)); err != nil {
			t.Fatal(err)
		}
		want := document(t, M("uri", "demo:"), M("rows", items), M("truncated", false), M("rpc", rpc))
		if b.String() != want {
			t.Errorf("%d items: got\n%s\nwant\n%s", len(items), b.String(), want)
		}
	}
}

func TestCleanLetsNothingReachTheTerminal(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 漢 🙂":     "plain é 漢 🙂",
		"a\x1b[31mb":      `a\x1b[31mb`,
		"one\ntwo\t\r":    `one\ntwo\t\r`,
		"\u202eevil":      `\u{202e}evil`,
		"\u0085\u009b31m": `\x85\x9b31m`,
		"\xff\xfe":        `\xff\xfe`,
		"\ufffd":          "\ufffd",
		"":                "",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := CleanLines("a\n\tb\x1b"); got != "a\n\tb\\x1b" {
		t.Errorf("CleanLines = %q", got)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[0m\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Clean(s) {
			if hostile(r) {
				t.Fatalf("Clean(%q) holds %U", s, r)
			}
		}
		if once := Clean(s); Clean(once) != once {
			t.Fatalf("Clean(%q) is not stable", s)
		}
	})
}

func plain(t *testing.T) *theme.Theme {
	t.Helper()
	mono, err := theme.New("mono", theme.Unknown, false)
	if err != nil {
		t.Fatal(err)
	}
	return &theme.Theme{Glyph: mono.Glyph}
}

func TestTableAlignsCells(t *testing.T) {
	var b bytes.Buffer
	text := NewText(&b, plain(t))
	rows := [][]Cell{{C("漢字"), C("7"), C("wide")}, {C("a\nb"), C("1234"), C("")}, {C(strings.Repeat("x", 100)), C("5"), C("cut")}}
	g := text.NewGrid([]Column{{Name: "name"}, {Name: "n", Right: true}, {Name: "note"}}, Layout{}, rows)
	for _, r := range rows {
		g.Row(r)
	}
	want := []string{
		"name" + strings.Repeat(" ", 81) + "n  note",
		"漢字" + strings.Repeat(" ", 81) + "7  wide",
		`a\nb` + strings.Repeat(" ", 78) + "1234",
		strings.Repeat("x", 79) + "…     5  cut",
	}
	got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: got  %q\nwant %q", i, got[i], want[i])
		}
	}
	if text.Err() != nil {
		t.Error(text.Err())
	}
}

func TestTableWraps(t *testing.T) {
	var b bytes.Buffer
	cols := []Column{{Name: "a"}, {Name: "b"}}
	rows := [][]Cell{{C("abcdefgh"), C("x")}}
	g := NewText(&b, plain(t)).NewGrid(cols, Layout{MaxWidth: 3, Wrap: true}, rows)
	g.Row(rows[0])
	if want := "a    b\nabc  x\ndef\ngh\n"; b.String() != want {
		t.Errorf("got\n%q\nwant\n%q", b.String(), want)
	}
}

func TestAppendValueSpellsEveryKind(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	list := arrow.ListOf(arrow.PrimitiveTypes.Int32)
	inner := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, arrow.Field{Name: "y\n", Type: arrow.BinaryTypes.String})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "u", Type: arrow.PrimitiveTypes.Uint64}, {Name: "f", Type: arrow.PrimitiveTypes.Float32, Nullable: true}, {Name: "d", Type: arrow.PrimitiveTypes.Float64},
		{Name: "s", Type: arrow.BinaryTypes.LargeString}, {Name: "b", Type: arrow.BinaryTypes.Binary}, {Name: "l", Type: list, Nullable: true}, {Name: "t", Type: inner},
		{Name: "v", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32)}, {Name: "day", Type: arrow.FixedWidthTypes.Date32}, {Name: "yes", Type: arrow.FixedWidthTypes.Boolean},
	}, nil)
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	b.Field(0).(*array.Uint64Builder).Append(math.MaxUint64)
	b.Field(1).(*array.Float32Builder).Append(0.1)
	b.Field(2).(*array.Float64Builder).Append(math.NaN())
	b.Field(3).(*array.LargeStringBuilder).Append("a\"\xffb")
	b.Field(4).(*array.BinaryBuilder).Append([]byte{0, 255})
	lb := b.Field(5).(*array.ListBuilder)
	lb.Append(true)
	lb.ValueBuilder().(*array.Int32Builder).AppendValues([]int32{1, -2}, nil)
	sb := b.Field(6).(*array.StructBuilder)
	sb.Append(true)
	sb.FieldBuilder(0).AppendNull()
	sb.FieldBuilder(1).(*array.StringBuilder).Append("z")
	vb := b.Field(7).(*array.FixedSizeListBuilder)
	vb.Append(true)
	vb.ValueBuilder().(*array.Float32Builder).AppendValues([]float32{1, float32(math.Inf(-1))}, nil)
	b.Field(8).(*array.Date32Builder).Append(0)
	b.Field(9).(*array.BooleanBuilder).Append(true)
	rec := b.NewRecordBatch()
	defer rec.Release()
	got := string(AppendRow(nil, rec, 0))
	want := `{"u":18446744073709551615,"f":0.1,"d":"NaN","s":"a\"` + "\ufffd" + `b","b":"base64:AP8=","l":[1,-2],"t":{"x":null,"y\n":"z"},"v":[1.0,"-inf"],"day":"1970-01-01","yes":true}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !json.Valid([]byte(got)) {
		t.Error("not JSON")
	}
}
