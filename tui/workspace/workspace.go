// Package workspace is everything that a screen may ask for, and all that may
// be done to a graph, as one interface.
//
// Screens never reach past it. Its answers are plain values of package engine
// that are never changed afterwards, and its errors are sentences for people.
// There are two implementations: Open makes one over the real engine, and
// package fake answers from a script.
package workspace

import (
	"context"
	"io"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
)

// Workspace is one opened graph. It is safe for concurrent use; every method
// with a context may take arbitrarily long and returns soon after its context
// ends.
type Workspace interface {
	// URI is the address as the user gave it, spelled canonically.
	URI() string
	// Remote says that the graph is reached over a network: it is shown
	// read-only until unlocked.
	Remote() bool

	Info(ctx context.Context, at engine.At) (*engine.Info, error)
	// PendingRecords are the recovery records as they say of themselves; whether one
	// was published is not told.
	PendingRecords(ctx context.Context) ([]engine.Pending, error)
	Branches(ctx context.Context) ([]engine.Branch, error)
	BranchNames(ctx context.Context) ([]string, error)
	Snapshot(ctx context.Context, at engine.At) (*engine.Snapshot, error)
	// History is the union of all branches' commits, newest first, children
	// before their parents. limit 0 = all.
	History(ctx context.Context, limit int) (*engine.Log, error)
	Versions(ctx context.Context, table, branch string, o engine.VersionsOptions) (*engine.Versions, error)
	Fragments(ctx context.Context, table string, at engine.At) (*engine.Fragments, error)
	Rows(ctx context.Context, table string, at engine.At, o engine.RowsOptions) (*engine.RowPage, error)

	Schema(ctx context.Context) (*engine.Schema, error)
	// Entity is the page of exactly one row; *engine.NotFoundError when there is
	// none.
	Entity(ctx context.Context, table, id string, at engine.At) (*engine.RowPage, error)
	Neighbors(ctx context.Context, typ, id string, at engine.At, o engine.NeighborsOptions) (*engine.Neighbors, error)
	Find(ctx context.Context, id string, at engine.At) ([]engine.Hit, error)
	// Diff compares two points of the graph, DiffVersions two versions of one
	// table as a branch has it.
	Diff(ctx context.Context, a, b engine.At, o engine.DiffOptions) (*engine.Diff, error)
	DiffVersions(ctx context.Context, table, branch string, a, b uint64, o engine.DiffOptions) (*engine.VersionDiff, error)
	// ResolveAt reads a branch, a manifest version of branch, or a commit.
	ResolveAt(ctx context.Context, text, branch string) (engine.At, error)
	// ResolveAll is ResolveAt for several texts at once.
	ResolveAll(ctx context.Context, branch string, texts ...string) ([]engine.At, error)
	// Object is the beginning of any object of the store.
	Object(ctx context.Context, key string, n int) (*engine.Object, error)
	// WriteRows streams the rows of a table that meet a condition, as `export`
	// spells them, and says how many there were.
	WriteRows(ctx context.Context, w io.Writer, table string, at engine.At, o engine.RowsOptions) (int, error)
	// Operations are the newest n lines of the ledger about this graph, oldest
	// first; it asks no store.
	Operations(ctx context.Context, n int) ([]cost.Entry, error)

	// Lock forbids writing to the graph, or allows it. A remote graph begins
	// locked. While it is, Mutate, Load, LoadChunks and Recover are refused with an
	// *engine.ReadOnlyError, whoever calls them.
	Lock(on bool)
	// PlanMutate and PlanLoad say what a write would do. They write nothing.
	PlanMutate(ctx context.Context, m engine.MutateOptions) (*engine.WritePlan, error)
	PlanLoad(ctx context.Context, l engine.LoadOptions) (*engine.WritePlan, error)
	// PlanChunks says how LoadChunks would split its input.
	PlanChunks(ctx context.Context, l engine.LoadOptions) (*engine.ChunkPlan, error)
	// The receipt is nil beside an error; of LoadChunks it then says what was
	// committed before. What is durable is not undone when ctx ends.
	Mutate(ctx context.Context, m engine.MutateOptions) (*engine.Receipt, error)
	Load(ctx context.Context, l engine.LoadOptions) (*engine.Receipt, error)
	LoadChunks(ctx context.Context, l engine.LoadOptions, progress func(engine.ChunkProgress)) (*engine.ChunkedReceipt, error)

	// PlanRecovery says what every recovery record means and what would be done
	// about it. It writes nothing, and may be asked while the graph is locked.
	PlanRecovery(ctx context.Context) (*engine.RecoveryPlan, error)
	// Recover does what a plan says. The receipt, when there is one beside an
	// error, says what was done before.
	Recover(ctx context.Context, o engine.RecoverOptions) (*engine.RecoveryReceipt, error)

	// Scope returns a context whose requests are counted by a new meter, and by
	// the meters that ctx already carries.
	Scope(ctx context.Context) (context.Context, Meter)
	// Close releases what the graph holds. It does not wait for requests.
	Close() error
}

// Meter counts the requests made under one context. Its methods may be called
// at any time from any goroutine.
type Meter interface {
	Sample() Reading
	// Trace is what was counted in detail: the newest calls, and all calls by
	// path class.
	Trace() cost.Trace
}

// Reading is the state of a Meter at one moment.
type Reading struct {
	Get, Head, List, Put, Delete int64
	BytesRead, BytesWritten      int64
	Hops                         int // longest chain of requests that waited for one another
	InFlight                     int
	Retries, Failed              int64
}

// Requests is the number of all requests.
func (r Reading) Requests() int64 { return r.Get + r.Head + r.List + r.Put + r.Delete }

// Add sums two readings; of hops the longer chain counts.
func (r Reading) Add(o Reading) Reading {
	r.Get += o.Get
	r.Head += o.Head
	r.List += o.List
	r.Put += o.Put
	r.Delete += o.Delete
	r.BytesRead += o.BytesRead
	r.BytesWritten += o.BytesWritten
	r.Hops = max(r.Hops, o.Hops)
	r.InFlight += o.InFlight
	r.Retries += o.Retries
	r.Failed += o.Failed
	return r
}
