package txn

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// slow says that others may have taken this writer for dead.
func (p *publishing) slow() bool {
	grace := p.o.Grace
	if grace < 0 { // that of this writer, who waits for nobody; others may
		grace = defaultGrace
	}
	return p.o.Now().Sub(p.plan.Started) >= grace
}

// held makes sure that the record is still this writer's, once it is so old that
// others may act on it: a writer that was stopped for a while must not go on with
// what is taken back, and what it did belongs to a record. While it is young
// nothing is asked.
//
// A record that is gone though a table was moved, as moved says, is written
// again: else nobody could tell whose that movement is.
func (p *publishing) held(ctx context.Context, moved bool) error {
	if !p.slow() {
		return nil
	}
	key := sidecar.Folder + p.plan.ID + sidecar.Suffix
	obj, err := p.t.store.Get(ctx, key, blob.All)
	switch {
	case err == nil && bytes.Equal(obj.Data, p.wrote):
		return nil
	case err == nil:
		return p.stuck("it was slow, and recovery has begun to take it back", errors.New("its record was changed"))
	case !errors.Is(err, blob.ErrNotExist):
		return p.stuck("it was slow, and whether its record is still there could not be read", err)
	case !moved:
		return &ReadSetChangedError{Member: "recovery_record:" + p.plan.ID, Expected: "its own", Actual: "none: it was slow, and recovery discarded it"}
	}
	if _, err := p.t.store.PutIfAbsent(ctx, key, p.wrote); err != nil && !errors.Is(err, blob.ErrExists) {
		return p.stuck("it was slow, recovery settled it, and what it did since has no record", fmt.Errorf("writing %s again: %w", key, err))
	}
	return p.stuck("it was slow, and recovery settled it before it was done", errors.New("its record was gone, and is written again"))
}
