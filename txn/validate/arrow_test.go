package validate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn/validate"
	"github.com/omnideck/omnideck/txn/validate/memgraph"
)

// Rows become a batch, and the batch rows, of every type of property.
func TestRecordAndScan(t *testing.T) {
	ir := pgtest.IR(t, `node A { s: String b: Bool? i: I32? j: I64? u: U32? w: U64? f: F32? g: F64? d: Date? t: DateTime? v: Vector(2)? l: [String]? m: [F64]? e: enum(x, y)? c: Blob? }
edge E: A -> A { c: Blob? n: I32 }`)
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	for name, lines := range map[string][]string{
		"A": {`{"id":"1","s":"é","b":true,"i":-1,"j":-2,"u":3,"w":18446744073709551615,"f":0.1,"g":1e300,"d":"2024-02-29","t":"2024-02-29T10:00:00.5Z","v":[1,2],"l":["a",""],"m":[0.5],"e":"x"}`, `{"id":"","s":""}`},
		"E": {`{"id":"e","src":"1","dst":"2","n":5}`},
	} {
		typ := typeOf(t, ir, name)
		var rows []validate.Row
		for _, l := range lines {
			rows = append(rows, row(t, typ, l))
		}
		c := slices.IndexFunc(typ.Properties, func(p schema.Property) bool { return p.Name == "c" })
		rows[0].Values[c], _ = value.Of(typ.Properties[c].Type, "base64:aGk=")
		batch, err := validate.Record(mem, typ, rows)
		if err != nil {
			t.Fatal(err)
		}
		scan, err := validate.NewScan(typ, batch)
		if err != nil {
			t.Fatal(err)
		}
		rows[0].Values[c], _ = value.Of(typ.Properties[c].Type, "base64:") // a blob is not read
		var got validate.Row
		for i, want := range rows {
			if err := scan.Row(i, &got); err != nil {
				t.Fatal(err)
			}
			if got.ID != want.ID || got.Src != want.Src || got.Dst != want.Dst || !slices.EqualFunc(got.Values, want.Values, value.Value.Equal) {
				t.Errorf("row %d of %s: found %v, expected %v", i, name, got, want)
			}
		}
		batch.Release()
		rows[0].Values[len(rows[0].Values)-1] = value.String("no number")
		if typ.Properties[len(rows[0].Values)-1].Type.Scalar.Name != "String" {
			if _, err := validate.Record(mem, typ, rows); err == nil || !strings.Contains(err.Error(), "property ") {
				t.Errorf("a value of another kind: %v", err)
			}
		}
	}
	ids := array.NewStringBuilder(mem)
	ids.Append("1")
	column := ids.NewStringArray()
	batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.BinaryTypes.String}}, nil), []arrow.Array{column}, 1)
	column.Release()
	ids.Release()
	defer batch.Release()
	if _, err := validate.NewScan(typeOf(t, ir, "A"), batch); err == nil || !strings.Contains(err.Error(), "0 columns named b") {
		t.Errorf("a batch without columns: %v", err)
	}
}

// realGraph reads every table of the graph that the Rust engine wrote.
func realGraph(t *testing.T) *memgraph.Graph {
	t.Helper()
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
	view, err := manifest.Open(t.Context(), store, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := memgraph.New(ir)
	for _, e := range view.Tables {
		typ := typeOf(t, ir, e.Name())
		g.Rows[typ] = map[string]validate.Row{}
		s, err := lance.Open(t.Context(), store, e.Location, lance.OpenOptions{Version: e.Version})
		if err != nil {
			t.Fatal(err)
		}
		if err := table(t.Context(), typ, s, func(r validate.Row) { g.Rows[typ][r.ID] = r }); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func table(ctx context.Context, typ *schema.Type, s *lance.Snapshot, found func(validate.Row)) error {
	for batch, err := range s.Scan(ctx, lance.ScanOptions{}) {
		if err != nil {
			return err
		}
		scan, err := validate.NewScan(typ, batch)
		for i := 0; err == nil && i < int(batch.NumRows()); i++ {
			var r validate.Row
			if err = scan.Row(i, &r); err == nil {
				found(r)
			}
		}
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// faults looks at a whole graph as verify does: rules fed row by row.
func faults(g *memgraph.Graph) (out []string) {
	tell := func(v *validate.Violation) bool {
		if v != nil {
			out = append(out, string(v.Rule)+" "+v.Type.Name)
		}
		return true
	}
	has := func(name string) func(id string) bool {
		t, _ := g.IR.Type(schema.KindNode, name)
		return func(id string) bool { _, ok := g.Rows[t][id]; return ok }
	}
	for _, ts := range [][]schema.Type{g.IR.Nodes, g.IR.Edges} {
		for i := range ts {
			t := &ts[i]
			values, bad := validate.NewValueRules(t)
			tell(bad)
			groups, degree := validate.Groups(t), validate.NewDegree(t)
			for _, r := range g.Sorted(t) {
				values.Check(&r, tell)
				for _, u := range groups {
					tell(u.Add(&r))
				}
				if t.Kind == schema.KindEdge {
					validate.Endpoints(t, &r, has(t.From.Name), has(t.To.Name), tell)
				}
				if degree != nil {
					degree.Add(r.Src, 1)
				}
			}
			if degree != nil {
				degree.Done(tell)
			}
		}
	}
	return out
}

// TestRealGraph: a graph that the Rust engine wrote breaks no rule, row by row, as
// one write, and when every table is written again; each fault that is planted is
// found.
func TestRealGraph(t *testing.T) {
	g := realGraph(t)
	n := 0
	var again validate.Delta
	for typ := range g.Rows {
		n += len(g.Rows[typ])
		again = append(again, validate.Change{Type: typ, Overwrite: true, Batches: []validate.Batch{{Rows: g.Sorted(typ)}}})
	}
	t.Logf("%d rows of %d types", n, len(g.Rows))
	if found := faults(g); len(found) > 0 || n < 100 {
		t.Errorf("%d rows, found %v", n, found)
	}
	for name, base := range map[string]*memgraph.Graph{"new": memgraph.New(g.IR), "overwritten": g} {
		report, err := validate.Check(t.Context(), g.IR, again, base, 10)
		if err != nil || report.Err() != nil {
			t.Errorf("%s: %v, %v", name, err, report.Err())
		}
	}
	for i := range g.IR.Edges {
		e := &g.IR.Edges[i]
		rows := g.Sorted(e)
		if len(rows) == 0 {
			continue
		}
		lost := rows[0]
		lost.Dst = "nobody"
		if found := faults(g.Apply(validate.Delta{{Type: e, Batches: []validate.Batch{{Rows: []validate.Row{lost}}}}})); !slices.Contains(found, "endpoint "+e.Name) {
			t.Errorf("%s to nobody: found %v", e.Name, found)
		}
		from, _ := g.IR.Type(schema.KindNode, e.From.Name)
		report, err := validate.Check(t.Context(), g.IR, validate.Delta{{Type: from, Removed: []string{rows[0].Src}}}, g, 1000)
		if err != nil || !slices.ContainsFunc(report.Violations, func(v *validate.Violation) bool {
			return fmt.Sprint(v.Type.Name, v.IDs) == fmt.Sprint(e.Name, []string{rows[0].ID})
		}) {
			t.Errorf("the source of %s %s goes: %v, %v", e.Name, rows[0].ID, err, report)
		}
	}
}
