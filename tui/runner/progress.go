package runner

import (
	"slices"
	"sync"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Progress is how far a running write has come. Whoever writes tells it, on any
// goroutine; the screen reads copies.
type Progress struct {
	tables int // that the plan moves

	mu sync.Mutex
	at reached
}

// reached is one moment of a Progress.
type reached struct {
	step    engine.WriteStep // the last one that was reached; "" = none
	attempt int
	moved   int    // tables
	table   string // the last of them
	waits   string // for which operation; "" = none
	settled string // operation of another that was recovered first; "" = none
	why     string // the attempt before ended
	chunk   engine.ChunkProgress
}

// Event takes a step of the write.
func (p *Progress) Event(v engine.WriteEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &p.at
	a.attempt, a.waits = v.Attempt, ""
	switch v.Step {
	case engine.StepWaiting:
		a.waits = v.Operation
		return
	case engine.StepRecovered:
		a.settled = v.Operation
		return
	case engine.StepAgain:
		if v.Err != nil {
			a.why = v.Err.Error()
		}
		a.step, a.moved, a.table = "", 0, ""
		return
	case engine.StepCaptured:
		a.moved, a.table = 0, ""
	case engine.StepEffect:
		a.moved++
		a.table = v.Table
	}
	a.step = v.Step
}

// Chunk takes a chunk that is done.
func (p *Progress) Chunk(c engine.ChunkProgress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at.chunk = c
	p.at.step, p.at.moved, p.at.table, p.at.why = "", 0, "", ""
}

func (p *Progress) now() reached {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

// Durable says that the write can no longer be given up: it is carried to its
// end whatever happens to the program's wish.
func (p *Progress) Durable() bool {
	i := slices.IndexFunc(phases, func(f phase) bool { return f.step == p.now().step })
	return i >= slices.IndexFunc(phases, func(f phase) bool { return f.step == engine.StepChecked })
}

// phase is a step in words: while it is worked at, and when it is done.
type phase struct {
	step        engine.WriteStep
	doing, done string
}

var phases = []phase{
	{engine.StepCaptured, "reading the branch as it is", "read the branch as it is"},
	{engine.StepPrepared, "writing rows into files that nothing names yet", "wrote rows into files that nothing names yet"},
	{engine.StepChecked, "looking whether anything moved meanwhile", "nothing moved meanwhile"},
	{engine.StepArmed, "writing the recovery record", "wrote the recovery record"},
	{engine.StepEffect, "moving tables", "moved tables"},
	{engine.StepConfirmed, "confirming it in the record", "confirmed it in the record"},
	{engine.StepPublished, "publishing", "published: it is visible"},
	{engine.StepRetired, "removing the record", "removed the record"},
}

// runDoc is the running write.
func (r *Runner) runDoc(e *screen.Env, w int, used workspace.Reading) *part.Doc {
	d := part.NewDoc(e.Theme, w)
	a := r.prog.now()
	r.target(e, d)
	if r.split != nil {
		r.chunkBar(e, d, a)
	}
	r.phaseLines(e, d, a)
	if a.waits != "" {
		d.Text(theme.Warn, "It waits for operation "+a.waits+", which has left a record: until that goes, or is old enough to be looked after.")
	}
	if a.settled != "" {
		d.Text(theme.Muted, "Operation "+a.settled+", which was left half done and stood in the way, was recovered first.")
	}
	if a.why != "" {
		d.Text(theme.Muted, "attempt "+part.Count(max(1, a.attempt))+"; the one before: "+a.why)
	}
	d.Gap()
	cost := part.Plural(used.Requests(), "request", "requests")
	if r.plan != nil && r.plan.RequestsEstimate > 0 {
		cost += " of about " + part.Count(r.plan.RequestsEstimate)
	}
	cost += ", " + part.Bytes(used.BytesRead) + " in, " + part.Bytes(used.BytesWritten) + " out"
	if !e.Masked {
		cost += ", " + part.Elapsed(e.Now.Sub(r.began))
	}
	d.Fact("asked", cost)
	return d
}

// phaseLines are the steps, with a mark before each.
func (r *Runner) phaseLines(e *screen.Env, d *part.Doc, a reached) {
	g := e.Theme.Glyph
	at := slices.IndexFunc(phases, func(f phase) bool { return f.step == a.step }) // the last one that is done
	moving := a.step == engine.StepEffect && a.moved < r.prog.tables
	if moving {
		at--
	}
	for i, f := range phases {
		text := f.doing
		if i <= at {
			text = f.done
		}
		if f.step == engine.StepEffect && r.prog.tables > 0 {
			text += " " + part.Count(min(a.moved, r.prog.tables)) + "/" + part.Count(r.prog.tables)
			if a.table != "" {
				text += " " + g.Dot + " " + part.Clean(a.table, g)
			}
		}
		switch {
		case i <= at:
			d.Line(part.R(theme.OK, g.OK+" "), part.S(text))
		case i == at+1:
			d.Line(part.R(theme.Accent, g.Pointer+" "), part.R(theme.Strong, text))
		default:
			d.Line(part.R(theme.Muted, "  "+text))
		}
	}
}

// chunkBar is how many chunks are in the graph.
func (r *Runner) chunkBar(e *screen.Env, d *part.Doc, a reached) {
	g := e.Theme.Glyph
	c := a.chunk
	of := r.split.Chunks
	total := r.split.Nodes + r.split.Edges
	room := max(8, min(40, d.Width()-44))
	bar := part.Bar(g, float64(c.Done), float64(max(1, total)), room)
	text := " chunk " + part.Count(min(c.Chunk+1, of)) + " of " + part.Count(of) + ", " + part.Count(c.Done) + " of " + part.Plural(total, "entity", "entities")
	role := theme.Accent
	if !e.Theme.Fills(role) {
		role = theme.Text
	}
	d.Line(part.S(g.V), part.R(role, bar), part.S(part.Pad("", room-part.Width(bar))+g.V), part.S(text))
	d.Gap()
}

// Stops says what the key that cancels does at this moment.
func (r *Runner) Stops(e *screen.Env) string {
	if r.rec != nil {
		return r.recoveryStops(e)
	}
	key := press(e, "interrupt")
	durable := r.prog.Durable()
	switch {
	case r.split != nil && durable:
		return key + " stops after this chunk; those in the graph stay, and the same load goes on from there"
	case r.split != nil:
		return key + " stops here; the chunks in the graph stay, and the same load goes on from there"
	case durable:
		return "it is carried to its end now; killed here, a recovery finishes it or takes it back"
	}
	return key + " cancels: nothing is in the graph yet"
}

// Line is the running write in a line.
func (r *Runner) Line(e *screen.Env) string {
	if r.rec != nil {
		return r.recoveryLine(e)
	}
	a := r.prog.now()
	s := part.Clean(r.Title(), e.Theme.Glyph) + ": "
	if r.split != nil {
		s += "chunk " + part.Count(min(a.chunk.Chunk+1, r.split.Chunks)) + " of " + part.Count(r.split.Chunks)
	} else {
		i := slices.IndexFunc(phases, func(f phase) bool { return f.step == a.step })
		s += phases[min(i+1, len(phases)-1)].doing
	}
	return s + "; " + press(e, r.trigger()) + " shows it"
}
