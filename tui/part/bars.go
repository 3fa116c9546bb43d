package part

import (
	"slices"

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
	Worst  Span // chip of the worst finding, "" = none or not read
	// Pending are the recoveries that are pending; "" = none, or not known.
	Pending Watched
	Gauges  []Watched
	Remote  bool   // reached over a network: it is said whether it may be written to
	Locked  bool   // nothing may be written
	Follow  string // "2 s": loaded again that often; "" = not
	Age     string // of what is shown, or how long it has been loading
}

// leftLeast is how many cells the name of what is looked at keeps when it gets
// tight.
const leftLeast = 20

// Render draws the header. An address that is the name already is not told
// twice. When it gets tight the address goes first, then
// the words of the gauges, the age, the end of the name, and the gauges at
// last; what may be written and what is wrong stay.
func (h Header) Render(t *theme.Theme, w int) string {
	left := h.left(t)
	var right []Span
	for drop := range 4 {
		right = h.right(t, drop)
		need := SpanWidth(left)
		if drop > 1 {
			need = min(need, leftLeast)
		}
		if need+SpanWidth(right) <= w {
			break
		}
	}
	g := t.Glyph
	if room := w - SpanWidth(left) - SpanWidth(right) - 3; h.URI != "" && h.URI != h.Name && room >= 8 {
		left = append(left, R(theme.Muted, " "+g.Dot+" "+CutLeft(Clean(h.URI, g), room, g.More)))
	}
	if pad := w - SpanWidth(left) - SpanWidth(right); h.past() && pad >= 0 {
		return Line(t, w, travelling(left, []Span{S(spaces(pad))}, right)...)
	}
	return Sides(t, w, left, right)
}

func (h Header) past() bool { return h.Past || h.Travel != "" }

// travelling paints the whole line in the colour of a moment that is past, but
// for what stands out anyway.
func travelling(parts ...[]Span) []Span {
	out := slices.Concat(parts...)
	for i := range out {
		if r := out[i].Role; r != theme.Chip && r != theme.RW {
			out[i].Role = theme.Travel
		}
	}
	return out
}

// left is what is looked at.
func (h Header) left(t *theme.Theme) []Span {
	g := t.Glyph
	left := []Span{S(" "), R(theme.Strong, Clean(h.Name, g))}
	if h.Branch != "" {
		left = append(left, R(theme.Muted, " "+g.Dot+" "), R(theme.Accent, Clean(h.Branch, g)))
	}
	if h.past() {
		for i := range left {
			left[i].Role = theme.Travel
		}
		return append(left, R(theme.Travel, h.moment(g)))
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
	switch h.Travel {
	case "":
	case "now":
		s += ", just now"
	default:
		s += ", " + h.Travel + " ago"
	}
	if s == " at" {
		s = " another moment"
	}
	return s + " "
}

// right is how it is; drop 1 shortens the gauges, 2 takes the age away, 3 the
// gauges.
func (h Header) right(t *theme.Theme, drop int) []Span {
	var right []Span
	for _, c := range h.Gauges {
		switch drop {
		case 0:
			right = append(right, S("  "), c.Long)
		case 1, 2:
			right = append(right, S("  "), c.Short)
		}
	}
	if h.Pending.Short.Text != "" {
		chip := h.Pending.Short
		if drop == 0 {
			chip = h.Pending.Long
		}
		right = append(right, S("  "), chip)
	}
	if h.Worst.Text != "" {
		right = append(right, S("  "), h.Worst)
	}
	switch {
	case h.Locked:
		right = append(right, S("  "), R(theme.Chip, " RO "))
	case h.Remote:
		right = append(right, S("  "), R(theme.RW, " RW "))
	}
	if h.Follow != "" {
		right = append(right, R(theme.Accent, "  follow "+h.Follow))
	}
	if h.Age != "" && drop < 2 {
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
	P95                          string // "" = not known
	Spark                        string // requests of the newest operations, the last one at the right
	Was                          string // "was 31": what the same cost before
	Over                         string // "over budget by 4"; "" = it is not
	Masked                       bool   // nothing that is measured is drawn
	Writes                       bool   // some of the requests were to change the store
	Scope                        string
}

// Render draws the status line. Counts of writes that are not zero are shown
// as the defect they are where nothing was to be written. When it gets tight the
// sparkline goes first, then what it cost before, the latency, the bytes and
// the hops: what is in flight and what failed does not.
func (m Meter) Render(t *theme.Theme, w int) string {
	right := []Span{S(" "), R(theme.Muted, m.Scope), S(" ")}
	var left []Span
	for drop := range 6 {
		left = m.left(t, drop)
		if SpanWidth(left)+SpanWidth(right) <= w {
			break
		}
	}
	return Sides(t, w, left, right)
}

func (m Meter) left(t *theme.Theme, drop int) []Span {
	dot := R(theme.Muted, " "+t.Glyph.Dot+" ")
	spans := m.counts(t)
	add := func(until int, s ...Span) {
		if drop < until {
			spans = append(append(spans, dot), s...)
		}
	}
	add(4, S(Bytes(m.Bytes)))
	if !m.Masked {
		add(5, R(theme.Muted, "hops "), S(Count(m.Hops)))
	}
	if m.InFlight > 0 {
		add(9, R(theme.Accent, Count(m.InFlight)+" in flight"))
	}
	if m.Retries > 0 {
		add(9, R(theme.Warn, Plural(m.Retries, "retry", "retries")))
	}
	if m.Failed > 0 {
		add(9, R(theme.Bad, Count(m.Failed)+" failed"))
	}
	if m.Over != "" {
		add(9, R(theme.Warn, t.Glyph.Warn+" "+m.Over))
	}
	if m.P95 != "" && !m.Masked {
		add(3, R(theme.Muted, "p95 "), S(m.P95))
	}
	if m.Was != "" {
		add(2, R(theme.Muted, m.Was))
	}
	if m.Spark != "" && !m.Masked {
		add(1, R(theme.Accent, m.Spark))
	}
	return spans
}

// counts are the requests by operation.
func (m Meter) counts(t *theme.Theme) []Span {
	spans := []Span{S(" ")}
	for i, c := range []struct {
		name  string
		n     int64
		write bool
	}{{"GET", m.Get, false}, {"HEAD", m.Head, false}, {"LIST", m.List, false}, {"PUT", m.Put, true}, {"DEL", m.Delete, true}} {
		if i > 0 {
			spans = append(spans, S(" "))
		}
		switch {
		case c.write && c.n > 0 && m.Writes:
			spans = append(spans, R(theme.Muted, c.name+" "), R(theme.Write, Count(c.n)))
		case c.write && c.n > 0:
			spans = append(spans, R(theme.Write, t.Glyph.Bad+" "+c.name+" "+Count(c.n)))
		case m.Over != "":
			spans = append(spans, R(theme.Muted, c.name+" "), R(theme.Warn, Count(c.n)))
		default:
			spans = append(spans, R(theme.Muted, c.name+" "), S(Count(c.n)))
		}
	}
	return spans
}

// Watched is a number that is watched, in a long form and a short one.
type Watched struct{ Long, Short Span }

// Hint is one entry of the key line.
type Hint struct {
	Key, Title string
	Why        string // why it cannot be used now, "" = it can
	Keep       int    // the smallest goes first where there is too little room
}

// Keys draws the key line. A hint that cannot be used says why, where there is
// room; one without a key is not there. What does not fit is dropped by Keep.
func Keys(t *theme.Theme, hints []Hint, w int) string {
	var shown [][]Span
	var keep []int
	used := 1 - columnGap
	for _, h := range hints {
		if h.Key == "" {
			continue
		}
		one := []Span{R(theme.Accent, h.Key), S(" " + h.Title)}
		if h.Why != "" {
			one = []Span{R(theme.Muted, h.Key+" "+h.Title+" ("+h.Why+")")}
		}
		shown, keep, used = append(shown, one), append(keep, h.Keep), used+columnGap+SpanWidth(one)
	}
	for used > w && len(shown) > 1 {
		worst := len(keep) - 1
		for i := len(keep) - 2; i >= 0; i-- {
			if keep[i] < keep[worst] {
				worst = i
			}
		}
		used -= columnGap + SpanWidth(shown[worst])
		shown, keep = slices.Delete(shown, worst, worst+1), slices.Delete(keep, worst, worst+1)
	}
	spans := []Span{S(" ")}
	for i, one := range shown {
		if i > 0 {
			spans = append(spans, S(spaces(columnGap)))
		}
		spans = append(spans, one...)
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
