package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/manifest"
)

// ResolveAt reads what a user typed after --at: a branch, a manifest version
// of the branch given ("" = main), or a commit id or a beginning or end of one
// that no other commit has (four letters at least). Names of branches win over
// numbers, numbers over commits. "" is the head of the branch.
//
// A resolved commit carries its branch and manifest version, so that it is
// opened without being looked for again.
func (g *Graph) ResolveAt(ctx context.Context, text, branch string) (At, error) {
	at, err := g.ResolveAll(ctx, branch, text)
	if err != nil {
		return At{}, err
	}
	return at[0], nil
}

// ResolveAll is ResolveAt for several texts, which costs no more than the
// dearest of them.
func (g *Graph) ResolveAll(ctx context.Context, branch string, texts ...string) ([]At, error) {
	return do(ctx, g, "resolve", func(ctx context.Context, o *operation) ([]At, error) {
		out := make([]At, len(texts))
		parts := make([]func() error, len(texts))
		for i, text := range texts {
			parts[i] = func() (err error) { out[i], err = o.resolveAt(ctx, text, branch); return err }
		}
		if err := o.together(parts...); err != nil {
			return nil, err
		}
		for _, at := range out {
			o.commit = cmp.Or(at.Commit, o.commit)
		}
		return out, nil
	})
}

func (o *operation) resolveAt(ctx context.Context, text, branch string) (At, error) {
	if text == "" {
		return At{Branch: branch}, nil
	}
	if wholeID(text) { // a branch may have such a name, but hardly any does
		defer o.begin(func() { _, _ = o.open(ctx, branch, 0) })()
	}
	names, err := o.branchNames(ctx)
	if err != nil {
		return At{}, err
	}
	if slices.Contains(names.Names, text) {
		return At{Branch: text}, nil
	}
	if v, err := strconv.ParseUint(text, 10, 64); err == nil && v > 0 {
		return At{Branch: branch, Version: v}, nil
	}
	c, err := o.findCommit(ctx, text, branch)
	if err != nil {
		if nf, ok := err.(*NotFoundError); ok && nf.What == "commit" {
			nf.What, nf.Where = "branch, manifest version or commit", ""
			nf.Suggestions = append(Suggest(text, names.Names), nf.Suggestions...)
		}
		return At{}, err
	}
	return At{Branch: nameOf(c.Branch), Commit: c.ID, Version: c.ManifestVersion}, nil
}

// branchNames lists the branches, once per operation.
func (o *operation) branchNames(ctx context.Context) (*branches.Listing, error) {
	o.namesOnce.Do(func() { o.names, o.namesErr = branches.Names(ctx, o.store) })
	return o.names, o.namesErr
}

// wholeID says that text has the form of a commit's id, in any case of letters.
func wholeID(text string) bool {
	return len(text) == 26 && strings.Trim(strings.ToUpper(text), "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == ""
}

// Snapshot is the visible state at one point. With an *IncompleteError the
// snapshot is there too: what it says was read, but it may not be all.
func (g *Graph) Snapshot(ctx context.Context, at At) (*Snapshot, error) {
	return do(ctx, g, "snapshot", func(ctx context.Context, o *operation) (*Snapshot, error) {
		view, err := o.at(ctx, at)
		if err != nil {
			return nil, err
		}
		return snapshotOf(view), incomplete("snapshot", view)
	})
}

func snapshotOf(v *manifest.View) *Snapshot {
	out := &Snapshot{
		GraphBranch: nameOf(v.Branch), GraphManifestVersion: v.Version,
		InternalSchemaVersion: v.Stamp.Version, Datasets: make([]Dataset, 0, len(v.Tables)),
	}
	for _, t := range v.Tables {
		d := Dataset{
			EntityKind: t.Kind(), TypeName: t.Name(), Path: t.Location, Version: t.Version,
			EntityCount: t.Rows, StableID: t.Table, IncarnationID: t.Incarnation,
		}
		if t.Owner != "" {
			d.NativeBranch = &t.Owner
		}
		out.Datasets = append(out.Datasets, d)
	}
	return out
}

// orNil is a nil error for a nil pointer.
func orNil(e *IncompleteError) error {
	if e == nil {
		return nil
	}
	return e
}

// incomplete is the error of an answer that had to leave something out; nil
// when nothing was.
func incomplete(what string, v *manifest.View) error {
	if len(v.Problems) == 0 && v.Stamp.OK() {
		return nil
	}
	e := &IncompleteError{What: what, Problems: make([]string, 0, len(v.Problems)+1)}
	if !v.Stamp.OK() {
		e.Problems = append(e.Problems, v.Stamp.Finding())
	}
	for _, p := range v.Problems {
		e.Problems = append(e.Problems, p.Error())
	}
	for _, t := range v.Tables {
		if t.Doubt != "" {
			e.Doubtful = append(e.Doubtful, fmt.Sprintf("%s: %s", t.Alias, t.Doubt))
		}
	}
	return e
}
