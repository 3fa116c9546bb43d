package txn

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/oklog/ulid/v2"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// Redo carries out what a verdict says about a recorded operation. Each method
// is one step, in the order of the package comment; repeated, by whomever, it
// finds what is done and does not do it again.
type Redo struct {
	store   blob.Store
	key     string
	record  []byte // as it was judged
	plan    *PublishPlan
	decided []byte // the record with the roll-back that Decide wrote down
	o       Options
}

// NewRedo begins with a record, as it was judged, and the plan that it tells. key is
// the object that holds it, as it was listed. Of the options Open, Known, Now, IDs and Backoff count.
func NewRedo(store blob.Store, key string, record []byte, plan *PublishPlan, o Options) *Redo {
	return &Redo{store: store, key: key, record: record, plan: plan, o: o.completed()}
}

// Redone is a commit that holds the outcome of an operation.
type Redone struct {
	Commit string
	Wrote  bool // false: it was there
}

// Overtaken reports that a step found something else than the verdict says:
// observe and interpret afresh.
func Overtaken(err error) bool {
	return conflicted(err) || errors.As(err, new(*manifest.ReadSetChangedError)) || errors.As(err, new(*manifest.VersionMismatchError)) ||
		errors.As(err, new(*manifest.BranchNotFoundError)) || errors.As(err, new(*overtaken))
}

// overtaken: a table, or the record, is not what was judged.
type overtaken struct{ what string }

// Overtake is the error of a step that found that. what says it.
func Overtake(what string) error { return &overtaken{what} }

func (e *overtaken) Error() string { return e.what + ": another program came first; look again" }

// Decide writes the outcomes of a roll-back into the record, so that no later
// pass decides otherwise. Another record than the one that was judged is left as it
// is.
func (r *Redo) Decide(ctx context.Context, outcomes []TableOutcome) error {
	if r.plan.Kind == sidecar.Optimize || r.plan.back {
		return r.Stands(ctx) // it has no place for them; they are there
	}
	next, err := r.plan.RollBack(outcomes)
	if err != nil {
		return err
	}
	rec, err := next.Record()
	if err != nil {
		return err
	}
	data, err := rec.Encode()
	if err != nil {
		return err
	}
	r.decided = data
	if err := r.Stands(ctx); err != nil {
		return err
	}
	if _, err := putRecord(ctx, r.store, r.key, data); err != nil {
		return fmt.Errorf("writing down that operation %s is taken back: %w", r.plan.ID, err)
	}
	r.plan = next
	return nil
}

// Restore commits the content of v.To as exactly the version after v.Head; of a
// table that is restored already it reads that version. The slot says what to
// publish.
func (r *Redo) Restore(ctx context.Context, v TableVerdict) (Slot, error) {
	snap, err := r.opened(ctx, v)
	if err != nil {
		return Slot{}, fmt.Errorf("restoring %s: %w", v.Alias, err)
	}
	if v.Do == Restore {
		staged, err := snap.StageRestore(ctx, v.To, lance.StageOptions{UUID: RestoreID(r.plan.ID, v.Table, v.Head), Rand: r.o.IDs, WithTransaction: true})
		if err != nil {
			return Slot{}, fmt.Errorf("restoring %s to version %d: %w", v.Alias, v.To, err)
		}
		for range settlings {
			snap, _, err = staged.Commit(ctx, lance.CommitOptions{Exact: true, Blind: true, Now: r.o.Now})
			if !errors.Is(err, blob.ErrAmbiguous) {
				break
			}
		}
		if err != nil {
			return Slot{}, fmt.Errorf("restoring %s to version %d: %w", v.Alias, v.To, err)
		}
	}
	out, err := outputOf(r.store, v.Alias, snap)
	if err != nil {
		return Slot{}, err
	}
	return Slot{Identity: v.Table, Alias: v.Alias, Expected: v.To, Branch: v.Branch, Confirmed: &out}, nil
}

// Forward publishes what is recorded, on what the plan requires of the branch;
// of an Optimize the newest version of every table, under a commit of recovery's
// own.
func (r *Redo) Forward(ctx context.Context, v Verdict) (*Redone, error) {
	plan := r.plan
	if plan.Kind == sidecar.Optimize {
		bound := make([]Bound, 0, len(v.Tables))
		for _, t := range v.Tables {
			b, err := r.newest(ctx, t)
			if err != nil {
				return nil, err
			}
			bound = append(bound, b)
		}
		var err error
		if plan, err = plan.Confirm(bound); err != nil {
			return nil, err
		}
		if plan, err = plan.Minted(plan.minted(Forward.String())); err != nil {
			return nil, err
		}
	}
	return r.publish(ctx, plan)
}

// newest binds the version of a table that was judged.
func (r *Redo) newest(ctx context.Context, t TableVerdict) (Bound, error) {
	snap, err := r.opened(ctx, t)
	if err != nil {
		return Bound{}, fmt.Errorf("publishing %s: %w", t.Alias, err)
	}
	tx, err := snap.Transaction(ctx)
	if err != nil {
		return Bound{}, fmt.Errorf("publishing %s: %w", t.Alias, err)
	}
	out, err := outputOf(r.store, t.Alias, snap)
	return Bound{Table: t.Table, Output: out, Last: LinkOf(t.Head, tx).transaction()}, err
}

// opened is the version of a table that a verdict is about.
func (r *Redo) opened(ctx context.Context, v TableVerdict) (*lance.Snapshot, error) {
	folder, ok := manifest.Location(v.Alias, manifest.Identity(v.Table))
	if !ok {
		return nil, r.plan.fail("%s is no table", v.Alias)
	}
	o := r.o.Open
	o.Branch, o.Version = v.Branch, v.Head
	return lance.Open(ctx, r.store, folder, o)
}

// Compensate publishes what recovery made of tables, maybe none: a roll-back,
// what is restored to a version that turned out to be published, or that the
// branch of the operation is gone.
func (r *Redo) Compensate(ctx context.Context, v Verdict, restored []Slot) (*Redone, error) {
	plan := r.plan
	for i := range restored {
		if v.Do == Back {
			restored[i].Alias = plan.before(restored[i].Identity, restored[i].Alias)
		}
	}
	var err error
	switch {
	case !v.Mint:
		plan, err = plan.Compensate(restored)
	case v.Do == OrphanDiscard:
		plan, err = plan.own("", plan.minted(v.Do.String()), nil)
	case v.Do == Back:
		plan, err = plan.own(plan.Base.Branch, plan.minted(v.Do.String()), restored)
	default:
		what := v.Do.String() // more than once, each time of other versions
		for _, s := range restored {
			what += fmt.Sprintf(" %s %s %d", s.Identity, s.Branch, s.Confirmed.Version)
		}
		plan, err = plan.own(plan.Base.Branch, plan.minted(what), restored)
	}
	if err != nil {
		return nil, err
	}
	return r.publish(ctx, plan)
}

// Forbid publishes a commit without a table, so that a writer who is at work and
// was taken for dead cannot publish any more what is about to be taken back. made
// names it; when it was not there before, the error says to judge anew (Overtaken),
// for he may have published until then. An Optimize demands no head: nothing forbids
// it, and made is nil.
func (r *Redo) Forbid(ctx context.Context) (made *Redone, err error) {
	if r.plan.Kind == sidecar.Optimize {
		return nil, nil
	}
	plan, err := r.plan.own(r.plan.Base.Branch, r.plan.minted("forbid"), nil)
	if err != nil {
		return nil, err
	}
	made, err = r.publish(ctx, plan)
	if err == nil && made.Wrote {
		err = Overtake("operation " + r.plan.ID + " could have been published until now")
	}
	return made, err
}

func (r *Redo) publish(ctx context.Context, plan *PublishPlan) (*Redone, error) {
	made, err := publish(ctx, r.store, plan.request(&r.o))
	if err != nil {
		return nil, err
	}
	return &Redone{Commit: plan.Lineage.CommitID, Wrote: made.Wrote}, nil
}

// minted is a commit of recovery's own. Its id and time follow from the operation
// and from what it says, so that a pass after one that died finds it.
func (p *PublishPlan) minted(what string) Lineage {
	sum := sha256.Sum256(fmt.Appendf(nil, "omnideck recovery %s %s", p.ID, what))
	var id ulid.ULID
	copy(id[6:], sum[:])
	_ = id.SetTime(uint64(max(p.Started.UnixMilli(), 0))) // a time after the year 10889 stays 0
	return Lineage{CommitID: id.String(), CreatedAt: p.Started.UnixMicro()}
}

// RecoveryCommits are the ids of the commits that recovery makes when the
// operation is published, and when it is taken back: its own but for an Optimize,
// whose record names none.
func (p *PublishPlan) RecoveryCommits() (forward, back string) {
	if p.Kind == sidecar.Optimize {
		return p.minted(Forward.String()).CommitID, p.minted(Back.String()).CommitID
	}
	return p.Lineage.CommitID, p.Rollback
}

// Rewrite writes the record again, when there is none: for what was done after
// it was retired, by whomever.
func (r *Redo) Rewrite(ctx context.Context) error {
	record := r.record
	if r.decided != nil {
		record = r.decided
	}
	if _, err := r.store.PutIfAbsent(ctx, r.key, record); err != nil && !errors.Is(err, blob.ErrExists) {
		return fmt.Errorf("writing the record %s again, which was removed a moment before: %w", r.key, err)
	}
	return nil
}

// Retire removes the record.
func (r *Redo) Retire(ctx context.Context) error {
	if err := remove(ctx, r.store, r.key); err != nil {
		return fmt.Errorf("removing the record %s, which is dealt with: %w", r.key, err)
	}
	return nil
}

// conflicted reports that another transaction came first.
func conflicted(err error) bool { return errors.As(err, new(*commit.ConflictError)) }
