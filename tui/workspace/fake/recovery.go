package fake

import (
	"context"
	"time"

	"github.com/omnideck/omnideck/engine"
)

// Recovering is what recoveries come to. The steps of Script named PlanRecovery
// and Recover say besides how long each takes and whether it fails.
type Recovering struct {
	// Plans are given one after the other; the last one stays. None: what
	// InfoAnswer says is pending, in a few words. Receipts likewise, and Errs, which
	// come beside them.
	Plans    []*engine.RecoveryPlan
	Receipts []*engine.RecoveryReceipt
	Errs     []error
	Events   []engine.RecoveryEvent // told by Recover, each Pause apart
	Pause    time.Duration

	planned, run int
	last         engine.RecoverOptions
}

// Recovered is how often a recovery was begun, and with which options the last
// one.
func (w *Workspace) Recovered() (int, engine.RecoverOptions) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Recovering.run, w.Recovering.last
}

// PendingRecords implements workspace.Workspace.
func (w *Workspace) PendingRecords(ctx context.Context) ([]engine.Pending, error) {
	var list []engine.Pending
	if w.InfoAnswer != nil {
		list = w.InfoAnswer.PendingRecovery
	}
	return answer(ctx, w, "PendingRecords", list)
}

// PlanRecovery implements workspace.Workspace.
func (w *Workspace) PlanRecovery(ctx context.Context) (*engine.RecoveryPlan, error) {
	w.mu.Lock()
	x := &w.Recovering
	x.planned++
	p := nth(x.Plans, x.planned)
	w.mu.Unlock()
	if p == nil {
		p = w.planOfPending()
	}
	return answer(ctx, w, "PlanRecovery", p)
}

// planOfPending is a plan that takes back everything that is pending.
func (w *Workspace) planOfPending() *engine.RecoveryPlan {
	p := &engine.RecoveryPlan{Records: []engine.RecoveryRecord{}, Others: []string{}}
	if w.InfoAnswer == nil {
		return p
	}
	for _, i := range w.InfoAnswer.PendingRecovery {
		r := engine.RecoveryRecord{
			Key: i.Key, Operation: i.OperationID, Kind: i.Kind, Branch: i.Branch, Phase: i.Phase, StartedAt: i.StartedAt, WaitUntil: i.WaitUntil,
			Problem: i.Problem, Means: "an interrupted operation", Will: "its effects are taken back", Blocks: "writes on " + i.Branch,
			Do: engine.RecoverBack, Place: "here", Removes: []string{i.Key}, Evidence: []engine.Evidence{},
		}
		for _, t := range i.Tables {
			r.Tables = append(r.Tables, engine.RecoveryTable{Table: t.Table, Expected: t.Expected, Planned: t.Planned, Published: t.Expected, Head: t.Planned, Do: "restore"})
		}
		p.Records = append(p.Records, r)
	}
	return p
}

// Recover implements workspace.Workspace.
func (w *Workspace) Recover(ctx context.Context, o engine.RecoverOptions) (*engine.RecoveryReceipt, error) {
	w.mu.Lock()
	x := &w.Recovering
	if l := w.Writing.locked; l == nil && w.IsRemote || l != nil && *l {
		w.mu.Unlock()
		return nil, &engine.ReadOnlyError{URI: w.Address}
	}
	x.run++
	x.last = o
	n := x.run
	w.mu.Unlock()
	for _, v := range x.Events {
		if err := sleep(ctx, x.Pause); err != nil {
			return nil, err
		}
		if o.Events != nil {
			o.Events(v)
		}
	}
	if err := w.step(ctx, "Recover"); err != nil {
		return nil, err
	}
	return nth(x.Receipts, n), nth(x.Errs, n)
}
