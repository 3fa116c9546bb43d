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
	"strconv"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string. ok is false when s is not UTF-8;
// each wrong byte is then written as U+FFFD.
func AppendString(dst []byte, s string) (out []byte, ok bool) {
	ok = true
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\uFFFD"...)
			start = i + 1
			ok = false
		}
		i += n
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"'), ok
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
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
	abs := math.Abs(x)
	if abs == 0 || (abs >= 1e-5 && abs < 1e16) {
		mark := len(dst)
		dst = strconv.AppendFloat(dst, x, 'f', -1, 64)
		for _, c := range dst[mark:] {
			if c == '.' {
				return dst, true
			}
		}
		return append(dst, '.', '0'), true
	}
	return appendExponent(dst, x), true
}

// appendExponent writes the exponent without the leading zero that strconv
// puts before one digit: 1.5e-7, not 1.5e-07.
func appendExponent(dst []byte, x float64) []byte {
	mark := len(dst)
	dst = strconv.AppendFloat(dst, x, 'e', -1, 64)
	for i := mark; i < len(dst); i++ {
		if dst[i] == 'e' && i+3 < len(dst) && dst[i+2] == '0' {
			return append(dst[:i+2], dst[i+3:]...)
		}
	}
	return dst
}
