package model

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
)

// seat is the store as a handle sees it: each call waits for its turn, and meets
// the faults of the operation that is under way.
type seat struct {
	blob.Store // what is not a call
	t          *turns
	client     int

	mu     sync.Mutex
	op     Op
	faulty *fault.Store
}

// begin sets the operation that calls belong to from now on.
func (s *seat) begin(o Op) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.op, s.faulty = o, fault.New(s.Store, s.rules(o)...)
}

func (s *seat) rules(o Op) (out []fault.Rule) {
	for _, f := range o.Faults {
		r := fault.Rule{At: f.At}
		switch f.Do {
		case "kill":
			r.Do = fault.Halt
		case "die":
			r.Do = func(ctx context.Context, a *fault.Attempt) error {
				_ = a.Perform(ctx) // nobody hears of it
				return fault.Halt(ctx, a)
			}
		case "lose":
			r.Match, r.Do = fault.Writes, fault.LoseAnswer
		case "fail":
			r.Do = fault.FailWith(fmt.Errorf("%w: %w", blob.ErrUnavailable, fault.ErrInjected))
		case "pause":
			r.Do = func(ctx context.Context, a *fault.Attempt) error {
				s.t.pause(s.client, o.N, f)
				return a.Perform(ctx)
			}
		}
		out = append(out, r)
	}
	return out
}

// fired is how many faults of the operation under way there were.
func (s *seat) fired() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faulty.Fired()
}

// killed reports whether the process died in the operation under way.
func (s *seat) killed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faulty.Halted()
}

// turn waits for one, and returns the store to ask, and whom to tell the answer.
func (s *seat) turn(op blob.Op, key string) (*fault.Store, func(error)) {
	s.mu.Lock()
	o, faulty := s.op, s.faulty
	s.mu.Unlock()
	s.t.wait(s.client, o.N, false, string(op)+" "+key)
	return faulty, func(err error) {
		said := "done"
		if err != nil {
			said = errors.Unwrap(err).Error()
		}
		s.t.note("%s: %s %s: %s", o.Actor(), op, key, said)
	}
}

func (s *seat) Get(ctx context.Context, key string, r blob.Range) (blob.Object, error) {
	store, tell := s.turn(blob.OpGet, key)
	o, err := store.Get(ctx, key, r)
	tell(err)
	return o, err
}

func (s *seat) Head(ctx context.Context, key string) (blob.Attrs, error) {
	store, tell := s.turn(blob.OpHead, key)
	a, err := store.Head(ctx, key)
	tell(err)
	return a, err
}

func (s *seat) Put(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	store, tell := s.turn(blob.OpPut, key)
	a, err := store.Put(ctx, key, data)
	tell(err)
	return a, err
}

func (s *seat) PutIfAbsent(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	store, tell := s.turn(blob.OpPut, key)
	a, err := store.PutIfAbsent(ctx, key, data)
	tell(err)
	return a, err
}

func (s *seat) Delete(ctx context.Context, key string) error {
	store, tell := s.turn(blob.OpDelete, key)
	err := store.Delete(ctx, key)
	tell(err)
	return err
}

func (s *seat) List(ctx context.Context, o blob.ListOptions) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) {
		store, tell := s.turn(blob.OpList, o.Prefix)
		var last error
		defer func() { tell(last) }()
		for e, err := range store.List(ctx, o) {
			last = err
			if !yield(e, err) {
				return
			}
		}
	}
}

// world is the store that all share; it knows when each version of `__manifest`
// came to be, in turns.
type world struct {
	blob.Store
	t       *turns
	mu      sync.Mutex
	visible map[uint64]int
}

func (w *world) PutIfAbsent(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	a, err := w.Store.PutIfAbsent(ctx, key, data)
	if name, ok := strings.CutSuffix(path.Base(key), ".manifest"); err == nil && ok && path.Dir(key) == "__manifest/_versions" {
		if n, numErr := strconv.ParseUint(name, 10, 64); numErr == nil {
			w.mu.Lock()
			w.visible[math.MaxUint64-n] = w.t.count()
			w.mu.Unlock()
		}
	}
	return a, err
}
