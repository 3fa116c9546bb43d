package txn

import (
	"fmt"
	"time"

	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// scene is a plan with one table, or two, and what is found of them.
type scene struct {
	plan *PublishPlan // as its record tells it, once there is one
	live *PublishPlan // as its writer has it
	obs  []Observation
	vis  Visible
}

const (
	opID  = "01M8KXR37888CN02CWG4500HSD"
	root  = "/g"
	pinAt = 3
)

var (
	headID  = "01M8KXQR66RD8M187X7E04ZWTN"
	otherID = "01M8KXQR66RD8M187X7E04ZWTX"
)

func identity(n int) Identity { return Identity{Table: uint64(n + 1), Incarnation: uint64(n + 41)} }

// action of one kind of effect on a table; kinds is a row of effects below.
func (k effectCase) action(n int) TableAction {
	alias := fmt.Sprintf("node:T%d", n)
	folder, _ := manifest.Location(alias, manifest.Identity(identity(n)))
	a := TableAction{Table: identity(n), Alias: alias, Path: root + "/" + folder, Pin: pinAt, Effect: k.effect}
	for c := range k.commits {
		a.Commits = append(a.Commits, Transaction{ReadVersion: pinAt + uint64(c), UUID: fmt.Sprintf("own-%d-%d", n, c)})
	}
	if k.forked {
		a.Branch = "b"
		a.Fork = &ForkSource{Version: pinAt}
	}
	if k.effect == sidecar.FirstTouchDataset {
		a.Pin, a.Commits[0].ReadVersion = 0, 0
	}
	return a
}

// effectCase is a kind of write with a kind of effect.
type effectCase struct {
	name    string
	kind    Kind
	class   Class
	effect  EffectKind
	commits int
	forked  bool
}

var effectCases = []effectCase{
	{"mutation", sidecar.Mutation, Strict, "", 1, false},
	{"load, first touch of a branch", sidecar.Load, Additive, "", 1, true},
	{"merge, chain of two", sidecar.BranchMerge, Strict, sidecar.MultiCommitHead, 2, false},
	{"merge, fork and chain", sidecar.BranchMerge, Strict, sidecar.MultiCommitHead, 2, true},
	{"merge, fork alone", sidecar.BranchMerge, Strict, sidecar.RefOnlyFork, 0, true},
	{"indexes", sidecar.EnsureIndices, Maintenance, "", 1, false},
	{"indexes, first touch of a branch", sidecar.EnsureIndices, Maintenance, "", 1, true},
	{"schema, overwrite", sidecar.SchemaApply, Strict, sidecar.ExistingOverwrite, 1, false},
	{"schema, new table", sidecar.SchemaApply, Strict, sidecar.FirstTouchDataset, 1, false},
	{"optimize", sidecar.Optimize, Maintenance, "", 0, false},
	{"optimize without prefix", sidecar.Optimize, Maintenance, "", 0, false},
}

// draft is a plan of the kind on so many tables.
func (k effectCase) draft(tables int) PublishPlan {
	p := PublishPlan{
		ID: opID, Kind: k.kind, Class: k.class, Pre: ExactHead, Started: time.UnixMicro(1795965305034010).UTC(), Rollback: "01ROLLBACK",
		Base:    Base{Version: 7, Head: &headID, IRHash: "sha256:aa", IdentityDomain: "01DOMAIN", IdentityVersion: 2},
		Lineage: Lineage{CommitID: "01COMMIT", CreatedAt: 1795965305034010},
	}
	if k.forked {
		p.Base.Branch, p.Base.BranchID = "b", []Fork{{Version: 5, UUID: "ab"}}
	}
	for n := range tables {
		a := k.action(n)
		p.Actions = append(p.Actions, a)
		if k.effect == sidecar.FirstTouchDataset {
			folder, _ := manifest.Location(a.Alias, manifest.Identity(a.Table))
			p.Delta.Registrations = append(p.Delta.Registrations, Registration{Identity: a.Table, Alias: a.Alias, Location: folder})
		}
	}
	switch k.kind {
	case sidecar.BranchMerge:
		p.Lineage.MergedParent = &otherID
	case sidecar.SchemaApply:
		p.TargetIRHash = "sha256:bb"
	case sidecar.Optimize:
		p.Pre, p.UUIDPrefix = Monotonic, "opt-"
	}
	return p
}

// bound is what the effect of an action comes to.
func bound(a *TableAction) Bound {
	b := Bound{Table: a.Table, Output: Output{Version: a.Pin + uint64(len(a.Commits)), Branch: a.Branch, Rows: 5, ManifestPath: "m"}}
	switch {
	case a.Effect == sidecar.RefOnlyFork:
		b.Output.Version = a.Fork.Version
	case len(a.Commits) == 0:
		b.Output.Version, b.Last = a.Pin+1, Transaction{ReadVersion: a.Pin, UUID: "opt-1"}
	default:
		b.Last = a.Commits[len(a.Commits)-1]
	}
	if a.Fork != nil {
		b.ForkID = []Fork{{Version: pinAt, UUID: "fork"}}
	}
	return b
}

// scene in a phase: every effect is done as planned, nothing is published.
func (k effectCase) scene(tables int, phase Phase) scene {
	p, err := New(k.draft(tables))
	if err != nil {
		panic(err)
	}
	if phase > Prepared {
		p = must(p.Arm())
	}
	if phase > Armed {
		var all []Bound
		for i := range p.Actions {
			all = append(all, bound(&p.Actions[i]))
		}
		p = must(p.Confirm(all))
	}
	if k.name == "optimize without prefix" {
		p = p.clone()
		p.UUIDPrefix = ""
	}
	s := scene{plan: p, live: p, vis: Visible{Root: root, Base: p.Base}}
	if phase > Prepared {
		rec, err := p.Record()
		if err != nil {
			panic(err)
		}
		s.plan = must(FromRecord(rec))
	}
	if k.kind == sidecar.SchemaApply {
		s.vis.Staging = StagedTarget
	}
	for i := range p.Actions {
		s.obs = append(s.obs, k.done(&p.Actions[i]))
	}
	return s
}

func must(p *PublishPlan, err error) *PublishPlan {
	if err != nil {
		panic(err)
	}
	return p
}

// done is a table with the whole effect at its HEAD.
func (k effectCase) done(a *TableAction) Observation {
	o := Observation{Table: a.Table, Alias: a.Alias, Pin: a.Pin, Owner: a.Branch, Head: bound(a).Output.Version}
	for _, c := range a.Commits {
		o.Chain = append(o.Chain, Link{Version: c.ReadVersion + 1, Known: true, ReadVersion: c.ReadVersion, UUID: c.UUID, Kind: k.operation()})
	}
	if k.kind == sidecar.Optimize {
		o.Chain = []Link{{Version: a.Pin + 1, Known: true, ReadVersion: a.Pin, UUID: "opt-1", Kind: commit.Rewrite}}
	}
	if k.forked {
		o.Owner, o.ForkedAt, o.ForkID = "", pinAt, []Fork{{Version: pinAt, UUID: "fork"}}
	}
	if a.Pin == 0 {
		o.Alias = ""
	}
	return o
}

func (k effectCase) operation() commit.Kind {
	switch k.kind {
	case sidecar.EnsureIndices:
		return commit.CreateIndex
	case sidecar.SchemaApply:
		return commit.Overwrite
	}
	return commit.Update
}

// push puts a foreign version on a table.
func push(o *Observation, kind commit.Kind, restored uint64) {
	o.Head++
	o.Chain = append(o.Chain, Link{Version: o.Head, Known: true, ReadVersion: o.Head - 1, UUID: fmt.Sprintf("foreign-%d", o.Head), Kind: kind, RestoredTo: restored})
}

// states are what may have become of one table whose effect was done.
var tableStates = []struct {
	name string
	make func(a *TableAction, o *Observation)
}{
	{"own at head", func(*TableAction, *Observation) {}},
	{"nothing", func(a *TableAction, o *Observation) { o.Head, o.Chain = a.Pin, nil }},
	{"missing", func(_ *TableAction, o *Observation) { o.Missing, o.Head, o.Chain = true, 0, nil }},
	{"half of a chain", func(a *TableAction, o *Observation) {
		if len(a.Commits) > 1 {
			o.Head, o.Chain = a.Pin+1, o.Chain[:1]
		}
	}},
	{"buried", func(_ *TableAction, o *Observation) { push(o, commit.Append, 0) }},
	{"compensated", func(a *TableAction, o *Observation) { push(o, commit.Restore, a.Pin) }},
	{"index on top", func(_ *TableAction, o *Observation) { push(o, commit.CreateIndex, 0) }},
	{"foreign instead", func(a *TableAction, o *Observation) {
		o.Head, o.Chain = a.Pin, nil
		push(o, commit.Append, 0)
	}},
	{"untellable", func(a *TableAction, o *Observation) {
		o.Head = a.Pin + 1
		o.Chain = []Link{{Version: a.Pin + 1}}
	}},
	{"head behind", func(a *TableAction, o *Observation) { o.Pin, o.Head, o.Chain = a.Pin+1, a.Pin, nil }},
	{"published by another commit", func(a *TableAction, o *Observation) { o.Pin, o.Owner, o.Alias = o.Head, a.Branch, a.Alias }},
	{"lower winner", func(a *TableAction, o *Observation) { // somebody published pin + 1, ours was rebased above it
		o.Pin = a.Pin + 1
		o.Chain = append([]Link{{Version: a.Pin + 1, Known: true, UUID: "foreign", Kind: commit.Rewrite}}, o.Chain...)
		for i := 1; i < len(o.Chain); i++ {
			o.Chain[i].Version++
		}
		o.Head++
	}},
	{"claimed by another", func(_ *TableAction, o *Observation) { o.Claims = []string{"01OTHER"} }},
}
