package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
)

// Every row of every table is the entity of its id, as Rows tells it, at the
// head and on every branch.
func TestEntityIsItsRow(t *testing.T) {
	ctx := context.Background()
	for _, name := range pace.Every(t, 1, []string{"midlife", "maintained"}) {
		g := openFiles(t, graphFiles(t, name))
		names, err := g.BranchNames(ctx)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, branch := range names {
			at := engine.At{Branch: branch}
			snap, err := g.Snapshot(ctx, at)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range snap.Datasets {
				page, err := g.Rows(ctx, d.Table(), at, engine.RowsOptions{Limit: 1 << 20})
				if err != nil {
					t.Fatal(err)
				}
				for i, row := range page.Rows {
					if branch != "main" && i%7 > 0 {
						continue
					}
					got, err := g.Entity(ctx, d.Table(), row.ID, at)
					want := *page
					want.Rows = []engine.Row{row}
					if err != nil || !cmp.Equal(*got, want) {
						t.Fatalf("%s %s %s %s: %v\n%s", name, branch, d.Table(), row.ID, err, cmp.Diff(want, got))
					}
					n++
				}
			}
		}
		if n < 100 {
			t.Errorf("%s: only %d entities", name, n)
		}
	}
}

// What is not there is said so, with what is.
func TestEntityThatIsNotThere(t *testing.T) {
	ctx := context.Background()
	g := openStore(t, demo(t))
	for _, c := range []struct{ table, id, what, offers string }{
		{"node:Prot", "NLRTM", "table", "node:Port"},
		{"node:Port", "nowhere", "entity", ""},
		{"Port", "", "entity", ""},
		{"edge:CallsAt", "NLRTM", "entity", ""},
	} {
		var none *engine.NotFoundError
		if p, err := g.Entity(ctx, c.table, c.id, engine.At{}); !errors.As(err, &none) || none.What != c.what || c.offers != "" && !slices.Contains(none.Suggestions, c.offers) {
			t.Errorf("%s %s: %+v, %v", c.table, c.id, p, err)
		}
	}
}
