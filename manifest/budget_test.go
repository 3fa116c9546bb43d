package manifest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/internal/pace"
)

// longHistory are the rows of n commits on main, each of which published a
// version of one of three tables, as they come from decoding: texts end with the
// row.
func longHistory(n int, take func(*Row)) {
	tables := []Identity{{1, 10}, {2, 11}, {3, 12}}
	for i, id := range tables {
		r := tableRow(fmt.Sprintf("node:T%d", i), id)
		take(&r)
	}
	name := func(i int) string { return fmt.Sprintf("01KD8W3Q4Y8ZT5V6M2%08d", i) }
	for i := range n {
		k := i % len(tables)
		v := versionOf(fmt.Sprintf("node:T%d", k), tables[k], uint64(i/len(tables)+1), uint64(i), "")
		v.Metadata.V = fmt.Sprintf(`{"manifest_path":"g/nodes/%d/_versions/%d.manifest","manifest_size":%d,"e_tag":"\"%032x\"","naming_scheme":"V2"}`, k, i, 900+i, i)
		parent := ""
		if i > 0 {
			parent = name(i - 1)
		}
		c := commitRow(name(i), uint64(i+1), parent)
		for j, r := range []*Row{&v, &c} {
			r.Fragment, r.Offset, r.Created, r.Updated = uint64(i>>16), uint32(2*(i&0xffff)+j), uint64(i+1), uint64(i+1)
			take(r)
		}
	}
	h := headRow(Main, name(n-1), uint64(n))
	take(&h)
}

// heap is what is held: the second collection takes what pools kept over the first.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestBudgetPacked: what a commit and a version row hold, while rows are
// gathered and when they are folded. A million commits, and as many versions,
// are to fit a program of 150 MB.
func TestBudgetPacked(t *testing.T) {
	n := pace.Of(300_000, 50_000)
	if testing.Short() {
		n = 50_000
	}
	before := heap()
	g := &gathered{}
	longHistory(n, func(r *Row) { g.take(r, strings.Clone) })
	gathering := (heap() - before) / n
	g.group()
	g.decide()
	s, problems := fold(g, nil)
	g = nil
	held := (heap() - before) / n
	if len(problems) != 0 || s.Commits.Len() != n || s.Versions.Len() != n || len(s.Tables) != 3 || s.Tables[0].Meta.ETag == nil {
		t.Fatalf("%d commits, %d versions, %d tables, problems %v", s.Commits.Len(), s.Versions.Len(), len(s.Tables), problems)
	}
	t.Logf("a commit and its version row: %d bytes gathered, %d bytes folded", gathering, held)
	if gathering > 115 || held > 72 {
		t.Errorf("a commit and its version row take %d bytes gathered and %d folded; allowed are 115 and 72", gathering, held)
	}
	moved := 0
	for range s.Changes() {
		moved++
	}
	if grown := heap() - before - held*n; moved != n || grown > 1<<20 {
		t.Errorf("%d changes; going over them left %d bytes", moved, grown)
	}
	runtime.KeepAlive(s)
}
