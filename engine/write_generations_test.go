package engine_test

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/manifest"
)

// contents are all objects of a store, by key.
func contents(t *testing.T, s blob.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, key := range strings.Split(keys(t, s), "\n") {
		obj, err := s.Get(t.Context(), key, blob.All)
		if err != nil {
			t.Fatal(err)
		}
		out[key] = string(obj.Data)
	}
	return out
}

// restamp edits the newest version of __manifest; at is where its stamp stands in
// data.
func restamp(edit func(data []byte, at int)) func(*testing.T, *memstore.Store) {
	return func(t *testing.T, s *memstore.Store) {
		newest, _, _ := strings.Cut(keys(t, s)[strings.Index(keys(t, s), "__manifest/_versions/"):], "\n")
		obj, err := s.Get(t.Context(), newest, blob.All)
		if err != nil {
			t.Fatal(err)
		}
		data := bytes.Clone(obj.Data)
		at := bytes.LastIndex(data, stamp)
		if at < 0 {
			t.Fatalf("%s has no stamp", newest)
		}
		edit(data, at)
		if _, err := s.Put(t.Context(), newest, data); err != nil {
			t.Fatal(err)
		}
	}
}

// stamp stands in a version of __manifest before the digit of the generation.
var stamp = append([]byte(manifest.StampKey), 0x12, 0x01)

// generation restamps a graph.
func generation(digit byte) func(*testing.T, *memstore.Store) {
	return restamp(func(data []byte, at int) { data[at+len(stamp)] = digit })
}

// unwritable makes of the demo graph one that is not written, and has a part of the
// reason.
var unwritable = map[string]struct {
	make func(*testing.T, *memstore.Store)
	says string
}{
	"stamp 5":  {generation('5'), "5"},
	"stamp 7":  {generation('7'), "7"},
	"no stamp": {restamp(func(data []byte, at int) { data[at] = 'x' }), "stamp"},
	"no schema": {func(t *testing.T, s *memstore.Store) {
		if err := s.Delete(t.Context(), "_schema.ir.json"); err != nil {
			t.Fatal(err)
		}
	}, "_schema.ir.json"},
	"a schema apply": {func(t *testing.T, s *memstore.Store) {
		if _, err := s.Put(t.Context(), "__manifest/_refs/branches/__schema_apply_lock__.json", []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}, "__schema_apply_lock__"},
}

// A graph of another generation, one whose schema is not whole, and one that a
// schema apply holds are refused by every write, which says why, and not a byte of
// them changes.
func TestGraphsThatAreNotWritten(t *testing.T) {
	for name, c := range unwritable {
		t.Run(name, func(t *testing.T) {
			s := demo(t)
			c.make(t, s)
			before := contents(t, s)
			g := writable(t, s)
			_, _, err := g.Mutate(t.Context(), engine.MutateOptions{Source: `query q() { delete Port where code = "NLRTM" }`})
			refused(t, "mutate", err, c.says)
			_, err = g.PlanMutate(t.Context(), engine.MutateOptions{Source: `query q() { delete Port where code = "NLRTM" }`})
			refused(t, "plan", err, c.says)
			l := engine.LoadOptions{Mode: engine.LoadMerge, Input: input([]string{`{"type":"Port","data":{"code":"XXAAA"}}`})}
			_, err = g.Load(t.Context(), l)
			refused(t, "load", err, c.says)
			_, err = g.LoadChunks(t.Context(), l, nil)
			refused(t, "load in chunks", err, c.says)
			for _, force := range []bool{false, true} {
				_, err = g.Init(t.Context(), engine.InitOptions{Source: []byte("node A { n: String @key }"), Force: force})
				refused(t, "init", err, "already initialized")
			}
			if !maps.Equal(before, contents(t, s)) {
				t.Error("something was written")
			}
		})
	}
}

// refused demands an error that says something, and of which nothing stands.
func refused(t *testing.T, what string, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) || engine.Wrote(err) || errors.Is(err, blob.ErrNotExist) {
		t.Errorf("%s: %v, expected a refusal that names %s", what, err, says)
	}
}
