package runner

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
)

// New is the runner of a write that a screen made; it is to be planned at once.
func New(e *screen.Env, w screen.Write) *Runner {
	r := &Runner{Write: w, Branch: e.At.Branch, verb: "load"}
	if w.Mutate != nil {
		r.verb = "mutate"
	}
	r.enter(Planning, e.Now)
	return r
}

// drafter is the step in which a write is made.
type drafter interface {
	key(r *Runner, e *screen.Env, k tea.KeyPressMsg) Do
	paste(text string)
	// read is the write that the draft describes, or what it lacks.
	read() (screen.Write, error)
	// blame shows an error of the plan at its place in the draft; false when it
	// has none there.
	blame(err error) bool
	render(r *Runner, e *screen.Env, w, h int) []string
	hints(e *screen.Env) []part.Hint
	// Drafts are the texts to be kept, by name.
	drafts() map[string]string
}

// Drafts are the texts of the draft to be kept for the next time, by name; of a
// write that was done they are empty.
func (r *Runner) Drafts() map[string]string {
	if r.draft == nil {
		return nil
	}
	out := r.draft.drafts()
	if r.step == Written {
		for name := range out {
			out[name] = ""
		}
	}
	return out
}

// submit reads the draft and asks for its plan.
func (r *Runner) submit(e *screen.Env) Do {
	w, err := r.draft.read()
	if err != nil {
		r.draft.blame(err)
		return Do{}
	}
	r.Write, r.moved = w, nil
	return r.replan(e)
}

func (r *Runner) replan(e *screen.Env) Do {
	r.plan, r.split, r.err = nil, nil, nil
	r.enter(Planning, e.Now)
	return Do{Plan: true}
}

// back goes to the draft, or ends where there is none.
func (r *Runner) back(e *screen.Env) Do {
	if r.draft == nil {
		return Do{Close: true}
	}
	r.enter(Draft, e.Now)
	return Do{}
}

// Planned takes the plan, or why there is none.
func (r *Runner) Planned(e *screen.Env, p *engine.WritePlan, split *engine.ChunkPlan, err error, requests int64) {
	r.used.plan = requests
	switch {
	case errors.Is(err, context.Canceled):
		if r.back(e); r.draft == nil {
			r.err = errors.New("planning was cancelled; nothing was written")
			r.enter(Refused, e.Now)
		}
	case err != nil && r.draft != nil && r.draft.blame(err):
		r.enter(Draft, e.Now)
	case err != nil:
		r.err = err
		r.enter(Refused, e.Now)
	default:
		r.plan, r.split = p, split
		r.enter(Review, e.Now)
		r.ask = r.confirms(e)
	}
}

// Start begins the run that was confirmed.
func (r *Runner) Start(e *screen.Env) {
	r.prog = &Progress{}
	if r.plan != nil {
		r.prog.tables = len(r.plan.Tables)
	}
	r.enter(Running, e.Now)
}

// Ended takes what a write came to. again says that it is to be planned anew.
func (r *Runner) Ended(e *screen.Env, out *engine.Receipt, chunks *engine.ChunkedReceipt, err error, requests int64) (again bool) {
	r.took, r.used.write = e.Now.Sub(r.began), requests
	r.out, r.chunks, r.err = out, chunks, err
	var moved *engine.PlanMovedError
	switch {
	case err == nil:
		r.enter(Written, e.Now)
	case errors.As(err, &moved):
		r.moved, r.plan = r.plan, nil
		r.enter(Planning, e.Now)
		return true
	case engine.Wrote(err):
		r.enter(Stuck, e.Now)
	default:
		r.enter(Refused, e.Now)
	}
	return false
}

// Key handles a key.
func (r *Runner) Key(e *screen.Env, k tea.KeyPressMsg) Do {
	if r.rec != nil {
		if do, taken := r.recoveryKey(e, k); taken {
			return do
		}
	}
	switch r.step {
	case Draft:
		return r.draft.key(r, e, k)
	case Planning:
		if out(e, k) {
			return Do{Stop: true}
		}
	case Review:
		return r.reviewKey(e, k)
	case Running:
		if out(e, k) {
			return Do{Hide: true, Note: r.verb + " goes on; " + press(e, r.trigger()) + " shows it"}
		}
	case Refused:
		if out(e, k) || k.String() == "enter" {
			return r.back(e)
		}
		if engine.Interrupted(r.err) && e.Keys.Is(action.Recover, k.String()) {
			return Do{Close: true, Show: action.Recover}
		}
	case Written:
		return r.writtenKey(e, k)
	case Stuck:
		if e.Keys.Is(action.Recover, k.String()) {
			return Do{Close: true, Show: action.Recover}
		}
		if out(e, k) || k.String() == "enter" {
			if r.chunks != nil { // the same lines go on
				return r.back(e)
			}
			return Do{Close: true}
		}
	}
	return r.shared(e, k)
}

// trigger is the action that opens the runner.
func (r *Runner) trigger() action.ID {
	switch {
	case r.rec != nil:
		return action.Recover
	case r.verb == "load":
		return action.Load
	}
	return action.Mutate
}

// out: a key that leaves.
func out(e *screen.Env, k tea.KeyPressMsg) bool {
	a, _ := e.Keys.Find(action.OnFinding, k.String())
	return a.ID == action.Back || a.ID == action.Leave
}

// shared are the keys that every page knows: scrolling and copying.
func (r *Runner) shared(e *screen.Env, k tea.KeyPressMsg) Do {
	a, _ := e.Keys.Find(action.OnFinding, k.String())
	if a.ID == action.Copy {
		return r.copy(e)
	}
	screen.Scroll(&r.top, a.ID)
	return Do{}
}

// writtenKey handles a key of the receipt.
func (r *Runner) writtenKey(e *screen.Env, k tea.KeyPressMsg) Do {
	a, _ := e.Keys.Find(action.OnFinding, k.String())
	switch a.ID {
	case action.Open, action.Back, action.Leave:
		return Do{Close: true}
	case action.Commits, action.Ops, action.Tables, action.Overview, action.Branches, action.Versions:
		return Do{Close: true, Show: a.ID}
	}
	return r.shared(e, k)
}

// copy offers what can be copied.
func (r *Runner) copy(e *screen.Env) Do {
	if r.step == Written && r.out != nil && r.out.Commit != nil {
		return Do{Copy: &screen.Copy{Label: "commit", Text: r.out.Commit.ID}}
	}
	if line := r.CommandLine(e); line != "" {
		return Do{Copy: &screen.Copy{Label: "command line", Text: line}}
	}
	return Do{}
}

// Paste puts a text where one types.
func (r *Runner) Paste(e *screen.Env, text string) {
	switch {
	case r.step == Draft:
		r.draft.paste(text)
	case r.step == Review && r.ask.level == 3 && !e.Unready(r.began):
		r.ask.field.Insert(text)
	}
}

func press(e *screen.Env, id action.ID) string {
	if k := e.Keys.Hint(e.Keys.Get(id)); k != "" {
		return k
	}
	return ":" + string(id)
}

// Outcome is how the write ended, in a line.
func (r *Runner) Outcome() string {
	switch {
	case r.rec != nil:
		return r.Title() + ": " + r.rec.outcome(r.err)
	case r.step == Refused:
		return r.Title() + ": refused, nothing was written"
	case r.step == Stuck:
		return r.Title() + ": not finished"
	case r.out != nil && r.out.Commit != nil:
		return r.Title() + ": commit " + r.out.Commit.ID
	}
	return r.Title() + ": nothing was to be written"
}
