package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
)

// maxEnds is the number of nodes up to which edges are looked up rather than
// scanned for: beyond it most pages of an index would be read.
const maxEnds = 64

// edgeColumns are all that a walk reads of an edge table.
var edgeColumns = []string{load.ColID, load.ColSrc, load.ColDst}

// edgeScan visits the edges of a table; the dataset is opened once.
func (o *operation) edgeScan(e manifest.Entry) func(context.Context, edgeEnds, func(id, src, dst string) error) error {
	var snap *lance.Snapshot
	return func(ctx context.Context, ends edgeEnds, visit func(id, src, dst string) error) error {
		var err error
		if snap == nil {
			if snap, err = o.dataset(ctx, e); err != nil {
				return err
			}
		}
		rows, found, err := edgesAt(ctx, snap, ends)
		if err == nil && !found {
			err = scanTexts(ctx, snap, edgeColumns, func(v []string) error { return visit(v[0], v[1], v[2]) })
		}
		for _, r := range rows {
			if err == nil {
				err = visit(r.id, r.src, r.dst)
			}
		}
		return o.rowsError(ctx, err, e)
	}
}

// edgeRow is an edge and where it lies.
type edgeRow struct {
	addr         uint64
	id, src, dst string
}

// clone is the edge without the batch that it was read from.
func (r edgeRow) clone() edgeRow {
	return edgeRow{r.addr, strings.Clone(r.id), strings.Clone(r.src), strings.Clone(r.dst)}
}

// edgesAt looks up the first edges, in physical order, with one of the ends.
// found is false when the table has to be scanned.
func edgesAt(ctx context.Context, s *lance.Snapshot, ends edgeEnds) (rows []edgeRow, found bool, err error) {
	var columns []string
	var keys [][]string
	if ends.src != nil {
		columns, keys = append(columns, load.ColSrc), append(keys, ends.src)
	}
	if ends.dst != nil {
		columns, keys = append(columns, load.ColDst), append(keys, ends.dst)
	}
	if len(ends.src)+len(ends.dst) > maxEnds {
		return nil, false, nil
	}
	l := s.LookUp(lookUps, columns...)
	if l == nil {
		return nil, false, nil
	}
	var other []edgeRow
	wrong := false
	err = together(
		func() error {
			addrs, err := l.Find(ctx, keys...)
			if err == nil {
				rows, wrong, err = ends.takeEdges(ctx, s, addrs)
			}
			return err
		},
		func() (err error) {
			if len(l.Rest) > 0 {
				other, err = ends.scanEdges(ctx, s, l.Rest)
			}
			return err
		},
	)
	switch {
	case wrong && err == nil, err != nil && ctx.Err() == nil && lance.Unusable(err):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	rows = append(rows, other...)
	slices.SortFunc(rows, func(a, b edgeRow) int { return s.Compare(a.addr, b.addr) })
	return rows[:min(len(rows), ends.most)], true, nil
}

// has reports whether an edge is one of those that are wanted.
func (e *edgeEnds) has(src, dst string) bool {
	return slices.Contains(e.src, src) || slices.Contains(e.dst, dst)
}

// takeEdges reads as many of the edges at addresses as are enough. wrong says
// that one of them is not what the index promised.
func (e *edgeEnds) takeEdges(ctx context.Context, s *lance.Snapshot, addrs []uint64) (rows []edgeRow, wrong bool, err error) {
	addrs = addrs[:min(len(addrs), e.most)]
	if len(addrs) == 0 {
		return nil, false, nil
	}
	batch, err := s.Take(ctx, append(slices.Clone(edgeColumns), lance.ColRowAddress), addrs)
	if err != nil {
		return nil, false, err
	}
	defer batch.Release()
	err = eachEdge(batch, func(r edgeRow) error {
		wrong = wrong || !e.has(r.src, r.dst)
		rows = append(rows, r.clone())
		return nil
	})
	return rows, wrong, err
}

// scanEdges scans fragments for as many of the edges as are enough.
func (e *edgeEnds) scanEdges(ctx context.Context, s *lance.Snapshot, fragments []uint64) (rows []edgeRow, err error) {
	for batch, err := range s.Scan(ctx, lance.ScanOptions{Columns: edgeColumns, WithRowAddress: true, Fragments: fragments}) {
		if err != nil {
			return nil, err
		}
		err = eachEdge(batch, func(r edgeRow) error {
			if e.has(r.src, r.dst) {
				rows = append(rows, r.clone())
			}
			return nil
		})
		batch.Release()
		if err != nil || len(rows) >= e.most {
			return rows, err
		}
	}
	return rows, nil
}

// eachEdge visits the edges of a batch.
func eachEdge(batch arrow.RecordBatch, visit func(edgeRow) error) error {
	cols := make([]texts, len(edgeColumns))
	for i, name := range edgeColumns {
		var err error
		if cols[i], err = textColumn(batch, name); err != nil {
			return err
		}
	}
	addrs, err := addresses(batch)
	if err != nil {
		return err
	}
	for i := range int(batch.NumRows()) {
		if err := visit(edgeRow{addrs.Value(i), cols[0].Value(i), cols[1].Value(i), cols[2].Value(i)}); err != nil {
			return err
		}
	}
	return nil
}
