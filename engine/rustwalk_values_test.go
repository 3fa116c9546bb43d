package engine_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// walkSchema has a property of every type, keys of every kind, and a rule of
// each.
const walkSchema = `interface Named { label: String? @index }
node Person implements Named { code: String @key
  age: I32? @index
  big: I64?  u: U32?  uu: U64?  f: F32?  g: F64?  ok: Bool?
  born: Date? @index
  seen: DateTime?
  @range(age, 0..150)
  @check(code, "^[a-z]+[0-9]+$") }
node Item { num: I64 @key
  label: String
  state: enum(new, open, done) @index
  tags: [String]?  nums: [I64]?  floats: [F64]?  flags: [Bool]?  days: [Date]?
  v: Vector(4)? @index
  photo: Blob? }
node Note { text: String @unique
  n: I32?
  photo: Blob? }
node Slot { shelf: String  at: I32  full: Bool?  @key(shelf, at) }
edge Knows: Person -> Person { since: Date?  w: F64? }
edge Owns: Person -> Item @card(0..40) { n: I32?  @unique(src, dst) }
edge About: Note -> Person
edge In: Item -> Slot { pos: Vector(2)? }`

// prop is a property that can be set; of kind it is, in the words of .pg.
type prop struct {
	name, kind string
	nullable   bool
}

// kind is a type of walkSchema: its keys, by which rows are named, and the rest.
type kind struct {
	name  string
	from  string // of an edge
	to    string
	keys  []prop
	props []prop
}

var walkKinds = []kind{
	{name: "Person", keys: []prop{{"code", "String", false}}, props: []prop{
		{"label", "String", true}, {"age", "I32", true}, {"big", "I64", true}, {"u", "U32", true}, {"uu", "U64", true}, {"f", "F32", true}, {"g", "F64", true},
		{"ok", "Bool", true}, {"born", "Date", true}, {"seen", "DateTime", true}}},
	{name: "Item", keys: []prop{{"num", "I64", false}}, props: []prop{
		{"label", "String", false}, {"state", "enum", false}, {"tags", "[String]", true}, {"nums", "[I64]", true}, {"floats", "[F64]", true}, {"flags", "[Bool]", true},
		{"days", "[Date]", true}, {"v", "Vector(4)", true}, {"photo", "Blob", true}}},
	{name: "Note", props: []prop{{"text", "String", false}, {"n", "I32", true}, {"photo", "Blob", true}}},
	{name: "Slot", keys: []prop{{"shelf", "String", false}, {"at", "I32", false}}, props: []prop{{"full", "Bool", true}}},
	{name: "Knows", from: "Person", to: "Person", props: []prop{{"since", "Date", true}, {"w", "F64", true}}},
	{name: "Owns", from: "Person", to: "Item", props: []prop{{"n", "I32", true}}},
	{name: "About", from: "Note", to: "Person"},
	{name: "In", from: "Item", to: "Slot", props: []prop{{"pos", "Vector(2)", true}}},
}

func walkKind(name string) kind {
	for _, k := range walkKinds {
		if k.name == name {
			return k
		}
	}
	panic("no kind " + name)
}

// draw draws values; n counts what must be there once.
type draw struct {
	*rand.Rand
	n int
}

func pick[T any](r *draw, of ...T) T { return of[r.IntN(len(of))] }

// value is a value of a kind as JSON, and as a literal of .gq, "" when there is
// none.
func (r *draw) value(kind string) (js, literal string) {
	switch kind {
	case "String":
		return text(pick(r, "", "a", "it's", `q"uote`, "ünï", "two\nlines", "null", "back\\slash", strings.Repeat("long ", 80), fmt.Sprint("w", r.IntN(9))))
	case "enum":
		return text(pick(r, "new", "open", "done"))
	case "Bool":
		return twice(pick(r, "true", "false"))
	case "I32":
		return twice(fmt.Sprint(r.IntN(100)))
	case "I64":
		return whole(pick(r, int64(r.IntN(100)), math.MaxInt64, math.MinInt64, -1))
	case "U32":
		return twice(fmt.Sprint(pick(r, uint32(r.IntN(9)), math.MaxUint32)))
	case "U64":
		n := pick(r, uint64(r.IntN(9)), math.MaxInt64)
		return twice(fmt.Sprint(n))
	case "F32":
		return decimal(float64(float32(pick(r, 0, 1.5, 0.1, 3e10, -2.25, math.MaxFloat32))))
	case "small": // of a vector: the Rust CLI trains an index of greater ones without end
		return decimal(float64(pick(r, 0, 1.5, 0.25, -2.25)))
	case "F64":
		return decimal(pick(r, 0, 2.5, 0.1, 1e23, -7.125, float64(r.IntN(1000))/1000)) // see TestWhereTheRustEngineErrs
	case "Date":
		d := r.day().Format("2006-01-02")
		return `"` + d + `"`, `date("` + d + `")`
	case "DateTime":
		d := r.day().Add(time.Duration(r.IntN(86_400_000)) * time.Millisecond).Format("2006-01-02T15:04:05.000Z")
		return `"` + d + `"`, `datetime("` + d + `")`
	case "Blob":
		b := make([]byte, pick(r, 0, 1, 100, 100, 300, 300, 3000, 3000, 3000, 70_000))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return `"base64:` + base64.StdEncoding.EncodeToString(b) + `"`, ""
	}
	return r.list(kind)
}

func (r *draw) list(kind string) (js, literal string) {
	n, of, short := r.IntN(4), strings.Trim(kind, "[]"), false
	if vector, ok := strings.CutPrefix(kind, "Vector("); ok {
		n, _ = strconv.Atoi(strings.TrimSuffix(vector, ")"))
		of = "small"
	}
	var all, literals []string
	for range n {
		j, l := r.value(of)
		short = short || l == ""
		all, literals = append(all, j), append(literals, l)
	}
	if js = "[" + strings.Join(all, ",") + "]"; short || n == 0 {
		return js, ""
	}
	return js, "[" + strings.Join(literals, ", ") + "]"
}

func (r *draw) day() time.Time {
	return time.Date(1900+r.IntN(200), 1, 1+r.IntN(365), 0, 0, 0, 0, time.UTC)
}

func twice(s string) (string, string) { return s, s }

// whole has no literal below zero.
func whole(n int64) (string, string) {
	if n < 0 {
		return fmt.Sprint(n), ""
	}
	return twice(fmt.Sprint(n))
}

// decimal has neither a sign nor an exponent in .gq.
func decimal(f float64) (string, string) {
	js := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(js, ".e") {
		js += ".0"
	}
	if strings.ContainsAny(js, "-e") {
		return js, ""
	}
	return js, js
}

func text(s string) (js, literal string) {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b), `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
