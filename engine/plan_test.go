package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/txn"
)

// planned is a write in both ways of asking for it.
type planned struct {
	plan func(context.Context, *engine.Graph, engine.WriteOptions) (*engine.WritePlan, error)
	do   func(context.Context, *engine.Graph, engine.WriteOptions) (*engine.Receipt, error)
}

func mutation(statements string) planned {
	m := engine.MutateOptions{Source: "query q() { " + statements + " }"}
	return planned{
		func(ctx context.Context, g *engine.Graph, w engine.WriteOptions) (*engine.WritePlan, error) {
			m.WriteOptions = w
			return g.PlanMutate(ctx, m)
		},
		func(ctx context.Context, g *engine.Graph, w engine.WriteOptions) (*engine.Receipt, error) {
			m.WriteOptions = w
			_, r, err := g.Mutate(ctx, m)
			return r, err
		},
	}
}

func loading(mode engine.LoadMode, lines ...string) planned {
	l := engine.LoadOptions{Mode: mode, Input: input(lines)}
	return planned{
		func(ctx context.Context, g *engine.Graph, w engine.WriteOptions) (*engine.WritePlan, error) {
			l.WriteOptions = w
			return g.PlanLoad(ctx, l)
		},
		func(ctx context.Context, g *engine.Graph, w engine.WriteOptions) (*engine.Receipt, error) {
			l.WriteOptions = w
			return g.Load(ctx, l)
		},
	}
}

var plannedWrites = map[string]planned{
	"update":    mutation(`update Book set { pages: 9 } where isbn = "a"`),
	"scan":      mutation(`update Book set { pages: 9 } where pages >= 1`),
	"twice":     mutation(`update Book set { title: "Z" } where isbn = "a" update Book set { pages: 3 } where isbn = "b"`),
	"insert":    mutation(`insert Book { isbn: "new", title: "N" }`),
	"replace":   mutation(`insert Book { isbn: "a", title: "N" }`),
	"edge":      mutation(`insert Sequel { from: "a", to: "a" }`),
	"both":      mutation(`insert Note { text: "two" } update Note set { n: 5 } where n = 1`),
	"cascade":   mutation(`delete Book where isbn = "b"`),
	"all":       mutation(`delete Note where n = 1`),
	"nothing":   mutation(`delete Book where isbn = "nobody"`),
	"append":    loading(engine.LoadAppend, `{"type":"Book","data":{"isbn":"x","title":"X"}}`, `{"edge":"Sequel","from":"x","to":"a","data":{"id":"s9"}}`),
	"merge":     loading(engine.LoadMerge, `{"type":"Book","data":{"isbn":"x","title":"X"}}`, `{"type":"Book","data":{"isbn":"a","title":"X"}}`),
	"overwrite": loading(engine.LoadOverwrite, `{"edge":"Sequel","from":"a","to":"a","data":{"id":"s9"}}`),
	"empty":     loading(engine.LoadAppend),
}

// counted runs something and says how many requests it made.
func counted(t *testing.T, f func(context.Context) error) int64 {
	t.Helper()
	m := blob.NewMeter(cost.Classify)
	if err := f(blob.WithMeter(t.Context(), m)); err != nil {
		t.Fatal(err)
	}
	return m.Totals().Requests
}

// A plan writes nothing, is the same in every process, says what the write then
// does, and how many requests that takes: to the request, in a graph that nobody
// else writes to.
func TestPlans(t *testing.T) {
	for name, w := range plannedWrites {
		t.Run(name, func(t *testing.T) {
			s, _ := filled(t, library, shelf)
			before := keys(t, s)
			var plan, other *engine.WritePlan
			var err error
			here := writable(t, s)
			for _, p := range []struct {
				g  *engine.Graph
				to **engine.WritePlan
			}{{writable(t, s), &other}, {here, &plan}} {
				if *p.to, err = w.plan(t.Context(), p.g, engine.WriteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if len(plan.ID) != 8 || plan.ID != other.ID || plan.RequestsEstimate != other.RequestsEstimate || plan.Check(other.ID) != nil {
				t.Errorf("%+v, elsewhere %+v", plan, other)
			}
			if after := keys(t, s); after != before {
				t.Errorf("before\n%s\nafter\n%s", before, after)
			}
			fresh, _ := filled(t, library, shelf)
			cold := counted(t, func(ctx context.Context) error {
				_, err := w.do(ctx, writable(t, fresh), engine.WriteOptions{})
				return err
			})
			var r *engine.Receipt
			warm := counted(t, func(ctx context.Context) (err error) {
				r, err = w.do(ctx, here, engine.WriteOptions{Plan: plan})
				return err
			})
			if cold != plan.RequestsEstimate || warm > cold {
				t.Errorf("%d requests cold and %d warm, estimated %d", cold, warm, plan.RequestsEstimate)
			}
			if !samePlanned(plan.Tables, r.Tables) || plan.Nodes != r.Nodes || plan.Edges != r.Edges || !slices.Equal(plan.Loads, r.Loads) || plan.PinnedHead != r.Base {
				t.Errorf("planned %+v\ndone %+v", plan, r)
			}
			if (plan.Reversible == "") != (len(plan.Tables) == 0) {
				t.Errorf("reversible %q with %+v", plan.Reversible, plan.Tables)
			}
			sound(t, s)
		})
	}
}

// samePlanned compares tables that were planned with those that were written.
func samePlanned(planned, done []engine.WrittenTable) bool {
	return slices.EqualFunc(planned, done, func(p, d engine.WrittenTable) bool {
		why := p.Why
		p.To, p.Why, p.Text = p.From+1, "", ""
		return why != "" && p == d
	})
}

// What moved since a plan was made, and by whom.
func TestPlanMoved(t *testing.T) {
	ours := mutation(`insert Note { text: "two" }`)
	for name, c := range map[string]struct {
		advance string // a mutation; "" = a commit that moves no table
		holds   bool
	}{
		"logical":     {advance: `update Book set { pages: 5 } where isbn = "a"`},
		"lineage":     {holds: true},
		"other table": {advance: `insert Sequel { from: "a", to: "a" }`},
	} {
		t.Run(name, func(t *testing.T) {
			s, other := filled(t, library, shelf)
			g := writable(t, s)
			plan, err := ours.plan(t.Context(), g, engine.WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if c.advance != "" {
				mutate(t, other, c.advance)
			} else if _, err := other.Load(t.Context(), engine.LoadOptions{Mode: engine.LoadAppend, Input: input(nil)}); err != nil {
				t.Fatal(err)
			}
			head, err := other.Refresh(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			before := keys(t, s)
			r, err := ours.do(t.Context(), g, engine.WriteOptions{Plan: plan})
			if c.holds {
				if err != nil || r.Commit == nil {
					t.Errorf("%+v, %v", r, err)
				}
				return
			}
			var moved *engine.PlanMovedError
			if !errors.As(err, &moved) || !errors.Is(err, txn.ErrCaller) || moved.Planned != plan.PinnedHead || moved.Now != head || moved.Plan != plan.ID || engine.Wrote(err) {
				t.Fatalf("%T: %v", err, err)
			}
			if !strings.Contains(err.Error(), "is a Update") && !strings.Contains(err.Error(), "version") {
				t.Error(err)
			}
			if after := keys(t, s); after != before {
				t.Errorf("before\n%s\nafter\n%s", before, after)
			}
			again, err := ours.plan(t.Context(), g, engine.WriteOptions{})
			if err != nil || again.ID == plan.ID {
				t.Fatalf("%+v, %v", again, err)
			}
			if _, err := ours.do(t.Context(), g, engine.WriteOptions{Plan: again}); err != nil {
				t.Error(err)
			}
			sound(t, s)
		})
	}
}

// A plan is done by what it was made from, and by nothing else.
func TestPlanOfAnotherWrite(t *testing.T) {
	s, _ := filled(t, library, shelf)
	g := writable(t, s)
	plan, err := mutation(`delete Book where isbn = "a"`).plan(t.Context(), g, engine.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	before := keys(t, s)
	with := engine.WriteOptions{Plan: plan}
	var moved *engine.PlanMovedError
	for _, other := range []string{`delete Book where isbn = "b"`, `delete Book where isbn = "nobody"`, `insert Note { text: "x" }`} {
		if _, err := mutation(other).do(t.Context(), g, with); !errors.As(err, &moved) || moved.Now != plan.PinnedHead {
			t.Errorf("%s: %T: %v", other, err, err)
		}
	}
	var usage *engine.UsageError
	_, loadErr := loading(engine.LoadAppend).do(t.Context(), g, with)
	_, planErr := mutation(`delete Book where isbn = "a"`).plan(t.Context(), g, with)
	_, chunkErr := g.LoadChunks(t.Context(), engine.LoadOptions{WriteOptions: with, Mode: engine.LoadAppend, Input: input(nil)}, nil)
	_, branchErr := mutation(`delete Book where isbn = "a"`).do(t.Context(), g, engine.WriteOptions{Plan: plan, Branch: "b"})
	_, madeErr := mutation(`delete Book where isbn = "a"`).do(t.Context(), g, engine.WriteOptions{Plan: &engine.WritePlan{ID: plan.ID, Verb: "mutate", Branch: "main"}})
	for _, err := range []error{loadErr, planErr, chunkErr, branchErr, madeErr} {
		if !errors.As(err, &usage) {
			t.Errorf("%T: %v", err, err)
		}
	}
	if err := plan.Check("00000000"); !errors.As(err, &moved) {
		t.Errorf("%T: %v", err, err)
	}
	if after := keys(t, s); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// Lines that are others when the plan is carried out are not what was planned.
func TestPlanOfChangedLines(t *testing.T) {
	s := memstore.New(memstore.Options{Name: "case"})
	g := writable(t, s)
	if _, err := g.Init(t.Context(), engine.InitOptions{Source: []byte(library)}); err != nil {
		t.Fatal(err)
	}
	n := 0
	l := engine.LoadOptions{Mode: engine.LoadAppend, Input: func() (io.ReadCloser, error) {
		n++
		return io.NopCloser(strings.NewReader(fmt.Sprintf(`{"type":"Book","data":{"isbn":"x","title":"X%d"}}`+"\n", n))), nil
	}}
	plan, err := g.PlanLoad(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	l.Plan = plan
	var moved *engine.PlanMovedError
	if _, err := g.Load(t.Context(), l); !errors.As(err, &moved) {
		t.Errorf("%T: %v", err, err)
	}
}
