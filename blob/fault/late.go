package fault

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/omnideck/omnideck/blob"
)

// Late is a store whose listings lag behind: a new object is not listed, and a
// deleted one still is, by up to so many of the listings that follow, which the
// seed says for each key; and the last entry of a page is the first of the next
// one, too. Everything else is told as it is.
func Late(inner blob.Store, seed uint64, lag int) blob.Store {
	return &late{Store: inner, dice: dice{seed: seed}, lag: lag, young: map[string]int{}, gone: map[string]ghost{}}
}

type late struct {
	blob.Store
	lag int

	mu    sync.Mutex
	dice  dice
	lists int            // so far
	young map[string]int // the listing from which on a key is shown
	gone  map[string]ghost
}

// ghost is an object that is listed and is not there.
type ghost struct {
	blob.Entry
	until int // the listing from which on it is not shown
}

// unmeasured is a context for looks of the decorator's own, which no meter counts.
var unmeasured = context.Background()

func (s *late) Put(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	_, headErr := s.Store.Head(unmeasured, key)
	a, err := s.Store.Put(ctx, key, data)
	s.wrote(key, err == nil && headErr != nil)
	return a, err
}

func (s *late) PutIfAbsent(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	a, err := s.Store.PutIfAbsent(ctx, key, data)
	s.wrote(key, err == nil)
	return a, err
}

func (s *late) wrote(key string, fresh bool) {
	if !fresh {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, listed := s.gone[key]; listed {
		delete(s.gone, key) // it went and came, and nobody sees it
		return
	}
	s.young[key] = s.until(Call{Op: blob.OpPut, Key: key})
}

// until is the listing that is the first to tell.
func (s *late) until(c Call) int { return s.lists + int(s.dice.roll(c)%uint64(s.lag+1)) }

func (s *late) Delete(ctx context.Context, key string) error {
	a, headErr := s.Store.Head(unmeasured, key)
	err := s.Store.Delete(ctx, key)
	if err != nil || headErr != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.young[key] > s.lists {
		delete(s.young, key)
		return nil
	}
	s.gone[key] = ghost{blob.Entry{Key: key, Attrs: a}, s.until(Call{Op: blob.OpDelete, Key: key})}
	return nil
}

func (s *late) List(ctx context.Context, opts blob.ListOptions) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) {
		hidden, ghosts := s.begin(opts)
		size := opts.PageSize
		if size <= 0 {
			size = blob.DefaultPageSize
		}
		n, last := 0, blob.Entry{}
		show := func(e blob.Entry) bool {
			if n > 0 && n%size == 0 && s.lag > 0 && !yield(last, nil) {
				return false
			}
			n, last = n+1, e
			return yield(e, nil)
		}
		for e, err := range s.Store.List(ctx, opts) {
			if err != nil {
				yield(blob.Entry{}, err)
				return
			}
			for len(ghosts) > 0 && place(ghosts[0]) <= place(e) {
				g := ghosts[0]
				if ghosts = ghosts[1:]; place(g) != place(e) && !show(g) {
					return
				}
			}
			if !s.hides(hidden, e) && !show(e) {
				return
			}
		}
		for _, g := range ghosts {
			if !show(g) {
				return
			}
		}
	}
}

// begin counts a listing, and says what it leaves out and what it tells besides.
func (s *late) begin(opts blob.ListOptions) (hidden map[string]bool, ghosts []blob.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hidden = map[string]bool{}
	for key, from := range s.young {
		if from > s.lists {
			hidden[key] = true
		}
	}
	for key, g := range s.gone {
		rest, in := strings.CutPrefix(key, opts.Prefix)
		if !in || g.until <= s.lists {
			continue
		}
		e := g.Entry
		if folder, _, deeper := strings.Cut(rest, "/"); deeper && !opts.Recursive {
			e = blob.Entry{Key: opts.Prefix + folder, IsPrefix: true}
		}
		ghosts = append(ghosts, e)
	}
	s.lists++
	slices.SortFunc(ghosts, func(a, b blob.Entry) int { return strings.Compare(place(a), place(b)) })
	ghosts = slices.CompactFunc(ghosts, func(a, b blob.Entry) bool { return place(a) == place(b) })
	return hidden, ghosts
}

// hides: an object that is left out, or a folder of which all are.
func (s *late) hides(hidden map[string]bool, e blob.Entry) bool {
	if !e.IsPrefix || len(hidden) == 0 {
		return hidden[e.Key]
	}
	for in, err := range s.Store.List(unmeasured, blob.ListOptions{Prefix: e.Key + "/", Recursive: true}) {
		if err != nil || !hidden[in.Key] {
			return false
		}
	}
	return true
}

// place is where an entry stands in a listing.
func place(e blob.Entry) string {
	if e.IsPrefix {
		return e.Key + "/"
	}
	return e.Key
}
