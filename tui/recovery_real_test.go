package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/runner"
	"github.com/omnideck/omnideck/tui/workspace"
)

// dying is a mutation of the embedded graph that moves a node and its edges.
const dying = `query drop() { delete Port where country = "NL" }`

// halted is the embedded graph after a writer that died at its at-th request that
// changes the store; pending is how many records it left. died is false when it
// came to its end before.
func halted(t *testing.T, at int, remote bool) (store *watched, died bool, pending int) {
	t.Helper()
	store = writableDemo(t, remote)
	broken := fault.New(store.Store, fault.Rule{Match: fault.Writes, At: at, Every: true, Do: fault.Halt})
	g, err := engine.Open(t.Context(), "mem://midlife", engine.Options{Store: broken, NoCache: true, Write: true, Clock: clockAt(look)})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = g.Mutate(t.Context(), engine.MutateOptions{Source: dying})
	if died = broken.Fired() > 0; !died && err != nil {
		t.Fatal(err)
	}
	return store, died, len(recordsIn(t, store))
}

// clockAt is a clock that stands.
func clockAt(at time.Time) func() time.Time { return func() time.Time { return at } }

func recordsIn(t *testing.T, store *watched) (keys []string) {
	t.Helper()
	for e, err := range store.List(t.Context(), blob.ListOptions{Prefix: "__recovery/"}) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, e.Key)
	}
	return keys
}

// portsIn are the rows of the two tables that the mutation moves, as export prints
// them.
func portsIn(t *testing.T, store *watched) string {
	t.Helper()
	g, err := engine.Open(t.Context(), "mem://midlife", engine.Options{Store: store.Store, NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := g.Export(t.Context(), &out, engine.At{}, nil); err != nil {
		t.Fatal(err)
	}
	v, err := g.Verify(t.Context(), engine.VerifyOptions{})
	if err != nil || !v.Clean {
		t.Errorf("the graph is not clean: %v, %+v", err, v.Problems)
	}
	return out.String()
}

// openLater opens the program so long after the writer died.
func openLater(t *testing.T, store *watched, after time.Duration, o Options, w, h int) *live {
	t.Helper()
	begin := time.Now()
	now := func() time.Time { return look.Add(after + time.Since(begin)) }
	o.URI, o.Now = "mem://midlife", now
	if o.Screen == "" {
		o.Screen = "tables"
	}
	o.Open = func(ctx context.Context, uri string) (workspace.Workspace, error) {
		return workspace.Open(ctx, uri, engine.Options{Store: store, NoCache: true, Write: true, Clock: now})
	}
	l := start(t, o, w, h)
	l.Wait(2 * time.Second)
	return l
}

// TestRecoveringThroughTheWholeProgram: a writer dies at every request that changes
// the store; whoever then looks is told, before the first write is shown what would
// be done, nothing is written until it is confirmed, and afterwards all of it or
// nothing of it is there.
func TestRecoveringThroughTheWholeProgram(t *testing.T) {
	whole, _, _ := halted(t, 1000, false)
	before, after := portsIn(t, writableDemo(t, false)), portsIn(t, whole)
	if before == after {
		t.Fatal("the mutation changes nothing: the test says nothing")
	}
	met := map[string]int{}
	for at := 0; ; at += pace.Of(1, 4) {
		last := false
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, died, pending := halted(t, at, false)
				if last = !died; last {
					return
				}
				l := openLater(t, store, time.Minute, Options{}, 100, 30)
				if pending == 0 {
					l.lacks(t, "recover")
					met["nothing"]++
					l.close(t)
					return
				}
				l.has(t, "1 recovery pending")
				l.Key("W")
				l.Wait(3 * time.Second)
				l.has(t, "Before the first write", "1 record pending", "esc on to mutate")
				if n := store.writes.Load(); n != 0 {
					t.Errorf("%d writes while only looking", n)
				}
				met[string(l.m.writer.Options().Plan.Records[0].Do)]++
				l.confirm()
				l.Wait(3 * time.Second)
				l.has(t, "receipt", "1 of 1 record recovered", "remains       nothing")
				l.lacks(t, "recovery pending")
				l.Key("enter")
				if l.m.writer == nil || l.m.writer.Verb() != "mutate" {
					t.Error("the write does not go on")
				}
				if keys := recordsIn(t, store); len(keys) != 0 {
					t.Errorf("left is %v", keys)
				}
				if rows := portsIn(t, store); rows != before && rows != after {
					t.Error("half of the mutation is there")
				}
				l.close(t)
			})
		})
		if last {
			break
		}
	}
	t.Logf("met: %v", met)
	if !pace.Race && (met["back"] == 0 || met["forward"]+met["finalize"] == 0) {
		t.Errorf("met are only %v", met)
	}
}

// armed is the place at which a writer that dies leaves a record.
func armed(t *testing.T, remote bool) *watched {
	t.Helper()
	for at := range 100 {
		if store, died, pending := halted(t, at, remote); died && pending > 0 {
			return store
		}
	}
	t.Fatal("no place leaves a record")
	return nil
}

// A young record counts down; its writer ends it meanwhile, and that is told.
func TestARecordVanishesWhileItIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := armed(t, false)
		l := openLater(t, store, 10*time.Second, Options{}, 100, 30)
		l.has(t, "may be acted on in 18 s")
		l.Key("V")
		l.Wait(2 * time.Second)
		l.has(t, "waits ", "nothing can be done now; 1 waits")
		g, err := engine.Open(t.Context(), "mem://midlife", engine.Options{Store: store.Store, NoCache: true, Write: true, Clock: clockAt(look.Add(time.Minute))})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := g.Recover(t.Context(), engine.RecoverOptions{}); err != nil || len(r.Settled) != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		l.Wait(20 * time.Second)
		l.has(t, "is not there any more", "nothing is pending")
		l.lacks(t, "recovery pending")
		if n := store.writes.Load(); n != 0 {
			t.Errorf("%d writes while only looking", n)
		}
		l.close(t)
	})
}

// H does not wait; a record that became another thing since it was shown is left,
// and the receipt says so.
func TestRecoverAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := armed(t, false)
		l := openLater(t, store, 5*time.Second, Options{}, 100, 30)
		l.Key("V")
		l.Wait(2 * time.Second)
		l.Key("H")
		l.Wait(time.Second)
		l.has(t, "At once: be sure", "--apply --now")
		l.confirm()
		l.Wait(3 * time.Second)
		l.has(t, "1 of 1 record recovered", "remains       nothing")
		l.close(t)
	})
}

// A locked graph is unlocked by its name, and then shows what is pending; the store
// sees no write before it is confirmed.
func TestUnlockingShowsWhatIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := armed(t, true)
		l := openLater(t, store, time.Hour, Options{}, 100, 30)
		l.has(t, " RO ", "1 recovery pending, 1 h old")
		l.Key("U")
		l.Wait(time.Second)
		l.has(t, "1 recovery pending", "is shown next")
		l.Key("m", "i", "d", "l", "i", "f", "e", "enter")
		l.Wait(3 * time.Second)
		l.has(t, " RW ", "Writing is unlocked", "1 record pending")
		if n := store.writes.Load(); n != 0 {
			t.Errorf("%d writes before anything was confirmed", n)
		}
		l.confirm()
		l.Wait(3 * time.Second)
		l.has(t, "1 of 1 record recovered")
		if store.writes.Load() == 0 || l.m.writer.Step() != runner.Written {
			t.Errorf("%d writes, step %d", store.writes.Load(), l.m.writer.Step())
		}
		l.close(t)
	})
}

// The store fails while it recovers: it is said, nothing is lost, and looking again
// carries on.
func TestRecoveryThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := armed(t, false)
		inner := store.Store
		l := openLater(t, store, time.Hour, Options{}, 100, 30)
		l.Key("V")
		l.Wait(2 * time.Second)
		store.Store = fault.New(inner, fault.Rule{Match: fault.Writes, Every: true, Do: fault.FailWith(errors.New("the disk is full"))})
		l.confirm()
		l.Wait(5 * time.Minute) // it is tried again for a while
		l.has(t, "the disk is full", "r look again")
		store.Store = inner
		l.Key("r")
		l.Wait(2 * time.Second)
		l.has(t, "review")
		l.confirm()
		l.Wait(3 * time.Second)
		l.has(t, "1 of 1 record recovered", "remains       nothing")
		l.close(t)
	})
}
