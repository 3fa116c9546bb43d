package engine_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/txn"
)

// bytesOf are the names and bytes of all that a store holds.
func bytesOf(t *testing.T, store blob.Store) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for e, err := range store.List(t.Context(), blob.ListOptions{Recursive: true}) {
		if err != nil {
			t.Fatal(err)
		}
		obj, err := store.Get(t.Context(), e.Key, blob.All)
		if err != nil {
			t.Fatal(err)
		}
		out[e.Key] = obj.Data
	}
	return out
}

// pendingStates are some states of each operation that left a record.
func pendingStates(t *testing.T, n int) (out []*stuck.State) {
	t.Helper()
	for _, op := range stuck.Ops {
		var left []*stuck.State
		for _, s := range stuck.States(t, op) {
			if len(s.Pending) > 0 {
				left = append(left, s)
			}
		}
		out = append(out, stuck.Spread(t, n, left)...)
	}
	if len(out) < 5 {
		t.Fatalf("%d states", len(out))
	}
	return out
}

// What info says of a record, the plan says too, and more; planning writes
// nothing; what was shown is done, and then there is nothing to do.
func TestRecoverDoesWhatIsShown(t *testing.T) {
	ctx := context.Background()
	for _, s := range pendingStates(t, 3) {
		store := s.Store(t, stuck.Root)
		before := bytesOf(t, store)
		looking := stuck.Graph(t, store)
		p, err := looking.PlanRecovery(ctx)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if d := stuck.Differ(before, bytesOf(t, store)); d != "" {
			t.Errorf("%s: looking changed %s", s, d)
		}
		agrees(t, s, looking, p)
		g := stuck.Writable(t, store)
		own, err := g.PlanRecovery(ctx)
		if err != nil || len(own.Records) != len(s.Pending) {
			t.Fatalf("%s: %d records: %v", s, len(own.Records), err)
		}
		var steps []engine.RecoveryStep
		r, err := g.Recover(ctx, engine.RecoverOptions{Plan: own, Events: func(e engine.RecoveryEvent) {
			if steps = append(steps, e.Step); e.N != 1 || e.Of != 1 || e.Key != s.Pending[0] || e.Cost.Requests == 0 {
				t.Errorf("%s: %+v", s, e)
			}
		}})
		if err != nil || len(r.Settled) != 1 || !r.Settled[0].Done || r.Refused() != nil || r.Remaining == nil || len(r.Remaining.Records) != len(s.PendingAfter) {
			t.Errorf("%s: %+v: %v", s, r, err)
			continue
		}
		if x, was := r.Settled[0], own.Records[0]; x.Do != was.Do || was.Publishes != "" && x.Commit != was.Publishes || !slices.Equal(x.Removed, was.Removes) || x.Said == "" {
			t.Errorf("%s: shown was %+v, done %+v", s, was, x)
		}
		if steps[0] != engine.RecoveryLooks || steps[len(steps)-1] != engine.RecoverySettles {
			t.Errorf("%s: %v", s, steps)
		}
		if rows := stuck.RowsOf(t, stuck.Graph(t, store)); !maps.Equal(rows, s.After) {
			t.Errorf("%s: rows %v, recorded are %v", s, rows, s.After)
		}
		before = bytesOf(t, store)
		if r, err = g.Recover(ctx, engine.RecoverOptions{}); err != nil || len(r.Settled) > 0 {
			t.Errorf("%s: again: %+v, %v", s, r, err)
		}
		if d := stuck.Differ(before, bytesOf(t, store)); d != "" {
			t.Errorf("%s: recovering nothing changed %s", s, d)
		}
	}
}

// agrees: there is a finding about each record of the plan, which says of a write what
// becomes of it and not only what may.
func agrees(t *testing.T, s *stuck.State, g *engine.Graph, p *engine.RecoveryPlan) {
	t.Helper()
	info, err := g.Info(context.Background(), engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Records {
		n := slices.IndexFunc(info.Findings, func(f engine.Finding) bool { return len(f.Evidence) > 0 && f.Evidence[0].Key == r.Key })
		name := r.Kind + " " + r.Operation + " on branch " + r.Branch
		if n < 0 || !strings.HasPrefix(r.Means, name) || !strings.HasPrefix(info.Findings[n].Title, name) || info.Findings[n].Action.Verb != "recover" {
			t.Errorf("%s: no finding tells of what %q", s, r.Means)
		}
		then := map[engine.RecoveryDo]string{engine.RecoverForward: ": recovery publishes it", engine.RecoverBack: ": recovery takes it back", engine.RecoverDiscard: ", and nothing of it happened"}[r.Do]
		if (r.Kind == "Load" || r.Kind == "Mutation") && !strings.HasSuffix(r.Means, then) {
			t.Errorf("%s: to be done is %s, and it means %q", s, r.Do, r.Means)
		}
		if r.Whose == "" || r.Will == "" || r.Blocks == "" || r.Place != "here" || r.StartedAt.IsZero() || len(r.Tables) == 0 || len(r.Evidence) < 2*len(r.Tables) || r.Danger < 1 {
			t.Errorf("%s: %+v", s, r)
		}
		if r.Stops(p.LookedAt, engine.RecoverOptions{}) == engine.RecoveryReady && r.Removes[len(r.Removes)-1] != r.Key {
			t.Errorf("%s: removes %v", s, r.Removes)
		}
	}
	if s.Locked() != (p.Lock != nil) || p.Lock != nil && (p.Lock.Means == "" || p.Lock.Stale == (len(p.Records) > 0)) {
		t.Errorf("%s: lock %+v", s, p.Lock)
	}
}

// insertPort is a mutation that any state of the harbor takes.
func insertPort(events func(engine.WriteEvent)) engine.MutateOptions {
	return engine.MutateOptions{
		WriteOptions: engine.WriteOptions{Events: events},
		Source:       `query q() { update Port set { name: "Elsewhere" } where code = "NLRTM" }`,
	}
}

// A write that meets what was left half done recovers it first, tells so, and
// lands on top; a plan of it does not. Under the lock of a schema apply the record
// goes and the write is refused.
func TestMutateRecoversFirst(t *testing.T) {
	ctx := context.Background()
	for _, s := range pendingStates(t, 2) {
		store := s.Store(t, stuck.Root)
		g := stuck.Writable(t, store)
		before := bytesOf(t, store)
		if _, err := g.PlanMutate(ctx, insertPort(nil)); !errors.Is(err, txn.ErrRecovery) && !errors.As(err, new(*txn.LockedError)) || !strings.Contains(err.Error(), "`omnideck recover "+stuck.Root+"`") {
			t.Errorf("%s: planned: %v", s, err)
		}
		if d := stuck.Differ(before, bytesOf(t, store)); d != "" {
			t.Errorf("%s: a plan changed %s", s, d)
		}
		var told []string
		_, r, err := g.Mutate(ctx, insertPort(func(e engine.WriteEvent) {
			if e.Step == engine.StepRecovered {
				told = append(told, "__recovery/"+e.Operation+".json")
			}
		}))
		switch locked := errors.As(err, new(*txn.LockedError)); {
		case locked != s.Locked(), !locked && err != nil:
			t.Errorf("%s: %v", s, err)
		case !locked && (r.Commit == nil || r.Attempts != 1 || r.Nodes != 1):
			t.Errorf("%s: %+v", s, r)
		}
		if !slices.Equal(told, s.Pending) || len(stuck.Keys(t, store, "__recovery/")) != len(s.PendingAfter) {
			t.Errorf("%s: told of %v, left are %v", s, told, stuck.Keys(t, store, "__recovery/"))
		}
	}
}

// What nobody may act on ends the write with the name of the record, and nothing
// is changed; a graph that was moved is one of these until it is confirmed.
func TestMutateEndsWhereNobodyMayAct(t *testing.T) {
	ctx := context.Background()
	s := stuck.One(t, "load-merge", 8)
	key := s.Pending[0]
	for name, c := range map[string]struct {
		url  string
		edit func([]byte) []byte
		says string
	}{
		"cut":   {stuck.Root, func(b []byte) []byte { return b[:10] }, key},
		"newer": {stuck.Root, func(b []byte) []byte { return []byte(strings.Replace(string(b), `: 9`, `: 99`, 1)) }, "is of version 99"},
		"moved": {"s3://lab/elsewhere", func(b []byte) []byte { return b }, "when this graph lay at s3://lab/harbor"},
	} {
		files := maps.Clone(s.Files)
		files[key] = c.edit(slices.Clone(files[key]))
		store := stuck.StoreOf(t, c.url, files)
		g := stuck.Writable(t, store)
		before := bytesOf(t, store)
		_, _, err := g.Mutate(ctx, insertPort(nil))
		if !errors.Is(err, txn.ErrRecovery) || !strings.Contains(err.Error(), c.says) || engine.Wrote(err) {
			t.Errorf("%s: %v", name, err)
		}
		r, err := g.Recover(ctx, engine.RecoverOptions{})
		if err != nil || len(r.Settled) != 1 || r.Settled[0].Done || !errors.As(r.Refused(), new(*engine.RecoveryRefusedError)) || len(r.Remaining.Records) != 1 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if d := stuck.Differ(before, bytesOf(t, store)); d != "" {
			t.Errorf("%s: changed %s", name, d)
		}
		if name != "moved" {
			continue
		}
		if r, err = g.Recover(ctx, engine.RecoverOptions{Moved: true}); err != nil || !r.Settled[0].Done {
			t.Errorf("%s, confirmed: %+v, %v", name, r, err)
		}
	}
}

// napping is a graph that is opened for writing and whose clock its own naps alone
// move; slept is told of each.
func napping(t *testing.T, store blob.Store, clock *time.Time, slept func(context.Context, time.Duration) error) *engine.Graph {
	t.Helper()
	g, err := engine.Open(t.Context(), stuck.Root, engine.Options{Store: store, Write: true, NoCache: true, Clock: func() time.Time { return *clock }})
	if err != nil {
		t.Fatal(err)
	}
	g.SetSleep(func(ctx context.Context, d time.Duration) error {
		*clock = clock.Add(d)
		return cmp.Or(slept(ctx, d), ctx.Err())
	})
	return g
}

// A young record is waited for: until its writer ended, or its grace is over.
func TestRecoverWaitsForTheYoung(t *testing.T) {
	s := stuck.One(t, "load-merge", 8)
	for name, c := range map[string]struct {
		gone, now bool
	}{"its writer ends": {gone: true}, "the grace ends": {}, "at once": {now: true}} {
		store := s.Store(t, stuck.Root)
		began, _ := s.Record(t).IDTime()
		clock := began.Add(10 * time.Second)
		naps := 0
		g := napping(t, store, &clock, func(ctx context.Context, _ time.Duration) error {
			if naps++; naps == 3 && c.gone {
				return store.Delete(ctx, s.Pending[0])
			}
			return nil
		})
		p, err := g.PlanRecovery(t.Context())
		if err != nil || p.Records[0].Left(clock) != 20*time.Second || p.Records[0].Stops(clock, engine.RecoverOptions{}) != engine.RecoveryYoung || p.Records[0].Danger != 4 {
			t.Fatalf("%s: %+v, %v", name, p, err)
		}
		if will := p.Records[0].Will; !strings.HasSuffix(will, "; told to do so at once, first publish a commit without a table, so that its writer cannot publish any more") {
			t.Errorf("%s: it says %q", name, will)
		}
		before := stuck.View(t, store, "").Version
		waits, forbids := 0, ""
		r, err := g.Recover(t.Context(), engine.RecoverOptions{Now: c.now, Events: func(e engine.RecoveryEvent) {
			if e.Step == engine.RecoveryForbids {
				forbids += e.Commit
			}
			if e.Step != engine.RecoveryWaits {
				return
			}
			if waits++; !e.Until.Equal(began.Add(30 * time.Second)) {
				t.Errorf("%s: until %s", name, e.Until)
			}
		}})
		if err != nil || len(r.Settled) != 1 || !r.Settled[0].Done || r.Settled[0].Waited == c.now || (waits > 0) == c.now {
			t.Fatalf("%s: %+v, %v, %d waits", name, r, err, waits)
		}
		want := map[string]int{"its writer ends": 3, "the grace ends": 21, "at once": 0}[name]
		if waits != naps { // each time, or nobody could count down
			t.Errorf("%s: told %d times in %d naps", name, waits, naps)
		}
		if naps != want || (r.Settled[0].Commit == "") != c.gone {
			t.Errorf("%s: %d naps, %+v", name, naps, r.Settled[0])
		}
		if _, there := stuck.View(t, store, "").Commit(forbids); there != c.now {
			t.Errorf("%s: told was that commit %q keeps its writer from publishing", name, forbids)
		}
		made := map[string]uint64{"its writer ends": 0, "the grace ends": 1, "at once": 2}[name]
		if after := stuck.View(t, store, "").Version; after != before+made {
			t.Errorf("%s: version %d of __manifest after %d, expected %d more", name, after, before, made)
		}
	}
}

// Whoever ends a wait before anything was begun has written nothing.
func TestRecoverEndedWhileWaiting(t *testing.T) {
	s := stuck.One(t, "load-merge", 8)
	store := s.Store(t, stuck.Root)
	began, ok := s.Record(t).IDTime()
	if !ok {
		t.Fatal("the record has no time")
	}
	g, err := engine.Open(t.Context(), stuck.Root, engine.Options{Store: store, Write: true, NoCache: true, Clock: func() time.Time { return began }})
	if err != nil {
		t.Fatal(err)
	}
	before := bytesOf(t, store)
	g.SetSleep(func(context.Context, time.Duration) error { return context.Canceled })
	if _, err := g.Recover(t.Context(), engine.RecoverOptions{}); !errors.Is(err, context.Canceled) || engine.Wrote(err) {
		t.Errorf("%v", err)
	}
	if d := stuck.Differ(before, bytesOf(t, store)); d != "" {
		t.Errorf("changed %s", d)
	}
}

// A plan of another process, an id that is not there, a graph that is open for
// looking, and an end in the middle.
func TestRecoverRefusesWhatItCannotKnow(t *testing.T) {
	s := stuck.One(t, "load-merge", 8)
	store := s.Store(t, stuck.Root)
	g := stuck.Writable(t, store)
	before := bytesOf(t, store)
	if _, err := g.Recover(t.Context(), engine.RecoverOptions{Plan: &engine.RecoveryPlan{}}); !errors.As(err, new(*engine.UsageError)) {
		t.Error(err)
	}
	if _, err := g.Recover(t.Context(), engine.RecoverOptions{Only: []string{"01ABC"}}); !errors.As(err, new(*engine.NotFoundError)) {
		t.Error(err)
	}
	if _, err := stuck.Graph(t, store).Recover(t.Context(), engine.RecoverOptions{}); !errors.Is(err, blob.ErrReadOnly) {
		t.Error(err)
	}
	p, err := g.PlanRecovery(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := stuck.Differ(before, bytesOf(t, store)); d != "" {
		t.Errorf("changed %s", d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Recover(ctx, engine.RecoverOptions{Plan: p}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if r, err := g.Recover(t.Context(), engine.RecoverOptions{Only: []string{s.Pending[0]}}); err != nil || !r.Settled[0].Done {
		t.Errorf("by its key: %+v, %v", r, err)
	}
	if r, err := g.Recover(t.Context(), engine.RecoverOptions{Plan: p}); err != nil || len(r.Settled) != 1 || !r.Settled[0].Done || r.Settled[0].Commit != "" {
		t.Errorf("what another did: %+v, %v", r, err)
	}
}

// What docs/REQUESTS.md says recovery asks for.
func TestRecoverRequests(t *testing.T) {
	count := func(do func(context.Context) error) int64 {
		m := blob.NewMeter(nil)
		if err := do(blob.WithMeter(t.Context(), m)); err != nil {
			t.Fatal(err)
		}
		return m.Totals().Requests
	}
	plan := func(g *engine.Graph) func(context.Context) error {
		return func(ctx context.Context) error { _, err := g.PlanRecovery(ctx); return err }
	}
	act := func(g *engine.Graph) func(context.Context) error {
		return func(ctx context.Context) error {
			r, err := g.Recover(ctx, engine.RecoverOptions{Now: true})
			return errors.Join(err, r.Refused())
		}
	}
	for _, c := range []struct {
		op         string
		k          int
		look, does int64
	}{
		{"update-node", 0, 5, 5},    // nothing is pending
		{"update-node", 3, 15, 26},  // discard
		{"update-node", 9, 16, 41},  // forward
		{"load-merge", 8, 19, 61},   // back, two tables of three
		{"update-node", 10, 17, 37}, // finalize
	} {
		s := stuck.One(t, c.op, c.k)
		store := s.Store(t, stuck.Root)
		look, does := count(plan(stuck.Graph(t, store))), count(act(stuck.Writable(t, store)))
		if look != c.look || does != c.does {
			t.Errorf("%s: looking asked for %d, %d are documented; acting for %d, %d are documented", s, look, c.look, does, c.does)
		}
	}
	s := stuck.One(t, "load-merge", 8) // its writer is kept from publishing first
	began, ok := s.Record(t).IDTime()
	if !ok {
		t.Fatal("the record has no time")
	}
	young := func() *engine.Graph {
		g, err := engine.Open(t.Context(), stuck.Root, engine.Options{Store: s.Store(t, stuck.Root), Write: true, NoCache: true, Clock: func() time.Time { return began }})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	if look, does := count(plan(young())), count(act(young())); look != 19 || does != 78 {
		t.Errorf("%s at once: looking asked for %d, 19 are documented; acting for %d, 78 are documented", s, look, does)
	}
}

// Staged schema files that no record owns are shown with what is right about them,
// waited for while they may be those of an apply at work, and then brought there.
func TestRecoverStagedFilesWithoutARecord(t *testing.T) {
	s := stuck.One(t, "schema-apply", 10)
	for name, waits := range map[string]bool{"young": true, "old": false} {
		store := s.Store(t, stuck.Root)
		if err := store.Delete(t.Context(), s.Pending[0]); err != nil {
			t.Fatal(err)
		}
		var clock time.Time
		var naps time.Duration
		g := napping(t, store, &clock, func(_ context.Context, d time.Duration) error { naps += d; return nil })
		for e, err := range store.List(t.Context(), blob.ListOptions{Prefix: "_schema."}) {
			if err != nil {
				t.Fatal(err)
			}
			if clock = e.ModTime.Add(10 * time.Second); !waits {
				clock = e.ModTime.Add(time.Hour)
			}
		}
		p, err := g.PlanRecovery(t.Context())
		if err != nil || p.Staging == nil || len(p.Records) > 0 || p.Staging.Do != "delete" || p.Staging.WaitUntil.IsZero() == waits {
			t.Fatalf("%s: %+v, %v", name, p, err)
		}
		r, err := g.Recover(t.Context(), engine.RecoverOptions{})
		if err != nil || r.Staging == nil || !r.Staging.Done || !slices.Equal(r.Staging.Keys, p.Staging.Keys) || (naps > 0) != waits {
			t.Fatalf("%s: %+v, %v, waited for %s", name, r, err, naps)
		}
		for _, k := range p.Staging.Keys {
			if _, err := store.Head(t.Context(), k); !errors.Is(err, blob.ErrNotExist) {
				t.Errorf("%s: %s: %v", name, k, err)
			}
		}
		if r, err = g.Recover(t.Context(), engine.RecoverOptions{}); err != nil || r.Staging != nil {
			t.Errorf("%s: again: %+v, %v", name, r, err)
		}
	}
}
