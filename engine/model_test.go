package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/fixtures"
)

// demo is the embedded graph in memory.
func demo(t testing.TB) *memstore.Store {
	t.Helper()
	s, err := fixtures.DemoStore()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// parseLine reads a line of an export.
func parseLine(t testing.TB, line string) (kind, typ, id, src, dst string) {
	t.Helper()
	var l struct {
		Type, Edge, From, To string
		Data                 struct{ ID string }
	}
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if l.Edge != "" {
		return "edge", l.Edge, l.Data.ID, l.From, l.To
	}
	return "node", l.Type, l.Data.ID, "", ""
}
