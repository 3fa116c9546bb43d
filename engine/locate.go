package engine

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/lance"
)

// locate finds the address of the row with an id; nil when there is none.
func (o *operation) locate(ctx context.Context, s *lance.Snapshot, id string) (*uint64, error) {
	for batch, err := range s.Scan(ctx, lance.ScanOptions{Columns: []string{load.ColID}, WithRowAddress: true}) {
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
	ids, err := textColumn(batch, load.ColID)
	if err != nil {
		return nil, err
	}
	addrs, err := addresses(batch)
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

// rowIDOf is the row id at an address.
func rowIDOf(ctx context.Context, s *lance.Snapshot, addr uint64) (uint64, error) {
	batch, err := s.Take(ctx, []string{lance.ColRowID}, []uint64{addr})
	if err != nil {
		return 0, err
	}
	defer batch.Release()
	ids, err := numberColumn(batch, lance.ColRowID)
	if err != nil {
		return 0, err
	}
	return ids.Value(0), nil
}
