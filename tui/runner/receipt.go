package runner

import (
	"context"
	"errors"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// receiptDoc is what the write came to.
func (r *Runner) receiptDoc(e *screen.Env, w int) *part.Doc {
	g := e.Theme.Glyph
	d := part.NewDoc(e.Theme, w)
	r.target(e, d)
	switch {
	case r.chunks != nil:
		d.Line(part.R(theme.OK, g.OK+" "), part.R(theme.Strong, "loaded: "+part.Plural(r.chunks.Commits, "commit", "commits")+" for "+part.Plural(r.chunks.Chunks, "chunk", "chunks")))
		if n := r.chunks.Landed; n > 0 {
			d.Line(part.S("  " + part.Plural(n, "chunk", "chunks") + " stood in the graph already"))
		}
	case r.out.Commit == nil:
		d.Line(part.S("nothing was to be written: the graph is as it was"))
	default:
		d.Line(part.R(theme.OK, g.OK+" "), part.S("commit "), part.R(theme.Strong, r.out.Commit.ID), part.S(" on "+part.Clean(r.out.Branch, g)))
	}
	d.Gap()
	if len(r.out.Tables) > 0 {
		if r.chunks != nil {
			d.Text(theme.Muted, "the last commit:")
		}
		d.Add(tableLines(e, r.out.Tables, w)...)
		d.Gap()
	}
	r.came(e, d)
	d.Gap()
	d.Text(theme.Muted, r.CommandLine(e))
	return d
}

// came is what it came to, in facts.
func (r *Runner) came(e *screen.Env, d *part.Doc) {
	if r.out.Nodes+r.out.Edges > 0 {
		d.Fact("affected", part.Plural(r.out.Nodes, "node", "nodes")+", "+part.Plural(r.out.Edges, "edge", "edges"))
	}
	for _, l := range r.out.Loads {
		d.Fact("loaded", l.Kind+":"+l.Name+" "+part.Count(l.Rows))
	}
	cost := part.Plural(r.used.write, "request", "requests")
	if r.plan != nil && r.plan.RequestsEstimate > 0 {
		cost += ", about " + part.Count(r.plan.RequestsEstimate) + " expected"
	}
	if r.used.plan > 0 {
		cost += "; " + part.Count(r.used.plan) + " for the plan before it"
	}
	if !e.Masked {
		cost += "; " + part.Millis(r.took)
	}
	d.Fact("asked", cost)
	if r.out.Attempts > 1 {
		d.Fact("attempts", part.Count(r.out.Attempts)+": others wrote meanwhile")
	}
	if r.out.Warning != nil {
		d.FactRole("warning", theme.Warn, r.out.Warning.Error())
	}
	if r.out.Commit != nil {
		d.Fact("next", press(e, action.Commits)+" shows the commit among the others; "+press(e, action.Ops)+" keeps this receipt")
	}
}

// refusedDoc is why nothing was written.
func (r *Runner) refusedDoc(e *screen.Env, w int) *part.Doc {
	g := e.Theme.Glyph
	d := part.NewDoc(e.Theme, w)
	r.target(e, d)
	if errors.Is(r.err, context.Canceled) {
		d.Line(part.R(theme.Warn, g.Warn+" "), part.R(theme.Strong, "cancelled: nothing was written"))
		return d
	}
	d.Line(part.R(theme.Bad, g.Bad+" "), part.R(theme.Strong, "refused: nothing was written"))
	d.Gap()
	rules, more := engine.BrokenRules(r.err)
	for _, b := range rules {
		d.Fact("rule", b.Text)
		d.Fact("type", b.Table)
		d.Fact("id", strings.Join(b.IDs, ", "))
		d.Fact("property", strings.Join(b.Properties, ", "))
		d.Fact("value", b.Found)
		d.Fact("expected", b.Expected)
		d.Gap()
	}
	if more {
		d.Text(theme.Muted, "There may be others.")
	}
	if len(rules) == 0 {
		r.why(d)
	}
	if engine.Interrupted(r.err) {
		d.Gap()
		d.Text(theme.Text, press(e, action.Recover)+" shows what stands in the way, and what recovery would do about it.")
	}
	return d
}

// why is an error in full, and what can be done.
func (r *Runner) why(d *part.Doc) {
	for line := range strings.SplitSeq(r.err.Error(), "\n") {
		d.Text(theme.Text, line)
	}
	if step := engine.NextStep(r.err); step != "" {
		d.Text(theme.Muted, step)
	}
}

// stuckDoc is what stands, or may, of a write that did not come to its end.
func (r *Runner) stuckDoc(e *screen.Env, w int) *part.Doc {
	g := e.Theme.Glyph
	d := part.NewDoc(e.Theme, w)
	r.target(e, d)
	if r.chunks != nil && r.chunks.Commits > 0 && !engine.Interrupted(r.err) {
		d.Line(part.R(theme.Warn, g.Warn+" "), part.R(theme.Strong, "loaded in part: "+part.Plural(r.chunks.Commits, "commit", "commits")+" of "+part.Plural(r.chunks.Chunks, "chunk", "chunks")+" stand"))
		d.Gap()
		r.why(d)
		d.Gap()
		d.Text(theme.Text, "Loading the same file again passes over what stands and goes on.")
		return d
	}
	d.Line(part.R(theme.Bad, g.Bad+" "), part.R(theme.Strong, "interrupted: a recovery is pending"))
	d.Gap()
	r.why(d)
	d.Gap()
	d.Text(theme.Text, "What is visible is what was published last. The record in __recovery tells what was begun. Do not repeat the write before it is recovered.")
	d.Text(theme.Muted, press(e, action.Recover)+" shows what recovery would do about it.")
	return d
}
