package engine

import (
	"context"

	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/refs"
	"github.com/omnideck/omnideck/manifest"
)

// fork is a branch of a dataset and where it was forked.
type fork struct {
	name    string
	parent  string // "" = main
	version uint64 // of the parent
}

// kind tells a graph branch that has commits of its own from one that has none.
func (f fork) kind(all []branchView) string {
	for _, b := range all {
		if b.Name == f.name && b.view != nil {
			if _, own := b.view.State.Head(b.view.Branch); !own {
				return "lazy_branch"
			}
		}
	}
	return "branch"
}

// tag is a name for a version of a dataset.
type tag struct {
	name    string
	branch  string // "" = main
	version uint64
}

// datasetRefs are the branches and tags of one dataset. One that cannot be
// read may hold anything: that is an error.
func (o *operation) datasetRefs(ctx context.Context, root string) ([]fork, []tag, error) {
	if root == manifest.Folder {
		return o.manifestRefs(ctx)
	}
	l, err := refs.List(ctx, o.store, root)
	if err != nil {
		return nil, nil, err
	}
	bs, err := refs.ReadBranches(ctx, o.store, l.Branches, o.opts.Concurrency)
	if err != nil {
		return nil, nil, err
	}
	var forks []fork
	for _, b := range bs {
		if b.Err != nil {
			return nil, nil, b.Err
		}
		forks = append(forks, fork{b.Name, b.Value.Parent, b.Value.ParentVersion})
	}
	tags, err := o.readTags(ctx, l.Tags)
	return forks, tags, err
}

// manifestRefs is datasetRefs of `__manifest`, whose branches are those of the
// graph and were read already.
func (o *operation) manifestRefs(ctx context.Context) ([]fork, []tag, error) {
	all, err := o.allViews(ctx)
	if err != nil {
		return nil, nil, err
	}
	var forks []fork
	for _, b := range all {
		if b.Err != nil {
			return nil, nil, b.Err
		}
		if b.Ref != nil {
			forks = append(forks, fork{b.Name, b.Ref.Parent, b.Ref.ParentVersion})
		}
	}
	tags, err := o.readTags(ctx, o.listing.Refs.Tags)
	return forks, tags, err
}

func (o *operation) readTags(ctx context.Context, list []refs.Ref) ([]tag, error) {
	ts, err := refs.ReadTags(ctx, o.store, list, o.opts.Concurrency)
	if err != nil {
		return nil, err
	}
	var out []tag
	for _, t := range ts {
		if t.Err != nil {
			return nil, t.Err
		}
		out = append(out, tag{t.Name, t.Value.Branch, t.Value.Version})
	}
	return out, nil
}

// hasVersion asks for the manifest of one version by its names.
func (o *operation) hasVersion(ctx context.Context, dataset string, version uint64) (bool, error) {
	for _, name := range []string{format.ManifestName(version), format.ManifestNameV1(version)} {
		_, err := o.store.Head(ctx, format.Join(dataset, format.VersionsDir, name))
		if err == nil {
			return true, nil
		}
		if !isGone(err) {
			return false, err
		}
	}
	return false, nil
}
