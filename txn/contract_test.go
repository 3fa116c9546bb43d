package txn_test

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
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/internal/upkeep"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/validate"
)

// once is a step that lets another writer act, the first time only.
func once(act func()) step {
	done := false
	return func(context.Context, *txn.Txn) error {
		if !done {
			done = true
			act()
		}
		return nil
	}
}

// seen is the state that a reader of main has.
func seen(t testing.TB, s blob.Store) *txn.State {
	t.Helper()
	tx, err := txn.Begin(context.Background(), s, writing(90))
	if err != nil {
		t.Fatal(err)
	}
	return tx.State()
}

// maintain rewrites a table into one fragment and publishes that, as an optimize
// of another program does: same rows, at other addresses.
func maintain(t testing.TB, s blob.Store, alias string, n int) {
	t.Helper()
	made, err := upkeep.Compact(context.Background(), s, alias, n)
	if err == nil {
		id, _ := writing(uint64(70 + n)).IDs.Next()
		err = made.Publish(context.Background(), s, id)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// deletePort removes the port that comes first.
func deletePort(ctx context.Context, tx *txn.Txn) error {
	snap, err := tx.Table(ctx, ports)
	if err != nil {
		return err
	}
	for batch, err := range snap.Scan(ctx, lance.ScanOptions{Columns: []string{"id"}}) {
		if err != nil {
			return err
		}
		defer batch.Release()
		first := batch.Column(0).ValueStr(0)
		for i := range int(batch.NumRows()) {
			first = min(first, batch.Column(0).ValueStr(i))
		}
		return remove(ports, first)(ctx, tx)
	}
	return nil
}

// handleCase is a write on what a handle saw, after others moved the graph on.
type handleCase struct {
	advance func(t *testing.T, s blob.Store, port, company string)
	act     step // nil = set the country of a port
	live    bool // the writer says nothing of what it saw
	fails   bool
}

// renamePort is the write of another program to the row that a handle writes to.
func renamePort(t *testing.T, s blob.Store, port, _ string) {
	run(t, s, writing(2), txn.Strict, set(ports, port, "name", "Theirs"))
}

// optimizePorts moves the ports to other addresses.
func optimizePorts(t *testing.T, s blob.Store, _, _ string) { maintain(t, s, ports, 1) }

// optimizeTwice moves the ports twice, and removes the version in between.
func optimizeTwice(t *testing.T, s blob.Store, _, _ string) {
	maintain(t, s, ports, 1)
	maintain(t, s, ports, 2)
	e, _ := look(t, s).view.Table(ports)
	lost := false
	for o, err := range s.List(context.Background(), blob.ListOptions{Prefix: e.Location + "/_versions/"}) {
		if err == nil && strings.Contains(o.Key, fmt.Sprint(^uint64(0)-e.Version+1)) {
			lost = s.Delete(context.Background(), o.Key) == nil
		}
	}
	if !lost {
		t.Fatal("no version was removed")
	}
}

var handleCases = map[string]handleCase{
	"served_strict_delete_after_external_optimize_advance_auto_refreshes": {advance: optimizePorts, act: deletePort},
	"stale_handle_public_mutation_must_refresh_then_retry":                {advance: renamePort, fails: true},
	"mixed interval": {
		advance: func(t *testing.T, s blob.Store, port, _ string) {
			maintain(t, s, ports, 1)
			renamePort(t, s, port, "")
			maintain(t, s, ports, 2)
		}, fails: true,
	},
	"disguised": {
		advance: func(t *testing.T, s blob.Store, _, company string) {
			maintain(t, s, ports, 1)
			run(t, s, writing(2), txn.Strict, set(companies, company, "name", "Theirs"))
		}, fails: true,
	},
	"lineage alone": {
		advance: func(t *testing.T, s blob.Store, _, _ string) { run(t, s, writing(2), txn.Additive) },
	},
	"history gone": {advance: optimizeTwice, fails: true},
	"live policy: long_lived_handle_prepares_strict_mutation_from_current_head": {advance: renamePort, live: true},
}

// The two that must pass together, and their companions (engine-semantics §4.8).
func TestContractOfHandles(t *testing.T) {
	for name, c := range handleCases {
		t.Run(name, func(t *testing.T) {
			s := demo(t)
			port, company := ids(t, s, ports)[0], ids(t, s, companies)[0]
			o := writing(1)
			if !c.live {
				o.Seen = seen(t, s)
			}
			c.advance(t, s, port, company)
			before := look(t, s)
			act, want := set(ports, port, "country", "XX"), "XX"
			if c.act != nil {
				act, want = c.act, ""
			}
			_, err := txn.Run(context.Background(), s, o, plan(txn.Strict, act))
			after := look(t, s)
			after.atRest(t)
			if !c.fails {
				if err != nil || after.text(t, ports, port, "country") != want || after.view.Version != before.view.Version+1 {
					t.Fatal(err)
				}
				return
			}
			wantErr[*txn.ReadSetChangedError](t, err, txn.ErrCaller)
			if after.head() != before.head() {
				t.Error("something was published")
			}
			o.Seen = seen(t, s) // refreshed
			run(t, s, o, txn.Strict, set(ports, port, "country", "XX"))
			if n := look(t, s).text(t, ports, port, "name"); strings.Contains(name, "stale_handle") && n != "Theirs" {
				t.Errorf("the other's value was lost: %q", n)
			}
		})
	}
}

// base pinned, not HEAD: what is read is what is published, and a table with
// versions that nobody published is not written to.
func TestBasePinnedNotHead(t *testing.T) {
	s, ctx := demo(t), context.Background()
	port, other := ids(t, s, ports)[0], ids(t, s, ports)[1]
	company := ids(t, s, companies)[0]
	drift(t, s, ports, port)
	before := look(t, s)
	tx, err := txn.Begin(ctx, s, writing(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, batch, err := row(ctx, tx, ports, port); err != nil || batch.NumRows() != 1 {
		t.Fatalf("the published version is not what is read: %v", err)
	}
	for _, class := range []txn.Class{txn.Strict, txn.Additive} {
		_, err = txn.Run(ctx, s, writing(2), plan(class, set(ports, other, "name", "Ours")))
		if e := wantErr[*txn.DriftError](t, err, txn.ErrCaller); e.Table != ports || e.Head != e.Published+1 {
			t.Errorf("%+v", e)
		}
	}
	_, err = txn.Run(ctx, s, writing(3), plan(txn.Strict, set(companies, company, "name", "Ours"), set(ports, other, "name", "Ours")))
	wantErr[*txn.DriftError](t, err, txn.ErrCaller)
	if after := look(t, s); after.head() != before.head() || len(recordsIn(t, s)) > 0 || after.text(t, companies, company, "name") == "Ours" {
		t.Error("something was written")
	}
	run(t, s, writing(4), txn.Strict, set(companies, company, "name", "Ours"))
}

// conditional: any advance is one too many (issue-365 tests of the Rust engine).
func TestConditional(t *testing.T) {
	s, ctx := demo(t), context.Background()
	port := ids(t, s, ports)[0]
	o := writing(1)
	head := look(t, s).head()
	o.ExpectedHead = &head
	nothing := func(context.Context, *txn.Txn) error { return txn.ErrNothing }
	if _, err := txn.Run(ctx, s, o, plan(txn.Conditional, nothing)); !errors.Is(err, txn.ErrNothing) || errors.Is(err, txn.ErrCaller) {
		t.Error(err)
	}
	seed := uint64(10)
	for name, steps := range map[string][]step{
		"with effects": {set(ports, port, "name", "Ours")}, "without": {nothing}, "lineage": nil,
	} {
		head := look(t, s).head()
		o.ExpectedHead = &head
		seed++
		advance := once(func() { run(t, s, writing(seed), txn.Additive) })
		_, err := txn.Run(ctx, s, o, plan(txn.Conditional, append([]step{advance}, steps...)...))
		if e := wantErr[*txn.PreconditionFailedError](t, err, txn.ErrCaller); e.Expected != head || e.Actual != look(t, s).head() {
			t.Errorf("%s: %+v", name, e)
		}
		_, err = txn.Run(ctx, s, o, plan(txn.Conditional, steps...))
		wantErr[*txn.PreconditionFailedError](t, err, txn.ErrCaller)
	}
	head = look(t, s).head()
	o.ExpectedHead = &head
	run(t, s, o, txn.Conditional, set(ports, port, "name", "Ours"))
	look(t, s).atRest(t)
}

// strict_mutation_rejects_disjoint_head_change_before_effects: the foreign commit
// comes between capture and gates, and is about another table.
func TestStrictMutationRejectsDisjointHeadChangeBeforeEffects(t *testing.T) {
	s := demo(t)
	port, company := ids(t, s, ports)[0], ids(t, s, companies)[0]
	rival := once(func() { run(t, s, writing(2), txn.Strict, set(companies, company, "name", "Theirs")) })
	_, err := txn.Run(context.Background(), s, writing(1), plan(txn.Strict, rival, set(ports, port, "name", "Ours")))
	wantErr[*txn.ReadSetChangedError](t, err, txn.ErrCaller)
	after := look(t, s)
	after.atRest(t)
	if after.text(t, ports, port, "name") == "Ours" || after.text(t, companies, company, "name") != "Theirs" {
		t.Error("the strict write went through")
	}
	// A maintenance in the window is no change: once more, and it goes through.
	optimize := once(func() { maintain(t, s, companies, 1) })
	if r := run(t, s, writing(3), txn.Strict, optimize, set(ports, port, "name", "Ours")); r.Attempts != 2 {
		t.Errorf("%d attempts, expected 2", r.Attempts)
	}
}

// stale_non_strict_insert_reprepares_from_live_branch_state
func TestStaleNonStrictInsertReprepares(t *testing.T) {
	s := demo(t)
	port := ids(t, s, ports)[0]
	rival := once(func() { run(t, s, writing(2), txn.Additive, add(ports, "code", port, "THEIRS")) })
	r := run(t, s, writing(1), txn.Additive, rival, add(ports, "code", port, "OURS"))
	after := look(t, s)
	after.atRest(t)
	if r.Attempts != 2 || after.text(t, ports, "OURS", "id") == "" || after.text(t, ports, "THEIRS", "id") == "" {
		t.Errorf("%+v", r)
	}
	rival = once(func() { run(t, s, writing(3), txn.Additive, add(ports, "code", port, "SAME")) })
	_, err := txn.Run(context.Background(), s, writing(1), plan(txn.Additive, rival, add(ports, "code", port, "SAME")))
	wantErr[*txn.KeyConflictError](t, err, txn.ErrCaller)
}

// mutation_revalidates_unique_after_pre_effect_authority_change
func TestMutationRevalidatesUnique(t *testing.T) {
	s := demo(t)
	company, other := ids(t, s, companies)[0], ids(t, s, companies)[1]
	checked := 0
	check := func(ctx context.Context, tx *txn.Txn) error {
		checked++
		ty, _ := tx.Contract.IR.Type(schema.KindNode, "Company")
		_, batch, err := row(ctx, tx, companies, company)
		if err != nil {
			return err
		}
		r := validate.Row{ID: company}
		for _, p := range ty.Properties {
			v, err := value.At(p.Type, batch.Column(batch.Schema().FieldIndices(p.Name)[0]), 0)
			if err != nil {
				return err
			}
			if p.Name == "tax_no" {
				v, _ = value.Of(p.Type, "TAX-1")
			}
			r.Values = append(r.Values, v)
		}
		rep, err := validate.Check(ctx, tx.Contract.IR, validate.Delta{{Type: ty, Batches: []validate.Batch{{Kind: validate.Update, Rows: []validate.Row{r}}}}}, tx.Reader(), 1)
		if err != nil {
			return err
		}
		return rep.Err()
	}
	rival := once(func() { run(t, s, writing(2), txn.Strict, set(companies, other, "tax_no", "TAX-1")) })
	_, err := txn.Run(context.Background(), s, writing(1), plan(txn.Additive, check, rival, set(companies, company, "tax_no", "TAX-1")))
	var bad *validate.Violation
	if !errors.As(err, &bad) || bad.Rule != validate.RuleUnique || checked != 2 {
		t.Errorf("%v after %d checks", err, checked)
	}
}

// failed_mutation_leaves_target_unchanged,
// partial_failure_leaves_target_queryable_and_unblocks_next_mutation
func TestFailedMutationLeavesTargetUnchanged(t *testing.T) {
	s := demo(t)
	port := ids(t, s, ports)[0]
	before := look(t, s)
	oops := errors.New("no")
	_, err := txn.Run(context.Background(), s, writing(1), plan(txn.Strict, set(ports, port, "name", "Ours"), func(context.Context, *txn.Txn) error { return oops }))
	if after := look(t, s); !errors.Is(err, oops) || after.head() != before.head() {
		t.Errorf("%v", err)
	}
	look(t, s).atRest(t)
	run(t, s, writing(2), txn.Strict, set(ports, port, "name", "Ours"))
}

// write_validates_schema_contract_once, keyed_insert_opens_table_at_most_once,
// manifest_reads_capture_warm_probe
func TestWhatAWriteAsksFor(t *testing.T) {
	s := demo(t)
	port := ids(t, s, ports)[0]
	e, _ := look(t, s).view.Table(ports)
	first := run(t, s, writing(1), txn.Additive, add(ports, "code", port, "ONE"))
	o := writing(2)
	o.Warm = &txn.Warm{Store: s, View: first.Warm.View}
	m := blob.NewMeter(cost.Classify, blob.Keep(1000))
	if _, err := txn.Run(blob.WithMeter(context.Background(), m), s, o, plan(txn.Additive, add(ports, "code", port, "TWO"))); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, c := range m.Calls() {
		switch class := cost.Classify(c.Key); {
		case class == cost.DataOpen && c.Op == blob.OpGet && strings.HasPrefix(c.Key, e.Location):
			counts["open"]++
		case class == cost.ManifestOpen && c.Op == blob.OpList:
			counts["probe"]++
		case class == cost.ManifestScan && c.Op == blob.OpGet, class == cost.ManifestOpen && c.Op == blob.OpGet:
			counts["manifest read"]++
		default:
			counts[class+" "+string(c.Op)]++
		}
	}
	for what, want := range map[string]int{
		"open": 1, "probe": 3, "manifest read": 0, "schema get": 4, "recovery list": 3, "recovery put": 2, "recovery delete": 1, "manifest.refs head": 2,
	} {
		if counts[what] != want {
			t.Errorf("%s: %d, expected %d (%v)", what, counts[what], want, counts)
		}
	}
}

// concurrent_disjoint_writes_share_head_and_form_linear_chain,
// n_concurrent_disjoint_writers: eight writers of two tables side by side, on
// slow requests.
func TestConcurrentWritersFormALinearChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writers = 8
		quick := demo(t)
		s := quick.CloneWith(memstore.Options{Latency: func(_ blob.Op, key string) time.Duration { return time.Duration(10+len(key)%7) * time.Millisecond }})
		before := look(t, s)
		port, company := ids(t, s, ports)[0], ids(t, s, companies)[0]
		random := &counting{}
		one := txn.NewIDs(nil, random)
		errs := make(chan error)
		for n := range writers {
			go func() {
				o := txn.Options{IDs: one}
				insert := add(ports, "code", port, fmt.Sprintf("NEW%d", n))
				if n%2 == 0 {
					insert = add(companies, "slug", company, fmt.Sprintf("NEW%d", n))
				}
				_, err := txn.Run(context.Background(), s, o, plan(txn.Additive, insert))
				errs <- err
			}()
		}
		for range writers {
			if err := <-errs; err != nil {
				t.Errorf("%T: %v", err, err)
			}
		}
		after := look(t, s)
		after.atRest(t)
		at := after.head()
		for range writers {
			c, ok := after.view.State.Commit(at)
			if !ok {
				t.Fatalf("commit %s is not there", at)
			}
			at = c.Parent
		}
		if at != before.head() {
			t.Errorf("the chain leads to %s, expected %s", at, before.head())
		}
		for n := range writers {
			alias := []string{companies, ports}[n%2]
			if id := fmt.Sprintf("NEW%d", n); after.text(t, alias, id, "id") != id {
				t.Errorf("%s is lost", id)
			}
		}
	})
}
