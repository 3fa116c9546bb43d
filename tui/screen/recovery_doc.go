package screen

import (
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// RecordName says in a few words whose record it is: "Load on main".
func RecordName(r *engine.RecoveryRecord) string {
	if r.Kind == "" {
		return "a record that cannot be read"
	}
	return r.Kind + " on " + BranchName(r.Branch)
}

// DoWord is what would be done, in two or three words.
func DoWord(do engine.RecoveryDo) string {
	switch do {
	case engine.RecoverForward:
		return "publish it"
	case engine.RecoverBack:
		return "take it back"
	case engine.RecoverFinalize:
		return "remove its record"
	case engine.RecoverDiscard:
		return "discard it"
	case engine.RecoverOrphan:
		return "note it, discard it"
	case engine.RecoverDefer:
		return "something else first"
	}
	return "nothing: refused"
}

// RecordDoc writes a record out in full: what it means, what it waits for, what
// would be done, and all that would be removed. hurry says that a young record is
// not waited for.
func RecordDoc(e *Env, d *part.Doc, r *engine.RecoveryRecord, hurry bool) {
	if e.Data.Left != nil && !e.Data.Left.Has(r.Key) {
		d.Text(theme.Warn, e.Theme.Glyph.Warn+" It is not there any more: its writer ended it, or somebody else recovered it. "+press(e, "reload")+" looks again.")
	}
	d.Text(theme.Strong, r.Means)
	d.Gap()
	refused := r.Do == engine.RecoverRefuse || r.Do == engine.RecoverDefer
	waits(e, d, r, hurry)
	if refused {
		d.FactRole("would do", theme.Bad, r.Will)
	} else {
		d.FactRole("would do", theme.Strong, r.Will)
	}
	d.Fact("because", r.Why)
	if r.NeedsConfirm != "" {
		d.FactRole("moved", theme.Warn, "acting on it asks for the graph's name: be sure that it was moved or copied from "+r.RecordedRoot+", and that nothing recovers it there")
	} else if r.Place == "foreign" {
		d.FactRole("elsewhere", theme.Bad, "it names tables at "+r.RecordedRoot)
	}
	if !strings.Contains(r.Why, r.Problem) {
		d.FactRole("problem", theme.Bad, r.Problem)
	}
	if r.NeedsConfirm == "" { // it says the same for a shell
		d.Fact("next", r.Next)
	}
	d.Fact("blocks", r.Blocks)
	since := part.When(r.StartedAt)
	if ago := part.Since(e.Now, r.StartedAt); ago != "" {
		since += ", " + ago
	}
	d.Fact("whose", r.Whose)
	d.Fact("since", since)
	d.Fact("publishes", r.Publishes)
	recordTables(e, d, r)
	recordRemoves(d, r)
	recordFacts(d, r)
}

// waits says how long it is waited for, or that nobody has to any more.
func waits(e *Env, d *part.Doc, r *engine.RecoveryRecord, hurry bool) {
	left := r.Left(e.Now)
	switch {
	case left > 0 && hurry:
		age := ""
		if old := e.Now.Sub(r.StartedAt); old > 0 { // else it is of a clock that is ahead
			age = "it is " + Countdown(old) + " old, and "
		}
		d.FactRole("at once", theme.Bad, age+"its writer may still be at work: what it does then is lost, or taken back under it")
	case left > 0:
		d.FactRole("waits", theme.Warn, Countdown(left)+", until "+part.When(r.WaitUntil)+": its writer may be at work; "+press(e, "recover-now")+" does not wait")
	}
}

func recordTables(e *Env, d *part.Doc, r *engine.RecoveryRecord) {
	if len(r.Tables) == 0 || r.Do == engine.RecoverOrphan { // of that, no table is looked at
		return
	}
	g := e.Theme.Glyph
	d.Head(part.Plural(len(r.Tables), "table", "tables"))
	for i := range r.Tables {
		t := &r.Tables[i]
		at := "published v" + part.Count(t.Published)
		if t.Published == 0 {
			at = "not published"
		}
		newest := "newest v" + part.Count(t.Head)
		if t.Head == 0 {
			newest = "no dataset"
		}
		if t.Branch != "" {
			newest += " of branch " + part.Clean(t.Branch, g)
		}
		d.Line(part.R(theme.Strong, part.Clean(t.Table, g)), part.R(theme.Muted, "  "+at+", "+newest))
		if t.Found != "" {
			d.Indent(2, t.Found)
		}
		if t.Will != "" {
			d.Indent(2, g.Arrow+" "+t.Will)
		}
	}
}

// recordRemoves lists every key that would go.
func recordRemoves(d *part.Doc, r *engine.RecoveryRecord) {
	if len(r.Removes) == 0 {
		return
	}
	d.Head("removes " + part.Plural(len(r.Removes), "object", "objects"))
	for _, key := range r.Removes {
		d.Text(theme.Removed, key)
	}
}

func recordFacts(d *part.Doc, r *engine.RecoveryRecord) {
	d.Head("the record")
	d.Fact("phase", r.Phase)
	d.Fact("operation", r.Operation)
	d.Fact("commit", r.Commit)
	if r.Size > 0 {
		d.Fact("object", r.Key+", "+part.Bytes(r.Size))
	} else {
		d.Fact("object", r.Key)
	}
	if len(r.Evidence) > 0 {
		d.Head("evidence")
	}
	for i, ev := range r.Evidence {
		if i == 0 || ev.Key != r.Evidence[i-1].Key {
			d.Text(theme.Strong, ev.Key)
		}
		d.Indent(2, ev.Fact)
	}
}

// LockDoc, StagingDoc and OthersDoc write out what lies there besides records.
func LockDoc(d *part.Doc, l *engine.RecoveryLock) {
	d.Text(theme.Strong, l.Means)
	d.Gap()
	d.Fact("next", l.Next)
	d.Fact("since", part.When(l.Since))
	d.Fact("object", l.Key)
}

// StagingDoc: see LockDoc.
func StagingDoc(d *part.Doc, s *engine.RecoveryStaging) {
	d.Text(theme.Strong, s.Means)
	d.Gap()
	d.Fact("next", s.Next)
	for _, key := range s.Keys {
		d.Fact("object", key)
	}
}

// OthersDoc: see LockDoc.
func OthersDoc(d *part.Doc, keys []string) {
	d.Text(theme.Strong, part.Plural(len(keys), "object", "objects")+" in __recovery/ that no program reads: what a killed write left behind. Recovery leaves them.")
	d.Gap()
	for _, key := range keys {
		d.Text(theme.Text, key)
	}
}
