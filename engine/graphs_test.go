package engine_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/rivals"
)

func TestMain(m *testing.M) {
	rivals.Child(process)
	goleak.VerifyTestMain(m)
}

// sharedGraphs are the graphs that the Rust engine wrote, beside the checkout.
var sharedGraphs = []string{"midlife", "maintained", "diverged", "deep", "wide"}

// shared reads a file beside the checkout or skips, saying what is missing.
func shared(t testing.TB, name ...string) []byte {
	t.Helper()
	data, err := fixtures.Shared(name...)
	if err != nil {
		t.Skipf("SKIPPED, not passed: %v", err)
	}
	return data
}

// graphFiles are the files of a graph by key.
func graphFiles(t testing.TB, name string) map[string][]byte {
	t.Helper()
	if name == fixtures.Demo {
		files, err := fixtures.Graph(name)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	files, err := fixtures.Unpack(shared(t, "graphs", name+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// memory puts files into a store in memory.
func memory(t testing.TB, opts memstore.Options, files map[string][]byte) *memstore.Store {
	t.Helper()
	s, err := fixtures.Store(opts, files)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// folder writes files below a temporary folder.
func folder(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := fixtures.Write(dir, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

// openAt opens an address, without a persistent cache.
func openAt(t testing.TB, uri string, o engine.Options) *engine.Graph {
	t.Helper()
	o.NoCache = true
	g, err := engine.Open(context.Background(), uri, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// openStore opens what lies in a store.
func openStore(t testing.TB, s blob.Store) *engine.Graph {
	t.Helper()
	return openAt(t, s.Properties().URL, engine.Options{Store: s})
}

// verified ends a test: the graph must be clean, read deeply.
func verified(t testing.TB, g *engine.Graph) {
	t.Helper()
	v, err := g.Verify(context.Background(), engine.VerifyOptions{Deep: true})
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	for _, p := range v.Problems {
		t.Errorf("verify: %+v", p)
	}
	if c := v.Checked; c.Files == 0 || c.Keys != c.Rows || c.Commits == 0 {
		t.Errorf("verify looked at too little: %+v", c)
	}
}

// onEveryStore runs a test over the same files on a local disk and in memory.
func onEveryStore(t *testing.T, files map[string][]byte, test func(t *testing.T, g *engine.Graph)) {
	t.Run("local", func(t *testing.T) { test(t, openAt(t, folder(t, files), engine.Options{})) })
	t.Run("mem", func(t *testing.T) { test(t, openStore(t, memory(t, memstore.Options{Name: "g"}, files))) })
}

// recorded is what the Rust engine said of a graph.
type recorded struct {
	Branches struct{ Branches []string }
	Heads    map[string]struct {
		Snapshot     json.RawMessage
		Commits      struct{ Commits json.RawMessage }
		ExportRows   int    `json:"export_rows"`
		ExportSHA256 string `json:"export_sha256"`
	}
}

func record(t testing.TB, name string) recorded {
	t.Helper()
	var r recorded
	if err := json.Unmarshal(shared(t, "graphs", name+".json"), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// sameJSON compares values by what they are as JSON.
func sameJSON(t *testing.T, what string, got any, want json.RawMessage) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	plain := func(b []byte) string {
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		out, _ := json.Marshal(v)
		return string(out)
	}
	if a, b := plain(text), plain(want); a != b {
		t.Errorf("%s\n got %s\nwant %s", what, a, b)
	}
}

// exportHash exports a state and gives the number of lines and the sha256 of
// the sorted lines joined by one newline.
func exportHash(t testing.TB, g *engine.Graph, at engine.At) (int, string) {
	t.Helper()
	lines := exportLines(t, g, at)
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return len(lines), hex.EncodeToString(sum[:])
}

func exportLines(t testing.TB, g *engine.Graph, at engine.At) []string {
	t.Helper()
	var buf bytes.Buffer
	n, err := g.Export(context.Background(), &buf, at, nil)
	if err != nil {
		t.Fatalf("export at %+v: %v", at, err)
	}
	lines := strings.Split(strings.TrimSuffix(buf.String(), "\n"), "\n")
	if buf.Len() == 0 {
		lines = nil
	}
	if n != len(lines) {
		t.Errorf("export says %d lines and wrote %d", n, len(lines))
	}
	return lines
}
