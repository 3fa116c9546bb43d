package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

var ana = "ana"

// record is a record of the sample graph, as old as age says at its epoch.
func record(n int, kind, branch string, do engine.RecoveryDo, age time.Duration) engine.RecoveryRecord {
	id := fmt.Sprintf("01KD8W3Q4Y8ZT5V6M2B00000%02d", n)
	r := engine.RecoveryRecord{
		Key: "__recovery/" + id + ".json", Size: 2048, Operation: id, Kind: kind, Branch: branch, Phase: "Armed", Actor: &ana, StartedAt: fake.Epoch.Add(-age),
		Place: "here", Whose: "a " + strings.ToLower(kind) + " by ana on " + branch + "; which process cannot be known",
		Means:  "the " + strings.ToLower(kind) + " stopped after it moved 1 of 2 tables; nothing of it is visible",
		Will:   "node:Port is restored to what is published, that is published as v138, and the record is removed",
		Why:    "it was announced and not confirmed, so nobody was told that it is done",
		Blocks: "writes on " + branch, Do: do, Danger: 2, Publishes: "01KD8W3Q4Y8ZT5V6M2B00000R" + fmt.Sprint(n),
		Tables: []engine.RecoveryTable{
			{Table: "node:Port", Expected: 42, Planned: 43, Published: 42, Head: 43, Found: "1 version above it: its own transaction", Do: "restore", To: 42, Will: "restore the content of v42 as v44"},
			{Table: "edge:CallsAt", Expected: 89, Planned: 90, Published: 89, Head: 89, Found: "nothing above it", Do: "leave", Will: "nothing: it was not moved"},
		},
		Removes:  []string{"nodes/1f/tree/review/ports/_versions/18446744073709551573.manifest", "__recovery/" + id + ".json"},
		Evidence: []engine.Evidence{{Key: "nodes/1f/_versions/18446744073709551572.manifest", Fact: "v43 of node:Port, by transaction 5f0e4c1b of this operation"}},
	}
	if left := 30*time.Second - age; left > 0 {
		r.WaitUntil = fake.Epoch.Add(left)
	}
	return r
}

func refusedRecord() engine.RecoveryRecord {
	r := record(3, "BranchMerge", "review/ports", engine.RecoverRefuse, 26*time.Hour)
	r.Means = "the merge moved node:Port, and node:Port was moved by somebody else since"
	r.Will, r.Why = "nothing: the record stays as it is", "v45 of node:Port holds rows of a transaction that no record explains: taking the merge back would lose them"
	r.Next, r.Publishes, r.Removes = "omnideck versions s3://acme-graphs/harbor.omni node:Port shows who wrote v45; keep the record until that is known", "", []string{}
	return r
}

func movedRecord() engine.RecoveryRecord {
	r := record(4, "Mutation", "main", engine.RecoverForward, 3*time.Hour)
	r.Place, r.RecordedRoot, r.NeedsConfirm = "moved", "s3://lab/harbor", "moved"
	r.Will = "the mutation is published as v138, as it would have been"
	return r
}

// foundIn is the sample graph on this machine, in which these records lie.
func foundIn(records ...engine.RecoveryRecord) *fake.Workspace {
	ws := fake.Harbor()
	ws.IsRemote = false
	ws.InfoAnswer.PendingRecovery = []engine.Pending{}
	for i := range records {
		r := &records[i]
		ws.InfoAnswer.PendingRecovery = append(ws.InfoAnswer.PendingRecovery, engine.Pending{
			Key: r.Key, OperationID: r.Operation, Kind: r.Kind, Branch: r.Branch, Phase: r.Phase, StartedAt: r.StartedAt, WaitUntil: r.WaitUntil, Actor: "ana",
			Refused: r.Do == engine.RecoverRefuse, Moved: r.NeedsConfirm != "",
		})
	}
	ws.Recovering.Plans = []*engine.RecoveryPlan{recoveryOf(records...)}
	return ws
}

func recoveryOf(records ...engine.RecoveryRecord) *engine.RecoveryPlan {
	return &engine.RecoveryPlan{
		LookedAt: fake.Epoch, Records: append([]engine.RecoveryRecord{}, records...), Others: []string{},
		Verdict: fmt.Sprintf("%d operations were interrupted; what they changed and did not publish is not visible", len(records)),
	}
}

// oldAndYoung are a record that may be acted on, and one that is waited for.
func oldAndYoung() *fake.Workspace {
	return foundIn(record(1, "Load", "main", engine.RecoverBack, 5*time.Hour), record(2, "Mutation", "main", engine.RecoverForward, 12*time.Second))
}

// receiptOf is what came of a record.
func receiptOf(done bool, remaining *engine.RecoveryPlan) *engine.RecoveryReceipt {
	r := record(1, "Load", "main", engine.RecoverBack, 5*time.Hour)
	s := engine.SettledRecord{
		Key: r.Key, Operation: r.Operation, Kind: r.Kind, Branch: r.Branch, Do: r.Do, Done: done, Said: "it was taken back: node:Port is at v44, which has the content of v42",
		Commit: "01KD8W3Q4Y8ZT5V6M2B00000R1", Outcomes: []engine.RecoveryOutcome{{Table: "node:Port", From: 43, To: 44}}, Removed: r.Removes,
	}
	if !done {
		s = engine.SettledRecord{
			Key: r.Key, Operation: r.Operation, Kind: r.Kind, Branch: r.Branch, Do: r.Do, Said: "left: shown was that it is taken back, right is now that it is published",
			Outcomes: []engine.RecoveryOutcome{}, Removed: []string{}, Err: errors.New("look again"),
		}
	}
	return &engine.RecoveryReceipt{Settled: []engine.SettledRecord{s}, Remaining: remaining}
}

// recovers opens the recovery on a settled screen, where its keys are taken.
func recovers(t *testing.T, ws *fake.Workspace, o Options, w, h int) *bench {
	b := settled(t, ws, o, w, h)
	b.keys("V")
	b.send(struct{}{})
	return b
}

// recoverySteps are the states of a recovery, and how each is reached.
var recoverySteps = []reached{
	{"none", func(t *testing.T, o Options, w, h int) *bench { return recovers(t, foundIn(), o, w, h) }},
	{"planning", func(t *testing.T, o Options, w, h int) *bench {
		b := settled(t, oldAndYoung(), o, w, h)
		b.send(press("V"))
		return b
	}},
	{"old", func(t *testing.T, o Options, w, h int) *bench {
		return recovers(t, foundIn(record(1, "Load", "main", engine.RecoverBack, 5*time.Hour)), o, w, h)
	}},
	{"young", func(t *testing.T, o Options, w, h int) *bench {
		return recovers(t, foundIn(record(2, "Mutation", "main", engine.RecoverForward, 12*time.Second)), o, w, h)
	}},
	{"young-at-once", func(t *testing.T, o Options, w, h int) *bench {
		b := recovers(t, foundIn(record(2, "Mutation", "main", engine.RecoverForward, 12*time.Second)), o, w, h)
		b.clock = b.clock.Add(time.Second)
		b.keys("H")
		return b
	}},
	{"refused", func(t *testing.T, o Options, w, h int) *bench { return recovers(t, foundIn(refusedRecord()), o, w, h) }},
	{"moved", func(t *testing.T, o Options, w, h int) *bench { return recovers(t, foundIn(movedRecord()), o, w, h) }},
	{"moved-asks", func(t *testing.T, o Options, w, h int) *bench {
		b := recovers(t, foundIn(movedRecord()), o, w, h)
		return b.confirms()
	}},
	{"several", func(t *testing.T, o Options, w, h int) *bench {
		ws := foundIn(refusedRecord(), record(1, "Load", "main", engine.RecoverBack, 5*time.Hour), movedRecord(), record(2, "Mutation", "main", engine.RecoverForward, 12*time.Second))
		ws.Recovering.Plans[0].Others = []string{"__recovery/01KD8W3Q4Y8ZT5V6M2B0000001.json#1"}
		ws.Recovering.Plans[0].Lock = &engine.RecoveryLock{Key: "__manifest/_refs/branches/__schema_apply_lock__.json", Stale: true, Means: "the lock of a schema apply that died is left; nobody can write", Next: "remove it once nothing writes"}
		b := recovers(t, ws, o, w, h)
		b.keys("tab")
		return b
	}},
	{"locked", func(t *testing.T, o Options, w, h int) *bench {
		ws := oldAndYoung()
		ws.IsRemote = true
		return recovers(t, ws, o, w, h)
	}},
	{"unlocked", func(t *testing.T, o Options, w, h int) *bench {
		ws := oldAndYoung()
		ws.IsRemote = true
		b := settled(t, ws, o, w, h)
		b.keys("U")
		b.clock = b.clock.Add(time.Second)
		b.typeIn("harbor.omni")
		b.keys("enter")
		b.clock = b.clock.Add(10 * time.Second)
		b.send(noteMsg{})
		return b
	}},
	{"before-the-first-write", func(t *testing.T, o Options, w, h int) *bench {
		b := settled(t, oldAndYoung(), o, w, h)
		b.keys("W")
		return b
	}},
	{"gone", func(t *testing.T, o Options, w, h int) *bench {
		ws := oldAndYoung()
		ws.Recovering.Plans = append(ws.Recovering.Plans, recoveryOf(ws.Recovering.Plans[0].Records[0]))
		b := recovers(t, ws, o, w, h)
		b.keys("r")
		return b
	}},
	{"running", func(t *testing.T, o Options, w, h int) *bench {
		ws := oldAndYoung()
		b := recovers(t, ws, o, w, h)
		b.clock = b.clock.Add(time.Second)
		b.keys("H")
		b.clock = b.clock.Add(time.Second)
		b.send(press(b.writer.Hints(&b.env)[0].Key))
		for _, s := range []engine.RecoveryStep{engine.RecoveryLooks, engine.RecoveryDecides, engine.RecoveryRestores} {
			b.writer.Recovering(engine.RecoveryEvent{Step: s, Key: ws.Recovering.Plans[0].Records[0].Key, N: 1, Of: 2, Table: "node:Port"})
		}
		b.clock = b.clock.Add(1300 * time.Millisecond)
		b.send(struct{}{})
		return b
	}},
	{"receipt", func(t *testing.T, o Options, w, h int) *bench {
		ws := foundIn(record(1, "Load", "main", engine.RecoverBack, 5*time.Hour))
		ws.Recovering.Receipts = []*engine.RecoveryReceipt{receiptOf(true, recoveryOf())}
		b := recovers(t, ws, o, w, h)
		ws.InfoAnswer.PendingRecovery = nil
		return b.confirms()
	}},
	{"receipt-left", func(t *testing.T, o Options, w, h int) *bench {
		ws := oldAndYoung()
		ws.Recovering.Receipts = []*engine.RecoveryReceipt{receiptOf(false, ws.Recovering.Plans[0])}
		return recovers(t, ws, o, w, h).confirms()
	}},
	{"receipt-and-again", func(t *testing.T, o Options, w, h int) *bench {
		ws := oldAndYoung()
		ws.Recovering.Receipts = []*engine.RecoveryReceipt{receiptOf(true, recoveryOf(ws.Recovering.Plans[0].Records[1]))}
		ws.Recovering.Plans = append(ws.Recovering.Plans, recoveryOf(ws.Recovering.Plans[0].Records[1]))
		b := recovers(t, ws, o, w, h).confirms()
		b.keys("r")
		return b
	}},
	{"failed", func(t *testing.T, o Options, w, h int) *bench {
		ws := oldAndYoung()
		ws.Recovering.Receipts = []*engine.RecoveryReceipt{receiptOf(true, nil)}
		ws.Recovering.Errs = []error{errors.New("removing the record __recovery/01KD8W3Q4Y8ZT5V6M2B0000002.json: the store could not be reached: dial tcp 10.0.0.7:443: connection refused")}
		return recovers(t, ws, o, w, h).confirms()
	}},
	{"unread", func(t *testing.T, o Options, w, h int) *bench {
		ws := oldAndYoung()
		ws.Set("PlanRecovery", fake.Step{Err: errors.New("listing recovery sidecars: the store could not be reached: connection refused"), Get: 1, Hops: 1})
		return recovers(t, ws, o, w, h)
	}},
}

// TestRecoveryViews draws every state of a recovery.
func TestRecoveryViews(t *testing.T) { drawEach(t, pace.Every(t, 4, recoverySteps)) }

// TestRecoverySizesAndGlyphs: every state is whole at every size, and draws nothing
// but ASCII and glyphs of the theme.
func TestRecoverySizesAndGlyphs(t *testing.T) { drawWhole(t, recoverySteps, "") }
