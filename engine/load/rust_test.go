package load_test

import (
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

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn/validate"
	"github.com/omnideck/omnideck/txn/validate/memgraph"
)

// rust is the Rust CLI with a graph of its own.
type rust struct {
	t          *testing.T
	bin, graph string
}

func newRust(t *testing.T, source string) *rust {
	t.Helper()
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set: the Rust CLI does not load what is read here")
	}
	dir := t.TempDir()
	pg := filepath.Join(dir, "s.pg")
	if err := os.WriteFile(pg, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &rust{t, bin, filepath.Join(dir, "g")}
	if out, err := exec.CommandContext(t.Context(), bin, "init", "--schema", pg, r.graph).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

var (
	colour = regexp.MustCompile("\x1b\\[[0-9;]*m")
	report = regexp.MustCompile(`Error: 0: (.*?) Location: `)
)

// load is what the Rust CLI says about a load, "" when it loaded.
func (r *rust) load(mode load.Mode, text string) string {
	r.t.Helper()
	data := filepath.Join(filepath.Dir(r.graph), "data.jsonl")
	if err := os.WriteFile(data, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	out, err := exec.CommandContext(r.t.Context(), r.bin, "load", "--quiet", "--mode", string(mode), "--data", data, r.graph).CombinedOutput()
	if err == nil {
		return ""
	}
	said := report.FindStringSubmatch(strings.Join(strings.Fields(colour.ReplaceAllString(string(out), "")), " "))
	if said == nil {
		r.t.Fatalf("%v: %s", err, out)
	}
	return said[1]
}

var (
	added = regexp.MustCompile(`( \((node|edge) \S+( '.*')?\)| \('.*'\)| \((list|vector|blob) property '.*'\))+$`)
)

// words are those of a message that the Rust engine has too.
func words(err error) string {
	var syntax *load.SyntaxError
	var wrong *load.InputError
	var limit *validate.LimitError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("invalid strict JSON at line %d: ", syntax.Line)
	case errors.As(err, &limit):
		return fmt.Sprintf(": actual %d, limit %d", limit.Actual, limit.Limit)
	case errors.As(err, &wrong):
		text, _, _ := strings.Cut(added.ReplaceAllString(wrong.Text, ""), ": expected a ")
		text, _, _ = strings.Cut(text, " invalid item: ")
		return text
	}
	return added.ReplaceAllString(err.Error(), "")
}

// ours are words of our own where the Rust engine says them otherwise, or more of
// it: what follows them is a matter of a library there.
var ours = []string{"invalid base64 blob data: ", "external blob URI 'file:///x' is not allowed: "}

// TestRefusalsLikeTheRustEngine: the table of refusals, in its words.
func TestRefusalsLikeTheRustEngine(t *testing.T) {
	r := newRust(t, library)
	ir := pgtest.IR(t, library)
	for _, c := range refusals {
		_, err := load.Read(strings.NewReader(c.lines), ir, load.Options{Mode: load.Append, NewID: numbered()})
		want := words(err)
		for _, start := range ours {
			if strings.HasPrefix(want, start) {
				want = start
			}
		}
		said := r.load(load.Append, c.lines)
		if (c.name == "the first of two types" || c.name == "no UTF-8") && said != "" {
			continue // it may tell of either; it says so before it reads lines
		}
		if !strings.Contains(said, want) {
			t.Errorf("%s:\n the Rust engine says %s\n here %s", c.name, said, want)
		}
	}
}

const many3 = `
node B { k: String @key t: String g: enum(x, y)? n: I32? c: String? s: String? d: Date? v: Vector(2)? l: [I32]?
  @range(n, 1..5) @check(c, "^[A-Z]$") @unique(s, t) }
node A { m: String? @unique f: F64? @range(f, ..2) }
edge W: A -> B @card(0..2) { r: enum(p, q)? }
edge N: B -> B @card(2..) { @unique(src, dst) }
`

// drawn is one line about few entities, often wrong in some way.
func drawn(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	odd := func(name string, of ...string) string { // a member that is mostly left out
		if r.IntN(9) > 0 {
			return ""
		}
		return `,"` + name + `":` + pick(of...)
	}
	b, a := func() string { return fmt.Sprint(r.IntN(4)) }, func() string { return "a" + fmt.Sprint(r.IntN(3)) }
	switch r.IntN(19) {
	case 0:
		return pick(`{"type":"B"}`, `{"type":"C","data":{}}`, `{"edge":"N","from":"1"}`, `{"type":"B","data":{"k":"1","t":"t","z":1}}`, `{`, `{"type":"A","data":{"id":5}}`, `{"type":"B","data":{"k":"1","id":"2","t":"t"}}`)
	case 1, 2, 3, 4, 5, 6:
		t := pick(`"t"`, `"t"`, `"u"`, `"u"`, `"w"`, "null")
		return `{"type":"B","data":{"k":"` + b() + `","t":` + t + odd("g", `"x"`, `"y"`, `"z"`) + odd("n", "0", "1", "5", "6", "1.0") + odd("c", `"A"`, `"a"`, "null") +
			odd("s", `"1"`, `"2"`) + odd("d", `"2024-02-29"`, `5`, `"no"`) + odd("v", "[1,2]", "[1]", `["a",1]`) + odd("l", "[1]", "[]", "[null]", "1") + `}}`
	case 7, 8, 9, 10:
		return `{"type":"A","data":{"id":"` + a() + `"` + odd("m", `"1"`, `"2"`, `"3"`) + odd("f", "1.5", "2", "3", "1e3") + `}}`
	case 11, 12, 13, 14, 15, 16:
		return `{"edge":"` + pick("W", "w") + `","from":"` + a() + `","to":"` + b() + `","data":{"id":"w` + fmt.Sprint(r.IntN(6)) + `"` + odd("r", `"p"`, `"q"`, `"z"`) + `}}`
	}
	from, to := r.IntN(4), r.IntN(4)
	both := fmt.Sprintf(`{"edge":"N","from":"%d","to":"%d","data":{"id":"n%d"}}`, from, to, 2*from)
	if r.IntN(4) > 0 {
		both += fmt.Sprintf("\n"+`{"edge":"N","from":"%d","to":"%d","data":{"id":"n%d"}}`, from, (to+1)%4, 2*from+1)
	}
	return both
}

// beside is a graph of the Rust engine and the same one here, and what became of
// the loads on both.
type beside struct {
	*rust
	ir      *schema.IR
	here    *memgraph.Graph
	loads   int
	refused map[string]int // by the rule; "line" = by Read
}

// loadBoth loads the lines there and here, and compares what is said.
func (b *beside) loadBoth(t *testing.T, mode load.Mode, text string) {
	t.Helper()
	said := b.load(mode, text)
	in, err := load.Read(strings.NewReader(text), b.ir, load.Options{Mode: mode, NewID: numbered()})
	if err != nil {
		var wrong *load.InputError
		alone := !errors.As(err, &wrong) || wrong.Others == 0
		if said == "" || alone && !strings.Contains(said, words(err)) {
			t.Errorf("%s\n%s\n the Rust engine says %q\n here %v", mode, text, said, err)
		}
		b.refused["line"]++
		return
	}
	d := load.Delta(in.Batches, mode)
	all, err := validate.Check(t.Context(), b.ir, d, b.here, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if all.Err() == nil {
		if said != "" {
			t.Errorf("%s\n%s\n the Rust engine says %s\n here it is loaded", mode, text, said)
			return
		}
		b.here = b.here.Apply(d)
		b.loads++
		return
	}
	b.refused[string(all.Violations[0].Rule)]++
	if !slices.ContainsFunc(all.Violations, func(v *validate.Violation) bool { return said == words(v) }) {
		t.Errorf("%s\n%s\n the Rust engine says %q\n here %v", mode, text, said, all.Violations)
	}
}

// sameRows compares how many entities there are there and here.
func (b *beside) sameRows(t *testing.T) {
	t.Helper()
	said, _ := exec.CommandContext(t.Context(), b.bin, "export", b.graph).Output()
	rows := 0
	for i := range b.ir.Nodes {
		rows += len(b.here.Rows[&b.ir.Nodes[i]])
	}
	for i := range b.ir.Edges {
		rows += len(b.here.Rows[&b.ir.Edges[i]])
	}
	if n := strings.Count(string(said), "\n"); n != rows {
		t.Errorf("the Rust engine has %d entities, here %d", n, rows)
	}
}

// TestLoadsLikeTheRustEngine: random loads on one graph there and here. Both load
// or both refuse; what is said there is what is said here, or among all that is
// wrong.
func TestLoadsLikeTheRustEngine(t *testing.T) {
	r := newRust(t, many3)
	ir := pgtest.IR(t, many3)
	b := &beside{rust: r, ir: ir, here: memgraph.New(ir), refused: map[string]int{}}
	random := rand.New(rand.NewPCG(5, 1))
	for i := range 100 {
		mode := []load.Mode{load.Merge, load.Merge, load.Append, load.Append, load.Overwrite}[random.IntN(5)]
		var lines []string
		for range 1 + random.IntN(4) {
			lines = append(lines, drawn(random))
		}
		if i == 0 {
			mode, lines = load.Append, []string{`{"type":"B","data":{"k":"0","t":"t"}}`, `{"type":"B","data":{"k":"1","t":"t"}}`, `{"type":"B","data":{"k":"2","t":"t"}}`, `{"type":"A","data":{"id":"a0"}}`, `{"type":"A","data":{"id":"a1"}}`}
		}
		b.loadBoth(t, mode, strings.Join(lines, "\n"))
	}
	t.Logf("%d loads, refused: %v", b.loads, b.refused)
	if b.loads < 10 || len(b.refused) < 8 {
		t.Errorf("%d loads, refused: %v", b.loads, b.refused)
	}
	b.sameRows(t)
}
