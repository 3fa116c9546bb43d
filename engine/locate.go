package engine

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/lance"
)

// Rows are looked up by the value of a column of text (id, src, dst): in the
// fragments that a BTREE index covers through it, in the others by a scan. What
// the index says is trusted to be all, as the Rust engine trusts it, and each
// row that it gives is compared with what was asked for when it is read. An
// index that cannot be used or gives a wrong row is passed over: then
// everything is scanned.

// lookUps is when indexes are asked. Tests ask them always.
var lookUps = lance.LookUpByCost

// locate finds the first row with an id; nil when there is none. indexed says
// that an index was asked, so that "none" rests on it and the row has to be
// compared when it is read.
func (o *operation) locate(ctx context.Context, s *lance.Snapshot, id string) (addr *uint64, indexed bool, err error) {
	l := s.LookUp(lookUps, load.ColID)
	if l == nil {
		addr, err = scanFor(ctx, s, nil, id)
		return addr, false, err
	}
	var found []uint64
	var other *uint64
	err = together(
		func() (err error) { found, err = l.Find(ctx, []string{id}); return err },
		func() (err error) {
			if len(l.Rest) > 0 {
				other, err = scanFor(ctx, s, l.Rest, id)
			}
			return err
		},
	)
	switch {
	case err != nil && ctx.Err() == nil && lance.Unusable(err):
		addr, err = scanFor(ctx, s, nil, id)
		return addr, false, err
	case err != nil:
		return nil, false, err
	case len(found) > 0 && (other == nil || s.Compare(found[0], *other) < 0):
		return &found[0], true, nil
	}
	return other, true, nil
}

// readRow finds the row with an id and reads it: read says whether the row at an
// address is the one. What an index says is not there is looked for once more by
// a scan. false when there is none.
func (o *operation) readRow(ctx context.Context, s *lance.Snapshot, id string, read func(addr uint64) (right bool, err error)) (bool, error) {
	addr, indexed, err := o.locate(ctx, s, id)
	if err != nil {
		return false, err
	}
	if addr != nil {
		if right, err := read(*addr); err != nil || right {
			return right, err
		}
	}
	if !indexed {
		return false, nil
	}
	if addr, err = scanFor(ctx, s, nil, id); addr == nil || err != nil {
		return false, err
	}
	return read(*addr)
}

// scanFor scans fragments (nil = all) for the first row with an id.
func scanFor(ctx context.Context, s *lance.Snapshot, fragments []uint64, id string) (*uint64, error) {
	for batch, err := range s.Scan(ctx, lance.ScanOptions{Columns: []string{load.ColID}, WithRowAddress: true, Fragments: fragments}) {
		if err != nil {
			return nil, err
		}
		addr, err := locateIn(batch, id)
		batch.Release()
		if addr != nil || err != nil {
			return addr, err
		}
	}
	return nil, nil
}

func locateIn(batch arrow.RecordBatch, id string) (*uint64, error) {
	ids, addrs, err := idsAt(batch)
	if err != nil {
		return nil, err
	}
	for i := range int(batch.NumRows()) {
		if ids.Value(i) == id {
			at := addrs.Value(i)
			return &at, nil
		}
	}
	return nil, nil
}

// rowOf reads the row id at an address and says whether the row has the id that
// is looked for.
func rowOf(ctx context.Context, s *lance.Snapshot, addr uint64, id string) (rowID uint64, right bool, err error) {
	batch, err := s.Take(ctx, []string{load.ColID, lance.ColRowID}, []uint64{addr})
	if err != nil {
		return 0, false, err
	}
	defer batch.Release()
	ids, err := textColumn(batch, load.ColID)
	if err != nil {
		return 0, false, err
	}
	rows, err := numberColumn(batch, lance.ColRowID)
	if err != nil {
		return 0, false, err
	}
	return rows.Value(0), ids.Value(0) == id, nil
}
