// Package memstore is a blob.Store in memory: strict, deterministic, and slow
// or small-minded on request.
//
// It is the store that tests, budgets and simulations run on. ETags are a hash
// of the content and the number of times the key was written, so two equal
// histories give equal ETags. Clone is a copy at one instant. Latency sleeps
// with time.Sleep's clock, so a test inside testing/synctest measures hops
// without waiting. MaxPage makes every LIST that asks for more keys fail, as
// some real stores do.
//
// A Store may be registered under a name; blob/opener then opens mem://NAME.
package memstore

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// Options of a store. The zero value is a store without delay or limit.
type Options struct {
	// Latency is how long a request takes, nil for no time at all.
	Latency func(op blob.Op, key string) time.Duration
	// MaxPage fails every LIST that asks for more keys than this; 0 = no limit.
	MaxPage int
	// Concurrency is the number of requests served at once; 0 = no limit.
	Concurrency int
	// Now gives modification times; nil = time.Now.
	Now func() time.Time
	// Name is the part of the URL after mem://.
	Name string
}

// Store is an in-memory blob.Store.
type Store struct {
	opts  Options
	slots chan struct{}

	mu     sync.RWMutex
	closed bool
	keys   []string // sorted
	objs   map[string]object
	gens   map[string]int // writes of a key, deletes do not reset it
}

type object struct {
	data []byte // never changed once stored
	blob.Attrs
}

// New makes an empty store.
func New(opts Options) *Store {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Store{opts: opts, objs: map[string]object{}, gens: map[string]int{}}
	if opts.Concurrency > 0 {
		s.slots = make(chan struct{}, opts.Concurrency)
	}
	return s
}

// Clone returns a store that holds what s holds now, under the same options.
func (s *Store) Clone() *Store { return s.CloneWith(s.opts) }

// CloneWith is Clone under other options.
func (s *Store) CloneWith(opts Options) *Store {
	c := New(opts)
	s.mu.RLock()
	defer s.mu.RUnlock()
	c.keys = slices.Clone(s.keys)
	for k, o := range s.objs {
		c.objs[k] = o
	}
	for k, g := range s.gens {
		c.gens[k] = g
	}
	return c
}

// Properties are those of an ordered store with a conditional put.
func (s *Store) Properties() blob.Properties {
	return blob.Properties{URL: "mem://" + s.opts.Name, Scheme: "mem", Ordered: true, ConditionalPut: true}
}

// Close makes every later call fail.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// call is one counted request: it waits for a place, begins, takes its time,
// and acts under the lock of the store unless that was closed.
func (s *Store) call(ctx context.Context, c blob.Call, act func() (read int64, keys int, err error)) error {
	if err := check(c); err != nil {
		return s.fail(c, err)
	}
	if err := s.enter(ctx); err != nil {
		return s.fail(c, err)
	}
	defer s.leave()
	f := blob.Begin(ctx, c)
	err := s.wait(ctx, c)
	var read int64
	var keys int
	if err == nil {
		s.mu.Lock()
		if s.closed {
			err = fmt.Errorf("%w: closed", blob.ErrUnavailable)
		} else {
			read, keys, err = act()
		}
		s.mu.Unlock()
	}
	f.End(read, keys, err)
	return s.fail(c, err)
}

func check(c blob.Call) error {
	if c.Op == blob.OpList {
		_, _, err := blob.SplitPrefix(c.Key)
		return err
	}
	return blob.CheckKey(c.Key)
}

func (s *Store) fail(c blob.Call, err error) error {
	if err == nil {
		return nil
	}
	return &blob.OpError{Op: c.Op, Key: c.Key, URL: s.Properties().URL, Err: err}
}

func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil || s.slots == nil {
		return err
	}
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) leave() {
	if s.slots != nil {
		<-s.slots
	}
}

// wait takes the injected latency. Nothing has happened yet when it is cut
// short, so that is never an unknown outcome.
func (s *Store) wait(ctx context.Context, c blob.Call) error {
	if s.opts.Latency == nil {
		return ctx.Err()
	}
	d := s.opts.Latency(c.Op, c.Key)
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Get reads a range of an object.
func (s *Store) Get(ctx context.Context, key string, r blob.Range) (blob.Object, error) {
	var out blob.Object
	err := s.call(ctx, blob.Call{Op: blob.OpGet, Key: key, Range: r}, func() (int64, int, error) {
		o, err := s.lookup(key)
		if err != nil {
			return 0, 0, err
		}
		from, to, err := r.Slice(o.Size)
		if err != nil {
			return 0, 0, err
		}
		out = blob.Object{Data: append(make([]byte, 0, to-from), o.data[from:to]...), Attrs: o.Attrs}
		return to - from, 0, nil
	})
	return out, err
}

// Head returns the attributes of an object.
func (s *Store) Head(ctx context.Context, key string) (blob.Attrs, error) {
	var out blob.Attrs
	err := s.call(ctx, blob.Call{Op: blob.OpHead, Key: key}, func() (int64, int, error) {
		o, err := s.lookup(key)
		out = o.Attrs
		return 0, 0, err
	})
	return out, err
}

func (s *Store) lookup(key string) (object, error) {
	o, ok := s.objs[key]
	if !ok {
		return object{}, blob.ErrNotExist
	}
	return o, nil
}

// Put writes an object.
func (s *Store) Put(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	return s.put(ctx, key, data, false)
}

// PutIfAbsent writes an object unless the key is taken.
func (s *Store) PutIfAbsent(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	return s.put(ctx, key, data, true)
}

func (s *Store) put(ctx context.Context, key string, data []byte, ifAbsent bool) (blob.Attrs, error) {
	var out blob.Attrs
	c := blob.Call{Op: blob.OpPut, Key: key, Written: int64(len(data)), IfAbsent: ifAbsent}
	err := s.call(ctx, c, func() (int64, int, error) {
		_, taken := s.objs[key]
		if taken && ifAbsent {
			return 0, 0, blob.ErrExists
		}
		if !taken {
			i := sort.SearchStrings(s.keys, key)
			s.keys = slices.Insert(s.keys, i, key)
		}
		s.gens[key]++
		sum := sha256.Sum256(data)
		out = blob.Attrs{Size: int64(len(data)), ETag: fmt.Sprintf("%x-%d", sum[:8], s.gens[key]), ModTime: s.opts.Now()}
		s.objs[key] = object{append([]byte(nil), data...), out}
		return 0, 0, nil
	})
	return out, err
}

// Delete removes an object; a key that does not exist is success.
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.call(ctx, blob.Call{Op: blob.OpDelete, Key: key}, func() (int64, int, error) {
		if _, ok := s.objs[key]; ok {
			delete(s.objs, key)
			i := sort.SearchStrings(s.keys, key)
			s.keys = slices.Delete(s.keys, i, i+1)
		}
		return 0, 0, nil
	})
}
