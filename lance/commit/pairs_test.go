package commit_test

import (
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/lance/rowid"
)

// dataset is the manifests of some files, by folder and version.
type dataset map[string]map[uint64]*format.Manifest

func manifests(t testing.TB, files map[string][]byte) dataset {
	t.Helper()
	out := dataset{}
	for key, b := range files {
		dir, name, ok := strings.Cut(key, "_versions/")
		if _, kind := format.ParseManifestName(name); !ok || kind != format.NameV2 {
			continue
		}
		m, err := format.ParseManifest(b)
		if err != nil {
			t.Logf("NOT CHECKED: %s: %v", key, err)
			continue
		}
		if out[dir] == nil {
			out[dir] = map[uint64]*format.Manifest{}
		}
		out[dir][m.Version] = m
	}
	return out
}

// parentOf is the version that a transaction was applied to; known is false
// when it is no longer there.
func (d dataset) parentOf(dir string, m *format.Manifest, tx *tablepb.Transaction) (parent *format.Manifest, known bool) {
	switch clone := tx.GetClone(); {
	case clone != nil:
		root, _, _ := strings.Cut(dir, "tree/")
		if clone.GetRefName() != "" {
			root += "tree/" + clone.GetRefName() + "/"
		}
		parent = d[root][clone.GetRefVersion()]
	case m.Version == 1:
		return nil, true
	default:
		parent = d[dir][m.Version-1]
	}
	return parent, parent != nil
}

// pair resolves the transaction of a version anew and compares. The answer is
// the operation, or "" when the pair cannot be told.
func (d dataset) pair(t *testing.T, dir string, m *format.Manifest) string {
	t.Helper()
	what := fmt.Sprintf("%s version %d", dir, m.Version)
	tx, err := m.Transaction()
	if err != nil || tx == nil {
		t.Errorf("%s: no transaction: %v", what, err)
		return ""
	}
	parent, known := d.parentOf(dir, m, tx.Proto)
	restored := d[dir][tx.Proto.GetRestore().GetVersion()]
	if !known || tx.Proto.GetRestore() != nil && restored == nil {
		return ""
	}
	before := proto.CloneOf(tx.Proto)
	next, err := commit.Resolve(parent, tx.Proto, commit.Params{Now: m.Timestamp, Restored: restored, AddressIDs: !m.StableRowIDs()})
	if err != nil {
		t.Errorf("%s: %s: %v", what, tx.Operation.Name, err)
		return ""
	}
	if !proto.Equal(before, tx.Proto) {
		t.Errorf("%s: the transaction was changed", what)
	}
	want := proto.CloneOf(m.Proto)
	indexes, err := m.Indexes()
	if err != nil {
		t.Fatal(err)
	}
	wantIndexes := &tablepb.IndexSection{}
	for _, x := range indexes {
		wantIndexes.Indices = append(wantIndexes.Indices, proto.CloneOf(x.Proto))
	}
	got := proto.CloneOf(next.Manifest)
	gotIndexes := &tablepb.IndexSection{}
	if next.Indexes != nil {
		gotIndexes = proto.CloneOf(next.Indexes)
	}
	chosen(tx.Proto, got, want)
	if tx.Proto.GetClone() != nil && len(parent.BasePaths) > 0 {
		for i, x := range wantIndexes.Indices { // Lance names the newest base, where the files are not
			x.BaseId = gotIndexes.Indices[i].BaseId
		}
	}
	plain(t, got, gotIndexes)
	plain(t, want, wantIndexes)
	same(t, what+": "+tx.Operation.Name+": the manifest", want, got)
	same(t, what+": "+tx.Operation.Name+": the indexes", wantIndexes, gotIndexes)
	return tx.Operation.Name
}

func same(t *testing.T, what string, want, got proto.Message) {
	t.Helper()
	if !proto.Equal(want, got) {
		t.Errorf("%s differs (-theirs +ours):\n%s", what, cmp.Diff(want, got, protocmp.Transform()))
	}
}

// chosen evens out what we do otherwise on purpose (see the package comment).
func chosen(tx *tablepb.Transaction, got, want *tablepb.Manifest) {
	switch {
	case tx.GetOverwrite() != nil:
		if len(got.Fragments) == len(want.Fragments) {
			for i, f := range got.Fragments {
				f.Id = want.Fragments[i].Id
			}
		}
		got.MaxFragmentId = want.MaxFragmentId
		got.SchemaMetadata = want.SchemaMetadata // Lance does not store it in the transaction
	case tx.GetRestore() != nil:
		got.NextRowId = min(got.NextRowId, want.NextRowId)
	}
}

// plain evens out what a writer is free to choose.
func plain(t *testing.T, m *tablepb.Manifest, indexes *tablepb.IndexSection) {
	t.Helper()
	m.WriterVersion, m.IndexSection, m.TransactionSection = nil, nil, nil
	slices.SortFunc(m.BasePaths, func(a, b *tablepb.BasePath) int { return int(a.GetId()) - int(b.GetId()) })
	for _, f := range m.Fragments {
		if b := f.GetInlineRowIds(); b != nil {
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
		if b := f.GetInlineCreatedAtVersions(); b != nil {
			f.CreatedAtVersionSequence = &tablepb.DataFragment_InlineCreatedAtVersions{InlineCreatedAtVersions: versions(t, b)}
		}
		if b := f.GetInlineLastUpdatedAtVersions(); b != nil {
			f.LastUpdatedAtVersionSequence = &tablepb.DataFragment_InlineLastUpdatedAtVersions{InlineLastUpdatedAtVersions: versions(t, b)}
		}
	}
	for _, x := range indexes.Indices {
		if len(x.FragmentBitmap) == 0 {
			continue
		}
		bits := roaring.New()
		if _, err := bits.ReadFrom(bytes.NewReader(x.FragmentBitmap)); err != nil {
			t.Fatal(err)
		}
		x.FragmentBitmap = fmt.Appendf(nil, "%v", bits.ToArray())
	}
}

func versions(t *testing.T, b []byte) []byte {
	t.Helper()
	v, err := rowid.DecodeVersions(b)
	if err != nil {
		t.Fatal(err)
	}
	var out rowid.VersionsBuilder
	out.Versions(v, 0, v.Len())
	return out.Encode()
}

// all checks every pair of some files and counts them by operation.
func (d dataset) all(t *testing.T) (pairs int, ops map[string]int) {
	t.Helper()
	ops = map[string]int{}
	for _, dir := range slices.Sorted(maps.Keys(d)) {
		for _, v := range slices.Sorted(maps.Keys(d[dir])) {
			if op := d.pair(t, dir, d[dir][v]); op != "" {
				ops[op]++
				pairs++
			}
		}
	}
	return pairs, ops
}

// TestRealGraphs: of every table and every __manifest of real graphs, on every
// branch, what Resolve makes of the parent and the transaction is what the Rust
// engine made of it.
func TestRealGraphs(t *testing.T) {
	total := 0
	for _, name := range []string{fixtures.Demo, "maintained", "diverged", "deep", "wide"} {
		t.Run(name, func(t *testing.T) {
			files, err := fixtures.Graph(name)
			if name != fixtures.Demo {
				archive, absent := fixtures.Shared("graphs", name+".tar.gz")
				if absent != nil {
					t.Skipf("SKIPPED, graph %s: %v", name, absent)
				}
				files, err = fixtures.Unpack(archive)
			}
			if err != nil {
				t.Fatal(err)
			}
			d := manifests(t, files)
			pairs, ops := d.all(t)
			n := 0
			for _, versions := range d {
				n += len(versions)
			}
			t.Logf("%d versions in %d folders, %d pairs: %v", n, len(d), pairs, ops)
			if pairs*2 < n {
				t.Errorf("only %d pairs of %d versions", pairs, n)
			}
			total += pairs
		})
	}
	t.Logf("%d pairs", total)
}

// TestPylancePairs: the same for every operation of pylance, made on the fly.
func TestPylancePairs(t *testing.T) {
	total, seen := 0, map[string]int{}
	for _, script := range []string{"testdata/make_pairs.py", "../testdata/make_cases.py"} {
		dir := t.TempDir()
		if out, err := exec.Command(python(t), script, dir).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		d := manifests(t, folder(t, dir))
		pairs, ops := d.all(t)
		total += pairs
		for op, n := range ops {
			seen[op] += n
		}
	}
	t.Logf("%d pairs: %v", total, seen)
	for _, op := range []string{"Append", "Delete", "Update", "Overwrite", "CreateIndex", "Rewrite", "Merge", "Project", "Restore", "ReserveFragments", "UpdateConfig", "Clone"} {
		if seen[op] == 0 {
			t.Errorf("no pair of %s", op)
		}
	}
}

// TestRealDatasets: the same for the datasets that pylance made for readers.
func TestRealDatasets(t *testing.T) {
	for _, name := range []string{"fixtures.tar.gz", "index-fixtures.tar.gz"} {
		archive, err := fixtures.Shared("lance", name)
		if err != nil {
			t.Logf("NOT CHECKED: %v", err)
			continue
		}
		files, err := fixtures.Unpack(archive)
		if err != nil {
			t.Fatal(err)
		}
		d := manifests(t, files)
		for dir, versions := range d {
			for _, m := range versions {
				if m.FileVersion == "0.1" || m.FileVersion == "2.3" {
					delete(d, dir)
				}
			}
		}
		pairs, ops := d.all(t)
		t.Logf("%s: %d pairs: %v", path.Base(name), pairs, ops)
	}
}
