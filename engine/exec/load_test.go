package exec_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine/exec"
	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/txn"
)

const ruled = `node P { k: String @key
 n: I32? @range(n, 0..10)
 e: enum(on, off)?
 mail: String? @unique
 req: String }
node Q { a: String
 b: String
 @unique(a, b) }
edge E: P -> Q @card(0..1)`

var rules = []string{
	`{"type":"P","data":{"k":"p1","mail":"m1","req":"r"}}`, `{"type":"P","data":{"k":"p2","req":"r"}}`,
	`{"type":"Q","data":{"id":"q1","a":"x","b":"y"}}`, `{"edge":"E","from":"p1","to":"q1","data":{"id":"e1"}}`,
}

// What breaks a rule is told with type, id, property and value, by a mutation and
// by a load alike, before anything is written.
func TestBrokenRules(t *testing.T) {
	base := newGraph(t, ruled, rules...)
	for name, c := range map[string]struct {
		statements string
		lines      []string // of an append
		names      []string
	}{
		"unique, held in the base":   {`insert P { k: "p3", mail: "m1", req: "r" }`, []string{`{"type":"P","data":{"k":"p3","mail":"m1","req":"r"}}`}, []string{"P.mail", "'m1'", "'p1'", "'p3'"}},
		"unique, twice in one":       {`insert P { k: "p3", mail: "m3", req: "r" } insert P { k: "p4", mail: "m3", req: "r" }`, nil, []string{"P.mail", "'m3'", "'p3'", "'p4'"}},
		"unique, of an update":       {`update P set { mail: "m1" } where k = "p2"`, nil, []string{"P.mail", "'m1'", "'p1'", "'p2'"}},
		"unique, of a tuple":         {`insert Q { a: "x", b: "y" }`, []string{`{"type":"Q","data":{"id":"q2","a":"x","b":"y"}}`}, []string{"Q.(a, b)", "(x, y)", "'q1'"}},
		"range":                      {`update P set { n: 11 } where k = "p2"`, []string{`{"type":"P","data":{"k":"p3","n":11,"req":"r"}}`}, []string{"n", "11", "node P '"}},
		"enum":                       {"", []string{`{"type":"P","data":{"k":"p3","e":"maybe","req":"r"}}`}, []string{"e", "maybe", "off, on"}},
		"an end that is not there":   {`insert E { from: "p2", to: "nobody" }`, []string{`{"edge":"E","from":"p2","to":"nobody"}`}, []string{"dst 'nobody'", "not found in Q", "edge E"}},
		"a source that is not there": {`insert E { from: "nobody", to: "q1" }`, []string{`{"edge":"E","from":"nobody","to":"q1"}`}, []string{"src 'nobody'", "not found in P", "edge E"}},
		"too many edges":             {`insert E { from: "p1", to: "q1" }`, []string{`{"edge":"E","from":"p1","to":"q1"}`}, []string{"edge E", "'p1'", "2 edges", "max 1"}},
		"an id that is there":        {"", []string{`{"type":"P","data":{"k":"p1","req":"r"}}`}, []string{"'P'", "'p1'", "already has this id"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := base.clone()
			g.t = t
			if c.statements != "" {
				err := g.untouched(func(g *graph) error { _, _, err := g.mutate(c.statements); return err })
				wantErr[*txn.ConstraintError](t, err, append(c.names, "nothing was written")...)
			}
			if c.lines == nil {
				return
			}
			err := g.untouched(func(g *graph) error { _, err := g.load(load.Append, c.lines...); return err })
			if err == nil {
				t.Fatal("it was loaded")
			}
			for _, n := range c.names {
				if !strings.Contains(err.Error(), n) {
					t.Errorf("%q does not say %q", err, n)
				}
			}
		})
	}
	base.t = t
	if got := len(base.rows()); got != len(rules) {
		t.Errorf("%d rows", got)
	}
}

// The modes of a load, with what they count.
func TestLoads(t *testing.T) {
	base := newGraph(t, library, shelf...)
	const newB = `{"type":"Book","data":{"id":"b","isbn":"b","pages":null,"title":"N"}}`
	for name, c := range map[string]struct {
		mode         load.Mode
		lines        []string
		nodes, edges int
		want         []string
	}{
		"append": {load.Append, []string{`{"type":"Book","data":{"isbn":"c","title":"C"}}`, `{"edge":"Sequel","from":"c","to":"c","data":{"id":"s3"}}`}, 1, 1,
			[]string{bookA, bookB, noteN, aboutA, sequel1, sequel2, `{"type":"Book","data":{"id":"c","isbn":"c","pages":null,"title":"C"}}`, `{"edge":"Sequel","from":"c","to":"c","data":{"id":"s3","since":null}}`}},
		"merge takes whole rows' places": {load.Merge, []string{`{"type":"Book","data":{"isbn":"b","title":"N"}}`}, 1, 0, []string{bookA, newB, noteN, aboutA, sequel1, sequel2}},
		"merge, the last line stays": {load.Merge, []string{`{"edge":"Sequel","from":"a","to":"a","data":{"id":"s1"}}`, `{"edge":"Sequel","from":"b","to":"a","data":{"id":"s1"}}`}, 0, 1,
			[]string{bookA, bookB, noteN, aboutA, sequel2, `{"edge":"Sequel","from":"b","to":"a","data":{"id":"s1","since":null}}`}},
		"overwrite of one type leaves the others": {load.Overwrite, []string{`{"edge":"Sequel","from":"b","to":"a","data":{"id":"s9"}}`}, 0, 1,
			[]string{bookA, bookB, noteN, aboutA, `{"edge":"Sequel","from":"b","to":"a","data":{"id":"s9","since":null}}`}},
		"nothing": {load.Append, nil, 0, 0, []string{bookA, bookB, noteN, aboutA, sequel1, sequel2}},
	} {
		t.Run(name, func(t *testing.T) {
			g := base.clone()
			g.t = t
			p, err := g.load(c.mode, c.lines...)
			if err != nil {
				t.Fatal(err)
			}
			if p.Nodes != c.nodes || p.Edges != c.edges {
				t.Errorf("%d nodes and %d edges, expected %d and %d", p.Nodes, p.Edges, c.nodes, c.edges)
			}
			g.wantRows(c.want...)
		})
	}
	// Nodes whose edges stay are not overwritten away.
	err := base.untouched(func(g *graph) error {
		_, err := g.load(load.Overwrite, `{"type":"Book","data":{"isbn":"a","title":"A"}}`)
		return err
	})
	wantErr[*txn.ConstraintError](t, err, "'b'", "Sequel")
}

// A chunk is loaded once: what stands in the graph is passed over, and what stands
// there otherwise is refused by an append and replaced by a merge.
func TestChunk(t *testing.T) {
	lines := strings.Join([]string{`{"type":"Book","data":{"isbn":"c","title":"C"}}`, `{"type":"Book","data":{"isbn":"d","title":"D"}}`, `{"edge":"Sequel","from":"c","to":"d"}`}, "\n")
	const (
		bookC = `{"type":"Book","data":{"id":"c","isbn":"c","pages":null,"title":"C"}}`
		bookD = `{"type":"Book","data":{"id":"d","isbn":"d","pages":null,"title":"D"}}`
	)
	for _, mode := range []load.Mode{load.Append, load.Merge} {
		g := newGraph(t, library, shelf...)
		chunk := func(g *graph, text string) (p *exec.Plan, err error) {
			tx, err := txn.Begin(context.Background(), g.s, g.options())
			if err != nil {
				return nil, err
			}
			plan, err := load.MakePlan(source(text), tx.Contract.IR, load.ChunkOptions{Mode: mode})
			if err != nil {
				return nil, err
			}
			return p, plan.Each(1, func(c *load.Chunk) error {
				p, _, err = g.run(func(ctx context.Context, t *txn.Txn) (*exec.Plan, error) { return exec.Chunk(ctx, t, c, mode) })
				return err
			})
		}
		if _, err := g.load(load.Append, `{"type":"Book","data":{"isbn":"c","title":"C"}}`); err != nil {
			t.Fatal(err)
		}
		p, err := chunk(g, lines)
		if err != nil || p.Nodes != 1 || p.Edges != 1 {
			t.Fatalf("%s: %+v, %v", mode, p, err)
		}
		got := g.rows()
		if len(got) != 9 || !slices.Contains(got, bookC) || !slices.Contains(got, bookD) {
			t.Errorf("%s: there is\n%s", mode, strings.Join(got, "\n"))
		}
		if err := g.untouched(func(g *graph) error { _, err := chunk(g, lines); return err }); !isNothing(err) {
			t.Errorf("%s, again: %v", mode, err)
		}
		other := strings.Replace(lines, `"title":"D"`, `"title":"other"`, 1)
		if mode == load.Append {
			err := g.untouched(func(g *graph) error { _, err := chunk(g, other); return err })
			if e := wantErr[*txn.KeyConflictError](t, err, "line 2", "title", "node:Book"); e.ID != "d" {
				t.Errorf("%+v", e)
			}
			continue
		}
		if p, err := chunk(g, other); err != nil || p.Nodes == 0 || !slices.Contains(g.rows(), strings.Replace(bookD, `"title":"D"`, `"title":"other"`, 1)) {
			t.Errorf("%+v, %v", p, err)
		}
	}
}
