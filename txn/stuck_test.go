package txn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/refs"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

const stuckRoot = "s3://lab/harbor"

// stuckCase is a state that a killed client left, and what the Rust engine said
// of the graph after its recovery.
type stuckCase struct {
	K       int
	Refused string
	Removed []string
	Pending []string
	Outcome string
	After   struct {
		Version  uint64 `json:"graph_manifest_version"`
		Datasets []struct {
			Path    string `json:"dataset_path"`
			Version uint64 `json:"published_dataset_version"`
		}
	} `json:"snapshot_after"`
}

func stuckFile(t *testing.T, name ...string) []byte {
	t.Helper()
	data, err := fixtures.Shared(append([]string{"graphs", "stuck"}, name...)...)
	if err != nil {
		t.Skipf("SKIPPED: the shared killed states are not here: %v", err)
	}
	return data
}

func unpack(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	files, err := fixtures.Unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// graph is a state with the readers over it.
type graph struct {
	t     *testing.T
	store blob.Store
	root  string // as the records spell it
	files map[string][]byte
	view  *manifest.View
}

// openGraph reads a branch of a graph.
func openGraph(t *testing.T, root, branch string, files map[string][]byte) *graph {
	t.Helper()
	store, err := fixtures.Store(memstore.Options{Name: "harbor"}, files)
	if err != nil {
		t.Fatal(err)
	}
	view, err := manifest.Open(context.Background(), store, manifest.Options{Branch: branch})
	if err != nil {
		t.Fatal(err)
	}
	return &graph{t, store, root, files, view}
}

// base is the authority of the branch.
func (g *graph) base() txn.Base {
	g.t.Helper()
	mark, err := schema.ParseMarker(g.files[schema.StateKey])
	if err != nil {
		g.t.Fatal(err)
	}
	b := txn.Base{Branch: g.view.Branch, Version: g.view.Version, IRHash: mark.IRHash, IdentityDomain: mark.IdentityDomain, IdentityVersion: mark.IdentityVersion}
	name := "main"
	if g.view.Ref != nil {
		name = g.view.Branch
		for _, s := range g.view.Ref.Identifier {
			b.BranchID = append(b.BranchID, txn.Fork{Version: s.Version, UUID: s.ID})
		}
	}
	if id, ok := g.view.Heads[name]; ok {
		b.Head = &id
	}
	return b
}

// visible is what the branch shows to a plan.
func (g *graph) visible(p *txn.PublishPlan) txn.Visible {
	g.t.Helper()
	vis := txn.Visible{Root: g.root, Base: g.base()}
	if c, ok := g.view.Commit(p.Lineage.CommitID); ok && p.Lineage.CommitID != "" {
		at, err := manifest.Open(context.Background(), g.store, manifest.Options{Version: c.ManifestVersion})
		if err != nil {
			g.t.Fatal(err)
		}
		vis.Original = &txn.Landed{Commit: c, Tables: at.Tables}
	}
	_, vis.RollBack = g.view.Commit(p.Rollback)
	vis.Staging = g.staging(p.TargetIRHash)
	return vis
}

// staging overlays the staged files on the live ones.
func (g *graph) staging(target string) txn.Staging {
	overlay, staged := map[string]schema.File{}, false
	for _, k := range schema.Keys {
		data, ok := g.files[k+schema.Staging]
		staged = staged || ok
		if !ok {
			data = g.files[k]
		}
		overlay[k] = schema.File{Data: data}
	}
	c := schema.Load(overlay, schema.Published{})
	made := c.IR != nil && c.IRHash == target && c.Unconfirmed == ""
	switch {
	case made && staged:
		return txn.StagedTarget
	case made:
		return txn.Promoted
	case staged:
		return txn.StagedOther
	}
	return txn.NotStaged
}

// observe looks at the tables of a plan.
func (g *graph) observe(p *txn.PublishPlan) []txn.Observation {
	g.t.Helper()
	var out []txn.Observation
	for _, a := range p.Actions {
		o := txn.Observation{Table: a.Table}
		if e, ok := g.view.ByIdentity(manifest.Identity(a.Table)); ok {
			o.Alias, o.Pin, o.Owner = e.Alias, e.Version, e.Owner
		}
		folder := strings.TrimPrefix(a.Path, g.root+"/")
		all, err := lance.Versions(context.Background(), g.store, folder, lance.ListOptions{Branch: a.Branch})
		if err != nil {
			g.t.Fatal(err)
		}
		var above []lance.ChainVersion
		for _, v := range all.Versions {
			o.Head = max(o.Head, v.Version)
			if v.Version > a.Pin {
				above = append(above, v)
			}
		}
		if o.Missing = len(all.Versions) == 0; a.Branch != "" {
			ref, err := refs.ReadBranch(context.Background(), g.store, folder, a.Branch)
			if o.Missing = err != nil; o.Missing {
				o.Head, above = 0, nil
			} else {
				o.ForkedAt = ref.ParentVersion
				for _, s := range ref.Identifier {
					o.ForkID = append(o.ForkID, txn.Fork{Version: s.Version, UUID: s.ID})
				}
			}
		}
		slices.Reverse(above)
		for snap, err := range lance.ReadVersions(context.Background(), g.store, folder, above, lance.OpenOptions{Branch: a.Branch}) {
			if err != nil {
				g.t.Fatal(err)
			}
			tx, err := snap.Transaction(context.Background())
			if err != nil {
				g.t.Fatal(err)
			}
			o.Chain = append(o.Chain, txn.LinkOf(snap.Version(), tx))
		}
		out = append(out, o)
	}
	return out
}

// forecast is what a verdict will make of the graph: the version of
// `__manifest`, and the published version of each table by folder (0 = none).
func (g *graph) forecast(p *txn.PublishPlan, v txn.Verdict) (version uint64, tables map[string]uint64) {
	tables = map[string]uint64{}
	for _, e := range g.view.Tables {
		tables[e.Location] = e.Version
	}
	version = g.view.Version
	if v.Do == txn.Forward || v.Do == txn.Back || v.Mint {
		version++
	}
	for i, t := range v.Tables {
		folder := strings.TrimPrefix(p.Actions[i].Path, g.root+"/")
		switch t.Do {
		case txn.PublishHead:
			tables[folder] = t.Head
		case txn.Restore:
			tables[folder] = t.Head + 1
		case txn.Restored:
			tables[folder] = t.Head
		}
	}
	return version, tables
}

// Every state that a killed client left: the verdict leads to the version of
// `__manifest` and of every table that the Rust engine's own recovery led to.
func TestInterpretAgreesWithTheRecordedTruth(t *testing.T) {
	ops := []string{"branch-create", "insert-edge", "load-merge", "merge", "optimize", "schema-apply", "update-node"}
	counts, states := map[string]int{}, 0
	for _, op := range ops {
		var doc struct{ Cases []stuckCase }
		if err := json.Unmarshal(stuckFile(t, op, "cases.json"), &doc); err != nil {
			t.Fatal(err)
		}
		base := unpack(t, stuckFile(t, "base.tar.gz"))
		if own, err := fixtures.Shared("graphs", "stuck", op, "base.tar.gz"); err == nil {
			base = unpack(t, own)
		}
		for _, c := range doc.Cases {
			files := maps.Clone(base)
			maps.Copy(files, unpack(t, stuckFile(t, op, fmt.Sprintf("%02d.tar.gz", c.K))))
			for _, k := range c.Removed {
				delete(files, k)
			}
			counts[checkStuck(t, op, c, files)]++
			states++
		}
	}
	want := map[string]int{"no record": 25, "discard": 9, "finalize": 11, "finalize, mint": 1, "forward": 24, "back": 106}
	if states != 176 || !maps.Equal(counts, want) {
		t.Errorf("%d states: %v, want 176: %v", states, counts, want)
	}
}

func checkStuck(t *testing.T, op string, c stuckCase, files map[string][]byte) (verdict string) {
	t.Helper()
	g := openGraph(t, stuckRoot, "", files)
	after := map[string]uint64{}
	for _, d := range c.After.Datasets {
		after[d.Path] = d.Version
	}
	var version uint64
	var tables map[string]uint64
	switch len(c.Pending) {
	case 0:
		verdict = "no record"
		version, tables = g.forecast(nil, txn.Verdict{})
		for _, e := range g.view.Tables {
			chain, err := lance.Versions(context.Background(), g.store, e.Location, lance.ListOptions{Limit: 1})
			if err != nil || txn.Judge(e.Version, chain.Versions[0].Version, false) != txn.AtRest {
				t.Errorf("%s %d: %s has moved: %v", op, c.K, e.Alias, err)
			}
		}
	case 1:
		rec, problems, err := sidecar.Parse(c.Pending[0], files[c.Pending[0]])
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		p, err := txn.FromRecord(rec)
		if err != nil {
			t.Fatal(err)
		}
		v := txn.Interpret(p, g.observe(p), g.visible(p))
		verdict = v.Do.String()
		if v.Mint && v.Do == txn.Finalize {
			verdict += ", mint"
		}
		if v.Err() != nil || v.Reason == "" && v.Do == txn.Back {
			t.Errorf("%s %d (%s): %+v", op, c.K, c.Refused, v)
		}
		version, tables = g.forecast(p, v)
		rowsCome := v.Do == txn.Forward || v.Do == txn.Finalize
		if op != "optimize" && rowsCome != (c.Outcome == "as completed") {
			t.Errorf("%s %d (%s): verdict %s (%s), the rows were %s", op, c.K, c.Refused, v.Do, v.Text, c.Outcome)
		}
		if v.Promote != (op == "schema-apply" && rowsCome && g.staging(p.TargetIRHash) != txn.Promoted) {
			t.Errorf("%s %d (%s): promote %v", op, c.K, c.Refused, v.Promote)
		}
	}
	if version != c.After.Version {
		t.Errorf("%s %d (%s): %s leads to version %d of __manifest, recorded is %d", op, c.K, c.Refused, verdict, version, c.After.Version)
	}
	if !maps.Equal(tables, after) {
		t.Errorf("%s %d (%s): %s leads to tables\n%v, recorded are\n%v", op, c.K, c.Refused, verdict, tables, after)
	}
	return verdict
}
