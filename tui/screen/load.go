package screen

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Pane is the state of one thing that is loaded, whatever its type.
type Pane interface {
	Name() string
	// Busy says that an answer is waited for, Since when it was asked for.
	Busy() bool
	Since() time.Time
	// Loaded is when the data that is shown came; zero when there is none.
	Loaded() time.Time
	// Problem is why the last question failed, or what is missing from its
	// answer when that is an *engine.IncompleteError.
	Problem() error
	// Settle takes an answer. It says false, and changes nothing, when the
	// answer is not the one that is waited for.
	Settle(target string, gen uint64, data any, err error, now time.Time) bool
	// Abandon ends the waiting without an answer; the next Start asks again.
	Abandon()
}

// Load is a pane of values of one type. Its zero value was never asked for.
type Load[T any] struct {
	name   string
	target string
	gen    uint64
	busy   bool
	since  time.Time
	at     time.Time
	data   T
	err    error
	writes uint64 // of this program that came before the question
}

// Get returns the data, and whether there is any.
func (l *Load[T]) Get() (T, bool) { return l.data, !l.at.IsZero() }

// Name implements Pane.
func (l *Load[T]) Name() string { return l.name }

// Busy implements Pane.
func (l *Load[T]) Busy() bool { return l.busy }

// Since implements Pane.
func (l *Load[T]) Since() time.Time { return l.since }

// Loaded implements Pane.
func (l *Load[T]) Loaded() time.Time { return l.at }

// Problem implements Pane.
func (l *Load[T]) Problem() error { return l.err }

// Settle implements Pane.
func (l *Load[T]) Settle(target string, gen uint64, data any, err error, now time.Time) bool {
	if !l.busy || target != l.target || gen != l.gen {
		return false
	}
	l.busy, l.err = false, err
	if err == nil || incomplete(err) && data != nil && !nilPointer(data) {
		l.data, l.at = data.(T), now
	}
	return true
}

// incomplete says that an error came beside an answer which was really read,
// but may not be all there is.
func incomplete(err error) bool {
	var e *engine.IncompleteError
	return errors.As(err, &e)
}

func nilPointer(data any) bool {
	v := reflect.ValueOf(data)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// Abandon implements Pane.
func (l *Load[T]) Abandon() {
	if l.busy {
		l.busy = false
		l.gen++
	}
}

// reset forgets everything; an answer on its way becomes stale.
func (l *Load[T]) reset() {
	var none T
	l.busy, l.data, l.err, l.at = false, none, nil, time.Time{}
	l.gen++
}

// wanted says that the data was never asked for, that the question was
// cancelled, or that it was asked before the last write. What failed is else
// asked again only by the user.
func (l *Load[T]) wanted(e *Env) bool {
	return !l.busy && (l.writes != e.Writes || l.at.IsZero() && l.err == nil)
}

// ask makes the request and begins to wait.
func (l *Load[T]) ask(e *Env, run func(context.Context, workspace.Workspace) (T, error)) Request {
	l.gen++
	l.busy, l.since, l.target, l.writes = true, e.Now, target(e), e.Writes
	return Request{
		Name: l.name, Pane: l, Target: l.target, Gen: l.gen,
		Run: func(ctx context.Context, ws workspace.Workspace) (any, error) { return run(ctx, ws) },
	}
}

// askLocal is ask for a question that no graph answers; run gets no workspace.
func (l *Load[T]) askLocal(e *Env, run func(context.Context, workspace.Workspace) (T, error)) Request {
	r := l.ask(e, run)
	r.local = true
	return r
}

// target is what an answer belongs to.
func target(e *Env) string {
	return e.URI + "\x00" + e.At.Branch + "\x00" + e.At.Commit + "\x00" + part.Count(e.At.Version)
}

// title is the first line of a pane: what it is, some facts, and at the right
// how old it is, or what it waits for.
func title(e *Env, w int, name string, facts string, p Pane) string {
	t := e.Theme
	left := []part.Span{part.S(" "), part.R(theme.Strong, name)}
	if facts != "" {
		left = append(left, part.R(theme.Muted, " "+t.Glyph.Dot+" "), part.S(facts))
	}
	return part.Sides(t, w, left, append(stateOf(e, p), part.S(" ")))
}

// stateOf says in a few cells how a pane is.
func stateOf(e *Env, p Pane) []part.Span {
	if p == nil {
		return nil
	}
	if p.Busy() {
		old := ""
		if ago := part.Ago(e.Now, p.Loaded()); !p.Loaded().IsZero() && ago != "now" {
			old = " " + ago + " old " + e.Theme.Glyph.Dot
		}
		waits := part.Elapsed(e.Now.Sub(p.Since()))
		if e.Failing != "" && !p.Loaded().IsZero() { // where there is nothing yet, absent says it
			return []part.Span{part.R(theme.Warn, old+" "+e.Theme.Glyph.Warn+" trying again "+waits)}
		}
		return []part.Span{part.R(theme.Muted, old+" loading "+waits)}
	}
	if p.Problem() != nil {
		if p.Loaded().IsZero() {
			return []part.Span{part.R(theme.Bad, " "+e.Theme.Glyph.Bad+" failed")}
		}
		if incomplete(p.Problem()) {
			return []part.Span{part.R(theme.Bad, " "+e.Theme.Glyph.Bad+" incomplete "+part.Ago(e.Now, p.Loaded()))}
		}
		return []part.Span{part.R(theme.Warn, " "+e.Theme.Glyph.Warn+" stale "+part.Ago(e.Now, p.Loaded()))}
	}
	if p.Loaded().IsZero() {
		return []part.Span{part.R(theme.Muted, " cancelled")}
	}
	return []part.Span{part.R(theme.Muted, " "+part.Ago(e.Now, p.Loaded()))}
}

// longWait is how long one waits before it is said how to stop waiting.
const longWait = 5 * time.Second

// absent is what a pane draws instead of data that it does not have, where
// room lines are free.
func absent(e *Env, p Pane, w, room int) []string {
	t := e.Theme
	switch {
	case p.Busy():
		out := []string{part.Line(t, w, part.S("  "), part.R(theme.Muted, "reading "+part.Clean(p.Name(), t.Glyph)+t.Glyph.More))}
		if e.Failing == "" {
			if e.Now.Sub(p.Since()) >= longWait {
				out = append(out, part.Line(t, w, part.S("  "), part.R(theme.Muted, "still waiting for the store; "+press(e, action.Interrupt)+" gives up")))
			}
			return out
		}
		for _, l := range part.Wrap(part.Clean(e.Failing, t.Glyph)+"; it is tried again, "+press(e, action.Interrupt)+" gives up", max(10, w-5)) {
			out = append(out, part.Line(t, w, part.R(theme.Warn, "  "+t.Glyph.Warn+" "), part.S(l)))
		}
		return out
	case p.Problem() != nil:
		return problem(e, p, w, room)
	case p.Loaded().IsZero():
		return []string{part.Line(t, w, part.S("  "), part.R(theme.Muted, "not read; "+press(e, action.Reload)+" reads it"))}
	}
	return nil
}

// sayMuted says what stands where there is no list.
func sayMuted(e *Env, w int, text string) []string {
	var out []string
	for _, l := range part.Wrap(text, max(10, w-3)) {
		out = append(out, part.Line(e.Theme, w, part.S("  "), part.R(theme.Muted, l)))
	}
	return out
}

const problemLines = 6 // of a message, which are shown wherever it stands

// problem is the sentence of a failure, and what can be done. A sentence that
// is longer than the room lines that are free is cut, but not below
// problemLines.
func problem(e *Env, p Pane, w, room int) []string {
	t := e.Theme
	var text []string
	for _, l := range strings.Split(p.Problem().Error(), "\n") {
		text = append(text, part.Wrap(part.Clean(l, t.Glyph), max(10, w-5))...)
	}
	again := press(e, action.Reload) + " reads it again"
	hint := again
	var step []string
	if s := engine.NextStep(p.Problem()); s != "" {
		step = part.Wrap(s, max(10, w-5))
	}
	fits := max(problemLines, room-1) - len(step) // below them stands the hint
	if n := len(text) - fits; n > 0 && (n > 1 || fits > problemLines-len(step)) {
		text = text[:fits]
		hint = part.Plural(n, "line", "lines") + " more, " + press(e, action.Flip) + " shows them on the overview; " + hint
	}
	var out []string
	for i, l := range append(text, step...) {
		lead := "    "
		if i == 0 {
			lead = "  " + t.Glyph.Bad + " "
		}
		out = append(out, part.Line(t, w, part.R(theme.Bad, lead), part.S(l)))
	}
	if !p.Loaded().IsZero() && incomplete(p.Problem()) {
		hint += "; below is what could be read"
	} else if !p.Loaded().IsZero() {
		hint += "; below is what was read " + part.Ago(e.Now, p.Loaded()) + " ago"
		if part.Ago(e.Now, p.Loaded()) == "now" {
			hint = again + "; below is what was read just before"
		}
	}
	return append(out, part.Line(t, w, part.S("    "), part.R(theme.Muted, hint)))
}

// Short says in a few words why there is nothing to show.
func Short(p Pane) string {
	switch {
	case p.Busy():
		return "reading"
	case p.Problem() != nil:
		return "could not be read"
	}
	return "not read"
}
