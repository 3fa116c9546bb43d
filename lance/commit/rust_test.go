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
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	uri := l.URI(fixtures.Demo)
	store, err := opener.Open(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for key, b := range files {
		if _, err := store.Put(t.Context(), key, b); err != nil {
			t.Fatal(err)
		}
	}
	n := rebuilt(t, store, files)
	b, err := os.ReadFile(filepath.Join(shared, "graphs", fixtures.Demo+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Heads map[string]struct {
			ExportRows   int    `json:"export_rows"`
			ExportSHA256 string `json:"export_sha256"`
		} `json:"heads"`
	}
	if err := json.Unmarshal(b, &said); err != nil {
		t.Fatal(err)
	}
	branches := slices.SortedFunc(maps.Keys(said.Heads), cmp.Compare[string])
	check := func(when string, branches []string) {
		for _, branch := range branches {
			want := fmt.Sprintf("%d %s", said.Heads[branch].ExportRows, said.Heads[branch].ExportSHA256)
			if got := exported(t, uri, branch); got != want {
				t.Errorf("branch %s %s: exported %s, want %s", branch, when, got, want)
			}
		}
	}
	check("as it was built", branches)
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
	check("after maintenance of main", slices.DeleteFunc(branches, func(b string) bool { return b == "main" }))
	lines := cli(t, "export", uri)
	if got := bytes.Count(lines, []byte("\n")); got != said.Heads["main"].ExportRows+1 || !bytes.Contains(lines, []byte("ZZZZZ")) {
		t.Errorf("%d lines after a mutation, want %d", got, said.Heads["main"].ExportRows+1)
	}
}
