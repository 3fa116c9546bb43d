package txn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// alone makes sure, between the record and the first effect, that no other writer
// of the branch is about to have effects. Two that passed their gates side by
// side would each move tables, and one of them lose its publish: then only
// recovery can help. Each writes its record before it looks, so that of two at
// least one sees the other. Who sees a record with a smaller id withdraws; who
// sees one with a greater waits until it is gone: it withdraws, or it had looked
// before and goes its way, and then the head shows it.
func (p *publishing) alone(ctx context.Context) error {
	if p.o.without&(gateGuard|rivalGuard) != 0 {
		return nil
	}
	var spent time.Duration
	for poll := firstPoll; ; poll = min(2*poll, lastPoll) {
		other, err := p.other(ctx)
		if err != nil || other == nil {
			return err
		}
		if other.id < p.plan.ID || spent >= other.left(p.o) {
			return other.refusal(p.o)
		}
		p.o.watch.step(Event{Step: StepWaiting, Operation: other.id, Until: p.o.Now().Add(other.left(p.o)), Err: other.refusal(p.o)})
		if err := p.o.Sleep(ctx, poll); err != nil {
			return err
		}
		spent += poll
	}
}

// other looks for another operation's record in the way, and, when there is none,
// at the head: in this order, or one that published and retired between a look at
// the head and one at the records would be seen by neither.
func (p *publishing) other(ctx context.Context) (*pending, error) {
	all, err := records(ctx, p.t.store, p.plan.ID)
	if err != nil {
		return nil, fmt.Errorf("looking for other writers: %w", err)
	}
	if there := standing(all, p.o.Branch); there != nil {
		return there, nil
	}
	same, err := p.t.standing(ctx, p.view)
	if err != nil {
		return nil, fmt.Errorf("looking for other writers: %w", err)
	}
	if same {
		return nil, nil
	}
	live, err := p.t.reopen(ctx, p.view)
	if err != nil {
		return nil, fmt.Errorf("looking for other writers: %w", err)
	}
	return nil, p.plan.moved(BaseOf(live, p.t.Contract.Marker))
}

// moved is the error of a branch that is not where the plan expects it.
func (p *PublishPlan) moved(live Base) error {
	changed := p.Base.differs(live, true)
	switch {
	case changed == nil: // a version of `__manifest` without a commit
		return &ReadSetChangedError{Member: "manifest:" + named(p.Base.Branch), Expected: fmt.Sprint("version ", p.Base.Version), Actual: fmt.Sprint("version ", live.Version)}
	case p.Class == Conditional:
		return &PreconditionFailedError{Branch: p.Base.Branch, Expected: changed.Expected, Actual: changed.Actual}
	}
	return changed
}

// withdraw takes back the record of a plan that had no effect yet. cause is why.
func (p *publishing) withdraw(ctx context.Context, cause error) error {
	if err := p.unrecord(ctx); err != nil {
		return p.stuck("it was given up before its first effect, and its record could not be removed", errors.Join(errors.New(cause.Error()), err)) // of one class
	}
	return cause
}

// unrecord removes the record.
func (p *publishing) unrecord(ctx context.Context) error {
	return remove(ctx, p.t.store, sidecar.Folder+p.plan.ID+sidecar.Suffix)
}

// remove deletes an object; what is not there any more is removed.
func remove(ctx context.Context, store blob.Store, key string) (err error) {
	for range settlings {
		if err = store.Delete(ctx, key); err == nil {
			break
		}
	}
	return err
}
