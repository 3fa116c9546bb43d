package engine

import (
	"context"
	"sync"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/refs"
	"github.com/omnideck/omnideck/manifest"
)

// operation is what one call of an exported method shares between its parts:
// the views of `__manifest` that it opened. It lives as long as the call.
type operation struct {
	*Graph
	store  blob.Store // the graph's, behind a cache of immutable objects
	commit string     // head that was read, for the ledger
	table  string     // that was read, for the ledger; "" = the graph
	scope  *cost.Scope

	allOnce once
	all     []branchView
	listing *branches.Listing // that all was read from
	allErr  error

	namesOnce once
	names     *branches.Listing
	namesErr  error

	mu      sync.Mutex
	views   map[viewKey]*viewOnce
	refs    map[string]*refs.Branch // of branches, as far as they were read
	outside Outside
}

type viewKey struct {
	branch  string
	version uint64
}

type viewOnce struct {
	once once
	view *manifest.View
	err  error
}

// readyKey is where a context carries what to call, see WithReady.
type readyKey struct{}

// WithReady returns a context whose operation calls ready as soon as it has read
// the state of the graph that it is about, and goes on: what is asked of that
// state from then on shares what was read of it. It may be called more than once
// or, when the operation fails or reads no such state, never.
func WithReady(ctx context.Context, ready func()) context.Context {
	return context.WithValue(ctx, readyKey{}, ready)
}

// isReady tells that the state was read.
func isReady(ctx context.Context) {
	if ready, ok := ctx.Value(readyKey{}).(func()); ok {
		ready()
	}
}

// do runs one operation under a meter of its own and writes its ledger line. A
// ledger that cannot be written fails nothing.
func do[T any](ctx context.Context, g *Graph, name string, run func(context.Context, *operation) (T, error)) (T, error) {
	o := &operation{Graph: g, store: blob.ReadOnly(g.seen.Operation()), views: map[viewKey]*viewOnce{}}
	defer o.outside.Close()
	if g.opts.Meter != nil {
		ctx = blob.WithMeter(ctx, g.opts.Meter)
	}
	ctx, scope := cost.WithScope(ctx)
	o.scope = scope
	begin := g.clock()
	out, err := run(ctx, o)
	if g.opts.Ledger != nil {
		e := scope.Entry(name, g.store.Properties().URL, o.commit, begin, g.clock(), err)
		e.Table = o.table
		_ = g.opts.Ledger.Append(e)
	}
	return out, err
}

// lance are the options with which every dataset of this operation is opened.
func (o *operation) lance() lance.OpenOptions {
	lo := lance.OpenOptions{Parallelism: o.opts.Concurrency}
	if o.opts.OpenExternal {
		o.outside.Allow(&lo)
	}
	return lo
}

// each runs f for 0 … n-1 side by side, at most Concurrency at once, and
// returns the first error in their order after all have ended.
func (g *Graph) each(n int, f func(i int) error) error {
	return beside.All(n, g.opts.Concurrency, f)
}

// begin runs f beside what follows; the function returned waits for its end.
// When one request may be in flight, f has ended before begin returns: then what
// is asked of the store does not depend on which part comes first.
func (g *Graph) begin(f func()) (wait func()) {
	if g.opts.Concurrency == 1 {
		f()
		return func() {}
	}
	var wg sync.WaitGroup
	wg.Go(f)
	return wg.Wait
}

// together is the function of that name, one part after the other when one
// request may be in flight: then what is asked of the store does not depend on
// which part comes first.
func (g *Graph) together(parts ...func() error) error {
	if g.opts.Concurrency > 1 {
		return together(parts...)
	}
	errs := make([]error, 0, len(parts))
	for _, p := range parts {
		errs = append(errs, p())
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// together runs parts side by side and returns the first error in their order
// after all have ended.
func together(parts ...func() error) error {
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, p := range parts {
		wg.Go(func() { errs[i] = p() })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
