package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// stuckLook is a plan made through a store that cannot be written to.
func stuckLook(t testing.TB, store blob.Store, o recovery.Options) *recovery.Plan {
	t.Helper()
	p, err := recovery.Look(context.Background(), blob.ReadOnly(store), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stuckRecover looks, executes and reports; every record must be settled.
func stuckRecover(t testing.TB, what string, store blob.Store, o recovery.Options) *recovery.Report {
	t.Helper()
	rep, err := recovery.Execute(context.Background(), store, stuckLook(t, store, o), o)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, s := range rep.Settled {
		if s.Err != nil {
			t.Errorf("%s: %s: %v", what, s.Item.Key, s.Err)
		}
	}
	if rep.Remaining == nil || len(rep.Remaining.Items) > 0 {
		t.Errorf("%s: remaining are %+v", what, rep.Remaining)
	}
	return rep
}

// stuckIdle checks that another recovery finds nothing and changes nothing.
func stuckIdle(t testing.TB, what string, store blob.Store, o recovery.Options) {
	t.Helper()
	before := stuck.Objects(t, store)
	rep, err := recovery.Execute(context.Background(), store, stuckLook(t, store, o), o)
	if err != nil || len(rep.Settled) > 0 {
		t.Errorf("%s: a second recovery settles %+v, %v", what, rep, err)
	}
	if d := stuck.Differ(before, stuck.Objects(t, store)); d != "" {
		t.Errorf("%s: a second recovery changes the graph: %s", what, d)
	}
}

// stuckShown checks what is shown of a state before anything is done.
func stuckShown(t *testing.T, s *stuck.State, p *recovery.Plan, place sidecar.Place) {
	t.Helper()
	var keys []string
	for _, i := range p.Items {
		keys = append(keys, i.Key)
		rec := s.Record(t)
		at, _ := rec.IDTime()
		if i.Operation != rec.OperationID || i.Stem != rec.OperationID || i.Kind != rec.Kind || i.Branch != rec.Branch || i.Phase != rec.Phase ||
			!i.Began.Equal(at) || i.Size != int64(len(s.Files[i.Key])) || i.Err != nil || i.Place != place || i.RecordedRoot != stuck.Root && len(rec.Pins) > 0 {
			t.Errorf("%s: shown is %+v", s, i)
		}
		if len(i.Tables) != len(rec.Pins) {
			t.Errorf("%s: %d tables of %d are shown", s, len(i.Tables), len(rec.Pins))
			continue
		}
		for n, table := range i.Tables {
			pin := rec.Pins[n]
			if table.Alias != pin.Alias || table.Branch != pin.Branch || table.Expected != pin.Expected || table.Planned != pin.Planned || table.Head < table.Published {
				t.Errorf("%s: shown of %s is %+v", s, pin.Alias, table)
			}
		}
		for _, k := range i.Removes {
			if _, ok := s.Files[k]; !ok || k == i.Key {
				t.Errorf("%s: %s would be removed, which is not there or not beside the record", s, k)
			}
		}
	}
	if !slices.Equal(keys, s.Pending) {
		t.Errorf("%s: records %v are shown, recorded are %v", s, keys, s.Pending)
	}
	if (p.Lock != nil) != s.Locked() {
		t.Errorf("%s: the lock of a schema apply is there: %v; shown is %+v", s, s.Locked(), p.Lock)
	}
	var files []string
	for _, k := range slices.Sorted(maps.Keys(s.Files)) {
		if strings.HasSuffix(k, ".staging") {
			files = append(files, k)
		}
	}
	if staged := slices.Sorted(slices.Values(p.Staged)); !slices.Equal(staged, files) {
		t.Errorf("%s: staged are %v, shown are %v", s, files, staged)
	}
}

// stuckRemoved checks that nothing is gone but the record and what was shown to
// go, and that nothing is changed but what is allowed to be.
func stuckRemoved(t *testing.T, s *stuck.State, p *recovery.Plan, rep *recovery.Report, store blob.Store) {
	t.Helper()
	after := stuck.Objects(t, store)
	var may, said []string
	for _, i := range p.Items {
		may = append(append(may, i.Key), i.Removes...)
	}
	for _, x := range rep.Settled {
		said = append(said, x.Removed...)
	}
	for k := range s.Files {
		promoted := strings.HasSuffix(k, ".staging") && s.Outcome == "as completed"
		if _, ok := after[k]; !ok && !slices.Contains(may, k) && !promoted {
			t.Errorf("%s: %s is gone, and was not shown to go", s, k)
		}
	}
	for _, k := range append(said, may...) {
		if _, ok := after[k]; ok {
			t.Errorf("%s: %s was to go, and is still there", s, k)
		}
	}
	for k, data := range after {
		old, was := s.Files[k]
		mutable := strings.HasSuffix(k, "latest_version_hint.json") || strings.HasPrefix(k, "_schema") || strings.HasPrefix(k, "__schema_state")
		if was && string(old) != string(data) && !mutable {
			t.Errorf("%s: %s was changed", s, k)
		}
	}
}

// Show 2 of the issue: every state that a killed client left is recovered to the
// rows, published versions and records that the reference's recovery led to.
func TestStuckStatesAreRecovered(t *testing.T) {
	for _, op := range stuck.Ops {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			did := map[string]int{}
			for _, s := range pace.Every(t, 3, stuck.States(t, op)) {
				store := s.Store(t, stuck.Root)
				p := stuckLook(t, store, recovery.Options{})
				stuckShown(t, s, p, sidecar.Here)
				if d := stuck.Differ(s.Files, stuck.Objects(t, store)); d != "" {
					t.Errorf("%s: looking changed %s", s, d)
				}
				rep := stuckRecover(t, s.String(), store, recovery.Options{})
				if len(rep.Settled) != len(s.Pending) {
					t.Errorf("%s: %d settled of %d", s, len(rep.Settled), len(s.Pending))
				}
				for _, x := range rep.Settled {
					did[x.Do.String()]++
				}
				stuckRemoved(t, s, p, rep, store)
				s.Recovered(t, store)
				stuckIdle(t, s.String(), store, recovery.Options{})
			}
			t.Logf("%v", did)
		})
	}
}

// What was recovered is written on: on main and on a branch, unless the lock of a
// schema apply is left, which recovery leaves (decisions 28).
func TestStuckStatesGoOn(t *testing.T) {
	for _, s := range stuck.Spread(t, 3, stuck.States(t)) {
		store := s.Store(t, stuck.Root)
		stuckRecover(t, s.String(), store, recovery.Options{})
		stuckGoOn(t, s.String(), store, s.Locked())
	}
}

// stuckGoOn writes one row on main and one on a branch that owns a table, and
// checks the whole graph.
func stuckGoOn(t testing.TB, what string, store blob.Store, locked bool) {
	t.Helper()
	g := stuck.Writable(t, store)
	for _, w := range []struct {
		branch, source string
		more           int // rows
	}{
		{"main", `query q() { update Vessel set { name: "Again Afloat" } where imo = 9000017 }`, 0},
		{"review", `query q() { insert CallsAt { from: "9000017", to: "NLRTM", arrived: datetime("2026-05-01T00:00:00Z"), cargo_t: 7 } }`, 1},
	} {
		before := stuck.RowsOf(t, g)
		if _, ok := before[w.branch]; !ok {
			continue // the graph of the schema applies has no branch
		}
		_, r, err := g.Mutate(context.Background(), engine.MutateOptions{Source: w.source, WriteOptions: engine.WriteOptions{Branch: w.branch}})
		if locked {
			if e := (*txn.LockedError)(nil); !errors.As(err, &e) {
				t.Errorf("%s: a write beside the lock ends with %v", what, err)
			}
			continue
		}
		if err != nil || r.Commit == nil {
			t.Errorf("%s: a write on %s ends with %v, %v", what, w.branch, r, err)
			continue
		}
		after := stuck.RowsOf(t, g)
		if after[w.branch] == before[w.branch] || after[w.branch].Rows != before[w.branch].Rows+w.more {
			t.Errorf("%s: one row of %s was written, and the rows are %v, were %v", what, w.branch, after[w.branch], before[w.branch])
		}
		delete(after, w.branch)
		delete(before, w.branch)
		if !maps.Equal(before, after) {
			t.Errorf("%s: a write on %s changed the rows of other branches", what, w.branch)
		}
		stuck.AtRest(t, store, w.branch)
	}
	stuck.Clean(t, what, g)
}

// A record that may still be that of a writer at work is left alone unless it is
// told otherwise (decisions 13).
func TestStuckStatesAreLeftWhileYoung(t *testing.T) {
	for _, s := range stuck.Spread(t, 2, stuck.States(t)) {
		if len(s.Pending) == 0 {
			continue
		}
		began, _ := s.Record(t).IDTime()
		o := recovery.Options{Clock: func() time.Time { return began.Add(3 * time.Second) }}
		store := s.Store(t, stuck.Root)
		p := stuckLook(t, store, o)
		if left := p.Items[0].Left; left <= 20*time.Second || left > 30*time.Second {
			t.Errorf("%s: %s are left of the grace", s, left)
		}
		rep, err := recovery.Execute(context.Background(), store, p, o)
		if err != nil || len(rep.Settled) != 1 {
			t.Fatalf("%s: %+v, %v", s, rep, err)
		}
		if e := (*recovery.YoungError)(nil); !errors.As(rep.Settled[0].Err, &e) || e.Left <= 0 {
			t.Errorf("%s: a young record is settled: %+v", s, rep.Settled[0])
		}
		if d := stuck.Differ(s.Files, stuck.Objects(t, store)); d != "" {
			t.Errorf("%s: a young record, and %s", s, d)
		}
		o.Now = true
		if rep, err = recovery.Execute(context.Background(), store, p, o); err != nil || rep.Settled[0].Err != nil {
			t.Errorf("%s: told to act now: %+v, %v", s, rep, err)
		}
		after := *s
		if v := p.Items[0].Verdict; v.Do == txn.Back && !v.Mint { // its writer, who may be at work, is kept from publishing first
			after.Snapshot.Version++
		}
		after.Recovered(t, store)
	}
}

// RollForwardOnly acts on what is to be published or is visible, and on nothing
// else.
func TestStuckStatesOnlyForward(t *testing.T) {
	seen := map[string]int{}
	for _, s := range stuck.Spread(t, 5, stuck.States(t)) {
		if len(s.Pending) == 0 {
			continue
		}
		store := s.Store(t, stuck.Root)
		o := recovery.Options{Mode: txn.RollForwardOnly}
		rep, err := recovery.Execute(context.Background(), store, stuckLook(t, store, o), o)
		if err != nil || len(rep.Settled) != 1 {
			t.Fatalf("%s: %+v, %v", s, rep, err)
		}
		want := s.Audit(t)
		forward := want != nil && want.Kind == "RolledForward"
		seen[fmt.Sprintf("forward %v", forward)]++
		switch x := rep.Settled[0]; {
		case forward && x.Err == nil:
			s.Recovered(t, store)
		case forward, x.Err == nil:
			t.Errorf("%s: settled as %s, %v", s, x.Do, x.Err)
		default:
			if d := stuck.Differ(s.Files, stuck.Objects(t, store)); d != "" {
				t.Errorf("%s: forward only, and %s", s, d)
			}
		}
	}
	if len(seen) != 2 {
		t.Errorf("%v", seen)
	}
}
