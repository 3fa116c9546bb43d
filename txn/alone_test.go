package txn_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
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

// lateList is a store in which f runs at the first look at the records after a
// record was written, when whatever is asked beside it has been answered.
type lateList struct {
	blob.Store
	armed atomic.Bool
	done  atomic.Bool
	f     func()
}

func (s *lateList) Put(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	if strings.HasPrefix(key, "__recovery/") {
		s.armed.Store(true)
	}
	return s.Store.Put(ctx, key, data)
}

func (s *lateList) List(ctx context.Context, o blob.ListOptions) iter.Seq2[blob.Entry, error] {
	if s.armed.Load() && strings.HasPrefix(o.Prefix, "__recovery") && s.done.CompareAndSwap(false, true) {
		synctest.Wait()
		s.f()
	}
	return s.Store.List(ctx, o)
}

// A writer that was past its own look when ours wrote its record, and publishes
// and retires while ours looks, is seen: the head is asked after the records.
func TestARivalThatRetiresDuringTheLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := demo(t)
		port, company := ids(t, s, ports)[0], ids(t, s, companies)[0]
		armed, goOn, ended := make(chan bool), make(chan bool), make(chan error)
		theirs := writing(2)
		theirs.Events = after(txn.StepArmed, func() { close(armed); <-goOn })
		ours := writing(1)
		ours.Events = after(txn.StepChecked, func() {
			go func() {
				_, err := txn.Run(context.Background(), s, theirs, plan(txn.Additive, set(companies, company, "name", "Theirs")))
				ended <- err
			}()
			<-armed
		})
		late := &lateList{Store: s, f: func() {
			close(goOn)
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}}
		r := run(t, late, ours, txn.Additive, set(ports, port, "name", "Ours"))
		if now := look(t, s); !late.done.Load() || r.Attempts != 2 || now.text(t, ports, port, "name") != "Ours" || now.text(t, companies, company, "name") != "Theirs" || len(recordsIn(t, s)) > 0 {
			t.Errorf("%d attempts, records %v", r.Attempts, recordsIn(t, s))
		}
	})
}
