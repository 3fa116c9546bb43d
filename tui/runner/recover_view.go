package runner

import (
	"errors"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// renderRecovery draws the step of a recovery: h lines of w cells below the
// title.
func (r *Runner) renderRecovery(e *screen.Env, w, h int, used workspace.Reading) []string {
	switch r.step {
	case Planning:
		d := part.NewDoc(e.Theme, w)
		r.target(e, d)
		d.Text(theme.Text, "reading the records, and what each of them means now"+e.Theme.Glyph.More)
		if !e.Masked {
			d.Text(theme.Muted, part.Elapsed(e.Now.Sub(r.began)))
		}
		return d.Window(h, &r.top)
	case Review:
		return r.reviewRecovery(e, w, h)
	case Running:
		return r.withFoot(e, r.recoveryRunDoc(e, w, used), wrapped(e, theme.Muted, r.recoveryStops(e), w), w, h)
	}
	return r.recoveryEndDoc(e, w).Window(h, &r.top)
}

// withFoot draws a page, a line, and what stands below it.
func (r *Runner) withFoot(e *screen.Env, d *part.Doc, foot []string, w, h int) []string {
	foot = append([]string{part.Rule(e.Theme, "", w)}, foot...)
	return part.Fit(append(d.Window(max(0, h-len(foot)), &r.top), foot...), w, h)
}

func wrapped(e *screen.Env, role theme.Role, text string, w int) []string {
	var out []string
	for _, l := range part.Wrap(part.Clean(text, e.Theme.Glyph), max(10, w-2)) {
		out = append(out, part.Line(e.Theme, w, part.S(" "), part.R(role, l)))
	}
	return out
}

// reviewRecovery draws the list of the records, what the selected one means, and
// how the whole is confirmed.
func (r *Runner) reviewRecovery(e *screen.Env, w, h int) []string {
	x := r.rec
	r.arm(e)
	head := r.recoveryHead(e, w, h)
	foot := append([]string{part.Rule(e.Theme, "", w)}, r.recoveryFoot(e, w)...)
	list := x.listLines(e, w, max(2, min(8, h/4)))
	used := len(head) + len(list) + len(foot)
	if n := used + 3 - h; n > 0 { // what is confirmed is read before what stands around it
		head = head[:max(0, len(head)-n)]
		used = len(head) + len(list) + len(foot)
	}
	x.listTop, x.listed = 2+len(head), max(0, len(list)-1) // below the title and its rule
	out := append(head, list...)
	return part.Fit(append(append(out, r.recoveryDoc(e, w).Window(max(0, h-used), &r.top)...), foot...), w, h)
}

// recoveryHead says for what it was opened, the whole in a sentence, and what is
// gone.
func (r *Runner) recoveryHead(e *screen.Env, w, h int) []string {
	x, g := r.rec, e.Theme.Glyph
	var out []string
	add := func(role theme.Role, text string) { out = append(out, wrapped(e, role, text, w)...) }
	if e.Remote {
		d := part.NewDoc(e.Theme, w)
		r.target(e, d)
		out = append(out, d.Window(d.Len(), new(int))...)
	}
	switch a := e.Keys.Get(x.why.Then); {
	case x.why.Unlocked:
		add(theme.Text, "Writing is unlocked. This is what interrupted operations left; nothing is done about it before it is confirmed.")
	case x.why.Then != "":
		add(theme.Text, "Before the first write of this session: this is what interrupted operations left. esc goes on to "+a.Title+" without it.")
	}
	for _, gone := range x.gone {
		add(theme.Warn, g.Warn+" "+gone)
	}
	if x.places() > 1 && x.plan.Verdict != "" {
		add(theme.Strong, x.plan.Verdict)
	}
	if h < 12 && len(out) > 2 {
		out = out[:2]
	}
	return out
}

// listLines are the records and what lies besides them, at most room lines and a
// rule; none where there is one thing only.
func (x *recovery) listLines(e *screen.Env, w, room int) []string {
	n := x.places()
	if n < 2 {
		return nil
	}
	room = min(room, n)
	x.first = min(max(x.first, x.sel-room+1), x.sel, n-room)
	var out []string
	for i := x.first; i < x.first+room; i++ {
		out = append(out, x.listLine(e, w, i))
	}
	where := part.Count(x.sel+1) + " of " + part.Count(n)
	return append(out, part.Rule(e.Theme, where, w))
}

func (x *recovery) listLine(e *screen.Env, w, i int) string {
	t := e.Theme
	g := t.Glyph
	lead := " "
	if i == x.sel {
		lead = g.Pointer
	}
	var left, right []part.Span
	if n := len(x.plan.Records); i >= n {
		left = []part.Span{part.S(lead + "     "), part.R(theme.Muted, g.Info+" "), part.S(x.besides()[i-n])}
		right = []part.Span{part.R(theme.Muted, "left as it is ")}
	} else {
		rec := &x.plan.Records[i]
		box := "[ ]"
		if x.takes(rec) {
			box = "[x]"
		}
		word, role, mark := x.standing(e, rec)
		if x.stops(rec, e.Now) == engine.RecoveryRefused {
			box = "   "
		}
		age := part.Ago(e.Now, rec.StartedAt)
		if age != "" {
			age = " " + g.Dot + " " + age
		}
		left = []part.Span{part.S(lead + " " + box + " "), part.R(role, mark+" "), part.R(theme.Strong, part.Clean(screen.RecordName(rec), g)), part.R(theme.Muted, " "+part.Short(part.Clean(rec.Operation, g), g)+age)}
		right = []part.Span{part.R(role, " "+word+" ")}
	}
	if i == x.sel {
		room := max(0, w-part.SpanWidth(right))
		text := ""
		for _, s := range left {
			text += s.Text
		}
		return part.Selected(t, w, theme.Select, part.S(part.Pad(part.Cut(text, room, g.More), room)), right[0])
	}
	return part.Sides(t, w, left, right)
}

// standing is how it stands with a record, in a few words.
func (x *recovery) standing(e *screen.Env, rec *engine.RecoveryRecord) (word string, role theme.Role, mark string) {
	g := e.Theme.Glyph
	switch left := rec.Left(e.Now); {
	case x.stops(rec, e.Now) == engine.RecoveryRefused:
		return screen.DoWord(rec.Do), theme.Bad, g.Bad
	case left > 0 && !x.hurry:
		return "waits " + screen.Countdown(left), theme.Warn, g.Warn
	case left > 0:
		return screen.DoWord(rec.Do) + " at once", theme.Bad, g.Warn
	case rec.NeedsConfirm != "":
		return screen.DoWord(rec.Do) + ", moved", theme.Warn, g.Warn
	}
	return screen.DoWord(rec.Do), theme.Text, g.Warn
}

// recoveryDoc is what is read: the selected record, or what lies besides.
func (r *Runner) recoveryDoc(e *screen.Env, w int) *part.Doc {
	x := r.rec
	d := part.NewDoc(e.Theme, w)
	n := len(x.plan.Records)
	switch i := x.sel - n; {
	case x.places() == 0:
		d.Line(part.R(theme.OK, e.Theme.Glyph.OK+" "), part.R(theme.Strong, "nothing is pending: no operation left a record"))
	case i < 0:
		screen.RecordDoc(e, d, &x.plan.Records[x.sel], x.hurry)
	case x.plan.Lock != nil && i == 0:
		screen.LockDoc(d, x.plan.Lock)
	case x.plan.Staging != nil && (i == 0 || i == 1 && x.plan.Lock != nil):
		screen.StagingDoc(d, x.plan.Staging)
	default:
		screen.OthersDoc(d, x.plan.Others)
	}
	return d
}

// objects are the keys of what is read besides the records.
func (x *recovery) objects() []string {
	i := x.sel - len(x.plan.Records)
	switch {
	case i < 0 || i >= len(x.besides()):
		return nil
	case x.plan.Lock != nil && i == 0:
		return []string{x.plan.Lock.Key}
	case x.plan.Staging != nil && (i == 0 || i == 1 && x.plan.Lock != nil):
		return x.plan.Staging.Keys
	}
	return x.plan.Others
}

// recoveryFoot is how the plan is confirmed, or why it is not, and the line that
// does the same in a shell.
func (r *Runner) recoveryFoot(e *screen.Env, w int) []string {
	t, c, x := e.Theme, &r.ask, r.rec
	var out []string
	if x.hurry && !r.Waits(e.Now).IsZero() {
		out = append(out, wrapped(e, theme.Bad, t.Glyph.Warn+" At once: be sure that no writer of these runs any more. What it still writes would be lost.", w)...)
	}
	rest := x.rest(e)
	switch runs := x.runs(e.Now); {
	case len(runs) > 0 && e.Locked:
		out = append(out, wrapped(e, theme.Strong, "read-only: "+press(e, action.Unlock)+" and the graph's name allow to "+c.verb+rest, w)...)
	case len(runs) > 0:
		after := rest
		if x.moved {
			after = "; the graph's name is asked then" + rest
		}
		out = append(out, part.Line(t, w, part.S(" Press "), part.R(theme.Chip, " "+c.letter+" "), part.S(" to "), part.R(theme.Strong, c.verb), part.R(theme.Muted, after)))
	case len(x.plan.Records) > 0:
		if rec := x.record(x.key()); rec != nil && rec.SetAside {
			rest += "; " + press(e, action.Copy) + " copies the command that sets this one aside"
		}
		out = append(out, wrapped(e, theme.Strong, "nothing can be done now"+rest, w)...)
	default:
		out = append(out, part.Line(t, w, part.S(" "), part.R(theme.Select, " "+t.Glyph.Pointer+" back ")))
	}
	if c.said != "" {
		out = append(out, part.Line(t, w, part.S(" "), part.R(theme.Bad, part.Clean(c.said, t.Glyph))))
	}
	return append(out, part.Line(t, w, part.S(" "), part.R(theme.Muted, part.Clean(r.recoverCLI(e), t.Glyph))))
}

// rest says what stays of the plan, and why.
func (x *recovery) rest(e *screen.Env) string {
	var waiting, refused, out int
	for i := range x.plan.Records {
		switch r := &x.plan.Records[i]; x.stops(r, e.Now) {
		case engine.RecoveryRefused:
			refused++
		case engine.RecoveryYoung:
			waiting++
		case engine.RecoveryReady:
			if !x.takes(r) {
				out++
			}
		}
	}
	s := ""
	if next := x.waits(e.Now); waiting == 1 && !next.IsZero() {
		s, waiting = "; 1 waits "+screen.Countdown(next.Sub(e.Now)), 0
	} else if !next.IsZero() && waiting > 0 {
		s, waiting = "; "+part.Count(waiting)+" wait, the first "+screen.Countdown(next.Sub(e.Now)), 0
	}
	for _, p := range []struct {
		n         int
		one, many string
	}{{waiting, "1 waits", " wait"}, {refused, "1 is refused", " are refused"}, {out, "1 is left out", " are left out"}} {
		switch p.n {
		case 0:
		case 1:
			s += "; " + p.one
		default:
			s += "; " + part.Count(p.n) + p.many
		}
	}
	return s
}

// recoveryEndDoc is the receipt, or why there is none.
func (r *Runner) recoveryEndDoc(e *screen.Env, w int) *part.Doc {
	g := e.Theme.Glyph
	d := part.NewDoc(e.Theme, w)
	r.target(e, d)
	x := r.rec
	switch {
	case r.step == Written && x.finished():
		d.Line(part.R(theme.OK, g.OK+" "), part.R(theme.Strong, x.outcome(nil)))
	case r.step == Written:
		d.Line(part.R(theme.Warn, g.Warn+" "), part.R(theme.Strong, x.outcome(nil)))
	case r.step == Stuck:
		d.Line(part.R(theme.Bad, g.Bad+" "), part.R(theme.Strong, x.outcome(r.err)))
	case x.chosen == nil || x.plan == nil:
		d.Line(part.R(theme.Bad, g.Bad+" "), part.R(theme.Strong, "the records could not be read; nothing was done"))
	default:
		d.Line(part.R(theme.Bad, g.Bad+" "), part.R(theme.Strong, "nothing was recovered"))
	}
	if r.err != nil {
		d.Gap()
		r.why(d)
		again := press(e, action.Reload) + " looks again"
		if r.step == Stuck {
			again += ": what was begun is carried on from there"
		}
		d.Text(theme.Muted, again+".")
	}
	if x.out != nil {
		for i := range x.out.Settled {
			d.Gap()
			settledDoc(e, d, &x.out.Settled[i])
		}
		r.remains(e, d)
		d.Gap()
		cost := part.Plural(r.used.write, "request", "requests") + "; " + part.Count(r.used.plan) + " for the plan before it"
		if !e.Masked {
			cost += "; " + part.Millis(r.took)
		}
		d.Fact("asked", cost)
		d.Text(theme.Muted, r.recoverCLI(e))
	}
	return d
}

// settledDoc is what became of one record.
func settledDoc(e *screen.Env, d *part.Doc, s *engine.SettledRecord) {
	g := e.Theme.Glyph
	role, mark := theme.OK, g.OK
	if !s.Done {
		role, mark = theme.Bad, g.Bad
	}
	d.Line(part.R(role, mark+" "), part.R(theme.Strong, part.Clean(settledName(s), g)), part.R(theme.Muted, " "+part.Short(part.Clean(s.Operation, g), g)))
	d.Indent(2, s.Said)
	if !strings.Contains(s.Said, s.Commit) {
		d.Fact("commit", s.Commit)
	}
	for _, o := range s.Outcomes {
		if strings.Contains(s.Said, o.Table) {
			continue // with what became of it
		}
		d.Fact("table", o.Table+" v"+part.Count(o.From)+" "+g.Arrow+" v"+part.Count(o.To))
	}
	for i, key := range s.Removed {
		name := ""
		if i == 0 {
			name = "removed"
		}
		d.FactRole(name, theme.Removed, key)
	}
	if s.Err != nil {
		d.Fact("next", engine.NextStep(s.Err))
	}
}

// remains says what is still pending.
func (r *Runner) remains(e *screen.Env, d *part.Doc) {
	d.Gap()
	left := r.rec.out.Remaining
	switch {
	case left == nil:
		d.FactRole("remains", theme.Warn, "not known: the last look failed; "+press(e, action.Reload)+" looks again")
		return
	case len(left.Records) == 0:
		d.FactRole("remains", theme.OK, "nothing: no recovery is pending")
		return
	}
	d.FactRole("remains", theme.Warn, part.Plural(len(left.Records), "record", "records")+"; "+press(e, action.Reload)+" shows them")
	for i := range left.Records {
		rec := &left.Records[i]
		text := screen.RecordName(rec) + ": " + rec.Will
		if rec.Left(e.Now) > 0 {
			text = screen.RecordName(rec) + ": waits " + screen.Countdown(rec.Left(e.Now))
		}
		d.Indent(2, text)
	}
}

// recoverCLI is the line that does the same in a shell.
func (r *Runner) recoverCLI(e *screen.Env) string {
	if r.rec.cli != "" {
		return r.rec.cli
	}
	return shell.Line("recover", screen.Stripped(e.URI))
}

// commandLine is the line that does what a confirmation would do now.
func (x *recovery) commandLine(e *screen.Env) string {
	args := []string{"recover", screen.Stripped(e.URI)}
	if len(x.chosen) == 0 {
		return shell.Line(args...)
	}
	args = append(args, "--apply")
	if x.hurry {
		args = append(args, "--now")
	}
	if x.moved {
		args = append(args, "--moved")
	}
	acts := 0
	for i := range x.plan.Records {
		if x.plan.Records[i].Stops(e.Now, engine.RecoverOptions{Now: x.hurry, Moved: x.moved}) == engine.RecoveryReady {
			acts++
		}
	}
	for _, key := range x.chosen {
		if acts == len(x.chosen) {
			break
		}
		if rec := x.record(key); rec != nil && rec.Operation != "" {
			key = rec.Operation
		}
		args = append(args, "--operation", key)
	}
	return shell.Line(args...)
}

// copyRecovery offers what can be copied.
func (r *Runner) copyRecovery(e *screen.Env) Do {
	x := r.rec
	out := []screen.Copy{{Label: "command line", Text: r.recoverCLI(e)}}
	if x.out != nil {
		for i := range x.out.Settled {
			if c := x.out.Settled[i].Commit; c != "" {
				out = append(out, screen.Copy{Label: "commit", Text: c})
			}
		}
		return Do{Copies: append(out, screen.JSONCopy("receipt as JSON", x.out)...)}
	}
	if x.plan == nil {
		return Do{Copies: out}
	}
	if key := x.key(); key == "" {
		for _, k := range x.objects() {
			out = append(out, screen.Copy{Label: "object key", Text: k})
		}
	}
	if rec := x.record(x.key()); rec != nil {
		if rec.SetAside {
			out = slices.Insert(out, 0, screen.Copy{Label: "command that sets it aside", Text: shell.Line("recover", screen.Stripped(e.URI), "--set-aside", rec.Key, "--why", "TEXT")})
		}
		if rec.Operation != "" {
			out = append(out, screen.Copy{Label: "operation", Text: rec.Operation})
		}
		out = append(out, screen.Copy{Label: "object key", Text: rec.Key})
		out = append(out, screen.JSONCopy("record as JSON", rec)...)
	}
	return Do{Copies: append(out, screen.JSONCopy("plan as JSON", x.plan)...)}
}

// recoveryHints are what the keys do now.
func (r *Runner) recoveryHints(e *screen.Env) []part.Hint {
	key := func(id action.ID) string { return e.Keys.Hint(e.Keys.Get(id)) }
	hint := func(k, title string, keep int) part.Hint { return part.Hint{Key: k, Title: title, Keep: keep} }
	copies := hint(key(action.Copy), "copy", 40)
	x := r.rec
	switch r.step {
	case Planning:
		return []part.Hint{hint("esc", "cancel", 90)}
	case Running:
		return []part.Hint{hint("esc", "goes on unseen", 90), hint(key(action.Interrupt), "stop", 80)}
	case Refused, Stuck:
		return []part.Hint{hint("esc", "back", 90), hint(key(action.Reload), "look again", 80), copies}
	case Written:
		return []part.Hint{hint("enter", r.leavesTo(e), 90), hint(key(action.Reload), "look again", 60), copies}
	}
	var out []part.Hint
	switch {
	case r.ask.level == 2:
		out = append(out, hint(r.ask.letter, "run it", 100))
	case e.Locked && len(x.runs(e.Now)) > 0:
		out = append(out, hint(key(action.Unlock), "unlock", 100))
	}
	out = append(out, hint("esc", r.leavesTo(e), 90))
	if x.places() > 1 {
		out = append(out, hint(key(action.Flip), "next record", 70), hint("space", "take or leave", 60))
	}
	switch {
	case x.hurry:
		out = append(out, hint(key(action.Hurry), "wait again", 80))
	case !r.Waits(e.Now).IsZero():
		out = append(out, hint(key(action.Hurry), "at once", 80))
	}
	return append(out, hint(key(action.Reload), "look again", 50), copies)
}

// leavesTo says where esc and enter lead.
func (r *Runner) leavesTo(e *screen.Env) string {
	if id := r.rec.why.Then; id != "" {
		return "on to " + e.Keys.Get(id).Title
	}
	return "back"
}

// recoveryState is the step in a word.
func (r *Runner) recoveryState() string {
	switch {
	case r.step == Refused && errors.As(r.err, new(*engine.ReadOnlyError)):
		return "read-only"
	}
	return "failed"
}
