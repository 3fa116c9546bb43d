package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/lance"
)

// Outside reads what manifests name outside the address that was opened:
// recorded base paths, which stay open until Close, and external blobs. Its
// zero value is ready; it may be used by many goroutines.
type Outside struct {
	mu     sync.Mutex
	opened []blob.Store
}

// Allow lets datasets that are opened with the options read there.
func (x *Outside) Allow(o *lance.OpenOptions) {
	o.OpenBase, o.External = x.openBase, external
}

// Close closes the stores of base paths.
func (x *Outside) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	errs := make([]error, 0, len(x.opened))
	for _, s := range x.opened {
		errs = append(errs, s.Close())
	}
	x.opened = nil
	return errors.Join(errs...)
}

// openBase opens a folder that a manifest records and that does not lie under
// the root.
func (x *Outside) openBase(ctx context.Context, path string) (blob.Store, string, error) {
	s, err := opener.Open(ctx, path, opener.ReadOnly())
	if err != nil {
		return nil, "", err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.opened = append(x.opened, s)
	return s, "", nil
}

// external reads from an object that an external blob names.
func external(ctx context.Context, uri string, off, n int64) ([]byte, error) {
	root, name, ok := opener.Split(uri)
	if !ok {
		return nil, &UsageError{What: uri, Why: "names no object"}
	}
	s, err := opener.Open(ctx, root, opener.ReadOnly())
	if err != nil {
		return nil, err
	}
	defer s.Close()
	obj, err := s.Get(ctx, name, blob.Range{Off: off, Len: n})
	return obj.Data, err
}
