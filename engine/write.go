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
	// Base says which state the write is for; the zero value is BaseLive.
	Base Base
	// Plan is what PlanMutate or PlanLoad gave for the same options: the write does
	// that, or nothing. It says itself which state it is for, and Base is not asked.
	Plan *WritePlan
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
	Rows     uint64 `json:"rows"`                // after it
	Why      string `json:"why,omitempty"`       // planned: what of the write is about this table
	Text     string `json:"predicate,omitempty"` // planned: of a deletion
}

func writtenTable(t *txn.TableReceipt) WrittenTable {
	return WrittenTable{Table: t.Alias, From: t.From, To: t.To, Inserted: t.Inserted, Updated: t.Updated, Deleted: t.Deleted, Rows: t.Rows}
}

// Receipt is what a write came to.
type Receipt struct {
	Branch   string
	Nodes    int     // affected
	Edges    int     // affected
	Commit   *Commit // nil: nothing was to be written
	Tables   []WrittenTable
	Attempts int
	Base     string // commit that it was planned on
	// Warning is why the recovery record could not be removed: the write stands.
	Warning error
	Loads   []LoadedType // of a load
}

// LoadedType is how many entities of one type a load brought.
type LoadedType struct {
	Kind string `json:"kind"` // node or edge
	Name string `json:"name"`
	Rows int    `json:"entities"`
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
	var (
		partly *PartlyLoadedError
		stands *txn.RecoveryRequiredError
	)
	if errors.As(err, &partly) && partly.Commits > 0 || errors.As(err, new(*RecoveryEndedError)) {
		return true
	}
	return errors.Is(err, txn.ErrRecovery) && !(errors.As(err, &stands) && stands.Other)
}

// NoSuchBranch reports that the branch that was asked for is not there.
func NoSuchBranch(err error) bool {
	return errors.As(err, new(*manifest.BranchNotFoundError))
}

// intent is what a caller asked to be written.
type intent struct {
	verb   string // mutate or load
	query  string // name, of a mutate
	mode   LoadMode
	strict bool // it replaces or removes what a caller may have seen
	// plan makes the plan of one attempt.
	plan func(context.Context, *txn.Txn) (*exec.Plan, error)
	// digest is of all that was asked, once plan was called.
	digest func() string
}

// write runs one write: attempts from fresh bases until one is acknowledged.
func (o *operation) write(ctx context.Context, w WriteOptions, in *intent) (*Receipt, error) {
	if o.door == nil {
		return nil, &ReadOnlyError{o.uri}
	}
	out := &Receipt{Branch: nameOf(w.Branch)}
	opts, err := o.txnOptions(ctx, w, in)
	if err != nil {
		return out, err
	}
	opts.Recover = o.recoverFirst
	var marker *schema.Marker
	done, err := txn.Run(ctx, o.door, opts, func(ctx context.Context, t *txn.Txn) (*txn.PublishPlan, error) {
		marker = t.Contract.Marker
		p, err := o.planned(ctx, t, w, in, out)
		if err != nil {
			return nil, err
		}
		ready, err := p.Prepare(ctx)
		if err == nil && w.Plan != nil {
			err = w.Plan.holds(t.Outcome(), out.Base)
		}
		return ready, err
	})
	if err != nil {
		return out, w.Plan.moved(said(err), out.Base)
	}
	if o.warm.keep(w.Branch, done.Warm); done.Warm != nil {
		o.saw(txn.StateOf(done.Warm.View, marker))
	}
	c := commitOf(done.Commit)
	out.Commit, out.Attempts, out.Warning, o.commit = &c, done.Attempts, done.Warning, c.ID
	for i := range done.Tables {
		out.Tables = append(out.Tables, writtenTable(&done.Tables[i]))
	}
	return out, nil
}

// planned makes the plan of an attempt, and holds it against the one that was
// looked at.
func (o *operation) planned(ctx context.Context, t *txn.Txn, w WriteOptions, in *intent, out *Receipt) (*exec.Plan, error) {
	out.Base, _ = t.View.State.Head(t.Base.Branch)
	out.Nodes, out.Edges, out.Loads = 0, 0, nil
	o.commit = out.Base
	p, err := in.plan(ctx, t)
	if w.Plan != nil && (err == nil || errors.Is(err, txn.ErrNothing)) {
		if again := in.does(w.Branch, p); again != w.Plan.does {
			return nil, w.Plan.otherwise(out.Base, "what was asked for, or what it comes to, is not what was planned")
		}
	}
	if err != nil {
		return nil, err
	}
	if w.IfCommit != nil {
		p.Conditional()
	}
	out.Nodes, out.Edges, out.Loads = p.Nodes, p.Edges, loadedOf(p)
	return p, nil
}

func loadedOf(p *exec.Plan) (out []LoadedType) {
	for _, l := range p.Loads {
		out = append(out, LoadedType{l.Type.Kind.String(), l.Type.Name, l.Rows})
	}
	return out
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

func (o *operation) txnOptions(ctx context.Context, w WriteOptions, in *intent) (txn.Options, error) {
	seen, err := o.base(ctx, w, in)
	return txn.Options{
		Branch: w.Branch, Actor: w.Actor, ExpectedHead: w.IfCommit, Seen: seen, Warm: o.warm.of(w.Branch), Known: &o.warm.known,
		Open: lance.OpenOptions{Parallelism: o.opts.Concurrency, Texts: w.texts}, Now: o.clock, IDs: o.ids, Grace: o.grace, Events: w.Events,
	}, err
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
		if done.Warm != nil {
			o.sawView(done.Warm.View)
		}
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
