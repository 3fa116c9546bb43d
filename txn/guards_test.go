package txn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
)

// commitAside publishes a commit without asking for records, as a program that came
// through its own gates before.
func commitAside(t testing.TB, s *memstore.Store, seed uint64) string {
	t.Helper()
	id, err := writing(seed).IDs.Next()
	if err == nil {
		_, err = manifest.Publish(context.Background(), s, manifest.PublishOptions{Commit: &manifest.Intent{ID: id, CreatedAt: 1796000000000000}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A commit that lands between gates and publish makes the publish lose: what was
// done stays unpublished, under its record.
func TestPublishLosesItsHead(t *testing.T) {
	s := demo(t)
	err := headLost(t, s, writing(1))
	var e *txn.RecoveryRequiredError
	if !errors.As(err, &e) || !errors.Is(err, txn.ErrRecovery) {
		t.Fatalf("%T: %v", err, err)
	}
	if left := recordsIn(t, s); len(left) != 1 || left[0] != "__recovery/"+e.OperationID+".json" {
		t.Errorf("records: %v", left)
	}
	after := look(t, s)
	if port := ids(t, s, ports)[0]; after.text(t, ports, port, "name") == "Ours" {
		t.Error("it was published")
	}
	// What stands there is refused to others, young or old.
	o := writing(3)
	o.Grace = -1
	_, err = txn.Run(context.Background(), s, o, plan(txn.Additive))
	if other := wantErr[*txn.RecoveryRequiredError](t, err, txn.ErrRecovery); other.OperationID != e.OperationID {
		t.Errorf("%+v", other)
	}
}

func headLost(t testing.TB, s *memstore.Store, o txn.Options) error {
	port := ids(t, s, ports)[0]
	o.Events = func(e txn.Event) {
		if e.Step == txn.StepConfirmed {
			commitAside(t, s, 50)
		}
	}
	_, err := txn.Run(context.Background(), s, o, plan(txn.Strict, set(ports, port, "name", "Ours")))
	return err
}

// Each guard alone keeps something away: with it off, what the named test above
// demands is not so.
func TestEachGuardIsNeeded(t *testing.T) {
	check := map[string]struct {
		guard func(*txn.Options)
		holds func(o txn.Options) error // nil: the write was refused as it must be
	}{
		"view: stale_handle_public_mutation_must_refresh_then_retry": {
			func(o *txn.Options) { o.Without(txn.ViewGuard) },
			func(o txn.Options) error {
				s := demo(t)
				port := ids(t, s, ports)[0]
				o.Seen = seen(t, s)
				run(t, s, writing(2), txn.Strict, set(ports, port, "name", "Theirs"))
				_, err := txn.Run(context.Background(), s, o, plan(txn.Strict, set(ports, port, "name", "Ours")))
				return refused(err)
			},
		},
		"gate: strict_mutation_rejects_disjoint_head_change_before_effects": {
			func(o *txn.Options) { o.Without(txn.GateGuard) },
			func(o txn.Options) error {
				s := demo(t)
				port, company := ids(t, s, ports)[0], ids(t, s, companies)[0]
				rival := once(func() { run(t, s, writing(2), txn.Strict, set(companies, company, "name", "Theirs")) })
				_, err := txn.Run(context.Background(), s, o, plan(txn.Strict, rival, set(ports, port, "name", "Ours")))
				return refused(err)
			},
		},
		"CAS: TestPublishLosesItsHead": {
			func(o *txn.Options) { o.Without(txn.CASGuard) },
			func(o txn.Options) error {
				if err := headLost(t, demo(t), o); !errors.Is(err, txn.ErrRecovery) {
					return fmt.Errorf("not left to recovery: %v", err)
				}
				return nil
			},
		},
	}
	for name, c := range check {
		t.Run(name, func(t *testing.T) {
			o := writing(1)
			if err := c.holds(o); err != nil {
				t.Errorf("with every guard: %v", err)
			}
			c.guard(&o)
			err := c.holds(o)
			if err == nil {
				t.Error("nothing noticed that the guard was off")
			}
			t.Logf("without it: %v", err)
		})
	}
}

// refused is nil when an error is the refusal before any effect.
func refused(err error) error {
	if errors.As(err, new(*txn.ReadSetChangedError)) {
		return nil
	}
	return fmt.Errorf("not refused before its effects: %v", err)
}
