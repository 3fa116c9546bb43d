package lance_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// A memory that saw all versions of all datasets, in either order, finds in each
// what a scan finds: after updates, deletions, compactions and merges, in files of
// branches, also when it has room for few of the files.
func TestTextMemoryFindsWhatAScanFinds(t *testing.T) {
	asked, deleted := 0, 0
	for _, name := range []string{"maintained", "diverged"} {
		files := graph(t, name)
		store := inMemory(t, name, files)
		large, small, gone := lance.NewTextMemory(64<<20), lance.NewTextMemory(3000), lance.NewTextMemory(64<<20)
		gone.Forget()
		for _, root := range datasets(files) {
			chain, err := lance.Versions(t.Context(), store, root, lance.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			versions := slices.Clone(chain.Versions)
			slices.Reverse(versions)
			for _, v := range append(versions, chain.Versions...) {
				s := open(t, store, root, lance.OpenOptions{Version: v.Version})
				for _, field := range s.Schema().Fields {
					if field.LogicalType != "string" {
						continue
					}
					want := byValue(t, s, field.Name, nil)
					values := []string{"", "nowhere"}
					for text := range want {
						values = append(values, text)
					}
					for _, m := range []*lance.TextMemory{large, small, gone} {
						got, err := s.Remembering(m).FindText(t.Context(), field.Name, values, lance.LookUpByCost)
						if err != nil {
							t.Fatal(err)
						}
						if d := cmp.Diff(want, got.Rows); d != "" {
							t.Fatalf("%s v%d, %s: %s", root, v.Version, field.Name, d)
						}
						asked++
					}
					for _, f := range s.Fragments() {
						if f.Deletion != nil {
							deleted++
						}
					}
				}
			}
		}
	}
	if asked < 300 || deleted < 20 {
		t.Errorf("%d questions, %d fragments with deletions: too little was compared", asked, deleted)
	}
}

// Each data file is read once, however many versions are asked.
func TestTextMemoryReadsAFileOnce(t *testing.T) {
	store := memstore.New(memstore.Options{Name: "t"})
	m := lance.NewTextMemory(1 << 20)
	s, _, err := lance.Create(t.Context(), store, "t", lance.CreateOptions{Schema: people(), UUID: "0"})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for n := range 6 {
		s = s.Remembering(m)
		ctx, requests := metered(t)
		found, err := s.FindText(ctx, "id", append([]string{"nobody"}, ids...), lance.LookUpByCost)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if want := []uint64{uint64(i/3)<<32 | uint64(i%3)}; !slices.Equal(found.Rows[id], want) {
				t.Errorf("version %d: %s stands at %d, expected at %d", s.Version(), id, found.Rows[id], want)
			}
		}
		if got := requests(); len(found.Rows) != len(ids) || len(got) != min(n, 1) || n > 0 && !strings.Contains(got[0], "/data/") {
			t.Errorf("version %d: %d of %d ids were found, and %q asked for", s.Version(), len(found.Rows), len(ids), got)
		}
		var some []*person
		for i := range 3 {
			id := fmt.Sprintf("p%d-%d", n, i)
			ids, some = append(ids, id), append(some, &person{id: id})
		}
		batch := batchOf(checked(t), some, false)
		defer batch.Release()
		staged, err := s.StageInsert(t.Context(), lance.RowsOf(batch), lance.StageOptions{UUID: fmt.Sprint(n + 1)})
		if err != nil {
			t.Fatal(err)
		}
		if s, _, err = staged.Commit(t.Context(), lance.CommitOptions{Exact: true}); err != nil {
			t.Fatal(err)
		}
	}
}

// What a manifest claims of a file that is remembered is not taken on trust: two
// fragments with one file, and a fragment with another number of rows.
func TestTextMemoryTrustsNoManifest(t *testing.T) {
	store := memstore.New(memstore.Options{Name: "t"})
	s, _, err := lance.Create(t.Context(), store, "t", lance.CreateOptions{Schema: people(), UUID: "0"})
	if err != nil {
		t.Fatal(err)
	}
	batch := batchOf(checked(t), []*person{{id: "a"}, {id: "b"}, {id: "c"}}, false)
	defer batch.Release()
	staged, err := s.StageInsert(t.Context(), lance.RowsOf(batch), lance.StageOptions{UUID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if s, _, err = staged.Commit(t.Context(), lance.CommitOptions{Exact: true}); err != nil {
		t.Fatal(err)
	}
	m := lance.NewTextMemory(1 << 20)
	find := func(change func(*tablepb.DataFragment) []*tablepb.DataFragment) (*lance.FoundText, error) {
		t.Helper()
		p := proto.CloneOf(s.Manifest().Proto)
		p.Fragments = change(p.Fragments[0])
		body, err := format.EncodeManifest(p, nil, staged.Txn)
		if err == nil {
			_, err = store.Put(t.Context(), s.Object().Key, body)
		}
		if err != nil {
			t.Fatal(err)
		}
		return open(t, store, "t", lance.OpenOptions{Texts: m}).FindText(t.Context(), "id", []string{"b"}, lance.LookUpByCost)
	}
	for range 2 { // the second time from memory
		got, err := find(func(f *tablepb.DataFragment) []*tablepb.DataFragment {
			g := proto.CloneOf(f)
			g.Id = 7
			return []*tablepb.DataFragment{f, g}
		})
		if err != nil || !slices.Equal(got.Rows["b"], []uint64{1, 7<<32 | 1}) {
			t.Errorf("one file in two fragments: %v, %v", got, err)
		}
	}
	got, err := find(func(f *tablepb.DataFragment) []*tablepb.DataFragment {
		f.PhysicalRows = 2
		return []*tablepb.DataFragment{f}
	})
	if !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("a fragment that claims too few rows: %v, %v", got, err)
	}
}

// BenchmarkFindRemembered looks 8,192 ids up in a table of 30 files that are
// remembered, half of them in vain.
func BenchmarkFindRemembered(b *testing.B) {
	store := memstore.New(memstore.Options{Name: "t"})
	s, _, err := lance.Create(b.Context(), store, "t", lance.CreateOptions{Schema: people(), UUID: "0"})
	if err != nil {
		b.Fatal(err)
	}
	var asked []string
	for n := range 30 {
		some := make([]*person, 8192)
		for i := range some {
			some[i] = &person{id: fmt.Sprintf("p%07d-%02d", i*2654435761%10000000, n)}
		}
		for i := range 8192 / 60 {
			asked = append(asked, some[i].id, some[i].id+"?")
		}
		batch := batchOf(memory.DefaultAllocator, some, false)
		staged, err := s.StageInsert(b.Context(), lance.RowsOf(batch), lance.StageOptions{UUID: fmt.Sprint(n + 1)})
		batch.Release()
		if err != nil {
			b.Fatal(err)
		}
		if s, _, err = staged.Commit(b.Context(), lance.CommitOptions{Exact: true}); err != nil {
			b.Fatal(err)
		}
	}
	s = s.Remembering(lance.NewTextMemory(64 << 20))
	b.ReportAllocs()
	for b.Loop() {
		found, err := s.FindText(b.Context(), "id", asked, lance.LookUpByCost)
		if err != nil || 2*len(found.Rows) != len(asked) {
			b.Fatalf("%d of %d: %v", len(found.Rows), len(asked), err)
		}
	}
}
