package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
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

// line is a line of an export.
type line struct {
	kind, typ, id, src, dst string
	data                    map[string]json.RawMessage
	text                    string
}

func parseLine(t testing.TB, text string) (kind, typ, id, src, dst string) {
	l := parse(t, text)
	return l.kind, l.typ, l.id, l.src, l.dst
}

func parse(t testing.TB, text string) line {
	t.Helper()
	var l struct {
		Type, Edge, From, To string
		Data                 map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out := line{"node", l.Type, "", "", "", l.Data, text}
	if l.Edge != "" {
		out.kind, out.typ, out.src, out.dst = "edge", l.Edge, l.From, l.To
	}
	if err := json.Unmarshal(l.Data["id"], &out.id); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func parseAll(t testing.TB, texts []string) []line {
	t.Helper()
	out := make([]line, len(texts))
	for i, s := range texts {
		out[i] = parse(t, s)
	}
	return out
}

// ends of the edge types of harbor.pg.
var edgeEnds = map[string][2]string{
	"Owns": {"Company", "Vessel"}, "Registered": {"Vessel", "Port"}, "CallsAt": {"Vessel", "Port"},
	"Partner": {"Company", "Company"}, "Checked": {"Inspection", "Vessel"},
}

// walkModel walks over the lines of an export.
func walkModel(lines []line, typ, id string, o engine.NeighborsOptions) (edges, nodes map[string]bool) {
	out, in := o.Out || !o.In, o.In || !o.Out
	edges, nodes = map[string]bool{}, map[string]bool{}
	seen := map[string]bool{typ + "/" + id: true}
	frontier := maps.Clone(seen)
	for range max(o.Depth, 1) {
		next := map[string]bool{}
		for _, l := range lines {
			if l.kind != "edge" || o.Edge != "" && l.typ != o.Edge {
				continue
			}
			src, dst := edgeEnds[l.typ][0]+"/"+l.src, edgeEnds[l.typ][1]+"/"+l.dst
			if !(out && frontier[src] || in && frontier[dst]) {
				continue
			}
			edges[l.typ+"/"+l.id+" "+l.src+" "+l.dst] = true
			for _, n := range []string{src, dst} {
				if !seen[n] {
					seen[n], next[n], nodes[n] = true, true, true
				}
			}
		}
		frontier = next
	}
	return edges, nodes
}

func TestNeighborsAgreeWithTheExport(t *testing.T) {
	g := openStore(t, demo(t))
	ctx := context.Background()
	at := engine.At{Branch: "review/new-calls"}
	lines := parseAll(t, exportLines(t, g, at))
	var starts []line
	for _, l := range lines {
		if l.kind == "node" {
			starts = append(starts, l)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.SampledFrom(starts).Draw(t, "start")
		o := engine.NeighborsOptions{
			Edge: rapid.SampledFrom([]string{"", "", "Owns", "CallsAt", "Partner"}).Draw(t, "edge"),
			Out:  rapid.Bool().Draw(t, "out"), In: rapid.Bool().Draw(t, "in"),
			Depth: rapid.IntRange(0, 4).Draw(t, "depth"), Limit: rapid.SampledFrom([]int{0, 0, 1, 5, 40}).Draw(t, "limit"),
		}
		got, err := g.Neighbors(ctx, start.typ, start.id, at, o)
		if err != nil {
			t.Fatal(err)
		}
		edges, nodes := walkModel(lines, start.typ, start.id, o)
		limit := o.Limit
		if limit == 0 {
			limit = 1000
		}
		if got.Truncated != (len(edges) > limit) || len(got.Edges) != min(len(edges), limit) {
			t.Fatalf("%d edges, truncated %v; the model has %d, limit %d", len(got.Edges), got.Truncated, len(edges), limit)
		}
		met := map[string]bool{}
		for _, e := range got.Edges {
			k := e.Type + "/" + e.ID + " " + e.From + " " + e.To
			if !edges[k] || met[k] {
				t.Fatalf("edge %s is not in the model, or twice", k)
			}
			met[k] = true
		}
		for _, n := range got.Nodes {
			if !nodes[n.Type+"/"+n.ID] || n.Kind != "node" {
				t.Fatalf("node %+v is not in the model", n)
			}
		}
		if !got.Truncated && len(got.Nodes) != len(nodes) {
			t.Fatalf("%d nodes, the model has %d", len(got.Nodes), len(nodes))
		}
	})
	var none *engine.NotFoundError
	if _, err := g.Neighbors(ctx, "Port", "XXXXX", at, engine.NeighborsOptions{}); !errors.As(err, &none) || none.What != "entity" {
		t.Errorf("an absent node: %v", err)
	}
	if _, err := g.Neighbors(ctx, "Prot", "NLRTM", at, engine.NeighborsOptions{}); !errors.As(err, &none) || !slices.Contains(none.Suggestions, "node:Port") {
		t.Errorf("an absent type: %v", err)
	}
	verified(t, g)
}

// Without the schema nodes have no types; the same edges are found.
func TestNeighborsWithoutSchema(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	const id = "north-line"
	typed, err := openFiles(t, files).Neighbors(ctx, "Company", id, engine.At{}, engine.NeighborsOptions{Depth: 2})
	if err != nil || len(typed.Edges) == 0 || typed.Nodes[0].Type == "" {
		t.Fatalf("%+v, %v", typed, err)
	}
	bare, err := openFiles(t, with(files, map[string][]byte{"_schema.ir.json": nil})).Neighbors(ctx, "Company", id, engine.At{}, engine.NeighborsOptions{Depth: 2})
	if err != nil || !slices.Equal(bare.Edges, typed.Edges) || len(bare.Nodes) != len(typed.Nodes) || bare.Nodes[0].Type != "" {
		t.Errorf("%+v, %v", bare, err)
	}
}

// Every entity is found in its table, and only there.
func TestFindAgreesWithTheExport(t *testing.T) {
	g := openStore(t, demo(t))
	ctx := context.Background()
	byID := map[string][]engine.Hit{}
	for _, l := range parseAll(t, exportLines(t, g, engine.At{})) {
		byID[l.id] = append(byID[l.id], engine.Hit{Kind: l.kind, Type: l.typ, ID: l.id})
	}
	ids := slices.Sorted(maps.Keys(byID))
	for i := 0; i < len(ids); i += 17 {
		hits, err := g.Find(ctx, ids[i], engine.At{})
		if err != nil || !slices.Equal(hits, byID[ids[i]]) {
			t.Errorf("%s: %v, %v; want %v", ids[i], hits, err, byID[ids[i]])
		}
	}
	if hits, err := g.Find(ctx, "nowhere", engine.At{}); err != nil || hits == nil || len(hits) != 0 {
		t.Errorf("an absent id: %v, %v", hits, err)
	}
	verified(t, g)
}

// Windows of any size put together are the table; lines are those of export.
func TestRowsAgreeWithTheExport(t *testing.T) {
	ctx := context.Background()
	g := openStore(t, demo(t))
	at := engine.At{Branch: "review/new-calls"}
	want := map[string][]string{}
	for _, l := range parseAll(t, exportLines(t, g, at)) {
		want[l.kind+":"+l.typ] = append(want[l.kind+":"+l.typ], l.text)
	}
	for table, lines := range want {
		var stream []string
		for row, err := range g.StreamRows(ctx, table, at, engine.RowsOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			stream = append(stream, string(row.Line))
		}
		for _, size := range pace.Every(t, 2, []int{7, 1000, 1}) {
			checkWindows(t, g, table, at, size, stream)
		}
		slices.Sort(stream)
		if sorted := slices.Sorted(slices.Values(lines)); !slices.Equal(stream, sorted) {
			t.Errorf("%s: the streamed lines are not those of export", table)
		}
	}
	verified(t, g)
}

func checkWindows(t *testing.T, g *engine.Graph, table string, at engine.At, size int, stream []string) {
	t.Helper()
	var got []string
	for off := uint64(0); ; off += uint64(size) {
		page, err := g.Rows(context.Background(), table, at, engine.RowsOptions{Offset: off, Limit: size})
		if err != nil {
			t.Fatal(err)
		}
		if page.Total != uint64(len(stream)) || page.Offset != off || page.Truncated != (int(off)+len(page.Rows) < len(stream)) {
			t.Fatalf("%s at %d: %d rows of %d, truncated %v; there are %d", table, off, len(page.Rows), page.Total, page.Truncated, len(stream))
		}
		for _, r := range page.Rows {
			if len(r.Values) != len(page.Columns) || len(page.Types) != len(page.Columns) || r.Values[0].Text != r.ID {
				t.Fatalf("%s: row %s does not fit its columns", table, r.ID)
			}
			got = append(got, string(r.Line))
		}
		if !page.Truncated {
			break
		}
	}
	if table == "node:Inspection" { // its blobs are spelled as their size in a window
		if len(got) != len(stream) {
			t.Errorf("%s: %d rows, want %d", table, len(got), len(stream))
		}
	} else if !slices.Equal(got, stream) {
		t.Errorf("%s: windows of %d are not the stream", table, size)
	}
}

// number is the value of a property; ok is false for null.
func (l line) number(name string) (x float64, ok bool) {
	var p *float64
	if err := json.Unmarshal(l.data[name], &p); err != nil || p == nil {
		return 0, false
	}
	return *p, true
}

// word is the value of a property of text, "" for null.
func (l line) word(name string) string { var s string; _ = json.Unmarshal(l.data[name], &s); return s }

// conditions are conditions on vessels, and the same as filters over the lines of
// the export.
var conditions = map[string]func(l line) bool{
	`tonnage > 50000`:        func(l line) bool { x, ok := l.number("tonnage"); return ok && x > 50000 },
	`tonnage is null`:        func(l line) bool { _, ok := l.number("tonnage"); return !ok },
	`kind in ("tug","bulk")`: func(l line) bool { k := l.word("kind"); return k == "tug" || k == "bulk" },
	`not (kind = "tug") and name contains "a"`: func(l line) bool {
		return l.word("kind") != "tug" && strings.Contains(l.word("name"), "a")
	},
	`built < "2000-01-01" or imo >= 9000500`: func(l line) bool {
		b, ok := l.number("built")
		imo, _ := l.number("imo")
		return ok && b < 10957 || imo >= 9000500
	},
}

// vesselsWhere are the lines of the vessels that a condition chooses, in physical
// order.
func vesselsWhere(t *testing.T, g *engine.Graph, where string) (lines []string) {
	t.Helper()
	for row, err := range g.StreamRows(t.Context(), "Vessel", engine.At{}, engine.RowsOptions{Where: where}) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(row.Line))
	}
	return lines
}

// checkWhereWindow asks for a window of what a condition chooses; lines are all of
// it.
func checkWhereWindow(t *testing.T, g *engine.Graph, where string, lines []string) {
	t.Helper()
	page, err := g.Rows(t.Context(), "Vessel", engine.At{}, engine.RowsOptions{Where: where, Offset: 2, Limit: 3, Columns: []string{"name", "kind"}})
	if err != nil || len(page.Rows) != min(3, len(lines)-2) || page.Truncated != (len(lines) > 5) || fmt.Sprint(page.Columns) != "[id kind name]" {
		t.Fatalf("%s: page %+v, %v", where, page, err)
	}
	for i, r := range page.Rows {
		if r.ID != parse(t, lines[2+i]).id {
			t.Errorf("%s: row %d of the window is %s", where, i, r.ID)
		}
	}
}

// Conditions choose the rows that a filter over the lines chooses.
func TestWhereAgreesWithTheExport(t *testing.T) {
	ctx := context.Background()
	g := openStore(t, demo(t))
	var vessels []line
	for _, l := range parseAll(t, exportLines(t, g, engine.At{})) {
		if l.typ == "Vessel" {
			vessels = append(vessels, l)
		}
	}
	for where, keep := range conditions {
		var want []string
		for _, l := range vessels {
			if keep(l) {
				want = append(want, l.text)
			}
		}
		physical := vesselsWhere(t, g, where)
		got := slices.Sorted(slices.Values(physical))
		slices.Sort(want)
		if !slices.Equal(got, want) || len(want) == 0 || len(want) == len(vessels) {
			t.Errorf("%s: %d rows, want %d of %d", where, len(got), len(want), len(vessels))
		}
		checkWhereWindow(t, g, where, physical)
	}
	var usage *engine.UsageError
	if _, err := g.Rows(ctx, "Vessel", engine.At{}, engine.RowsOptions{Where: `kind = 3`}); !errors.As(err, &usage) || !strings.Contains(err.Error(), "character 8") {
		t.Errorf("a wrong condition: %v", err)
	}
	for _, err := range g.StreamRows(ctx, "Vessel", engine.At{}, engine.RowsOptions{Columns: []string{"nmae"}}) {
		var none *engine.NotFoundError
		if !errors.As(err, &none) || !slices.Contains(none.Suggestions, "name") {
			t.Errorf("a wrong column: %v", err)
		}
	}
	verified(t, g)
}

// A consumer that stops early ends the stream without an error.
func TestStreamStops(t *testing.T) {
	g := openStore(t, demo(t))
	n := 0
	for _, err := range g.StreamRows(context.Background(), "Vessel", engine.At{}, engine.RowsOptions{Where: `imo > 0`}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d rows", n)
	}
	verified(t, g)
}
