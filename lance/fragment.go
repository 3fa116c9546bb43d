package lance

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/rowid"
)

// fragState is what a snapshot has learned about a fragment so far.
type fragState struct {
	f *format.Fragment

	mu        sync.Mutex // guards what follows; not held during requests
	ids       *rowid.Sequence
	created   *rowid.Versions
	updated   *rowid.Versions
	deletions *deletion.Set
	deletRead bool
}

// Deletions is the set of deleted offsets of a fragment, or nil when it has no
// deletion file: at most one GET, remembered.
func (s *Snapshot) Deletions(ctx context.Context, fragment uint64) (*deletion.Set, error) {
	st, err := s.fragment(fragment)
	if err != nil {
		return nil, err
	}
	set, err := s.deletionsOf(ctx, st)
	if err != nil {
		return nil, err
	}
	return set, nil
}

// fragment finds a fragment by id.
func (s *Snapshot) fragment(id uint64) (*fragState, error) {
	i, ok := s.byID[id]
	if !ok {
		return nil, fmt.Errorf("fragment %d is not in version %d of %s: %w", id, s.Version(), s.env.at(), blob.ErrNotExist)
	}
	return &s.frags[i], nil
}

// deletionsOf reads the deletion file of a fragment once. Its errors are
// FragmentErrors.
func (s *Snapshot) deletionsOf(ctx context.Context, st *fragState) (*deletion.Set, error) {
	if st.f.Deletion == nil {
		return nil, nil
	}
	st.mu.Lock()
	set, ok := st.deletions, st.deletRead
	st.mu.Unlock()
	if ok {
		return set, nil
	}
	set, key, err := s.readDeletions(ctx, st.f)
	if err != nil {
		return nil, s.damage(ctx, st.f, key, err)
	}
	st.mu.Lock()
	st.deletions, st.deletRead = set, true
	st.mu.Unlock()
	return set, nil
}

// damage wraps what went wrong with a fragment. When the caller gave up, that
// is not the fragment's fault and is returned as it is.
func (s *Snapshot) damage(ctx context.Context, f *format.Fragment, key string, err error) error {
	var already *FragmentError
	if ctx.Err() != nil || errors.As(err, &already) {
		return err
	}
	rows, known := f.LiveRows()
	if !known {
		rows = f.PhysicalRows
	}
	return &FragmentError{Fragment: f.ID, Key: key, Rows: rows, Err: err}
}

// sequence returns the bytes of an encoded sequence: inline, or one GET of a
// range.
func (s *Snapshot) sequence(ctx context.Context, q format.Sequence) ([]byte, error) {
	if q.External == nil {
		return q.Inline, nil
	}
	x := q.External
	key := format.Join(s.dir, x.Path)
	if err := checkKey(key); err != nil {
		return nil, err
	}
	if x.Offset > 1<<62 || x.Size > 1<<40 {
		return nil, format.Corruptf("a sequence of %d bytes at %d of %s", x.Size, x.Offset, key)
	}
	if x.Size == 0 {
		return nil, nil
	}
	o, err := s.env.store.Get(ctx, key, blob.Range{Off: int64(x.Offset), Len: int64(x.Size)})
	if err != nil {
		return nil, err
	}
	if uint64(len(o.Data)) != x.Size {
		return nil, format.Corruptf("%s ends inside a sequence of %d bytes at %d", key, x.Size, x.Offset)
	}
	return o.Data, nil
}

// rowIDs is the row-id sequence of a fragment of rows physical rows, decoded
// once. In address mode it is nil.
func (s *Snapshot) rowIDs(ctx context.Context, st *fragState, rows uint64) (*rowid.Sequence, error) {
	if !s.manifest.StableRowIDs() {
		return nil, nil
	}
	st.mu.Lock()
	seq := st.ids
	st.mu.Unlock()
	if seq == nil {
		if !st.f.RowIDs.Present {
			return nil, format.Corruptf("the table has stable row ids, but the fragment has no sequence of them")
		}
		b, err := s.sequence(ctx, st.f.RowIDs)
		if err != nil {
			return nil, err
		}
		if seq, err = rowid.Decode(b); err != nil {
			return nil, err
		}
		st.mu.Lock()
		st.ids = seq
		st.mu.Unlock()
	}
	if seq.Len() != rows {
		return nil, format.Corruptf("%d row ids for %d physical rows", seq.Len(), rows)
	}
	return seq, nil
}

// versions are the versions in which the rows of a fragment of rows physical
// rows were made and last written; nil = not recorded.
func (s *Snapshot) versions(ctx context.Context, st *fragState, rows uint64) (created, updated *rowid.Versions, err error) {
	if created, err = s.versionSeq(ctx, st, st.f.CreatedAt, &st.created, rows); err != nil {
		return nil, nil, fmt.Errorf("created-at versions: %w", err)
	}
	if updated, err = s.versionSeq(ctx, st, st.f.LastUpdated, &st.updated, rows); err != nil {
		return nil, nil, fmt.Errorf("last-updated versions: %w", err)
	}
	return created, updated, nil
}

func (s *Snapshot) versionSeq(ctx context.Context, st *fragState, q format.Sequence, slot **rowid.Versions, rows uint64) (*rowid.Versions, error) {
	if !q.Present {
		return nil, nil
	}
	st.mu.Lock()
	seq := *slot
	st.mu.Unlock()
	if seq == nil {
		b, err := s.sequence(ctx, q)
		if err != nil {
			return nil, err
		}
		if seq, err = rowid.DecodeVersions(b); err != nil {
			return nil, err
		}
		st.mu.Lock()
		*slot = seq
		st.mu.Unlock()
	}
	if seq.Len() != rows {
		return nil, format.Corruptf("%d versions for %d physical rows", seq.Len(), rows)
	}
	return seq, nil
}
