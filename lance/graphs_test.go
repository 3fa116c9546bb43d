package lance_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/refs"
)

// datasets are the roots of all datasets among files, sorted.
func datasets(files map[string][]byte) []string {
	var out []string
	for key := range files {
		root, _, ok := strings.Cut(key, "/_versions/")
		if !ok {
			continue
		}
		if i := strings.Index(root, "/tree/"); i >= 0 {
			root = root[:i]
		}
		if !slices.Contains(out, root) {
			out = append(out, root)
		}
	}
	slices.Sort(out)
	return out
}

// TestGraphs opens every dataset of every shared graph on every branch, where
// it is not the place that the manifests record.
func TestGraphs(t *testing.T) {
	for _, name := range []string{"midlife", "maintained", "diverged", "deep", "wide"} {
		t.Run(name, func(t *testing.T) {
			store := inMemory(t, name, graph(t, name))
			tables, branches, versions, rows, moved := 0, 0, 0, 0, 0
			for _, root := range datasets(graph(t, name)) {
				tables++
				list, err := refs.List(t.Context(), store, root)
				if err != nil {
					t.Fatal(err)
				}
				names := []string{""}
				for _, b := range list.Branches {
					names = append(names, b.Name)
				}
				for _, branch := range names {
					branches++
					s := open(t, store, root, lance.OpenOptions{Branch: branch})
					rows += checkTable(t, root, s)
					moved += len(s.Bases())
					versions += checkHistory(t, store, root, branch, name != "deep")
				}
			}
			t.Logf("%d tables, %d branches of them, %d versions, %d rows, %d base paths", tables, branches, versions, rows, moved)
			if tables == 0 || rows == 0 || name == "midlife" && moved == 0 {
				t.Error("nothing was read")
			}
		})
	}
}

// checkTable compares the rows with the numbers of the manifest, and all ways
// to read them with one another.
func checkTable(t *testing.T, root string, s *lance.Snapshot) int {
	t.Helper()
	what := root + ", branch " + s.Branch()
	all := collect(t, s.Scan(t.Context(), lance.ScanOptions{WithRowID: true, WithRowAddress: true, WithVersions: true}))
	if n, known := s.CountRows(); !known && len(s.Fragments()) > 0 || n != uint64(all.rows) {
		t.Errorf("%s: %d rows, the manifest says %d", what, all.rows, n)
	}
	ids := numbersOf(t, all, lance.ColRowID)
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != all.rows {
		t.Errorf("%s: row ids are not unique", what)
	}
	made, last := numbersOf(t, all, lance.ColCreatedAt), numbersOf(t, all, lance.ColLastUpdated)
	for i := range made {
		if made[i] == 0 || made[i] > last[i] || last[i] > s.Version() {
			t.Errorf("%s: row %d made in %d, written in %d of %d", what, i, made[i], last[i], s.Version())
		}
	}
	addrs, ok, err := s.Addresses(t.Context(), ids)
	if err != nil || slices.Contains(ok, false) || !slices.Equal(addrs, numbersOf(t, all, lance.ColRowAddress)) {
		t.Errorf("%s: row ids do not lead to their rows: %v", what, err)
	}
	rep, err := lance.Verify(t.Context(), s, lance.VerifyOptions{Deep: true, Refs: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range rep.Problems {
		if p.ID != "base-path" {
			t.Errorf("%s: %+v", what, p)
		}
	}
	for _, b := range s.Bases() {
		if !b.Moved || b.Elsewhere || !strings.HasPrefix(b.Recorded, "s3://lab/") || !strings.HasPrefix(b.Here, root) {
			t.Errorf("%s: %+v", what, b)
		}
	}
	return all.rows
}

// checkHistory opens every version of a branch; read scans them too.
func checkHistory(t *testing.T, store blob.Store, root, branch string, read bool) int {
	t.Helper()
	chain, err := lance.Versions(t.Context(), store, root, lance.ListOptions{Branch: branch})
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range lance.ReadVersions(t.Context(), store, root, chain.Versions, lance.OpenOptions{Branch: branch, Allocator: checked(t)}) {
		if err != nil {
			t.Fatalf("%s, branch %s: %v", root, branch, err)
		}
		if !read {
			continue
		}
		// Data files of old versions may have been cleaned away.
		rows, gone := uint64(0), false
		for rec, err := range s.Scan(t.Context(), lance.ScanOptions{}) {
			if errors.Is(err, blob.ErrNotExist) {
				gone = true
				break
			}
			if err != nil {
				t.Fatalf("%s, branch %s, version %d: %v", root, branch, s.Version(), err)
			}
			rows += uint64(rec.NumRows())
			rec.Release()
		}
		if n, _ := s.CountRows(); !gone && n != rows {
			t.Errorf("%s, branch %s, version %d: %d rows, the manifest says %d", root, branch, s.Version(), rows, n)
		}
	}
	return len(chain.Versions)
}
