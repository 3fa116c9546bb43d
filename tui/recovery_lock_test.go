package tui

import (
	"testing"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// What the screen does not do itself is ready to be copied: setting a refused
// record aside, and the object of a lock.
func TestWhatIsDoneInAShellIsCopied(t *testing.T) {
	r := refusedRecord()
	r.SetAside = true
	ws := foundIn(r)
	plan := *ws.Recovering.Plans[0]
	plan.Lock = &engine.RecoveryLock{Key: "__manifest/_refs/branches/__schema_apply_lock__.json", Means: "the lock is left", Next: "remove it"}
	ws.Recovering.Plans = []*engine.RecoveryPlan{&plan}
	at(t, ws, "tables", 200, 40, func(b *bench) {
		b.keys("V")
		b.shows("nothing can be done now; 1 is refused; y copies the command that sets this one aside")
		b.keys("y")
		b.shows("command that sets it aside", "omnideck recover s3://acme-graphs/harbor.omni --set-aside "+r.Key+" --why TEXT")
		b.keys("1")
		b.shows("copied command that sets it aside")
		b.keys("tab", "y")
		b.shows("object key", plan.Lock.Key)
		b.lacks(" --set-aside ")
		b.keys("esc", "esc")
	})
}

// A lock that is left is told before a graph is unlocked, and what is safe about
// it after that: every write would be refused.
func TestUnlockingTellsTheLock(t *testing.T) {
	ws := fake.Harbor()
	ws.InfoAnswer.PendingRecovery = []engine.Pending{}
	ws.InfoAnswer.Findings = append(ws.InfoAnswer.Findings, engine.Finding{ID: "G14", Severity: engine.SeverityError, Title: "the lock is left"})
	plan := recoveryOf()
	plan.Lock = &engine.RecoveryLock{Key: "__manifest/_refs/branches/__schema_apply_lock__.json", Since: fake.Epoch.Add(-time.Hour), Means: "the lock is left", Next: "remove that one object", Stale: true}
	ws.Recovering.Plans = []*engine.RecoveryPlan{plan}
	at(t, ws, "overview", 100, 30, func(b *bench) {
		b.keys("U")
		b.clock = b.clock.Add(time.Second)
		b.shows("every write is refused", "nothing: no operation left a record")
		b.typeIn("harbor.omni")
		b.keys("enter")
		b.shows("the lock is left", "remove that one object")
		b.keys("esc")
	})
}

// A record that cannot be read is on no branch.
func TestUnreadableRecordIsOnNoBranch(t *testing.T) {
	ws := fake.Harbor()
	ws.InfoAnswer.PendingRecovery = []engine.Pending{{Key: "__recovery/cut.json", Refused: true, Problem: "10 bytes, not JSON at byte 10"}}
	at(t, ws, "overview", 100, 40, func(b *bench) {
		b.shows("unreadable · 10 bytes, not JSON at byte 10")
		b.lacks("unreadable on main")
	})
}
