package engine

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
)

// texts reads columns of text of a batch.
type texts interface {
	arrow.Array
	Value(i int) string
}

func textColumn(batch arrow.RecordBatch, name string) (texts, error) {
	at := batch.Schema().FieldIndices(name)
	if len(at) == 1 {
		if t, ok := batch.Column(at[0]).(texts); ok {
			return t, nil
		}
	}
	return nil, errors.New("column " + name + " is not one column of text")
}

// scanTexts visits columns of text of every row of a snapshot, in physical
// order. visit may return errStop.
func scanTexts(ctx context.Context, s *lance.Snapshot, names []string, visit func(values []string) error) error {
	values := make([]string, len(names))
	row := func(batch arrow.RecordBatch) error {
		defer batch.Release()
		cols := make([]texts, len(names))
		for i, n := range names {
			var err error
			if cols[i], err = textColumn(batch, n); err != nil {
				return err
			}
		}
		for r := range int(batch.NumRows()) {
			for i := range cols {
				values[i] = cols[i].Value(r)
			}
			if err := visit(values); err != nil {
				return err
			}
		}
		return nil
	}
	for batch, err := range s.Scan(ctx, lance.ScanOptions{Columns: names}) {
		if err == nil {
			err = row(batch)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Find looks for an id in every table, edges included: ids are unique in one
// table only. The tables are looked through side by side: fragments that a BTREE
// index on id covers by it, as far as that is less work, the others by a scan of
// their id column. Hits stand in byte order of edge:T, node:T. Tables that cannot be read are an *IncompleteError beside
// the hits of the others.
func (g *Graph) Find(ctx context.Context, id string, at At) ([]Hit, error) {
	return do(ctx, g, "find", func(ctx context.Context, o *operation) ([]Hit, error) {
		view, err := o.at(ctx, at)
		if err != nil {
			return nil, err
		}
		found := make([]bool, len(view.Tables))
		errs := make([]error, len(view.Tables))
		_ = o.each(len(view.Tables), func(i int) error {
			found[i], errs[i] = o.contains(ctx, view.Tables[i], id)
			return nil
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		hits := []Hit{}
		missing := &IncompleteError{What: "search"}
		for i, t := range view.Tables {
			if errs[i] != nil {
				missing.Problems = append(missing.Problems, errs[i].Error())
			}
			if found[i] {
				hits = append(hits, Hit{t.Kind(), t.Name(), id})
			}
		}
		if e, ok := incomplete("search", view).(*IncompleteError); ok {
			missing.Problems = append(missing.Problems, e.Problems...)
		}
		if len(missing.Problems) > 0 {
			return hits, missing
		}
		return hits, nil
	})
}

// contains looks for an id in a table.
func (o *operation) contains(ctx context.Context, e manifest.Entry, id string) (bool, error) {
	s, err := o.dataset(ctx, e)
	if err != nil {
		return false, err
	}
	addr, _, err := o.locate(ctx, s, id)
	return addr != nil, o.rowsError(ctx, err, e)
}
