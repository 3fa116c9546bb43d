package lance

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/deletion"
)

// System columns. They may be named in a list of columns like others; all are
// uint64 and never null. Without stable row ids _rowid is the row address.
const (
	ColRowID       = "_rowid"
	ColRowAddress  = "_rowaddr" // fragment id << 32 | physical offset
	ColCreatedAt   = "_row_created_at_version"
	ColLastUpdated = "_row_last_updated_at_version"
)

// ScanOptions say what to scan. The zero value is every live row of every
// column.
type ScanOptions struct {
	Columns        []string // nil = all of the schema; empty = none
	Fragments      []uint64 // ids; nil = all. Scanned in manifest order
	WithRowID      bool     // append _rowid
	WithRowAddress bool     // append _rowaddr
	WithVersions   bool     // append _row_created_at_version, _row_last_updated_at_version
	BatchRows      int      // at most so many rows a batch; 0 = 8192
	Offset, Limit  int64    // in rows of the result; Limit 0 = all
	// WithDeleted yields physical rows: deletion files are not read and
	// deleted rows are among the result. Ask Deletions for the sets.
	WithDeleted bool
	// OnDamaged, when not nil, is asked about every fragment that cannot be
	// read. true goes on with the next one (some of its rows may have been
	// yielded), false ends the scan with the error.
	OnDamaged func(*FragmentError) bool
}

// Scan yields the rows of the snapshot in fragment order, deletions applied.
// A batch never spans fragments; the consumer releases each batch. Fragments
// are opened side by side, decoded in order, in bounded memory.
func (s *Snapshot) Scan(ctx context.Context, o ScanOptions) iter.Seq2[arrow.RecordBatch, error] {
	return nil
}

// Deletions is the set of deleted offsets of a fragment, or nil when it has no
// deletion file: at most one GET.
func (s *Snapshot) Deletions(ctx context.Context, fragment uint64) (*deletion.Set, error) {
	return nil, nil
}

// Take returns the rows at the given addresses, in that order, duplicates
// allowed. A row that does not exist or is deleted is a RowsMissingError.
func (s *Snapshot) Take(ctx context.Context, columns []string, addrs []uint64) (arrow.RecordBatch, error) {
	return nil, nil
}

// TakeRowIDs is Take by row id. Without stable row ids an id is an address.
func (s *Snapshot) TakeRowIDs(ctx context.Context, columns []string, ids []uint64) (arrow.RecordBatch, error) {
	return nil, nil
}

// Addresses finds the address of each row id; ok[i] is false when no live row
// has the id.
func (s *Snapshot) Addresses(ctx context.Context, ids []uint64) (addrs []uint64, ok []bool, err error) {
	return nil, nil, nil
}
