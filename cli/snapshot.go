package cli

import (
	"context"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

func snapshotVerb() *verb {
	return &verb{
		name: "snapshot", group: "look", flags: []string{"branch", "at"},
		short:   "The visible state: one line per type, with its dataset version and count",
		example: "snapshot demo:\nsnapshot demo: --branch archive --json",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
			s, err := g.Snapshot(ctx, at)
			if err != nil && !partial(err) {
				return err
			}
			return also(c.shared(s, func(t *out.Text) {
				t.Line("graph_branch: %s", s.GraphBranch)
				t.Line("graph_manifest_version: %d", s.GraphManifestVersion)
				t.Line("internal_schema_version: %d", s.InternalSchemaVersion)
				for _, d := range s.Datasets {
					t.Line("%s type '%s' published_dataset_version=%d native_dataset_branch=%s entities=%d",
						d.EntityKind, d.TypeName, d.Version, orMain(d.NativeBranch), d.EntityCount)
				}
			}), err)
		}),
	}
}

// orMain is the name of a branch that is nil for main.
func orMain(name *string) string {
	if name == nil {
		return "main"
	}
	return *name
}
