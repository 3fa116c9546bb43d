package commit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/lance/rowid"
)

func TestCommitExact(t *testing.T) {
	s, m := newTable(t)
	c := mustCommit(t, s, m, appendTxn(2, "mine", 3), exactly())
	if c.Version != 3 || c.UUID != "mine" || c.Found || c.Key != "t/_versions/"+format.ManifestName(3) {
		t.Errorf("%+v", c)
	}
	a, err := s.Head(t.Context(), c.Key)
	if err != nil || a.Size != c.Size || a.ETag != c.ETag {
		t.Errorf("the manifest has %d bytes and ETag %s, told were %d and %s, %v", a.Size, a.ETag, c.Size, c.ETag, err)
	}
	got := newest(t, s)
	last := got.Fragments[2]
	if n, _ := got.Rows(); n != 18 || got.NextRowID != 18 || *got.MaxFragmentID != 2 || last.ID != 2 || got.TransactionFile != "2-mine.txn" {
		t.Errorf("%d rows, next row %d, fragment %d, %s", n, got.NextRowID, last.ID, got.TransactionFile)
	}
	// The same again: found. Another one on the same base: in the way.
	if c := mustCommit(t, s, m, appendTxn(2, "mine", 3), exactly()); !c.Found || c.Version != 3 {
		t.Errorf("the second commit of one uuid: %+v", c)
	}
	_, err = commit.Commit(t.Context(), s, "t", "", m, appendTxn(2, "late", 3), exactly())
	var conflict *commit.ConflictError
	if !errors.As(err, &conflict) || conflict.Version != 3 || conflict.Theirs.GetUuid() != "mine" || !conflict.Retryable {
		t.Errorf("%v", err)
	}
	if got, want := keys(t, s, "t/_transactions/"), []string{"0-create.txn", "1-b.txn", "2-mine.txn"}; !slices.Equal(got, want) {
		t.Errorf("transaction files %v, want %v", got, want)
	}
}

func TestCommitRebasesAndFinds(t *testing.T) {
	s, m := newTable(t)
	mustCommit(t, s, m, appendTxn(2, "x", 3), opts())
	mustCommit(t, s, m, appendTxn(2, "y", 4), opts())
	c := mustCommit(t, s, m, appendTxn(2, "z", 1), opts())
	if c.Version != 5 || c.Manifest.NextRowID != 23 || c.Manifest.Fragments[4].ID != 4 {
		t.Errorf("version %d, next row %d", c.Version, c.Manifest.NextRowID)
	}
	for uuid, version := range map[string]uint64{"x": 3, "y": 4, "z": 5} {
		if c := mustCommit(t, s, m, appendTxn(2, uuid, 3), opts()); !c.Found || c.Version != version || c.ETag == "" {
			t.Errorf("%s again: %+v", uuid, c)
		}
	}
	if n, _ := newest(t, s).Rows(); n != 23 {
		t.Errorf("%d rows", n)
	}
}

// TestRowsRebase: two deletions in one fragment, of different rows, of the
// same row, of rows that together are all.
func TestRowsRebase(t *testing.T) {
	s, m := newTable(t)
	theirs, _ := masking(t, s, m, "theirs", 0, 1, 2)
	mustCommit(t, s, m, theirs, opts())
	for name, c := range map[string]struct {
		rows []uint32
		want string
		left uint64
	}{
		"others": {[]uint32{3, 9}, "", 11}, "the same": {[]uint32{2, 3}, "both changed row 2 of fragment 0", 0},
		"all of the rest": {[]uint32{0, 3, 4, 5, 6, 7, 8, 9}, "", 5},
	} {
		s := s.Clone()
		tx, rows := masking(t, s, m, "ours", 0, c.rows...)
		o := opts()
		o.Affected = rows
		got, err := commit.Commit(t.Context(), s, "t", "", m, tx, o)
		var conflict *commit.ConflictError
		if c.want != "" {
			if !errors.As(err, &conflict) || !conflict.Retryable || conflict.Why != c.want {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n, _ := got.Manifest.Rows(); n != c.left || got.Txn.ReadVersion != 3 || got.Version != 4 {
			t.Errorf("%s: %d rows, read version %d", name, n, got.Txn.ReadVersion)
		}
		f := got.Manifest.Fragments[0]
		if c.left == 5 {
			if f.ID != 1 {
				t.Errorf("%s: fragment 0 is still there", name)
			}
			continue
		}
		b, err := s.Get(t.Context(), "t/"+format.DeletionPath(0, f.Deletion), blob.All)
		if err != nil {
			t.Fatal(err)
		}
		if set, err := deletion.DecodeArrow(b.Data, 10); err != nil || fmt.Sprint(slices.Collect(set.All())) != "[1 2 3 9]" {
			t.Errorf("%s: %v, %v", name, set, err)
		}
	}
	tx, _ := masking(t, s, m, "ours", 0, 3)
	if _, err := commit.Commit(t.Context(), s, "t", "", m, tx, opts()); err == nil || !strings.Contains(err.Error(), "which rows ours changed is not known") {
		t.Errorf("without affected rows: %v", err)
	}
}

// TestLostRaces: a rival lands between the listing and the put, once or always.
func TestLostRaces(t *testing.T) {
	s, m := newTable(t)
	n := 0
	rival := fault.Rival(func(_ context.Context, inner blob.Store) error {
		n++
		_, err := commit.Commit(context.Background(), inner, "t", "", m, appendTxn(2, fmt.Sprint("rival", n), 1), opts())
		return err
	})
	puts := func(c fault.Call) bool { return c.IfAbsent }
	o := opts()
	o.Retries = 1
	waited := 0
	o.Backoff = func(context.Context, int) error { waited++; return nil }
	once := fault.New(s, fault.Rule{Match: puts, Do: rival})
	c, err := commit.Commit(t.Context(), once, "t", "", m, appendTxn(2, "ours", 1), o)
	if err != nil || c.Version != 4 || c.Attempts != 2 || waited != 1 {
		t.Fatalf("%+v, %v, waited %d", c, err, waited)
	}
	always := fault.New(s, fault.Rule{Match: puts, Every: true, Do: rival})
	_, err = commit.Commit(t.Context(), always, "t", "", m, appendTxn(2, "never", 1), o)
	var conflict *commit.ConflictError
	if !errors.As(err, &conflict) || !conflict.Retryable {
		t.Errorf("%v", err)
	}
	if got := keys(t, s, "t/_transactions/"); slices.Contains(got, "2-never.txn") {
		t.Errorf("the lost transaction is still there: %v", got)
	}
	stop := errors.New("stop")
	o.Backoff = func(context.Context, int) error { return stop }
	if _, err := commit.Commit(t.Context(), always, "t", "", m, appendTxn(2, "stopped", 1), o); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}

// TestAmbiguous: lost answers of the put are settled by reading.
func TestAmbiguous(t *testing.T) {
	puts := func(c fault.Call) bool { return c.IfAbsent }
	lose := func(context.Context, *fault.Attempt) error { return blob.ErrAmbiguous }
	s, m := newTable(t)
	landed := fault.New(s, fault.Rule{Match: puts, Do: fault.LoseAnswer})
	c, err := commit.Commit(t.Context(), landed, "t", "", m, appendTxn(2, "one", 1), exactly())
	if err != nil || !c.Found || c.Version != 3 || c.ETag == "" {
		t.Errorf("landed, answer lost: %+v, %v", c, err)
	}
	m = newest(t, s)
	never := fault.New(s, fault.Rule{Match: puts, Do: lose})
	c, err = commit.Commit(t.Context(), never, "t", "", m, appendTxn(3, "two", 1), exactly())
	if err != nil || c.Found || c.Version != 4 {
		t.Errorf("never sent: %+v, %v", c, err)
	}
	m = newest(t, s)
	for name, rules := range map[string][]fault.Rule{
		"never heard":    {{Match: puts, Every: true, Do: lose}},
		"cannot be read": {{Match: puts, Do: lose}, {Match: func(c fault.Call) bool { return c.Op == blob.OpGet }, Every: true, Do: fault.FailWith(blob.ErrUnavailable)}},
	} {
		s := s.Clone()
		_, err = commit.Commit(t.Context(), fault.New(s, rules...), "t", "", m, appendTxn(4, "three", 1), exactly())
		var unknown *commit.AmbiguousError
		if name == "cannot be read" { // the second put is heard of
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.As(err, &unknown) || !errors.Is(err, blob.ErrAmbiguous) || unknown.Version != 5 || unknown.UUID != "three" {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Contains(keys(t, s, "t/_transactions/"), "4-three.txn") {
			t.Errorf("%s: its transaction file is gone", name)
		}
	}
}

// TestSweep halts at every call, and loses the answer of every write: the table
// is at the old or the new version, whole; the same commit begun again ends
// well and is there once.
func TestSweep(t *testing.T) {
	for name, c := range map[string]struct {
		rule fault.Rule
		o    func() commit.Options
	}{
		"halt, exact": {fault.Rule{Do: fault.Halt}, exactly}, "halt, rebase": {fault.Rule{Do: fault.Halt}, opts},
		"fail, rebase":       {fault.Rule{Do: fault.Fail}, opts},
		"lost answer, exact": {fault.Rule{Match: fault.Writes, Do: fault.LoseAnswer}, exactly}, "lost answer, rebase": {fault.Rule{Match: fault.Writes, Do: fault.LoseAnswer}, opts},
	} {
		t.Run(name, func(t *testing.T) {
			start, m := newTable(t)
			want := uint64(3)
			if !c.o().Exact {
				theirs, _ := masking(t, start, m, "theirs", 0, 1)
				mustCommit(t, start, m, theirs, opts())
				want = 4
			}
			tx, rows := masking(t, start, m, "ours", 0, 3, 4)
			places, err := fault.Sweep(100, func(at int) (bool, error) {
				inner := start.Clone()
				rule := c.rule
				rule.At = at
				s := fault.New(inner, rule)
				o := c.o()
				o.Affected = rows
				_, first := commit.Commit(context.Background(), s, "t", "", m, tx, o)
				if err := whole(t, inner, want, first == nil); err != nil {
					return false, err
				}
				again, err := commit.Commit(context.Background(), inner, "t", "", m, tx, o)
				if err != nil || again.Version != want {
					return false, fmt.Errorf("begun again after %v: %+v, %w", first, again, err)
				}
				return s.Fired() > 0, whole(t, inner, want, true)
			})
			t.Logf("%d places", places)
			if err != nil || places < 2 {
				t.Errorf("%d places, %v", places, err)
			}
		})
	}
}

// whole checks that the table is at version want, or, unless it must be, the
// one before, and that everything it refers to is there.
func whole(t *testing.T, s *memstore.Store, want uint64, must bool) error {
	t.Helper()
	m := newest(t, s)
	if m.Version != want && (must || m.Version != want-1) {
		return fmt.Errorf("the table is at version %d, want %d", m.Version, want)
	}
	all := keys(t, s, "t/")
	if !slices.Contains(all, "_transactions/"+m.TransactionFile) {
		return fmt.Errorf("version %d has no transaction file %s", m.Version, m.TransactionFile)
	}
	rows := map[uint64]uint64{2: 15, 3: 13, 4: 12}[m.Version]
	if want == 4 {
		rows = map[uint64]uint64{3: 14, 4: 12}[m.Version]
	}
	if n, _ := m.Rows(); n != rows {
		return fmt.Errorf("version %d has %d rows, want %d", m.Version, n, rows)
	}
	for i := range m.Fragments {
		f := &m.Fragments[i]
		if f.Deletion == nil {
			continue
		}
		o, err := s.Get(t.Context(), "t/"+format.DeletionPath(f.ID, f.Deletion), blob.All)
		if err != nil {
			return err
		}
		if set, err := deletion.DecodeArrow(o.Data, f.PhysicalRows); err != nil || set.Len() != f.Deletion.Rows {
			return fmt.Errorf("fragment %d: %d deleted, the manifest says %d, %w", f.ID, set.Len(), f.Deletion.Rows, err)
		}
	}
	return nil
}

// TestRefusedBases: a base that is gone or was replaced, names of the old
// scheme, versions without a transaction.
func TestRefusedBases(t *testing.T) {
	s, m := newTable(t)
	o := exactly()
	o.BaseETag = "another"
	_, err := commit.Commit(t.Context(), s, "t", "", m, appendTxn(2, "a", 1), o)
	var conflict *commit.ConflictError
	if !errors.As(err, &conflict) || !strings.Contains(err.Error(), "replaced by another") {
		t.Errorf("another ETag: %v", err)
	}
	a, err := s.Head(t.Context(), "t/_versions/"+format.ManifestName(2))
	if err != nil {
		t.Fatal(err)
	}
	o.BaseETag = a.ETag
	mustCommit(t, s, m, appendTxn(2, "right", 1), o)

	// Base and successor were cleaned away: the next number is free, but below.
	m = newest(t, s)
	for v := uint64(3); v < 6; v++ {
		mustCommit(t, s, newest(t, s), appendTxn(v, fmt.Sprint("later", v), 1), exactly())
	}
	for v := uint64(1); v < 6; v++ {
		if err := s.Delete(t.Context(), "t/_versions/"+format.ManifestName(v)); err != nil {
			t.Fatal(err)
		}
	}
	for name, o := range map[string]commit.Options{"exact": exactly(), "rebase": opts()} {
		c, err := commit.Commit(t.Context(), s.Clone(), "t", "", m, appendTxn(3, "below", 1), o)
		if name == "exact" && (!errors.As(err, &conflict) || conflict.Version != 6) || name == "rebase" && (err != nil || c.Version != 7) {
			t.Errorf("%s on a base that was cleaned away: %+v, %v", name, c, err)
		}
	}
	empty := memstore.New(memstore.Options{})
	if _, err := commit.Commit(t.Context(), empty, "t", "", m, appendTxn(3, "x", 1), opts()); !errors.As(err, &conflict) {
		t.Errorf("nothing there: %v", err)
	}
	if _, err := empty.Put(t.Context(), "t/_versions/3.manifest", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := commit.Commit(t.Context(), empty, "t", "", m, appendTxn(3, "x", 1), opts()); !errors.Is(err, format.ErrUnsupported) {
		t.Errorf("old names: %v", err)
	}
}

// TestCreateAndClone: only one creates, a clone starts at the version cloned,
// and its deletions go on from the parent's file.
func TestCreateAndClone(t *testing.T) {
	s, m := newTable(t)
	_, err := commit.Commit(t.Context(), s, "t", "", nil, createTxn("second", fragment("c", 1)), opts())
	var conflict *commit.ConflictError
	if !errors.As(err, &conflict) || conflict.Version != 1 {
		t.Errorf("created twice: %v", err)
	}
	if c := mustCommit(t, s, nil, createTxn("create"), opts()); !c.Found || c.Version != 1 {
		t.Errorf("the same creation: %+v", c)
	}
	tx, _ := masking(t, s, m, "del", 0, 1)
	m = mustCommit(t, s, m, tx, opts()).Manifest
	clone := txn(3, "clone", &tablepb.Clone{IsShallow: true, RefVersion: 3, RefPath: "mem://t", BranchName: proto.String("dev")})
	c, err := commit.Commit(t.Context(), s, "t", "dev", m, clone, opts())
	if err != nil || c.Version != 3 || c.Manifest.Branch != "dev" || c.Key != "t/tree/dev/_versions/"+format.ManifestName(3) {
		t.Fatalf("%+v, %v", c, err)
	}
	if c2, err := commit.Commit(t.Context(), s, "t", "dev", m, clone, opts()); err != nil || !c2.Found {
		t.Errorf("the same clone: %+v, %v", c2, err)
	}
	other := txn(3, "clone2", clone.GetClone())
	if _, err := commit.Commit(t.Context(), s, "t", "dev", m, other, opts()); !errors.As(err, &conflict) {
		t.Errorf("cloned twice: %v", err)
	}
	// Two deletions meet on the branch; the inherited set lies with the parent.
	branch := c.Manifest
	mask := func(uuid string, row uint32) (*tablepb.Transaction, commit.Options) {
		f := proto.CloneOf(branch.Proto.Fragments[0])
		f.DeletionFile = &tablepb.DeletionFile{ReadVersion: 3, Id: uint64(row), NumDeletedRows: 2}
		all := deletion.New([]uint32{1, row})
		if _, err := s.Put(t.Context(), fmt.Sprintf("t/tree/dev/_deletions/0-3-%d.arrow", row), all.EncodeArrow()); err != nil {
			t.Fatal(err)
		}
		o := opts()
		o.Affected = map[uint64]*deletion.Set{0: deletion.New([]uint32{row})}
		return txn(3, uuid, &tablepb.Delete{UpdatedFragments: []*tablepb.DataFragment{f}}), o
	}
	for i, row := range []uint32{4, 5} {
		tx, o := mask(fmt.Sprint("b", i), row)
		if c, err = commit.Commit(t.Context(), s, "t", "dev", branch, tx, o); err != nil {
			t.Fatal(err)
		}
	}
	if n, _ := c.Manifest.Rows(); n != 12 || c.Version != 5 || c.Manifest.Fragments[0].Deletion.Base.Set || !c.Manifest.Fragments[0].Files[0].Base.Set {
		t.Errorf("%d rows at version %d, %+v", n, c.Version, c.Manifest.Fragments[0])
	}
}

// TestRestoreReadsTheVersion: Commit fetches what a Restore names.
func TestRestoreReadsTheVersion(t *testing.T) {
	s, m := newTable(t)
	c := mustCommit(t, s, m, txn(2, "back", &tablepb.Restore{Version: 1}), exactly())
	if n, _ := c.Manifest.Rows(); n != 10 || c.Version != 3 || c.Manifest.NextRowID != 15 || *c.Manifest.MaxFragmentID != 1 {
		t.Errorf("%d rows, next row %d", n, c.Manifest.NextRowID)
	}
	c = mustCommit(t, s, c.Manifest, appendTxn(3, "on", 1), exactly())
	ids, err := rowid.Decode(c.Manifest.Fragments[1].RowIDs.Inline)
	if err != nil || ids.At(0) != 15 || c.Manifest.Fragments[1].ID != 2 {
		t.Errorf("the next row has id %d in fragment %d, %v", ids.At(0), c.Manifest.Fragments[1].ID, err)
	}
	if _, err := commit.Commit(t.Context(), s, "t", "", c.Manifest, txn(4, "far", &tablepb.Restore{Version: 99}), exactly()); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("a version that is not there: %v", err)
	}
}
