package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/engine"
)

// A writer that was slow, and is taken for dead, goes on between the look at its
// record and the next one: what is right is another thing then. Nobody was shown
// what it was before, so that recovery looks again; by a plan it does not.
func TestRecoverBesideAWriterThatGoesOn(t *testing.T) {
	for _, planned := range []bool{false, true} {
		store, _ := filled(t, library, shelf)
		here, resume, ended := make(chan bool), make(chan bool), make(chan error, 1)
		writer := fault.New(store,
			fault.Rule{Match: movesTable, Do: func(ctx context.Context, a *fault.Attempt) error { close(here); <-resume; return a.Perform(ctx) }},
			fault.Rule{Match: putsRecord, At: 1, Do: fault.Halt})
		go func() {
			_, _, err := writable(t, writer).Mutate(context.Background(), engine.MutateOptions{Source: `query q() { update Book set { pages: 9 } where isbn = "a" }`})
			ended <- err
		}()
		<-here
		reads := fault.New(store, fault.Rule{At: 1, Match: func(c fault.Call) bool { return c.Op == blob.OpGet && strings.HasPrefix(c.Key, "__recovery/") },
			Do: fault.Rival(func(context.Context, blob.Store) error { close(resume); <-ended; return nil })})
		g, err := engine.Open(t.Context(), "mem://case", engine.Options{Store: reads, Write: true, NoCache: true, Clock: func() time.Time { return time.Now().Add(time.Minute) }})
		if err != nil {
			t.Fatal(err)
		}
		o := engine.RecoverOptions{}
		if planned {
			if o.Plan, err = g.PlanRecovery(t.Context()); err != nil || len(o.Plan.Records) != 1 || o.Plan.Records[0].Do != engine.RecoverDiscard {
				t.Fatalf("%+v, %v", o.Plan, err)
			}
		}
		r, err := g.Recover(t.Context(), o)
		if err != nil || reads.Fired() != 1 || len(r.Settled) != 1 || r.Settled[0].Done == planned || (r.Refused() != nil) != planned || len(r.Remaining.Records) != map[bool]int{true: 1}[planned] {
			t.Errorf("planned %v: %+v, %v", planned, r, err)
		}
		if planned {
			continue
		}
		if r.Settled[0].Do != engine.RecoverBack || strings.Contains(keys(t, store), "__recovery/") {
			t.Errorf("%+v", r.Settled[0])
		}
		sound(t, store)
	}
}

// movesTable matches what makes a version of a table, putsRecord what writes a record.
func movesTable(c fault.Call) bool {
	return c.Op == blob.OpPut && strings.HasPrefix(c.Key, "nodes/") && strings.Contains(c.Key, "/_versions/")
}

func putsRecord(c fault.Call) bool {
	return c.Op == blob.OpPut && strings.HasPrefix(c.Key, "__recovery/")
}
