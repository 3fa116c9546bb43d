package txn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// Interpret says what is right about an operation, from its plan, what each of
// its tables looks like, and what its branch shows. It is a function of its
// arguments, whoever asks: a writer before it arms or after an effect failed,
// recovery, maintenance. The package comment has the table.
func Interpret(p *PublishPlan, observed []Observation, vis Visible) Verdict {
	i := &interpreter{p: p, vis: vis}
	if v, ok := i.pair(observed); !ok {
		return v
	}
	if p.phase == Prepared {
		return i.gate()
	}
	if vis.Gone {
		return i.say(OrphanDiscard, Gone, "branch %s is gone, and its tables' branches with it", named(p.Base.Branch)).minted()
	}
	for n := range i.tables {
		i.tables[n].judge(p)
	}
	if v, ok := i.misplaced(); ok {
		return v
	}
	if v, ok := i.outcome(); ok {
		return v
	}
	for _, t := range i.tables {
		if t.class == InvariantViolation {
			return i.say(Refuse, HeadBehind, "%s is published at version %d, its newest is %d", t.a.Alias, t.o.Pin, t.o.Head)
		}
	}
	switch p.Kind {
	case sidecar.Optimize:
		return i.optimize()
	case sidecar.BranchMerge:
		return i.merge()
	case sidecar.Mutation, sidecar.Load:
		return i.write()
	}
	return i.derived()
}

// interpreter is one call of Interpret.
type interpreter struct {
	p      *PublishPlan
	vis    Visible
	tables []judged
}

// say makes the verdict, with what was judged so far.
func (i *interpreter) say(do Do, reason Reason, format string, args ...any) Verdict {
	v := Verdict{Do: do, Reason: reason, Text: fmt.Sprintf(format, args...), operation: i.p.ID, phase: i.p.phase}
	for _, t := range i.tables {
		v.Tables = append(v.Tables, TableVerdict{Table: t.a.Table, Alias: t.a.Alias, Branch: t.a.Branch, Class: t.class, Ownership: t.own, Head: t.o.Head})
	}
	return v
}

func (v Verdict) minted() Verdict {
	v.Mint = true
	return v
}

// pair finds the observation of each action.
func (i *interpreter) pair(observed []Observation) (Verdict, bool) {
	for n := range i.p.Actions {
		a := &i.p.Actions[n]
		at := slices.IndexFunc(observed, func(o Observation) bool { return o.Table == a.Table })
		if at < 0 {
			return i.say(Refuse, NotObserved, "%s was not looked at", a.Alias), false
		}
		if !observed[at].sound(a.Pin) {
			return i.say(Refuse, NotObserved, "what was seen of %s does not fit together: it moved meanwhile, look again", a.Alias), false
		}
		i.tables = append(i.tables, judged{a: a, o: &observed[at]})
	}
	return Verdict{}, true
}

// misplaced finds a path that is not the table's own under the root.
func (i *interpreter) misplaced() (Verdict, bool) {
	if i.vis.Root == "" {
		return Verdict{}, false
	}
	for _, a := range i.p.Actions {
		folder, ok := manifest.Location(a.Alias, manifest.Identity(a.Table))
		if want := strings.TrimRight(i.vis.Root, "/") + "/" + folder; !ok || strings.TrimRight(a.Path, "/") != want {
			return i.say(Refuse, WrongPlace, "%s lies at %s by the record, expected %s", a.Alias, a.Path, want), true
		}
	}
	return Verdict{}, false
}

// outcome looks for the commits of the plan in the lineage.
func (i *interpreter) outcome() (Verdict, bool) {
	p, landed := i.p, i.vis.Original
	switch {
	case landed == nil && !i.vis.RollBack:
		return Verdict{}, false
	case landed != nil && i.vis.RollBack:
		return i.say(Refuse, BothVisible, "commit %s and commit %s, which takes it back, are both visible", p.Lineage.CommitID, p.Rollback), true
	case i.vis.RollBack:
		return i.rolledBack(), true
	}
	if p.Kind == sidecar.Optimize { // the commit is that of an earlier pass
		v := i.say(Finalize, "", "its recovery is published")
		i.bringBack(&v)
		return v, true
	}
	if why := p.lineageDiffers(landed.Commit); why != "" {
		return i.say(Refuse, CommitDiffers, "commit %s is visible with %s", p.Lineage.CommitID, why), true
	}
	if why := p.deltaDiffers(landed.Tables); why != "" && !i.carried(landed.Tables) {
		return i.say(Refuse, DeltaDiffers, "commit %s is visible, but %s", p.Lineage.CommitID, why), true
	}
	v := i.say(Finalize, "", "it is published")
	if p.Kind == sidecar.SchemaApply {
		if i.vis.Staging == NotStaged || i.vis.Staging == StagedOther {
			return i.say(Refuse, StagingDiffers, "it is published, but the schema files at the root do not make its target %s", p.TargetIRHash), true
		}
		v.Promote = i.vis.Staging == StagedTarget
	}
	i.bringBack(&v)
	return v, true
}

// carried: a commit that is visible published the very transactions of a Mutation
// or Load of which the record is a copy from before it was confirmed. No crash
// leaves that; the Rust engine refuses it.
func (i *interpreter) carried(tables []manifest.Entry) bool {
	if i.p.phase != Armed || i.p.Kind != sidecar.Mutation && i.p.Kind != sidecar.Load {
		return false
	}
	for _, t := range i.tables {
		n := slices.IndexFunc(tables, func(e manifest.Entry) bool { return Identity(e.Identity) == t.a.Table })
		if n < 0 || tables[n].Alias != t.a.Alias || tables[n].Owner != t.a.Branch {
			return false
		}
		own := func(l Link) bool { return l.Known && l.Version == tables[n].Version && l.UUID == t.a.Commits[0].UUID }
		if !slices.ContainsFunc(t.o.Chain, own) {
			return false
		}
	}
	return true
}

func (i *interpreter) staged() bool {
	return i.p.Kind == sidecar.SchemaApply && (i.vis.Staging == StagedTarget || i.vis.Staging == StagedOther)
}

// rolledBack is the end of an operation whose roll-back is visible. What its
// writer, who came back after it, did to tables since is restored, and published
// first. A record that was written anew meanwhile does not say what was taken
// back; then the tables do.
func (i *interpreter) rolledBack() Verdict {
	v := i.say(Finalize, "", "its roll-back is published")
	v.RolledBack, v.Guessed, v.Outcomes, v.Unstage = true, !i.p.back && i.p.Kind != sidecar.Optimize, slices.Clone(i.p.outcomes), i.staged()
	for n, t := range i.tables {
		if !i.p.back {
			v.Outcomes = append(v.Outcomes, t.takenBack(i.p)...)
		}
		if t.o.Missing || Judge(t.o.Pin, t.o.Head, true) != CoveredMove || t.own == OwnNone {
			continue
		}
		switch {
		case t.first && t.a.Effect == sidecar.FirstTouchDataset:
			return i.say(Refuse, EffectDiffers, "its roll-back is published, and %s was made since, which nobody publishes", t.a.Alias)
		case t.first && i.p.Kind == sidecar.EnsureIndices:
			if stop, ok := i.dropFork(n, &v); ok {
				return stop
			}
		case t.own == OwnAtHead, t.own == OwnCompensated:
			v.Tables[n].Do, v.Tables[n].To, v.Mint = t.restore(), t.o.Pin, true
		case t.own == OwnBeforeHead:
			return i.say(Refuse, Buried, "its roll-back is published, but on %s on branch %s it did more since, which lies below version %d of somebody else", t.a.Alias, named(t.a.Branch), t.o.Head)
		default:
			return i.say(Refuse, Unverifiable, "its roll-back is published, but what lies above version %d of %s on branch %s cannot be told: %s", t.o.Pin, t.a.Alias, named(t.a.Branch), t.why)
		}
	}
	return v
}

// takenBack is the outcome of a roll-back as the table tells it: by its versions
// or, of a dataset or branch that is gone, by what was confirmed of it.
func (t *judged) takenBack(p *PublishPlan) []TableOutcome {
	removed := t.a.Effect == sidecar.FirstTouchDataset || p.Kind == sidecar.EnsureIndices
	if made := t.bound(p); removed && t.first && t.o.Missing && made > 0 {
		return []TableOutcome{{Alias: p.before(t.a.Table, t.a.Alias), From: made, To: t.o.Pin}}
	}
	for n := 1; n < len(t.o.Chain); n++ {
		l, below := t.o.Chain[n], t.o.Chain[n-1]
		ours := strings.HasPrefix(l.UUID, restorePrefix(p.ID)) || slices.ContainsFunc(t.a.Commits, func(c Transaction) bool { return c.UUID == below.UUID })
		if l.Kind == commit.Restore && l.RestoredTo <= t.a.Pin && ours {
			return []TableOutcome{{Alias: p.before(t.a.Table, t.a.Alias), From: below.Version, To: l.RestoredTo}}
		}
	}
	return nil
}

// restore says whether a table is restored, or was already.
func (t *judged) restore() TableDo {
	if t.compensated() {
		return Restored
	}
	return Restore
}

// bringBack finds restores of this operation's own recovery above what it
// published meanwhile (decisions 26): they are taken back forward.
func (i *interpreter) bringBack(v *Verdict) {
	for n, t := range i.tables {
		if t.o.Missing || len(t.o.Chain) == 0 || Judge(t.o.Pin, t.o.Head, true) != CoveredMove {
			continue
		}
		last := t.o.Chain[len(t.o.Chain)-1]
		if last.Known && last.Version == t.o.Head && strings.HasPrefix(last.UUID, restorePrefix(i.p.ID)) {
			v.Tables[n].Do, v.Tables[n].To, v.Mint = t.restore(), t.o.Pin, true
		}
	}
}

// lineageDiffers compares a visible commit with the planned one.
func (p *PublishPlan) lineageDiffers(c manifest.Commit) string {
	switch l := p.Lineage; {
	case c.Branch != p.Base.Branch:
		return fmt.Sprintf("branch %s, expected %s", named(c.Branch), named(p.Base.Branch))
	case p.Base.Head != nil && c.Parent != *p.Base.Head:
		return fmt.Sprintf("parent %s, expected %s", orNone(c.Parent), *p.Base.Head)
	case c.MergedParent != text(l.MergedParent):
		return fmt.Sprintf("merged parent %s, expected %s", orNone(c.MergedParent), orNone(text(l.MergedParent)))
	case (c.Actor == nil) != (p.Actor == nil) || text(c.Actor) != text(p.Actor):
		return fmt.Sprintf("actor %s, expected %s", orNone(text(c.Actor)), orNone(text(p.Actor)))
	case c.CreatedAt != l.CreatedAt:
		return fmt.Sprintf("time %d, expected %d", c.CreatedAt, l.CreatedAt)
	}
	return ""
}

// deltaDiffers compares what a commit published with the confirmed delta.
func (p *PublishPlan) deltaDiffers(tables []manifest.Entry) string {
	find := func(id Identity) *manifest.Entry {
		if n := slices.IndexFunc(tables, func(e manifest.Entry) bool { return Identity(e.Identity) == id }); n >= 0 {
			return &tables[n]
		}
		return nil
	}
	for _, s := range p.Delta.Updates {
		e, c := find(s.Identity), s.Confirmed
		switch {
		case c == nil && e != nil && e.Alias == s.Alias && e.Owner == s.Branch && e.Version == p.Planned(s): // the record of one who was slow was written over
		case c == nil:
			return fmt.Sprintf("version of %s was never confirmed, and is not the planned one", s.Alias)
		case e == nil || e.Alias != s.Alias || e.Version != c.Version || e.Owner != c.Branch || e.Rows != c.Rows || !sameMeta(e.Meta, c):
			return fmt.Sprintf("%s is not what was confirmed: version %d on branch %s with %d rows", s.Alias, c.Version, named(c.Branch), c.Rows)
		}
	}
	for _, r := range p.Delta.Registrations {
		if e := find(r.Identity); e == nil || e.Alias != r.Alias || e.Location != r.Location {
			return fmt.Sprintf("%s is not registered at %s", r.Alias, r.Location)
		}
	}
	for _, r := range p.Delta.Renames {
		if e := find(r.Identity); e == nil || e.Alias != r.Alias || e.Location != r.Location {
			return fmt.Sprintf("%s is not renamed to %s", r.From, r.Alias)
		}
	}
	for _, t := range p.Delta.Tombstones {
		if find(t.Identity) != nil {
			return fmt.Sprintf("%s has not ended", t.Alias)
		}
	}
	return ""
}

// Planned is the version that the plan makes of a table; 0 = it does not tell.
func (p *PublishPlan) Planned(s Slot) uint64 {
	for _, a := range p.Actions {
		if a.Table == s.Identity && len(a.Commits) > 0 {
			return a.Pin + uint64(len(a.Commits))
		}
	}
	return 0
}

func sameMeta(m manifest.TableMeta, o *Output) bool {
	return m.ManifestPath == o.ManifestPath && same(m.ManifestSize, o.ManifestSize) && same(m.ETag, o.ETag) && same(m.NamingScheme, o.NamingScheme)
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }
