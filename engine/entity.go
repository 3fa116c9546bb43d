package engine

import (
	"context"

	"github.com/omnideck/omnideck/schema"
)

// Entity is the page of exactly one row: the entity of a table with that id,
// with every column, spelled as Rows does. The id is looked up as in Find, and
// then the one row is read.
//
// The bytes of blobs are not read. Errors: *NotFoundError when there is no such
// table or no such entity in it.
func (g *Graph) Entity(ctx context.Context, table, id string, at At) (*RowPage, error) {
	return do(ctx, g, "entity", func(ctx context.Context, o *operation) (*RowPage, error) {
		var ir *schema.IR
		var r *rowReader
		var addr *uint64
		err := together(
			func() (err error) { ir, err = o.ir(ctx); return err },
			func() (err error) {
				if r, err = o.rowReader(ctx, table, at, RowsOptions{}); err != nil {
					return err
				}
				addr, err = o.locate(ctx, r.snap, id)
				return o.rowsError(ctx, err, r.cols.entry)
			},
		)
		switch {
		case err != nil:
			return nil, err
		case addr == nil:
			return nil, &NotFoundError{What: "entity", Name: id, Where: "in " + r.cols.entry.Alias}
		}
		r.cells = true
		page := r.page(ir)
		err = r.take(ctx, []uint64{*addr}, func(row Row) error {
			page.Rows = append(page.Rows, row)
			return nil
		})
		return page, o.rowsError(ctx, err, r.cols.entry)
	})
}
