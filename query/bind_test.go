package query

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/schema"
)

func bind(t *testing.T, ir *schema.IR, source, params string) *Bound {
	t.Helper()
	file, err := Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	checked, err := Check(file.Queries[0], ir)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := checked.Bind([]byte(params), time.Date(2026, 11, 29, 23, 59, 59, 123_999_999, time.FixedZone("", 3600)))
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return bound
}

// spellStatement is a statement as one line.
func spellStatement(s Statement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", s.Verb, s.Type.Alias())
	if s.From+s.To != "" {
		fmt.Fprintf(&b, " %s -> %s", s.From, s.To)
	}
	for _, set := range s.Set {
		fmt.Fprintf(&b, " %s=%T(%v)", set.Property.Name, set.Value, set.Value)
	}
	if s.Where.Test != "" {
		fmt.Fprintf(&b, " where %s %s", s.Where.Column, s.Where.Test)
		if s.Where.Value != nil {
			fmt.Fprintf(&b, " %T(%v)", s.Where.Value, s.Where.Value)
		}
	}
	return b.String()
}

func TestStatements(t *testing.T) {
	ir := pgtest.IR(t, wide)
	for _, c := range []struct{ source, params, want string }{
		{
			`query q($s: String, $b: Blob) { insert Service { slug: $s, name: "n", tier: "gold", made: [1, 0.5], tags: ["a", "b"], replicas: 5, small: 6, big: 7, cost: 8, rate: 9, launched: date("1970-01-02"), checked: now(), up: true, logo: $b, vec: [1, 2, 3] } }`,
			`{"s": "x", "b": "base64:aGk=", "unknown": [1, null]}`,
			"insert node:Service slug=string(x) name=string(n) tier=string(gold) made=[]float32([1 0.5]) tags=[]interface {}([a b]) replicas=int32(5) small=uint32(6) big=uint64(7) cost=float64(8) rate=float32(9) launched=arrow.Date32(1) checked=arrow.Date64(1795993199123) up=bool(true) logo=string(base64:aGk=) vec=[]float32([1 2 3])",
		},
		{
			`query q($m: [I64], $v: Vector(3), $d: DateTime?, $f: F32) { update Service set { marks: $m, vec: $v, checked: $d, rate: $f, name: "o" } where slug = "x" }`,
			`{"m": [1, "-2"], "v": [1, 2.5, 1e3], "f": 0.1}`,
			"update node:Service marks=[]interface {}([1 -2]) vec=[]float32([1 2.5 1000]) checked=<nil>(<nil>) rate=float32(0.1) name=string(o) where slug = string(x)",
		},
		{`query q($w: I32) { insert DependsOn { from: "a" to: "b" weight: $w kind: "k" } }`, `{"w": "+1"}`, "insert edge:DependsOn a -> b weight=float32(1) kind=string(k)"},
		{`query q() { delete DependsOn where to != "b" delete Holds where since >= date("1970-01-03") delete Box where b < 3 }`, "null", "delete edge:DependsOn where dst != string(b); delete edge:Holds where since >= arrow.Date32(2); delete node:Box where b < int32(3)"},
		{`query q() { delete DependsOn where from = "b" }`, " ", "delete edge:DependsOn where src = string(b)"},
		{`query q($n: String?) { delete Service where name != $n }`, "{}", "delete node:Service where name never"},
		{`query q($n: String, $n: Date) { delete Service where launched = $n }`, `{"n": "1970-01-02", "n": "1970-01-03"}`, "delete node:Service where launched = arrow.Date32(2)"},
		{`query q() { delete Service where checked < now() }`, "", "delete node:Service where checked < arrow.Date64(1795993199123)"},
	} {
		var got []string
		for _, s := range bind(t, ir, c.source, c.params).Statements {
			got = append(got, spellStatement(s))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.source, c.params, s, c.want)
		}
	}
}

// TestPredicatesCompareByValue holds a predicate over a column of each integer
// and float type against the comparison of the numbers themselves.
func TestPredicatesCompareByValue(t *testing.T) {
	ir := pgtest.IR(t, "node N { k: String @key i: I32? l: I64? u: U32? w: U64? d: F64? f: F32? }")
	columns := map[string][]any{
		"i": {int32(math.MinInt32), int32(-3), int32(-2), int32(0), int32(2), int32(3), int32(math.MaxInt32)},
		"l": {int64(math.MinInt64), int64(-3), int64(2), int64(3), int64(math.MaxInt64)},
		"u": {uint32(0), uint32(2), uint32(3), uint32(math.MaxUint32)},
		"w": {uint64(0), uint64(2), uint64(3), uint64(1 << 63), uint64(math.MaxUint64)},
		"d": {-2.5, 0.0, 2.0, 2.5, 3.0, 1e30},
		"f": {float32(-2.5), float32(0), float32(2), float32(2.5), float32(1e30)},
	}
	numbers := []string{"2", "3", "2.5", "2.0", "-2", "-2.5", "-0.5", "0", "1e30", "-1e30", "9000000000", "9223372036854775807", "-9223372036854775808", "1.8446744073709552e19", "9223372036854775808.0"}
	tests := map[Op]func(sign int) bool{
		Eq: func(s int) bool { return s == 0 }, Ne: func(s int) bool { return s != 0 }, Lt: func(s int) bool { return s < 0 },
		Le: func(s int) bool { return s <= 0 }, Gt: func(s int) bool { return s > 0 }, Ge: func(s int) bool { return s >= 0 },
	}
	n := 0
	for column, values := range columns {
		for _, number := range numbers {
			kind := "F64"
			if !strings.ContainsAny(number, ".e") {
				kind = "I64"
			}
			for op, holds := range tests {
				b := bind(t, ir, fmt.Sprintf("query q($n: %s) { delete N where %s %s $n }", kind, column, op), fmt.Sprintf(`{"n": %s}`, number))
				p := b.Statements[0].Where
				if p.Column != column {
					t.Fatalf("column %s, want %s", p.Column, column)
				}
				for _, v := range values {
					n++
					if got, want := apply(p, v), holds(sign(v, number)); got != want {
						t.Errorf("%s: %v %s %s is %t, the predicate %s %v says %t", column, v, op, number, want, p.Test, p.Value, got)
					}
				}
			}
		}
	}
	t.Logf("%d comparisons", n)
}

// TestBindRead: parameters of a reading query are read, and those that it
// mentions nowhere may be missing.
func TestBindRead(t *testing.T) {
	ir := pgtest.IR(t, wide)
	b := bind(t, ir, "query q($a: I32, $b: Date?, $c: [F32], $unused: Bool) { match { $s: Service $s.replicas > $a } return { $s.slug } order { nearest($s.vec, [1, 2, 3]) } limit 2 }", `{"a": "7", "c": [1, 2.5]}`)
	want := map[string]Literal{
		"a": {Kind: LitInteger, Int: 7}, "b": {},
		"c": {Kind: LitList, Items: []Literal{{Kind: LitFloat, Float: 1}, {Kind: LitFloat, Float: 2.5}}},
	}
	if !reflect.DeepEqual(b.Params, want) || b.Statements != nil || *b.Query.Limit != 2 {
		t.Errorf("got %+v", b.Params)
	}
	if lit := b.Query.Order[0].Expr.Args[1].Lit; len(lit.Items) != 3 {
		t.Errorf("got %+v", lit)
	}
}

// TestNow is the instant that was handed over, in UTC, to the millisecond.
func TestNow(t *testing.T) {
	ir := pgtest.IR(t, wide)
	b := bind(t, ir, "query q() { update Service set { checked: now() } where checked < now() }", "")
	want := arrow.Date64(time.Date(2026, 11, 29, 22, 59, 59, 123_000_000, time.UTC).UnixMilli())
	if got := b.Statements[0]; got.Set[0].Value != want || got.Where.Value != want {
		t.Errorf("now is %v and %v, want %v", got.Set[0].Value, got.Where.Value, want)
	}
}
