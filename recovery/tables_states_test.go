package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// The rows of tables M, S and O of engine-semantics §5.11 that the states of the
// killed reference show, by the request that it did not come to make.
var stateRows = []struct {
	row, op  string
	from, to int // states
	do       txn.Do
}{
	{"M2", "merge", 1, 3, txn.Discard},  // after the record, before the first effect
	{"M4", "merge", 4, 4, txn.Back},     // effects, before confirm
	{"M5", "merge", 5, 8, txn.Forward},  // confirmed, before the publish
	{"M5", "merge", 9, 9, txn.Finalize}, // published, before the delete
	{"F4", "load-merge", 4, 5, txn.Discard},
	{"M3", "load-merge", 6, 9, txn.Back}, // some of several tables
	{"F8", "load-merge", 10, 10, txn.Back},
	{"F9", "load-merge", 11, 14, txn.Forward},
	{"F11", "load-merge", 15, 15, txn.Finalize},
	{"S1", "schema-apply", 4, 12, txn.Back},     // armed: some tables, some staged files, all but the confirmation
	{"S2", "schema-apply", 13, 16, txn.Forward}, // staged and confirmed
	{"S3", "schema-apply", 17, 17, txn.Finalize},
	{"S4", "schema-apply", 18, 23, txn.Finalize}, // promoted in part, or whole
	{"O1", "optimize", 1, 13, txn.Back},          // of nothing
	{"O3", "optimize", 15, 88, txn.Back},         // some tables
	{"O4", "optimize", 90, 93, txn.Forward},
	{"O4", "optimize", 94, 94, txn.Finalize},
}

// What is shown of each state is what its row says; what it comes to is checked
// by TestStuckStatesAreRecovered.
func TestTablesOfStates(t *testing.T) {
	for _, row := range stateRows {
		for k := row.from; k <= row.to; k += max(1, (row.to-row.from)/6) {
			s := stuck.One(t, row.op, k)
			p := stuckLook(t, s.Store(t, stuck.Root), recovery.Options{})
			if len(p.Items) != 1 {
				t.Fatalf("%s, %s: shown are %+v", row.row, s, p.Items)
			}
			if v := p.Items[0].Verdict; v.Do != row.do || v.Text == "" {
				t.Errorf("%s, %s: shown is %s (%s: %s), expected is %s", row.row, s, v.Do, v.Reason, v.Text, row.do)
			}
		}
	}
}

// M5: a merge that is rolled forward has both parents.
func TestTableM5BothParents(t *testing.T) {
	for _, k := range []int{5, 8, 9} {
		s := stuck.One(t, "merge", k)
		store, rec := s.Store(t, stuck.Root), s.Record(t)
		stuckRecover(t, s.String(), store, recovery.Options{})
		c, ok := stuck.View(t, store, "").Commit(rec.CommitID)
		if !ok || c.Parent != *rec.Plan.Authority.GraphHead || c.MergedParent != *rec.Plan.Lineage.MergedParent || c.CreatedAt != rec.Plan.Lineage.CreatedAt {
			t.Errorf("%s: the commit of the merge is %+v", s, c)
		}
	}
}

// M6 and S1 to S4 with a recovery that is killed before each of its writes: the
// next pass leads to what one whole pass leads to.
func TestTablesOfStatesKilledInRecovery(t *testing.T) {
	states := []*stuck.State{
		stuck.One(t, "merge", 4), stuck.One(t, "schema-apply", 5), stuck.One(t, "schema-apply", 12), stuck.One(t, "schema-apply", 19),
		stuck.One(t, "optimize", 1), stuck.One(t, "optimize", 40), stuck.One(t, "optimize", 92),
	}
	if stuck.Full() {
		states = stuck.States(t)
	}
	for _, s := range states {
		if len(s.Pending) == 0 {
			continue
		}
		n, err := fault.Sweep(600, pace.Stride(6, func(at int) (bool, error) {
			store := s.Store(t, stuck.Root)
			f := fault.New(store, fault.Rule{Match: fault.Writes, At: at, Do: fault.Halt})
			p := stuckLook(t, store, recovery.Options{})
			rep, err := recovery.Execute(context.Background(), f, p, recovery.Options{})
			if f.Fired() > 0 && err == nil && rep.Settled[0].Err == nil {
				return true, errors.New("killed, and all went well")
			}
			if f.Fired() == 0 {
				return false, nil
			}
			what := fmt.Sprintf("%s, recovery killed before write %d", s, at)
			stuckSchemaReads(t, what, store, s)
			stuckRecover(t, what, store, recovery.Options{})
			s.Recovered(t, store)
			return true, nil
		}))
		if err != nil || n < 1 {
			t.Errorf("%s: %d writes, %v", s, n, err)
		}
	}
}

// stuckSchemaReads: whatever stage recovery was killed in, a reader sees the rows
// as they were or as they will be (S3: also while staged files wait to be
// promoted, decisions 51).
func stuckSchemaReads(t *testing.T, what string, store blob.Store, s *stuck.State) {
	t.Helper()
	before := stuck.RowsOf(t, stuck.Graph(t, stuck.StoreOf(t, stuck.Root, s.Base)))
	rows := stuck.RowsOf(t, stuck.Graph(t, blob.ReadOnly(store)))
	for branch, now := range rows {
		if now != before[branch] && now != s.After[branch] {
			t.Errorf("%s: rows of %s are neither old nor new", what, branch)
		}
	}
	if len(rows) != len(before) {
		t.Errorf("%s: branches %v", what, maps.Keys(rows))
	}
}

// S3: published and not promoted, a reader is told, and shown the new schema.
func TestTableS3ReadOnly(t *testing.T) {
	s := stuck.One(t, "schema-apply", 17)
	store := s.Store(t, stuck.Root)
	g := stuck.Graph(t, blob.ReadOnly(store))
	sch, err := g.Schema(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	info, err := g.Info(context.Background(), engine.At{})
	if err != nil || len(info.PendingRecovery) != 1 || info.PendingRecovery[0].Kind != string(sidecar.SchemaApply) || !info.PendingRecovery[0].Published {
		t.Errorf("info tells %+v, %v", info.PendingRecovery, err)
	}
	stuckRecover(t, s.String(), store, recovery.Options{})
	after, err := stuck.Graph(t, store).Schema(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if sch.Source != after.Source || sch.Source == string(s.Files["_schema.pg"]) {
		t.Errorf("shown before the promotion is\n%s\nafter it\n%s", sch.Source, after.Source)
	}
}
