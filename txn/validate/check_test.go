package validate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn/validate"
	"github.com/omnideck/omnideck/txn/validate/memgraph"
)

const library = `
node Book {
  isbn: String @key
  title: String
  genre: enum(novel, essay)?
  pages: I32?
  code: String?
  shelf: String?
  @range(pages, 1..2000)
  @check(code, "^[A-Z]+$")
  @unique(shelf, title)
}
node Author { name: String @unique note: F64? }
edge Wrote: Author -> Book @card(0..2) { role: enum(author, editor)? }
edge Needs: Book -> Book @card(2..) { @unique(src, dst) }
`

func typeOf(t testing.TB, ir *schema.IR, name string) *schema.Type {
	t.Helper()
	for _, kind := range []schema.Kind{schema.KindNode, schema.KindEdge} {
		if out, ok := ir.Type(kind, name); ok {
			return out
		}
	}
	t.Fatalf("no type %s", name)
	return nil
}

// row makes a row of a line of JSON: {"id":…,"src":…,"dst":…, properties…}. What
// it does not name is null.
func row(t testing.TB, typ *schema.Type, line string) validate.Row {
	t.Helper()
	v, err := ojson.Parse([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	out := validate.Row{Values: make([]value.Value, len(typ.Properties))}
	for _, m := range v.Members() {
		switch m.Name {
		case "id":
			out.ID = m.Value.Text()
		case "src":
			out.Src = m.Value.Text()
		case "dst":
			out.Dst = m.Value.Text()
		default:
			i := slices.IndexFunc(typ.Properties, func(p schema.Property) bool { return p.Name == m.Name })
			pt := typ.Properties[i].Type
			pt.Nullable = true
			if out.Values[i], err = value.Parse(m.Name, pt, m.Value); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(typ.Key()) > 0 && out.ID == "" {
		i := slices.IndexFunc(typ.Properties, func(p schema.Property) bool { return p.Name == typ.Key()[0].Name })
		out.ID, _ = out.Values[i].Key()
	}
	return out
}

// change reads "Type kind" and lines: kind is insert, upsert, update, overwrite,
// or remove with ids. One batch for each call.
func change(t testing.TB, ir *schema.IR, d validate.Delta, what string, lines ...string) validate.Delta {
	t.Helper()
	name, kind, _ := strings.Cut(what, " ")
	typ := typeOf(t, ir, name)
	i := slices.IndexFunc(d, func(c validate.Change) bool { return c.Type == typ })
	if i < 0 {
		i, d = len(d), append(d, validate.Change{Type: typ})
	}
	c := &d[i]
	if kind == "remove" {
		c.Removed = append(c.Removed, lines...)
		return d
	}
	b := validate.Batch{Kind: map[string]validate.Kind{"insert": validate.Insert, "overwrite": validate.Insert, "upsert": validate.Upsert, "update": validate.Update}[kind]}
	c.Overwrite = c.Overwrite || kind == "overwrite"
	for _, l := range lines {
		b.Rows = append(b.Rows, row(t, typ, l))
	}
	c.Batches = append(c.Batches, b)
	return d
}

// write is a list of change's arguments, one text for each: "Book insert" and
// lines of JSON below it.
func write(t testing.TB, ir *schema.IR, text string) (d validate.Delta) {
	t.Helper()
	var head string
	var lines []string
	flush := func() {
		if head != "" {
			d = change(t, ir, d, head, lines...)
		}
		lines = nil
	}
	for _, l := range strings.Split(text, "\n") {
		l = strings.TrimSpace(l)
		switch {
		case l == "":
		case l[0] == '{':
			lines = append(lines, l)
		case l[0] == '-':
			lines = append(lines, strings.TrimSpace(l[1:]))
		default:
			flush()
			head = l
		}
	}
	flush()
	return d
}

const base = `
Book insert
{"isbn":"1","title":"One","shelf":"s"}
{"isbn":"2","title":"Two","pages":7}
{"isbn":"3","title":"Three"}
{"isbn":"4","title":"Four"}
Author insert
{"id":"a","name":"Ann"}
{"id":"b","name":"Bob"}
Wrote insert
{"id":"w1","src":"a","dst":"1"}
{"id":"w2","src":"a","dst":"2"}
Needs insert
{"id":"n1","src":"1","dst":"2"}
{"id":"n2","src":"1","dst":"3"}
{"id":"n3","src":"2","dst":"1"}
{"id":"n4","src":"2","dst":"3"}
{"id":"n5","src":"2","dst":"4"}
`

// rulesTable: what is written on top of base, and the sentence that refuses it.
var rulesTable = []struct{ name, write, want string }{
	{"nothing", ``, ""},
	{"rows that keep everything", "Book insert\n{\"isbn\":\"9\",\"title\":\"T\",\"genre\":\"essay\",\"pages\":1,\"code\":\"AB\"}\nBook upsert\n{\"isbn\":\"8\",\"title\":\"T\",\"pages\":2000}", ""},
	{"required", "Book insert\n{\"isbn\":\"9\"}", "non-nullable property 'title' has null or invalid values (node Book '9')"},
	{"enum", "Book upsert\n{\"isbn\":\"9\",\"title\":\"T\",\"genre\":\"Novel\"}", "invalid enum value 'Novel' for Book.genre (expected: essay, novel) (node Book '9')"},
	{"enum of an edge", "Wrote insert\n{\"id\":\"w9\",\"src\":\"b\",\"dst\":\"1\",\"role\":\"x\"}", "invalid enum value 'x' for Wrote.role (expected: author, editor) (edge Wrote 'w9')"},
	{"below a range", "Book update\n{\"isbn\":\"2\",\"title\":\"T\",\"pages\":0}", "@range violation on Book.pages: value 0 < min 1 (node Book '2')"},
	{"above a range", "Book update\n{\"isbn\":\"2\",\"title\":\"T\",\"pages\":2001}", "@range violation on Book.pages: value 2001 > max 2000 (node Book '2')"},
	{"check", "Book update\n{\"isbn\":\"2\",\"title\":\"T\",\"code\":\"ab\"}", "@check violation on Book.code: value 'ab' does not match pattern '^[A-Z]+$' (node Book '2')"},
	{"a row that a later one replaces", "Book upsert\n{\"isbn\":\"9\",\"title\":\"T\",\"pages\":0}\nBook upsert\n{\"isbn\":\"9\",\"title\":\"T\",\"pages\":1}", "value 0 < min 1"},
	{"key twice in a batch", "Book insert\n{\"isbn\":\"9\",\"title\":\"T\"}\n{\"isbn\":\"9\",\"title\":\"U\"}", "@unique violation on Book.isbn: value '9' held by '9' and '9'"},
	{"key twice, upserts", "Book upsert\n{\"isbn\":\"9\",\"title\":\"T\"}\n{\"isbn\":\"9\",\"title\":\"U\"}", "@unique violation on Book.isbn: value '9'"},
	{"key twice in two batches", "Book upsert\n{\"isbn\":\"9\",\"title\":\"T\"}\nBook upsert\n{\"isbn\":\"9\",\"title\":\"U\"}", ""},
	{"unique in a batch", "Book insert\n{\"isbn\":\"8\",\"title\":\"T\",\"shelf\":\"x\"}\n{\"isbn\":\"9\",\"title\":\"T\",\"shelf\":\"x\"}", "@unique violation on Book.(shelf, title): value '(x, T)' held by '8' and '9'"},
	{"unique across batches", "Book upsert\n{\"isbn\":\"9\",\"title\":\"T\",\"shelf\":\"x\"}\nBook upsert\n{\"isbn\":\"8\",\"title\":\"T\",\"shelf\":\"x\"}", "value '(x, T)' held by '8' and '9'"},
	{"unique against the base", "Book insert\n{\"isbn\":\"9\",\"title\":\"One\",\"shelf\":\"s\"}", "@unique violation on Book.(shelf, title): value '(s, One)' held by '1' and '9'"},
	{"half of a tuple", "Book insert\n{\"isbn\":\"9\",\"title\":\"One\",\"shelf\":\"x\"}\n{\"isbn\":\"8\",\"title\":\"Uno\",\"shelf\":\"s\"}", ""},
	{"null in a tuple", "Book insert\n{\"isbn\":\"9\",\"title\":\"Two\"}", ""},
	{"the same row keeps its value", "Book upsert\n{\"isbn\":\"1\",\"title\":\"One\",\"shelf\":\"s\"}", ""},
	{"a value given up", "Book upsert\n{\"isbn\":\"1\",\"title\":\"New\",\"shelf\":\"s\"}\n{\"isbn\":\"9\",\"title\":\"One\",\"shelf\":\"s\"}", ""},
	{"a value given up by null", "Book upsert\n{\"isbn\":\"1\",\"title\":\"One\"}\n{\"isbn\":\"9\",\"title\":\"One\",\"shelf\":\"s\"}", ""},
	{"values swapped", "Author upsert\n{\"id\":\"a\",\"name\":\"Bob\"}\n{\"id\":\"b\",\"name\":\"Ann\"}", ""},
	{"a value of a removed row", "Author remove\n- b\nAuthor insert\n{\"id\":\"c\",\"name\":\"Bob\"}", ""},
	{"unique over ends", "Needs insert\n{\"id\":\"n9\",\"src\":\"1\",\"dst\":\"2\"}", "@unique violation on Needs.(dst, src): value '(2, 1)' held by 'n1' and 'n9'"},
	{"src", "Wrote insert\n{\"id\":\"w9\",\"src\":\"ghost\",\"dst\":\"1\"}", "src 'ghost' not found in Author (edge Wrote 'w9')"},
	{"dst", "Wrote insert\n{\"id\":\"w9\",\"src\":\"b\",\"dst\":\"ghost\"}", "dst 'ghost' not found in Book (edge Wrote 'w9')"},
	{"an end of another type", "Wrote insert\n{\"id\":\"w9\",\"src\":\"1\",\"dst\":\"1\"}", "src '1' not found in Author"},
	{"an end of the same write", "Wrote insert\n{\"id\":\"w9\",\"src\":\"c\",\"dst\":\"9\"}\nBook insert\n{\"isbn\":\"9\",\"title\":\"T\"}\nAuthor insert\n{\"id\":\"c\",\"name\":\"Cy\"}", ""},
	{"an end that goes", "Author remove\n- b\nWrote insert\n{\"id\":\"w9\",\"src\":\"b\",\"dst\":\"1\"}", "src 'b' not found in Author"},
	{"a node with edges goes", "Author remove\n- a", "src 'a' not found in Author (edge Wrote 'w1')"},
	{"a target goes", "Book remove\n- 4", "dst '4' not found in Book (edge Needs 'n5')"},
	{"a node goes with its edges", "Author remove\n- a\nWrote remove\n- w1\n- w2", ""},
	{"a node goes, one edge is moved, one stays", "Author remove\n- a\nWrote remove\n- w1\nWrote upsert\n{\"id\":\"w2\",\"src\":\"b\",\"dst\":\"2\"}", ""},
	{"overwritten nodes", "Author overwrite\n{\"id\":\"b\",\"name\":\"Bob\"}", "src 'a' not found in Author (edge Wrote 'w1')"},
	{"overwritten nodes and edges", "Author overwrite\n{\"id\":\"b\",\"name\":\"Bob\"}\nWrote overwrite\n{\"id\":\"w1\",\"src\":\"b\",\"dst\":\"1\"}", ""},
	{"overwritten, a value of before", "Author overwrite\n{\"id\":\"c\",\"name\":\"Ann\"}\n{\"id\":\"a\",\"name\":\"Zoe\"}", ""},
	{"overwritten, an end of before", "Author overwrite\n{\"id\":\"a\",\"name\":\"Ann\"}\nWrote insert\n{\"id\":\"w9\",\"src\":\"b\",\"dst\":\"1\"}", "src 'b' not found in Author"},
	{"overwritten edges only", "Wrote overwrite\n{\"id\":\"w1\",\"src\":\"b\",\"dst\":\"1\"}", ""},
	{"overwritten with an id of before", "Author overwrite\n{\"id\":\"a\",\"name\":\"Ann\"}", ""},
	{"overwritten, an id twice", "Author overwrite\n{\"id\":\"a\",\"name\":\"Ann\"}\n{\"id\":\"a\",\"name\":\"Zoe\"}", "node type 'Author' already has this id ('a')"},
	{"exactly the most edges", "Wrote insert\n{\"id\":\"x1\",\"src\":\"b\",\"dst\":\"1\"}\n{\"id\":\"x2\",\"src\":\"b\",\"dst\":\"1\"}", ""},
	{"one edge too many in a batch", "Wrote insert\n{\"id\":\"x1\",\"src\":\"b\",\"dst\":\"1\"}\n{\"id\":\"x2\",\"src\":\"b\",\"dst\":\"1\"}\n{\"id\":\"x3\",\"src\":\"b\",\"dst\":\"2\"}", "@card violation on edge Wrote: source 'b' has 3 edges (max 2)"},
	{"one edge too many on top of the base", "Wrote insert\n{\"id\":\"x1\",\"src\":\"a\",\"dst\":\"3\"}", "@card violation on edge Wrote: source 'a' has 3 edges (max 2)"},
	{"an edge said anew counts once", "Wrote upsert\n{\"id\":\"w1\",\"src\":\"a\",\"dst\":\"3\"}", ""},
	{"an edge said twice counts once", "Wrote upsert\n{\"id\":\"x1\",\"src\":\"b\",\"dst\":\"1\"}\n{\"id\":\"x1\",\"src\":\"b\",\"dst\":\"2\"}\n{\"id\":\"x2\",\"src\":\"b\",\"dst\":\"2\"}", ""},
	{"exactly the least edges", "Needs remove\n- n3", ""},
	{"one edge too few", "Needs remove\n- n1", "@card violation on edge Needs: source '1' has 1 edges (min 2)"},
	{"none left", "Needs remove\n- n1\n- n2", "@card violation on edge Needs: source '1' has 0 edges (min 2)"},
	{"a source that begins with too few", "Needs insert\n{\"id\":\"n9\",\"src\":\"3\",\"dst\":\"1\"}", "source '3' has 1 edges (min 2)"},
	{"a moved edge leaves its source short", "Needs upsert\n{\"id\":\"n1\",\"src\":\"2\",\"dst\":\"2\"}", "source '1' has 1 edges (min 2)"},
	{"a moved edge that leaves enough", "Needs upsert\n{\"id\":\"n5\",\"src\":\"1\",\"dst\":\"4\"}", ""},
	{"a source that goes itself", "Book remove\n- 1\nNeeds remove\n- n1\n- n2\n- n3\nWrote remove\n- w1", ""},
	{"an overwrite that leaves no edges", "Needs overwrite\n", ""},
	{"an overwrite that leaves too few", "Needs overwrite\n{\"id\":\"n1\",\"src\":\"1\",\"dst\":\"2\"}", "source '1' has 1 edges (min 2)"},
	{"an id that is there", "Book insert\n{\"isbn\":\"1\",\"title\":\"Uno\"}", "node type 'Book' already has this id ('1')"},
	{"an id of an edge that is there", "Wrote insert\n{\"id\":\"w1\",\"src\":\"b\",\"dst\":\"1\"}", "edge type 'Wrote' already has this id ('w1')"},
	{"an id said twice", "Author insert\n{\"id\":\"z\",\"name\":\"x\"}\n{\"id\":\"z\",\"name\":\"y\"}", "node type 'Author' already has this id ('z')"},
	{"an id said twice, upserts", "Author upsert\n{\"id\":\"z\",\"name\":\"x\"}\n{\"id\":\"z\",\"name\":\"y\"}", ""},
	{"an id that goes and comes", "Author remove\n- b\nAuthor insert\n{\"id\":\"b\",\"name\":\"Bob\"}", ""},
}

func TestRules(t *testing.T) {
	ir := pgtest.IR(t, library)
	g := memgraph.New(ir).Apply(write(t, ir, base))
	if bad := g.Naive(nil); len(bad) > 0 {
		t.Fatalf("the base breaks rules: %v", bad)
	}
	for _, c := range rulesTable {
		t.Run(c.name, func(t *testing.T) {
			d := write(t, ir, c.write)
			report, err := validate.Check(t.Context(), ir, d, g, 1)
			if err != nil {
				t.Fatal(err)
			}
			switch err := report.Err(); {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("found %v, expected %s", err, c.want)
			}
			all, err := validate.Check(t.Context(), ir, d, g, 100)
			if err != nil || (len(all.Violations) > 0) != (c.want != "") {
				t.Errorf("all: %v, %v", all.Violations, err)
			}
			if c.want != "" && all.Violations[0].Text != report.Violations[0].Text {
				t.Errorf("the first of all is %v, the first %v", all.Violations[0], report.Violations[0])
			}
		})
	}
}

// What a violation says besides its sentence.
func TestViolationFields(t *testing.T) {
	ir := pgtest.IR(t, library)
	g := memgraph.New(ir).Apply(write(t, ir, base))
	for text, want := range map[string]string{
		"Book update\n{\"isbn\":\"2\",\"title\":\"T\",\"pages\":0}":       "range node:Book [2] [pages] 0 @range(pages, 1..2000)",
		"Book update\n{\"isbn\":\"2\",\"title\":\"T\",\"genre\":\"x\"}":   "enum node:Book [2] [genre] x essay, novel",
		"Book update\n{\"isbn\":\"2\",\"title\":\"T\",\"code\":\"x\"}":    "check node:Book [2] [code] x @check(code, \"^[A-Z]+$\")",
		"Book insert\n{\"isbn\":\"9\"}":                                   "required node:Book [9] [title] null String",
		"Book insert\n{\"isbn\":\"9\",\"title\":\"One\",\"shelf\":\"s\"}": "unique node:Book [1 9] [shelf title] (s, One) ",
		"Wrote insert\n{\"id\":\"w9\",\"src\":\"b\",\"dst\":\"ghost\"}":   "endpoint edge:Wrote [w9] [dst] ghost Book",
		"Wrote insert\n{\"id\":\"w9\",\"src\":\"a\",\"dst\":\"1\"}":       "cardMax edge:Wrote [] [src] a 2",
		"Needs remove\n- n1":                           "cardMin edge:Needs [] [src] 1 2",
		"Author insert\n{\"id\":\"a\",\"name\":\"x\"}": "exists node:Author [a] [id] a ",
	} {
		report, err := validate.Check(t.Context(), ir, write(t, ir, text), g, 1)
		if err != nil {
			t.Fatal(err)
		}
		var v *validate.Violation
		if !errors.As(report.Err(), &v) {
			t.Errorf("%s: not refused", text)
			continue
		}
		if got := fmt.Sprintf("%s %s %v %v %s %s", v.Rule, v.Type.Alias(), v.IDs, v.Columns, v.Value, v.Bound); got != want {
			t.Errorf("%s:\n found %s\n expected %s", text, got, want)
		}
	}
}

// Defect D1: an upper-only range is a lower bound.
func TestUpperOnlyRangeIsALowerBound(t *testing.T) {
	ir := pgtest.IR(t, `node R { k: String @key v: I32 @range(v, ..100) }`)
	for line, want := range map[string]string{
		`{"k":"x","v":5}`:   "@range violation on R.v: value 5 < min 100",
		`{"k":"x","v":100}`: "", `{"k":"x","v":101}`: "",
	} {
		report, err := validate.Check(t.Context(), ir, change(t, ir, nil, "R insert", line), memgraph.New(ir), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := report.Err(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: found %v, expected %q", line, err, want)
		}
	}
}

// A pattern that cannot be evaluated, and a unique that has no text, refuse every
// write of the type.
func TestRulesThatCannotBeAsked(t *testing.T) {
	ir := pgtest.IR(t, "node A { n: String\n @check(n, \"(\") }\nnode B { k: String @key v: [I32]? @unique(v) }")
	for what, want := range map[string]string{
		"A insert\n{\"id\":\"1\",\"n\":\"x\"}":              "@check on A.n has invalid regex '('",
		"B insert\n{\"k\":\"1\",\"v\":[1]}":                 "scalar key: unsupported column type",
		"B insert\n{\"k\":\"1\"}\n{\"k\":\"2\",\"v\":null}": "",
	} {
		report, err := validate.Check(t.Context(), ir, write(t, ir, what), memgraph.New(ir), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := report.Err(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: found %v, expected %q", what, err, want)
		}
	}
}

func TestAllUpToABound(t *testing.T) {
	ir := pgtest.IR(t, library)
	var lines []string
	for i := range 10 {
		lines = append(lines, fmt.Sprintf(`{"isbn":"%d","title":"T","pages":0,"genre":"x"}`, i))
	}
	d := change(t, ir, nil, "Book insert", lines...)
	for most, want := range map[int]int{0: 1, 1: 1, 5: 5, 20: 20, 21: 20} {
		report, err := validate.Check(t.Context(), ir, d, memgraph.New(ir), most)
		if err != nil || len(report.Violations) != want || most > 1 && report.More != (most < 20) {
			t.Errorf("most %d: %d violations, more %v, %v", most, len(report.Violations), report.More, err)
		}
	}
}

func TestReadSet(t *testing.T) {
	ir := pgtest.IR(t, library)
	g := memgraph.New(ir).Apply(write(t, ir, base))
	d := write(t, ir, "Book upsert\n{\"isbn\":\"9\",\"title\":\"T\",\"shelf\":\"x\"}\nNeeds upsert\n{\"id\":\"n1\",\"src\":\"1\",\"dst\":\"9\"}\nAuthor overwrite\n{\"id\":\"a\",\"name\":\"x\"}")
	report, err := validate.Check(t.Context(), ir, d, g, 1)
	if err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	got := map[string]string{}
	for _, r := range report.Read.Tables {
		keys := 0
		for _, k := range r.Keys {
			keys += len(k.Tuples)
		}
		got[r.Type.Name] = fmt.Sprint(r.Pin.Version, r.Whole, r.IDs, r.Sources, r.Targets, keys)
	}
	want := map[string]string{
		"Author": "1 true [] [] [] 0",
		"Book":   "1 false [1] [] [] 1",
		"Wrote":  "1 false [] [b] [] 0",
		"Needs":  "1 false [n1] [1] [] 1",
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: read %s, expected %s", name, got[name], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("read %v", got)
	}
}

// Deltas that no caller may hand over, and a base that cannot be read.
func TestNotADelta(t *testing.T) {
	ir, other := pgtest.IR(t, library), pgtest.IR(t, library)
	book := typeOf(t, ir, "Book")
	for name, d := range map[string]validate.Delta{
		"a type of another schema": {{Type: typeOf(t, other, "Book")}},
		"a type twice":             {{Type: book}, {Type: book}},
		"overwritten and removed":  {{Type: book, Overwrite: true, Removed: []string{"1"}}},
		"too few values":           {{Type: book, Batches: []validate.Batch{{Rows: []validate.Row{{ID: "1"}}}}}},
	} {
		if _, err := validate.Check(t.Context(), ir, d, memgraph.New(ir), 1); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	lost := errors.New("lost")
	for _, text := range []string{
		"Author upsert\n{\"id\":\"c\",\"name\":\"x\"}", "Author insert\n{\"id\":\"c\",\"name\":\"x\"}", "Author remove\n- a", "Author overwrite\n",
		"Wrote insert\n{\"id\":\"w9\",\"src\":\"b\",\"dst\":\"1\"}", "Needs remove\n- n1",
	} {
		if report, err := validate.Check(t.Context(), ir, write(t, ir, text), failing{memgraph.New(ir), lost}, 1); !errors.Is(err, lost) || report != nil {
			t.Errorf("%s: %v, %v", text, report, err)
		}
	}
}

type failing struct {
	*memgraph.Graph
	err error
}

func (f failing) Existing(context.Context, *schema.Type, []string, func(string)) error { return f.err }
func (f failing) Holders(context.Context, *schema.Type, []string, [][]value.Value, func(string, []value.Value)) error {
	return f.err
}
func (f failing) Edges(context.Context, *schema.Type, []string, func(validate.Edge)) error {
	return f.err
}
func (f failing) Incident(context.Context, *schema.Type, []string, []string, func(validate.Edge)) error {
	return f.err
}
func (f failing) Counts(context.Context, *schema.Type, []string, func(string, uint64)) error {
	return f.err
}
func (f failing) IDs(context.Context, *schema.Type, func(string)) error { return f.err }
