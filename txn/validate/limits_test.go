package validate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/txn/validate"
	"github.com/omnideck/omnideck/txn/validate/memgraph"
)

// Exactly the limit is let pass, one more is not.
func TestMeter(t *testing.T) {
	ir := pgtest.IR(t, library)
	author := typeOf(t, ir, "Author")
	r := row(t, author, `{"id":"a","name":"Ann","note":1}`)
	size := validate.Size(author, &r)
	if size != 16+1+16+3+16+8 {
		t.Errorf("the row counts %d", size)
	}
	edge := row(t, typeOf(t, ir, "Wrote"), `{"id":"w","src":"aa","dst":"bbb"}`)
	if n := validate.Size(typeOf(t, ir, "Wrote"), &edge); n != 17+18+19+16 {
		t.Errorf("the edge counts %d", n)
	}
	limit := func(m *validate.Meter, size int64, n int) (err error) {
		for i := 0; i < n && err == nil; i++ {
			err = m.Add(size, i+1)
		}
		return err
	}
	for _, c := range []struct {
		unbounded bool
		size      int64
		n         int
		want      string
	}{
		{false, 1, validate.MaxRows, ""},
		{false, 1, validate.MaxRows + 1, "resource limit exceeded for keyed entities for node:Author: actual 8193, limit 8192 (line 8193); nothing was written: split it"},
		{true, 1, validate.MaxRows + 1, ""},
		{true, validate.MaxBytes / 2, 2, ""},
		{false, validate.MaxBytes/2 + 1, 2, "resource limit exceeded for strict_input_arrow_bytes for node:Author: actual 33554434, limit 33554432"},
		{true, validate.MaxBytes + 1, 1, "actual 33554433"},
	} {
		m := &validate.Meter{Type: author, Unbounded: c.unbounded, Advice: "split it"}
		err := limit(m, c.size, c.n)
		var over *validate.LimitError
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &over) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d of %d bytes: %v, expected %q", c.n, c.size, err, c.want)
		}
	}
}

// Questions of a base are put in portions.
func TestQuestionsInPortions(t *testing.T) {
	ir := pgtest.IR(t, library)
	var lines []string
	for i := range validate.MaxProbe + 1 {
		lines = append(lines, fmt.Sprintf(`{"id":"w%d","src":"b","dst":"g%d"}`, i, i))
	}
	d := change(t, ir, nil, "Wrote insert", lines...)
	g := memgraph.New(ir).Apply(write(t, ir, base)) // it refuses more than MaxProbe
	report, err := validate.Check(t.Context(), ir, d, g, 10)
	if err != nil || len(report.Violations) != 10 || !report.More {
		t.Fatalf("%d violations, more %v, %v", len(report.Violations), report.More, err)
	}
	if g.Asked["existing"] != 5 { // one of sources, two of targets, and two of the edges' own ids
		t.Errorf("ids were asked for in %d questions", g.Asked["existing"])
	}
}

// A removal of more nodes than one question has: every edge that is left is told,
// once, though both its ends go.
func TestRemovalInPortions(t *testing.T) {
	ir := pgtest.IR(t, "node P { k: String @key }\nedge E: P -> P")
	var d validate.Delta
	var nodes, edges, gone []string
	for i := range validate.MaxProbe + 2 {
		nodes = append(nodes, fmt.Sprintf(`{"k":"%d"}`, i))
		gone = append(gone, fmt.Sprint(i))
	}
	gone = gone[1:] // 0 stays
	for i, to := range []int{0, 1, 2, validate.MaxProbe, validate.MaxProbe + 1} {
		edges = append(edges, fmt.Sprintf(`{"id":"e%d","src":"%d","dst":"%d"}`, i, validate.MaxProbe+1-to, to))
	}
	g := memgraph.New(ir).Apply(change(t, ir, change(t, ir, d, "P insert", nodes...), "E insert", edges...))
	report, err := validate.Check(t.Context(), ir, change(t, ir, nil, "P remove", gone...), g, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range report.Violations {
		got = append(got, v.IDs[0]+" "+v.Columns[0]+" "+v.Value)
	}
	want := "[e0 src 8193 e1 src 8192 e1 dst 1 e2 src 8191 e2 dst 2 e3 src 1 e3 dst 8192 e4 dst 8193]"
	if fmt.Sprint(got) != want || g.Asked["incident"] != 4 {
		t.Errorf("found %v in %d questions, expected %s", got, g.Asked["incident"], want)
	}
}

// The rules fed row by row, as of a whole table.
func TestRulesOnStreams(t *testing.T) {
	ir := pgtest.IR(t, library)
	book, wrote := typeOf(t, ir, "Book"), typeOf(t, ir, "Wrote")
	ids, groups := validate.NewIDs(book), validate.Groups(book)
	var got []string
	tell := func(v *validate.Violation) bool {
		if v != nil {
			got = append(got, v.Error())
		}
		return true
	}
	values, bad := validate.NewValueRules(book)
	if bad != nil {
		t.Fatal(bad)
	}
	for _, l := range []string{`{"isbn":"1","title":"A","shelf":"s"}`, `{"isbn":"2","title":"A","shelf":"s","pages":0}`, `{"isbn":"1","title":"B"}`, `{"isbn":"3"}`} {
		r := row(t, book, l)
		tell(ids.Add(r.ID))
		for _, g := range groups {
			tell(g.Add(&r))
		}
		values.Check(&r, tell)
	}
	degree := validate.NewDegree(wrote)
	for _, l := range []string{`{"id":"w1","src":"a","dst":"1"}`, `{"id":"w2","src":"a","dst":"9"}`, `{"id":"w3","src":"a","dst":"2"}`} {
		r := row(t, wrote, l)
		validate.Endpoints(wrote, &r, func(id string) bool { return id == "a" }, ids.Has, tell)
		degree.Add(r.Src, 1)
	}
	degree.Done(tell)
	want := []string{
		"@unique violation on Book.(shelf, title): value '(s, A)' held by '1' and '2'",
		"@range violation on Book.pages: value 0 < min 1 (node Book '2')",
		"node type 'Book' has the id '1' in more than one row",
		"@unique violation on Book.isbn: value '1' held by '1' and '1'",
		"non-nullable property 'title' has null or invalid values (node Book '3')",
		"dst '9' not found in Book (edge Wrote 'w2')",
		"@card violation on edge Wrote: source 'a' has 3 edges (max 2)",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if validate.NewDegree(typeOf(t, pgtest.IR(t, "node P { k: String }\nedge E: P -> P"), "E")) != nil {
		t.Error("degrees that nothing bounds are counted")
	}
}
