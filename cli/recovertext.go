package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// printRecovery is the plan for people; only are the records that were asked for.
func (c *call) printRecovery(t *out.Text, p *engine.RecoveryPlan, only []string) {
	t.Line("%s", p.Verdict)
	if p.Lock != nil {
		t.Raw(t.Paint(theme.Warn, "lock") + "  " + out.Clean(p.Lock.Key) + "\n")
		t.Line("  means    %s", p.Lock.Means)
		t.Line("  since    %s", moment(p.Lock.Since))
		t.Line("  next     %s", p.Lock.Next)
	}
	ready, moved := 0, 0
	for i := range p.Records {
		r := &p.Records[i]
		printRecord(t, r, p.LookedAt)
		if r.Do != engine.RecoverRefuse && r.Do != engine.RecoverDefer {
			if r.NeedsConfirm == "moved" { // its next step is told beside it
				moved++
			} else {
				ready++
			}
		}
	}
	if p.Staging != nil {
		wait := ""
		if !p.Staging.WaitUntil.IsZero() {
			wait = moment(p.Staging.WaitUntil) + ": until then a schema apply may be at work"
		}
		t.Line("%s  %s", p.Staging.Do, strings.Join(p.Staging.Keys, ", "))
		pairs(t, [2]string{"means", p.Staging.Means}, [2]string{"will", p.Staging.Will}, [2]string{"wait", wait}, [2]string{"danger", dangerText(p.Staging.Danger)})
		for _, e := range p.Staging.Evidence {
			t.Line("  seen     %s", e)
		}
		pairs(t, [2]string{"next", p.Staging.Next})
		if p.Staging.Do != "decide" {
			ready++
		}
	}
	for _, o := range p.Others {
		t.Line("no program reads %s; it is left", o)
	}
	switch {
	case ready > 0:
		line := []string{"recover", c.uri, "--apply"}
		for _, id := range only {
			line = append(line, "--operation", id)
		}
		t.Line("nothing was changed; to do it: %s", shell.Line(line...))
	case moved > 0:
		t.Line("nothing was changed")
	}
}

// pairs are lines of one record; what is empty is left out.
func pairs(t *out.Text, lines ...[2]string) {
	for _, l := range lines {
		if l[1] != "" {
			t.Line("  %-8s %s", l[0], l[1])
		}
	}
}

func printRecord(t *out.Text, r *engine.RecoveryRecord, now time.Time) {
	role, word := theme.OK, string(r.Do)
	switch r.Stops(now, engine.RecoverOptions{}) {
	case engine.RecoveryReady:
	case engine.RecoveryYoung:
		role, word = theme.Warn, word+", after the wait"
	case engine.RecoveryMoved:
		role, word = theme.Warn, word+", once it is confirmed"
	case engine.RecoveryRefused:
		role, word = theme.Bad, "refused"
	}
	refused := r.Do == engine.RecoverRefuse || r.Do == engine.RecoverDefer
	t.Raw(t.Paint(role, strings.ReplaceAll(word, "_", " ")) + "  " + out.Clean(r.Key) + "\n")
	began, wait, danger := "", "", dangerText(r.Danger)
	if !r.StartedAt.IsZero() {
		began = moment(r.StartedAt) + ", " + part.Since(now, r.StartedAt)
	}
	if r.Left(now) > 0 {
		wait = moment(r.WaitUntil) + ": until then its writer may be at work"
		if r.Danger == 4 {
			danger = "4 with --now: it may lose a write when its writer still runs"
		}
	}
	pairs(t, [2]string{"means", r.Means}, [2]string{"whose", r.Whose}, [2]string{"begun", began}, [2]string{"wait", wait}, [2]string{"will", r.Will},
		[2]string{"why", r.Why}, [2]string{"blocks", r.Blocks}, [2]string{"danger", danger})
	if !refused && r.Do != engine.RecoverOrphan { // of those, both sides are shown; of that, no table is looked at
		printRecordTables(t, r)
	}
	for _, k := range r.Removes {
		t.Line("  removes  %s", k)
	}
	if refused {
		for _, e := range r.Evidence {
			t.Line("  seen     %s: %s", e.Key, e.Fact)
		}
	}
	pairs(t, [2]string{"next", r.Next})
}

func printRecordTables(t *out.Text, r *engine.RecoveryRecord) {
	for _, x := range r.Tables {
		name := x.Table
		if x.Branch != "" {
			name += " on " + x.Branch
		}
		versions := fmt.Sprintf("expected v%d, planned v%d", x.Expected, x.Planned)
		if x.Confirmed > 0 {
			versions += fmt.Sprintf(", confirmed v%d", x.Confirmed)
		}
		t.Line("  %s: %s; published v%d, newest v%d", name, versions, x.Published, x.Head)
		t.Line("           %s", x.Found)
		if x.Do != "leave" {
			t.Line("           %s", x.Will)
		}
	}
}

// dangerText says how dangerous it is to act.
func dangerText(n int) string {
	return [...]string{
		"0: nothing happens", "1: safe", "2: it changes what is newest, as told here", "3: somebody must decide", "4: it may lose a write when its writer still runs, or bury one",
	}[min(max(n, 0), 4)]
}

// printRecovered is what was done, for people.
func printRecovered(t *out.Text, r *engine.RecoveryReceipt) {
	if len(r.Settled) == 0 && r.Staging == nil && (r.Remaining == nil || r.Remaining.Lock == nil) {
		t.Line("no operation was pending")
	}
	if r.Staging != nil {
		t.Line("%s: %s", strings.Join(r.Staging.Keys, ", "), r.Staging.Said)
	}
	for _, s := range r.Settled {
		role, word := theme.OK, "recovered"
		if !s.Done {
			role, word = theme.Bad, "left"
		}
		t.Raw(t.Paint(role, word) + "  " + out.Clean(s.Key) + "\n")
		t.Line("  %s", s.Said)
		for _, k := range s.Removed {
			t.Line("  removed %s", k)
		}
	}
	switch left := r.Remaining; {
	case left == nil:
		t.Line("what remains is not known, the last look failed: look again")
	case left.Lock != nil:
		t.Line("%s", left.Verdict)
		t.Line("  %s", left.Lock.Means)
		t.Line("  next: %s", left.Lock.Next)
	case len(r.Settled)+len(left.Records) > 0:
		t.Line("%s", left.Verdict)
	}
}

func (c *call) printAside(t *out.Text, p *engine.SetAsidePlan) {
	for _, o := range p.Objects {
		t.Line("%s, %s, would be moved below __omnideck_aside/", o.Key, part.Bytes(uint64(max(o.Size, 0))))
	}
	t.Line("  means    %s", p.Means)
	t.Line("  why      %s", p.Reason)
	t.Line("  danger   %s", dangerText(p.Danger))
	if p.Refused != "" {
		t.Line("  refused  %s", p.Refused)
		return
	}
	line := []string{"recover", c.uri}
	for _, o := range p.Objects {
		line = append(line, "--set-aside", o.Key)
	}
	t.Line("nothing was changed; to move it: %s", shell.Line(append(line, "--why", p.Reason, "--apply")...))
}

// recoveryTalk says on stderr how far recovery has come: on a terminal the wait is
// counted down in place.
type recoveryTalk struct {
	c    *call
	live bool
	open bool            // a line is being counted down
	said map[string]bool // keys that are waited for
}

func newRecoveryTalk(c *call) *recoveryTalk {
	return &recoveryTalk{c: c, live: !c.boolean("quiet") && !c.boolean("json") && c.env.draws(c.env.Stderr), said: map[string]bool{}}
}

func (r *recoveryTalk) hear(e engine.RecoveryEvent) {
	if e.Step == engine.RecoveryWaits {
		left := e.Until.Sub(r.c.env.Now()).Round(time.Second)
		of := "operation " + e.Operation + ", whose writer may be at work"
		if e.Operation == "" {
			of = e.Key + ", which a schema apply may be at work with"
		}
		switch {
		case r.live:
			fmt.Fprintf(r.c.env.Stderr, "\r\x1b[Kwaiting for %s: %s", out.Clean(of), left)
			r.open = true
		case !r.said[e.Key]:
			r.c.note("waiting for %s, until %s", of, moment(e.Until))
		}
		r.said[e.Key] = true
		return
	}
	r.end()
	name := fmt.Sprintf("%d of %d, operation %s", e.N, e.Of, e.Operation)
	switch e.Step {
	case engine.RecoveryLooks:
		r.c.note("%s: what is right was looked at", name)
	case engine.RecoveryDecides:
		r.c.note("%s: that it is taken back is written down", name)
	case engine.RecoveryForbids:
		r.c.note("%s: commit %s, without a table, keeps its writer from publishing", name, e.Commit)
	case engine.RecoveryRestores:
		r.c.note("%s: %s is restored", name, e.Table)
	case engine.RecoveryPublish:
		r.c.note("%s: published as commit %s", name, e.Commit)
	case engine.RecoveryPromotes:
		r.c.note("%s: the staged schema is the accepted one", name)
	case engine.RecoveryAudits:
		r.c.note("%s: noted in _graph_commit_recoveries.lance", name)
	case engine.RecoveryRemoves:
		r.c.note("%s: removed %s", name, e.Object)
	case engine.RecoverySettles:
		r.c.note("%s: its record is gone", name)
	case engine.RecoveryWaits, engine.RecoveryLeaves: // told before, and in the answer
	}
}

// end ends a line that was counted down.
func (r *recoveryTalk) end() {
	if r.open {
		fmt.Fprintln(r.c.env.Stderr)
		r.open = false
	}
}
