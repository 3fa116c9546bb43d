package branches

import (
	"iter"
	"slices"
	"sort"

	"github.com/omnideck/omnideck/manifest"
)

// Graph is the commit DAG: the union of the commits of several branches. It is
// immutable and shares the memory of the lists that it was made of. Its commits
// have numbers from 0 to Len: first those of the first list, newest first, then
// what each other list adds.
type Graph struct {
	lists     []*manifest.Commits
	direct    int   // commits that have the number of their row in lists[0]
	extra     []row // of the others
	missing   []string
	conflicts []string
}

// row is a row of one of the lists.
type row struct{ list, row int32 }

func (r row) compare(o row) int {
	if r.list != o.list {
		return int(r.list) - int(o.list)
	}
	return int(r.row) - int(o.row)
}

// NewGraph unites commit lists. Branches share the commits that they inherited;
// two commits of one id that differ are told by Conflicts, the first is kept.
func NewGraph(lists ...*manifest.Commits) *Graph {
	g := &Graph{lists: lists}
	for l, list := range lists {
		if l == 0 && !list.Twice() {
			g.direct = list.Len()
			continue
		}
		for i := range list.Len() {
			if n, known := g.findAs(list, i); !known {
				g.extra = append(g.extra, row{int32(l), int32(i)})
			} else if c, at := g.In(n); !c.SameAt(at, list, i) {
				g.conflicts = append(g.conflicts, list.ID(i))
			}
		}
	}
	for n := range g.Len() {
		c, i := g.In(n)
		for _, s := range sides {
			if c.ParentRow(i, s) < 0 {
				if id := c.ParentID(i, s); id != "" && g.Parent(n, s) < 0 {
					g.missing = append(g.missing, id)
				}
			}
		}
	}
	slices.Sort(g.missing)
	slices.Sort(g.conflicts)
	g.missing, g.conflicts = slices.Compact(g.missing), slices.Compact(g.conflicts)
	return g
}

var sides = []manifest.Side{manifest.First, manifest.Merged}

// Len is the number of commits.
func (g *Graph) Len() int { return g.direct + len(g.extra) }

// In is the list that holds a commit, and its row there.
func (g *Graph) In(n int) (c *manifest.Commits, row int) {
	if n < g.direct {
		return g.lists[0], n
	}
	at := g.extra[n-g.direct]
	return g.lists[at.list], int(at.row)
}

// Number is the commit in a row of a list; false when an earlier list has it.
func (g *Graph) Number(list, at int) (n int, ok bool) {
	if list == 0 && g.direct > 0 {
		return at, true
	}
	i, ok := slices.BinarySearchFunc(g.extra, row{int32(list), int32(at)}, row.compare)
	return g.direct + i, ok
}

// Find is the number of the commit with an id.
func (g *Graph) Find(id string) (n int, ok bool) {
	for l, list := range g.lists {
		if i, there := list.Find(id); there {
			if n, ok = g.numbered(l, i, id); ok {
				return n, true
			}
		}
	}
	return 0, false
}

// findAs is Find of the id in a row of a list.
func (g *Graph) findAs(of *manifest.Commits, at int) (n int, ok bool) {
	for l, list := range g.lists {
		if i, there := list.FindAs(of, at); there {
			if n, ok = g.numbered(l, i, ""); ok {
				return n, true
			}
		}
	}
	return 0, false
}

// numbered is Number of the commit that a list found for an id. A list that has
// the id twice found the last of its rows, the graph has the first.
func (g *Graph) numbered(l, i int, id string) (n int, ok bool) {
	if n, ok = g.Number(l, i); ok || !g.lists[l].Twice() {
		return n, ok
	}
	if id == "" {
		id = g.lists[l].ID(i)
	}
	from := sort.Search(len(g.extra), func(k int) bool { return int(g.extra[k].list) >= l })
	for k := from; k < len(g.extra) && int(g.extra[k].list) == l; k++ {
		if g.lists[l].ID(int(g.extra[k].row)) == id {
			return g.direct + k, true
		}
	}
	return 0, false
}

// Parent is the number of a parent; -1 when there is none, or it is not there.
func (g *Graph) Parent(n int, s manifest.Side) int {
	c, i := g.In(n)
	at := c.ParentRow(i, s)
	switch {
	case at >= 0 && n < g.direct:
		return at
	case at >= 0:
		if p, ok := g.findAs(c, at); ok {
			return p
		}
	case c.ParentID(i, s) != "":
		if p, ok := g.Find(c.ParentID(i, s)); ok {
			return p
		}
	}
	return -1
}

// At is a commit.
func (g *Graph) At(n int) manifest.Commit {
	c, i := g.In(n)
	return c.At(i)
}

// Commit finds a commit.
func (g *Graph) Commit(id string) (manifest.Commit, bool) {
	n, ok := g.Find(id)
	if !ok {
		return manifest.Commit{}, false
	}
	return g.At(n), true
}

// All are the commits with their numbers, newest first by the head key.
func (g *Graph) All() iter.Seq2[int, manifest.Commit] {
	order := make([]int32, 0, len(g.extra))
	for i := range g.extra {
		order = append(order, int32(g.direct+i))
	}
	newest := func(a, b int32) int { return g.At(int(b)).Compare(g.At(int(a))) }
	slices.SortFunc(order, newest)
	return func(yield func(int, manifest.Commit) bool) {
		first, more := 0, order
		for first < g.direct || len(more) > 0 {
			n := first
			if first == g.direct || len(more) > 0 && newest(more[0], int32(first)) < 0 {
				n, more = int(more[0]), more[1:]
			} else {
				first++
			}
			if !yield(n, g.At(n)) {
				return
			}
		}
	}
}

// Missing are parents that are named but not there, sorted: history of branches
// that were not read or are gone.
func (g *Graph) Missing() []string { return g.missing }

// Conflicts are ids that stand for different commits in different lists,
// sorted.
func (g *Graph) Conflicts() []string { return g.conflicts }

// Distances are the breadth-first distances from a commit to each of its
// ancestors over both parents, itself included at 0, by number; -1 for the
// others. Cycles, which no sound graph has, end it like any visited commit.
func (g *Graph) Distances(n int) []int32 {
	out := make([]int32, g.Len())
	for i := range out {
		out[i] = -1
	}
	out[n] = 0
	for queue := []int32{int32(n)}; len(queue) > 0; queue = queue[1:] {
		for _, s := range sides {
			if p := g.Parent(int(queue[0]), s); p >= 0 && out[p] < 0 {
				out[p] = out[queue[0]] + 1
				queue = append(queue, int32(p))
			}
		}
	}
	return out
}

// MergeBase is the best common ancestor of two heads: least sum of distances,
// then the highest manifest version, then the newest (there the Rust engine
// takes any). ok is false when they share none. The Rust engine looks at the
// commits of the two branches only: for its answer make the graph of these two
// lists.
func (g *Graph) MergeBase(a, b string) (base manifest.Commit, ok bool) {
	na, oka := g.Find(a)
	nb, okb := g.Find(b)
	if !oka || !okb {
		return base, false
	}
	da, db := g.Distances(na), g.Distances(nb)
	best := int32(0)
	for n := range da {
		if da[n] < 0 || db[n] < 0 {
			continue
		}
		sum := da[n] + db[n]
		if ok && sum > best {
			continue
		}
		if c := g.At(n); !ok || sum < best || c.Compare(base) > 0 {
			base, best, ok = c, sum, true
		}
	}
	return base, ok
}

// Ahead counts the ancestors of a (a included) that are no ancestors of b.
func (g *Graph) Ahead(a, b string) int {
	at, ok := g.Find(a)
	if !ok {
		return 0
	}
	var behind []int32
	if n, ok := g.Find(b); ok {
		behind = g.Distances(n)
	}
	count := 0
	for n, d := range g.Distances(at) {
		if d >= 0 && (behind == nil || behind[n] < 0) {
			count++
		}
	}
	return count
}
