package txn

import (
	"fmt"
	"slices"

	"github.com/omnideck/omnideck/manifest"
)

// Observation is what a table of a plan looks like: its dataset on the branch of
// the action, and what the graph's branch shows of it.
type Observation struct {
	Table     Identity
	Missing   bool   // there is no dataset, or no ref of the branch
	Head      uint64 // newest version; 0 when missing
	Chain     []Link // of the versions above the action's Pin up to Head, at most MaxChain; none above it
	ForkID    []Fork // identifier of the table's branch; empty on main
	ForkedAt  uint64 // version that it forks from; 0 on main
	PathChild string // a branch of the table whose name lies below that of this one; "" = none

	Alias string // as it is published; "" = it is not
	Pin   uint64 // version that is published; 0 = none
	Owner string // branch whose dataset holds that version; "" = main

	Claims []string // other operations whose records name this table on this branch
}

// sound: the links lie in order between the pin of the plan and the HEAD.
func (o *Observation) sound(pin uint64) bool {
	if o.Missing {
		return o.Head == 0 && len(o.Chain) == 0
	}
	for _, l := range o.Chain {
		if l.Version <= pin || l.Version > o.Head {
			return false
		}
		pin = l.Version
	}
	return true
}

// Landed is a commit that is visible, and the tables that it published.
type Landed struct {
	Commit manifest.Commit
	Tables []manifest.Entry // of the version that it made
}

// Staging says what the schema files at the graph's root are to a schema apply.
type Staging uint8

// The stagings.
const (
	NotStaged    Staging = iota // no staged file, and the live ones are not the target
	StagedTarget                // staged files, with live ones promoted already, make the target
	StagedOther                 // staged files that do not
	Promoted                    // the live files are the target
)

// Visible is what the graph shows now.
type Visible struct {
	Root     string  // that the paths of the plan must begin with, as the store spells it; "" = not compared
	Gone     bool    // the branch has no ref
	Base     Base    // the branch's authority now
	Original *Landed // the plan's commit; nil = it is not in the branch's lineage
	RollBack bool    // the commit of the plan's roll-back is
	Staging  Staging // SchemaApply
}

// Movement is how a table's newest version stands to the published one.
type Movement uint8

// The movements.
const (
	AtRest      Movement = iota
	Behind               // the newest version lies below the published one: never sound
	CoveredMove          // above it, and a recovery record names the table
	Drift                // above it, and nothing explains it
)

// Judge compares the newest version of a table with the published one, when
// there is no plan to explain it. covered: a recovery record names the table.
func Judge(published, head uint64, covered bool) Movement {
	switch {
	case head < published:
		return Behind
	case head == published:
		return AtRest
	case covered:
		return CoveredMove
	}
	return Drift
}

// Changed compares a base with what the branch shows now: nil, or a
// *ReadSetChangedError about the first member that differs. Version is no part
// of it.
func (b Base) Changed(live Base) error {
	if c := b.differs(live, true); c != nil {
		return c
	}
	return nil
}

// SameBranch: both are of one branch, which was not deleted and made anew between.
func (b Base) SameBranch(c Base) bool {
	return b.Branch == c.Branch && slices.Equal(b.BranchID, c.BranchID)
}

func (b Base) differs(live Base, head bool) *ReadSetChangedError {
	branch := named(b.Branch)
	ours, theirs := text(b.Head), text(live.Head)
	switch {
	case !slices.Equal(b.BranchID, live.BranchID):
		return &ReadSetChangedError{Member: "branch_identifier:" + branch, Expected: fmt.Sprint(b.BranchID), Actual: fmt.Sprint(live.BranchID)}
	case b.IdentityDomain != live.IdentityDomain:
		return &ReadSetChangedError{Member: "schema_identity_domain", Expected: b.IdentityDomain, Actual: live.IdentityDomain}
	case b.IRHash != live.IRHash:
		return &ReadSetChangedError{Member: "schema_ir_hash", Expected: b.IRHash, Actual: live.IRHash}
	case b.IdentityVersion != live.IdentityVersion:
		return &ReadSetChangedError{Member: "schema_identity_version", Expected: fmt.Sprint(b.IdentityVersion), Actual: fmt.Sprint(live.IdentityVersion)}
	case head && ((b.Head == nil) != (live.Head == nil) || ours != theirs):
		return &ReadSetChangedError{Member: "graph_head:" + branch, Expected: ours, Actual: theirs}
	}
	return nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
