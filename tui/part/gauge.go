package part

import (
	"strings"

	"github.com/omnideck/omnideck/tui/theme"
)

// Spark draws the newest w values as columns of eighths, the newest one last.
// A column is full at most; nothing is drawn for 0 and less, and for moments
// that have no value yet.
func Spark(g theme.Glyphs, values []float64, most float64, w int) string {
	if w <= 0 {
		return ""
	}
	values = values[max(0, len(values)-w):]
	var b strings.Builder
	b.WriteString(spaces(w - len(values)))
	for _, v := range values {
		if !(v > 0) || !(most > 0) {
			b.WriteByte(' ')
			continue
		}
		b.WriteString(g.EighthsUp[min(7, max(0, int(min(v/most, 1)*8+0.5)-1))])
	}
	return b.String()
}

// Growth is a number that grows until somebody does something about it, and
// the limits, in ascending order, from which it is looked at differently: at
// the first it is a warning, from the second on it is bad, at the third very.
type Growth struct {
	Name   string // short, for the chip: F
	Title  string // what is counted
	Value  int64  // less than 0 = not read
	More   bool   // there are more than were counted: 1 000+
	Limits []int64
}

// Level is how many limits are reached.
func (g Growth) Level() int {
	n := 0
	for n < len(g.Limits) && g.Value >= g.Limits[n] {
		n++
	}
	return n
}

// Mark is the colour and the mark of the level.
func (g Growth) Mark(t *theme.Theme) (theme.Role, string) {
	switch {
	case g.Value < 0:
		return theme.Muted, ""
	case g.Level() == 0:
		return theme.OK, ""
	case g.Level() == 1:
		return theme.Warn, " " + t.Glyph.Warn
	case g.Level() == 2:
		return theme.Bad, " " + t.Glyph.Bad
	}
	return theme.Bad, " " + t.Glyph.Bad + t.Glyph.Bad
}

// Number is the number as far as it is known.
func (g Growth) Number() string {
	switch {
	case g.Value < 0:
		return "?"
	case g.More:
		return Count(g.Value) + "+"
	}
	return Count(g.Value)
}

// Chip is the short form: F 138 and the mark of its level.
func (g Growth) Chip(t *theme.Theme) Span {
	role, mark := g.Mark(t)
	return R(role, g.Name+" "+g.Number()+mark)
}

// Render is the long form in one line: the number, what it counts, and a bar
// from 0 to the next limit.
func (g Growth) Render(t *theme.Theme, w int) string {
	chip := g.Chip(t)
	left := []Span{S(" "), chip, S(" " + g.Title)}
	if g.Value < 0 {
		return Line(t, w, append(left, R(theme.Muted, ", not read"))...)
	}
	if len(g.Limits) == 0 {
		return Line(t, w, left...)
	}
	level := g.Level()
	end := g.Limits[min(level, len(g.Limits)-1)]
	word := " of " + Count(end) + " "
	if level == len(g.Limits) {
		word = " past " + Count(end) + " "
	}
	room := min(24, w-SpanWidth(left)-Width(word)-3)
	if room < 4 {
		return Sides(t, w, left, []Span{R(theme.Muted, word)})
	}
	bar, role := Bar(t.Glyph, float64(g.Value), float64(end), room), chip.Role
	if !t.Fills(role) {
		role = theme.Text
	}
	return Sides(t, w, left, []Span{S(t.Glyph.V), R(role, bar), S(spaces(room-Width(bar)) + t.Glyph.V), R(theme.Muted, word)})
}
