package where

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

var columns = []Column{
	{Name: "id", Type: arrow.BinaryTypes.String, Label: "String"},
	{Name: "n", Type: arrow.PrimitiveTypes.Int64, Label: "I64"},
	{Name: "u", Type: arrow.PrimitiveTypes.Uint64, Label: "U64"},
	{Name: "f", Type: arrow.PrimitiveTypes.Float32, Label: "F32"},
	{Name: "x", Type: arrow.PrimitiveTypes.Float64, Label: "F64"},
	{Name: "ok", Type: arrow.FixedWidthTypes.Boolean, Label: "Bool"},
	{Name: "d", Type: arrow.FixedWidthTypes.Date32, Label: "Date"},
	{Name: "t", Type: arrow.FixedWidthTypes.Date64, Label: "DateTime"},
	{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Label: "[String]"},
	{Name: "photo", Type: arrow.StructOf(), Label: "Blob", Blob: true},
}

// rows a, b, c and z; every value of z but its id is null.
const sample = `[
 {"id":"a","n":1,"u":18446744073709551615,"f":0.1,"x":1.5,"ok":true,"d":"2024-02-29","t":1709200800000,"tags":["bunker","it's"]},
 {"id":"b","n":-9223372036854775808,"u":0,"f":2,"x":-1e300,"ok":false,"d":"1969-12-31","t":-1,"tags":[]},
 {"id":"c","n":9223372036854775807,"u":7,"f":3,"x":0,"ok":true,"d":"1970-01-01","t":0,"tags":[null,"x"]},
 {"id":"z"}]`

func batch(t testing.TB) arrow.RecordBatch {
	t.Helper()
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.Name, Type: c.Type, Nullable: true}
	}
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	b, _, err := array.RecordFromJSON(mem, arrow.NewSchema(fields, nil), strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Release(); mem.AssertSize(t, 0) })
	return b
}

// matches are conditions and the ids of the rows of sample that they choose.
var matches = []struct{ text, want string }{
	{`id = "a"`, "a"},
	{`id != 'a'`, "bcz"},
	{`id >= "b" and not id = "z"`, "bc"},
	{`id = "a" or id = "b" and n > 0`, "a"},
	{`(id = "a" or id = "b") and n > 0`, "a"},
	{`not (n > 0)`, "b"},
	{`n is null`, "z"},
	{`n is not null`, "abc"},
	{`not n is null`, "abc"},
	{`n = 1.0`, "a"},
	{`n > 0.5`, "ac"},
	{`n < 1e30`, "abc"},
	{`n > -1e30 AND n < 0`, "b"},
	{`n = 9223372036854775807`, "c"},
	{`n >= 9223372036854775808`, ""},
	{`n != 1`, "bc"},
	{`u = 18446744073709551615`, "a"},
	{`u > -1`, "abc"},
	{`u in (0, 7.0, 8)`, "bc"},
	{`u not in (0, 7)`, "a"},
	{`f = 0.1`, "a"},
	{`x <= 1.5`, "abc"},
	{`x < -1e299`, "b"},
	{`ok = true`, "ac"},
	{`ok != true`, "b"},
	{`d = "2024-02-29"`, "a"},
	{`d < date("1970-01-01")`, "b"},
	{`d = 0`, "c"},
	{`t = datetime("2024-02-29T11:00:00+01:00")`, "a"},
	{`t < "1970-01-01"`, "b"},
	{`t = "1969-12-31T23:59:59.9995Z"`, ""},
	{`t > "1969-12-31T23:59:59.9985Z" and t < 1`, "bc"},
	{`tags contains "x"`, "c"},
	{`tags not contains "x"`, "ab"},
	{`tags contains "it's"`, "a"},
	{`id starts_with "a"`, "a"},
	{`id starts_with ""`, "abcz"},
	{`id contains "z"`, "z"},
	{`id = "q\"\\\n"`, ""},
	{`tags is null`, "z"},
}

func TestMatch(t *testing.T) {
	rows := batch(t)
	for _, c := range matches {
		if got, err := chosen(rows, c.text); err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if got != c.want {
			t.Errorf("%s chose %q, want %q", c.text, got, c.want)
		}
	}
}

// chosen are the ids of the rows that a condition chooses.
func chosen(rows arrow.RecordBatch, text string) (string, error) {
	e, err := Parse(text)
	if err != nil {
		return "", err
	}
	f, err := e.Bind(columns)
	if err != nil {
		return "", err
	}
	match, err := f.Open(rows)
	if err != nil {
		return "", err
	}
	ids := ""
	for i := range int(rows.NumRows()) {
		if match(i) {
			ids += rows.Column(0).(*array.String).Value(i)
		}
	}
	return ids, nil
}

func TestErrorsNameColumnAndPosition(t *testing.T) {
	for _, c := range []struct {
		text string
		col  int
		name string
		has  string
	}{
		{``, 1, "", "the end stands where the name of a property was expected"},
		{`nope = 1`, 1, "nope", "there is id, n,"},
		{`id = "é" and nope = 1`, 14, "nope", "no property"},
		{`n = "1"`, 5, "n", "write a number"},
		{`n = 1 n`, 7, "", "`and`, `or` or the end"},
		{`n == `, 6, "", "the end stands where a value was expected"},
		{`n = 1x`, 5, "n", "1x is no number"},
		{`n = 1e999999999`, 5, "n", "out of every range"},
		{`id = a`, 6, "", "text stands in quotes"},
		{`id = null`, 6, "", "is null"},
		{`id = "a`, 6, "", "no closing"},
		{`id = "\q"`, 7, "", "no escape"},
		{`photo = 1`, 7, "photo", "only `is null`"},
		{`tags = "x"`, 6, "tags", "ask `contains`"},
		{`n contains 1`, 3, "n", "asked of text and lists"},
		{`ok < true`, 4, "ok", "equal to true or false"},
		{`ok = 1`, 6, "ok", "write true or false"},
		{`d = "yesterday"`, 5, "d", "YYYY-MM-DD"},
		{`n in 1`, 6, "", "( was expected"},
		{`n in (1`, 8, "", ", or )"},
		{`(n = 1`, 7, "", ") was expected"},
		{`n not 1`, 7, "", "in, contains or starts_with"},
		{`n # 1`, 3, "", "means nothing here"},
		{`n is 1`, 6, "", "null was expected"},
		{strings.Repeat("not ", 1000) + "n = 1", 801, "", "nests deeper"},
		{strings.Repeat("(", 1000), 201, "", "nests deeper"},
	} {
		e, err := Parse(c.text)
		if err == nil {
			_, err = e.Bind(columns)
		}
		var w *Error
		if !errors.As(err, &w) {
			t.Errorf("%.40s: error %v, want one of this package", c.text, err)
			continue
		}
		if w.Column != c.col || w.Name != c.name || !strings.Contains(w.Msg, c.has) {
			t.Errorf("%.40s: got column %d, name %q, %q; want %d, %q, …%s…", c.text, w.Column, w.Name, w.Msg, c.col, c.name, c.has)
		}
	}
}

func TestColumnsAreNamedOnce(t *testing.T) {
	e, err := Parse(`n = 1 or n = 2 or id is null`)
	if err != nil {
		t.Fatal(err)
	}
	f, err := e.Bind(columns)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.Columns(), " "); got != "n id" {
		t.Errorf("columns %q, want n id", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`(a = 1 or not b contains "x") and c in (1.5e3, -2) and t = datetime("2024-02-29")`)
	f.Add(`n = -+1e5_0x1p3/2`)
	rows := batch(f)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		filter, err := e.Bind(columns)
		if err != nil {
			return
		}
		match, err := filter.Open(rows)
		if err != nil {
			t.Fatalf("%q is typed but cannot be evaluated: %v", text, err)
		}
		for i := range int(rows.NumRows()) {
			match(i)
		}
	})
}
