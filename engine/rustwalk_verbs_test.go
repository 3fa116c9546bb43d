package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine"
)

// TestTheRustCLITakesOver: a graph that this engine alone made, by init, loads
// in all modes and in chunks, and mutations of every kind, on tables without
// indexes and then on tables with those of the Rust CLI's optimize. pylance
// reads it, all verbs of the Rust CLI run on it, and in the end
// pylance compacts and cleans it.
func TestTheRustCLITakesOver(t *testing.T) {
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set; the Rust CLI would run all its verbs on a graph of ours")
	}
	w := newRustWalk(t, bin, 7)
	w.open()
	if _, err := w.g.Init(t.Context(), engine.InitOptions{Source: []byte(walkSchema)}); err != nil {
		t.Fatal(err)
	}
	const slots = 8200 // of which one commit takes 8192
	var many []string
	for i := range slots {
		many = append(many, fmt.Sprintf(`{"type":"Slot","data":{"shelf":"s","at":%d}}`, i))
	}
	r, err := w.g.LoadChunks(t.Context(), engine.LoadOptions{Mode: engine.LoadAppend, Input: input(slices.Concat(many, w.r.everything("m", 8)))}, nil)
	if err != nil || r.Commits < 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	w.writeAll()
	w.lookBoth(slots)
	w.mustRust("optimize", w.both)
	w.writeAll()
	w.lookBoth(slots)
	if doc := pylance(t, "look", w.both, w.tables("main")); doc != nil && doc["indexes"].(float64) < 8 {
		t.Errorf("pylance finds %v indexes", doc["indexes"])
	}
	before := w.export("main")
	for _, args := range [][]string{
		{"snapshot", w.both}, {"commit", "list", w.both}, {"branch", "create", "dev", "--store", w.both},
		{"mutate", "--store", w.both, "--branch", "dev", "-e", `query q() { insert Person { code: "dev1" } update Person set { age: 3 } where code = "m1" }`},
		{"branch", "merge", "dev", "--store", w.both}, {"branch", "delete", "dev", "--store", w.both}, {"optimize", w.both}, {"cleanup", "--keep", "1", "--confirm", w.both},
	} {
		w.mustRust(args...)
	}
	after := w.export("main")
	if got := without(after, before); !strings.Contains(got, `"code":"dev1"`) || strings.Count(got, "\n") > 2 || strings.Count(without(before, after), "\n") > 1 {
		t.Errorf("the merge brought\n%s\nin place of\n%s", got, without(before, after))
	}
	w.writeAll()
	w.lookBoth(slots)
	t.Logf("pylance maintained: %v", pylance(t, "maintain", w.both, ""))
}

// writeAll writes in every way there is; what is refused is drawn anew.
func (w *rustWalk) writeAll() {
	w.t.Helper()
	done := map[string]int{}
	for try := 0; len(done) < 9 && try < 200; try++ {
		s, rs := step{kind: "load"}, w.rows("")
		switch s.mode = pick(w.r, "", "", "", engine.LoadAppend, engine.LoadMerge, engine.LoadOverwrite); s.mode {
		case "":
			s.kind = "mutate"
			w.r.mutation(&s, rs, "m")
		case engine.LoadOverwrite:
			w.r.over(&s, rs, "m")
		default:
			w.r.some(&s, rs, "m", s.mode == engine.LoadAppend)
		}
		if o := w.weDo(s); o.Committed {
			done[string(s.mode)]++
			for _, verb := range []string{"insert Item", "insert Knows", "update Item", "update Note", "delete Person", "delete Knows"} {
				if strings.Contains(s.text, verb) {
					done[verb]++
				}
			}
		}
	}
	if len(done) < 9 {
		w.t.Errorf("written only by %v", done)
	}
}

// lookBoth lets both programs look: what they say of the graph is the same, and
// nothing is wrong.
func (w *rustWalk) lookBoth(slots int) {
	w.t.Helper()
	theirs := w.mustRust("export", w.both)
	if got := w.export("main"); got != theirs {
		w.t.Fatalf("we export\n%s\nthe Rust CLI exports\n%s", without(got, theirs), without(theirs, got))
	}
	var doc struct{ Rows []struct{ N int } }
	out := w.mustRust("query", "--store", w.both, "--json", "-e", `query q() { match { $s: Slot { shelf: "s" } } return { count($s) as n } }`)
	if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Rows) != 1 || doc.Rows[0].N > slots || doc.Rows[0].N < slots*9/10 {
		w.t.Errorf("the Rust CLI counts %s, %v", out, err)
	}
	w.sound(w.both)
}
