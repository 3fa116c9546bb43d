package engine_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/lance/refs"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
)

// A branch is deleted and made anew under a session that wrote on it, and its tables
// come to the very versions that the session knows, with other rows: what the
// session remembers of the old branch is not what the next write is checked against.
func TestWarmWriteOnABranchMadeAnew(t *testing.T) {
	ctx := context.Background()
	base := memory(t, memstore.Options{Name: "g"}, graphFiles(t, "diverged"))
	open := func(s *memstore.Store) *engine.Graph {
		return stuck.Writable(t, stuck.At(s, "s3://lab/diverged"))
	}
	write := func(g *engine.Graph, statements string) error {
		_, _, err := g.Mutate(ctx, engine.MutateOptions{WriteOptions: engine.WriteOptions{Branch: "rival"}, Source: "query q() { " + statements + " }"})
		return err
	}
	old, anew := base.Clone(), base.Clone()
	session := open(old)
	if err := errors.Join(write(session, `insert Port { code: "OURS", name: "Ours", country: "NL" }`), write(open(anew), `insert Port { code: "THEIRS", name: "Theirs", country: "NL" }`)); err != nil {
		t.Fatal(err)
	}
	becomes(t, old, anew, "rival")
	const call = `insert CallsAt { from: "9000204", to: "OURS", arrived: datetime("2026-01-01T04:00:00Z") }`
	if err := write(open(old.Clone()), call); !errors.As(err, new(*txn.ConstraintError)) {
		t.Fatalf("by a session that knows nothing: %v", err)
	}
	if err := write(session, call); !errors.As(err, new(*txn.ConstraintError)) {
		t.Errorf("by the session that wrote on the old branch: %v", err)
	}
	stuck.Clean(t, "afterwards", stuck.Graph(t, stuck.At(old, "s3://lab/diverged")))
}

// The same of a whole graph that is another one since, at the same address.
func TestWarmWriteOnAGraphMadeAnew(t *testing.T) {
	ctx := context.Background()
	s, session := filled(t, library, shelf)
	other, g := filled(t, library, shelf)
	mutate(t, session, `insert Book { isbn: "ours", title: "O" }`)
	mutate(t, g, `insert Book { isbn: "theirs", title: "T" }`)
	for _, key := range strings.Split(keys(t, s), "\n") {
		if err := s.Delete(ctx, key); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range strings.Split(keys(t, other), "\n") {
		o, err := other.Get(ctx, key, blob.All)
		if err == nil {
			_, err = s.Put(ctx, key, o.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := session.Mutate(ctx, engine.MutateOptions{Source: `query q() { insert About { from: "n1", to: "ours" } }`})
	if !errors.As(err, new(*txn.ConstraintError)) {
		t.Error(err)
	}
	stuck.Clean(t, "afterwards", stuck.Graph(t, s))
}

// becomes replaces a branch by that of another copy of the graph, made at another
// time: its identifier is another one.
func becomes(t *testing.T, s, other *memstore.Store, branch string) {
	t.Helper()
	ctx := context.Background()
	of := func(key string) bool {
		return strings.Contains(key, "/tree/"+branch+"/") || strings.HasSuffix(key, "/_refs/branches/"+branch+".json")
	}
	for _, key := range strings.Split(keys(t, s), "\n") {
		if of(key) {
			if err := s.Delete(ctx, key); err != nil {
				t.Fatal(err)
			}
		}
	}
	ref, err := refs.ReadBranch(ctx, other, manifest.Folder, branch)
	if err != nil {
		t.Fatal(err)
	}
	id := ref.Identifier[len(ref.Identifier)-1].ID
	for _, key := range strings.Split(keys(t, other), "\n") {
		if !of(key) {
			continue
		}
		o, err := other.Get(ctx, key, blob.All)
		if err == nil {
			_, err = s.Put(ctx, key, bytes.ReplaceAll(o.Data, []byte(id), []byte(strings.Repeat("a", len(id)))))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
