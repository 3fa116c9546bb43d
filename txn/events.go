package txn

import (
	"context"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/cost"
)

// Step is how far a running write has come.
type Step string

// The steps, in their order. Waiting and recovered may come before each attempt.
const (
	StepWaiting   Step = "waiting"   // for another operation, Event.Operation, to finish or to grow old
	StepRecovered Step = "recovered" // another operation, Event.Operation, that was left behind was finished or taken back
	StepCaptured  Step = "captured"  // the base was read
	StepPrepared  Step = "prepared"  // there is a plan
	StepChecked   Step = "checked"   // nothing moved meanwhile
	StepArmed     Step = "armed"     // the recovery record is written
	StepEffect    Step = "effect"    // a table, Event.Table, has its new version
	StepConfirmed Step = "confirmed" // all have, and the record says so
	StepPublished Step = "published" // it is visible
	StepRetired   Step = "retired"   // the record is gone
	StepAgain     Step = "again"     // the attempt ended with Event.Err before anything was durable, and another begins
)

// Event tells whoever watches a write how far it has come.
type Event struct {
	Step      Step
	Attempt   int       // from 1
	Operation string    // the write's, or the one waited for or recovered
	Table     string    // alias
	Until     time.Time // of a wait: when that record stops being one of a writer at work
	Err       error
	Cost      blob.Totals // of the whole run so far
}

// watcher counts what a run costs and tells of its steps.
type watcher struct {
	meter   *blob.Meter
	tell    func(Event)
	attempt int
	asked   map[string]bool // records that Options.Recover was asked about
}

// watch begins a run: requests made under the context are counted.
func watch(ctx context.Context, tell func(Event)) (context.Context, *watcher) {
	if tell == nil {
		return ctx, &watcher{attempt: 1}
	}
	m := blob.NewMeter(cost.Classify)
	return blob.WithMeter(ctx, m), &watcher{meter: m, tell: tell, attempt: 1}
}

func (w *watcher) step(e Event) {
	if w.tell == nil {
		return
	}
	e.Attempt, e.Cost = w.attempt, w.meter.Totals()
	w.tell(e)
}
