package txn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/omnideck/omnideck/txn/sidecar"
	"github.com/omnideck/omnideck/txn/validate"
)

// What a plan shares with the record of it.
type (
	Identity     = sidecar.Identity
	Kind         = sidecar.Kind
	EffectKind   = sidecar.EffectKind
	Transaction  = sidecar.Transaction
	Fork         = sidecar.Fork
	Slot         = sidecar.Slot
	Output       = sidecar.Output
	Registration = sidecar.Registration
	Rename       = sidecar.Rename
	Tombstone    = sidecar.Tombstone
	Delta        = sidecar.Delta
	TableOutcome = sidecar.Outcome
)

// Class says what a write means to others.
type Class uint8

// The classes.
const (
	Additive     Class = iota + 1 // logical: means the same on a newer base
	Strict                        // logical: must not apply to state that the caller has not seen
	Conditional                   // logical: applies on the head that the caller named, or not at all
	Maintenance                   // changes no rows
	Compensation                  // publishes what recovery or repair made of tables
)

func (c Class) String() string {
	return [...]string{"none", "additive", "strict", "conditional", "maintenance", "compensation"}[min(c, Compensation)]
}

// Logical: it may change rows.
func (c Class) Logical() bool { return c >= Additive && c <= Conditional }

// Precondition is what the publish demands of the branch, in every attempt.
type Precondition uint8

// The preconditions.
const (
	ExactHead Precondition = iota + 1 // Base's branch identifier and exact head, and every table at its pin
	Monotonic                         // no table goes back: one that is at the version or above counts as done
	AnyHead                           // Base's branch identifier, where there is one, and every table at the pin that was read, whatever the head
)

func (p Precondition) String() string {
	return [...]string{"none", "exact head", "monotonic", "any head"}[min(p, AnyHead)]
}

// Phase is how far an operation came.
type Phase uint8

// The phases.
const (
	Prepared  Phase = iota // nothing durable
	Armed                  // the record is written; effects may have begun
	Confirmed              // every effect is done and recorded
	Published              // visible; the record may still be there
)

func (p Phase) String() string {
	return [...]string{"prepared", "armed", "confirmed", "published"}[min(p, Published)]
}

// Base is the state of a branch that a write is planned against: its authority.
type Base struct {
	Branch          string  // "" = main
	BranchID        []Fork  // identifier of the `__manifest` branch; empty for main
	Version         uint64  // of `__manifest`; 0 = not known
	Head            *string // commit of the branch's own graph_head row; nil = it has none
	IRHash          string
	IdentityDomain  string
	IdentityVersion uint64
}

// Lineage is the commit that the publish makes. Its parent is read in the
// attempt that succeeds.
type Lineage struct {
	CommitID     string
	MergedParent *string // merge: effective head of the source
	CreatedAt    int64   // µs since 1970, UTC
}

// ForkSource is what a first touch of a table on a named branch begins with.
type ForkSource struct {
	Branch  string // owner of the version; "" = main. Not in the record
	Version uint64
}

// TableAction is what a write does to one table.
type TableAction struct {
	Table   Identity
	Alias   string        // node:Port
	Path    string        // full URI of the dataset, the root as the store spells it
	Branch  string        // native branch of the dataset that is committed to; "" = main
	Pin     uint64        // published version that it was planned on; 0 = the dataset is made
	Effect  EffectKind    // "" = one transaction
	Fork    *ForkSource   // the branch is made first; nil = it is there
	Commits []Transaction // exact ids, each on the version before; none for a fork alone and for Optimize
	ForkID  []Fork        // confirmed: identifier of the branch that was made
	Forked  bool          // ForkID is there
}

// PublishPlan is one write. Make it with New or FromRecord and treat it as
// read-only: the methods return a new one.
type PublishPlan struct {
	ID           string // ULID of the operation, and the name of its record
	Kind         Kind
	Class        Class
	Pre          Precondition
	Actor        *string
	Started      time.Time // whole µs
	Base         Base
	Lineage      Lineage
	Rollback     string           // id of the commit that a roll-back would make
	Actions      []TableAction    // New: by alias, then branch; FromRecord: as recorded
	Delta        Delta            // complete; outputs are bound by Confirm
	TargetIRHash string           // SchemaApply
	UUIDPrefix   string           // Optimize: how the ids of all its transactions begin
	Reads        validate.ReadSet // what validation depended on; the exact head covers it at the publish

	phase    Phase
	outcomes []TableOutcome // of a decided roll-back
	back     bool           // it was decided
}

// PlanError: what was put together is no plan. Nothing was written.
type PlanError struct {
	ID  string
	Why string
	Err error // a *sidecar.ShapeError, or nil
}

func (e *PlanError) Error() string {
	return fmt.Sprintf("operation %s cannot be planned like this: %s; nothing was written", e.ID, e.Why)
}

func (e *PlanError) Unwrap() error { return e.Err }

func (p *PublishPlan) fail(format string, args ...any) error {
	return &PlanError{ID: p.ID, Why: fmt.Sprintf(format, args...)}
}

// New completes and checks a draft, of which nothing is shared. Actions are
// sorted, and each gets its slot in Delta.Updates, which in the draft holds only
// updates without an effect (a merge that switches a pointer). The phase is
// Prepared. A *PlanError says what is wrong.
func New(draft PublishPlan) (*PublishPlan, error) {
	p := draft.clone()
	p.phase, p.back, p.outcomes = Prepared, false, nil
	slices.SortFunc(p.Actions, func(a, b TableAction) int {
		return cmp.Or(cmp.Compare(a.Alias, b.Alias), cmp.Compare(a.Branch, b.Branch))
	})
	var slots []Slot
	for _, a := range p.Actions {
		slots = append(slots, Slot{Identity: a.Table, Alias: a.Alias, Expected: a.Pin, Branch: a.Branch})
	}
	p.Delta.Updates = append(slots, p.Delta.Updates...)
	if err := p.allowed(); err != nil {
		return nil, err
	}
	if len(p.Actions) == 0 && p.Kind != sidecar.SchemaApply {
		return p, nil // lineage, or pointers, alone: it is published without a record
	}
	if _, err := p.Arm(); err != nil {
		return nil, err
	}
	return p, nil
}

// allowed checks what a record does not tell: which class and precondition go
// with a kind.
func (p *PublishPlan) allowed() error {
	class := p.Class.Logical()
	pre := p.Pre == ExactHead
	switch p.Kind {
	case sidecar.Mutation, sidecar.Load:
	case sidecar.BranchMerge, sidecar.SchemaApply:
		class = p.Class == Strict || p.Class == Conditional
	case sidecar.EnsureIndices:
		class = p.Class == Maintenance
	case sidecar.Optimize:
		class, pre = p.Class == Maintenance, p.Pre == Monotonic
		if p.UUIDPrefix == "" {
			return p.fail("an Optimize names no prefix of its transactions' ids")
		}
	default:
		return p.fail("its kind is %q", p.Kind)
	}
	if !class || !pre {
		return p.fail("a write of kind %s is not of class %s with precondition %s", p.Kind, p.Class, p.Pre)
	}
	if p.ID == "" || p.Lineage.CommitID == "" || p.Lineage.CreatedAt <= 0 {
		return p.fail("operation id, commit id or time is empty")
	}
	for _, a := range p.Actions {
		if a.Forked || a.ForkID != nil {
			return p.fail("the fork of %s is confirmed before it was made", a.Alias)
		}
	}
	for _, s := range p.Delta.Updates {
		if s.Confirmed != nil {
			return p.fail("the version of %s is bound before it was made", s.Alias)
		}
	}
	return nil
}

// clone copies everything that a step changes.
func (p PublishPlan) clone() *PublishPlan {
	p.Actions = slices.Clone(p.Actions)
	for i := range p.Actions {
		p.Actions[i].Commits = slices.Clone(p.Actions[i].Commits)
	}
	p.Delta.Updates = slices.Clone(p.Delta.Updates)
	p.Delta.Registrations = slices.Clone(p.Delta.Registrations)
	p.Delta.Renames = slices.Clone(p.Delta.Renames)
	p.Delta.Tombstones = slices.Clone(p.Delta.Tombstones)
	p.Reads.Tables = slices.Clone(p.Reads.Tables)
	p.Base.BranchID = slices.Clone(p.Base.BranchID)
	p.outcomes = slices.Clone(p.outcomes)
	return &p
}

// Phase is how far it came.
func (p *PublishPlan) Phase() Phase { return p.phase }

// RollingBack are the outcomes of a roll-back once it was decided.
func (p *PublishPlan) RollingBack() (outcomes []TableOutcome, decided bool) {
	return slices.Clone(p.outcomes), p.back
}

// step is the plan in another phase, after one that it must be in.
func (p *PublishPlan) step(from Phase, to Phase) (*PublishPlan, error) {
	if p.phase != from || p.back {
		return nil, p.fail("it is %s (roll-back decided: %v), which cannot become %s", p.phase, p.back, to)
	}
	next := p.clone()
	next.phase = to
	return next, nil
}

// Arm is the plan whose Record is written before the first effect. A plan
// without effects arms nothing (schema apply excepted): Publish it.
func (p *PublishPlan) Arm() (*PublishPlan, error) {
	if len(p.Actions) == 0 && p.Kind != sidecar.SchemaApply {
		return nil, p.fail("it has no effect on a table, so that there is nothing to arm")
	}
	next, err := p.step(Prepared, Armed)
	if err == nil {
		err = p.allowed()
	}
	if err != nil {
		return nil, err
	}
	if _, err := next.Record(); err != nil {
		return nil, &PlanError{p.ID, "its recovery record would not be sound: " + err.Error(), err}
	}
	return next, nil
}

// Bound is what an effect, or an update without one, came to.
type Bound struct {
	Table  Identity
	Output Output
	Last   Transaction // that made Output.Version, as read back; zero without an effect of ours
	ForkID []Fork      // identifier of the branch that was made
}

// Confirm is the plan with every version bound, one Bound for each slot. That
// the last transaction is the planned one is required; of an Optimize, that its
// id has the prefix: there a table may be left out, which then is not published.
func (p *PublishPlan) Confirm(bound []Bound) (*PublishPlan, error) {
	next, err := p.step(Armed, Confirmed)
	if err != nil {
		return nil, err
	}
	if n := len(next.Delta.Updates); len(bound) != n && (p.Kind != sidecar.Optimize || len(bound) > n) {
		return nil, p.fail("%d tables are confirmed, expected %d", len(bound), n)
	}
	for _, b := range bound {
		i := slices.IndexFunc(next.Delta.Updates, func(s Slot) bool { return s.Identity == b.Table })
		if i < 0 || next.Delta.Updates[i].Confirmed != nil {
			return nil, p.fail("table %s is confirmed twice, or is not part of it", b.Table)
		}
		next.Delta.Updates[i].Confirmed = &b.Output
		if err := next.bind(b); err != nil {
			return nil, err
		}
	}
	next.Delta.Updates = slices.DeleteFunc(next.Delta.Updates, func(s Slot) bool { return s.Confirmed == nil })
	if _, err := next.Record(); err != nil {
		return nil, &PlanError{p.ID, "what was confirmed is not what was planned: " + err.Error(), err}
	}
	return next, nil
}

// bind notes on the action what its effect came to.
func (p *PublishPlan) bind(b Bound) error {
	i := slices.IndexFunc(p.Actions, func(a TableAction) bool { return a.Table == b.Table })
	if i < 0 {
		return nil
	}
	a := &p.Actions[i]
	if a.Fork != nil {
		a.ForkID, a.Forked = b.ForkID, true
	}
	switch n := len(a.Commits); {
	case p.Kind == sidecar.Optimize:
		if !strings.HasPrefix(b.Last.UUID, p.UUIDPrefix) || b.Output.Version <= a.Pin {
			return p.fail("version %d of %s was made by transaction %q, expected one of %s… above version %d", b.Output.Version, a.Alias, b.Last.UUID, p.UUIDPrefix, a.Pin)
		}
	case n > 0 && (b.Last != a.Commits[n-1] || b.Output.Version != a.Pin+uint64(n)):
		return p.fail("version %d of %s was made by transaction %q on version %d, expected version %d by %q on version %d", b.Output.Version, a.Alias,
			b.Last.UUID, b.Last.ReadVersion, a.Pin+uint64(n), a.Commits[n-1].UUID, a.Commits[n-1].ReadVersion)
	}
	return nil
}

// Publish is the plan once its commit is visible. Only what is confirmed, or has
// no effect, is published.
func (p *PublishPlan) Publish() (*PublishPlan, error) {
	if len(p.Actions) == 0 && p.phase == Prepared {
		return p.step(Prepared, Published)
	}
	return p.step(Confirmed, Published)
}

// RollBack is the plan with its roll-back decided: its Record is written before
// the first restore, and no later pass decides anew.
func (p *PublishPlan) RollBack(outcomes []TableOutcome) (*PublishPlan, error) {
	if p.back || p.phase == Prepared || p.phase == Published || p.Kind == sidecar.Optimize {
		return nil, p.fail("a roll-back cannot be decided of a %s that is %s (decided: %v)", p.Kind, p.phase, p.back)
	}
	next := p.clone()
	next.back, next.outcomes = true, slices.Clone(outcomes)
	if _, err := next.Record(); err != nil {
		return nil, &PlanError{p.ID, "the outcomes of its roll-back are not sound: " + err.Error(), err}
	}
	return next, nil
}

// Recoverer is the actor of the commits that recovery makes.
const Recoverer = "omnigraph:recovery"

// Minted is the plan of a recovered Optimize, whose record carries no commit,
// with the one that recovery makes for it.
func (p *PublishPlan) Minted(commit Lineage) (*PublishPlan, error) {
	if p.Kind != sidecar.Optimize || p.Lineage.CommitID != "" || commit.CommitID == "" || commit.MergedParent != nil {
		return nil, p.fail("a %s has its commit %q and gets no other", p.Kind, p.Lineage.CommitID)
	}
	next := p.clone()
	actor := Recoverer
	next.Lineage, next.Actor = commit, &actor
	return next, nil
}

// Compensate is the plan that publishes what a roll-back made of tables: the
// restored versions, as updates from the pins that were read, under the
// roll-back's commit. It has no effects and no record of its own; the record of
// p stands for it.
func (p *PublishPlan) Compensate(restored []Slot) (*PublishPlan, error) {
	if !p.back {
		return nil, p.fail("no roll-back of it was decided")
	}
	return p.own(p.Base.Branch, Lineage{CommitID: p.Rollback, CreatedAt: p.Started.UnixMicro()}, restored)
}

// own is the plan of a commit that recovery makes on a branch.
func (p *PublishPlan) own(branch string, commit Lineage, restored []Slot) (*PublishPlan, error) {
	if commit.CommitID == "" {
		return nil, p.fail("what recovery made of it has no commit")
	}
	for _, s := range restored {
		if s.Confirmed == nil || s.Confirmed.Version < s.Expected || s.Confirmed.Branch != s.Branch {
			return nil, p.fail("the restored version of %s is not bound, or lies below version %d", s.Alias, s.Expected)
		}
	}
	actor := Recoverer
	base := Base{Branch: branch}
	if branch == p.Base.Branch { // not one of that name that was made since
		base.BranchID = slices.Clone(p.Base.BranchID)
	}
	return &PublishPlan{
		ID: p.ID, Kind: p.Kind, Class: Compensation, Pre: AnyHead, Actor: &actor, Started: p.Started, Base: base,
		Lineage: commit, Delta: Delta{Updates: slices.Clone(restored)},
	}, nil
}
