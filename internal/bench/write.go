package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
)

// all is every column of the table.
const all = "i64,f64,prose,kind,vec,i64r,i32n,bin,hex,list"

// allSynced is the line in which ours is on the disk at the end, as our store
// leaves every file; pylance never waits for that.
const allSynced = "all ten, ours synced"

// writes measures and prints the writers column by column, and all together.
func writes(ctx context.Context, c config, p *peer, ours reader, path string) error {
	for _, col := range append(columns[:len(columns):len(columns)], column{all, "all ten together", 1}, column{all, allSynced, 1}) {
		if c.only != "" && c.only != col.name {
			continue
		}
		src, err := held(ctx, ours, col.name)
		if err != nil {
			return err
		}
		var size, theirs float64
		err = line(c, col.what, 1,
			func(int) (cost, error) {
				took, n, err := src.write(filepath.Join(c.dir, "ours.lance"), c.threads, col.what == allSynced)
				size = float64(n)
				return took, err
			},
			func(int) (cost, error) {
				out, err := p.ask("rewrite", path, filepath.Join(c.dir, "theirs"), col.name)
				if err != nil {
					return cost{}, err
				}
				theirs, _ = out["bytes"].(float64)
				return costOf(out)
			})
		if err != nil {
			return err
		}
		fmt.Printf("%-29s %21.0f kB %21.0f kB %7.2fx\n", "", size/1e3, theirs/1e3, size/theirs)
		src.rec.Release()
	}
	return nil
}

// source is columns in memory.
type source struct {
	rec    arrow.RecordBatch
	fields []*format.Field
}

// held reads columns to one batch.
func held(ctx context.Context, r reader, names string) (source, error) {
	d, ok := r.(*dataset)
	if !ok {
		return source{}, fmt.Errorf("-write and -direct do not go together")
	}
	s := source{}
	for _, name := range strings.Split(names, ",") {
		f := d.snap.Schema().Lookup(name)
		if f == nil {
			return s, fmt.Errorf("no column %q", name)
		}
		s.fields = append(s.fields, f)
	}
	var parts []arrow.RecordBatch
	err := r.scan(ctx, strings.Split(names, ","), func(b arrow.RecordBatch) { parts = append(parts, b) })
	if err != nil {
		return s, err
	}
	cols := make([]arrow.Array, len(s.fields))
	for i := range cols {
		arrays := make([]arrow.Array, len(parts))
		for k, p := range parts {
			arrays[k] = p.Column(i)
		}
		if cols[i], err = array.Concatenate(arrays, memory.DefaultAllocator); err != nil {
			return s, err
		}
	}
	s.rec = array.NewRecordBatch(parts[0].Schema(), cols, r.numRows())
	return s, nil
}

// write writes the columns to a file, and waits for the disk when asked.
func (s source) write(name string, threads int, sync bool) (cost, int64, error) {
	start := begin()
	w, err := file.NewWriter(s.fields, file.WriteOptions{Parallelism: threads})
	if err != nil {
		return cost{}, 0, err
	}
	if err := w.Write(s.rec); err != nil {
		return cost{}, 0, err
	}
	out, err := w.Finish()
	if err != nil {
		return cost{}, 0, err
	}
	f, err := os.Create(name)
	if err != nil {
		return cost{}, 0, err
	}
	if _, err := out.WriteTo(f); err != nil {
		return cost{}, 0, err
	}
	if sync {
		if err := f.Sync(); err != nil {
			return cost{}, 0, err
		}
	}
	if err := f.Close(); err != nil {
		return cost{}, 0, err
	}
	return start.since(), out.Size, os.Remove(name)
}
