package cli

import (
	"bytes"
	"context"
	"fmt"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

func exportVerb() *verb {
	return &verb{
		name: "export", group: "read", flags: []string{"branch", "at", "type", "jsonl", "ndjson"},
		short:   "Every row of a graph, one JSON object a line, as the Rust CLI exports it",
		example: "export demo: > demo.jsonl\nexport demo: --branch archive --type Port --type Vessel",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
			if c.boolean("jsonl") {
				c.warn("--jsonl is deprecated: export prints one JSON object a line anyway")
			}
			types := c.texts("type")
			switch {
			case c.boolean("json"):
				return exportDocument(ctx, c, g, at, types)
			case c.boolean("ndjson"):
				_, err := g.Export(ctx, c.out, at, types)
				if err != nil && !partial(err) {
					return err
				}
				return also(c.lastLine(), err)
			}
			_, err := g.Export(ctx, c.out, at, types)
			c.tellRPC()
			return err
		}),
	}
}

// exportDocument prints the lines as one document, holding one at a time.
func exportDocument(ctx context.Context, c *call, g *engine.Graph, at engine.At, types []string) error {
	a, err := out.NewArray(c.out, "rows", out.M("uri", c.uri))
	if err != nil {
		return fmt.Errorf("print the answer: %w", err)
	}
	w := &lineWriter{each: a.Add}
	_, beside := g.Export(ctx, w, at, types)
	if beside != nil && !partial(beside) {
		return beside
	}
	if len(w.rest) > 0 {
		return fmt.Errorf("export: the last line has no end: %d bytes", len(w.rest))
	}
	return also(a.Close(append([]out.Member{out.M("truncated", beside != nil)}, c.rpc()...)...), beside)
}

// lineWriter hands over each line that is written to it.
type lineWriter struct {
	each func(line []byte) error
	rest []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		if err := w.each(w.rest[:i]); err != nil {
			return 0, err
		}
		w.rest = w.rest[i+1:]
	}
}
