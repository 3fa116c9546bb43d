package engine

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/manifest"
)

// publishing are n commits of main, each of which published a version of one of
// three tables with as many rows as there were commits.
func publishing(n int) manifest.State {
	set := func(n uint64) manifest.Number { return manifest.Number{V: n, Set: true} }
	text := func(s string) manifest.Text { return manifest.Text{V: s, Set: true} }
	var rows []manifest.Row
	for k := range 3 {
		id := manifest.Identity{Table: uint64(k + 1), Incarnation: uint64(k + 10)}
		alias := fmt.Sprintf("node:T%d", k)
		folder, _ := manifest.Location(alias, id)
		rows = append(rows, manifest.Row{ObjectID: "table:" + id.String(), Kind: manifest.KindTable, Alias: alias, Table: set(id.Table), Incarnation: set(id.Incarnation), Location: text(folder)})
	}
	name := func(i int) string { return fmt.Sprintf("01KD8W3Q4Y8ZT5V6M2%08d", i) }
	for i := range n {
		r, version := rows[i%3], uint64(i/3+1)
		r.ObjectID = fmt.Sprintf("table_version:%016x:%016x:%020d", r.Table.V, r.Incarnation.V, version)
		r.Kind, r.Version, r.Rows, r.Metadata = manifest.KindVersion, set(version), set(uint64(i+1)), text(`{"manifest_path":"m"}`)
		c := manifest.Row{ObjectID: name(i), Kind: manifest.KindCommit, Version: set(uint64(i + 1)), Metadata: text(fmt.Sprintf(`{"parent_commit_id":"%s","created_at":%d}`, name(max(0, i-1)), i))}
		if i == 0 {
			c.Metadata = text(`{"created_at":0}`)
		}
		for _, r := range []*manifest.Row{&r, &c} {
			r.Fragment, r.Created, r.Updated = uint64(len(rows)), uint64(i+1), uint64(i+1)
			rows = append(rows, *r)
		}
	}
	s, problems := manifest.Fold(rows)
	if len(problems) > 0 {
		panic(problems[0])
	}
	return s
}

// heapNow is what is held: the second collection takes what pools kept over the
// first.
func heapNow() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestBudgetLogHeld: what a commit of a log holds, with the table that it
// moved, and what the newest three make of a history that is there already.
func TestBudgetLogHeld(t *testing.T) {
	n := 120_000
	if testing.Short() {
		n = 12_000
	}
	before := heapNow()
	state := publishing(n)
	read := heapNow()
	log := func(limit int) *Log {
		g := branches.NewGraph(state.Commits)
		l := &Log{Commits: inOrder(g, childrenFirst(g), limit)}
		l.fill([]*manifest.State{&state})
		return l
	}
	few, made := log(3), 1<<40
	for range 5 { // what other goroutines hold meanwhile only adds
		if made = min(made, heapNow()-read); made <= 1<<16 {
			break
		}
	}
	if few.Len() != 3 || made > 1<<16 {
		t.Errorf("the newest %d commits hold %d bytes beside the history", few.Len(), made)
	}
	all := log(0)
	state = manifest.State{}
	held := (heapNow() - before) / n
	t.Logf("a commit of a log holds %d bytes", held)
	if held > 76 {
		t.Errorf("a commit of a log holds %d bytes, allowed are 76", held)
	}
	for _, l := range []*Log{few, all} {
		for i := range l.Len() {
			made := n - 1 - i // counted from the first commit
			want := TableChange{Table: fmt.Sprintf("node:T%d", made%3), FromVersion: uint64(made / 3), ToVersion: uint64(made/3 + 1), RowsDelta: 3}
			if made < 3 {
				want.RowsDelta = int64(made + 1)
			}
			if c := l.Changed(i); len(c) != 1 || c[0] != want || l.RowsDelta(i) != want.RowsDelta {
				t.Fatalf("commit %d changed %+v, want %+v", made, c, want)
			}
		}
	}
	if p, ok := few.Find(all.ID(2)); !ok || p != 2 || few.Parent(2) != -1 || few.ParentID(2) != all.ID(3) || all.Parent(2) != 3 {
		t.Errorf("of three commits the last is found at %d, %v, its parent at %d, called %s", p, ok, few.Parent(2), few.ParentID(2))
	}
	if _, ok := few.Find(all.ID(3)); ok {
		t.Error("a commit that is not among three is found there")
	}
}
