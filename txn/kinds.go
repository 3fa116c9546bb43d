package txn

import (
	"slices"

	"github.com/omnideck/omnideck/txn/sidecar"
)

// unsafe refuses for what forbids to act on any table, whatever the kind.
func (i *interpreter) unsafe() (Verdict, bool) {
	for _, t := range i.tables {
		if t.bad != "" {
			return i.say(Refuse, t.bad, "%s on branch %s: %s", t.a.Alias, named(t.a.Branch), t.why), true
		}
		if t.own == OwnershipUntellable {
			return i.say(Refuse, Unverifiable, "%s on branch %s: %s", t.a.Alias, named(t.a.Branch), t.why), true
		}
	}
	return Verdict{}, false
}

// lost refuses a first touch that was confirmed and is not there, while it could
// still be published. Once it cannot, its branch is one to remove anyway, and a
// pass before may have done so.
func (i *interpreter) lost() (Verdict, bool) {
	if i.p.phase < Confirmed || i.p.back || i.p.Base.differs(i.vis.Base, true) != nil {
		return Verdict{}, false
	}
	for _, t := range i.tables {
		if t.first && (t.o.Missing || t.own == OwnNone && len(t.a.Commits) > 0) {
			return i.say(Refuse, Gone, "%s on branch %s: its branch was made and written to, and is not there like that", t.a.Alias, named(t.a.Branch)), true
		}
	}
	return Verdict{}, false
}

// mixed refuses where own effects and what others did lie in one table.
func (i *interpreter) mixed(drift bool) (Verdict, bool) {
	for _, t := range i.tables {
		lower := (t.own == OwnAtHead || t.own == OwnCompensated) && t.o.Pin > t.a.Pin && t.movement() == CoveredMove
		switch {
		case t.own == OwnBeforeHead:
			return i.say(Refuse, Buried, "%s on branch %s: version %d is somebody else's and lies above that of this operation", t.a.Alias, named(t.a.Branch), t.o.Head), true
		case t.own != OwnNone && t.o.Pin != t.a.Pin && !lower:
			return i.say(Refuse, PinMoved, "%s is published at version %d, was at %d: the effect may be published under another commit", t.a.Alias, t.o.Pin, t.a.Pin), true
		case drift && t.own == OwnNone && t.movement() == CoveredMove && (!t.first || t.a.Effect != sidecar.FirstTouchDataset && t.o.Head > t.a.Pin):
			return i.say(Refuse, ForeignDrift, "%s on branch %s: version %d is above the published %d and not of this operation", t.a.Alias, named(t.a.Branch), t.o.Head, t.o.Pin), true
		}
	}
	return Verdict{}, false
}

// owns reports an effect of the operation anywhere.
func (i *interpreter) owns() bool {
	return slices.ContainsFunc(i.tables, func(t judged) bool { return t.own != OwnNone })
}

// physical reports a transaction, or a branch that only it makes.
func (i *interpreter) physical() bool {
	return i.owns() || slices.ContainsFunc(i.tables, func(t judged) bool { return t.first && !t.o.Missing && t.a.Effect != sidecar.FirstTouchDataset })
}

func (i *interpreter) recreated() bool {
	return !slices.Equal(i.p.Base.BranchID, i.vis.Base.BranchID)
}

func (i *interpreter) refuseRecreated() Verdict {
	return i.say(Refuse, Recreated, "branch %s was deleted and made anew since", named(i.p.Base.Branch))
}

// whole: confirmed, and every effect where it was confirmed.
func (i *interpreter) whole() bool {
	return i.p.phase >= Confirmed && !slices.ContainsFunc(i.tables, func(t judged) bool { return t.class != RolledPastExpected })
}

// backReason is why a plan with own effects is taken back; "" = it is not.
func (i *interpreter) backReason() (Reason, string) {
	moved := i.p.Base.differs(i.vis.Base, true)
	switch {
	case i.p.back:
		return BackDecided, "an earlier pass decided to take it back"
	case i.p.phase < Confirmed:
		return NotConfirmed, "the writer stopped before it confirmed its effects"
	case moved != nil:
		return AuthorityMoved, moved.Member + " changed since it was armed"
	case !i.whole():
		return NotComplete, "not every confirmed effect is the newest version of its table"
	}
	return "", ""
}

// write is the order of Mutation and Load.
func (i *interpreter) write() Verdict {
	if v, bad := i.unsafe(); bad {
		return v
	}
	if v, bad := i.lost(); bad {
		return v
	}
	if !i.owns() {
		return i.discard()
	}
	if i.recreated() {
		return i.refuseRecreated()
	}
	if v, bad := i.mixed(true); bad {
		return v
	}
	if reason, why := i.backReason(); reason != "" {
		return i.back(reason, why)
	}
	return i.forward()
}

// derived is the order of EnsureIndices and SchemaApply, whose roll-back is
// published even when there was nothing to take back.
func (i *interpreter) derived() Verdict {
	if v, bad := i.unsafe(); bad {
		return v
	}
	if v, bad := i.mixed(true); bad {
		return v
	}
	if i.recreated() {
		if i.physical() || i.p.Kind == sidecar.SchemaApply {
			return i.refuseRecreated()
		}
		return i.discard()
	}
	if reason, why := i.backReason(); reason != "" {
		return i.back(reason, why)
	}
	if i.p.Kind == sidecar.SchemaApply && i.vis.Staging != StagedTarget {
		return i.say(Refuse, StagingDiffers, "the staged schema files do not make its target %s", i.p.TargetIRHash)
	}
	return i.forward()
}

// merge is the order of BranchMerge.
func (i *interpreter) merge() Verdict {
	if v, bad := i.unsafe(); bad {
		return v
	}
	if v, bad := i.lost(); bad {
		return v
	}
	for _, t := range i.tables {
		switch {
		case t.o.Pin != t.a.Pin:
			return i.say(Refuse, PinMoved, "%s is published at version %d, was at %d when the merge began", t.a.Alias, t.o.Pin, t.a.Pin)
		case i.p.phase >= Confirmed && !i.p.back && !t.o.Missing && t.class != RolledPastExpected && t.own != OwnCompensated:
			return i.say(Refuse, EffectDiffers, "%s on branch %s: version %d was confirmed, the newest is %d", t.a.Alias, named(t.a.Branch), t.bound(i.p), t.o.Head)
		}
	}
	if v, bad := i.mixed(false); bad {
		return v
	}
	if i.recreated() && i.physical() {
		return i.refuseRecreated()
	}
	reason, why := i.backReason()
	switch {
	case reason == "":
		return i.forward()
	case !i.owns():
		return i.discard()
	}
	return i.back(reason, why)
}

// optimize is the order of Optimize, which says only what it may move.
func (i *interpreter) optimize() Verdict {
	if v, bad := i.unsafe(); bad {
		return v
	}
	moved, done, ahead := 0, 0, false
	for _, t := range i.tables {
		if t.class != NoMovement {
			moved++
		}
		if t.class == RolledPastExpected {
			done++
		}
		ahead = ahead || i.published(t)
	}
	told := i.p.UUIDPrefix != ""
	switch {
	case done == len(i.tables):
		return i.forward().minted()
	case moved > 0:
		return i.back(NotComplete, "only a part of its tables was moved").minted()
	case ahead:
		v := i.say(Finalize, "", "what it did is published")
		v.Mint = !told
		return v
	case told:
		return i.discard()
	}
	return i.back(NothingHappened, "none of its tables was moved").minted()
}

// published: a version of the operation is below what is published, or, of a
// record that tells no ids, more is published than when it began.
func (i *interpreter) published(t judged) bool {
	if i.p.UUIDPrefix == "" {
		return t.o.Pin > t.a.Pin
	}
	return slices.ContainsFunc(t.o.Chain, func(l Link) bool {
		return l.Known && l.Version > t.a.Pin && l.Version <= t.o.Pin && own(i.p, l)
	})
}

// forward publishes what is confirmed.
func (i *interpreter) forward() Verdict {
	v := i.say(Forward, "", "every effect is done and the branch has not moved")
	for n, t := range i.tables {
		v.Tables[n].Do, v.Tables[n].To = PublishHead, t.o.Head
	}
	v.Promote = i.p.Kind == sidecar.SchemaApply
	return v
}

// discard retires a record of which nothing happened.
func (i *interpreter) discard() Verdict {
	v := i.say(Discard, NothingHappened, "none of its transactions is in a table")
	for n := range i.tables {
		if stop, ok := i.dropFork(n, &v); ok {
			return stop
		}
	}
	return v
}

// back takes back what is the operation's own, and removes what it began.
func (i *interpreter) back(reason Reason, why string) Verdict {
	v := i.say(Back, reason, "%s", why)
	v.Unstage = i.staged()
	for n := range i.tables {
		if stop, ok := i.backTable(n, &v); ok {
			return stop
		}
	}
	if i.p.back {
		v.Outcomes = slices.Clone(i.p.outcomes)
	}
	return v
}

func (i *interpreter) backTable(n int, v *Verdict) (Verdict, bool) {
	t, out := &i.tables[n], &v.Tables[n]
	outcome := func(from uint64) {
		v.Outcomes = append(v.Outcomes, TableOutcome{Alias: i.p.before(t.a.Table, t.a.Alias), From: from, To: t.o.Pin})
	}
	restore := func(do TableDo, from uint64) (Verdict, bool) {
		out.Do, out.To = do, t.o.Pin
		outcome(from)
		return Verdict{}, false
	}
	switch {
	case t.first && t.a.Effect == sidecar.FirstTouchDataset:
		switch {
		case t.o.Missing && len(t.o.Claims) == 0: // files that no version names may be there
			out.Do = DropDataset
		case t.own != OwnAtHead:
		case len(t.o.Claims) > 0:
			return i.say(Refuse, Claimed, "%s, which is to be removed, is named by the record of operation %s", t.a.Alias, t.o.Claims[0]), true
		case t.o.Head != 1:
			return i.say(Refuse, EffectDiffers, "%s is at version %d, expected 1, which is the one to remove", t.a.Alias, t.o.Head), true
		default:
			out.Do = DropDataset
			outcome(t.o.Head)
		}
		return Verdict{}, false
	case t.first && (t.own == OwnNone || i.p.Kind == sidecar.EnsureIndices):
		if t.own != OwnNone {
			outcome(t.o.Head)
		}
		return i.dropFork(n, v)
	case t.own == OwnAtHead && t.class != NoMovement:
		return restore(Restore, t.o.Head)
	case t.own == OwnCompensated:
		return restore(Restored, t.o.Head-1) // the restore is one version above what it took back
	}
	return Verdict{}, false
}

// dropFork says whether the branch that a first touch made is removed: only an
// untouched one (or with the plan's own index on it), that is the planned one,
// and that no other operation names.
func (i *interpreter) dropFork(n int, v *Verdict) (Verdict, bool) {
	t := &i.tables[n]
	if !t.first || t.a.Effect == sidecar.FirstTouchDataset || len(t.o.Claims) > 0 {
		return Verdict{}, false
	}
	from := t.a.Pin
	if t.a.Fork != nil {
		from = t.a.Fork.Version
	}
	untouched := from
	if t.own == OwnAtHead {
		untouched++
	}
	what := t.a.Alias + " on branch " + named(t.a.Branch)
	switch {
	case t.o.PathChild != "":
		return i.say(Defer, PathChild, "%s is to be removed, and the branch %s lies below it: delete that first", what, t.o.PathChild), true
	case t.o.Missing:
	case t.o.ForkedAt != from:
		return i.say(Refuse, ForkDiffers, "%s forks from version %d, expected %d", what, t.o.ForkedAt, from), true
	case t.o.Head != untouched:
		return i.say(Refuse, ForeignDrift, "%s is at version %d, expected %d, at which nobody wrote to it", what, t.o.Head, untouched), true
	}
	v.Tables[n].Do = DropFork
	return Verdict{}, false
}
