package engine_test

import (
	"context"
	"path"
	"testing"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/lance"
)

// What versions hold and add agrees with the objects that lie there.
func TestVersionSizes(t *testing.T) {
	ctx := context.Background()
	told, added := 0, 0
	for _, name := range pace.Every(t, 2, sharedGraphs) {
		files := graphFiles(t, name)
		g := openFiles(t, files)
		store := memory(t, memstore.Options{Name: "g"}, files)
		snap, err := g.Snapshot(ctx, engine.At{})
		if err != nil {
			t.Fatal(err)
		}
		tables := map[string]string{"": "__manifest"}
		for _, d := range snap.Datasets {
			tables[d.Table()] = d.Path
		}
		for table, location := range tables {
			vs, err := g.Versions(ctx, table, "main", engine.VersionsOptions{Details: true, Limit: 40})
			if err != nil {
				t.Fatal(err)
			}
			branch := vs.Branch
			var newer map[string]int
			for i, v := range vs.Versions {
				s, err := lance.Open(ctx, store, location, lance.OpenOptions{Branch: branch, Version: v.Version})
				if err != nil {
					t.Fatal(err)
				}
				now := objectsOf(t, files, s, location)
				if sum(now, nil) != *v.DataBytes {
					t.Errorf("%s %s v%d holds %d bytes, %d are told", name, table, v.Version, sum(now, nil), *v.DataBytes)
				}
				if i > 0 {
					if got := vs.Versions[i-1].AddedBytes; got == nil || *got != sum(newer, now) {
						t.Errorf("%s %s v%d adds %d bytes, told are %v", name, table, v.Version+1, sum(newer, now), got)
					}
					added++
				}
				if i == len(vs.Versions)-1 && v.Version > 1 && v.AddedBytes != nil {
					t.Errorf("%s %s v%d: nothing older was told, but it adds %d", name, table, v.Version, *v.AddedBytes)
				}
				if v.Version == 1 && *v.AddedBytes != *v.DataBytes {
					t.Errorf("%s %s: the first version adds %d of %d", name, table, *v.AddedBytes, *v.DataBytes)
				}
				newer = now
				told++
			}
		}
	}
	if (told < 300 || added < 200) && !pace.Race {
		t.Errorf("only %d versions and %d additions were compared", told, added)
	}
}

// objectsOf are the data files of a version with the sizes of their objects.
func objectsOf(t *testing.T, files map[string][]byte, s *lance.Snapshot, location string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, f := range s.Fragments() {
		for _, d := range f.Files {
			dir := location
			if d.Base.Set {
				b, ok := s.Manifest().Base(d.Base.ID)
				if !ok {
					t.Fatalf("base %d is not listed", d.Base.ID)
				}
				if b.Name != "" {
					dir = path.Join(dir, "tree", b.Name)
				}
			} else if s.Branch() != "" {
				dir = path.Join(dir, "tree", s.Branch())
			}
			key := path.Join(dir, "data", d.Path)
			data, ok := files[key]
			if !ok {
				t.Fatalf("%s is not there", key)
			}
			out[key] = len(data)
		}
	}
	return out
}

// sum adds the sizes of objects that are not among others.
func sum(objects, others map[string]int) uint64 {
	n := 0
	for key, size := range objects {
		if _, ok := others[key]; !ok {
			n += size
		}
	}
	return uint64(n)
}

// Without details no size is told.
func TestVersionSizesAreNotGuessed(t *testing.T) {
	vs, err := openStore(t, demo(t)).Versions(context.Background(), "", "", engine.VersionsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vs.Versions {
		if v.DataBytes != nil || v.AddedBytes != nil {
			t.Errorf("v%d: %+v", v.Version, v)
		}
	}
}
