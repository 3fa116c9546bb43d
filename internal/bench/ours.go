package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
)

// ours is our side of the comparison.
type ours struct {
	src  *osFile
	r    *file.Reader
	cols map[string]file.Column
}

// osFile is a Source of a local file.
type osFile struct {
	f    *os.File
	size int64
}

func (s *osFile) Size() int64 { return s.size }

func (s *osFile) ReadRange(ctx context.Context, off, n int64) ([]byte, error) {
	p := make([]byte, n)
	return p, s.ReadInto(ctx, off, p)
}

func (s *osFile) ReadInto(_ context.Context, off int64, p []byte) error {
	_, err := s.f.ReadAt(p, off)
	return err
}

func openOurs(ctx context.Context, path string, c config) (*ours, error) {
	names, err := filepath.Glob(filepath.Join(path, "data", "*.lance"))
	if err != nil || len(names) != 1 {
		return nil, fmt.Errorf("%s has %d data files, expected one (%v)", path, len(names), err)
	}
	f, err := os.Open(names[0])
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	o := &ours{src: &osFile{f, fi.Size()}, cols: map[string]file.Column{}}
	if o.r, err = file.Open(ctx, o.src, file.Options{Name: names[0], Parallelism: c.threads}); err != nil {
		return nil, err
	}
	cols, err := o.r.BindAll()
	if err != nil {
		return nil, err
	}
	for _, col := range cols {
		o.cols[col.Field.Name] = col
	}
	return o, nil
}

func (o *ours) close() { o.src.f.Close() }

func (o *ours) columns(names string) []file.Column {
	var out []file.Column
	for n := range strings.SplitSeq(names, ",") {
		out = append(out, o.cols[n])
	}
	return out
}

// scan reads columns whole and holds all batches until the end.
func (o *ours) scan(ctx context.Context, names string) (float64, error) {
	start := time.Now()
	var held []arrow.RecordBatch
	rows := int64(0)
	for b, err := range o.r.Scan(ctx, o.columns(names), file.ScanOptions{To: -1}) {
		if err != nil {
			return 0, err
		}
		held = append(held, b)
		rows += b.NumRows()
	}
	ms := since(start)
	for _, b := range held {
		b.Release()
	}
	if rows != o.r.NumRows() {
		return 0, format.Corruptf("%d rows of %d", rows, o.r.NumRows())
	}
	return ms, nil
}

func since(start time.Time) float64 { return float64(time.Since(start).Microseconds()) / 1e3 }

// rows are n random rows, the same as those of the other side.
func (o *ours) rows(seed, n int) []int64 {
	x, out := uint64(seed), make([]int64, n)
	for i := range out {
		x = x*6364136223846793005 + 1442695040888963407
		out[i] = int64((x >> 33) % uint64(o.r.NumRows()))
	}
	return out
}

func (o *ours) take(ctx context.Context, seed, n int, names string) (float64, error) {
	rows, cols := o.rows(seed, n), o.columns(names)
	start := time.Now()
	b, err := o.r.Take(ctx, cols, rows)
	if err != nil {
		return 0, err
	}
	ms := since(start)
	b.Release()
	return ms, nil
}

func (o *ours) single(ctx context.Context, seed, n int, names string) (float64, error) {
	rows, cols := o.rows(seed, n), o.columns(names)
	start := time.Now()
	for i := range rows {
		b, err := o.r.Take(ctx, cols, rows[i:i+1])
		if err != nil {
			return 0, err
		}
		b.Release()
	}
	return since(start), nil
}
