package runner

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
)

// recovery is what a Runner has that looks after interrupted operations: the
// plan, what of it the user takes, and what came of it.
type recovery struct {
	why   Why
	name  string // of the graph
	plan  *engine.RecoveryPlan
	gone  []string // what an earlier plan showed and this one does not
	sel   int      // the record, or what lies besides them, that is read
	first int      // that is listed
	// The list as it was drawn last: its first line in the runner, and how many.
	listTop, listed int
	taken           map[string]bool
	hurry           bool
	armed           string   // what a confirmation would do
	chosen          []string // keys of the records that it would act on
	cli             string   // the line that does that in a shell
	moved           bool     // something chosen needs the confirmation of a moved graph
	live            *recovering
	out             *engine.RecoveryReceipt
}

// Why says for what a recovery was opened.
type Why struct {
	Unlocked bool      // writing was unlocked just now
	Then     action.ID // a write was asked for, and goes on afterwards; "" = none
	At       string    // key of the record that is to be read first; "" = the first
}

// auto: it was not asked for, and is not shown when nothing is pending.
func (w Why) auto() bool { return w.Unlocked || w.Then != "" }

// NewRecovery is the runner of a recovery; it is to be planned at once. name is
// that of the graph.
func NewRecovery(e *screen.Env, name string, why Why) *Runner {
	r := &Runner{verb: "recovery", rec: &recovery{why: why, name: name, taken: map[string]bool{}}}
	r.enter(Planning, e.Now)
	return r
}

// Recovers says that the runner looks after interrupted operations.
func (r *Runner) Recovers() bool { return r.rec != nil }

// TakeRecovery takes the plan, or why there is none.
func (r *Runner) TakeRecovery(e *screen.Env, p *engine.RecoveryPlan, err error, requests int64) Do {
	x := r.rec
	r.used.plan = requests
	if err != nil {
		r.err = err
		r.enter(Refused, e.Now)
		return Do{}
	}
	was, key := x.plan, x.key()
	if was == nil {
		key = x.why.At
	}
	x.plan, x.gone = p, vanished(was, p)
	x.sel = max(0, slices.IndexFunc(p.Records, func(i engine.RecoveryRecord) bool { return i.Key == key }))
	r.enter(Review, e.Now)
	r.arm(e)
	if x.why.auto() && was == nil && len(p.Records) == 0 && p.Lock == nil {
		return r.leaveRecovery("")
	}
	return Do{}
}

// vanished are the records of a plan that another one does not know any more.
func vanished(was, now *engine.RecoveryPlan) []string {
	if was == nil {
		return nil
	}
	var out []string
	for i := range was.Records {
		r := &was.Records[i]
		if !slices.ContainsFunc(now.Records, func(o engine.RecoveryRecord) bool { return o.Key == r.Key }) {
			id := r.Operation
			if id == "" {
				id = r.Key
			}
			out = append(out, screen.RecordName(r)+", "+id+", is not there any more: its writer ended it, or somebody else recovered it")
		}
	}
	return out
}

// key is that of the record that is read; "" when none is.
func (x *recovery) key() string {
	if x.plan == nil || x.sel >= len(x.plan.Records) {
		return ""
	}
	return x.plan.Records[x.sel].Key
}

// places is how many things there are to read: the records, and what lies besides
// them.
func (x *recovery) places() int { return len(x.plan.Records) + len(x.besides()) }

// besides names what lies there that is no record.
func (x *recovery) besides() []string {
	var out []string
	if x.plan.Lock != nil {
		out = append(out, "the lock of a schema apply")
	}
	if s := x.plan.Staging; s != nil {
		out = append(out, part.Plural(len(s.Keys), "staged schema file", "staged schema files"))
	}
	if n := len(x.plan.Others); n > 0 {
		out = append(out, part.Plural(n, "object", "objects")+" that no program reads")
	}
	return out
}

// takes says whether the user wants a record to be acted on. One that was moved
// is only taken when asked for, or when there is nothing else.
func (x *recovery) takes(r *engine.RecoveryRecord) bool {
	if want, said := x.taken[r.Key]; said {
		return want
	}
	if r.NeedsConfirm == "" {
		return true
	}
	return !slices.ContainsFunc(x.plan.Records, func(o engine.RecoveryRecord) bool {
		return o.NeedsConfirm == "" && o.Do != engine.RecoverRefuse && o.Do != engine.RecoverDefer
	})
}

// stops says why a record is not acted on, were everything confirmed.
func (x *recovery) stops(r *engine.RecoveryRecord, now time.Time) engine.RecoveryStop {
	return r.Stops(now, engine.RecoverOptions{Now: x.hurry, Moved: true})
}

// runs are the records that a confirmation would act on.
func (x *recovery) runs(now time.Time) []*engine.RecoveryRecord {
	var out []*engine.RecoveryRecord
	for i := range x.plan.Records {
		if r := &x.plan.Records[i]; x.takes(r) && x.stops(r, now) == engine.RecoveryReady {
			out = append(out, r)
		}
	}
	return out
}

// arm makes the confirmation fit what it would do now. Whenever that becomes
// another thing, the keys are quiet again for a moment.
func (r *Runner) arm(e *screen.Env) {
	x := r.rec
	runs := x.runs(e.Now)
	x.moved = false
	var keys []string
	for _, i := range runs {
		keys = append(keys, i.Key)
		x.moved = x.moved || i.NeedsConfirm != ""
	}
	x.chosen = keys
	x.cli = x.commandLine(e)
	armed := strings.Join(keys, "\n")
	if x.hurry {
		armed += "\nnow"
	}
	if e.Locked {
		armed += "\nlocked"
	}
	if armed == x.armed && r.ask.verb != "" {
		return
	}
	x.armed, r.began = armed, e.Now
	r.ask = confirmation{level: 2, letter: letter(e, armed), verb: x.doing(runs)}
	if len(runs) == 0 || e.Locked {
		r.ask.level = 0
	}
}

// doing says what confirming does.
func (x *recovery) doing(runs []*engine.RecoveryRecord) string {
	n := map[engine.RecoveryDo]int{}
	for _, r := range runs {
		n[r.Do]++
	}
	var out []string
	for _, w := range []struct {
		do        engine.RecoveryDo
		one, many string
	}{
		{engine.RecoverForward, "publish 1 operation", "publish # operations"},
		{engine.RecoverBack, "take 1 operation back", "take # operations back"},
		{engine.RecoverFinalize, "remove the record of 1 that is published", "remove the records of # that are published"},
		{engine.RecoverDiscard, "discard 1 of which nothing happened", "discard # of which nothing happened"},
		{engine.RecoverOrphan, "discard 1 whose branch is gone", "discard # whose branch is gone"},
	} {
		switch n[w.do] {
		case 0:
		case 1:
			out = append(out, w.one)
		default:
			out = append(out, strings.ReplaceAll(w.many, "#", part.Count(n[w.do])))
		}
	}
	if out == nil {
		return "do nothing"
	}
	return strings.Join(out, ", ")
}

// Options are what a confirmed recovery is run with, but for who hears of it.
func (r *Runner) Options() engine.RecoverOptions {
	x := r.rec
	return engine.RecoverOptions{Plan: x.plan, Only: slices.Clone(x.chosen), Now: x.hurry, Moved: x.moved}
}

// Recovering hears of the running recovery, on any goroutine.
func (r *Runner) Recovering(v engine.RecoveryEvent) { r.rec.live.event(v) }

// Roots are the other addresses that the chosen records name.
func (r *Runner) Roots() []string {
	var out []string
	for _, key := range r.rec.chosen {
		if rec := r.rec.record(key); rec != nil && rec.NeedsConfirm != "" && !slices.Contains(out, rec.RecordedRoot) {
			out = append(out, rec.RecordedRoot)
		}
	}
	return out
}

// StartRecovery begins what was confirmed: the records with these keys.
func (r *Runner) StartRecovery(e *screen.Env, only []string) {
	x := r.rec
	x.chosen = only
	x.live = &recovering{at: map[string]*recovered{}}
	r.prog = &Progress{}
	r.enter(Running, e.Now)
}

// RecoveryEnded takes what it came to.
func (r *Runner) RecoveryEnded(e *screen.Env, out *engine.RecoveryReceipt, err error, requests int64) {
	r.took, r.used.write = e.Now.Sub(r.began), requests
	r.rec.out, r.err = out, err
	switch {
	case err == nil && out != nil:
		r.enter(Written, e.Now)
	case (out == nil || len(out.Settled) == 0) && !engine.Wrote(err):
		r.enter(Refused, e.Now)
	default:
		r.enter(Stuck, e.Now)
	}
}

// Ripe says that a record which was waited for may be acted on now, so that it is
// time to look again: its writer may have ended it.
func (r *Runner) Ripe(e *screen.Env) bool {
	if r.rec == nil || r.step != Review {
		return false
	}
	return slices.ContainsFunc(r.rec.plan.Records, func(i engine.RecoveryRecord) bool {
		return i.WaitUntil.After(r.rec.plan.LookedAt) && i.Left(e.Now) == 0
	})
}

// Waits is when the next record that is shown stops being waited for; zero =
// none is.
func (r *Runner) Waits(now time.Time) time.Time {
	if r.rec == nil || r.step != Review {
		return time.Time{}
	}
	return r.rec.waits(now)
}

func (x *recovery) waits(now time.Time) (next time.Time) {
	for i := range x.plan.Records {
		if rec := &x.plan.Records[i]; rec.Left(now) > 0 && (next.IsZero() || rec.WaitUntil.Before(next)) {
			next = rec.WaitUntil
		}
	}
	return next
}

// leaveRecovery ends it, and goes on with what it stood before.
func (r *Runner) leaveRecovery(show action.ID) Do {
	if show == "" {
		show = r.rec.why.Then
	}
	return Do{Close: true, Show: show}
}

// recoveryKey handles a key; false = it is one that every step knows.
func (r *Runner) recoveryKey(e *screen.Env, k tea.KeyPressMsg) (Do, bool) {
	a, _ := e.Keys.Find(action.OnRecovery, k.String())
	leaves := a.ID == action.Back || a.ID == action.Leave
	switch r.step {
	case Review:
		return r.recoveryReview(e, k, a.ID), true
	case Planning:
		if leaves {
			return Do{Stop: true}, true
		}
	case Refused, Stuck:
		switch {
		case leaves || a.ID == action.Open:
			return Do{Close: true}, true
		case a.ID == action.Reload:
			return r.replanRecovery(e), true
		}
	case Written:
		switch {
		case leaves || a.ID == action.Open:
			return r.leaveRecovery(""), true
		case a.ID == action.Reload || a.ID == action.Recover:
			return r.replanRecovery(e), true
		}
	}
	if a.ID == action.Copy {
		return r.copyRecovery(e), true
	}
	return Do{}, false
}

// replanRecovery looks again. What was recovered here is missed by nobody then.
func (r *Runner) replanRecovery(e *screen.Env) Do {
	x := r.rec
	if x.out != nil && x.plan != nil {
		rest := *x.plan
		rest.Records = slices.DeleteFunc(slices.Clone(rest.Records), func(i engine.RecoveryRecord) bool {
			return slices.ContainsFunc(x.out.Settled, func(s engine.SettledRecord) bool { return s.Done && s.Key == i.Key })
		})
		x.plan, x.sel = &rest, 0
	}
	x.out, r.err = nil, nil
	r.enter(Planning, e.Now)
	return Do{Plan: true}
}

// recoveryReview handles a key of the review.
func (r *Runner) recoveryReview(e *screen.Env, k tea.KeyPressMsg, id action.ID) Do {
	r.ask.said = ""
	r.arm(e)
	x, c := r.rec, &r.ask
	switch {
	case id == action.Back || id == action.Leave:
		return r.leaveRecovery("")
	case id == action.Reload:
		return r.replanRecovery(e)
	case id == action.Copy:
		return r.copyRecovery(e)
	case id == action.NextTab || id == action.Flip:
		x.read(r, 1)
	case id == action.PrevTab || id == action.Tree:
		x.read(r, -1)
	case c.level == 2 && k.String() == c.letter:
		if e.Unready(r.began) {
			return Do{}
		}
		return Do{Run: !x.moved, Confirm: x.moved}
	case id == action.Unlock && e.Locked:
		return Do{Unlock: true}
	case id == action.Hurry:
		r.switchHurry(e)
	case id == action.Mark:
		r.switchTaken(e)
	case id == action.Open && e.Locked && len(x.runs(e.Now)) > 0:
		return Do{Note: "nothing ran: the graph is read-only; " + press(e, action.Unlock) + " unlocks it"}
	case id == action.Open && c.level == 0:
		return r.leaveRecovery("")
	case id == action.Open:
		c.said = "nothing ran: " + c.letter + " runs it, esc goes back"
	default:
		return r.shared(e, k)
	}
	return Do{}
}

// read goes to another record.
func (x *recovery) read(r *Runner, d int) {
	if n := x.places(); n > 0 {
		x.sel = (x.sel + d + n) % n
		r.top = 0
	}
}

// Click reads the record in a line of the runner, when one is listed there.
func (r *Runner) Click(y int) {
	if r.rec == nil || r.step != Review {
		return
	}
	if i := y - r.rec.listTop; i >= 0 && i < r.rec.listed {
		r.rec.sel, r.top = r.rec.first+i, 0
	}
}

// switchHurry does not wait for young records any more, or waits again.
func (r *Runner) switchHurry(e *screen.Env) {
	x := r.rec
	if !x.hurry && r.Waits(e.Now).IsZero() {
		r.ask.said = "nothing is waited for"
		return
	}
	x.hurry = !x.hurry
	r.arm(e)
}

// switchTaken takes a record in, or leaves it out.
func (r *Runner) switchTaken(e *screen.Env) {
	x := r.rec
	if x.sel >= len(x.plan.Records) {
		r.ask.said = "this is no record: recovery leaves it as it is"
		return
	}
	rec := &x.plan.Records[x.sel]
	if x.stops(rec, e.Now) == engine.RecoveryRefused {
		r.ask.said = "nobody acts on this record as it is"
		return
	}
	x.taken[rec.Key] = !x.takes(rec)
	r.arm(e)
}
