package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
)

// DiffVersions compares two versions of a table's dataset, of the chain that
// Versions tells on that branch ("" = main): a is before, b after. Layouts are
// told from the manifests; rows are compared as Diff does.
//
// Of `__manifest` ("" or "__manifest") only the layouts are compared: Changes is
// empty and the numbers of Count are zero. Diff tells what its rows say.
//
// When rows cannot be read, an *IncompleteError comes beside the layouts: Count
// and Changes then say nothing. A version that is not in the chain is a
// *NotFoundError or a *ReclaimedError.
func (g *Graph) DiffVersions(ctx context.Context, table, branch string, a, b uint64, opts DiffOptions) (*VersionDiff, error) {
	return do(ctx, g, "diff versions", func(ctx context.Context, o *operation) (*VersionDiff, error) {
		if a == 0 || b == 0 {
			return nil, &UsageError{What: "version 0", Why: "versions are numbered from 1"}
		}
		d, err := o.findChain(ctx, table, branch)
		if err != nil {
			return nil, err
		}
		out := &VersionDiff{Table: d.table, Branch: nameOf(d.owner), A: a, B: b, Changes: []Change{}, Count: DiffCount{Table: d.table, From: a, To: b}}
		if d.location == manifest.Folder {
			if err := o.diffManifests(ctx, d, out); err != nil {
				return nil, err
			}
			return out, nil
		}
		c := o.comparer(changesTold(opts), diffRowsHeld)
		pair, err := c.openVersions(ctx, d, a, b)
		if err != nil {
			return nil, err
		}
		if err := out.layouts(pair.a.snap, pair.b.snap); err != nil {
			return nil, err
		}
		out.Types = map[string]string{}
		pair.types(func(string) map[string]string { return out.Types })
		err = c.run(ctx, pair)
		if err == nil {
			out.Count = pair.count
			out.Count.Physical = out.Count.Physical && a != b
			out.Changes, err = pair.tell(ctx, c.limit)
			out.Truncated = uint64(len(out.Changes)) < pair.changes()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			out.Changes = []Change{}
			return out, &IncompleteError{What: "comparison", Problems: []string{err.Error()}}
		}
		return out, nil
	})
}

// openVersions opens two versions of a table's chain.
func (c *comparer) openVersions(ctx context.Context, d chainOf, a, b uint64) (*tableDiff, error) {
	entry := func(v uint64) *manifest.Entry {
		return &manifest.Entry{Identity: d.identity, Alias: d.table, Location: d.location, Owner: d.owner, Version: v}
	}
	pair, err := c.openPair(ctx, tablePair{d.table, entry(a), entry(b)})
	var absent *lance.NotFoundError
	if err == nil || ctx.Err() != nil || !errors.As(err, &absent) {
		return pair, err
	}
	chain, listErr := lance.Versions(ctx, c.store, d.location, lance.ListOptions{Branch: d.owner})
	if listErr != nil || len(chain.Versions) == 0 {
		return nil, err
	}
	newest, oldest := chain.Versions[0].Version, chain.Versions[len(chain.Versions)-1].Version
	for _, v := range []uint64{a, b} {
		there := false
		for _, x := range chain.Versions {
			there = there || x.Version == v
		}
		switch {
		case there:
		case v > newest || d.owner != "" && v < oldest:
			return nil, &NotFoundError{What: "version", Name: itoa(v), Where: fmt.Sprintf("of %s on branch %s, which has %d to %d", d.table, nameOf(d.owner), oldest, newest)}
		default:
			return nil, &ReclaimedError{Table: d.table, Branch: nameOf(d.owner), Version: v, Err: err}
		}
	}
	return nil, err
}

// diffManifests compares the layouts of two versions of `__manifest`.
func (o *operation) diffManifests(ctx context.Context, d chainOf, out *VersionDiff) error {
	var before, after *lance.Snapshot
	open := func(v uint64, s **lance.Snapshot) func() error {
		return func() (err error) {
			*s, err = o.manifestHead(ctx, At{Branch: nameOf(d.owner), Version: v})
			return err
		}
	}
	if err := o.together(open(out.A, &before), open(out.B, &after)); err != nil {
		return err
	}
	return out.layouts(before, after)
}

// layouts fills in what the manifests of the two versions say.
func (v *VersionDiff) layouts(a, b *lance.Snapshot) error {
	var err error
	if v.Before, err = Layout(v.Table, a); err != nil {
		return err
	}
	if v.After, err = Layout(v.Table, b); err != nil {
		return err
	}
	return v.countFragments(a, b)
}
