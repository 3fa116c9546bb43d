package engine_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
)

// neighbours are the newest two commits of main.
func neighbours(t *testing.T, files map[string][]byte) (older, newer string) {
	t.Helper()
	list, err := openFiles(t, files).Commits(t.Context(), "", 2)
	if err != nil || list.Len() != 2 {
		t.Fatalf("%d commits, %v; want two", list.Len(), err)
	}
	return list.ID(1), list.ID(0)
}

// Two points are found by one question, which lists the branches beside the
// newest state; a comparison of neighbours then opens both states, and of each
// table that moved both versions and the files that differ.
func TestDiffAsksForWhatMoved(t *testing.T) {
	for _, graph := range []string{"maintained", "midlife", "deep"} {
		files := graphFiles(t, graph)
		older, newer := neighbours(t, files)
		f := fragmentsOf(t, files)
		totals, _ := traced(t, files, func(ctx context.Context, g *engine.Graph) error {
			_, err := g.ResolveAll(ctx, "", older, newer)
			return err
		})
		rounds := totals.Hops - 2 // of the fragments
		if want := 3 + f; totals.Requests != want || totals.Ops[blob.OpList] != 2 {
			t.Errorf("finding two commits of %s: %v requests, want %d, two of them listings", graph, totals.Ops, want)
		}
		var d *engine.Diff
		totals, calls := traced(t, files, func(ctx context.Context, g *engine.Graph) error {
			at, err := g.ResolveAll(ctx, "", older, newer)
			if err == nil {
				d, err = g.Diff(ctx, at[0], at[1], engine.DiffOptions{})
			}
			return err
		})
		tables := int64(len(d.Counts))
		opened := totals.Classes[classOp(cost.DataOpen, blob.OpGet)]
		if tables == 0 || opened > 2*tables {
			t.Errorf("%s: %d manifests were opened for %d tables that moved", graph, opened, tables)
		}
		// Fragments of the older state that the newer one has no longer come on top.
		if seen := totals.Ops[blob.OpList]; seen != 2 || totals.Hops > 2*rounds+6 {
			t.Errorf("%s: %d listings and %d hops, want 2 and %d", graph, seen, totals.Hops, 2*rounds+6)
		}
		read := map[string]int{}
		for _, c := range calls {
			if read[c.Key]++; c.Class == cost.DataOpen && read[c.Key] > 1 || c.Class == cost.DataScan && read[c.Key] > 1 {
				t.Errorf("%s: %s is read more than once", graph, c.Key)
			}
		}
	}
}

// Find opens each table once and reads what it must of it, whatever the history.
func TestFindAsksEachTableOnce(t *testing.T) {
	for _, graph := range []string{"maintained", "midlife", "deep"} {
		files := graphFiles(t, graph)
		f := fragmentsOf(t, files)
		snap, err := openFiles(t, files).Snapshot(t.Context(), engine.At{})
		if err != nil {
			t.Fatal(err)
		}
		totals, _ := traced(t, files, func(ctx context.Context, g *engine.Graph) error {
			_, err := g.Find(ctx, "nobody has this id", engine.At{})
			return err
		})
		beyond, tables := totals.Requests-f, int64(len(snap.Datasets))
		if opened := totals.Classes[classOp(cost.DataOpen, blob.OpGet)]; opened != tables {
			t.Errorf("%s: %d manifests were opened for %d tables", graph, opened, tables)
		}
		if rows := rowReads(totals); beyond != 2+tables+rows {
			t.Errorf("%s: %d requests beyond F, of which %d tables and %d reads of rows explain all but %d, want 2", graph, beyond, tables, rows, beyond-tables-rows)
		}
	}
}

// The ends of edge types come with the answers, as the schema has them.
func TestEndsComeWithTheAnswer(t *testing.T) {
	g := openFiles(t, graphFiles(t, "midlife"))
	contract, err := g.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]engine.Ends{}
	for _, typ := range contract.Types {
		if typ.Kind == "edge" {
			want[typ.Name] = engine.Ends{From: typ.From, To: typ.To}
		}
	}
	around, err := g.Neighbors(t.Context(), "Port", "NLRTM", engine.At{}, engine.NeighborsOptions{})
	if err != nil || len(want) == 0 || !reflect.DeepEqual(around.Ends, want) {
		t.Errorf("ends %v, %v; the schema says %v", around.Ends, err, want)
	}
	for name, ends := range want {
		page, err := g.Rows(t.Context(), "edge:"+name, engine.At{}, engine.RowsOptions{Limit: 1})
		if err != nil || page.Ends != ends {
			t.Errorf("rows of %s: ends %v, %v; the schema says %v", name, page.Ends, err, ends)
		}
	}
	page, err := g.Rows(t.Context(), "node:Port", engine.At{}, engine.RowsOptions{Limit: 1})
	if err != nil || page.Ends != (engine.Ends{}) {
		t.Errorf("rows of a node type: ends %v, %v; want none", page.Ends, err)
	}
}

// A node that is not there has no neighbours, unless nobody is to look.
func TestUncheckedNeighbors(t *testing.T) {
	g := openFiles(t, graphFiles(t, "midlife"))
	_, err := g.Neighbors(t.Context(), "Port", "nowhere", engine.At{}, engine.NeighborsOptions{})
	var none *engine.NotFoundError
	if !errors.As(err, &none) {
		t.Errorf("a port that is not there: %v, want *NotFoundError", err)
	}
	around, err := g.Neighbors(t.Context(), "Port", "nowhere", engine.At{}, engine.NeighborsOptions{Unchecked: true})
	if err != nil || len(around.Edges) != 0 {
		t.Errorf("unchecked: %v, %v; want no edge", around, err)
	}
}

// The state is ready before the operation ends, and what is asked from then on
// shares what was read of it.
func TestWithReady(t *testing.T) {
	files := graphFiles(t, "midlife")
	var then cost.Reading
	traced(t, files, func(ctx context.Context, g *engine.Graph) error {
		var err error
		_, lead := g.Entity(engine.WithReady(ctx, func() {
			scoped, scope := cost.WithScope(ctx)
			_, err = g.Snapshot(scoped, engine.At{})
			then = scope.Reading()
		}), "node:Port", "NLRTM", engine.At{})
		return errors.Join(lead, err)
	})
	if then.Requests != 1 || then.Ops.List != 1 {
		t.Errorf("a question of the moment at which the state is ready cost %+v, want one listing", then.Ops)
	}
}

// Manifests are read of as many versions as are wanted, beside what holds the
// versions, and all versions are told.
func TestDetailsOfTheNewest(t *testing.T) {
	files := longChain(t, 300)
	var v *engine.Versions
	totals, _ := traced(t, files, func(ctx context.Context, g *engine.Graph) (err error) {
		v, err = g.Versions(ctx, "", "", engine.VersionsOptions{Details: true, Newest: 20})
		return err
	})
	if totals.Ops[blob.OpGet] != 20 || totals.Ops[blob.OpList] != 3 || len(v.Versions) != 300 {
		t.Errorf("20 of 300 versions cost %v and told %d, want 3 listings, 20 manifests and all versions", totals.Ops, len(v.Versions))
	}
	if v.Versions[19].Fragments == nil || v.Versions[20].Fragments != nil {
		t.Errorf("manifests were read of others than the newest 20")
	}
}
