package lance

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/rowid"
)

// loaded is a fragment whose files are open, ready to be scanned.
type loaded struct {
	st    *fragState
	rows  uint64 // physical
	parts []part
	nulls []file.Column // when no file holds any column
	set   *deletion.Set
	ids   *rowid.Sequence // when _rowid is asked for and stable
	made  *rowid.Versions // when versions are asked for and recorded
	last  *rowid.Versions //
	ready bool            // all batches are in out
	out   []arrow.RecordBatch
}

func (ld *loaded) release() {
	for _, rec := range ld.out {
		if rec != nil {
			rec.Release()
		}
	}
	ld.out = nil
}

// keys names the data files, for messages.
func (ld *loaded) keys() string {
	keys := make([]string, len(ld.parts))
	for i, p := range ld.parts {
		keys[i] = p.key
	}
	return strings.Join(keys, ", ")
}

// part is one data file of a fragment and what to read from it.
type part struct {
	filePlan
	r   *file.Reader
	key string
}

// load opens what a scan of the fragment needs. Its errors are FragmentErrors.
func (s *Snapshot) load(ctx context.Context, p *projection, st *fragState, plans []filePlan, absent []file.Column, withDeleted bool) (*loaded, error) {
	return s.loadWith(ctx, p, st, plans, absent, withDeleted, func(d *format.DataFile) (*file.Reader, string, error) {
		return s.openData(ctx, d, s.decoders(d), false)
	})
}

// loadWith is load with a way to open data files.
func (s *Snapshot) loadWith(ctx context.Context, p *projection, st *fragState, plans []filePlan, absent []file.Column, withDeleted bool,
	opener func(*format.DataFile) (*file.Reader, string, error)) (*loaded, error) {
	ld := &loaded{st: st, rows: st.f.PhysicalRows, parts: make([]part, len(plans))}
	open := func(d *format.DataFile, plan filePlan) (part, error) {
		r, key, err := opener(d)
		if err != nil {
			return part{}, s.damage(ctx, st.f, key, err)
		}
		return part{plan, r, key}, nil
	}
	var steps []func() error
	for i, plan := range plans {
		steps = append(steps, func() (err error) {
			ld.parts[i], err = open(&st.f.Files[plan.file], plan)
			return err
		})
	}
	if !withDeleted && st.f.Deletion != nil {
		steps = append(steps, func() (err error) {
			ld.set, err = s.deletionsOf(ctx, st)
			return err
		})
	}
	if len(plans) == 0 {
		ld.nulls = absent
		if st.f.PhysicalRows == 0 && len(st.f.Files) > 0 { // only the file knows
			one, err := open(&st.f.Files[0], filePlan{})
			if err != nil {
				return nil, err
			}
			ld.rows = uint64(one.r.NumRows())
		}
	}
	if err := together(steps); err != nil {
		return nil, err
	}
	for _, p := range ld.parts {
		if err := ld.count(p.r); err != nil {
			return nil, s.damage(ctx, st.f, p.key, err)
		}
	}
	if err := s.loadSequences(ctx, p, ld); err != nil {
		return nil, s.damage(ctx, st.f, s.object.Key, err)
	}
	return ld, nil
}

// together runs steps side by side, the last one on this goroutine, and
// returns the first error in their order.
func together(steps []func() error) error {
	if len(steps) == 0 {
		return nil
	}
	last := len(steps) - 1
	errs := make([]error, len(steps))
	var wg sync.WaitGroup
	for i, step := range steps[:last] {
		wg.Go(func() { errs[i] = step() })
	}
	errs[last] = steps[last]()
	wg.Wait()
	return cmp.Or(errs...)
}

// decoders is how many goroutines decode a data file: one for a small one.
func (s *Snapshot) decoders(d *format.DataFile) int {
	if d.Size != 0 && d.Size <= uint64(s.env.small) {
		return 1
	}
	return s.env.opts.Decoders
}

// count compares the rows of a file with those of the fragment.
func (ld *loaded) count(r *file.Reader) error {
	n := uint64(r.NumRows())
	if ld.rows == 0 {
		ld.rows = n
	}
	if n != ld.rows {
		return format.Corruptf("the file has %d rows, the fragment %d", n, ld.rows)
	}
	return nil
}

func (s *Snapshot) loadSequences(ctx context.Context, p *projection, ld *loaded) (err error) {
	if p.has(ColRowID) {
		if ld.ids, err = s.rowIDs(ctx, ld.st, ld.rows); err != nil {
			return err
		}
	}
	if p.has(ColCreatedAt) || p.has(ColLastUpdated) {
		ld.made, ld.last, err = s.versions(ctx, ld.st, ld.rows)
	}
	return err
}

// piece is a run of physical rows with the arrays of the projection's fields.
type piece struct {
	at, n uint64 // first physical row, rows
	cols  []arrow.Array
}

func (p *piece) release() {
	for _, c := range p.cols {
		if c != nil {
			c.Release()
		}
	}
}

// physical yields the rows from..to of the fragment, deleted ones included.
// The consumer releases each piece.
func (s *Snapshot) physical(ctx context.Context, p *projection, ld *loaded, from, to uint64, batchRows int, lean bool) iter.Seq2[piece, error] {
	step := cmp.Or(batchRows, defaultBatchRows)
	switch {
	case len(p.fields) == 0:
		return counted(from, to, uint64(step))
	case len(ld.parts) == 0:
		at := make([]int, len(p.fields))
		for i := range at {
			at[i] = i
		}
		return pieces(file.Nulls(ctx, ld.nulls, int64(to-from), step, s.env.opts.Allocator), len(p.fields), at, from)
	}
	opts := file.ScanOptions{From: int64(from), To: int64(to), BatchRows: batchRows, Lean: lean}
	if len(ld.parts) == 1 {
		one := ld.parts[0]
		return pieces(one.r.Scan(ctx, one.cols, opts), len(p.fields), one.at, from)
	}
	return zip(ctx, ld.parts, len(p.fields), opts, s.env.opts.Allocator)
}

// counted yields rows without columns.
func counted(from, to, step uint64) iter.Seq2[piece, error] {
	return func(yield func(piece, error) bool) {
		for at := from; at < to; at += step {
			if !yield(piece{at: at, n: min(step, to-at)}, nil) {
				return
			}
		}
	}
}

// pieces hands out record batches as pieces: column i of a batch is field
// at[i] of n.
func pieces(batches iter.Seq2[arrow.RecordBatch, error], n int, at []int, from uint64) iter.Seq2[piece, error] {
	return func(yield func(piece, error) bool) {
		for rec, err := range batches {
			if err != nil {
				yield(piece{}, err)
				return
			}
			pc := piece{at: from, n: uint64(rec.NumRows()), cols: make([]arrow.Array, n)}
			for i, k := range at {
				c := rec.Column(i)
				c.Retain()
				pc.cols[k] = c
			}
			rec.Release()
			from += pc.n
			if !yield(pc, nil) {
				return
			}
		}
	}
}
