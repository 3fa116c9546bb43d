package lance

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	mathrand "math/rand/v2"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// Rows are batches to be written. A batch has the columns of the schema by
// name, in any order; a blob column is a struct of data or uri (see
// file.Writer). Whoever ranges over them releases each batch. An error ends
// them.
type Rows = iter.Seq2[arrow.RecordBatch, error]

// RowsOf are batches that the caller keeps.
func RowsOf(batches ...arrow.RecordBatch) Rows {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for _, b := range batches {
			b.Retain()
			if !yield(b, nil) {
				return
			}
		}
	}
}

// StageOptions are common to all staged transactions.
type StageOptions struct {
	// UUID is the identity of the transaction, any text that has not been one
	// before. It names the transaction's file, and is how a lost answer is
	// settled.
	UUID       string
	Properties map[string]string // of the transaction
	// Rand gives 32 bytes, from which, with the UUID, all names of files follow;
	// nil = crypto/rand.
	Rand io.Reader
	// InsertProperties are properties more, of a transaction that does nothing but
	// insert: none of its keys stood in the base. For StageInsert the caller knows
	// that, for StageUpsert the look-up does.
	InsertProperties map[string]string
	// WithTransaction writes the transaction's file beside the others, and not
	// when it is committed, which must then be Exact: one wait less.
	WithTransaction bool
	// Dry makes the files and writes none: what is staged tells what it would write
	// and cannot be committed.
	Dry bool
	// CarryBytes bounds the payloads of blobs that are read in order to be kept
	// (see StageUpsert); 0 = 32 MiB.
	CarryBytes int64
	// FragmentRows and FragmentBytes end a fragment; 0 = 1 Mi rows, 256 MiB. A
	// file is built in memory.
	FragmentRows, FragmentBytes int64
}

const (
	defaultFragmentRows  = 1 << 20
	defaultFragmentBytes = 256 << 20
	defaultCarryBytes    = 32 << 20
)

// LimitError: an operation would exceed a limit that its caller set. Nothing
// was written to any version.
type LimitError struct {
	What          string
	Limit, Actual int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: %d, at most %d were allowed: split the change, or allow more", e.What, e.Actual, e.Limit)
}

// InputError: rows or addresses that cannot be staged as asked. It is a
// file.ErrInput.
type InputError struct {
	Where string // dataset
	Why   string
}

func (e *InputError) Error() string {
	return fmt.Sprintf("writing to %s: %s. Nothing was committed", e.Where, e.Why)
}

// Is makes it one of the errors about rows that do not fit.
func (e *InputError) Is(target error) bool { return target == file.ErrInput }

// Staged is a transaction whose files are in the store and that no version
// names yet. It is invisible until Commit. Its files are never taken away
// again: whoever planned it may still commit it, also another process that
// reads the plan. What no version ever names is garbage that a cleanup
// collects.
type Staged struct {
	Base     *Snapshot // nil: it creates the dataset
	Txn      *tablepb.Transaction
	Affected map[uint64]*deletion.Set // by fragment of the base: rows that are deleted or moved
	Objects  []Object                 // that were written: keys and sizes

	RowsBefore, RowsAfter      uint64 // by the manifest of the base
	Inserted, Updated, Deleted uint64 // rows

	env     *env
	dir     string
	ids     *ids
	dry     bool                     // no file was written
	withTxn bool                     // the transaction's file is written
	masks   map[uint64]*deletion.Set // by fragment: all deletions in the new deletion file
}

// UUID is the identity of the transaction.
func (st *Staged) UUID() string { return st.Txn.GetUuid() }

// CommitOptions say how a staged transaction becomes a version.
type CommitOptions struct {
	Exact   bool // only as the version after the base, without a second attempt
	Blind   bool // with Exact: without asking first whether the base is the newest
	Retries int  // attempts after the first that is lost to another writer
	Backoff func(ctx context.Context, n int) error
	Now     func() time.Time // nil = time.Now
}

// Commit makes the version, and returns it with how it came about. A version
// that landed since the base is a commit.ConflictError, or is taken in where
// Exact does not forbid it. Calling it again after any outcome is safe: what
// landed is found by its UUID. See commit.Commit for the other errors.
func (st *Staged) Commit(ctx context.Context, o CommitOptions) (*Snapshot, *commit.Committed, error) {
	if st.dry {
		return nil, nil, &InputError{st.env.at(), "the transaction was staged to see what it would write, and its files are not there"}
	}
	opts := commit.Options{
		Exact: o.Exact, Blind: o.Blind, Stored: st.withTxn, Retries: o.Retries, Backoff: o.Backoff, Now: o.Now,
		Affected: st.Affected, NewID: st.ids.deletion,
	}
	var base *format.Manifest
	branch := ""
	if st.Base != nil {
		base, branch, opts.BaseETag = st.Base.manifest, st.Base.Branch(), st.Base.object.ETag
	}
	c, err := commit.Commit(ctx, st.env.store, st.env.root, branch, base, st.Txn, opts)
	if err != nil {
		return nil, nil, err
	}
	next := newSnapshot(st.env, st.dir, c.Manifest, Object{Key: c.Key, Size: c.Size, ETag: c.ETag})
	next.inherit(st)
	return next, c, nil
}

// inherit takes over what the base and the staging know of the fragments that
// stayed as they were.
func (s *Snapshot) inherit(st *Staged) {
	if st.Base == nil {
		return
	}
	for i := range s.frags {
		f := s.frags[i].f
		k, ok := st.Base.byID[f.ID]
		if !ok || f.Deletion == nil {
			continue
		}
		old := &st.Base.frags[k]
		old.mu.Lock()
		set, known := old.deletions, old.deletRead && old.f.Deletion != nil && *old.f.Deletion == *f.Deletion
		old.mu.Unlock()
		if !known {
			set, known = st.masks[f.ID], st.masks[f.ID].Len() == f.Deletion.Rows && f.Deletion.ReadVersion == st.Base.Version() && f.Deletion.ID == st.deletionID(f.ID)
		}
		if known {
			s.frags[i].deletions, s.frags[i].deletRead = set, true
		}
	}
}

// deletionID is the id of the deletion file that was staged for a fragment.
func (st *Staged) deletionID(fragment uint64) uint64 {
	for _, f := range slices.Concat(st.Txn.GetUpdate().GetUpdatedFragments(), st.Txn.GetDelete().GetUpdatedFragments()) {
		if f.GetId() == fragment {
			return f.GetDeletionFile().GetId()
		}
	}
	return 0
}

// ids gives the random parts of names.
type ids struct{ rnd *mathrand.ChaCha8 }

func newIDs(r io.Reader, uuid string) (*ids, error) {
	if r == nil {
		r = rand.Reader
	}
	var seed [32]byte
	if _, err := io.ReadFull(r, seed[:]); err != nil {
		return nil, fmt.Errorf("drawing the names of files: %w", err)
	}
	return &ids{mathrand.NewChaCha8(sha256.Sum256(append(seed[:], uuid...)))}, nil
}

func (x *ids) deletion() uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], x.rnd.Uint64())
	return format.DeletionID(b)
}

func (x *ids) dataFile() string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], x.rnd.Uint64())
	binary.LittleEndian.PutUint64(b[8:], x.rnd.Uint64())
	return format.DataFileName(b)
}

// staging is a transaction in the making.
type staging struct {
	o      StageOptions
	base   *Snapshot
	schema *format.Schema
	out    *Staged
	up     *uploads

	carried int64 // bytes of blobs read so far
}

// stage begins a transaction on the version.
func (s *Snapshot) stage(ctx context.Context, o StageOptions) (*staging, error) {
	if err := s.manifest.WriterFlags.CheckWritable(); err != nil {
		return nil, fmt.Errorf("writing to %s: %w", s.env.at(), err)
	}
	if v := s.manifest.FileVersion; v != commit.FileVersion {
		return nil, fmt.Errorf("writing to %s: %w", s.env.at(), format.Unsupportedf("its data files are of format %q, and written are those of %s", v, commit.FileVersion))
	}
	st, err := newStaging(ctx, s.env, s.dir, s.manifest.Schema, o)
	if err != nil {
		return nil, err
	}
	rows, known := s.CountRows()
	if !known {
		return nil, fmt.Errorf("writing to %s: %w", s.env.at(), format.Unsupportedf("some fragment does not record how many rows it has: compact the table with Lance first"))
	}
	st.base, st.out.Base, st.out.RowsBefore = s, s, rows
	st.out.Txn.ReadVersion = s.Version()
	return st, nil
}

func newStaging(ctx context.Context, e *env, dir string, schema *format.Schema, o StageOptions) (*staging, error) {
	for _, d := range []struct {
		v  *int64
		or int64
	}{{&o.FragmentRows, defaultFragmentRows}, {&o.FragmentBytes, defaultFragmentBytes}, {&o.CarryBytes, defaultCarryBytes}} {
		if *d.v <= 0 {
			*d.v = d.or
		}
	}
	if o.UUID == "" {
		return nil, &InputError{e.at(), "the transaction has no UUID"}
	}
	ids, err := newIDs(o.Rand, o.UUID)
	if err != nil {
		return nil, err
	}
	st := &staging{o: o, schema: schema, out: &Staged{env: e, dir: dir, ids: ids, dry: o.Dry}}
	st.out.Txn = &tablepb.Transaction{Uuid: o.UUID, TransactionProperties: map[string]string{}}
	for k, v := range o.Properties {
		st.out.Txn.TransactionProperties[k] = v
	}
	st.up = newUploads(ctx, e, st.out)
	return st, nil
}

// done waits for the uploads. err is what went wrong before.
func (st *staging) done(err error) (*Staged, error) {
	if err == nil && st.o.WithTransaction {
		err = st.putTransaction()
	}
	if upErr := st.up.wait(err); upErr != nil {
		return nil, upErr
	}
	out := st.out
	out.RowsAfter = out.RowsBefore + out.Inserted - out.Deleted
	return out, nil
}

// putTransaction writes the transaction's file.
func (st *staging) putTransaction() error {
	body, err := format.EncodeTransaction(st.out.Txn)
	if err != nil {
		return err
	}
	st.out.withTxn = true
	return st.up.put(format.Join(st.out.dir, format.TransactionPath(format.TransactionName(st.out.Txn))), body)
}

// wrong is an InputError of this dataset.
func (st *staging) wrong(msg string, args ...any) error {
	return &InputError{st.out.env.at(), fmt.Sprintf(msg, args...)}
}
