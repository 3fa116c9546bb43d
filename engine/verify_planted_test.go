package engine_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn/validate"
)

// planting is a graph that is written past every rule: straight into the tables
// and `__manifest`, as a program with a defect would.
type planting struct {
	t     testing.TB
	store *memstore.Store
	ir    *schema.IR
	n     uint64

	nameless bool // an empty id or end is a null
	unmarked bool // schemas do not mark the key
}

// Read is randomness that repeats itself.
func (g *planting) Read(p []byte) (int, error) {
	for i := 0; i < len(p); i += 8 {
		g.n++
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], g.n*0x9e3779b97f4a7c15)
		copy(p[i:], b[:])
	}
	return len(p), nil
}

func (g *planting) now() time.Time { g.n++; return time.UnixMilli(1796000000000 + int64(g.n)).UTC() }

func (g *planting) uuid() string {
	g.n++
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", g.n)
}

func (g *planting) intent() manifest.Intent {
	g.n++
	return manifest.Intent{ID: fmt.Sprintf("01KB7Q0V1S3F8D1Y3J8E%06d", g.n), CreatedAt: g.now().UnixMicro()}
}

func (g *planting) typeOf(alias string) *schema.Type {
	for _, types := range [][]schema.Type{g.ir.Nodes, g.ir.Edges} {
		for i := range types {
			if types[i].Alias() == alias {
				return &types[i]
			}
		}
	}
	g.t.Fatalf("no type %s", alias)
	return nil
}

// record makes rows a batch; what is left out is null.
func (g *planting) record(t *schema.Type, rows []planted) lance.Rows {
	g.t.Helper()
	out := make([]validate.Row, len(rows))
	for i, r := range rows {
		out[i] = validate.Row{ID: r.id, Src: r.src, Dst: r.dst}
		for k := range t.Properties {
			v := value.Value{}
			if x, ok := r.values[t.Properties[k].Name]; ok {
				var err error
				if v, err = value.Of(t.Properties[k].Type, x); err != nil {
					g.t.Fatal(err)
				}
			}
			out[i].Values = append(out[i].Values, v)
		}
	}
	batch, err := validate.Record(arrowmem.DefaultAllocator, t, out)
	if err != nil {
		g.t.Fatal(err)
	}
	if g.nameless {
		batch = nulled(batch)
	}
	return lance.RowsOf(batch)
}

// nulled is a batch with nulls in place of empty texts in its first columns.
func nulled(batch arrow.RecordBatch) arrow.RecordBatch {
	columns := slices.Clone(batch.Columns())
	for i, f := range batch.Schema().Fields() {
		texts, ok := columns[i].(*array.String)
		if !ok || !slices.Contains([]string{"id", "src", "dst"}, f.Name) {
			continue
		}
		b := array.NewStringBuilder(arrowmem.DefaultAllocator)
		for k := range texts.Len() {
			if texts.Value(k) == "" {
				b.AppendNull()
			} else {
				b.Append(texts.Value(k))
			}
		}
		columns[i] = b.NewArray()
	}
	return array.NewRecordBatch(batch.Schema(), columns, batch.NumRows())
}

func (g *planting) location(alias string) string {
	t := g.typeOf(alias)
	where, _ := manifest.Location(alias, manifest.Identity{Table: t.ID, Incarnation: t.Incarnation})
	return where
}

// planted is one row; values by property, as value.Of takes them.
type planted struct {
	id, src, dst string
	values       map[string]any
}

// plantGraph makes a graph of a schema and the first rows of its tables.
func plantGraph(t testing.TB, source string, rows map[string][]planted, more ...func(*planting)) *planting {
	t.Helper()
	shape, err := schema.Compile([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	g := &planting{t: t, store: memstore.New(memstore.Options{Name: "g"}), ir: shape.Resolve("01ARZ3NDEKTSV4RRFFQ69G5FAV")}
	for _, f := range more {
		f(g)
	}
	ctx := t.Context()
	for _, o := range schema.Objects([]byte(source), g.ir) {
		if _, err := g.store.Put(ctx, o.Key, o.Data); err != nil {
			t.Fatal(err)
		}
	}
	o := manifest.CreateOptions{Commit: g.intent(), Now: g.now, Rand: g}
	for _, types := range [][]schema.Type{g.ir.Nodes, g.ir.Edges} {
		for i := range types {
			tt := &types[i]
			id := manifest.Identity{Table: tt.ID, Incarnation: tt.Incarnation}
			where, _ := manifest.Location(tt.Alias(), id)
			loose := tt.LanceSchema() // of a program that lets nulls pass
			for _, f := range loose.Fields {
				f.Nullable = true
				if g.unmarked {
					f.PrimaryKey = false
					delete(f.Metadata, format.MetaPrimaryKey)
				}
			}
			c := lance.CreateOptions{Schema: loose, UUID: g.uuid(), Now: g.now, Rand: g}
			if len(rows[tt.Alias()]) > 0 {
				c.Rows = g.record(tt, rows[tt.Alias()])
			}
			if _, _, err := lance.Create(ctx, g.store, where, c); err != nil {
				t.Fatalf("%s: %v", tt.Alias(), err)
			}
			o.Tables = append(o.Tables, manifest.Update{Identity: id, Alias: tt.Alias(), Version: 1, Rows: uint64(len(rows[tt.Alias()]))})
		}
	}
	if _, err := manifest.Create(ctx, g.store, o); err != nil {
		t.Fatal(err)
	}
	return g
}

// plant adds rows to a table and publishes it with more rows than that.
func (g *planting) plant(alias string, more uint64, rows ...planted) {
	g.t.Helper()
	ctx := g.t.Context()
	view, err := manifest.Open(ctx, g.store, manifest.Options{})
	if err != nil {
		g.t.Fatal(err)
	}
	e, _ := view.Table(alias)
	s, err := lance.Open(ctx, g.store, e.Location, lance.OpenOptions{})
	if err != nil {
		g.t.Fatal(err)
	}
	staged, err := s.StageAppend(ctx, g.record(g.typeOf(alias), rows), lance.StageOptions{UUID: g.uuid(), Rand: g})
	if err != nil {
		g.t.Fatal(err)
	}
	if s, _, err = staged.Commit(ctx, lance.CommitOptions{Now: g.now}); err != nil {
		g.t.Fatal(err)
	}
	c := g.intent()
	_, err = manifest.Publish(ctx, g.store, manifest.PublishOptions{
		Edits:  []manifest.Edit{manifest.Update{Identity: e.Identity, Alias: alias, Version: s.Version(), Rows: e.Rows + uint64(len(rows)) + more}},
		Commit: &c, Now: g.now, Rand: g,
	})
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *planting) verify() *engine.Verification {
	g.t.Helper()
	v, err := openStore(g.t, g.store).Verify(context.Background(), engine.VerifyOptions{Deep: true})
	if err != nil {
		g.t.Fatal(err)
	}
	return v
}

const plantedSchema = `
node P {
    k: String @key
    u: I32? @unique
    f: F64? @unique
    a: String?
    b: String?
    e: enum(x, y)?
    r: I32?
    c: String?
    q: String
    v: Vector(2)?
    tags: [I32]?
    @unique(a, b)
    @range(r, 0..6)
    @check(c, "^[a-c]$")
}
node Q { n: String? }
edge E: P -> Q @card(0..2) { w: I32? @unique(src, dst) }
edge F: P -> P @card(2..3)
edge G: Q -> P
`

func plantedP(id string, more ...any) planted {
	p := planted{id: id, values: map[string]any{"k": id, "q": "q"}}
	for i := 0; i < len(more); i += 2 {
		if more[i+1] == nil {
			delete(p.values, more[i].(string))
		} else {
			p.values[more[i].(string)] = more[i+1]
		}
	}
	return p
}

func soundRows() map[string][]planted {
	return map[string][]planted{
		"node:P": {plantedP("p1", "u", int32(1), "a", "s", "b", "t", "e", "x", "r", int32(6), "c", "b"), plantedP("p2", "a", "s"), plantedP("p3", "a", "s"), plantedP("p4")},
		"node:Q": {{id: "q1"}, {id: "q2"}, {id: "q3"}},
		"edge:E": {{id: "e1", src: "p1", dst: "q1"}, {id: "e2", src: "p1", dst: "q2"}},
		"edge:F": {{id: "f1", src: "p1", dst: "p2"}, {id: "f2", src: "p1", dst: "p3"}},
	}
}

// TestVerifyPlanted: a graph that keeps every rule is clean; of each rule one
// fault is planted, which is found, and nothing else.
func TestVerifyPlanted(t *testing.T) {
	if v := plantGraph(t, plantedSchema, soundRows()).verify(); !v.Clean || len(v.Problems) > 0 || v.Checked.Keys != 11 || v.Checked.Edges != 4 {
		t.Fatalf("sound: %+v", v)
	}
	for _, c := range []struct {
		id, table string
		rows      []planted
		property  string
		value     string
		entities  []string
		affected  uint64
		found     string
	}{
		{id: "value-required", table: "node:P", rows: []planted{plantedP("p5", "q", nil), plantedP("p6", "q", nil)}, property: "q", value: "null", entities: []string{"p5", "p6"}, affected: 2, found: "p5"},
		{id: "value-required", table: "node:P", rows: []planted{plantedP("p5", "k", nil)}, property: "k", value: "null", entities: []string{"p5"}, affected: 1, found: "p5"},
		{id: "value-enum", table: "node:P", rows: []planted{plantedP("p5", "e", "z")}, property: "e", value: "z", entities: []string{"p5"}, affected: 1, found: "P.e"},
		{id: "value-range", table: "node:P", rows: []planted{plantedP("p5", "r", int32(7))}, property: "r", value: "7", entities: []string{"p5"}, affected: 1, found: "P.r"},
		{id: "value-check", table: "node:P", rows: []planted{plantedP("p5", "c", "d")}, property: "c", value: "d", entities: []string{"p5"}, affected: 1, found: "P.c"},
		{id: "value-key", table: "node:P", rows: []planted{plantedP("p5", "f", math.NaN())}, property: "f", entities: []string{"p5"}, affected: 1, found: "p5"},
		{id: "unique", table: "node:P", rows: []planted{plantedP("p5", "k", "p1")}, property: "k", value: "p1", entities: []string{"p1", "p5"}, affected: 1, found: "P.k"},
		{id: "unique", table: "node:P", rows: []planted{plantedP("p5", "u", int32(1)), plantedP("p6", "u", int32(1))}, property: "u", value: "1", entities: []string{"p1", "p5", "p6"}, affected: 2, found: "P.u"},
		{id: "unique", table: "node:P", rows: []planted{plantedP("p5", "a", "s", "b", "t")}, property: "(a, b)", value: "(s, t)", entities: []string{"p1", "p5"}, affected: 1, found: "(s, t)"},
		{id: "unique", table: "edge:E", rows: []planted{{id: "e3", src: "p2", dst: "q1"}, {id: "e4", src: "p2", dst: "q1"}}, property: "(dst, src)", value: "(q1, p2)", entities: []string{"e3", "e4"}, affected: 1, found: "E.(dst, src)"},
		{id: "duplicate-id", table: "node:Q", rows: []planted{{id: "q1"}}, property: "id", value: "q1", entities: []string{"q1"}, affected: 1, found: "'q1'"},
		{id: "duplicate-id", table: "node:P", rows: []planted{plantedP("p4")}, property: "id", value: "p4", entities: []string{"p4"}, affected: 1, found: "'p4'"},
		{id: "duplicate-id", table: "edge:G", rows: []planted{{id: "g1", src: "q1", dst: "p1"}, {id: "g1", src: "q2", dst: "p1"}}, property: "id", value: "g1", entities: []string{"g1"}, affected: 1, found: "'g1'"},
		{id: "dangling-edge", table: "edge:G", rows: []planted{{id: "g1", src: "q9", dst: "p1"}}, property: "src", value: "q9", entities: []string{"g1"}, affected: 1, found: "not found in Q"},
		{id: "dangling-edge", table: "edge:G", rows: []planted{{id: "g1", src: "q1", dst: "q1"}}, property: "dst", value: "q1", entities: []string{"g1"}, affected: 1, found: "not found in P"},
		{id: "cardinality-max", table: "edge:E", rows: []planted{{id: "e3", src: "p1", dst: "q3"}}, property: "src", value: "p1", entities: []string{"p1"}, affected: 1, found: "3 edges (max 2)"},
		{id: "cardinality-min", table: "edge:F", rows: []planted{{id: "f3", src: "p2", dst: "p1"}}, property: "src", value: "p2", entities: []string{"p2"}, affected: 1, found: "1 edges (min 2)"},
	} {
		t.Run(c.id+" "+c.table+" "+c.property, func(t *testing.T) {
			g := plantGraph(t, plantedSchema, soundRows())
			g.plant(c.table, 0, c.rows...)
			v := g.verify()
			if v.Clean || len(v.Problems) != 1 {
				t.Fatalf("%+v", v)
			}
			p := v.Problems[0]
			if p.ID != c.id || p.Table != c.table || p.Branch != "main" || p.Version != 2 || p.Severity != engine.SeverityError || p.Key == "" || p.Expected == "" ||
				p.Property != c.property || c.value != "" && p.Value != c.value || !slices.Equal(p.Entities, c.entities) || p.RowsAffected != c.affected || !strings.Contains(p.Found, c.found) {
				t.Errorf("%+v", p)
			}
			g.copies(p)
		})
	}
}

// TestVerifyPlantedCounts: a recorded count that neither the table's manifest nor
// a scan confirms.
func TestVerifyPlantedCounts(t *testing.T) {
	g := plantGraph(t, plantedSchema, soundRows())
	g.plant("node:Q", 2, planted{id: "q4"})
	v := g.verify()
	if len(v.Problems) != 2 || v.Problems[0].ID != "count" || v.Problems[1].ID != "count-scanned" || v.Problems[0].RowsAffected != 2 || v.Problems[1].RowsAffected != 2 {
		t.Errorf("%+v", v.Problems)
	}
}

// TestVerifyPlantedTogether: faults do not hide one another, and rows that lack
// a value are judged like the others.
func TestVerifyPlantedTogether(t *testing.T) {
	g := plantGraph(t, plantedSchema, soundRows())
	var rows []planted
	for i := range 20 {
		rows = append(rows, plantedP(fmt.Sprint("n", i), "q", nil, "u", int32(1), "e", "z", "r", int32(7+i), "c", "d"))
	}
	g.plant("node:P", 0, rows...)
	g.plant("edge:F", 0, planted{id: "f3", src: "n1", dst: "gone"}, planted{id: "f3", src: "gone", dst: "n1"})
	got := map[string]uint64{}
	for _, p := range g.verify().Problems {
		got[p.ID+" "+p.Property] = p.RowsAffected
		if len(p.Entities) == 0 || len(p.Entities) > 5 {
			t.Errorf("entities: %+v", p)
		}
	}
	want := map[string]uint64{
		"value-required q": 20, "unique u": 20, "value-enum e": 20, "value-range r": 20, "value-check c": 20,
		"duplicate-id id": 1, "dangling-edge src": 1, "dangling-edge dst": 1, "cardinality-min src": 2,
	}
	if !maps.Equal(got, want) {
		t.Errorf("found %v\nwant %v", got, want)
	}
}

// TestVerifyPlantedNames: rows without an id or an end.
func TestVerifyPlantedNames(t *testing.T) {
	g := plantGraph(t, plantedSchema, soundRows())
	g.nameless = true
	g.plant("node:Q", 0, planted{}, planted{id: "q5"})
	g.plant("edge:G", 0, planted{id: "g1", dst: "p1"}, planted{id: "g2", src: "q5"})
	var got []string
	for _, p := range g.verify().Problems {
		got = append(got, fmt.Sprintln(p.ID, p.Table, p.Property, p.Entities, p.RowsAffected))
	}
	want := []string{"value-required edge:G dst [g2] 1\n", "value-required edge:G src [g1] 1\n", "value-required node:Q id [] 1\n"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestVerifyPlantedPattern: a pattern that nothing can evaluate is said once;
// the other rules of its type are asked nonetheless.
func TestVerifyPlantedPattern(t *testing.T) {
	g := plantGraph(t, `node P { k: String @key c: String? e: enum(x, y)? @check(c, "(") }`, map[string][]planted{
		"node:P": {{id: "p1", values: map[string]any{"k": "p1", "c": "c", "e": "z"}}},
	})
	v := g.verify()
	if len(v.Problems) != 2 || v.Problems[0].ID != "rule-pattern" || v.Problems[0].Severity != engine.SeverityWarn || v.Problems[0].Property != "c" || v.Problems[1].ID != "value-enum" {
		t.Errorf("%+v", v.Problems)
	}
}

// TestVerifyPlantedDamage: of a table of which a fragment is lost, that is said
// once; the others are judged, and what could not be is named.
func TestVerifyPlantedDamage(t *testing.T) {
	g := plantGraph(t, plantedSchema, soundRows())
	g.plant("node:Q", 0, planted{id: "q4"}, planted{id: "q4"})
	g.plant("edge:E", 0, planted{id: "e5", src: "nobody", dst: "nothing"})
	s, err := lance.Open(t.Context(), g.store, g.location("node:Q"), lance.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	key := g.location("node:Q") + "/data/" + s.Manifest().Fragments[0].Files[0].Path
	if err := g.store.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range g.verify().Problems {
		got = append(got, fmt.Sprintln(p.ID, p.Table, p.Severity, p.Property, p.RowsAffected))
	}
	want := []string{
		"dangling-edge edge:E error src 1\n", "rules-incomplete edge:E warn  0\n",
		"duplicate-id node:Q error id 1\n", "file-missing node:Q error  3\n", "rows-unreadable node:Q error  3\n", "rules-incomplete node:Q warn  3\n",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestVerifyPlantedBranch: edges that main and a branch share dangle on the branch
// alone when a node is taken from its table.
func TestVerifyPlantedBranch(t *testing.T) {
	const branch, ports, id = "fix/ports", "node:Port", "NLRTM"
	ctx := t.Context()
	store, err := fixtures.DemoStore()
	if err != nil {
		t.Fatal(err)
	}
	g := &planting{t: t, store: store}
	view, err := manifest.Open(ctx, store, manifest.Options{Branch: branch})
	if err != nil {
		t.Fatal(err)
	}
	e, _ := view.Table(ports)
	s, err := lance.Open(ctx, store, e.Location, lance.OpenOptions{Branch: e.Owner, Version: e.Version})
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.FindText(ctx, "id", []string{id}, lance.LookUpByCost)
	if err != nil || len(found.Rows[id]) != 1 || e.Owner != branch {
		t.Fatalf("%+v of %q, %v", found, e.Owner, err)
	}
	staged, err := s.StageDelete(ctx, found.Rows[id], "id = '"+id+"'", lance.StageOptions{UUID: g.uuid(), Rand: g})
	if err != nil {
		t.Fatal(err)
	}
	if s, _, err = staged.Commit(ctx, lance.CommitOptions{Now: g.now}); err != nil {
		t.Fatal(err)
	}
	c := manifest.Intent{ID: "01M9ZZZZZZZZZZZZZZZZZZZZZZ", CreatedAt: g.now().UnixMicro()}
	_, err = manifest.Publish(ctx, store, manifest.PublishOptions{
		Branch: branch, Edits: []manifest.Edit{manifest.Update{Identity: e.Identity, Alias: ports, Version: s.Version(), Owner: branch, Rows: e.Rows - 1}},
		Commit: &c, Now: g.now, Rand: g,
	})
	if err != nil {
		t.Fatal(err)
	}
	v := g.verify()
	if v.Clean || len(v.Problems) != 2 {
		t.Fatalf("%+v", v.Problems)
	}
	for i, table := range []string{"edge:CallsAt", "edge:Registered"} {
		if p := v.Problems[i]; p.ID != "dangling-edge" || p.Table != table || p.Branch != branch || p.Property != "dst" || p.Value != id || p.RowsAffected == 0 {
			t.Errorf("%+v", p)
		}
	}
	for _, other := range []string{"main", "archive"} {
		verifyOthers(t, openStore(t, store), other)
	}
}

// TestVerifyPlantedType: a column of another type than the schema's.
func TestVerifyPlantedType(t *testing.T) {
	g := plantGraph(t, `node P { n: I32? @unique }`, nil)
	other, err := schema.Compile([]byte(`node P { n: String? @unique }`))
	if err != nil {
		t.Fatal(err)
	}
	ir := other.Resolve("01ARZ3NDEKTSV4RRFFQ69G5FAV")
	g.ir = ir
	ctx := t.Context()
	s, err := lance.Open(ctx, g.store, g.location("node:P"), lance.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	staged, err := s.StageOverwrite(ctx, ir.Nodes[0].LanceSchema(), g.record(&ir.Nodes[0], []planted{{id: "p1", values: map[string]any{"n": "one"}}}), lance.StageOptions{UUID: g.uuid(), Rand: g})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = staged.Commit(ctx, lance.CommitOptions{Now: g.now}); err != nil {
		t.Fatal(err)
	}
	g.plant("node:P", 2, planted{id: "p2"}) // one of them is the row before, the other a lie
	v := g.verify()
	if len(v.Problems) != 3 || v.Problems[0].ID != "count" || v.Problems[1].ID != "rules-incomplete" || v.Problems[2].ID != "value-type" || v.Problems[2].RowsAffected != 3 {
		t.Fatalf("%+v", v.Problems)
	}
	says(t, "problem", v.Problems[2].Found, "property n", "I32")
}
