package lance

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// CreateOptions of Create.
type CreateOptions struct {
	Schema    *format.Schema
	Rows      Rows // nil = none
	UUID      string
	Now       func() time.Time // nil = time.Now
	Rand      io.Reader        // see StageOptions
	Allocator memory.Allocator
}

// Create makes version 1 of a dataset whose objects begin with root in store:
// data format 2.2, stable row ids. Nothing may be there yet. Creating with the
// same UUID again finds what an earlier call made.
func Create(ctx context.Context, store blob.Store, root string, o CreateOptions) (*Snapshot, *commit.Committed, error) {
	e := newEnv(store, root, OpenOptions{Allocator: o.Allocator})
	st, err := newStaging(ctx, e, root, o.Schema, StageOptions{UUID: o.UUID, Rand: o.Rand})
	if err != nil {
		return nil, nil, err
	}
	staged, err := st.overwrite(o.Rows)
	if err != nil {
		return nil, nil, err
	}
	return staged.Commit(ctx, CommitOptions{Exact: true, Now: o.Now})
}

// StageOverwrite replaces all rows, and the schema when one is given (nil =
// the base's). All indexes go. rows may be nil: an empty table.
func (s *Snapshot) StageOverwrite(ctx context.Context, schema *format.Schema, rows Rows, o StageOptions) (*Staged, error) {
	st, err := s.stage(ctx, o)
	if err != nil {
		return nil, err
	}
	if schema != nil {
		st.schema = schema
	}
	return st.overwrite(rows)
}

func (st *staging) overwrite(rows Rows) (*Staged, error) {
	w := &rowWriter{st: st}
	n := uint64(0)
	var err error
	if rows != nil {
		n, err = w.all(rows, nil)
	}
	op := &tablepb.Overwrite{Fragments: w.frags}
	if st.base != nil && st.base.manifest.Schema == st.schema {
		op.Schema = st.base.manifest.Proto.GetFields()
		op.SchemaMetadata = st.base.manifest.Proto.GetSchemaMetadata()
	} else {
		op.Schema, op.SchemaMetadata = st.schema.Proto()
	}
	st.out.Txn.Operation = &tablepb.Transaction_Overwrite{Overwrite: op}
	st.out.Inserted, st.out.Deleted = n, st.out.RowsBefore
	return st.done(err)
}

// StageAppend adds rows, whatever their keys are. Two appends never conflict,
// so that it is nothing for a table whose keys must stay unique.
func (s *Snapshot) StageAppend(ctx context.Context, rows Rows, o StageOptions) (*Staged, error) {
	st, err := s.stage(ctx, o)
	if err != nil {
		return nil, err
	}
	w := &rowWriter{st: st}
	st.out.Inserted, err = w.all(rows, nil)
	if err == nil && len(w.frags) == 0 {
		err = st.wrong("there are no rows to append")
	}
	st.out.Txn.Operation = &tablepb.Transaction_Append{Append: &tablepb.Append{Fragments: w.frags}}
	return st.done(err)
}

// StageInsert adds rows whose keys stand nowhere in the base, as the caller
// has proved (FindText) or is content to have checked by nobody: a rival that
// inserts one of the keys after the base is noticed at the commit. The table
// has one column of text as its key. A key that comes twice is an InputError.
// All keys are held in memory.
func (s *Snapshot) StageInsert(ctx context.Context, rows Rows, o StageOptions) (*Staged, error) {
	st, key, err := s.stageByKey(ctx, o)
	if err != nil {
		return nil, err
	}
	w := &rowWriter{st: st}
	var filter commit.KeyFilter
	seen := keySet{}
	st.out.Inserted, err = w.all(rows, func(batch arrow.RecordBatch) error {
		return st.eachKey(batch, key, func(_ int, k string) error {
			filter.AddString(k)
			return seen.add(st, k)
		})
	})
	if err == nil && len(w.frags) == 0 {
		err = st.wrong("there are no rows to insert")
	}
	st.update(w.frags, &filter, key)
	st.certify()
	return st.done(err)
}

// update is the operation of everything keyed.
func (st *staging) update(frags []*tablepb.DataFragment, filter *commit.KeyFilter, key *format.Field) {
	op := &tablepb.Update{NewFragments: frags, UpdateMode: tablepb.UpdateMode_REWRITE_ROWS}
	for _, id := range st.schema.IDs() {
		op.FieldsForPreservingFragBitmap = append(op.FieldsForPreservingFragBitmap, uint32(id))
	}
	if key != nil {
		op.InsertedRows = filter.Proto(key.ID)
	}
	st.out.Txn.Operation = &tablepb.Transaction_Update{Update: op}
}

// certify adds what the caller says of a transaction that does nothing but
// insert keys that were not there.
func (st *staging) certify() {
	if st.out.Updated == 0 && st.out.Inserted > 0 {
		maps.Copy(st.out.Txn.TransactionProperties, st.o.InsertProperties)
	}
}

// textKey is the key of the table, one column of text.
func (s *Snapshot) textKey() (*format.Field, error) {
	keys := s.Schema().PrimaryKey()
	if len(keys) == 1 && isText(keys[0]) {
		return keys[0], nil
	}
	names := make([]string, len(keys))
	for i, f := range keys {
		names[i] = f.Name + " (" + f.LogicalType + ")"
	}
	return nil, fmt.Errorf("writing to %s by key: %w", s.env.at(), format.Unsupportedf("its key is %q, and only one column of text can be", names))
}

// stageByKey is stage, of a table whose rows are told apart by text.
func (s *Snapshot) stageByKey(ctx context.Context, o StageOptions) (*staging, *format.Field, error) {
	key, err := s.textKey()
	if err != nil {
		return nil, nil, err
	}
	st, err := s.stage(ctx, o)
	return st, key, err
}

func isText(f *format.Field) bool {
	return f.LogicalType == "string" || f.LogicalType == "large_string"
}

// eachKey visits the keys of a batch.
func (st *staging) eachKey(batch arrow.RecordBatch, key *format.Field, visit func(row int, k string) error) error {
	c := batch.Column(batch.Schema().FieldIndices(key.Name)[0])
	value, err := textsOf(c)
	if err != nil {
		return st.wrong("column %q has values of type %s", key.Name, c.DataType())
	}
	for i := range c.Len() {
		v := value(i)
		if v.null {
			return st.wrong("a row has no %q, its key", key.Name)
		}
		if err := visit(i, v.text); err != nil {
			return err
		}
	}
	return nil
}

// keySet is the keys that came so far.
type keySet map[string]struct{}

func (k keySet) add(st *staging, key string) error {
	if _, twice := k[key]; twice {
		return st.wrong("two rows have the key %q", key)
	}
	k[strings.Clone(key)] = struct{}{} // the batch goes
	return nil
}
