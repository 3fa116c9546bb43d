package audit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// Folder of the dataset at the graph's root.
const Folder = "_graph_commit_recoveries.lance"

// Kind is what became of an operation.
type Kind string

// The kinds.
const (
	RolledForward           Kind = "RolledForward"
	RolledBack              Kind = "RolledBack"
	OrphanedBranchDiscarded Kind = "OrphanedBranchDiscarded"
)

func (k Kind) known() bool {
	return k == RolledForward || k == RolledBack || k == OrphanedBranchDiscarded
}

// Row is one completed recovery.
type Row struct {
	Commit    string  // that holds the outcome
	Kind      Kind    // RolledForward …
	Actor     *string // of the operation; nil = none
	Operation string  // id of the record
	Writer    sidecar.Kind
	Outcomes  []sidecar.Outcome // by table; none is an empty list
	At        time.Time         // kept in µs
}

// Options of Write and Read. The zero value is useful.
type Options struct {
	Open  lance.OpenOptions // Branch and Version are not looked at
	Clock func() time.Time  // of the versions; nil = time.Now
	Rand  io.Reader         // nil = crypto/rand
	// Tries are attempts that are lost to other writers of the book; 0 = 32.
	Tries int
	// Backoff waits before attempt n ≥ 1; nil does not wait.
	Backoff func(ctx context.Context, n int) error
}

const defaultTries = 32

func (o Options) filled() Options {
	o.Open.Branch, o.Open.Version = "", 0
	if o.Open.Allocator == nil {
		o.Open.Allocator = memory.DefaultAllocator
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Tries <= 0 {
		o.Tries = defaultTries
	}
	return o
}

func (o *Options) uuid() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(o.Rand, b[:]); err != nil {
		return "", fmt.Errorf("drawing the identity of a transaction: %w", err)
	}
	return format.UUIDText(format.UUIDv4(b)), nil
}

// Write books a recovery. It does nothing when a row of that operation and kind
// is there. After an error it is not known whether the row is there: calling it
// again is right.
func Write(ctx context.Context, store blob.Store, r Row, o Options) error {
	if r.Commit == "" || r.Operation == "" || r.Writer == "" || !r.Kind.known() {
		return fmt.Errorf("booking the recovery of operation %q: commit %q, kind %q, writer %q: one of them is missing or unknown", r.Operation, r.Commit, r.Kind, r.Writer)
	}
	o = o.filled()
	var last error
	for n := range o.Tries {
		if n > 0 && o.Backoff != nil {
			if err := o.Backoff(ctx, n); err != nil {
				return fmt.Errorf("booking the recovery of operation %s: waiting after a lost attempt: %w", r.Operation, err)
			}
		}
		last = attempt(ctx, store, &r, &o)
		var lost *commit.ConflictError
		if last == nil {
			return nil
		}
		if ctx.Err() != nil || !errors.As(last, &lost) && !errors.Is(last, blob.ErrAmbiguous) {
			break
		}
	}
	return fmt.Errorf("booking the recovery of operation %s in %s: %w", r.Operation, Folder, last)
}

// attempt scans the newest version and commits the next one.
func attempt(ctx context.Context, store blob.Store, r *Row, o *Options) error {
	s, err := lance.Open(ctx, store, Folder, o.Open)
	var none *lance.NotFoundError
	if errors.As(err, &none) {
		s, err = create(ctx, store, o)
	}
	if err != nil {
		return err
	}
	there, err := booked(ctx, s, r)
	if there || err != nil {
		return err
	}
	uuid, err := o.uuid()
	if err != nil {
		return err
	}
	batch := batchOf(r, o.Open.Allocator)
	defer batch.Release()
	staged, err := s.StageAppend(ctx, lance.RowsOf(batch), lance.StageOptions{UUID: uuid, Rand: o.Rand})
	if err != nil {
		return err
	}
	_, _, err = staged.Commit(ctx, lance.CommitOptions{Exact: true, Now: o.Clock})
	return err
}

func create(ctx context.Context, store blob.Store, o *Options) (*lance.Snapshot, error) {
	uuid, err := o.uuid()
	if err != nil {
		return nil, err
	}
	s, _, err := lance.Create(ctx, store, Folder, lance.CreateOptions{
		Schema: format.SchemaOf(columns), UUID: uuid, Now: o.Clock, Rand: o.Rand, Allocator: o.Open.Allocator,
	})
	return s, err
}

// booked reports whether the version has a row of the operation and kind.
func booked(ctx context.Context, s *lance.Snapshot, r *Row) (there bool, err error) {
	if err := fits(s); err != nil {
		return false, err
	}
	for batch, err := range s.Scan(ctx, lance.ScanOptions{Columns: []string{"operation_id", "recovery_kind"}, Lean: true}) {
		if err != nil {
			return false, fmt.Errorf("looking for the operation: %w", err)
		}
		ops, kinds, err := two(batch)
		for i := 0; err == nil && i < len(ops) && !there; i++ {
			there = ops[i] == r.Operation && kinds[i] == string(r.Kind)
		}
		batch.Release()
		if there || err != nil {
			return there, err
		}
	}
	return false, nil
}

func two(batch arrow.RecordBatch) (a, b []string, err error) {
	if a, err = texts(batch, "operation_id"); err == nil {
		b, err = texts(batch, "recovery_kind")
	}
	return a, b, err
}

// Read gives all rows, the oldest first. A graph without a book has none. A row
// that cannot be understood is an error that wraps format.ErrCorrupt.
func Read(ctx context.Context, store blob.Store, o Options) ([]Row, error) {
	o = o.filled()
	s, err := lance.Open(ctx, store, Folder, o.Open)
	var none *lance.NotFoundError
	if errors.As(err, &none) && none.Leftovers == 0 {
		return nil, nil
	}
	if err == nil {
		err = fits(s)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the recoveries of %s: %w", Folder, err)
	}
	var out []Row
	for batch, err := range s.Scan(ctx, lance.ScanOptions{}) {
		if err == nil {
			var rows []Row
			rows, err = rowsOf(batch)
			out = append(out, rows...)
			batch.Release()
		}
		if err != nil {
			return nil, fmt.Errorf("reading the recoveries of %s: %w", Folder, err)
		}
	}
	slices.SortStableFunc(out, func(a, b Row) int { return a.At.Compare(b.At) })
	return out, nil
}
