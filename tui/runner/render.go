package runner

import (
	"context"
	"errors"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Render draws exactly h lines of w cells. used is what was asked of the store
// for the step that is shown.
func (r *Runner) Render(e *screen.Env, w, h int, used workspace.Reading) []string {
	out := []string{r.title(e, w), part.Rule(e.Theme, "", w)}
	h -= len(out)
	if r.rec != nil {
		return append(out, r.renderRecovery(e, w, max(0, h), used)...)
	}
	if r.step == Draft {
		return append(out, part.Fit(r.draft.render(r, e, w, h), w, h)...)
	}
	var foot []string
	var d *part.Doc
	switch r.step {
	case Planning:
		d = part.NewDoc(e.Theme, w)
		r.target(e, d)
		text := "reading the graph: what this would do"
		if r.moved != nil {
			text = "the graph moved meanwhile; nothing was written. Reading again what this would do"
		}
		d.Text(theme.Text, text+e.Theme.Glyph.More)
		if !e.Masked {
			d.Text(theme.Muted, part.Elapsed(e.Now.Sub(r.began)))
		}
	case Review:
		d, foot = r.planDoc(e, w), r.askLines(e, w)
	case Running:
		d = r.runDoc(e, w, used)
		for _, l := range part.Wrap(r.Stops(e), max(10, w-2)) {
			foot = append(foot, part.Line(e.Theme, w, part.S(" "), part.R(theme.Muted, l)))
		}
	case Refused:
		d = r.refusedDoc(e, w)
	case Written:
		d = r.receiptDoc(e, w)
	case Stuck:
		d = r.stuckDoc(e, w)
	}
	if foot != nil {
		foot = append([]string{part.Rule(e.Theme, "", w)}, foot...)
	}
	room := max(0, h-len(foot))
	if d.Len() < room && foot != nil && h > 12 { // what is confirmed stands close to how
		room = d.Len()
	}
	out = append(out, d.Window(room, &r.top)...)
	return part.Fit(append(out, foot...), w, h+2)
}

// title says what is written, where, and how far it is.
func (r *Runner) title(e *screen.Env, w int) string {
	g := e.Theme.Glyph
	left := []part.Span{part.S(" "), part.R(theme.Strong, part.Clean(r.Title(), g))}
	if r.rec != nil {
		if p := r.rec.plan; p != nil && (r.step == Review || r.step == Running) {
			left = append(left, part.R(theme.Muted, " "+g.Dot+" "), part.S(part.Plural(len(p.Records), "record", "records")+" pending"))
		}
		return part.Sides(e.Theme, w, left, []part.Span{part.R(r.role(), r.state()), part.S(" ")})
	}
	if r.plan != nil {
		left = append(left, part.R(theme.Muted, " "+g.Dot+" plan "), part.S(part.Clean(r.plan.ID, g)))
	}
	left = append(left, part.R(theme.Muted, " "+g.Dot+" "), part.R(theme.Accent, part.Clean(screen.BranchName(r.Branch), g)))
	if r.plan != nil && r.plan.PinnedHead != "" {
		left = append(left, part.R(theme.Muted, " @ "), part.S(part.Short(r.plan.PinnedHead, g)))
	}
	return part.Sides(e.Theme, w, left, []part.Span{part.R(r.role(), r.state()), part.S(" ")})
}

// Title is the write in a few words.
func (r *Runner) Title() string {
	if r.step == Draft || r.Write.Title == "" {
		return r.verb
	}
	return r.Write.Title
}

// state is the step in a word.
func (r *Runner) state() string {
	if r.rec != nil && r.step == Refused {
		return r.recoveryState()
	}
	switch r.step {
	case Draft:
		return "draft"
	case Planning:
		return "planning"
	case Review:
		return "review"
	case Running:
		return "running"
	case Written:
		return "receipt"
	case Stuck:
		return "not finished"
	}
	if errors.Is(r.err, context.Canceled) {
		return "cancelled"
	}
	return "refused"
}

func (r *Runner) role() theme.Role {
	switch r.step {
	case Running:
		return theme.Write
	case Written:
		return theme.OK
	case Refused, Stuck:
		return theme.Bad
	}
	return theme.Muted
}

// Hints are what the keys do now.
func (r *Runner) Hints(e *screen.Env) []part.Hint {
	key := func(id action.ID) string { return e.Keys.Hint(e.Keys.Get(id)) }
	hint := func(k, title string) part.Hint { return part.Hint{Key: k, Title: title, Keep: 50} }
	if r.rec != nil {
		return r.recoveryHints(e)
	}
	switch r.step {
	case Draft:
		return r.draft.hints(e)
	case Planning:
		return []part.Hint{hint("esc", "cancel")}
	case Running:
		out := []part.Hint{hint("esc", "goes on unseen")}
		if r.split != nil || !r.prog.Durable() {
			out = append(out, hint(key(action.Interrupt), "cancel"))
		}
		return out
	case Written:
		return []part.Hint{hint("enter", "close"), hint(key(action.Copy), "copy the commit"), hint(key(action.Commits), "commits")}
	case Refused, Stuck:
		out := []part.Hint{hint("esc", "back"), hint(key(action.Copy), "copy the command line")}
		if engine.Interrupted(r.err) {
			out = append(out, hint(key(action.Recover), "recovery"))
		}
		return out
	}
	var out []part.Hint
	switch r.ask.level {
	case 1:
		out = []part.Hint{hint(key(action.Flip), "Cancel or Run"), hint("enter", "do that")}
	case 2:
		out = []part.Hint{hint(r.ask.letter, "run it")}
	case 3:
		out = []part.Hint{hint("enter", "run it, when it was typed")}
	}
	back := "back to the draft"
	if r.draft == nil {
		back = "back"
	}
	out = append(out, hint("esc", back), hint(key(action.Copy), "copy the command line"))
	if r.ask.level < 3 {
		out = append(out, hint(key(action.Reload), "plan again"))
	}
	return out
}
