package engine

import (
	"context"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/manifest"
)

// BranchNames are the names of all branches, byte order, main among them: one
// LIST for every hundred refs, and one key of `__manifest/_versions/` beside
// it, which makes sure that a graph is there at all.
func (g *Graph) BranchNames(ctx context.Context) ([]string, error) {
	return do(ctx, g, "branch names", func(ctx context.Context, o *operation) ([]string, error) {
		var listing *branches.Listing
		err := o.together(
			func() error { return o.requireGraph(ctx) },
			func() (err error) { listing, err = branches.Names(ctx, o.store); return err },
		)
		if err != nil {
			return nil, err
		}
		if len(listing.Problems) > 0 {
			e := &IncompleteError{What: "list of branches"}
			for _, p := range listing.Problems {
				e.Problems = append(e.Problems, p.Error())
			}
			return listing.Names, e
		}
		return listing.Names, nil
	})
}

// requireGraph fails when `__manifest` has no version at all.
func (o *operation) requireGraph(ctx context.Context) error {
	for _, err := range o.store.List(ctx, blob.ListOptions{Prefix: manifest.Folder + "/_versions/", PageSize: 1}) {
		return err
	}
	return o.noGraph(ctx, blob.ErrNotExist)
}

// Branches are all branches with their place among the others: main first,
// then byte order. One that cannot be read is among them, with its Problem.
func (g *Graph) Branches(ctx context.Context) ([]Branch, error) {
	return do(ctx, g, "branches", func(ctx context.Context, o *operation) ([]Branch, error) {
		all, err := o.allViews(ctx)
		if err != nil {
			return nil, err
		}
		if len(all) > 0 && all[0].err != nil {
			if _, none := all[0].err.(*NotAGraphError); none {
				return nil, all[0].err
			}
		}
		states := map[string]*manifest.State{}
		var lists []*manifest.Commits
		for _, b := range all {
			if b.view != nil {
				states[b.Name] = &b.view.State
				lists = append(lists, b.view.Commits)
			}
		}
		needs := branches.Needs(states)
		dag := branches.NewGraph(lists...)
		mainHead := ""
		if s := states[mainName]; s != nil {
			mainHead, _ = s.Head("")
		}
		out := make([]Branch, 0, len(all))
		for _, b := range all {
			out = append(out, branchOf(b, needs[b.Name], dag, mainHead))
		}
		return out, nil
	})
}

func branchOf(b branchView, r branches.Relation, dag *branches.Graph, mainHead string) Branch {
	out := Branch{Name: b.Name, NeededBy: r.NeededBy, OwnedTables: r.Owned}
	if out.NeededBy == nil {
		out.NeededBy = []string{}
	}
	if b.Ref != nil {
		out.Parent, out.ForkVersion, out.Created = nameOf(b.Ref.Parent), b.Ref.ParentVersion, b.Ref.CreatedAt
	}
	if b.Err != nil {
		out.Problem = b.Err.Error()
	}
	if b.err != nil {
		out.Problem = b.err.Error()
		return out
	}
	out.ManifestVersion = b.view.Version
	out.Head, out.OwnHead = b.view.State.Head(bare(b.Name))
	if mainHead != "" && out.Head != "" {
		out.Ahead = dag.Ahead(out.Head, mainHead)
	}
	if e, ok := incomplete("branch", b.view).(*IncompleteError); ok {
		out.Problem = e.Error()
	}
	return out
}
