package txn

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/txn/sidecar"
)

// The plan that a real record tells is written down as the same bytes.
func TestRecordsOfTheRustEngine(t *testing.T) {
	names, err := filepath.Glob("sidecar/testdata/*.json")
	if err != nil || len(names) != 9 {
		t.Fatalf("%d records, %v", len(names), err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(data), `"operation_id": "`)
		rec, problems, err := sidecar.Parse(rest[:26]+sidecar.Suffix, data)
		if err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		p, err := FromRecord(rec)
		if err != nil {
			t.Fatal(err)
		}
		if confirmed := strings.Contains(name, "confirmed"); (p.Phase() == Confirmed) != confirmed || (p.Pre == Monotonic) != (p.Kind == sidecar.Optimize) {
			t.Errorf("%s: phase %s, precondition %s", name, p.Phase(), p.Pre)
		}
		again, err := p.Record()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := again.Encode(); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %v, written as\n%s", name, err, got)
		}
	}
}

// A plan of every kind through all phases; its record tells the same plan.
func TestPhases(t *testing.T) {
	for _, k := range effectCases[:10] {
		draft := k.draft(2)
		slices.Reverse(draft.Actions)
		p, err := New(draft)
		if err != nil {
			t.Errorf("%s: %v", k.name, err)
			continue
		}
		if p.Actions[0].Alias != "node:T0" || len(p.Delta.Updates) != 2 || p.Phase() != Prepared || len(draft.Delta.Updates) != 0 {
			t.Errorf("%s: %+v", k.name, p)
		}
		if _, err := p.Record(); err == nil {
			t.Errorf("%s: a plan that is not armed has a record", k.name)
		}
		if _, err := p.Confirm(nil); err == nil {
			t.Errorf("%s: confirmed before it was armed", k.name)
		}
		if _, err := p.Publish(); err == nil {
			t.Errorf("%s: published before it was confirmed", k.name)
		}
		armed := must(p.Arm())
		if _, err := armed.Arm(); err == nil || p.Phase() != Prepared {
			t.Errorf("%s: armed twice, or the plan was changed", k.name)
		}
		var all []Bound
		for i := range p.Actions {
			all = append(all, bound(&p.Actions[i]))
		}
		confirmed, err := armed.Confirm(all)
		if err != nil {
			t.Errorf("%s: %v", k.name, err)
			continue
		}
		if armed.Delta.Updates[0].Confirmed != nil || confirmed.Delta.Updates[0].Confirmed == nil {
			t.Errorf("%s: the wrong plan was bound", k.name)
		}
		for _, q := range []*PublishPlan{armed, confirmed} {
			rec, err := q.Record()
			if err != nil {
				t.Fatalf("%s: %v", k.name, err)
			}
			back := must(FromRecord(rec))
			again, err := back.Record()
			if err != nil {
				t.Fatal(err)
			}
			a, errA := rec.Encode()
			b, errB := again.Encode()
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("%s, %s: the record became another: %v %v", k.name, q.Phase(), errA, errB)
			}
		}
		if done := must(confirmed.Publish()); done.Phase() != Published {
			t.Errorf("%s: %s", k.name, done.Phase())
		}
	}
}

// What does not fit the plan is not confirmed.
func TestConfirmRefuses(t *testing.T) {
	for what, edit := range map[string]func([]Bound) []Bound{
		"one missing":         func(b []Bound) []Bound { return b[:1] },
		"one twice":           func(b []Bound) []Bound { return []Bound{b[0], b[0]} },
		"another table":       func(b []Bound) []Bound { b[0].Table.Table = 99; return b },
		"another transaction": func(b []Bound) []Bound { b[0].Last.UUID = "x"; return b },
		"rebased":             func(b []Bound) []Bound { b[0].Last.ReadVersion++; return b },
		"a version later":     func(b []Bound) []Bound { b[0].Output.Version++; return b },
		"another branch":      func(b []Bound) []Bound { b[0].Output.Branch = "b"; return b },
	} {
		p := must(must(New(effectCases[0].draft(2))).Arm())
		all := edit([]Bound{bound(&p.Actions[0]), bound(&p.Actions[1])})
		var wrong *PlanError
		if _, err := p.Confirm(all); !errors.As(err, &wrong) || !errors.Is(err, ErrCaller) {
			t.Errorf("%s: %v", what, err)
		}
	}
	p := must(must(New(effectCases[9].draft(2))).Arm())
	b := bound(&p.Actions[0])
	if q, err := p.Confirm([]Bound{b}); err != nil || len(q.Delta.Updates) != 1 {
		t.Errorf("an optimize that left a table alone: %v", err)
	}
	if b.Last.UUID = "x"; true {
		if _, err := p.Confirm([]Bound{b}); err == nil {
			t.Error("an optimize confirms a transaction without its prefix")
		}
	}
}

func TestNewRefuses(t *testing.T) {
	text := "x"
	for what, c := range map[string]struct {
		of   int // effectCases
		edit func(*PublishPlan)
	}{
		"no id":                     {0, func(p *PublishPlan) { p.ID = "" }},
		"a path as id":              {0, func(p *PublishPlan) { p.ID = "../x" }},
		"no commit":                 {0, func(p *PublishPlan) { p.Lineage.CommitID = "" }},
		"no time":                   {0, func(p *PublishPlan) { p.Lineage.CreatedAt = 0 }},
		"no kind":                   {0, func(p *PublishPlan) { p.Kind = "" }},
		"no class":                  {0, func(p *PublishPlan) { p.Class = 0 }},
		"maintenance that mutates":  {0, func(p *PublishPlan) { p.Class = Maintenance }},
		"monotonic mutation":        {0, func(p *PublishPlan) { p.Pre = Monotonic }},
		"additive merge":            {2, func(p *PublishPlan) { p.Class = Additive }},
		"merge without source":      {2, func(p *PublishPlan) { p.Lineage.MergedParent = nil }},
		"optimize on an exact head": {9, func(p *PublishPlan) { p.Pre = ExactHead }},
		"optimize without prefix":   {9, func(p *PublishPlan) { p.UUIDPrefix = "" }},
		"no transaction":            {0, func(p *PublishPlan) { p.Actions[0].Commits = nil }},
		"one table twice":           {0, func(p *PublishPlan) { p.Actions = append(p.Actions, p.Actions[0]) }},
		"reads another version":     {0, func(p *PublishPlan) { p.Actions[0].Commits[0].ReadVersion = 9 }},
		"fork done":                 {3, func(p *PublishPlan) { p.Actions[0].Forked = true }},
		"update bound":              {2, func(p *PublishPlan) { p.Delta.Updates = []Slot{{Identity: identity(5), Confirmed: &Output{}}} }},
		"update without an effect":  {0, func(p *PublishPlan) { p.Delta.Updates = []Slot{{Identity: identity(5), Alias: "node:X"}} }},
		"tombstone":                 {0, func(p *PublishPlan) { p.Delta.Tombstones = []Tombstone{{Identity: identity(5)}} }},
		"no schema":                 {0, func(p *PublishPlan) { p.Base.IRHash = "" }},
		"one commit for both ways":  {0, func(p *PublishPlan) { p.Rollback = p.Lineage.CommitID }},
		"target of a mutation":      {0, func(p *PublishPlan) { p.TargetIRHash = text }},
	} {
		draft := effectCases[c.of].draft(1)
		c.edit(&draft)
		var wrong *PlanError
		if _, err := New(draft); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A write without effects is published without a record; a merge may switch
// pointers beside its effects.
func TestPlansWithoutEffects(t *testing.T) {
	empty := effectCases[0].draft(0)
	p := must(New(empty))
	if _, err := p.Arm(); err == nil {
		t.Error("a plan without effects is armed")
	}
	if must(p.Publish()).Phase() != Published {
		t.Error("a plan without effects is not published")
	}
	if v := Interpret(p, nil, Visible{Base: p.Base}); v.Do != Proceed {
		t.Errorf("a plan without effects: %s", show(v))
	}
	merge := effectCases[2].draft(1)
	merge.Delta.Updates = []Slot{{Identity: identity(5), Alias: "node:X", Expected: 2}}
	m := must(must(New(merge)).Arm())
	b := Bound{Table: identity(5), Output: Output{Version: 9, ManifestPath: "m"}}
	if c, err := m.Confirm([]Bound{b, bound(&m.Actions[0])}); err != nil || c.Delta.Updates[1].Confirmed.Version != 9 {
		t.Errorf("a switched pointer: %v", err)
	}
	schema := effectCases[7].draft(0)
	if s := must(must(New(schema)).Arm()); s.Phase() != Armed {
		t.Error("a schema apply without tables is not armed")
	}
}

func TestRollBackAndCompensate(t *testing.T) {
	p := must(must(New(effectCases[0].draft(1))).Arm())
	if _, err := p.Compensate(nil); err == nil {
		t.Error("compensated before it was decided")
	}
	if _, err := p.RollBack([]TableOutcome{{Alias: "node:Other"}}); err == nil {
		t.Error("an outcome of a table that is not part of it")
	}
	back := must(p.RollBack([]TableOutcome{{Alias: "node:T0", From: 4, To: 3}}))
	if got, decided := back.RollingBack(); !decided || len(got) != 1 {
		t.Errorf("outcomes %v", got)
	}
	for what, step := range map[string]func() (*PublishPlan, error){
		"confirm":   func() (*PublishPlan, error) { return back.Confirm([]Bound{bound(&back.Actions[0])}) },
		"roll back": func() (*PublishPlan, error) { return back.RollBack(nil) },
	} {
		if _, err := step(); err == nil {
			t.Errorf("%s after a roll-back was decided", what)
		}
	}
	slot := Slot{Identity: identity(0), Alias: "node:T0", Expected: 3, Confirmed: &Output{Version: 5}}
	c := must(back.Compensate([]Slot{slot}))
	if c.Class != Compensation || c.Pre != AnyHead || c.Lineage.CommitID != p.Rollback || *c.Actor != Recoverer || c.Lineage.CreatedAt != p.Started.UnixMicro() {
		t.Errorf("%+v", c)
	}
	if slot.Confirmed.Version = 2; true {
		if _, err := back.Compensate([]Slot{slot}); err == nil {
			t.Error("a roll-back publishes less than there was")
		}
	}
	o := must(must(New(effectCases[9].draft(1))).Arm())
	rec, err := o.Record()
	if err != nil {
		t.Fatal(err)
	}
	o = must(FromRecord(rec))
	if _, err := o.Compensate(nil); err == nil {
		t.Error("an optimize has no roll-back of its own, and is compensated")
	}
	if _, err := o.own("", Lineage{}, nil); err == nil {
		t.Error("recovery makes a commit without an id")
	}
	if c := must(o.own("", Lineage{CommitID: "01NEW", CreatedAt: 7}, nil)); c.Lineage.CommitID != "01NEW" || c.Pre != AnyHead || *c.Actor != Recoverer {
		t.Errorf("%+v", c)
	}
	o = must(o.Minted(Lineage{CommitID: "01NEW", CreatedAt: 7}))
	if _, err := o.Minted(Lineage{CommitID: "01NEWER"}); err == nil {
		t.Error("minted twice")
	}
	if f := must(o.Confirm([]Bound{bound(&o.Actions[0])})); f.Delta.Updates[0].Confirmed == nil || f.Lineage.CommitID != "01NEW" {
		t.Errorf("%+v", f)
	}
}
