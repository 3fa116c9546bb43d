package txn

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// maxPending bounds how many recovery records are read: a sound graph has none.
const maxPending = 256

// pending is a recovery record that is there.
type pending struct {
	id  string
	rec *sidecar.Record
	err error // it cannot be understood

	graph   string    // address
	written time.Time // the object
}

// records lists and reads the recovery records: one LIST, and one GET for each.
// One that goes away in between is none, and so is one's own.
func records(ctx context.Context, store blob.Store, own string) ([]pending, error) {
	var out []pending
	for e, err := range store.List(ctx, blob.ListOptions{Prefix: sidecar.Folder}) {
		if err != nil {
			return nil, fmt.Errorf("listing the recovery records in %s: %w", sidecar.Folder, err)
		}
		if e.IsPrefix || !strings.HasSuffix(e.Key, sidecar.Suffix) {
			continue
		}
		if len(out) == maxPending {
			return nil, &RecoveryRequiredError{OperationID: out[0].id, Other: true, Reason: fmt.Sprintf("more than %d recovery records are there", maxPending), Graph: store.Properties().URL}
		}
		if id := strings.TrimSuffix(path.Base(e.Key), sidecar.Suffix); id != own {
			out = append(out, pending{id: id, graph: store.Properties().URL})
		}
	}
	kept := out[:0]
	for _, p := range out {
		key := sidecar.Folder + p.id + sidecar.Suffix
		obj, err := store.Get(ctx, key, blob.All)
		switch {
		case errors.Is(err, blob.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("reading the recovery record %s: %w", key, err)
		}
		rec, problems, err := sidecar.Parse(key, obj.Data)
		p.rec, p.err, p.written = rec, sidecar.Unfit(problems, err), obj.ModTime
		kept = append(kept, p)
	}
	return kept, nil
}

// stands reports a record that stands in the way of a write on a branch: one of
// that branch, one of a schema apply, one that nobody can tell.
func (p *pending) stands(branch string) bool {
	return p.err != nil || p.rec.Branch == branch || p.rec.Kind == sidecar.SchemaApply
}

// standing is the first record in the way; nil = none.
func standing(all []pending, branch string) *pending {
	for i := range all {
		if all[i].stands(branch) {
			return &all[i]
		}
	}
	return nil
}

// refusal is what a writer says who does not wait, or no longer.
func (p *pending) refusal(o *Options) error {
	return &RecoveryRequiredError{OperationID: p.id, Other: true, Young: p.left(o) > 0, Reason: p.reason(), Err: p.err, Graph: p.graph}
}

// unrecovered is what a writer says when recovering it first did not succeed.
func (p *pending) unrecovered(err error) error {
	out := &RecoveryRequiredError{OperationID: p.id, Other: true, Reason: p.reason(), Err: err, Graph: p.graph}
	var refused interface{ Because() string }
	switch {
	case p.err != nil && errors.As(err, &refused): // for that reason
	case errors.As(err, &refused):
		out.Reason += ", and it cannot be recovered by itself: " + refused.Because()
	default:
		out.Reason += ", and to recover it first did not succeed: " + err.Error()
	}
	return out
}

// reason is why it stands in the way.
func (p *pending) reason() string {
	switch {
	case p.err != nil:
		return "its record cannot be acted upon: " + sidecar.Why(p.err)
	case p.rec.Phase != "":
		return fmt.Sprintf("it is a %s on branch %s that is not finished (%s)", p.rec.Kind, named(p.rec.Branch), p.rec.Phase)
	}
	return "it is not finished"
}

// claims are the operations whose records name a table on a branch.
func claims(all []pending, table Identity, branch string) []string {
	var out []string
	for _, p := range all {
		for _, pin := range p.rec.Pins {
			if pin.Identity == table && pin.Branch == branch {
				out = append(out, p.id)
			}
		}
	}
	return out
}

// left is how long a record may still be that of a writer at work.
func (p *pending) left(o *Options) time.Duration {
	if p.err != nil {
		return 0
	}
	return Left(p.rec, p.written, o.Now(), o.Grace)
}

// Left is how long a record may still be that of a writer at work; 0 = it was
// left behind. grace is that of Options. A record that was begun by a clock that is
// ahead of this one is as old as its object, which was written at a time of the
// store's clock; zero = the store does not tell.
func Left(rec *sidecar.Record, written, now time.Time, grace time.Duration) time.Duration {
	began := rec.StartedAt
	if t, ok := rec.IDTime(); ok {
		began = t
	}
	if began.After(now) && !written.IsZero() && written.Before(began) {
		began = written
	}
	return Rest(began, now, grace)
}

// Rest is the rest of a grace, that of Options, since a moment; 0 = it is over.
func Rest(since, now time.Time, grace time.Duration) time.Duration {
	if grace == 0 {
		grace = defaultGrace
	}
	return min(max(grace-now.Sub(since), 0), max(grace, 0))
}

// makeWay waits until none of the records that are there stands in the way
// (decisions 45), bounded by the grace of those that it meets, and has those
// recovered first that were left behind.
func (t *Txn) makeWay(ctx context.Context, all []pending) (err error) {
	o := &t.o
	var spent time.Duration
	for poll := firstPoll; ; poll = min(2*poll, lastPoll) {
		p := standing(all, o.Branch)
		if p == nil {
			return nil
		}
		left := p.left(o)
		switch {
		case left == 0 && p.recoverable(o):
			return t.recover(ctx, p)
		case left == 0 || spent >= 4*o.Grace:
			return p.refusal(o)
		}
		o.watch.step(Event{Step: StepWaiting, Operation: p.id, Err: p.refusal(o), Until: o.Now().Add(left)})
		d := min(left, poll)
		if err := o.Sleep(ctx, d); err != nil {
			return fmt.Errorf("waiting for operation %s: %w", p.id, err)
		}
		spent += d
		if all, err = records(ctx, t.store, ""); err != nil {
			return err
		}
	}
}

// recoverable: the run may ask for its recovery, which it does once.
func (p *pending) recoverable(o *Options) bool { return o.Recover != nil && !o.watch.asked[p.id] }

// behind is a record in the way that was left behind and may be recovered.
func (t *Txn) behind(ctx context.Context) (*pending, error) {
	if t.o.Recover == nil {
		return nil, nil
	}
	all, err := records(ctx, t.store, "")
	if err != nil {
		return nil, err
	}
	if p := standing(all, t.o.Branch); p != nil && p.left(&t.o) == 0 && p.recoverable(&t.o) {
		return p, nil
	}
	return nil, nil
}

// recover has the records in the way recovered that were left behind, beginning
// with one.
func (t *Txn) recover(ctx context.Context, p *pending) error {
	for p != nil {
		if t.o.watch.asked == nil {
			t.o.watch.asked = map[string]bool{}
		}
		t.o.watch.asked[p.id] = true
		if err := t.o.Recover(ctx, sidecar.Folder+p.id+sidecar.Suffix); err != nil {
			return p.unrecovered(err)
		}
		t.o.watch.step(Event{Step: StepRecovered, Operation: p.id})
		var err error
		if p, err = t.behind(ctx); err != nil {
			return err
		}
	}
	return nil
}
