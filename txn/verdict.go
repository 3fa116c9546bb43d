package txn

import "fmt"

// Do is what is right to do about an operation.
type Do uint8

// What there is to do.
const (
	Refuse        Do = iota // nobody may act; the record stays
	Defer                   // somebody else must act first, or a mode that may do more
	Proceed                 // Prepared: arm it
	Replan                  // Prepared: the base moved; Err says how
	Forward                 // publish what is recorded, audit, delete the record
	Back                    // take back what was done, publish that, audit, delete the record
	Finalize                // its outcome is visible: audit if that is missing, delete the record
	Discard                 // nothing of it happened: remove its untouched forks, delete the record
	OrphanDiscard           // its branch is gone: commit on main without a table, audit, delete the record
)

func (d Do) String() string {
	return [...]string{"refuse", "defer", "proceed", "replan", "forward", "back", "finalize", "discard", "orphan discard"}[min(d, OrphanDiscard)]
}

// Reason is why a verdict is what it is. "" needs none.
type Reason string

// The reasons.
const (
	NotObserved     Reason = "not observed"      // a table of the plan was not looked at
	WrongPlace      Reason = "place"             // a path is not the canonical one under the root
	HeadBehind      Reason = "head behind"       // a HEAD lies below what is published
	PinBehind       Reason = "pin behind"        // less is published than when the plan was made
	BothVisible     Reason = "both visible"      // the commit and that of its roll-back
	CommitDiffers   Reason = "commit differs"    // the visible commit is not the planned one
	DeltaDiffers    Reason = "delta differs"     // what it published is not what was confirmed
	Unverifiable    Reason = "unverifiable"      // transactions that cannot be told
	Buried          Reason = "buried"            // own effect below somebody else's
	ForeignDrift    Reason = "foreign drift"     // versions that nobody published and this operation did not make
	PinMoved        Reason = "pin moved"         // published meanwhile, maybe with our effect
	Recreated       Reason = "branch recreated"  // deleted and made anew under one name
	Gone            Reason = "gone"              // a dataset or branch that must be there is not
	ForkDiffers     Reason = "fork differs"      // the branch of a table is not the one to be made
	EffectDiffers   Reason = "effect differs"    // an owned transaction is not of the planned kind, or not where it was confirmed
	StagingDiffers  Reason = "staging differs"   // staged schema files are not the target
	Claimed         Reason = "claimed"           // another record names what is to be removed
	PathChild       Reason = "path child"        // a branch below the one to be removed is in the way
	NotConfirmed    Reason = "not confirmed"     // the writer stopped before it confirmed
	AuthorityMoved  Reason = "authority moved"   // branch or schema moved since it was armed
	BackDecided     Reason = "roll-back decided" // an earlier pass decided so
	NotComplete     Reason = "not complete"      // not every confirmed effect is at its HEAD
	NeedsFull       Reason = "needs full mode"   // only recovery that may compensate acts on it
	Covered         Reason = "covered"           // Prepared: another operation's record names the table
	Drifted         Reason = "drift"             // Prepared: versions that nobody explains
	NothingHappened Reason = "nothing happened"  // no transaction of it landed
)

// Ownership says whether an operation's transaction is in a table.
type Ownership uint8

// The ownerships.
const (
	OwnNone             Ownership = iota
	OwnAtHead                     // ours is the newest
	OwnBeforeHead                 // somebody else's lies above it
	OwnCompensated                // the newest is a Restore to what is published, above ours
	OwnershipUntellable           // a transaction in between cannot be read
)

func (o Ownership) String() string {
	return [...]string{"none", "own at head", "own before head", "own compensated", "untellable"}[min(o, OwnershipUntellable)]
}

// TableClass puts a table of a recorded plan into the classes that the Rust
// engine logs.
type TableClass string

// The classes.
const (
	NoMovement               TableClass = "NoMovement"
	RolledPastExpected       TableClass = "RolledPastExpected" // moved exactly as planned and confirmed
	UnexpectedAtP1           TableClass = "UnexpectedAtP1"
	UnexpectedMultistep      TableClass = "UnexpectedMultistep"
	UnexpectedEffectIdentity TableClass = "UnexpectedEffectIdentity"
	IncompletePhaseB         TableClass = "IncompletePhaseB"
	InvariantViolation       TableClass = "InvariantViolation"
)

// TableDo is what is to be done to one table.
type TableDo uint8

// What there is to do to a table.
const (
	Leave       TableDo = iota
	Restore             // commit a Restore to To at exactly HEAD + 1, then publish it
	Restored            // the newest version is that Restore already: publish it
	DropFork            // remove the table's branch: its ref, or what lies in its tree without one
	DropDataset         // remove the dataset that the operation made
	PublishHead         // publish the newest version
)

func (d TableDo) String() string {
	return [...]string{"leave", "restore", "restored", "drop fork", "drop dataset", "publish head"}[min(d, PublishHead)]
}

// TableVerdict is about one table of the plan.
type TableVerdict struct {
	Table     Identity
	Alias     string
	Branch    string // "" = main
	Class     TableClass
	Ownership Ownership
	Do        TableDo
	Head      uint64 // that was judged; an action assumes that it is still there
	To        uint64 // Restore, Restored: the version whose content is to stay; PublishHead: Head
}

// Verdict is what Interpret says.
type Verdict struct {
	Do         Do
	Reason     Reason
	Text       string // one sentence: found, expected
	RolledBack bool   // Finalize: the roll-back is what is visible
	Guessed    bool   // RolledBack: the record does not say what was taken back; Outcomes are what the tables tell
	Mint       bool   // Forward, Back, Finalize, OrphanDiscard: a commit of recovery's own is published, with a new id
	Promote    bool   // Forward, Finalize: then rename the staged schema files
	Unstage    bool   // Back, Finalize: remove the staged schema files
	Outcomes   []TableOutcome
	Tables     []TableVerdict // in the order of the plan's actions

	operation string
	phase     Phase
	err       error // Prepared: what the writer reports
}

// Err is what a writer reports: nil when there is something to do; the typed
// error of a Replan or a refused gate; else *RecoveryRequiredError.
func (v Verdict) Err() error {
	switch {
	case v.err != nil:
		return v.err
	case v.Do == Refuse || v.Do == Defer:
		return &RecoveryRequiredError{OperationID: v.operation, Reason: v.Text}
	}
	return nil
}

// Mode is what whoever acts on a verdict may do.
type Mode uint8

// The modes.
const (
	Full            Mode = iota // everything
	RollForwardOnly             // publish and finalize; no restore, no ref, no record that may be a live writer's
)

// Under is the verdict as far as a mode may act on it: Defer where it may not.
func (v Verdict) Under(m Mode) Verdict {
	if m == Full {
		return v
	}
	later := v.Do == Refuse || v.Do == Back || v.Do == Discard && v.phase == Armed
	for _, t := range v.Tables {
		later = later || t.Do == DropFork || t.Do == DropDataset || t.Do == Restore
	}
	if !later || v.phase == Prepared {
		return v
	}
	reason := v.Reason
	if v.Do != Refuse {
		reason = NeedsFull
	}
	return Verdict{Do: Defer, Reason: reason, Text: v.Text, Tables: v.Tables, operation: v.operation, phase: v.phase}
}

// RestoreID is the id of the transaction with which the recovery of an operation
// restores a table whose newest version is head. It says whose restore it is.
func RestoreID(operation string, table Identity, head uint64) string {
	return fmt.Sprintf("%s%016x-%016x-%d", restorePrefix(operation), table.Table, table.Incarnation, head)
}

func restorePrefix(operation string) string { return "omnigraph-recover-" + operation + "-" }
