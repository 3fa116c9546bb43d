package txn

import (
	"fmt"
	"slices"
	"testing"

	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// restore is what recovery commits for a Restore.
func restore(s *scene, n int, to uint64) {
	o := &s.obs[n]
	id := RestoreID(s.plan.ID, o.Table, o.Head)
	push(o, commit.Restore, to)
	o.Chain[len(o.Chain)-1].UUID = id
}

// table does to a table what a verdict says; what it left alone is no step.
func (s *scene) table(n int, v TableVerdict) (step bool) {
	switch v.Do {
	case Restore:
		restore(s, n, v.To)
	case DropFork, DropDataset:
		step = !s.obs[n].Missing
		s.obs[n].Missing, s.obs[n].Head, s.obs[n].Chain, s.obs[n].ForkID, s.obs[n].ForkedAt = true, 0, nil, nil, 0
		return step
	default:
		return false
	}
	return true
}

// publish moves the pins to where a verdict wants them.
func (s *scene) publish(v Verdict) {
	for n, t := range v.Tables {
		if t.Do == Restore || t.Do == Restored || t.Do == PublishHead {
			o := &s.obs[n]
			o.Pin, o.Owner, o.Alias = o.Head, t.Branch, t.Alias
		}
	}
	switch {
	case s.plan.Kind == sidecar.Optimize:
	case v.Do == Back:
		s.vis.RollBack = true
	case v.Do == Forward:
		s.vis.Original = landed(s.plan)
	}
	if v.Do == Forward || v.Do == Back {
		s.vis.Base.Head = &otherID
	}
}

// clone keeps what happens to one scene from the other.
func (s scene) clone() scene {
	s.obs = slices.Clone(s.obs)
	for i := range s.obs {
		s.obs[i].Chain = slices.Clone(s.obs[i].Chain)
	}
	return s
}

// recover carries a verdict out and dies before step die, counted from 0; done
// says that it came to its end.
func (s *scene) recover(die int) (done bool) {
	v := Interpret(s.plan, s.obs, s.vis)
	if v.Do == Back && s.plan.Kind != sidecar.Optimize {
		if _, decided := s.plan.RollingBack(); !decided {
			if die--; die < 0 {
				return false
			}
			s.plan = must(s.plan.RollBack(v.Outcomes))
		}
	}
	for n, t := range v.Tables {
		if t.Do == Leave || t.Do == PublishHead || t.Do == Restored {
			continue
		}
		if die--; die < 0 {
			return false
		}
		s.table(n, t)
	}
	if v.Do == Forward || v.Do == Back || v.Do == Finalize {
		if die--; die < 0 {
			return false
		}
		s.publish(v)
		if v.Promote {
			s.vis.Staging = Promoted
		}
		if v.Unstage {
			s.vis.Staging = NotStaged
		}
	}
	return true
}

// heads are the versions of the tables.
func (s scene) heads() (out []uint64) {
	for _, o := range s.obs {
		out = append(out, o.Head)
	}
	return out
}

// Recovery that dies anywhere, and again, comes to the end that it would have
// come to at once: the same versions, no restore more; and a pass after it finds
// the outcome.
func TestRecoveryConverges(t *testing.T) {
	cases, died := 0, 0
	for _, k := range effectCases {
		for _, step := range steps[1:] {
			if k.kind == sidecar.Optimize && step.phase == Confirmed {
				continue
			}
			for _, auth := range authorities[:2] {
				for _, state := range tableStates {
					begin := k.scene(2, step.phase)
					step.make(&begin)
					auth.make(&begin)
					state.make(&begin.plan.Actions[0], &begin.obs[0])
					what := fmt.Sprintf("%s, %s, %s, %s", k.name, step.name, auth.name, state.name)
					first := Interpret(begin.plan, begin.obs, begin.vis)
					if first.Do != Forward && first.Do != Back && first.Do != Discard {
						continue
					}
					cases++
					atOnce := begin.clone()
					atOnce.recover(99)
					again := Interpret(atOnce.plan, atOnce.obs, atOnce.vis)
					if ends := again.Do == Finalize || again.Do == Discard; !ends {
						t.Errorf("%s: %s leads to %s", what, show(first), show(again))
					}
					for die := range 6 {
						s := begin.clone()
						if s.recover(die) {
							break
						}
						died++
						s.recover(die) // and once more
						if v := Interpret(s.plan, s.obs, s.vis); v.Do == Refuse || v.Do == Defer {
							t.Errorf("%s: %s, killed before step %d, leads to %s", what, show(first), die, show(v))
							continue
						}
						s.recover(99)
						if !slices.Equal(s.heads(), atOnce.heads()) || s.vis.RollBack != atOnce.vis.RollBack || (s.vis.Original == nil) != (atOnce.vis.Original == nil) {
							t.Errorf("%s: killed before step %d, tables end at %v, expected %v", what, die, s.heads(), atOnce.heads())
						}
					}
				}
			}
		}
	}
	if cases < 100 || died < 200 {
		t.Errorf("%d cases, %d deaths: the walk is broken", cases, died)
	}
}

// A recoverer restored a table while its writer, still alive, published
// (decisions 26): the restore is taken back forward.
func TestRestoreBesideALiveWriter(t *testing.T) {
	for _, k := range effectCases[:3] {
		s := k.scene(2, Confirmed)
		s.vis.Original = landed(s.plan)
		for i := range s.obs {
			s.obs[i].Pin, s.obs[i].Owner = s.obs[i].Head, s.plan.Actions[i].Branch
		}
		published := s.obs[0].Pin
		restore(&s, 0, pinAt)
		v := Interpret(s.plan, s.obs, s.vis)
		if v.Do != Finalize || !v.Mint || v.Tables[0].Do != Restore || v.Tables[0].To != published || v.Tables[1].Do != Leave || v.Under(RollForwardOnly).Do != Defer {
			t.Errorf("%s: %s", k.name, show(v))
		}
		if s.recover(99); s.obs[0].Head != s.obs[0].Pin {
			t.Errorf("%s: after it the newest is %d, published is %d", k.name, s.obs[0].Head, s.obs[0].Pin)
		}
		if v := Interpret(s.plan, s.obs, s.vis); v.Do != Finalize || v.Mint || v.Tables[0].Do != Leave {
			t.Errorf("%s: once it is forward: %s", k.name, show(v))
		}
	}
}
