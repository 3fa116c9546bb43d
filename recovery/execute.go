package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/refs"
	"github.com/omnideck/omnideck/recovery/audit"
	"github.com/omnideck/omnideck/recovery/promote"
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
	if p.Left != nil && o.Only == nil {
		out.Staging = settleStaging(ctx, store, p.Left, o)
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

	redo    *txn.Redo               // of the record that was acted on last
	touched bool                    // a table was restored, and nothing is published yet
	heads   map[txn.Identity]uint64 // newest version of each table, as it was judged or made since
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
	var changed *ChangedError
	lost := false
	for range passes {
		r, err := e.afresh(ctx)
		if err != nil {
			return err
		}
		if r == nil && e.touched {
			// Its writer came back, published and retired it, and a restore of ours lies
			// above: nobody could tell whose that is.
			if err := e.redo.Rewrite(ctx); err != nil {
				return err
			}
			e.touched = false
			continue
		}
		if r == nil {
			e.out.Gone = last == nil
			return nil
		}
		if err := r.Acts(e.o); err != nil {
			return err
		}
		was := changed
		if changed = e.shown(r); changed != nil {
			if was != nil && was.Now == changed.Now {
				return changed
			}
			continue // what was seen of a graph in motion may not fit together: look again
		}
		e.tell(Event{Step: StepJudged})
		last = e.act(ctx, r)
		again := txn.Overtaken(last) || errors.Is(last, blob.ErrNotExist) && !lost // a branch that went with all its objects
		if last == nil || !again {
			return last
		}
		lost = errors.Is(last, blob.ErrNotExist)
	}
	if changed != nil {
		return changed
	}
	return fmt.Errorf("recovering operation %s: others came first %d times: %w", e.out.Item.Operation, passes, last)
}

// afresh looks at the record again, beside all others; nil = it is gone.
func (e *execution) afresh(ctx context.Context) (*record, error) {
	l := newLooker(e.store, e.o)
	all, i, err := l.beside(ctx, e.out.Item.Key)
	if i < 0 {
		return nil, err
	}
	if gone, err := l.judge(ctx, &all[i], all); gone || err != nil {
		return nil, err
	}
	return &all[i], nil
}

// shown compares what is right with what was shown: the same, less what others
// did of it meanwhile; or, when they did it all, to retire the record. Nothing is
// removed that was not listed.
func (e *execution) shown(r *record) *ChangedError {
	was, now := &e.out.Item.Verdict, &r.Verdict
	same := was.Do == now.Do || now.Do == txn.Finalize || now.Do == txn.Discard && len(r.Removes) == 0
	if now.Do == txn.Back {
		for i, t := range now.Tables {
			same = same && i < len(was.Tables) && (t.Do == txn.Leave || settles(was.Tables[i].Do) == settles(t.Do))
		}
	}
	for _, k := range r.Removes {
		same = same && slices.Contains(e.out.Item.Removes, k)
	}
	if same {
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
	e.heads = map[txn.Identity]uint64{}
	for i, t := range r.Verdict.Tables {
		e.heads[t.Table] = r.Tables[i].Head
	}
	e.redo = txn.NewRedo(e.store, r.Key, r.data, r.plan, txn.Options{Open: e.o.Open, Known: e.o.Known, Now: e.o.Clock, IDs: e.o.IDs, Backoff: e.o.Backoff})
	row := audit.Row{Kind: audit.RolledForward, Actor: r.Actor, Operation: r.Operation, Writer: r.Kind, Outcomes: forward(r), At: e.o.Clock()}
	e.out.Do, e.out.RolledTo = v.Do, txn.Forward
	var err error
	switch v.Do {
	case txn.Forward:
		err = e.commit(e.redo.Forward(ctx, v))
	case txn.Back:
		e.out.RolledTo, row.Kind, row.Outcomes = txn.Back, audit.RolledBack, v.Outcomes
		err = e.back(ctx, r)
	case txn.Finalize:
		forward, back := r.plan.RecoveryCommits()
		if v.RolledBack {
			e.out.RolledTo, row.Kind, row.Outcomes, e.out.Commit = txn.Back, audit.RolledBack, v.Outcomes, back
		} else if r.landed {
			e.out.Commit = forward
		}
		err = e.finalize(ctx, r)
	case txn.Discard:
		e.out.RolledTo = txn.Discard
		err = e.remove(ctx, r.forks)
	case txn.OrphanDiscard:
		e.out.RolledTo, row.Kind, row.Outcomes = txn.Discard, audit.OrphanedBranchDiscarded, nil
		err = e.commit(e.redo.Compensate(ctx, v, nil))
	default:
		err = &RefusedError{r.Key, r.Operation, v.Text}
	}
	if err != nil {
		return err
	}
	e.out.Outcomes, row.Commit = row.Outcomes, e.out.Commit
	return e.retire(ctx, r, row)
}

// retire brings the schema files to the outcome, writes the audit row, and
// removes the record.
func (e *execution) retire(ctx context.Context, r *record, row audit.Row) error {
	if r.Verdict.Promote {
		if err := promote.Promote(ctx, e.redo.Guarded(), r.plan.TargetIRHash); err != nil {
			return e.unless(ctx, err)
		}
		e.tell(Event{Step: StepPromoted})
	}
	if r.Verdict.Unstage {
		if err := promote.Unstage(ctx, e.redo.Guarded(), r.staged); err != nil {
			return e.unless(ctx, err)
		}
		e.gone(r.staged)
	}
	if row.Commit != "" {
		if err := audit.Write(ctx, e.store, row, e.book()); err != nil {
			return fmt.Errorf("what became of operation %s is done, and could not be noted: %w", r.Operation, err)
		}
		e.tell(Event{Step: StepAudited})
	}
	if err := e.redo.Retire(ctx); err != nil {
		return err
	}
	e.tell(Event{Step: StepRetired})
	return e.still(ctx, r)
}

// unless gives an error about the schema files, unless the record has gone: then
// they may be those of another schema apply.
func (e *execution) unless(ctx context.Context, err error) error {
	if gone := e.redo.Stands(ctx); txn.Overtaken(gone) {
		return gone
	}
	return err
}

// book says how the audit row is written.
func (e *execution) book() audit.Options {
	o := audit.Options{Open: e.o.Open, Clock: e.o.Clock, Backoff: e.o.Backoff}
	if e.o.IDs != nil {
		o.Rand = e.o.IDs
	}
	return o
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

// remove removes objects, those of one dataset at a time.
func (e *execution) remove(ctx context.Context, datasets [][]string) error {
	for _, keys := range datasets {
		if err := refs.Remove(ctx, e.redo.Guarded(), keys); err != nil {
			return fmt.Errorf("removing what operation %s made and nobody reads: %w", e.out.Item.Operation, err)
		}
		e.gone(keys)
	}
	return nil
}

// gone notes what was removed.
func (e *execution) gone(keys []string) {
	e.out.Removed = append(e.out.Removed, keys...)
	for _, k := range keys {
		e.tell(Event{Step: StepRemoved, Key: k})
	}
}

// settleStaging brings staged schema files that no record owns to what was
// shown, once nobody can be at work on them, and when a fresh look says the same.
func settleStaging(ctx context.Context, store blob.Store, left *promote.LeftStaging, o Options) error {
	if left.Right == promote.Decide {
		return &RefusedError{left.Keys[0], "", left.Text}
	}
	now, err := Look(ctx, store, o)
	if err != nil {
		return err
	}
	if l := now.Left; l == nil || l.Right != left.Right || l.Target != left.Target || !l.Newest.Equal(left.Newest) || !slices.Equal(l.Keys, left.Keys) {
		return &ChangedError{left.Keys[0], "", left.Text, "staged schema files that are others, or that a record owns"}
	}
	if rest := txn.Rest(left.Newest, o.Clock(), o.Grace); rest > 0 && !o.Now {
		return &YoungError{left.Keys[0], "", rest}
	}
	return left.Settle(ctx, store)
}

// back takes back what the operation did.
func (e *execution) back(ctx context.Context, r *record) error {
	if err := e.remove(ctx, r.forks); err != nil {
		return err
	}
	if err := e.redo.Decide(ctx, r.Verdict.Outcomes); err != nil {
		return err
	}
	e.tell(Event{Step: StepDecided})
	if r.Left > 0 {
		made, err := e.redo.Forbid(ctx)
		if made != nil && made.Wrote {
			e.tell(Event{Step: StepForbade, Commit: made.Commit})
		}
		if err != nil {
			return err
		}
	}
	if err := e.remove(ctx, r.datasets); err != nil {
		return err
	}
	return e.restored(ctx, r)
}

// finalize takes forward what a roll-back of a published operation restored, and
// publishes what recovery has to say of it.
func (e *execution) finalize(ctx context.Context, r *record) error {
	if !r.Verdict.Mint {
		return nil
	}
	commit := e.out.Commit
	err := e.restored(ctx, r)
	if commit != "" {
		e.out.Commit = commit // the operation's own tells what became of it
	}
	return err
}

// restored restores the tables that are to be, and publishes them.
func (e *execution) restored(ctx context.Context, r *record) error {
	var slots []txn.Slot
	for _, t := range r.Verdict.Tables {
		if t.Do != txn.Restore && t.Do != txn.Restored {
			continue
		}
		s, err := e.redo.Restore(ctx, t)
		if err != nil {
			return err
		}
		slots = append(slots, s)
		e.heads[t.Table] = s.Confirmed.Version
		e.touched = e.touched || t.Do == txn.Restore
		e.tell(Event{Step: StepRestored, Table: t.Alias})
	}
	err := e.commit(e.redo.Compensate(ctx, r.Verdict, slots))
	e.touched = e.touched && err != nil
	return err
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
		to := r.plan.Planned(s)
		if s.Confirmed != nil {
			to = s.Confirmed.Version
		}
		out = append(out, txn.TableOutcome{Alias: s.Alias, From: s.Expected, To: to})
	}
	return out
}

// Sweep looks and executes until nothing is left to do, or what is left cannot
// be acted on: what a writer does that meets old records.
func Sweep(ctx context.Context, store blob.Store, o Options) (*Report, error) {
	o = o.completed()
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
