package engine_test

import (
	"context"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
)

// budget is what a question may ask of a store in a fresh process, apart from
// one request for each of the F fragments of `__manifest`.
type budget struct {
	name     string
	requests int64 // beyond F where fragments counts
	counts   bool  // F comes on top
	ask      func(context.Context, *engine.Graph) error
}

var budgets = []budget{
	{"branch names", 4, false, func(ctx context.Context, g *engine.Graph) error { _, err := g.BranchNames(ctx); return err }},
	{"snapshot", 10, true, func(ctx context.Context, g *engine.Graph) error { _, err := g.Snapshot(ctx, engine.At{}); return err }},
	{"commits", 10, true, func(ctx context.Context, g *engine.Graph) error { _, err := g.Commits(ctx, "", 0); return err }},
	{"log", 10, true, func(ctx context.Context, g *engine.Graph) error { _, err := g.Log(ctx, "", 0); return err }},
	{"info", 12, true, func(ctx context.Context, g *engine.Graph) error { _, err := g.Info(ctx, engine.At{}); return err }},
	{"fragments", 10, true, func(ctx context.Context, g *engine.Graph) error {
		_, err := g.Fragments(ctx, "Port", engine.At{})
		return err
	}},
}

// hopBounds are those of graphs at two depths.
var hopBounds = map[string]int{"maintained": 8, "midlife": 8, "deep": 14}

// Budgets hold at every depth of history, and what is beyond F does not grow
// with it.
func TestBudgets(t *testing.T) {
	seen := map[string]map[string]int64{}
	for graph, hops := range hopBounds {
		files := graphFiles(t, graph)
		f := fragmentsOf(t, files)
		for _, b := range budgets {
			totals, _ := traced(t, files, b.ask)
			beyond := totals.Requests
			if b.counts {
				beyond -= f
			}
			if beyond > b.requests || totals.Hops > hops {
				t.Errorf("%s on %s: %d requests beyond F = %d, %d hops; allowed are %d and %d", b.name, graph, beyond, f, totals.Hops, b.requests, hops)
			}
			if n := rowReads(totals); n != 0 {
				t.Errorf("%s on %s reads row data of tables: %d requests", b.name, graph, n)
			}
			if seen[b.name] == nil {
				seen[b.name] = map[string]int64{}
			}
			seen[b.name][graph] = beyond
		}
	}
	for name, at := range seen {
		if name == "info" { // three more where there are branches
			at["deep"] += 3
		}
		if at["deep"] != at["maintained"] || at["midlife"] != at["maintained"] {
			t.Errorf("%s is not flat: beyond F it asks for %v", name, at)
		}
	}
}

// rowReads are requests for row data of node and edge tables.
func rowReads(t blob.Totals) int64 {
	n := int64(0)
	for _, op := range blob.Ops {
		n += t.Classes[classOp(cost.DataScan, op)] + t.Classes[classOp(cost.DataIndex, op)]
	}
	return n
}

func fragmentsOf(t *testing.T, files map[string][]byte) int64 {
	t.Helper()
	f, err := openFiles(t, files).Fragments(context.Background(), "", engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	return int64(len(f.Fragments))
}

// Chains and layouts are told from manifests alone.
func TestVersionsNeverReadRows(t *testing.T) {
	files := graphFiles(t, "midlife")
	for _, table := range []string{"", "node:Port", "edge:CallsAt"} {
		totals, _ := traced(t, files, func(ctx context.Context, g *engine.Graph) error {
			_, err := g.Versions(ctx, table, "", engine.VersionsOptions{Details: true, Holders: true})
			return err
		})
		if n := rowReads(totals); n != 0 {
			t.Errorf("versions of %q read row data: %d requests", table, n)
		}
	}
}

// Only the window asked for is read in detail.
func TestDetailsOfAWindow(t *testing.T) {
	files := longChain(t, 300)
	totals, _ := traced(t, files, func(ctx context.Context, g *engine.Graph) error {
		_, err := g.Versions(ctx, "", "", engine.VersionsOptions{Details: true, Limit: 20})
		return err
	})
	if totals.Ops[blob.OpGet] != 20 || totals.Ops[blob.OpList] != 3 {
		t.Errorf("20 of 300 versions cost %v, want 3 listings and 20 manifests", totals.Ops)
	}
}
