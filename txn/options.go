package txn

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
)

// Options of a write. The zero value writes on main, on whatever is there.
type Options struct {
	Branch string // that is written, whatever a handle is bound to; "" or "main" = main
	Actor  *string

	// Seen is the state that the caller decided on (BaseView, BaseHandle of
	// engine-semantics §4.5): the live one must have the same rows. nil = live.
	Seen *State
	// ExpectedHead is the commit that the branch must be at (BaseCommit).
	ExpectedHead *string

	// Dry stages without writing a file: for Txn.Outcome and Txn.Requests. Publish
	// refuses.
	Dry bool

	Warm *Warm // what an earlier write or reading of this store left
	// Known are views of branches: what they hold of the newest state is not read
	// again. The view of Warm is one of them; nil = no others.
	Known *manifest.Known
	Open  lance.OpenOptions

	Now   func() time.Time                                 // nil = time.Now
	IDs   *IDs                                             // nil = those of the process
	Sleep func(ctx context.Context, d time.Duration) error // nil = a timer
	// Grace is the age from which on a recovery record is not that of a writer
	// who is still at it (decisions 13): younger ones are waited for. 0 = 30 s,
	// negative = none.
	Grace time.Duration
	// Backoff waits before attempt n ≥ 1; nil does not wait.
	Backoff func(ctx context.Context, n int) error
	// Recover settles the record of another operation, by its key, that was left
	// behind and stands in the way: asked once for each record of a run, beside no
	// other request. An error ends the write. nil = such a record ends it.
	Recover func(ctx context.Context, key string) error
	// Events hears of every step, on the goroutine that writes.
	Events func(Event)

	without guard // tests alone turn guards off
	watch   *watcher
	moved   bool // a strict run began anew because its base moved
}

// Warm is what one write leaves for the next: then only what changed is read.
// It is never believed: its view is probed, its tables' newest versions are
// asked for under the gates.
type Warm struct {
	Store  blob.Store // through which the others read; by a write to another one they are not used
	View   *manifest.View
	Tables map[Identity]*lance.Snapshot
}

// of is what can be used on a store and a branch; never nil.
func (w *Warm) of(s blob.Store, branch string) *Warm {
	if w == nil || w.View == nil || w.View.Branch != branch || w.Store == nil || !reflect.TypeOf(s).Comparable() || w.Store != s {
		return &Warm{}
	}
	return w
}

// before is what can be used of it beside a view of the same branch: no tables
// when that is no later state of its own. A branch, or a graph, that was deleted and
// made anew has tables of the same names and versions with other rows.
func (w *Warm) before(v *manifest.View) *Warm {
	if w.View == nil || w.View == v {
		return w
	}
	head, _ := w.View.State.Head(w.View.Branch)
	_, there := v.State.Commit(head)
	same := (v.Ref == nil) == (w.View.Ref == nil)
	if same && v.Ref != nil {
		same = slices.Equal(v.Ref.Identifier, w.View.Ref.Identifier)
	}
	if same && there {
		return w
	}
	return &Warm{Store: w.Store, View: w.View}
}

// guard is one of the checks of which each alone keeps a kind of harm away.
type guard uint8

const (
	viewGuard  guard = 1 << iota // the live state is the one that was seen
	gateGuard                    // nothing moved between capture and arming
	casGuard                     // the publish demands the exact head and versions
	rivalGuard                   // no other writer passed its gates meanwhile
)

const (
	defaultGrace = 30 * time.Second
	firstPoll    = 10 * time.Millisecond // of a record in the way; each next one waits twice as long
	lastPoll     = 250 * time.Millisecond
)

// completed are the options with every default in place.
func (o Options) completed() Options {
	if o.Branch == manifest.Main {
		o.Branch = ""
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.IDs == nil {
		o.IDs = process
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	if o.watch == nil {
		o.watch = &watcher{attempt: 1}
	}
	return o
}

// Sleep waits by a timer, no longer than the context lives.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
