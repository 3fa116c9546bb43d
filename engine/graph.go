package engine

import (
	"context"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/cache"
	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/cost"
)

// Options of Open. The zero value opens the URI with defaults.
type Options struct {
	Store        blob.Store       // nil: opened from the URI
	Meter        *blob.Meter      // process meter; may be nil
	Ledger       *cost.Ledger     // gets one line for every call of a method; may be nil
	Concurrency  int              // requests in flight; 0 = 64
	Clock        func() time.Time // nil = time.Now
	NoCache      bool             // no persistent cache of immutable objects
	OpenExternal bool             // allow reads outside the root: recorded base paths, external blobs
}

// defaultConcurrency is the number of requests in flight (decisions 43).
const defaultConcurrency = 64

// Graph is an opened graph. Safe for concurrent use. Every exported method
// with a context is one operation: it has a meter of its own, inside those
// that the context carries, and leaves one line in the ledger. Looking writes
// nothing to the store. A Graph remembers immutable objects that it has read
// (blob/cache): a second question asks the store what is newest and reads only
// what is new. Verify remembers nothing from before.
type Graph struct {
	uri   string
	opts  Options
	store blob.Store   // read-only, at most Concurrency requests at once
	disk  *cache.Disk  // copies of immutable objects; nil = none are kept
	seen  *cache.Store // store, behind the memory of this session
	clock func() time.Time

	orders orderMemo // of sorted tables
	large  *largeStates
}

// Open prepares a graph for looking. It makes the store and does no I/O, so
// that an address without a graph is an error of the first question, not of
// Open.
func Open(ctx context.Context, uri string, o Options) (*Graph, error) {
	if o.Concurrency <= 0 {
		o.Concurrency = defaultConcurrency
	}
	g := &Graph{uri: uri, opts: o, clock: o.Clock, large: newLargeStates()}
	if o.Store != nil {
		g.store = blob.Limit(blob.ReadOnly(o.Store), o.Concurrency)
	} else {
		var err error
		if g.store, err = opener.Open(ctx, uri, opener.ReadOnly(), opener.InFlight(o.Concurrency)); err != nil {
			return nil, err
		}
	}
	if g.uri == "" {
		g.uri = g.store.Properties().URL
	}
	if g.clock == nil {
		g.clock = time.Now
	}
	if !o.NoCache && g.Remote() {
		if dir, err := cache.DefaultDir(); err == nil {
			g.disk = cache.OpenDisk(dir, 0)
		}
	}
	g.seen = cache.New(g.store, cache.Options{Disk: g.disk})
	return g, nil
}

// URI is the address as it was given.
func (g *Graph) URI() string { return g.uri }

// Store are the facts about the store: root, kind, endpoint, where credentials
// came from. No request.
func (g *Graph) Store() []Fact {
	p := g.store.Properties()
	out := []Fact{{"root", p.URL}, {"scheme", p.Scheme}}
	for _, f := range p.Facts {
		out = append(out, Fact(f))
	}
	return out
}

// Remote says whether the store is reached over a network.
func (g *Graph) Remote() bool { return g.store.Properties().Remote }

// Close releases the store. Operations still running fail.
func (g *Graph) Close() error { return g.store.Close() }
