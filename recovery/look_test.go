package recovery_test

import (
	"context"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
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
