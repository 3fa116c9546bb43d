package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/engine/exec"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
)

// WriteOptions are common to all writes.
type WriteOptions struct {
	Branch string  // "" = main
	Actor  *string // nil = none is recorded
	// IfCommit is the commit that the branch must be at; nil = whatever is there.
	IfCommit *string
	// DryRun plans and checks the write, and writes nothing.
	DryRun bool
	// Events hears of every step, on the goroutine that writes.
	Events func(WriteEvent)

	texts *lance.TextMemory // of a load in chunks
}

// WriteEvent is one step of a write.
type WriteEvent = txn.Event

// WrittenTable is what a write did, or would do, to one table.
type WrittenTable struct {
	Table    string `json:"table"`
	From     uint64 `json:"from_version"`
	To       uint64 `json:"to_version,omitempty"` // 0 = planned
	Inserted uint64 `json:"inserted"`
	Updated  uint64 `json:"updated"`
	Deleted  uint64 `json:"deleted"`
	Rows     uint64 `json:"rows"`              // after it; of a plan, before it
	Written  int    `json:"written,omitempty"` // planned: rows inserted or replaced
	Text     string `json:"predicate,omitempty"`
}

// Receipt is what a write came to.
type Receipt struct {
	Branch   string
	Nodes    int     // affected
	Edges    int     // affected
	Commit   *Commit // nil: nothing was to be written, or it was only planned
	Tables   []WrittenTable
	Attempts int
	Base     string // commit that it was planned on
	// Warning is why the recovery record could not be removed: the write stands.
	Warning error
	Loads   []LoadedType // of a load
}

// LoadedType is how many entities of one type a load brought.
type LoadedType struct {
	Kind string // node or edge
	Name string
	Rows int
}

// ReadOnlyError: the graph was opened for looking.
type ReadOnlyError struct{ URI string }

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("writing to %s: it was opened for looking only; nothing was written", e.URI)
}

// Is: nothing can be written through this handle.
func (e *ReadOnlyError) Is(target error) bool { return target == blob.ErrReadOnly }

// HeadMovedError: the branch is at another commit than the write was for.
// Nothing was written.
type HeadMovedError struct {
	Branch   string
	Expected string
	Actual   string // "" = no commit
}

func (e *HeadMovedError) Error() string {
	return fmt.Sprintf("precondition failed on branch '%s': expected head '%s' but current is %s", e.Branch, e.Expected, e.Actual)
}

// Wrote reports whether something of a write that ended with err stands, or may.
func Wrote(err error) bool {
	var partly *PartlyLoadedError
	return errors.Is(err, txn.ErrRecovery) || errors.As(err, &partly) && partly.Commits > 0
}

// NoSuchBranch reports that the branch that was asked for is not there.
func NoSuchBranch(err error) bool {
	return errors.As(err, new(*manifest.BranchNotFoundError))
}

// planner makes the plan of one attempt.
type planner func(context.Context, *txn.Txn) (*exec.Plan, error)

// write runs one write: attempts from fresh bases until one is acknowledged.
func (o *operation) write(ctx context.Context, w WriteOptions, plan planner) (*Receipt, error) {
	if o.door == nil {
		return nil, &ReadOnlyError{o.uri}
	}
	out := &Receipt{Branch: nameOf(w.Branch)}
	opts := o.txnOptions(w)
	if w.DryRun {
		return out, o.dry(ctx, w, opts, plan, out)
	}
	done, err := txn.Run(ctx, o.door, opts, func(ctx context.Context, t *txn.Txn) (*txn.PublishPlan, error) {
		p, err := o.planned(ctx, t, w, plan, out)
		if err != nil {
			return nil, err
		}
		return p.Prepare(ctx)
	})
	if err != nil {
		return out, said(err)
	}
	o.warm.keep(w.Branch, done.Warm)
	c := commitOf(done.Commit)
	out.Commit, out.Attempts, out.Warning, o.commit = &c, done.Attempts, done.Warning, c.ID
	for _, t := range done.Tables {
		out.Tables = append(out.Tables, WrittenTable{Table: t.Alias, From: t.From, To: t.To, Inserted: t.Inserted, Updated: t.Updated, Deleted: t.Deleted, Rows: t.Rows})
	}
	return out, nil
}

func (o *operation) planned(ctx context.Context, t *txn.Txn, w WriteOptions, plan planner, out *Receipt) (*exec.Plan, error) {
	out.Base, _ = t.View.State.Head(t.Base.Branch)
	out.Nodes, out.Edges, out.Loads = 0, 0, nil
	o.commit = out.Base
	p, err := plan(ctx, t)
	if err != nil {
		return nil, err
	}
	if w.IfCommit != nil {
		p.Conditional()
	}
	out.Nodes, out.Edges = p.Nodes, p.Edges
	for _, l := range p.Loads {
		out.Loads = append(out.Loads, LoadedType{l.Type.Kind.String(), l.Type.Name, l.Rows})
	}
	return p, nil
}

// dry plans and checks, and goes no further.
func (o *operation) dry(ctx context.Context, w WriteOptions, opts txn.Options, plan planner, out *Receipt) error {
	t, err := txn.Begin(ctx, o.door, opts)
	if err != nil {
		return said(err)
	}
	p, err := o.planned(ctx, t, w, plan, out)
	if err != nil {
		return said(err)
	}
	for _, x := range p.Touches() {
		e, _ := t.View.Table(x.Alias)
		out.Tables = append(out.Tables, WrittenTable{Table: x.Alias, From: e.Version, Deleted: uint64(x.Removed), Rows: e.Rows, Written: x.Written, Text: x.Text})
	}
	return nil
}

// said puts errors of package txn that a caller asks for into words of this one;
// that there was nothing to write is none.
func said(err error) error {
	var moved *txn.PreconditionFailedError
	switch {
	case errors.As(err, &moved):
		return &HeadMovedError{nameOf(moved.Branch), moved.Expected, moved.Actual}
	case errors.Is(err, txn.ErrNothing):
		return onlyNothing(err)
	}
	return err
}

// onlyNothing is what else went wrong beside that there was nothing to write.
func onlyNothing(err error) error {
	all, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, e := range all.Unwrap() {
		if !errors.Is(e, txn.ErrNothing) {
			return e
		}
	}
	return nil
}

func (o *operation) txnOptions(w WriteOptions) txn.Options {
	return txn.Options{
		Branch: w.Branch, Actor: w.Actor, ExpectedHead: w.IfCommit, Warm: o.warm.of(w.Branch),
		Open: lance.OpenOptions{Parallelism: o.opts.Concurrency, Texts: w.texts}, Now: o.clock, IDs: o.ids, Events: w.Events,
	}
}

// InitOptions say how a graph is made.
type InitOptions struct {
	Source []byte // .pg
	Force  bool   // replaces objects of a schema that no graph belongs to
}

// Init makes a graph at the address.
//
// Errors: *schema.SourceError, and those of txn.Init.
func (g *Graph) Init(ctx context.Context, i InitOptions) (*Receipt, error) {
	return do(ctx, g, "init", func(ctx context.Context, o *operation) (*Receipt, error) {
		if o.door == nil {
			return nil, &ReadOnlyError{o.uri}
		}
		done, err := txn.Init(ctx, o.door, txn.InitOptions{
			Source: i.Source, Force: i.Force, Open: lance.OpenOptions{Parallelism: o.opts.Concurrency}, Now: o.clock, IDs: o.ids,
		})
		if err != nil {
			return nil, err
		}
		o.warm.keep("", done.Warm)
		c := commitOf(done.Commit)
		o.commit = c.ID
		out := &Receipt{Branch: mainName, Commit: &c, Attempts: 1, Warning: done.Warning}
		for _, types := range [][]schema.Type{done.Contract.Nodes, done.Contract.Edges} {
			for i := range types {
				out.Tables = append(out.Tables, WrittenTable{Table: types[i].Alias(), To: 1})
			}
		}
		return out, nil
	})
}
