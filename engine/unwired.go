package engine

import (
	"context"
	"errors"
	"io"
	"iter"
)

var errNotWired = errors.New("not wired yet")

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
