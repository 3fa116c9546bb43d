package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// passes bounds how often a record is judged anew because somebody came first.
const passes = 8

// Execute does what a plan says, record by record. Each is looked at afresh
// before it is acted on; what became of it stands in the report. An execution
// that ends half-way, for whatever reason, is gone on with by the next one.
//
// The error is that of the context: the report is there all the same.
func Execute(ctx context.Context, store blob.Store, p *Plan, o Options) (*Report, error) {
	o = o.completed()
	out := &Report{}
	for i := range p.Items {
		if !o.wants(&p.Items[i]) {
			continue
		}
		e := &execution{store: store, o: o, out: Settled{Item: &p.Items[i], Do: p.Items[i].Verdict.Do}}
		e.out.Err = e.settle(ctx)
		out.Settled = append(out.Settled, e.out)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
	}
	rest := o
	rest.Only = nil
	out.Remaining, _ = Look(ctx, store, rest) // a look that fails says nothing of what was done
	return out, nil
}

// execution is that of one item.
type execution struct {
	store blob.Store
	o     Options
	out   Settled
}

func (e *execution) tell(ev Event) {
	if e.o.Events != nil {
		ev.Operation = e.out.Item.Operation
		e.o.Events(ev)
	}
}

// settle judges and acts until it is done, or something forbids it.
func (e *execution) settle(ctx context.Context) error {
	var last error
	for range passes {
		r, err := e.afresh(ctx)
		if err != nil {
			return err
		}
		if r == nil {
			e.out.Gone = last == nil
			return nil
		}
		if err := r.Acts(e.o); err != nil {
			return err
		}
		if err := e.shown(r); err != nil {
			return err
		}
		e.tell(Event{Step: StepJudged})
		last = e.act(ctx, r)
		if last == nil || !txn.Overtaken(last) {
			return last
		}
	}
	return fmt.Errorf("recovering operation %s: others came first %d times: %w", e.out.Item.Operation, passes, last)
}

// afresh looks at the record again, beside all others; nil = it is gone.
func (e *execution) afresh(ctx context.Context) (*record, error) {
	var names Plan
	found, err := names.list(ctx, e.store)
	if err != nil {
		return nil, err
	}
	l := newLooker(e.store, e.o)
	all, err := l.read(ctx, found)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(r record) bool { return r.Key == e.out.Item.Key })
	if i < 0 {
		// A listing may be late: only the object itself says that it is gone.
		r, err := l.one(ctx, e.out.Item.Key)
		if err != nil || r == nil {
			return nil, err
		}
		all, i = append(all, *r), len(all)
	}
	return &all[i], l.judge(ctx, &all[i], all)
}

// shown compares what is right with what was shown: the same, or, when others
// did it, to retire the record; and nothing is removed that was not listed.
func (e *execution) shown(r *record) error {
	was, now := &e.out.Item.Verdict, &r.Verdict
	same := was.Do == now.Do
	if now.Do == txn.Back {
		for i := 0; same && i < len(now.Tables); i++ {
			same = i < len(was.Tables) && settles(was.Tables[i].Do) == settles(now.Tables[i].Do)
		}
	}
	for _, k := range r.Removes {
		same = same && slices.Contains(e.out.Item.Removes, k)
	}
	if same || now.Do == txn.Finalize && len(r.Removes) == 0 {
		return nil
	}
	return &ChangedError{r.Key, r.Operation, said(was), said(now)}
}

// settles: that a table was restored already does what was to be done.
func settles(d txn.TableDo) txn.TableDo {
	if d == txn.Restored {
		return txn.Restore
	}
	return d
}

func said(v *txn.Verdict) string {
	if v.Text == "" {
		return v.Do.String()
	}
	return v.Do.String() + ": " + v.Text
}

// act does what is right, audits it, and retires the record.
func (e *execution) act(ctx context.Context, r *record) error {
	v := r.Verdict
	redo := txn.NewRedo(e.store, r.Key, r.plan, txn.Options{Open: e.o.Open, Now: e.o.Clock, IDs: e.o.IDs, Backoff: e.o.Backoff})
	outcomes := forward(r)
	e.out.Do, e.out.RolledTo = v.Do, txn.Forward
	var err error
	switch v.Do {
	case txn.Forward:
		err = e.commit(redo.Forward(ctx, v))
	case txn.Back:
		e.out.RolledTo, outcomes = txn.Back, v.Outcomes
		err = e.back(ctx, redo, r)
	case txn.Finalize:
		e.out.Commit = r.plan.Lineage.CommitID
		if v.RolledBack {
			e.out.RolledTo, outcomes, e.out.Commit = txn.Back, v.Outcomes, r.plan.Rollback
		}
		err = e.finalize(ctx, redo, r)
	case txn.Discard:
		e.out.RolledTo = txn.Discard
		err = e.remove(ctx, redo, r.Removes)
	case txn.OrphanDiscard:
		e.out.RolledTo, outcomes = txn.Discard, nil
		err = e.commit(redo.Compensate(ctx, v, nil))
	default:
		err = &RefusedError{r.Key, r.Operation, v.Text}
	}
	if err != nil {
		return err
	}
	e.out.Outcomes = outcomes
	return e.retire(ctx, redo, r)
}

// retire brings the schema files to the outcome, writes the audit row, and
// removes the record.
func (e *execution) retire(ctx context.Context, redo *txn.Redo, r *record) error {
	if r.Verdict.Unstage {
		if err := e.remove(ctx, redo, r.staged); err != nil {
			return err
		}
	}
	if err := redo.Retire(ctx); err != nil {
		return err
	}
	e.tell(Event{Step: StepRetired})
	return nil
}

// commit notes the commit that holds the outcome.
func (e *execution) commit(done *txn.Redone, err error) error {
	if err != nil {
		return err
	}
	e.out.Commit, e.out.Published = done.Commit, e.out.Published || done.Wrote
	e.tell(Event{Step: StepPublished, Commit: done.Commit})
	return nil
}

func (e *execution) remove(ctx context.Context, redo *txn.Redo, keys []string) error {
	return redo.Remove(ctx, keys, func(k string) {
		e.out.Removed = append(e.out.Removed, k)
		e.tell(Event{Step: StepRemoved, Key: k})
	})
}

// back takes back what the operation did.
func (e *execution) back(ctx context.Context, redo *txn.Redo, r *record) error {
	if err := e.remove(ctx, redo, r.Removes[:len(r.Removes)-len(r.staged)]); err != nil {
		return err
	}
	if err := redo.Decide(ctx, r.data, r.Verdict.Outcomes); err != nil {
		return err
	}
	e.tell(Event{Step: StepDecided})
	return e.restored(ctx, redo, r)
}

// finalize takes forward what a roll-back of a published operation restored, and
// publishes what recovery has to say of it.
func (e *execution) finalize(ctx context.Context, redo *txn.Redo, r *record) error {
	if !r.Verdict.Mint {
		return nil
	}
	commit := e.out.Commit
	err := e.restored(ctx, redo, r)
	if commit != "" {
		e.out.Commit = commit // the operation's own tells what became of it
	}
	return err
}

// restored restores the tables that are to be, and publishes them.
func (e *execution) restored(ctx context.Context, redo *txn.Redo, r *record) error {
	var slots []txn.Slot
	for _, t := range r.Verdict.Tables {
		if t.Do != txn.Restore && t.Do != txn.Restored {
			continue
		}
		s, err := redo.Restore(ctx, t)
		if err != nil {
			return err
		}
		slots = append(slots, s)
		e.tell(Event{Step: StepRestored, Table: t.Alias})
	}
	return e.commit(redo.Compensate(ctx, r.Verdict, slots))
}

// forward are the outcomes of an operation that is visible, or will be.
func forward(r *record) []txn.TableOutcome {
	out := []txn.TableOutcome{}
	if r.plan.Kind == sidecar.Optimize {
		for i := range r.Tables {
			t := &r.Tables[i]
			to := t.Published
			if t.Verdict.Do == txn.PublishHead {
				to = t.Head
			}
			out = append(out, txn.TableOutcome{Alias: t.Alias, From: t.Expected, To: to})
		}
		return out
	}
	for _, s := range r.plan.Delta.Updates {
		if s.Confirmed != nil {
			out = append(out, txn.TableOutcome{Alias: s.Alias, From: s.Expected, To: s.Confirmed.Version})
		}
	}
	return out
}

// Sweep looks and executes until nothing is left to do, or what is left cannot
// be acted on: what a writer does that meets old records.
func Sweep(ctx context.Context, store blob.Store, o Options) (*Report, error) {
	for n := 1; ; n++ {
		p, err := Look(ctx, store, o)
		if err != nil {
			return nil, err
		}
		r, err := Execute(ctx, store, p, o)
		again := err == nil && n < passes && slices.ContainsFunc(r.Settled, func(s Settled) bool { return errors.As(s.Err, new(*ChangedError)) })
		if !again {
			return r, err
		}
	}
}
