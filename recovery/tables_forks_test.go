package recovery_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// A first touch is a write on the branch lazy, which owns no table yet: the table
// of partners is given a branch of its own, and loses a row on it.
type firstTouch struct {
	store  blob.Store
	entry  manifest.Entry
	plan   *txn.PublishPlan
	uuid   string
	fork   string // id of the branch that it makes
	forkID []txn.Fork
}

const (
	touchBranch = "lazy"
	touchFork   = "b69ee16d85c745478a9ce81de832d7d9"
)

// newTouch plans one; n tells several apart.
func newTouch(t testing.TB, store blob.Store, kind txn.Kind, effect txn.EffectKind, n int) *firstTouch {
	t.Helper()
	view := stuck.View(t, store, touchBranch)
	mark, err := schema.ParseMarker(object(t, store, schema.StateKey))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := view.Table("edge:Partner")
	id := func(role string) string { return fmt.Sprintf("01M8KXZG6JX0VA38C9QPJR00%d%s", n, role) }
	f := &firstTouch{store: store, entry: e, uuid: "omnigraph-" + id("T"), fork: fmt.Sprintf("%d%s", n, touchFork[1:])}
	a := txn.TableAction{Table: txn.Identity(e.Identity), Alias: e.Alias, Path: store.Properties().URL + "/" + e.Location, Branch: touchBranch, Pin: e.Version, Effect: effect, Fork: &txn.ForkSource{Version: e.Version}}
	if effect != sidecar.RefOnlyFork {
		a.Commits = []txn.Transaction{{ReadVersion: e.Version, UUID: f.uuid}}
	}
	draft := txn.PublishPlan{
		ID: id("P"), Kind: kind, Class: txn.Strict, Pre: txn.ExactHead, Started: time.UnixMicro(1795965305034010).UTC(), Base: txn.StateOf(view, mark).Base,
		Rollback: id("R"), Lineage: txn.Lineage{CommitID: id("C"), CreatedAt: 1795965305034010}, Actions: []txn.TableAction{a},
	}
	if kind == sidecar.BranchMerge {
		source := id("S")
		draft.Lineage.MergedParent = &source
	}
	if f.plan, err = txn.New(draft); err == nil {
		f.plan, err = f.plan.Arm()
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// arm writes the record, as far as the plan has come.
func (f *firstTouch) arm(t testing.TB) {
	t.Helper()
	rec, err := f.plan.Record()
	if err != nil {
		t.Fatal(err)
	}
	data, err := rec.Encode()
	if err == nil {
		_, err = f.store.Put(context.Background(), rec.Name(), data)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// tree clones the published version to the branch's own folder; without ref
// nobody knows of it.
func (f *firstTouch) tree(t testing.TB) {
	t.Helper()
	m, err := format.ParseManifest(object(t, f.store, f.entry.Location+"/_versions/"+format.ManifestName(f.entry.Version)))
	if err != nil {
		t.Fatal(err)
	}
	clone := &tablepb.Clone{IsShallow: true, RefVersion: f.entry.Version, RefPath: stuck.Root + "/" + f.entry.Location, BranchName: proto.String(touchBranch)}
	tx := &tablepb.Transaction{ReadVersion: f.entry.Version, Uuid: "clone " + f.fork, Operation: &tablepb.Transaction_Clone{Clone: clone}}
	if _, err := commit.Commit(context.Background(), f.store, f.entry.Location, touchBranch, m, tx, commit.Options{}); err != nil {
		t.Fatal(err)
	}
}

// ref makes the branch known.
func (f *firstTouch) ref(t testing.TB) {
	t.Helper()
	text := fmt.Sprintf(`{"parentBranch":null,"identifier":{"version_mapping":[[%d,"%s"]]},"parentVersion":%[1]d,"createAt":1795965305,"manifestSize":1,"metadata":{}}`, f.entry.Version, f.fork)
	if _, err := f.store.Put(context.Background(), f.entry.Location+"/_refs/branches/lazy.json", []byte(text)); err != nil {
		t.Fatal(err)
	}
	f.forkID = []txn.Fork{{Version: f.entry.Version, UUID: f.fork}}
}

// effect is the transaction of the plan.
func (f *firstTouch) effect(t testing.TB) {
	t.Helper()
	ctx := context.Background()
	snap, err := lance.Open(ctx, f.store, f.entry.Location, lance.OpenOptions{Branch: touchBranch})
	if err != nil {
		t.Fatal(err)
	}
	st, err := snap.StageDelete(ctx, []uint64{0}, "", lance.StageOptions{UUID: f.uuid})
	if err == nil {
		_, _, err = st.Commit(ctx, lance.CommitOptions{Exact: true})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// confirm writes down what was made.
func (f *firstTouch) confirm(t testing.TB) {
	t.Helper()
	out := txn.Output{Version: f.entry.Version, Branch: touchBranch, Rows: f.entry.Rows}
	a, last := f.plan.Actions[0], txn.Transaction{}
	if len(a.Commits) > 0 {
		out.Version, out.Rows, last = out.Version+1, out.Rows-1, a.Commits[0]
	}
	out.ManifestPath = f.entry.Location + "/tree/lazy/_versions/" + format.ManifestName(out.Version)
	p, err := f.plan.Confirm([]txn.Bound{{Table: a.Table, Output: out, Last: last, ForkID: f.forkID}})
	if err != nil {
		t.Fatal(err)
	}
	f.plan = p
	f.arm(t)
}

// touchRow is a row of the table about forks, and others of a first touch.
type touchRow struct {
	row, what string
	kind      txn.Kind
	effect    txn.EffectKind
	steps     []func(*firstTouch, testing.TB)
	do        txn.Do
	fork      bool // the table's branch is there afterwards
	less      int  // rows that lazy has lost
}

func touchRows() []touchRow {
	type step = func(*firstTouch, testing.TB)
	tree, ref, effect, confirm := (*firstTouch).tree, (*firstTouch).ref, (*firstTouch).effect, (*firstTouch).confirm
	const chain, bare = sidecar.MultiCommitHead, sidecar.RefOnlyFork
	return []touchRow{
		{"F4", "armed", sidecar.Mutation, "", nil, txn.Discard, false, 0},
		{"F5", "armed, branch", sidecar.Mutation, "", []step{tree, ref}, txn.Discard, false, 0},
		{"F6", "armed, tree without ref", sidecar.Load, "", []step{tree}, txn.Discard, false, 0},
		{"F7", "armed, effect", sidecar.Mutation, "", []step{tree, ref, effect}, txn.Back, true, 0},
		{"F9", "confirmed", sidecar.Load, "", []step{tree, ref, effect, confirm}, txn.Forward, true, 1},
		{"M2", "armed", sidecar.BranchMerge, chain, nil, txn.Discard, false, 0},
		{"M3", "armed, branch", sidecar.BranchMerge, chain, []step{tree, ref}, txn.Discard, false, 0},
		{"M4", "armed, effect", sidecar.BranchMerge, chain, []step{tree, ref, effect}, txn.Back, true, 0},
		{"M5", "confirmed", sidecar.BranchMerge, chain, []step{tree, ref, effect, confirm}, txn.Forward, true, 1},
		{"M5", "branch alone, confirmed", sidecar.BranchMerge, bare, []step{tree, ref, confirm}, txn.Forward, true, 0},
		{"M3", "branch alone, armed", sidecar.BranchMerge, bare, []step{tree, ref}, txn.Discard, false, 0},
	}
}

// scene is the row's state, with the number of rows that lazy has.
func (row touchRow) scene(t testing.TB) (store blob.Store, f *firstTouch) {
	t.Helper()
	store = stuck.StoreOf(t, stuck.Root, stuck.One(t, "merge", 0).Base)
	f = newTouch(t, store, row.kind, row.effect, 0)
	f.arm(t)
	for _, s := range row.steps {
		s(f, t)
	}
	return store, f
}

// F4 to F6, and what else may have become of a first touch: a branch of a table
// that nobody uses goes with the record, one with an effect is published, as it is
// or restored.
func TestTableFForks(t *testing.T) {
	for _, row := range pace.Every(t, 9, touchRows()) {
		for _, root := range []string{stuck.Root, "mem://elsewhere/copy"} {
			t.Run(fmt.Sprintf("%s/%s/%s/%s", row.row, row.kind, row.what, root[:3]), func(t *testing.T) { row.at(t, root) })
		}
	}
}

// at recovers the row's state where it was made, or where the graph was moved to
// since.
func (row touchRow) at(t *testing.T, root string) {
	store, f := row.scene(t)
	place := sidecar.Here
	if root != stuck.Root {
		place, store = sidecar.Moved, stuck.At(store, root)
	}
	o := recovery.Options{Moved: place == sidecar.Moved}
	before := stuck.RowsOf(t, stuck.Graph(t, store))
	p := stuckLook(t, store, o)
	if len(p.Items) != 1 || p.Items[0].Verdict.Do != row.do || p.Items[0].Place != place {
		t.Fatalf("shown are %+v", p.Items)
	}
	made := slices.Concat(stuck.Keys(t, store, f.entry.Location+"/tree/lazy/"), stuck.Keys(t, store, f.entry.Location+"/_refs/branches/lazy.json"))
	if removes := slices.Sorted(slices.Values(p.Items[0].Removes)); row.do == txn.Discard && !slices.Equal(removes, slices.Sorted(slices.Values(made))) || row.do != txn.Discard && len(removes) > 0 {
		t.Errorf("shown to go are %v; the operation made %v", removes, made)
	}
	row.settled(t, "recovered", store, f, before, func() { stuckRecover(t, row.row, store, o) })
}

func (row touchRow) settled(t *testing.T, what string, store blob.Store, f *firstTouch, before map[string]stuck.Rows, recover func()) {
	t.Helper()
	objects := stuck.Objects(t, store)
	recover()
	left := append(stuck.Keys(t, store, f.entry.Location+"/tree/lazy/"), stuck.Keys(t, store, f.entry.Location+"/_refs/branches/lazy.json")...)
	if (len(left) > 0) != row.fork {
		t.Errorf("%s: of the branch there is %v", what, left)
	}
	after := stuck.RowsOf(t, stuck.Graph(t, store))
	if after[touchBranch].Rows != before[touchBranch].Rows-row.less || row.less == 0 && after[touchBranch] != before[touchBranch] {
		t.Errorf("%s: rows of lazy are %v, were %v", what, after[touchBranch], before[touchBranch])
	}
	delete(after, touchBranch)
	rest := maps.Clone(before)
	delete(rest, touchBranch)
	if !maps.Equal(after, rest) {
		t.Errorf("%s: rows of other branches are %v, were %v", what, after, rest)
	}
	for k := range objects {
		own := strings.HasPrefix(k, f.entry.Location+"/tree/lazy/") || strings.HasSuffix(k, "_refs/branches/lazy.json") || strings.HasPrefix(k, sidecar.Folder)
		if _, err := store.Head(context.Background(), k); err != nil && !own {
			t.Errorf("%s: %s is gone", what, k)
		}
	}
	e, _ := stuck.View(t, store, touchBranch).Table(f.entry.Alias)
	if owner := map[bool]string{true: touchBranch}[row.fork]; e.Owner != owner {
		t.Errorf("%s: the table is published as %+v", what, e)
	}
	for _, b := range []string{"main", "lazy", "review"} {
		stuck.AtRest(t, store, b)
	}
	want := map[txn.Do][]string{txn.Back: {"RolledBack"}, txn.Forward: {"RolledForward"}}[row.do]
	if got := auditKinds(t, store); !slices.Equal(got, want) {
		t.Errorf("%s: audit rows %v, expected are %v", what, got, want)
	}
	stuckIdle(t, what, store, recovery.Options{})
	stuckGoOn(t, what, store, false)
}

// The same with a recovery that is killed before each of its calls.
func TestTableFForksKilledInRecovery(t *testing.T) {
	for _, row := range pace.Every(t, 9, touchRows()) {
		if !stuck.Full() && row.kind == sidecar.BranchMerge {
			continue
		}
		n, err := fault.Sweep(300, pace.Stride(4, func(at int) (bool, error) {
			store, f := row.scene(t)
			before := stuck.RowsOf(t, stuck.Graph(t, store))
			s := fault.New(store, fault.Rule{Match: fault.Writes, At: at, Do: fault.Halt})
			p := stuckLook(t, store, recovery.Options{})
			_, _ = recovery.Execute(context.Background(), s, p, recovery.Options{}) // it dies
			what := fmt.Sprintf("%s %s, killed before write %d", row.row, row.what, at)
			row.settled(t, what, store, f, before, func() { stuckRecover(t, what, store, recovery.Options{}) })
			return s.Fired() > 0, nil
		}))
		if err != nil || n < 1 {
			t.Errorf("%s %s: %d writes, %v", row.row, row.what, n, err)
		}
	}
}

// Two operations died over the same branch of a table, and neither did anything:
// each takes away its own record, the last one also the branch.
func TestTableF5TwoClaims(t *testing.T) {
	store := stuck.StoreOf(t, stuck.Root, stuck.One(t, "merge", 0).Base)
	one, two := newTouch(t, store, sidecar.Mutation, "", 0), newTouch(t, store, sidecar.Load, "", 1)
	one.arm(t)
	one.tree(t)
	one.ref(t)
	two.arm(t)
	p := stuckLook(t, store, recovery.Options{})
	if len(p.Items) != 2 || p.Items[0].Operation != one.plan.ID {
		t.Fatalf("shown are %+v", p.Items)
	}
	o := recovery.Options{Only: []string{one.plan.ID}}
	if rep, err := recovery.Execute(context.Background(), store, p, o); err != nil || len(rep.Settled) != 1 || rep.Settled[0].Err != nil {
		t.Fatalf("%+v, %v", rep, err)
	}
	if left := stuck.Keys(t, store, one.entry.Location+"/tree/lazy/"); len(left) == 0 {
		t.Error("another record names the branch, and it is gone")
	}
	stuckRecover(t, "the last claim", store, recovery.Options{})
	if left := stuck.Keys(t, store, one.entry.Location+"/tree/lazy/"); len(left) > 0 {
		t.Errorf("of a branch that nobody uses there is %v", left)
	}
	stuckGoOn(t, "two claims", store, false)
}
