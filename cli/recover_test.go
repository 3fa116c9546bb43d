package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/fixtures"
	stuckgraphs "github.com/omnideck/omnideck/internal/stuck"
)

// What killed clients of the Rust CLI left at another address: shown as moved,
// left until that is confirmed, then brought to the recorded rows; a schema apply
// but for its lock, which is told and stays.
func TestRecoverMovedGraphs(t *testing.T) {
	for _, c := range []struct {
		op   string
		k    int
		will string
	}{
		{"update-node", 3, "remove the record; no row is touched"},
		{"load-merge", 8, "restore node:Vessel to what version 3 holds, as version 5"},
		{"load-merge", 12, "publish it as commit "},
		{"schema-apply", 16, "make the staged schema files the accepted ones"},
	} {
		s := stuckgraphs.One(t, c.op, c.k)
		dir := filepath.Join(t.TempDir(), "harbor")
		if err := fixtures.Write(dir, s.Files); err != nil {
			t.Fatal(err)
		}
		untouched := fingerprint(t, dir)
		for _, apply := range [][]string{nil, {"--apply"}, {"--apply", "--now", "--json"}} {
			r := run(t, append([]string{"recover", dir}, apply...)...)
			if want := map[bool]int{true: exitOK, false: exitRefused}[apply == nil]; r.code != want || !strings.Contains(r.stdout, "s3://lab/harbor") || fingerprint(t, dir) != untouched {
				t.Errorf("%s, %v: exit %d\n%s%s", s, apply, r.code, r.stdout, r.stderr)
			}
			if apply == nil && (!strings.Contains(r.stdout, c.will) || !strings.Contains(r.stdout, "--moved")) {
				t.Errorf("%s: %q is not told:\n%s", s, c.will, r.stdout)
			}
		}
		out := run(t, "recover", dir, "--apply", "--moved", "--operation", strings.TrimSuffix(filepath.Base(s.Pending[0]), ".json")).must(t)
		if !strings.Contains(out, "removed "+s.Pending[0]) || strings.Contains(out, "the lock of a schema apply is left") != s.Locked() {
			t.Errorf("%s: %s", s, out)
		}
		for branch, rows := range s.After {
			if got := stuckgraphs.HashLines(run(t, "export", dir, "--branch", branch).must(t)); got != rows {
				t.Errorf("%s: branch %s has %v, recorded is %v", s, branch, got, rows)
			}
		}
		if r := run(t, "recover", dir, "--apply"); r.code != exitOK || !strings.HasPrefix(r.stdout, "no operation was pending\n") {
			t.Errorf("%s: again: exit %d\n%s", s, r.code, r.stdout)
		}
	}
}
