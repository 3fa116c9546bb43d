package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// sortModel sorts rows by what is shown of a column: numbers exactly, all else
// as text, null last, stably. ok is false when the column cannot be sorted.
func sortModel(t require, rows []engine.Row, column int, desc bool) (out []engine.Row, ok bool) {
	out = slices.Clone(rows)
	for _, r := range rows {
		if k := r.Values[column].Kind; k == engine.CellList || k == engine.CellVector || k == engine.CellBlob {
			return nil, false
		}
	}
	slices.SortStableFunc(out, func(a, b engine.Row) int {
		x, y := a.Values[column], b.Values[column]
		switch {
		case x.Kind == engine.CellNull && y.Kind == engine.CellNull:
			return 0
		case x.Kind == engine.CellNull:
			return 1
		case y.Kind == engine.CellNull:
			return -1
		}
		c := strings.Compare(x.Text, y.Text)
		if x.Kind == engine.CellNumber {
			n, ok := new(big.Rat).SetString(x.Text)
			m, also := new(big.Rat).SetString(y.Text)
			if !ok || !also {
				t.Fatalf("no numbers: %q and %q", x.Text, y.Text)
			}
			c = n.Cmp(m)
		}
		if desc {
			return -c
		}
		return c
	})
	return out, true
}

type require interface{ Fatalf(string, ...any) }

// lines are what export prints of rows.
func linesOf(rows []engine.Row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = string(r.Line)
	}
	return out
}

// Sorted by every column that can be, Rows and StreamRows are the sorted
// export; by every other they refuse in a sentence.
func TestSortedRowsAreTheSortedExport(t *testing.T) {
	ctx := context.Background()
	sorted, refused := 0, 0
	for _, name := range []string{"midlife", "maintained"} {
		g := openFiles(t, graphFiles(t, name))
		snap, err := g.Snapshot(ctx, engine.At{})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range pace.Every(t, 2, snap.Datasets) {
			all, err := g.Rows(ctx, d.Table(), engine.At{}, engine.RowsOptions{Limit: 1 << 20})
			if err != nil || uint64(len(all.Rows)) != d.EntityCount || len(all.Rows) == 0 {
				t.Fatalf("%s: %d rows, %v", d.Table(), len(all.Rows), err)
			}
			for k, column := range all.Columns {
				for _, desc := range []bool{false, true} {
					o := engine.RowsOptions{Sort: column, Desc: desc, Limit: 1 << 20}
					got, err := g.Rows(ctx, d.Table(), engine.At{}, o)
					typ := all.Types[k]
					if strings.HasPrefix(typ, "[") || strings.HasPrefix(typ, "Vector") || typ == "Blob" {
						var usage *engine.UsageError
						if !errors.As(err, &usage) || !strings.Contains(err.Error(), column) || !strings.Contains(err.Error(), "sort") {
							t.Errorf("%s by %s: %v", d.Table(), column, err)
						}
						refused++
						continue
					}
					want, ok := sortModel(t, all.Rows, k, desc)
					if err != nil || !ok || got.Truncated {
						t.Fatalf("%s by %s, a %s: %v", d.Table(), column, typ, err)
					}
					if !cmp.Equal(got.Rows, want) {
						t.Errorf("%s %s by %s, descending %v:\n%s", name, d.Table(), column, desc, cmp.Diff(linesOf(want), linesOf(got.Rows)))
					}
					var stream []string
					for row, err := range g.StreamRows(ctx, d.Table(), engine.At{}, engine.RowsOptions{Sort: column, Desc: desc}) {
						if err != nil {
							t.Fatal(err)
						}
						stream = append(stream, row.ID)
					}
					ids := make([]string, len(want))
					for i, r := range want {
						ids[i] = r.ID
					}
					if !slices.Equal(stream, ids) {
						t.Errorf("%s by %s: the stream gives %v, not %v", d.Table(), column, stream, ids)
					}
					sorted++
				}
			}
		}
	}
	if (sorted < 100 || refused < 10) && !pace.Race {
		t.Errorf("%d sorted, %d refused", sorted, refused)
	}
}

// Any window of any order of any condition is that part of the whole.
func TestSortedWindows(t *testing.T) {
	ctx := context.Background()
	g := openStore(t, demo(t))
	conditions := map[string][]string{
		"node:Vessel":  {"", "tonnage > 50000", "kind = 'ferry'", "tonnage is null", "name starts_with 'A' or built < '1990-01-01'", "kind = 'nothing'"},
		"node:Port":    {"", "depth_m is not null", "country = 'NL'"},
		"edge:CallsAt": {"", "cargo_t > 100", "tags contains 'a'", "cargo_t is null"},
	}
	tables := []string{"node:Vessel", "node:Port", "edge:CallsAt"}
	asked := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		table := rapid.SampledFrom(tables).Draw(t, "table")
		o := engine.RowsOptions{Where: rapid.SampledFrom(conditions[table]).Draw(t, "where"), Limit: 1 << 20}
		all, err := g.Rows(ctx, table, engine.At{}, o)
		if err != nil {
			t.Fatal(err)
		}
		asked[table+o.Where] = true
		k := rapid.IntRange(0, len(all.Columns)-1).Draw(t, "column")
		o.Sort, o.Desc = all.Columns[k], rapid.Bool().Draw(t, "desc")
		want, ok := sortModel(t, all.Rows, k, o.Desc)
		if typ := all.Types[k]; !ok || typ[0] == '[' || typ == "Blob" || strings.HasPrefix(typ, "Vector") {
			return
		}
		o.Offset, o.Limit = rapid.Uint64Range(0, uint64(len(want)+2)).Draw(t, "offset"), rapid.IntRange(1, len(want)+2).Draw(t, "limit")
		got, err := g.Rows(ctx, table, engine.At{}, o)
		if err != nil {
			t.Fatal(err)
		}
		from := min(int(o.Offset), len(want))
		to := min(from+o.Limit, len(want))
		if !slices.Equal(linesOf(got.Rows), linesOf(want[from:to])) || got.Truncated != (to < len(want)) || got.Offset != o.Offset {
			t.Fatalf("%+v: truncated %v of %d\n%s", o, got.Truncated, len(want), cmp.Diff(linesOf(want[from:to]), linesOf(got.Rows)))
		}
	})
	if len(asked) < 6 {
		t.Errorf("only %d questions were asked: %v", len(asked), asked)
	}
}

// Columns that are not there are refused with those that are, before rows are
// read; from and to are the ends of an edge.
func TestSortByNoColumn(t *testing.T) {
	ctx := context.Background()
	g := openStore(t, demo(t))
	for table, columns := range map[string]map[string]string{
		"node:Port":    {"nmae": "name", "NAME": "name", "from": "has no column", "_rowid": "has no column", "services": "lists"},
		"edge:CallsAt": {"arived": "arrived", "tags": "lists"},
	} {
		for column, hint := range columns {
			var usage *engine.UsageError
			_, err := g.Rows(ctx, table, engine.At{}, engine.RowsOptions{Sort: column})
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), hint) {
				t.Errorf("%s by %s: %v", table, column, err)
			}
		}
	}
	for alias, column := range map[string]string{"from": "src", "to": "dst"} {
		a, err := g.Rows(ctx, "edge:CallsAt", engine.At{}, engine.RowsOptions{Sort: alias})
		b, also := g.Rows(ctx, "edge:CallsAt", engine.At{}, engine.RowsOptions{Sort: column})
		if err != nil || also != nil || !slices.Equal(linesOf(a.Rows), linesOf(b.Rows)) {
			t.Errorf("%s is not %s: %v, %v", alias, column, err, also)
		}
	}
}

// More rows than are sorted in memory are refused, before any is read where the
// manifest records their number, else when there are too many.
func TestTooManyRowsToSort(t *testing.T) {
	files := graphFiles(t, "midlife")
	key := newestManifest(t, files, "nodes/0000000000000004-000000000000002a")
	huge := with(files, map[string][]byte{key: rewriteManifest(t, files[key], func(m *tablepb.Manifest) {
		m.Fragments = append(m.Fragments, &tablepb.DataFragment{Id: 99, PhysicalRows: 2_000_000}) // of nulls
		m.MaxFragmentId = proto.Uint32(99)
	})})
	for condition, reads := range map[string]bool{"": false, "depth_m is null": true} {
		totals, _ := traced(t, huge, func(ctx context.Context, g *engine.Graph) error {
			_, err := g.Rows(ctx, "Port", engine.At{}, engine.RowsOptions{Where: condition, Sort: "name"})
			var usage *engine.UsageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), "2000000") || !strings.Contains(err.Error(), "condition") {
				t.Errorf("where %q: %v", condition, err)
			}
			return nil
		})
		if rowReads(totals) > 0 != reads {
			t.Errorf("where %q: %d reads of rows", condition, rowReads(totals))
		}
	}
	g := openFiles(t, huge)
	page, err := g.Rows(context.Background(), "Port", engine.At{}, engine.RowsOptions{Where: "code is not null", Sort: "code", Limit: 3})
	if err != nil || len(page.Rows) != 3 || !page.Truncated {
		t.Errorf("fewer rows chosen from as many: %+v, %v", page, err)
	}
}

// The second page of a sorted table is not sorted again, and another condition,
// direction, column or version is another order.
func TestOrderIsRemembered(t *testing.T) {
	ctx := context.Background()
	g := openStore(t, demo(t))
	pages := map[string][]string{}
	for range 2 {
		for _, o := range []engine.RowsOptions{
			{Sort: "name"}, {Sort: "name", Desc: true}, {Sort: "country"}, {Sort: "name", Where: "country = 'NL'"}, {Sort: "name", Offset: 5, Limit: 3},
		} {
			for _, at := range []engine.At{{}, {Branch: "review/new-calls"}, {Version: 3}} {
				page, err := g.Rows(ctx, "Port", at, o)
				if err != nil {
					t.Fatal(err)
				}
				key := fmt.Sprintf("%+v %+v", o, at)
				fresh, err := openStore(t, demo(t)).Rows(ctx, "Port", at, o)
				if err != nil || !slices.Equal(linesOf(page.Rows), linesOf(fresh.Rows)) {
					t.Errorf("%s: %v\n%s", key, err, cmp.Diff(linesOf(fresh.Rows), linesOf(page.Rows)))
				}
				pages[key] = linesOf(page.Rows)
			}
		}
	}
	if len(pages) != 15 {
		t.Errorf("%d pages", len(pages))
	}
}
