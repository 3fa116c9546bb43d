package txn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/manifest"
)

// TableReceipt is what a write did to one table.
type TableReceipt struct {
	Table                      Identity
	Alias                      string
	From, To                   uint64 // versions
	Inserted, Updated, Deleted uint64 // rows
	Rows                       uint64 // after it
}

// Receipt is what an acknowledged write came to.
type Receipt struct {
	Operation string
	Commit    manifest.Commit
	Tables    []TableReceipt // by alias
	Attempts  int            // of the run, 1 without one
	Warm      *Warm          // for the next write
	// Warning is why the recovery record could not be removed: the write stands,
	// and recovery will remove it. nil = it is gone.
	Warning error
}

// publishing is one Publish.
type publishing struct {
	t    *Txn
	plan *PublishPlan
	o    *Options
	view *manifest.View // live, as the gates saw it
	out  *Receipt

	mu        sync.Mutex
	after     map[Identity]*lance.Snapshot
	confirmed bool   // the record says that the effects are done
	wrote     []byte // the record as it was armed
}

// Publish carries a plan out, and spends the Txn (engine-semantics §3, §4.3):
//
//	gates     no record in the way, marker and lock as they were, the head the
//	          same, every table's newest version the published one; else the error
//	          of Interpret
//	arm       PUT the record; another one that came meanwhile gives way, or this one does
//	effects   each table's exact commit: the first by alias, then the others side by side
//	confirm   PUT the record again, beside the files of the publish
//	publish   the CAS of `__manifest` on the exact head, once the record is confirmed
//	retire    DELETE the record
//
// A plan without actions is published at once, without a record. Before it is
// armed errors are ordinary: nothing was written. From then on the caller's
// context no longer ends it, and errors are *RecoveryRequiredError; but for a
// first table that others moved: when no table shows a transaction of this plan,
// the record is removed and the error is a *ReadSetChangedError.
func Publish(ctx context.Context, t *Txn, plan *PublishPlan) (*Receipt, error) {
	if t.spent.Swap(true) {
		return nil, errSpent
	}
	if t.o.Dry {
		return nil, plan.fail("it was staged to see what it would do")
	}
	p := &publishing{t: t, plan: plan, o: &t.o, after: map[Identity]*lance.Snapshot{}, out: &Receipt{Operation: plan.ID, Attempts: 1, Tables: make([]TableReceipt, len(plan.Actions))}}
	for _, a := range plan.Actions {
		if st := t.staged[a.Table]; st == nil || len(a.Commits) != 1 || st.UUID() != a.Commits[0].UUID {
			return nil, plan.fail("what it does to %s was not staged on this base", a.Alias)
		}
	}
	if d := plan.Delta; plan.Phase() != Prepared || plan.Class == Compensation || len(d.Updates) != len(plan.Actions) || len(d.Registrations)+len(d.Renames)+len(d.Tombstones) > 0 {
		return nil, plan.fail("it does more than commit what was staged, or is %s already", plan.Phase())
	}
	p.step(StepPrepared, "")
	if err := p.gates(ctx); err != nil {
		return nil, err
	}
	p.step(StepChecked, "")
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("write %s was given up before anything was written: %w", plan.ID, err)
	}
	ctx = context.WithoutCancel(ctx)
	if len(plan.Actions) > 0 {
		if err := p.effects(ctx); err != nil {
			return nil, p.kept(ctx, err)
		}
	}
	out, err := p.visible(ctx)
	if err != nil {
		return nil, p.kept(ctx, err)
	}
	return out, nil
}

func (p *publishing) step(s Step, table string) {
	p.o.watch.step(Event{Step: s, Operation: p.plan.ID, Table: table})
}

// effects arms the plan, moves its tables, and confirms.
func (p *publishing) effects(ctx context.Context) error {
	armed, err := p.plan.Arm()
	if err != nil {
		return err
	}
	if err := p.arm(ctx, armed); err != nil {
		return err
	}
	p.plan = armed
	if err := p.alone(ctx); err != nil {
		return p.withdraw(ctx, err)
	}
	if err := p.held(ctx, false); err != nil {
		return err
	}
	p.step(StepArmed, "")
	bound := make([]Bound, len(armed.Actions))
	if err := p.effect(ctx, 0, &bound[0]); err != nil {
		return p.stopped(ctx, err)
	}
	p.step(StepEffect, armed.Actions[0].Alias)
	if len(bound) > 1 {
		if err := p.held(ctx, true); err != nil {
			return err
		}
	}
	if err := Beside(len(bound)-1, func(i int) error { return p.effect(ctx, i+1, &bound[i+1]) }); err != nil {
		return p.stuck("it stopped among its effects", err)
	}
	for _, a := range armed.Actions[1:] {
		p.step(StepEffect, a.Alias)
	}
	if p.plan, err = armed.Confirm(bound); err != nil {
		p.plan = armed
		return p.stuck(unconfirmed, err)
	}
	return nil
}

const unconfirmed = "its effects are done and could not be confirmed"

// confirm writes down that the effects are done.
func (p *publishing) confirm(ctx context.Context) error {
	if p.confirmed {
		return nil
	}
	if err := p.held(ctx, true); err != nil {
		return err
	}
	if _, err := p.record(ctx, p.plan); err != nil {
		return p.stuck(unconfirmed, err)
	}
	p.confirmed = true
	p.step(StepConfirmed, "")
	return nil
}

// stuck is the error of an armed plan.
func (p *publishing) stuck(reason string, err error) error {
	return &RecoveryRequiredError{OperationID: p.plan.ID, Reason: fmt.Sprintf("%s: %v", reason, err), Err: err, Graph: p.t.store.Properties().URL}
}

// record writes the plan down. there says what is known of the object when the
// answer is lost.
func (p *publishing) record(ctx context.Context, plan *PublishPlan) (there bool, err error) {
	rec, err := plan.Record()
	if err != nil {
		return false, err
	}
	data, err := rec.Encode()
	if err != nil {
		return false, err
	}
	if plan.Phase() == Armed {
		p.wrote = data
	}
	return putRecord(ctx, p.t.store, rec.Name(), data)
}

// putRecord writes a record. When the answer is lost the object is read back.
func putRecord(ctx context.Context, store blob.Store, key string, data []byte) (there bool, err error) {
	if _, err = store.Put(ctx, key, data); err == nil {
		return true, nil
	}
	if !errors.Is(err, blob.ErrAmbiguous) {
		return false, err
	}
	obj, readErr := store.Get(ctx, key, blob.All)
	switch {
	case readErr == nil && bytes.Equal(obj.Data, data):
		return true, nil
	case errors.Is(readErr, blob.ErrNotExist):
		return false, err
	}
	return true, err
}

// arm writes the record. Without it nothing has happened.
func (p *publishing) arm(ctx context.Context, armed *PublishPlan) error {
	there, err := p.record(ctx, armed)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("writing down operation %s before its first effect; nothing was written: %w", armed.ID, err)
	if there {
		p.plan = armed
		return p.stuck("it is not known whether its record was written; no effect was begun", err)
	}
	return err
}

// settlings bounds how often an outcome that is not known is asked for.
const settlings = 3

// effect commits the staged transaction of a table as exactly the version after
// its pin. A lost answer is settled by committing again: what landed is found.
func (p *publishing) effect(ctx context.Context, n int, out *Bound) error {
	a := &p.plan.Actions[n]
	st := p.t.staged[a.Table]
	var (
		snap *lance.Snapshot
		made *commit.Committed
		err  error
	)
	for range settlings {
		snap, made, err = st.Commit(ctx, lance.CommitOptions{Exact: true, Blind: true, Now: p.o.Now})
		if !errors.Is(err, blob.ErrAmbiguous) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("committing to %s: %w", a.Alias, err)
	}
	bound, err := outputOf(p.t.store, a.Alias, snap)
	if err != nil {
		return fmt.Errorf("committing to %s: %w", a.Alias, err)
	}
	*out = Bound{Table: a.Table, Output: bound, Last: Transaction{ReadVersion: made.Txn.GetReadVersion(), UUID: made.Txn.GetUuid()}}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.after[a.Table] = snap
	p.out.Tables[n] = TableReceipt{
		Table: a.Table, Alias: a.Alias, From: a.Pin, To: made.Version, Inserted: st.Inserted, Updated: st.Updated, Deleted: st.Deleted, Rows: bound.Rows,
	}
	return nil
}

// visible publishes, retires and acknowledges.
func (p *publishing) visible(ctx context.Context) (*Receipt, error) {
	made, err := p.cas(ctx)
	if err != nil {
		if errors.As(err, new(*RecoveryRequiredError)) {
			return nil, err // it was not confirmed, and so not published
		}
		if len(p.plan.Actions) == 0 && !errors.Is(err, blob.ErrAmbiguous) {
			return nil, p.ordinary(err)
		}
		return nil, p.stuck("its effects are done and could not be published", err)
	}
	p.step(StepPublished, "")
	if p.plan.Phase() == Confirmed {
		if err := p.retire(ctx); err != nil {
			p.out.Warning = fmt.Errorf("commit %s is published and its recovery record could not be removed: %w", p.plan.Lineage.CommitID, err)
		} else {
			p.step(StepRetired, "")
		}
	}
	p.out.Commit = manifest.Commit{
		ID: p.plan.Lineage.CommitID, Branch: p.plan.Base.Branch, ManifestVersion: made.Version, Parent: made.Parent,
		MergedParent: text(p.plan.Lineage.MergedParent), Actor: p.plan.Actor, CreatedAt: p.plan.Lineage.CreatedAt,
	}
	p.out.Warm = p.t.left(made.View, p.after)
	return p.out, nil
}

// Warm is what this base leaves for the next write.
func (t *Txn) Warm() *Warm { return t.left(t.View, map[Identity]*lance.Snapshot{}) }

// left is what the next write may begin with: a view, and those of its tables that
// are known at their published version.
func (t *Txn) left(view *manifest.View, tables map[Identity]*lance.Snapshot) *Warm {
	if view == nil { // it was published and could not be read
		return nil
	}
	w := &Warm{Store: t.store, View: view, Tables: tables}
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, s := range t.o.Warm.Tables {
		if w.Tables[id] == nil {
			w.Tables[id] = s
		}
	}
	for id, h := range t.handles {
		if h.snap != nil && (w.Tables[id] == nil || w.Tables[id].Version() < h.snap.Version()) {
			w.Tables[id] = h.snap
		}
	}
	for id, s := range w.Tables {
		if e, ok := view.ByIdentity(manifest.Identity(id)); !ok || e.Version != s.Version() || e.Owner != s.Branch() {
			delete(w.Tables, id)
		}
	}
	return w
}

// cas publishes, on the state that the gates saw.
func (p *publishing) cas(ctx context.Context) (*manifest.Published, error) {
	o := p.plan.request(p.o)
	o.From = p.view
	if len(p.plan.Actions) > 0 {
		o.Sure = p.confirm
	}
	if p.o.without&casGuard != 0 {
		o.Head, o.Expected = nil, nil
	}
	return publish(ctx, p.t.store, o)
}

// ordinary is the error of a publish without effects, of which nothing is
// visible.
func (p *publishing) ordinary(err error) error {
	var (
		changed  *manifest.ReadSetChangedError
		mismatch *manifest.VersionMismatchError
		lost     *manifest.ExhaustedError
	)
	switch {
	case errors.As(err, &changed) && p.plan.Class == Conditional:
		return &PreconditionFailedError{Branch: p.plan.Base.Branch, Expected: changed.Expected, Actual: changed.Actual}
	case errors.As(err, &changed):
		return &ReadSetChangedError{Member: changed.Member, Expected: changed.Expected, Actual: changed.Actual}
	case errors.As(err, &mismatch):
		return &PublishedVersionMismatchError{Table: mismatch.Alias, Expected: mismatch.Expected, Actual: mismatch.Actual}
	case errors.As(err, &lost):
		return &ContentionError{What: "publish on branch " + named(p.plan.Base.Branch), Attempts: lost.Attempts, Err: err}
	}
	return err
}

// wait is the pause before attempt n.
func (o *Options) wait(ctx context.Context, n int) error {
	if o.Backoff != nil {
		return o.Backoff(ctx, n)
	}
	return o.Sleep(ctx, time.Duration(min(n, 20))*5*time.Millisecond)
}
