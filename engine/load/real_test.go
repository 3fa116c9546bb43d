package load_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn/validate/memgraph"
)

// TestExportIsRead: what is exported of a graph that the Rust engine wrote is read
// as it is, breaks no rule, and stands in the graph that it makes, so that loading
// it in chunks would add nothing.
func TestExportIsRead(t *testing.T) {
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	ir, err := schema.ParseIR(files[schema.IRKey])
	if err != nil {
		t.Fatal(err)
	}
	store, err := fixtures.DemoStore()
	if err != nil {
		t.Fatal(err)
	}
	g, err := engine.Open(t.Context(), store.Properties().URL, engine.Options{Store: store, NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var out bytes.Buffer
	lines, err := g.Export(t.Context(), &out, engine.At{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []load.Mode{load.Overwrite, load.Append, load.Merge} {
		after, n, err := loaded(t, memgraph.New(ir), mode, out.String(), func() string { t.Error("an entity without id"); return "" })
		if err != nil || n != lines || lines < 100 {
			t.Fatalf("%s: %d entities of %d lines: %v", mode, n, lines, err)
		}
		if got := printed(after); got != out.String() {
			t.Errorf("%s: printed again it is\n%.500s\nnot\n%.500s", mode, got, out.String())
		}
		plan, err := load.MakePlan(source(out.String()), ir, load.ChunkOptions{Mode: load.Append, Rows: 20})
		if err != nil {
			t.Fatal(err)
		}
		err = plan.Each(1, func(c *load.Chunk) error {
			standing, err := c.Compare(stored(after))
			if err == nil && !standing.Landed() {
				t.Errorf("chunk %d of %d has not landed: %s", c.Number, c.Of, standing.First)
			}
			return err
		})
		if err != nil || len(plan.Chunks) < 5 {
			t.Errorf("%d chunks, %v", len(plan.Chunks), err)
		}
	}
}

// printed are all entities as export prints them: edge types, then node types.
func printed(g *memgraph.Graph) string {
	var b strings.Builder
	for _, ts := range [][]schema.Type{g.IR.Edges, g.IR.Nodes} {
		for i := range ts {
			t := &ts[i]
			for _, r := range g.Sorted(t) {
				head := fmt.Sprintf(`{"type":"%s"`, t.Name)
				if t.Kind == schema.KindEdge {
					head = fmt.Sprintf(`{"edge":"%s","from":"%s","to":"%s"`, t.Name, r.Src, r.Dst)
				}
				b.WriteString(head + `,"data":{"id":` + text(r.ID))
				for k, v := range r.Values {
					b.WriteString("," + text(t.Properties[k].Name) + ":" + string(v.JSON().Append(nil)))
				}
				b.WriteString("}}\n")
			}
		}
	}
	return b.String()
}

func text(s string) string {
	b, _ := load.AppendString(nil, s)
	return string(b)
}
