package recovery_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/recovery/audit"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

func look(t *testing.T, store blob.Store, o recovery.Options) *recovery.Plan {
	t.Helper()
	p, err := recovery.Look(context.Background(), blob.ReadOnly(store), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func execute(t *testing.T, store blob.Store, p *recovery.Plan, o recovery.Options) *recovery.Report {
	t.Helper()
	r, err := recovery.Execute(context.Background(), store, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var atOnce = recovery.Options{Now: true}

// twisted is a state with another record than the one that was left.
func twisted(t *testing.T, op string, k int, edit func(*sidecar.Record)) (blob.Store, string) {
	t.Helper()
	s := stuck.One(t, op, k)
	store, rec := s.Store(t, stuck.Root), s.Record(t)
	edit(rec)
	data, err := rec.Encode()
	if err == nil {
		_, err = store.Put(context.Background(), s.Pending[0], data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return store, s.Pending[0]
}

// Several recoverers at once: each state ends as recorded, with one commit and
// one audit row, whoever did what. OMNIDECK_FULL=1 takes all states.
func TestRecoverersSideBySide(t *testing.T) {
	states := []*stuck.State{
		stuck.One(t, "insert-edge", 3), stuck.One(t, "insert-edge", 5), stuck.One(t, "load-merge", 8), stuck.One(t, "merge", 5),
		stuck.One(t, "update-node", 10), stuck.One(t, "optimize", 50), stuck.One(t, "optimize", 93), stuck.One(t, "schema-apply", 12), stuck.One(t, "schema-apply", 17),
	}
	if stuck.Full() {
		states = stuck.States(t)
	}
	for _, s := range states {
		store := s.Store(t, stuck.Root)
		p := look(t, store, atOnce)
		var all sync.WaitGroup
		errs := make([]error, 4)
		for n := range errs {
			all.Go(func() {
				r, err := recovery.Execute(context.Background(), store, p, atOnce)
				if err == nil && len(r.Settled) == 1 {
					err = r.Settled[0].Err
				}
				errs[n] = err
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Errorf("%s: %v", s, err)
		}
		if again := look(t, store, atOnce); len(again.Items) > 0 { // one who was late wrote it anew: it is settled, and goes
			execute(t, store, again, atOnce)
		}
		s.Recovered(t, store)
		stuck.AtRest(t, store, "")
	}
}

// The branch of an operation is gone: that is noted on main, once, also when a
// pass died between the commit and the row.
func TestOrphanDiscard(t *testing.T) {
	orphan := func(r *sidecar.Record) { r.Branch, r.Plan.Lineage.Branch = "gone", "gone" }
	store, key := twisted(t, "insert-edge", 5, orphan)
	before := stuck.View(t, store, "")
	p := look(t, store, atOnce)
	if len(p.Items) != 1 || p.Items[0].Verdict.Do != txn.OrphanDiscard || len(p.Items[0].Removes) > 0 {
		t.Fatalf("%+v", p.Items)
	}
	dying := fault.New(store, fault.Rule{Match: func(c fault.Call) bool { return fault.Writes(c) && strings.HasPrefix(c.Key, audit.Folder) }, Do: fault.Halt})
	if r, _ := recovery.Execute(context.Background(), dying, p, atOnce); r.Settled[0].Err == nil {
		t.Fatal("the audit row was not written, and nobody says so")
	}
	if r := execute(t, store, p, atOnce); r.Settled[0].Err != nil || r.Settled[0].Published || len(r.Remaining.Items) > 0 {
		t.Errorf("%+v", r.Settled[0])
	}
	after := stuck.View(t, store, "")
	rows := stuck.Audits(t, store)
	if after.Version != before.Version+1 || after.Commits.Len() != before.Commits.Len()+1 || len(rows) != 1 || rows[0].Kind != string(audit.OrphanedBranchDiscarded) {
		t.Errorf("version %d after %d, audit %v", after.Version, before.Version, rows)
	}
	if c, ok := after.Commit(rows[0].Commit); !ok || c.Actor == nil || *c.Actor != txn.Recoverer || !slices.Equal(names(before.Tables), names(after.Tables)) {
		t.Errorf("the commit of recovery is %+v", c)
	}
	if again := execute(t, store, p, atOnce); !again.Settled[0].Gone {
		t.Errorf("%s a second time: %+v", key, again.Settled[0])
	}
}

// What is right is not what was shown: the record is left. That it is gone, or
// only to be retired, is no change.
func TestChangedSinceItWasShown(t *testing.T) {
	s := stuck.One(t, "insert-edge", 5)
	store := s.Store(t, stuck.Root)
	ctx := context.Background()
	p := look(t, store, atOnce)
	foreign, key := twisted(t, "insert-edge", 5, func(r *sidecar.Record) { r.Plan.Authority.IRHash = "sha256:00" })
	obj, err := foreign.Get(ctx, key, blob.All)
	if err != nil {
		t.Fatal(err)
	}
	confirmed, err := store.Get(ctx, key, blob.All)
	if err != nil {
		t.Fatal(err)
	}
	put := func(data []byte) {
		t.Helper()
		if _, err := store.Put(ctx, key, data); err != nil {
			t.Fatal(err)
		}
	}
	put(obj.Data)
	before := stuck.Objects(t, store)
	r := execute(t, store, p, atOnce)
	var changed *recovery.ChangedError
	if !errors.As(r.Settled[0].Err, &changed) || !strings.HasPrefix(changed.Shown, "forward") || !strings.HasPrefix(changed.Now, "back") || len(r.Remaining.Items) != 1 {
		t.Errorf("%+v", r.Settled[0])
	}
	if d := stuck.Differ(before, stuck.Objects(t, store)); d != "" {
		t.Errorf("a record that was left: %s", d)
	}
	put(confirmed.Data)
	if r := execute(t, store, look(t, store, atOnce), atOnce); r.Settled[0].Err != nil {
		t.Fatal(r.Settled[0].Err)
	}
	if r := execute(t, store, p, atOnce); r.Settled[0].Err != nil || !r.Settled[0].Gone {
		t.Errorf("settled by somebody else: %+v", r.Settled[0])
	}
	put(confirmed.Data)
	if r := execute(t, store, p, atOnce); r.Settled[0].Err != nil || r.Settled[0].Do != txn.Finalize {
		t.Errorf("published by somebody else: %+v", r.Settled[0])
	}
	s.Recovered(t, store)
}

// A pass that dies before any of its writes is gone on with: the state ends as
// recorded, with one commit and one audit row.
func TestRecoveryThatDies(t *testing.T) {
	for _, s := range []*stuck.State{
		stuck.One(t, "insert-edge", 3), stuck.One(t, "insert-edge", 5), stuck.One(t, "load-merge", 8), stuck.One(t, "merge", 5), stuck.One(t, "update-node", 10),
		stuck.One(t, "optimize", 40), stuck.One(t, "optimize", 92), stuck.One(t, "optimize", 2), stuck.One(t, "schema-apply", 5), stuck.One(t, "schema-apply", 12), stuck.One(t, "schema-apply", 17),
	} {
		n, err := fault.Sweep(200, pace.Stride(5, func(at int) (bool, error) {
			store := s.Store(t, stuck.Root)
			dying := fault.New(store, fault.Rule{Match: fault.Writes, At: at, Do: fault.Halt})
			ctx := context.Background()
			if _, err := recovery.Execute(ctx, dying, look(t, store, atOnce), atOnce); err != nil {
				return true, err
			}
			r := execute(t, store, look(t, store, atOnce), atOnce)
			for _, x := range r.Settled {
				if x.Err != nil {
					return true, x.Err
				}
			}
			s.Recovered(t, store)
			stuck.AtRest(t, store, "")
			if t.Failed() {
				return true, errors.New("died")
			}
			return dying.Fired() > 0, nil
		}))
		if err != nil || n == 0 {
			t.Errorf("%s: %d places, %v", s, n, err)
		}
	}
}

// Staged schema files that no record owns go where they belong, unless a schema
// apply began meanwhile.
func TestStagingWithoutARecord(t *testing.T) {
	s := stuck.One(t, "schema-apply", 10)
	ctx := context.Background()
	without := func() blob.Store {
		store := s.Store(t, stuck.Root)
		if err := store.Delete(ctx, s.Pending[0]); err != nil {
			t.Fatal(err)
		}
		return store
	}
	store := without()
	p := look(t, store, atOnce)
	if p.Left == nil || len(p.Staged) == 0 || len(p.Items) > 0 {
		t.Fatalf("%+v", p)
	}
	young := recovery.Options{Clock: func() time.Time { return p.Left.Newest }}
	if r := execute(t, store, p, young); !errors.As(r.Staging, new(*recovery.YoungError)) {
		t.Errorf("files that were just written: %v", r.Staging)
	}
	if r := execute(t, store, p, atOnce); r.Staging != nil || r.Remaining.Left != nil || len(r.Remaining.Staged) > 0 {
		t.Errorf("%v, left is %+v", r.Staging, r.Remaining)
	}
	store = without()
	p = look(t, store, atOnce)
	if _, err := store.Put(ctx, s.Pending[0], s.Files[s.Pending[0]]); err != nil {
		t.Fatal(err)
	}
	before := stuck.Objects(t, store)
	if r := execute(t, store, p, atOnce); !errors.As(r.Staging, new(*recovery.ChangedError)) {
		t.Errorf("a schema apply began meanwhile: %v", r.Staging)
	}
	if d := stuck.Differ(before, stuck.Objects(t, store)); d != "" {
		t.Error(d)
	}
}

// However often a recovery looks, what is known of `__manifest` is not read again:
// of each file of its rows one GET, where nothing is cached.
func TestRecoveryReadsWhatIsKnownOnce(t *testing.T) {
	for _, s := range []*stuck.State{stuck.One(t, "load-merge", 8), stuck.One(t, "load-merge", 12)} {
		store := s.Store(t, stuck.Root)
		m := blob.NewMeter(nil, blob.Keep(10_000))
		o := atOnce
		o.Known = &manifest.Known{}
		r, err := recovery.Sweep(blob.WithMeter(context.Background(), m), store, o)
		if err != nil || len(r.Settled) != 1 || r.Settled[0].Err != nil || !r.Settled[0].Published {
			t.Fatalf("%s: %+v, %v", s, r, err)
		}
		read := map[string]int{}
		for _, c := range m.Calls() {
			if c.Op == blob.OpGet && strings.HasPrefix(c.Key, manifest.Folder+"/data/") {
				read[c.Key]++
			}
		}
		for k, n := range read {
			if n > 1 {
				t.Errorf("%s: %s was read %d times", s, k, n)
			}
		}
		if len(read) == 0 || o.Known.Of("") == nil {
			t.Errorf("%s: %d files of rows were read, known is %v", s, len(read), o.Known.Of(""))
		}
	}
}
