package recovery_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// A writeRow is a row of the table of data writes of engine-semantics §5.11, in
// one way of going wrong.
type writeRow struct {
	row, mode string
	at        spot
	rival     func(t testing.TB, s blob.Store) // acts just before
	rivalAt   *spot                            // before another call than that; nil = at
	blind     bool                             // from then on the versions of tables of nodes cannot be listed

	live   string // what the caller hears; "" = nobody hears it
	reopen txn.Do // what recovery does; 0 with record false
	record bool   // a record is left
	whole  bool   // at last the write is there
	moved  int    // tables whose newest version is not published
}

// The rows, but for those of branches of tables (tables_forks_test.go).
func writeRows() []writeRow {
	foreign := func(alias string) func(testing.TB, blob.Store) {
		return func(t testing.TB, s blob.Store) { foreignVersion(t, s, alias) }
	}
	return []writeRow{
		{row: "F1", mode: fails, at: spot{"look for records", 0}, live: plain},
		{row: "F1", mode: kills, at: spot{"look for records", 0}},
		{row: "F2", mode: fails, at: spot{"look for records", 1}, live: plain},
		{row: "F2", mode: kills, at: spot{"look for records", 1}},
		{row: "F3", mode: fails, at: spot{"put record", 0}, live: plain},
		{row: "F3", mode: kills, at: spot{"put record", 0}},
		{row: "F3", mode: loses, at: spot{"put record", 0}, live: done, whole: true},
		{row: "F4", mode: fails, at: spot{"commit table", 0}, live: plain},
		{row: "F4", mode: kills, at: spot{"commit table", 0}, record: true, reopen: txn.Discard},
		{row: "F4", mode: killed, at: spot{"put record", 0}, record: true, reopen: txn.Discard},
		{row: "F7", mode: fails, at: spot{"commit table", 1}, live: required, record: true, reopen: txn.Back, moved: 1},
		{row: "F7", mode: kills, at: spot{"commit table", 1}, record: true, reopen: txn.Back, moved: 1},
		{row: "F7", mode: killed, at: spot{"commit table", 0}, record: true, reopen: txn.Back, moved: 1},
		{row: "F8", mode: fails, at: spot{"put record", 1}, live: required, record: true, reopen: txn.Back, moved: 2},
		{row: "F8", mode: kills, at: spot{"put record", 1}, record: true, reopen: txn.Back, moved: 2},
		{row: "F9", mode: fails, at: spot{"publish", 0}, live: done, whole: true}, // it is tried again
		{row: "F9", mode: down, at: spot{"publish", 0}, live: required, record: true, reopen: txn.Forward, moved: 2, whole: true},
		{row: "F9", mode: kills, at: spot{"publish", 0}, record: true, reopen: txn.Forward, moved: 2, whole: true},
		{row: "F10", mode: loses, at: spot{"publish", 0}, live: done, whole: true},
		{row: "F11", mode: killed, at: spot{"publish", 0}, record: true, reopen: txn.Finalize, whole: true},
		{row: "F12", mode: fails, at: spot{"delete record", 0}, live: done, whole: true}, // it is tried again
		{row: "F12", mode: down, at: spot{"delete record", 0}, live: warned, record: true, reopen: txn.Finalize, whole: true},
		{row: "F12", mode: kills, at: spot{"delete record", 0}, live: warned, record: true, reopen: txn.Finalize, whole: true},
		{row: "F12", mode: loses, at: spot{"delete record", 0}, live: done, whole: true},
		{row: "F13", mode: goes, at: spot{"commit table", 0}, rival: foreign("node:Company"), live: plain, moved: 1},
		{row: "F13", mode: kills, at: spot{"delete record", 0}, rival: foreign("node:Company"), rivalAt: &spot{"commit table", 0}, record: true, reopen: txn.Discard, moved: 1},
		{row: "F14", mode: goes, at: spot{"commit table", 0}, rival: foreign("node:Company"), blind: true, live: required, record: true, reopen: txn.Discard, moved: 1},
		{row: "F15", mode: fails, at: spot{"put record", 1}, rival: foreign("node:Company"), live: required, record: true, reopen: txn.Refuse, moved: 2},
		{row: "F15", mode: kills, at: spot{"put record", 1}, rival: foreign("node:Company"), record: true, reopen: txn.Refuse, moved: 2},
		{row: "F16", mode: goes, at: spot{"publish", 0}, rival: foreignPublish, live: required, record: true, reopen: txn.Back, moved: 2},
		{row: "F16", mode: kills, at: spot{"publish", 0}, rival: foreignPublish, record: true, reopen: txn.Back, moved: 2},
		{row: "F17", mode: goes, at: spot{"publish", 0}, rival: otherVersion, live: done, whole: true},
	}
}

// Table F: what the caller hears, what a reader sees meanwhile, and what a
// recovery comes to, row by row.
func TestTableF(t *testing.T) {
	start, old, whole := tablesStart(t)
	for _, row := range pace.Every(t, 9, writeRows()) {
		t.Run(row.row+"/"+row.mode+"/"+row.at.what, func(t *testing.T) { row.check(t, start, old, whole) })
	}
}

func (row writeRow) check(t *testing.T, start blob.Store, old, whole map[string]stuck.Rows) {
	store := stuck.Clone(start)
	if row.row == "F16" {
		winner := stuck.Clone(start)
		foreignPublish(t, winner)
		old = stuck.RowsOf(t, stuck.Graph(t, winner))
	}
	s := fault.New(store, row.rules(t, store)...)
	w := newWriter(t, s)
	r, err := w.load(tablesLoad)
	if s.Fired() == 0 {
		t.Fatal("the call was not met")
	}
	if live := liveOf(t, row.row, r, err); row.live != "" && live != row.live {
		t.Errorf("the caller hears %s (%v), expected is %s", live, err, row.live)
	} else if row.live == "" && err == nil {
		t.Errorf("a dead writer acknowledged")
	}
	row.left(t, store)
	published := row.whole && row.reopen != txn.Forward
	if published {
		reads(t, "before recovery", store, whole)
	} else {
		reads(t, "before recovery", store, old)
	}
	if e := (*txn.RecoveryRequiredError)(nil); errors.As(err, &e) && !slices.Contains(stuck.Keys(t, store, sidecar.Folder), sidecar.Folder+e.OperationID+sidecar.Suffix) {
		t.Errorf("the error names %s, of which there is no record", e.OperationID)
	}
	row.recovered(t, w.clock, store, old, whole)
}

// rules are what goes wrong.
func (row writeRow) rules(t *testing.T, store blob.Store) []fault.Rule {
	rule := row.at.rule(action(row.mode))
	rule.Every = row.mode == down
	at, there := row.at, false
	if row.rivalAt != nil {
		at = *row.rivalAt
	}
	come := func() {
		if row.rival != nil {
			there = true
			row.rival(t, store)
		}
	}
	if at == row.at {
		rule.Do = before(come, rule.Do)
	}
	blind := fault.Rule{Every: true, Do: fault.Fail, Match: func(c fault.Call) bool {
		return row.blind && there && c.Op == blob.OpList && strings.HasPrefix(c.Key, "nodes/")
	}}
	if at == row.at {
		return []fault.Rule{rule, blind}
	}
	return []fault.Rule{rule, at.rule(before(come, perform)), blind}
}

// left checks records and tables before recovery.
func (row writeRow) left(t *testing.T, store blob.Store) {
	t.Helper()
	if keys := stuck.Keys(t, store, sidecar.Folder); (len(keys) == 1) != row.record || len(keys) > 1 {
		t.Errorf("records %v, expected is one: %v", keys, row.record)
	}
	moved := 0
	for _, e := range stuck.View(t, store, "").Tables {
		if stuck.Newest(t, store, e.Location, "") != e.Version {
			moved++
		}
	}
	if moved != row.moved {
		t.Errorf("%d tables have moved, expected are %d", moved, row.moved)
	}
}

// recovered reopens the graph: looks, recovers, and looks again.
func (row writeRow) recovered(t *testing.T, clock *tick, store blob.Store, old, whole map[string]stuck.Rows) {
	t.Helper()
	before := stuck.Objects(t, store)
	young := recovery.Options{Clock: clock.now}
	if p := stuckLook(t, store, young); len(p.Items) > 0 {
		rep, err := recovery.Execute(context.Background(), store, p, young)
		if err != nil || rep.Settled[0].Err == nil {
			t.Errorf("a concurrent opener settles a young record: %+v, %v", rep, err)
		}
		if d := stuck.Differ(before, stuck.Objects(t, store)); d != "" {
			t.Errorf("a concurrent opener changes %s", d)
		}
	}
	o := later(clock)
	p := stuckLook(t, store, o)
	if (len(p.Items) == 1) != row.record {
		t.Fatalf("shown are %+v", p.Items)
	}
	if row.record && p.Items[0].Verdict.Do != row.reopen {
		t.Errorf("shown is %s (%s: %s), expected is %s", p.Items[0].Verdict.Do, p.Items[0].Verdict.Reason, p.Items[0].Verdict.Text, row.reopen)
	}
	rep, err := recovery.Execute(context.Background(), store, p, o)
	if err != nil {
		t.Fatal(err)
	}
	want := old
	if row.whole {
		want = whole
	}
	if row.record && row.reopen == txn.Refuse {
		if e := (*recovery.RefusedError)(nil); !errors.As(rep.Settled[0].Err, &e) {
			t.Errorf("settled is %+v, expected a refusal", rep.Settled[0])
		}
		if d := stuck.Differ(before, stuck.Objects(t, store)); d != "" {
			t.Errorf("refused, and %s", d)
		}
		reads(t, "after the refusal", store, old)
		return
	}
	for _, x := range rep.Settled {
		if x.Err != nil || x.Do != row.reopen {
			t.Errorf("settled as %s, %v", x.Do, x.Err)
		}
	}
	reads(t, "after recovery", store, want)
	row.audited(t, store, p, rep)
	stuckIdle(t, row.row, store, o)
	if ids := commitsOf(t, store); twice(ids) {
		t.Errorf("a commit stands twice: %v", ids)
	}
	if row.row != "F13" && row.row != "F14" { // there somebody's version stays
		stuck.AtRest(t, store, "main")
		stuckGoOn(t, row.row, store, false)
	}
}

// audited: one row for what was done; none for what was discarded.
func (row writeRow) audited(t *testing.T, store blob.Store, p *recovery.Plan, rep *recovery.Report) {
	t.Helper()
	want := map[txn.Do][]string{txn.Back: {"RolledBack"}, txn.Forward: {"RolledForward"}, txn.Finalize: {"RolledForward"}}[row.reopen]
	if !row.record {
		want = nil
	}
	if got := auditKinds(t, store); !slices.Equal(got, want) {
		t.Errorf("audit rows %v, expected are %v", got, want)
	}
	if !row.record {
		return
	}
	rec, x := p.Items[0].Record, rep.Settled[0]
	commit := map[txn.Do]string{txn.Back: rec.Plan.Rollback, txn.Forward: rec.CommitID, txn.Finalize: rec.CommitID}[row.reopen]
	if x.Commit != commit {
		t.Errorf("the outcome is in commit %q, expected is %q", x.Commit, commit)
	}
	head := commitsOf(t, store)[0]
	if commit != "" && head != commit {
		t.Errorf("main is at %s, expected is %s", head, commit)
	}
	if row.reopen == txn.Back && !maps.Equal(outcomesOf(x.Outcomes), row.takenBack(p)) {
		t.Errorf("outcomes %v, expected are %v", x.Outcomes, row.takenBack(p))
	}
}

func outcomesOf(list []txn.TableOutcome) map[string][2]uint64 {
	out := map[string][2]uint64{}
	for _, o := range list {
		out[o.Alias] = [2]uint64{o.From, o.To}
	}
	return out
}

// takenBack are the tables of a plan that have moved: from their newest version
// to the published one.
func (row writeRow) takenBack(p *recovery.Plan) map[string][2]uint64 {
	out := map[string][2]uint64{}
	for _, table := range p.Items[0].Tables {
		if table.Head != table.Published {
			out[table.Alias] = [2]uint64{table.Head, table.Published}
		}
	}
	return out
}
