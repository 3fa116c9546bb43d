package engine

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
)

// Bounds of an export.
const (
	exportWhole = 64 << 20 // bytes of data files up to which a table is sorted in memory
	exportRows  = 1 << 20  // and rows
	exportTake  = 8192     // rows taken together otherwise
	exportAhead = 16       // tables opened before their turn
	exportSmall = 4 << 20  // bytes of data files up to which one is also read before its turn
)

// Export writes the lines of every entity, or of the types named, as the Rust
// engine does: types in byte order of edge:T, node:T, rows by the bytes of
// their ids, LF after each line. It returns the number of lines written.
//
// A table whose data files have up to 64 MiB and a million rows is held in
// memory while it is sorted. Of a larger one the ids are held, and a row
// address for each; its rows are then scanned when they already stand in order
// of their ids, and taken 8,192 at a time when not. Sixteen tables are opened
// ahead, and those up to 4 MiB also read. Blobs never count: they are fetched
// for at most 64 rows or 32 MiB at a time.
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
		err = out.run(ctx, tables)
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
			return nil, &NotFoundError{What: "type", Name: name, Where: "on branch " + nameOf(v.Branch), Suggestions: Suggest(name, slices.Compact(sorted(names)))}
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
}

// run writes the tables in order. They are opened ahead of their turn.
func (x *exporter) run(ctx context.Context, tables []manifest.Entry) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	ready := make([]chan *exportTable, len(tables))
	begin := func(i int) {
		if i < len(tables) {
			ready[i] = make(chan *exportTable, 1)
			wg.Go(func() { ready[i] <- x.prepare(ctx, tables[i]) })
		}
	}
	defer func() {
		cancel()
		wg.Wait()
		for _, c := range ready {
			if len(c) > 0 {
				(<-c).release()
			}
		}
	}()
	for i := range exportAhead {
		begin(i)
	}
	for i := range tables {
		t := <-ready[i]
		err := t.err
		if err == nil {
			err = x.write(ctx, t)
		}
		t.release()
		if err != nil {
			return x.rowsError(ctx, err, tables[i])
		}
		begin(i + exportAhead)
	}
	return nil
}

// exportTable is a table that was opened, and read when it is small.
type exportTable struct {
	*rowReader
	layout load.Table
	bytes  uint64 // of data files
	rows   uint64 // physical
	held   []*bound
	read   bool
	err    error
}

func (t *exportTable) release() {
	for _, b := range t.held {
		b.batch.Release()
	}
	t.held = nil
}

func (x *exporter) prepare(ctx context.Context, e manifest.Entry) *exportTable {
	t := &exportTable{}
	if t.rowReader, t.err = x.readerOf(ctx, e, RowsOptions{}); t.err != nil {
		return t
	}
	t.layout = load.Table{Edge: t.cols.edge, Name: e.Name(), Properties: t.props}
	for _, f := range t.snap.Fragments() {
		t.rows += f.PhysicalRows
		for _, d := range f.Files {
			t.bytes += d.Size
		}
	}
	if t.bytes <= exportSmall && t.rows <= exportRows {
		t.err = t.hold(ctx)
	}
	return t
}

// scan reads the columns told, with addresses where blobs need them.
func (t *exportTable) scan(ctx context.Context, each func(*bound) error) error {
	o := lance.ScanOptions{Columns: t.names(), WithRowAddress: len(t.cols.blobNames(t.props)) > 0}
	for batch, err := range t.snap.Scan(ctx, o) {
		if err == nil {
			var b *bound
			if b, err = t.bind(batch); err == nil {
				err = each(b)
			}
			batch.Release()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hold reads the whole table.
func (t *exportTable) hold(ctx context.Context) error {
	t.read = true
	return t.scan(ctx, func(b *bound) error {
		b.batch.Retain()
		t.held = append(t.held, b)
		return nil
	})
}

// write writes a table in the order of its ids.
func (x *exporter) write(ctx context.Context, t *exportTable) error {
	if !t.read && (t.bytes > exportWhole || t.rows > exportRows) {
		return x.ordered(ctx, t)
	}
	if !t.read {
		if err := t.hold(ctx); err != nil {
			return err
		}
	}
	var at []place
	for i, b := range t.held {
		for row := range int(b.batch.NumRows()) {
			at = append(at, place{b.id(row), i, row})
		}
	}
	slices.SortStableFunc(at, func(a, b place) int { return strings.Compare(a.id, b.id) })
	for k, p := range at {
		if t.held[p.batch].blobs.names != nil {
			err := t.window.need(ctx, func(yield func([]*lance.Blob) bool) {
				for _, q := range at[k:] {
					if !yield(t.held[q.batch].blobs.row(q.row)) {
						return
					}
				}
			})
			if err != nil {
				return err
			}
		}
		if err := x.row(t.held[p.batch], p.row); err != nil {
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

func (t *exportTable) bind(batch arrow.RecordBatch) (*bound, error) {
	blobs, err := t.window.blobsOf(t.snap, batch, t.cols.blobNames(t.props))
	if err != nil {
		return nil, err
	}
	lines, err := load.Bind(t.layout, batch, blobs.text)
	if err != nil {
		return nil, err
	}
	return &bound{batch, lines, blobs}, nil
}

// row writes a row whose blobs were fetched.
func (x *exporter) row(b *bound, row int) error {
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

// keyed is the id of a row and where it lies.
type keyed struct {
	id   string
	addr uint64
}

// ids reads the ids of a table; inOrder tells that they stand in order.
func (t *exportTable) ids(ctx context.Context) (ids []keyed, inOrder bool, err error) {
	inOrder = true
	o := lance.ScanOptions{Columns: []string{load.ColID}, WithRowAddress: true}
	for batch, err := range t.snap.Scan(ctx, o) {
		if err != nil {
			return nil, false, err
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
			return nil, false, err
		}
	}
	return ids, inOrder, nil
}

// ordered writes a large table, holding its ids only.
func (x *exporter) ordered(ctx context.Context, t *exportTable) error {
	ids, inOrder, err := t.ids(ctx)
	if err != nil {
		return err
	}
	if inOrder {
		ids = nil
		return t.scan(ctx, func(b *bound) error { return x.all(ctx, b) })
	}
	slices.SortStableFunc(ids, func(a, b keyed) int { return cmp.Compare(a.id, b.id) })
	addrs := make([]uint64, 0, exportTake)
	for part := range slices.Chunk(ids, exportTake) {
		addrs = addrs[:0]
		for _, k := range part {
			addrs = append(addrs, k.addr)
		}
		batch, err := t.snap.Take(ctx, t.takeColumns(), addrs)
		if err != nil {
			return err
		}
		b, err := t.bind(batch)
		if err == nil {
			err = x.all(ctx, b)
		}
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// all writes the rows of a batch as they stand.
func (x *exporter) all(ctx context.Context, b *bound) error {
	n := int(b.batch.NumRows())
	for row := range n {
		if err := b.blobs.fetch(ctx, row, n); err != nil {
			return err
		}
		if err := x.row(b, row); err != nil {
			return err
		}
	}
	return nil
}
