package model

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
)

// settle recovers every record, those of writers that may be at work only now.
func settle(ctx context.Context, store blob.Store, ids *txn.IDs, now bool) error {
	o := recovery.Options{Now: now, IDs: ids}
	plan, err := recovery.Look(ctx, store, o)
	if err != nil {
		return fmt.Errorf("looking for records: %w", err)
	}
	rep, err := recovery.Execute(ctx, store, plan, o)
	if err != nil {
		return err
	}
	var all []error
	for _, s := range rep.Settled {
		if s.Err != nil {
			all = append(all, fmt.Errorf("%s: %w", s.Item.Operation, s.Err))
		}
	}
	return errors.Join(all...)
}

// recoverable judges a recovery that others may have come before; others says that
// there were commits meanwhile.
func recoverable(d *Happened, others bool) error {
	var (
		changed *recovery.ChangedError
		young   *recovery.YoungError
		refused *recovery.RefusedError
	)
	if d.Err == nil || errors.As(d.Err, &changed) || errors.As(d.Err, &young) && !d.Now {
		return nil
	}
	if errors.As(d.Err, &refused) && others { // it looked while others wrote; the last recovery refuses nothing
		return nil
	}
	return faulty(d)
}
