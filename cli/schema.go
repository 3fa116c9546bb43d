package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

func schemaShowVerb() *verb {
	return &verb{
		name: "schema show", alias: "get",
		short:   "The accepted schema, as it was written",
		example: "schema show demo:",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, _ engine.At) error {
			s, err := g.Schema(ctx)
			if err != nil {
				return err
			}
			if s.Finding != nil {
				word, _ := severity(s.Finding.Severity)
				c.warn("%s %s: %s", word, s.Finding.ID, s.Finding.Title)
			}
			doc := struct {
				Source  string          `json:"schema_source"`
				Finding *engine.Finding `json:"finding,omitempty"`
			}{s.Source, s.Finding}
			return c.shared(doc, func(t *out.Text) {
				t.Raw(schemaText(s.Source, isTerminal(c.env.Stdout)))
			})
		}),
	}
}

// schemaText is the source as the Rust CLI prints it; on a terminal control
// characters in it are shown and not obeyed.
func schemaText(source string, terminal bool) string {
	if terminal {
		source = out.CleanLines(source)
	}
	return source + "\n"
}

// decimal is a number as text.
func decimal[T ~int | ~int64 | ~uint64](n T) string { return fmt.Sprint(n) }

// tableName reads what a user types for a table: node:Port, edge:Owns, or
// __manifest.
func tableName(s string) (string, error) {
	kind, name, ok := strings.Cut(s, ":")
	if s == manifestTable || ok && (kind == "node" || kind == "edge") && name != "" {
		return s, nil
	}
	return "", usagef("%q is no table: write node:TYPE, edge:TYPE or %s", s, manifestTable)
}
