package txn

import (
	"slices"

	"github.com/omnideck/omnideck/txn/sidecar"
)

// Record is the plan as it is written down. It is checked by the rules of
// sidecar: a *sidecar.ShapeError says what is wrong. A plan that is not armed has
// no record.
func (p *PublishPlan) Record() (*sidecar.Record, error) {
	if p.phase == Prepared || p.Class == Compensation {
		return nil, p.fail("it is not armed, so that there is nothing to write down")
	}
	rec := &sidecar.Record{
		SchemaVersion: sidecar.Version, OperationID: p.ID, StartedAt: p.Started, Branch: p.Base.Branch, Actor: p.Actor, Kind: p.Kind, TargetIRHash: p.TargetIRHash,
	}
	for i := range p.Actions {
		rec.Pins = append(rec.Pins, p.pin(&p.Actions[i]))
	}
	if p.Kind == sidecar.Optimize {
		rec.UUIDPrefix = p.UUIDPrefix
		return rec, rec.Check()
	}
	rec.CommitID, rec.Phase = p.Lineage.CommitID, sidecar.Armed
	if p.phase > Armed {
		rec.Phase = sidecar.EffectsConfirmed
	}
	b := p.Base
	rec.Plan = &sidecar.Plan{
		Authority: sidecar.Authority{Branch: b.BranchID, GraphHead: b.Head, IdentityDomain: b.IdentityDomain, IRHash: b.IRHash, IdentityVersion: b.IdentityVersion},
		Lineage:   sidecar.Lineage{Branch: b.Branch, Actor: p.Actor, MergedParent: p.Lineage.MergedParent, CreatedAt: p.Lineage.CreatedAt},
		Rollback:  p.Rollback, Outcomes: p.outcomes, RollingBack: p.back, Delta: p.Delta,
	}
	for i := range p.Actions {
		rec.Plan.Effects = append(rec.Plan.Effects, p.effect(&p.Actions[i]))
	}
	return rec, rec.Check()
}

// pin of an action. A fork alone makes no version: its pin is what it forks
// from.
func (p *PublishPlan) pin(a *TableAction) sidecar.Pin {
	out := sidecar.Pin{Identity: a.Table, Alias: a.Alias, Path: a.Path, Expected: a.Pin, Planned: a.Pin + 1, Branch: a.Branch}
	if a.Effect == sidecar.RefOnlyFork && a.Fork != nil {
		out.Planned = a.Fork.Version
	}
	if s := p.slot(a.Table); s != nil && s.Confirmed != nil && p.Kind != sidecar.Optimize {
		out.Confirmed = &s.Confirmed.Version
	}
	return out
}

// slot is the table's update.
func (p *PublishPlan) slot(id Identity) *Slot {
	if i := slices.IndexFunc(p.Delta.Updates, func(s Slot) bool { return s.Identity == id }); i >= 0 {
		return &p.Delta.Updates[i]
	}
	return nil
}

func (p *PublishPlan) effect(a *TableAction) sidecar.Effect {
	e := sidecar.Effect{Identity: a.Table, Alias: a.Alias, Kind: a.Effect, Planned: a.Commits}
	if a.Fork != nil && (p.Kind == sidecar.BranchMerge || p.Kind == sidecar.EnsureIndices) {
		e.Fork, e.ConfirmedBranch, e.BranchConfirmed = &a.Fork.Version, a.ForkID, a.Forked
	}
	if p.phase == Armed {
		return e
	}
	switch s := p.slot(a.Table); {
	case a.Effect == sidecar.RefOnlyFork:
	case a.Effect == sidecar.MultiCommitHead:
		if s != nil && s.Confirmed != nil {
			e.ConfirmedVersion = &s.Confirmed.Version
		}
	case len(a.Commits) == 1:
		e.Confirmed = &a.Commits[0]
	}
	return e
}

// FromRecord is the plan that a record tells, in the phase that it tells: Armed,
// or Confirmed. A record that breaks a rule of its shape is no plan: the error
// is a *sidecar.ShapeError.
func FromRecord(rec *sidecar.Record) (*PublishPlan, error) {
	if err := rec.Check(); err != nil {
		return nil, err
	}
	p := &PublishPlan{
		ID: rec.OperationID, Kind: rec.Kind, Class: Strict, Pre: ExactHead, Actor: rec.Actor, Started: rec.StartedAt, TargetIRHash: rec.TargetIRHash,
		UUIDPrefix: rec.UUIDPrefix, Base: Base{Branch: rec.Branch}, Lineage: Lineage{CommitID: rec.CommitID}, phase: Armed,
	}
	switch rec.Kind {
	case sidecar.Optimize:
		p.Class, p.Pre = Maintenance, Monotonic
	case sidecar.EnsureIndices:
		p.Class = Maintenance
	}
	for _, pin := range rec.Pins {
		p.Actions = append(p.Actions, TableAction{Table: pin.Identity, Alias: pin.Alias, Path: pin.Path, Branch: pin.Branch, Pin: pin.Expected})
	}
	if rec.Plan == nil {
		for _, a := range p.Actions {
			p.Delta.Updates = append(p.Delta.Updates, Slot{Identity: a.Table, Alias: a.Alias, Expected: a.Pin, Branch: a.Branch})
		}
		return p, nil
	}
	if rec.Phase == sidecar.EffectsConfirmed {
		p.phase = Confirmed
	}
	a := rec.Plan.Authority
	p.Base.BranchID, p.Base.Head = a.Branch, a.GraphHead
	p.Base.IRHash, p.Base.IdentityDomain, p.Base.IdentityVersion = a.IRHash, a.IdentityDomain, a.IdentityVersion
	p.Lineage.MergedParent, p.Lineage.CreatedAt = rec.Plan.Lineage.MergedParent, rec.Plan.Lineage.CreatedAt
	p.Rollback, p.Delta, p.outcomes, p.back = rec.Plan.Rollback, rec.Plan.Delta, rec.Plan.Outcomes, rec.Plan.RollingBack
	for i := range p.Actions {
		p.Actions[i].fill(rec.Plan.Effects)
	}
	return p.clone(), nil
}

// fill takes over the action's effect; the record's check says that there is
// one.
func (a *TableAction) fill(effects []sidecar.Effect) {
	e := effects[slices.IndexFunc(effects, func(e sidecar.Effect) bool { return e.Identity == a.Table })]
	a.Effect, a.Commits, a.ForkID, a.Forked = e.Kind, e.Planned, e.ConfirmedBranch, e.BranchConfirmed
	if e.Fork != nil {
		a.Fork = &ForkSource{Version: *e.Fork}
	}
}
