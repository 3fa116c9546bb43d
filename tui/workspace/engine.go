package workspace

import (
	"context"

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
	return graph{g}, nil
}

// graph is the engine's graph in the words of Workspace.
type graph struct{ *engine.Graph }

// History implements Workspace.
func (g graph) History(ctx context.Context, limit int) ([]engine.LogEntry, error) {
	return g.LogAll(ctx, limit)
}

// Scope implements Workspace.
func (g graph) Scope(ctx context.Context) (context.Context, Meter) {
	ctx, s := cost.WithScope(ctx)
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
