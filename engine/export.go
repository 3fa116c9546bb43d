package engine

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
)

// Bounds of one table during an export.
const (
	exportWhole = 64 << 20 // bytes of data files up to which a table is sorted in memory
	exportRows  = 1 << 20  // and rows
	exportTake  = 8192     // rows taken together otherwise
)

// Export writes the lines of every entity, or of the types named, as the Rust
// engine does: types in byte order of edge:T, node:T, rows by the bytes of
// their ids, LF after each line. It returns the number of lines written.
//
// A table whose data files have up to 64 MiB and a million rows is held in
// memory while it is sorted. Of a larger one the ids are held, and a row
// address for each; its rows are then scanned when they already stand in order
// of their ids, and taken 8,192 at a time when not. Blobs never count: they are
// fetched for at most 64 rows or 32 MiB at a time.
//
// An error ends the export; the lines before it are right. After all lines, an
// *IncompleteError says that the graph itself could not be read in full.
func (g *Graph) Export(ctx context.Context, w io.Writer, at At, types []string) (lines int, err error) {
	return do(ctx, g, "export", func(ctx context.Context, o *operation) (int, error) {
		view, err := o.at(ctx, at)
		if err != nil {
			return 0, err
		}
		tables, err := exported(view, types)
		if err != nil {
			return 0, err
		}
		out := &exporter{operation: o, w: bufio.NewWriterSize(w, 64<<10)}
		for _, e := range tables {
			if err = out.table(ctx, e); err != nil {
				break
			}
		}
		if flushErr := out.w.Flush(); err == nil {
			err = flushErr
		}
		if err == nil {
			err = incomplete("export", view)
		}
		return out.lines, err
	})
}

// exported are the tables that an export writes, in order.
func exported(v *manifest.View, types []string) ([]manifest.Entry, error) {
	if len(types) == 0 {
		return v.Tables, nil
	}
	want := map[string]bool{}
	for _, name := range types {
		found := false
		for _, t := range v.Tables {
			if t.Name() == name || t.Alias == name {
				want[t.Alias], found = true, true
			}
		}
		if !found {
			var names []string
			for _, t := range v.Tables {
				names = append(names, t.Name())
			}
			return nil, &NotFoundError{What: "type", Name: name, Where: "on branch " + nameOf(v.Branch), Suggestions: suggest(name, slices.Compact(sorted(names)))}
		}
	}
	return slices.DeleteFunc(slices.Clone(v.Tables), func(e manifest.Entry) bool { return !want[e.Alias] }), nil
}

// exporter writes the lines of tables one after another.
type exporter struct {
	*operation
	w     *bufio.Writer
	line  []byte
	lines int

	reader *rowReader // of the table being written
	layout load.Table
}

func (x *exporter) table(ctx context.Context, e manifest.Entry) error {
	r, err := x.readerOf(ctx, e, RowsOptions{})
	if err != nil {
		return err
	}
	x.reader = r
	x.layout = load.Table{Edge: r.cols.edge, Name: e.Name(), Properties: r.props}
	var bytes, rows uint64
	for _, f := range r.snap.Fragments() {
		rows += f.PhysicalRows
		for _, d := range f.Files {
			bytes += d.Size
		}
	}
	if bytes <= exportWhole && rows <= exportRows {
		err = x.whole(ctx)
	} else {
		err = x.ordered(ctx)
	}
	return x.rowsError(ctx, err, e)
}

// scan reads the columns told, with addresses where blobs need them.
func (x *exporter) scan(ctx context.Context, each func(batch arrow.RecordBatch) error) error {
	o := lance.ScanOptions{Columns: x.reader.names(), WithRowAddress: len(x.reader.cols.blobNames(x.reader.props)) > 0}
	for batch, err := range x.reader.snap.Scan(ctx, o) {
		if err == nil {
			err = each(batch)
			batch.Release()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// whole holds the table, sorts it and writes it.
func (x *exporter) whole(ctx context.Context) error {
	var held []*bound
	defer func() {
		for _, b := range held {
			b.batch.Release()
		}
	}()
	err := x.scan(ctx, func(batch arrow.RecordBatch) error {
		b, err := x.bind(batch)
		if err == nil {
			batch.Retain()
			held = append(held, b)
		}
		return err
	})
	if err != nil {
		return err
	}
	var at []place
	for i, b := range held {
		for row := range int(b.batch.NumRows()) {
			at = append(at, place{b.id(row), i, row})
		}
	}
	slices.SortStableFunc(at, func(a, b place) int { return strings.Compare(a.id, b.id) })
	for k, p := range at {
		if held[p.batch].blobs.names != nil {
			err := x.reader.window.need(ctx, func(yield func([]*lance.Blob) bool) {
				for _, q := range at[k:] {
					if !yield(held[q.batch].blobs.row(q.row)) {
						return
					}
				}
			})
			if err != nil {
				return err
			}
		}
		if err := x.write(held[p.batch], p.row); err != nil {
			return err
		}
	}
	return nil
}

// place is a row of a held batch.
type place struct {
	id         string
	batch, row int
}

// bound is a batch whose rows can be written.
type bound struct {
	batch arrow.RecordBatch
	lines *load.Lines
	blobs *batchBlobs
}

func (b *bound) id(row int) string { id, _, _ := b.lines.Ends(row); return id }

func (x *exporter) bind(batch arrow.RecordBatch) (*bound, error) {
	blobs, err := x.reader.window.blobsOf(x.reader.snap, batch, x.reader.cols.blobNames(x.reader.props))
	if err != nil {
		return nil, err
	}
	lines, err := load.Bind(x.layout, batch, blobs.text)
	if err != nil {
		return nil, err
	}
	return &bound{batch, lines, blobs}, nil
}

// write writes a row whose blobs were fetched.
func (x *exporter) write(b *bound, row int) error {
	var err error
	if x.line, err = b.lines.Append(x.line[:0], row); err != nil {
		return err
	}
	if _, err := x.w.Write(append(x.line, '\n')); err != nil {
		return err
	}
	x.lines++
	return nil
}

// ordered holds the ids only.
func (x *exporter) ordered(ctx context.Context) error {
	type keyed struct {
		id   string
		addr uint64
	}
	var ids []keyed
	inOrder := true
	o := lance.ScanOptions{Columns: []string{load.ColID}, WithRowAddress: true}
	for batch, err := range x.reader.snap.Scan(ctx, o) {
		if err != nil {
			return err
		}
		col, err := textColumn(batch, load.ColID)
		addrs, addrErr := addresses(batch)
		if err = errors.Join(err, addrErr); err == nil {
			for i := range int(batch.NumRows()) {
				id := strings.Clone(col.Value(i))
				inOrder = inOrder && (len(ids) == 0 || ids[len(ids)-1].id <= id)
				ids = append(ids, keyed{id, addrs.Value(i)})
			}
		}
		batch.Release()
		if err != nil {
			return err
		}
	}
	if inOrder {
		ids = nil
		return x.scan(ctx, func(batch arrow.RecordBatch) error { return x.writeAll(ctx, batch) })
	}
	slices.SortStableFunc(ids, func(a, b keyed) int { return cmp.Compare(a.id, b.id) })
	addrs := make([]uint64, 0, exportTake)
	for part := range slices.Chunk(ids, exportTake) {
		addrs = addrs[:0]
		for _, k := range part {
			addrs = append(addrs, k.addr)
		}
		batch, err := x.reader.snap.Take(ctx, x.reader.takeColumns(), addrs)
		if err != nil {
			return err
		}
		err = x.writeAll(ctx, batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *exporter) writeAll(ctx context.Context, batch arrow.RecordBatch) error {
	b, err := x.bind(batch)
	if err != nil {
		return err
	}
	for row := range int(batch.NumRows()) {
		if err := b.blobs.fetch(ctx, row, int(batch.NumRows())); err != nil {
			return err
		}
		if err := x.write(b, row); err != nil {
			return err
		}
	}
	return nil
}
