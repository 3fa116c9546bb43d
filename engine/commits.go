package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"

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

// firstN is the beginning of a list; 0 = all of it.
func firstN[T any](list []T, n int) []T {
	if n > 0 && n < len(list) {
		return list[:n]
	}
	return list
}

// Commits are the commits in the history of a branch ("" = main), newest
// first; limit 0 = all. An *IncompleteError comes beside the commits.
func (g *Graph) Commits(ctx context.Context, branch string, limit int) ([]Commit, error) {
	return do(ctx, g, "commits", func(ctx context.Context, o *operation) ([]Commit, error) {
		view, err := o.at(ctx, At{Branch: branch})
		if err != nil {
			return nil, err
		}
		out := make([]Commit, 0, len(view.Commits))
		for _, c := range firstN(view.Commits, limit) {
			out = append(out, commitOf(c))
		}
		return out, incomplete("history", view)
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
func (g *Graph) Log(ctx context.Context, branch string, limit int) ([]LogEntry, error) {
	return do(ctx, g, "log", func(ctx context.Context, o *operation) ([]LogEntry, error) {
		view, err := o.at(ctx, At{Branch: branch})
		if err != nil {
			return nil, err
		}
		changes := view.Changes()
		out := make([]LogEntry, 0, len(view.Commits))
		for _, c := range firstN(view.Commits, limit) {
			out = append(out, LogEntry{commitOf(c), changedBy(changes[c.ManifestVersion])})
		}
		return out, incomplete("history", view)
	})
}

// LogAll is the union of the logs of all branches, newest first, children
// before their parents. A branch that cannot be read is an *IncompleteError
// beside the rest.
func (g *Graph) LogAll(ctx context.Context, limit int) ([]LogEntry, error) {
	return do(ctx, g, "log all", func(ctx context.Context, o *operation) ([]LogEntry, error) {
		all, err := o.allViews(ctx)
		if err != nil {
			return nil, err
		}
		var (
			entries []LogEntry
			seen    = map[string]bool{}
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
			changes := b.view.Changes()
			for _, c := range b.view.Commits {
				if !seen[c.ID] {
					seen[c.ID] = true
					entries = append(entries, LogEntry{commitOf(c), changedBy(changes[c.ManifestVersion])})
				}
			}
		}
		entries = firstN(childrenFirst(entries), limit)
		switch {
		case len(entries) == 0 && len(all) > 0 && all[0].err != nil:
			return nil, all[0].err
		case len(missing.Problems) > 0:
			slices.Sort(missing.Problems)
			missing.Problems = slices.Compact(missing.Problems)
			return entries, missing
		}
		return entries, nil
	})
}

func changedBy(changes []manifest.Change) []TableChange {
	out := make([]TableChange, 0, len(changes))
	for _, c := range changes {
		out = append(out, TableChange{
			Table: c.Alias, FromVersion: c.From, ToVersion: c.To,
			RowsDelta: int64(c.RowsAfter) - int64(c.RowsBefore),
		})
	}
	slices.SortFunc(out, func(a, b TableChange) int { return strings.Compare(a.Table, b.Table) })
	return out
}

// childrenFirst orders commits so that none stands before one of its children;
// among those that may come next the newest does (time, manifest version, id).
// Times of different writers need not agree with descent, versions of
// different branches do not. Commits of a cycle, which no sound history has,
// come last in that same order.
func childrenFirst(entries []LogEntry) []LogEntry {
	newest := func(a, b LogEntry) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.ManifestVersion, a.ManifestVersion), strings.Compare(b.ID, a.ID))
	}
	slices.SortFunc(entries, newest)
	at := make(map[string]int, len(entries))
	for i, e := range entries {
		at[e.ID] = i
	}
	children := make([]int, len(entries)) // not yet placed
	each := func(e LogEntry, f func(i int)) {
		for _, p := range []*string{e.Parent, e.MergedParent} {
			if p == nil {
				continue
			}
			if i, ok := at[*p]; ok {
				f(i)
			}
		}
	}
	for _, e := range entries {
		each(e, func(i int) { children[i]++ })
	}
	ready := &indexHeap{}
	for i, n := range children {
		if n == 0 {
			ready.push(i)
		}
	}
	out := make([]LogEntry, 0, len(entries))
	placed := make([]bool, len(entries))
	for ready.len() > 0 {
		i := ready.pop()
		placed[i] = true
		out = append(out, entries[i])
		each(entries[i], func(p int) {
			if children[p]--; children[p] == 0 {
				ready.push(p)
			}
		})
	}
	for i, e := range entries {
		if !placed[i] {
			out = append(out, e)
		}
	}
	return out
}
