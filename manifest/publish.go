package manifest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/refs"
)

// publishRetries are the attempts after the first.
const publishRetries = 5

// PublishOptions say what to publish, and when not to.
type PublishOptions struct {
	Branch string // "" or "main" = main
	// From is the newest version as far as the caller knows, opened through any
	// store of the graph or made by a publish: the first attempt builds on it and reads
	// nothing of `__manifest` (on a branch only the ref). Whoever gives one has
	// probed it a moment ago. nil: the first attempt reads like the others.
	From *View
	Open Options // how to read otherwise; its Branch, Version and Ref are not used, its Since when nothing newer is known

	Edits    []Edit     // Registration, Rename, Update, Tombstone
	Expected []Expected // what must be published; checked by every attempt
	Head     *ExactHead // what the branch must be; nil = anything
	Commit   *Intent    // nil = no commit
	// Sure is asked on the caller's goroutine, while files are written, by every
	// attempt until it agrees; before that nothing is committed, and an error of it is
	// that of the attempt: of the publish, unless it is a commit.ConflictError.
	Sure func(ctx context.Context) error

	Now  func() time.Time // nil = time.Now
	Rand io.Reader        // never the same bytes twice: names and identities of what is written; nil = crypto/rand
	// Backoff waits before attempt n ≥ 1; nil does not wait.
	Backoff func(ctx context.Context, n int) error
}

// ExactHead is what a branch must be.
type ExactHead struct {
	Identifier []refs.Step // of the branch in `__manifest`; none on main
	Commit     string      // its graph_head row; "" = it has none
	Any        bool        // it may be at any commit, as long as it is this branch
}

// Published is what came of it.
type Published struct {
	View     *View  // what is there now; nil when it was made and then could not be read
	Version  uint64 // of `__manifest` that holds the changes
	Parent   string // of the commit; "" = none
	Wrote    bool   // false: there was nothing to write, or it was there already
	Attempts int    // that wrote something
	Object   lance.Object
}

// Publish makes everything visible that it is given, by one commit on the
// branch's `__manifest`, which is exactly the version after the one that it was
// judged on. It is the only way in which anything becomes visible, and package
// txn is the only caller.
//
// When another writer made that version, everything is judged anew on what is
// there then, at most five times; the commit then gets another parent. A commit
// that is there already is not made again, so that a publish whose outcome was
// not heard of may be repeated with the same Intent. Without edits, commit and
// conditions nothing is read or written.
//
// Errors, after none of which anything is visible: ReadSetChangedError,
// VersionMismatchError, ExhaustedError, InvalidEditError, UnsoundError,
// BranchNotFoundError, those of the store. One that is a blob.ErrAmbiguous
// (commit.AmbiguousError) says that it is not known whether it is: publish again
// with the same Intent.
func Publish(ctx context.Context, store blob.Store, o PublishOptions) (*Published, error) {
	if o.Branch == Main {
		o.Branch = ""
	}
	if len(o.Edits)+len(o.Expected) == 0 && o.Commit == nil && o.Head == nil {
		return &Published{View: o.From}, nil
	}
	if o.From != nil && o.From.Branch != o.Branch {
		return nil, &InvalidEditError{"on branch " + orMain(o.Branch), "it was judged on branch " + orMain(o.From.Branch)}
	}
	p := &publisher{store: store, o: o}
	if p.o.Rand == nil {
		p.o.Rand = rand.Reader
	}
	base := o.From
	for n := 0; ; n++ {
		out, err := p.attempt(ctx, base)
		var lost *commit.ConflictError
		if !errors.As(err, &lost) {
			return out, err
		}
		if n == publishRetries {
			return p.exhausted(ctx, lost)
		}
		base = nil
		if o.Backoff != nil {
			if err := o.Backoff(ctx, n+1); err != nil {
				return nil, fmt.Errorf("publishing on branch %s: waiting after a lost attempt: %w", orMain(o.Branch), err)
			}
		}
	}
}

// publisher is one publish.
type publisher struct {
	store    blob.Store
	o        PublishOptions
	last     *View // that was judged
	attempts int
}

// open reads what is there.
func (p *publisher) open(ctx context.Context) (*View, error) {
	o := p.o.Open
	if p.o.From != nil {
		o = p.o.From.opened
	}
	o.Branch, o.Version, o.Ref, o.Since = p.o.Branch, 0, nil, p.last
	if p.last == nil {
		o.Since = p.o.Open.Since
	}
	v, err := Open(ctx, p.store, o)
	var gone *BranchNotFoundError
	if errors.As(err, &gone) && p.o.Head != nil {
		return nil, &ReadSetChangedError{identifierOf + p.o.Branch, identifierText(p.o.Head.Identifier), ""}
	}
	return v, err
}

// attempt tries once; on a base of nil on what it reads. Its error is a
// commit.ConflictError when another version stands where this one should.
func (p *publisher) attempt(ctx context.Context, base *View) (*Published, error) {
	if base == nil {
		var err error
		if base, err = p.open(ctx); err != nil {
			return nil, err
		}
	}
	p.last = base
	pl, err := base.plan(&p.o)
	if err != nil {
		return nil, err
	}
	if done := p.unwritten(pl); done != nil {
		return done, nil
	}
	p.attempts++
	return p.write(ctx, pl)
}

// unwritten is the answer when nothing is to be written.
func (p *publisher) unwritten(pl *plan) *Published {
	if !pl.found && len(pl.rows()) > 0 {
		return nil
	}
	out := &Published{View: pl.base, Version: pl.base.Version, Attempts: p.attempts}
	if pl.found {
		out.Version, out.Parent = pl.version, pl.commit.Parent
	}
	return out
}

// sameBranch asks whether the branch is the one that the base was read from.
func (p *publisher) sameBranch(ctx context.Context, base *View) error {
	ref, err := refs.ReadBranch(ctx, p.store, Folder, base.Branch)
	switch {
	case err == nil && base.Ref != nil && slices.Equal(ref.Identifier, base.Ref.Identifier):
		return nil
	case err == nil || errors.Is(err, blob.ErrNotExist):
		return &commit.ConflictError{Where: Folder, Ours: "Update", Version: base.Version, Retryable: true, Why: "the branch was deleted or made again"}
	}
	return fmt.Errorf("publishing on branch %s: reading its ref: %w", base.Branch, err)
}

// write stages the rows of a plan and commits them, once nothing speaks against
// it. Of a branch it is asked whether it is still the one of the base.
func (p *publisher) write(ctx context.Context, pl *plan) (*Published, error) {
	var (
		staged     *lance.Staged
		err        error
		sure, same error
		g          errgroup.Group
	)
	g.Go(func() error { staged, err = pl.stage(ctx, p.store, p.o.Rand); return nil })
	if pl.base.Branch != "" {
		g.Go(func() error { same = p.sameBranch(ctx, pl.base); return nil })
	}
	if p.o.Sure != nil {
		if sure = p.o.Sure(ctx); sure == nil {
			p.o.Sure = nil
		}
	}
	_ = g.Wait()
	if err := cmp.Or(sure, same, err); err != nil {
		return nil, err
	}
	snap, made, err := staged.Commit(ctx, lance.CommitOptions{Exact: true, Blind: true, Now: p.o.Now})
	if err != nil {
		return nil, err
	}
	out := &Published{View: p.reached(ctx, pl, snap), Version: made.Version, Wrote: true, Attempts: p.attempts, Object: snap.Object()}
	if pl.commit != nil {
		out.Parent = pl.commit.Parent
	}
	return out, nil
}

// reached is the view of the version that was made: folded in memory, or, where
// that cannot be told from the rows at hand, read.
func (p *publisher) reached(ctx context.Context, pl *plan, snap *lance.Snapshot) *View {
	if len(pl.base.Problems) == 0 && len(snap.Fragments()) > len(pl.base.Snapshot.Fragments()) {
		return pl.view(snap)
	}
	v, err := newHead(snap, pl.base.Ref, nil, pl.base.opened).Read(ctx)
	if err != nil {
		return nil // it is published all the same
	}
	return v
}

// exhausted is the end of a publish that always lost: a last look may show that
// what it wanted is there.
func (p *publisher) exhausted(ctx context.Context, lost error) (*Published, error) {
	if base, err := p.open(ctx); err == nil {
		if pl, err := base.plan(&p.o); err == nil {
			if done := p.unwritten(pl); done != nil {
				return done, nil
			}
		}
	}
	return nil, &ExhaustedError{p.o.Branch, p.attempts, lost}
}

// stage writes the files of a plan, which no version names yet.
func (pl *plan) stage(ctx context.Context, store blob.Store, random io.Reader) (*lance.Staged, error) {
	uuid, err := newUUID(random)
	if err != nil {
		return nil, err
	}
	snap := pl.base.Snapshot.In(store)
	schema, err := snap.Schema().Arrow()
	if err != nil {
		return nil, err
	}
	batch := batchOf(pl.rows(), schema, allocator(pl.base.opened))
	defer batch.Release()
	return snap.StageMerge(ctx, pl.addrs, lance.RowsOf(batch), lance.StageOptions{UUID: uuid, Rand: random, WithTransaction: true})
}

// newUUID is the identity of a transaction.
func newUUID(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("drawing the identity of a transaction: %w", err)
	}
	return format.UUIDText(format.UUIDv4(b)), nil
}
