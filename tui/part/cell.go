// Package part holds the pieces that screens are made of: pure functions from
// values, a size and a theme to lines of text.
//
// A part returns exactly h lines of exactly w cells. It never wraps by
// accident: text is cut to its place before it is painted. Text from a store
// passes through Clean once, and is then free of escapes, control characters
// and clusters whose width terminals disagree on.
package part

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/omnideck/omnideck/tui/theme"
)

// Clean makes text from outside safe to draw and measurable. Line breaks and
// tabs become a space; other control characters, direction overrides, and
// clusters that are measured differently with and without knowledge of
// graphemes become g.Broken. Text longer than CleanMax bytes is cut there and
// says so, so that no value makes a frame late.
func Clean(s string, g theme.Glyphs) string {
	if len(s) > CleanMax {
		s = Head(s, CleanMax) + g.More
	}
	if plain(s) {
		return s
	}
	s = clusters(s, g, cleanCluster)
	// What was replaced may let its neighbours join, to each other or to the
	// spaces around: once more, and then without any joining at all.
	if unsettled(s) {
		s = clusters(s, g, cleanCluster)
	}
	if unsettled(s) {
		s = clusters(s, g, func(cluster string, _ int, g theme.Glyphs) string {
			if plain(cluster) {
				return cluster
			}
			return g.Broken
		})
	}
	return s
}

// CleanMax is the number of bytes of one text that are looked at.
const CleanMax = 8 << 10

// Head is the beginning of text in at most n bytes, cut between characters.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// unsettled says that text is measured differently by different terminals
// once it stands between spaces.
func unsettled(s string) bool {
	s = " " + s + " "
	n := ansi.StringWidth(s)
	return ansi.StringWidthWc(s) != n || n != ansi.StringWidth(s[1:])+1
}

func clusters(s string, g theme.Glyphs, each func(string, int, theme.Glyphs) string) string {
	var b strings.Builder
	for len(s) > 0 {
		cluster, width := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if cluster == "" {
			break
		}
		s = s[len(cluster):]
		b.WriteString(each(cluster, width, g))
	}
	return b.String()
}

func cleanCluster(cluster string, width int, g theme.Glyphs) string {
	switch cluster {
	case "\n", "\t", "\r", "\r\n":
		return " "
	}
	for _, r := range cluster {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) || r == utf8.RuneError {
			return g.Broken
		}
	}
	if width < 1 || width > 2 || ansi.StringWidthWc(cluster) != width {
		return g.Broken
	}
	return cluster
}

// plain says that every byte is printable ASCII: the common case, for which
// bytes, runes and cells are the same.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// Width is the number of cells of text without escapes.
func Width(s string) int {
	if plain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// Cut shortens text without escapes to at most w cells, ending in more when
// something was cut.
func Cut(s string, w int, more string) string {
	if w <= 0 {
		return ""
	}
	if plain(s) {
		if len(s) <= w {
			return s
		}
		return s[:w-1] + more
	}
	if ansi.StringWidth(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, more)
}

// CutLeft shortens text from its beginning, keeping the end.
func CutLeft(s string, w int, more string) string {
	if w <= 0 {
		return ""
	}
	n := Width(s)
	if n <= w {
		return s
	}
	// A wide character at the border may leave a cell over.
	out := ansi.TruncateLeft(s, n-w+1, more)
	for Width(out) > w {
		n++
		out = ansi.TruncateLeft(s, n-w+1, more)
	}
	return out
}

// CutMiddle shortens text in its middle, keeping both ends.
func CutMiddle(s string, w int, more string) string {
	if Width(s) <= w {
		return s
	}
	head := w / 3
	return strings.TrimRight(Cut(s, head, ""), " ") + CutLeft(s, w-Width(strings.TrimRight(Cut(s, head, ""), " ")), more)
}

// Pad fills text with spaces on the right up to w cells.
func Pad(s string, w int) string {
	if n := Width(s); n < w {
		return s + spaces(w-n)
	}
	return s
}

// PadLeft fills text with spaces on the left up to w cells.
func PadLeft(s string, w int) string {
	if n := Width(s); n < w {
		return spaces(w-n) + s
	}
	return s
}

const blank = "                                                                                                                                                                                                                                                                "

func spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blank) {
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

// Wrap breaks text without escapes into lines of at most w cells, at spaces
// where there are any.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var out []string
	for _, para := range strings.Split(s, "\n") {
		out = append(out, wrapOne(para, w)...)
	}
	return out
}

func wrapOne(s string, w int) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= w:
			line += " " + word
			continue
		default:
			out = append(out, line)
			line = word
		}
		for Width(line) > w {
			head := Cut(line, w, "")
			if w > 1 && !plain(line) {
				head = ansi.Truncate(line, w, "")
			} else if plain(line) {
				head = line[:w]
			}
			if head == "" {
				return out
			}
			out = append(out, head)
			line = line[len(head):]
		}
	}
	return append(out, line)
}
