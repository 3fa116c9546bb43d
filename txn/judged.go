package txn

import (
	"strings"

	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// judged is one table of a plan with what was found out about it.
type judged struct {
	a     *TableAction
	o     *Observation
	own   Ownership
	class TableClass
	first bool // the branch or dataset is one that only this plan makes: it is not published
	whole bool // every planned transaction is there, the last at HEAD, each where it was planned
	why   string
	bad   Reason // the observation itself is not safe to act on
}

// judge finds out about one table.
func (t *judged) judge(p *PublishPlan) {
	t.first = t.unpublished(p)
	switch {
	case p.Kind == sidecar.Optimize:
		t.loose(p)
	case t.a.Effect == sidecar.MultiCommitHead:
		t.chained(p)
	case t.a.Effect == sidecar.RefOnlyFork:
		t.forkOnly(p)
	default:
		t.single(p)
	}
}

// unpublished: a first touch, of which the graph shows nothing yet. Records of
// Mutation and Load do not say that a table's branch is made; that it is another
// than the published one's does.
func (t *judged) unpublished(p *PublishPlan) bool {
	switch {
	case t.a.Effect == sidecar.FirstTouchDataset:
		return t.o.Pin == 0
	case t.a.Fork != nil:
		return t.o.Pin == 0 || t.o.Owner != t.a.Branch
	case p.Kind == sidecar.Mutation || p.Kind == sidecar.Load:
		return t.a.Branch != "" && t.a.Branch == p.Base.Branch && t.o.Owner != t.a.Branch
	}
	return false
}

// movement compares HEAD and pin; what is missing has not moved.
func (t *judged) movement() Movement {
	if t.o.Missing {
		return AtRest
	}
	return Judge(t.o.Pin, t.o.Head, true)
}

// unsafe notes the first thing that forbids to act.
func (t *judged) unsafe(r Reason, why string) {
	if t.bad == "" {
		t.bad, t.why = r, why
	}
}

// head is the link of the newest version, when it was read.
func (t *judged) head() (Link, bool) {
	if n := len(t.o.Chain); n > 0 && t.o.Chain[n-1].Version == t.o.Head && t.o.Chain[n-1].Known {
		return t.o.Chain[n-1], true
	}
	return Link{}, false
}

// compensated: the newest version is a Restore to what is published.
func (t *judged) compensated() bool {
	l, ok := t.head()
	return ok && l.Kind == commit.Restore && l.RestoredTo == t.o.Pin && t.o.Pin > 0
}

// bound is the version that the plan confirmed; 0 = none.
func (t *judged) bound(p *PublishPlan) uint64 {
	if s := p.slot(t.a.Table); p.phase >= Confirmed && s != nil && s.Confirmed != nil {
		return s.Confirmed.Version
	}
	return 0
}

// single looks for the one transaction by its id, wherever it landed.
func (t *judged) single(p *PublishPlan) {
	planned := t.a.Commits[0]
	var found Link
	if !t.o.Missing && t.o.Head > t.a.Pin {
		lost := chain(t.a.Pin, t.o.Head, t.o.Chain)
		for _, l := range t.o.Chain {
			if l.Known && l.UUID == planned.UUID && l.Version > t.a.Pin && l.Version <= t.o.Head {
				found = l
				break
			}
		}
		switch {
		case t.o.Head-t.a.Pin > MaxChain || found.Version == 0 && lost != nil:
			t.own = OwnershipUntellable
			t.why = lost.Error()
		case found.Version == t.o.Head:
			t.own = OwnAtHead
		case found.Version > 0 && t.compensated():
			t.own = OwnCompensated
		case found.Version > 0:
			t.own = OwnBeforeHead
		}
	}
	if p.Kind == sidecar.EnsureIndices && found.Version > 0 && found.Kind != commit.CreateIndex {
		t.unsafe(EffectDiffers, "the transaction with the planned id is a "+found.Kind.String()+", expected a CreateIndex")
	}
	t.whole = t.own == OwnAtHead && found.transaction() == planned
	t.present()
	t.classify(p)
}

// present checks the dataset and, of a first touch, the branch that was made.
func (t *judged) present() {
	switch {
	case t.a.Effect == sidecar.FirstTouchDataset:
	case t.o.Missing && !t.first:
		t.unsafe(Gone, "it was there when the operation began")
	case t.o.Missing || t.a.Fork == nil:
	case t.o.ForkedAt != t.a.Fork.Version:
		t.unsafe(ForkDiffers, "its branch forks from another version than planned")
	case t.a.Forked && !sameForks(t.a.ForkID, t.o.ForkID):
		t.unsafe(ForkDiffers, "its branch is not the one that was confirmed")
	}
}

func sameForks(a, b []Fork) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// classify names the state of a table with one transaction or a chain.
func (t *judged) classify(p *PublishPlan) {
	m := t.movement()
	switch {
	case m == Behind:
		t.class = InvariantViolation
	case m == AtRest && t.own == OwnNone:
		t.class = NoMovement
	case m != AtRest && t.whole && t.a.Pin == t.o.Pin && t.bound(p) == t.o.Head:
		t.class = RolledPastExpected
	case m != AtRest && (t.own == OwnAtHead || t.own == OwnCompensated):
		t.class = IncompletePhaseB
	case t.own == OwnNone && t.o.Head == t.o.Pin+1:
		t.class = UnexpectedAtP1
	case t.own == OwnNone:
		t.class = UnexpectedMultistep
	default:
		t.class = UnexpectedEffectIdentity
	}
}

// chained proves the transactions of a merge: version by version the planned
// ones, then at most one index, or a Restore to what is published.
func (t *judged) chained(p *PublishPlan) {
	t.present()
	switch {
	case t.o.Missing:
	case t.o.Head < t.a.Pin:
		t.unsafe(HeadBehind, "its newest version lies below the one that was planned on")
	case t.o.Head > t.a.Pin:
		if err := chain(t.a.Pin, t.o.Head, t.o.Chain); err != nil {
			t.own = OwnershipUntellable
			t.unsafe(Unverifiable, err.Error())
		} else {
			t.links()
		}
	}
	t.classify(p)
}

// links walks a chain of which every transaction is known.
func (t *judged) links() {
	planned, n, index := t.a.Commits, 0, false
	for _, l := range t.o.Chain {
		switch {
		case l.Version == t.o.Head && n > 0 && t.compensated():
			t.own = OwnCompensated
			return
		case n < len(planned) && l.transaction() == planned[n] && l.Version == planned[n].ReadVersion+1:
			n++
		case n == len(planned) && l.Kind == commit.CreateIndex && !index:
			index = true
		case n > 0:
			t.own = OwnBeforeHead
			t.unsafe(Buried, l.String()+" lies on or among its own transactions")
			return
		default:
			t.unsafe(ForeignDrift, l.String()+" is not of this operation")
			return
		}
	}
	t.own, t.whole = OwnAtHead, n == len(planned)
}

// forkOnly is a branch of a table that is made and not written to.
func (t *judged) forkOnly(p *PublishPlan) {
	t.present()
	done := !t.o.Missing && t.o.Head == t.a.Fork.Version
	switch {
	case done && t.bound(p) == t.o.Head:
		t.class, t.whole = RolledPastExpected, true
	case !t.o.Missing:
		t.class = IncompletePhaseB
	default:
		t.class = NoMovement
	}
}

// own reports a transaction of an Optimize by its prefix; a record without one
// does not tell.
func own(p *PublishPlan, l Link) bool {
	return p.UUIDPrefix == "" || strings.HasPrefix(l.UUID, p.UUIDPrefix) || strings.HasPrefix(l.UUID, restorePrefix(p.ID))
}

// loose judges a table of an Optimize: above what is published there may only be
// versions that keep the content and, where that can be told, are its own.
func (t *judged) loose(p *PublishPlan) {
	above := linksAbove(t.o.Chain, t.o.Pin)
	switch m := t.movement(); {
	case t.o.Missing:
		t.unsafe(Gone, "it was there when the operation began")
		t.class = NoMovement
	case m == Behind:
		t.class = InvariantViolation
	case t.o.Pin < t.a.Pin:
		t.unsafe(PinBehind, "less of it is published than when the operation began")
		t.class = UnexpectedMultistep
	case m == AtRest:
		t.class = NoMovement
	default:
		t.looseAbove(p, above)
	}
}

func (t *judged) looseAbove(p *PublishPlan, above []Link) {
	t.own, t.class = OwnAtHead, RolledPastExpected
	switch {
	case t.a.Pin == t.o.Pin:
	case t.o.Head == t.o.Pin+1:
		t.class = UnexpectedAtP1
	default:
		t.class = UnexpectedMultistep
	}
	if err := chain(t.o.Pin, t.o.Head, above); err != nil {
		t.own = OwnershipUntellable
		t.unsafe(Unverifiable, err.Error())
		return
	}
	for _, l := range above {
		if !own(p, l) && (l.Kind != commit.Restore || l.RestoredTo != t.o.Pin) {
			t.own = OwnNone
			t.unsafe(ForeignDrift, l.String()+" is not of this operation")
			return
		}
	}
	if a := Advanced(t.o.Pin, t.o.Head, above); a.Logical {
		t.own = OwnNone
		t.unsafe(ForeignDrift, a.Why+", which no optimize makes")
		return
	}
	if t.compensated() {
		t.own, t.class = OwnCompensated, IncompletePhaseB
	}
}

// linksAbove are the links of the versions above one.
func linksAbove(links []Link, version uint64) []Link {
	for i, l := range links {
		if l.Version > version {
			return links[i:]
		}
	}
	return nil
}
