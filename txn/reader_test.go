package txn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/validate"
	"github.com/omnideck/omnideck/txn/validate/memgraph"
)

// inMemory is the base of a Txn, every row read.
func inMemory(t *testing.T, tx *txn.Txn) (g *memgraph.Graph, types []*schema.Type) {
	t.Helper()
	g = memgraph.New(tx.Contract.IR)
	for _, list := range [][]schema.Type{g.IR.Nodes, g.IR.Edges} {
		for i := range list {
			types = append(types, &list[i])
		}
	}
	for _, ty := range types {
		g.Rows[ty] = map[string]validate.Row{}
		snap, err := tx.Table(t.Context(), ty.Alias())
		if err != nil {
			t.Fatal(err)
		}
		for batch, err := range snap.Scan(t.Context(), lance.ScanOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			scan, err := validate.NewScan(ty, batch)
			for i := 0; err == nil && i < int(batch.NumRows()); i++ {
				var r validate.Row
				if err = scan.Row(i, &r); err == nil {
					g.Rows[ty][r.ID] = r
				}
			}
			batch.Release()
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return g, types
}

// The Reader of a Txn answers every question as a graph in memory does, with and
// without indexes, and with a memory.
func TestReader(t *testing.T) {
	for name, open := range map[string]func() *memstore.Store{
		"midlife":    func() *memstore.Store { return demo(t) },
		"maintained": func() *memstore.Store { return shared(t, "maintained") },
	} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		o := writing(1)
		o.Open.Allocator = mem
		store := open()
		tx, err := txn.Begin(t.Context(), store, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Open.Texts = lance.NewTextMemory(1 << 20)
		remembering, err := txn.Begin(t.Context(), store, o)
		if err != nil {
			t.Fatal(err)
		}
		g, types := inMemory(t, tx)
		rnd := rand.New(rand.NewPCG(1, 2))
		indexed := 0
		for _, ty := range types {
			snap, _ := tx.Table(t.Context(), ty.Alias())
			if snap.LookUp(lance.LookUpByIndex, "id") != nil {
				indexed++
			}
			byIndex := tx.Reader().By(lance.LookUpByIndex)
			rows := g.Sorted(ty)
			for range 20 {
				var ids, srcs, dsts []string
				for range rnd.IntN(4) {
					r := rows[rnd.IntN(len(rows))]
					ids, srcs, dsts = append(ids, r.ID), append(srcs, r.Src), append(dsts, r.Dst)
				}
				ids = append(ids, "nobody")
				for _, list := range []*[]string{&ids, &srcs, &dsts} {
					slices.Sort(*list)
					*list = slices.Compact(*list)
				}
				q := question{ty, ids, srcs, dsts[:len(dsts)*rnd.IntN(2)]}
				want := q.ask(t, g)
				for _, r := range []validate.Reader{tx.Reader(), byIndex, remembering.Reader()} {
					if got := q.ask(t, r); !slices.Equal(got, want) {
						t.Fatalf("%s, %s: %v\n%v, expected\n%v", name, ty.Name, q, got, want)
					}
				}
			}
			holders(t, tx.Reader(), ty, rows)
			holders(t, byIndex, ty, rows)
			holders(t, remembering.Reader(), ty, rows)
		}
		mem.AssertSize(t, 0)
		if name == "maintained" && indexed == 0 {
			t.Error("no table has an index that can be used")
		}
	}
}

// question is what is asked of a reader.
type question struct {
	ty              *schema.Type
	ids, srcs, dsts []string
}

// ask spells the answers, sorted.
func (q question) ask(t *testing.T, r validate.Reader) (out []string) {
	t.Helper()
	ctx := context.Background()
	say := func(what string) func(string) { return func(id string) { out = append(out, what+" "+id) } }
	tell := func(what string) func(validate.Edge) {
		return func(e validate.Edge) { out = append(out, fmt.Sprint(what, " ", e)) }
	}
	errs := []error{r.Existing(ctx, q.ty, q.ids, say("existing")), r.IDs(ctx, q.ty, say("id"))}
	if q.ty.Kind == schema.KindEdge {
		errs = append(errs, r.Edges(ctx, q.ty, q.ids, tell("edge")), r.Incident(ctx, q.ty, q.srcs, q.dsts, tell("incident")),
			r.Counts(ctx, q.ty, q.srcs, func(src string, n uint64) {
				if n > 0 {
					out = append(out, fmt.Sprint("count ", src, n))
				}
			}))
	}
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(out)
	return out
}

// holders asks for the values of some rows in the columns of each group: each of
// the rows is told, with its own values.
func holders(t *testing.T, r validate.Reader, ty *schema.Type, rows []validate.Row) {
	t.Helper()
	for _, u := range validate.Groups(ty) {
		want := map[string][]value.Value{}
		var tuples [][]value.Value
		for _, row := range rows[:min(len(rows), 3)] {
			var tuple []value.Value
			for _, c := range u.Columns {
				n := slices.IndexFunc(ty.Properties, func(p schema.Property) bool { return p.Name == c })
				text := map[string]string{"src": row.Src, "dst": row.Dst}[c]
				if n < 0 {
					v, err := value.Of(schema.PropType{Scalar: schema.Scalar{Name: "String"}}, text)
					if err != nil {
						t.Fatal(err)
					}
					tuple = append(tuple, v)
				} else if _, err := row.Values[n].Key(); err == nil {
					tuple = append(tuple, row.Values[n])
				}
			}
			if len(tuple) == len(u.Columns) {
				tuples, want[row.ID] = append(tuples, tuple), tuple
			}
		}
		if len(tuples) == 0 {
			continue
		}
		err := r.Holders(t.Context(), ty, u.Columns, tuples, func(id string, values []value.Value) {
			if w, ok := want[id]; ok && fmt.Sprint(w) == fmt.Sprint(values) {
				delete(want, id)
			}
		})
		if err != nil || len(want) > 0 {
			t.Errorf("%s.%v: %v; holders not found: %v", ty.Name, u.Columns, err, want)
		}
	}
}
