package value

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/daytime"
)

// Rule is what a value breaks.
type Rule string

// The rules.
const (
	RuleType     Rule = "type"     // JSON of another form than the property has
	RuleRequired Rule = "required" // null, and the property is not nullable
	RuleEnum     Rule = "enum"
	RuleRange    Rule = "range"
	RuleCheck    Rule = "check"
	RulePattern  Rule = "pattern" // a @check that cannot be evaluated
	RuleKey      Rule = "key"     // a value that cannot identify anything
)

// Refusal says why a value does not belong into its property.
type Refusal struct {
	Property string
	Rule     Rule
	Text     string // a sentence that names the property
}

func (r *Refusal) Error() string { return r.Text }

func refuse(property string, rule Rule, format string, args ...any) *Refusal {
	return &Refusal{property, rule, fmt.Sprintf(format, args...)}
}

// Parse reads the JSON of a property of that name and type; null stands for a
// member that is absent. The error is a *Refusal.
func Parse(name string, t schema.PropType, v ojson.Value) (Value, error) {
	if v.Kind() == ojson.Null {
		return null(name, t)
	}
	switch {
	case t.List:
		return parseList(name, t, v)
	case t.Scalar.Name == "Vector":
		return parseVector(name, t, v)
	case t.Scalar.Name == "Blob":
		return parseBlob(name, v)
	}
	out, bad, ok := parseScalar(t.Scalar.Name, place(name), v)
	if bad != "" {
		return Value{}, refuse(name, RuleType, "%s", bad)
	}
	if !ok {
		return Value{}, refuse(name, RuleType, "strict property '%s' expects %s, got %s", name, schema.StoredNames[t.Scalar.Name], spell(v))
	}
	return out, nil
}

func null(name string, t schema.PropType) (Value, error) {
	switch {
	case t.Nullable:
		return Value{}, nil
	case t.Scalar.Name == "Vector" && !t.List:
		return Value{}, refuse(name, RuleRequired, "non-nullable vector property '%s' has null values", name)
	case t.Scalar.Name == "Blob":
		return Value{}, refuse(name, RuleRequired, "non-nullable blob property '%s' has null values", name)
	}
	return Value{}, refuse(name, RuleRequired, "non-nullable property '%s' has null or invalid values", name)
}

// place says for a message where a number stands: a property by its name, or
// one of the two below.
type place string

const (
	listItem   place = "[]"
	vectorItem place = "()"
)

func (p place) String() string {
	switch p {
	case listItem:
		return "list value"
	case vectorItem:
		return "vector element value"
	}
	return "property '" + string(p) + "' value"
}

// parseScalar reads a value of a base type. ok is false when the JSON is of
// another form; bad says what is wrong with one of the right form.
func parseScalar(base string, what place, v ojson.Value) (out Value, bad string, ok bool) {
	switch base {
	case "String":
		return textOf(v.Text()), "", v.Kind() == ojson.String
	case "Bool":
		return boolean(v.True()), "", v.Kind() == ojson.Bool
	case "I32":
		return parseInt(what, "Int32", 32, v)
	case "I64":
		return parseInt(what, "Int64", 64, v)
	case "U32":
		return parseUint(what, "UInt32", 32, v)
	case "U64":
		return parseUint(what, "UInt64", 64, v)
	case "F32", "F64":
		if v.Kind() != ojson.Number {
			return Value{}, "", false
		}
		x, bad := parseFloat(what, base == "F32", v)
		if base == "F32" {
			return float(Float32, x), bad, true
		}
		return float(Float64, x), bad, true
	case "Date":
		return parseDate(v)
	}
	return parseDateTime(v)
}

// whole splits an integer number into its sign and digits; ok is false of
// anything else, and of integers beyond 64 bits, which JSON readers take for
// floats.
func whole(v ojson.Value) (neg bool, n uint64, ok bool) {
	if v.Kind() != ojson.Number {
		return false, 0, false
	}
	digits, neg := strings.CutPrefix(v.Text(), "-")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || neg && (n == 0 || n > 1<<63) {
		return false, 0, false
	}
	return neg, n, true
}

func parseInt(what place, name string, bits int, v ojson.Value) (Value, string, bool) {
	neg, n, ok := whole(v)
	if !ok {
		return Value{}, "", false
	}
	limit := uint64(1) << (bits - 1) // the least is one further off than the greatest
	if neg && n > limit || !neg && n >= limit {
		return Value{}, fmt.Sprintf("%s %s exceeds %s range", what, v.Text(), name), true
	}
	if neg {
		return integer(Int, -int64(n)), "", true
	}
	return integer(Int, int64(n)), "", true
}

func parseUint(what place, name string, bits int, v ojson.Value) (Value, string, bool) {
	neg, n, ok := whole(v)
	if !ok {
		return Value{}, "", false
	}
	if neg || bits < 64 && n>>bits != 0 {
		return Value{}, fmt.Sprintf("%s %s exceeds %s range", what, v.Text(), name), true
	}
	return Value{kind: Uint, bits: n}, "", true
}

// parseFloat reads a number, which v is.
func parseFloat(what place, single bool, v ojson.Value) (x float64, bad string) {
	x, err := v.Float()
	if err != nil {
		return 0, fmt.Sprintf("%s %s: number out of range", what, shorten(v.Text()))
	}
	if !single {
		return x, ""
	}
	if narrow := float64(float32(x)); !math.IsInf(narrow, 0) {
		return narrow, ""
	}
	return 0, fmt.Sprintf("%s %s exceeds Float32 range", what, shorten(decimals(x)))
}

func parseDate(v ojson.Value) (Value, string, bool) {
	if neg, n, ok := whole(v); ok {
		if !neg && n > math.MaxInt32 || neg && n > -math.MinInt32 {
			return Value{}, "Date value out of range: " + v.Text(), true
		}
		if neg {
			return integer(Date, -int64(n)), "", true
		}
		return integer(Date, int64(n)), "", true
	}
	if v.Kind() != ojson.String {
		return Value{}, "", false
	}
	days, err := daytime.Days(v.Text())
	if err != nil {
		return Value{}, shorten(err.Error()), true
	}
	return integer(Date, int64(days)), "", true
}

func parseDateTime(v ojson.Value) (Value, string, bool) {
	if neg, n, ok := whole(v); ok {
		if !neg && n > math.MaxInt64 {
			return Value{}, "DateTime value out of range: " + v.Text(), true
		}
		if neg {
			return integer(DateTime, -int64(n)), "", true
		}
		return integer(DateTime, int64(n)), "", true
	}
	if v.Kind() != ojson.String {
		return Value{}, "", false
	}
	ms, err := daytime.Millis(v.Text())
	if err != nil {
		return Value{}, shorten(err.Error()), true
	}
	return integer(DateTime, ms), "", true
}

func parseList(name string, t schema.PropType, v ojson.Value) (Value, error) {
	if v.Kind() != ojson.Array {
		return Value{}, refuse(name, RuleType, "list property '%s' expects a JSON array, got %s", name, spell(v))
	}
	out := Value{kind: List, items: make([]Value, 0, len(v.Items()))}
	for _, item := range v.Items() {
		one, bad, ok := parseScalar(t.Scalar.Name, listItem, item)
		if bad != "" {
			return Value{}, refuse(name, RuleType, "%s (list property '%s')", bad, name)
		}
		if !ok {
			return Value{}, refuse(name, RuleType, "strict list property '%s' contains a null or invalid item: %s, expected %s", name, spell(item), schema.StoredNames[t.Scalar.Name])
		}
		out.items = append(out.items, one)
	}
	return out, nil
}

func parseVector(name string, t schema.PropType, v ojson.Value) (Value, error) {
	if v.Kind() != ojson.Array {
		return Value{}, refuse(name, RuleType, "vector property '%s' expects a JSON array, got %s", name, spell(v))
	}
	items := v.Items()
	if uint64(len(items)) != t.Scalar.Dim {
		return Value{}, refuse(name, RuleType, "vector property '%s' expects %d dimensions, got %d", name, t.Scalar.Dim, len(items))
	}
	out := Value{kind: Vector, vec: make([]float32, len(items))}
	for i, item := range items {
		if item.Kind() != ojson.Number {
			return Value{}, refuse(name, RuleType, "vector property '%s' elements must be numeric, got %s", name, spell(item))
		}
		x, bad := parseFloat(vectorItem, true, item)
		if bad != "" {
			return Value{}, refuse(name, RuleType, "%s (vector property '%s')", bad, name)
		}
		out.vec[i] = float32(x)
	}
	return out, nil
}

// parseBlob reads bytes or a URI. Whether a URI is allowed is not judged here.
func parseBlob(name string, v ojson.Value) (Value, error) {
	if v.Kind() != ojson.String {
		return Value{}, refuse(name, RuleType, "blob property '%s' must be a URI string or base64: prefixed data", name)
	}
	encoded, ok := strings.CutPrefix(v.Text(), base64Prefix)
	if !ok {
		return Value{kind: BlobURI, text: v.Text()}, nil
	}
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err == nil && strings.ContainsAny(encoded, "\r\n") {
		err = fmt.Errorf("a line break stands in it")
	}
	if err != nil {
		return Value{}, refuse(name, RuleType, "invalid base64 blob data: %v (blob property '%s')", err, name)
	}
	return Value{kind: Blob, bytes: data}, nil
}

// spell is the JSON that was found, for a message.
func spell(v ojson.Value) string {
	if _, _, ok := whole(v); v.Kind() == ojson.Number && !ok {
		if x, err := v.Float(); err == nil {
			v = ojson.Float(x)
		}
	}
	return shorten(string(v.Append(nil)))
}

// shorten cuts what no message needs whole.
func shorten(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// decimals is a double as Rust displays it: shortest digits, no exponent.
func decimals(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
