package txn

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/refs"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
)

// captures bounds how often a base that moves while it is read is read anew.
const captures = 8

// LockKey is the ref that a schema apply holds while it runs.
const LockKey = manifest.Folder + "/_refs/branches/__schema_apply_lock__.json"

// Txn is the base of one attempt to write: captured once, the same for all that
// is asked of it, and spent by Publish whatever comes of it. It is safe for
// concurrent use.
type Txn struct {
	View     *manifest.View
	Contract *schema.Contract // proven, with its IR
	Base     Base

	store  blob.Store
	o      Options
	marker []byte

	mu      sync.Mutex
	handles map[Identity]*handle
	staged  map[Identity]*lance.Staged
	draws   map[Identity]*drawn
	spent   atomic.Bool
}

// handle is a table at its pin, opened by whoever asks first. Others wait on a
// channel, not on a mutex, so that a test with a simulated clock sees the waiting.
type handle struct {
	done chan struct{}
	snap *lance.Snapshot
	err  error
}

// Begin captures the base of a write: no record of another operation stands in
// the way (a young one is waited for), no schema apply holds its lock, the
// contract is proven whole, `__manifest` is the newest and may be built on.
//
// Errors: *RecoveryRequiredError, *LockedError, *SchemaError,
// *ReadSetChangedError (the live state has other rows than the one seen, or what
// is read does not stand still), *PreconditionFailedError, those of manifest.Open
// and of the store. Nothing was written.
func Begin(ctx context.Context, store blob.Store, o Options) (*Txn, error) {
	o = o.completed()
	if !store.Properties().ConditionalPut {
		return nil, fmt.Errorf("writing to %s: it was not shown that this kind of store creates an object only where there is none, so that it is opened for reading only: %w", store.Properties().URL, blob.ErrReadOnly)
	}
	o.Warm = o.Warm.of(store, o.Branch)
	var last error
	var before *Txn
	for range captures {
		t := &Txn{store: store, o: o, handles: map[Identity]*handle{}, staged: map[Identity]*lance.Staged{}, draws: map[Identity]*drawn{}}
		again, err := t.capture(ctx, before)
		if err == nil && !again {
			if err := t.policy(ctx); err != nil {
				return nil, err
			}
			o.watch.step(Event{Step: StepCaptured})
			return t, nil
		}
		if !again {
			return nil, err
		}
		if err != nil {
			last, before = err, t
		}
	}
	return nil, &ReadSetChangedError{Member: "schema_contract", Expected: "that stands still while it is read", Actual: fmt.Sprint(last)}
}

// capture reads everything once, side by side. again: it had to wait, or what it
// read does not fit together, as when somebody was changing it; unless it is
// what an earlier capture read, too.
func (t *Txn) capture(ctx context.Context, before *Txn) (again bool, err error) {
	var (
		files = make(map[string]schema.File, len(schema.Keys))
		mu    sync.Mutex
		left  []pending
	)
	g := beside.New(ctx, 0)
	g.Go(func(ctx context.Context) (err error) { left, err = records(ctx, t.store, ""); return err })
	g.Go(t.unlocked)
	g.Go(func(ctx context.Context) (err error) { t.View, err = t.view(ctx); return err })
	for _, k := range schema.Keys {
		g.Go(func(ctx context.Context) error {
			obj, err := t.store.Get(ctx, k, blob.All)
			if err != nil && !errors.Is(err, blob.ErrNotExist) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			files[k] = schema.File{Data: obj.Data, Err: err}
			return nil
		})
	}
	err = g.Wait()
	p := standing(left, t.o.Branch)
	if p != nil && (err == nil || p.left(&t.o) == 0) { // what was read beside one that was left behind tells nothing
		err = t.makeWay(ctx, left)
	}
	if err != nil {
		return false, fmt.Errorf("beginning a write on branch %s: %w", named(t.o.Branch), err)
	}
	if p != nil {
		return true, nil
	}
	if err := t.View.Publishable(); err != nil {
		return false, err
	}
	t.o.Warm = t.o.Warm.before(t.View)
	t.marker = files[schema.StateKey].Data
	if err := t.contract(files); err != nil {
		same := before != nil && before.View.Version == t.View.Version && bytes.Equal(before.marker, t.marker)
		return !same, err
	}
	t.Base = BaseOf(t.View, t.Contract.Marker)
	return false, nil
}

// unlocked asks for the ref of the lock.
func (t *Txn) unlocked(ctx context.Context) error {
	switch a, err := t.store.Head(ctx, LockKey); {
	case err == nil:
		return &LockedError{Key: LockKey, Since: a.ModTime, Graph: t.store.Properties().URL}
	case !errors.Is(err, blob.ErrNotExist):
		return err
	}
	return nil
}

// view is the newest state of the branch: the warm one when a LIST of one key
// says that it still is, and its branch is the same.
func (t *Txn) view(ctx context.Context) (*manifest.View, error) {
	if w := t.o.Warm; w.View != nil {
		same, err := t.standing(ctx, w.View)
		if err != nil || same {
			return w.View, err
		}
	}
	return t.reopen(ctx, cmp.Or(t.o.Warm.View, t.o.Known.Of(t.o.Branch)))
}

// reopen reads the newest state of the branch, of which a view is known, nil = none.
func (t *Txn) reopen(ctx context.Context, known *manifest.View) (*manifest.View, error) {
	return manifest.Open(ctx, t.store, manifest.Options{Branch: t.o.Branch, Lance: t.o.Open, Since: known})
}

// standing reports whether a view is the newest of its branch.
func (t *Txn) standing(ctx context.Context, v *manifest.View) (bool, error) {
	var g errgroup.Group
	same := true
	if v.Branch != "" {
		g.Go(func() error {
			ref, err := refs.ReadBranch(ctx, t.store, manifest.Folder, v.Branch)
			if errors.Is(err, blob.ErrNotExist) {
				same = false
				return nil
			}
			same = err == nil && v.Ref != nil && slices.Equal(ref.Identifier, v.Ref.Identifier)
			return err
		})
	}
	latest, _, err := v.Probe(ctx)
	if refErr := g.Wait(); err == nil {
		err = refErr
	}
	return latest && same, err
}

// contract judges the schema's objects against the tables of the view.
func (t *Txn) contract(files map[string]schema.File) error {
	pub := schema.Published{Known: true}
	for _, e := range t.View.Tables {
		pub.Tables = append(pub.Tables, schema.Table{Alias: e.Alias, ID: e.Table, Incarnation: e.Incarnation})
	}
	c := schema.Load(files, pub)
	bad := &SchemaError{Why: c.Unconfirmed}
	for _, p := range c.Problems {
		if p.Refuses || c.IR == nil {
			bad.Why = p.Error()
			break
		}
	}
	switch {
	case bad.Why == "" && c.IR != nil && c.Marker != nil && !c.Staged:
		t.Contract = c
		return nil
	case bad.Why == "":
		bad.Why = "it is not in place as a whole"
	}
	return bad
}

// BaseOf is the authority that a view and a marker show.
func BaseOf(v *manifest.View, mk *schema.Marker) Base {
	b := Base{Branch: v.Branch, Version: v.Version, IRHash: mk.IRHash, IdentityDomain: mk.IdentityDomain, IdentityVersion: mk.IdentityVersion}
	if v.Ref != nil {
		for _, s := range v.Ref.Identifier {
			b.BranchID = append(b.BranchID, Fork{Version: s.Version, UUID: s.ID})
		}
	}
	if id, own := v.State.Heads[named(v.Branch)]; own {
		b.Head = &id
	}
	return b
}

// State is what was captured, for a later write to say what it saw.
func (t *Txn) State() *State { return &State{Base: t.Base, Tables: t.View.Tables} }

// StateOf is the state that a view shows. Without a marker the schema was not
// looked at, and whether it is another now is not asked.
func StateOf(v *manifest.View, mk *schema.Marker) *State {
	if mk == nil {
		mk = &schema.Marker{}
	}
	return &State{Base: BaseOf(v, mk), Tables: v.Tables}
}

// policy compares what was captured with what the caller decided on.
func (t *Txn) policy(ctx context.Context) error {
	if want := t.o.ExpectedHead; want != nil {
		if head, _ := t.View.State.Head(t.o.Branch); head != *want {
			return &PreconditionFailedError{Branch: t.o.Branch, Expected: *want, Actual: head}
		}
	}
	if t.o.Seen == nil || t.o.without&viewGuard != 0 {
		return nil
	}
	links := map[Identity][]Link{}
	for _, b := range t.o.Seen.Tables {
		e, ok := t.View.ByIdentity(b.Identity)
		if !ok || e.Owner != b.Owner || e.Version == b.Version {
			continue
		}
		chain, err := Links(ctx, t.store, e.Location, e.Owner, b.Version, e.Version, t.o.Open)
		if err != nil {
			return err
		}
		links[Identity(b.Identity)] = chain
	}
	if a := Compare(*t.o.Seen, *t.State(), links); a.Logical {
		return &ReadSetChangedError{Member: "graph_head:" + named(t.o.Branch), Expected: text(t.o.Seen.Base.Head), Actual: text(t.Base.Head), Why: a.String()}
	}
	return nil
}

// Links reads the transactions of the versions (from, to] of a table whose objects
// begin with root, on a branch of it: a GET of each manifest, and of its
// transaction where the manifest does not hold it. Those that cannot be read are
// unknown links. More than MaxChain are left out: nobody can tell what they did.
func Links(ctx context.Context, store blob.Store, root, branch string, from, to uint64, open lance.OpenOptions) ([]Link, error) {
	if to < from || to-from > MaxChain {
		return nil, nil
	}
	out := make([]Link, to-from)
	g := beside.New(ctx, sideBySide)
	for i := range out {
		g.Go(func(gctx context.Context) error {
			o := open
			o.Branch, o.Version = branch, from+1+uint64(i)
			out[i] = Link{Version: o.Version}
			snap, err := lance.Open(gctx, store, root, o)
			if err != nil {
				return gone(gctx, err)
			}
			tx, err := snap.Transaction(gctx)
			if err != nil {
				return gone(gctx, err)
			}
			out[i] = LinkOf(o.Version, tx)
			return nil
		})
	}
	return out, g.Wait()
}

// gone is nil for what says that history is lost, which is an answer.
func gone(ctx context.Context, err error) error {
	if ctx.Err() == nil && (errors.Is(err, blob.ErrNotExist) || errors.As(err, new(*lance.DamagedManifestError))) {
		return nil
	}
	return err
}

// Table is a table at its published version, opened once: one GET, none when a
// warm one is at that version.
func (t *Txn) Table(ctx context.Context, alias string) (*lance.Snapshot, error) {
	if t.spent.Load() {
		return nil, errSpent
	}
	e, ok := t.View.Table(alias)
	if !ok {
		return nil, fmt.Errorf("writing to %s: branch %s has no such table: %w", alias, named(t.o.Branch), blob.ErrNotExist)
	}
	id := Identity(e.Identity)
	t.mu.Lock()
	h := t.handles[id]
	if h != nil {
		t.mu.Unlock()
		<-h.done
		return h.snap, h.err
	}
	h = &handle{done: make(chan struct{})}
	t.handles[id] = h
	t.mu.Unlock()
	defer close(h.done)
	if w := t.o.Warm; w.Tables[id] != nil && w.Tables[id].Version() == e.Version && w.Tables[id].Branch() == e.Owner {
		h.snap = w.Tables[id].Remembering(t.o.Open.Texts)
		return h.snap, nil
	}
	o := t.o.Open
	o.Branch, o.Version = e.Owner, e.Version
	h.snap, h.err = lance.Open(ctx, t.store, e.Location, o)
	return h.snap, h.err
}

// errSpent: a Txn was used after its Publish.
var errSpent = fmt.Errorf("this base of a write was published on already, and its tables may have moved: begin anew: %w", ErrCaller)
