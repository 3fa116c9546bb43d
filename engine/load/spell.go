package load

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/omnideck/omnideck/internal/ojson"
)

// AppendString appends s as a JSON string. ok is false when s is not UTF-8;
// each run of wrong bytes is then written as U+FFFD.
func AppendString(dst []byte, s string) (out []byte, ok bool) {
	if ok = utf8.ValidString(s); !ok {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return ojson.AppendString(dst, s), ok
}

// AppendFloat appends x as a JSON number. What JSON has no number for is
// written as the string "NaN", "Infinity" or "-Infinity", and ok is false.
func AppendFloat(dst []byte, x float64) (out []byte, ok bool) {
	switch {
	case math.IsNaN(x):
		return append(dst, `"NaN"`...), false
	case math.IsInf(x, 1):
		return append(dst, `"Infinity"`...), false
	case math.IsInf(x, -1):
		return append(dst, `"-Infinity"`...), false
	}
	return ojson.AppendFloat(dst, x), true
}
