package lance_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/index"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/lance/refs"
	"github.com/omnideck/omnideck/lance/rowid"
)

// replay stages and commits anew what led from one version of a dataset that
// another program wrote to the next.
type replay struct {
	store       *memstore.Store
	root        string
	base, child *lance.Snapshot // base nil: version 1
	want        *tablepb.Transaction
}

// TestReplay: the changes of data of every table and every __manifest of real
// graphs, on every branch, made again by us from the rows that they left
// behind: the transactions are the Rust engine's, field by field, and so are
// the versions and the rows in them.
func TestReplay(t *testing.T) {
	for _, name := range []string{fixtures.Demo, "maintained", "diverged", "wide", "deep"} {
		t.Run(name, func(t *testing.T) {
			store := inMemory(t, name, graph(t, name))
			ops, carried := map[string]int{}, 0
			for _, root := range datasets(graph(t, name)) {
				for _, branch := range branchesOf(t, store, root) {
					carried += replayBranch(t, store, root, branch, ops)
				}
			}
			t.Logf("%v, blobs kept %d times", ops, carried)
			if ops["Update"] == 0 || ops["Delete"] == 0 && name == fixtures.Demo {
				t.Error("nothing was replayed")
			}
		})
	}
}

func replayBranch(t *testing.T, store *memstore.Store, root, branch string, ops map[string]int) (carried int) {
	t.Helper()
	chain, err := lance.Versions(t.Context(), store, root, lance.ListOptions{Branch: branch})
	if err != nil {
		t.Fatal(err)
	}
	var base *lance.Snapshot
	for i, v := range slices.Backward(chain.Versions) {
		if len(chain.Versions) > 40 && i > 3 && i%40 != 0 {
			base = nil
			continue
		}
		child := open(t, store, root, lance.OpenOptions{Branch: branch, Version: v.Version})
		if base == nil && v.Version > 1 && i+1 < len(chain.Versions) && chain.Versions[i+1].Version == v.Version-1 {
			base = open(t, store, root, lance.OpenOptions{Branch: branch, Version: v.Version - 1})
		}
		tx, err := child.Transaction(t.Context())
		if err != nil || tx == nil {
			t.Fatalf("%s version %d: no transaction: %v", root, v.Version, err)
		}
		r := &replay{store: store, root: root, base: base, child: child, want: tx.Proto}
		base = child
		if r.base == nil && v.Version > 1 || r.base != nil && r.base.Version() != v.Version-1 || r.base != nil && tx.Proto.ReadVersion != r.base.Version() {
			continue
		}
		op, n := r.run(t)
		ops[op]++
		carried += n
	}
	return carried
}

// run replays one version. op is "" when it is none that rows say.
func (r *replay) run(t *testing.T) (op string, carried int) {
	t.Helper()
	what := fmt.Sprintf("%s, branch %q, version %d", r.root, r.child.Branch(), r.child.Version())
	o := lance.StageOptions{UUID: r.want.Uuid, Rand: bytes.NewReader(bytes.Repeat([]byte{7}, 32)), Properties: maps.Clone(r.want.TransactionProperties)}
	for _, frags := range [][]*tablepb.DataFragment{r.want.GetOverwrite().GetFragments(), r.want.GetAppend().GetFragments()} {
		if len(frags) > 1 {
			o.FragmentRows = int64(frags[0].PhysicalRows)
		}
	}
	now := func() time.Time { return r.child.Manifest().Timestamp }
	own := r.rewound(t)
	if r.base == nil {
		if o.FragmentRows > 0 {
			return "", 0 // Create makes one fragment of so few rows
		}
		s, _, err := lance.Create(t.Context(), own, r.root, lance.CreateOptions{Schema: r.child.Schema(), Rows: r.rows(t, false), UUID: o.UUID, Now: now, Rand: o.Rand, Allocator: checked(t)})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		r.compare(t, what, s)
		return "Create", 0
	}
	base := open(t, own, r.root, lance.OpenOptions{Branch: r.child.Branch(), Version: r.base.Version()})
	staged, op, carried, err := r.stage(t, base, o)
	switch {
	case errors.Is(err, blob.ErrNotExist):
		return "cleaned", 0
	case err != nil:
		t.Fatalf("%s: %s: %v", what, op, err)
	case staged == nil:
		return "", 0
	}
	s, _, err := staged.Commit(t.Context(), lance.CommitOptions{Exact: true, Now: now})
	if err != nil {
		t.Fatalf("%s: %s: %v", what, op, err)
	}
	if n, _ := s.CountRows(); n != staged.RowsAfter {
		t.Errorf("%s: %d rows, staged were %d", what, n, staged.RowsAfter)
	}
	r.compare(t, what, s)
	return op, carried
}

// rewound is the store as it was before the version.
func (r *replay) rewound(t *testing.T) *memstore.Store {
	t.Helper()
	own := r.store.Clone()
	chain, err := lance.Versions(t.Context(), own, r.root, lance.ListOptions{Branch: r.child.Branch()})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range chain.Versions {
		if v.Version >= r.child.Version() {
			if err := own.Delete(t.Context(), v.Key); err != nil {
				t.Fatal(err)
			}
		}
	}
	return own
}

// stage does what the transaction says it did.
func (r *replay) stage(t *testing.T, base *lance.Snapshot, o lance.StageOptions) (*lance.Staged, string, int, error) {
	t.Helper()
	ctx := t.Context()
	switch {
	case r.want.GetOverwrite() != nil:
		s, err := base.StageOverwrite(ctx, r.child.Schema(), r.rows(t, false), o)
		return s, "Overwrite", 0, err
	case r.want.GetAppend() != nil:
		s, err := base.StageAppend(ctx, r.rows(t, true), o)
		return s, "Append", 0, err
	case r.want.GetDelete() != nil:
		s, err := base.StageDelete(ctx, r.deleted(t), r.want.GetDelete().Predicate, o)
		return s, "Delete", 0, err
	case r.want.GetUpdate() == nil:
		return nil, "", 0, nil
	}
	if v, ok := o.Properties["omnigraph.insert_absence"]; ok {
		o.InsertProperties = map[string]string{"omnigraph.insert_absence": v}
		delete(o.Properties, "omnigraph.insert_absence")
	}
	up := r.want.GetUpdate()
	if up.InsertedRows == nil && len(r.child.Schema().PrimaryKey()) == 0 {
		return r.stageUpdate(t, base, o)
	}
	if len(up.NewFragments) == 1 && up.NewFragments[0].RowIdSequence == nil {
		s, err := base.StageInsert(ctx, r.rows(t, true), o)
		return s, "Insert", 0, err
	}
	rows, carried := r.rows(t, true), 0
	if r.keepsBlobs(t) {
		rows, carried = without(rows, blobColumns(r.child)), 1
	}
	s, err := base.StageUpsert(ctx, rows, lance.UpsertOptions{StageOptions: o, LookUp: lance.LookUpByIndex})
	return s, "Update", carried, err
}

// stageUpdate replaces rows by their addresses, as in a table without a key.
func (r *replay) stageUpdate(t *testing.T, base *lance.Snapshot, o lance.StageOptions) (*lance.Staged, string, int, error) {
	t.Helper()
	var ids []uint64
	for _, f := range r.want.GetUpdate().NewFragments {
		seq, err := rowid.Decode(f.GetInlineRowIds())
		if err != nil {
			t.Fatal(err)
		}
		if seq.Len() != f.PhysicalRows || r.want.GetUpdate().UpdateMode != tablepb.UpdateMode_REWRITE_ROWS {
			return nil, "", 0, nil // it inserted, too, or changed columns in place
		}
		ids = seq.Append(ids, 0, seq.Len())
	}
	if len(ids) == 0 {
		return nil, "", 0, nil // nothing matched
	}
	addrs, ok, err := base.Addresses(t.Context(), ids)
	if err != nil || slices.Contains(ok, false) {
		t.Fatalf("%d rows were updated, %v", len(ids), err)
	}
	s, err := base.StageUpdate(t.Context(), addrs, r.rows(t, true), o)
	return s, "Update", 0, err
}

// TestReplayPylance: the same for what pylance did to the tables that it makes
// for tests of reading, in steps of many rows.
func TestReplayPylance(t *testing.T) {
	dir, cases := makeCases(t)
	ops := map[string]int{}
	for _, c := range cases {
		if !c.Stable {
			continue
		}
		store := inMemory(t, c.Case, files(t, filepath.Join(dir, c.Case)))
		s := open(t, store, "data.lance", lance.OpenOptions{})
		if s.Manifest().FileVersion != commit.FileVersion {
			continue
		}
		for _, branch := range branchesOf(t, store, "data.lance") {
			replayBranch(t, store, "data.lance", branch, ops)
		}
	}
	t.Log(ops)
	for _, op := range []string{"Create", "Append", "Update", "Delete", "Overwrite"} {
		if ops[op] == 0 {
			t.Errorf("no %s was replayed", op)
		}
	}
}

// branchesOf are the names of a dataset's branches, "" for main.
func branchesOf(t *testing.T, store blob.Store, root string) []string {
	t.Helper()
	list, err := refs.List(t.Context(), store, root)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{""}
	for _, b := range list.Branches {
		out = append(out, b.Name)
	}
	return out
}

// rows are those of the version, or of its new fragments, blobs with their
// bytes.
func (r *replay) rows(t *testing.T, onlyNew bool) lance.Rows {
	var frags []uint64
	for _, f := range r.child.Fragments() {
		if !onlyNew || !slices.ContainsFunc(r.base.Fragments(), func(o format.Fragment) bool { return o.ID == f.ID }) {
			frags = append(frags, f.ID)
		}
	}
	if frags == nil {
		return nil
	}
	return withBlobs(r.child, r.child.Scan(t.Context(), lance.ScanOptions{Fragments: frags, WithRowAddress: true}))
}

// keepsBlobs: the version moved rows, inserted none, and their blobs are what
// they were.
func (r *replay) keepsBlobs(t *testing.T) bool {
	t.Helper()
	if len(blobColumns(r.child)) == 0 {
		return false
	}
	kept := false
	for _, f := range r.child.Fragments() {
		if slices.ContainsFunc(r.base.Fragments(), func(o format.Fragment) bool { return o.ID == f.ID }) {
			continue
		}
		seq, err := rowid.Decode(f.RowIDs.Inline)
		if err != nil {
			t.Fatal(err)
		}
		ids := seq.Append(nil, 0, seq.Len())
		before, ok, err := r.base.Addresses(t.Context(), ids)
		if err != nil || slices.Contains(ok, false) {
			return false
		}
		after := make([]uint64, len(ids))
		for i := range ids {
			after[i] = f.ID<<32 | uint64(i)
		}
		for _, name := range blobColumns(r.child) {
			if !slices.EqualFunc(payloads(t, r.base, name, before), payloads(t, r.child, name, after), bytes.Equal) {
				return false
			}
		}
		kept = true
	}
	return kept
}

func payloads(t *testing.T, s *lance.Snapshot, column string, addrs []uint64) (out [][]byte) {
	t.Helper()
	blobs, err := s.Blobs(t.Context(), column, addrs)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blobs {
		data, err := b.Read(t.Context(), 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

// deleted are the rows that the version no longer has.
func (r *replay) deleted(t *testing.T) (out []uint64) {
	t.Helper()
	for _, f := range r.base.Fragments() {
		before, err := r.base.Deletions(t.Context(), f.ID)
		if err != nil {
			t.Fatal(err)
		}
		there := slices.ContainsFunc(r.child.Fragments(), func(o format.Fragment) bool { return o.ID == f.ID })
		for from, to := range before.Live(0, f.PhysicalRows) {
			for off := from; off < to; off++ {
				gone := !there
				if there {
					after, err := r.child.Deletions(t.Context(), f.ID)
					if err != nil {
						t.Fatal(err)
					}
					gone = after.Contains(uint32(off))
				}
				if gone {
					out = append(out, f.ID<<32|off)
				}
			}
		}
	}
	return out
}

// compare holds our version against theirs.
func (r *replay) compare(t *testing.T, what string, s *lance.Snapshot) {
	t.Helper()
	tx, err := s.Transaction(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, want := proto.CloneOf(tx.Proto), proto.CloneOf(r.want)
	if o := got.GetOverwrite(); o != nil {
		o.SchemaMetadata = nil // Lance forgets it there
	}
	for _, tx := range []*tablepb.Transaction{got, want} {
		if u := tx.GetUpdate(); u != nil && u.InsertedRows == nil && len(s.Schema().PrimaryKey()) == 0 {
			u.FieldsForPreservingFragBitmap = nil // who is given whole rows does not know which columns changed
		}
		byID := func(a, b *tablepb.DataFragment) int { return int(a.Id) - int(b.Id) }
		slices.SortFunc(tx.GetUpdate().GetUpdatedFragments(), byID)
		slices.SortFunc(tx.GetDelete().GetUpdatedFragments(), byID)
		slices.Sort(tx.GetUpdate().GetRemovedFragmentIds())
		slices.Sort(tx.GetDelete().GetDeletedFragmentIds())
		evenFragments(t, tx.GetAppend().GetFragments(), tx.GetOverwrite().GetFragments(), tx.GetDelete().GetUpdatedFragments(),
			tx.GetUpdate().GetUpdatedFragments(), tx.GetUpdate().GetNewFragments())
	}
	if !proto.Equal(got, want) {
		t.Errorf("%s: the transaction differs (-theirs +ours):\n%s", what, cmp.Diff(want, got, protocmp.Transform()))
	}
	ours, theirs := proto.CloneOf(s.Manifest().Proto), proto.CloneOf(r.child.Manifest().Proto)
	for _, m := range []*tablepb.Manifest{ours, theirs} {
		evenFragments(t, m.Fragments)
		m.WriterVersion, m.IndexSection, m.TransactionSection = nil, nil, nil
		if tx.Proto.GetOverwrite() != nil {
			m.MaxFragmentId = nil
			for i, f := range m.Fragments {
				f.Id = uint64(i)
			}
		}
	}
	if d := cmp.Diff(coverage(t, r.child), coverage(t, s)); d != "" {
		t.Errorf("%s: the indexes differ (-theirs +ours):\n%s", what, d)
	}
	if !proto.Equal(ours, theirs) {
		t.Errorf("%s: the manifest differs (-theirs +ours):\n%s", what, cmp.Diff(theirs, ours, protocmp.Transform()))
	}
	o := lance.ScanOptions{WithRowID: true, WithVersions: true, WithRowAddress: tx.Proto.GetOverwrite() == nil}
	names := blobColumns(s)
	same(t, what, collect(t, without(s.Scan(t.Context(), o), names)), collect(t, without(r.child.Scan(t.Context(), o), names)))
	for _, name := range names {
		if a, b := allAddresses(t, s), allAddresses(t, r.child); !slices.EqualFunc(payloads(t, s, name, a), payloads(t, r.child, name, b), bytes.Equal) {
			t.Errorf("%s: the blobs of %s differ: %.200q, want %.200q", what, name, payloads(t, s, name, a), payloads(t, r.child, name, b))
		}
	}
}

// coverage is what the segments of indexes cover.
func coverage(t *testing.T, s *lance.Snapshot) map[string][]uint32 {
	t.Helper()
	list, err := index.Describe(s.Manifest())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]uint32{}
	for _, x := range list {
		for _, seg := range x.Segments {
			out[x.Name+" "+seg.UUID] = seg.Fragments
		}
	}
	return out
}

func allAddresses(t *testing.T, s *lance.Snapshot) []uint64 {
	t.Helper()
	return numbersOf(t, collect(t, s.Scan(t.Context(), lance.ScanOptions{Columns: []string{}, WithRowAddress: true})), lance.ColRowAddress)
}

// evenFragments evens out what a writer is free to choose.
func evenFragments(t *testing.T, lists ...[]*tablepb.DataFragment) {
	t.Helper()
	for _, f := range slices.Concat(lists...) {
		for _, d := range f.Files {
			d.Path, d.FileSizeBytes = strings.Repeat("x", len(d.Path)), 0
		}
		if f.DeletionFile != nil {
			f.DeletionFile.Id, f.DeletionFile.FileType = 1, 0
		}
		if b := f.GetInlineRowIds(); len(b) > 0 {
			seq, err := rowid.Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			var ids rowid.Builder
			ids.Sequence(seq)
			if b, err = ids.Encode(); err != nil {
				t.Fatal(err)
			}
			f.RowIdSequence = &tablepb.DataFragment_InlineRowIds{InlineRowIds: b}
		}
	}
}
