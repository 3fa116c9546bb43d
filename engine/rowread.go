package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/engine/where"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/schema"
)

// rowReader reads rows of one table version and tells them as Rows.
type rowReader struct {
	*operation
	snap     *lance.Snapshot
	window   *blobWindow
	cols     *tableColumns
	props    []string // properties told
	filter   *where.Filter
	order    *order // nil = physical
	payloads bool   // read the bytes of blobs for Row.Line
	cells    bool   // fill Row.Values
}

// names are the columns told: structural ones and the properties chosen.
func (r *rowReader) names() []string { return slices.Concat(r.cols.structural(), r.props) }

// page is an empty page of what is told.
func (r *rowReader) page(ir *schema.IR) *RowPage {
	p := &RowPage{Table: r.cols.entry.Alias, Columns: r.names(), Rows: []Row{}, Total: r.cols.entry.Rows}
	p.Types = r.cols.labels(p.Columns, spellings(ir, r.cols.entry))
	if r.cols.edge {
		p.Ends = endsOf(ir, r.cols.entry)
	}
	return p
}

// take tells the rows at addresses, in that order.
func (r *rowReader) take(ctx context.Context, addrs []uint64, visit func(Row) error) error {
	if len(addrs) == 0 {
		return nil
	}
	batch, err := r.snap.Take(ctx, r.takeColumns(), addrs)
	if err != nil {
		return err
	}
	defer batch.Release()
	return r.tell(ctx, batch, visit)
}

// run tells rows from offset on, at most limit (0 = all) of those that meet
// the filter, in physical order or that asked for. visit may return errStop.
func (r *rowReader) run(ctx context.Context, offset uint64, limit int, visit func(Row) error) error {
	if r.order != nil {
		return r.runSorted(ctx, offset, limit, visit)
	}
	if r.filter != nil {
		return r.runFiltered(ctx, offset, limit, visit)
	}
	o := lance.ScanOptions{
		Columns: r.names(), WithRowAddress: len(r.cols.blobNames(r.props)) > 0,
		Offset: int64(min(offset, 1<<62)), Limit: int64(limit),
	}
	for batch, err := range r.snap.Scan(ctx, o) {
		if err == nil {
			err = r.tell(ctx, batch, visit)
			batch.Release()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeRows is the number of rows that are taken together once a condition has
// chosen them.
const takeRows = 512

// runFiltered reads the columns of the condition first and takes the rest of
// the rows that meet it.
func (r *rowReader) runFiltered(ctx context.Context, offset uint64, limit int, visit func(Row) error) error {
	var chosen []uint64
	left := limit
	take := func() error {
		addrs := chosen
		chosen = chosen[:0]
		return r.take(ctx, addrs, visit)
	}
	err := r.matches(ctx, func(addr uint64) error {
		if offset > 0 {
			offset--
			return nil
		}
		chosen = append(chosen, addr)
		if left--; left == 0 {
			return errStop
		}
		if len(chosen) == takeRows {
			return take()
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		return err
	}
	if err != nil && len(chosen) == 0 {
		return err // the visitor stopped
	}
	return take()
}

// takeColumns are the columns of a take: blobs need to know their row.
func (r *rowReader) takeColumns() []string {
	if len(r.cols.blobNames(r.props)) > 0 {
		return append(r.names(), lance.ColRowAddress)
	}
	return r.names()
}

// matches visits the addresses of the rows that meet the condition.
func (r *rowReader) matches(ctx context.Context, visit func(addr uint64) error) error {
	return r.scanMatches(ctx, nil, func(_ arrow.RecordBatch) (func(row int, addr uint64) error, error) {
		return func(_ int, addr uint64) error { return visit(addr) }, nil
	})
}

// scanMatches reads the columns of the condition and some more, and visits the
// rows that meet it; open is called for every batch.
func (r *rowReader) scanMatches(ctx context.Context, more []string, open func(arrow.RecordBatch) (func(row int, addr uint64) error, error)) error {
	var columns []string
	if r.filter != nil {
		columns = slices.Clone(r.filter.Columns())
	}
	for _, name := range more {
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	for batch, err := range r.snap.Scan(ctx, lance.ScanOptions{Columns: columns, WithRowAddress: true}) {
		if err == nil {
			err = r.visitMatches(batch, open)
			batch.Release()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *rowReader) visitMatches(batch arrow.RecordBatch, open func(arrow.RecordBatch) (func(row int, addr uint64) error, error)) error {
	match := func(int) bool { return true }
	if r.filter != nil {
		var err error
		if match, err = r.filter.Open(batch); err != nil {
			return err
		}
	}
	addrs, err := addresses(batch)
	if err != nil {
		return err
	}
	visit, err := open(batch)
	if err != nil {
		return err
	}
	for i := range int(batch.NumRows()) {
		if match(i) {
			if err := visit(i, addrs.Value(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func addresses(batch arrow.RecordBatch) (*array.Uint64, error) {
	return numberColumn(batch, lance.ColRowAddress)
}

// idsAt is the ids of a batch and where its rows lie.
func idsAt(batch arrow.RecordBatch) (texts, *array.Uint64, error) {
	ids, err := textColumn(batch, load.ColID)
	if err != nil {
		return nil, nil, err
	}
	addrs, err := addresses(batch)
	return ids, addrs, err
}

// numberColumn is a system column of a batch.
func numberColumn(batch arrow.RecordBatch, name string) (*array.Uint64, error) {
	at := batch.Schema().FieldIndices(name)
	if len(at) == 1 {
		if a, ok := batch.Column(at[0]).(*array.Uint64); ok {
			return a, nil
		}
	}
	return nil, errors.New("a scan lost its column " + name)
}

// tell turns the rows of a batch into Rows.
func (r *rowReader) tell(ctx context.Context, batch arrow.RecordBatch, visit func(Row) error) error {
	b, err := r.window.blobsOf(r.snap, batch, r.cols.blobNames(r.props))
	if err != nil {
		return err
	}
	text := b.sizes
	if r.payloads {
		text = b.text
	}
	lines, err := load.Bind(load.Table{Edge: r.cols.edge, Name: r.cols.entry.Name(), Properties: r.props}, batch, text)
	if err != nil {
		return err
	}
	told, err := r.display(batch, b)
	if err != nil {
		return err
	}
	for i := range int(batch.NumRows()) {
		if r.payloads {
			if err := b.fetch(ctx, i, int(batch.NumRows())); err != nil {
				return err
			}
		}
		var row Row
		var odd *load.ValueError
		if row.Line, err = lines.Append(nil, i); err != nil && !errors.As(err, &odd) {
			return err
		}
		row.ID, row.Src, row.Dst = lines.Ends(i)
		if told != nil {
			row.Values = make([]Cell, len(told))
			for k, cell := range told {
				row.Values[k] = cell(i)
			}
		}
		if err := visit(row); err != nil {
			return err
		}
	}
	return nil
}

// display prepares the cells of a batch, nil when they are not wanted.
func (r *rowReader) display(batch arrow.RecordBatch, b *batchBlobs) ([]cellFunc, error) {
	if !r.cells {
		return nil, nil
	}
	var out []cellFunc
	for _, n := range r.names() {
		at := batch.Schema().FieldIndices(n)
		if len(at) != 1 {
			return nil, errors.New("a scan lost the column " + n)
		}
		out = append(out, cellsOf(batch.Column(at[0]), b.columns[n]))
	}
	return out, nil
}
