package manifest

import (
	"context"
	"errors"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
)

// Folder is where the dataset lies below the graph's root.
const Folder = "__manifest"

// Options say which version of `__manifest` to open.
type Options struct {
	Branch  string // "" or "main" = main
	Version uint64 // 0 = latest
	// Lance carries cache, allocator, concurrency and base-path access; its
	// Branch and Version are set from the above.
	Lance lance.OpenOptions
}

// Head is one version of `__manifest` of which no row was read yet.
type Head struct {
	Branch    string // "" = main
	Version   uint64
	Stamp     Stamp
	Fragments int    // F
	Bytes     uint64 // of its manifest and the data files that it names
	Snapshot  *lance.Snapshot
}

// View is a Head with its rows folded.
type View struct {
	Head
	State
	Problems []Problem // in row order; never hides one
}

// Peek opens a version without reading rows: latest = one LIST and one GET
// (on a branch the ref is read beside), a version = one GET.
func Peek(ctx context.Context, store blob.Store, o Options) (*Head, error) {
	return nil, errors.ErrUnsupported
}

// Read folds the rows: one GET for each fragment, side by side.
func (h *Head) Read(ctx context.Context) (*View, error) { return nil, errors.ErrUnsupported }

// Open is Peek and Read.
func Open(ctx context.Context, store blob.Store, o Options) (*View, error) {
	h, err := Peek(ctx, store, o)
	if err != nil {
		return nil, err
	}
	return h.Read(ctx)
}

// OpenCommit opens the state that a commit published and requires that it is
// still there: the branch's graph_head at that manifest version must be the
// commit. Otherwise a *HeadMismatchError (the branch was deleted and made
// again), or what Open says.
func OpenCommit(ctx context.Context, store blob.Store, c Commit, o Options) (*View, error) {
	return nil, errors.ErrUnsupported
}

// BranchNotFoundError: no ref names the branch.
type BranchNotFoundError struct {
	Branch string
	Tree   bool // leftovers of a tree are there, which do not make a branch
}

func (e *BranchNotFoundError) Error() string { return "no branch " + e.Branch }

// HeadMismatchError: the manifest version that a commit names carries another
// head.
type HeadMismatchError struct {
	Commit  Commit
	Found   string // head there; "" = none
	Version uint64
}

func (e *HeadMismatchError) Error() string { return "head mismatch" }
