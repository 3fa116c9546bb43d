package manifest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/lance/rowid"
	"github.com/omnideck/omnideck/manifest"
)

// Every publish that the Rust engine made of real graphs, on every branch, made
// again by us from what it changed: transaction, manifest and every row with its
// id, versions and place are the Rust engine's, but for what a writer is free to
// choose.
func TestReplayPublishes(t *testing.T) {
	kinds := map[string]int{}
	for _, name := range graphs {
		t.Run(name, func(t *testing.T) {
			s := store(t, graph(t, name))
			l, err := branches.Names(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range l.Names {
				replayBranch(t, s, b, kinds)
			}
		})
	}
	t.Logf("%v", kinds)
	genesis, updates := len(graphs), 200
	if _, ok := fixtures.SharedDir(); !ok { // one graph comes with the checkout
		genesis, updates = 1, 33
	}
	if kinds["genesis"] < genesis || kinds["update"] < updates {
		t.Error("too little was replayed")
	}
}

func replayBranch(t *testing.T, s *memstore.Store, branch string, kinds map[string]int) {
	t.Helper()
	chain, err := lance.Versions(t.Context(), s, manifest.Folder, lance.ListOptions{Branch: branch})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range chain.Versions {
		if len(chain.Versions) > 60 && i%20 != 0 && i+1 < len(chain.Versions) {
			continue
		}
		after := open(t, s, manifest.Options{Branch: branch, Version: v.Version})
		tx, err := after.Snapshot.Transaction(t.Context())
		if err != nil || tx == nil {
			t.Fatalf("version %d: no transaction: %v", v.Version, err)
		}
		own := s.Clone()
		for _, later := range chain.Versions[:i+1] {
			if err := own.Delete(t.Context(), later.Key); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case tx.Proto.GetOverwrite() != nil:
			kinds["genesis"]++
			replayGenesis(t, own, after, tx.Proto)
		case tx.Proto.GetUpdate() != nil && i+1 < len(chain.Versions):
			replayPublish(t, own, open(t, own, manifest.Options{Branch: branch}), after, tx.Proto, kinds)
		}
	}
}

func intentOf(v *manifest.View, id string) *manifest.Intent {
	c, _ := v.Commit(id)
	return &manifest.Intent{ID: c.ID, MergedParent: c.MergedParent, Actor: c.Actor, CreatedAt: c.CreatedAt}
}

func replayGenesis(t *testing.T, own *memstore.Store, after *manifest.View, want *tablepb.Transaction) {
	t.Helper()
	var tables []manifest.Update
	for _, r := range physical(t, after.Snapshot, 0) {
		if r.kind == manifest.KindVersion {
			e, _ := after.ByIdentity(r.id)
			tables = append(tables, manifest.Update{Identity: e.Identity, Alias: e.Alias, Version: e.Version, Owner: e.Owner, Rows: e.Rows, Meta: e.Meta})
		}
	}
	p, err := manifest.Create(t.Context(), own, manifest.CreateOptions{
		Tables: tables, Commit: *intentOf(after, after.Commits.ID(0)),
		Now: func() time.Time { return after.Snapshot.Manifest().Timestamp },
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, p.View, after, want)
}

func replayPublish(t *testing.T, own *memstore.Store, before, after *manifest.View, want *tablepb.Transaction, kinds map[string]int) {
	t.Helper()
	o := manifest.PublishOptions{Branch: after.Branch, From: before, Now: func() time.Time { return after.Snapshot.Manifest().Timestamp }}
	known := map[uint64]bool{}
	for _, f := range before.Snapshot.Fragments() {
		known[f.ID] = true
	}
	var rows []row
	for _, f := range after.Snapshot.Fragments() {
		if !known[f.ID] {
			rows = append(rows, physical(t, after.Snapshot, f.ID)...)
		}
	}
	for _, r := range rows {
		old, registered := registrationOf(before, r.id)
		e, _ := after.ByIdentity(r.id)
		switch {
		case r.kind == manifest.KindTable && !registered:
			reg, _ := registrationOf(after, r.id)
			o.Edits = append(o.Edits, reg)
			kinds["registration"]++
		case r.kind == manifest.KindTable:
			o.Edits = append(o.Edits, manifest.Rename{Identity: r.id, From: old.Alias, To: r.alias})
			kinds["rename"]++
		case r.kind == manifest.KindVersion:
			o.Edits = append(o.Edits, manifest.Update{Identity: r.id, Alias: r.alias, Version: e.Version, Owner: e.Owner, Rows: e.Rows, Meta: e.Meta})
			if was, ok := before.ByIdentity(r.id); ok {
				o.Expected = append(o.Expected, manifest.Expected{Identity: r.id, Alias: was.Alias, Version: was.Version})
			}
			kinds["update"]++
			if r.created != after.Version {
				kinds["hand-off"]++
			}
		case r.kind == manifest.KindTombstone:
			o.Edits = append(o.Edits, manifest.Tombstone{Identity: r.id, Alias: r.alias, Version: r.version})
			kinds["tombstone"]++
		case r.kind == manifest.KindCommit:
			o.Commit = intentOf(after, r.object)
		}
	}
	o.Head = &manifest.ExactHead{Commit: before.Heads[orMain(after.Branch)]}
	if before.Ref != nil {
		o.Head.Identifier = before.Ref.Identifier
	}
	p, err := manifest.Publish(t.Context(), own, o)
	if err != nil {
		t.Fatalf("branch %s, version %d: %v", after.Branch, after.Version, err)
	}
	same(t, p.View, after, want)
}

func orMain(branch string) string {
	if branch == "" {
		return manifest.Main
	}
	return branch
}

func registrationOf(v *manifest.View, id manifest.Identity) (manifest.Registration, bool) {
	i := slices.IndexFunc(v.Registrations, func(r manifest.Registration) bool { return r.Identity == id })
	if i < 0 {
		return manifest.Registration{}, false
	}
	return v.Registrations[i], true
}

// row is a row as it lies in its file.
type row struct {
	object, kind, alias string
	id                  manifest.Identity
	version, created    uint64
}

// physical are the rows of a fragment in their order.
func physical(t *testing.T, s *lance.Snapshot, fragment uint64) (out []row) {
	t.Helper()
	for _, r := range scanned(t, s, fragment) {
		k := row{object: text(r["object_id"]), kind: text(r["object_type"]), alias: text(r["table_key"])}
		k.id.Table, _ = r["stable_table_id"].(uint64)
		k.id.Incarnation, _ = r["table_incarnation_id"].(uint64)
		k.version, _ = r["table_version"].(uint64)
		k.created, _ = r[lance.ColCreatedAt].(uint64)
		out = append(out, k)
	}
	return out
}

func text(v any) string { s, _ := v.(string); return s }

// scanned are the rows of some fragments (none: of all) with all that is known of
// each.
func scanned(t *testing.T, s *lance.Snapshot, fragments ...uint64) (out []map[string]any) {
	t.Helper()
	o := lance.ScanOptions{Fragments: fragments, WithRowID: true, WithRowAddress: true, WithVersions: true}
	for batch, err := range s.Scan(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range int(batch.NumRows()) {
			r := map[string]any{}
			for c, f := range batch.Schema().Fields() {
				if a := batch.Column(c); a.IsValid(i) {
					r[f.Name] = a.GetOneForMarshal(i)
				}
			}
			out = append(out, r)
		}
		batch.Release()
	}
	return out
}

// same holds a version of ours against theirs.
func same(t *testing.T, got, want *manifest.View, wantTx *tablepb.Transaction) {
	t.Helper()
	what := fmt.Sprintf("branch %s, version %d", want.Branch, want.Version)
	tx, err := got.Snapshot.Transaction(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, b := proto.CloneOf(tx.Proto), proto.CloneOf(wantTx)
	for _, tx := range []*tablepb.Transaction{a, b} {
		tx.Uuid = ""
		if o := tx.GetOverwrite(); o != nil {
			o.SchemaMetadata = nil // Lance forgets it there
		}
		even(t, tx.GetOverwrite().GetFragments(), tx.GetUpdate().GetUpdatedFragments(), tx.GetUpdate().GetNewFragments())
	}
	if !proto.Equal(a, b) {
		t.Errorf("%s: the transaction differs (-theirs +ours):\n%s", what, cmp.Diff(b, a, protocmp.Transform()))
	}
	m, n := proto.CloneOf(got.Snapshot.Manifest().Proto), proto.CloneOf(want.Snapshot.Manifest().Proto)
	for _, m := range []*tablepb.Manifest{m, n} {
		even(t, m.Fragments)
		slices.SortFunc(m.BasePaths, func(a, b *tablepb.BasePath) int { return int(a.Id) - int(b.Id) })
		m.WriterVersion, m.IndexSection, m.TransactionSection, m.TransactionFile = nil, nil, nil, ""
	}
	if !proto.Equal(m, n) {
		t.Errorf("%s: the manifest differs (-theirs +ours):\n%s", what, cmp.Diff(n, m, protocmp.Transform()))
	}
	if diff := cmp.Diff(scanned(t, want.Snapshot), scanned(t, got.Snapshot)); diff != "" {
		t.Errorf("%s: the rows differ (-theirs +ours):\n%s", what, diff)
	}
}

// even evens out what a writer is free to choose.
func even(t *testing.T, lists ...[]*tablepb.DataFragment) {
	t.Helper()
	for _, list := range lists { // the Rust engine's come in the order of a map
		slices.SortStableFunc(list, func(a, b *tablepb.DataFragment) int { return int(a.Id) - int(b.Id) })
	}
	for _, f := range slices.Concat(lists...) {
		for _, d := range f.Files {
			d.Path, d.FileSizeBytes = "", 0
		}
		if f.DeletionFile != nil {
			f.DeletionFile.Id = 1
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
