package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/blob/localfs"
	"github.com/omnideck/omnideck/lance"
)

// reader is what is measured of ours.
type reader interface {
	numRows() int64
	scan(ctx context.Context, columns []string, batch func(arrow.RecordBatch)) error
	take(ctx context.Context, columns []string, rows []int64) (arrow.RecordBatch, error)
	close()
}

// dataset reads through the dataset and the store of local files, as the
// program does.
type dataset struct {
	store *localfs.Store
	snap  *lance.Snapshot
}

func openDataset(ctx context.Context, path string, c config) (reader, error) {
	store, err := localfs.Open(path)
	if err != nil {
		return nil, err
	}
	snap, err := lance.Open(ctx, store, "", lance.OpenOptions{Decoders: c.threads})
	if err != nil {
		return nil, err
	}
	return &dataset{store, snap}, nil
}

func (d *dataset) numRows() int64 {
	n, _ := d.snap.CountRows()
	return int64(n)
}

func (d *dataset) scan(ctx context.Context, columns []string, batch func(arrow.RecordBatch)) error {
	for b, err := range d.snap.Scan(ctx, lance.ScanOptions{Columns: columns}) {
		if err != nil {
			return err
		}
		batch(b)
	}
	return nil
}

func (d *dataset) take(ctx context.Context, columns []string, rows []int64) (arrow.RecordBatch, error) {
	addrs := make([]uint64, len(rows)) // fragment 0
	for i, r := range rows {
		addrs[i] = uint64(r)
	}
	return d.snap.Take(ctx, columns, addrs)
}

func (d *dataset) close() { d.store.Close() }

// scan reads columns whole and holds all batches until the end.
func scan(ctx context.Context, r reader, names string) (cost, error) {
	start := begin()
	var held []arrow.RecordBatch
	rows := int64(0)
	err := r.scan(ctx, strings.Split(names, ","), func(b arrow.RecordBatch) {
		held = append(held, b)
		rows += b.NumRows()
	})
	took := start.since()
	for _, b := range held {
		b.Release()
	}
	if err == nil && rows != r.numRows() {
		err = fmt.Errorf("%d rows of %d", rows, r.numRows())
	}
	return took, err
}

// moment is when something began.
type moment struct {
	at  time.Time
	cpu float64
}

func begin() moment { return moment{time.Now(), cpu()} }

func (m moment) since() cost {
	return cost{wall: float64(time.Since(m.at).Microseconds()) / 1e3, cpu: cpu() - m.cpu}
}

// random is n random rows, the same as those of the other side.
func random(seed, n int, total int64) []int64 {
	x, out := uint64(seed), make([]int64, n)
	for i := range out {
		x = x*6364136223846793005 + 1442695040888963407
		out[i] = int64((x >> 33) % uint64(total))
	}
	return out
}

// take takes n random rows in one call, or one by one.
func take(ctx context.Context, r reader, seed, n int, single bool) (cost, error) {
	rows, columns := random(seed, n, r.numRows()), strings.Split(five, ",")
	step := n
	if single {
		step = 1
	}
	start := begin()
	for i := 0; i < n; i += step {
		b, err := r.take(ctx, columns, rows[i:i+step])
		if err != nil {
			return cost{}, err
		}
		b.Release()
	}
	return start.since(), nil
}
