package exec

import (
	"context"
	"fmt"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/validate"
)

// reasons are why a load touches a table.
var reasons = map[load.Mode]string{
	load.Append:    "append: lines of new ids",
	load.Merge:     "merge: lines replace the row of their id, or are new",
	load.Overwrite: "overwrite: the lines take the place of every row",
}

// Load plans a load whose lines were read with the schema of t. An input without
// entities is a plan without tables, which publishes a commit.
func Load(ctx context.Context, t *txn.Txn, batches []*load.Batch, mode load.Mode) (*Plan, error) {
	p := &Plan{Kind: loading, Class: txn.Additive, Delta: load.Delta(batches, mode), t: t}
	if mode == load.Overwrite {
		p.Class = txn.Strict
	}
	for _, b := range batches {
		p.Loads = append(p.Loads, Loaded{Type: b.Type, Rows: len(b.Rows)})
		rows := b.Last()
		if b.Type.Kind == schema.KindEdge {
			p.Edges += len(rows)
		} else {
			p.Nodes += len(rows)
		}
		p.tables = append(p.tables, &table{typ: b.Type, rows: len(rows), why: reasons[mode], stage: func(ctx context.Context, t *txn.Txn) error {
			alias := b.Type.Alias()
			return write(ctx, b.Type, rows, nil, func(r lance.Rows) (err error) {
				switch mode {
				case load.Merge:
					_, err = t.Upsert(ctx, alias, r)
				case load.Overwrite:
					_, err = t.Overwrite(ctx, alias, r)
				case load.Append:
					_, err = t.Insert(ctx, alias, r)
				}
				return err
			})
		}})
	}
	return p, p.check(ctx)
}

// Chunk plans what is left to load of a chunk, whose lines were read with another
// reading of the same schema. The error is txn.ErrNothing when it stands in the
// graph already, and a *txn.KeyConflictError when an append finds an entity that
// stands otherwise.
func Chunk(ctx context.Context, t *txn.Txn, c *load.Chunk, mode load.Mode) (*Plan, error) {
	own := func(typ *schema.Type) (*schema.Type, error) {
		mine, ok := t.Contract.IR.Type(typ.Kind, typ.Name)
		if !ok || mine.ID != typ.ID || mine.Incarnation != typ.Incarnation {
			return nil, &txn.ReadSetChangedError{Member: "schema", Expected: typ.Alias(), Actual: "another schema; begin the load anew"}
		}
		return mine, nil
	}
	standing, err := c.Compare(func(typ *schema.Type, ids []string, found func(validate.Row)) error {
		mine, err := own(typ)
		if err != nil {
			return err
		}
		return stored(ctx, t, mine, ids, found)
	})
	if err != nil {
		return nil, err
	}
	if standing.Landed() {
		return nil, txn.ErrNothing
	}
	if d := standing.First; d != nil && mode == load.Append {
		return nil, fmt.Errorf("%s: %w", d, &txn.KeyConflictError{Table: d.Type.Alias(), ID: d.ID})
	}
	rest := make([]*load.Batch, len(standing.Rest))
	for i, b := range standing.Rest {
		own, err := own(b.Type)
		if err != nil {
			return nil, err
		}
		mine := *b
		mine.Type = own
		rest[i] = &mine
	}
	return Load(ctx, t, rest, mode)
}

// stored tells the entities of a type that stand in the base under ids, blobs
// with their bytes.
func stored(ctx context.Context, t *txn.Txn, typ *schema.Type, ids []string, found func(validate.Row)) error {
	snap, err := t.Table(ctx, typ.Alias())
	if err != nil {
		return err
	}
	addrs, err := findText(ctx, snap, map[string][]string{"id": ids})
	if err != nil || len(addrs) == 0 {
		return err
	}
	rows, err := rowsAt(ctx, typ, snap, addrs)
	if err != nil {
		return err
	}
	all := make([]*written, len(rows))
	for i := range rows {
		all[i] = &written{row: rows[i], addr: addrs[i], based: true}
	}
	p := &pending{typ: typ, meter: validate.Meter{Type: typ, Unbounded: true}}
	for i := range typ.Properties {
		if typ.Properties[i].Type.Scalar.Name == "Blob" {
			if err := p.carry(ctx, snap, i, all); err != nil {
				return err
			}
		}
	}
	for _, w := range all {
		found(w.row)
	}
	return nil
}
