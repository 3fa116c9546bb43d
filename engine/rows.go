package engine

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
)

// defaultRows is the size of a page when nobody says.
const defaultRows = 100

// Rows is a window of the rows of a table, in physical order (the order of
// fragments and of rows in them), which a commit may change. Only the fragments
// that the window touches are read; with a condition, its columns are read from
// the beginning until the window is full.
//
// With Sort, rows stand in the order of a column instead: null last, equal
// values in physical order. That column, and those of the condition, are read
// whole, once for all windows that a Graph is asked for, of the others only the
// rows of the window. Numbers, times, text (by
// code point) and truth values can be sorted, and at most two million rows;
// anything else is a *UsageError.
//
// The bytes of blobs are not read: Line spells one as the text "N bytes".
func (g *Graph) Rows(ctx context.Context, table string, at At, opts RowsOptions) (*RowPage, error) {
	return do(ctx, g, "rows", func(ctx context.Context, o *operation) (*RowPage, error) {
		var ir *schema.IR
		var r *rowReader
		err := o.together(
			func() (err error) { ir, err = o.ir(ctx); return err },
			func() (err error) { r, err = o.rowReader(ctx, table, at, opts); return err },
		)
		if err != nil {
			return nil, err
		}
		r.cells, o.table = true, r.cols.entry.Alias
		limit := opts.Limit
		if limit <= 0 {
			limit = defaultRows
		}
		page := r.page(ir)
		page.Offset = opts.Offset
		total, known := r.snap.CountRows()
		ask := limit
		if known = known && r.filter == nil; !known && limit < math.MaxInt {
			ask = limit + 1
		}
		err = r.run(ctx, opts.Offset, ask, func(row Row) error {
			if len(page.Rows) == limit {
				page.Truncated = true
				return errStop
			}
			page.Rows = append(page.Rows, row)
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			return nil, o.rowsError(ctx, err, r.cols.entry)
		}
		if known {
			page.Truncated = opts.Offset+uint64(len(page.Rows)) < total
		}
		return page, nil
	})
}

// StreamRows is Rows without end, in bounded memory: Limit 0 = all. Line is
// what `export` prints, the bytes of blobs included; Values is empty. After an
// error the sequence ends.
func (g *Graph) StreamRows(ctx context.Context, table string, at At, opts RowsOptions) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		_, err := do(ctx, g, "rows", func(ctx context.Context, o *operation) (struct{}, error) {
			r, err := o.rowReader(ctx, table, at, opts)
			if err != nil {
				return struct{}{}, err
			}
			r.payloads, o.table = true, r.cols.entry.Alias
			err = r.run(ctx, opts.Offset, opts.Limit, func(row Row) error {
				if !yield(row, nil) {
					return errStop
				}
				return nil
			})
			if err != nil && !errors.Is(err, errStop) {
				return struct{}{}, o.rowsError(ctx, err, r.cols.entry)
			}
			return struct{}{}, nil
		})
		if err != nil {
			yield(Row{}, err)
		}
	}
}

// rowReader opens a table for reading rows.
func (o *operation) rowReader(ctx context.Context, table string, at At, opts RowsOptions) (*rowReader, error) {
	view, err := o.at(ctx, at)
	if err != nil {
		return nil, err
	}
	e, err := entryOf(view, table)
	if err != nil {
		return nil, err
	}
	return o.readerOf(ctx, e, opts)
}

func (o *operation) readerOf(ctx context.Context, e manifest.Entry, opts RowsOptions) (*rowReader, error) {
	if e.Doubt != "" {
		return nil, &DamagedError{Object: manifest.Folder, Size: -1, Hint: "which version of " + e.Alias + " is published cannot be told (" + e.Doubt + "); read an older commit, or the table itself with `omnideck lance scan`"}
	}
	snap, err := o.dataset(ctx, e)
	if err != nil {
		return nil, err
	}
	cols, err := columnsOf(e, snap)
	if err != nil {
		return nil, err
	}
	r := &rowReader{operation: o, snap: snap, cols: cols, window: &blobWindow{op: o}}
	if r.props, err = cols.choose(opts.Columns); err != nil {
		return nil, err
	}
	if r.filter, err = cols.where(opts.Where); err != nil {
		return nil, err
	}
	if opts.Sort == "" {
		return r, nil
	}
	if r.order, err = cols.order(opts.Sort, opts.Desc); err != nil {
		return nil, err
	}
	r.order.where = opts.Where
	return r, r.checkSortable()
}
