package workspace

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
)

// Open makes a workspace over the real engine. It makes the store and asks it
// nothing.
func Open(ctx context.Context, uri string, o engine.Options) (Workspace, error) {
	g, err := engine.Open(ctx, uri, o)
	if err != nil {
		return nil, err
	}
	w := &graph{Graph: g, ledger: o.Ledger}
	w.locked.Store(g.Remote())
	return w, nil
}

// graph is the engine's graph in the words of Workspace.
type graph struct {
	*engine.Graph
	ledger *cost.Ledger // nil: none is kept
	locked atomic.Bool
}

// Lock implements Workspace.
func (g *graph) Lock(on bool) { g.locked.Store(on) }

// writable is the error of a write while the graph is locked.
func (g *graph) writable() error {
	if g.locked.Load() {
		return &engine.ReadOnlyError{URI: g.URI()}
	}
	return nil
}

// Mutate implements Workspace.
func (g *graph) Mutate(ctx context.Context, m engine.MutateOptions) (*engine.Receipt, error) {
	if err := g.writable(); err != nil {
		return nil, err
	}
	_, r, err := g.Graph.Mutate(ctx, m)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Load implements Workspace.
func (g *graph) Load(ctx context.Context, l engine.LoadOptions) (*engine.Receipt, error) {
	if err := g.writable(); err != nil {
		return nil, err
	}
	r, err := g.Graph.Load(ctx, l)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// LoadChunks implements Workspace.
func (g *graph) LoadChunks(ctx context.Context, l engine.LoadOptions, progress func(engine.ChunkProgress)) (*engine.ChunkedReceipt, error) {
	if err := g.writable(); err != nil {
		return nil, err
	}
	return g.Graph.LoadChunks(ctx, l, progress)
}

// History implements Workspace.
func (g *graph) History(ctx context.Context, limit int) (*engine.Log, error) {
	return g.LogAll(ctx, limit)
}

// WriteRows implements Workspace.
func (g *graph) WriteRows(ctx context.Context, w io.Writer, table string, at engine.At, o engine.RowsOptions) (int, error) {
	n := 0
	for row, err := range g.StreamRows(ctx, table, at, o) {
		if err != nil {
			return n, err
		}
		if _, err := w.Write(append(row.Line, '\n')); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Operations implements Workspace.
func (g *graph) Operations(_ context.Context, n int) ([]cost.Entry, error) {
	if g.ledger == nil {
		return nil, nil
	}
	return g.ledger.Read(n, func(uri string) bool { return uri == g.URI() })
}

// Scope implements Workspace.
func (g *graph) Scope(ctx context.Context) (context.Context, Meter) {
	ctx, s := cost.WithTrace(ctx)
	return ctx, meter{s}
}

type meter struct{ scope *cost.Scope }

// Sample implements Meter.
func (m meter) Sample() Reading {
	r, inFlight, failed := m.scope.Sample()
	return Reading{
		Get: r.Ops.Get, Head: r.Ops.Head, List: r.Ops.List, Put: r.Ops.Put + r.Ops.Copy, Delete: r.Ops.Delete,
		BytesRead: r.BytesRead, BytesWritten: r.BytesWritten, Hops: r.Hops, InFlight: inFlight, Retries: r.Retries, Failed: failed,
	}
}

// Trace implements Meter.
func (m meter) Trace() cost.Trace { return m.scope.Trace() }

// Recover implements Workspace.
func (g *graph) Recover(ctx context.Context, o engine.RecoverOptions) (*engine.RecoveryReceipt, error) {
	if err := g.writable(); err != nil {
		return nil, err
	}
	return g.Graph.Recover(ctx, o)
}
