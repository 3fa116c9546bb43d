package cli

import (
	"context"
	"strconv"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

func holdsVerb() *verb {
	return &verb{
		name: "holds", args: "TABLE VERSION", need: 2, group: "look",
		short:   "What holds one version of a table, and whether a cleanup may take it",
		example: "holds demo: node:Port 9",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, _ engine.At) error {
			table, err := tableName(c.args[0])
			if err != nil {
				return err
			}
			version, err := strconv.ParseUint(c.args[1], 10, 64)
			if err != nil || version == 0 {
				return usagef("%q is no version: give a number from 1", c.args[1])
			}
			h, err := g.Holds(ctx, table, version)
			if err != nil && (h == nil || !partial(err)) {
				return err
			}
			return also(c.own(h, func(t *out.Text) {
				word := "no"
				switch {
				case h.Deletable:
					word = "yes"
				case len(h.HeldBy) == 0:
					word = "unknown"
				}
				t.Pairs([2]string{"table", h.Table}, [2]string{"version", decimal(h.Version)}, [2]string{"deletable", word}, [2]string{"because", h.Reason})
				for _, x := range h.HeldBy {
					t.Line("held by %s", holderText(x))
				}
			}), err)
		}),
	}
}
