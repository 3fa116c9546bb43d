package commit

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// Options of a commit.
type Options struct {
	// Exact: the version must be the base's + 1, as the caller planned it. There
	// is no rebase and no second attempt; anything newer is a ConflictError.
	Exact bool
	// Blind, with Exact, lists nothing first: that the next version can be
	// created is all that is known of the base. Whoever asks for it has looked a
	// moment ago, or else may build on a version that was replaced, or on one
	// that was not the newest and whose followers were removed.
	Blind bool
	// Stored, with Exact: the transaction's file is in the store already.
	Stored bool
	// Retries are attempts after the first that is lost to another writer.
	Retries int
	// BaseETag of the base's manifest, when it is known: a base that was
	// replaced under its name is then noticed.
	BaseETag string
	// Affected are the rows, by fragment id, that a Delete or Update deletes or
	// moves; nil when not known. Without them two of these never meet in one
	// fragment.
	Affected map[uint64]*deletion.Set
	// AddressIDs creates a dataset without stable row ids.
	AddressIDs bool
	// Now is the clock; nil = time.Now.
	Now func() time.Time
	// NewID gives the ids of deletion files that a rebase writes; nil = random.
	NewID func() uint64
	// Backoff waits before attempt n ≥ 1; nil does not wait.
	Backoff func(ctx context.Context, n int) error
}

// Committed is a version that was made.
type Committed struct {
	Manifest *format.Manifest
	Version  uint64
	Key      string // of the manifest in the store
	Size     int64
	ETag     string
	UUID     string               // of the transaction
	Txn      *tablepb.Transaction // as it was committed, after a rebase
	Attempts int
	Found    bool // an earlier attempt had made it, whose answer was lost
}

// Commit makes the version that tx leads to from base: on a branch of the
// dataset whose main root is root, "" = main. base is the version that tx was
// planned on, nil to create the dataset; for a Clone it is the version cloned,
// and branch the new one. Everything that tx refers to must be durable.
//
// Beginning again with the same uuid, on the same base, is safe after any
// outcome: what landed is found.
//
// Errors: ConflictError; AmbiguousError; those of Resolve; those of the store,
// after which nothing is in any version.
func Commit(ctx context.Context, store blob.Store, root, branch string, base *format.Manifest, tx *tablepb.Transaction, o Options) (*Committed, error) {
	c, err := newCommitter(store, root, branch, base, tx, o)
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		done, err := c.attempt(ctx, n)
		var lost *lostError
		if !errors.As(err, &lost) {
			return done, err
		}
		if o.Exact || n >= o.Retries {
			return nil, c.conflict(lost.version, lost.theirs)
		}
		if o.Backoff != nil {
			if err := o.Backoff(ctx, n+1); err != nil {
				return nil, fmt.Errorf("committing %s to %s: waiting after a lost attempt: %w", KindOf(tx), c.where, err)
			}
		}
	}
}

// committer is one commit.
type committer struct {
	store     blob.Store
	root, dir string
	where     string // for messages
	base      *format.Manifest
	tx        *tablepb.Transaction
	o         Options
	landed    []landed         // since base, ascending
	head      *format.Manifest // newest that is known
}

// landed is a version that came after the base.
type landed struct {
	version  uint64
	manifest *format.Manifest     // nil: removed before it could be read
	txn      *tablepb.Transaction // nil: not recorded
	attrs    blob.Attrs
}

// lostError: another version stands where ours should.
type lostError struct {
	version uint64
	theirs  *tablepb.Transaction
}

func (e *lostError) Error() string { return fmt.Sprintf("version %d is taken", e.version) }

func newCommitter(store blob.Store, root, branch string, base *format.Manifest, tx *tablepb.Transaction, o Options) (*committer, error) {
	if branch == "main" {
		branch = ""
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = func() uint64 {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], rand.Uint64())
			return format.DeletionID(b)
		}
	}
	c := &committer{store: store, root: root, dir: format.Join(root, format.BranchDir(branch)), base: base, tx: tx, o: o, head: base}
	c.where = format.Join(store.Properties().URL, c.dir)
	bad := &InvalidError{Operation: KindOf(tx).String()}
	if base != nil {
		bad.Parent = base.Version
	}
	switch {
	case tx.GetUuid() == "":
		bad.Why = "it has no uuid, by which a lost answer is settled"
	case o.Stored && !o.Exact:
		bad.Why = "its file is stored, and it may be rebased"
	case base == nil && tx.GetReadVersion() != 0, base != nil && tx.GetReadVersion() > base.Version:
		bad.Why = fmt.Sprintf("it was planned on version %d", tx.GetReadVersion())
	case base == nil || c.cloning():
		return c, nil
	case base.Branch != branch:
		bad.Why = fmt.Sprintf("the base belongs to branch %q, the commit to %q", base.Branch, branch)
	default:
		return c, nil
	}
	return nil, bad
}

func (c *committer) cloning() bool { return c.tx.GetClone() != nil }

// fromScratch: the folder must be empty.
func (c *committer) fromScratch() bool { return c.base == nil || c.cloning() }

// exact: nothing may have landed.
func (c *committer) exact() bool { return c.o.Exact || c.fromScratch() }

// attempt tries once. Its error is a lostError when another attempt may help.
func (c *committer) attempt(ctx context.Context, n int) (*Committed, error) {
	if c.exact() {
		return c.attemptExact(ctx, n)
	}
	if found, err := c.refresh(ctx); found != nil || err != nil {
		return found, err
	}
	tx, writes, err := c.rebase(ctx)
	if err != nil {
		return nil, err
	}
	next, body, err := c.build(ctx, tx)
	if err != nil {
		return nil, err
	}
	made, err := c.putFiles(ctx, tx, writes)
	if err != nil {
		c.discard(ctx, made)
		return nil, err
	}
	return c.publish(ctx, n, tx, next, body, made)
}

// attemptExact writes the transaction while it asks for newer versions.
func (c *committer) attemptExact(ctx context.Context, n int) (*Committed, error) {
	next, body, err := c.build(ctx, c.tx)
	if err != nil {
		return nil, err
	}
	var found *Committed
	var wg sync.WaitGroup
	var refreshErr error
	if !c.o.Blind {
		wg.Go(func() { found, refreshErr = c.refresh(ctx) })
	}
	made, err := c.putFiles(ctx, c.tx, nil)
	wg.Wait()
	var lost *lostError
	switch {
	case found != nil:
		return found, nil
	case errors.As(refreshErr, &lost) && lost.theirs != nil:
		c.discard(ctx, made)
		return nil, lost
	case refreshErr != nil: // ours may stand in a version: its file must stay
		return nil, refreshErr
	case err != nil:
		c.discard(ctx, made)
		return nil, err
	}
	return c.publish(ctx, n, c.tx, next, body, made)
}

// rebase judges the transaction against everything that landed, and takes in
// what may be taken in.
func (c *committer) rebase(ctx context.Context) (*tablepb.Transaction, []DeletionWrite, error) {
	tx := c.tx
	rows := map[uint64]bool{}
	for _, l := range c.landed {
		v := Conflict(c.tx, l.txn, Facts{Base: c.base, RowsKnown: c.o.Affected != nil})
		switch v.Outcome {
		case Retry, Incompatible:
			return nil, nil, c.refused(l.version, l.txn, v)
		case Rebase:
			for _, id := range v.Rows {
				rows[id] = true
			}
			if v.Prune != nil {
				var err error
				if tx, err = pruneNew(tx, v.Prune); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	if len(c.landed) == 0 || KindOf(tx) != Delete && KindOf(tx) != Update {
		return tx, nil, nil
	}
	last := c.landed[len(c.landed)-1]
	current, err := c.deletions(ctx, rows)
	if err != nil {
		return nil, nil, err
	}
	rebased, v := RebaseRows(tx, c.head, keysOf(rows), c.o.Affected, current, c.o.NewID)
	if v.Outcome != OK {
		return nil, nil, c.refused(last.version, last.txn, v)
	}
	return rebased.Txn, rebased.Writes, nil
}

func (c *committer) refused(version uint64, theirs *tablepb.Transaction, v Verdict) error {
	return &ConflictError{Where: c.where, Ours: KindOf(c.tx).String(), Version: version, Theirs: theirs, Retryable: v.Outcome != Incompatible, Why: v.Why}
}

// conflict is the error about a version that stands where ours should.
func (c *committer) conflict(version uint64, theirs *tablepb.Transaction) error {
	v := Verdict{Outcome: Retry, Why: "it is newer than the version that this was planned on"}
	if theirs != nil && c.base != nil {
		if judged := Conflict(c.tx, theirs, Facts{Base: c.base, RowsKnown: c.o.Affected != nil}); judged.Outcome >= Retry {
			v = judged
		}
	}
	return c.refused(version, theirs, v)
}

// build resolves the transaction on the newest version and encodes the result,
// which must be one that this program reads.
func (c *committer) build(ctx context.Context, tx *tablepb.Transaction) (*format.Manifest, []byte, error) {
	p := Params{Now: c.o.Now(), AddressIDs: c.o.AddressIDs}
	if r := tx.GetRestore(); r != nil {
		var err error
		if p.Restored, err = c.manifest(ctx, r.GetVersion()); err != nil {
			return nil, nil, fmt.Errorf("reading version %d of %s, which is to be restored: %w", r.GetVersion(), c.where, err)
		}
	}
	next, err := Resolve(c.head, tx, p)
	if err != nil {
		return nil, nil, fmt.Errorf("committing to %s: %w", c.where, err)
	}
	body, err := format.EncodeManifest(next.Manifest, next.Indexes, tx)
	if err != nil {
		return nil, nil, fmt.Errorf("committing to %s: %w", c.where, err)
	}
	m, err := format.ParseManifest(body)
	if err != nil {
		return nil, nil, fmt.Errorf("committing to %s: the version to be written could not be read again: %w", c.where, err)
	}
	return m, body, nil
}
