package main

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/internal/pgtest"
)

// What is loaded fits its schema; its parts are what one load may bring each, and
// together the whole.
func TestGeneratedLines(t *testing.T) {
	const n = perLoad + 100
	in, err := generate(t.TempDir(), n)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := load.MakePlan(func() (io.ReadCloser, error) { return os.Open(in.all) }, pgtest.IR(t, loadSchema), load.ChunkOptions{Mode: load.Append})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Nodes != n || plan.Edges != n || len(plan.Chunks) != len(in.parts) {
		t.Errorf("%d nodes and %d edges in %d chunks, expected %d each and %d", plan.Nodes, plan.Edges, len(plan.Chunks), n, len(in.parts))
	}
	whole, err := os.ReadFile(in.all)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range in.parts {
		part, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if c := plan.Chunks[i]; !bytes.HasPrefix(whole, part) || bytes.Count(part, []byte{'\n'}) != int(c.Nodes+c.Edges) {
			t.Errorf("%s does not continue the whole as chunk %d does", name, i+1)
		}
		whole = bytes.TrimPrefix(whole, part)
	}
	if len(whole) > 0 {
		t.Errorf("%d bytes are in no part", len(whole))
	}
}
