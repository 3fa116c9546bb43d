package engine

import (
	"context"
	"fmt"

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

// datasetRefs are the branches and tags of one dataset. Refs that cannot be read
// are left out, and unread says of each that it may need any version.
func (o *operation) datasetRefs(ctx context.Context, root string) (forks []fork, tags []tag, unread []string, err error) {
	if root == manifest.Folder {
		return o.manifestRefs(ctx)
	}
	l, err := refs.List(ctx, o.store, root)
	if err != nil {
		return nil, nil, nil, err
	}
	bs, err := refs.ReadBranches(ctx, o.store, l.Branches, o.opts.Concurrency)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, b := range bs {
		if b.Err != nil {
			unread = append(unread, unreadRef("branch", b.Name, b.Err))
			continue
		}
		forks = append(forks, fork{b.Name, b.Value.Parent, b.Value.ParentVersion})
	}
	tags, lost, err := o.readTags(ctx, l.Tags)
	return forks, tags, append(unread, lost...), err
}

func unreadRef(kind, name string, err error) string {
	return fmt.Sprintf("what the %s %s needs is unknown: %v", kind, name, err)
}

// manifestRefs is datasetRefs of `__manifest`, whose branches are those of the
// graph and were read already.
func (o *operation) manifestRefs(ctx context.Context) (forks []fork, tags []tag, unread []string, err error) {
	all, err := o.allViews(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, b := range all {
		switch {
		case b.Err != nil:
			unread = append(unread, unreadRef("branch", b.Name, b.Err))
		case b.Ref != nil:
			forks = append(forks, fork{b.Name, b.Ref.Parent, b.Ref.ParentVersion})
		}
	}
	tags, lost, err := o.readTags(ctx, o.listing.Refs.Tags)
	return forks, tags, append(unread, lost...), err
}

func (o *operation) readTags(ctx context.Context, list []refs.Ref) (tags []tag, unread []string, err error) {
	ts, err := refs.ReadTags(ctx, o.store, list, o.opts.Concurrency)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range ts {
		if t.Err != nil {
			unread = append(unread, unreadRef("tag", t.Name, t.Err))
			continue
		}
		tags = append(tags, tag{t.Name, t.Value.Branch, t.Value.Version})
	}
	return tags, unread, nil
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
