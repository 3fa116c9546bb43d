package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
)

const defaultNeighbors = 1000

// Neighbors walks the edges around a node, breadth first: Depth steps (1), up
// to Limit edges (1000), along edges, against them, or both. Edges stand in the
// order in which the walk meets them: by step, then by type, then by place in
// the table; nodes likewise, without the first. Only id, src and dst of the
// edge tables are read, once for every step that can use a table: where BTREE
// indexes on src and dst cover a large table and few nodes are asked about, the
// edges found by them, else all.
//
// The types at the ends of edges come from the accepted schema. Where that cannot
// be read, nodes have no type and are told apart by id alone; Ends still has the
// types that it does say.
func (g *Graph) Neighbors(ctx context.Context, typ, id string, at At, opts NeighborsOptions) (*Neighbors, error) {
	return do(ctx, g, "neighbors", func(ctx context.Context, o *operation) (*Neighbors, error) {
		var ir *schema.IR
		var view *manifest.View
		err := o.together(
			func() (err error) { ir, err = o.ir(ctx); return err },
			func() (err error) { view, err = o.at(ctx, at); return err },
		)
		if err != nil {
			return nil, err
		}
		node, err := entryOf(view, "node:"+strings.TrimPrefix(typ, "node:"))
		if err != nil {
			return nil, err
		}
		w := &walker{out: opts.Out || !opts.In, in: opts.In || !opts.Out, limit: opts.Limit, each: o.each}
		if w.limit <= 0 {
			w.limit = defaultNeighbors
		}
		start := nodeKey{node.Name(), id}
		var ends map[string]Ends
		if w.tables, ends, err = o.edgeTables(view, ir, opts.Edge); err != nil {
			return nil, err
		}
		if len(w.tables) > 0 && w.tables[0].from == "" {
			start.typ = ""
		}
		there := opts.Unchecked
		var out *Neighbors
		err = o.together(
			func() (err error) {
				if !there {
					there, err = o.contains(ctx, node, id)
				}
				return err
			},
			func() (err error) { out, err = w.run(ctx, start, max(opts.Depth, 1)); return err },
		)
		switch {
		case err != nil:
			return nil, err
		case !there:
			return nil, &NotFoundError{What: "entity", Name: id, Where: "in " + node.Alias}
		}
		out.Ends = ends
		return out, incomplete("walk", view)
	})
}

// endsOf are the types at the ends of an edge table.
func endsOf(ir *schema.IR, e manifest.Entry) Ends {
	if ir == nil {
		return Ends{}
	}
	t, ok := ir.Table(e.Table, e.Incarnation)
	if !ok {
		return Ends{}
	}
	return Ends{t.From.Name, t.To.Name}
}

// edgeTables are the edge types of a view that a walk may use, each opened when
// it is first scanned, and the ends of each.
func (o *operation) edgeTables(v *manifest.View, ir *schema.IR, only string) ([]edgeTable, map[string]Ends, error) {
	if only != "" {
		e, err := entryOf(v, "edge:"+strings.TrimPrefix(only, "edge:"))
		if err != nil {
			return nil, nil, err
		}
		only = e.Alias
	}
	var out []edgeTable
	ends := map[string]Ends{}
	typed := true
	for _, e := range v.Tables {
		if e.Kind() != "edge" || only != "" && e.Alias != only {
			continue
		}
		at := endsOf(ir, e)
		ends[e.Name()] = at
		typed = typed && at.From != "" && at.To != ""
		out = append(out, edgeTable{name: e.Name(), from: at.From, to: at.To, scan: o.edgeScan(e)})
	}
	if !typed {
		for i := range out {
			out[i].from, out[i].to = "", ""
		}
	}
	slices.SortFunc(out, func(a, b edgeTable) int { return strings.Compare(a.name, b.name) })
	return out, ends, nil
}
