package query

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/schema"
)

// values reads the parameters of a call: a JSON object, null, or nothing. A
// declared parameter that may be null and is not there is null; one that may
// not is missing from the result. What is not declared is left out.
func (c *Checked) values(params []byte) (map[string]Literal, error) {
	given := ojson.Value{}
	if strings.TrimSpace(string(params)) != "" {
		var err error
		if given, err = ojson.Parse(params); err != nil {
			return nil, &ParamError{Text: fmt.Sprintf("params must be a JSON object: %v", err)}
		}
	}
	if k := given.Kind(); k != ojson.Object && k != ojson.Null {
		return nil, &ParamError{Text: fmt.Sprintf("params must be a JSON object, got %s", k)}
	}
	out := map[string]Literal{}
	for name, t := range c.params {
		if t.Nullable {
			out[name] = Literal{}
		}
	}
	for _, m := range given.Members() {
		t, declared := c.params[m.Name]
		var problem string
		switch {
		case m.Name == nowParam:
			problem = "the name is reserved: now() is the time of the call"
		case !declared && hasObject(m.Value):
			problem = "object is not supported"
		case !declared:
			continue
		case m.Value.Kind() == ojson.Null && t.Nullable:
			out[m.Name] = Literal{}
			continue
		case m.Value.Kind() == ojson.Null:
			problem = "null is not accepted for non-nullable parameter, declared " + spell(t)
		default:
			out[m.Name], problem = coerce(m.Value, t)
		}
		if problem != "" {
			return nil, &ParamError{m.Name, fmt.Sprintf("param '%s': %s", m.Name, problem)}
		}
	}
	return out, nil
}

func hasObject(v ojson.Value) bool {
	for _, it := range v.Items() {
		if hasObject(it) {
			return true
		}
	}
	return v.Kind() == ojson.Object
}

// coerce makes a literal of a JSON value by the declared type, or says what is
// wrong with it.
func coerce(v ojson.Value, t schema.PropType) (Literal, string) {
	name, isText := t.Scalar.Name, v.Kind() == ojson.String
	switch {
	case t.List || name == "Vector":
		return coerceItems(v, t)
	case name == "Bool":
		if v.Kind() != ojson.Bool {
			return Literal{}, fmt.Sprintf("expected boolean, got %s", v.Kind())
		}
		return Literal{Kind: LitBool, Bool: v.True()}, ""
	case numeric(t) && name[0] != 'F':
		return coerceInteger(v, name)
	case numeric(t):
		x, err := v.Float()
		if err != nil {
			return Literal{}, fmt.Sprintf("expected float: %v", err)
		}
		return Literal{Kind: LitFloat, Float: x}, ""
	case !isText:
		what := map[string]string{"Date": "date string", "DateTime": "datetime string", "Blob": "blob URI string", "String": "string"}
		return Literal{}, fmt.Sprintf("expected %s, got %s", what[name], v.Kind())
	case name == "Date":
		return Literal{Kind: LitDate, Text: v.Text()}, ""
	case name == "DateTime":
		return Literal{Kind: LitDateTime, Text: v.Text()}, ""
	}
	return Literal{Kind: LitString, Text: v.Text()}, ""
}

func coerceItems(v ojson.Value, t schema.PropType) (Literal, string) {
	items, item := v.Items(), member(t)
	switch n := t.Scalar.Dim; {
	case v.Kind() != ojson.Array:
		return Literal{}, fmt.Sprintf("expected array for %s, got %s", t.Spell(), v.Kind())
	case t.Scalar.Name == "Vector":
		if uint64(len(items)) != n {
			return Literal{}, fmt.Sprintf("expected %d values for %s, got %d", n, t.Spell(), len(items))
		}
		item = schema.PropType{Scalar: schema.Scalar{Name: "F64"}}
	}
	out := Literal{Kind: LitList, Items: make([]Literal, len(items))}
	for i, it := range items {
		var problem string
		if out.Items[i], problem = coerce(it, item); problem != "" {
			return Literal{}, fmt.Sprintf("%s, as element %d", problem, i)
		}
	}
	return out, ""
}

// coerceInteger reads a number written as an integer, or a string of digits.
func coerceInteger(v ojson.Value, name string) (Literal, string) {
	unsigned := ""
	if name[0] == 'U' {
		unsigned = "unsigned "
	}
	text := v.Text()
	switch v.Kind() {
	case ojson.Number:
		if strings.ContainsAny(text, ".eE") || text == "-0" || unsigned != "" && text[0] == '-' {
			return Literal{}, fmt.Sprintf("expected %sinteger number, got %s", unsigned, text)
		}
	case ojson.String:
		digits := strings.TrimPrefix(text, "+")
		if unsigned == "" && digits == text {
			digits = strings.TrimPrefix(text, "-")
		}
		if strings.Trim(digits, "0123456789") != "" || digits == "" {
			return Literal{}, fmt.Sprintf("expected %sinteger string, got '%s'", unsigned, text)
		}
	default:
		return Literal{}, fmt.Sprintf("expected %sinteger, got %s", unsigned, v.Kind())
	}
	n, err := strconv.ParseInt(text, 10, 64)
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	switch name {
	case "I32":
		lo, hi = math.MinInt32, math.MaxInt32
	case "U32":
		lo, hi = 0, math.MaxUint32
	case "U64":
		if err != nil {
			return Literal{}, fmt.Sprintf("value %s exceeds current engine range for U64, which ends at %d", text, hi)
		}
	}
	if err != nil || n < lo || n > hi {
		return Literal{}, fmt.Sprintf("value %s exceeds %s", text, name)
	}
	return Literal{Kind: LitInteger, Int: n}, ""
}
