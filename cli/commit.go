package cli

import (
	"context"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

func commitListVerb() *verb {
	return &verb{
		name: "commit list", flags: []string{"branch", "limit", "ndjson"},
		short:   "The commits that a branch can reach, newest first",
		example: "commit list demo:\ncommit list demo: --branch archive --limit 5 --json",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
			commits, err := g.Commits(ctx, at.Branch, c.integer("limit"))
			if err != nil && !partial(err) {
				return err
			}
			if c.boolean("ndjson") {
				return also(lines(c, commits.All()), err)
			}
			return also(c.shared(struct {
				Commits *engine.Commits `json:"commits"`
			}{commits}, func(t *out.Text) {
				for k := range commits.All() {
					by := ""
					if k.Actor != nil {
						by = " actor=" + *k.Actor
					}
					t.Line("%s graph_branch=%s graph_manifest_version=%d%s", k.ID, k.BranchName(), k.ManifestVersion, by)
				}
			}), err)
		}),
	}
}

func commitShowVerb() *verb {
	return &verb{
		name: "commit show", args: "COMMIT", need: 1, flags: []string{"uri"},
		short:   "One commit, by its id or a unique part of its beginning or end",
		example: "commit show demo: CGYZB0DJ",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, _ engine.At) error {
			k, err := g.Commit(ctx, c.args[0])
			if err != nil {
				return err
			}
			return c.shared(k, func(t *out.Text) { printCommit(t, k) })
		}),
	}
}

func printCommit(t *out.Text, k *engine.Commit) {
	t.Line("graph_commit_id: %s", k.ID)
	t.Line("graph_branch: %s", k.BranchName())
	t.Line("graph_manifest_version: %d", k.ManifestVersion)
	for _, m := range []struct {
		name  string
		value *string
	}{{"parent_commit_id", k.Parent}, {"merged_parent_commit_id", k.MergedParent}, {"actor_id", k.Actor}} {
		if m.value != nil {
			t.Line("%s: %s", m.name, *m.value)
		}
	}
	t.Line("created_at: %d", k.CreatedAt)
}
