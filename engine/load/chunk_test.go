package load_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn/validate"
	"github.com/omnideck/omnideck/txn/validate/memgraph"
)

const graphOfChunks = `
node P { k: String @key n: I32? }
node Q { s: String? }
edge E: P -> Q { w: I32? }
edge F: P -> P
`

func source(text string) load.Source {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// drawLines are lines whose edges have their ends, in any order, or with nodes
// first. Of rows with an id no two have the same.
func drawLines(t *rapid.T) []string {
	var nodes, edges []string
	for i := range rapid.IntRange(0, 12).Draw(t, "P") {
		nodes = append(nodes, fmt.Sprintf(`{"type":"P","data":{"k":"p%d","n":%d}}`, i, i))
	}
	for i := range rapid.IntRange(0, 12).Draw(t, "Q") {
		nodes = append(nodes, fmt.Sprintf(`{"type":"Q","data":{"id":"q%d"}}`, i), `{"type":"Q","data":{"s":"same"}}`)
	}
	ps := slices.DeleteFunc(slices.Clone(nodes), func(s string) bool { return !strings.Contains(s, `"P"`) })
	for i := range rapid.IntRange(0, 20).Draw(t, "edges") {
		if len(ps) == 0 {
			break
		}
		from, to := rapid.IntRange(0, len(ps)-1).Draw(t, "from"), rapid.IntRange(0, len(ps)-1).Draw(t, "to")
		edges = append(edges, fmt.Sprintf(`{"edge":"f","from":"p%d","to":"p%d"}`, from, to))
		if slices.Contains(nodes, `{"type":"Q","data":{"id":"q0"}}`) {
			edges = append(edges, fmt.Sprintf(`{"edge":"E","from":"p%d","to":"q0","data":{"w":%d}}`, from, i), "")
		}
	}
	lines := append(nodes, edges...)
	if rapid.Bool().Draw(t, "any order") {
		lines = rapid.Permutation(lines).Draw(t, "order")
	}
	return lines
}

// land loads chunks from..to into a graph as a caller does: what Compare says is
// left, validated.
func land(t *rapid.T, plan *load.Plan, g *memgraph.Graph, mode load.Mode, to int) (*memgraph.Graph, int) {
	commits := 0
	err := plan.Each(1, func(c *load.Chunk) error {
		if c.Number > to {
			return io.EOF
		}
		standing, err := c.Compare(stored(g))
		if err != nil || standing.Landed() {
			return err
		}
		d := load.Delta(standing.Rest, mode)
		report, err := validate.Check(t.Context(), g.IR, d, g, 1)
		if err == nil {
			err = report.Err()
		}
		if err != nil {
			return err
		}
		g = g.Apply(d)
		commits++
		return nil
	})
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return g, commits
}

func stored(g *memgraph.Graph) load.Stored {
	return func(t *schema.Type, ids []string, found func(validate.Row)) error {
		for _, id := range ids {
			if r, ok := g.Rows[t][id]; ok {
				found(r)
			}
		}
		return nil
	}
}

func equalGraphs(a, b *memgraph.Graph) bool {
	show := func(g *memgraph.Graph) (out string) {
		for _, ts := range [][]schema.Type{g.IR.Nodes, g.IR.Edges} {
			for i := range ts {
				for _, r := range g.Sorted(&ts[i]) {
					out += fmt.Sprintln(ts[i].Name, r.ID, r.Src, r.Dst)
					for _, v := range r.Values {
						out += string(v.JSON().Append(nil))
					}
				}
			}
		}
		return out
	}
	return show(a) == show(b)
}

// TestChunks: chunks hold every entity once, nodes first, within the limits; a
// load that is broken off anywhere and begun again ends as one that was not, and
// writes nothing twice.
func TestChunks(t *testing.T) {
	ir := pgtest.IR(t, graphOfChunks)
	several := 0
	rapid.Check(t, func(t *rapid.T) {
		lines := drawLines(t)
		text := strings.Join(lines, "\n")
		mode := rapid.SampledFrom([]load.Mode{load.Append, load.Merge}).Draw(t, "mode")
		o := load.ChunkOptions{Mode: mode, Rows: rapid.Int64Range(1, 9).Draw(t, "rows"), AllBytes: rapid.Int64Range(100, 2000).Draw(t, "bytes")}
		o.Bytes = o.AllBytes
		plan, err := load.MakePlan(source(text), ir, o)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := load.Read(strings.NewReader(text), ir, load.Options{Mode: mode, NewID: numbered()})
		if err != nil || whole.Lines != plan.Lines || int(plan.Nodes+plan.Edges) != whole.Entities() {
			t.Fatalf("%v: %d lines and %d entities, in chunks %d and %d", err, whole.Lines, whole.Entities(), plan.Lines, plan.Nodes+plan.Edges)
		}
		checkChunks(t, plan, o, whole)
		once, commits := land(t, plan, memgraph.New(ir), mode, 1000)
		if commits != len(plan.Chunks) {
			t.Fatalf("%d commits of %d chunks", commits, len(plan.Chunks))
		}
		if len(plan.Chunks) > 1 {
			several++
		}
		broken, first := land(t, plan, memgraph.New(ir), mode, rapid.IntRange(0, len(plan.Chunks)).Draw(t, "broken off after"))
		rest, more := land(t, plan, broken, mode, 1000)
		if !equalGraphs(rest, once) || first+more != commits {
			t.Fatalf("broken off after %d commits, %d more, of %d; equal %v", first, more, commits, equalGraphs(rest, once))
		}
		if again, n := land(t, plan, rest, mode, 1000); n != 0 || !equalGraphs(again, once) {
			t.Fatalf("loaded again: %d commits", n)
		}
		// Lines that have not landed may be followed by others, and chunks be cut otherwise.
		o.Rows, o.AllBytes = o.Rows%3+1, o.AllBytes/2+100
		o.Bytes = o.AllBytes
		longer, err := load.MakePlan(source(text+"\n"+`{"type":"Q","data":{"s":"new"}}`), ir, o)
		if err != nil {
			t.Fatal(err)
		}
		grown, _ := land(t, longer, broken, mode, 1000)
		all, n := land(t, longer, once, mode, 1000)
		if n != 1 || !equalGraphs(grown, all) {
			t.Fatalf("a line more: %d commits, equal %v", n, equalGraphs(grown, all))
		}
	})
	if several < 20 {
		t.Errorf("%d inputs had several chunks", several)
	}
}

// checkChunks holds the chunks of a plan against its limits and the whole input.
func checkChunks(t *rapid.T, plan *load.Plan, o load.ChunkOptions, whole *load.Input) {
	lines := map[*schema.Type][]int{}
	edges := false
	number := 0
	err := plan.Each(1, func(c *load.Chunk) error {
		number++
		bytes := int64(0)
		for _, b := range c.Batches {
			lines[b.Type] = append(lines[b.Type], b.Lines...)
			bytes += b.Bytes
			if edges && b.Type.Kind == schema.KindNode || len(b.Rows) > int(o.Rows) || b.Bytes > o.Bytes {
				t.Fatalf("chunk %d: %d rows of %s after edges %v", c.Number, len(b.Rows), b.Type.Alias(), edges)
			}
		}
		for _, b := range c.Batches {
			edges = edges || b.Type.Kind == schema.KindEdge
		}
		if bytes > o.AllBytes || bytes != c.Bytes || c.Number != number || c.Of != len(plan.Chunks) {
			t.Fatalf("chunk %d of %d has %d bytes, planned %d", c.Number, c.Of, bytes, c.Bytes)
		}
		return nil
	})
	if err != nil || number != len(plan.Chunks) {
		t.Fatalf("%d of %d chunks: %v", number, len(plan.Chunks), err)
	}
	for _, b := range whole.Batches {
		if !slices.Equal(lines[b.Type], b.Lines) {
			t.Fatalf("%s is from lines %v, in chunks from %v", b.Type.Alias(), b.Lines, lines[b.Type])
		}
	}
}

// Chunks at the limits of one write: exactly 8,192 entities are one chunk, one
// more are two; what fits together is one chunk with nodes and edges.
func TestChunksAtTheLimits(t *testing.T) {
	ir := pgtest.IR(t, graphOfChunks)
	for n, want := range map[int]string{
		validate.MaxRows: "[8192+1]", validate.MaxRows + 1: "[8192+0 1+0 0+1]", 0: "[]",
	} {
		text := strings.Repeat(`{"type":"Q"}`+"\n", n)
		if n > 0 {
			text = `{"edge":"F","from":"a","to":"a"}` + "\n" + text
		}
		plan, err := load.MakePlan(source(text), ir, load.ChunkOptions{Mode: load.Append})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, c := range plan.Chunks {
			got = append(got, fmt.Sprintf("%d+%d", c.Nodes, c.Edges))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%d rows: chunks %v, expected %s", n, got, want)
		}
	}
	big := `{"type":"Q","data":{"s":"` + strings.Repeat("x", validate.MaxBytes-31) + `"}}`
	if _, err := load.MakePlan(source(big), ir, load.ChunkOptions{Mode: load.Append}); err == nil || !strings.Contains(err.Error(), "actual 33554433, limit 33554432 (line 1)") {
		t.Errorf("an entity of more than a chunk: %v", err)
	}
	if _, err := load.MakePlan(source(""), ir, load.ChunkOptions{Mode: load.Overwrite}); err == nil || !strings.Contains(err.Error(), "an overwrite is one transaction") {
		t.Errorf("an overwrite: %v", err)
	}
}

// Ids of entities that have none: the same for the same lines, others with a salt,
// in another graph, for another type; a line further down changes none.
func TestNamesOfEntities(t *testing.T) {
	ir := pgtest.IR(t, graphOfChunks)
	ids := func(ir *schema.IR, text, salt string) (out []string) {
		plan, err := load.MakePlan(source(text), ir, load.ChunkOptions{Mode: load.Append, Salt: salt})
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Each(1, func(c *load.Chunk) error {
			for _, b := range c.Batches {
				for _, r := range b.Rows {
					out = append(out, r.ID)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	text := "{\"type\":\"Q\"}\n{\"type\":\"Q\",\"data\":{\"id\":\"own\"}}\n{\"type\":\"Q\"}\n"
	a := ids(ir, text, "")
	if len(a) != 3 || a[1] != "own" || a[0] == a[2] || len(a[0]) != 26 || !strings.HasPrefix(a[0], ir.Domain[:10]) {
		t.Fatalf("found %v", a)
	}
	if b := ids(ir, strings.Replace(text, `"own"`, `"other"`, 1)+`{"type":"Q"}`, ""); b[0] != a[0] || b[2] != a[2] || b[3] == a[2] {
		t.Errorf("a line further down changes ids: %v, %v", a, b)
	}
	shape, err := schema.Compile([]byte(graphOfChunks))
	if err != nil {
		t.Fatal(err)
	}
	other := shape.Resolve("01BRZ3NDEKTSV4RRFFQ69G5FAV")
	for name, b := range map[string][]string{
		"a salt":        ids(ir, text, "x"),
		"another graph": ids(other, text, ""),
		"another type":  ids(ir, `{"edge":"F","from":"a","to":"b"}`, ""),
		"a line before": ids(ir, `{"type":"Q","data":{}}`+"\n"+text, "")[1:],
	} {
		if slices.Contains(b, a[0]) {
			t.Errorf("%s changes no id: %v, %v", name, a, b)
		}
	}
}

// What stands otherwise is told, and left to load.
func TestCompare(t *testing.T) {
	ir := pgtest.IR(t, graphOfChunks)
	text := `{"type":"P","data":{"k":"a","n":1}}
{"type":"P","data":{"k":"b","n":2}}
{"type":"P","data":{"k":"c"}}
{"edge":"E","from":"a","to":"q","data":{"id":"e","w":1}}
{"edge":"E","from":"a","to":"q","data":{"id":"f","w":1}}
{"edge":"E","from":"a","to":"q","data":{"id":"f","w":2}}`
	plan, err := load.MakePlan(source(text), ir, load.ChunkOptions{Mode: load.Merge})
	if err != nil {
		t.Fatal(err)
	}
	g := memgraph.New(ir)
	g, _, err = loaded(t, g, load.Append, `{"type":"P","data":{"k":"a","n":1}}
{"type":"P","data":{"k":"b","n":3}}
{"type":"P","data":{"k":"z","n":3}}
{"type":"Q","data":{"id":"q"}}
{"edge":"E","from":"b","to":"q","data":{"id":"e","w":1}}
{"edge":"E","from":"a","to":"q","data":{"id":"f","w":2}}`, numbered())
	if err != nil {
		t.Fatal(err)
	}
	err = plan.Each(1, func(c *load.Chunk) error {
		s, err := c.Compare(stored(g))
		if err != nil {
			return err
		}
		rest := ""
		for _, b := range s.Rest {
			rest += fmt.Sprint(b.Type.Name, b.Lines)
		}
		got := fmt.Sprintf("%d equal, %d different, %d missing, left %s; %s", s.Equal, s.Different, s.Missing, rest, s.First)
		lost := errors.New("lost")
		if _, err := c.Compare(func(*schema.Type, []string, func(validate.Row)) error { return lost }); !errors.Is(err, lost) {
			t.Errorf("a graph that cannot be read: %v", err)
		}
		if _, err := c.Compare(func(t *schema.Type, ids []string, found func(validate.Row)) error {
			found(validate.Row{ID: ids[0]})
			return nil
		}); err == nil || !strings.Contains(err.Error(), "was told with 0 values") {
			t.Errorf("rows without values: %v", err)
		}
		if want := "2 equal, 2 different, 1 missing, left P[2 3]E[4]; line 2: node P 'b' stands with another value of n"; got != want || s.Landed() {
			t.Errorf("found %s\nexpected %s", got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An input that changes after it was planned: nothing of a chunk that is not as
// planned is handed out, and what was handed out before was.
func TestChangedInput(t *testing.T) {
	ir := pgtest.IR(t, graphOfChunks)
	line := func(n int) string { return fmt.Sprintf(`{"type":"P","data":{"k":"%d"}}`+"\n", n) }
	text := line(1) + line(2) + line(3)
	for name, c := range map[string]struct {
		text string
		want int // chunks handed out
	}{
		"the same":         {text, 3},
		"a blank line":     {text + "\n\n", 3},
		"another row":      {line(1) + line(7) + line(3), 1},
		"one less":         {line(1) + line(2), 2},
		"one more":         {text + line(4), 3},
		"a wrong line":     {line(1) + "{\n" + line(3), 0},
		"a wrong value":    {line(1) + line(2) + `{"type":"P","data":{"n":1}}`, 1},
		"an edge":          {line(1) + line(2) + `{"edge":"F","from":"1","to":"2"}`, 2},
		"nothing any more": {"", 0},
	} {
		now := text
		plan, err := load.MakePlan(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(now)), nil }, ir, load.ChunkOptions{Mode: load.Append, Rows: 1})
		if err != nil {
			t.Fatal(err)
		}
		now = c.text
		done := 0
		err = plan.Each(1, func(ch *load.Chunk) error { done++; return nil })
		var changed *load.ChangedError
		same := name == "the same" || name == "a blank line"
		if done != c.want || same != (err == nil) || !same && (!errors.As(err, &changed) || changed.Chunk != done+1) {
			t.Errorf("%s: %d chunks, %v", name, done, err)
		}
	}
}

// Each begins where it is told to.
func TestEachFrom(t *testing.T) {
	ir := pgtest.IR(t, graphOfChunks)
	plan, err := load.MakePlan(source(strings.Repeat(`{"type":"Q"}`+"\n", 5)), ir, load.ChunkOptions{Mode: load.Append, Rows: 2})
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	if err := plan.Each(2, func(c *load.Chunk) error { got = append(got, c.Number, c.FirstLine, c.ToLine); return nil }); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != "[2 3 4 3 5 5]" {
		t.Errorf("found %v", got)
	}
	lost := errors.New("lost")
	if _, err := load.MakePlan(func() (io.ReadCloser, error) { return nil, lost }, ir, load.ChunkOptions{Mode: load.Append}); !errors.Is(err, lost) {
		t.Errorf("a source that does not open: %v", err)
	}
	if err := plan.Each(1, func(*load.Chunk) error { return lost }); !errors.Is(err, lost) {
		t.Errorf("a caller that stops: %v", err)
	}
}
