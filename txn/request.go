package txn

import (
	"context"
	"errors"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/refs"
	"github.com/omnideck/omnideck/manifest"
)

// request is what the publish of a plan asks of `__manifest`, live and in
// recovery alike: its precondition, its delta and its commit. Every slot is
// bound.
func (p *PublishPlan) request(o *Options) manifest.PublishOptions {
	out := manifest.PublishOptions{
		Branch: p.Base.Branch, Open: manifest.Options{Lance: o.Open, Since: o.Known.Of(p.Base.Branch)}, Now: o.Now, Rand: o.IDs, Backoff: o.Backoff,
		Commit: &manifest.Intent{ID: p.Lineage.CommitID, MergedParent: text(p.Lineage.MergedParent), Actor: p.Actor, CreatedAt: p.Lineage.CreatedAt},
	}
	if p.Pre == ExactHead || p.Pre == AnyHead && len(p.Base.BranchID) > 0 {
		out.Head = &manifest.ExactHead{Commit: text(p.Base.Head), Any: p.Pre == AnyHead}
		for _, f := range p.Base.BranchID {
			out.Head.Identifier = append(out.Head.Identifier, refs.Step{Version: f.Version, ID: f.UUID})
		}
	}
	out.Edits = edits(p.Delta, p.Pre == Monotonic)
	if p.Pre != Monotonic {
		out.Expected = p.expected()
	}
	return out
}

// edits are the rows that a delta changes. advance: what is published already counts as done.
func edits(d Delta, advance bool) (out []manifest.Edit) {
	for _, r := range d.Registrations {
		out = append(out, manifest.Registration{Identity: manifest.Identity(r.Identity), Alias: r.Alias, Location: r.Location})
	}
	for _, r := range d.Renames {
		out = append(out, manifest.Rename{Identity: manifest.Identity(r.Identity), From: r.From, To: r.Alias})
	}
	for _, s := range d.Updates {
		c := s.Confirmed
		out = append(out, manifest.Update{
			Identity: manifest.Identity(s.Identity), Alias: s.Alias, Version: c.Version, Owner: c.Branch, Rows: c.Rows, Advance: advance,
			Meta: manifest.TableMeta{ManifestPath: c.ManifestPath, ManifestSize: c.ManifestSize, ETag: c.ETag, NamingScheme: c.NamingScheme},
		})
	}
	for _, t := range d.Tombstones {
		out = append(out, manifest.Tombstone{Identity: manifest.Identity(t.Identity), Alias: t.Alias, Version: t.Version})
	}
	return out
}

// expected are the versions that must be published, under the names that the
// tables have before the plan renames them.
func (p *PublishPlan) expected() (out []manifest.Expected) {
	say := func(id Identity, alias string, version uint64) {
		out = append(out, manifest.Expected{Identity: manifest.Identity(id), Alias: alias, Version: version})
	}
	slotted := map[Identity]bool{}
	for _, s := range p.Delta.Updates {
		slotted[s.Identity] = true
		say(s.Identity, p.before(s.Identity, s.Alias), s.Expected)
	}
	for _, r := range p.Delta.Renames {
		if !slotted[r.Identity] {
			say(r.Identity, r.From, r.Expected)
		}
	}
	for _, t := range p.Delta.Tombstones {
		if !slotted[t.Identity] {
			say(t.Identity, t.Alias, t.Version-1)
		}
	}
	return out
}

// before is the alias of a table before the plan renames it.
func (p *PublishPlan) before(id Identity, alias string) string {
	for _, r := range p.Delta.Renames {
		if r.Identity == id {
			return r.From
		}
	}
	return alias
}

// decided reports an error of a publish that the same publish would end in again.
func decided(err error) bool {
	return errors.As(err, new(*manifest.ReadSetChangedError)) || errors.As(err, new(*manifest.VersionMismatchError)) || errors.As(err, new(*manifest.ExhaustedError)) ||
		errors.As(err, new(*manifest.InvalidEditError)) || errors.As(err, new(*manifest.UnsoundError)) || errors.As(err, new(*manifest.BranchNotFoundError))
}

// publish is the CAS of `__manifest`. After a failure that does not decide, a
// lost answer among them, the same commit is published again: one that is there
// is found and not made twice.
func publish(ctx context.Context, store blob.Store, o manifest.PublishOptions) (*manifest.Published, error) {
	var (
		made *manifest.Published
		err  error
	)
	for range settlings {
		made, err = manifest.Publish(ctx, store, o)
		if err == nil || decided(err) || errors.As(err, new(*RecoveryRequiredError)) {
			break
		}
		if o.From != nil {
			o.From, o.Open.Since = nil, o.From
		}
	}
	return made, err
}
