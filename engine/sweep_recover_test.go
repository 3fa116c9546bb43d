package engine_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
)

// now are the options of a recovery that does not wait, and to which no record is
// young: of one that is, it makes a commit more.
func now() recovery.Options {
	return recovery.Options{Now: true, Grace: -1, Clock: clock, IDs: txn.NewIDs(clock, nil)}
}

// recoverAll looks and executes once.
func recoverAll(ctx context.Context, s blob.Store) error {
	p, err := recovery.Look(ctx, s, now())
	if err != nil {
		return err
	}
	r, err := recovery.Execute(ctx, s, p, now())
	if err != nil {
		return err
	}
	for _, x := range r.Settled {
		err = errors.Join(err, x.Err)
	}
	if err == nil && r.Remaining != nil && len(r.Remaining.Items) > 0 {
		err = fmt.Errorf("left is %+v", r.Remaining.Items)
	}
	return err
}

// recovered recovers what a write left, and says which state that led to. A
// second recovery finds nothing, and writes nothing.
func (w *sweep) recovered(s blob.Store, o *fault.Outcome) (int, error) {
	ctx := context.Background()
	if err := recoverAll(ctx, s); err != nil {
		return 0, fmt.Errorf("recovering: %w", err)
	}
	at, err := w.state(s, o)
	if err != nil {
		return 0, fmt.Errorf("after recovery: %w", err)
	}
	l, err := w.left(s)
	if err != nil {
		return 0, fmt.Errorf("after recovery: %w", err)
	}
	if len(l.records)+len(l.moved) > 0 {
		return 0, fmt.Errorf("recovery leaves %+v", l)
	}
	closed := fault.New(s, fault.Rule{Match: fault.Writes, Every: true, Do: fault.Fail})
	if err := recoverAll(ctx, closed); err != nil || closed.Fired() > 0 {
		return 0, fmt.Errorf("a second recovery wrote %d times: %w", closed.Fired(), err)
	}
	return at, nil
}
