// Package load spells entities as the lines of JSON that `export` prints and
// `load` reads: compact, one object a line,
//
//	{"type":"Port","data":{"id":"NLRTM","code":"NLRTM","depth_m":8.67,…}}
//	{"edge":"Owns","from":"acme","to":"9000034","data":{"id":"01J…","since":19034}}
//
// Every property stands in it, null included, in column order. The bytes are
// those of the Rust engine:
//
//   - strings: raw UTF-8, escaped are only " \ and control characters (\b \f
//     \n \r \t, others \u00xx in lower hex);
//   - integers plain; Date is days, DateTime milliseconds since 1970;
//   - floats: shortest digits that read back as the same double, positional for
//     1e-5 ≤ |x| < 1e16 with at least one decimal, else with an exponent and its
//     sign (1e+16, 1.5e-7). A 32-bit float is widened first, so 0.1 prints as
//     0.10000000149011612;
//   - lists and vectors as arrays; blobs as "base64:…", external ones as their
//     URI.
//
// Only the spelling lives here; which rows, and in which order, is the
// engine's. The package does no I/O: bytes of blobs are handed in.
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
