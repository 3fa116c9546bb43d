package lance

import (
	"context"
	"errors"

	"github.com/omnideck/omnideck/blob"
)

// IsLatest asks, with a LIST of one key, whether the version is still the newest
// of its branch, and the object it was read from the one that is there. newest
// is what the listing says; 0 = nothing is there any more. A listing that ends
// below this version is late when its object is still there, which a HEAD says.
func (s *Snapshot) IsLatest(ctx context.Context) (latest bool, newest uint64, err error) {
	v, err := s.env.newest(ctx)
	switch {
	case errors.Is(err, blob.ErrNotExist), err == nil && v.Version < s.Version():
		return s.unlisted(ctx, v.Version)
	case err != nil:
		return false, 0, err
	}
	return v.Version == s.Version() && (v.ETag == "" || v.ETag == s.object.ETag), v.Version, nil
}

// unlisted is the answer of IsLatest about a version that a listing does not show.
func (s *Snapshot) unlisted(ctx context.Context, listed uint64) (latest bool, newest uint64, err error) {
	a, err := s.env.store.Head(ctx, s.object.Key)
	switch {
	case errors.Is(err, blob.ErrNotExist):
		return false, listed, nil
	case err != nil:
		return false, 0, err
	}
	return s.object.ETag == "" || a.ETag == s.object.ETag, s.Version(), nil
}

// In is the version seen through another store that holds the same objects,
// such as one that may be written to.
func (s *Snapshot) In(store blob.Store) *Snapshot {
	if store == s.env.store {
		return s
	}
	e := newEnv(store, s.env.root, s.env.opts)
	return newSnapshot(e, s.dir, s.manifest, s.object)
}

// Remembering is the version whose look-ups use a memory, nil = none.
func (s *Snapshot) Remembering(m *TextMemory) *Snapshot {
	if m == s.env.opts.Texts {
		return s
	}
	e := *s.env
	e.opts.Texts = m
	return newSnapshot(&e, s.dir, s.manifest, s.object)
}
