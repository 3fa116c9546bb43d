package commit_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
)

// rebuilt takes every manifest of a graph away and commits all versions of all
// tables and branches anew, each on the one that we committed before.
func rebuilt(t *testing.T, store blob.Store, files map[string][]byte) (versions int) {
	t.Helper()
	d := manifests(t, files)
	for key := range files {
		if strings.Contains(key, "_versions/") || strings.Contains(key, "_transactions/") {
			if err := store.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
	}
	ours := dataset{}
	dirs := slices.SortedFunc(maps.Keys(d), func(a, b string) int { // a branch after its parent
		oldest := func(dir string) time.Time { return d[dir][slices.Min(slices.Collect(maps.Keys(d[dir])))].Timestamp }
		return oldest(a).Compare(oldest(b))
	})
	for _, dir := range dirs {
		ours[dir] = map[uint64]*format.Manifest{}
		for _, v := range slices.Sorted(maps.Keys(d[dir])) {
			m := d[dir][v]
			tx, err := m.Transaction()
			if err != nil {
				t.Fatal(err)
			}
			parent, known := ours.parentOf(dir, m, tx.Proto)
			if !known {
				t.Fatalf("%s: nothing to build version %d on", dir, v)
			}
			if o := tx.Proto.GetOverwrite(); o != nil {
				o.SchemaMetadata = m.Proto.SchemaMetadata // Lance leaves it out of the transaction
			}
			root, _, _ := strings.Cut(dir, "tree/")
			c, err := commit.Commit(context.Background(), store, strings.TrimSuffix(root, "/"), m.Branch, parent, tx.Proto, commit.Options{Exact: true, Now: func() time.Time { return m.Timestamp }})
			if err != nil {
				t.Fatalf("%s version %d: %v", dir, v, err)
			}
			if c.Version != v {
				t.Fatalf("%s: version %d, want %d", dir, c.Version, v)
			}
			ours[dir][v] = c.Manifest
			versions++
		}
	}
	return versions
}

// cli runs the Rust engine's program.
func cli(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(os.Getenv("OMNIGRAPH_BIN"), args...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("omnigraph %s: %v\n%s\n%s", strings.Join(args, " "), err, problems.String(), out)
	}
	return out
}

// exported is the number and the hash of the lines of a branch, as the
// recorded answers spell them.
func exported(t *testing.T, uri, branch string) string {
	t.Helper()
	lines := strings.Split(strings.TrimRight(string(cli(t, "export", uri, "--branch", branch)), "\n"), "\n")
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return fmt.Sprintf("%d %s", len(lines), hex.EncodeToString(sum[:]))
}

// head is what the recorded answers say of the head of a branch.
type head struct {
	ExportRows   int    `json:"export_rows"`
	ExportSHA256 string `json:"export_sha256"`
}

// recorded are the heads of the demo graph by branch, as the answers in a shared
// folder have them.
func recorded(t *testing.T, shared string) map[string]head {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(shared, "graphs", fixtures.Demo+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Heads map[string]head }
	if err := json.Unmarshal(b, &said); err != nil {
		t.Fatal(err)
	}
	return said.Heads
}

// demoAt puts the demo graph at an address.
func demoAt(t *testing.T, uri string) (blob.Store, map[string][]byte) {
	t.Helper()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	store, err := opener.Open(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for key, b := range files {
		if _, err := store.Put(t.Context(), key, b); err != nil {
			t.Fatal(err)
		}
	}
	return store, files
}

// exportsAs checks that the branches of a graph have the rows of their heads.
func exportsAs(t *testing.T, uri, when string, heads map[string]head, branches []string) {
	t.Helper()
	for _, branch := range branches {
		want := fmt.Sprintf("%d %s", heads[branch].ExportRows, heads[branch].ExportSHA256)
		if got := exported(t, uri, branch); got != want {
			t.Errorf("branch %s %s: exported %s, want %s", branch, when, got, want)
		}
	}
}

// TestRustEngineReadsRebuiltGraph: a whole graph of which every manifest of
// every table, __manifest and branch is ours: the Rust CLI exports the recorded
// rows, finds nothing to repair, mutates, optimizes and cleans up.
func TestRustEngineReadsRebuiltGraph(t *testing.T) {
	if os.Getenv("OMNIGRAPH_BIN") == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set; the Rust CLI would read a graph whose manifests are all ours")
	}
	shared, ok := fixtures.SharedDir()
	if !ok {
		t.Skip("SKIPPED: ../shared with the recorded answers is not here")
	}
	l := lab.Test(t, lab.Options{})
	uri := l.URI(fixtures.Demo)
	store, files := demoAt(t, uri)
	n := rebuilt(t, store, files)
	heads := recorded(t, shared)
	branches := slices.SortedFunc(maps.Keys(heads), cmp.Compare[string])
	exportsAs(t, uri, "as it was built", heads, branches)
	t.Logf("%d versions, %d branches", n, len(branches))
	repaired := cli(t, "repair", uri, "--json")
	if all, fine := bytes.Count(repaired, []byte(`"classification"`)), bytes.Count(repaired, []byte(`"no_drift"`)); all == 0 || fine != all {
		t.Errorf("repair: %s", repaired)
	}
	gq := filepath.Join(shared, "graphs", "harbor", "harbor.gq")
	cli(t, "mutate", "add_port", "--query", gq, "--store", uri, "--params", `{"code": "ZZZZZ", "name": "Last", "country": "NL"}`)
	for _, args := range [][]string{{"optimize", uri, "--json"}, {"cleanup", uri, "--keep", "1", "--confirm", "--yes", "--json"}} {
		out := cli(t, args...)
		if all, fine := bytes.Count(out, []byte(`"error"`)), bytes.Count(out, []byte(`"error": null`)); fine != all {
			t.Errorf("%s: %s", args[0], out)
		}
	}
	exportsAs(t, uri, "after maintenance of main", heads, slices.DeleteFunc(branches, func(b string) bool { return b == "main" }))
	lines := cli(t, "export", uri)
	if got := bytes.Count(lines, []byte("\n")); got != heads["main"].ExportRows+1 || !bytes.Contains(lines, []byte("ZZZZZ")) {
		t.Errorf("%d lines after a mutation, want %d", got, heads["main"].ExportRows+1)
	}
}
