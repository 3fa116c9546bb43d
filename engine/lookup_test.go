package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/golden"
	"github.com/omnideck/omnideck/internal/pace"
)

// lookUps are answers that may come from indexes.
func lookUps(t *testing.T, g *engine.Graph, lines []line) map[string]any {
	t.Helper()
	ctx := context.Background()
	out := map[string]any{}
	for i, l := range append(lines, line{kind: "node", typ: "Port", id: "nowhere"}, line{kind: "edge", typ: "Owns", id: ""}) {
		key := l.kind + ":" + l.typ + " " + l.id
		page, err := g.Entity(ctx, l.kind+":"+l.typ, l.id, engine.At{})
		out["entity "+key] = page
		var none *engine.NotFoundError
		if err != nil && (i < len(lines) || !errors.As(err, &none)) {
			t.Fatalf("%s: %v", key, err)
		}
		if i%5 == 0 || i >= len(lines) {
			if out["find "+l.id], err = g.Find(ctx, l.id, engine.At{}); err != nil {
				t.Fatalf("find %s: %v", l.id, err)
			}
		}
		if l.kind != "node" || i >= len(lines) {
			continue
		}
		for name, o := range map[string]engine.NeighborsOptions{
			"": {}, "out ": {Out: true}, "in ": {In: true, Limit: 3}, "two ": {Depth: 2, Limit: 50}, "one ": {Limit: 1},
		} {
			if out[name+"neighbors "+key], err = g.Neighbors(ctx, l.typ, l.id, engine.At{}, o); err != nil {
				t.Fatalf("%s: %v", key, err)
			}
		}
	}
	return out
}

// sameAnswers compares answers one by one.
func sameAnswers(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	for name, w := range want {
		if !cmp.Equal(got[name], w) {
			t.Errorf("%s: %s\n%s", what, name, cmp.Diff(w, got[name]))
		}
	}
}

// indexed are the requests for files of indexes.
func indexed(calls []blob.Call) int {
	n := 0
	for _, c := range calls {
		if c.Class == cost.DataIndex {
			n++
		}
	}
	return n
}

// What is looked up through indexes is what a scan finds, in the same order; so
// it is when some index files are spoilt, cut or gone.
func TestLookUpsAgreeWithScans(t *testing.T) {
	files := graphFiles(t, "maintained")
	g := openFiles(t, files)
	lines := pace.Every(t, 15, parseAll(t, exportLines(t, g, engine.At{})))
	want := lookUps(t, g, lines)
	defer engine.LookUpEverything()()
	sameAnswers(t, "looked up", lookUps(t, openFiles(t, files), lines), want)
	rnd := rand.New(rand.NewPCG(7, 8))
	for range pace.Of(12, 1) {
		bad := with(files, nil)
		for key, data := range files {
			if base := path.Base(key); base != "page_lookup.lance" && base != "page_data.lance" {
				continue
			}
			switch rnd.IntN(4) {
			case 0:
				delete(bad, key)
			case 1:
				bad[key] = data[:rnd.IntN(len(data))]
			case 2:
				bad[key] = append(slices.Clone(data[:len(data)-40]), make([]byte, 40)...)
			}
		}
		sameAnswers(t, "looked up in spoilt indexes", lookUps(t, openFiles(t, bad), lines[:min(len(lines), 60)]), wantOf(want, lines[:min(len(lines), 60)]))
	}
}

// wantOf are the answers about some lines.
func wantOf(all map[string]any, lines []line) map[string]any {
	out := map[string]any{}
	for name, v := range all {
		for _, l := range lines {
			if strings.HasSuffix(name, l.kind+":"+l.typ+" "+l.id) {
				out[name] = v
			}
		}
	}
	return out
}

// What look-ups through indexes ask of a store: an index of one table, its
// fragments that no index covers, and the row.
func TestLookUpTraces(t *testing.T) {
	defer engine.LookUpEverything()()
	files := graphFiles(t, "maintained")
	at := engine.At{}
	for name, ask := range map[string]func(context.Context, *engine.Graph) error{
		"entity": func(ctx context.Context, g *engine.Graph) error {
			_, err := g.Entity(ctx, "node:Port", "NLRTM", at)
			return err
		},
		"find": func(ctx context.Context, g *engine.Graph) error { _, err := g.Find(ctx, "NLRTM", at); return err },
		"neighbors": func(ctx context.Context, g *engine.Graph) error {
			_, err := g.Neighbors(ctx, "Port", "NLRTM", at, engine.NeighborsOptions{})
			return err
		},
	} {
		totals, calls := traced(t, files, ask)
		golden.Equal(t, "trace/"+name+"-indexed.golden", traceText(totals, calls))
		if indexed(calls) == 0 {
			t.Errorf("%s used no index", name)
		}
	}
}

// Small tables are scanned, though an index covers them.
func TestSmallTablesAreScanned(t *testing.T) {
	_, calls := traced(t, graphFiles(t, "maintained"), func(ctx context.Context, g *engine.Graph) error {
		_, err := g.Find(ctx, "NLRTM", engine.At{})
		return err
	})
	if n := indexed(calls); n != 0 {
		t.Errorf("%d requests for indexes of small tables", n)
	}
}

// Whatever request of a look-up fails, the question fails with it or gives the
// whole answer.
func TestEveryRequestOfALookUpMayFail(t *testing.T) {
	defer engine.LookUpEverything()()
	everyRequestMayFail(t, memory(t, memstore.Options{Name: "g"}, graphFiles(t, "maintained")), map[string]func(context.Context, *engine.Graph) (any, error){
		"entity": func(ctx context.Context, g *engine.Graph) (any, error) {
			return g.Entity(ctx, "node:Port", "NLRTM", engine.At{})
		},
		"find": func(ctx context.Context, g *engine.Graph) (any, error) { return g.Find(ctx, "NLRTM", engine.At{}) },
		"neighbors": func(ctx context.Context, g *engine.Graph) (any, error) {
			return g.Neighbors(ctx, "Port", "NLRTM", engine.At{}, engine.NeighborsOptions{})
		},
	})
}

// A second entity of a table costs asking what is newest and the data file that
// it lies in, where that was not read yet: the index is remembered.
func TestSecondEntityIsCheap(t *testing.T) {
	files := graphFiles(t, "maintained")
	for _, all := range []bool{false, true} {
		if all {
			defer engine.LookUpEverything()()
		}
		g := openFiles(t, files)
		ask := func(id string) blob.Totals {
			m := blob.NewMeter(cost.Classify)
			if _, err := g.Entity(blob.WithMeter(context.Background(), m), "Port", id, engine.At{}); err != nil {
				t.Fatal(err)
			}
			return m.Totals()
		}
		first, second := ask("NLRTM"), ask("BEANR")
		if first.Requests > 10 || second.Requests > 4 || second.Ops[blob.OpList] != 1 || second.Classes[classOp(cost.DataIndex, blob.OpGet)] > 0 {
			t.Errorf("looked up %v: the first entity costs %v, the second %v", all, first.Ops, second.Ops)
		}
	}
}
