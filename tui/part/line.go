package part

import (
	"strings"

	"github.com/omnideck/omnideck/tui/theme"
)

// Span is a piece of text in one role.
type Span struct {
	Role theme.Role
	Text string
}

// S makes a span of plain text.
func S(text string) Span { return Span{theme.Text, text} }

// R makes a span in a role.
func R(role theme.Role, text string) Span { return Span{role, text} }

// Line joins spans to one line of exactly w cells: what does not fit is cut
// and ends in the theme's sign for it, what is missing is filled with spaces.
// The text of the spans is clean.
func Line(t *theme.Theme, w int, spans ...Span) string {
	var b strings.Builder
	used := 0
	for i, s := range spans {
		room := w - used
		if room <= 0 {
			break
		}
		text := s.Text
		if n := Width(text); n > room || n == room && hasText(spans[i+1:]) {
			if n == room {
				text = Cut(text, room-1, "") + t.Glyph.More
			} else {
				text = Cut(text, room, t.Glyph.More)
			}
			n = Width(text)
			b.WriteString(t.Paint(s.Role, text))
			b.WriteString(spaces(room - n))
			return b.String()
		}
		b.WriteString(t.Paint(s.Role, text))
		used += Width(text)
	}
	b.WriteString(spaces(w - used))
	return b.String()
}

func hasText(spans []Span) bool {
	for _, s := range spans {
		if strings.TrimSpace(s.Text) != "" {
			return true
		}
	}
	return false
}

// Selected is Line for the selected row: one style over the whole width, so
// that the selection is seen whatever the spans are painted in.
func Selected(t *theme.Theme, w int, role theme.Role, spans ...Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return t.Paint(role, Pad(Cut(strings.TrimRight(b.String(), " "), w, t.Glyph.More), w))
}

// Sides is a line with spans at both ends. The left side gives way first.
func Sides(t *theme.Theme, w int, left, right []Span) string {
	n := SpanWidth(right)
	if n >= w {
		return Line(t, w, right...)
	}
	return Line(t, w-n, left...) + Line(t, n, right...)
}

// SpanWidth is the number of cells that spans take.
func SpanWidth(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += Width(s.Text)
	}
	return n
}

// Blank is an empty line.
func Blank(w int) string { return spaces(w) }

// Fit makes exactly h lines of lines that are w cells wide.
func Fit(lines []string, w, h int) []string {
	if h < 0 {
		h = 0
	}
	if len(lines) > h {
		return lines[:h]
	}
	for len(lines) < h {
		lines = append(lines, Blank(w))
	}
	return lines
}

// Beside puts two blocks of equal height next to each other with a border
// between them.
func Beside(t *theme.Theme, left, right []string) []string {
	v := t.Paint(theme.Border, t.Glyph.V)
	out := make([]string, min(len(left), len(right)))
	for i := range out {
		out[i] = left[i] + v + right[i]
	}
	return out
}

// Box draws a border with a title around lines of w-2 cells.
func Box(t *theme.Theme, title string, lines []string, w int) []string {
	g := t.Glyph
	title = Cut(title, w-5, g.More)
	head := t.Paint(theme.Border, g.TL+g.H)
	n := w - 3
	if title != "" {
		head += " " + t.Paint(theme.Strong, title) + " "
		n -= Width(title) + 2
	}
	out := []string{head + t.Paint(theme.Border, strings.Repeat(g.H, max(0, n))+g.TR)}
	v := t.Paint(theme.Border, g.V)
	for _, l := range lines {
		out = append(out, v+l+v)
	}
	return append(out, t.Paint(theme.Border, g.BL+strings.Repeat(g.H, w-2)+g.BR))
}

// Rule is a horizontal line with a word in it.
func Rule(t *theme.Theme, title string, w int) string {
	g := t.Glyph
	if title == "" {
		return t.Paint(theme.Border, strings.Repeat(g.H, w))
	}
	title = Cut(title, w-4, g.More)
	return t.Paint(theme.Border, g.H) + " " + t.Paint(theme.Strong, title) + " " + t.Paint(theme.Border, strings.Repeat(g.H, max(0, w-3-Width(title))))
}
