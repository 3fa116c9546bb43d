package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/deletion"
)

// diffSide is one of the two versions of a table, and the rows to read of it.
type diffSide struct {
	*rowReader
	whole  []uint64                 // fragments that are scanned
	sieve  map[uint64]*deletion.Set // of some of them only rows that these hold
	picked []uint64                 // addresses of rows that are taken
	rows   uint64                   // about how many these are
	bytes  uint64                   // of the files that are scanned

	part, parts uint64 // which ids are compared now; parts 0 = all

	layout  load.Table    // how lines are spelled when they are compared
	idsOnly bool          // the other side has no rows: values need not be compared
	origins bool          // row ids and versions of both sides mean the same rows
	hold    *atomic.Int64 // bytes of lines that may still be held
}

// diffRow is a row as it is compared.
type diffRow struct {
	id   string
	sum  [16]byte // of its line
	addr uint64
	line []byte    // nil when it is not held
	blob *blobMark // nil when the table has no blobs
}

// blobMark says where the blobs of a row lie, and which row of the dataset it is.
type blobMark struct {
	places [16]byte
	row    uint64 // row id, which a row keeps when it is moved
	wrote  uint64 // dataset version that wrote its values; 0 = not recorded
}

// system are the columns beside those of a line.
func (s *diffSide) system() []string {
	if s.marks() {
		return []string{lance.ColRowAddress, lance.ColRowID, lance.ColLastUpdated}
	}
	return []string{lance.ColRowAddress}
}

// marks: rows have blobs to compare.
func (s *diffSide) marks() bool { return !s.idsOnly && len(s.cols.blobNames(s.props)) > 0 }

func (s *diffSide) columns() []string {
	if s.idsOnly {
		return append([]string{load.ColID}, s.system()...)
	}
	return slices.Concat(s.names(), s.system())
}

// read hands out the rows, some at a time.
func (s *diffSide) read(ctx context.Context, visit func([]diffRow) error) error {
	err := s.batches(ctx, func(batch arrow.RecordBatch) error {
		defer batch.Release()
		rows, err := s.rowsOf(batch)
		if err != nil || len(rows) == 0 {
			return err
		}
		return visit(rows)
	})
	return s.rowsError(ctx, err, s.cols.entry)
}

func (s *diffSide) batches(ctx context.Context, visit func(arrow.RecordBatch) error) error {
	if len(s.whole) > 0 {
		for batch, err := range s.snap.Scan(ctx, lance.ScanOptions{Columns: s.columns(), Fragments: s.whole}) {
			if err == nil {
				err = visit(batch)
			}
			if err != nil {
				return err
			}
		}
	}
	for part := range slices.Chunk(s.picked, exportTake) {
		batch, err := s.snap.Take(ctx, s.columns(), part)
		if err == nil {
			err = visit(batch)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// ahead is about how many bytes a scan holds on to.
func (s *diffSide) ahead() uint64 {
	if s == nil {
		return 0
	}
	return min(s.bytes, diffScan)
}

// rowsOf makes what is compared of the rows of a batch.
func (s *diffSide) rowsOf(batch arrow.RecordBatch) ([]diffRow, error) {
	ids, addrs, err := idsAt(batch)
	if err != nil {
		return nil, err
	}
	var spell *diffSpeller
	if !s.idsOnly {
		if spell, err = s.speller(batch); err != nil {
			return nil, err
		}
	}
	out := make([]diffRow, 0, batch.NumRows())
	for i := range int(batch.NumRows()) {
		addr := addrs.Value(i)
		if there, ok := s.sieve[addr>>32]; ok && !there.Contains(uint32(addr)) {
			continue
		}
		id := ids.Value(i)
		if s.parts > 1 && maphash.String(idParts, id)%s.parts != s.part {
			continue
		}
		r := diffRow{id: strings.Clone(id), addr: addr}
		if spell != nil {
			if err := spell.row(&r, i); err != nil {
				return nil, err
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// idParts spreads ids over parts. What it is changes no answer.
var idParts = maphash.MakeSeed()

// diffSpeller spells the rows of a batch to compare them.
type diffSpeller struct {
	side  *diffSide
	lines *load.Lines
	blobs *batchBlobs
	ids   func(row int) (id, wrote uint64)
	buf   []byte
}

func (s *diffSide) speller(batch arrow.RecordBatch) (*diffSpeller, error) {
	blobs, err := s.window.blobsOf(s.snap, batch, s.cols.blobNames(s.props))
	if err != nil {
		return nil, err
	}
	lines, err := load.Bind(s.layout, batch, blobs.sizes)
	if err != nil {
		return nil, err
	}
	out := &diffSpeller{side: s, lines: lines, blobs: blobs}
	if !s.marks() {
		return out, nil
	}
	ids, err := numberColumn(batch, lance.ColRowID)
	wrote, wroteErr := numberColumn(batch, lance.ColLastUpdated)
	if err = errors.Join(err, wroteErr); err != nil {
		return nil, err
	}
	out.ids = func(row int) (uint64, uint64) {
		if !s.origins {
			return 0, 0
		}
		return ids.Value(row), wrote.Value(row)
	}
	return out, nil
}

// row fills in the line of a row and where its blobs lie.
func (p *diffSpeller) row(r *diffRow, i int) error {
	var odd *load.ValueError
	var err error
	if p.buf, err = p.lines.Append(p.buf[:0], i); err != nil && !errors.As(err, &odd) {
		return err
	}
	sum := sha256.Sum256(p.buf)
	copy(r.sum[:], sum[:])
	if p.side.hold.Add(-int64(len(p.buf))) >= 0 {
		r.line = slices.Clone(p.buf)
	} else {
		p.side.hold.Add(int64(len(p.buf)))
	}
	if p.ids == nil {
		return nil
	}
	r.blob = &blobMark{}
	r.blob.row, r.blob.wrote = p.ids(i)
	h := sha256.New()
	for _, name := range p.blobs.names {
		if b := p.blobs.columns[name][i]; b != nil {
			place, err := b.Place()
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%q %q %d %d\n", place.Folder, place.Name, place.Position, place.Size)
		}
	}
	copy(r.blob.places[:], h.Sum(nil))
	return nil
}

// drop gives back what a row that nobody tells has held.
func (d *tableDiff) drop(rows ...*diffRow) {
	for _, r := range rows {
		if r != nil && r.line != nil {
			d.hold.Add(int64(len(r.line)))
			r.line = nil
		}
	}
}

// sameBytes reports that two rows of equal lines have the same blobs for
// certain: the bytes lie at the same places, or the dataset says that this is
// the row as it was written then.
func (r *diffRow) sameBytes(other *diffRow) bool {
	a, b := r.blob, other.blob
	switch {
	case a == nil || b == nil, a.places == b.places:
		return true
	}
	return a.wrote != 0 && a.wrote == b.wrote && a.row == b.row
}

// recordsOrigins: every fragment to read records the ids of its rows and the
// versions that wrote them.
func (s *diffSide) recordsOrigins() bool {
	want := map[uint64]bool{}
	for _, id := range s.whole {
		want[id] = true
	}
	for _, addr := range s.picked {
		want[addr>>32] = true
	}
	for i := range s.snap.Fragments() {
		if f := &s.snap.Fragments()[i]; want[f.ID] && (!f.RowIDs.Present || !f.LastUpdated.Present) {
			return false
		}
	}
	return true
}
