package branches

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/manifest"
)

func commit(id string, version uint64, parents ...string) manifest.Commit {
	c := manifest.Commit{ID: id, ManifestVersion: version, CreatedAt: int64(version)}
	if len(parents) > 0 {
		c.Parent = parents[0]
	}
	if len(parents) > 1 {
		c.MergedParent = parents[1]
	}
	return c
}

func graphOf(lists ...[]manifest.Commit) *Graph {
	var packed []*manifest.Commits
	for _, l := range lists {
		packed = append(packed, manifest.CommitsOf(l))
	}
	return NewGraph(packed...)
}

// distances are those of the commits that one comes from, by id.
func distances(g *Graph, id string) map[string]int {
	out := map[string]int{}
	n, _ := g.Find(id)
	for i, d := range g.Distances(n) {
		if d >= 0 {
			out[g.At(i).ID] = int(d)
		}
	}
	return out
}

// A trunk a-b-c-d-e, a branch b-x-y, y merged into d.
func diamond() *Graph {
	trunk := []manifest.Commit{commit("e", 6, "d"), commit("d", 5, "c", "y"), commit("c", 3, "b"), commit("b", 2, "a"), commit("a", 1)}
	side := []manifest.Commit{commit("y", 4, "x"), commit("x", 3, "b"), commit("b", 2, "a"), commit("a", 1)}
	return graphOf(trunk, side)
}

func TestGraph(t *testing.T) {
	g := diamond()
	var order string
	for _, c := range g.All() {
		order += c.ID
	}
	if order != "edyxcba" {
		t.Errorf("order %s", order)
	}
	if got, want := distances(g, "d"), (map[string]int{"d": 0, "c": 1, "y": 1, "b": 2, "x": 2, "a": 3}); !reflect.DeepEqual(got, want) {
		t.Errorf("distances %v, want %v", got, want)
	}
	for _, c := range []struct{ a, b, base string }{
		{"c", "y", "b"}, {"y", "c", "b"}, {"e", "y", "y"}, {"e", "e", "e"}, {"e", "x", "x"}, {"a", "y", "a"},
	} {
		if base, ok := g.MergeBase(c.a, c.b); !ok || base.ID != c.base {
			t.Errorf("merge base of %s and %s: %s, want %s", c.a, c.b, base.ID, c.base)
		}
	}
	if _, ok := g.MergeBase("e", "gone"); ok {
		t.Error("an unknown commit has a merge base")
	}
	if n, m := g.Ahead("e", "y"), g.Ahead("y", "c"); n != 3 || m != 2 {
		t.Errorf("e is %d ahead of y, y %d of c; want 3 (e, d, c) and 2 (y, x)", n, m)
	}
	if len(g.Missing())+len(g.Conflicts()) != 0 {
		t.Errorf("missing %v, conflicts %v", g.Missing(), g.Conflicts())
	}
	if _, ok := g.Commit("x"); !ok {
		t.Error("x is not found")
	}
}

// Equal distances: the higher manifest version; equal versions: the newer.
func TestMergeBaseTies(t *testing.T) {
	g := graphOf([]manifest.Commit{commit("p", 5, "k", "l"), commit("q", 5, "l", "k"), commit("k", 3), commit("l", 4)})
	if base, _ := g.MergeBase("p", "q"); base.ID != "l" {
		t.Errorf("base %s, want l of the higher version", base.ID)
	}
	g = graphOf([]manifest.Commit{commit("p", 5, "k", "l"), commit("q", 5, "l", "k"), commit("k", 3), commit("l", 3)})
	if base, _ := g.MergeBase("p", "q"); base.ID != "l" {
		t.Errorf("base %s, want l, the last by id", base.ID)
	}
}

func TestDamagedLineage(t *testing.T) {
	actor := "ann"
	other := commit("a", 1)
	other.Actor = &actor
	g := graphOf([]manifest.Commit{commit("b", 2, "a", "gone"), commit("a", 1)}, []manifest.Commit{other})
	if !slices.Equal(g.Missing(), []string{"gone"}) || !slices.Equal(g.Conflicts(), []string{"a"}) {
		t.Errorf("missing %v, conflicts %v", g.Missing(), g.Conflicts())
	}
	g = graphOf([]manifest.Commit{commit("a", 1, "b"), commit("b", 2, "a")})
	if d := distances(g, "a"); len(d) != 2 {
		t.Errorf("a cycle: distances %v", d)
	}
}

// Merge bases of random histories, against a search that tries every commit.
func TestMergeBaseAgainstSearch(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var list []manifest.Commit
		for i := range 3 + rnd.IntN(12) {
			c := commit(fmt.Sprintf("%02d", i), uint64(i/2+1))
			if i > 0 {
				c.Parent = fmt.Sprintf("%02d", rnd.IntN(i))
				if rnd.IntN(3) == 0 {
					c.MergedParent = fmt.Sprintf("%02d", rnd.IntN(i))
				}
			}
			list = append(list, c)
		}
		g := graphOf(list)
		a, b := list[rnd.IntN(len(list))].ID, list[rnd.IntN(len(list))].ID
		want := ""
		score := func(id string) (int, bool) {
			da, ok1 := walk(g, a, id)
			db, ok2 := walk(g, b, id)
			return da + db, ok1 && ok2
		}
		for _, c := range list { // ascending by the head key
			if n, ok := score(c.ID); ok {
				if m, found := score(want); !found || n <= m {
					want = c.ID
				}
			}
		}
		base, ok := g.MergeBase(a, b)
		if ok != (want != "") || base.ID != want {
			t.Fatalf("merge base of %s and %s in %v: %q, want %q", a, b, list, base.ID, want)
		}
	}
}

// walk is the least number of steps from a commit to an ancestor.
func walk(g *Graph, from, to string) (int, bool) {
	if from == to {
		return 0, true
	}
	c, ok := g.Commit(from)
	best, found := 0, false
	for _, p := range []string{c.Parent, c.MergedParent} {
		if !ok || p == "" {
			continue
		}
		if n, reach := walk(g, p, to); reach && (!found || n+1 < best) {
			best, found = n+1, true
		}
	}
	return best, found
}

func TestNeeds(t *testing.T) {
	state := func(owners ...string) *manifest.State {
		s := &manifest.State{}
		for _, o := range owners {
			s.Tables = append(s.Tables, manifest.Entry{Owner: o})
		}
		return s
	}
	got := Needs(map[string]*manifest.State{
		"main": state("", "", "dev"), "dev": state("dev", "", "dev"), "lazy": state("", "dev", "gone"),
	})
	want := map[string]Relation{
		"main": {Owned: 2, Borrowed: []string{"dev"}, NeededBy: []string{"dev", "lazy"}},
		"dev":  {Owned: 2, NeededBy: []string{"lazy", "main"}},
		"lazy": {Borrowed: []string{"dev", "gone"}},
		"gone": {NeededBy: []string{"lazy"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("relations %+v, want %+v", got, want)
	}
}

func demo(t *testing.T) *memstore.Store {
	t.Helper()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	s, err := fixtures.Store(memstore.Options{}, files)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *memstore.Store, key, text string) {
	t.Helper()
	if _, err := s.Put(context.Background(), key, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

const refsFolder = "__manifest/_refs/branches/"

func TestList(t *testing.T) {
	s := demo(t)
	const ref = `{"parentBranch":"archive","identifier":{"version_mapping":[[10,"00112233445566778899aabbccddeeff"]]},"parentVersion":10,"createAt":1795964800,"manifestSize":9,"metadata":{}}`
	put(t, s, refsFolder+"%C3%BCn%C3%AF.json", ref)
	put(t, s, refsFolder+"A.json", ref)
	put(t, s, refsFolder+"__schema_apply_lock__.json", ref)
	put(t, s, refsFolder+"broken.json", "{}")
	put(t, s, refsFolder+"a b.json", ref)
	put(t, s, refsFolder+"%zz.json", ref)
	put(t, s, refsFolder+"main.json", ref)
	put(t, s, refsFolder+".tmpAbCdEf", ref)
	put(t, s, "__manifest/_refs/tags/keep.json", "{}")
	l, all, err := List(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"A", "archive", "broken", "fix/ports", "main", "review/new-calls", "ünï"}; !slices.Equal(l.Names, want) || !l.Locked {
		t.Errorf("names %q, want %q; locked %v", l.Names, want, l.Locked)
	}
	var keys []string
	for _, p := range l.Problems {
		keys = append(keys, strings.TrimPrefix(p.Key, refsFolder))
	}
	slices.Sort(keys)
	if want := []string{"%zz.json", "a b.json", "main.json"}; !slices.Equal(keys, want) {
		t.Errorf("problems with %q, want %q", keys, want)
	}
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
		if (b.Name == "broken") != (b.Err != nil) || (b.Ref == nil) != (b.Name == "main" || b.Name == "broken") {
			t.Errorf("branch %s: ref %v, error %v", b.Name, b.Ref, b.Err)
		}
		if b.Name == "ünï" && (b.Ref.Parent != "archive" || b.Ref.ParentVersion != 10 || len(b.Ref.Identifier) != 1) {
			t.Errorf("ref %+v", b.Ref)
		}
	}
	if want := append(slices.Clone(l.Names), LockName); !slices.Equal(names, want) {
		t.Errorf("branches %q, want %q", names, want)
	}
	if len(l.Refs.Tags) != 1 {
		t.Errorf("tags %v", l.Refs.Tags)
	}
}

// The branches of a real graph: who forked from where, who needs whom.
func TestRealGraph(t *testing.T) {
	s := demo(t)
	_, all, err := List(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]*manifest.State{}
	var lists []*manifest.Commits
	for _, b := range all {
		v, err := manifest.Open(context.Background(), s, manifest.Options{Branch: b.Name})
		if err != nil {
			t.Fatal(err)
		}
		states[b.Name] = &v.State
		lists = append(lists, v.Commits)
		if b.Ref != nil && (b.Ref.Parent != "" || b.Ref.ParentVersion != 10 || b.Ref.CreatedAt.Year() != 2026) {
			t.Errorf("branch %s: ref %+v", b.Name, b.Ref)
		}
	}
	g := NewGraph(lists...)
	if len(g.Conflicts()) != 0 {
		t.Errorf("conflicts %v", g.Conflicts())
	}
	head := func(b string) string { id, _ := states[b].Head(b); return id }
	lazy, own := states["archive"].Head("archive")
	if own || lazy == "" {
		t.Errorf("archive has a head of its own: %s", lazy)
	}
	var got []string
	needs := Needs(states)
	for _, b := range all {
		r := needs[b.Name]
		got = append(got, fmt.Sprintf("%s owned %d borrowed %v needed %v ahead %d", b.Name, r.Owned, r.Borrowed, r.NeededBy, g.Ahead(head(b.Name), head("main"))))
	}
	want := []string{
		"archive owned 0 borrowed [] needed [] ahead 0",
		"fix/ports owned 1 borrowed [] needed [] ahead 0",
		"main owned 9 borrowed [] needed [archive fix/ports review/new-calls] ahead 0",
		"review/new-calls owned 2 borrowed [] needed [] ahead 5",
	}
	if !slices.Equal(got, want) {
		t.Errorf("branches:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if base, ok := g.MergeBase(head("review/new-calls"), head("main")); !ok || base.ID != lazy {
		t.Errorf("merge base %s, want the fork point %s", base.ID, lazy)
	}
}

func TestListFails(t *testing.T) {
	s := demo(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := List(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Names(context.Background(), s); err == nil || errors.Is(err, blob.ErrNotExist) {
		t.Errorf("a closed store: error %v", err)
	}
}
