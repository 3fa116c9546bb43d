package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/recovery/audit"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// At each call of a recovery another one runs, and dies before each of its
// writes, or ends: whoever did what, the state ends as recorded, with one commit
// and one audit row that says what the record said. OMNIDECK_FULL=1 takes all
// pairs of both places, else it is one in six of each state.
func TestRecoveryBesideOneThatDies(t *testing.T) {
	for _, s := range []*stuck.State{
		stuck.One(t, "insert-edge", 5), stuck.One(t, "load-merge", 8), stuck.One(t, "merge", 5), stuck.One(t, "optimize", 93), stuck.One(t, "schema-apply", 12), stuck.One(t, "schema-apply", 14), stuck.One(t, "schema-apply", 17),
	} {
		t.Run(fmt.Sprint(s.Op, s.K), func(t *testing.T) {
			t.Parallel()
			pairs, every := 0, pace.Of(6, 30)
			if stuck.Full() {
				every = 1
			}
			for dies := 0; ; dies++ {
				died := false
				n, err := fault.Sweep(2000, func(n int) (bool, error) {
					at := n*every + dies%every
					first := pair(t, s, at, dies, &died)
					pairs++
					if t.Failed() {
						return true, fmt.Errorf("call %d, write %d", at, dies)
					}
					return first, nil
				})
				if err != nil || n == 0 {
					t.Fatalf("%d places, %v", n, err)
				}
				if !died {
					break
				}
			}
			t.Logf("%d pairs", pairs)
		})
	}
}

// pair recovers a state, while another recovery runs at a call of the first up to
// one of its own writes. reached says that there was such a call.
func pair(t *testing.T, s *stuck.State, at, dies int, died *bool) (reached bool) {
	t.Helper()
	store := s.Store(t, stuck.Root)
	p := look(t, store, atOnce)
	ctx := context.Background()
	rival := fault.Rival(func(ctx context.Context, inner blob.Store) error {
		dying := fault.New(inner, fault.Rule{Match: fault.Writes, At: dies, Do: fault.Halt})
		_, err := recovery.Execute(ctx, dying, p, atOnce)
		*died = *died || dying.Halted()
		return err
	})
	first := fault.New(store, fault.Rule{At: at, Do: rival})
	r, err := recovery.Execute(ctx, first, p, atOnce)
	for n := 0; err == nil && n < len(r.Settled); n++ {
		err = r.Settled[n].Err
	}
	if err != nil {
		t.Errorf("%s, call %d, write %d: %v", s, at, dies, err)
	}
	for _, x := range execute(t, store, look(t, store, atOnce), atOnce).Settled {
		if err = errors.Join(err, x.Err); x.Err != nil {
			t.Errorf("%s, call %d, write %d, afterwards: %v", s, at, dies, x.Err)
		}
	}
	s.Recovered(t, store)
	stuck.AtRest(t, store, "")
	return first.Fired() > 0
}

// A record that its writer wrote anew, after it was taken back: the row says what
// was taken back all the same, a dataset that is gone included.
func TestARecordWrittenAnewAfterItsRollBack(t *testing.T) {
	store, key := twisted(t, "schema-apply", 14, func(r *sidecar.Record) { r.Plan.Authority.IRHash = "sha256:00" })
	ctx := context.Background()
	confirmed, err := store.Get(ctx, key, blob.All)
	if err != nil {
		t.Fatal(err)
	}
	p := look(t, store, atOnce)
	shown := p.Items[0].Verdict
	if shown.Do != txn.Back || len(shown.Outcomes) != 2 || shown.Guessed {
		t.Fatalf("%+v", shown)
	}
	dying := fault.New(store, fault.Rule{Match: func(c fault.Call) bool { return fault.Writes(c) && strings.HasPrefix(c.Key, audit.Folder) }, Do: fault.Halt})
	if r, _ := recovery.Execute(ctx, dying, p, atOnce); r.Settled[0].Err == nil || !r.Settled[0].Published {
		t.Fatalf("%+v", r.Settled[0])
	}
	if v := look(t, store, atOnce).Items[0].Verdict; v.Guessed || !v.RolledBack || !slices.Equal(v.Outcomes, shown.Outcomes) {
		t.Errorf("by the record that was decided: %+v", v)
	}
	if _, err := store.Put(ctx, key, confirmed.Data); err != nil {
		t.Fatal(err)
	}
	p = look(t, store, atOnce)
	if v := p.Items[0].Verdict; !v.Guessed || !v.RolledBack {
		t.Errorf("by the record that was written anew: %+v", v)
	}
	if r := execute(t, store, p, atOnce); r.Settled[0].Err != nil {
		t.Fatal(r.Settled[0].Err)
	}
	rows, err := audit.Read(ctx, store, audit.Options{})
	if err != nil || len(rows) != 1 || rows[0].Kind != audit.RolledBack || !slices.Equal(rows[0].Outcomes, shown.Outcomes) {
		t.Errorf("audit %+v, %v, expected are the outcomes %+v", rows, err, shown.Outcomes)
	}
	stuck.AtRest(t, store, "")
}
