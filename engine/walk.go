package engine

import (
	"context"
	"errors"
)

// A walk reads no adjacency lists, for there are none: every step scans id, src
// and dst of the edge tables that can leave the nodes reached last. Memory is
// in proportion to what is found, which the limit bounds.

// errStop ends a scan early.
var errStop = errors.New("stop")

// edgeTable is an edge type that a walk may use, with the types of its ends.
// When the schema could not be read all types of a walk are "", and nodes are
// told apart by id alone.
type edgeTable struct {
	name     string
	from, to string
	scan     func(ctx context.Context, visit func(id, src, dst string) error) error
}

// nodeKey names a node.
type nodeKey struct{ typ, id string }

type edgeKey struct{ typ, id string }

// walker is the state of one breadth-first walk.
type walker struct {
	tables []edgeTable
	out    bool
	in     bool
	limit  int // edges
	each   func(n int, f func(i int) error) error

	seenNodes map[nodeKey]bool
	seenEdges map[edgeKey]bool
	result    Neighbors
}

// run walks depth steps from a node. Edges stand in order of the step that met
// them first, then of their type's name, then of their place in the table.
func (w *walker) run(ctx context.Context, start nodeKey, depth int) (*Neighbors, error) {
	w.seenNodes = map[nodeKey]bool{start: true}
	w.seenEdges = map[edgeKey]bool{}
	w.result = Neighbors{Edges: []NeighborEdge{}, Nodes: []Hit{}}
	frontier := map[nodeKey]bool{start: true}
	for ; depth > 0 && len(frontier) > 0 && !w.result.Truncated; depth-- {
		found, err := w.step(ctx, frontier)
		if err != nil {
			return nil, err
		}
		frontier = w.take(found)
	}
	return &w.result, nil
}

// met is an edge that a step met, and the nodes at its ends.
type met struct {
	edge     NeighborEdge
	src, dst nodeKey
}

// step scans the tables side by side for edges at the frontier. Each table
// gives up to one edge more than there is room for, so that cutting is noticed.
func (w *walker) step(ctx context.Context, frontier map[nodeKey]bool) ([]met, error) {
	room := w.limit - len(w.result.Edges) + 1
	found := make([][]met, len(w.tables))
	err := w.each(len(w.tables), func(i int) error {
		t := w.tables[i]
		if !w.touches(t, frontier) {
			return nil
		}
		err := t.scan(ctx, func(id, src, dst string) error {
			s, d := nodeKey{t.from, src}, nodeKey{t.to, dst}
			if !(w.out && frontier[s] || w.in && frontier[d]) || w.seenEdges[edgeKey{t.name, id}] {
				return nil
			}
			found[i] = append(found[i], met{NeighborEdge{t.name, id, src, dst}, s, d})
			if len(found[i]) >= room {
				return errStop
			}
			return nil
		})
		if errors.Is(err, errStop) {
			return nil
		}
		return err
	})
	var all []met
	for _, f := range found {
		all = append(all, f...)
	}
	return all, err
}

// touches reports whether an edge of the table can end at the frontier.
func (w *walker) touches(t edgeTable, frontier map[nodeKey]bool) bool {
	for n := range frontier {
		if w.out && t.from == n.typ || w.in && t.to == n.typ {
			return true
		}
	}
	return false
}

// take puts the edges met into the result and returns the nodes reached for
// the first time.
func (w *walker) take(found []met) map[nodeKey]bool {
	next := map[nodeKey]bool{}
	for _, m := range found {
		if len(w.result.Edges) == w.limit {
			w.result.Truncated = true
			break
		}
		key := edgeKey{m.edge.Type, m.edge.ID}
		if w.seenEdges[key] {
			continue
		}
		w.seenEdges[key] = true
		w.result.Edges = append(w.result.Edges, m.edge)
		for _, n := range []nodeKey{m.src, m.dst} {
			if w.seenNodes[n] {
				continue
			}
			w.seenNodes[n] = true
			next[n] = true
			w.result.Nodes = append(w.result.Nodes, Hit{Kind: "node", Type: n.typ, ID: n.id})
		}
	}
	return next
}
