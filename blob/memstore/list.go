package memstore

import (
	"context"
	"fmt"
	"iter"
	"sort"
	"strings"
	"sync"

	"github.com/omnideck/omnideck/blob"
)

// List yields entries in order, page by page; each page sees the store as it
// is when that page is asked for.
func (s *Store) List(ctx context.Context, opts blob.ListOptions) iter.Seq2[blob.Entry, error] {
	if opts.PageSize <= 0 {
		opts.PageSize = blob.DefaultPageSize
	}
	return func(yield func(blob.Entry, error) bool) {
		for after := ""; ; {
			page, more, err := s.page(ctx, opts, after)
			if err != nil {
				yield(blob.Entry{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			if !more {
				return
			}
			last := page[len(page)-1]
			after = last.Key
			if last.IsPrefix {
				after += "/"
			}
		}
	}
}

// page is one request: at most PageSize entries that come after the given key,
// where a key ending in '/' stands for everything below that folder.
func (s *Store) page(ctx context.Context, opts blob.ListOptions, after string) (page []blob.Entry, more bool, err error) {
	err = s.call(ctx, blob.Call{Op: blob.OpList, Key: opts.Prefix}, func() (int64, int, error) {
		if s.opts.MaxPage > 0 && opts.PageSize > s.opts.MaxPage {
			return 0, 0, fmt.Errorf("%w: a page of %d keys was asked for, this store serves at most %d",
				blob.ErrUnavailable, opts.PageSize, s.opts.MaxPage)
		}
		page, more = s.collect(opts, after)
		return 0, len(page), nil
	})
	return page, more, err
}

func (s *Store) collect(opts blob.ListOptions, after string) (page []blob.Entry, more bool) {
	i := sort.SearchStrings(s.keys, max(opts.Prefix, after))
	for i < len(s.keys) {
		key := s.keys[i]
		rest, ok := strings.CutPrefix(key, opts.Prefix)
		if !ok {
			break
		}
		if after != "" && (key == after || strings.HasSuffix(after, "/") && strings.HasPrefix(key, after)) {
			i++
			continue
		}
		if len(page) == opts.PageSize {
			return page, true
		}
		if folder, _, cut := strings.Cut(rest, "/"); cut && !opts.Recursive {
			dir := opts.Prefix + folder
			page = append(page, blob.Entry{Key: dir, IsPrefix: true})
			i = sort.SearchStrings(s.keys, dir+"0") // '0' follows '/'
			continue
		}
		page = append(page, blob.Entry{Key: key, Attrs: s.objs[key].Attrs})
		i++
	}
	return page, false
}

var (
	namedMu sync.Mutex
	named   = map[string]*Store{}
)

// Register makes s what mem://name opens, until the returned function is
// called.
func Register(name string, s *Store) (unregister func()) {
	namedMu.Lock()
	defer namedMu.Unlock()
	named[name] = s
	return func() {
		namedMu.Lock()
		defer namedMu.Unlock()
		if named[name] == s {
			delete(named, name)
		}
	}
}

// Named returns the store registered under name, or nil.
func Named(name string) *Store {
	namedMu.Lock()
	defer namedMu.Unlock()
	return named[name]
}
