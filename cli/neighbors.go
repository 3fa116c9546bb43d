package cli

import (
	"context"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

func neighborsVerb() *verb {
	return &verb{
		name: "neighbors", args: "TYPE ID", need: 2, group: "read", flags: []string{"branch", "at", "edge", "out", "in", "depth", "limit"}, limit: 1000,
		short:   "The edges and nodes around one node",
		example: "neighbors demo: Port NLRTM\nneighbors demo: Vessel 9000011 --edge CallsAt --out --depth 2 --json",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
			if c.boolean("out") && c.boolean("in") {
				return usagef("--out and --in are mutually exclusive: leave both away to follow edges both ways")
			}
			if c.integer("depth") == 0 {
				return usagef("--depth is 0: the nearest neighbours are at depth 1")
			}
			n, err := g.Neighbors(ctx, c.args[0], c.args[1], at, engine.NeighborsOptions{
				Edge: c.text("edge"), Out: c.boolean("out"), In: c.boolean("in"), Depth: c.integer("depth"), Limit: unlimited(c.integer("limit")),
			})
			if err != nil && !partial(err) {
				return err
			}
			if n.Truncated {
				c.note("stopped after %d edges; --limit 0 shows all", len(n.Edges))
			}
			return also(c.own(n, func(t *out.Text) {
				for _, e := range n.Edges {
					t.Line("edge %s %s  %s → %s", e.Type, e.ID, e.From, e.To)
				}
				for _, h := range n.Nodes {
					t.Line("%s %s %s", h.Kind, h.Type, h.ID)
				}
			}), err)
		}),
	}
}

// unlimited is a --limit as the engine wants it: 0 means all to people and the
// default to the engine.
func unlimited(n int) int {
	if n == 0 {
		return int(^uint(0) >> 1)
	}
	return n
}
