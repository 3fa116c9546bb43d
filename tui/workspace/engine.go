package workspace

import (
	"context"
	"time"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
)

// Options of Open.
type Options struct {
	Engine engine.Options
	Ledger *cost.Ledger // one line per question asked; nil = none is written
}

// Open makes a workspace over the real engine. It makes the store and asks it
// nothing.
func Open(ctx context.Context, uri string, o Options) (Workspace, error) {
	o.Engine.ReadOnly = true
	g, err := engine.Open(ctx, uri, o.Engine)
	if err != nil {
		return nil, err
	}
	clock := o.Engine.Clock
	if clock == nil {
		clock = time.Now
	}
	return &graph{Graph: g, ledger: o.Ledger, clock: clock}, nil
}

// graph adds to the engine's graph what a front end owes: the ledger's lines.
type graph struct {
	*engine.Graph
	ledger *cost.Ledger
	clock  func() time.Time
}

// ask runs one question under a scope of its own and writes its ledger line.
// A question that was cancelled is written too: its requests were made.
func ask[T any](ctx context.Context, g *graph, operation, commit string, run func(context.Context) (T, error)) (T, error) {
	ctx, scope := cost.WithScope(ctx)
	begin := g.clock()
	v, err := run(ctx)
	if g.ledger != nil {
		// A ledger that cannot be written must not fail the question.
		_ = g.ledger.Append(scope.Entry(operation, g.URI(), commit, begin, g.clock(), err))
	}
	return v, err
}

func (g *graph) Info(ctx context.Context, at engine.At) (*engine.Info, error) {
	return ask(ctx, g, "tui info", at.Commit, func(ctx context.Context) (*engine.Info, error) { return g.Graph.Info(ctx, at) })
}

func (g *graph) Branches(ctx context.Context) ([]engine.Branch, error) {
	return ask(ctx, g, "tui branches", "", g.Graph.Branches)
}

func (g *graph) BranchNames(ctx context.Context) ([]string, error) {
	return ask(ctx, g, "tui branch names", "", g.Graph.BranchNames)
}

func (g *graph) Snapshot(ctx context.Context, at engine.At) (*engine.Snapshot, error) {
	return ask(ctx, g, "tui snapshot", at.Commit, func(ctx context.Context) (*engine.Snapshot, error) { return g.Graph.Snapshot(ctx, at) })
}

func (g *graph) History(ctx context.Context, limit int) ([]engine.LogEntry, error) {
	return ask(ctx, g, "tui commits", "", func(ctx context.Context) ([]engine.LogEntry, error) { return g.Graph.LogAll(ctx, limit) })
}

func (g *graph) Versions(ctx context.Context, table, branch string, o engine.VersionsOptions) (*engine.Versions, error) {
	return ask(ctx, g, "tui versions", "", func(ctx context.Context) (*engine.Versions, error) {
		return g.Graph.Versions(ctx, table, branch, o)
	})
}

func (g *graph) Fragments(ctx context.Context, table string, at engine.At) (*engine.Fragments, error) {
	return ask(ctx, g, "tui fragments", at.Commit, func(ctx context.Context) (*engine.Fragments, error) {
		return g.Graph.Fragments(ctx, table, at)
	})
}

func (g *graph) Rows(ctx context.Context, table string, at engine.At, o engine.RowsOptions) (*engine.RowPage, error) {
	return ask(ctx, g, "tui rows", at.Commit, func(ctx context.Context) (*engine.RowPage, error) {
		return g.Graph.Rows(ctx, table, at, o)
	})
}

// Scope implements Workspace.
func (g *graph) Scope(ctx context.Context) (context.Context, Meter) {
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
