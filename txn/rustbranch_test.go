package txn_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// unwritten takes away the newest version of a dataset's branch: the state just
// before it came into being.
func (r rustGraph) unwritten(g *graph, folder, branch string) {
	r.t.Helper()
	all, err := lance.Versions(context.Background(), g.store, folder, lance.ListOptions{Branch: branch})
	if err != nil {
		r.t.Fatal(err)
	}
	newest := filepath.Join(r.root, filepath.FromSlash(all.Versions[0].Key))
	if err := os.Remove(newest); err != nil {
		r.t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(filepath.Dir(newest), "latest_version_hint.json"))
}

// First touches of a table on a branch that the Rust engine really made, and of
// which the publish was taken away: armed, confirmed, overtaken, with the commit
// taken away as well.
func TestTheRustEngineRecoversFirstTouches(t *testing.T) {
	for what, c := range map[string]struct {
		kind                 txn.Kind
		confirm, moved, bare bool
		want                 txn.Do
		table                txn.TableDo
	}{
		"armed":                   {sidecar.Mutation, false, false, false, txn.Back, txn.Restore},
		"confirmed":               {sidecar.Load, true, false, false, txn.Forward, txn.PublishHead},
		"confirmed, overtaken":    {sidecar.Load, true, true, false, txn.Back, txn.Restore},
		"armed, branch alone":     {sidecar.Mutation, false, false, true, txn.Discard, txn.DropFork},
		"merge, armed":            {sidecar.BranchMerge, false, false, false, txn.Back, txn.Restore},
		"merge, confirmed":        {sidecar.BranchMerge, true, false, false, txn.Forward, txn.PublishHead},
		"merge, overtaken":        {sidecar.BranchMerge, true, true, false, txn.Back, txn.Restore},
		"merge, branch alone":     {sidecar.BranchMerge, false, false, true, txn.Discard, txn.DropFork},
		"indexes, branch alone":   {sidecar.EnsureIndices, false, false, true, txn.Back, txn.DropFork},
		"indexes, no index on it": {sidecar.EnsureIndices, false, false, false, txn.Refuse, txn.Leave},
	} {
		r := newRustGraph(t)
		if err := r.cli("mutate", "add", "-e", `query add() { insert Port { code: "z", name: "Z" } }`, "--branch", "b", "--store", r.root); err != nil {
			t.Fatal(err)
		}
		g := r.open("b")
		made, ok := g.view.Table("node:Port")
		if !ok || made.Owner != "b" {
			t.Fatalf("%s: the Rust CLI made no branch of the table: %+v", what, made)
		}
		r.unwritten(g, manifest.Folder, "b")
		if c.bare {
			r.unwritten(g, made.Location, "b")
		}
		g = r.open("b")
		p := r.firstTouch(g, made, c.kind, c.confirm, c.moved)
		v := txn.Interpret(p, g.observe(p), g.visible(p))
		if v.Do != c.want || v.Tables[0].Do != c.table {
			t.Errorf("%s: %s (%s: %s), %s, want %s, %s", what, v.Do, v.Reason, v.Text, v.Tables[0].Do, c.want, c.table)
			continue
		}
		version, tables := g.forecast(p, v)
		if err := r.cli("mutate", "touch", "-e", rustNoop, "--store", r.root); (err != nil) != (v.Do == txn.Refuse) {
			t.Errorf("%s: %s; the Rust CLI: %v", what, v.Do, err)
		}
		after := r.open("b")
		now := map[string]uint64{}
		for _, e := range after.view.Tables {
			now[e.Location] = e.Version
		}
		if after.view.Version != version || !maps.Equal(now, tables) {
			t.Errorf("%s: version %d, tables %v; %s leads to %d, %v", what, after.view.Version, now, v.Do, version, tables)
		}
		if left := !after.observe(p)[0].Missing; left == (c.table == txn.DropFork) {
			t.Errorf("%s: the table's branch is there: %v, after %s", what, left, v.Tables[0].Do)
		}
	}
}

// firstTouch is the plan of what the Rust engine did, in the words of a kind; it
// lies in the graph as a record, which says that the branch was at another head
// when moved.
func (r rustGraph) firstTouch(g *graph, made manifest.Entry, kind txn.Kind, confirm, moved bool) *txn.PublishPlan {
	r.t.Helper()
	what := map[txn.Kind]string{sidecar.Mutation: "mutation on a branch", sidecar.Load: "mutation on a branch", sidecar.BranchMerge: "merge into a branch", sidecar.EnsureIndices: "indexes on a branch"}[kind]
	draft := g.draft(r.t, what)
	draft.Kind = kind
	if moved {
		draft.Base.Head = actor(foreign)
	}
	p, err := txn.New(draft)
	if err != nil {
		r.t.Fatal(err)
	}
	o := g.observe(p)[0]
	if len(o.Chain) > 0 {
		draft.Actions[0].Commits[0].UUID = o.Chain[0].UUID
	}
	if p, err = txn.New(draft); err == nil {
		p, err = p.Arm()
	}
	if err == nil && confirm {
		out := txn.Output{Version: made.Version, Branch: "b", Rows: made.Rows, ManifestPath: made.Meta.ManifestPath, ManifestSize: made.Meta.ManifestSize, ETag: made.Meta.ETag, NamingScheme: made.Meta.NamingScheme}
		p, err = p.Confirm([]txn.Bound{{Table: p.Actions[0].Table, Output: out, Last: p.Actions[0].Commits[0], ForkID: o.ForkID}})
	}
	if err != nil {
		r.t.Fatal(err)
	}
	rec, err := p.Record()
	if err != nil {
		r.t.Fatal(err)
	}
	data, err := rec.Encode()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.root, filepath.FromSlash(rec.Name())), data, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return p
}
