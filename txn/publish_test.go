package txn_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/localfs"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
)

// onDisk is the embedded graph in a folder.
func onDisk(t testing.TB) *localfs.Store {
	t.Helper()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for key, data := range files {
		p := dir + "/" + key
		if err := os.MkdirAll(p[:len(p)-len(key)]+parent(key), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := localfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func parent(key string) string {
	for i := len(key) - 1; i >= 0; i-- {
		if key[i] == '/' {
			return key[:i]
		}
	}
	return ""
}

func portIDs(t testing.TB, s blob.Store) []string { return ids(t, s, ports) }

func TestWriteSeveralTables(t *testing.T) {
	for name, s := range map[string]blob.Store{"memory": demo(t), "disk": onDisk(t)} {
		t.Run(name, func(t *testing.T) {
			before := look(t, s)
			port, company := ids(t, s, ports)[0], ids(t, s, companies)[0]
			var steps []txn.Step
			o := writing(1)
			actor := "ann"
			o.Actor = &actor
			o.Events = func(e txn.Event) {
				steps = append(steps, e.Step)
				if e.Cost.Requests == 0 || e.Attempt != 1 {
					t.Errorf("%+v", e)
				}
			}
			r := run(t, s, o, txn.Strict, set(ports, port, "name", "Elsewhere"), set(companies, company, "name", "Others"))
			after := look(t, s)
			after.atRest(t)
			if got := after.text(t, ports, port, "name") + after.text(t, companies, company, "name"); got != "ElsewhereOthers" {
				t.Errorf("read %q", got)
			}
			if r.Commit.Parent != before.head() || after.head() != r.Commit.ID || r.Commit.ManifestVersion != before.view.Version+1 || after.view.Version != r.Commit.ManifestVersion {
				t.Errorf("%+v after %s", r.Commit, before.head())
			}
			if c, ok := after.view.State.Commit(r.Commit.ID); !ok || c.Actor == nil || *c.Actor != actor || c.CreatedAt != r.Commit.CreatedAt {
				t.Errorf("%+v", c)
			}
			if w := r.Warm.View; w.Version != after.view.Version || !reflect.DeepEqual(w.Tables, after.view.Tables) || !maps.Equal(w.Heads, after.view.Heads) || w.Commits.Len() != after.view.Commits.Len() {
				t.Errorf("in memory %+v, read %+v", w.Tables, after.view.Tables)
			}
			want := []txn.Step{txn.StepCaptured, txn.StepPrepared, txn.StepChecked, txn.StepArmed, txn.StepEffect, txn.StepEffect, txn.StepConfirmed, txn.StepPublished, txn.StepRetired}
			if !slices.Equal(steps, want) {
				t.Errorf("steps %v", steps)
			}
			if len(r.Tables) != 2 || r.Tables[0].Alias != companies || r.Tables[1].Updated != 1 || r.Tables[1].To != r.Tables[1].From+1 {
				t.Errorf("%+v", r.Tables)
			}
			warm := writing(2)
			warm.Warm = r.Warm
			run(t, s, warm, txn.Additive, add(ports, "code", port, "ZZZ"))
			warm.Warm = nil
			run(t, s, warm, txn.Strict, remove(ports, "ZZZ"))
			look(t, s).atRest(t)
		})
	}
}

// A commit that moves no table is published without a record.
func TestLineageAlone(t *testing.T) {
	s := demo(t)
	before := look(t, s)
	r := run(t, s, writing(1), txn.Additive)
	after := look(t, s)
	after.atRest(t)
	if after.head() != r.Commit.ID || r.Commit.Parent != before.head() || len(r.Tables) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestSpent(t *testing.T) {
	s, ctx := demo(t), context.Background()
	tx, err := txn.Begin(ctx, s, writing(1))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan(txn.Additive)(ctx, tx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := txn.Publish(ctx, tx, p); err != nil {
		t.Fatal(err)
	}
	version := look(t, s).view.Version
	_, again := txn.Publish(ctx, tx, p)
	_, table := tx.Table(ctx, ports)
	_, planned := plan(txn.Additive)(ctx, tx)
	for _, err := range []error{again, table, planned, tx.Recheck(ctx)} {
		if !errors.Is(err, txn.ErrCaller) {
			t.Errorf("a spent Txn was used: %v", err)
		}
	}
	if look(t, s).view.Version != version {
		t.Error("it was published twice")
	}
}

// A table is opened once, whoever asks for it side by side.
func TestTablesAreOpenedOnce(t *testing.T) {
	s, m := demo(t), blob.NewMeter(func(string) string { return "" }, blob.Keep(1000))
	ctx := blob.WithMeter(context.Background(), m)
	tx, err := txn.Begin(ctx, s, writing(1))
	if err != nil {
		t.Fatal(err)
	}
	n := m.Totals().Requests
	done := make(chan error)
	for range 8 {
		go func() { _, err := tx.Table(ctx, ports); done <- err }()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := m.Totals().Requests - n; got != 1 {
		t.Errorf("%d requests, expected one", got)
	}
}

// After arming the caller's context no longer ends a write; before, it does and
// leaves nothing.
func TestCancelled(t *testing.T) {
	for _, at := range []txn.Step{txn.StepCaptured, txn.StepChecked, txn.StepArmed, txn.StepEffect, txn.StepConfirmed} {
		s := demo(t)
		before := look(t, s)
		port := portIDs(t, s)[0]
		ctx, cancel := context.WithCancel(context.Background())
		o := writing(1)
		o.Events = func(e txn.Event) {
			if e.Step == at {
				cancel()
			}
		}
		_, err := txn.Run(ctx, s, o, plan(txn.Strict, set(ports, port, "name", "Elsewhere")))
		after := look(t, s)
		after.atRest(t)
		if at == txn.StepCaptured || at == txn.StepChecked {
			if !errors.Is(err, context.Canceled) || after.head() != before.head() {
				t.Errorf("%s: %v", at, err)
			}
		} else if err != nil || after.head() == before.head() {
			t.Errorf("%s: %v", at, err)
		}
		cancel()
	}
}

func TestReadOnlyStore(t *testing.T) {
	s := demo(t)
	if _, err := txn.Run(context.Background(), blob.ReadOnly(s), writing(1), plan(txn.Additive)); !errors.Is(err, blob.ErrReadOnly) {
		t.Error(err)
	}
}

// A branch whose table is its own is written to like main; one that another
// branch owns is not.
func TestWriteOnABranch(t *testing.T) {
	const branch = "fix/ports"
	s := demo(t)
	open := func() *manifest.View {
		v, err := manifest.Open(context.Background(), s, manifest.Options{Branch: branch, ReadDeletions: true})
		if err != nil || len(v.Problems) > 0 {
			t.Fatal(err, v.Problems)
		}
		return v
	}
	trunk, before := look(t, s), open()
	port, company := ids(t, s, ports)[0], ids(t, s, companies)[0]
	o := writing(1)
	o.Branch = branch
	for _, name := range []string{"One", "Two"} {
		r := run(t, s, o, txn.Strict, set(ports, port, "name", name))
		after := open()
		if e, _ := after.Table(ports); e.Owner != branch || r.Commit.Branch != branch || after.Heads[branch] != r.Commit.ID || r.Commit.Parent != before.Heads[branch] {
			t.Fatalf("%+v, %+v", e, r.Commit)
		}
		if got := (reading{after, s}).text(t, ports, port, "name"); got != name {
			t.Errorf("%q is read", got)
		}
		before = after
		o.Warm = r.Warm
	}
	_, err := txn.Run(context.Background(), s, o, plan(txn.Strict, set(companies, company, "name", "One")))
	if e := wantErr[*txn.UnforkedError](t, err, txn.ErrCaller); e.Table != companies || e.Owner != "" {
		t.Errorf("%+v", e)
	}
	now := look(t, s)
	now.atRest(t)
	if now.head() != trunk.head() || now.text(t, ports, port, "name") == "Two" {
		t.Error("main changed")
	}
}

// What one store left warm is not used by a write to another.
func TestWarmOfAnotherStore(t *testing.T) {
	s := demo(t)
	port := ids(t, s, ports)[0]
	o := writing(2)
	o.Warm = run(t, s, writing(1), txn.Strict, set(ports, port, "name", "One")).Warm
	other := s.Clone()
	run(t, other, o, txn.Strict, set(ports, port, "name", "Two"))
	if a, b := look(t, s).text(t, ports, port, "name"), look(t, other).text(t, ports, port, "name"); a != "One" || b != "Two" {
		t.Errorf("%q and %q", a, b)
	}
}

// A plan that is not that of the Txn, or does more than was staged, is refused
// before anything is looked at.
func TestPublishRefusesOtherPlans(t *testing.T) {
	s, ctx := demo(t), context.Background()
	port := ids(t, s, ports)[0]
	head := look(t, s).head()
	for name, edit := range map[string]func(p txn.PublishPlan) (*txn.PublishPlan, error){
		"another transaction": func(p txn.PublishPlan) (*txn.PublishPlan, error) {
			p.Actions[0].Commits[0].UUID = "another"
			return &p, nil
		},
		"armed": func(p txn.PublishPlan) (*txn.PublishPlan, error) { return p.Arm() },
		"a tombstone": func(p txn.PublishPlan) (*txn.PublishPlan, error) {
			p.Delta.Tombstones = []txn.Tombstone{{Identity: txn.Identity{Table: 1, Incarnation: 2}, Alias: ports, Version: 1}}
			return &p, nil
		},
	} {
		tx, err := txn.Begin(ctx, s, writing(1))
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan(txn.Strict, set(ports, port, "name", "Ours"))(ctx, tx)
		if err == nil {
			p, err = edit(*p)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = txn.Publish(ctx, tx, p)
		if wantErr[*txn.PlanError](t, err, txn.ErrCaller); look(t, s).head() != head || len(recordsIn(t, s)) > 0 {
			t.Errorf("%s: something was written", name)
		}
	}
}
