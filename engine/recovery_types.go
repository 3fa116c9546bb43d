package engine

import (
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/recovery/aside"
)

// RecoveryPlan is what every record in `__recovery/` means, and what recovery
// would do about each: what `recover` prints and a screen shows. Plain data.
type RecoveryPlan struct {
	LookedAt time.Time        `json:"looked_at"`
	Verdict  string           `json:"verdict"` // the whole of it in one sentence
	Records  []RecoveryRecord `json:"records"` // oldest first, as they would be acted on; never nil
	// Others are names in `__recovery/` that no program reads. They are left.
	Others []string `json:"others"`
	// Lock is the lock of a schema apply; nil = there is none. Recovery never
	// removes it.
	Lock *RecoveryLock `json:"lock,omitempty"`
	// Staging are staged schema files that no record explains; nil = none.
	Staging *RecoveryStaging `json:"staging,omitempty"`

	found *recovery.Plan // that it tells
}

// RecoveryDo is what is right about an operation when nobody else writes.
type RecoveryDo string

// What there is to do. A record that is refused or deferred stays as it is.
const (
	RecoverForward  RecoveryDo = "forward"        // publish what it prepared, as it would have done
	RecoverBack     RecoveryDo = "back"           // take its effects back, and publish that
	RecoverFinalize RecoveryDo = "finalize"       // its outcome is visible: only the record goes
	RecoverDiscard  RecoveryDo = "discard"        // nothing of it happened: only the record goes, and forks nobody wrote to
	RecoverOrphan   RecoveryDo = "orphan_discard" // its branch is gone: that is noted on main, the record goes
	RecoverRefuse   RecoveryDo = "refuse"         // nobody may act: Why and Next say more
	RecoverDefer    RecoveryDo = "defer"          // something else must be done first
)

// RecoveryStop is why a record is not acted on. RecoveryRecord.Stops gives it.
type RecoveryStop string

// The stops.
const (
	RecoveryReady   RecoveryStop = ""        // it is acted on
	RecoveryYoung   RecoveryStop = "young"   // its writer may be at work: waited for until WaitUntil, or RecoverOptions.Now
	RecoveryMoved   RecoveryStop = "moved"   // it needs a confirmation of its own: RecoverOptions.Moved
	RecoveryRefused RecoveryStop = "refused" // nobody acts on it
)

// RecoveryRecord is one record: facts, and sentences that CLI and screens show
// alike. Sentences begin with a small letter and have no full stop.
type RecoveryRecord struct {
	Key      string    `json:"key"` // of the object, as it is listed: this one is what would be removed
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified,omitzero"`

	// What it says. Empty where it cannot be read.
	Operation     string    `json:"operation_id"`
	Kind          string    `json:"writer_kind"` // as Pending.Kind
	Branch        string    `json:"branch"`      // main is spelled out
	Phase         string    `json:"phase"`       // as Pending.Phase
	Actor         *string   `json:"actor_id"`
	StartedAt     time.Time `json:"started_at,omitzero"` // by the operation's id, else by what the record says
	Commit        string    `json:"graph_commit_id,omitempty"`
	SchemaVersion int       `json:"schema_version"`
	Problem       string    `json:"problem,omitempty"` // why it cannot be read or does not fit

	Place        string `json:"place"`                   // here, moved (written at another address, decisions 41) or foreign; "" = not known
	RecordedRoot string `json:"recorded_root,omitempty"` // address that it names

	Means  string `json:"means"`          // what it means: what happened, and what is visible of it
	Whose  string `json:"whose"`          // actor, kind, branch; which process cannot be known
	Will   string `json:"will"`           // what would be done; "nothing: …" when it is refused
	Why    string `json:"why,omitempty"`  // why that is right, or why nobody may act
	Blocks string `json:"blocks"`         // what waits for it
	Next   string `json:"next,omitempty"` // the next safe step, where it is not simply to recover

	Do RecoveryDo `json:"do"`
	// WaitUntil is when a record stops counting as that of a writer at work; zero
	// = it does already. See Left.
	WaitUntil time.Time `json:"wait_until,omitzero"`
	// NeedsConfirm is "moved" when acting needs RecoverOptions.Moved; else "".
	NeedsConfirm string `json:"needs_confirm,omitempty"`
	// Danger is that of engine-semantics §9.2: 0 nothing happens, 1 safe, 2 changes
	// what is visible and is known, 3 somebody must decide, 4 may lose a write when
	// its writer still runs.
	Danger int `json:"danger"`
	// SetAside: the record can be moved out of the way after a look of one's own
	// (PlanSetAside).
	SetAside bool `json:"can_set_aside"`

	Tables    []RecoveryTable `json:"tables"`  // never nil
	Removes   []string        `json:"removes"` // every key that would be deleted, the record last; never nil
	Publishes string          `json:"publishes,omitempty"`
	// Evidence is what the judgement rests on: of a contradiction, both sides.
	Evidence []Evidence `json:"evidence"` // never nil
}

// Left is how long the record still counts as that of a writer at work.
func (r *RecoveryRecord) Left(now time.Time) time.Duration {
	return max(r.WaitUntil.Sub(now), 0)
}

// Stops says whether Recover with these options acts on the record at a moment.
func (r *RecoveryRecord) Stops(now time.Time, o RecoverOptions) RecoveryStop {
	switch {
	case r.Do == RecoverRefuse || r.Do == RecoverDefer:
		return RecoveryRefused
	case r.NeedsConfirm != "" && !o.Moved:
		return RecoveryMoved
	case !o.Now && r.Left(now) > 0:
		return RecoveryYoung
	}
	return RecoveryReady
}

// RecoveryTable is one table of a record.
type RecoveryTable struct {
	Table     string `json:"table"`            // node:Port
	Branch    string `json:"branch,omitempty"` // of the dataset; "" = main
	Expected  uint64 `json:"expected_version"` // published when it began
	Planned   uint64 `json:"post_commit_pin"`  // that it makes
	Confirmed uint64 `json:"confirmed_version,omitempty"`
	Published uint64 `json:"published_version"` // now; 0 = it is not
	Head      uint64 `json:"newest_version"`    // now; 0 = there is no dataset
	Found     string `json:"found"`             // what was found above the published version
	Class     string `json:"class,omitempty"`   // as the Rust engine calls it: NoMovement …
	Do        string `json:"do"`                // leave, restore, restored, drop_fork, drop_dataset, publish_head
	To        uint64 `json:"to_version,omitempty"`
	Will      string `json:"will"` // what would be done, in words
}

// RecoveryLock is the lock of a schema apply.
type RecoveryLock struct {
	Key   string    `json:"key"`
	Since time.Time `json:"since,omitzero"`
	Stale bool      `json:"stale"` // neither a record nor a staged file of a schema apply is there
	Means string    `json:"means"`
	Next  string    `json:"next"`
}

// RecoveryStaging are staged schema files without a record of a schema apply.
// Recover settles them too, unless RecoverOptions.Only names records.
type RecoveryStaging struct {
	Keys     []string `json:"keys"`
	Do       string   `json:"do"` // finish, delete, decide: only a person can tell
	Means    string   `json:"means"`
	Will     string   `json:"will"`
	Evidence []string `json:"evidence"`
	// WaitUntil is when they stop counting as those of a schema apply at work; zero =
	// they do already.
	WaitUntil time.Time `json:"wait_until,omitzero"`
	Danger    int       `json:"danger"`
	Next      string    `json:"next,omitempty"`
}

// RecoverOptions say what Recover may do. The zero value acts on every record
// whose grace is over.
type RecoverOptions struct {
	// Plan is what PlanRecovery of this process showed: a record of which another
	// thing is right by now is left, and so is one that it does not have. nil =
	// whatever is right.
	Plan   *RecoveryPlan
	Only   []string            // operation ids, or keys of records; nil = all
	Now    bool                // act on young records too
	Moved  bool                // act on records that were written at another address (decisions 41)
	Events func(RecoveryEvent) // hears of every step, on the goroutine that recovers; may be nil
}

// RecoveryStep is how far recovery has come.
type RecoveryStep string

// The steps of one record, in their order.
const (
	RecoveryLooks    RecoveryStep = "looking"   // at what it means now
	RecoveryWaits    RecoveryStep = "waiting"   // until RecoveryEvent.Until
	RecoveryDecides  RecoveryStep = "decided"   // the decision to take it back is written into the record
	RecoveryForbids  RecoveryStep = "forbade"   // a commit without a table keeps its writer from publishing
	RecoveryRestores RecoveryStep = "restored"  // RecoveryEvent.Table is restored
	RecoveryPublish  RecoveryStep = "published" // the outcome is visible
	RecoveryPromotes RecoveryStep = "promoted"  // staged schema files are the accepted ones
	RecoveryAudits   RecoveryStep = "audited"   // the audit row is there
	RecoveryRemoves  RecoveryStep = "removed"   // what had to go is gone
	RecoverySettles  RecoveryStep = "settled"   // the record is gone
	RecoveryLeaves   RecoveryStep = "left"      // it stays: RecoveryEvent.Err says why
)

// RecoveryEvent tells whoever watches how far recovery has come.
type RecoveryEvent struct {
	Step      RecoveryStep
	Key       string // of the record
	Operation string
	N, Of     int // record N of Of, from 1
	Table     string
	Object    string    // RecoveryRemoves: key of what is gone
	Commit    string    // RecoveryPublish, RecoveryForbids
	Until     time.Time // RecoveryWaits
	Err       error     // RecoveryLeaves
	Cost      blob.Totals
}

// RecoveryReceipt is what recovery came to.
type RecoveryReceipt struct {
	Settled   []SettledRecord `json:"settled"`             // in the order in which they were acted on; never nil
	Staging   *SettledStaging `json:"staging,omitempty"`   // what became of staged schema files; nil = there were none to settle
	Remaining *RecoveryPlan   `json:"remaining,omitempty"` // a last look; nil = it could not be taken
}

// SettledStaging is what became of staged schema files that no record owns.
type SettledStaging struct {
	Keys []string `json:"keys"`
	Done bool     `json:"done"`
	Said string   `json:"said"`
	Err  error    `json:"-"`
}

// SettledRecord is what became of one record.
type SettledRecord struct {
	Key       string            `json:"key"`
	Operation string            `json:"operation_id"`
	Kind      string            `json:"writer_kind"`
	Branch    string            `json:"branch"`
	Do        RecoveryDo        `json:"do"`
	Done      bool              `json:"done"` // the record is gone
	Said      string            `json:"said"` // what was done, or why nothing was, in a sentence
	Commit    string            `json:"graph_commit_id,omitempty"`
	Outcomes  []RecoveryOutcome `json:"outcomes"` // never nil
	Removed   []string          `json:"removed"`  // keys; never nil
	Waited    bool              `json:"waited"`
	Err       error             `json:"-"`
}

// RecoveryOutcome is what a roll-back did to a table.
type RecoveryOutcome struct {
	Table string `json:"table"`
	From  uint64 `json:"from_version"`
	To    uint64 `json:"to_version"`
}

// SetAsidePlan says what would be moved out of the way (decisions 12). Nothing is
// deleted: a folder below `__omnideck_aside/` gets a copy of each object and says
// why, and only then the original goes.
type SetAsidePlan struct {
	Objects []SetAsideObject `json:"objects"` // never nil
	Reason  string           `json:"why"`     // as given
	Means   string           `json:"means"`   // what it would mean for the graph
	Danger  int              `json:"danger"`
	Refused string           `json:"refused,omitempty"` // why it is not offered; "" = it is

	planned *aside.Planned
}

// SetAsideObject is one object of it.
type SetAsideObject struct {
	Key  string `json:"key"`
	Size int64  `json:"size"`
	To   string `json:"to,omitempty"` // where it was moved; "" = planned
}

// SetAsideReceipt is what was moved.
type SetAsideReceipt struct {
	Folder   string           `json:"folder"`
	Manifest string           `json:"manifest"` // key of the object that says what and why
	Objects  []SetAsideObject `json:"objects"`
}
