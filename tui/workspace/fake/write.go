package fake

import (
	"context"
	"errors"
	"time"

	"github.com/omnideck/omnideck/engine"
)

// Writing is what writes come to. The steps of Script named PlanMutate, PlanLoad,
// PlanChunks, Mutate, Load and LoadChunks say besides how long each takes and
// whether it fails.
type Writing struct {
	// Plans are given one after the other; the last one stays. Receipts likewise,
	// and Errs, which end a write after its events: nil = it is done.
	Plans    []*engine.WritePlan
	Split    *engine.ChunkPlan
	Receipts []*engine.Receipt
	Errs     []error
	// Events are told by Mutate and Load, each Pause apart; a context that ends
	// before Durable of them were told ends the write.
	Events  []engine.WriteEvent
	Durable int
	Chunks  []engine.ChunkProgress // told by LoadChunks
	Pause   time.Duration

	locked  *bool // nil: as it begins
	written int   // calls that may write
	planned int
	last    engine.WriteOptions
}

// Written is how often a write was begun, and with which options the last one.
func (w *Workspace) Written() (int, engine.WriteOptions) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Writing.written, w.Writing.last
}

// Lock implements workspace.Workspace.
func (w *Workspace) Lock(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Writing.locked = &on
}

func (w *Workspace) nextPlan() *engine.WritePlan {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := &w.Writing
	x.planned++
	if len(x.Plans) == 0 { // nothing would change
		return &engine.WritePlan{Branch: "main", Class: "nothing", Tables: []engine.WrittenTable{}}
	}
	return nth(x.Plans, x.planned)
}

// nth is the n-th of a list, from 1; the last one stays.
func nth[T any](list []T, n int) (v T) {
	if len(list) == 0 {
		return v
	}
	return list[min(n, len(list))-1]
}

// PlanMutate implements workspace.Workspace.
func (w *Workspace) PlanMutate(ctx context.Context, _ engine.MutateOptions) (*engine.WritePlan, error) {
	return answer(ctx, w, "PlanMutate", w.nextPlan())
}

// PlanLoad implements workspace.Workspace.
func (w *Workspace) PlanLoad(ctx context.Context, _ engine.LoadOptions) (*engine.WritePlan, error) {
	return answer(ctx, w, "PlanLoad", w.nextPlan())
}

// PlanChunks implements workspace.Workspace.
func (w *Workspace) PlanChunks(ctx context.Context, _ engine.LoadOptions) (*engine.ChunkPlan, error) {
	return answer(ctx, w, "PlanChunks", w.Writing.Split)
}

// Mutate implements workspace.Workspace.
func (w *Workspace) Mutate(ctx context.Context, m engine.MutateOptions) (*engine.Receipt, error) {
	return w.write(ctx, "Mutate", m.WriteOptions)
}

// Load implements workspace.Workspace.
func (w *Workspace) Load(ctx context.Context, l engine.LoadOptions) (*engine.Receipt, error) {
	return w.write(ctx, "Load", l.WriteOptions)
}

// begin notes a write, and refuses it while the graph is locked.
func (w *Workspace) begin(o engine.WriteOptions) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := &w.Writing
	if x.locked == nil && w.IsRemote || x.locked != nil && *x.locked {
		return 0, &engine.ReadOnlyError{URI: w.Address}
	}
	x.written++
	x.last = o
	return x.written, nil
}

func (w *Workspace) write(ctx context.Context, method string, o engine.WriteOptions) (*engine.Receipt, error) {
	n, err := w.begin(o)
	if err != nil {
		return nil, err
	}
	x := &w.Writing
	for i, v := range x.Events {
		if i < x.Durable {
			if err := sleep(ctx, x.Pause); err != nil {
				return nil, err
			}
		} else {
			time.Sleep(x.Pause)
		}
		if o.Events != nil {
			o.Events(v)
		}
	}
	if len(x.Events) > x.Durable {
		ctx = context.WithoutCancel(ctx)
	}
	if err := w.step(ctx, method); err != nil {
		return nil, err
	}
	if err := nth(x.Errs, n); err != nil {
		return nil, err
	}
	return nth(x.Receipts, n), nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// LoadChunks implements workspace.Workspace.
func (w *Workspace) LoadChunks(ctx context.Context, l engine.LoadOptions, progress func(engine.ChunkProgress)) (*engine.ChunkedReceipt, error) {
	n, err := w.begin(l.WriteOptions)
	if err != nil {
		return nil, err
	}
	x := &w.Writing
	out := &engine.ChunkedReceipt{Chunks: len(x.Chunks)}
	if r := nth(x.Receipts, n); r != nil {
		out.Receipt = *r
	}
	partly := func(err error) error {
		return &engine.PartlyLoadedError{Chunk: out.Commits + 1, Of: out.Chunks, Commits: out.Commits, Err: err}
	}
	for _, c := range x.Chunks {
		if err := sleep(ctx, x.Pause); err != nil {
			return out, partly(err)
		}
		out.Commits++
		progress(c)
	}
	if err := errors.Join(w.step(ctx, "LoadChunks"), nth(x.Errs, n)); err != nil {
		return out, partly(err)
	}
	return out, nil
}
