package txn

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// dice turns fuzzed bytes into choices.
type dice []byte

func (d *dice) roll(n int) int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b) % n
}

// chain is anything that a store may tell of versions: own ids, restores of
// recovery, foreign ones, unknown ones, gaps, wrong orders, odd numbers.
func (d *dice) chain(p *PublishPlan, a *TableAction) (links []Link) {
	version := a.Pin
	for range d.roll(6) {
		version++
		l := Link{Version: version, Known: d.roll(8) > 0, ReadVersion: version - 1, Kind: commit.Kind(d.roll(16)), UUID: fmt.Sprintf("x-%d", version)}
		switch d.roll(6) {
		case 0, 1:
			if n := len(a.Commits); n > 0 {
				c := a.Commits[d.roll(n)]
				l.UUID, l.ReadVersion = c.UUID, c.ReadVersion
			} else {
				l.UUID = "opt-" + l.UUID
			}
		case 2:
			l.Kind, l.RestoredTo = commit.Restore, uint64(d.roll(8))
			l.UUID = RestoreID(p.ID, a.Table, version-1)
		case 3:
			l.Version = []uint64{0, version + 1, 1 << 63, ^uint64(0)}[d.roll(4)]
		}
		links = append(links, l)
	}
	return links
}

func (d *dice) observation(p *PublishPlan, a *TableAction) Observation {
	o := Observation{Table: a.Table, Alias: a.Alias, Chain: d.chain(p, a), Missing: d.roll(8) == 1, Pin: a.Pin, Owner: a.Branch, ForkedAt: a.Pin, ForkID: []Fork{{Version: pinAt, UUID: "fork"}}}
	o.Head = a.Pin + uint64(len(o.Chain))
	switch d.roll(8) {
	case 1:
		o.Head += uint64(d.roll(3))
	case 2:
		o.Head = []uint64{0, a.Pin, 1 << 63, ^uint64(0), a.Pin + MaxChain, a.Pin + MaxChain + 1}[d.roll(6)]
	case 3:
		o.Pin = []uint64{0, o.Head, ^uint64(0), a.Pin + 1, a.Pin + 2}[d.roll(5)]
	}
	if o.Missing && d.roll(9) > 0 {
		o.Head, o.Chain = 0, nil
	}
	if d.roll(3) == 1 {
		o.Owner = ""
	}
	if d.roll(6) == 1 {
		o.Claims = []string{"01OTHER"}
	}
	if d.roll(6) == 1 {
		o.ForkedAt, o.ForkID = uint64(d.roll(9)), nil
	}
	if d.roll(9) == 1 {
		o.PathChild = "b/c"
	}
	return o
}

// Whatever tables and branch look like, the verdict keeps its promises (check)
// and a second look says the same.
func FuzzInterpret(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 2, 1, 0, 2, 1, 1, 0, 0, 0})
	f.Add([]byte{2, 1, 1, 0, 3, 1, 2, 2, 1, 0, 1, 5, 4, 3, 2, 1})
	f.Add([]byte{9, 1, 2, 0, 3, 1, 5, 2, 1, 0, 2, 4, 4, 3, 2, 1, 0, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		d := dice(data)
		k := effectCases[d.roll(len(effectCases))]
		step := steps[d.roll(len(steps))]
		if k.commits == 0 && k.effect == "" && step.phase == Confirmed {
			step = steps[1]
		}
		s := k.scene(1+d.roll(3), step.phase)
		step.make(&s)
		authorities[d.roll(len(authorities))].make(&s)
		s.vis.Staging = Staging(d.roll(4))
		s.obs = nil
		for i := range s.plan.Actions {
			s.obs = append(s.obs, d.observation(s.plan, &s.plan.Actions[i]))
		}
		v := Interpret(s.plan, s.obs, s.vis)
		if s.plan.phase != Prepared || v.Do != Proceed {
			check(t, s.plan, s.obs, s.vis, v)
		}
		if again := Interpret(s.plan, s.obs, s.vis); show(again) != show(v) {
			t.Fatalf("%s, then %s", show(v), show(again))
		}
		if s.plan.phase == Prepared && v.Do != Proceed && v.Do != Replan && v.Do != Refuse {
			t.Fatalf("a plan that is not armed: %s", show(v))
		}
		if len(s.obs) > 1 {
			if v := Interpret(s.plan, s.obs[1:], s.vis); v.Do != Refuse || v.Reason != NotObserved {
				t.Fatalf("a table was not looked at: %s", show(v))
			}
		}
	})
}

// Any record that is sound is a plan, which is written as the same record and
// judged, whatever its tables look like.
func FuzzRecord(f *testing.F) {
	names, err := filepath.Glob("sidecar/testdata/*.json")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for i, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, []byte{byte(i), 1, 0, 2, 1, 0, 3})
	}
	f.Fuzz(func(t *testing.T, data, luck []byte) {
		rec, _, err := sidecar.Parse("x.json", data)
		if err != nil {
			return
		}
		p, err := FromRecord(rec)
		if err != nil {
			return
		}
		again, err := p.Record()
		if err != nil {
			t.Fatal(err)
		}
		a, errA := rec.Encode()
		b, errB := again.Encode()
		if errA != nil || errB != nil || len(a) != len(b) {
			t.Fatalf("%v, %v:\n%s\nbecame\n%s", errA, errB, a, b)
		}
		d := dice(luck)
		var obs []Observation
		for i := range p.Actions {
			obs = append(obs, d.observation(p, &p.Actions[i]))
		}
		vis := Visible{Base: p.Base, Gone: d.roll(9) == 1, RollBack: d.roll(9) == 1, Staging: Staging(d.roll(4))}
		v := Interpret(p, obs, vis)
		check(t, p, obs, vis, v)
		v.Under(RollForwardOnly)
	})
}
