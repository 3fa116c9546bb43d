package query

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/internal/pgtest"
)

// right are mutations that are bound and run.
var right = []string{
	`{"n":null} query q($n: I32?) { update Service set { replicas: $n } where slug = "a" }`, `query q($n: I32?) { update Service set { replicas: $n } where slug = "a" }`, `query q($n: I32) { delete Box where b = 1 }`, `{"n":"+5"} query q($n: U32) { update Service set { small: $n } where slug = "a" }`,
	`{"n":"-5"} query q($n: I32) { update Service set { replicas: $n } where slug = "a" }`, `{"n":5} query q($n: I64) { update Service set { replicas: $n } where slug = "a" }`, `{"n":5} query q($n: F64) { update Service set { rate: $n } where slug = "a" }`, `{"n":3.5e38} query q($n: F64) { update Service set { cost: $n } where slug = "a" }`,
	`{"n":9223372036854775807} query q($n: U64) { update Service set { big: $n } where big = $n }`, `{"n":[1,2]} query q($n: [I32]) { update Service set { marks: $n } where slug = "a" }`, `{"n":[]} query q($n: [String]) { update Service set { tags: $n } where slug = "a" }`, `query q() { update Service set { tags: [] } where slug = "a" }`,
	`{"n":[1,2,3]} query q($n: Vector(3)) { update Service set { vec: $n } where slug = "a" }`, `query q() { update Service set { vec: [1, 2.5, 16777217] } where slug = "a" }`, `{"n":"2024-02-30"} query q($n: Date) { delete Box where b = 1 }`, `{"n":"2024-02-29"} query q($n: Date) { update Service set { launched: $n } where slug = "a" }`,
	`{"n":"2024-02-29T10:00:00.5+02:00"} query q($n: DateTime) { update Service set { checked: $n } where slug = "a" }`, `query q() { update Service set { checked: datetime("2024-02-29") } where slug = "a" }`, `query q() { update Service set { checked: now() } where slug = "a" }`, `{"n":"base64:aGk="} query q($n: Blob) { update Service set { logo: $n } where slug = "a" }`,
	`{"n":"base64:aGk="} query q($n: String) { update Service set { logo: $n } where slug = "a" }`, `query q() { delete Service where tier != "gold" }`, `query q() { delete Service where up < true }`, `query q() { delete Service where cost < 1 }`, `query q() { delete Service where rate = 0.1 }`, `query q() { delete Service where replicas = 3 }`, `query q() { delete DependsOn where from != "a" delete Holds where to = "b" }`,
	`{"x":1,"y":[1,[null]],"z":null} query q() { delete Box where b = 1 }`, `null query q() { delete Box where b = 1 }`, `query q() { insert Service { slug: "x", name: "n", tier: "gold", made: [1, 2] } insert DependsOn { from: "x", to: "x", weight: 0.5 } }`, `query q() { insert Box { a: "x" b: 1 } update Box set { note: "n" } where a = "x" }`,
	// where the Rust engine refuses and we do the right thing: D10, D13
	`D10 query q() { delete Service where launched < date("2024-01-01") }`, `D10 query q() { delete Service where checked != now() }`, `D10 query q() { delete Service where replicas > 2.5 }`, `D10 query q() { delete Service where replicas < 9000000000 }`, `D10 query q() { delete Service where small > -0.5 }`,
	`D13 query q() { update Service set { cost: 5 } where slug = "a" }`, `{"n":5} D13 query q($n: I64) { update Service set { rate: $n } where slug = "a" }`,
}

// onlyOurs are errors of ours about what the Rust engine takes, each with the
// reason.
var onlyOurs = map[string]string{
	"which where cannot compare":      "it finds no row, whatever the list",
	"the name is reserved":            "it fails where the query has now()",
	"element 1: cannot convert Float": "it stores null for the element",
}

// rustGraph is a graph of the Rust CLI that has the schema wide and one row.
type rustGraph struct {
	t        *testing.T
	bin, uri string
}

// newRustGraph makes the graph, or skips the test where there is no Rust CLI.
func newRustGraph(t *testing.T) rustGraph {
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("OMNIGRAPH_BIN is not set: bound mutations are not run by the Rust CLI")
	}
	dir := t.TempDir()
	g := rustGraph{t, bin, filepath.Join(dir, "g")}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := g.run("init", "--schema", write("s.pg", wide), g.uri); err != nil {
		t.Fatal(err)
	}
	row := `{"type":"Service","data":{"slug":"a","name":"A","tier":"gold","made":[0,0],"replicas":2,"cost":2.5}}`
	if err := g.run("load", "--mode", "overwrite", "--data", write("d.jsonl", row), g.uri); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g rustGraph) run(args ...string) error {
	_, err := exec.CommandContext(g.t.Context(), g.bin, args...).Output()
	return err
}

// mutate runs query q of the source; no parameters are passed for "".
func (g rustGraph) mutate(source, params string) error {
	args := []string{"mutate", "q", "--store", g.uri, "-e", source}
	if params != "" {
		args = append(args, "--params", params)
	}
	return g.run(args...)
}

// mutations are the texts of wrong and right that are bound and run.
func mutations() []string {
	var texts []string
	for _, text := range wrong {
		if _, source := split(text); strings.Contains(source, "mutat") || !strings.Contains(source, "match {") {
			texts = append(texts, text)
		}
	}
	return append(texts, right...)
}

// splitDefect splits one of mutations; defect is the number of what is wrong in
// the Rust engine, or "".
func splitDefect(text string) (params, source, defect string) {
	params, source = split(text)
	if strings.HasPrefix(params, "null") || strings.HasPrefix(source, "null ") {
		params, source = "null", strings.TrimPrefix(source, "null ")
	}
	if source != "" && source[0] == 'D' {
		defect, source, _ = strings.Cut(source, " ")
	}
	return params, source, defect
}

// excused: onlyOurs has the reason of an error.
func excused(ours error) bool {
	for part := range onlyOurs {
		if ours != nil && strings.Contains(ours.Error(), part) {
			return true
		}
	}
	return false
}

// TestBindLikeTheRustEngine runs mutations with the Rust CLI on a graph: what
// we bind it runs, what we refuse it refuses, but for what is listed here.
func TestBindLikeTheRustEngine(t *testing.T) {
	g, ir := newRustGraph(t), pgtest.IR(t, wide)
	bound := 0
	for _, text := range mutations() {
		params, source, defect := splitDefect(text)
		file, err := Parse(source)
		if err != nil || len(file.Queries) != 1 {
			continue
		}
		checked, err := Check(file.Queries[0], ir)
		if err != nil {
			continue
		}
		_, ours := checked.Bind([]byte(params), time.Unix(0, 0))
		theirs := g.mutate(source, params)
		differ := defect != "" || excused(ours)
		if bound++; (ours == nil) == (theirs == nil) == differ {
			said := ""
			var exit *exec.ExitError
			if errors.As(theirs, &exit) {
				said = string(exit.Stderr)
			}
			t.Errorf("%s\n  ours: %v\ntheirs: %v %s", text, ours, theirs, said)
		}
	}
	t.Logf("%d mutations", bound)
}
