// Package cache is a decorator of a blob.Store that remembers bytes of
// immutable objects: Lance manifests, data, deletion, index and transaction
// files.
//
// # What it may answer
//
// Only GetImmutable, never Get, Head or List: a question for "the latest" always
// reaches the store. An answer without a request needs remembered bytes of the
// same full key whose object agrees with everything the caller knows of it:
// size and ETag where both are known. A deleted and re-created branch reuses
// names and numbers, so a caller that knows neither is always asked about at
// the store; one that knows only the size (a manifest records the size of a
// data file, whose name is unique), or that the name carries a random id
// (blob.AnySize, of deletion files), is answered from memory, never from disk.
//
// # Two tiers
//
// Memory lives as long as the Store, a session over one graph, and is bounded
// in bytes; the least recently used ranges go first. Callers that
// ask for the same range at the same time share one request, so two branches
// that share a file cost one. Each operation of a session reads through a view
// of its own (see Operation).
//
// Disk (see Disk) outlives the process. It is asked and filled only for remote
// stores and only when size and a strong ETag are known.
//
// Hits are not requests and no meter counts them.
package cache

import (
	"container/list"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/omnideck/omnideck/blob"
)

// DefaultBytes bounds the memory of a Store when Options do not.
const DefaultBytes = 64 << 20

// Options of New.
type Options struct {
	Bytes int64 // of memory; 0 = DefaultBytes
	Disk  *Disk // nil: memory only
}

// Store is the decorator. Everything but GetImmutable and PutImmutable, which
// remembers what was written, passes through.
type Store struct {
	blob.Store
	max  int64
	disk *Disk
	url  string

	session *Store // of which this is one operation; nil
	since   uint64 // age of the session when the operation began

	mu      sync.Mutex
	age     uint64 // segments remembered so far
	objects map[string]*object
	ranges  *list.List // of *segment, most recently used first
	bytes   int64
	flights map[flightKey]*flight
	stats   Stats
}

// Stats are what a Store has answered so far.
type Stats struct {
	Memory, Shared, Disk, Store int64 // by whom
	Bytes                       int64 // remembered now
}

// object is what is remembered of one key.
type object struct {
	attrs    blob.Attrs
	segments []*list.Element
}

type segment struct {
	key  string
	off  int64
	data []byte
	age  uint64
}

type flightKey struct {
	key  string
	r    blob.Range
	size int64
	etag string
}

type flight struct {
	done chan struct{}
	obj  blob.Object
	err  error
}

// New decorates a store.
func New(s blob.Store, opts Options) *Store {
	if opts.Bytes <= 0 {
		opts.Bytes = DefaultBytes
	}
	p := s.Properties()
	if !p.Remote {
		opts.Disk = nil
	}
	return &Store{
		Store: s, max: opts.Bytes, disk: opts.Disk, url: p.URL,
		objects: map[string]*object{}, ranges: list.New(), flights: map[flightKey]*flight{},
	}
}

// Operation is the store as one operation sees it: it answers from what s
// remembered before the operation began and from what the operation itself has
// read, which s remembers too, for operations that begin later. Operations that
// run side by side do not share requests, so that what each one is charged
// does not depend on which came first.
func (s *Store) Operation() *Store {
	o := New(s.Store, Options{Bytes: s.max, Disk: s.disk})
	o.session = s
	s.mu.Lock()
	o.since = s.age
	s.mu.Unlock()
	return o
}

// recall looks a range up in memory, then in what the session remembered
// before this operation began.
func (s *Store) recall(key string, known blob.Attrs, r blob.Range) (blob.Object, bool) {
	obj, ok := s.remembered(key, known, r, s.age)
	if ok || s.session == nil {
		return obj, ok
	}
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	return s.session.remembered(key, known, r, s.since)
}

// Stats returns the counts so far.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Bytes = s.bytes
	return st
}

// GetImmutable reads a range of an object that is never rewritten under its
// name; see blob.GetImmutable. The bytes are shared and must not be modified.
func (s *Store) GetImmutable(ctx context.Context, key string, known blob.Attrs, r blob.Range) (blob.Object, error) {
	known.Size = max(known.Size, blob.AnySize)
	for {
		s.mu.Lock()
		if obj, ok := s.recall(key, known, r); ok {
			s.stats.Memory++
			s.mu.Unlock()
			return obj, nil
		}
		k := flightKey{key, r, known.Size, known.ETag}
		f, shared := s.flights[k]
		if !shared {
			f = &flight{done: make(chan struct{})}
			s.flights[k] = f
			s.mu.Unlock()
			s.fly(ctx, k, f, known)
			return f.obj, f.err
		}
		s.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return blob.Object{}, &blob.OpError{Op: blob.OpGet, Key: key, URL: s.url, Err: ctx.Err()}
		}
		if f.err == nil {
			s.count(func(st *Stats) { st.Shared++ })
			return f.obj, nil
		}
		if !errors.Is(f.err, context.Canceled) && !errors.Is(f.err, context.DeadlineExceeded) {
			return blob.Object{}, f.err
		}
		// The one who asked gave up; we have not.
		if err := ctx.Err(); err != nil {
			return blob.Object{}, f.err
		}
	}
}

// PutImmutable writes an object that is never rewritten under its name, and
// remembers it in memory; see blob.PutImmutable.
func (s *Store) PutImmutable(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	a, err := blob.PutImmutable(ctx, s.Store, key, data)
	if err == nil && a.Size == int64(len(data)) {
		s.keep(key, blob.Object{Data: data, Attrs: a}, blob.All)
	}
	return a, err
}

// keep remembers bytes here and in the session.
func (s *Store) keep(key string, obj blob.Object, r blob.Range) {
	s.mu.Lock()
	s.remember(key, obj, r)
	s.mu.Unlock()
	if s.session != nil {
		s.session.mu.Lock()
		s.session.remember(key, obj, r)
		s.session.mu.Unlock()
	}
}

func (s *Store) count(f func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.stats)
}

// fly answers a question that nobody else is asking.
func (s *Store) fly(ctx context.Context, k flightKey, f *flight, known blob.Attrs) {
	defer func() {
		if f.err == nil {
			s.keep(k.key, f.obj, k.r)
		}
		s.mu.Lock()
		delete(s.flights, k)
		s.mu.Unlock()
		close(f.done)
	}()
	f.err = errors.New("the read panicked") // replaced below
	durable := s.disk != nil && known.Size > 0 && known.ETag != "" && !strings.HasPrefix(known.ETag, "W/")
	if durable {
		if data, ok := s.disk.get(s.url, k.key, known, k.r); ok {
			s.count(func(st *Stats) { st.Disk++ })
			f.obj, f.err = blob.Object{Data: data, Attrs: known}, nil
			return
		}
	}
	f.obj, f.err = s.Store.Get(ctx, k.key, k.r)
	s.count(func(st *Stats) { st.Store++ })
	if f.err != nil {
		return
	}
	if err := blob.CheckKnown(f.obj.Attrs, known); err != nil {
		f.obj, f.err = blob.Object{}, &blob.OpError{Op: blob.OpGet, Key: k.key, URL: s.url, Err: err}
		return
	}
	if durable {
		s.disk.put(s.url, k.key, known, k.r, f.obj.Data)
	}
}

// remembered looks a range up among what was remembered up to an age.
func (s *Store) remembered(key string, known blob.Attrs, r blob.Range, age uint64) (blob.Object, bool) {
	o := s.objects[key]
	if o == nil || known.Size == 0 || blob.CheckKnown(o.attrs, known) != nil {
		return blob.Object{}, false
	}
	from, to, err := r.Slice(o.attrs.Size)
	if err != nil {
		return blob.Object{}, false // the store says it in its own words
	}
	for _, e := range o.segments {
		g := e.Value.(*segment)
		if g.age <= age && g.off <= from && to <= g.off+int64(len(g.data)) {
			s.ranges.MoveToFront(e)
			lo, hi := from-g.off, to-g.off
			return blob.Object{Data: g.data[lo:hi:hi], Attrs: o.attrs}, true
		}
	}
	return blob.Object{}, false
}

// remember keeps what was read, and forgets what is another object under that
// name, and what no longer fits.
func (s *Store) remember(key string, obj blob.Object, r blob.Range) {
	if n := int64(len(obj.Data)); n == 0 || n > s.max/4 || obj.ETag == "" {
		return
	}
	from, to, err := r.Slice(obj.Size)
	if err != nil || to-from != int64(len(obj.Data)) {
		return
	}
	o := s.objects[key]
	if o != nil && (o.attrs.ETag != obj.ETag || o.attrs.Size != obj.Size) {
		for len(o.segments) > 0 {
			s.forget(o.segments[0])
		}
		o = nil
	}
	if o == nil {
		o = &object{attrs: obj.Attrs}
		s.objects[key] = o
	}
	for _, e := range o.segments {
		if g := e.Value.(*segment); g.off <= from && to <= g.off+int64(len(g.data)) {
			return // another operation read it meanwhile
		}
	}
	s.age++
	o.segments = append(o.segments, s.ranges.PushFront(&segment{key, from, obj.Data, s.age}))
	s.bytes += int64(len(obj.Data))
	for s.bytes > s.max {
		s.forget(s.ranges.Back())
	}
}

func (s *Store) forget(e *list.Element) {
	g := s.ranges.Remove(e).(*segment)
	s.bytes -= int64(len(g.data))
	o := s.objects[g.key]
	for i, x := range o.segments {
		if x == e {
			o.segments = append(o.segments[:i], o.segments[i+1:]...)
			break
		}
	}
	if len(o.segments) == 0 {
		delete(s.objects, g.key)
	}
}
