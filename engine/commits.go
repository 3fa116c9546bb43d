package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/manifest"
)

func commitOf(c manifest.Commit) Commit {
	return Commit{
		ID: c.ID, Branch: optional(c.Branch), ManifestVersion: c.ManifestVersion,
		Parent: optional(c.Parent), MergedParent: optional(c.MergedParent), Actor: c.Actor, CreatedAt: c.CreatedAt,
	}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Commits are the commits in the history of a branch ("" = main), newest
// first; limit 0 = all. An *IncompleteError comes beside the commits.
func (g *Graph) Commits(ctx context.Context, branch string, limit int) (*Commits, error) {
	return do(ctx, g, "commits", func(ctx context.Context, o *operation) (*Commits, error) {
		view, err := o.at(ctx, At{Branch: branch})
		if err != nil {
			return nil, err
		}
		out := inOrder(branches.NewGraph(view.Commits), nil, limit)
		return &out, incomplete("history", view)
	})
}

// Commit finds a commit by its id, or by a beginning or end that only it has:
// in the history of main, else on every other branch.
func (g *Graph) Commit(ctx context.Context, id string) (*Commit, error) {
	return do(ctx, g, "commit", func(ctx context.Context, o *operation) (*Commit, error) {
		c, err := o.findCommit(ctx, id, "")
		if err != nil {
			return nil, err
		}
		o.commit = c.ID
		out := commitOf(c)
		return &out, nil
	})
}

// Log is Commits with what each commit did to the tables, by the counts that
// were published: no table is opened. An *IncompleteError comes beside it.
func (g *Graph) Log(ctx context.Context, branch string, limit int) (*Log, error) {
	return do(ctx, g, "log", func(ctx context.Context, o *operation) (*Log, error) {
		view, err := o.at(ctx, At{Branch: branch})
		if err != nil {
			return nil, err
		}
		out := &Log{Commits: inOrder(branches.NewGraph(view.Commits), nil, limit)}
		out.fill([]*manifest.State{&view.State})
		return out, incomplete("history", view)
	})
}

// LogAll is the union of the logs of all branches, newest first, children
// before their parents. A branch that cannot be read is an *IncompleteError
// beside the rest.
func (g *Graph) LogAll(ctx context.Context, limit int) (*Log, error) {
	return do(ctx, g, "log all", func(ctx context.Context, o *operation) (*Log, error) {
		all, err := o.allViews(ctx)
		if err != nil {
			return nil, err
		}
		var (
			lists   []*manifest.Commits
			states  []*manifest.State
			missing = &IncompleteError{What: "history"}
		)
		for _, b := range all {
			if b.err != nil {
				missing.Problems = append(missing.Problems, "branch "+b.Name+": "+b.err.Error())
				continue
			}
			if e, ok := incomplete("history", b.view).(*IncompleteError); ok {
				missing.Problems = append(missing.Problems, e.Problems...)
			}
			lists, states = append(lists, b.view.Commits), append(states, &b.view.State)
		}
		dag := branches.NewGraph(lists...)
		if dag.Len() == 0 && len(all) > 0 && all[0].err != nil {
			return nil, all[0].err
		}
		out := &Log{Commits: inOrder(dag, childrenFirst(dag), limit)}
		out.fill(states)
		if len(missing.Problems) > 0 {
			slices.Sort(missing.Problems)
			missing.Problems = slices.Compact(missing.Problems)
			return out, missing
		}
		return out, nil
	})
}

// childrenFirst orders commits so that none stands before one of its children;
// among those that may come next the newest does (time, manifest version, id).
// Times of different writers need not agree with descent, versions of
// different branches do not. Commits of a cycle, which no sound history has,
// come last in that same order. nil is the order of their numbers.
func childrenFirst(g *branches.Graph) []int32 {
	order, numbered := newestFirst(g)
	place := make([]int32, len(order))
	for i, n := range order {
		place[n] = int32(i)
	}
	each := func(i int, f func(p int)) {
		for _, s := range []manifest.Side{manifest.First, manifest.Merged} {
			if p := g.Parent(int(order[i]), s); p >= 0 {
				f(int(place[p]))
			}
		}
	}
	children, sound := make([]int32, len(order)), true // not yet placed
	for i := range order {
		each(i, func(p int) {
			children[p]++
			sound = sound && p > i
		})
	}
	switch {
	case sound && numbered:
		return nil
	case sound:
		return order
	}
	ready := &indexHeap{}
	for i, n := range children {
		if n == 0 {
			ready.push(i)
		}
	}
	out := make([]int32, 0, len(order))
	placed := make([]bool, len(order))
	for ready.len() > 0 {
		i := ready.pop()
		placed[i] = true
		out = append(out, order[i])
		each(i, func(p int) {
			if children[p]--; children[p] == 0 {
				ready.push(p)
			}
		})
	}
	for i, n := range order {
		if !placed[i] {
			out = append(out, n)
		}
	}
	return out
}

// newestFirst orders the numbers of commits by time, manifest version and id;
// numbered says that they stood in that order.
func newestFirst(g *branches.Graph) (order []int32, numbered bool) {
	order = make([]int32, g.Len())
	for i := range order {
		order[i] = int32(i)
	}
	newest := func(a, b int32) int {
		x, i := g.In(int(a))
		y, j := g.In(int(b))
		if c := cmp.Or(cmp.Compare(y.CreatedAt(j), x.CreatedAt(i)), cmp.Compare(y.Version(j), x.Version(i))); c != 0 {
			return c
		}
		return y.CompareID(j, x, i)
	}
	if slices.IsSortedFunc(order, newest) {
		return order, true
	}
	slices.SortFunc(order, newest)
	return order, false
}
