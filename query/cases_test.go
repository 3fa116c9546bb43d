package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/lex"
	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/schema"
)

// caseOf is one case of testdata/cases.json: what the Rust CLI answered to a
// query, as far as it concerns this package.
type caseOf struct {
	Name, Query, Error, Defect string
	Schema                     int
	QueryName                  string `json:"query_name"`
	Params                     json.RawMessage
	Warnings                   int
	Findings, Then             []string
}

func cases(t *testing.T) (schemas []string, all []caseOf) {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Schemas []string
		Cases   []caseOf
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Schemas, file.Cases
}

// TestCasesAreThoseOfTheConformanceFile: the cases here are all of that file
// that have a query.
func TestCasesAreThoseOfTheConformanceFile(t *testing.T) {
	file, err := fixtures.Shared("conformance", "languages.jsonl")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	schemas, all := cases(t)
	n := 0
	for line := range bytes.Lines(file) {
		var c struct {
			caseOf
			Schema string
			Params any
			Expect struct {
				Error    string `json:"error_contains"`
				Warnings int
				Findings []string
			}
			Then []struct{ Query string }
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if c.Query == "" || c.Name == "" {
			continue
		}
		if n >= len(all) {
			t.Fatalf("%s is not in testdata/cases.json", c.Name)
		}
		ours := all[n]
		n++
		var params any
		if ours.Params != nil {
			if err := json.Unmarshal(ours.Params, &params); err != nil {
				t.Fatal(err)
			}
		}
		got, _ := json.Marshal([]any{ours.Name, ours.Query, ours.QueryName, schemas[ours.Schema], params, ours.Error, ours.Warnings, ours.Findings, ours.Defect, len(ours.Then)})
		want, _ := json.Marshal([]any{c.Name, c.Query, c.QueryName, c.Schema, c.Params, c.Expect.Error, c.Expect.Warnings, c.Expect.Findings, c.Defect, len(c.Then)})
		if !bytes.Equal(got, want) {
			t.Errorf("testdata/cases.json has\n%s\nthe conformance file\n%s", got, want)
		}
	}
	if n != len(all) {
		t.Errorf("%d cases, the conformance file has %d with a query", len(all), n)
	}
}

// ours is what we say where the Rust engine answers with wrong rows or fails
// later, as decided; the name of the defect in languages.md §3.10 comes first.
var ours = map[string]string{
	"match/inline-param-missing-drops-filter":       "D2 parameter 't' not provided",
	"match/inline-undeclared-variable-drops-filter": "D2 variable `$t` is not a declared parameter",
	"match/only-traversal-no-binding":               "D3 no binding leads to the traversal `$a dependsOn $b`",
	"traverse/unconnected-traversal-ignored":        "D3 no binding leads to the traversal `$x affects $y`",
	"match/same-variable-bound-twice-cross-product": "D4 variable `$s` is bound a second time",
	"not/rebinding-outer-variable-inside":           "D4 variable `$s` is bound a second time",
	"match/now-in-read-filter":                      "D2 ", // now() has a value
	"return/now-in-read":                            "D2 ",
	"match/inline-now-drops-filter":                 "D2 ",
	"mutate/int-literal-into-float-property":        "D13 ", // 5 is 5.0
	"mutate/where-date":                             "D10 ", // compared by value
	"mutate/where-datetime":                         "D10 ",
	"mutate/now-in-where":                           "D10 ",
	"mutate/where-fraction-against-int-column":      "D10 ",
	"mutate/where-out-of-range-int":                 "D10 ",
}

// later are the errors that only rows, or the executor of reading queries, find.
var later = []string{
	"not found in ", "@unique violation", "@card violation", "@range violation", "invalid enum value", "Cannot cast string",
	"unsupported projection expression", "unsupported ordering expression", "not found for ordering", "cannot be typechecked with read-query API",
}

// TestConformance runs every query of every case as far as this package goes.
func TestConformance(t *testing.T) {
	schemas, all := cases(t)
	irs := make([]*schema.IR, len(schemas))
	for i, s := range schemas {
		irs[i] = pgtest.IR(t, s)
	}
	if len(all) != 199 {
		t.Errorf("%d cases, expected 199", len(all))
	}
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for _, c := range all {
		if strings.HasPrefix(c.Name, "lint/") {
			lintCase(t, c, irs[c.Schema])
			continue
		}
		want := c.Error
		if slices.ContainsFunc(later, func(s string) bool { return strings.Contains(want, s) }) {
			want = ""
		}
		if own, ok := ours[c.Name]; ok {
			defect, text, _ := strings.Cut(own, " ")
			if want = text; defect != c.Defect {
				t.Errorf("%s is defect %s, not %s", c.Name, c.Defect, defect)
			}
		}
		err := run(c.Query, c.QueryName, irs[c.Schema], c.Params, now)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", c.Name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want an error with %q", c.Name, err, want)
		}
		for _, q := range c.Then {
			if err := run(q, "", irs[c.Schema], nil, now); err != nil {
				t.Errorf("%s, then %s: %v", c.Name, q, err)
			}
		}
	}
}

// run parses, selects, checks and binds.
func run(source, name string, ir *schema.IR, params []byte, now time.Time) error {
	file, err := Parse(source)
	if err != nil {
		return err
	}
	q, err := file.Select(name)
	if err != nil {
		return err
	}
	checked, err := Check(q, ir)
	if err != nil {
		return err
	}
	_, err = checked.Bind(params, now)
	return err
}

func lintCase(t *testing.T, c caseOf, ir *schema.IR) {
	t.Helper()
	report := Lint(c.Query, ir)
	text := ""
	for _, r := range report.Results {
		if r.Err != nil {
			text += r.Err.Error()
		}
	}
	var warned []string
	for _, f := range report.Findings {
		if text += f.Message; f.Severity == SeverityWarning {
			warned = append(warned, f.Message)
		}
	}
	if (c.Error != "") != (report.Count(SeverityError) > 0) || !strings.Contains(text, c.Error) {
		t.Errorf("%s: %q, want an error with %q", c.Name, text, c.Error)
	}
	for _, f := range c.Findings {
		if !slices.Contains(warned, f) {
			t.Errorf("%s: findings %q lack %q", c.Name, warned, f)
		}
	}
	if c.Warnings != 0 && report.Count(SeverityWarning) != c.Warnings {
		t.Errorf("%s: %d warnings, want %d", c.Name, report.Count(SeverityWarning), c.Warnings)
	}
}

// TestSharedQueries: the queries of the graphs fit the schema of the graphs.
func TestSharedQueries(t *testing.T) {
	text, err := fixtures.Shared("graphs", "harbor", "harbor.gq")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	pg, err := fixtures.Shared("graphs", "harbor", "harbor.pg")
	if err != nil {
		t.Fatal(err)
	}
	report := Lint(string(text), pgtest.IR(t, string(pg)))
	if len(report.Results) < 10 {
		t.Errorf("%d queries", len(report.Results))
	}
	for _, r := range report.Results {
		if r.Err != nil || r.Checked.Refused != nil || len(r.Warnings) > 0 {
			t.Errorf("%s: %v %v %q", r.Query.Name, r.Err, r.Checked.Refused, r.Warnings)
		}
	}
}

// TestErrorKinds: a caller tells errors by type, not by text.
func TestErrorKinds(t *testing.T) {
	ir := pgtest.IR(t, "node A { k: String @key n: I32? v: Vector(2)? tags: [String]? when: DateTime? } edge L: A -> A { w: F32? }")
	now := time.Unix(0, 0)
	is := func(err error, target any) bool { return errors.As(err, target) }
	for _, c := range []struct {
		source, name, params string
		as                   func(error) bool
	}{
		{"query q() {", "", "", func(e error) bool { return is(e, new(*lex.Error)) }},
		{"query q() { delete B where k = 1 }", "", "", func(e error) bool { return is(e, new(*TypeError)) }},
		{"query q() { delete A where n = 1 }", "r", "", func(e error) bool { return is(e, new(*SelectError)) }},
		{"", "", "", func(e error) bool { return is(e, new(*SelectError)) }},
		{"query q() { update A set { k: \"x\" } where n = 1 }", "", "", func(e error) bool { return is(e, new(*RefusedError)) }},
		{"query q($k: String) { delete A where k = $k }", "q", "{}", func(e error) bool { return is(e, new(*ParamError)) }},
		{"query q($k: String) { delete A where k = $k }", "q", "{", func(e error) bool { return is(e, new(*ParamError)) }},
	} {
		if err := run(c.source, c.name, ir, []byte(c.params), now); err == nil || !c.as(err) {
			t.Errorf("%s: %T %v", c.source, err, err)
		}
	}
}
