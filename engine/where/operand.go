package where

import (
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// kind is how values of a column compare.
type kind uint8

const (
	kindText kind = iota
	kindBool
	kindInt
	kindUint
	kindF32
	kindF64
	kindDate
	kindDateTime
)

func kindOf(t arrow.DataType) (kind, bool) {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING:
		return kindText, true
	case arrow.BOOL:
		return kindBool, true
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64:
		return kindInt, true
	case arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return kindUint, true
	case arrow.FLOAT32:
		return kindF32, true
	case arrow.FLOAT64:
		return kindF64, true
	case arrow.DATE32:
		return kindDate, true
	case arrow.DATE64:
		return kindDateTime, true
	}
	return 0, false
}

// operand is a literal in the form that its column compares with.
//
// Integer columns (Date and DateTime too) compare with floor and exact: a
// value v is above the literal when v > floor, equal when exact and v = floor.
// A literal beyond every integer has beyond ±1 instead.
type operand struct {
	text   string
	b      bool
	f      float64
	floorI int64  // kindInt, kindDate, kindDateTime
	floorU uint64 // kindUint
	exact  bool
	beyond int // -1: below every value, +1: above
}

// maxExponent bounds the size of the exact number that a literal makes.
const maxExponent = 400

// operandOf turns a literal into an operand, or says why it cannot.
func operandOf(k kind, l literal) (o operand, msg string) {
	switch k {
	case kindText:
		if l.kind != litString {
			return o, "text stands in quotes"
		}
		return operand{text: l.text}, ""
	case kindBool:
		if l.kind != litBool {
			return o, "write true or false"
		}
		return operand{b: l.b}, ""
	case kindDate, kindDateTime:
		if l.kind == litString || l.kind == litDate || l.kind == litDateTime {
			return timeOperand(k, l)
		}
	}
	if l.kind != litNumber {
		return o, "write a number"
	}
	return numberOperand(k, l.text)
}

func numberOperand(k kind, text string) (operand, string) {
	if tooLarge(text) {
		return operand{}, "the number is out of every range"
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || strings.ContainsAny(text, "/_xXbBoOpP") {
		return operand{}, text + " is no number"
	}
	switch k {
	case kindF32:
		f, _ := r.Float32()
		return operand{f: float64(f)}, ""
	case kindF64:
		f, _ := r.Float64()
		return operand{f: f}, ""
	}
	floor := new(big.Int)
	floor.Div(r.Num(), r.Denom()) // Euclidean: rounds down, the divisor being positive
	o := operand{exact: r.IsInt()}
	switch {
	case k == kindUint && floor.IsUint64():
		o.floorU = floor.Uint64()
	case k != kindUint && floor.IsInt64():
		o.floorI = floor.Int64()
	default:
		o.beyond = floor.Sign()
		if o.beyond == 0 {
			o.beyond = -1
		}
	}
	return o, ""
}

// tooLarge reports an exponent that would make a number of millions of digits.
func tooLarge(text string) bool {
	_, exp, ok := strings.Cut(strings.ToLower(text), "e")
	if !ok {
		return false
	}
	exp = strings.TrimLeft(strings.TrimLeft(exp, "+-"), "0")
	n := 0
	for _, c := range exp {
		if c < '0' || c > '9' || n > maxExponent {
			return n > maxExponent
		}
		n = n*10 + int(c-'0')
	}
	return n > maxExponent
}

var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", time.DateOnly}

func timeOperand(k kind, l literal) (operand, string) {
	for _, layout := range timeLayouts {
		t, err := time.Parse(layout, l.text)
		if err != nil {
			continue
		}
		ms := t.UnixMilli()
		if k == kindDateTime {
			return operand{floorI: ms, exact: t.Nanosecond()%1_000_000 == 0}, ""
		}
		days := math.Floor(float64(ms) / 86_400_000)
		return operand{floorI: int64(days), exact: true}, ""
	}
	if k == kindDate {
		return operand{}, `write "YYYY-MM-DD" or days since 1970`
	}
	return operand{}, `write "YYYY-MM-DDTHH:MM:SSZ" or milliseconds since 1970`
}

// cmp compares an integer with the operand: -1, 0 or +1.
func (o operand) cmpInt(v int64) int {
	switch {
	case o.beyond != 0:
		return -o.beyond
	case v > o.floorI:
		return 1
	case v == o.floorI && o.exact:
		return 0
	}
	return -1
}

func (o operand) cmpUint(v uint64) int {
	switch {
	case o.beyond != 0:
		return -o.beyond
	case v > o.floorU:
		return 1
	case v == o.floorU && o.exact:
		return 0
	}
	return -1
}
