package manifest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
)

// graphs that OmniGraph 0.10.0 wrote, with what it says of each beside them.
var graphs = []string{"midlife", "maintained", "diverged", "deep", "wide"}

// reference is a .json of the shared graphs.
type reference struct {
	Branches struct{ Branches []string }
	Heads    map[string]struct {
		Snapshot snapshot
		Commits  struct{ Commits []commit }
	}
}

type snapshot struct {
	Branch  string    `json:"graph_branch"`
	Version uint64    `json:"graph_manifest_version"`
	Stamp   int       `json:"internal_schema_version"`
	Tables  []dataset `json:"datasets"`
}

type dataset struct {
	Kind    string  `json:"entity_kind"`
	Name    string  `json:"type_name"`
	Path    string  `json:"dataset_path"`
	Version uint64  `json:"published_dataset_version"`
	Branch  *string `json:"native_dataset_branch"`
	Rows    uint64  `json:"entity_count"`
}

type commit struct {
	ID      string  `json:"graph_commit_id"`
	Branch  *string `json:"graph_branch"`
	Version uint64  `json:"graph_manifest_version"`
	Parent  *string `json:"parent_commit_id"`
	Merged  *string `json:"merged_parent_commit_id"`
	Actor   *string `json:"actor_id"`
	Created int64   `json:"created_at"`
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func snapshotOf(v *manifest.View) snapshot {
	s := snapshot{Branch: v.Branch, Version: v.Version, Stamp: v.Stamp.Version}
	if s.Branch == "" {
		s.Branch = manifest.Main
	}
	for _, e := range v.Tables {
		s.Tables = append(s.Tables, dataset{e.Kind(), e.Name(), e.Location, e.Version, orNil(e.Owner), e.Rows})
	}
	return s
}

func commitsOf(v *manifest.View) []commit {
	out := []commit{}
	for _, c := range v.Commits.All() {
		out = append(out, commit{c.ID, orNil(c.Branch), c.ManifestVersion, orNil(c.Parent), orNil(c.MergedParent), c.Actor, c.CreatedAt})
	}
	return out
}

// shared reads a file of the shared graphs; without them the test is skipped.
func shared(t testing.TB, name ...string) []byte {
	t.Helper()
	data, err := fixtures.Shared(append([]string{"graphs"}, name...)...)
	if err != nil {
		t.Skipf("NOT RUN: %v", err)
	}
	return data
}

func unpack(t testing.TB, archive []byte) map[string][]byte {
	t.Helper()
	files, err := fixtures.Unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func store(t testing.TB, files map[string][]byte) *memstore.Store {
	t.Helper()
	s, err := fixtures.Store(memstore.Options{Name: "g"}, files)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func graph(t testing.TB, name string) map[string][]byte {
	t.Helper()
	if name == fixtures.Demo {
		files, err := fixtures.Graph(name)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	return unpack(t, shared(t, name+".tar.gz"))
}

func decode[T any](t testing.TB, data []byte) (out T) {
	t.Helper()
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func open(t testing.TB, s *memstore.Store, o manifest.Options) *manifest.View {
	t.Helper()
	v, err := manifest.Open(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Every branch of every graph, against what the Rust engine says of it.
func TestGraphs(t *testing.T) {
	for _, name := range graphs {
		t.Run(name, func(t *testing.T) {
			ref := decode[reference](t, shared(t, name+".json"))
			s := store(t, graph(t, name))
			l, err := branches.Names(context.Background(), s)
			if err != nil || !slices.Equal(l.Names, ref.Branches.Branches) || len(l.Problems) != 0 || l.Locked {
				t.Fatalf("branches %v, problems %v, error %v; want %v", l.Names, l.Problems, err, ref.Branches.Branches)
			}
			for _, b := range l.Names {
				v := open(t, s, manifest.Options{Branch: b})
				if len(v.Problems) != 0 || v.LineageDoubt != "" || !v.Stamp.OK() || v.RefErr != nil {
					t.Errorf("branch %s: problems %v, stamp %+v, ref %v", b, v.Problems, v.Stamp, v.RefErr)
				}
				if got, want := snapshotOf(v), ref.Heads[b].Snapshot; !reflect.DeepEqual(got, want) {
					t.Errorf("branch %s: snapshot\n%+v\nwant\n%+v", b, got, want)
				}
				if got, want := commitsOf(v), ref.Heads[b].Commits.Commits; !reflect.DeepEqual(got, want) {
					t.Errorf("branch %s: %d commits, want %d:\n%+v", b, len(got), len(want), got)
				}
			}
		})
	}
}

// In every version of every branch, what the rows tell of deletions is what
// the deletion files say, and every commit leads back to its own state.
func TestEveryVersion(t *testing.T) {
	for _, name := range graphs {
		t.Run(name, func(t *testing.T) {
			s := store(t, graph(t, name))
			l, err := branches.Names(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			step := (map[string]int{"deep": 20}[name] + 1) * pace.Of(1, 5)
			for _, b := range l.Names {
				chain, err := lance.Versions(context.Background(), s, manifest.Folder, lance.ListOptions{Branch: b})
				if err != nil {
					t.Fatal(err)
				}
				for i := 0; i < len(chain.Versions); i += step {
					o := manifest.Options{Branch: b, Version: chain.Versions[i].Version}
					told := open(t, s, o)
					o.ReadDeletions = true
					read := open(t, s, o)
					if len(told.Problems)+len(read.Problems) != 0 || !reflect.DeepEqual(told.State, read.State) {
						t.Fatalf("branch %s, version %d: what rows tell differs from what deletion files say: %v %v", b, o.Version, told.Problems, read.Problems)
					}
				}
				timeTravel(t, s, b, step)
			}
		})
	}
}

// timeTravel goes back to commits of a branch.
func timeTravel(t *testing.T, s *memstore.Store, branch string, step int) {
	t.Helper()
	head := open(t, s, manifest.Options{Branch: branch})
	for i := 0; i < head.Commits.Len(); i += step {
		c := head.Commits.At(i)
		v, err := manifest.OpenCommit(context.Background(), s, c, manifest.Options{})
		if errors.Is(err, fs.ErrNotExist) {
			continue // that version was cleaned away
		}
		if err != nil {
			t.Fatalf("commit %s: %v", c.ID, err)
		}
		if id, own := v.State.Head(c.Branch); id != c.ID || !own || v.Version != c.ManifestVersion {
			t.Errorf("commit %s: head %s (own %v) at version %d", c.ID, id, own, v.Version)
		}
	}
}

// The changes that the rows tell are the differences between the states of
// neighbouring versions.
func TestChangesAreDifferences(t *testing.T) {
	for _, name := range []string{"midlife", "diverged"} {
		t.Run(name, func(t *testing.T) {
			s := store(t, graph(t, name))
			l, err := branches.Names(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range l.Names {
				head := open(t, s, manifest.Options{Branch: b})
				fork := uint64(1)
				if head.Ref != nil {
					fork = head.Ref.ParentVersion
				}
				all := map[uint64][]manifest.Change{}
				for at, c := range head.Changes() {
					all[at] = append(all[at], c)
				}
				for at, changes := range all {
					slices.SortFunc(changes, func(a, b manifest.Change) int { return strings.Compare(a.Alias, b.Alias) })
					if at <= fork {
						continue // the parent's, or the first version
					}
					before := open(t, s, manifest.Options{Branch: b, Version: at - 1})
					after := open(t, s, manifest.Options{Branch: b, Version: at})
					if want := difference(before, after); !reflect.DeepEqual(changes, want) {
						t.Errorf("branch %s version %d: changes %+v, want %+v", b, at, changes, want)
					}
				}
			}
		})
	}
}

func difference(before, after *manifest.View) (out []manifest.Change) {
	for _, e := range after.Tables {
		old, _ := before.ByIdentity(e.Identity)
		if old.Version != e.Version {
			out = append(out, manifest.Change{Identity: e.Identity, Alias: e.Alias, From: old.Version, To: e.Version, RowsBefore: old.Rows, RowsAfter: e.Rows})
		}
	}
	return out
}

func TestHeadMismatch(t *testing.T) {
	s := store(t, graph(t, fixtures.Demo))
	v := open(t, s, manifest.Options{})
	c := v.Commits.At(0)
	c.ID = v.Commits.ID(1)
	_, err := manifest.OpenCommit(context.Background(), s, c, manifest.Options{})
	var mismatch *manifest.HeadMismatchError
	if !errors.As(err, &mismatch) || mismatch.Found != v.Commits.ID(0) || !strings.Contains(err.Error(), c.ID) {
		t.Errorf("error %v, want a HeadMismatchError that names both commits", err)
	}
}

// A branch is its ref: a tree alone makes none, a damaged ref hides none.
func TestBranchIsItsRef(t *testing.T) {
	files := graph(t, fixtures.Demo)
	const ref = "__manifest/_refs/branches/archive.json"
	s := store(t, files)
	for _, name := range []string{"nobody", "tree/x", "..", "a b"} {
		_, err := manifest.Peek(context.Background(), s, manifest.Options{Branch: name})
		var missing *manifest.BranchNotFoundError
		if !errors.As(err, &missing) || missing.Branch != name || missing.Tree || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("branch %q: error %v", name, err)
		}
	}
	if err := s.Delete(context.Background(), ref); err != nil {
		t.Fatal(err)
	}
	_, err := manifest.Peek(context.Background(), s, manifest.Options{Branch: "archive"})
	var missing *manifest.BranchNotFoundError
	if !errors.As(err, &missing) || !missing.Tree {
		t.Errorf("a tree without ref: error %v", err)
	}
	if _, err := s.Put(context.Background(), ref, []byte("{")); err != nil {
		t.Fatal(err)
	}
	h, err := manifest.Peek(context.Background(), s, manifest.Options{Branch: "archive"})
	if err != nil || h.RefErr == nil || h.Ref != nil {
		t.Errorf("a damaged ref: head %+v, error %v", h, err)
	}
}

// dataFiles are the keys of data files of main's `__manifest`.
func dataFiles(v *manifest.View) (keys []string) {
	for _, f := range v.Snapshot.Fragments() {
		keys = append(keys, manifest.Folder+"/data/"+f.Files[0].Path)
	}
	return keys
}

// A data file that is gone: what was published later is exact, the rest is
// marked, nothing passes for empty.
func TestMissingDataFile(t *testing.T) {
	whole := open(t, store(t, graph(t, fixtures.Demo)), manifest.Options{})
	for i, key := range dataFiles(whole) {
		s := store(t, graph(t, fixtures.Demo))
		if err := s.Delete(context.Background(), key); err != nil {
			t.Fatal(err)
		}
		v, err := manifest.Open(context.Background(), s, manifest.Options{})
		if err != nil {
			t.Fatalf("without %s: %v", key, err)
		}
		if v.LineageDoubt == "" || !slices.ContainsFunc(v.Problems, func(p manifest.Problem) bool {
			return p.Rule == manifest.RuleFragment && p.Refuses && p.Row.Fragment == whole.Snapshot.Fragments()[i].ID && strings.Contains(p.Found, key)
		}) {
			t.Errorf("without %s: problems %v, doubt %q", key, v.Problems, v.LineageDoubt)
		}
		for _, e := range v.Tables {
			if want, ok := whole.Table(e.Alias); e.Doubt == "" && (!ok || !reflect.DeepEqual(e, want)) {
				t.Errorf("without %s: %s passes for exact: %+v, want %+v", key, e.Alias, e, want)
			}
		}
	}
}

func TestNoDataFileAtAll(t *testing.T) {
	s := store(t, graph(t, fixtures.Demo))
	for _, key := range dataFiles(open(t, s, manifest.Options{})) {
		if err := s.Delete(context.Background(), key); err != nil {
			t.Fatal(err)
		}
	}
	v, err := manifest.Open(context.Background(), s, manifest.Options{})
	if err == nil {
		t.Fatalf("%d tables out of nothing", len(v.Tables))
	}
	h, err := manifest.Peek(context.Background(), s, manifest.Options{})
	if err != nil || !h.Stamp.OK() || h.Fragments == 0 {
		t.Errorf("head %+v, error %v: stamp and fragment count need no row", h, err)
	}
}

// A deletion file that is needed and gone.
func TestMissingDeletionFile(t *testing.T) {
	files := graph(t, fixtures.Demo)
	for key := range files {
		if strings.HasPrefix(key, manifest.Folder+"/_deletions/") {
			delete(files, key)
		}
	}
	s := store(t, files)
	if v := open(t, s, manifest.Options{}); len(v.Problems) != 0 {
		t.Errorf("deletion files were read although the rows tell: %v", v.Problems)
	}
	v := open(t, s, manifest.Options{ReadDeletions: true})
	if !manifest.Refused(v.Problems) {
		t.Fatalf("problems %v", v.Problems)
	}
	want := open(t, store(t, graph(t, fixtures.Demo)), manifest.Options{})
	if !reflect.DeepEqual(v.Heads, want.Heads) || len(v.Tables) != len(want.Tables) {
		t.Errorf("heads %v, want %v", v.Heads, want.Heads)
	}
	for i, p := range v.Problems {
		if p.Rule != manifest.RuleDeletion || p.Found == "" {
			t.Errorf("problem %d: %v", i, p)
		}
	}
}

// Every record is released, also when fragments are lost.
func TestReleases(t *testing.T) {
	files := graph(t, fixtures.Demo)
	for _, lose := range []bool{false, true} {
		s := store(t, files)
		if lose {
			if err := s.Delete(context.Background(), dataFiles(open(t, s, manifest.Options{}))[3]); err != nil {
				t.Fatal(err)
			}
		}
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		open(t, s, manifest.Options{ReadDeletions: true, Lance: lance.OpenOptions{Allocator: mem}})
		mem.AssertSize(t, 0)
	}
}

func TestNotAGraph(t *testing.T) {
	s := store(t, map[string][]byte{"README": []byte("x")})
	if _, err := manifest.Open(context.Background(), s, manifest.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// Any byte of the newest manifest or a data file flipped: an error, problems,
// or a state; never a panic. When nothing is said, nothing but what no rule
// covers (counts, times, recorded paths) may differ.
func TestByteFlips(t *testing.T) {
	files := graph(t, fixtures.Demo)
	whole := open(t, store(t, files), manifest.Options{})
	key := dataFiles(whole)[len(whole.Snapshot.Fragments())-1]
	step := 31
	if testing.Short() || pace.Race {
		step = 211
	}
	base := store(t, files)
	for _, k := range []string{key, whole.Snapshot.Object().Key} {
		for i := 0; i < len(files[k]); i += step {
			s := base.Clone()
			flipped := slices.Clone(files[k])
			flipped[i] ^= 1 << (i % 8)
			if _, err := s.Put(context.Background(), k, flipped); err != nil {
				t.Fatal(err)
			}
			v, err := manifest.Open(context.Background(), s, manifest.Options{})
			if err != nil || len(v.Problems) > 0 || !v.Stamp.OK() {
				continue
			}
			if got, want := shape(v), shape(whole); got != want {
				t.Errorf("%s byte %d: another state and not a word:\n%s\nwant\n%s", k, i, got, want)
			}
		}
	}
}

// shape is what some rule protects: which tables are live, at which version.
func shape(v *manifest.View) string {
	var b strings.Builder
	for _, e := range v.Tables {
		fmt.Fprintln(&b, e.Identity, e.Location, e.Version, e.Doubt)
	}
	return b.String()
}
