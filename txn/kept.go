package txn

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/blob"
)

// kept makes sure that an operation that stopped part-way has its record: who
// took its writer for dead may have removed it before there was an effect, and
// then nobody could tell whose the movement of its tables is. What recovery
// finds it has settled already it only retires.
func (p *publishing) kept(ctx context.Context, err error) error {
	var stuck *RecoveryRequiredError
	if !errors.As(err, &stuck) || stuck.Other || p.plan.Phase() == Prepared {
		return err
	}
	rec, bad := p.plan.Record()
	if bad != nil {
		return err
	}
	data, bad := rec.Encode()
	if bad != nil {
		return err
	}
	if _, bad = p.t.store.PutIfAbsent(ctx, rec.Name(), data); bad != nil && !errors.Is(bad, blob.ErrExists) {
		stuck.Reason += fmt.Sprintf(" (whether its record is still there is not known: %v)", bad)
	}
	return err
}

// retire removes the record of a published plan. A slow writer looks, before and
// after, whether a table was moved above what it published: then recovery may have
// begun to take it back, and the record is what leads it to bring that forward
// again.
func (p *publishing) retire(ctx context.Context) error {
	if !p.slow() {
		return p.unrecord(ctx)
	}
	if err := p.topmost(ctx); err != nil {
		return err
	}
	if err := p.unrecord(ctx); err != nil {
		return err
	}
	err := p.topmost(ctx)
	if err != nil {
		if _, bad := p.record(ctx, p.plan); bad != nil {
			err = fmt.Errorf("%w (and its record, removed a moment before, could not be written again: %w)", err, bad)
		}
	}
	return err
}

// topmost is nil when what was published is the newest version of every table.
func (p *publishing) topmost(ctx context.Context) error {
	for _, a := range p.plan.Actions {
		latest, n, err := p.after[a.Table].IsLatest(ctx)
		if err != nil {
			return fmt.Errorf("it was slow, and whether %s was moved meanwhile could not be read: %w", a.Alias, err)
		}
		if !latest {
			return fmt.Errorf("it was slow, and %s is at version %d already: recovery may have begun to take it back, and will settle it by the record", a.Alias, n)
		}
	}
	return nil
}
