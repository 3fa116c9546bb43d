package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

func initVerb() *verb {
	return &verb{
		name: "init", group: "change", flags: []string{"schema-file", "force", "yes"}, required: []string{"schema-file"}, fresh: true,
		short:   "Make a graph from a schema",
		long:    "Make an empty graph at URI from a .pg schema. A place where a graph is, or objects of a schema, is refused;\n--force replaces such objects where no graph belongs to them, and never a graph.",
		example: "init ports --schema ports.pg",
		run: writing(func(ctx context.Context, c *call, g *engine.Graph) error {
			c.boolean("yes") // confirms what destroys, which an init does not
			source, err := os.ReadFile(c.text("schema-file"))
			if err != nil {
				return fmt.Errorf("read the schema: %w", err)
			}
			r, err := g.Init(ctx, engine.InitOptions{Source: source, Force: c.boolean("force")})
			if err != nil {
				return err
			}
			c.receipt(r)
			return c.answer([]out.Member{out.M("uri", c.uri), out.M("branch", r.Branch), out.M("types", len(r.Tables)), out.M("commit", r.Commit)}, func(t *out.Text) {
				t.Line("initialized %s", c.uri)
			})
		}),
	}
}
