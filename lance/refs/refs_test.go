package refs_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/refs"
)

// realBranch is a ref that pylance 10.0.0 wrote (lance-table.md §8.2).
const realBranch = `{ "parentBranch": "b1",
  "identifier": { "version_mapping": [ [3,"6bd9ac722e8f4bc5bb71386e4863fc0d"], [5,"0be28bdb227445b485f45d8231881c55"] ] },
  "parentVersion": 5, "createAt": 1795962807, "manifestSize": 1010, "metadata": {} }`

const realTag = `{ "branch": null, "version": 3,
  "createdAt": "2026-11-29T14:33:27.369956563Z", "updatedAt": "2026-11-29T14:33:27.369956563Z",
  "manifestSize": 684, "metadata": {} }`

func store(t testing.TB, objects map[string]string) blob.Store {
	t.Helper()
	s := memstore.New(memstore.Options{Name: "refs", MaxPage: 100})
	for k, v := range objects {
		if _, err := s.Put(context.Background(), k, []byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func metered(t testing.TB) (context.Context, *blob.Meter) {
	m := blob.NewMeter(nil, blob.Keep(1000))
	return blob.WithMeter(t.Context(), m), m
}

func TestParse(t *testing.T) {
	b, err := refs.ParseBranch([]byte(realBranch))
	if err != nil {
		t.Fatal(err)
	}
	want := []refs.Step{{Version: 3, ID: "6bd9ac722e8f4bc5bb71386e4863fc0d"}, {Version: 5, ID: "0be28bdb227445b485f45d8231881c55"}}
	if b.Parent != "b1" || b.ParentVersion != 5 || b.CreatedAt.Unix() != 1795962807 || b.ManifestSize != 1010 || !slices.Equal(b.Identifier, want) {
		t.Errorf("%+v", b)
	}
	if v, ok := refs.ForkedFrom(b.Identifier, want[:1]); !ok || v != 5 {
		t.Errorf("forked from its parent: %d %v", v, ok)
	}
	if v, ok := refs.ForkedFrom(b.Identifier, nil); !ok || v != 3 {
		t.Errorf("forked from main: %d %v", v, ok)
	}
	if _, ok := refs.ForkedFrom(b.Identifier, want); ok {
		t.Error("forked from itself")
	}
	tag, err := refs.ParseTag([]byte(realTag))
	if err != nil || tag.Branch != "" || tag.Version != 3 || tag.ManifestSize != 684 || tag.CreatedAt.Nanosecond() != 369956563 {
		t.Errorf("%+v, %v", tag, err)
	}
	for _, bad := range []string{"", "{}", "null", `{"parentVersion":1}`, strings.Replace(realBranch, "3,", "", 1), realBranch[:40]} {
		if _, err := refs.ParseBranch([]byte(bad)); !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("branch %q: %v", bad, err)
		}
	}
	for _, bad := range []string{"", "[]", `{"version":1}`, realTag[:30]} {
		if _, err := refs.ParseTag([]byte(bad)); !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("tag %q: %v", bad, err)
		}
	}
}

func TestKeys(t *testing.T) {
	for name, key := range map[string]string{
		"f/x": "_refs/branches/f%2Fx.json", "ünï": "_refs/branches/%C3%BCn%C3%AF.json", "a-b_c.d": "_refs/branches/a-b_c.d.json",
	} {
		if got := refs.BranchKey(name); got != key {
			t.Errorf("key of %q: %q, want %q", name, got, key)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[\pL\pN._-]{1,8}(/[\pL\pN_-]{1,5})?`).Draw(t, "name")
		if refs.CheckBranchName(name) != nil {
			t.Skip("not a name")
		}
		s := memstore.New(memstore.Options{Name: "k"})
		if _, err := s.Put(context.Background(), refs.BranchKey(name), []byte(realBranch)); err != nil {
			t.Fatal(err)
		}
		l, err := refs.List(context.Background(), s, "")
		if err != nil || len(l.Branches) != 1 || l.Branches[0].Name != name {
			t.Fatalf("%q comes back as %+v, %v", name, l, err)
		}
	})
}

func TestListIsOneRequest(t *testing.T) {
	s := store(t, map[string]string{
		"d/_refs/branches/f%2Fx.json":         realBranch,
		"d/_refs/branches/%C3%BCn%C3%AF.json": realBranch,
		"d/_refs/branches/A.json":             realBranch,
		"d/_refs/branches/a.json":             realBranch,
		"d/_refs/branches/bad%2.json":         realBranch,
		"d/_refs/branches/a%20b.json":         realBranch,
		"d/_refs/branches/x.json#1":           "",
		"d/_refs/tags/v1.json":                realTag,
		"d/_refs/other":                       "",
		"d2/_refs/tags/not-ours.json":         realTag,
	})
	ctx, m := metered(t)
	l, err := refs.List(ctx, s, "d")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range l.Branches {
		names = append(names, r.Name)
	}
	if want := []string{"A", "a", "f/x", "ünï"}; !slices.Equal(names, want) {
		t.Errorf("branches %q, want %q", names, want)
	}
	if len(l.Tags) != 1 || l.Tags[0].Name != "v1" || len(l.Junk) != 4 {
		t.Errorf("tags %+v, junk %+v", l.Tags, l.Junk)
	}
	if n := m.Totals().Requests; n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
	res, err := refs.ReadBranches(ctx, s, l.Branches, 4)
	if err != nil || len(res) != 4 || res[3].Value == nil || res[3].Value.Name != "ünï" || res[3].Value.ETag == "" {
		t.Errorf("%+v, %v", res, err)
	}
	if n := m.Totals().Requests; n != 5 {
		t.Errorf("%d requests, want 1 LIST and 4 GETs", n)
	}
}

func TestCheck(t *testing.T) {
	child := strings.Replace(realBranch, `"b1"`, `"p"`, 1)
	s := store(t, map[string]string{
		"_refs/branches/p.json":   `{"identifier":{"version_mapping":[[3,"6bd9ac722e8f4bc5bb71386e4863fc0d"]]},"parentVersion":3,"createAt":1,"manifestSize":1}`,
		"_refs/branches/ok.json":  child,
		"_refs/branches/q.json":   strings.Replace(child, "6bd9", "0000", 1),
		"_refs/branches/P.json":   `{"parentVersion":3,"createAt":1,"manifestSize":1}`,
		"_refs/branches/o.json":   realBranch,
		"_refs/branches/bad.json": "{",
		"_refs/tags/lost.json":    `{"branch":"gone","version":3,"manifestSize":1}`,
		"_refs/tags/held.json":    `{"branch":"p","version":3,"manifestSize":1}`,
	})
	l, err := refs.List(t.Context(), s, "")
	if err != nil {
		t.Fatal(err)
	}
	bs, err := refs.ReadBranches(t.Context(), s, l.Branches, 0)
	if err != nil {
		t.Fatal(err)
	}
	tags, err := refs.ReadTags(t.Context(), s, l.Tags, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range refs.Check(l, bs, tags) {
		got = append(got, f.ID+" "+f.Severity+" "+f.Key)
	}
	want := []string{
		"ref-damaged error _refs/branches/bad.json", "ref-identifier warn _refs/branches/P.json",
		"ref-parent warn _refs/branches/o.json", "ref-parent warn _refs/branches/q.json",
		"tag-branch warn _refs/tags/lost.json", "ref-case warn ",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestLeftovers(t *testing.T) {
	objects := map[string]string{}
	for _, branch := range []string{"f", "f/x", "a b", "a%2Fb", "a:b", "gone/deep/er", "kept/one", "ünï"} {
		for _, part := range []string{"_versions/1", "data/2", "_transactions/3"} {
			objects["d/tree/"+branch+"/"+part] = ""
		}
	}
	ctx, m := metered(t)
	found, err := refs.Leftovers(ctx, store(t, objects), "d", []string{"f/x", "kept/one", "ünï"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range found {
		got = append(got, l.Prefix)
	}
	want := []string{"d/tree/a b", "d/tree/a%2Fb", "d/tree/a:b", "d/tree/f/_transactions", "d/tree/f/_versions", "d/tree/f/data", "d/tree/gone"}
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := m.Totals().Requests; n != 3 {
		t.Errorf("%d requests, want a LIST each of tree, tree/f, tree/kept", n)
	}
}

func TestReadBranchAbsent(t *testing.T) {
	s := store(t, nil)
	for _, name := range []string{"dev", "../../etc", "main", ""} {
		if _, err := refs.ReadBranch(t.Context(), s, "", name); !errors.Is(err, blob.ErrNotExist) {
			t.Errorf("branch %q: %v", name, err)
		}
	}
}

// TestEveryByteFlipped: an error or a value, never a panic.
func TestEveryByteFlipped(t *testing.T) {
	for _, text := range []string{realBranch, realTag} {
		b := []byte(text)
		for i := range b {
			for _, x := range []byte{1, 2, 0x20, 0x80, 0xff} {
				b[i] ^= x
				parseBoth(t, b)
				b[i] ^= x
			}
		}
	}
}

func parseBoth(t *testing.T, b []byte) {
	if _, err := refs.ParseBranch(b); err != nil && !errors.Is(err, format.ErrCorrupt) {
		t.Fatal(err)
	}
	if _, err := refs.ParseTag(b); err != nil && !errors.Is(err, format.ErrCorrupt) {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(realBranch))
	f.Add([]byte(realTag))
	f.Fuzz(func(t *testing.T, b []byte) { parseBoth(t, bytes.Clone(b)) })
}
