package branches

import "github.com/omnideck/omnideck/manifest"

// Graph is the commit DAG: the union of the commits of several branches.
type Graph struct{}

// NewGraph unites commit lists. Lists of different branches share commits; two
// commits of one id that differ are reported by Conflicts.
func NewGraph(lists ...[]manifest.Commit) *Graph { return &Graph{} }

// Commit finds a commit.
func (g *Graph) Commit(id string) (manifest.Commit, bool) { return manifest.Commit{}, false }

// All are the commits, newest first: manifest version, time, id.
func (g *Graph) All() []manifest.Commit { return nil }

// Distances are the breadth-first distances from a commit to each of its
// ancestors over both parents, itself included at 0.
func (g *Graph) Distances(id string) map[string]int { return nil }

// MergeBase is the best common ancestor of two heads: least sum of distances,
// then the highest manifest version, then the newest. ok is false when they
// share none.
func (g *Graph) MergeBase(a, b string) (base manifest.Commit, ok bool) {
	return manifest.Commit{}, false
}

// Ahead counts the ancestors of a (a included) that are no ancestors of b.
func (g *Graph) Ahead(a, b string) int { return 0 }

// Missing are parents that are named but not there, sorted: history that was
// not read or is lost.
func (g *Graph) Missing() []string { return nil }

// Conflicts are ids that stand for different commits in different lists.
func (g *Graph) Conflicts() []string { return nil }

// Relation is what one branch has to do with the others' data.
type Relation struct {
	Owned    int      // live entries of its state whose data it owns
	Borrowed []string // owners other than itself and main, sorted: it needs them
	NeededBy []string // branches with an entry that it owns, sorted
}

// Needs computes the relations of branches from their states, by name.
func Needs(states map[string]*manifest.State) map[string]Relation { return nil }
