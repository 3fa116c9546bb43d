package load_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/txn/validate"
)

const library = `
node Book {
  isbn: String @key
  title: String
  pages: I32?
  cover: Blob?
  vec: Vector(2)?
  tags: [String]?
  day: Date?
  at: DateTime?
  ok: Bool?
  f: F32?
}
node Author { name: String? }
node Loan { branch: String number: I32 @key(number, branch) }
edge Wrote: Author -> Book { role: String? }
`

// refusals: lines, and what is said about them.
var refusals = []struct{ name, lines, want string }{
	{"no JSON", "\n{", "invalid strict JSON at line 2: "},
	{"trailing text", `{"type":"Author"} x`, "invalid strict JSON at line 1: "},
	{"a member twice", `{"type":"Author","type":"Author"}`, "invalid strict JSON at line 1: duplicate JSON member 'type'"},
	{"a member twice, deep", `{"type":"Author","data":{"name":{"a":[{"b":1,"b":2}]}}}`, "invalid strict JSON at line 1: duplicate JSON member 'b'"},
	{"a member twice among many", `{"type":"Author","data":{` + many(40) + `"m7":1}}`, "duplicate JSON member 'm7'"},
	{"a number beyond doubles", `{"type":"Author","data":{"name":1e400}}`, "invalid strict JSON at line 1: number out of range"},
	{"no UTF-8", "{\"type\":\"Auth\xff\"}", "invalid strict JSON at line 1: "},
	{"an array", `[1]`, "line 1: graph batch record must be one JSON object"},
	{"neither", `{"data":{}}`, "line 1: graph batch record must contain exactly one of 'type' or 'edge'"},
	{"both", `{"type":"Author","edge":"Wrote"}`, "must contain exactly one of 'type' or 'edge'"},
	{"something else", `{"type":"Author","id":"a"}`, "line 1: unknown top-level graph batch field 'id'"},
	{"from of a node", `{"type":"Author","from":"a"}`, "line 1: unknown top-level graph batch field 'from'"},
	{"to of a node", `{"type":"Author","to":"a"}`, "line 1: unknown top-level graph batch field 'to'"},
	{"reserved", `{"type":"Author","_rowid":1}`, "line 1: top-level field '_rowid' is reserved physical state"},
	{"reserved tombstone", `{"edge":"Wrote","_tombstone":1}`, "line 1: top-level field '_tombstone' is reserved physical state"},
	{"type no string", `{"type":5}`, "line 1: graph batch field 'type' must be a string, got 5"},
	{"type null", `{"type":null}`, "line 1: graph batch field 'type' must be a string, got null"},
	{"from missing", `{"edge":"Wrote","to":"b"}`, "line 1: graph batch record requires field 'from'"},
	{"to missing", `{"edge":"Wrote","from":"b"}`, "line 1: graph batch record requires field 'to'"},
	{"to no string", `{"edge":"Wrote","from":"b","to":[1, {"a":null}]}`, `line 1: graph batch field 'to' must be a string, got [1,{"a":null}]`},
	{"data no object", `{"type":"Author","data":[]}`, "line 1: graph batch field 'data' must be an object, got []"},
	{"data null", `{"type":"Author","data":null}`, "line 1: graph batch field 'data' must be an object, got null"},
	{"unknown node", `{"type":"author"}`, "line 1: unknown node type 'author'"},
	{"an edge as a node", `{"type":"Wrote"}`, "line 1: unknown node type 'Wrote'"},
	{"unknown edge", `{"edge":"Writ","from":"a","to":"b"}`, "line 1: unknown edge type 'Writ'"},
	{"src in data", `{"edge":"Wrote","from":"a","to":"b","data":{"src":"x"}}`, "line 1: edge data field 'src' is reserved structural state"},
	{"dst in data of no edge", `{"edge":"None","from":"a","to":"b","data":{"dst":"x"}}`, "line 1: edge data field 'dst' is reserved structural state"},
	{"unknown property", `{"type":"Book","data":{"isbn":"1","title":"t","colour":1}}`, "line 1: unknown input field 'colour' for 'node:Book'"},
	{"unknown property of an edge", `{"edge":"wrote","from":"a","to":"b","data":{"x":1}}`, "unknown input field 'x' for 'edge:Wrote'"},
	{"src of a node", `{"type":"Author","data":{"src":"x"}}`, "unknown input field 'src' for 'node:Author'"},
	{"reserved in data", `{"type":"Author","data":{"_rowaddr":1}}`, "input field '_rowaddr' is reserved physical state"},
	{"id no string", `{"type":"Author","data":{"id":5}}`, "input entity of type 'Author' field 'id' must be a string, got 5"},
	{"id null", `{"edge":"Wrote","from":"a","to":"b","data":{"id":null}}`, "input entity of type 'Wrote' field 'id' must be a string, got null"},
	{"another id than the key's", `{"type":"Book","data":{"isbn":"1","title":"t","id":"2"}}`, "node Book explicit id '2' does not match its canonical @key id '1'"},
	{"another id than a key of two", `{"type":"Loan","data":{"branch":"n","number":7,"id":"n"}}`, `explicit id 'n' does not match its canonical @key id '["n","7"]'`},
	{"required absent", `{"type":"Book","data":{"isbn":"1"}}`, "non-nullable property 'title' has null or invalid values"},
	{"required null", `{"type":"Book","data":{"isbn":null,"title":"t"}}`, "non-nullable property 'isbn' has null or invalid values"},
	{"wrong kind", `{"type":"Book","data":{"isbn":"1","title":"t","pages":"ten"}}`, `strict property 'pages' expects Int32, got "ten"`},
	{"out of range", `{"type":"Book","data":{"isbn":"1","title":"t","pages":3000000000}}`, "property 'pages' value 3000000000 exceeds Int32 range"},
	{"float out of range", `{"type":"Book","data":{"isbn":"1","title":"t","f":1e39}}`, "exceeds Float32 range"},
	{"vector short", `{"type":"Book","data":{"isbn":"1","title":"t","vec":[1]}}`, "vector property 'vec' expects 2 dimensions, got 1"},
	{"vector of null", `{"type":"Book","data":{"isbn":"1","title":"t","vec":[1,null]}}`, "vector property 'vec' elements must be numeric, got null"},
	{"list no array", `{"type":"Book","data":{"isbn":"1","title":"t","tags":"x"}}`, `list property 'tags' expects a JSON array, got "x"`},
	{"list of null", `{"type":"Book","data":{"isbn":"1","title":"t","tags":["x",null]}}`, "strict list property 'tags' contains a null or invalid item"},
	{"blob no text", `{"type":"Book","data":{"isbn":"1","title":"t","cover":1}}`, "blob property 'cover' must be a URI string or base64: prefixed data"},
	{"blob no base64", `{"type":"Book","data":{"isbn":"1","title":"t","cover":"base64:@"}}`, "invalid base64 blob data: "},
	{"blob elsewhere", `{"type":"Book","data":{"isbn":"1","title":"t","cover":"file:///x"}}`, "external blob URI 'file:///x' is not allowed: "},
	{"no date", `{"type":"Book","data":{"isbn":"1","title":"t","day":"29/02/2024"}}`, "invalid Date literal '29/02/2024'"},
	{"no time", `{"type":"Book","data":{"isbn":"1","title":"t","at":"2024-02-29T10:00"}}`, "invalid DateTime literal '2024-02-29T10:00'"},
	// What is told first.
	{"a line before a value", `{"type":"Author","data":{"name":5}}` + "\n{}", "line 2: graph batch record must contain exactly one"},
	{"a name before a value", `{"type":"Author","data":{"name":5}}` + "\n" + `{"type":"Author","data":{"nom":""}}`, "line 2: unknown input field 'nom' for 'node:Author' (node Author); 1 further lines are wrong"},
	{"a column before a later one", `{"type":"Book","data":{"isbn":"1","title":5}}` + "\n" + `{"type":"Book","data":{"isbn":"2","title":"t","pages":""}}`, "line 2: strict property 'pages' expects"},
	{"a value before an id", `{"type":"Book","data":{"isbn":"1","title":"","id":"x"}}` + "\n" + `{"type":"Book","data":{"isbn":"2","title":5}}`, "line 2: strict property 'title' expects"},
	{"the first of two types", `{"type":"Book","data":{"isbn":"1","title":5}}` + "\n" + `{"type":"Author","data":{"nom":5}}`, "line 1: strict property 'title' expects"},
}

func many(n int) (out string) {
	for i := range n {
		out += fmt.Sprintf(`"m%d":%d,`, i, i)
	}
	return out
}

func TestRefusals(t *testing.T) {
	ir := pgtest.IR(t, library)
	for _, c := range refusals {
		for _, mode := range []load.Mode{load.Append, load.Merge, load.Overwrite} {
			in, err := load.Read(strings.NewReader(c.lines), ir, load.Options{Mode: mode, NewID: numbered()})
			if in != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s:\n says %v\n expected %s", c.name, mode, err, c.want)
			}
		}
		src := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(c.lines)), nil }
		if _, err := load.MakePlan(src, ir, load.ChunkOptions{Mode: load.Append}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, in chunks:\n says %v\n expected %s", c.name, err, c.want)
		}
	}
}

// What is let pass, and what becomes of it.
func TestReads(t *testing.T) {
	ir := pgtest.IR(t, library)
	text := "\r\n \t\f\n" + `{"edge":"WROTE","to":"1","data":{"role":null,"id":"e"},"from":"a"}` + "\r\n" +
		`{"data":{"number":7,"branch":"n","id":"[\"n\",\"7\"]"},"type":"Loan"}` + "\n" +
		`{"type":"Author"}` + "\n" + `{"type":"Author","data":{"id":""}}` + "\n" + `{"type":"Author","data":{"id":"01J"}}` + "\n" +
		`{"type":"Book","data":{"isbn":"1","title":"\u00e9{}[],:\"","cover":"base64:aGk="}}` + "\r"
	in, err := load.Read(iotest.OneByteReader(strings.NewReader(text)), ir, load.Options{Mode: load.Append, NewID: numbered()})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range in.Batches {
		for i, r := range b.Rows {
			s := fmt.Sprintf("%d %s %q %s%s", b.Lines[i], b.Type.Alias(), r.ID, r.Src, r.Dst)
			for _, v := range r.Values {
				s += " " + string(v.JSON().Append(nil))
			}
			got = append(got, s)
		}
	}
	want := []string{
		`5 node:Author "01JNEW00000000000000000001"  null`, `6 node:Author ""  null`, `7 node:Author "01J"  null`,
		`8 node:Book "1"  null "base64:aGk=" null null "1" null null null "é{}[],:\"" null`,
		`4 node:Loan "[\"n\",\"7\"]"  "n" 7`,
		`3 edge:Wrote "e" a1 null`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || in.Lines != 8 || in.Entities() != 6 {
		t.Errorf("%d lines, found\n%s\nexpected\n%s", in.Lines, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAllowedURI(t *testing.T) {
	ir := pgtest.IR(t, library)
	line := `{"type":"Book","data":{"isbn":"1","title":"t","cover":"s3://b/k"}}`
	for _, wrong := range []error{nil, errors.New("there is no b")} {
		_, err := load.Read(strings.NewReader(line), ir, load.Options{Mode: load.Append, NewID: numbered(), AllowURI: func(uri string) error {
			if uri != "s3://b/k" {
				t.Errorf("asked for %s", uri)
			}
			return wrong
		}})
		if (err != nil) != (wrong != nil) || wrong != nil && !strings.Contains(err.Error(), "there is no b") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}

// Lines and structure: exactly the limit is read, one more is not.
func TestLimitsOfALine(t *testing.T) {
	ir := pgtest.IR(t, library)
	one := func(text string) error {
		_, err := load.Read(strings.NewReader(text), ir, load.Options{Mode: load.Append, NewID: numbered()})
		return err
	}
	pad := func(n int) string { s := `{"type":"Author"}`; return s + strings.Repeat(" ", n-len(s)) }
	slots := func(n int) string { // {"type":"Author","data":{"name":[…]}} has 11 with the one before the first
		return `{"type":"Author","data":{"name":[` + strings.Repeat(`0,`, n-11) + `0]}}`
	}
	for _, c := range []struct{ name, text, want string }{
		{"bytes", pad(load.MaxLine), ""},
		{"bytes and LF", pad(load.MaxLine) + "\n", ""},
		{"bytes and CRLF", pad(load.MaxLine) + "\r\n", ""},
		{"one byte more", "\n" + pad(load.MaxLine+1), "resource limit exceeded for graph_batch_line_bytes: actual 33554433, limit 33554432 (line 2)"},
		{"one byte more and CRLF", pad(load.MaxLine+1) + "\r\n", "actual 33554433"},
		{"slots", slots(load.MaxSlots), "strict property 'name' expects Utf8"}, // read, and no text
		{"one slot more", slots(load.MaxSlots + 1), "resource limit exceeded for graph_batch_json_structural_slots: actual 131073, limit 131072 (line 1)"},
		{"structure in a text", `{"type":"Author","data":{"name":"` + strings.Repeat(`[\"`, load.MaxSlots) + `"}}`, ""},
	} {
		err := one(c.text)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: says %.200v, expected %s", c.name, err, c.want)
		}
		var limit *validate.LimitError
		if strings.HasPrefix(c.want, "resource") && !errors.As(err, &limit) {
			t.Errorf("%s: %T", c.name, err)
		}
	}
	endless := io.MultiReader(strings.NewReader("{"), zeros{})
	if _, err := load.Read(endless, ir, load.Options{Mode: load.Merge, NewID: numbered()}); err == nil || !strings.Contains(err.Error(), "graph_batch_line_bytes") {
		t.Errorf("an endless line: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Entities and bytes of a type: exactly the limit is read, one more is not.
func TestLimitsOfAType(t *testing.T) {
	ir := pgtest.IR(t, library)
	rows := func(n int) string { return strings.Repeat(`{"type":"Author"}`+"\n", n) }
	wide := func(n, last int) string { // rows of 1 MiB: 32 bytes of columns, the rest text
		return strings.Repeat(`{"type":"Author","data":{"name":"`+strings.Repeat("x", 1<<20-32)+"\"}}\n", n) + `{"type":"Author","data":{"name":"` + strings.Repeat("x", last-32) + "\"}}\n"
	}
	for _, c := range []struct {
		name, text, bounded, whole string
	}{
		{"entities", rows(validate.MaxRows) + `{"type":"Loan","data":{"branch":"n","number":1}}`, "", ""},
		{"one more", rows(validate.MaxRows + 1), "resource limit exceeded for keyed entities for node:Author: actual 8193, limit 8192 (line 8193); nothing was written: load it with --chunk", ""},
		{"bytes", wide(31, 1<<20), "", ""},
		{"one byte more", wide(31, 1<<20+1), "resource limit exceeded for strict_input_arrow_bytes for node:Author: actual 33554433, limit 33554432 (line 32); nothing was written: load it with --chunk", "nothing was written: overwrite with a first part"},
	} {
		for mode, want := range map[load.Mode]string{load.Append: c.bounded, load.Merge: c.bounded, load.Overwrite: c.whole} {
			if mode == load.Merge && strings.Contains(c.name, "byte") {
				continue // it is the append's limit, and much text
			}
			_, err := load.Read(strings.NewReader(c.text), ir, load.Options{Mode: mode, NewID: numbered()})
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, %s: says %v, expected %s", c.name, mode, err, want)
			}
		}
	}
}

func TestLastStays(t *testing.T) {
	ir := pgtest.IR(t, library)
	text := `{"type":"Author","data":{"id":"a","name":"1"}}` + "\n" + `{"type":"Author","data":{"id":"b","name":"2"}}` + "\n" + `{"type":"Author","data":{"id":"a","name":"3"}}`
	in, err := load.Read(strings.NewReader(text), ir, load.Options{Mode: load.Merge, NewID: numbered()})
	if err != nil {
		t.Fatal(err)
	}
	last := in.Batches[0].Last()
	if len(last) != 2 || last[0].ID != "a" || last[0].Values[0].Text() != "3" || last[1].ID != "b" || in.Entities() != 3 {
		t.Errorf("found %v of %d", last, in.Entities())
	}
}

func TestWrongCalls(t *testing.T) {
	ir := pgtest.IR(t, library)
	if _, err := load.Read(strings.NewReader(""), ir, load.Options{Mode: load.Append}); err == nil {
		t.Error("nobody makes ids, and it reads")
	}
	if _, err := load.Read(strings.NewReader(""), ir, load.Options{Mode: "replace", NewID: numbered()}); err == nil || !strings.Contains(err.Error(), "append, merge or overwrite") {
		t.Errorf("a mode that is none: %v", err)
	}
	lost := errors.New("lost")
	if _, err := load.Read(io.MultiReader(strings.NewReader("{"), iotest.ErrReader(lost)), ir, load.Options{Mode: load.Append, NewID: numbered()}); !errors.Is(err, lost) {
		t.Errorf("a broken stream: %v", err)
	}
}

// FuzzRead: whatever stands in the lines, it is entities that fit their types or
// one of three errors; cut into chunks it is the same entities.
func FuzzRead(f *testing.F) {
	for _, c := range refusals {
		f.Add([]byte(c.lines))
	}
	f.Add([]byte(`{"type":"Loan","data":{"branch":"n","number":7}}` + "\r\n" + `{"edge":"wrote","from":"a","to":"b"}` + "\n\n" + `{"type":"Author"}`))
	ir := pgtest.IR(f, library)
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := load.Read(bytes.NewReader(data), ir, load.Options{Mode: load.Merge, NewID: numbered()})
		src := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		plan, planErr := load.MakePlan(src, ir, load.ChunkOptions{Mode: load.Merge, Rows: 2})
		if err != nil {
			var syntax *load.SyntaxError
			var wrong *load.InputError
			var limit *validate.LimitError
			if !errors.As(err, &syntax) && !errors.As(err, &wrong) && !errors.As(err, &limit) {
				t.Fatalf("%T: %v", err, err)
			}
			if planErr == nil && limit == nil || planErr != nil && planErr.Error() != err.Error() {
				t.Fatalf("read at once: %v; in chunks: %v", err, planErr)
			}
			return
		}
		if planErr != nil {
			t.Fatal(planErr)
		}
		n := 0
		for _, b := range in.Batches {
			rules, bad := validate.NewValueRules(b.Type)
			if bad != nil {
				t.Fatal(bad)
			}
			for i := range b.Rows {
				n++
				rules.Check(&b.Rows[i], func(v *validate.Violation) bool { t.Fatal(v); return false })
			}
		}
		err = plan.Each(1, func(c *load.Chunk) error {
			for _, b := range c.Batches {
				n -= len(b.Rows)
			}
			return nil
		})
		if err != nil || n != 0 {
			t.Fatalf("%v; %d entities in no chunk", err, n)
		}
	})
}
