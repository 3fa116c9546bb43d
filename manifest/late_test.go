package manifest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func numbered(n int) string { return fmt.Sprintf("01KB7Q0V1S3F8D1Y3J%08d", n) }

// A list of commits that grew one by one, past the size from where on it is made
// one piece, is the list made of all of them; the lists that it grew from stay as
// they were, also when two grow from one.
func TestCommitsGrow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var all []Commit
	var list *Commits
	actor := "ann"
	one := func(i int) Commit {
		k := Commit{ID: numbered(i), ManifestVersion: uint64(i + 1), CreatedAt: int64(i) - 7}
		if i > 0 {
			k.Parent = numbered(r.IntN(i))
		}
		switch r.IntN(6) {
		case 0:
			k.MergedParent = numbered(1e7 + r.IntN(3)) // of another branch: no row
		case 1:
			k.Branch, k.Actor = "dev", &actor
		case 2:
			k.MergedParent = numbered(r.IntN(i + 1)) // may be none but itself
		}
		if k.MergedParent == k.ID {
			k.MergedParent = ""
		}
		return k
	}
	check := func(list *Commits, all []Commit) {
		t.Helper()
		want := CommitsOf(all)
		if a, b := commitsOf(list), commitsOf(want); !reflect.DeepEqual(a, b) {
			t.Fatalf("%d commits: %+v\nwant %+v", len(all), a, b)
		}
		for i := range list.Len() {
			if j, ok := want.FindAs(list, i); !ok || j != i || !list.SameAt(i, want, j) || list.CompareID(i, want, j) != 0 {
				t.Fatalf("row %d of %d is found at %d", i, list.Len(), j)
			}
		}
		if _, ok := list.Find(numbered(9e6)); ok || list.Twice() {
			t.Fatal("a commit that is not there was found")
		}
	}
	for i := range 40 {
		all = append(all, one(i))
	}
	list = CommitsOf(all)
	for i := 40; i < 3*lateMax; i++ {
		before, n := list, len(all)
		k := one(i)
		list = before.with(k)
		all = append(all, k)
		if i%211 == 0 || i%lateMax < 2 {
			other := before.with(one(i))
			check(before, all[:n])
			check(list, all)
			if other.Len() != list.Len() || other.ID(0) != k.ID || other.ID(1) != list.ID(1) {
				t.Fatal("two lists that grew from one disturb each other")
			}
		}
	}
	check(list, all)
	check(list.flat(), all)
}

// The same of version rows, of which some take the place of others.
func TestVersionsGrow(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	var all []VersionRow
	var list Versions
	check := func(list *Versions, all []VersionRow) {
		t.Helper()
		want := slices.Clone(all)
		slices.SortFunc(want, func(a, b VersionRow) int { return a.compare(&b) })
		for i := range want {
			want[i].Superseded = i+1 < len(want) && want[i].sameID(&want[i+1])
		}
		if got := rowsOf(list); !slices.Equal(got, want) {
			t.Fatalf("%d rows: %+v\nwant %+v", len(all), got, want)
		}
		for id := range uint64(7) {
			of := Identity{id, id + 1}
			got := slices.Collect(list.Of(of))
			if part := slices.DeleteFunc(slices.Clone(want), func(r VersionRow) bool { return r.Identity != of }); !slices.Equal(got, part) {
				t.Fatalf("rows of %v: %+v\nwant %+v", of, got, part)
			}
		}
	}
	for at := uint64(1); len(all) < 3*lateMax; at++ {
		var rows []VersionRow
		for _, id := range r.Perm(7)[:r.IntN(4)] {
			row := VersionRow{Identity: Identity{uint64(id), uint64(id) + 1}, Alias: fmt.Sprint("node:T", id, r.IntN(2)), Version: uint64(r.IntN(300)), Rows: at, Created: at, Updated: at}
			if r.IntN(3) == 0 {
				row.Owner = "dev"
			}
			rows = append(rows, row)
		}
		before, n := list, len(all)
		list = list.with(rows)
		all = append(all, rows...)
		if at%97 == 0 || n%lateMax < 3 {
			check(&before, all[:n])
			check(&list, all)
		}
	}
	check(&list, all)
	flat := list.flat()
	check(&flat, all)
}

// What a publish costs in memory and time where there is a million of commits and
// of version rows: its lists are not copied.
func BenchmarkPublishMillion(b *testing.B) {
	const n = 1_000_000
	g := &gathered{}
	for i := range n {
		c := Commit{ID: numbered(i), ManifestVersion: uint64(i + 1), CreatedAt: int64(i)}
		if i > 0 {
			c.Parent = numbered(i - 1)
		}
		g.commits.add(&c, spot{})
		v := versionOf("node:T", Identity{uint64(i%50 + 1), 7}, uint64(i/50+1), 1, "")
		g.versions.add(&v, Identity{uint64(i%50 + 1), 7})
	}
	commits := g.commits.pack(nil)
	versions := g.versions.pack(g.versions.order(), nil)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		commits = commits.with(Commit{ID: numbered(n + i), ManifestVersion: uint64(n + i + 1), Parent: commits.ID(0)})
		versions = versions.with([]VersionRow{{Identity: Identity{uint64(i%50 + 1), 7}, Alias: "node:T", Version: uint64(n + i), Updated: uint64(n + i)}})
	}
}
