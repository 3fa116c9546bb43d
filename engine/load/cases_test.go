package load_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/query"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn/validate"
	"github.com/omnideck/omnideck/txn/validate/memgraph"
)

// numbered makes ids 01JNEW…, one after the other.
func numbered() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("01JNEW%020d", n) }
}

// loaded is a graph after a load, or why the load is refused.
func loaded(t testing.TB, g *memgraph.Graph, mode load.Mode, text string, ids func() string) (*memgraph.Graph, int, error) {
	t.Helper()
	in, err := load.Read(strings.NewReader(text), g.IR, load.Options{Mode: mode, NewID: ids})
	if err != nil {
		return nil, 0, err
	}
	d := load.Delta(in.Batches, mode)
	report, err := validate.Check(t.Context(), g.IR, d, g, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Err(); err != nil {
		return nil, 0, err
	}
	return g.Apply(d), in.Entities(), nil
}

// caseOf is a case of the conformance file.
type caseOf struct {
	Name, Schema, Query, Defect string
	QueryName                   string `json:"query_name"`
	Mode                        string `json:"load_mode"`
	Params                      json.RawMessage
	Pre                         [][]string
	Data                        []string
	Expect                      expectation
	Then                        []struct {
		Query  string
		Expect expectation
	}
}

type expectation struct {
	Error   string           `json:"error_contains"`
	Total   *int             `json:"total_entities"`
	Rows    []map[string]any `json:"rows"`
	Ordered bool
}

func cases(t *testing.T, group string) (out []caseOf) {
	t.Helper()
	file, err := fixtures.Shared("conformance", "languages.jsonl")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	for line := range strings.Lines(string(file)) {
		if !strings.HasPrefix(line, `{"name":"`+group) {
			continue
		}
		var c caseOf
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// TestLoadCases: every load case of the conformance file, read and validated over
// a graph in memory, with the rows that its follow-up queries see.
func TestLoadCases(t *testing.T) {
	all := cases(t, "load/")
	if len(all) != 49 {
		t.Errorf("%d cases", len(all))
	}
	answered := 0
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			g := memgraph.New(pgtest.IR(t, c.Schema))
			ids := numbered()
			for _, lines := range c.Pre {
				var err error
				if g, _, err = loaded(t, g, load.Append, strings.Join(lines, "\n"), ids); err != nil {
					t.Fatal(err)
				}
			}
			after, n, err := loaded(t, g, load.Mode(c.Mode), strings.Join(c.Data, "\n"), ids)
			switch {
			case c.Expect.Error == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case c.Expect.Error != "" && (err == nil || !strings.Contains(err.Error(), c.Expect.Error)):
				t.Fatalf("says %v, recorded %s", err, c.Expect.Error)
			case c.Expect.Total != nil && n != *c.Expect.Total:
				t.Errorf("%d entities, recorded %d", n, *c.Expect.Total)
			}
			if err != nil {
				after = g
			}
			for _, q := range c.Then {
				answered += follow(t, after, q.Query, q.Expect)
			}
		})
	}
	if answered != 13 {
		t.Errorf("%d follow-up queries were answered", answered)
	}
}

// follow answers a query that scans one type and compares; it leaves out others.
func follow(t *testing.T, g *memgraph.Graph, text string, want expectation) int {
	t.Helper()
	file, err := query.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	q := file.Queries[0]
	b, ok := q.Match[0].(*query.Binding)
	plain := func(p query.Projection) bool {
		return p.Expr.Kind == query.ExprVar || p.Expr.Kind == query.ExprProperty
	}
	if !ok || len(q.Match) > 1 || len(b.Props) > 0 || slices.ContainsFunc(q.Return, func(p query.Projection) bool { return !plain(p) }) {
		return 0
	}
	typ, _ := g.IR.Type(schema.KindNode, b.Type)
	var got []map[string]any
	for _, r := range g.Sorted(typ) {
		row := map[string]any{}
		for _, p := range q.Return {
			if p.Expr.Kind == query.ExprVar {
				row[*p.Alias] = r.ID
				continue
			}
			i := slices.IndexFunc(typ.Properties, func(t schema.Property) bool { return t.Name == p.Expr.Name })
			if err := json.Unmarshal(shown(r.Values[i]), ptr(row, *p.Alias)); err != nil {
				t.Fatal(err)
			}
		}
		got = append(got, row)
	}
	key := func(m map[string]any) string { b, _ := json.Marshal(m); return string(b) }
	byKey := func(a, b map[string]any) int { return strings.Compare(key(a), key(b)) }
	rows := slices.Clone(want.Rows)
	slices.SortFunc(rows, byKey)
	slices.SortFunc(got, byKey)
	if len(got) != len(rows) || !slices.EqualFunc(got, rows, func(a, b map[string]any) bool { return reflect.DeepEqual(a, b) }) {
		t.Errorf("%s\n found %v\n recorded %v", text, got, rows)
	}
	return 1
}

// ptr unmarshals into a member of a map.
func ptr(m map[string]any, name string) json.Unmarshaler { return &member{m, name} }

type member struct {
	m    map[string]any
	name string
}

func (p *member) UnmarshalJSON(b []byte) error {
	var v any
	err := json.Unmarshal(b, &v)
	p.m[p.name] = v
	return err
}

// shown is a value as the answer of a query has it: dates as text.
func shown(v value.Value) []byte {
	switch v.Kind() {
	case value.Date:
		return []byte(time.Unix(v.Int()*86400, 0).UTC().Format(`"2006-01-02"`))
	case value.DateTime:
		return []byte(time.UnixMilli(v.Int()).UTC().Format(`"2006-01-02T15:04:05.000Z"`))
	}
	return v.JSON().Append(nil)
}

// The follow-up of an edge that was named in another letter case.
func TestEdgeNameInAnyCase(t *testing.T) {
	ir := pgtest.IR(t, "node A { k: String @key }\nedge WroteIt: A -> A")
	g, _, err := loaded(t, memgraph.New(ir), load.Append, `{"type":"A","data":{"k":"1"}}`+"\n"+`{"edge":"wROTEIT","to":"1","from":"1"}`, numbered())
	if err != nil {
		t.Fatal(err)
	}
	rows := g.Sorted(&ir.Edges[0])
	if len(rows) != 1 || rows[0].Src != "1" || rows[0].Dst != "1" || rows[0].ID != "01JNEW00000000000000000001" {
		t.Errorf("found %v", rows)
	}
}

// TestMutateCases: the mutations of the conformance file, those that a check of
// data refuses and those that succeed, bound by package query.
func TestMutateCases(t *testing.T) {
	refused, kept := 0, 0
	for _, c := range cases(t, "mutate/") {
		t.Run(c.Name, func(t *testing.T) {
			ir := pgtest.IR(t, c.Schema)
			ids := numbered()
			g, _, err := loaded(t, memgraph.New(ir), load.Overwrite, strings.Join(c.Data, "\n"), ids)
			if err != nil {
				t.Fatal(err)
			}
			bound, err := bind(c, ir)
			if err != nil {
				if c.Expect.Error == "" {
					t.Fatal(err)
				}
				return // a fault of the query itself, which package query has
			}
			m := &mutation{g: g, ids: ids, at: map[*schema.Type]int{}}
			for _, s := range bound.Statements {
				m.run(t, s)
			}
			report, err := validate.Check(t.Context(), ir, m.d, g, 1)
			if err != nil {
				t.Fatal(err)
			}
			switch err := report.Err(); {
			case c.Defect == "D10" || c.Defect == "D13":
				if err != nil {
					t.Errorf("refused: %v", err)
				}
			case c.Expect.Error == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.Expect.Error != "" && (err == nil || !strings.Contains(err.Error(), c.Expect.Error)):
				t.Errorf("says %v, recorded %s", err, c.Expect.Error)
			case err != nil:
				refused++
				return
			}
			kept++
			after := g.Apply(m.d)
			for _, q := range c.Then {
				follow(t, after, q.Query, q.Expect)
			}
		})
	}
	if refused != 6 || kept < 27 {
		t.Errorf("%d refused, %d kept", refused, kept)
	}
}

func bind(c caseOf, ir *schema.IR) (*query.Bound, error) {
	file, err := query.Parse(c.Query)
	if err != nil {
		return nil, err
	}
	q, err := file.Select(c.QueryName)
	if err != nil {
		return nil, err
	}
	checked, err := query.Check(q, ir)
	if err != nil {
		return nil, err
	}
	return checked.Bind(c.Params, time.UnixMilli(1704110400500))
}

// mutation gathers what statements do: the plainest way to run them.
type mutation struct {
	g   *memgraph.Graph
	ids func() string
	d   validate.Delta
	at  map[*schema.Type]int
}

func (m *mutation) change(t *schema.Type) *validate.Change {
	if _, ok := m.at[t]; !ok {
		m.at[t] = len(m.d)
		m.d = append(m.d, validate.Change{Type: t})
	}
	return &m.d[m.at[t]]
}

func (m *mutation) run(t *testing.T, s query.Statement) {
	t.Helper()
	if s.Verb == query.Delete {
		for _, r := range m.g.Sorted(s.Type) {
			if matches(t, s, r) {
				m.remove(s.Type, r.ID)
			}
		}
		return
	}
	b := validate.Batch{Kind: validate.Insert}
	if s.Verb == query.Update {
		b.Kind = validate.Update
		for _, r := range m.g.Apply(m.d).Sorted(s.Type) {
			if matches(t, s, r) {
				b.Rows = append(b.Rows, set(t, s, r))
			}
		}
	} else {
		r := set(t, s, validate.Row{Src: s.From, Dst: s.To, Values: make([]value.Value, len(s.Type.Properties))})
		r.ID = m.ids()
		if key := s.Type.Key(); key != nil {
			b.Kind = validate.Upsert
			var values []value.Value
			for _, k := range key {
				values = append(values, r.Values[slices.IndexFunc(s.Type.Properties, func(p schema.Property) bool { return p.Name == k.Name })])
			}
			r.ID, _ = value.ID(values)
		}
		b.Rows = append(b.Rows, r)
	}
	c := m.change(s.Type)
	c.Batches = append(c.Batches, b)
}

// remove takes an entity away, and the edges at a node.
func (m *mutation) remove(t *schema.Type, id string) {
	c := m.change(t)
	if !slices.Contains(c.Removed, id) {
		c.Removed = append(c.Removed, id)
	}
	if t.Kind == schema.KindEdge {
		return
	}
	for i := range m.g.IR.Edges {
		e := &m.g.IR.Edges[i]
		for _, r := range m.g.Sorted(e) {
			if e.From.Name == t.Name && r.Src == id || e.To.Name == t.Name && r.Dst == id {
				m.remove(e, r.ID)
			}
		}
	}
}

func set(t *testing.T, s query.Statement, r validate.Row) validate.Row {
	t.Helper()
	r.Values = slices.Clone(r.Values)
	for _, x := range s.Set {
		i := slices.IndexFunc(s.Type.Properties, func(p schema.Property) bool { return p.Name == x.Property.Name })
		var err error
		if r.Values[i], err = value.Of(x.Property.Type, x.Value); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// matches asks a where: numbers and dates as doubles, texts and booleans as texts.
func matches(t *testing.T, s query.Statement, r validate.Row) bool {
	t.Helper()
	w := s.Where
	if w.Test == query.Never {
		return false
	}
	have, typ := value.String(r.Src), schema.PropType{Scalar: schema.Scalar{Name: "String"}}
	if w.Column == "dst" {
		have = value.String(r.Dst)
	}
	if p, ok := s.Type.Property(w.Column); ok {
		have, typ = r.Values[slices.IndexFunc(s.Type.Properties, func(p schema.Property) bool { return p.Name == w.Column })], p.Type
	}
	if have.Kind() == value.Null || w.Test == query.Present {
		return have.Kind() != value.Null
	}
	want, err := value.Of(typ, w.Value)
	if err != nil {
		t.Fatal(err)
	}
	order := strings.Compare(string(have.JSON().Append(nil)), string(want.JSON().Append(nil)))
	if x, ok := number(have); ok {
		y, _ := number(want)
		order = int(max(-1, min(1, (x-y)*1e6)))
	}
	switch w.Test {
	case query.Equal:
		return order == 0
	case query.Unequal:
		return order != 0
	case query.Less:
		return order < 0
	case query.AtMost:
		return order <= 0
	case query.Greater:
		return order > 0
	}
	return order >= 0
}

func number(v value.Value) (float64, bool) {
	if v.Kind() == value.Date || v.Kind() == value.DateTime {
		return float64(v.Int()), true
	}
	return v.Number()
}
