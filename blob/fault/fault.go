// Package fault lets things go wrong in a blob.Store: at a chosen call (Store and
// its Rules), at every call one after the other (Scenario), or now and then all
// along (Weather). What follows is about the first.
//
//	s := fault.New(inner, fault.Rule{Match: fault.Writes, At: 3, Do: fault.LoseAnswer})
//
// A rule has one action, which happens at the At-th call (from 0) that the
// rule matches; with Every also at every later one, with Burst at that many. The first rule that has
// something to do at a call does it alone. Actions that do not carry the call
// out send nothing, so no meter counts it.
//
// The first page of a listing is a call; so is each further page, recognised
// when its first entry comes out of the store.
//
// A sweep puts a fault at call 0, 1, 2 … until a run gets through without
// meeting it, and so needs no list of places:
//
//	n, err := fault.Sweep(1000, func(at int) (bool, error) {
//		s := fault.New(start.Clone(), fault.Rule{At: at, Do: fault.Halt})
//		err := write(s)                    // fails, when the fault was met
//		return s.Fired() > 0, check(s.Inner(), err)
//	})
//
// A Scenario is a writer with all that a sweep needs to know of it. Its Sweep has
// every kind of fault and every rival at every call, its Weather a store that is
// slow, throttles, fails, cuts reads short or lists late:
//
//	sc := fault.Scenario{Start: …, Run: write, Means: …, Check: oldOrNew}
//	report, err := sc.Sweep(ctx, fault.Plan{})
//
// This room knows stores and nothing of what is kept in them.
package fault

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/omnideck/omnideck/blob"
)

// Call describes a call to rules.
type Call struct {
	Op       blob.Op
	Key      string // key, or prefix of a listing
	IfAbsent bool
	Page     int // of a listing, from 0
}

// Attempt is a call about to happen, in the hands of an action.
type Attempt struct {
	Call
	// Perform carries the call out. It may be called once, or not at all.
	Perform func(ctx context.Context) error
	// Object is what a Get has read, after Perform.
	Object *blob.Object
	store  *Store
}

// Action decides what happens to a call. The caller gets the error returned.
type Action func(ctx context.Context, a *Attempt) error

// Rule says at which call what happens.
type Rule struct {
	Match func(Call) bool // nil: every call
	At    int             // index among the matching calls, from 0
	Every bool            // also at every later one
	Burst int             // at so many of them, one after the other; 0 = one
	Do    Action
}

// Store is the decorator.
type Store struct {
	inner blob.Store

	mu     sync.Mutex
	rules  []Rule
	seen   []int // calls matched so far, by rule
	fired  int
	calls  int
	halted bool
}

// New decorates a store with rules.
func New(inner blob.Store, rules ...Rule) *Store {
	return &Store{inner: inner, rules: rules, seen: make([]int, len(rules))}
}

// Inner is the decorated store, which never fails.
func (s *Store) Inner() blob.Store { return s.inner }

// Fired is how often a rule had something to do.
func (s *Store) Fired() int { s.mu.Lock(); defer s.mu.Unlock(); return s.fired }

// Calls is how many calls there were, the faulty ones included.
func (s *Store) Calls() int { s.mu.Lock(); defer s.mu.Unlock(); return s.calls }

// Halted reports whether a Halt has happened.
func (s *Store) Halted() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.halted }

// choose counts a call and returns the action that is due, or nil.
func (s *Store) choose(c Call) (Action, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.halted {
		return nil, ErrHalted
	}
	s.calls++
	var due Action
	for i, r := range s.rules {
		if r.Match != nil && !r.Match(c) {
			continue
		}
		n := s.seen[i]
		s.seen[i]++
		if due == nil && (n == r.At || n > r.At && (r.Every || n < r.At+r.Burst)) {
			due = r.Do
			s.fired++
		}
	}
	return due, nil
}

// do is one call: the action that is due, or the call itself.
func (s *Store) do(ctx context.Context, c Call, obj *blob.Object, perform func(ctx context.Context) error) error {
	action, err := s.choose(c)
	if err == nil && action == nil {
		return perform(ctx)
	}
	if err == nil {
		err = action(ctx, &Attempt{Call: c, Perform: perform, Object: obj, store: s})
	}
	var oe *blob.OpError
	if err == nil || errors.As(err, &oe) {
		return err
	}
	return &blob.OpError{Op: c.Op, Key: c.Key, URL: s.inner.Properties().URL, Err: err}
}

// Get reads a range of an object.
func (s *Store) Get(ctx context.Context, key string, r blob.Range) (o blob.Object, err error) {
	err = s.do(ctx, Call{Op: blob.OpGet, Key: key}, &o, func(ctx context.Context) (err error) {
		o, err = s.inner.Get(ctx, key, r)
		return err
	})
	if err != nil {
		return blob.Object{}, err
	}
	return o, nil
}

// Head returns the attributes of an object.
func (s *Store) Head(ctx context.Context, key string) (a blob.Attrs, err error) {
	err = s.do(ctx, Call{Op: blob.OpHead, Key: key}, nil, func(ctx context.Context) (err error) {
		a, err = s.inner.Head(ctx, key)
		return err
	})
	return zeroOn(err, a), err
}

// Put writes an object.
func (s *Store) Put(ctx context.Context, key string, data []byte) (a blob.Attrs, err error) {
	err = s.do(ctx, Call{Op: blob.OpPut, Key: key}, nil, func(ctx context.Context) (err error) {
		a, err = s.inner.Put(ctx, key, data)
		return err
	})
	return zeroOn(err, a), err
}

// PutIfAbsent writes an object unless the key is taken.
func (s *Store) PutIfAbsent(ctx context.Context, key string, data []byte) (a blob.Attrs, err error) {
	err = s.do(ctx, Call{Op: blob.OpPut, Key: key, IfAbsent: true}, nil, func(ctx context.Context) (err error) {
		a, err = s.inner.PutIfAbsent(ctx, key, data)
		return err
	})
	return zeroOn(err, a), err
}

// Delete removes an object.
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.do(ctx, Call{Op: blob.OpDelete, Key: key}, nil, func(ctx context.Context) error {
		return s.inner.Delete(ctx, key)
	})
}

// List yields entries in order. A fault at a page ends the listing.
func (s *Store) List(ctx context.Context, opts blob.ListOptions) iter.Seq2[blob.Entry, error] {
	size := opts.PageSize
	if size <= 0 {
		size = blob.DefaultPageSize
	}
	return func(yield func(blob.Entry, error) bool) {
		next, stop := iter.Pull2(s.inner.List(ctx, opts))
		defer stop()
		for n := 0; ; n++ {
			var e blob.Entry
			var ok bool
			pull := func(context.Context) (err error) {
				e, err, ok = next()
				return err
			}
			var err error
			if n%size != 0 {
				err = pull(ctx)
			} else if n == 0 {
				err = s.do(ctx, Call{Op: blob.OpList, Key: opts.Prefix}, nil, pull)
			} else if err = pull(ctx); ok && err == nil { // the page is here: its fault comes after the fact
				err = s.do(ctx, Call{Op: blob.OpList, Key: opts.Prefix, Page: n / size}, nil, func(context.Context) error { return nil })
			}
			if err != nil {
				yield(blob.Entry{}, err)
				return
			}
			if !ok || !yield(e, nil) {
				return
			}
		}
	}
}

func zeroOn(err error, a blob.Attrs) blob.Attrs {
	if err != nil {
		return blob.Attrs{}
	}
	return a
}

// Properties of the decorated store.
func (s *Store) Properties() blob.Properties { return s.inner.Properties() }

// Close closes the decorated store.
func (s *Store) Close() error { return s.inner.Close() }

// Writes matches what changes a store.
func Writes(c Call) bool { return c.Op == blob.OpPut || c.Op == blob.OpDelete }

// Reads matches what does not.
func Reads(c Call) bool { return !Writes(c) }

// Sweep calls try with 0, 1, 2 … as the place of a fault until a run does not
// reach it, and returns how many places there were. A check that fails in try
// ends the sweep and is returned with its place; so does passing the limit.
func Sweep(limit int, try func(at int) (reached bool, err error)) (places int, err error) {
	for at := range limit {
		reached, err := try(at)
		if err != nil {
			return at, fmt.Errorf("fault at call %d: %w", at, err)
		}
		if !reached {
			return at, nil
		}
	}
	return limit, fmt.Errorf("after %d faults the run still meets new calls", limit)
}
