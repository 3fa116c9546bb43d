package value_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
)

func parseJSON(t testing.TB, text string) ojson.Value {
	t.Helper()
	v, err := ojson.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// lines are the arrays of a testdata file, which starts with where it is from.
func lines(t *testing.T, file string) (out [][]*string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range slices.Collect(strings.Lines(string(data))) {
		var row []*string
		if i == 0 {
			continue
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	return out
}

// ours are inputs that we refuse and the Rust engine reads: names of zones, and
// letters behind a short date.
var ours = []string{`"2024-02-29T10:00:00 EST"`, `"2024-02-29 10:00:00Zulu"`, `"2024-1-1 "`,
	`"2024-02-29T10:00:00 UTC"`, `"2024-02-29T10:00:00UTC"`, `"2024-02-29T10:00:00.5 UTC"`}

// What the Rust engine did with the same JSON.
func TestParseAsTheRustEngine(t *testing.T) {
	d := &pgtest.IR(t, "node D { k: String @key d: Date? t: DateTime? f: F32? g: F64? n: I32? u: U64? }").Nodes[0]
	rows := lines(t, "rust.jsonl")
	if len(rows) < 130 {
		t.Errorf("only %d rows", len(rows))
	}
	for _, row := range rows {
		name, in, want, refused := *row[0], *row[1], row[2], row[3]
		p, _ := d.Property(name)
		v, err := value.Parse(name, p.Type, parseJSON(t, in))
		var r *value.Refusal
		switch {
		case slices.Contains(ours, in):
			if err == nil {
				t.Errorf("%s %s: read as %s, expected to be refused", name, in, v.JSON().Append(nil))
			}
		case want != nil:
			if got := string(v.JSON().Append(nil)); err != nil || got != *want {
				t.Errorf("%s %s: %s, %v, want %s", name, in, got, err, *want)
			}
		case !errors.As(err, &r) || r.Property != name || r.Rule != value.RuleType:
			t.Errorf("%s %s: %v, want a refusal", name, in, err)
		case *refused == "invalid strict JSON at line" && strings.HasSuffix(err.Error(), "number out of range"):
		case strings.HasPrefix(in, "{") && strings.HasPrefix(err.Error(), strings.TrimSuffix(*refused, `{"a":1.5}`)):
		case !strings.HasPrefix(err.Error(), *refused):
			t.Errorf("%s %s: says %v, the Rust engine %s", name, in, err, *refused)
		}
	}
}

func TestParseOtherForms(t *testing.T) {
	d := &pgtest.IR(t, `node D { s: String e: enum(b, a) l: [I32]? li: [Date] v: Vector(2)? w: Vector(2) b: Blob? c: Blob o: Bool fl: [F32]? }`).Nodes[0]
	for _, c := range []struct{ name, in, want string }{
		{"s", `"é\n"`, `"é\n"`}, {"s", `7`, "strict property 's' expects Utf8, got 7"}, {"s", "null", "non-nullable property 's' has null or invalid values"},
		{"e", `"zz"`, `"zz"`}, {"o", "true", "true"}, {"o", "0", "strict property 'o' expects Boolean, got 0"},
		{"l", "[1, -2]", "[1,-2]"}, {"l", "[]", "[]"}, {"l", "null", "null"}, {"l", `"1"`, `list property 'l' expects a JSON array, got "1"`},
		{"l", "[1,null]", "strict list property 'l' contains a null or invalid item"}, {"l", "[2147483648]", "list value 2147483648 exceeds Int32 range"},
		{"li", `["2024-01-01", 3]`, "[19723,3]"}, {"li", `["x"]`, "invalid Date literal 'x'"}, {"fl", "[1e39]", "exceeds Float32 range"},
		{"v", "[1, 0.1]", "[1.0,0.10000000149011612]"}, {"v", "[1]", "vector property 'v' expects 2 dimensions, got 1"}, {"v", "null", "null"},
		{"v", "[1,null]", "vector property 'v' elements must be numeric, got null"}, {"v", "{}", "vector property 'v' expects a JSON array, got {}"},
		{"v", "[1,1e39]", "vector element value 1000000000000000000000000000000000000000 exceeds Float32 range"}, {"w", "null", "non-nullable vector property 'w' has null values"},
		{"b", `"base64:aGk="`, `"base64:aGk="`}, {"b", `"base64:"`, `"base64:"`}, {"b", `"s3://x/y"`, `"s3://x/y"`}, {"b", "1", "blob property 'b' must be a URI string or base64: prefixed data"},
		{"b", `"base64:aGk"`, "invalid base64 blob data: "}, {"b", `"base64:aG\nk="`, "invalid base64 blob data: "}, {"b", `"base64:aGl="`, "invalid base64 blob data: "},
		{"c", "null", "non-nullable blob property 'c' has null values"},
	} {
		p, _ := d.Property(c.name)
		v, err := value.Parse(c.name, p.Type, parseJSON(t, c.in))
		if err != nil && !strings.HasPrefix(err.Error(), c.want) && !strings.Contains(err.Error(), c.want) || err == nil && string(v.JSON().Append(nil)) != c.want {
			t.Errorf("%s %s: %s, %v, want %s", c.name, c.in, v.JSON().Append(nil), err, c.want)
		}
	}
}

// table is one table of the fixture graph with all its rows.
type table struct {
	t     *schema.Type
	batch arrow.RecordBatch
}

// tables scans the newest version of every node and edge table of the graph
// that the Rust engine wrote.
func tables(t *testing.T) (out []table) {
	t.Helper()
	ctx := context.Background()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	store, err := fixtures.Store(memstore.Options{}, files)
	if err != nil {
		t.Fatal(err)
	}
	ir, err := schema.ParseIR(files[schema.IRKey])
	if err != nil {
		t.Fatal(err)
	}
	for _, types := range [][]schema.Type{ir.Nodes, ir.Edges} {
		for i := range types {
			ty := &types[i]
			snap, err := lance.Open(ctx, store, tablePath(ty), lance.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for batch, err := range snap.Scan(ctx, lance.ScanOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(batch.Release)
				out = append(out, table{ty, batch})
			}
		}
	}
	return out
}

// Every value of the graph: as it is scanned, as export spells it, parsed from
// that, and appended to a column of its own.
func TestValuesOfARealGraph(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	values, nodes := 0, 0
	for _, tab := range tables(t) {
		rules, err := value.NewRules(tab.t)
		if err != nil {
			t.Fatal(err)
		}
		for k, c := range tab.t.Columns() {
			if c.Prop != nil && !c.Blob {
				values += column(t, mem, tab, k, c, rules)
			}
		}
		nodes += ids(t, tab)
	}
	if values < 500 || nodes < 50 {
		t.Errorf("only %d values and %d keys were compared", values, nodes)
	}
}

func column(t *testing.T, mem memory.Allocator, tab table, k int, c schema.Column, rules *value.Rules) int {
	t.Helper()
	arr := tab.batch.Column(k)
	b := array.NewBuilder(mem, c.Arrow)
	defer b.Release()
	l, err := load.Bind(load.Table{Edge: tab.t.Kind == schema.KindEdge, Name: tab.t.Name, Properties: []string{c.Name}}, tab.batch, nil)
	if err != nil {
		t.Fatal(err)
	}
	for row := range arr.Len() {
		scanned, err := value.At(c.Prop.Type, arr, row)
		if err != nil {
			t.Fatal(err)
		}
		line, err := l.Append(nil, row)
		if err != nil {
			t.Fatal(err)
		}
		data := parseJSON(t, string(line)).Members()
		exported := data[len(data)-1].Value.Members()[1].Value
		v, err := value.Parse(c.Name, c.Prop.Type, exported)
		if err != nil || string(v.JSON().Append(nil)) != string(exported.Append(nil)) || string(scanned.JSON().Append(nil)) != string(exported.Append(nil)) {
			t.Errorf("%s.%s: scanned %s, exported %s, parsed %s (%v)", tab.t.Name, c.Name, scanned.JSON().Append(nil), exported.Append(nil), v.JSON().Append(nil), err)
		}
		if err := rules.Check(c.Name, v); err != nil {
			t.Errorf("an accepted value is refused: %v", err)
		}
		if err := value.Append(b, v); err != nil {
			t.Error(err)
		}
	}
	made := b.NewArray()
	defer made.Release()
	if !array.Equal(made, arr) {
		t.Errorf("%s.%s: made anew %v, scanned %v", tab.t.Name, c.Name, made, arr)
	}
	return arr.Len()
}

// ids compares the id of every node that has a key with the one made of it.
func ids(t *testing.T, tab table) int {
	t.Helper()
	key := tab.t.Key()
	if key == nil {
		return 0
	}
	id := tab.batch.Column(0).(*array.String)
	for row := range id.Len() {
		var parts []value.Value
		for _, ref := range key {
			p, _ := tab.t.Property(ref.Name)
			v, err := value.At(p.Type, tab.batch.Column(tab.batch.Schema().FieldIndices(ref.Name)[0]), row)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, v)
		}
		if got, err := value.ID(parts); err != nil || got != id.Value(row) {
			t.Errorf("%s: id %q made of the key, %q in the table (%v)", tab.t.Name, got, id.Value(row), err)
		}
	}
	return id.Len()
}

func TestKeys(t *testing.T) {
	d := &pgtest.IR(t, "node D { s: String b: Bool d: Date t: DateTime f: F32 g: F64 n: I64 u: U64 l: [I32] v: Vector(1) o: Blob z: I32? }").Nodes[0]
	get := func(name, in string) value.Value {
		p, _ := d.Property(name)
		v, err := value.Parse(name, p.Type, parseJSON(t, in))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct{ name, in, want string }{
		{"s", `"a\"é"`, `a"é`}, {"b", "true", "true"}, {"d", `"1970-01-02"`, "1"}, {"t", `"1970-01-01T00:00:01Z"`, "1000"}, {"n", "-9223372036854775808", "-9223372036854775808"},
		{"u", "18446744073709551615", "18446744073709551615"}, {"g", "1e23", "100000000000000000000000"}, {"g", "-0", "0"}, {"g", "1.5", "1.5"}, {"g", "1e-7", "0.0000001"}, {"g", "2", "2"},
		{"f", "0.1", "0.1"}, {"f", "-0.0", "0"}, {"f", "16777217", "16777216"}, {"f", "3.4028235e38", "340282350000000000000000000000000000000"},
	} {
		if got, err := get(c.name, c.in).Key(); err != nil || got != c.want {
			t.Errorf("%s %s: key %q, %v, want %q", c.name, c.in, got, err, c.want)
		}
	}
	for _, v := range []value.Value{get("l", "[1]"), get("v", "[1]"), get("o", `"base64:"`), get("z", "null")} {
		var r *value.Refusal
		if got, err := v.Key(); !errors.As(err, &r) || r.Rule != value.RuleKey {
			t.Errorf("%s has the key %q, %v", v.JSON().Append(nil), got, err)
		}
	}
	if id, err := value.ID([]value.Value{get("s", `"no\"rth"`), get("n", "7")}); err != nil || id != `["no\"rth","7"]` {
		t.Errorf("id %s, %v", id, err)
	}
	nan := array.NewFloat64Builder(memory.DefaultAllocator)
	defer nan.Release()
	nan.Append(math.NaN())
	arr := nan.NewArray()
	defer arr.Release()
	v, err := value.At(d.Properties[3].Type, arr, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Key(); err == nil {
		t.Error("NaN is a key")
	}
}

func TestRules(t *testing.T) {
	d := &pgtest.IR(t, `node D { n: I64? f: F64? e: enum(b, a)? c: String? l: [I32]? u: U64? @range(n, -5..10) @range(f, 0.5..) @range(u, ..100) @range(l, 1..2) @check(c, "^[a-z]+$") @check(c, "..") }`).Nodes[0]
	rules, err := value.NewRules(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, in, want string }{
		{"n", "10", ""}, {"n", "11", "@range violation on D.n: value 11 > max 10"}, {"n", "-6", "@range violation on D.n: value -6 < min -5"}, {"n", "null", ""},
		{"f", "0.5", ""}, {"f", "0.25", "@range violation on D.f: value 0.25 < min 0.5"}, {"u", "5", "@range violation on D.u: value 5 < min 100"}, {"u", "100", ""},
		{"l", "[7]", ""}, {"e", `"a"`, ""}, {"e", `"z"`, "invalid enum value 'z' for D.e (expected: a, b)"}, {"c", `"ab"`, ""},
		{"c", `"A1"`, "@check violation on D.c: value 'A1' does not match pattern '^[a-z]+$'"}, {"c", `"a"`, "@check violation on D.c: value 'a' does not match pattern '..'"},
	} {
		p, _ := d.Property(c.name)
		v, err := value.Parse(c.name, p.Type, parseJSON(t, c.in))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := rules.Check(c.name, v); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

// beyondGo are the patterns, with their texts, that we refuse and the Rust
// engine evaluates.
var beyondGo = []string{`\bfoo\b éfoo`, `^[a-z&&[^aeiou]]+$ bcd`, `(?x) a b # c ab`, `x{1001} x`, `^\p{Script=Greek}$ α`}

// What the Rust engine did with a text under a pattern.
func TestPatternsAsTheRustEngine(t *testing.T) {
	for _, row := range lines(t, "patterns.jsonl") {
		source, text, want := *row[0], *row[1], *row[2]
		ty := &schema.Type{Name: "D", Constraints: []schema.Constraint{{Kind: "check", Pattern: source, Fields: []schema.FieldRef{{Prop: &schema.PropRef{Name: "v"}}}}}}
		rules, err := value.NewRules(ty)
		if err == nil {
			v, bad := value.Parse("v", schema.PropType{Scalar: schema.Scalar{Name: "String"}}, ojson.Str(text))
			if bad != nil {
				t.Fatal(bad)
			}
			err = rules.Check("v", v)
		}
		got := "ok"
		if r := new(value.Refusal); errors.As(err, &r) {
			got = map[value.Rule]string{value.RuleCheck: "no match", value.RulePattern: "invalid"}[r.Rule]
		}
		if slices.Contains(beyondGo, source+" "+text) {
			want = "invalid"
		}
		if got != want {
			t.Errorf("%s on %q: %s (%v), the Rust engine: %s", source, text, got, err, *row[2])
		}
	}
}

func tablePath(t *schema.Type) string {
	return fmt.Sprintf("%ss/%016x-%016x", t.Kind, t.ID, t.Incarnation)
}

func TestAppendRefusesOtherKinds(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	str := schema.PropType{Scalar: schema.Scalar{Name: "String"}}
	text, err := value.Parse("s", str, ojson.Str("x"))
	if err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{"I32", "I64", "U32", "U64", "F32", "F64", "Bool", "Date", "DateTime", "Blob", "Vector"} {
		pt := schema.PropType{Scalar: schema.Scalar{Name: base, Dim: 2}}
		b := array.NewBuilder(mem, pt.Arrow())
		if err := value.Append(b, text); err == nil || b.Len() != 0 {
			t.Errorf("text went into a column of %s (%v, %d rows)", base, err, b.Len())
		}
		if err := value.Append(b, value.Value{}); err != nil || b.Len() != 1 {
			t.Errorf("no null in a column of %s: %v", base, err)
		}
		arr := b.NewArray()
		if v, err := value.At(pt, arr, 0); err != nil || v.Kind() != value.Null {
			t.Errorf("a null is read as %v, %v", v.Kind(), err)
		}
		arr.Release()
		b.Release()
	}
}

// A blob column has the bytes or the URI.
func TestBlobColumn(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	blob := schema.PropType{Scalar: schema.Scalar{Name: "Blob"}, Nullable: true}
	b := array.NewBuilder(mem, blob.Arrow())
	defer b.Release()
	texts := []string{`"base64:aGk="`, `"s3://x/y"`, "null", `"base64:"`}
	for _, text := range texts {
		v, err := value.Parse("b", blob, parseJSON(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if err := value.Append(b, v); err != nil {
			t.Fatal(err)
		}
	}
	arr := b.NewArray()
	defer arr.Release()
	for i, text := range texts {
		if v, err := value.At(blob, arr, i); err != nil || string(v.JSON().Append(nil)) != text {
			t.Errorf("row %d reads back as %s, %v", i, v.JSON().Append(nil), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, in := range []string{`"2024-02-29T10:00:00.5 +02:00"`, `"-0001-01-01"`, `[1,2.5,"x"]`, `-9223372036854775808`, `"base64:aGk="`} {
		f.Add(in)
	}
	bases := []string{"String", "Bool", "I32", "I64", "U32", "U64", "F32", "F64", "Date", "DateTime", "Blob", "Vector"}
	f.Fuzz(func(t *testing.T, in string) {
		v, err := ojson.Parse([]byte(in))
		if err != nil {
			return
		}
		for _, base := range bases {
			for _, list := range []bool{false, true} {
				pt := schema.PropType{Scalar: schema.Scalar{Name: base, Dim: 3}, List: list && base != "Blob" && base != "Vector"}
				one, err := value.Parse("p", pt, v)
				if err != nil {
					continue
				}
				again, err := value.Parse("p", pt, one.JSON())
				if err != nil || string(again.JSON().Append(nil)) != string(one.JSON().Append(nil)) {
					t.Fatalf("%s as %s is exported as %s, which reads as %s (%v)", in, pt.Spell(), one.JSON().Append(nil), again.JSON().Append(nil), err)
				}
				b := array.NewBuilder(memory.DefaultAllocator, pt.Arrow())
				if err := value.Append(b, one); err != nil || b.Len() != 1 {
					t.Fatalf("%s: %v", pt.Spell(), err)
				}
				b.Release()
			}
		}
	})
}

func FuzzPattern(f *testing.F) {
	f.Add(`^[\w\-.]+@(?i:x)\d{2,3}\u00e9$`, "a@x12é")
	f.Fuzz(func(t *testing.T, source, text string) {
		ty := &schema.Type{Name: "D", Constraints: []schema.Constraint{{Kind: "check", Pattern: source, Fields: []schema.FieldRef{{Prop: &schema.PropRef{Name: "v"}}}}}}
		rules, err := value.NewRules(ty)
		if err != nil {
			return
		}
		v, err := value.Parse("v", schema.PropType{Scalar: schema.Scalar{Name: "String"}}, ojson.Str(text))
		if err != nil {
			t.Fatal(err)
		}
		_ = rules.Check("v", v)
	})
}
