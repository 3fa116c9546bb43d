package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
)

// Case 10 on `__manifest`: which version is the latest?
func TestWhichVersionIsTheLatest(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	dir := "__manifest/_versions/"
	hint := func(s string) map[string][]byte {
		return map[string][]byte{dir + "latest_version_hint.json": []byte(s)}
	}
	newest := newestManifest(t, files, "__manifest")
	for _, c := range []struct {
		name    string
		change  map[string][]byte
		version uint64
		finding string // of info, or ""
		words   []string
	}{
		{"hint right", hint(`{"version":15}`), 15, "", nil},
		{"hint stale", hint(`{"version":2}`), 15, "M4", []string{"2"}},
		{"hint ahead", hint(`{"version":99}`), 15, "M4", []string{"99"}},
		{"hint garbage", hint(`xx`), 15, "M4", nil},
		{"hint empty", hint(``), 15, "M4", nil},
		{"gap", map[string][]byte{dir + manifestName(7): nil}, 15, "M6", []string{"7"}},
		{"newest gone, hint knows", map[string][]byte{dir + "latest_version_hint.json": []byte(`{"version":15}`), newest: nil}, 14, "M4", []string{"15"}},
		{"temporary names", map[string][]byte{newest + "#1": {1}, dir + ".tmp_x": {1}}, 15, "M5", nil},
		{"detached", map[string][]byte{dir + "d9223372036854775809.manifest": {1}}, 15, "M5", []string{"detached", "9223372036854775809", "no part of the history"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := openFiles(t, with(files, c.change))
			snap, err := g.Snapshot(ctx, engine.At{})
			if err != nil || snap.GraphManifestVersion != c.version {
				t.Fatalf("snapshot %+v, %v; want version %d", snap, err, c.version)
			}
			vs, err := g.Versions(ctx, "", "", engine.VersionsOptions{})
			if err != nil || vs.Head != c.version || vs.Count == 0 {
				t.Errorf("versions %+v, %v", vs, err)
			}
			info, err := g.Info(ctx, engine.At{})
			if err != nil || info.GraphManifestVersion != c.version {
				t.Fatalf("info %+v, %v", info, err)
			}
			if c.finding == "" {
				for _, f := range info.Findings {
					if strings.HasPrefix(f.ID, "M") && f.ID != "M2" {
						t.Errorf("finding %+v", f)
					}
				}
				return
			}
			f := findingOf(t, info, c.finding)
			says(t, "finding", f.Title, c.words...)
			if ahead := c.name == "hint ahead" || c.name == "newest gone, hint knows"; ahead != (f.Severity == engine.SeverityWarn) {
				t.Errorf("finding of severity %s", f.Severity)
			}
			if len(vs.Findings) == 0 || vs.Findings[0].ID != c.finding {
				t.Errorf("versions say %+v", vs.Findings)
			}
		})
	}
}

// Versions by names of the old scheme: 15 is the newest, not 9. Names of both
// schemes are refused with the reason, and described.
func TestOldNames(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	dir := "__manifest/_versions/"
	old := map[string][]byte{}
	for k, v := range files {
		if rest, ok := strings.CutPrefix(k, dir); ok {
			var inverted uint64
			fmt.Sscanf(rest, "%d.manifest", &inverted)
			k = dir + fmt.Sprintf("%d.manifest", ^inverted)
		}
		old[k] = v
	}
	g := openFiles(t, old)
	snap, err := g.Snapshot(ctx, engine.At{})
	if err != nil || snap.GraphManifestVersion != 15 {
		t.Fatalf("snapshot %+v, %v", snap, err)
	}
	info, err := g.Info(ctx, engine.At{})
	if err != nil || info.GraphManifestVersion != 15 {
		t.Fatalf("info %+v, %v", info, err)
	}
	findingOf(t, info, "G45")
	verified(t, g)

	mixed := with(old, map[string][]byte{newestManifest(t, files, "__manifest"): files[newestManifest(t, files, "__manifest")]})
	g = openFiles(t, mixed)
	if _, err := g.Snapshot(ctx, engine.At{}); err == nil || !strings.Contains(err.Error(), "both naming schemes") {
		t.Errorf("snapshot of mixed names: %v", err)
	}
	info, err = g.Info(ctx, engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	says(t, "finding", findingOf(t, info, "M1").Title, "both naming schemes")
}

// What a commit did to tables is the difference between the state that it
// published and the one before it on its branch.
func TestLogAgreesWithSnapshots(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"midlife", "diverged"} {
		g := openFiles(t, graphFiles(t, name))
		names, err := g.BranchNames(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, branch := range names {
			entries, err := g.Log(ctx, branch, 0)
			if err != nil {
				t.Fatal(err)
			}
			all := slices.Collect(entries.Entries())
			for i, e := range all {
				want := changesBetween(t, g, all, i)
				if !slices.Equal(e.Changed, want) {
					t.Errorf("%s %s: commit %s changed %+v, its snapshots say %+v", name, branch, e.ID, e.Changed, want)
				}
			}
		}
		verified(t, g)
	}
}

// changesBetween compares the snapshot of a commit with that of its parent.
func changesBetween(t *testing.T, g *engine.Graph, entries []engine.LogEntry, i int) []engine.TableChange {
	t.Helper()
	after := snapshotAt(t, g, entries[i].Commit)
	before := map[string]engine.Dataset{}
	if entries[i].Parent != nil {
		k := slices.IndexFunc(entries, func(e engine.LogEntry) bool { return e.ID == *entries[i].Parent })
		if k < 0 {
			t.Fatalf("the parent of %s is not in the log", entries[i].ID)
		}
		before = snapshotAt(t, g, entries[k].Commit)
	}
	out := []engine.TableChange{}
	for table, d := range after {
		if b := before[table]; b.Version != d.Version || b.NativeBranch != nil != (d.NativeBranch != nil) {
			out = append(out, engine.TableChange{Table: table, FromVersion: b.Version, ToVersion: d.Version, RowsDelta: int64(d.EntityCount) - int64(b.EntityCount)})
		}
	}
	slices.SortFunc(out, func(a, b engine.TableChange) int { return strings.Compare(a.Table, b.Table) })
	return out
}

func snapshotAt(t *testing.T, g *engine.Graph, c engine.Commit) map[string]engine.Dataset {
	t.Helper()
	s, err := g.Snapshot(context.Background(), engine.At{Branch: c.BranchName(), Commit: c.ID, Version: c.ManifestVersion})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]engine.Dataset{}
	for _, d := range s.Datasets {
		out[d.Table()] = d
	}
	return out
}

// The union of all logs has each commit once, children before parents.
func TestLogAll(t *testing.T) {
	ctx := context.Background()
	g := openStore(t, demo(t))
	all, err := g.LogAll(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	names, err := g.BranchNames(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range names {
		commits, err := g.Commits(ctx, b, 0)
		if err != nil {
			t.Fatal(err)
		}
		for c := range commits.All() {
			want[c.ID] = true
		}
	}
	at := map[string]int{}
	for i := range all.Len() {
		e := all.Commit(i)
		if _, twice := at[e.ID]; twice {
			t.Errorf("%s stands twice", e.ID)
		}
		at[e.ID] = i
		if !want[e.ID] {
			t.Errorf("%s is on no branch", e.ID)
		}
	}
	for e := range all.All() {
		for _, p := range []*string{e.Parent, e.MergedParent} {
			if p == nil {
				continue
			}
			if i, ok := at[*p]; ok && i <= at[e.ID] {
				t.Errorf("parent %s stands before %s", *p, e.ID)
			}
		}
	}
	if all.Len() != len(want) {
		t.Errorf("%d commits, want %d", all.Len(), len(want))
	}
	few, err := g.LogAll(ctx, 3)
	if err != nil || few.Len() != 3 || few.ID(2) != all.ID(2) {
		t.Errorf("the first three: %+v, %v", few, err)
	}
	verified(t, g)
}

// longChain is midlife with a `__manifest` chain of n versions: the newest
// state again and again under higher numbers.
func longChain(t testing.TB, n int) map[string][]byte {
	t.Helper()
	files := graphFiles(t, "midlife")
	key := newestManifest(t, files, "__manifest")
	out := with(files, nil)
	for v := 16; v <= n; v++ {
		out["__manifest/_versions/"+manifestName(uint64(v))] = rewriteManifest(t, files[key], setVersion(uint64(v)))
	}
	return out
}

// A store that fails every LIST page of more than a hundred keys, and a chain
// of 768 versions.
func TestSmallPagesAndALongChain(t *testing.T) {
	ctx := context.Background()
	s := memory(t, memstore.Options{Name: "g", MaxPage: 100}, longChain(t, 768))
	g := openStore(t, s)
	snap, err := g.Snapshot(ctx, engine.At{})
	if err != nil || snap.GraphManifestVersion != 768 || len(snap.Datasets) != 9 {
		t.Fatalf("snapshot %+v, %v", snap, err)
	}
	vs, err := g.Versions(ctx, "__manifest", "", engine.VersionsOptions{Limit: 10, Details: true, Holders: true})
	if err != nil || vs.Count != 768 || len(vs.Versions) != 10 || vs.Head != 768 || vs.Oldest != 1 || vs.ListPages < 8 {
		t.Errorf("versions %+v, %v", vs, err)
	}
	info, err := g.Info(ctx, engine.At{})
	if err != nil || info.Manifest.Exact || info.Manifest.Versions != 100 {
		t.Errorf("info %+v, %v", info, err)
	}
	says(t, "finding", findingOf(t, info, "G37").Title, "at least 100")
	if names, err := g.BranchNames(ctx); err != nil || len(names) != 4 {
		t.Errorf("branches %v, %v", names, err)
	}
	if bs, err := g.Branches(ctx); err != nil || len(bs) != 4 || bs[0].Problem != "" {
		t.Errorf("branches %+v, %v", bs, err)
	}
	if commits, err := g.Commits(ctx, "", 0); err != nil || commits.Len() == 0 {
		t.Errorf("commits %d, %v", commits.Len(), err)
	}
	if h, err := g.Holds(ctx, "__manifest", 10); err != nil || h.Deletable {
		t.Errorf("holds %+v, %v", h, err)
	}
	if n, _ := exportHash(t, g, engine.At{}); n == 0 {
		t.Error("an empty export")
	}
	verified(t, g)
}
