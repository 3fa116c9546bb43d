package engine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine"
)

// besideRust is a graph of ours in a folder, and the Rust CLI, which may be run on
// it; without that the test is skipped, and says what it would do.
func besideRust(t *testing.T, would, schema string, lines []string) (g *engine.Graph, root string, rust func(args ...string) string) {
	t.Helper()
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set; the Rust CLI would " + would)
	}
	root = filepath.Join(t.TempDir(), "g")
	g, err := engine.Open(t.Context(), root, engine.Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if _, err := g.Init(t.Context(), engine.InitOptions{Source: []byte(schema)}); err != nil {
		t.Fatal(err)
	}
	if _, err := loadLines(t, g, engine.LoadAppend, lines); err != nil {
		t.Fatal(err)
	}
	return g, root, func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), bin, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("omnigraph %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
}

// A graph that we made is branched, written on both branches by both programs in
// turn, merged, optimized and cleaned up by the Rust CLI, and written on by us
// again.
func TestWritesInTurnWithTheRustEngine(t *testing.T) {
	g, root, rust := besideRust(t, "write in turn with us", library, shelf)
	ours := func(branch, statements string) {
		t.Helper()
		_, r, err := g.Mutate(t.Context(), engine.MutateOptions{WriteOptions: engine.WriteOptions{Branch: branch}, Source: "query q() { " + statements + " }"})
		if err != nil || r.Commit == nil {
			t.Fatalf("%s: %+v, %v", statements, r, err)
		}
	}
	rust("branch", "create", "dev", "--store", root)
	rust("mutate", "--store", root, "--branch", "dev", "-e", `query q() { update Book set { title: "R" } where isbn = "a" }`)
	ours("dev", `update Book set { title: "O" } where isbn = "b" insert Book { isbn: "n", title: "N" }`)
	rust("mutate", "--store", root, "--branch", "dev", "-e", `query q() { update Book set { pages: 8 } where isbn = "b" }`)
	ours("", `insert Note { text: "main" }`)
	rust("branch", "merge", "dev", "--store", root)
	rust("optimize", root)
	ours("", `update Book set { pages: 9 } where title = "N"`)
	rust("cleanup", "--keep", "1", "--confirm", root)
	ours("", `delete Book where isbn = "it's"`)
	if rep := rust("repair", "--json", root); strings.Count(rep, `"no_drift"`) != strings.Count(rep, `"classification"`) {
		t.Errorf("repair found something: %s", rep)
	}
	got := rust("export", root)
	for _, want := range []string{
		`{"id":"a","cover":"base64:AQID","isbn":"a","pages":1,"title":"R"}`, `{"id":"b","cover":"base64:BAUG","isbn":"b","pages":8,"title":"O"}`,
		`{"id":"n","cover":null,"isbn":"n","pages":9,"title":"N"}`, `"text":"main"`, `"id":"s1"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "it's") {
		t.Errorf("what was deleted is there:\n%s", got)
	}
	if rep, err := g.Verify(t.Context(), engine.VerifyOptions{Deep: true}); err != nil || len(rep.Problems) > 0 {
		t.Errorf("%v: %+v", err, rep)
	}
}
