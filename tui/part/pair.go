package part

import (
	"strconv"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/tui/theme"
)

// Pair is two values of one thing, beside each other. Its texts need not be
// clean.
type Pair struct {
	Name     string
	Old, New string
	NoOld    bool // only the newer one has it
	NoNew    bool // only the older one has it
	OldW     int  // cells of the older value where they stand beside each other; 0 = half
}

// pairBeside is the width from which the values stand beside each other.
const pairBeside = 52

// Render draws the pair in w cells, its name in nameW of them: in one line
// when they are equal or when there is room beside each other, else the values
// below each other. The line begins with = for equal, ~ for changed, + and -
// for what only the newer and only the older one has. Of long texts what
// differs is shown, with some of what stands around it.
func (p Pair) Render(t *theme.Theme, nameW, w int) []string {
	nameW = max(0, min(nameW, w/3))
	name := Pad(Cut(Clean(p.Name, t.Glyph), nameW, t.Glyph.More), nameW)
	lead := func(sign string, role theme.Role) []Span {
		return []Span{S(" "), R(role, sign), S(" "), R(theme.Muted, name), S("  ")}
	}
	room := w - nameW - 5
	one := func(sign string, role theme.Role, text string) []string {
		return []string{Line(t, w, append(lead(sign, role), R(role, Clean(text, t.Glyph)))...)}
	}
	switch {
	case p.NoOld && p.NoNew:
		return one("=", theme.Muted, "")
	case p.NoOld:
		return one("+", theme.Added, p.New)
	case p.NoNew:
		return one("-", theme.Removed, p.Old)
	case p.Old == p.New && w < pairBeside:
		return one("=", theme.Text, p.Old)
	case p.Old == p.New:
		oldW, _ := p.halves(room)
		text := Pad(Cut(Clean(p.Old, t.Glyph), oldW, t.Glyph.More), oldW)
		return []string{Line(t, w, append(lead("=", theme.Muted), R(theme.Muted, text), R(theme.Border, " "+t.Glyph.V+" "), R(theme.Muted, "="))...)}
	case w < pairBeside:
		old, now := around(t, p.Old, p.New, w-5, w-5)
		return []string{
			Line(t, w, lead("~", theme.Strong)...),
			Line(t, w, append([]Span{S("   "), R(theme.Removed, "-"), S(" ")}, old...)...),
			Line(t, w, append([]Span{S("   "), R(theme.Added, "+"), S(" ")}, now...)...),
		}
	}
	oldW, newW := p.halves(room)
	old, now := around(t, p.Old, p.New, oldW, newW)
	spans := append(lead("~", theme.Strong), old...)
	spans = append(spans, S(spaces(oldW-SpanWidth(old))), R(theme.Border, " "+t.Glyph.V+" "))
	return []string{Line(t, w, append(spans, now...)...)}
}

// halves are the cells of two values beside each other in room.
func (p Pair) halves(room int) (oldW, newW int) {
	oldW = (room - 3) / 2
	if p.OldW > 0 {
		oldW = max(1, min(p.OldW, room-4))
	}
	return oldW, room - 3 - oldW
}

// Fits says that Render draws all of both values.
func (p Pair) Fits(t *theme.Theme, nameW, w int) bool {
	oldW := w - max(0, min(nameW, w/3)) - 5
	newW := oldW
	switch {
	case p.NoOld || p.NoNew:
	case w < pairBeside:
		oldW, newW = w-5, w-5
	default:
		oldW, newW = p.halves(oldW)
	}
	fits := func(text string, w int) bool { return len(text) <= CleanMax && Width(Clean(text, t.Glyph)) <= w }
	return (p.NoOld || fits(p.Old, oldW)) && (p.NoNew || fits(p.New, newW))
}

// pairKeep is how many bytes of what two texts share are looked at on each
// side of what differs.
const pairKeep = 512

// around draws two texts that differ in oldW and newW cells: what they share,
// what differs, and what they share again.
func around(t *theme.Theme, old, now string, oldW, newW int) (a, b []Span) {
	head, tail := shared(old, now)
	g := t.Glyph
	before, after := old[:head], old[len(old)-tail:]
	if len(before) > pairKeep {
		before = before[len(before)-pairKeep:]
		for len(before) > 0 && !utf8.RuneStart(before[0]) {
			before = before[1:]
		}
		before = g.More + Clean(before, g)
	} else {
		before = Clean(before, g)
	}
	after = Clean(Head(after, pairKeep), g)
	x, y := old[head:len(old)-tail], now[head:len(now)-tail]
	mx, my := Clean(x, g), Clean(y, g)
	if mx == my { // they differ in what cannot be drawn, or far behind
		mx, my = strconv.QuoteToASCII(Head(x, CleanMax)), strconv.QuoteToASCII(Head(y, CleanMax))
		if mx == my {
			mx, my = mx+" "+Bytes(int64(len(x))), my+" "+Bytes(int64(len(y)))
		}
	}
	// Both begin alike, so that what differs begins in one column.
	lead := Width(before)
	for _, side := range []struct{ mid, w int }{{Width(mx), oldW}, {Width(my), newW}} {
		lead = min(lead, max(side.w/4, side.w-side.mid-min(Width(after), side.w/4)))
	}
	before = CutLeft(before, max(0, min(lead, oldW-1, newW-1)), g.More)
	draw := func(mid string, w int) []Span {
		mid = Cut(mid, w-Width(before), g.More)
		rest := w - Width(before) - Width(mid)
		out := []Span{S(before), R(theme.Changed, mid)}
		if rest > 0 {
			out = append(out, S(Cut(after, rest, g.More)))
		}
		return out
	}
	return draw(mx, oldW), draw(my, newW)
}

// shared is how many bytes two different texts begin and end with alike, cut
// between drawn characters.
func shared(a, b string) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	head -= toCut(head, func(n int) bool { return cutsBetween(a, head-n) && cutsBetween(b, head-n) })
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	tail -= toCut(tail, func(n int) bool { return cutsBetween(a, len(a)-tail+n) && cutsBetween(b, len(b)-tail+n) })
	return head, tail
}

// toCut is how many of most bytes to go back to where texts can be cut. A
// character of a thousand accents is cut between two of those.
func toCut(most int, ok func(n int) bool) int {
	n := 0
	for n < most && n < pairKeep && !ok(n) {
		n++
	}
	return n
}

// cutsBetween says that no drawn character reaches over a place of a text, as
// far as the 64 bytes before it tell.
func cutsBetween(s string, at int) bool {
	if at <= 0 || at >= len(s) {
		return true
	}
	if !utf8.RuneStart(s[at]) {
		return false
	}
	if s[at] < utf8.RuneSelf && s[at-1] < utf8.RuneSelf {
		return s[at-1] != '\r' || s[at] != '\n'
	}
	from := max(0, at-64)
	for from < at && !utf8.RuneStart(s[from]) {
		from++
	}
	text := s[from:min(len(s), at+64)]
	for pos := from; pos < at; {
		cluster, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		if cluster == "" {
			return true
		}
		pos, text = pos+len(cluster), text[len(cluster):]
		if pos > at {
			return false
		}
	}
	return true
}
