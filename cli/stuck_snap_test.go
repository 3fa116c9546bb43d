package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
)

// stuckPlaces are one screen of each kind of the graph of harbors.
var stuckPlaces = []string{
	"overview", "branches", "commits", "tables", "versions", "operations",
	"node:Port", "node:Port/schema", "node:Port/versions", "node:Port/indexes", "node:Port/rows",
	"edge:CallsAt/rows", "node:Port/rows/NLRTM", "find/NLRTM", "diff/2..main",
}

// fingerprint is everything that stands below a folder: names, sizes, times,
// modes and bytes.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, path, fi.Size(), fi.ModTime().UnixNano(), fi.Mode())
		if !fi.Mode().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		sum.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// snapOf draws a place at 80x24 and asserts what is true of every picture: it
// is whole, the exit code is 0, or 1 with the sentence that docs/SNAP.md
// promises, and nothing crashed.
func snapOf(t *testing.T, what, dir, place string) result {
	t.Helper()
	r := run(t, "snap", dir, "--screen", place, "--timeout", "5m")
	if nothing := strings.Contains(r.stderr, "nothing on this screen could be read: "); r.code != exitOK && r.code != exitError || nothing != (r.code == exitError) {
		t.Errorf("%s, %s: exit %d, %s", what, place, r.code, r.stderr)
	}
	lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	if len(lines) != snapHeight {
		t.Errorf("%s, %s: %d lines:\n%s", what, place, len(lines), r.stdout)
	}
	for _, l := range lines {
		if ansi.StringWidth(l) > snapWidth {
			t.Errorf("%s, %s: %d cells: %q", what, place, ansi.StringWidth(l), l)
		}
	}
	if r.code == exitError && !strings.Contains(r.stdout, "✗") {
		t.Errorf("%s, %s: nothing could be read, and the screen does not say so:\n%s", what, place, r.stdout)
	}
	return r
}

// warned asserts that the overview shows the gravest finding of info, in its
// header and in its list.
func warned(t *testing.T, what, dir, overview string) engine.Info {
	t.Helper()
	i := told(t, dir)
	switch worst(i) {
	case engine.SeverityError:
		if !strings.Contains(firstLine(overview), "error") || !strings.Contains(overview, "▸ ✗ "+i.Findings[0].ID) {
			t.Errorf("%s: info knows an error (%s), the overview shows\n%s", what, i.Findings[0].Title, overview)
		}
	case engine.SeverityWarn:
		if !strings.Contains(firstLine(overview), "warning") || !strings.Contains(overview, "▸ ! "+i.Findings[0].ID) {
			t.Errorf("%s: info warns (%s), the overview shows\n%s", what, i.Findings[0].Title, overview)
		}
	}
	return i
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// TestKilledWritersOnScreen draws every screen of every state that a killed
// writer left: what was published is there to be read, what is pending is
// said, and nothing is written.
func TestKilledWritersOnScreen(t *testing.T) {
	base, err := fixtures.Shared("graphs", "stuck", "base.tar.gz")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	shared, _ := fixtures.SharedDir()
	states, err := filepath.Glob(filepath.Join(shared, "graphs", "stuck", "*", "[0-9]*.tar.gz"))
	if err != nil || len(states) == 0 {
		t.Fatalf("no states: %v", err)
	}
	for _, state := range pace.Every(t, 8, states) {
		what := strings.TrimSuffix(strings.TrimPrefix(state, filepath.Join(shared, "graphs", "stuck")+"/"), ".tar.gz")
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := stuck(t, base, state)
			before := fingerprint(t, dir)
			for _, place := range pace.Every(t, 4, stuckPlaces) {
				r := snapOf(t, what, dir, place)
				if r.code != exitOK || strings.Contains(r.stdout, "✗ failed") {
					t.Errorf("%s, %s cannot be read:\n%s", what, place, r.stdout)
				}
				switch place {
				case "overview":
					if i := warned(t, what, dir, r.stdout); len(i.PendingRecovery) > 0 != strings.Contains(r.stdout, "pending recovery · ") {
						t.Errorf("%s: %d recoveries are pending, the overview shows\n%s", what, len(i.PendingRecovery), r.stdout)
					}
				case "node:Port/rows":
					n := strings.Count(run(t, "rows", dir, "Port", "--ndjson").must(t), "\n")
					if !strings.Contains(r.stdout, fmt.Sprintf("node:Port · 1 to %d of %d", n, n)) || !strings.Contains(r.stdout, "NLRTM") {
						t.Errorf("%s: the rows of Port are\n%s", what, r.stdout)
					}
				case "find/NLRTM":
					if !strings.Contains(r.stdout, "find NLRTM · 1 entity") {
						t.Errorf("%s: NLRTM is found as\n%s", what, r.stdout)
					}
				}
			}
			if fingerprint(t, dir) != before {
				t.Errorf("%s: looking changed the graph", what)
			}
		})
	}
}
