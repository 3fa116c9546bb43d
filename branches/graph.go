package branches

import (
	"slices"

	"github.com/omnideck/omnideck/manifest"
)

// Graph is the commit DAG: the union of the commits of several branches. It is
// immutable.
type Graph struct {
	byID      map[string]manifest.Commit
	all       []manifest.Commit
	missing   []string
	conflicts []string
}

// NewGraph unites commit lists. Branches share the commits that they inherited;
// two commits of one id that differ are told by Conflicts, the first is kept.
func NewGraph(lists ...[]manifest.Commit) *Graph {
	g := &Graph{byID: map[string]manifest.Commit{}}
	for _, list := range lists {
		for _, c := range list {
			if old, ok := g.byID[c.ID]; ok {
				if !equal(old, c) {
					g.conflicts = append(g.conflicts, c.ID)
				}
				continue
			}
			g.byID[c.ID] = c
			g.all = append(g.all, c)
		}
	}
	slices.SortFunc(g.all, func(a, b manifest.Commit) int { return b.Compare(a) })
	for _, c := range g.all {
		for _, p := range parents(c) {
			if _, ok := g.byID[p]; !ok {
				g.missing = append(g.missing, p)
			}
		}
	}
	slices.Sort(g.missing)
	slices.Sort(g.conflicts)
	g.missing, g.conflicts = slices.Compact(g.missing), slices.Compact(g.conflicts)
	return g
}

func equal(a, b manifest.Commit) bool {
	same := a.Actor == b.Actor || a.Actor != nil && b.Actor != nil && *a.Actor == *b.Actor
	a.Actor, b.Actor = nil, nil
	return same && a == b
}

// parents are the first parent and the one merged in, as far as there are any.
func parents(c manifest.Commit) (out []string) {
	for _, p := range []string{c.Parent, c.MergedParent} {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

// Commit finds a commit.
func (g *Graph) Commit(id string) (manifest.Commit, bool) {
	c, ok := g.byID[id]
	return c, ok
}

// All are the commits, newest first by the head key. The slice must not be
// changed.
func (g *Graph) All() []manifest.Commit { return g.all }

// Missing are parents that are named but not there, sorted: history of branches
// that were not read or are gone.
func (g *Graph) Missing() []string { return g.missing }

// Conflicts are ids that stand for different commits in different lists,
// sorted.
func (g *Graph) Conflicts() []string { return g.conflicts }

// Distances are the breadth-first distances from a commit to each of its
// ancestors over both parents, itself included at 0. Empty for an unknown
// commit. Cycles, which no sound graph has, end it like any visited commit.
func (g *Graph) Distances(id string) map[string]int {
	out := map[string]int{}
	if _, ok := g.byID[id]; !ok {
		return out
	}
	out[id] = 0
	for queue := []string{id}; len(queue) > 0; queue = queue[1:] {
		for _, p := range parents(g.byID[queue[0]]) {
			if _, known := g.byID[p]; !known {
				continue
			}
			if _, seen := out[p]; !seen {
				out[p] = out[queue[0]] + 1
				queue = append(queue, p)
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
	da, db := g.Distances(a), g.Distances(b)
	best := 0
	for id, n := range da {
		m, common := db[id]
		if !common {
			continue
		}
		if c := g.byID[id]; !ok || n+m < best || n+m == best && c.Compare(base) > 0 {
			base, best, ok = c, n+m, true
		}
	}
	return base, ok
}

// Ahead counts the ancestors of a (a included) that are no ancestors of b.
func (g *Graph) Ahead(a, b string) int {
	behind := g.Distances(b)
	n := 0
	for id := range g.Distances(a) {
		if _, ok := behind[id]; !ok {
			n++
		}
	}
	return n
}
