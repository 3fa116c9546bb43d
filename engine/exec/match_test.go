package exec_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine/exec"
	"github.com/omnideck/omnideck/query"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
)

const everyType = `node T { k: String @key
 s: String?
 b: Bool?
 i: I32?
 l: I64?
 u: U32?
 w: U64?
 f: F32?
 d: F64?
 day: Date?
 at: DateTime?
 e: enum(blue, green, red)?
 tags: [String]?
 v: Vector(2)?
 mark: Bool?
 seen: Bool? }
edge E: T -> T`

// three values of each column, in their order, as JSON.
var ordered = []struct {
	column, typ string
	values      [3]string
	equals      string // text of a deletion of the middle one
}{
	{"k", "String", [3]string{`"hi"`, `"lo"`, `"mid"`}, "k = 'lo'"}, // the key itself
	{"s", "String", [3]string{`""`, `"it's"`, `"ü"`}, "s = 'it''s'"},
	{"i", "I32", [3]string{`-2147483648`, `-1`, `2147483647`}, "i = -1"},
	{"l", "I64", [3]string{`-9007199254740993`, `0`, `9007199254740993`}, "l = 0"},
	{"u", "U32", [3]string{`0`, `2147483648`, `4294967295`}, "u = 2147483648"},
	{"w", "U64", [3]string{`0`, `1`, `9223372036854775807`}, "w = 1"},
	{"f", "F32", [3]string{`-0.5`, `0.1`, `1e10`}, "f = 0.1"},
	{"d", "F64", [3]string{`-1e300`, `0.1`, `2`}, "d = 0.1"},
	{"day", "Date", [3]string{`"1969-12-31"`, `"1970-01-01"`, `"2024-02-29"`}, "day = '1970-01-01'"},
	{"at", "DateTime", [3]string{`"1969-12-31T23:59:59.999Z"`, `"1970-01-01T00:00:00Z"`, `"2024-02-29T12:00:00Z"`}, "at = '1970-01-01T00:00:00.000Z'"},
	{"e", "String", [3]string{`"blue"`, `"green"`, `"red"`}, "e = 'green'"},
}

var operators = map[string][]int{"=": {1}, "!=": {0, 2}, "<": {0}, "<=": {0, 1}, ">": {2}, ">=": {1, 2}}

// everyRow are rows lo, mid and hi with the values of each column, and one whose
// values are null; keys are so that their order is that of the column k above.
func everyRow() []string {
	var out []string
	for i, key := range []string{"hi", "lo", "mid"} {
		cells := []string{fmt.Sprintf(`"k":%q,"b":%v`, key, i > 0)}
		for _, c := range ordered[1:] {
			cells = append(cells, fmt.Sprintf("%q:%s", c.column, c.values[i]))
		}
		out = append(out, `{"type":"T","data":{`+strings.Join(cells, ",")+`,"tags":["x"],"v":[1,2]}}`)
	}
	return append(out, `{"type":"T","data":{"k":"nil"}}`)
}

// marked are the keys of rows with mark = true.
func marked(g *graph) (out []string) {
	for _, row := range g.lines() {
		if _, rest, ok := strings.Cut(row, `"k":"`); ok && strings.Contains(row, `"mark":true`) {
			key, _, _ := strings.Cut(rest, `"`)
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// where runs an update of the rows that meet a condition: of rows of the base, and
// of the same rows as an earlier statement left them in memory.
func (base *graph) where(decl, params, condition string, want ...string) {
	t := base.t
	t.Helper()
	for way, before := range map[string]string{"base": "", "memory": `update T set { seen: true } where k >= "" `} {
		g := base.clone()
		if before == "" && len(want) == 0 {
			if _, _, err := g.mutateWith(decl, params, "update T set { mark: true } where "+condition); !isNothing(err) {
				t.Errorf("%s: %s: %v", way, condition, err)
			}
			continue
		}
		if _, _, err := g.mutateWith(decl, params, before+"update T set { mark: true } where "+condition); err != nil {
			t.Errorf("%s: %s with %s: %v", way, condition, params, err)
			continue
		}
		if got := marked(g); !slices.Equal(got, want) {
			t.Errorf("%s: %s with %s finds %v, expected %v", way, condition, params, got, want)
		}
	}
}

// Every comparison of a value of every type finds the same rows in the base and in
// memory; none is true of null.
func TestPredicates(t *testing.T) {
	base := newGraph(t, everyType, everyRow()...)
	keys := []string{"hi", "lo", "mid"}
	for _, c := range ordered {
		t.Run(c.column, func(t *testing.T) {
			for op, at := range operators {
				var want []string
				for _, i := range at {
					want = append(want, keys[i])
				}
				if c.column == "k" && op[0] == '>' || c.column == "k" && op == "!=" {
					want = append(want, "nil") // whose key is there
				}
				base.where("$x: "+c.typ, `{"x":`+c.values[1]+`}`, c.column+" "+op+" $x", want...)
			}
		})
	}
	for condition, want := range map[string][]string{"b = true": {"lo", "mid"}, "b != true": {"hi"}, "b = false": {"hi"}, "b < true": {"hi"}, "b >= false": {"hi", "lo", "mid"}} {
		base.where("", "", condition, want...)
	}
}

// Nothing is found by null; numbers that no value of the column can be are between
// those that can.
func TestPredicatesOfOtherValues(t *testing.T) {
	base := newGraph(t, everyType, everyRow()...)
	for _, c := range ordered[1:] {
		for _, op := range []string{"=", "!="} {
			base.where("$x: "+c.typ+"?", `{"x":null}`, c.column+" "+op+" $x")
		}
	}
	for condition, want := range map[string][]string{
		"i < 0.5": {"hi", "lo"}, "i = 0.5": nil, "i != 0.5": {"hi", "lo", "mid"}, "u >= 2147483648.5": {"mid"}, "i < 9999999999": {"hi", "lo", "mid"}, "i > 9999999999": nil,
		"w <= 1": {"hi", "lo"}, "f = 0.1": {"lo"}, "d > 1": {"mid"},
	} {
		base.where("", "", condition, want...)
	}
}

// A list, a vector and a value of another kind are refused, not compared.
func TestPredicatesThatAreRefused(t *testing.T) {
	g := newGraph(t, everyType, everyRow()...)
	for _, condition := range []string{`tags = ["x"]`, `tags != []`, `v = [1.0, 2.0]`} {
		err := g.untouched(func(g *graph) error { _, _, err := g.mutate("delete T where " + condition); return err })
		wantErr[*query.RefusedError](t, err, "T.", "cannot compare")
	}
	for column, value := range map[string]query.Value{"tags": []any{"x"}, "v": []any{float32(1), float32(2)}, "none": "x"} {
		_, _, err := g.run(func(ctx context.Context, tx *txn.Txn) (*exec.Plan, error) {
			typ, _ := tx.Contract.IR.Type(schema.KindNode, "T")
			return exec.Mutate(ctx, tx, []query.Statement{{Verb: query.Delete, Type: typ, Where: query.Predicate{Column: column, Test: query.Equal, Value: value}}}, exec.Options{})
		})
		if err == nil || isNothing(err) || !strings.Contains(err.Error(), column) {
			t.Errorf("%s: %v", column, err)
		}
	}
	if got := len(g.rows()); got != 4 {
		t.Errorf("%d rows are left", got)
	}
}

// The text of a deletion spells values as the Rust engine does.
func TestTextsOfDeletions(t *testing.T) {
	base := newGraph(t, everyType, everyRow()...)
	for _, c := range ordered {
		g := base.clone()
		p, _, err := g.mutateWith("$x: "+c.typ, `{"x":`+c.values[1]+`}`, "delete T where "+c.column+" = $x")
		if err != nil {
			t.Fatal(err)
		}
		wantTexts(t, p, map[string]string{"node:T": c.equals})
	}
	for statements, want := range map[string]string{
		"delete T where i != 0.5": "i IS NOT NULL", "delete T where b = true": "b = true", "delete T where d = 2.0": "d = 2", "delete T where f >= 9999999999.0": "f >= 10000000000",
	} {
		g := base.clone()
		p, _, err := g.mutate(statements)
		if err != nil {
			t.Fatal(err)
		}
		wantTexts(t, p, map[string]string{"node:T": want})
	}
}
