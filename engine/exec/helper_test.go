package exec_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/engine/exec"
	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/query"
	"github.com/omnideck/omnideck/txn"
)

// graph is a graph in memory that is written to through exec alone. What it
// allocates is released when the test ends, or the test fails.
type graph struct {
	t   testing.TB
	s   *memstore.Store
	ids *txn.IDs
	n   int // ids of edges and of nodes without a key
	mem memory.Allocator
}

// counting is randomness that repeats itself.
type counting uint64

func (c *counting) Read(p []byte) (int, error) {
	for i := 0; i < len(p); i += 8 {
		*c++
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(*c)*0x9e3779b97f4a7c15)
		copy(p[i:], b[:])
	}
	return len(p), nil
}

func newGraph(t testing.TB, schema string, lines ...string) *graph {
	t.Helper()
	checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
	back := exec.Allocate(checked)
	t.Cleanup(func() { back(); checked.AssertSize(t, 0) })
	g := &graph{t: t, s: memstore.New(memstore.Options{Name: "case"}), ids: txn.NewIDs(clock(), new(counting)), mem: checked}
	if _, err := txn.Init(t.Context(), g.s, txn.InitOptions{Source: []byte(schema), IDs: g.ids, Now: clock()}); err != nil {
		t.Fatal(err)
	}
	if len(lines) > 0 {
		if _, err := g.load(load.Append, lines...); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// clock is a time that moves by a millisecond at every look.
func clock() func() time.Time {
	n := int64(1796000000000)
	return func() time.Time { n++; return time.UnixMilli(n).UTC() }
}

// clone is the same graph, to be written to apart.
func (g *graph) clone() *graph {
	out := *g
	out.s = g.s.CloneWith(memstore.Options{Name: "case"})
	return &out
}

func (g *graph) options() txn.Options {
	return txn.Options{IDs: g.ids, Now: clock(), Open: lance.OpenOptions{Allocator: g.mem}}
}

func (g *graph) newID() (string, error) {
	g.n++
	return fmt.Sprintf("new%02d", g.n), nil
}

// mutate runs statements to their end; params are a JSON object, decl their
// declaration.
func (g *graph) mutate(statements string) (*exec.Plan, *txn.Receipt, error) {
	return g.mutateWith("", "", statements)
}

func (g *graph) mutateWith(decl, params, statements string) (*exec.Plan, *txn.Receipt, error) {
	return g.run(func(ctx context.Context, t *txn.Txn) (*exec.Plan, error) {
		file, err := query.Parse("query q(" + decl + ") { " + statements + " }")
		if err != nil {
			return nil, err
		}
		q, err := file.Select("")
		if err != nil {
			return nil, err
		}
		checked, err := query.Check(q, t.Contract.IR)
		if err != nil {
			return nil, err
		}
		bound, err := checked.Bind([]byte(params), time.UnixMilli(1796000000000).UTC())
		if err != nil {
			return nil, err
		}
		return exec.Mutate(ctx, t, bound.Statements, exec.Options{NewID: g.newID})
	})
}

func (g *graph) load(mode load.Mode, lines ...string) (*exec.Plan, error) {
	p, _, err := g.run(func(ctx context.Context, t *txn.Txn) (*exec.Plan, error) {
		in, err := load.Read(strings.NewReader(strings.Join(lines, "\n")), t.Contract.IR, load.Options{Mode: mode, NewID: func() string { id, _ := g.newID(); return id }})
		if err != nil {
			return nil, err
		}
		return exec.Load(ctx, t, in.Batches, mode)
	})
	return p, err
}

// run plans, stages and publishes.
func (g *graph) run(plan func(context.Context, *txn.Txn) (*exec.Plan, error)) (p *exec.Plan, r *txn.Receipt, err error) {
	r, err = txn.Run(g.t.Context(), g.s, g.options(), func(ctx context.Context, t *txn.Txn) (*txn.PublishPlan, error) {
		if p, err = plan(ctx, t); err != nil {
			return nil, err
		}
		return p.Prepare(ctx)
	})
	return p, r, err
}

// writes runs something and says how many requests of it write.
func (g *graph) writes(f func(context.Context)) int {
	m := blob.NewMeter(cost.Classify, blob.Keep(1<<16))
	f(blob.WithMeter(context.Background(), m))
	n := 0
	for _, c := range m.Calls() {
		if c.Op == blob.OpPut || c.Op == blob.OpDelete || c.Op == blob.OpCopy {
			n++
		}
	}
	return n
}

// untouched runs something that must fail before anything is written.
func (g *graph) untouched(f func(*graph) error) error {
	g.t.Helper()
	var err error
	if n := g.writes(func(ctx context.Context) { err = f(&graph{t: within{g.t, ctx}, s: g.s, ids: g.ids, mem: g.mem}) }); n > 0 {
		g.t.Errorf("%d requests that write", n)
	}
	return err
}

// within is a test whose context is another.
type within struct {
	testing.TB
	ctx context.Context
}

func (w within) Context() context.Context { return w.ctx }

// lines are those of the export, sorted.
func (g *graph) lines() []string {
	g.t.Helper()
	var out bytes.Buffer
	if _, err := g.look().Export(g.t.Context(), &out, engine.At{}, nil); err != nil {
		g.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	slices.Sort(lines)
	return lines
}

func (g *graph) look() *engine.Graph {
	g.t.Helper()
	e, err := engine.Open(g.t.Context(), "mem://case", engine.Options{Store: g.s})
	if err != nil {
		g.t.Fatal(err)
	}
	return e
}

// rows are the lines of a graph that is sound.
func (g *graph) rows() []string {
	g.t.Helper()
	rep, err := g.look().Verify(g.t.Context(), engine.VerifyOptions{Deep: true})
	if err != nil || len(rep.Problems) > 0 {
		g.t.Errorf("%v: %+v", err, rep)
	}
	return g.lines()
}

// wantRows compares the export with lines, whose order is of no account.
func (g *graph) wantRows(want ...string) {
	g.t.Helper()
	slices.Sort(want)
	if got := g.rows(); !slices.Equal(got, want) {
		g.t.Errorf("there is\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// texts are the deletions of a plan, by table.
func texts(p *exec.Plan) map[string]string {
	out := map[string]string{}
	for _, x := range p.Touches() {
		out[x.Alias] = x.Text
	}
	return out
}

func wantTexts(t *testing.T, p *exec.Plan, want map[string]string) {
	t.Helper()
	if got := texts(p); !maps.Equal(got, want) {
		t.Errorf("deletions %q, expected %q", got, want)
	}
}

// wantErr checks the type of an error, and that it names things.
func wantErr[E error](t testing.TB, err error, names ...string) E {
	t.Helper()
	var e E
	if !errors.As(err, &e) {
		t.Fatalf("%T: %v, expected a %T", err, err, e)
	}
	for _, n := range names {
		if !strings.Contains(err.Error(), n) {
			t.Errorf("%q does not say %q", err, n)
		}
	}
	return e
}

func source(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

func isNothing(err error) bool { return errors.Is(err, txn.ErrNothing) }
