package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/txn"
)

// cancelled_mutation_future_leaves_no_state: given up before it is armed, nothing
// is left; from then on it is finished.
func TestCancelledWrites(t *testing.T) {
	for step, lands := range map[txn.Step]bool{txn.StepCaptured: false, txn.StepPrepared: false, txn.StepArmed: true, txn.StepEffect: true, txn.StepConfirmed: true} {
		s, _ := filled(t, people, crowd)
		g := writable(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		act := mutation(`delete Person where name = "ann"`)
		r, err := act.do(ctx, g, engine.WriteOptions{Events: func(e engine.WriteEvent) {
			if e.Step == step {
				cancel()
			}
		}})
		if lands != (err == nil && r.Commit != nil) || !lands && !errors.Is(err, context.Canceled) {
			t.Errorf("at %s: %+v, %v", step, r, err)
		}
		atRest(t, s, g)
		if !lands {
			if _, err := act.do(t.Context(), g, engine.WriteOptions{}); err != nil {
				t.Errorf("at %s, again: %v", step, err)
			}
		}
		cancel()
	}
}
