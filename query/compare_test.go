package query

import (
	"fmt"
	"math/big"
)

// number is the exact value of a column's value, or of digits.
func number(v any) *big.Rat {
	switch x := v.(type) {
	case float32:
		return new(big.Rat).SetFloat64(float64(x))
	case float64:
		return new(big.Rat).SetFloat64(x)
	}
	r, ok := new(big.Rat).SetString(fmt.Sprint(v))
	if !ok {
		panic(fmt.Sprint(v))
	}
	return r
}

// sign compares a column's value with a number, which a float column rounds to
// its own precision.
func sign(v any, digits string) int {
	x := number(digits)
	switch v.(type) {
	case float32:
		f, _ := x.Float32()
		x = number(f)
	case float64:
		f, _ := x.Float64()
		x = number(f)
	}
	return number(v).Cmp(x)
}

// apply asks a predicate about a value of its column, which has the type of the
// predicate's value.
func apply(p Predicate, v any) bool {
	switch p.Test {
	case Present:
		return true
	case Never:
		return false
	}
	if fmt.Sprintf("%T", v) != fmt.Sprintf("%T", p.Value) {
		panic(fmt.Sprintf("the predicate has a %T for a column of %T", p.Value, v))
	}
	s := number(v).Cmp(number(p.Value))
	return map[Test]bool{Equal: s == 0, Unequal: s != 0, Less: s < 0, AtMost: s <= 0, Greater: s > 0, AtLeast: s >= 0}[p.Test]
}
