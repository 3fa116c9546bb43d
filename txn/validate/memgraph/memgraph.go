// Package memgraph is for tests: a graph in memory, as the base of a write, with
// a check of the whole graph that shares nothing with package validate but the
// texts of keys.
package memgraph

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn/validate"
)

// Graph is one version of a graph.
type Graph struct {
	IR   *schema.IR
	Rows map[*schema.Type]map[string]validate.Row
	// Asked counts the questions of a Reader by their name.
	Asked map[string]int

	mu sync.Mutex // of Asked
}

// New is a graph without rows.
func New(ir *schema.IR) *Graph {
	return &Graph{IR: ir, Rows: map[*schema.Type]map[string]validate.Row{}, Asked: map[string]int{}}
}

// Apply is the graph after a write; this one is as it was.
func (g *Graph) Apply(d validate.Delta) *Graph {
	out := New(g.IR)
	for t, rows := range g.Rows {
		out.Rows[t] = map[string]validate.Row{}
		for id, r := range rows {
			out.Rows[t][id] = r
		}
	}
	for _, c := range d {
		if out.Rows[c.Type] == nil || c.Overwrite {
			out.Rows[c.Type] = map[string]validate.Row{}
		}
		for _, id := range c.Removed {
			delete(out.Rows[c.Type], id)
		}
		for _, b := range c.Batches {
			for _, r := range b.Rows {
				out.Rows[c.Type][r.ID] = r
			}
		}
	}
	return out
}

// Sorted are the rows of a type by id.
func (g *Graph) Sorted(t *schema.Type) []validate.Row {
	var out []validate.Row
	for _, r := range g.Rows[t] {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b validate.Row) int { return strings.Compare(a.ID, b.ID) })
	return out
}

func (g *Graph) asked(what string, n int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Asked[what]++
	if n > validate.MaxProbe {
		return fmt.Errorf("%s was asked for %d, more than %d", what, n, validate.MaxProbe)
	}
	return nil
}

// Pin is version 1 of everything.
func (g *Graph) Pin(*schema.Type) validate.Pin { return validate.Pin{Version: 1} }

// Existing as of validate.Reader.
func (g *Graph) Existing(_ context.Context, t *schema.Type, ids []string, found func(string)) error {
	for _, id := range ids {
		if _, ok := g.Rows[t][id]; ok {
			found(id)
		}
	}
	return g.asked("existing", len(ids))
}

// Holders tells what matches in any column, so that tuples must be told apart.
func (g *Graph) Holders(_ context.Context, t *schema.Type, columns []string, tuples [][]value.Value, found func(string, []value.Value)) error {
	for _, r := range g.Sorted(t) {
		values := columnsOf(t, r, columns)
		for _, tuple := range tuples {
			if slices.ContainsFunc(columns, func(c string) bool {
				i := slices.Index(columns, c)
				a, errA := values[i].Key()
				b, errB := tuple[i].Key()
				return errA == nil && errB == nil && a == b
			}) {
				found(r.ID, values)
				break
			}
		}
	}
	return g.asked("holders", len(tuples))
}

func columnsOf(t *schema.Type, r validate.Row, columns []string) []value.Value {
	out := make([]value.Value, len(columns))
	for i, c := range columns {
		switch c {
		case "src":
			out[i] = value.String(r.Src)
		case "dst":
			out[i] = value.String(r.Dst)
		default:
			for j := range t.Properties {
				if t.Properties[j].Name == c {
					out[i] = r.Values[j]
				}
			}
		}
	}
	return out
}

// Edges as of validate.Reader.
func (g *Graph) Edges(_ context.Context, t *schema.Type, ids []string, found func(validate.Edge)) error {
	for _, id := range ids {
		if r, ok := g.Rows[t][id]; ok {
			found(validate.Edge{ID: r.ID, Src: r.Src, Dst: r.Dst})
		}
	}
	return g.asked("edges", len(ids))
}

// Incident as of validate.Reader.
func (g *Graph) Incident(_ context.Context, t *schema.Type, srcs, dsts []string, found func(validate.Edge)) error {
	for _, r := range g.Rows[t] {
		if slices.Contains(srcs, r.Src) || slices.Contains(dsts, r.Dst) {
			found(validate.Edge{ID: r.ID, Src: r.Src, Dst: r.Dst})
		}
	}
	return g.asked("incident", len(srcs)+len(dsts))
}

// Counts as of validate.Reader.
func (g *Graph) Counts(_ context.Context, t *schema.Type, srcs []string, found func(string, uint64)) error {
	for _, src := range srcs {
		n := uint64(0)
		for _, r := range g.Rows[t] {
			if r.Src == src {
				n++
			}
		}
		if n > 0 {
			found(src, n)
		}
	}
	return g.asked("counts", len(srcs))
}

// IDs as of validate.Reader.
func (g *Graph) IDs(_ context.Context, t *schema.Type, found func(string)) error {
	for id := range g.Rows[t] {
		found(id)
	}
	return g.asked("ids", 0)
}

// Naive tells what is wrong with the whole graph: one text for each rule and type
// that is broken, "rule Type". Cardinality is asked of sources that have edges,
// and of those in emptied.
func (g *Graph) Naive(emptied map[*schema.Type]map[string]bool) map[string]bool {
	out := map[string]bool{}
	for i := range g.IR.Nodes {
		g.naiveRows(&g.IR.Nodes[i], out)
	}
	for i := range g.IR.Edges {
		t := &g.IR.Edges[i]
		g.naiveRows(t, out)
		from, _ := g.IR.Type(schema.KindNode, t.From.Name)
		to, _ := g.IR.Type(schema.KindNode, t.To.Name)
		n := map[string]uint64{}
		for src := range emptied[t] {
			if _, stands := g.Rows[from][src]; stands {
				n[src] = 0
			}
		}
		for _, r := range g.Rows[t] {
			n[r.Src]++
			if _, ok := g.Rows[from][r.Src]; !ok {
				out["endpoint "+t.Name] = true
			}
			if _, ok := g.Rows[to][r.Dst]; !ok {
				out["endpoint "+t.Name] = true
			}
		}
		for _, n := range n {
			if t.Card.Max != nil && n > *t.Card.Max {
				out["cardMax "+t.Name] = true
			}
			if n < t.Card.Min {
				out["cardMin "+t.Name] = true
			}
		}
	}
	return out
}

// naiveRows asks what can be asked of a table alone.
func (g *Graph) naiveRows(t *schema.Type, out map[string]bool) {
	for _, c := range t.Constraints {
		if c.Kind != "unique" && c.Kind != "key" {
			continue
		}
		var columns []string
		for _, f := range c.Fields {
			columns = append(columns, f.Name())
		}
		seen := map[string]bool{}
		for _, r := range g.Rows[t] {
			text, exempt := "", false
			for _, v := range columnsOf(t, r, columns) {
				exempt = exempt || v.Kind() == value.Null
				text += fmt.Sprintf("%q,", v.JSON().Append(nil))
			}
			if !exempt && seen[text] {
				out["unique "+t.Name] = true
			}
			seen[text] = seen[text] || !exempt
		}
	}
	for _, r := range g.Rows[t] {
		naiveValues(t, r, out)
	}
}

func naiveValues(t *schema.Type, r validate.Row, out map[string]bool) {
	for i, p := range t.Properties {
		v := r.Values[i]
		if v.Kind() == value.Null {
			if !p.Type.Nullable {
				out["required "+t.Name] = true
			}
			continue
		}
		if p.Type.Enum != nil && !slices.Contains(p.Type.Enum, v.Text()) {
			out["enum "+t.Name] = true
		}
		for _, c := range t.Constraints {
			if len(c.Fields) != 1 || c.Fields[0].Name() != p.Name {
				continue
			}
			x, number := v.Number()
			if c.Kind == "range" && number && (c.Min != nil && x < c.Min.Number() || c.Max != nil && x > c.Max.Number()) {
				out["range "+t.Name] = true
			}
			if c.Kind == "check" && !regexp.MustCompile(c.Pattern).MatchString(v.Text()) {
				out["check "+t.Name] = true
			}
		}
	}
}
