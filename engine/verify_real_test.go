package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
)

// rulesKept fails for every problem that rows have with the schema.
func rulesKept(t *testing.T, files map[string][]byte) {
	t.Helper()
	g := openStore(t, memory(t, memstore.Options{Name: "harbor"}, files))
	v, err := g.Verify(context.Background(), engine.VerifyOptions{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	if v.Checked.Keys == 0 || v.Checked.Edges == 0 {
		t.Errorf("looked at too little: %+v", v.Checked)
	}
	for _, p := range v.Problems {
		if p.Property != "" || p.ID == "rules-incomplete" || strings.HasPrefix(p.ID, "count") {
			t.Errorf("%+v", p)
		}
	}
}

// TestVerifyRulesOnRealGraphs: what the Rust engine wrote keeps every rule, also
// where a killed client left it.
func TestVerifyRulesOnRealGraphs(t *testing.T) {
	for _, name := range []string{fixtures.Demo, "midlife", "maintained", "diverged", "deep", "wide"} {
		t.Run(name, func(t *testing.T) { rulesKept(t, graphFiles(t, name)) })
	}
	shared(t, "graphs", "stuck", "base.tar.gz") // skips without it
	dir, _ := fixtures.SharedDir()
	for _, op := range stuckOps {
		base := unpackShared(t, "graphs", "stuck", "base.tar.gz")
		if own, err := fixtures.Shared("graphs", "stuck", op, "base.tar.gz"); err == nil {
			if base, err = fixtures.Unpack(own); err != nil {
				t.Fatal(err)
			}
		}
		states, err := filepath.Glob(filepath.Join(dir, "graphs", "stuck", op, "[0-9]*.tar.gz"))
		if err != nil || len(states) == 0 {
			t.Fatalf("%s: no states, %v", op, err)
		}
		for n, state := range states {
			if n%pace.Of(4, 16) != 0 && n != len(states)-1 {
				continue
			}
			t.Run(op+" "+filepath.Base(state), func(t *testing.T) {
				data, err := os.ReadFile(state)
				if err != nil {
					t.Fatal(err)
				}
				changed, err := fixtures.Unpack(data)
				if err != nil {
					t.Fatal(err)
				}
				rulesKept(t, with(base, changed))
			})
		}
	}
}
