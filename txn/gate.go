package txn

import (
	"fmt"

	"github.com/omnideck/omnideck/txn/sidecar"
)

// gate is the judgement of a plan that is not armed: may it be, under the gates.
// In this order: other operations' records, the authority, the tables' pins,
// their newest versions.
func (i *interpreter) gate() Verdict {
	for _, t := range i.tables {
		if len(t.o.Claims) > 0 {
			v := i.say(Refuse, Covered, "the record of operation %s names %s", t.o.Claims[0], t.a.Alias)
			v.err = &RecoveryRequiredError{OperationID: t.o.Claims[0], Other: true, Reason: "its record names " + t.a.Alias + ", which this write is about"}
			return v
		}
	}
	if v, bad := i.misplaced(); bad {
		v.err = i.p.fail("%s", v.Text)
		return v
	}
	if err := i.authority(); err != nil {
		v := i.say(Replan, AuthorityMoved, "the branch moved while the write was prepared")
		v.err = err
		return v
	}
	for n := range i.tables {
		if v, stop := i.gateTable(&i.tables[n]); stop {
			return v
		}
	}
	v := i.say(Proceed, "", "every table is where the plan expects it")
	for n, t := range i.tables {
		v.Tables[n].Class = NoMovement
		if t.forks() {
			v.Tables[n].Do = DropFork // what an operation left that did not come to its record
		}
	}
	return v
}

// forks: the action makes the table's branch.
func (t *judged) forks() bool { return t.a.Fork != nil }

// authority compares what the plan was made on with what is there.
func (i *interpreter) authority() error {
	p := i.p
	if i.vis.Gone {
		return &ReadSetChangedError{Member: "branch_identifier:" + named(p.Base.Branch), Expected: fmt.Sprint(p.Base.BranchID)}
	}
	changed := p.Base.differs(i.vis.Base, p.Pre == ExactHead)
	switch {
	case changed == nil:
		return nil
	case p.Class == Conditional && changed.Member == "graph_head:"+named(p.Base.Branch):
		return &PreconditionFailedError{Branch: p.Base.Branch, Expected: orNone(changed.Expected), Actual: changed.Actual}
	}
	return changed
}

func (i *interpreter) gateTable(t *judged) (Verdict, bool) {
	binding := &ReadSetChangedError{Member: "dataset_binding:" + t.a.Table.String()}
	binding.Expected = fmt.Sprintf("%s on branch %s", i.p.before(t.a.Table, t.a.Alias), named(t.a.Branch))
	binding.Actual = fmt.Sprintf("%s on branch %s", orNone(t.o.Alias), named(t.o.Owner))
	replan := func(err error) (Verdict, bool) {
		v := i.say(Replan, PinMoved, "%s moved while the write was prepared", t.a.Alias)
		v.err = err
		return v, true
	}
	refuse := func(r Reason, err error) (Verdict, bool) {
		v := i.say(Refuse, r, "%s", err)
		v.err = err
		return v, true
	}
	made := t.a.Effect == sidecar.FirstTouchDataset
	switch {
	case t.o.Pin != t.a.Pin:
		return replan(&PublishedVersionMismatchError{Table: t.a.Alias, Expected: t.a.Pin, Actual: t.o.Pin})
	case !made && t.o.Alias != i.p.before(t.a.Table, t.a.Alias), !made && (t.o.Owner == t.a.Branch) == t.forks():
		return replan(binding)
	case t.o.Missing && (made || t.forks()):
		return Verdict{}, false
	case t.o.Missing:
		return refuse(Gone, &InvariantError{t.a.Alias, fmt.Sprintf("version %d of it is published, and there is no dataset on branch %s", t.o.Pin, named(t.a.Branch))})
	case t.forks() && t.o.PathChild == "" && t.o.Head == t.o.ForkedAt:
		return Verdict{}, false // an untouched branch that nobody publishes
	}
	published := t.o.Pin
	if t.forks() {
		published = t.o.ForkedAt
	}
	switch Judge(published, t.o.Head, false) {
	case Behind:
		return refuse(HeadBehind, &InvariantError{t.a.Alias, fmt.Sprintf("version %d of it is published on branch %s, its newest is %d", published, named(t.a.Branch), t.o.Head)})
	case Drift:
		return refuse(Drifted, &DriftError{Table: t.a.Alias, Branch: t.a.Branch, Published: published, Head: t.o.Head})
	case AtRest:
		if t.forks() {
			return refuse(PathChild, i.p.fail("branch %s of %s is in the way and branch %s lies below it", t.a.Branch, t.a.Alias, t.o.PathChild))
		}
	}
	return Verdict{}, false
}
