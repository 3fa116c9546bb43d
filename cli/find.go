package cli

import (
	"context"
	"slices"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

func findVerb() *verb {
	return &verb{
		name: "find", args: "ID", need: 1, group: "read", flags: []string{"branch", "at", "ndjson"},
		short:   "Every node and edge that has an id",
		example: "find demo: NLRTM",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
			hits, err := g.Find(ctx, c.args[0], at)
			if err != nil && !partial(err) {
				return err
			}
			if c.boolean("ndjson") {
				return also(lines(c, slices.Values(hits)), err)
			}
			doc := struct {
				Hits []engine.Hit `json:"hits"`
			}{append([]engine.Hit{}, hits...)}
			return also(c.own(doc, func(t *out.Text) {
				for _, h := range hits {
					t.Line("%s %s %s", h.Kind, h.Type, h.ID)
				}
				if len(hits) == 0 {
					c.note("nothing has the id %q there", c.args[0])
				}
			}), err)
		}),
	}
}
