package out

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text safe to show on one line of a terminal: control characters,
// bytes that are not UTF-8 and characters that change the direction of writing
// become escapes; the usual ones by letter (\n, \t, \r).
func Clean(s string) string { return clean(s, false) }

// CleanLines is Clean, but keeps newlines and tabs.
func CleanLines(s string) string { return clean(s, true) }

func clean(s string, lines bool) string {
	if !dirty(s, lines) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !hostile(r) || lines && (r == '\n' || r == '\t'):
			b.WriteString(s[i : i+n])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += n
	}
	return b.String()
}

func dirty(s string, lines bool) bool {
	for i, r := range s {
		if hostile(r) && !(lines && (r == '\n' || r == '\t')) {
			return true
		}
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return true
			}
		}
	}
	return false
}

// hostile: controls, line and paragraph separators, and the marks, embeddings
// and isolates of bidirectional text.
func hostile(r rune) bool {
	return unicode.Is(unicode.Cc, r) || r == 0x061c || r >= 0x200e && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
