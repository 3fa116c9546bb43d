package engine

import (
	"context"
	"sync"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
)

// Base says which state of the branch a write is for (engine-semantics §4.5). A
// state that differs from it by maintenance alone, which changes no row, is as
// good; another one refuses the write before anything is written, and the error
// is a *txn.ReadSetChangedError. Whose write must stand on one commit and no
// other says so with WriteOptions.IfCommit.
type Base struct {
	kind baseKind
	at   At
}

type baseKind uint8

const (
	baseLive baseKind = iota
	baseHandle
	baseView
)

var (
	// BaseLive is whatever is there: of verbs that run once.
	BaseLive = Base{}
	// BaseHandle is what this Graph last saw of the branch, for writes that replace
	// or remove; what only adds goes on what is there. What it saw moves by Refresh,
	// by every question about a newest state, and by its own writes. Open asks
	// nothing: a Graph that was asked nothing yet saw nothing, and takes what is
	// there.
	BaseHandle = Base{kind: baseHandle}
)

// BaseView is the state that a screen shows: At is how it was asked for, with the
// commit or the version that came with the answer. It is for every write, also
// those that only add.
func BaseView(at At) Base { return Base{kind: baseView, at: at} }

// base is the state that a write is for; nil = whatever is there.
func (o *operation) base(ctx context.Context, w WriteOptions, in *intent) (*txn.State, error) {
	switch {
	case w.Plan != nil:
		return w.Plan.seen, w.Plan.fits(w.Branch, in)
	case w.Base.kind == baseHandle && in.strict:
		return o.standing.of(w.Branch), nil
	case w.Base.kind != baseView:
		return nil, nil
	case bare(w.Base.at.Branch) != bare(w.Branch):
		return nil, &UsageError{What: "write on branch " + nameOf(w.Branch), Why: "what is shown is of branch " + nameOf(w.Base.at.Branch)}
	}
	view, err := o.atView(ctx, w.Base.at)
	if err != nil {
		return nil, err
	}
	return txn.StateOf(view, nil), nil
}

// standing is what a handle last saw of each branch.
type standing struct {
	mu sync.Mutex
	by map[string]*txn.State
}

func (s *standing) of(branch string) *txn.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[branchKey(branch)]
}

// saw moves what the handle saw, never back. A state without a schema leaves that
// what was seen of the schema before.
func (g *Graph) saw(now *txn.State) {
	if g.door == nil {
		return
	}
	s := &g.standing
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.by[now.Base.Branch]
	if before != nil && before.Base.SameBranch(now.Base) {
		if now.Base.Version < before.Base.Version {
			return
		}
		if now.Base.IRHash == "" {
			b := &now.Base
			b.IRHash, b.IdentityDomain, b.IdentityVersion = before.Base.IRHash, before.Base.IdentityDomain, before.Base.IdentityVersion
		}
	}
	if s.by == nil {
		s.by = map[string]*txn.State{}
	}
	s.by[now.Base.Branch] = now
}

// sawView is saw of a newest view.
func (g *Graph) sawView(v *manifest.View) {
	if g.door != nil {
		g.saw(txn.StateOf(v, nil))
	}
}

// Refresh moves what this Graph saw of a branch ("" = main) to the newest state,
// schema included, and returns its head.
func (g *Graph) Refresh(ctx context.Context, branch string) (head string, err error) {
	return do(ctx, g, "refresh", func(ctx context.Context, o *operation) (string, error) {
		var (
			view *manifest.View
			mk   *schema.Marker
		)
		err := o.together(
			func() (err error) { view, err = o.open(ctx, branch, 0); return err },
			func() error {
				obj, err := o.store.Get(ctx, schema.StateKey, blob.All)
				if err == nil {
					mk, err = schema.ParseMarker(obj.Data)
				}
				return err
			},
		)
		if err != nil {
			return "", err
		}
		o.saw(txn.StateOf(view, mk))
		head, _ := view.State.Head(view.Branch)
		o.commit = head
		return head, nil
	})
}
