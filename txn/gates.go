package txn

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
)

// looks bounds how often the gates look when tables are ahead of what is
// published.
const looks = 3

// gates asks once more for everything that the plan rests on, and lets Interpret
// judge (decisions 44). Nothing is durable before.
//
// A table whose newest version is not the published one may be that of a writer
// who was between its commit and its publish when it was looked at. So it counts
// as drift only when a look that began after the version was seen shows neither
// a record nor another head.
func (p *publishing) gates(ctx context.Context) error {
	p.view = p.t.View
	if p.o.without&gateGuard != 0 {
		return nil
	}
	var before uint64
	for n := 1; ; n++ {
		err := p.gate(ctx)
		var drift *DriftError
		if !errors.As(err, &drift) || n == looks || drift.Head == before {
			return err
		}
		before = drift.Head
	}
}

// gate is one look.
func (p *publishing) gate(ctx context.Context) error {
	l, err := p.again(ctx)
	if err != nil {
		return fmt.Errorf("looking once more before write %s is begun; nothing was written: %w", p.plan.ID, err)
	}
	if s := standing(l.records, p.o.Branch); s != nil {
		return s.refusal(p.o)
	}
	vis, err := p.shown(l.view, l.marker)
	if err != nil {
		return err
	}
	var seen []Observation
	for i := range p.plan.Actions {
		o := observed(&p.plan.Actions[i], l.view, l.heads[i])
		o.Claims = claims(l.records, o.Table, p.plan.Actions[i].Branch)
		seen = append(seen, o)
	}
	if v := Interpret(p.plan, seen, vis); v.Err() != nil || v.Do != Proceed {
		return v.Err()
	}
	for i, h := range l.heads {
		if h.replaced {
			a := p.plan.Actions[i]
			return &InvariantError{a.Alias, fmt.Sprintf("version %d was replaced while this was prepared", a.Pin)}
		}
	}
	p.view = l.view
	return nil
}

// looked is what the gates look at.
type looked struct {
	records []pending
	marker  []byte
	view    *manifest.View // nil: the branch is gone
	heads   []head         // of the plan's actions
}

// again reads it, side by side.
func (p *publishing) again(ctx context.Context) (*looked, error) {
	t := p.t
	l := &looked{view: t.View, heads: make([]head, len(p.plan.Actions))}
	g := beside.New(ctx, 0)
	g.Go(func(gctx context.Context) (err error) { l.records, err = records(gctx, t.store, ""); return err })
	g.Go(func(gctx context.Context) error { return t.unlocked(gctx) })
	g.Go(func(gctx context.Context) error {
		obj, err := t.store.Get(gctx, schema.StateKey, blob.All)
		if err != nil && !errors.Is(err, blob.ErrNotExist) {
			return err
		}
		l.marker = obj.Data
		return nil
	})
	g.Go(func(gctx context.Context) error {
		same, err := t.standing(gctx, t.View)
		if err == nil && !same {
			l.view, err = t.reopen(gctx, t.View)
		}
		if errors.As(err, new(*manifest.BranchNotFoundError)) {
			l.view, err = nil, nil
		}
		return err
	})
	for i := range p.plan.Actions {
		g.Go(func(gctx context.Context) (err error) {
			l.heads[i], err = t.newest(gctx, &p.plan.Actions[i])
			return err
		})
	}
	return l, g.Wait()
}

// Recheck asks once more whether the base stands, and spends the Txn: what makes
// it true that a conditional write had nothing to do.
func (t *Txn) Recheck(ctx context.Context) error {
	if t.spent.Swap(true) {
		return errSpent
	}
	p := &publishing{t: t, o: &t.o, plan: &PublishPlan{ID: "without effect", Class: Strict, Pre: ExactHead, Base: t.Base}}
	if t.o.ExpectedHead != nil {
		p.plan.Class = Conditional
	}
	return p.gates(ctx)
}

// head is the newest version of a table.
type head struct {
	version  uint64 // 0 = there is none
	replaced bool   // another object stands where the pinned version was read
}

// newest asks with a LIST of one key.
func (t *Txn) newest(ctx context.Context, a *TableAction) (head, error) {
	st := t.staged[a.Table]
	latest, n, err := st.Base.IsLatest(ctx)
	return head{n, !latest && n == a.Pin}, err
}

// shown is what the branch shows now.
func (p *publishing) shown(live *manifest.View, marker []byte) (Visible, error) {
	vis := Visible{Root: p.t.store.Properties().URL, Gone: live == nil}
	if live == nil {
		return vis, nil
	}
	mk, err := schema.ParseMarker(marker)
	if err != nil {
		return vis, &ReadSetChangedError{Member: "schema_contract", Expected: "the marker that was captured", Actual: err.Error()}
	}
	vis.Base = BaseOf(live, mk)
	if p.plan.Base.differs(vis.Base, false) == nil && !bytes.Equal(marker, p.t.marker) {
		return vis, &ReadSetChangedError{Member: "schema_contract", Expected: "the marker that was captured", Actual: "another with the same hashes"}
	}
	return vis, nil
}

// observed is a table as the live view and its newest version show it.
func observed(a *TableAction, live *manifest.View, h head) Observation {
	o := Observation{Table: a.Table, Missing: h.version == 0, Head: h.version}
	if live == nil {
		return o
	}
	if e, ok := live.ByIdentity(manifest.Identity(a.Table)); ok {
		o.Alias, o.Pin, o.Owner = e.Alias, e.Version, e.Owner
	}
	return o
}

// stopped is the end of an armed plan whose first effect failed. When reading
// shows that no table has a transaction of the plan, the record is removed and
// nothing happened.
func (p *publishing) stopped(ctx context.Context, cause error) error {
	reason := "it stopped at " + p.plan.Actions[0].Alias
	if errors.Is(cause, blob.ErrAmbiguous) {
		return p.stuck(reason, cause)
	}
	v, heads, err := p.settle(ctx)
	if err != nil {
		return p.stuck(reason+", and what became of it could not be read", errors.Join(cause, err))
	}
	if v.Do != Discard {
		return p.stuck(reason+" ("+v.Text+")", cause)
	}
	if err := p.unrecord(ctx); err != nil {
		return p.stuck(reason+" without an effect, and its record could not be removed", errors.Join(cause, err))
	}
	if !conflicted(cause) {
		return fmt.Errorf("write %s; nothing was written: %w", p.plan.ID, cause)
	}
	a := p.plan.Actions[0]
	return &ReadSetChangedError{Member: "key_fence:" + a.Alias, Expected: fmt.Sprintf("version %d", a.Pin), Actual: fmt.Sprintf("version %d", heads[0])}
}

// settle looks at every table of the armed plan, and at the branch.
func (p *publishing) settle(ctx context.Context) (Verdict, []uint64, error) {
	t := p.t
	live, err := t.reopen(ctx, t.View)
	if err != nil {
		return Verdict{}, nil, err
	}
	obj, err := t.store.Get(ctx, schema.StateKey, blob.All)
	if err != nil {
		return Verdict{}, nil, err
	}
	mk, err := schema.ParseMarker(obj.Data)
	if err != nil {
		return Verdict{}, nil, err
	}
	vis := Visible{Root: t.store.Properties().URL, Base: BaseOf(live, mk)}
	var seen []Observation
	var heads []uint64
	for i := range p.plan.Actions {
		a := &p.plan.Actions[i]
		h, err := t.newest(ctx, a)
		if err != nil {
			return Verdict{}, nil, err
		}
		o := observed(a, live, h)
		if o.Chain, err = Links(ctx, t.store, t.staged[a.Table].Base.Root(), a.Branch, a.Pin, h.version, t.o.Open); err != nil {
			return Verdict{}, nil, err
		}
		seen, heads = append(seen, o), append(heads, h.version)
	}
	if c, ok := live.State.Commit(p.plan.Lineage.CommitID); ok {
		vis.Original = &Landed{Commit: c, Tables: live.Tables}
	}
	return Interpret(p.plan, seen, vis), heads, nil
}
