// Package beside does the parts of one piece of work side by side, so that what
// comes of them does not depend on which part comes first.
//
// # Which error
//
// Parts are in the order in which they are begun. The error of the work is that
// of the first part in this order that failed, whenever it failed: a part that
// fails ends only those after it. What ends early has thus never the say, and the
// parts that have it always end by themselves. A part that may wait for long is
// best begun last.
package beside

import (
	"cmp"
	"context"
	"errors"
	"sync"
)

// Group is a piece of work under way. Go and Wait are called by one goroutine.
type Group struct {
	ctx    context.Context
	places chan struct{} // one for each part that may run; nil = no bound
	work   sync.WaitGroup

	mu     sync.Mutex
	ends   []context.CancelFunc // of the parts begun
	failed int                  // the first part that failed, when err is not nil
	err    error
}

// New begins a piece of work, of which at most n parts run at once; 0 = no bound.
func New(ctx context.Context, n int) *Group {
	g := &Group{ctx: ctx}
	if n > 0 {
		g.places = make(chan struct{}, n)
	}
	return g
}

// Go begins the next part, once there is a place for it, unless one before it has
// failed. Its context ends when a part before it fails, and with Wait.
func (g *Group) Go(part func(ctx context.Context) error) {
	if g.places != nil {
		g.places <- struct{}{}
	}
	ctx, i, ok := g.begin()
	if !ok {
		g.leave()
		return
	}
	g.work.Go(func() {
		defer g.leave()
		if err := part(ctx); err != nil {
			g.fail(ctx, i, err)
		}
	})
}

func (g *Group) leave() {
	if g.places != nil {
		<-g.places
	}
}

func (g *Group) begin() (context.Context, int, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return nil, 0, false
	}
	ctx, end := context.WithCancel(g.ctx)
	g.ends = append(g.ends, end)
	return ctx, len(g.ends) - 1, true
}

func (g *Group) fail(ctx context.Context, i int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil && (g.failed < i || ctx.Err() == nil && errors.Is(err, context.Canceled)) {
		return
	}
	g.failed, g.err = i, err
	for _, end := range g.ends[i+1:] {
		end()
	}
}

// Wait waits until all parts have ended, and returns the error of the first one in
// their order that failed.
func (g *Group) Wait() error {
	g.work.Wait()
	for _, end := range g.ends {
		end()
	}
	return g.err
}

// All does f of 0 … n-1, at most limit at once (0 = no bound), all of them, and
// returns the error of the first in their order that failed: then nothing of them
// is under way any more.
func All(n, limit int, f func(i int) error) error {
	errs := make([]error, n)
	g := New(context.Background(), limit)
	for i := range n {
		g.Go(func(context.Context) error { errs[i] = f(i); return nil })
	}
	_ = g.Wait() // errors are in errs
	return cmp.Or(errs...)
}

// Each does f of 0 … n-1, at most limit at once (0 = no bound), and returns the
// error of the first in their order that failed.
func Each(ctx context.Context, n, limit int, f func(ctx context.Context, i int) error) error {
	if n == 1 {
		return f(ctx, 0)
	}
	g := New(ctx, limit)
	for i := range n {
		g.Go(func(ctx context.Context) error { return f(ctx, i) })
	}
	return g.Wait()
}
