package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

func verifyVerb() *verb {
	return &verb{
		name: "verify", group: "judge", flags: []string{"branch", "deep"},
		short:   "Check that everything that the graph names is there and fits together",
		long:    "Check that everything that the graph names is there and fits together: files and their lengths, row counts,\ndeletions, row ids, refs, lineage. --deep also reads every\nold manifest, decodes every value, asks every rule of the schema of all rows (values, uniqueness, ids, ends of edges,\ncardinality) and compares where blobs lie with the lengths of their files. A flip inside a blob, or one that makes\nanother legal value, cannot be seen: Lance keeps no checksums. docs/VERIFY.md lists what is looked for. What is only told as info, such as\nwhat a killed operation left behind, leaves a graph clean. Exits with 3 when something is wrong. Changes nothing.",
		example: "verify demo:\nverify demo: --deep --json",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
			v, err := g.Verify(ctx, engine.VerifyOptions{Deep: c.boolean("deep"), Branch: at.Branch})
			if err != nil {
				return err
			}
			if err := c.own(v, func(t *out.Text) { printVerification(t, v) }); err != nil {
				return err
			}
			if !v.Clean {
				return &findingsError{len(v.Problems)}
			}
			return nil
		}),
	}
}

func printVerification(t *out.Text, v *engine.Verification) {
	for _, p := range v.Problems {
		where := p.Table
		if p.Branch != "" {
			where += " on " + p.Branch
		}
		if p.Version > 0 {
			where += " v" + decimal(p.Version)
		}
		role, word := theme.Bad, "wrong"
		switch p.Severity {
		case engine.SeverityWarn:
			role, word = theme.Warn, "warn"
		case engine.SeverityInfo:
			role, word = theme.Muted, "info"
		}
		t.Raw(t.Paint(role, word) + " " + out.Clean(fmt.Sprintf("%s  %s  %s", p.ID, strings.TrimSpace(where), p.Key)) + "\n")
		t.Line("      found %s, expected %s", p.Found, p.Expected)
		if len(p.Entities) > 0 {
			t.Line("      %s of %s", p.Property, strings.Join(p.Entities, ", "))
		}
		if p.RowsAffected > 0 {
			t.Line("      %s affected", part.Plural(p.RowsAffected, "row", "rows"))
		}
	}
	k := v.Checked
	t.Line("checked %s, %s, %s, %s, %s, %s, %s", part.Plural(k.Files, "file", "files"), part.Plural(k.Fragments, "fragment", "fragments"),
		part.Plural(k.Rows, "row", "rows"), part.Plural(k.Keys, "key", "keys"), part.Plural(k.Edges, "edge", "edges"),
		part.Plural(k.Refs, "ref", "refs"), part.Plural(k.Commits, "commit", "commits"))
	if v.Clean {
		t.Raw(t.Paint(theme.OK, "clean") + "\n")
		return
	}
	t.Line("%s", part.Plural(len(v.Problems), "problem", "problems"))
}
