package engine

import (
	"context"
	"errors"
)

// A walk reads no adjacency lists, for there are none: every step looks in the
// edge tables that can leave the nodes reached last for edges that end there.
// Memory is in proportion to what is found, which the limit bounds.

// errStop ends a scan early.
var errStop = errors.New("stop")

// edgeTable is an edge type that a walk may use, with the types of its ends.
// When the schema could not be read all types of a walk are "", and nodes are
// told apart by id alone.
type edgeTable struct {
	name     string
	from, to string
	// scan visits edges in physical order: at least those that begin at one of src
	// or end at one of dst.
	scan func(ctx context.Context, ends edgeEnds, visit func(id, src, dst string) error) error
}

// edgeEnds are the edges that a step wants of a table.
type edgeEnds struct {
	src, dst []string // ids of nodes; nil = none
	most     int      // edges that are enough
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
		ends := w.ends(t, frontier)
		ends.most = room + len(w.seenEdges)
		if ends.src == nil && ends.dst == nil {
			return nil
		}
		err := t.scan(ctx, ends, func(id, src, dst string) error {
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

// ends are the nodes of the frontier at which edges of the table can begin or
// end, in the directions of the walk.
func (w *walker) ends(t edgeTable, frontier map[nodeKey]bool) (e edgeEnds) {
	for n := range frontier {
		if w.out && t.from == n.typ {
			e.src = append(e.src, n.id)
		}
		if w.in && t.to == n.typ {
			e.dst = append(e.dst, n.id)
		}
	}
	return e
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
