package runner

import (
	"slices"
	"sync"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// recovering is how far a running recovery has come. Whoever recovers tells it,
// on any goroutine; the screen reads copies.
type recovering struct {
	mu  sync.Mutex
	now string // key of the record that is worked at
	at  map[string]*recovered
}

// recovered is how far one record is.
type recovered struct {
	steps []engine.RecoveryStep // that were reached
	moved []string              // tables that were restored
	until time.Time             // it is waited for
	err   error                 // why it is left
}

func (x *recovering) event(v engine.RecoveryEvent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.at[v.Key]
	if a == nil {
		a = &recovered{}
		x.at[v.Key] = a
	}
	x.now = v.Key
	a.until = v.Until
	switch v.Step {
	case engine.RecoveryRestores:
		if !slices.Contains(a.moved, v.Table) {
			a.moved = append(a.moved, v.Table)
		}
	case engine.RecoveryLeaves:
		a.err = v.Err
	}
	if !slices.Contains(a.steps, v.Step) {
		a.steps = append(a.steps, v.Step)
	}
}

// look copies how far a record is; now says that it is worked at.
func (x *recovering) look(key string) (a recovered, now bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.at[key]; p != nil {
		a = *p
		a.steps, a.moved = slices.Clone(p.steps), slices.Clone(p.moved)
	}
	return a, x.now == key
}

// done says that a record is gone.
func (a *recovered) done() bool { return slices.Contains(a.steps, engine.RecoverySettles) }

// stepDone is what a step has done, in words.
var stepDone = map[engine.RecoveryStep]string{
	engine.RecoveryLooks:    "looked at what it means now",
	engine.RecoveryWaits:    "waited for its writer",
	engine.RecoveryDecides:  "wrote down that it is taken back",
	engine.RecoveryForbids:  "kept its writer from publishing, by a commit without a table",
	engine.RecoveryRestores: "restored",
	engine.RecoveryPublish:  "published: the outcome is visible",
	engine.RecoveryPromotes: "put the schema files into their places",
	engine.RecoveryAudits:   "noted it among the recoveries of the graph",
	engine.RecoveryRemoves:  "removed what had to go",
	engine.RecoverySettles:  "removed the record",
	engine.RecoveryLeaves:   "left as it is",
}

// recoveryRunDoc is the running recovery.
func (r *Runner) recoveryRunDoc(e *screen.Env, w int, used workspace.Reading) *part.Doc {
	d := part.NewDoc(e.Theme, w)
	x := r.rec
	r.target(e, d)
	for _, key := range x.chosen {
		if rec := x.record(key); rec != nil {
			x.liveRecord(e, d, rec)
		}
	}
	d.Gap()
	cost := part.Plural(used.Requests(), "request", "requests") + ", " + part.Bytes(used.BytesRead) + " in, " + part.Bytes(used.BytesWritten) + " out"
	if !e.Masked {
		cost += ", " + part.Elapsed(e.Now.Sub(r.began))
	}
	d.Fact("asked", cost)
	return d
}

// record is the one of the plan with a key; nil when there is none.
func (x *recovery) record(key string) *engine.RecoveryRecord {
	for i := range x.plan.Records {
		if x.plan.Records[i].Key == key {
			return &x.plan.Records[i]
		}
	}
	return nil
}

// liveRecord is one record of a running recovery, with its steps while it is
// worked at.
func (x *recovery) liveRecord(e *screen.Env, d *part.Doc, rec *engine.RecoveryRecord) {
	g := e.Theme.Glyph
	a, now := x.live.look(rec.Key)
	name := part.Clean(screen.RecordName(rec), g) + ", " + part.Short(rec.Operation, g) + ": " + screen.DoWord(rec.Do)
	switch {
	case a.err != nil:
		d.Line(part.R(theme.Bad, g.Bad+" "), part.S(name))
		d.Indent(2, a.err.Error())
	case a.done():
		d.Line(part.R(theme.OK, g.OK+" "), part.S(name))
	case now:
		d.Line(part.R(theme.Accent, g.Pointer+" "), part.R(theme.Strong, name))
	default:
		d.Line(part.R(theme.Muted, "  "+name))
	}
	if !now || a.err != nil {
		return
	}
	for _, s := range a.steps {
		text := stepDone[s]
		if s == engine.RecoveryRestores {
			text += " " + part.Plural(len(a.moved), "table", "tables")
			if n := len(a.moved); n > 0 {
				text += " " + g.Dot + " " + part.Clean(a.moved[n-1], g)
			}
		}
		d.Line(part.S("    "), part.R(theme.OK, g.OK+" "), part.R(theme.Muted, text))
	}
	if left := a.until.Sub(e.Now); left > 0 {
		d.Line(part.S("    "), part.R(theme.Warn, "waiting "+screen.Countdown(left)+": its writer may be at work"))
	}
}

// recoveryStops says what the key that cancels does.
func (r *Runner) recoveryStops(e *screen.Env) string {
	return press(e, "interrupt") + " stops it where it is: what was begun stays recorded, and the next recovery goes on from there"
}

// recoveryLine is the running recovery in a line.
func (r *Runner) recoveryLine(e *screen.Env) string {
	done := 0
	for _, key := range r.rec.chosen {
		if a, _ := r.rec.live.look(key); a.done() {
			done++
		}
	}
	return "recovery: " + part.Count(done) + " of " + part.Plural(len(r.rec.chosen), "record", "records") + "; " + press(e, r.trigger()) + " shows it"
}

// outcome is how it ended, in a line.
func (x *recovery) outcome(err error) string {
	switch {
	case x.out == nil || len(x.out.Settled) == 0 && !engine.Wrote(err):
		return "nothing was done"
	case len(x.out.Settled) == 0:
		return "it stopped before a record was done with"
	}
	done := 0
	for i := range x.out.Settled {
		if x.out.Settled[i].Done {
			done++
		}
	}
	s := part.Count(done) + " of " + part.Plural(len(x.out.Settled), "record", "records") + " recovered"
	if err != nil {
		s += ", then it stopped"
	}
	return s
}

// finished says that every record that was acted on is gone.
func (x *recovery) finished() bool {
	return !slices.ContainsFunc(x.out.Settled, func(s engine.SettledRecord) bool { return !s.Done })
}

// Told is what became of each record, in a line each; nil before it ended.
func (r *Runner) Told() []string {
	if r.rec == nil || r.rec.out == nil {
		return nil
	}
	var out []string
	for i := range r.rec.out.Settled {
		s := &r.rec.out.Settled[i]
		line := settledName(s) + ": " + s.Said
		if s.Commit != "" {
			line += "; commit " + s.Commit
		}
		out = append(out, line)
	}
	return out
}

func settledName(s *engine.SettledRecord) string {
	if s.Kind == "" {
		return s.Key
	}
	return s.Kind + " on " + screen.BranchName(s.Branch)
}
