package query

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/daytime"
)

// debug spells a literal with its kind: Integer(5), Float(5.0).
func (l Literal) debug() string {
	switch l.Kind {
	case LitInteger:
		return fmt.Sprintf("Integer(%d)", l.Int)
	case LitFloat:
		s := strconv.FormatFloat(l.Float, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return "Float(" + s + ")"
	case LitBool:
		return fmt.Sprintf("Bool(%t)", l.Bool)
	case LitList:
		return fmt.Sprintf("a list of %d", len(l.Items))
	}
	return litTypes[l.Kind] + "(" + strconv.Quote(l.Text) + ")"
}

// convert makes a value of a type; the text says why that cannot be. An integer
// becomes a float when the float has exactly its value; never the other way.
func convert(l Literal, t schema.PropType) (Value, string) {
	if l.Kind == LitNull {
		return nil, ""
	}
	name := t.Scalar.Name
	switch {
	case name == "Vector" && l.Kind == LitList:
		return vector(l)
	case t.List && l.Kind == LitList:
		out := make([]any, len(l.Items))
		for i, it := range l.Items {
			if it.Kind == LitInteger && name[0] == 'F' {
				it = Literal{Kind: LitFloat, Float: float64(it.Int)} // rounded, as in a vector
			}
			v, problem := convert(it, member(t))
			if problem != "" {
				return nil, fmt.Sprintf("element %d: %s", i, problem)
			}
			out[i] = v
		}
		return out, ""
	case l.Kind == LitString && (name == "String" || name == "Blob"):
		return l.Text, ""
	case l.Kind == LitBool && name == "Bool":
		return l.Bool, ""
	case l.Kind == LitDate && name == "Date":
		days, err := daytime.Days(l.Text)
		return arrow.Date32(days), text(err)
	case l.Kind == LitDateTime && name == "DateTime":
		ms, err := daytime.Millis(l.Text)
		return arrow.Date64(ms), text(err)
	case l.Kind == LitInteger && !t.List && numeric(t):
		return integer(l.Int, name)
	case l.Kind == LitFloat && name == "F64":
		return l.Float, ""
	case l.Kind == LitFloat && name == "F32":
		return single(l.Float)
	}
	return nil, "cannot convert " + l.debug() + " to " + schema.StoredNames[name]
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func single(x float64) (Value, string) {
	f := float32(x)
	if math.IsInf(float64(f), 0) {
		return nil, fmt.Sprintf("value %v exceeds Float32 range", x)
	}
	return f, ""
}

func vector(l Literal) (Value, string) {
	out := make([]float32, len(l.Items))
	for i, it := range l.Items {
		if it.Kind == LitInteger {
			it.Float = float64(it.Int)
		}
		f, problem := single(it.Float)
		if problem != "" {
			return nil, fmt.Sprintf("element %d: %s", i, problem)
		}
		out[i] = f.(float32)
	}
	return out, ""
}

// bounds of the integer types; those of U64 end where literals do.
func bounds(name string) (lo, hi int64) {
	switch name {
	case "I32":
		return math.MinInt32, math.MaxInt32
	case "U32":
		return 0, math.MaxUint32
	case "U64":
		return 0, math.MaxInt64
	}
	return math.MinInt64, math.MaxInt64
}

func integer(n int64, name string) (Value, string) {
	switch name {
	case "F64":
		if x := float64(n); exact(n, x) {
			return x, ""
		}
		return nil, fmt.Sprintf("%d has no exact Float64", n)
	case "F32":
		if x := float32(n); exact(n, float64(x)) {
			return x, ""
		}
		return nil, fmt.Sprintf("%d has no exact Float32", n)
	}
	if lo, hi := bounds(name); n < lo || n > hi {
		return nil, fmt.Sprintf("integer value %d exceeds %s range", n, schema.StoredNames[name])
	}
	switch name {
	case "I32":
		return int32(n), ""
	case "U32":
		return uint32(n), ""
	case "U64":
		return uint64(n), ""
	}
	return n, ""
}

// exact reports that a float has the value of an integer.
func exact(n int64, x float64) bool {
	back, accuracy := new(big.Float).SetFloat64(x).Int64()
	return accuracy == big.Exact && back == n
}

// compare makes a predicate of a comparison, with a value of the column's type.
// Numbers are compared by value: against an integer column 2.5 is between 2 and
// 3, and what is out of its range is less or greater than all of it. Against a
// float column a number is rounded to the column's precision.
func compare(l Literal, t schema.PropType, test Test) (Predicate, string) {
	switch {
	case l.Kind == LitNull:
		return Predicate{Test: Never}, ""
	case !numeric(t) || l.Kind != LitInteger && l.Kind != LitFloat:
		v, problem := convert(l, t)
		return Predicate{Test: test, Value: v}, problem
	}
	x := new(big.Float).SetInt64(l.Int)
	if l.Kind == LitFloat {
		x.SetFloat64(l.Float)
	}
	switch t.Scalar.Name {
	case "F64":
		f, _ := x.Float64()
		return Predicate{Test: test, Value: f}, ""
	case "F32":
		f, _ := x.Float64()
		return Predicate{Test: test, Value: float32(f)}, ""
	}
	return compareInteger(x, t.Scalar.Name, test), ""
}

// compareInteger rounds a number towards the side where the test holds.
func compareInteger(x *big.Float, name string, test Test) Predicate {
	n, _ := x.Int(nil) // towards zero
	whole := x.IsInt()
	if !whole && x.Sign() < 0 {
		n.Sub(n, big.NewInt(1)) // floor
	}
	if !whole {
		switch test {
		case Equal:
			return Predicate{Test: Never}
		case Unequal:
			return Predicate{Test: Present}
		case Less: // than 2.5: at most 2
			test = AtMost
		case AtLeast:
			test = Greater
		}
	}
	lo, hi := bounds(name)
	below := n.Cmp(big.NewInt(lo)) < 0
	if !below && n.Cmp(big.NewInt(hi)) <= 0 {
		v, _ := integer(n.Int64(), name)
		return Predicate{Test: test, Value: v}
	}
	if name == "U64" && !below && n.IsUint64() {
		return Predicate{Test: test, Value: n.Uint64()}
	}
	always := test == Unequal || below && (test == Greater || test == AtLeast) || !below && (test == Less || test == AtMost)
	if always {
		return Predicate{Test: Present}
	}
	return Predicate{Test: Never}
}
