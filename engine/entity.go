package engine

import (
	"context"

	"github.com/omnideck/omnideck/schema"
)

// Entity is the page of exactly one row: the entity of a table with that id,
// with every column, spelled as Rows does. The id is looked up as in Find, then
// the one row is read; before an entity is said not to be there, every id is.
//
// The bytes of blobs are not read. Errors: *NotFoundError when there is no such
// table or no such entity in it.
func (g *Graph) Entity(ctx context.Context, table, id string, at At) (*RowPage, error) {
	return do(ctx, g, "entity", func(ctx context.Context, o *operation) (*RowPage, error) {
		var ir *schema.IR
		var r *rowReader
		var rows []Row
		err := o.together(
			func() (err error) { ir, err = o.ir(ctx); return err },
			func() (err error) {
				if r, err = o.rowReader(ctx, table, at, RowsOptions{}); err != nil {
					return err
				}
				r.cells = true
				_, err = o.readRow(ctx, r.snap, id, func(addr uint64) (bool, error) {
					rows = rows[:0]
					err := r.take(ctx, []uint64{addr}, func(row Row) error {
						if row.ID == id {
							rows = append(rows, row)
						}
						return nil
					})
					return len(rows) > 0, err
				})
				return o.rowsError(ctx, err, r.cols.entry)
			},
		)
		switch {
		case err != nil:
			return nil, err
		case len(rows) == 0:
			return nil, &NotFoundError{What: "entity", Name: id, Where: "in " + r.cols.entry.Alias}
		}
		page := r.page(ir)
		page.Rows = rows
		return page, nil
	})
}
