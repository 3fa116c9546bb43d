package lance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/refs"
)

// stuckState is the files of a graph after a client was killed.
type stuckState struct {
	name    string
	files   map[string][]byte
	touched []string // keys that the killed run added, changed or removed
}

// stuckStates lists the states of one operation.
func stuckStates(t *testing.T, dir, operation string) []stuckState {
	t.Helper()
	base := filepath.Join(dir, "base.tar.gz")
	if own := filepath.Join(dir, operation, "base.tar.gz"); exists(own) {
		base = own
	}
	var list struct {
		Cases []struct {
			K       int
			Removed []string
		}
	}
	if err := json.Unmarshal(read(t, filepath.Join(dir, operation, "cases.json")), &list); err != nil {
		t.Fatal(err)
	}
	before := unpack(t, base)
	var out []stuckState
	for _, c := range list.Cases {
		over := unpack(t, filepath.Join(dir, operation, fmt.Sprintf("%02d.tar.gz", c.K)))
		s := stuckState{name: fmt.Sprintf("%s/%02d", operation, c.K), files: maps.Clone(before)}
		for key, b := range over {
			s.files[key] = b
			s.touched = append(s.touched, key)
		}
		for _, key := range c.Removed {
			delete(s.files, key)
			s.touched = append(s.touched, key)
		}
		out = append(out, s)
	}
	return out
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func unpack(t *testing.T, path string) map[string][]byte {
	t.Helper()
	files, err := fixtures.Unpack(read(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestStuck: whatever a killed client left behind, every dataset that it
// touched opens on every branch that has a ref, and the rows are those of the
// manifest. Only leftovers of branches are found.
func TestStuck(t *testing.T) {
	shared, ok := fixtures.SharedDir()
	if !ok {
		t.Skip("SKIPPED: no folder `shared` beside the checkout")
	}
	dir := filepath.Join(shared, "graphs", "stuck")
	operations, err := filepath.Glob(filepath.Join(dir, "*", "cases.json"))
	if err != nil || len(operations) == 0 {
		t.Fatalf("no operation in %s: %v", dir, err)
	}
	states, opened := 0, 0
	for _, path := range operations {
		for _, st := range stuckStates(t, dir, filepath.Base(filepath.Dir(path))) {
			states++
			store := inMemory(t, "stuck", st.files)
			for _, root := range datasets(st.files) {
				if !slices.ContainsFunc(st.touched, func(key string) bool { return strings.HasPrefix(key, root+"/") }) {
					continue
				}
				list, err := refs.List(t.Context(), store, root)
				if err != nil {
					t.Fatal(err)
				}
				for _, branch := range append([]refs.Ref{{}}, list.Branches...) {
					opened++
					s := open(t, store, root, lance.OpenOptions{Branch: branch.Name})
					checkStuck(t, st.name+" "+root+" "+branch.Name, s)
				}
			}
		}
	}
	t.Logf("%d states, %d branches of datasets", states, opened)
}

func checkStuck(t *testing.T, what string, s *lance.Snapshot) {
	t.Helper()
	all := collect(t, s.Scan(t.Context(), lance.ScanOptions{}))
	if n, _ := s.CountRows(); n != uint64(all.rows) {
		t.Errorf("%s: %d rows, the manifest says %d", what, all.rows, n)
	}
	rep, err := lance.Verify(t.Context(), s, lance.VerifyOptions{Refs: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range rep.Problems {
		switch {
		case p.ID == "base-path", p.ID == "branch-leftover" && p.Severity == "info" && strings.Contains(p.Key, "/tree/"):
		case p.ID == "transaction" && p.Severity == "info" && strings.Contains(p.Key, "/_transactions/"): // a killed attempt
		default:
			t.Errorf("%s: %+v", what, p)
		}
	}
}
