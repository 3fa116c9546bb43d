package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/internal/pgtest"
)

// maker makes queries over the schema `wide`, most of them wrong in some way.
type maker struct{ *rand.Rand }

func (m maker) of(options ...string) string { return options[m.IntN(len(options))] }

func (m maker) prop() string {
	return m.of("slug", "name", "tier", "tags", "marks", "replicas", "small", "big", "cost", "rate", "launched", "checked", "up", "logo", "vec", "made", "a", "b", "note", "weight", "kind", "since", "nope", "from", "to", "id")
}

func (m maker) variable() string {
	return m.of("$s", "$s", "$t", "$b", "$e", "$p", "$q", "$_", "$u")
}

func (m maker) value() string {
	return m.of(`"gold"`, `"x"`, "1", "1", "2.5", "true", `date("2024-01-01")`, `datetime("2024-01-01T00:00:00Z")`, "[]", "[1, 2]", "[1, 2, 3]", "[1, 2.5, 3]", `["a", "b"]`, `[1, "a"]`, "[[1]]", "$p", "$q", "$u", "now()")
}

func (m maker) expr(deep int) string {
	e := func() string { return m.expr(deep - 1) }
	if deep == 0 || m.IntN(3) > 0 {
		return m.of(m.variable()+"."+m.prop(), "$s."+m.prop(), m.variable(), m.value(), "al", "other")
	}
	rank := func() string {
		return m.of("nearest("+m.of("$s.vec", m.variable()+"."+m.prop())+", "+m.of("[1, 2, 3]", e())+")", "bm25("+m.of("$s.slug", e())+", "+m.of(`"a"`, e())+")")
	}
	switch m.IntN(6) {
	case 0:
		return m.of("search", "fuzzy", "match_text") + "(" + m.of("$s.slug", e()) + ", " + m.of(`"a"`, e()) + ")"
	case 1:
		return "fuzzy($s.name, \"a\", " + m.of("1", e()) + ")"
	case 2:
		return "rrf(" + rank() + ", " + rank() + m.of("", ", 1", ", 0", ", "+e()) + ")"
	case 3:
		return rank()
	}
	return m.of(aggregates...) + "(" + e() + ")"
}

func (m maker) props() string {
	if m.IntN(2) == 0 {
		return ""
	}
	return " { " + m.prop() + ": " + m.value() + m.of("", ",", ", slug: \"a\"") + " }"
}

func (m maker) clause(deep int) string {
	switch m.IntN(7) {
	case 0:
		return m.variable() + ": " + m.of("Service", "Service", "Box", "Named", "DependsOn") + m.props()
	case 1, 2:
		bounds := m.of("", "", "", "{1,2}", "{1,1}", "{0,1}", "{2,1}", "{2,}")
		return m.variable() + " " + m.of("", "", m.variable()+":") + m.of("dependsOn", "dEPENDSON", "holds", "<dependsOn>", "<holds>", "dependson", "nope") + bounds + " " + m.variable()
	case 3:
		if deep > 0 {
			return "not { " + m.clause(deep-1) + " " + m.clause(deep-1) + " }"
		}
	case 4:
		return m.of("search", "match_text") + "(" + m.of("$s.slug", m.expr(1)) + ", \"x\")"
	}
	return m.expr(1) + " " + m.of("=", "!=", "<", ">=", "contains", "starts_with") + " " + m.expr(1)
}

func (m maker) query(i int) string {
	params := ""
	if m.IntN(4) > 0 {
		params = "$p: " + m.of("String", "String?", "I32", "F64?", "Date", "DateTime", "[String]", "[I32]", "Blob", "Vector(3)", "Vector(2)", "Vector(0)", "Bool", "U64")
	}
	head := fmt.Sprintf("query q%d(%s) { ", i, params)
	if m.IntN(2) == 0 {
		for range 1 + m.IntN(2) {
			head += m.mutation()
		}
		return head + "}\n"
	}
	head += "match { $s: Service" + m.props()
	for range m.IntN(3) {
		head += " " + m.clause(1)
	}
	head += " } return { " + m.expr(2) + m.of("", " as al", " as other") + m.of("", ", "+m.expr(1)) + " }"
	if m.IntN(2) == 0 {
		order := m.expr(2)
		if !strings.HasPrefix(order, "nearest") {
			order += m.of("", " asc", " desc")
		}
		head += " order { " + order + " }"
	}
	return head + m.of("", " limit 3") + " }\n"
}

func (m maker) mutation() string {
	typ := m.of("Service", "Service", "Box", "DependsOn", "Holds", "Named", "Nope")
	set := map[string]string{
		"Service":   "slug: \"a\", name: \"b\", tier: \"gold\", made: [1, 2] ",
		"Box":       "a: \"x\" b: 1 ",
		"DependsOn": "from: \"a\", to: \"b\" ",
		"Holds":     "from: \"a\", to: \"b\", since: date(\"2024-01-01\") ",
	}[typ]
	if m.IntN(3) == 0 {
		set = ""
	}
	for range m.IntN(3) {
		set += m.prop() + ": " + m.value() + m.of(" ", ", ")
	}
	if set == "" {
		set = "slug: " + m.value()
	}
	where := " where " + m.of("slug", m.prop()) + " " + m.of("=", "!=", "<", ">=") + " " + m.value() + " "
	return m.of("insert "+typ+" { "+set+" } ", "update "+typ+" set { "+m.prop()+": "+m.value()+" }"+where, "delete "+typ+where)
}

type rustLint struct {
	Errors, Warnings int
	Results          []struct {
		Name, Kind, Status, Error string
		Warnings                  []string
	}
	Findings []struct {
		Severity, Code, Message string
		QueryNames              []string `json:"query_names"`
	}
}

func rust(t *testing.T, bin, source string) rustLint {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"s.pg": wide, "q.gq": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), bin, "lint", "--json", "--schema", filepath.Join(dir, "s.pg"), "--query", filepath.Join(dir, "q.gq")).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var r rustLint
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

var code = regexp.MustCompile(`^type error: (T\d+)?`)

// TestLikeTheRustLint: made queries, and those of errors_test.go, get the same
// verdicts, the same rule, and the same warnings from the Rust CLI's lint.
func TestLikeTheRustLint(t *testing.T) {
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("OMNIGRAPH_BIN is not set: verdicts are not compared with the Rust CLI's lint")
	}
	const seed, count = 20261129, 4000
	m := maker{rand.New(rand.NewPCG(seed, 0))}
	source, refused := "", 0
	for i := range count {
		q := m.query(i)
		if _, err := Parse(q); err == nil {
			source += q
		} else if refused++; refused <= 20 && len(rust(t, bin, q).Results) > 0 {
			t.Errorf("the Rust CLI reads what we do not: %s%v", q, err)
		}
	}
	for _, text := range wrong {
		_, one := split(text)
		if _, err := Parse(one); err == nil {
			source += one + "\n"
		}
	}
	ir := pgtest.IR(t, wide)
	ours, theirs := Lint(source, ir), rust(t, bin, source)
	if len(ours.Results) != len(theirs.Results) || len(ours.Results) < count*3/4 {
		t.Fatalf("%d queries, the Rust CLI reads %d; %v %v", len(ours.Results), len(theirs.Results), ours.Findings, theirs.Findings)
	}
	good, codes := 0, map[string]int{}
	for i, r := range ours.Results {
		their := theirs.Results[i]
		got, want := "", their.Error
		if r.Err != nil {
			got = r.Err.Error()
		}
		if code.FindString(got) != code.FindString(want) || len(r.Warnings) != len(their.Warnings) || r.Query.Reads() != (their.Kind == "read") {
			t.Errorf("%s\n ours: %s %q\ntheirs: %s %q", line(source, i), got, r.Warnings, want, their.Warnings)
		}
		if got == "" {
			good++
		}
		codes[code.FindString(got)]++
	}
	if ours.Count(SeverityError) != theirs.Errors || ours.Count(SeverityWarning) != theirs.Warnings {
		t.Errorf("%d errors, %d warnings; the Rust CLI counts %d, %d", ours.Count(SeverityError), ours.Count(SeverityWarning), theirs.Errors, theirs.Warnings)
	}
	var l201 []string
	for _, f := range ours.Findings {
		if f.Code == "L201" {
			l201 = append(l201, f.Message)
		}
	}
	for i, f := range theirs.Findings {
		if f.Code != "L201" || i >= len(l201) || l201[i] != f.Message {
			t.Errorf("finding %d is %+v, ours are %q", i, f, l201)
		}
	}
	t.Logf("seed %d: %d queries, %d of them good; %v", seed, len(ours.Results), good, codes)
}

func line(source string, i int) string {
	file, err := Parse(source)
	if err != nil {
		return ""
	}
	at := file.Queries[i].At
	end := strings.Index(source[at:]+"\nquery ", "\nquery ")
	return "query " + source[at:][:min(end, len(source)-at)]
}

// TestGrammarLikeTheRustParser: what one parser refuses, the other does too.
func TestGrammarLikeTheRustParser(t *testing.T) {
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("OMNIGRAPH_BIN is not set: the grammar is not compared with the Rust CLI's")
	}
	texts := slices.Clone(cuts)
	for _, text := range wrong {
		_, source := split(text)
		if _, err := Parse(source); err != nil && source != "" && len(source) < 400 {
			texts = append(texts, source)
		}
	}
	for _, source := range texts {
		_, err := Parse(source)
		r := rust(t, bin, source)
		refused := len(r.Findings) > 0 && r.Findings[0].Code == "Q000"
		if (err != nil) != refused {
			t.Errorf("%s\nours: %v\ntheirs: %+v", source, err, r.Findings)
		}
	}
}

// cuts are texts where the alternatives of the grammar meet.
var cuts = []string{
	"queryq(){match{$s:Service}return{$s.slug}}", "query q($a:String?,$b:[I32]?,$c:Vector(3)){deleteServicewhereslug=$a}", "query q($a: String ?) { match { $s: Service } return { $s } }", "query q($a: DateTime, $b: Date) { match { $s: Service } return { $s } }",
	"query q() { match { $s: Service } return { $s.slug assets trueish falsey datelike nowish countable } }", "query q() { match { $s: Service } return { $s . slug } }", "query q() { match { $s: Service } return { $ s } }", "query q() { match { $s: Service } return { now ( ) as n, } }",
	"query q() { match { $s: Service $s.a < $s.b } return { $s } }", "query q() { match { $s: Service $s < $t } return { $s } }", "query q() { match { $s: Service $s <dependsOn> $t } return { $s } }", "query q() { match { $s: Service $s < dependsOn > {1,2} $t } return { $s } }", "query q() { match { $s: Service $s notes $t } return { $s } }",
	"query q() { match { $s: Service $s not $t } return { $s } }", "query q() { match { $s: Service $s not9 $t } return { $s } }", "query q() { match { $s: Service not{ $s dependsOn $_ } } return { $s } }", "query q() { match { $s: Service { } } return { $s } }", "query q() { match { $s: Service { slug: \"a\",, } } return { $s } }",
	"query q() { match { $s: Service $e:dependsOn $t } return { $s } }", "query q() { match { $s: Service $s $e:Service $t } return { $s } }", "query q() { match { $s: Service $s dependsOn{1,2}$t } return { $s } }", "query q() { match { $s: Service $s dependsOn $t.slug } return { $s } }", "query q() { match { \"a\" = \"a\" } return { 1 } }",
	"query q() { match { $s: Service search($s.slug, \"a\") = true } return { $s } }", "query q() { match { $s: Service bm25($s.slug, \"a\") } return { $s } }", "query q() { match { $s: Service search($s.slug) } return { $s } }", "query q() { match { $s: Service } return { rrf($s.a, $s.b) } }", "query q() { match { $s: Service } return { nearest($s, [1]) } }",
	"query q() { match { $s: Service } return { count(*) } }", "query q() { match { $s: Service } return { count() } }", "query q() { match { $s: Service } return { min($s.slug) as min } order { min desc } }", "query q() { match { $s: Service } return { $s } order { search($s.slug, \"a\") asc, $s } }", "query q() { match { $s: Service } return { [ 1 , 2 , ] } }",
	"query q() { match { $s: Service } return { [] [1] 1.5.5 } }", "query q() { match { $s: Service } return { 1 .5 } }", "query q() { match { $s: Service } return { date ( \"x\" ) datetime(\"\") \"\" } }", "query q() { insert Service { slug: \"a\" name: \"b\",tier:\"gold\", } insert Box { a: \"a\" b: 1 } }", "query q() { insert Service { slug: \"a\",, } }",
	"query q() { match { $s: Service } return { $s } delete Box where b = 1 }", "query q() { delete Box where b = 1 match { $s: Service } return { $s } }", "query q() { update Box set { note: now() } where b >= 1 delete Box where b != 2 }", "query q() /* a */ @description(\"a\") // b\n @instruction(\"c\") { delete Box where b = 1 }", "query q() { delete Box where b = 1 } /**/ // end", "query q() { delete Box where b = 1 } /*/",
	"query q() { delete Box where note = \"a\\\\\\\"\\n\\r\\t b\nc\" }", "query q() { delete Box where note = \"a\\\" }", "query é() { delete Box where b = 1 }", "query q() { delete Box where note = \"é\" é }", "query q(,) { delete Box where b = 1 }", "query q() { match { $s: Service } return { $s } limit 1.5 }", "query q() { match { $s: Service } return { $s } limit }", "query q() { match { $s: Service } return { $s }, }",
}
