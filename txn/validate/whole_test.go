package validate_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn/validate"
	"github.com/omnideck/omnideck/txn/validate/memgraph"
)

// fataler is what tests of both kinds have.
type fataler interface{ Fatal(args ...any) }

// lookAt reads a table that lies in batches, twice when that is asked for.
func lookAt(t fataler, typ *schema.Type, visit func(*validate.Row), batches ...[]validate.Row) *validate.Table {
	x := validate.NewTable(typ, func(string) bool { return true })
	look := func(visit func(arrow.RecordBatch) error) {
		for _, rows := range batches {
			batch, err := validate.Record(memory.DefaultAllocator, typ, rows)
			if err == nil {
				err = visit(batch)
				batch.Release()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	look(func(b arrow.RecordBatch) error { return x.Look(b, visit) })
	if x.Suspects() {
		look(x.LookAgain)
	}
	return x
}

// TestTableAgainstTheWholeGraph: of random graphs a table tells exactly the rules
// that a look at everything finds broken.
func TestTableAgainstTheWholeGraph(t *testing.T) {
	broken := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		ir := pgtest.IR(t, small)
		g := memgraph.New(ir)
		for _, typ := range append(pointers(ir.Nodes), pointers(ir.Edges)...) {
			d := &draws{t, ir, g}
			var rows []validate.Row
			for range rapid.IntRange(0, 6).Draw(t, "rows") {
				r := d.row(typ, d.pick("id", ids(typ.Name)...))
				if typ.Name == "P" && rapid.IntRange(0, 5).Draw(t, "key") == 0 {
					r.Values[3] = value.Value{}
				}
				rows = append(rows, r)
			}
			g = g.Apply(validate.Delta{{Type: typ, Batches: []validate.Batch{{Kind: validate.Upsert, Rows: rows}}}})
		}
		got := map[string]bool{}
		known := map[string]*validate.Hashes{}
		for _, typ := range append(pointers(ir.Nodes), pointers(ir.Edges)...) {
			rows := g.Sorted(typ)
			half := len(rows) / 2
			var ends validate.Faults
			x := lookAt(t, typ, func(r *validate.Row) {
				if typ.Kind == schema.KindEdge {
					validate.Endpoints(typ, r, known[typ.From.Name].Has, known[typ.To.Name].Has, ends.Add)
				}
			}, rows[:half], rows[half:])
			known[typ.Name] = x.IDs()
			for _, f := range append(x.Faults(true), ends.List()...) {
				got[string(f.First.Rule)+" "+typ.Name] = true
			}
		}
		want := g.Naive(nil)
		if !maps.Equal(got, want) {
			t.Fatalf("told %v, broken %v\n%s", got, want, show(g, nil))
		}
		for rule := range want {
			broken[rule]++
		}
	})
	if len(broken) < 12 {
		t.Errorf("too few rules were ever broken: %v", broken)
	}
}

// TestTableOfManyFaults: more texts than are compared one by one are counted.
func TestTableOfManyFaults(t *testing.T) {
	ir := pgtest.IR(t, `node A { u: I32? @unique }`)
	typ := typeOf(t, ir, "A")
	const n = 10000
	var rows []validate.Row
	for i := range 2 * n {
		u, _ := value.Of(typ.Properties[0].Type, int32(i%n))
		rows = append(rows, validate.Row{ID: fmt.Sprint(i / 2), Values: []value.Value{u}})
	}
	seen := 0
	x := lookAt(t, typ, func(*validate.Row) { seen++ }, rows)
	faults := x.Faults(true)
	if seen != 2*n || x.Rows() != 2*n || x.IDs().Len() != 2*n || len(faults) != 2 {
		t.Fatalf("%d rows, %d faults", seen, len(faults))
	}
	for i, rule := range []validate.Rule{validate.RuleDuplicate, validate.RuleUnique} {
		if f := faults[i]; f.First.Rule != rule || f.Rows != n || len(f.Named) != validate.MaxNamed || f.First.Text == "" {
			t.Errorf("%s: %+v, %+v", rule, f, f.First)
		}
	}
}

// TestTableOfManySources: many sources with too few edges do not hide the one
// that has too many.
func TestTableOfManySources(t *testing.T) {
	ir := pgtest.IR(t, "node A { a: String? }\nedge E: A -> A @card(2..3)")
	typ := typeOf(t, ir, "E")
	const n = 10000
	var rows []validate.Row
	for i := range n + 4 {
		rows = append(rows, validate.Row{ID: fmt.Sprint(i), Src: fmt.Sprint(min(i, n))})
	}
	x := lookAt(t, typ, func(*validate.Row) {}, rows)
	faults := x.Faults(true)
	if len(faults) != 2 || faults[0].First.Rule != validate.RuleCardMax || faults[0].Rows != 1 || faults[0].Named[0] != fmt.Sprint(n) ||
		faults[1].First.Rule != validate.RuleCardMin || faults[1].Rows != n {
		t.Errorf("%d faults: %+v", len(faults), faults)
	}
	if faults := lookAt(t, typ, func(*validate.Row) {}, rows).Faults(false); len(faults) != 1 || faults[0].First.Rule != validate.RuleCardMax {
		t.Errorf("not all rows were read: %d faults", len(faults))
	}
}

// TestTableWithoutColumns: a rule of a column that is not there is named, and the
// others are asked.
func TestTableWithoutColumns(t *testing.T) {
	ir := pgtest.IR(t, `node A { a: String b: enum(x, y)? c: String? @unique(b, c) }`)
	x := validate.NewTable(typeOf(t, ir, "A"), func(column string) bool { return column != "b" })
	if got := fmt.Sprint(x.Absent(), x.Columns(), x.ColumnsAgain()); got != "[b] [id a c] [id c]" {
		t.Error(got)
	}
}
