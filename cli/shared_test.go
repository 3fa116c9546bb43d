package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/fixtures"
)

// recorded is what the Rust CLI said of a graph.
type recorded struct {
	Branches json.RawMessage `json:"branches"`
	Heads    map[string]struct {
		Snapshot json.RawMessage `json:"snapshot"`
		Commits  json.RawMessage `json:"commits"`
		Rows     int             `json:"export_rows"`
		SHA      string          `json:"export_sha256"`
	} `json:"heads"`
}

// unpacked is a local copy of a shared graph and what was recorded of it.
func unpacked(t testing.TB, name string) (dir string, rec recorded) {
	t.Helper()
	archive, err := fixtures.Shared("graphs", name+".tar.gz")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	text, err := fixtures.Shared("graphs", name+".json")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	if err := json.Unmarshal(text, &rec); err != nil {
		t.Fatal(err)
	}
	files, err := fixtures.Unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), name)
	writeFiles(t, dir, files)
	return dir, rec
}

func writeFiles(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	if err := fixtures.Write(dir, files); err != nil {
		t.Fatal(err)
	}
}

var sharedGraphs = []string{"midlife", "maintained", "diverged", "wide", "deep"}

// TestSharedVerbsPrintWhatTheRustCLIPrints: byte for byte, members in order,
// for every branch of every shared graph.
func TestSharedVerbsPrintWhatTheRustCLIPrints(t *testing.T) {
	for _, name := range sharedGraphs {
		t.Run(name, func(t *testing.T) {
			dir, rec := unpacked(t, name)
			sameJSON(t, rec.Branches, "branch", "list", "--uri", dir, "--json")
			if len(rec.Heads) == 0 {
				t.Fatal("nothing recorded")
			}
			for branch, head := range rec.Heads {
				sameJSON(t, head.Snapshot, "snapshot", dir, "--branch", branch, "--json")
				sameJSON(t, head.Commits, "commit", "list", dir, "--branch", branch, "--json")
				out := run(t, "export", dir, "--branch", branch).must(t)
				lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
				slices.Sort(lines)
				sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
				if got := hex.EncodeToString(sum[:]); got != head.SHA || len(lines) != head.Rows {
					t.Errorf("export of %s: %d lines, sha %s; recorded %d, %s", branch, len(lines), got, head.Rows, head.SHA)
				}
			}
		})
	}
}

func sameJSON(t *testing.T, want json.RawMessage, args ...string) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, want, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	if got := run(t, args...).must(t); got != b.String() {
		t.Errorf("%v printed\n%s\nthe Rust CLI printed\n%s", args, excerpt(got), excerpt(b.String()))
	}
}

func excerpt(s string) string {
	if len(s) > 2000 {
		return s[:2000] + "…"
	}
	return s
}
