package engine_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/lance"
)

// copies checks that the rows which a problem places are those with its ids.
func (g *planting) copies(p engine.Problem) {
	g.t.Helper()
	if want := 2; p.ID != "duplicate-id" && len(p.Copies) > 0 || p.ID == "duplicate-id" && len(p.Copies) != want {
		g.t.Fatalf("%s: %+v", p.ID, p.Copies)
	}
	for i, c := range p.Copies {
		s, err := lance.Open(g.t.Context(), g.store, p.Key, lance.OpenOptions{Version: p.Version})
		if err != nil {
			g.t.Fatal(err)
		}
		for _, take := range []func() (arrow.RecordBatch, error){
			func() (arrow.RecordBatch, error) { return s.Take(g.t.Context(), []string{"id"}, []uint64{c.Address}) },
			func() (arrow.RecordBatch, error) {
				return s.TakeRowIDs(g.t.Context(), []string{"id"}, []uint64{c.RowID})
			},
		} {
			rec, err := take()
			if err != nil {
				g.t.Fatal(err)
			}
			if got := rec.Column(0).ValueStr(0); got != c.Key || c.Key != p.Entities[0] || c.Fragment != c.Address>>32 || i > 0 && c.Address == p.Copies[i-1].Address {
				g.t.Errorf("%+v is the row of %s", c, got)
			}
			rec.Release()
		}
	}
}

// TestVerifyKeyMark: a table whose schema does not mark its key, without a look
// at rows.
func TestVerifyKeyMark(t *testing.T) {
	g := plantGraph(t, `node Q { n: String? }`, map[string][]planted{"node:Q": {{id: "q1"}}}, func(g *planting) { g.unmarked = true })
	v, err := openStore(t, g.store).Verify(t.Context(), engine.VerifyOptions{})
	if err != nil || v.Clean || len(v.Problems) != 1 {
		t.Fatalf("%+v, %v", v, err)
	}
	if p := v.Problems[0]; p.ID != "key-mark" || p.Table != "node:Q" || p.Severity != engine.SeverityError || p.RowsAffected != 1 || !strings.Contains(p.Found, "[]") {
		t.Errorf("%+v", p)
	}
}
