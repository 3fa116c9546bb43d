package engine

import (
	"context"
	"io"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/cache"
	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/txn"
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
	Write        bool             // allow Init, Mutate and Load, which go through package txn
	Random       io.Reader        // of ids and names of what is written; nil = crypto/rand
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
	uri      string
	opts     Options
	store    blob.Store                                 // read-only, at most Concurrency requests at once
	door     blob.Store                                 // seen, when it may be written through: handed to package txn; nil = opened for looking
	ids      *txn.IDs                                   // of what is written
	warm     warm                                       // what writes left for the next ones
	standing standing                                   // what was seen last, for BaseHandle
	grace    time.Duration                              // of other operations' records; 0 = that of txn. Tests alone set it
	sleep    func(context.Context, time.Duration) error // nil = a timer. Tests alone set it
	disk     *cache.Disk                                // copies of immutable objects; nil = none are kept
	seen     *cache.Store                               // the store behind the one memory of this session, of what is read and what is written
	clock    func() time.Time

	orders orderMemo // of sorted tables
	large  *largeStates
}

// Open prepares a graph for looking, and with Options.Write for writing. It makes the store and does no I/O, so
// that an address without a graph is an error of the first question, not of
// Open.
func Open(ctx context.Context, uri string, o Options) (*Graph, error) {
	if o.Concurrency <= 0 {
		o.Concurrency = defaultConcurrency
	}
	g := &Graph{uri: uri, opts: o, clock: o.Clock, large: newLargeStates()}
	if err := g.connect(ctx); err != nil {
		return nil, err
	}
	if g.uri == "" {
		g.uri = g.store.Properties().URL
	}
	if g.clock == nil {
		g.clock = time.Now
	}
	if g.door != nil {
		if g.ids = processIDs; o.Clock != nil || o.Random != nil {
			g.ids = txn.NewIDs(g.clock, o.Random)
		}
	}
	if !o.NoCache && g.Remote() {
		if dir, err := cache.DefaultDir(); err == nil {
			g.disk = cache.OpenDisk(dir, 0)
		}
	}
	if g.door == nil {
		g.seen = cache.New(g.store, cache.Options{Disk: g.disk})
		return g, nil
	}
	g.seen = cache.New(g.door, cache.Options{Disk: g.disk})
	g.door = g.seen
	return g, nil
}

// connect makes the stores.
func (g *Graph) connect(ctx context.Context) (err error) {
	switch {
	case g.opts.Store != nil && g.opts.Write:
		g.door = blob.Limit(g.opts.Store, g.opts.Concurrency)
	case g.opts.Store != nil:
		g.store = blob.Limit(blob.ReadOnly(g.opts.Store), g.opts.Concurrency)
	case g.opts.Write:
		g.door, err = opener.Open(ctx, g.uri, opener.InFlight(g.opts.Concurrency))
	default:
		g.store, err = opener.Open(ctx, g.uri, opener.ReadOnly(), opener.InFlight(g.opts.Concurrency))
	}
	if err == nil && g.door != nil {
		g.store = blob.ReadOnly(g.door)
	}
	return err
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
