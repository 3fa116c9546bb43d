package lance_test

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// TestFindText: for every version with an index on text that Lance and the Rust
// engine wrote, what FindText finds is what a scan of the whole column finds,
// whatever it looks through, and no index is doubted.
func TestFindText(t *testing.T) {
	versions, indexed, rest := 0, 0, 0
	check := func(s *lance.Snapshot, column string, _ *lance.TextIndex) {
		versions++
		want := byValue(t, s, column, nil)
		asked := []string{"", "nowhere", "~~~"}
		for _, v := range slices.Sorted(maps.Keys(want)) {
			if asked = append(asked, v); len(asked) > 60 {
				break
			}
		}
		for v := range want {
			if !slices.Contains(asked, v) {
				delete(want, v)
			}
		}
		for _, how := range []lance.LookUpMode{lance.LookUpByCost, lance.LookUpByIndex, lance.LookUpByScan} {
			got, err := s.FindText(t.Context(), column, asked, how)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got.Rows); d != "" || got.Doubt != "" || got.Indexed+got.Scanned != len(s.Fragments()) {
				t.Errorf("%s v%d, %s, %d: doubt %q, %d+%d of %d fragments\n%s", s.Root(), s.Version(), column, how, got.Doubt, got.Indexed, got.Scanned, len(s.Fragments()), d)
			}
			if how == lance.LookUpByIndex {
				indexed += got.Indexed
				rest += got.Scanned
			}
		}
	}
	files := graph(t, "maintained")
	textIndexes(t, inMemory(t, "maintained", files), files, check)
	files = indexFixtures(t)
	textIndexes(t, inMemory(t, "indexes", files), files, check)
	t.Logf("%d versions, %d fragments looked up and %d scanned", versions, indexed, rest)
	if indexed == 0 || rest == 0 {
		t.Error("too little was compared")
	}
}

// findsAsAScan looks keys, which are there, and one that is nowhere up by the index
// on id: a scan finds the same rows, and the index is doubted for the reason given.
// "" = not at all.
func findsAsAScan(t *testing.T, what string, store blob.Store, root, doubt string, keys ...string) {
	t.Helper()
	s := open(t, store, root, lance.OpenOptions{})
	got, err := s.FindText(t.Context(), "id", append(keys, "nowhere"), lance.LookUpByIndex)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	want, err := s.FindText(t.Context(), "id", append(keys, "nowhere"), lance.LookUpByScan)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Doubt, doubt) || doubt == "" && got.Doubt != "" || !cmp.Equal(got.Rows, want.Rows) || len(want.Rows) != len(keys) {
		t.Errorf("%s: doubt %q, want %q; %v, want %v", what, got.Doubt, doubt, got.Rows, want.Rows)
	}
}

// withNewRows appends copies of three rows under new ids, which come back.
func withNewRows(t *testing.T, store blob.Store, root string) (*lance.Snapshot, []string) {
	t.Helper()
	base := open(t, store, root, lance.OpenOptions{})
	rows := rekeyed(withBlobs(base, base.Scan(t.Context(), lance.ScanOptions{WithRowAddress: true, Limit: 3})), "new-")
	staged, err := base.StageAppend(t.Context(), rows, lance.StageOptions{UUID: "grown"})
	if err != nil {
		t.Fatal(err)
	}
	next, _, err := staged.Commit(t.Context(), lance.CommitOptions{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	fresh := slices.Sorted(func(yield func(string) bool) {
		for v := range byValue(t, next, "id", nil) {
			if strings.HasPrefix(v, "new-") && !yield(v) {
				return
			}
		}
	})
	return next, fresh
}

// TestFindTextDoubts: an index that cannot be read, one that names wrong rows,
// and one that says that it covers rows which it does not hold are noticed, and
// then the rows are found by a scan.
func TestFindTextDoubts(t *testing.T) {
	files := graph(t, "maintained")
	store := inMemory(t, "maintained", files)
	root, key := "", ""
	for _, r := range datasets(files) {
		if s := open(t, store, r, lance.OpenOptions{}); strings.HasPrefix(r, "nodes/") && s.TextIndex("id") != nil {
			root = r
			break
		}
	}
	s := open(t, store, root, lance.OpenOptions{})
	key = slices.Min(slices.Collect(maps.Keys(byValue(t, s, "id", s.TextIndex("id").Covered()))))
	findsAsAScan(t, "sound", store, root, "", key)
	for _, name := range []string{"page_data.lance", "page_lookup.lance"} {
		bad := store.Clone()
		for k := range files {
			if strings.HasPrefix(k, root) && path.Base(k) == name {
				if err := bad.Delete(t.Context(), k); err != nil {
					t.Fatal(err)
				}
			}
		}
		findsAsAScan(t, name+" is gone", bad, root, name, key)
	}
	grown := store.Clone()
	next, fresh := withNewRows(t, grown, root)
	findsAsAScan(t, "grown", grown, root, "", append(fresh, key)...)
	extendAll(t, grown, next)
	findsAsAScan(t, "covers what it does not hold", grown, root, "entries", append(fresh, key)...)
}

// rekeyed puts a prefix before the values of id.
func rekeyed(rows lance.Rows, prefix string) lance.Rows {
	return mapColumn(rows, "id", func(v string) string { return prefix + v })
}

// extendAll makes every index of a version say that it covers all fragments.
func extendAll(t *testing.T, store blob.Store, s *lance.Snapshot) {
	t.Helper()
	list, err := s.Indexes()
	if err != nil {
		t.Fatal(err)
	}
	tx, err := s.Transaction(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := roaring.New()
	for _, f := range s.Fragments() {
		all.Add(uint32(f.ID))
	}
	section := &tablepb.IndexSection{}
	for _, x := range list {
		p := proto.CloneOf(x.Proto)
		var b bytes.Buffer
		if _, err := all.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		p.FragmentBitmap = b.Bytes()
		section.Indices = append(section.Indices, p)
	}
	body, err := format.EncodeManifest(proto.CloneOf(s.Manifest().Proto), section, tx.Proto)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Put(t.Context(), s.Object().Key, body); err != nil {
		t.Fatal(err)
	}
}
