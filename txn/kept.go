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

// retire removes the record of a published plan. A slow writer first looks whether
// a table was moved above what it published: then recovery may have begun to take
// it back, and the record is what leads it to bring that forward again.
func (p *publishing) retire(ctx context.Context) error {
	if !p.slow() {
		return p.unrecord(ctx)
	}
	for _, a := range p.plan.Actions {
		latest, n, err := p.after[a.Table].IsLatest(ctx)
		if err != nil {
			return fmt.Errorf("it was slow, and whether %s was moved meanwhile could not be read: %w", a.Alias, err)
		}
		if !latest {
			return fmt.Errorf("it was slow, and %s is at version %d already: recovery may have begun to take it back, and will settle it by the record", a.Alias, n)
		}
	}
	return p.unrecord(ctx)
}
