package recovery_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// scene is what a writer left, to be recovered with things going wrong.
type scene struct {
	store blob.Store
	clock *tick
	rec   *sidecar.Record
	do    txn.Do
	want  map[string]stuck.Rows // at last
}

// scenes are the four ends of the write: nothing of it happened; both tables
// moved, not confirmed; confirmed; published.
func scenes(t testing.TB) map[string]func() scene {
	start, old, whole := tablesStart(t)
	of := func(at spot, mode string, do txn.Do, want map[string]stuck.Rows) func() scene {
		store := stuck.Clone(start)
		w := newWriter(t, fault.New(store, at.rule(action(mode))))
		_, _ = w.load(tablesLoad) // it dies
		keys := stuck.Keys(t, store, sidecar.Folder)
		if len(keys) != 1 {
			t.Fatalf("records %v", keys)
		}
		rec, problems, err := sidecar.Parse(keys[0], object(t, store, keys[0]))
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		return func() scene {
			c := newTick()
			c.pass(w.clock.now().Sub(c.now()))
			return scene{stuck.Clone(store), c, rec, do, want}
		}
	}
	return map[string]func() scene{
		"discard":  of(spot{"commit table", 0}, kills, txn.Discard, old),
		"back":     of(spot{"put record", 1}, kills, txn.Back, old),
		"forward":  of(spot{"publish", 0}, kills, txn.Forward, whole),
		"finalize": of(spot{"publish", 0}, killed, txn.Finalize, whole),
	}
}

// pass is one run of a recovery over a store, which may be faulty: nil when all
// of it went well.
func (c scene) pass(store blob.Store) error {
	o := later(c.clock)
	p, err := recovery.Look(context.Background(), store, o)
	if err != nil {
		return err
	}
	rep, err := recovery.Execute(context.Background(), store, p, o)
	if err != nil {
		return err
	}
	for _, x := range rep.Settled {
		if x.Err != nil {
			return x.Err
		}
	}
	return nil
}

// broken runs a recovery in which a call goes wrong, and reports whether the call
// was met.
func (c scene) broken(t testing.TB, rule fault.Rule) (met bool, err error) {
	t.Helper()
	s := fault.New(c.store, rule)
	err = c.pass(s)
	return s.Fired() > 0, err
}

// settled runs the next pass undisturbed and checks what all of them came to: one
// outcome, one commit, one audit row, tables at rest, and nothing left to do.
func (c scene) settled(t testing.TB, what string) {
	t.Helper()
	if err := c.pass(c.store); err != nil {
		t.Errorf("%s: the next pass ends with %v", what, err)
		return
	}
	reads(t, what, c.store, c.want)
	stuck.AtRest(t, c.store, "main")
	if left := stuck.Keys(t, c.store, sidecar.Folder); len(left) > 0 {
		t.Errorf("%s: records %v are left", what, left)
	}
	ids := commitsOf(t, c.store)
	if twice(ids) {
		t.Errorf("%s: a commit stands twice: %v", what, ids)
	}
	commit, kind := c.rec.CommitID, "RolledForward"
	if c.do == txn.Back {
		commit, kind = c.rec.Plan.Rollback, "RolledBack"
	}
	rows := stuck.Audits(t, c.store)
	if c.do == txn.Discard {
		if len(rows) > 0 || slices.Contains(ids, c.rec.CommitID) || slices.Contains(ids, c.rec.Plan.Rollback) {
			t.Errorf("%s: nothing had happened, and audit rows are %v, commits %v", what, rows, ids)
		}
	} else if len(rows) != 1 || rows[0].Kind != kind || rows[0].Commit != commit || rows[0].Operation != c.rec.OperationID || ids[0] != commit {
		t.Errorf("%s: audit rows %v, main at %s; expected is one %s in %s", what, rows, ids[0], kind, commit)
	}
	c.versions(t, what)
	stuckIdle(t, what, c.store, later(c.clock))
}

// versions: every table has exactly the versions that one effect and at most one
// restore make.
func (c scene) versions(t testing.TB, what string) {
	t.Helper()
	more := map[txn.Do]uint64{txn.Discard: 0, txn.Back: 2, txn.Forward: 1, txn.Finalize: 1}[c.do]
	for _, p := range c.rec.Pins {
		folder := strings.TrimPrefix(p.Path, stuck.Root+"/")
		if head := stuck.Newest(t, c.store, folder, ""); head != p.Expected+more {
			t.Errorf("%s: %s is at version %d, expected is %d and %d more", what, p.Alias, head, p.Expected, more)
		}
		if c.do != txn.Back {
			continue
		}
		snap, err := lance.Open(context.Background(), c.store, folder, lance.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		tx, err := snap.Transaction(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if l := txn.LinkOf(snap.Version(), tx); l.RestoredTo != p.Expected || l.UUID != txn.RestoreID(c.rec.OperationID, txn.Identity(p.Identity), p.Expected+1) {
			t.Errorf("%s: %s was made by %+v", what, p.Alias, l)
		}
	}
}

// Table R: recovery itself is stopped, at the places that the table names.
func TestTableR(t *testing.T) {
	all := scenes(t)
	for _, row := range []struct {
		row, scene string
		at         spot
		modes      []string
	}{
		{"R1", "back", spot{"read record", 0}, []string{kills, fails}},
		{"R1", "back", spot{"read record", 1}, []string{kills, fails}},
		{"R2", "back", spot{"put record", 0}, []string{kills, fails, loses, killed}},
		{"R2", "back", spot{"commit table", 0}, []string{kills, fails, down, loses, killed}},
		{"R3", "back", spot{"commit table", 1}, []string{kills, fails, down, loses, killed}},
		{"R4", "back", spot{"publish", 0}, []string{kills, fails, down, loses, killed}},
		{"R4", "back", spot{"audit", 0}, []string{kills, fails}},
		{"R5", "forward", spot{"publish", 0}, []string{kills, fails, down, loses, killed}},
		{"R6", "back", spot{"audit", 1}, []string{kills, fails, down, loses, killed}},
		{"R6", "forward", spot{"audit", 0}, []string{kills, fails, down, loses, killed}},
		{"R6", "forward", spot{"audit", 1}, []string{kills, fails, down, loses, killed}},
		{"R6", "finalize", spot{"audit", 1}, []string{kills, fails, down, loses, killed}},
		{"R7", "back", spot{"delete record", 0}, []string{kills, fails, down, loses, killed}},
		{"R7", "forward", spot{"delete record", 0}, []string{kills, fails, down, loses, killed}},
		{"R7", "finalize", spot{"delete record", 0}, []string{kills, fails, down, loses, killed}},
		{"R7", "discard", spot{"delete record", 0}, []string{kills, fails, down, loses, killed}},
	} {
		for _, mode := range row.modes {
			what := fmt.Sprintf("%s/%s/%s/%s %d", row.row, row.scene, mode, row.at.what, row.at.nth)
			t.Run(what, func(t *testing.T) {
				c := all[row.scene]()
				before := stuck.Objects(t, c.store)
				rule := row.at.rule(action(mode))
				rule.Every = mode == down
				met, err := c.broken(t, rule)
				if !met {
					t.Fatal("the call was not met")
				}
				if err == nil && (mode == down || mode == kills || mode == killed && row.row != "R7") {
					t.Errorf("the recovery says that all went well")
				}
				if row.row == "R1" && mode == kills {
					if d := stuck.Differ(before, stuck.Objects(t, c.store)); d != "" {
						t.Errorf("before anything was read again: %s", d)
					}
				}
				outcomes := c.outcomes(t)
				c.settled(t, what)
				if rows := stuck.Audits(t, c.store); outcomes != nil && len(rows) == 1 && !slices.Equal(outcomes, stuck.SortOutcomes(rows[0].Outcomes)) {
					t.Errorf("outcomes %v were decided, audited are %v", outcomes, rows[0].Outcomes)
				}
			})
		}
	}
}

// outcomes are those that stand in the record, sorted; nil = there is none, or it
// has none.
func (c scene) outcomes(t testing.TB) (out []stuck.Outcome) {
	t.Helper()
	keys := stuck.Keys(t, c.store, sidecar.Folder)
	if len(keys) == 0 {
		return nil
	}
	rec, _, err := sidecar.Parse(keys[0], object(t, c.store, keys[0]))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range rec.Plan.Outcomes {
		out = append(out, stuck.Outcome{Table: o.Alias, From: o.From, To: o.To})
	}
	return stuck.SortOutcomes(out)
}

// R1: a record that another one settles between the listing and the reading is
// none, and no error.
func TestTableR1Vanished(t *testing.T) {
	all := scenes(t)
	for _, name := range []string{"discard", "back", "forward", "finalize"} {
		for nth := range 2 {
			c := all[name]()
			rule := spot{"read record", nth}.rule(before(func() {
				if err := c.pass(c.store); err != nil {
					t.Error(err)
				}
			}, perform))
			if met, err := c.broken(t, rule); err != nil || !met {
				t.Errorf("%s, reading %d: met %v, %v", name, nth, met, err)
			}
			c.settled(t, fmt.Sprintf("%s, vanished before reading %d", name, nth))
		}
	}
}

// R5: another recoverer goes its whole way before any one call of ours.
func TestTableR5Beside(t *testing.T) {
	all := scenes(t)
	for _, name := range []string{"discard", "back", "forward", "finalize"} {
		n, err := fault.Sweep(300, pace.Stride(8, func(at int) (bool, error) {
			c := all[name]()
			met, err := c.broken(t, fault.Rule{At: at, Do: before(func() {
				if err := c.pass(c.store); err != nil {
					t.Errorf("%s, the other before call %d: %v", name, at, err)
				}
			}, perform)})
			if err != nil {
				t.Errorf("%s, beside another before call %d: %v", name, at, err)
			}
			if met {
				c.settled(t, fmt.Sprintf("%s, another before call %d", name, at))
			}
			return met, nil
		}))
		if err != nil || n < pace.Of(10, 1) {
			t.Errorf("%s: %d calls, %v", name, n, err)
		}
	}
}

// R8: killed twice in a row: before each write, and then before each third write.
// Every pair of calls when everything is asked for.
func TestTableR8KilledTwice(t *testing.T) {
	all := scenes(t)
	step, match := pace.Of(3, 12), fault.Writes
	if stuck.Full() {
		step, match = 1, nil
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pairs := 0
		n, err := fault.Sweep(300, func(at int) (bool, error) {
			c := all[name]()
			met, err := c.broken(t, fault.Rule{Match: match, At: at, Do: fault.Halt})
			if left := stuck.Keys(t, c.store, sidecar.Folder); met && err == nil && len(left) > 0 {
				return true, fmt.Errorf("%s: killed, and all went well, but for %v", name, left)
			}
			for again := at % step; met; again += step {
				d := c
				d.store = stuck.Clone(c.store)
				second, _ := d.broken(t, fault.Rule{Match: match, At: again, Do: fault.Halt})
				d.settled(t, fmt.Sprintf("%s, killed before call %d, then before call %d", name, at, again))
				if pairs++; !second {
					break
				}
			}
			return met, nil
		})
		if err != nil || n < 1 {
			t.Errorf("%s: %d calls, %v", name, n, err)
		}
		t.Logf("%s: %d calls, %d pairs", name, n, pairs)
	}
}
