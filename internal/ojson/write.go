package ojson

import (
	"math"
	"strconv"
)

// Obj makes an object.
func Obj(members ...Member) Value { return Value{kind: Object, members: members} }

// Arr makes an array.
func Arr(items ...Value) Value { return Value{kind: Array, items: items} }

// Str makes a string.
func Str(s string) Value { return Value{kind: String, text: s} }

// OptStr makes a string, or null of nil.
func OptStr(s *string) Value {
	if s == nil {
		return Value{}
	}
	return Str(*s)
}

// Strs makes an array of strings.
func Strs(ss []string) Value {
	v := Value{kind: Array}
	for _, s := range ss {
		v.items = append(v.items, Str(s))
	}
	return v
}

// Yes makes a boolean.
func Yes(b bool) Value { return Value{kind: Bool, yes: b} }

// Uint makes an unsigned number.
func Uint(n uint64) Value { return Value{kind: Number, text: strconv.FormatUint(n, 10)} }

// Int makes a signed number.
func Int(n int64) Value { return Value{kind: Number, text: strconv.FormatInt(n, 10)} }

// Float makes a double; null when it is not finite.
func Float(x float64) Value {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Value{}
	}
	return Value{kind: Number, text: string(AppendFloat(nil, x))}
}

// Append writes the value compactly.
func (v Value) Append(b []byte) []byte { return v.append(b, -1) }

// AppendPretty writes the value with an indentation of two spaces and no
// newline at the end.
func (v Value) AppendPretty(b []byte) []byte { return v.append(b, 0) }

// append writes v; level < 0 means compact.
func (v Value) append(b []byte, level int) []byte {
	switch v.kind {
	case Bool:
		return strconv.AppendBool(b, v.yes)
	case Number:
		return append(b, v.text...)
	case String:
		return AppendString(b, v.text)
	case Array:
		b = append(b, '[')
		for i := range v.items {
			b = lead(b, i, level)
			b = v.items[i].append(b, deeper(level))
		}
		return closing(b, ']', len(v.items), level)
	case Object:
		b = append(b, '{')
		for i := range v.members {
			b = lead(b, i, level)
			b = AppendString(b, v.members[i].Name)
			if b = append(b, ':'); level >= 0 {
				b = append(b, ' ')
			}
			b = v.members[i].Value.append(b, deeper(level))
		}
		return closing(b, '}', len(v.members), level)
	}
	return append(b, "null"...)
}

func deeper(level int) int {
	if level < 0 {
		return level
	}
	return level + 1
}

func lead(b []byte, i, level int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	if level >= 0 {
		b = newline(b, level+1)
	}
	return b
}

func closing(b []byte, c byte, n, level int) []byte {
	if n > 0 && level >= 0 {
		b = newline(b, level)
	}
	return append(b, c)
}

func newline(b []byte, level int) []byte {
	b = append(b, '\n')
	for range level {
		b = append(b, ' ', ' ')
	}
	return b
}

// AppendString writes a string with its quotation marks.
func AppendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ':
			b = append(b, c)
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\f':
			b = append(b, '\\', 'f')
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(b, '"')
}

// AppendFloat writes a finite double: plain from 1e-5 to below 1e16, with an
// exponent beyond.
func AppendFloat(b []byte, x float64) []byte {
	if a := math.Abs(x); a == 0 || a >= 1e-5 && a < 1e16 {
		n := len(b)
		b = strconv.AppendFloat(b, x, 'f', -1, 64)
		for _, c := range b[n:] {
			if c == '.' {
				return b
			}
		}
		return append(b, '.', '0')
	}
	return exponent(strconv.AppendFloat(b, x, 'e', -1, 64))
}

// exponent turns Go's two-digit exponents into the shortest.
func exponent(b []byte) []byte {
	if n := len(b); n >= 2 && b[n-2] == '0' && (b[n-3] == '-' || b[n-3] == '+') {
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}
