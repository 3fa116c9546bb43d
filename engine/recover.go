package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/recovery/promote"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// Recover acts on records, oldest first: each is looked at afresh, and what is
// right about it is done as its writer, or the Rust engine, would. A young one is
// waited for until its grace is over or its writer has ended. What must not be
// acted on stays and is told in the receipt (RecoveryReceipt.Refused), which is
// there beside every error. What later writes of this Graph would have begun with
// is forgotten.
//
// Errors: *ReadOnlyError, *NotAGraphError, *NotFoundError (an id of Only), those of
// the store; *RecoveryEndedError when it ended after it may have begun to act.
func (g *Graph) Recover(ctx context.Context, r RecoverOptions) (*RecoveryReceipt, error) {
	return do(ctx, g, "recover", func(ctx context.Context, o *operation) (*RecoveryReceipt, error) {
		out := &RecoveryReceipt{Settled: []SettledRecord{}}
		if o.door == nil {
			return out, &ReadOnlyError{o.uri}
		}
		if err := o.requireGraph(ctx); err != nil {
			return out, err
		}
		p, looked, err := o.shown(ctx, &r)
		if err != nil {
			return out, err
		}
		if r.Plan == nil && len(r.Only) == 0 && len(p.Items) == 0 && p.Left == nil {
			out.Remaining = o.tellRecovery(p)
			return out, nil
		}
		m := blob.NewMeter(cost.Classify)
		x := &recovering{operation: o, r: &r, out: out, meter: m, items: p.Items, left: p.Left, waited: map[string]bool{}}
		return out, x.run(blob.WithMeter(ctx, m), looked)
	})
}

// shown is the plan to carry out, as far as it is asked for, and when it was
// made.
func (o *operation) shown(ctx context.Context, r *RecoverOptions) (*recovery.Plan, time.Time, error) {
	all, at := &recovery.Plan{}, o.clock()
	switch {
	case r.Plan == nil:
		var err error
		all, err = recovery.Look(ctx, o.door, o.recovering(&RecoverOptions{}))
		if err != nil {
			return nil, at, err
		}
		at = o.clock() // not before: the rest of a grace was told at some moment of the look
	case r.Plan.found == nil:
		return nil, at, &UsageError{What: "recover what a plan shows", Why: "it was not made by this process: plan it here, and look again"}
	default:
		all, at = r.Plan.found, r.Plan.LookedAt
	}
	some := *all
	out := &some
	if out.Items = nil; len(r.Only) > 0 {
		out.Left = nil
	}
	for _, i := range all.Items {
		if len(r.Only) == 0 || slices.Contains(r.Only, i.Operation) || slices.Contains(r.Only, i.Key) {
			out.Items = append(out.Items, i)
		}
	}
	for _, id := range r.Only {
		if !slices.ContainsFunc(out.Items, func(i recovery.Item) bool { return i.Operation == id || i.Key == id }) {
			return nil, at, &NotFoundError{What: "recovery record", Name: id, Where: "in " + sidecar.Folder}
		}
	}
	return out, at, nil
}

// recovering is one call of Recover.
type recovering struct {
	*operation
	r      *RecoverOptions
	out    *RecoveryReceipt
	meter  *blob.Meter
	items  []recovery.Item
	left   *promote.LeftStaging
	waited map[string]bool // keys
}

// run acts on what is old, then waits for what is young and acts on that.
func (x *recovering) run(ctx context.Context, looked time.Time) error {
	var old, young []recovery.Item
	var until, staging time.Time // all of them are old; the staged schema files are
	for _, i := range x.items {
		if i.Left > 0 && !x.r.Now {
			young = append(young, i)
			if end := looked.Add(i.Left); end.After(until) {
				until = end
			}
			continue
		}
		old = append(old, i)
	}
	if x.left != nil && !x.r.Now {
		if rest := txn.Rest(x.left.Newest, looked, x.grace); rest > 0 {
			staging = looked.Add(rest)
		}
	}
	if staging.After(until) {
		until = staging
	}
	if until.IsZero() {
		return x.execute(ctx, old, x.left)
	}
	if err := x.execute(ctx, old, nil); err != nil {
		return err
	}
	if err := x.wait(ctx, young, until, staging); err != nil {
		if len(x.out.Settled) == 0 {
			return err // nothing was begun
		}
		return x.ended(err)
	}
	if x.r.Plan == nil { // nobody decided on what it looked like while its writer was at work
		o := x.recovery()
		for _, i := range young {
			o.Only = append(o.Only, i.Key)
		}
		p, err := recovery.Look(ctx, x.door, o)
		if err != nil {
			return x.ended(err)
		}
		young = gone(young, p.Items)
	}
	return x.execute(ctx, young, x.left)
}

// gone are items as they are now; one that is not there any more stays as it was,
// for its end to be told.
func gone(before, now []recovery.Item) []recovery.Item {
	out := slices.Clone(before)
	for i := range out {
		if n := slices.IndexFunc(now, func(j recovery.Item) bool { return j.Key == out[i].Key }); n >= 0 {
			out[i] = now[n]
		}
	}
	return out
}

// recovery are the options of package recovery for this call.
func (x *recovering) recovery() recovery.Options {
	o := x.operation.recovering(x.r)
	o.Only, o.Events = nil, x.heard
	return o
}

// execute acts on items, and tells what came of each.
func (x *recovering) execute(ctx context.Context, items []recovery.Item, left *promote.LeftStaging) error {
	defer x.warm.drop()
	rep, err := x.carryOut(ctx, items, left)
	if rep != nil {
		for i := range rep.Settled {
			s := x.settled(&rep.Settled[i])
			if x.out.Settled = append(x.out.Settled, s); s.Commit != "" {
				x.commit = s.Commit
			}
			if !s.Done {
				x.tell(RecoveryEvent{Step: RecoveryLeaves, Key: s.Key, Operation: s.Operation, Err: s.Err})
			}
		}
		if left != nil && err == nil {
			x.staged(left, rep.Staging)
		}
		if rep.Remaining != nil {
			x.out.Remaining = x.tellRecovery(rep.Remaining)
		}
	}
	return x.ended(err)
}

// looks is how often a record is looked at about which nobody decided anything.
const looks = 5

// carryOut does what is right about items. When that is another thing by then, as it
// is when a writer that was taken for dead goes on, whoever was shown it decides
// anew; when nobody was, it is looked at again.
func (x *recovering) carryOut(ctx context.Context, items []recovery.Item, left *promote.LeftStaging) (*recovery.Report, error) {
	o := x.recovery()
	rep, err := recovery.Execute(ctx, x.door, &recovery.Plan{Items: items, Left: left}, o)
	for n := 1; err == nil && x.r.Plan == nil && n < looks; n++ {
		var changed []recovery.Item
		o.Only = nil
		for _, s := range rep.Settled {
			if errors.As(s.Err, new(*recovery.ChangedError)) {
				changed, o.Only = append(changed, *s.Item), append(o.Only, s.Item.Key)
			}
		}
		if len(changed) == 0 {
			break
		}
		p, lost := recovery.Look(ctx, x.door, o)
		if lost != nil {
			return rep, lost
		}
		var again *recovery.Report
		again, err = recovery.Execute(ctx, x.door, &recovery.Plan{Items: gone(changed, p.Items)}, o)
		for _, s := range again.Settled {
			i := slices.IndexFunc(rep.Settled, func(was recovery.Settled) bool { return was.Item.Key == s.Item.Key })
			rep.Settled[i] = s
		}
		rep.Remaining = again.Remaining
	}
	return rep, err
}

// staged notes what became of staged schema files.
func (x *recovering) staged(left *promote.LeftStaging, err error) {
	s := &SettledStaging{Keys: append([]string{}, left.Keys...), Done: err == nil, Err: err}
	switch {
	case err != nil:
		s.Said = err.Error()
	case left.Right == promote.Finish:
		s.Said = "the staged schema files are the accepted ones now"
	default:
		s.Said = "the staged schema files were removed"
	}
	x.out.Staging = s
}

// ended is an error after which something may stand.
func (x *recovering) ended(err error) error {
	if err == nil {
		return nil
	}
	return &RecoveryEndedError{Settled: len(x.out.Settled), Of: len(x.items), Err: err}
}

// poll is how often a young record is asked for.
const poll = time.Second

// wait waits until a moment or, once no young record is there any more, until that
// of the staged schema files; zero = they are not waited for.
func (x *recovering) wait(ctx context.Context, young []recovery.Item, until, staging time.Time) error {
	for _, i := range young {
		x.waited[i.Key] = true
	}
	for left := young; ; {
		if len(left) == 0 {
			until = staging
		}
		rest := until.Sub(x.clock())
		if rest < 0 {
			return nil
		}
		for _, i := range left { // each time: whoever hears it counts down
			x.tell(RecoveryEvent{Step: RecoveryWaits, Key: i.Key, Operation: i.Operation, Until: until})
		}
		if len(left) == 0 {
			x.tell(RecoveryEvent{Step: RecoveryWaits, Key: x.left.Keys[0], Until: until})
		}
		if err := x.pause(ctx, min(rest+time.Millisecond, poll)); err != nil {
			return err
		}
		var there []recovery.Item
		for _, i := range left {
			if _, err := x.door.Head(ctx, i.Key); err == nil {
				there = append(there, i)
			} else if !errors.Is(err, blob.ErrNotExist) {
				return fmt.Errorf("waiting for operation %s: %w", i.Operation, err)
			}
		}
		left = there
	}
}

// pause waits, as the graph is told to.
func (g *Graph) pause(ctx context.Context, d time.Duration) error {
	if g.sleep != nil {
		return g.sleep(ctx, d)
	}
	return txn.Sleep(ctx, d)
}

// recoverySteps are the steps of package recovery in terms of this one.
var recoverySteps = map[recovery.Step]RecoveryStep{
	recovery.StepJudged: RecoveryLooks, recovery.StepRemoved: RecoveryRemoves, recovery.StepDecided: RecoveryDecides, recovery.StepForbade: RecoveryForbids, recovery.StepRestored: RecoveryRestores,
	recovery.StepPublished: RecoveryPublish, recovery.StepPromoted: RecoveryPromotes, recovery.StepAudited: RecoveryAudits, recovery.StepRetired: RecoverySettles,
}

// heard passes on what package recovery tells.
func (x *recovering) heard(e recovery.Event) {
	x.tell(RecoveryEvent{Step: recoverySteps[e.Step], Operation: e.Operation, Table: e.Table, Object: e.Key, Commit: e.Commit})
}

func (x *recovering) tell(e RecoveryEvent) {
	if x.r.Events == nil {
		return
	}
	if n := slices.IndexFunc(x.items, func(i recovery.Item) bool { return i.Key == e.Key || e.Key == "" && i.Operation == e.Operation }); n >= 0 {
		e.N, e.Key = n+1, x.items[n].Key
	}
	e.Of, e.Cost = len(x.items), x.meter.Totals()
	x.r.Events(e)
}

// settled is what became of a record, in plain values.
func (x *recovering) settled(s *recovery.Settled) SettledRecord {
	out := SettledRecord{
		Key: s.Item.Key, Operation: s.Item.Operation, Kind: string(s.Item.Kind), Branch: nameOf(s.Item.Branch), Do: recoverDo[s.Do], Done: s.Err == nil,
		Said: settledWords(s), Commit: s.Commit, Outcomes: []RecoveryOutcome{}, Removed: append([]string{}, s.Removed...), Waited: x.waited[s.Item.Key], Err: s.Err,
	}
	for _, o := range s.Outcomes {
		out.Outcomes = append(out.Outcomes, RecoveryOutcome{o.Alias, o.From, o.To})
	}
	if out.Done && !s.Gone {
		out.Removed = append(out.Removed, s.Item.Key)
	}
	return out
}

// settledWords say what was done, or why nothing was.
func settledWords(s *recovery.Settled) string {
	var tables []string
	for _, o := range s.Outcomes {
		switch {
		case s.Do != txn.Back:
			tables = append(tables, fmt.Sprintf("%s v%d to v%d", o.Alias, o.From, o.To))
		case o.To == 0:
			tables = append(tables, o.Alias+" is removed")
		default:
			tables = append(tables, fmt.Sprintf("%s holds what v%d holds", o.Alias, o.To))
		}
	}
	of := ""
	if len(tables) > 0 {
		of = " (" + strings.Join(tables, ", ") + ")"
	}
	switch {
	case s.Err != nil:
		return s.Err.Error()
	case s.Gone:
		return "it was gone: its writer, or another recovery, came to the end of it"
	}
	switch s.Do {
	case txn.Forward:
		return "published" + asCommit(s.Commit) + of
	case txn.Back:
		if len(tables) == 0 {
			return "none of its tables had been moved; that it was taken back is published" + asCommit(s.Commit)
		}
		return "taken back; published" + asCommit(s.Commit) + of
	case txn.Finalize:
		if s.RolledTo == txn.Back {
			return "it was taken back already" + asCommit(s.Commit) + "; its record was removed"
		}
		return "it was published already" + asCommit(s.Commit) + "; its record was removed, no row was touched"
	case txn.Discard:
		if n := len(s.Removed); n > 0 {
			return "nothing of it had happened: its record was removed, and " + count(n, "object", "objects") + " of branches that nobody wrote to"
		}
		return "nothing of it had happened: its record was removed"
	case txn.OrphanDiscard:
		return "its branch is gone: that was noted on main" + asCommit(s.Commit) + ", its record was removed"
	}
	return "its record was removed"
}

// recoverFirst settles a record that stands in the way of a write.
func (o *operation) recoverFirst(ctx context.Context, key string) error {
	defer o.warm.drop()
	r, err := recovery.Sweep(ctx, o.door, o.recovering(&RecoverOptions{Only: []string{key}}))
	if err != nil {
		return err
	}
	for _, s := range r.Settled {
		if s.Err != nil {
			return s.Err
		}
	}
	return nil
}

// RecoveryEndedError: recovery ended before its last record. What it had begun is
// gone on with by the next one.
type RecoveryEndedError struct {
	Settled, Of int // records
	Err         error
}

func (e *RecoveryEndedError) Error() string {
	return fmt.Sprintf("recovery ended after %d of %s: %v; what it had begun is gone on with by the next one", e.Settled, count(e.Of, "record", "records"), e.Err)
}

func (e *RecoveryEndedError) Unwrap() error { return e.Err }

// RecoveryRefusedError: recovery did what it could, and records stay that it may
// not act on.
type RecoveryRefusedError struct {
	Keys []string // of the records, and of staged schema files
	Err  error    // about the first
}

func (e *RecoveryRefusedError) Error() string {
	return fmt.Sprintf("%s %s: %v", count(len(e.Keys), "object", "objects"), map[bool]string{true: "stays", false: "stay"}[len(e.Keys) == 1], e.Err)
}

func (e *RecoveryRefusedError) Unwrap() error { return e.Err }

// Refused is what of a receipt stays because nobody may act on it: nil, or a
// *RecoveryRefusedError.
func (r *RecoveryReceipt) Refused() error {
	out := &RecoveryRefusedError{}
	for _, s := range r.Settled {
		if s.Done {
			continue
		}
		if out.Keys = append(out.Keys, s.Key); out.Err == nil {
			out.Err = s.Err
		}
	}
	if s := r.Staging; s != nil && !s.Done {
		if out.Keys = append(out.Keys, s.Keys...); out.Err == nil {
			out.Err = s.Err
		}
	}
	if len(out.Keys) == 0 {
		return nil
	}
	if out.Err == nil {
		out.Err = errors.New("it was not acted on")
	}
	return out
}
