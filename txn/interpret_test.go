package txn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/golden"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// authorities are what may have become of the branch.
var authorities = []struct {
	name string
	make func(*scene)
}{
	{"same", func(*scene) {}},
	{"moved", func(s *scene) { s.vis.Base.Head = &otherID }},
	{"remade", func(s *scene) { s.vis.Base.BranchID = []Fork{{Version: 9, UUID: "cd"}}; s.vis.Base.Head = nil }},
	{"gone", func(s *scene) { s.vis.Gone = true }},
	{"published", func(s *scene) { s.vis.Original = landed(s.plan); s.vis.Staging = Promoted }},
	{"rolled back", func(s *scene) { s.vis.RollBack = true }},
	{"both", func(s *scene) { s.vis.Original = landed(s.plan); s.vis.RollBack = true }},
}

// landed is the plan's commit as it publishes it.
func landed(p *PublishPlan) *Landed {
	l := &Landed{Commit: manifest.Commit{ID: p.Lineage.CommitID, Branch: p.Base.Branch, ManifestVersion: 8, Parent: headID, MergedParent: text(p.Lineage.MergedParent), CreatedAt: p.Lineage.CreatedAt}}
	for _, s := range p.Delta.Updates {
		folder, _ := manifest.Location(s.Alias, manifest.Identity(s.Identity))
		e := manifest.Entry{Identity: manifest.Identity(s.Identity), Alias: s.Alias, Location: folder, Owner: s.Branch, Version: s.Expected}
		if c := s.Confirmed; c != nil {
			e.Version, e.Rows, e.Meta = c.Version, c.Rows, manifest.TableMeta{ManifestPath: c.ManifestPath}
		}
		l.Tables = append(l.Tables, e)
	}
	return l
}

// show is a verdict in one line.
func show(v Verdict) string {
	s := v.Do.String()
	if v.Reason != "" {
		s += " (" + string(v.Reason) + ")"
	}
	for _, t := range v.Tables {
		s += "; " + t.Do.String()
		if t.Do == Restore || t.Do == Restored || t.Do == PublishHead {
			s += fmt.Sprintf(" %d", t.To)
		}
	}
	for _, f := range []struct {
		name string
		yes  bool
	}{{"mint", v.Mint}, {"promote", v.Promote}, {"unstage", v.Unstage}} {
		if f.yes {
			s += " +" + f.name
		}
	}
	return s
}

// steps are how far an operation came.
var steps = []struct {
	name  string
	phase Phase
	make  func(*scene)
}{
	{"prepared", Prepared, func(s *scene) { s.vis.Staging = NotStaged }},
	{"armed", Armed, func(*scene) {}},
	{"confirmed", Confirmed, func(*scene) {}},
	{"confirmed, roll-back decided", Confirmed, func(s *scene) { s.plan, s.live = must(s.plan.RollBack(nil)), must(s.live.RollBack(nil)) }},
}

// Every combination of effect, phase, authority and state of a table, alone and
// beside a table whose effect is done, in both modes.
func TestVerdicts(t *testing.T) {
	var out strings.Builder
	for _, k := range effectCases {
		for _, step := range steps {
			if k.kind == sidecar.Optimize && step.phase == Confirmed {
				continue // its record has no such phase
			}
			var blocks []string
			by := map[string][]string{}
			for _, auth := range authorities {
				main := auth.name == "gone" || auth.name == "remade" // which main cannot be
				if main && !k.forked || k.kind == sidecar.Optimize && auth.name != "same" || step.phase == Prepared && strings.Contains("published, rolled back, both", auth.name) {
					continue
				}
				block := verdictsOf(t, k, step.phase, func(s *scene) { step.make(s); auth.make(s) })
				if by[block] == nil {
					blocks = append(blocks, block)
				}
				by[block] = append(by[block], auth.name)
			}
			for _, block := range blocks {
				fmt.Fprintf(&out, "\n# %s, %s; authority %s\n%s", k.name, step.name, strings.Join(by[block], ", "), block)
			}
		}
	}
	golden.Equal(t, "txn/verdicts.txt", []byte(out.String()))
}

// verdictsOf are the verdicts on all states of a table.
func verdictsOf(t *testing.T, k effectCase, phase Phase, change func(*scene)) string {
	t.Helper()
	var out strings.Builder
	var order []string
	same := map[string][]string{}
	for _, state := range tableStates {
		var words [2]string
		for n := range words {
			s := k.scene(n+1, phase)
			if phase == Prepared && n == 1 {
				tableStates[1].make(&s.plan.Actions[1], &s.obs[1])
			}
			change(&s)
			state.make(&s.plan.Actions[0], &s.obs[0])
			v := Interpret(s.plan, s.obs, s.vis)
			words[n] = show(v)
			if later := v.Under(RollForwardOnly); later.Do != v.Do {
				words[n] += " | " + later.Do.String()
			} else if show(later) != show(v) {
				t.Errorf("%s, %s, %s: the modes differ in %s and %s", k.name, phase, state.name, show(v), show(later))
			}
			check(t, s.plan, s.obs, s.vis, v)
			if live := show(Interpret(s.live, s.obs, s.vis)); live != show(v) {
				t.Errorf("%s, %s, %s: the writer's own plan leads to %s, its record to %s", k.name, phase, state.name, live, show(v))
			}
		}
		line := words[0] + " // " + words[1]
		if same[line] == nil {
			order = append(order, line)
		}
		same[line] = append(same[line], state.name)
	}
	for _, line := range order {
		out.WriteString("  " + line + " <- " + strings.Join(same[line], ", ") + "\n")
	}
	return out.String()
}

// check is what holds for every verdict, whatever it is about.
func check(t *testing.T, p *PublishPlan, obs []Observation, vis Visible, v Verdict) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s\nplan %+v\nobserved %+v\nvisible %+v\nverdict %+v", fmt.Sprintf(format, args...), p, obs, vis, v)
	}
	if stops := v.Do == Refuse || v.Do == Defer || v.Do == Replan; (v.Err() != nil) != stops || v.Text == "" {
		fail("error %v, text %q", v.Err(), v.Text)
	}
	for i, tv := range v.Tables {
		a, o := &p.Actions[i], &obs[i]
		ours := 0
		for _, l := range o.Chain {
			for _, c := range a.Commits {
				if l.Known && l.UUID == c.UUID {
					ours++
				}
			}
		}
		acts := v.Do == Forward || v.Do == Back || v.Do == Discard
		switch {
		case acts && !o.Missing && o.Head < o.Pin && a.Effect != sidecar.RefOnlyFork:
			fail("it acts although the HEAD of %s lies below its pin", a.Alias)
		case v.Do == Forward && (ours != len(a.Commits) || o.Head != tv.To || tv.Do != PublishHead):
			fail("it publishes %s, where %d of %d transactions are ours", a.Alias, ours, len(a.Commits))
		case v.Do == Back && (tv.Do == Restore || tv.Do == DropDataset && !o.Missing) && ours == 0 && p.Kind != sidecar.Optimize:
			fail("it takes back %s, where nothing is ours", a.Alias)
		case tv.Do == DropFork && (len(o.Claims) > 0 || !o.Missing && int(o.Head-o.ForkedAt) > ours):
			fail("it removes the branch of %s, on which somebody else is", a.Alias)
		case v.Do == Discard && ours > 0 && p.Kind != sidecar.Optimize:
			fail("it forgets a transaction on %s", a.Alias)
		}
	}
	if v.Do == Forward && p.Kind != sidecar.Optimize && (p.phase != Confirmed || p.back || p.Base.Changed(vis.Base) != nil) {
		fail("it publishes what is not confirmed, or on another base")
	}
	for _, tv := range v.Under(RollForwardOnly).Tables {
		if do := v.Under(RollForwardOnly).Do; do != Defer && p.phase != Prepared && (tv.Do == Restore || tv.Do == DropFork || tv.Do == DropDataset) {
			fail("a mode that may not %s is told to", tv.Do)
		}
	}
}
