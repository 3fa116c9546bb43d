package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/upkeep"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
)

// people is the schema of the contract tests (engine-semantics §4.8).
const people = `node Person { name: String @key
 age: I32?
 email: String? @unique }
node Company { slug: String @key
 city: String? }
edge Knows: Person -> Person
edge WorksAt: Person -> Company @card(0..1)`

var crowd = []string{
	`{"type":"Person","data":{"name":"ann","age":1}}`, `{"type":"Person","data":{"name":"bob","age":2,"email":"b@x"}}`,
	`{"type":"Company","data":{"slug":"acme"}}`, `{"type":"Company","data":{"slug":"umbra"}}`,
	`{"edge":"Knows","from":"ann","to":"bob","data":{"id":"k1"}}`,
}

// optimized is one optimize by another program, of one table.
func optimized(t *testing.T, s blob.Store, alias string, run int) {
	t.Helper()
	made, err := upkeep.Compact(t.Context(), s, alias, run)
	if err == nil {
		err = made.Publish(t.Context(), s, fmt.Sprintf("01M8ZZZZZZZZZZZZZZZZZZZZ%02d", run))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// bases are the ways of saying what a write is for, of which each remembers the
// state before others act.
var bases = map[string]func(t *testing.T, g *engine.Graph, w planned) engine.WriteOptions{
	"handle": func(t *testing.T, g *engine.Graph, _ planned) engine.WriteOptions {
		if _, err := g.Rows(t.Context(), "Person", engine.At{}, engine.RowsOptions{}); err != nil {
			t.Fatal(err)
		}
		return engine.WriteOptions{Base: engine.BaseHandle}
	},
	"view": func(t *testing.T, g *engine.Graph, _ planned) engine.WriteOptions {
		c, err := g.Commits(t.Context(), "", 1)
		if err != nil {
			t.Fatal(err)
		}
		return engine.WriteOptions{Base: engine.BaseView(engine.At{Commit: c.ID(0)})}
	},
	"plan": func(t *testing.T, g *engine.Graph, w planned) engine.WriteOptions {
		p, err := w.plan(t.Context(), g, engine.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return engine.WriteOptions{Plan: p}
	},
}

// moves are what others do meanwhile, with the names of the tests that ask for it.
var moves = map[string]struct {
	act     planned
	advance func(t *testing.T, s blob.Store, other *engine.Graph)
	fails   bool
}{
	"served_strict_delete_after_external_optimize_advance_auto_refreshes": {
		act:     mutation(`delete Person where name = "ann"`),
		advance: func(t *testing.T, s blob.Store, _ *engine.Graph) { optimized(t, s, "node:Person", 1) },
	},
	"stale_handle_public_mutation_must_refresh_then_retry": {
		act: mutation(`update Person set { age: 9 } where name = "ann"`),
		advance: func(t *testing.T, _ blob.Store, other *engine.Graph) {
			mutate(t, other, `update Person set { email: "theirs" } where name = "ann"`)
		}, fails: true,
	},
	"mixed interval": {
		act: mutation(`update Person set { age: 9 } where name = "ann"`),
		advance: func(t *testing.T, s blob.Store, other *engine.Graph) {
			optimized(t, s, "node:Person", 1)
			mutate(t, other, `update Person set { email: "theirs" } where name = "ann"`)
			optimized(t, s, "node:Person", 2)
		}, fails: true,
	},
	"disguised": {
		act: mutation(`update Person set { age: 9 } where name = "ann"`),
		advance: func(t *testing.T, s blob.Store, other *engine.Graph) {
			optimized(t, s, "node:Person", 1)
			mutate(t, other, `update Company set { city: "theirs" } where slug = "acme"`)
		}, fails: true,
	},
	"history gone": {
		act: mutation(`update Person set { age: 9 } where name = "ann"`),
		advance: func(t *testing.T, s blob.Store, _ *engine.Graph) {
			optimized(t, s, "node:Person", 1)
			e := tableOf(t, s, "node:Person")
			if err := s.Delete(t.Context(), versionKey(t, s, e, e.Version-1)); err != nil {
				t.Fatal(err)
			}
		}, fails: true,
	},
	"overwrite_load over an optimize": {
		act:     loading(engine.LoadOverwrite, `{"type":"Company","data":{"slug":"new"}}`),
		advance: func(t *testing.T, s blob.Store, _ *engine.Graph) { optimized(t, s, "node:Company", 1) },
	},
	"overwrite_load over a change": {
		act: loading(engine.LoadOverwrite, `{"type":"Company","data":{"slug":"new"}}`),
		advance: func(t *testing.T, _ blob.Store, other *engine.Graph) {
			mutate(t, other, `update Company set { city: "theirs" } where slug = "acme"`)
		}, fails: true,
	},
}

func tableOf(t *testing.T, s blob.Store, alias string) manifest.Entry {
	t.Helper()
	v, err := manifest.Open(t.Context(), s, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, ok := v.Table(alias)
	if !ok {
		t.Fatalf("no table %s", alias)
	}
	return e
}

func versionKey(t *testing.T, s blob.Store, e manifest.Entry, version uint64) string {
	t.Helper()
	return fmt.Sprintf("%s/_versions/%d.manifest", e.Location, ^uint64(0)-version)
}

// atRest checks that no record is left, every table's newest version is the
// published one, and that a fresh look at the graph is what the handle shows
// (post_publish_fold_matches_fresh_reopen).
func atRest(t *testing.T, s blob.Store, g *engine.Graph) {
	t.Helper()
	v, err := manifest.Open(t.Context(), s, manifest.Options{ReadDeletions: true})
	if err != nil || len(v.Problems) > 0 {
		t.Fatal(err, v.Problems)
	}
	for _, e := range v.Tables {
		snap, err := lance.Open(t.Context(), s, e.Location, lance.OpenOptions{})
		if err != nil || txn.Judge(e.Version, snap.Version(), false) != txn.AtRest {
			t.Errorf("%s is published at version %d, its newest is %d, %v", e.Alias, e.Version, snap.Version(), err)
		}
	}
	if strings.Contains(keys(t, s), "__recovery/") {
		t.Error("a record is left")
	}
	if here, fresh := exported(t, g), exported(t, writable(t, s)); here != fresh {
		t.Errorf("the handle shows\n%s\nand a fresh one\n%s", here, fresh)
	}
	sound(t, s)
}

// The two that must pass together, and their companions, for each way of saying
// what a write is for.
func TestContractOfHandles(t *testing.T) {
	for name, m := range moves {
		for way, base := range bases {
			t.Run(name+"/"+way, func(t *testing.T) {
				s, other := filled(t, people, crowd)
				g := writable(t, s)
				with := base(t, g, m.act)
				m.advance(t, s, other)
				before := keys(t, s)
				r, err := m.act.do(t.Context(), g, with)
				if !m.fails {
					if err != nil || r.Commit == nil || r.Attempts != 1 {
						t.Fatalf("%+v, %v", r, err)
					}
					atRest(t, s, g)
					return
				}
				refusedAsMoved(t, err, way)
				if keys(t, s) != before {
					t.Error("something was written")
				}
				if name == "history gone" {
					return // whose graph is not sound
				}
				if _, err := g.Refresh(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				if _, err := m.act.do(t.Context(), g, base(t, g, m.act)); err != nil {
					t.Fatalf("after a look at the new state: %v", err)
				}
				if strings.Contains(name, "stale_handle") && !strings.Contains(exported(t, g), `"age":9,"email":"theirs"`) {
					t.Errorf("the other's value was lost:\n%s", exported(t, g))
				}
				atRest(t, s, g)
			})
		}
	}
}

func refusedAsMoved(t *testing.T, err error, way string) {
	t.Helper()
	var changed *txn.ReadSetChangedError
	var moved *engine.PlanMovedError
	if !errors.Is(err, txn.ErrCaller) || engine.Wrote(err) || !errors.As(err, &changed) || errors.As(err, &moved) != (way == "plan") {
		t.Fatalf("%T: %v", err, err)
	}
	if changed.Why == "" {
		t.Errorf("it does not say which rows may differ: %v", err)
	}
}

// long_lived_handle_prepares_strict_mutation_from_current_head (BaseLive), and
// stale_non_strict_insert_reprepares_from_live_branch_state (BaseHandle).
func TestLivePolicy(t *testing.T) {
	s, other := filled(t, people, crowd)
	g := writable(t, s)
	bases["handle"](t, g, planned{})
	mutate(t, other, `update Person set { email: "theirs" } where name = "ann"`)
	for _, c := range []struct {
		act  planned
		base engine.Base
	}{
		{mutation(`insert Person { name: "cid" }`), engine.BaseHandle},
		{loading(engine.LoadMerge, `{"type":"Company","data":{"slug":"late"}}`), engine.BaseHandle},
		{mutation(`update Person set { age: 9 } where name = "ann"`), engine.BaseLive},
	} {
		if r, err := c.act.do(t.Context(), g, engine.WriteOptions{Base: c.base}); err != nil || r.Commit == nil {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if got := exported(t, g); !strings.Contains(got, `"age":9,"email":"theirs"`) || !strings.Contains(got, `"late"`) {
		t.Error(got)
	}
	atRest(t, s, g)
}

// conditional: any advance is one too many, an optimize too (issue-365 tests).
func TestConditionalWrites(t *testing.T) {
	for name, advance := range map[string]func(t *testing.T, s blob.Store, other *engine.Graph){
		"optimize": func(t *testing.T, s blob.Store, _ *engine.Graph) { optimized(t, s, "node:Person", 1) },
		"change": func(t *testing.T, _ blob.Store, other *engine.Graph) {
			mutate(t, other, `update Company set { city: "x" } where slug = "acme"`)
		},
		"lineage": func(t *testing.T, _ blob.Store, other *engine.Graph) {
			if _, err := loadLines(t, other, engine.LoadAppend, nil); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, other := filled(t, people, crowd)
			g := writable(t, s)
			head, err := g.Refresh(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			advance(t, s, other)
			act, before := mutation(`insert Person { name: "cid" }`), keys(t, s)
			_, err = act.do(t.Context(), g, engine.WriteOptions{IfCommit: &head})
			_, planErr := act.plan(t.Context(), g, engine.WriteOptions{IfCommit: &head})
			now, refreshErr := g.Refresh(t.Context(), "")
			for _, err := range []error{err, planErr} {
				var moved *engine.HeadMovedError
				if !errors.As(err, &moved) || moved.Expected != head || moved.Actual != now || refreshErr != nil {
					t.Errorf("%T: %v, %v", err, err, refreshErr)
				}
			}
			if keys(t, s) != before {
				t.Error("something was written")
			}
			if r, err := act.do(t.Context(), g, engine.WriteOptions{IfCommit: &now}); err != nil || r.Commit == nil {
				t.Errorf("%+v, %v", r, err)
			}
			atRest(t, s, g)
		})
	}
}

// base pinned, not HEAD: versions that nobody published are not read, and a table
// that has them is not written to; other tables are.
func TestBaseIsPinnedNotHead(t *testing.T) {
	s, _ := filled(t, people, crowd)
	g := writable(t, s)
	made, err := upkeep.Compact(t.Context(), s, "node:Person", 1)
	if err != nil {
		t.Fatal(err)
	}
	before := keys(t, s)
	for name, act := range map[string]planned{
		"strict": mutation(`delete Person where name = "ann"`), "additive": mutation(`insert Person { name: "cid" }`),
	} {
		plan, err := act.plan(t.Context(), g, engine.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range plan.Tables {
			if x.Table == "node:Person" && x.From != made.Entry.Version {
				t.Errorf("planned on version %d, published is %d", x.From, made.Entry.Version)
			}
		}
		_, err = act.do(t.Context(), g, engine.WriteOptions{Plan: plan})
		var drift *txn.DriftError
		if !errors.As(err, &drift) || drift.Table != "node:Person" || drift.Published != made.Entry.Version || drift.Head != made.Version {
			t.Errorf("%s: %T: %v", name, err, err)
		}
	}
	for _, k := range strings.Split(keys(t, s), "\n") { // what is staged no version names
		if !strings.Contains(before, k) && !strings.Contains(k, "/data/") && !strings.Contains(k, "/_deletions/") && !strings.Contains(k, "/_transactions/") {
			t.Errorf("%s was written", k)
		}
	}
	mutate(t, g, `update Company set { city: "x" } where slug = "acme"`)
}

// What moves the view of a handle, and what does not.
func TestViewOfAHandle(t *testing.T) {
	act := mutation(`update Person set { age: 9 } where name = "ann"`)
	for name, c := range map[string]struct {
		look  func(g *engine.Graph) error // after the other's write
		holds bool
	}{
		"nothing": {func(*engine.Graph) error { return nil }, false},
		"an old version": {func(g *engine.Graph) error {
			_, err := g.Rows(t.Context(), "Person", engine.At{Version: 2}, engine.RowsOptions{})
			return err
		}, false},
		"a question": {func(g *engine.Graph) error { _, err := g.Info(t.Context(), engine.At{}); return err }, true},
		"Refresh":    {func(g *engine.Graph) error { _, err := g.Refresh(t.Context(), "main"); return err }, true},
		"its own write": {func(g *engine.Graph) error {
			_, err := mutation(`insert Person { name: "cid" }`).do(t.Context(), g, engine.WriteOptions{})
			return err
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, other := filled(t, people, crowd)
			g := writable(t, s)
			with := bases["handle"](t, g, act)
			mutate(t, other, `update Person set { email: "theirs" } where name = "ann"`)
			if err := c.look(g); err != nil {
				t.Fatal(err)
			}
			_, err := act.do(t.Context(), g, with)
			if (err == nil) != c.holds {
				t.Errorf("%v", err)
			}
		})
	}
	s, _ := filled(t, people, crowd)
	if _, err := act.do(t.Context(), writable(t, s), engine.WriteOptions{Base: engine.BaseHandle}); err != nil {
		t.Errorf("a handle that was asked nothing: %v", err)
	}
	var usage *engine.UsageError
	if _, err := act.do(t.Context(), writable(t, s), engine.WriteOptions{Base: engine.BaseView(engine.At{Branch: "b"})}); !errors.As(err, &usage) {
		t.Errorf("another branch: %v", err)
	}
}

// window lets another act once, after the write was prepared and before anything
// of it is durable.
func window(act func()) engine.WriteOptions {
	done := false
	return engine.WriteOptions{Events: func(e engine.WriteEvent) {
		if e.Step == txn.StepPrepared && !done {
			done = true
			act()
		}
	}}
}

// What is decided anew, and what is refused, when somebody else commits between
// preparing and the gates.
func TestWindow(t *testing.T) {
	for name, c := range map[string]struct {
		act   planned
		rival string
		want  any // pointer to an error that As fills; nil = it goes through at the second attempt
	}{
		"strict_mutation_rejects_disjoint_head_change_before_effects": {
			mutation(`update Person set { age: 9 } where name = "ann"`), `update Company set { city: "theirs" } where slug = "acme"`, new(*txn.ReadSetChangedError)},
		"overwrite_load_rejects_disjoint_head_change_before_effects": {
			loading(engine.LoadOverwrite, `{"edge":"Knows","from":"bob","to":"ann","data":{"id":"k9"}}`), `update Company set { city: "theirs" } where slug = "acme"`, new(*txn.ReadSetChangedError)},
		"mutation_revalidates_unique_after_pre_effect_authority_change": {
			mutation(`insert Person { name: "cid", email: "one@x" }`), `update Person set { email: "one@x" } where name = "ann"`, new(*txn.ConstraintError)},
		"append_load_revalidates_unique_after_pre_effect_authority_change": {
			loading(engine.LoadAppend, `{"type":"Person","data":{"name":"cid","email":"one@x"}}`), `update Person set { email: "one@x" } where name = "ann"`, new(*txn.ConstraintError)},
		"cardinality_rejected_for_stale_handle_after_concurrent_edge_commit": {
			mutation(`insert WorksAt { from: "ann", to: "acme" }`), `insert WorksAt { from: "ann", to: "umbra" }`, new(*txn.ConstraintError)},
		"write skew: the node that an edge is about goes": {
			mutation(`insert Knows { from: "ann", to: "bob" }`), `delete Person where name = "bob"`, new(*txn.ConstraintError)},
		"append_load of an id that came meanwhile": {
			loading(engine.LoadAppend, `{"type":"Person","data":{"name":"cid"}}`), `insert Person { name: "cid" }`, new(*txn.ConstraintError)},
		"stale_non_strict_insert_reprepares_from_live_branch_state": {mutation(`insert Person { name: "cid" }`), `insert Person { name: "dan" }`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, other := filled(t, people, crowd)
			g := writable(t, s)
			r, err := c.act.do(t.Context(), g, window(func() { mutate(t, other, c.rival) }))
			head, refreshErr := other.Refresh(t.Context(), "")
			if refreshErr != nil {
				t.Fatal(refreshErr)
			}
			switch {
			case c.want == nil && (err != nil || r.Attempts != 2 || r.Commit.ID != head):
				t.Errorf("%+v, %v", r, err)
			case c.want != nil && (!errors.As(err, c.want) || !errors.Is(err, txn.ErrCaller)):
				t.Errorf("%T: %v", err, err)
			}
			atRest(t, s, g)
		})
	}
}

// cardinality_rejected_for_stale_handle_after_concurrent_edge_commit, when the
// other's edge is there before: what a handle remembers of a table is not what the
// rules are held against.
func TestRulesSeeWhatIsThere(t *testing.T) {
	s, other := filled(t, people, crowd)
	g := writable(t, s)
	mutate(t, g, `insert WorksAt { from: "bob", to: "acme" }`) // warm
	mutate(t, other, `insert WorksAt { from: "ann", to: "acme" }`)
	var rule *txn.ConstraintError
	if _, err := mutation(`insert WorksAt { from: "ann", to: "umbra" }`).do(t.Context(), g, engine.WriteOptions{Base: engine.BaseHandle}); !errors.As(err, &rule) {
		t.Errorf("%T: %v", err, err)
	}
	atRest(t, s, g)
}

// n_concurrent_disjoint_writers through one handle and through a handle each, on
// slow requests: all land, and the chain of commits is linear.
func TestConcurrentWritersOfHandles(t *testing.T) {
	for _, shared := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			quick, first := filled(t, people, crowd)
			s := quick.CloneWith(memstore.Options{Name: "case", Latency: func(_ blob.Op, key string) time.Duration { return time.Duration(5+len(key)%7) * time.Millisecond }})
			before, err := first.Commits(t.Context(), "", 0)
			if err != nil {
				t.Fatal(err)
			}
			const writers = 8
			one, errs := writable(t, s), make(chan error)
			for n := range writers {
				g := one
				if !shared {
					g = writable(t, s)
				}
				go func() {
					_, err := mutation(fmt.Sprintf(`insert Person { name: "w%d" }`, n)).do(context.Background(), g, engine.WriteOptions{Base: engine.BaseHandle})
					errs <- err
				}()
			}
			for range writers {
				if err := <-errs; err != nil {
					t.Errorf("%T: %v", err, err)
				}
			}
			after, err := one.Commits(t.Context(), "", 0)
			if err != nil || after.Len() != before.Len()+writers {
				t.Fatalf("%d commits, %v", after.Len(), err)
			}
			for i := range writers {
				if after.ParentID(i) != after.ID(i+1) {
					t.Errorf("commit %d has another parent than the one before", i)
				}
			}
			atRest(t, s, one)
		})
	}
}
