package recovery_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/stuck"
)

// every is how many of the places of a sweep are tried: one in n, fewer under the
// race detector; all of them when everything is asked for.
func every(n int) int {
	if stuck.Full() {
		return 1
	}
	return pace.Of(n, 3*n)
}

// A writer stands still before one of its stages while it is taken for dead; at
// each call of the recovery, up to that which removes the record, it goes on, up to
// another stage, before which it dies.
func TestWriterGoesOnBesideItsRecovery(t *testing.T) {
	x := newSmall(t)
	place, calls := 0, 0
	for at := range stages {
		for dies := at + 1; dies <= len(stages); dies++ {
			for _, now := range []bool{false, true} {
				n, err := fault.Sweep(400, func(n int) (bool, error) {
					call := n*every(9) + place%every(9)
					met := x.goesOn(at, dies, call, now)
					return met, nil
				})
				place++
				if err != nil {
					t.Fatal(err)
				}
				calls = max(calls, n)
			}
		}
	}
	t.Logf("%d runs, %d ends, %d calls", x.runs, len(x.seen), calls)
}

func (x *small) goesOn(at, dies, call int, now bool) (met bool) {
	x.Helper()
	what := fmt.Sprintf("stopped at %v, goes on at call %d up to stage %d, now %v", stages[at], call, dies, now)
	store, c := x.start.Clone(), x.clock()
	w := x.stop(store, c, at, dies)
	if w == nil {
		x.Fatalf("%s: it never came there", what)
	}
	if !now {
		c.pass(31 * time.Second)
	}
	var ended told
	deleted, over := false, false
	s := fault.New(store, fault.Rule{
		Match: func(k fault.Call) bool {
			over = deleted
			deleted = deleted || kindOf(k) == "delete record"
			return !over
		},
		At: call,
		Do: fault.Rival(func(context.Context, blob.Store) error { ended = w.goesOn(); return nil }),
	})
	err := recoverOver(s, recoverer(c, now, 5))
	if met = s.Fired() > 0; !met {
		ended = w.goesOn()
		if over && dies < len(stages) { // nobody sees what it does after that
			return false
		}
	}
	if !fine(err) {
		x.Logf("%s: recovery says %v", what, err)
	}
	x.ends(what, store, c, ended, told{})
	return met
}

// At each call of a live writer a recovery comes that takes it for dead and dies
// before each of its own writes; then the writer goes on.
func TestWriterBesideARecoveryThatDies(t *testing.T) {
	for _, now := range []bool{false, true} {
		t.Run(fmt.Sprint("at once ", now), func(t *testing.T) {
			x := newSmall(t)
			for dies, died := 0, true; died; dies++ {
				died = false
				_, err := fault.Sweep(400, func(n int) (bool, error) {
					return x.dyingBeside(n*every(5)+dies%every(5), dies, now, &died), nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d runs, %d ends", x.runs, len(x.seen))
		})
	}
}

func (x *small) dyingBeside(call, dies int, now bool, died *bool) (met bool) {
	x.Helper()
	what := fmt.Sprintf("before call %d of the writer a recovery dies before write %d, at once %v", call, dies, now)
	store, c := x.start.Clone(), x.clock()
	rival := fault.Rival(func(_ context.Context, inner blob.Store) error {
		if !now {
			c.pass(31 * time.Second)
		}
		dying := fault.New(inner, fault.Rule{Match: fault.Writes, At: dies, Do: fault.Halt})
		_ = recoverOver(dying, recoverer(c, now, 5))
		*died = *died || dying.Halted()
		return nil
	})
	s := fault.New(store, fault.Rule{At: call, Do: rival})
	r, err := x.writer(s, c, 2).load(smallWrite)
	x.ends(what, store, c, toldBy(r, err, false), told{})
	return s.Fired() > 0
}

// At each call of a recovery another writer of the branch comes, which may have to
// recover the same record first, and dies before each of its own writes: then there
// are two records, and each is settled as what it is.
func TestRecoveryBesideANewWriterThatDies(t *testing.T) {
	for n, at := range []int{1, 2, 3, 4, 5} { // discard, back, back, forward, finalize
		t.Run(fmt.Sprint(stages[at]), func(t *testing.T) {
			x := newSmall(t)
			for dies, died := 0, true; died; dies++ {
				died = false
				_, err := fault.Sweep(400, func(k int) (bool, error) {
					return x.newWriter(at, k*every(43)+(n+dies*7)%every(43), dies, &died), nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d runs, %d ends", x.runs, len(x.seen))
		})
	}
}

func (x *small) newWriter(at, call, dies int, died *bool) (met bool) {
	x.Helper()
	what := fmt.Sprintf("dead before %v; at call %d of its recovery a writer dies before write %d", stages[at], call, dies)
	store, c := x.start.Clone(), x.clock()
	r, err := x.writer(fault.New(store, stages[at].rule(fault.Halt)), c, 2).load(smallWrite)
	if err == nil && at != 5 {
		x.Fatal(what, r)
	}
	c.pass(31 * time.Second)
	next := told{}
	rival := fault.Rival(func(_ context.Context, inner blob.Store) error {
		dying := fault.New(inner, fault.Rule{Match: fault.Writes, At: dies, Do: fault.Halt})
		r, err := x.next(dying, c)
		next = toldBy(r, err, dying.Halted())
		*died = *died || dying.Halted()
		return nil
	})
	s := fault.New(store, fault.Rule{At: call, Do: rival})
	err = recoverOver(s, recoverer(c, false, 5))
	if met = s.Fired() > 0; !met {
		return false
	}
	if !fine(err) {
		x.Errorf("%s: %v", what, err)
	}
	x.ends(what, store, c, told{}, next)
	return true
}

// A slow writer looked whether a table was moved, and before he removes his record
// a recovery, which had begun in time, restores one and dies: he looks again, and
// the record is there for whoever comes next.
func TestRestoreBetweenTheLookAndTheRemoval(t *testing.T) {
	x := newSmall(t)
	store, c := x.start.Clone(), x.clock()
	confirms, retires := newStop(), newStop()
	writer := fault.New(store, stages[3].rule(confirms.action), stages[5].rule(retires.action))
	p, ended := x.writer(writer, c, 2), make(chan told, 1)
	go func() {
		r, err := p.load(smallWrite)
		if err == nil && r.Warning == nil {
			t.Error("the record was removed though a table was moved, and nobody says so")
		}
		ended <- toldBy(r, err, false)
	}()
	<-confirms.here
	c.pass(31 * time.Second)
	dying := fault.New(store, fault.Rule{Match: stages[1].matches, Do: func(ctx context.Context, a *fault.Attempt) error {
		close(confirms.resume)
		select {
		case <-retires.here:
		case w := <-ended:
			ended <- w // it never came there
		}
		return a.Perform(ctx)
	}}, fault.Rule{Match: stages[2].matches, At: 1, Do: fault.Halt})
	if err := recoverOver(dying, recoverer(c, false, 5)); err == nil || !dying.Halted() {
		t.Fatalf("it did not die: %v", err)
	}
	close(retires.resume)
	w := <-ended
	if !w.acked || len(stuck.Keys(t, store, "__recovery/")) != 1 {
		t.Errorf("the writer was told %v, records %v", w.err, stuck.Keys(t, store, "__recovery/"))
	}
	x.ends("restored between", store, c, w, told{})
}

// stop is a call that stands still until it may go on.
type stop struct{ here, resume chan struct{} }

func newStop() stop { return stop{make(chan struct{}), make(chan struct{})} }

func (s stop) action(ctx context.Context, a *fault.Attempt) error {
	close(s.here)
	<-s.resume
	return a.Perform(ctx)
}
