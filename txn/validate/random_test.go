package validate_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn/validate"
	"github.com/omnideck/omnideck/txn/validate/memgraph"
)

const small = `
node P { k: String @key u: I32? @unique a: String? b: String? e: enum(x, y)? @range(u, 0..6) @unique(a, b) }
node Q { n: String? @unique @check(n, "^[a-c]$") }
edge E: P -> Q @card(0..2) { w: I32? @unique(src, dst) }
edge F: P -> P @card(2..3)
edge G: Q -> P { r: String? @unique }
`

// draws makes values from few, so that they meet.
type draws struct {
	t  *rapid.T
	ir *schema.IR
	g  *memgraph.Graph
}

func (d *draws) pick(what string, of ...string) string { return rapid.SampledFrom(of).Draw(d.t, what) }

func (d *draws) text(odds int, of ...string) value.Value {
	if rapid.IntRange(0, 9).Draw(d.t, "null") < odds {
		return value.Value{}
	}
	return value.String(d.pick("text", of...))
}

func (d *draws) number(most int) value.Value {
	n := rapid.IntRange(-1, most).Draw(d.t, "number")
	if n < 0 {
		return value.Value{}
	}
	v, _ := value.Of(schema.PropType{Scalar: schema.Scalar{Name: "I32"}}, int32(n))
	return v
}

func (d *draws) row(t *schema.Type, id string) validate.Row {
	ends := func(of string) string { // mostly of nodes that stand
		node, _ := d.ir.Type(schema.KindNode, of)
		if there := slices.Sorted(maps.Keys(d.g.Rows[node])); len(there) > 0 && rapid.IntRange(0, 9).Draw(d.t, "any") > 0 {
			return d.pick("end", there...)
		}
		return d.pick("end", ids(of)...)
	}
	switch t.Name {
	case "P": // a, b, e, k, u
		e := d.text(7, "x", "x", "y", "y", "x", "z")
		return validate.Row{ID: id, Values: []value.Value{d.text(3, "1", "2", "3"), d.text(3, "1", "2", "3"), e, value.String(id), d.number(7)}}
	case "Q":
		return validate.Row{ID: id, Values: []value.Value{d.text(4, "a", "b", "c", "c", "d")}}
	case "E":
		return validate.Row{ID: id, Src: ends("P"), Dst: ends("Q"), Values: []value.Value{d.number(3)}}
	case "F":
		return validate.Row{ID: id, Src: ends("P"), Dst: ends("P"), Values: []value.Value{}}
	}
	return validate.Row{ID: id, Src: ends("Q"), Dst: ends("P"), Values: []value.Value{d.text(5, "1", "2", "3", "4")}}
}

// ids are those that rows of a type are given; the last is of few rows.
func ids(of string) (out []string) {
	for i := range 5 {
		out = append(out, of+strconv.Itoa(i))
	}
	return out
}

func (d *draws) delta() (out validate.Delta) {
	for _, t := range append(pointers(d.ir.Nodes), pointers(d.ir.Edges)...) {
		if rapid.IntRange(0, 9).Draw(d.t, "touched") < 6 {
			continue
		}
		c := validate.Change{Type: t, Overwrite: rapid.IntRange(0, 7).Draw(d.t, "overwrite") == 0}
		for range rapid.IntRange(0, 2).Draw(d.t, "batches") {
			b := validate.Batch{Kind: validate.Kind(min(1, rapid.IntRange(0, 3).Draw(d.t, "kind")))}
			for range rapid.IntRange(1, 4).Draw(d.t, "rows") {
				b.Rows = append(b.Rows, d.row(t, d.pick("id", ids(t.Name)...)))
			}
			c.Batches = append(c.Batches, b)
		}
		if !c.Overwrite {
			c.Removed = d.removed(t)
		}
		out = append(out, c)
	}
	return out
}

func (d *draws) removed(t *schema.Type) (out []string) {
	for _, id := range slices.Sorted(maps.Keys(d.g.Rows[t])) {
		if rapid.IntRange(0, 5).Draw(d.t, "removed") == 0 {
			out = append(out, id)
		}
	}
	return out
}

func pointers(ts []schema.Type) (out []*schema.Type) {
	for i := range ts {
		out = append(out, &ts[i])
	}
	return out
}

// expected says what is wrong with a write: with the graph that it makes, and
// with what it says itself.
func expected(g *memgraph.Graph, d validate.Delta) map[string]bool {
	after := g.Apply(d)
	emptied := map[*schema.Type]map[string]bool{}
	out := map[string]bool{}
	for _, c := range d {
		emptied[c.Type] = map[string]bool{}
		said := map[string]bool{}
		for _, b := range c.Batches {
			alone := memgraph.New(g.IR) // what a batch says, each row by itself
			alone.Rows[c.Type] = map[string]validate.Row{}
			for i, r := range b.Rows {
				_, there := g.Rows[c.Type][r.ID]
				if b.Kind == validate.Insert && (said[r.ID] || there && !c.Overwrite && !slices.Contains(c.Removed, r.ID)) {
					out["exists "+c.Type.Name] = true
				}
				said[r.ID] = true
				if old, ok := g.Rows[c.Type][r.ID]; ok && !c.Overwrite {
					emptied[c.Type][old.Src] = true
				}
				alone.Rows[c.Type][fmt.Sprint(i)] = r
				endpointsOf(after, c.Type, r, out)
			}
			for rule := range alone.Naive(nil) {
				if !strings.HasPrefix(rule, "card") && !strings.HasPrefix(rule, "endpoint") { // these are not of a batch
					out[rule] = true
				}
			}
		}
		for _, id := range c.Removed {
			emptied[c.Type][g.Rows[c.Type][id].Src] = true
		}
	}
	for rule := range after.Naive(emptied) {
		out[rule] = true
	}
	return out
}

func endpointsOf(after *memgraph.Graph, t *schema.Type, r validate.Row, out map[string]bool) {
	if t.Kind != schema.KindEdge {
		return
	}
	from, _ := after.IR.Type(schema.KindNode, t.From.Name)
	to, _ := after.IR.Type(schema.KindNode, t.To.Name)
	_, src := after.Rows[from][r.Src]
	_, dst := after.Rows[to][r.Dst]
	if !src || !dst {
		out["endpoint "+t.Name] = true
	}
}

// TestAgainstTheWholeGraph: in random histories a write is refused for a rule of
// a type exactly when a look at the whole graph that it makes, or at what it says,
// finds that rule broken.
func TestAgainstTheWholeGraph(t *testing.T) {
	refused, kept := 0, 0
	broken := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		ir := pgtest.IR(t, small)
		g := memgraph.New(ir).Apply(validate.Delta{
			{Type: &ir.Nodes[0], Batches: []validate.Batch{{Rows: bare("P", 5)}}},
			{Type: &ir.Nodes[1], Batches: []validate.Batch{{Rows: bare("Q", 1)}}},
		})
		for range 12 {
			draw := &draws{t, ir, g}
			d := draw.delta()
			report, err := validate.Check(t.Context(), ir, d, g, 1000)
			if err != nil {
				t.Fatal(err)
			}
			want, got := expected(g, d), map[string]bool{}
			for _, v := range report.Violations {
				got[string(v.Rule)+" "+v.Type.Name] = true
			}
			for rule := range want { // of sources that do not stand there is no number of edges
				if name, dangling := strings.CutPrefix(rule, "endpoint "); dangling && got[rule] {
					for _, m := range []map[string]bool{got, want} {
						delete(m, "cardMin "+name)
						delete(m, "cardMax "+name)
					}
				}
			}
			if !maps.Equal(got, want) {
				t.Fatalf("the evaluator finds %v, the whole graph has %v\n%s", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)), show(g, d))
			}
			for rule := range want {
				broken[rule]++
			}
			if len(want) == 0 {
				kept++
				g = g.Apply(d)
			} else {
				refused++
			}
		}
	})
	t.Logf("%d writes kept, %d refused: %v", kept, refused, broken)
	if kept == 0 || refused == 0 || len(broken) < 15 {
		t.Errorf("%d writes kept, %d refused, of few rules: %v", kept, refused, broken)
	}
}

// bare are rows of which only the id is said; n is the number of values.
func bare(of string, n int) (out []validate.Row) {
	for _, id := range ids(of) {
		r := validate.Row{ID: id, Values: make([]value.Value, n)}
		if of == "P" {
			r.Values[3] = value.String(id)
		}
		out = append(out, r)
	}
	return out
}

// show prints a base and a write.
func show(g *memgraph.Graph, d validate.Delta) (out string) {
	line := func(t *schema.Type, r validate.Row) string {
		s := fmt.Sprintf("  %s %s %s %s", t.Name, r.ID, r.Src, r.Dst)
		for i, v := range r.Values {
			s += fmt.Sprintf(" %s=%s", t.Properties[i].Name, v.JSON().Append(nil))
		}
		return s + "\n"
	}
	out = "base\n"
	for t := range g.Rows {
		for _, r := range g.Sorted(t) {
			out += line(t, r)
		}
	}
	for _, c := range d {
		out += fmt.Sprintf("%s overwrite %v removed %v\n", c.Type.Name, c.Overwrite, c.Removed)
		for _, b := range c.Batches {
			out += fmt.Sprintf(" batch %d\n", b.Kind)
			for _, r := range b.Rows {
				out += line(c.Type, r)
			}
		}
	}
	return out
}
