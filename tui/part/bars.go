package part

import (
	"github.com/omnideck/omnideck/tui/theme"
)

// Header is the first line of the screen.
type Header struct {
	Name   string // graph
	Branch string
	Head   string // commit id; "" = not read yet
	At     uint64 // manifest version; 0 = not read yet
	Travel string // how old the moment is that all screens show, "3 d"; "" = they show now
	Past   bool   // they show another moment, however old
	URI    string
	Worst  Span   // chip of the worst finding, "" = none or not read
	Gauges []Span // chips, the likeliest to be needed first; they give way when it is tight
	Remote bool   // reached over a network: it is said whether it may be written to
	Locked bool   // nothing may be written
	Follow string // "2 s": loaded again that often; "" = not
	Age    string // of what is shown, or how long it has been loading
}

// Render draws the header. When it gets tight the address goes first, then
// the gauges, then the age; what may be written and what is wrong stay.
func (h Header) Render(t *theme.Theme, w int) string {
	left := h.left(t)
	gauges, age := len(h.Gauges), true
	right := h.right(t, gauges, age)
	for SpanWidth(left)+SpanWidth(right) > w && (gauges > 0 || age) {
		if gauges > 0 {
			gauges--
		} else {
			age = false
		}
		right = h.right(t, gauges, age)
	}
	g := t.Glyph
	if room := w - SpanWidth(left) - SpanWidth(right) - 3; h.URI != "" && room >= 8 {
		left = append(left, R(theme.Muted, " "+g.Dot+" "+CutLeft(Clean(h.URI, g), room, g.More)))
	}
	return Sides(t, w, left, right)
}

// left is what is looked at.
func (h Header) left(t *theme.Theme) []Span {
	g := t.Glyph
	left := []Span{S(" "), R(theme.Strong, Clean(h.Name, g))}
	if h.Branch != "" {
		left = append(left, R(theme.Muted, " "+g.Dot+" "), R(theme.Accent, Clean(h.Branch, g)))
	}
	if h.Past || h.Travel != "" {
		return append(left, S(" "), R(theme.Chip, h.moment(g)))
	}
	if h.Head != "" {
		left = append(left, R(theme.Muted, " @ "), S(Short(h.Head, g)))
	}
	if h.At > 0 {
		left = append(left, R(theme.Muted, " v"+Count(h.At)))
	}
	return left
}

// moment is the chip that says that the past is looked at.
func (h Header) moment(g theme.Glyphs) string {
	s := " at"
	if h.At > 0 {
		s += " v" + Count(h.At)
	}
	if h.Head != "" {
		s += " " + Short(h.Head, g)
	}
	if h.Travel != "" {
		s += ", " + h.Travel + " ago"
	}
	if s == " at" {
		s = " another moment"
	}
	return s + " "
}

// right is how it is.
func (h Header) right(t *theme.Theme, gauges int, age bool) []Span {
	var right []Span
	for _, c := range h.Gauges[:gauges] {
		right = append(right, S("  "), c)
	}
	if h.Worst.Text != "" {
		right = append(right, S("  "), h.Worst)
	}
	switch {
	case h.Locked:
		right = append(right, S("  "), R(theme.Chip, " RO "))
	case h.Remote:
		right = append(right, S("  "), R(theme.Write, " RW "))
	}
	if h.Follow != "" {
		right = append(right, R(theme.Accent, "  follow "+h.Follow))
	}
	if h.Age != "" && age {
		right = append(right, R(theme.Muted, "  "+h.Age))
	}
	return append(right, S(" "))
}

// Meter is the status line: what was asked of the store.
type Meter struct {
	Get, Head, List, Put, Delete int64
	Bytes                        int64
	Hops, InFlight               int
	Failed, Retries              int64
	Scope                        string
}

// Render draws the status line. Counts of writes that are not zero are shown
// as the defect they are on a screen that only reads. When it gets tight,
// bytes and then hops give way: what is in flight and what failed does not.
func (m Meter) Render(t *theme.Theme, w int) string {
	right := []Span{S(" "), R(theme.Muted, m.Scope), S(" ")}
	var left []Span
	for _, drop := range []int{0, 1, 2} {
		left = m.left(t, drop)
		if SpanWidth(left)+SpanWidth(right) <= w {
			break
		}
	}
	return Sides(t, w, left, right)
}

func (m Meter) left(t *theme.Theme, drop int) []Span {
	dot := R(theme.Muted, " "+t.Glyph.Dot+" ")
	spans := []Span{S(" ")}
	for i, c := range []struct {
		name  string
		n     int64
		write bool
	}{{"GET", m.Get, false}, {"HEAD", m.Head, false}, {"LIST", m.List, false}, {"PUT", m.Put, true}, {"DEL", m.Delete, true}} {
		if i > 0 {
			spans = append(spans, S(" "))
		}
		role := theme.Text
		if c.write && c.n > 0 {
			role = theme.Write
		}
		spans = append(spans, R(theme.Muted, c.name+" "), R(role, Count(c.n)))
	}
	if drop < 1 {
		spans = append(spans, dot, S(Bytes(m.Bytes)))
	}
	if drop < 2 {
		spans = append(spans, dot, R(theme.Muted, "hops "), S(Count(m.Hops)))
	}
	if m.InFlight > 0 {
		spans = append(spans, dot, R(theme.Accent, Count(m.InFlight)+" in flight"))
	}
	if m.Retries > 0 {
		spans = append(spans, dot, R(theme.Warn, Plural(m.Retries, "retry", "retries")))
	}
	if m.Failed > 0 {
		spans = append(spans, dot, R(theme.Bad, Count(m.Failed)+" failed"))
	}
	return spans
}

// Hint is one entry of the key line.
type Hint struct {
	Key, Title string
	Why        string // why it cannot be used now, "" = it can
}

// Keys draws the key line. A hint that cannot be used keeps its place and says
// why where there is room.
func Keys(t *theme.Theme, hints []Hint, w int) string {
	spans := []Span{S(" ")}
	used := 1
	for i, h := range hints {
		var part []Span
		if i > 0 {
			part = append(part, S("  "))
		}
		if h.Why == "" {
			part = append(part, R(theme.Accent, h.Key), S(" "+h.Title))
		} else {
			part = append(part, R(theme.Muted, h.Key+" "+h.Title+" ("+h.Why+")"))
		}
		if n := SpanWidth(part); used+n > w {
			continue
		} else {
			used += n
		}
		spans = append(spans, part...)
	}
	return Line(t, w, spans...)
}

// Tabs draws a row of tab titles, the active one marked by more than colour.
func Tabs(t *theme.Theme, titles []string, active, w int) string {
	spans := []Span{S(" ")}
	for i, title := range titles {
		if i > 0 {
			spans = append(spans, R(theme.Border, " "+t.Glyph.V+" "))
		}
		if i == active {
			spans = append(spans, R(theme.Chip, " "+title+" "))
		} else {
			spans = append(spans, S(" "+title+" "))
		}
	}
	return Line(t, w, spans...)
}
