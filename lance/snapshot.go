package lance

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/format"
)

// Object is the state of the store's object that something was read from.
type Object struct {
	Key     string // in the store
	Size    int64
	ETag    string
	ModTime time.Time
}

func objectOf(key string, a blob.Attrs) Object {
	return Object{Key: key, Size: a.Size, ETag: a.ETag, ModTime: a.ModTime}
}

// Snapshot is one version of a dataset: immutable, read-only, safe for
// concurrent use. It holds no connection and needs no Close.
type Snapshot struct {
	env      *env
	dir      string // folder of the branch in the store
	manifest *format.Manifest
	object   Object
	bases    *bases
	frags    []fragState
	byID     map[uint64]int // position in frags; of a duplicate id the first
	readers  *readerCache
	rowIndex rowIndex
}

// newSnapshot wraps a manifest that was read from object, in the branch folder
// dir.
func newSnapshot(e *env, dir string, m *format.Manifest, object Object) *Snapshot {
	s := &Snapshot{
		env: e, dir: dir, manifest: m, object: object,
		bases: newBases(e, dir, m), frags: make([]fragState, len(m.Fragments)),
		byID: make(map[uint64]int, len(m.Fragments)), readers: newReaderCache(),
	}
	for i := range m.Fragments {
		f := &m.Fragments[i]
		s.frags[i].f = f
		if _, dup := s.byID[f.ID]; !dup {
			s.byID[f.ID] = i
		}
	}
	return s
}

// Version is the number of the version.
func (s *Snapshot) Version() uint64 { return s.manifest.Version }

// Branch is the branch; "" is main.
func (s *Snapshot) Branch() string { return s.manifest.Branch }

// Root is the prefix of the dataset's main root in its store.
func (s *Snapshot) Root() string { return s.env.root }

// Dir is the prefix of the branch's folder in the store: Root on main.
func (s *Snapshot) Dir() string { return s.dir }

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

// Indexes are the index segments that the version lists; no request.
func (s *Snapshot) Indexes() ([]format.Index, error) {
	out, err := s.manifest.Indexes()
	if err != nil {
		return nil, fmt.Errorf("indexes in manifest %s: %w", s.object.Key, err)
	}
	return out, nil
}

// Transaction is the transaction that produced the version: the copy in the
// manifest, or one GET of its file. nil when the version names none.
func (s *Snapshot) Transaction(ctx context.Context) (*format.Transaction, error) {
	tx, err := s.manifest.Transaction()
	if err != nil {
		return nil, fmt.Errorf("transaction in manifest %s: %w", s.object.Key, err)
	}
	if tx != nil || s.manifest.TransactionFile == "" {
		return tx, nil
	}
	key := format.Join(s.dir, format.TransactionPath(s.manifest.TransactionFile))
	if err := checkKey(key); err != nil {
		return nil, err
	}
	o, err := s.env.store.Get(ctx, key, blob.All)
	if err != nil {
		return nil, fmt.Errorf("transaction of version %d: %w", s.Version(), err)
	}
	if tx, err = format.ParseTransaction(o.Data); err != nil {
		return nil, fmt.Errorf("transaction %s: %w", key, err)
	}
	return tx, nil
}

// ArrowSchema is the schema of scanned batches with the columns asked for, as
// in ScanOptions.Columns.
func (s *Snapshot) ArrowSchema(columns []string) (*arrow.Schema, error) {
	p, err := s.project(columns, nil)
	if err != nil {
		return nil, err
	}
	return p.schema, nil
}

// checkKey refuses keys that a hostile manifest may have made up.
func checkKey(key string) error {
	if err := blob.CheckKey(key); err != nil {
		return format.Corruptf("a file is recorded under an impossible name: %w", err)
	}
	return nil
}
