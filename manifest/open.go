package manifest

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/refs"
)

// Folder is where the dataset lies below the graph's root.
const Folder = "__manifest"

// defaultParallel is the number of requests in flight when nobody says.
const defaultParallel = 64

// Options say which version of `__manifest` to open.
type Options struct {
	Branch  string       // "" or "main" = main
	Version uint64       // 0 = latest
	Ref     *refs.Branch // of Branch, when it was read already; nil: it is read
	// ReadDeletions reads every deletion file instead of telling from the rows
	// what is deleted, and compares.
	ReadDeletions bool
	// Since is an older view of the branch, nil = none. Where it can be told what came
	// after it, the fragments that it has are not read again; what is read is the same.
	Since *View
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
	Rows      uint64 // in them, deleted ones included, as the manifest counts
	Bytes     uint64 // of its manifest and the data files that it names
	Snapshot  *lance.Snapshot
	Ref       *refs.Branch // nil on main and when RefErr is set
	RefErr    error        // the ref could not be read or is damaged; the branch is shown all the same

	opened Options // without Since
	known  *View   // that it was opened since, until it is read
}

// View is a Head with its rows folded.
type View struct {
	Head
	State
	Problems []Problem // in row order; none is left out

	filed []uint64 // fragments of which the deletion file, and not newer rows, tells what is deleted
}

// Peek opens a version without reading rows: latest = one LIST and one GET, a
// version = one GET; on a branch one GET more, of a ref that is not given,
// beside them.
//
// Errors: *BranchNotFoundError when no ref names the branch; those of
// lance.Open.
func Peek(ctx context.Context, store blob.Store, o Options) (*Head, error) {
	if o.Branch == Main {
		o.Branch = ""
	}
	lo := o.Lance
	lo.Branch, lo.Version = o.Branch, o.Version
	var (
		snap *lance.Snapshot
		ref  = o.Ref
		err  error
		g    errgroup.Group
	)
	if o.Branch != "" && ref == nil {
		g.Go(func() (err error) {
			ref, err = refs.ReadBranch(ctx, store, Folder, o.Branch)
			return err
		})
	}
	snap, err = lance.Open(ctx, store, Folder, lo)
	refErr := g.Wait()
	switch {
	case errors.Is(refErr, blob.ErrNotExist):
		return nil, &BranchNotFoundError{Branch: o.Branch, Tree: err == nil}
	case err != nil:
		return nil, fmt.Errorf("opening __manifest of branch %s: %w", orMain(o.Branch), err)
	case refErr != nil && ctx.Err() != nil:
		return nil, refErr
	}
	return newHead(snap, ref, refErr, o), nil
}

func newHead(snap *lance.Snapshot, ref *refs.Branch, refErr error, o Options) *Head {
	if o.Lance.Parallelism <= 0 {
		o.Lance.Parallelism = defaultParallel
	}
	known := o.Since
	o.Since = nil // or each view would hold all before it
	h := &Head{
		Branch: o.Branch, Version: snap.Version(), Stamp: readStamp(snap.Schema()),
		Fragments: len(snap.Fragments()), Bytes: uint64(max(snap.Object().Size, 0)),
		Snapshot: snap, Ref: ref, RefErr: refErr, opened: o, known: known,
	}
	for _, f := range snap.Fragments() {
		h.Rows += f.PhysicalRows
		for _, d := range f.Files {
			h.Bytes += d.Size
		}
	}
	return h
}

// Probe asks, with a LIST of one key, whether the version is still the newest of
// its branch, and the object the one that was read. newest is the number that
// the listing shows, 0 = none. Whether a ref still names the branch is not asked.
func (h *Head) Probe(ctx context.Context) (latest bool, newest uint64, err error) {
	return h.Snapshot.IsLatest(ctx)
}

func orMain(branch string) string {
	if branch == "" {
		return Main
	}
	return branch
}

// Open is Peek and Read.
func Open(ctx context.Context, store blob.Store, o Options) (*View, error) {
	h, err := Peek(ctx, store, o)
	if err != nil {
		return nil, err
	}
	return h.Read(ctx)
}

// Read folds the rows: one GET for each fragment that is not in Options.Since, side
// by side. Fragments that cannot be read become Problems and mark what their loss
// makes doubtful; only when not one can be read is that an error. A graph of a newer
// generation is not folded: *StampError.
func (h *Head) Read(ctx context.Context) (*View, error) {
	if h.Stamp.Newer() {
		return nil, &StampError{h.Stamp}
	}
	if old := h.known; old != nil {
		h.known = nil
		if v := h.since(ctx, old); v != nil {
			return v, nil
		}
	}
	r := reading{head: h, rows: gathered{whole: !h.Stamp.Modern}}
	if err := r.read(ctx); err != nil {
		return nil, fmt.Errorf("reading __manifest of branch %s at version %d: %w", orMain(h.Branch), h.Version, err)
	}
	if err := r.deletions(ctx); err != nil {
		return nil, err
	}
	v := &View{Head: *h, filed: r.filed}
	if h.Stamp.Modern {
		if err := r.metadata(ctx); err != nil {
			return nil, err
		}
		v.State, v.Problems = fold(&r.rows, r.doubts)
	} else {
		v.State, v.Problems = foldLegacy(&r.rows)
	}
	v.Problems = append(r.problems, v.Problems...)
	v.checkHead()
	return v, nil
}

// OpenCommit opens the state that a commit published and requires that it is
// still there (Carries). Beside a *HeadMismatchError (the branch was deleted and
// made again) stands the state that is there instead.
func OpenCommit(ctx context.Context, store blob.Store, c Commit, o Options) (*View, error) {
	o.Branch, o.Version = c.Branch, c.ManifestVersion
	v, err := Open(ctx, store, o)
	if err != nil {
		return nil, fmt.Errorf("going back to commit %s: %w", c.ID, err)
	}
	return v, v.Carries(c)
}

// Carries checks that the state is the one that a commit published: its
// branch's head there is the commit. Otherwise a *HeadMismatchError.
func (v *View) Carries(c Commit) error {
	if found := v.Heads[orMain(c.Branch)]; found != c.ID {
		return &HeadMismatchError{Commit: c, Found: found}
	}
	return nil
}

// BranchNotFoundError: no ref names the branch.
type BranchNotFoundError struct {
	Branch string
	Tree   bool // objects lie under its tree, which do not make a branch
}

func (e *BranchNotFoundError) Error() string {
	msg := fmt.Sprintf("branch %q does not exist: __manifest has no ref of that name", e.Branch)
	if e.Tree {
		msg += "; objects under its tree are what a killed branch create or delete left behind"
	}
	return msg
}

// Is makes it one of the errors that mean "not there".
func (e *BranchNotFoundError) Is(target error) bool { return target == blob.ErrNotExist }

// HeadMismatchError: the manifest version that a commit names carries another
// head.
type HeadMismatchError struct {
	Commit Commit
	Found  string // head there; "" = none
}

func (e *HeadMismatchError) Error() string {
	found := "no head"
	if e.Found != "" {
		found = "head " + e.Found
	}
	return fmt.Sprintf("going back to commit %s: version %d of __manifest on branch %s carries %s, expected the commit itself: the branch was deleted and made again under that name, or its history was damaged; other commits can still be read",
		e.Commit.ID, e.Commit.ManifestVersion, orMain(e.Commit.Branch), found)
}

// errNoRows: not one fragment could be read.
var errNoRows = errors.New("no fragment of __manifest can be read")
