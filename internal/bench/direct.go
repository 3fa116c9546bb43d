package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/file"
)

// direct reads the one data file of the dataset without what is around it.
type direct struct {
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

func openDirect(ctx context.Context, path string, c config) (reader, error) {
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
	d := &direct{src: &osFile{f, fi.Size()}, cols: map[string]file.Column{}}
	if d.r, err = file.Open(ctx, d.src, file.Options{Name: names[0], Parallelism: c.threads}); err != nil {
		return nil, err
	}
	cols, err := d.r.BindAll()
	if err != nil {
		return nil, err
	}
	for _, col := range cols {
		d.cols[col.Field.Name] = col
	}
	return d, nil
}

func (d *direct) numRows() int64 { return d.r.NumRows() }

func (d *direct) columns(names []string) []file.Column {
	out := make([]file.Column, len(names))
	for i, n := range names {
		out[i] = d.cols[n]
	}
	return out
}

func (d *direct) scan(ctx context.Context, columns []string, batch func(arrow.RecordBatch)) error {
	for b, err := range d.r.Scan(ctx, d.columns(columns), file.ScanOptions{To: -1}) {
		if err != nil {
			return err
		}
		batch(b)
	}
	return nil
}

func (d *direct) take(ctx context.Context, columns []string, rows []int64) (arrow.RecordBatch, error) {
	return d.r.Take(ctx, d.columns(columns), rows)
}

func (d *direct) close() { d.src.f.Close() }
