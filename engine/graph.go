package engine

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// Options of Open. The zero value opens the URI with defaults.
type Options struct {
	Store        blob.Store       // nil: opened from the URI
	Meter        *blob.Meter      // process meter; may be nil
	Concurrency  int              // requests in flight; 0 = 64
	Clock        func() time.Time // nil = time.Now
	NoCache      bool             // no persistent cache of immutable objects
	ReadOnly     bool             // true in this release: the store is wrapped by blob.ReadOnly
	OpenExternal bool             // allow reads outside the root: recorded base paths, external blobs
}

// VersionsOptions say what to tell of a version chain.
type VersionsOptions struct {
	Limit   int  // newest versions only; 0 = all
	Details bool // read the manifests of the versions told
	Holders bool // say what holds each version
}

// RowsOptions select rows.
type RowsOptions struct {
	Offset  uint64
	Limit   int      // 0 = 100 for Rows, all for StreamRows
	Where   string   // expression of package engine/where
	Columns []string // nil = all
}

// NeighborsOptions bound a walk.
type NeighborsOptions struct {
	Edge    string // only this edge type; "" = all
	Out, In bool   // both false = both
	Depth   int    // 0 = 1
	Limit   int    // edges; 0 = 1000
}

// VerifyOptions say how far to look.
type VerifyOptions struct {
	Deep   bool   // also read rows: duplicate ids
	Branch string // only this branch; "" = all
}

// Graph is an opened graph. Safe for concurrent use.
type Graph struct {
	uri string
}

var errNotWired = errors.New("not wired yet")

// Open prepares a graph for looking. It makes the store and does no I/O.
func Open(ctx context.Context, uri string, o Options) (*Graph, error) {
	return &Graph{uri: uri}, nil
}

func (g *Graph) URI() string   { return g.uri }
func (g *Graph) Store() []Fact { return nil }
func (g *Graph) Close() error  { return nil }
func (g *Graph) Remote() bool  { return false }
func (g *Graph) ResolveAt(ctx context.Context, text, branch string) (At, error) {
	return At{}, errNotWired
}
func (g *Graph) Info(ctx context.Context, at At) (*Info, error)         { return nil, errNotWired }
func (g *Graph) BranchNames(ctx context.Context) ([]string, error)      { return nil, errNotWired }
func (g *Graph) Branches(ctx context.Context) ([]Branch, error)         { return nil, errNotWired }
func (g *Graph) Snapshot(ctx context.Context, at At) (*Snapshot, error) { return nil, errNotWired }
func (g *Graph) Commits(ctx context.Context, branch string, limit int) ([]Commit, error) {
	return nil, errNotWired
}
func (g *Graph) Commit(ctx context.Context, id string) (*Commit, error) { return nil, errNotWired }
func (g *Graph) Log(ctx context.Context, branch string, limit int) ([]LogEntry, error) {
	return nil, errNotWired
}
func (g *Graph) LogAll(ctx context.Context, limit int) ([]LogEntry, error) { return nil, errNotWired }
func (g *Graph) Schema(ctx context.Context) (*Schema, error)               { return nil, errNotWired }
func (g *Graph) Versions(ctx context.Context, table, branch string, o VersionsOptions) (*Versions, error) {
	return nil, errNotWired
}
func (g *Graph) Fragments(ctx context.Context, table string, at At) (*Fragments, error) {
	return nil, errNotWired
}
func (g *Graph) Rows(ctx context.Context, table string, at At, o RowsOptions) (*RowPage, error) {
	return nil, errNotWired
}
func (g *Graph) StreamRows(ctx context.Context, table string, at At, o RowsOptions) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) { yield(Row{}, errNotWired) }
}
func (g *Graph) Find(ctx context.Context, id string, at At) ([]Hit, error) { return nil, errNotWired }
func (g *Graph) Neighbors(ctx context.Context, typ, id string, at At, o NeighborsOptions) (*Neighbors, error) {
	return nil, errNotWired
}
func (g *Graph) Export(ctx context.Context, w io.Writer, at At, types []string) (int, error) {
	return 0, errNotWired
}
func (g *Graph) Holds(ctx context.Context, table string, version uint64) (*Holds, error) {
	return nil, errNotWired
}
func (g *Graph) BlobStat(ctx context.Context, kind, typ, id, prop string, at At) (*BlobStat, error) {
	return nil, errNotWired
}
func (g *Graph) BlobGet(ctx context.Context, w io.Writer, kind, typ, id, prop string, at At) (*BlobStat, error) {
	return nil, errNotWired
}
func (g *Graph) Verify(ctx context.Context, o VerifyOptions) (*Verification, error) {
	return nil, errNotWired
}
func (g *Graph) Pending(ctx context.Context) ([]Pending, error) { return nil, errNotWired }
