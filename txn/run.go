package txn

import (
	"context"
	"errors"

	"github.com/omnideck/omnideck/blob"
)

// attempts bounds a run: the first, and 32 more.
const attempts = 33

// ErrNothing is what the function of Run returns when there is nothing to write.
var ErrNothing = errors.New("there is nothing to write")

// Run makes attempts, each from a fresh Txn and with a plan of its own, until
// one is acknowledged or its class forbids another (engine-semantics §3.7,
// decisions 5, 7, 14):
//
//	additive     goes on while nothing durable happened, at most 33 times
//	strict       once more, when what moved has the same rows as what it saw
//	conditional  never, once the head has moved
//
// A record of another operation that appeared meanwhile is no movement: the next
// attempt waits for it. plan stages on the Txn and returns what to publish; an
// error of it ends the run. When it returns ErrNothing and the write is
// conditional, the base is looked at once more, and Run returns ErrNothing.
func Run(ctx context.Context, store blob.Store, o Options, plan func(context.Context, *Txn) (*PublishPlan, error)) (*Receipt, error) {
	o = o.completed()
	ctx, o.watch = watch(ctx, o.Events)
	var last error
	for n := 1; ; n++ {
		o.watch.attempt = n
		t, err := Begin(ctx, store, o)
		if err != nil {
			return nil, err
		}
		p, err := plan(ctx, t)
		if errors.Is(err, ErrNothing) && o.ExpectedHead != nil {
			return nil, errors.Join(err, t.Recheck(ctx))
		}
		if err != nil {
			return nil, err
		}
		out, err := Publish(ctx, t, p)
		if err == nil {
			out.Attempts = n
			return out, nil
		}
		last = err
		again, moved := mayRepeat(p, err)
		if !again {
			return nil, last
		}
		if n == attempts {
			return nil, &ContentionError{What: "write on branch " + named(o.Branch), Attempts: n, Err: last}
		}
		if moved && p.Class != Additive {
			if o.moved {
				return nil, last
			}
			o.moved, o.Seen = true, t.State()
		}
		o.watch.step(Event{Step: StepAgain, Operation: p.ID, Err: err})
		o.Warm = &Warm{Store: store, View: t.View, Tables: t.o.Warm.Tables}
		if err := o.wait(ctx, n); err != nil {
			return nil, errors.Join(last, err)
		}
	}
}

// mayRepeat says whether a failed attempt may be made anew, and whether that is
// because its base moved.
func mayRepeat(p *PublishPlan, err error) (again, moved bool) {
	var (
		other    *RecoveryRequiredError
		changed  *ReadSetChangedError
		mismatch *PublishedVersionMismatchError
	)
	switch {
	case errors.As(err, &other):
		return other.Other, false
	case errors.As(err, &changed), errors.As(err, &mismatch):
		return p.Class == Additive || p.Class == Strict, true
	}
	return errors.Is(err, ErrRetry), false
}
