package lance_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// TestRestoreWalk: any version of a random history is brought back whole, and
// what is written after it has ids that were never given out.
func TestRestoreWalk(t *testing.T) {
	for seed := range 4 {
		w := newWalk(t, memstore.New(memstore.Options{Name: "restore"}), 500+seed)
		past := map[uint64]map[string]*person{}
		note := func() { past[w.snap.Version()] = maps.Clone(w.rows) }
		for note(); w.step < 24; note() {
			w.act()
			if w.step%6 != 0 {
				continue
			}
			note()
			to := slices.Sorted(maps.Keys(past))[w.rnd.IntN(len(past))]
			o := w.options()
			o.UUID += "-back"
			staged, err := w.snap.StageRestore(t.Context(), to, o)
			if err != nil {
				t.Fatal(err)
			}
			next := w.snap.Manifest().NextRowID
			w.commit("restore", staged, func() { w.rows = maps.Clone(past[to]) })
			if got := w.snap.Manifest().NextRowID; got != next {
				t.Errorf("seed %d: the next row has id %d, want %d", w.seed, got, next)
			}
		}
		if w.kinds["restore"] < 3 {
			t.Errorf("seed %d: %v", w.seed, w.kinds)
		}
	}
}

// copyDir copies a dataset on disk.
func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// manifestOf is a manifest without what differs from commit to commit.
func manifestOf(t *testing.T, s *lance.Snapshot) (*tablepb.Manifest, []string) {
	t.Helper()
	m := proto.CloneOf(s.Manifest().Proto)
	m.Timestamp, m.TransactionFile, m.TransactionSection, m.WriterVersion, m.IndexSection = nil, "", nil, nil, nil
	list, err := s.Indexes()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range list {
		names = append(names, x.Proto.String())
	}
	return m, names
}

// TestRestoreAsLance: what we commit is what Lance's own restore makes of the
// same table, but for the next row id, which never goes back; pylance reads and
// goes on.
func TestRestoreAsLance(t *testing.T) {
	python(t)
	dir := t.TempDir()
	w := newWalk(t, local(t, dir), 600)
	for w.step < 8 || len(w.rows) < 20 {
		w.act()
	}
	run(t, "take_over.py", "index", dir)
	w.snap = open(t, w.store, walkRoot, lance.OpenOptions{Allocator: w.mem})
	pin := w.snap.Version()
	w.how = lance.LookUpByIndex
	before := maps.Clone(w.rows)
	for w.snap.Version() < pin+4 {
		w.act()
	}
	copyDir(t, filepath.Join(dir, walkRoot), filepath.Join(dir, "twin"))
	run(t, "restore.py", "twin", dir, fmt.Sprint(pin))
	twin := open(t, w.store, "twin", lance.OpenOptions{})

	staged, err := w.snap.StageRestore(t.Context(), pin, lance.StageOptions{UUID: "omnigraph-recover-x", WithTransaction: true})
	if err != nil {
		t.Fatal(err)
	}
	next := w.snap.Manifest().NextRowID
	w.step++
	w.commit("restore", staged, func() { w.rows = before })
	ours, indexes := manifestOf(t, w.snap)
	theirs, want := manifestOf(t, twin)
	if ours.NextRowId != next || theirs.NextRowId > next {
		t.Errorf("next row ids: ours %d, want %d; Lance's %d", ours.NextRowId, next, theirs.NextRowId)
	}
	ours.NextRowId, theirs.NextRowId = 0, 0
	if d := cmp.Diff(theirs, ours, protocmp.Transform()); d != "" {
		t.Errorf("manifests differ:\n%s", d)
	}
	if len(want) < 4 || !slices.Equal(indexes, want) {
		t.Errorf("indexes %v, want %v", indexes, want)
	}
	tx, err := w.snap.Transaction(t.Context())
	if err != nil || tx.Proto.GetUuid() != "omnigraph-recover-x" || tx.Proto.GetRestore().GetVersion() != pin || tx.Proto.GetReadVersion() != w.snap.Version()-1 {
		t.Errorf("%v, %v", tx, err)
	}
	run(t, "restore.py", "same", filepath.Join(dir, walkRoot), filepath.Join(dir, "twin"))
	out, err := exec.Command(python(t), "testdata/restore.py", "write", filepath.Join(dir, walkRoot)).Output()
	if err != nil || strings.TrimSpace(string(out)) != fmt.Sprint(next) {
		t.Errorf("pylance wrote a row with the id %s, want %d: %v", out, next, err)
	}
}

// TestRestoreOnABranch: the versions of a branch are restored on it, also the
// one that it was forked at; pylance reads it.
func TestRestoreOnABranch(t *testing.T) {
	python(t)
	dir := t.TempDir()
	w := newWalk(t, local(t, dir), 610)
	for w.step < 6 || len(w.rows) < 20 {
		w.act()
	}
	run(t, "restore.py", "branch", dir)
	fork := w.snap.Version()
	for _, back := range []uint64{1, 0} {
		dev := open(t, w.store, walkRoot, lance.OpenOptions{Branch: "dev"})
		staged, err := dev.StageRestore(t.Context(), fork+back, lance.StageOptions{UUID: fmt.Sprint("back-", back)})
		if err != nil {
			t.Fatal(err)
		}
		got, c, err := staged.Commit(t.Context(), lance.CommitOptions{Exact: true})
		if err != nil || c.Version != dev.Version()+1 || got.Branch() != "dev" || !strings.HasPrefix(c.Key, "t.lance/tree/dev/") {
			t.Fatalf("%+v, %v", c, err)
		}
		if n, _ := got.CountRows(); n != uint64(len(w.rows))-back || staged.RowsAfter != n {
			t.Errorf("version %d: %d rows of %d, staged says %d", fork+back, n, len(w.rows), staged.RowsAfter)
		}
		rep, err := lance.Verify(t.Context(), got, lance.VerifyOptions{Deep: true})
		if err != nil || len(rep.Problems) > 0 {
			t.Error(rep, err)
		}
	}
	run(t, "restore.py", "same", filepath.Join(dir, walkRoot, "tree", "dev"), filepath.Join(dir, walkRoot))
	if _, err := open(t, w.store, walkRoot, lance.OpenOptions{Branch: "dev"}).StageRestore(t.Context(), fork-1, lance.StageOptions{UUID: "x"}); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("a version before the branch began: %v", err)
	}
}

// restoring is a recovery that brings version 1 back, on whatever is newest.
func restoring(store blob.Store, head uint64, withTxn bool) (*commit.Committed, error) {
	ctx := context.Background()
	s, err := lance.Open(ctx, store, walkRoot, lance.OpenOptions{Version: head})
	if err != nil {
		return nil, err
	}
	staged, err := s.StageRestore(ctx, 1, lance.StageOptions{UUID: fmt.Sprintf("recover-%d", head), WithTransaction: withTxn})
	if err != nil {
		return nil, err
	}
	_, c, err := staged.Commit(ctx, lance.CommitOptions{Exact: true})
	return c, err
}

// restoreFaults are what a recovery to head may meet at a call: by name, "twin"
// is another recovery of the same operation, "foreign" a writer of another one.
func (w *walk) restoreFaults(head uint64) map[string]fault.Rule {
	foreign := func(_ context.Context, inner blob.Store) error {
		s, err := lance.Open(context.Background(), inner, walkRoot, lance.OpenOptions{})
		if err != nil {
			return err
		}
		staged, err := s.StageAppend(context.Background(), w.given(w.people([]string{"foreign"}), true), lance.StageOptions{UUID: "foreign", Rand: seeded(1)})
		if err == nil {
			_, _, err = staged.Commit(context.Background(), lance.CommitOptions{})
		}
		return err
	}
	twin := func(_ context.Context, inner blob.Store) error { _, err := restoring(inner, head, false); return err }
	return map[string]fault.Rule{
		"halt": {Do: fault.Halt}, "fail": {Do: fault.Fail}, "lost": {Match: fault.Writes, Do: fault.LoseAnswer}, "foreign": {Do: fault.Rival(foreign)}, "twin": {Do: fault.Rival(twin)},
		"twin, then refused": {Do: func(ctx context.Context, a *fault.Attempt) error {
			a.Perform = func(context.Context) error { return fault.ErrInjected }
			return fault.Rival(twin)(ctx, a)
		}},
	}
}

// restoresBesides recovers with a fault of restoreFaults, and again without it.
// hit: the fault's call came; ours: the restore is there, and not what another
// wrote in its place.
func restoresBesides(inner blob.Store, name string, rule fault.Rule, head uint64, withTxn bool) (hit, ours bool, err error) {
	fails := slices.Contains([]string{"halt", "fail", "twin, then refused"}, name)
	s := fault.New(inner, rule)
	_, first := restoring(s, head, withTxn)
	if _, err := restores(inner, head); err != nil {
		return false, false, fmt.Errorf("after %v: %w", first, err)
	}
	_, second := restoring(inner, head, withTxn)
	var lost *commit.ConflictError
	if first != nil && !fails && !errors.As(first, &lost) {
		return false, false, first
	}
	if second != nil && !errors.As(second, &lost) {
		return false, false, second
	}
	ours, err = restores(inner, head)
	if err != nil || ours && second != nil || !ours && (second == nil || name != "foreign") {
		return false, false, fmt.Errorf("restored %v: %v, then %v; %v", ours, first, second, err)
	}
	return s.Fired() > 0, ours, nil
}

// TestRestoreSweep: halted at any call, with any answer lost, with another
// recovery of the same operation or a foreign writer before any call, there is
// the one restore at HEAD + 1 or what the other wrote there, never a second one;
// and its transaction's file is there.
func TestRestoreSweep(t *testing.T) {
	w := newWalk(t, memstore.New(memstore.Options{Name: "sweep"}), 620)
	for w.step < 8 || len(w.rows) < 10 {
		w.act()
	}
	head := w.snap.Version()
	start := w.store.(*memstore.Store)
	faults := w.restoreFaults(head)
	for _, name := range slices.Sorted(maps.Keys(faults)) { // w draws in this order
		rule, least := faults[name], 5
		if name == "lost" {
			least = 2
		}
		for _, withTxn := range []bool{false, true} {
			mine := 0
			places, err := fault.Sweep(50, func(at int) (bool, error) {
				rule.At = at
				hit, ours, err := restoresBesides(start.Clone(), name, rule, head, withTxn)
				if ours {
					mine++
				}
				return hit, err
			})
			if err != nil || places < least || mine == 0 {
				t.Errorf("%s: %d places, %d times restored: %v", name, places, mine, err)
			}
		}
	}
}

// restores reports whether the version above head is the restore, and that
// there is no other one; its transaction's file is there.
func restores(store blob.Store, head uint64) (ours bool, err error) {
	chain, err := lance.Versions(context.Background(), store, walkRoot, lance.ListOptions{})
	if err != nil {
		return false, err
	}
	for s, err := range lance.ReadVersions(context.Background(), store, walkRoot, chain.Versions, lance.OpenOptions{}) {
		if err != nil {
			return false, err
		}
		tx, err := s.Transaction(context.Background())
		if err != nil {
			return false, err
		}
		if tx.Proto.GetUuid() != fmt.Sprintf("recover-%d", head) {
			continue
		}
		if s.Version() != head+1 || ours {
			return false, fmt.Errorf("version %d is a restore", s.Version())
		}
		ours = true
		if _, err := store.Head(context.Background(), format.Join(walkRoot, format.TransactionPath(s.Manifest().TransactionFile))); err != nil {
			return false, err
		}
	}
	return ours, nil
}

// TestRestoreRefuses: what cannot be restored is said, and nothing is written.
func TestRestoreRefuses(t *testing.T) {
	w := grown(t, 630)
	n := len(keysOf(t, w.store.(*memstore.Store)))
	for _, to := range []uint64{0, w.snap.Version() + 1, 1 << 63} {
		var bad *lance.InputError
		if _, err := w.snap.StageRestore(t.Context(), to, lance.StageOptions{UUID: "x"}); !errors.As(err, &bad) || !strings.Contains(err.Error(), fmt.Sprint(to)) {
			t.Errorf("version %d: %v", to, err)
		}
	}
	key := format.Join(walkRoot, format.VersionsDir, format.ManifestName(2))
	if _, err := w.store.Put(t.Context(), key, []byte("nonsense")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.snap.StageRestore(t.Context(), 2, lance.StageOptions{UUID: "x"}); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("a damaged version: %v", err)
	}
	if err := w.store.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if _, err := w.snap.StageRestore(t.Context(), 2, lance.StageOptions{UUID: "x"}); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("a version that was cleaned up: %v", err)
	}
	if got := len(keysOf(t, w.store.(*memstore.Store))); got != n-1 {
		t.Errorf("%d objects, want %d", got, n-1)
	}
}
