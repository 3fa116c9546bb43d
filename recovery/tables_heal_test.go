package recovery_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

const nextWrite = `query q() { update Vessel set { name: "Mended" } where imo = 9000017 }`

// Table F, healed: whatever became of a write, the next one, by the same process
// or by another one, recovers it first once its record is old, and goes through;
// where recovery must refuse, the next write is refused and changes nothing.
func TestTableFHealed(t *testing.T) {
	start, _, _ := tablesStart(t)
	for _, row := range pace.Every(t, 9, writeRows()) {
		if row.row == "F13" || row.row == "F14" {
			continue // somebody's version stays, which no record explains
		}
		for _, who := range []string{"same", "other"} {
			if who == "same" && (row.mode == kills || row.mode == killed) {
				continue // that process is dead
			}
			t.Run(row.row+"/"+row.mode+"/"+row.at.what+"/"+who, func(t *testing.T) { row.healed(t, start, who) })
		}
	}
}

func (row writeRow) healed(t *testing.T, start blob.Store, who string) {
	want := row.expected(t, start)
	store := stuck.Clone(start)
	lifted := false
	rules := row.rules(t, store)
	for i := range rules {
		match := rules[i].Match
		rules[i].Match = func(c fault.Call) bool { return !lifted && match(c) }
	}
	w := newWriter(t, fault.New(store, rules...))
	_, _ = w.load(tablesLoad) // TestTableF looks at how it ends
	lifted = true
	if who == "other" {
		at := w.clock.now()
		w = newWriter(t, store)
		w.clock.pass(at.Sub(w.clock.now()))
	}
	w.clock.pass(time.Minute)
	before := stuck.Objects(t, store)
	var heard []string
	_, r, err := w.g.Mutate(context.Background(), engine.MutateOptions{Source: nextWrite, WriteOptions: engine.WriteOptions{Events: func(e engine.WriteEvent) { heard = append(heard, string(e.Step)) }}})
	if row.record && row.reopen == txn.Refuse {
		if live := liveOf(t, row.row, r, err); live != required {
			t.Errorf("the next write ends with %s: %v", live, err)
		}
		if d := stuck.Differ(before, stuck.Objects(t, store)); d != "" {
			t.Errorf("refused, and %s", d)
		}
		return
	}
	if live := liveOf(t, row.row, r, err); live != done {
		t.Errorf("the next write ends with %s: %v (%v)", live, err, heard)
	}
	if rows := stuck.RowsOf(t, stuck.Graph(t, store)); !maps.Equal(rows, want) {
		t.Errorf("rows\n%v, expected\n%v", rows, want)
	}
	kinds := map[txn.Do][]string{txn.Back: {"RolledBack"}, txn.Forward: {"RolledForward"}, txn.Finalize: {"RolledForward"}}[row.reopen]
	if got := auditKinds(t, store); row.record && !slices.Equal(got, kinds) {
		t.Errorf("audit rows %v, expected are %v", got, kinds)
	}
	if left := stuck.Keys(t, store, sidecar.Folder); len(left) > 0 {
		t.Errorf("records %v are left", left)
	}
	stuck.AtRest(t, store, "main")
	stuckGoOn(t, row.row, store, false)
}

// expected are the rows after the row's outcome and the next write.
func (row writeRow) expected(t *testing.T, start blob.Store) map[string]stuck.Rows {
	t.Helper()
	store := stuck.Clone(start)
	if row.row == "F16" {
		foreignPublish(t, store)
	}
	w := newWriter(t, store)
	if row.whole {
		if _, err := w.load(tablesLoad); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.g.Mutate(context.Background(), engine.MutateOptions{Source: nextWrite}); err != nil {
		t.Fatal(err)
	}
	return stuck.RowsOf(t, stuck.Graph(t, store))
}
