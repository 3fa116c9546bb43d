package lance

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/format"
)

// OpenOptions say which version of a dataset to open, and how. The zero value
// opens the latest version of main.
type OpenOptions struct {
	Branch  string // "" or "main" = main
	Version uint64 // 0 = latest

	Cache       *Cache           // shared by the snapshots of one operation; nil = none
	Allocator   memory.Allocator // nil = memory.DefaultAllocator
	Parallelism int              // objects fetched side by side; 0 = 64
	Decoders    int              // goroutines that decode one large file; 0 = GOMAXPROCS

	// OpenBase opens a folder outside the dataset that a manifest records as a
	// base path, given the path as recorded. nil refuses, with a message that
	// says where the file was expected. The caller keeps the store open for as
	// long as the snapshot is used.
	OpenBase func(ctx context.Context, path string) (store blob.Store, root string, err error)

	// External reads n bytes from offset off of the object that an external
	// blob names (n < 0: to its end). nil refuses.
	External func(ctx context.Context, uri string, off, n int64) ([]byte, error)
}

// Object is the state of the store's object that something was read from.
type Object struct {
	Key     string // in the store
	Size    int64
	ETag    string
	ModTime time.Time
}

// Open opens one version of the dataset whose objects begin with root in
// store: latest costs one LIST of one key and one GET, a version one GET.
func Open(ctx context.Context, store blob.Store, root string, opts OpenOptions) (*Snapshot, error) {
	return nil, format.Unsupportedf("open")
}

// Snapshot is one version of a dataset: immutable, read-only, safe for
// concurrent use. It holds no connection and needs no Close.
type Snapshot struct {
	manifest *format.Manifest
	object   Object
}

// Version is the number of the version.
func (s *Snapshot) Version() uint64 { return s.manifest.Version }

// Branch is the branch; "" is main.
func (s *Snapshot) Branch() string { return s.manifest.Branch }

// Manifest is what the manifest says. It must not be changed.
func (s *Snapshot) Manifest() *format.Manifest { return s.manifest }

// Schema is the schema of the version.
func (s *Snapshot) Schema() *format.Schema { return s.manifest.Schema }

// Object is the manifest's object as it was read.
func (s *Snapshot) Object() Object { return s.object }

// CountRows is the number of rows by the manifest alone. known is false when
// the manifest does not record it.
func (s *Snapshot) CountRows() (rows uint64, known bool) { return s.manifest.Rows() }

// Fragments are the fragments in manifest order. They must not be changed.
func (s *Snapshot) Fragments() []format.Fragment { return s.manifest.Fragments }

// Indexes are the index segments that the version lists; no further request.
func (s *Snapshot) Indexes() ([]format.Index, error) { return nil, nil }

// Transaction is the transaction that produced the version: the copy in the
// manifest, or one GET of its file. nil when the version has neither.
func (s *Snapshot) Transaction(ctx context.Context) (*format.Transaction, error) { return nil, nil }

// ArrowSchema is the schema of scanned batches for the columns asked.
func (s *Snapshot) ArrowSchema(columns []string) (*arrow.Schema, error) { return nil, nil }
