package engine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine"
)

// TestWalkWithTheRustEngine: a walk of random operations, by this engine and by
// the Rust CLI in turn, on one graph; the Rust CLI alone takes the same walk on
// another one. After each step both ended alike, and at intervals and in the end
// the graphs are the same: rows, tables' versions, commits, what repair, verify
// and pylance say.
//
// A short walk unless OMNIDECK_WALKS says how many of OMNIDECK_STEPS (200) there
// are to be, from the seed OMNIDECK_SEED (1) on. The graphs of a walk that failed
// are left where the test says.
func TestWalkWithTheRustEngine(t *testing.T) {
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set; the Rust CLI would take a walk with us")
	}
	walks, steps := 1, 12
	if n := environ("OMNIDECK_WALKS", 0); n > 0 {
		walks, steps = n, environ("OMNIDECK_STEPS", 200)
	}
	for seed := environ("OMNIDECK_SEED", 1); walks > 0; seed, walks = seed+1, walks-1 {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newRustWalk(t, bin, uint64(seed))
			w.begin()
			for w.at = 1; w.at <= steps; w.at++ {
				w.take(w.next())
				if w.at%20 == 0 {
					w.compare()
				}
			}
			w.compare()
			w.pylance()
			t.Logf("%d steps: %v", steps, w.did)
		})
	}
}

func environ(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// rustWalk is a walk under way.
type rustWalk struct {
	t    *testing.T
	r    *draw
	bin  string
	dir  string
	at   int            // step
	both string         // root of the graph that both write
	solo string         // of the one that the Rust CLI writes alone
	g    *engine.Graph  // on both
	side string         // the branch beside main
	n    int            // of branches
	did  map[string]int // steps by what they came to
}

// step is one operation.
type step struct {
	ours   bool
	branch string // "" = main
	kind   string // mutate, load, or the verb of a CLI
	text   string // the query
	params string
	mode   engine.LoadMode
	lines  []string
	args   []string // of a verb
}

func (s step) String() string {
	who := "the Rust CLI"
	if s.ours {
		who = "we"
	}
	at := s.branch
	if at == "" {
		at = "main"
	}
	return fmt.Sprintf("%s on %s: %s %s %s %s %v\n%s", who, at, s.kind, s.mode, s.text, short(s.params), s.args, short(strings.Join(s.lines, "\n")))
}

// blobText is a long text of base64.
var blobText = regexp.MustCompile(`[A-Za-z0-9+/=]{60,}`)

func short(s string) string { return blobText.ReplaceAllString(s, "…") }

// outcome is what a program says of a step.
type outcome struct {
	Refused   bool
	Committed bool
	Nodes     int
	Edges     int
	Text      string // of a verb
	err       string
}

func newRustWalk(t *testing.T, bin string, seed uint64) *rustWalk {
	t.Helper()
	dir, err := os.MkdirTemp("", "omnideck-walk-")
	if err != nil {
		t.Fatal(err)
	}
	w := &rustWalk{
		t: t, r: &draw{Rand: rand.New(rand.NewPCG(seed, 2026))}, bin: bin, dir: dir, did: map[string]int{},
		both: filepath.Join(dir, "both"), solo: filepath.Join(dir, "solo"),
	}
	t.Cleanup(func() {
		if w.g != nil {
			_ = w.g.Close()
		}
		if t.Failed() {
			t.Logf("seed %d, step %d: the graphs are in %s", seed, w.at, dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return w
}

// begin makes both graphs, rows in them, and a branch.
func (w *rustWalk) begin() {
	w.t.Helper()
	w.open()
	if _, err := w.g.Init(w.t.Context(), engine.InitOptions{Source: []byte(walkSchema)}); err != nil {
		w.t.Fatal(err)
	}
	file := filepath.Join(w.dir, "s.pg")
	if err := os.WriteFile(file, []byte(walkSchema), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.rust("init", "--schema", file, w.solo); err != nil {
		w.t.Fatal(err)
	}
	w.take(step{ours: true, kind: "load", mode: engine.LoadAppend, lines: w.r.everything("m", 8)})
	w.take(step{ours: true, kind: "load", mode: engine.LoadAppend, lines: w.r.everything("b", 4)})
	w.fork()
}

// open takes another handle: what comes next begins cold.
func (w *rustWalk) open() {
	w.t.Helper()
	if w.g != nil {
		if err := w.g.Close(); err != nil {
			w.t.Fatal(err)
		}
	}
	g, err := engine.Open(w.t.Context(), w.both, engine.Options{Write: true})
	if err != nil {
		w.t.Fatal(err)
	}
	w.g = g
}

// fork lets the Rust CLI make a branch and write every table there first.
func (w *rustWalk) fork() {
	w.t.Helper()
	if w.side != "" {
		w.take(step{kind: "verb", args: []string{"branch", "delete", w.side, "--store", "ROOT"}})
	}
	w.n++
	name := fmt.Sprint("side", w.n)
	w.take(step{kind: "verb", args: []string{"branch", "create", name, "--store", "ROOT"}})
	w.side = name
	w.take(step{branch: name, kind: "load", mode: engine.LoadMerge, lines: w.r.everything(fmt.Sprint("x", w.n), 1)})
}

// take lets a step be done on both graphs and compares how it ended.
func (w *rustWalk) take(s step) {
	w.t.Helper()
	var got outcome
	w.note(s)
	if s.ours {
		if w.r.IntN(5) == 0 {
			w.open()
		}
		got = w.weDo(s)
	} else {
		got = w.theyDo(w.both, s)
	}
	alone := w.theyDo(w.solo, s)
	told, want := got, alone
	told.err, want.err = "", ""
	if told != want {
		w.t.Fatalf("step %d: %v\nended as %+v\non the other graph the Rust CLI ended as %+v", w.at, s, got, alone)
	}
	if s.ours && got.Refused && !strings.Contains(squeeze(got.err), reason(alone.err)) {
		w.t.Logf("step %d: refused for two reasons: we say\n%s\nthe Rust CLI says\n%s\n%v", w.at, got.err, reason(alone.err), s)
	}
	if w.count(s, got); w.at == 0 && got.Refused {
		w.t.Fatalf("%v\nis refused: %s", s, got.err)
	}
	if s.kind == "verb" && s.args[1] == "merge" && got.Refused {
		w.fork()
	}
}

// note writes a step down beside the graphs.
func (w *rustWalk) note(s step) {
	w.t.Helper()
	f, err := os.OpenFile(filepath.Join(w.dir, "steps"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "%d: %v\n", w.at, s)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *rustWalk) count(s step, o outcome) {
	what := s.kind + " " + string(s.mode)
	if s.kind == "verb" {
		what = strings.Join(s.args[:min(2, len(s.args))], " ")
	}
	switch {
	case o.Refused:
		what += " refused"
		w.t.Logf("%d %s", w.at, o.err[:min(len(o.err), 200)])
	case s.kind != "verb" && !o.Committed:
		what += " nothing"
	}
	if s.ours {
		what = "our " + what
	}
	w.did[what]++
}

func (w *rustWalk) weDo(s step) (o outcome) {
	w.t.Helper()
	opts := engine.WriteOptions{Branch: s.branch}
	var r *engine.Receipt
	var err error
	if s.kind == "mutate" {
		m := engine.MutateOptions{WriteOptions: opts, Source: s.text}
		if s.params != "" {
			m.Params = []byte(s.params)
		}
		_, r, err = w.g.Mutate(w.t.Context(), m)
	} else {
		r, err = w.g.Load(w.t.Context(), engine.LoadOptions{WriteOptions: opts, Mode: s.mode, Input: input(s.lines)})
	}
	if err != nil {
		return outcome{Refused: true, err: err.Error()}
	}
	if r.Warning != nil {
		w.t.Errorf("step %d: %v", w.at, r.Warning)
	}
	o = outcome{Committed: r.Commit != nil, Nodes: r.Nodes, Edges: r.Edges}
	if s.kind == "load" {
		o.Nodes, o.Edges = 0, 0
		for _, l := range r.Loads {
			o.Nodes += l.Rows
		}
	}
	return o
}

func (w *rustWalk) theyDo(root string, s step) outcome {
	w.t.Helper()
	var args []string
	switch s.kind {
	case "mutate":
		args = []string{"mutate", "--store", root, "-e", s.text, "--json"}
		if s.params != "" {
			args = append(args, "--params", s.params)
		}
	case "load":
		file := filepath.Join(w.dir, "lines")
		if err := os.WriteFile(file, []byte(strings.Join(s.lines, "\n")), 0o600); err != nil {
			w.t.Fatal(err)
		}
		args = []string{"load", "--data", file, "--mode", string(s.mode), "--json", root}
	default:
		for _, a := range s.args {
			args = append(args, strings.ReplaceAll(a, "ROOT", root))
		}
	}
	if s.branch != "" {
		args = append(args, "--branch", s.branch)
	}
	out, err := w.rust(args...)
	if err != nil {
		return outcome{Refused: true, err: err.Error()}
	}
	if s.kind == "verb" {
		return outcome{Text: removed.ReplaceAllString(strings.ReplaceAll(out, root, "ROOT"), "")}
	}
	var doc struct {
		Nodes  int `json:"affected_nodes"`
		Edges  int `json:"affected_edges"`
		Total  int `json:"total_entities"`
		Commit *struct{}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	return outcome{Committed: doc.Commit != nil, Nodes: doc.Nodes + doc.Total, Edges: doc.Edges}
}

// rust runs the Rust CLI.
func (w *rustWalk) rust(args ...string) (string, error) {
	cmd := exec.CommandContext(w.t.Context(), w.bin, args...)
	cmd.Env = append(os.Environ(), "OMNIGRAPH_HOME="+w.dir, "NO_COLOR=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%v: %s", err, stderr.String())
	}
	return string(out), nil
}

func (w *rustWalk) mustRust(args ...string) string {
	w.t.Helper()
	out, err := w.rust(args...)
	if err != nil {
		w.t.Fatalf("step %d: omnigraph %v: %v", w.at, args, err)
	}
	return out
}

var (
	minted  = regexp.MustCompile(`01[0-9A-HJKMNP-TV-Z]{24}`)
	removed = regexp.MustCompile(`\([0-9]+ bytes\)`) // of files, whose sizes differ
	colours = regexp.MustCompile("\x1b\\[[0-9;]*m|[│├╰─▶×]")
)

// reason is the sentence in a report of the Rust CLI.
func reason(report string) string {
	_, s, _ := strings.Cut(squeeze(report), "Error:0:")
	s, _, _ = strings.Cut(s, "Location:")
	return s
}

func squeeze(s string) string {
	return strings.Join(strings.Fields(colours.ReplaceAllString(s, "")), "")
}

// compare holds the graphs against each other and looks for what is wrong.
func (w *rustWalk) compare() {
	w.t.Helper()
	for _, branch := range []string{"main", w.side} {
		theirs := w.mustRust("export", "--branch", branch, w.both)
		if got := w.export(branch); got != theirs {
			w.t.Fatalf("step %d, %s: we export\n%s\nthe Rust CLI exports\n%s", w.at, branch, without(got, theirs), without(theirs, got))
		}
		if got, want := masked(theirs), masked(w.mustRust("export", "--branch", branch, w.solo)); got != want {
			w.t.Fatalf("step %d, %s: the rows are\n%s\nof the Rust CLI alone\n%s", w.at, branch, without(got, want), without(want, got))
		}
		for _, verb := range [][]string{{"snapshot", "--json", "--branch", branch}, {"commit", "list", "--branch", branch}} {
			got, want := w.mustRust(append(verb, w.both)...), w.mustRust(append(verb, w.solo)...)
			if verb[0] == "commit" {
				got, want = fmt.Sprint(strings.Count(got, "\n")), fmt.Sprint(strings.Count(want, "\n"))
			}
			if got != want {
				w.t.Fatalf("step %d, %s: %s says\n%s\nof the Rust CLI alone\n%s", w.at, branch, verb[0], got, want)
			}
		}
	}
	w.sound(w.both)
	w.sound(w.solo)
	if w.t.Failed() {
		w.t.FailNow()
	}
}

// sound lets repair and verify look for what is wrong.
func (w *rustWalk) sound(root string) {
	w.t.Helper()
	if rep := w.mustRust("repair", "--json", root); strings.Count(rep, `"no_drift"`) != strings.Count(rep, `"classification"`) || !strings.Contains(rep, `"no_drift"`) {
		w.t.Errorf("step %d: repair of %s finds %s", w.at, root, rep)
	}
	g, err := engine.Open(w.t.Context(), root, engine.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	rep, err := g.Verify(w.t.Context(), engine.VerifyOptions{Deep: true})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range rep.Problems {
		w.t.Errorf("step %d: verify of %s: %+v", w.at, root, p)
	}
	if err := g.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *rustWalk) export(branch string) string {
	w.t.Helper()
	var out bytes.Buffer
	if _, err := w.g.Export(w.t.Context(), &out, engine.At{Branch: branch}, nil); err != nil {
		w.t.Fatalf("step %d: %v", w.at, err)
	}
	return out.String()
}

// masked is an export without the ids that a program drew.
func masked(export string) string {
	lines := slices.Sorted(strings.Lines(minted.ReplaceAllString(export, "ID")))
	return strings.Join(lines, "")
}

// without is the lines of a text that another one does not have.
func without(text, other string) string {
	there := map[string]bool{}
	for line := range strings.Lines(other) {
		there[line] = true
	}
	var out []string
	for line := range strings.Lines(text) {
		if !there[line] {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}
