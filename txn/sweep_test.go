package txn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/txn"
)

// state is what a write may have left: its rows as a reader sees them, records,
// tables beyond what is published.
type state struct {
	texts   string
	records int
	moved   int
	head    string
}

func stateOf(t testing.TB, s blob.Store, port, company string) state {
	t.Helper()
	r := look(t, s)
	out := state{texts: r.text(t, ports, port, "name") + "|" + r.text(t, companies, company, "name"), records: len(recordsIn(t, s)), head: r.head()}
	for _, alias := range []string{ports, companies} {
		e, _ := r.view.Table(alias)
		snap, err := lance.Open(context.Background(), s, e.Location, lance.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if txn.Judge(e.Version, snap.Version(), false) != txn.AtRest {
			out.moved++
		}
	}
	return out
}

// sweep breaks a write of two tables at every call that a rule matches.
func sweep(t *testing.T, what string, rule fault.Rule, judge func(old, now state, r *txn.Receipt, err error) error) {
	start := demo(t)
	port, company := ids(t, start, ports)[0], ids(t, start, companies)[0]
	old := stateOf(t, start, port, company)
	met := map[string]int{}
	n, err := fault.Sweep(200, func(at int) (bool, error) {
		rule.At = at
		s := fault.New(start.Clone(), rule)
		r, err := txn.Run(context.Background(), s, writing(1), plan(txn.Strict, set(ports, port, "name", "Ours"), set(companies, company, "name", "Ours")))
		now := stateOf(t, s.Inner(), port, company)
		if now.texts != old.texts && now.texts != "Ours|Ours" {
			return true, fmt.Errorf("neither old nor new: %q", now.texts)
		}
		if now.moved > 0 && now.records == 0 {
			return true, fmt.Errorf("%d tables moved and no record says why", now.moved)
		}
		met[fmt.Sprintf("%T, record %d, moved %d, new %v", err, now.records, now.moved, now.texts != old.texts)]++
		return s.Fired() > 0, judge(old, now, r, err)
	})
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if n < 15 {
		t.Errorf("%s: only %d places", what, n)
	}
	t.Logf("%s: %d places: %v", what, n, met)
}

// Halt at every call, as if the process died: a fresh reader sees old or new, a
// record is there whenever a table moved, and who was told of a plain error can
// rely on there being nothing.
func TestHaltAnywhere(t *testing.T) {
	sweep(t, "halt", fault.Rule{Do: fault.Halt}, func(old, now state, r *txn.Receipt, err error) error {
		switch {
		case err == nil && now.texts == old.texts:
			return errors.New("acknowledged and not there")
		case err == nil && (r.Warning == nil) != (now.records == 0):
			return fmt.Errorf("warning %v with %d records", r.Warning, now.records)
		case err != nil && !errors.Is(err, txn.ErrRecovery) && (now.texts != old.texts || now.records > 0):
			return fmt.Errorf("an ordinary error, and something is there: %v", err)
		}
		return nil
	})
}

// An answer that is lost is settled by reading: the write succeeds, or nothing
// of it is there.
func TestLostAnswers(t *testing.T) {
	sweep(t, "lost answer", fault.Rule{Match: fault.Writes, Do: fault.LoseAnswer}, func(old, now state, r *txn.Receipt, err error) error {
		switch {
		case err == nil && (now.texts == old.texts || now.records > 0 && r.Warning == nil):
			return fmt.Errorf("acknowledged: %+v", now)
		case err != nil && errors.Is(err, txn.ErrRecovery):
			return fmt.Errorf("one lost answer is no reason for recovery: %w", err)
		case err != nil && (now.head != old.head || now.records > 0 || now.moved > 0):
			return fmt.Errorf("an ordinary error, and something is there: %w", err)
		}
		return nil
	})
}

// A call that fails once: the same.
func TestFailAnywhere(t *testing.T) {
	sweep(t, "fail", fault.Rule{Do: fault.Fail}, func(old, now state, r *txn.Receipt, err error) error {
		switch {
		case err == nil && now.texts == old.texts:
			return errors.New("acknowledged and not there")
		case err != nil && !errors.Is(err, txn.ErrRecovery) && (now.head != old.head || now.records > 0 || now.moved > 0):
			return fmt.Errorf("an ordinary error, and something is there: %w", err)
		case errors.Is(err, txn.ErrRecovery) && now.records == 0:
			return fmt.Errorf("recovery has no record: %w", err)
		}
		return nil
	})
}

// A rival before every call of a write: another writer that goes its whole way
// in between. Ours goes through, if need be anew; what the rival was acknowledged
// is there. It is refused while our record stands.
func TestRivalAnywhere(t *testing.T) { synctest.Test(t, rivalAnywhere) }

// rivalAnywhere waits by the clock of its bubble, which stands still while a rival
// is at work beside ours. The writers have that clock, as the store has: by one that
// is years ahead of the store's, the record of a rival at work looks left behind.
func rivalAnywhere(t *testing.T) {
	start := demo(t)
	patient := func(seed uint64) txn.Options {
		o, r := writing(seed), &counting{}
		r.n.Store(seed << 32)
		o.Now, o.IDs, o.Sleep = nil, txn.NewIDs(nil, r), nil
		return o
	}
	port, company := ids(t, start, ports)[0], ids(t, start, companies)[0]
	for name, theirs := range map[string]step{"same table": add(ports, "code", port, "THEIRS"), "other table": set(companies, company, "country", "XX"), "same row": set(ports, port, "country", "XX")} {
		if name == "other table" {
			theirs = set(companies, company, "name", "Theirs")
		}
		outcomes := map[string]int{}
		n, err := fault.Sweep(200, func(at int) (bool, error) {
			var rivalErr error
			s := fault.New(start.Clone(), fault.Rule{At: at, Do: fault.Rival(func(ctx context.Context, inner blob.Store) error {
				_, rivalErr = txn.Run(context.Background(), inner, patient(2), plan(txn.Additive, theirs))
				return nil
			})})
			_, err := txn.Run(context.Background(), s, patient(1), plan(txn.Additive, set(ports, port, "name", "Ours")))
			after := look(t, s.Inner())
			outcomes[fmt.Sprintf("%T/%T", err, rivalErr)]++
			if got := after.text(t, ports, port, "name"); err != nil || got != "Ours" {
				return true, fmt.Errorf("%q is read: %w", got, err)
			}
			if s.Fired() > 0 && rivalErr == nil {
				there := after.text(t, ports, "THEIRS", "id") != "" || after.text(t, ports, port, "country") == "XX" || after.text(t, companies, company, "name") == "Theirs"
				if !there {
					return true, errors.New("what the rival was acknowledged is lost")
				}
			}
			after.atRest(t)
			return s.Fired() > 0, nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %d places: %v", name, n, outcomes)
	}
}
