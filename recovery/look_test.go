package recovery_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// Rows of `__manifest` that cannot be read are not rows that are not there: once,
// and it is looked again; for good, and nobody acts.
func TestManifestThatCannotBeReadWhole(t *testing.T) {
	s := stuck.One(t, "update-node", 10) // published: without its commit it would be discarded
	rows := func(c fault.Call) bool { return strings.HasPrefix(c.Key, "__manifest/data/") }
	for _, every := range []bool{false, true} {
		store := s.Store(t, stuck.Root)
		before := stuck.Objects(t, store)
		for at := range 8 {
			cut := fault.New(store, fault.Rule{Match: rows, At: at, Every: every, Do: fault.Cut(20)})
			p, err := recovery.Look(context.Background(), cut, atOnce)
			if err != nil || len(p.Items) != 1 {
				t.Fatal(err, p)
			}
			v := p.Items[0].Verdict
			if cut.Fired() == 0 {
				break
			}
			if every && v.Do != txn.Refuse || !every && v.Do != txn.Finalize {
				t.Errorf("file %d cut, for good: %v: %s (%s)", at, every, v.Do, v.Text)
			}
			if !every {
				continue
			}
			if r, err := recovery.Execute(context.Background(), cut, p, atOnce); err != nil || r.Settled[0].Err == nil {
				t.Errorf("file %d cut for good: %+v, %v", at, r, err)
			}
		}
		if d := stuck.Differ(before, stuck.Objects(t, store)); d != "" {
			t.Error(d)
		}
	}
}

// A refusal is told only by a second look, which reads the records anew: who claims
// a table by then counts. Where they cannot be listed there is no second look, and
// what was seen first is no answer, neither to who looks nor to who acts.
func TestSecondLookThatCannotList(t *testing.T) {
	s := stuck.One(t, "update-node", 10)
	store := s.Store(t, stuck.Root)
	before := stuck.Objects(t, store)
	shown, err := recovery.Look(t.Context(), store, atOnce)
	if err != nil {
		t.Fatal(err)
	}
	faulty := func() *fault.Store { // what is refused is listed once
		return fault.New(store,
			fault.Rule{Match: func(c fault.Call) bool { return strings.HasPrefix(c.Key, "__manifest/data/") }, Every: true, Do: fault.Cut(20)},
			fault.Rule{Match: func(c fault.Call) bool { return c.Op == blob.OpList && c.Key == sidecar.Folder }, At: 1, Do: fault.Fail})
	}
	if p, err := recovery.Look(t.Context(), faulty(), atOnce); !errors.Is(err, fault.ErrInjected) {
		t.Errorf("looking tells %+v, %v", p, err)
	}
	r, err := recovery.Execute(t.Context(), faulty(), shown, atOnce)
	if err != nil || len(r.Settled) != 1 || !errors.Is(r.Settled[0].Err, fault.ErrInjected) {
		t.Errorf("acting tells %+v, %v", r, err)
	}
	if d := stuck.Differ(before, stuck.Objects(t, store)); d != "" {
		t.Error(d)
	}
}
