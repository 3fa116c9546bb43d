package lance

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// UpsertOptions of StageUpsert.
type UpsertOptions struct {
	StageOptions
	LookUp LookUpMode // how keys are looked up
}

// StageUpsert writes rows by their key, one column of text: a row whose key
// stands in the base replaces that row, which keeps its row id and the version
// in which it was made; the others are inserted. The keys are looked up as in
// FindText, and all rows are held in memory.
//
// A blob column that a batch leaves out is kept as it is in rows that are
// replaced (StageOptions.CarryBytes), and null in rows that are inserted.
//
// A key that comes twice, or stands in the base twice, is an InputError.
func (s *Snapshot) StageUpsert(ctx context.Context, rows Rows, o UpsertOptions) (*Staged, error) {
	st, key, err := s.stageByKey(ctx, o.StageOptions)
	if err != nil {
		return nil, err
	}
	u := &upsert{st: st, w: &rowWriter{st: st}}
	defer u.release()
	return st.done(u.byKey(ctx, rows, key, o.LookUp))
}

// StageUpdate replaces the rows at addresses, which the caller knows to be
// there, by whole new rows: row i of all batches together takes the place of
// the row at addrs[i], and its row id. Blob columns are as in StageUpsert. A
// key, if the table has one, must stay the same; nobody checks that.
func (s *Snapshot) StageUpdate(ctx context.Context, addrs []uint64, rows Rows, o StageOptions) (*Staged, error) {
	st, err := s.stage(ctx, o)
	if err != nil {
		return nil, err
	}
	u := &upsert{st: st, w: &rowWriter{st: st}}
	defer u.release()
	return st.done(u.byAddress(ctx, addrs, rows, nil))
}

// StageMerge is StageUpdate and StageInsert in one: the first rows take the
// places of those at addresses, the others are inserted. Of the latter the
// caller knows that no row has their keys. The key is one column of text.
func (s *Snapshot) StageMerge(ctx context.Context, addrs []uint64, rows Rows, o StageOptions) (*Staged, error) {
	st, key, err := s.stageByKey(ctx, o)
	if err != nil {
		return nil, err
	}
	u := &upsert{st: st, w: &rowWriter{st: st}}
	defer u.release()
	return st.done(u.byAddress(ctx, addrs, rows, key))
}

// upsert is rows of which some replace others.
type upsert struct {
	st      *staging
	w       *rowWriter
	batches []upsertBatch
}

// upsertBatch is a batch with the rows that its own take the place of.
type upsertBatch struct {
	batch    arrow.RecordBatch
	cols     []arrow.Array // of batch, in schema order; nil for a blob that was left out
	moved    []span        // rows that replace one
	addrs    []uint64      // whom each of them replaces
	inserted []span        // the others
}

func (u *upsert) release() {
	u.w.abort()
	for _, b := range u.batches {
		b.batch.Release()
	}
}

// read holds all batches.
func (u *upsert) read(rows Rows) error {
	for batch, err := range rows {
		if err != nil {
			return err
		}
		u.batches = append(u.batches, upsertBatch{batch: batch})
		if u.batches[len(u.batches)-1].cols, err = u.st.columns(batch, true); err != nil {
			return err
		}
	}
	return nil
}

func (u *upsert) byKey(ctx context.Context, rows Rows, key *format.Field, how LookUpMode) error {
	if err := u.read(rows); err != nil {
		return err
	}
	seen := keySet{}
	var keys []string
	for _, b := range u.batches {
		err := u.st.eachKey(b.batch, key, func(_ int, k string) error {
			keys = append(keys, k)
			return seen.add(u.st, k)
		})
		if err != nil {
			return err
		}
	}
	found, err := u.st.base.FindText(ctx, key.Name, keys, how)
	if err != nil {
		return err
	}
	var filter commit.KeyFilter
	at := 0
	for i := range u.batches {
		b := &u.batches[i]
		for row := range uint64(b.batch.NumRows()) {
			k := keys[at]
			at++
			switch there := found.Rows[k]; len(there) {
			case 0:
				filter.AddString(k)
				b.inserted = add(b.inserted, row)
				u.st.out.Inserted++
			case 1:
				b.moved, b.addrs = add(b.moved, row), append(b.addrs, there[0])
			default:
				return u.st.wrong("the key %q stands in %d rows already, at addresses %d: repair the table first", k, len(there), there)
			}
		}
	}
	return u.write(ctx, &filter, key)
}

// byAddress replaces the rows at addresses by the first rows. With insert, the
// key, the others are inserted.
func (u *upsert) byAddress(ctx context.Context, addrs []uint64, rows Rows, insert *format.Field) error {
	if err := u.read(rows); err != nil {
		return err
	}
	left := addrs
	var filter commit.KeyFilter
	for i := range u.batches {
		b := &u.batches[i]
		n := uint64(b.batch.NumRows())
		k := min(n, uint64(len(left)))
		b.moved, b.addrs, left = []span{{0, k}}, left[:k], left[k:]
		if k == n {
			continue
		}
		if insert == nil {
			return u.st.wrong("there are more rows than the %d that they are to replace", len(addrs))
		}
		b.inserted = []span{{k, n}}
		u.st.out.Inserted += n - k
		err := u.st.eachKey(b.batch, insert, func(row int, key string) error {
			if uint64(row) >= k {
				filter.AddString(key)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(left) > 0 {
		return u.st.wrong("%d rows are to be replaced, and %d are given", len(addrs), len(addrs)-len(left))
	}
	keys := u.st.schema.PrimaryKey()
	if len(keys) != 1 {
		return u.write(ctx, nil, nil)
	}
	return u.write(ctx, &filter, keys[0])
}

// add appends a row to runs of rows.
func add(runs []span, row uint64) []span {
	if n := len(runs); n > 0 && runs[n-1].to == row {
		runs[n-1].to++
		return runs
	}
	return append(runs, span{row, row + 1})
}

// write masks the rows that are replaced, and writes first what replaces them
// and then what is new.
func (u *upsert) write(ctx context.Context, filter *commit.KeyFilter, key *format.Field) error {
	st := u.st
	var all []uint64
	for _, b := range u.batches {
		all = append(all, b.addrs...)
	}
	if st.out.Updated = uint64(len(all)); st.out.Updated+st.out.Inserted == 0 {
		return st.wrong("there are no rows to write")
	}
	order, err := st.mask(ctx, all)
	if err != nil {
		return err
	}
	for i := range u.batches {
		if err := u.writeMoved(ctx, &u.batches[i]); err != nil {
			return err
		}
	}
	for i := range u.batches {
		b := &u.batches[i]
		if err := u.writeRuns(b, b.inserted, nil, nil); err != nil {
			return err
		}
	}
	if err := u.w.end(); err != nil {
		return err
	}
	m, err := st.putMasks(order)
	if err != nil {
		return err
	}
	st.update(u.w.frags, filter, key)
	op := st.out.Txn.GetUpdate()
	op.UpdatedFragments, op.RemovedFragmentIds = m.updated, m.removed
	for _, f := range op.NewFragments {
		if f.RowIdSequence == nil && st.base.manifest.StableRowIDs() {
			f.RowIdSequence = &tablepb.DataFragment_InlineRowIds{} // as Lance says that all rows are new
		}
	}
	st.certify()
	return nil
}

// writeMoved writes the rows of a batch that replace others.
func (u *upsert) writeMoved(ctx context.Context, b *upsertBatch) error {
	if len(b.addrs) == 0 {
		return nil
	}
	ids, err := u.st.base.idsAt(ctx, b.addrs)
	if err != nil {
		return err
	}
	carried, err := u.st.carry(ctx, b)
	defer func() {
		for _, c := range carried {
			c.Release()
		}
	}()
	if err != nil {
		return err
	}
	return u.writeRuns(b, b.moved, ids, carried)
}

// writeRuns writes some rows of a batch. carried are the columns that it lacks,
// by field; of one that is not there either all values are null.
func (u *upsert) writeRuns(b *upsertBatch, runs []span, ids []uint64, carried map[int]arrow.Array) error {
	n := int64(0)
	for _, r := range runs {
		n += int64(r.to - r.from)
	}
	if n == 0 {
		return nil
	}
	mem := u.st.out.env.opts.Allocator
	cols := make([]arrow.Array, len(b.cols))
	defer func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, c := range b.cols {
		var err error
		switch {
		case c != nil:
			cols[i], err = pick(c, runs, 0, mem)
		case carried[i] != nil:
			cols[i] = carried[i]
			cols[i].Retain()
		default:
			cols[i] = array.MakeArrayOfNull(mem, blobInputType, int(n))
		}
		if err != nil {
			return fmt.Errorf("writing to %s: column %q: %w", u.st.out.env.at(), u.st.schema.Fields[i].Name, err)
		}
	}
	return u.w.write(cols, n, ids)
}
