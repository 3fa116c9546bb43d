package txn_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/txn"
)

// after runs f when a write reaches a step for the first time.
func after(step txn.Step, f func()) func(txn.Event) {
	done := false
	return func(e txn.Event) {
		if e.Step == step && !done {
			done = true
			f()
		}
	}
}

// Two writers of different tables pass their gates side by side. The second one to
// look sees the commit of the first and gives way before it has effects; without
// that look it moves its table, cannot publish, and recovery is due.
func TestSideBySideBehindTheGates(t *testing.T) {
	for _, looks := range []bool{true, false} {
		s := demo(t)
		port, company := ids(t, s, ports)[0], ids(t, s, companies)[0]
		o := writing(1)
		o.Events = after(txn.StepChecked, func() {
			run(t, s, writing(2), txn.Additive, set(companies, company, "name", "Theirs"))
		})
		if !looks {
			o.Without(txn.RivalGuard)
		}
		r, err := txn.Run(context.Background(), s, o, plan(txn.Additive, set(ports, port, "name", "Ours")))
		if !looks {
			wantErr[*txn.RecoveryRequiredError](t, err, txn.ErrRecovery)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if now := look(t, s); r.Attempts != 2 || now.text(t, ports, port, "name") != "Ours" || now.text(t, companies, company, "name") != "Theirs" || len(recordsIn(t, s)) > 0 {
			t.Errorf("%d attempts, records %v", r.Attempts, recordsIn(t, s))
		}
	}
}

// stranger puts a record of another operation there, which is older or younger
// than any of writing's.
func stranger(t *testing.T, s *memstore.Store, older bool) (key string) {
	t.Helper()
	from, theirs := dead(t)
	obj, err := from.Get(t.Context(), theirs, blob.All)
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSuffix(strings.TrimPrefix(theirs, "__recovery/"), ".json")
	other := "02" + id[2:]
	if older {
		other = "00" + id[2:]
	}
	key = "__recovery/" + other + ".json"
	if _, err := s.Put(t.Context(), key, bytes.ReplaceAll(obj.Data, []byte(id), []byte(other))); err != nil {
		t.Fatal(err)
	}
	return key
}

// Who armed and meets an older record gives way: its own is gone while it waits.
// Who meets a younger one keeps its own, and goes on when that is gone.
func TestWhoGivesWay(t *testing.T) {
	for _, older := range []bool{true, false} {
		t.Run(fmt.Sprint("older ", older), func(t *testing.T) {
			s := demo(t)
			port := ids(t, s, ports)[0]
			o := writing(1)
			base := o.Now()
			o.Now = func() time.Time { return base } // no record grows old
			var key string
			o.Events = after(txn.StepChecked, func() { key = stranger(t, s, older) })
			kept := 0
			o.Sleep = func(ctx context.Context, d time.Duration) error {
				kept = len(recordsIn(t, s)) - 1
				return s.Delete(ctx, key)
			}
			o.Grace = 50 * 365 * 24 * time.Hour
			r := run(t, s, o, txn.Additive, set(ports, port, "name", "Ours"))
			if want := map[bool][2]int{true: {2, 0}, false: {1, 1}}[older]; r.Attempts != want[0] || kept != want[1] {
				t.Errorf("%d attempts, own records while it waited: %d; expected %v", r.Attempts, kept, want)
			}
			if left := recordsIn(t, s); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// heldRival is another writer of the graph that stops where it is armed and past
// its own look, until it is let go.
type heldRival struct {
	name   string
	from   txn.Step // since when it stands there: since ours reached it; "" = since before ours began
	seed   uint64   // of writing: below ours it is the older one
	theirs step
	there  func(r reading) bool // what it wrote
}

// letGoAt lets the rival go to its end at our call number at of those since it
// stands there, when whatever is asked beside that call has been answered.
func (h *heldRival) letGoAt(t *testing.T, inner *memstore.Store, port string, at int) (reached bool, outcome string, err error) {
	armed, goOn, ended := make(chan bool), make(chan bool), make(chan error)
	theirs := writing(h.seed)
	theirs.Events = after(txn.StepArmed, func() { close(armed); <-goOn })
	var rival error
	letGo := func() { close(goOn); rival = <-ended }
	var stands atomic.Bool
	stand := func() {
		go func() {
			_, err := txn.Run(context.Background(), inner, theirs, plan(txn.Additive, h.theirs))
			ended <- err
		}()
		<-armed
		stands.Store(true)
	}
	s := fault.New(inner, fault.Rule{Match: func(fault.Call) bool { return stands.Load() }, At: at, Do: func(ctx context.Context, a *fault.Attempt) error {
		synctest.Wait()
		letGo()
		return a.Perform(ctx)
	}})
	ours := writing(2)
	if ours.Events = after(h.from, stand); h.from == "" {
		stand()
	}
	r, err := txn.Run(context.Background(), s, ours, plan(txn.Additive, set(ports, port, "name", "Ours")))
	if reached = s.Fired() > 0; !reached {
		if left := recordsIn(t, inner); len(left) != 1 {
			return false, "", fmt.Errorf("beside the rival's record: %v", left)
		}
		letGo()
	}
	now := look(t, inner)
	now.atRest(t)
	var wait *txn.RecoveryRequiredError
	switch {
	case rival != nil:
		return reached, "", fmt.Errorf("the rival: %w", rival)
	case !h.there(now):
		return reached, "", errors.New("what the rival was acknowledged is lost")
	case err != nil && !(errors.As(err, &wait) && wait.Other):
		return reached, "", err
	case (now.text(t, ports, port, "name") == "Ours") != (err == nil):
		return reached, "", fmt.Errorf("%q is read after: %w", now.text(t, ports, port, "name"), err)
	case err != nil:
		return reached, "refused", nil
	}
	return reached, fmt.Sprint(r.Attempts, " attempts"), nil
}

// A rival that was past its own look when ours came, and publishes and retires at
// any call of ours, is met at the gates, by its record, or by the head it leaves:
// ours goes through, if need be anew, or is told whom it would have to wait for.
// Nothing that either was acknowledged is lost, and no record stays.
func TestARivalLetGoAnywhere(t *testing.T) {
	start := demo(t)
	port, company := ids(t, start, ports)[0], ids(t, start, companies)[0]
	var rivals []heldRival
	for _, from := range []txn.Step{"", txn.StepCaptured, txn.StepPrepared, txn.StepChecked} {
		for _, seed := range []uint64{1, 3} {
			rivals = append(rivals,
				heldRival{"other table", from, seed, set(companies, company, "name", "Theirs"), func(r reading) bool { return r.text(t, companies, company, "name") == "Theirs" }},
				heldRival{"same table", from, seed, add(ports, "code", port, "THEIRS"), func(r reading) bool { return r.text(t, ports, "THEIRS", "id") != "" }},
				heldRival{"same row", from, seed, set(ports, port, "country", "XX"), func(r reading) bool { return r.text(t, ports, port, "country") == "XX" }})
		}
	}
	for _, rival := range pace.Every(t, 5, rivals) {
		outcomes := map[string]int{}
		n, err := fault.Sweep(200, func(at int) (reached bool, err error) {
			var outcome string
			synctest.Test(t, func(t *testing.T) { reached, outcome, err = rival.letGoAt(t, start.Clone(), port, at) })
			outcomes[outcome]++
			return reached, err
		})
		what := fmt.Sprintf("%s, since %q, seed %d: %d places: %v", rival.name, rival.from, rival.seed, n, outcomes)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		} else if n < 5 {
			t.Errorf("%s: too few", what)
		}
		t.Log(what)
	}
}
