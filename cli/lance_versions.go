package cli

import (
	"context"
	"slices"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/refs"
)

func lanceVersionsVerb() *verb {
	return &verb{
		name: "lance versions", place: onDataset, flags: []string{"branch", "limit", "ndjson"},
		short:   "The version chain of a dataset, newest first",
		example: "lance versions demo:__manifest --limit 5",
		run: onLance(func(ctx context.Context, c *call, d *dataset) error {
			v, err := d.versions(ctx)
			if err != nil {
				return err
			}
			if c.boolean("ndjson") {
				return lines(c, slices.Values(v.Versions))
			}
			return c.own(v, func(t *out.Text) { printVersions(t, c.uri, v) })
		}),
	}
}

// versions lists the chain and reads the manifests of the versions told. One
// that cannot be read is told with why.
func (d *dataset) versions(ctx context.Context) (*engine.Versions, error) {
	if d.key != "" {
		return nil, usagef("%s is one data file: it has no versions", d.c.uri)
	}
	branch := d.c.text("branch")
	chain, err := lance.Versions(ctx, d.store, d.root, lance.ListOptions{Branch: branch})
	if err != nil {
		return nil, err
	}
	if len(chain.Versions) == 0 {
		return nil, &engine.NotFoundError{What: "dataset", Name: d.c.uri, Where: "on branch " + mainOr(branch)}
	}
	v := &engine.Versions{Table: d.c.uri, Branch: mainOr(branch), Versions: []engine.Version{}, Count: len(chain.Versions), ListPages: chain.Pages, Findings: []engine.Finding{}}
	v.Head, v.Published, v.Oldest = chain.Versions[0].Version, chain.Versions[0].Version, chain.Versions[len(chain.Versions)-1].Version
	for _, x := range chain.Versions {
		v.Bytes += x.Size
	}
	for _, f := range chain.Findings {
		v.Findings = append(v.Findings, engine.Finding{ID: f.ID, Severity: engine.Severity(f.Severity), Title: f.Text, Evidence: []engine.Evidence{}})
	}
	told := chain.Versions
	if n := d.c.integer("limit"); n > 0 {
		told = told[:min(n, len(told))]
	}
	held, err := d.held(ctx, branch, v.Head)
	if err != nil {
		return nil, err
	}
	i := 0
	var newer *lance.Snapshot
	for s, err := range lance.ReadVersions(ctx, d.store, d.root, told, d.options()) {
		x := tellVersion(ctx, told[i], s, err)
		x.HeldBy = append(x.HeldBy, held[x.Version]...)
		if i > 0 {
			v.Versions[i-1].AddedBytes = engine.AddedBytes(newer, s)
		}
		v.Versions = append(v.Versions, x)
		newer = s
		i++
	}
	return v, ctx.Err()
}

// held says what holds the versions of a branch: being its head, branches that
// were forked from them, and tags.
func (d *dataset) held(ctx context.Context, branch string, head uint64) (map[uint64][]engine.Holder, error) {
	held := map[uint64][]engine.Holder{head: {{Kind: "head", Name: mainOr(branch)}}}
	l, err := refs.List(ctx, d.store, d.root)
	if err != nil {
		return nil, err
	}
	branches, err := refs.ReadBranches(ctx, d.store, l.Branches, d.c.integer("concurrency"))
	if err != nil {
		return nil, err
	}
	for _, b := range branches {
		if b.Err != nil {
			return nil, b.Err
		}
		if mainOr(b.Value.Parent) == mainOr(branch) {
			held[b.Value.ParentVersion] = append(held[b.Value.ParentVersion], engine.Holder{Kind: "branch", Name: b.Name})
		}
	}
	tags, err := refs.ReadTags(ctx, d.store, l.Tags, d.c.integer("concurrency"))
	if err != nil {
		return nil, err
	}
	for _, t := range tags {
		if t.Err != nil {
			return nil, t.Err
		}
		if mainOr(t.Value.Branch) == mainOr(branch) {
			held[t.Value.Version] = append(held[t.Value.Version], engine.Holder{Kind: "tag", Name: t.Name})
		}
	}
	return held, nil
}

// tellVersion is one version by its manifest, or by its name and why the
// manifest cannot be read.
func tellVersion(ctx context.Context, x lance.ChainVersion, s *lance.Snapshot, err error) engine.Version {
	v := engine.Version{Version: x.Version, CreatedAt: x.ModTime, ManifestBytes: x.Size, Key: x.Key, HeldBy: []engine.Holder{}}
	if err != nil {
		v.Problem = err.Error()
		return v
	}
	engine.Describe(ctx, &v, s)
	return v
}
