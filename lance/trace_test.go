package lance_test

import (
	"context"
	"encoding/binary"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/cache"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/lance/refs"
)

// traced runs do and compares the requests that it made. Calls that run side
// by side have no order: sorted compares them as a set.
func traced(t *testing.T, what string, sorted bool, want []string, do func(ctx context.Context) error) {
	t.Helper()
	ctx, calls := metered(t)
	if err := do(ctx); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	got := calls()
	if sorted {
		slices.Sort(got)
		slices.Sort(want)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s:\n%s", what, d)
	}
}

// TestTraceOpen: which requests opening, listing and counting make, in order.
func TestTraceOpen(t *testing.T) {
	store := inMemory(t, "midlife", graph(t, fixtures.Demo))
	const root = "__manifest"
	name := func(v uint64) string { return root + "/_versions/" + format.ManifestName(v) }
	latest := open(t, store, root, lance.OpenOptions{}).Version()
	opened := func(o lance.OpenOptions) func(context.Context) error {
		return func(ctx context.Context) error {
			s, err := lance.Open(ctx, store, root, o)
			if err != nil {
				return err
			}
			// What the manifest says costs nothing more.
			s.CountRows()
			s.Fragments()
			s.Bases()
			if _, err := s.Indexes(); err != nil {
				return err
			}
			_, err = s.Transaction(ctx)
			return err
		}
	}
	traced(t, "latest", false, []string{"list " + root + "/_versions/", "get " + name(latest)}, opened(lance.OpenOptions{}))
	traced(t, "at a version", false, []string{"get " + name(3)}, opened(lance.OpenOptions{Version: 3}))
	refsList, err := refs.List(t.Context(), store, root)
	if err != nil || len(refsList.Branches) == 0 {
		t.Fatalf("no branch: %v", err)
	}
	branch := refsList.Branches[0].Name
	dir := root + "/tree/" + branch + "/_versions/"
	head := open(t, store, root, lance.OpenOptions{Branch: branch}).Version()
	traced(t, "branch", false, []string{"list " + dir, "get " + dir + format.ManifestName(head)}, opened(lance.OpenOptions{Branch: branch}))
	traced(t, "absent version", false, []string{"get " + name(9999), "get " + root + "/_versions/9999.manifest"}, func(ctx context.Context) error {
		_, err := lance.Open(ctx, store, root, lance.OpenOptions{Version: 9999})
		if !errors.Is(err, blob.ErrNotExist) {
			return err
		}
		return nil
	})
	traced(t, "absent dataset", false, []string{"list nothing/_versions/"}, func(ctx context.Context) error {
		_, err := lance.Open(ctx, store, "nothing", lance.OpenOptions{})
		if !errors.Is(err, blob.ErrNotExist) {
			return err
		}
		return nil
	})
	traced(t, "versions", false, []string{"list " + root + "/_versions/"}, func(ctx context.Context) error {
		_, err := lance.Versions(ctx, store, root, lance.ListOptions{})
		return err
	})
}

// TestTraceScan: one GET without a range for each small data file and each
// deletion file, and nothing else; none at all for what the manifest knows.
func TestTraceScan(t *testing.T) {
	store := inMemory(t, "midlife", graph(t, fixtures.Demo))
	const root = "__manifest"
	snap := open(t, store, root, lance.OpenOptions{})
	var data, deletions []string
	for _, f := range snap.Fragments() {
		for i := range f.Files {
			data = append(data, "get "+root+"/"+f.Files[i].DataPath())
		}
		if f.Deletion != nil {
			deletions = append(deletions, "get "+root+"/"+format.DeletionPath(f.ID, f.Deletion))
		}
	}
	if len(data) < 5 || len(deletions) == 0 {
		t.Fatalf("%d data files and %d deletion files are too few for this test", len(data), len(deletions))
	}
	scan := func(store blob.Store, o lance.ScanOptions) func(context.Context) error {
		open := lance.OpenOptions{Version: snap.Version(), Allocator: checked(t)}
		return func(ctx context.Context) error {
			s, err := lance.Open(context.Background(), store, root, open) // not counted
			if err != nil {
				return err
			}
			for rec, err := range s.Scan(ctx, o) {
				if err != nil {
					return err
				}
				rec.Release()
			}
			return nil
		}
	}
	traced(t, "scan", true, slices.Concat(data, deletions), scan(store, lance.ScanOptions{}))
	traced(t, "scan with deleted rows", true, slices.Clone(data), scan(store, lance.ScanOptions{WithDeleted: true}))
	traced(t, "row ids only", true, slices.Clone(deletions), scan(store, lance.ScanOptions{Columns: []string{}, WithRowID: true}))
	first := snap.Fragments()[0]
	if first.Deletion == nil {
		t.Fatal("the first fragment has no deletion file")
	}
	traced(t, "one row", true, []string{data[0], "get " + root + "/" + format.DeletionPath(first.ID, first.Deletion)}, scan(store, lance.ScanOptions{Limit: 1}))
	remembering := cache.New(store, cache.Options{})
	traced(t, "scan, filling a cache", true, slices.Concat(data, deletions), scan(remembering, lance.ScanOptions{}))
	traced(t, "scan from the cache", true, []string{}, scan(remembering, lance.ScanOptions{}))
}

// TestTraceSideBySide: opening and scanning is three steps, whatever the
// number of fragments: LIST, GET of the manifest, GETs of all files at once.
func TestTraceSideBySide(t *testing.T) {
	content := graph(t, fixtures.Demo)
	synctest.Test(t, func(t *testing.T) {
		slow := inMemory(t, "midlife", content).CloneWith(memstore.Options{
			Name: "slow", Latency: func(blob.Op, string) time.Duration { return 10 * time.Millisecond },
		})
		m := blob.NewMeter(nil)
		ctx := blob.WithMeter(t.Context(), m)
		begin := time.Now()
		s, err := lance.Open(ctx, slow, "__manifest", lance.OpenOptions{Allocator: checked(t)})
		if err != nil {
			t.Fatal(err)
		}
		for rec, err := range s.Scan(ctx, lance.ScanOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			rec.Release()
		}
		if took := time.Since(begin); took != 30*time.Millisecond || m.Totals().Hops != 3 {
			t.Errorf("%v and %d hops for %d fragments, want three requests one after the other", took, m.Totals().Hops, len(s.Fragments()))
		}
	})
}

// TestTraceLargeFile: the end first, then ranges, never the whole and never a
// HEAD; all of one state of the object.
func TestTraceLargeFile(t *testing.T) {
	dir, _ := makeCases(t)
	store := inMemory(t, "large", files(t, filepath.Join(dir, "large", "data.lance")))
	s := open(t, store, "", lance.OpenOptions{})
	d := s.Fragments()[0].Files[0]
	if d.Size <= 1<<20 {
		t.Fatalf("the file of this test has only %d bytes", d.Size)
	}
	ctx, calls := metered(t)
	rec, err := s.Take(ctx, []string{"n"}, []uint64{1})
	if err != nil && !errors.Is(err, blob.ErrNotExist) {
		t.Fatal(err)
	}
	if rec != nil {
		rec.Release()
	}
	got := calls()
	for _, c := range got {
		if !strings.HasPrefix(c, "get ") || strings.Contains(c, path.Base(d.Path)) && !strings.Contains(c, "+") {
			t.Errorf("call %q", c)
		}
	}
	if len(got) < 3 || len(got) > 5 {
		t.Errorf("%d calls: %q", len(got), got)
	}
	key := d.DataPath()
	o, err := store.Get(t.Context(), key, blob.All)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Put(t.Context(), key, o.Data); err != nil {
		t.Fatal(err)
	}
	for rec, err := range s.Scan(t.Context(), lance.ScanOptions{Fragments: []uint64{0}}) {
		if err != nil {
			t.Fatalf("a scan that begins anew: %v", err)
		}
		rec.Release()
	}
	if _, err := s.Take(t.Context(), []string{"id"}, []uint64{2}); !errors.Is(err, lance.ErrChanged) {
		t.Errorf("an opened file that was written again: %v", err)
	}
}

// TestLongChain: 768 versions on a store that fails every page of more than
// 100 keys.
func TestLongChain(t *testing.T) {
	files := map[string][]byte{}
	const versions = 768
	for v := uint64(1); v <= versions; v++ {
		files["t/_versions/"+format.ManifestName(v)] = frame(t, &tablepb.Manifest{Version: v, DataFormat: &tablepb.DataStorageFormat{FileFormat: "lance", Version: "2.2"}})
	}
	store := inMemory(t, "chain", files)
	ctx, calls := metered(t)
	s, err := lance.Open(ctx, store, "t", lance.OpenOptions{})
	if err != nil || s.Version() != versions || len(calls()) != 2 {
		t.Fatalf("version %d after %d calls, %v", s.Version(), len(calls()), err)
	}
	chain, err := lance.Versions(ctx, store, "t", lance.ListOptions{})
	if err != nil || len(chain.Versions) != versions || chain.Pages != 8 || !chain.Complete || len(calls()) != 2+8 {
		t.Errorf("%d versions, %d pages, %d calls, %v", len(chain.Versions), chain.Pages, len(calls()), err)
	}
	few, err := lance.Versions(ctx, store, "t", lance.ListOptions{Limit: 20})
	if err != nil || len(few.Versions) != 20 || few.Versions[19].Version != versions-19 || few.Complete || few.Pages != 1 || len(calls()) != 2+8+1 {
		t.Errorf("%d versions, %d pages, %d calls, %v", len(few.Versions), few.Pages, len(calls()), err)
	}
	next := uint64(versions)
	for s, err := range lance.ReadVersions(ctx, store, "t", chain.Versions, lance.OpenOptions{Parallelism: 7}) {
		if err != nil || s.Version() != next {
			t.Fatalf("version %d, want %d: %v", s.Version(), next, err)
		}
		if next--; next == 700 {
			break
		}
	}
	if _, err := lance.Versions(ctx, store, "t", lance.ListOptions{PageSize: 101}); !errors.Is(err, blob.ErrUnavailable) {
		t.Errorf("pages of 101 keys: %v", err)
	}
}

// frame makes a manifest file of a message, without sections.
func frame(t testing.TB, m *tablepb.Manifest) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	out := append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
	out = binary.LittleEndian.AppendUint64(out, 0)
	return append(out, 0, 0, 2, 0, 'L', 'A', 'N', 'C')
}
