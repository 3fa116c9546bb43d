package part

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnideck/omnideck/tui/theme"
)

// Fall is one call of a waterfall. Its texts need not be clean.
type Fall struct {
	Op       string        // GET, LIST
	What     string        // class or key, cut in its middle
	From, To time.Duration // since the operation began
	Bytes    int64
	Hop      int // 1 + the deepest hop of the calls that had ended when this one began
	Failed   bool
}

// Waterfall draws when each call began and ended, on one axis from the
// beginning of the operation to the end of its last call, in h lines of w
// cells: a heading with the axis, then a line a call in order of beginning.
// The calls of the chain that took longest, of which each waited for the one
// before, carry the number of their hop. When there are more calls than lines,
// that chain and the longest others are kept, and the last line says how many
// are not shown.
func Waterfall(t *theme.Theme, calls []Fall, w, h int) []string {
	if len(calls) == 0 || h <= 0 {
		return Fit(nil, w, h)
	}
	chain := fallChain(calls)
	rows, hidden := fallRows(calls, chain, h-1)
	total := time.Duration(1)
	for _, c := range calls {
		total = max(total, c.To)
	}
	l := layFalls(t, calls, rows, total, w)
	out := []string{l.heading(t, w)}
	for _, i := range rows {
		out = append(out, l.row(t, calls[i], chain[i], w))
	}
	if hidden > 0 && h > 1 {
		out = append(out, Line(t, w, R(theme.Muted, " "+t.Glyph.Folded+" "+Plural(hidden, "call", "calls")+" more")))
	}
	return Fit(out, w, h)
}

// fallChain finds the calls of the longest-waiting chain, from its end: the
// call that ended last among those of the deepest hop, before it the one that
// ended last of those that it may have waited for.
func fallChain(calls []Fall) map[int]bool {
	at := 0
	for i, c := range calls {
		if d := cmp.Or(cmp.Compare(c.Hop, calls[at].Hop), cmp.Compare(c.To, calls[at].To)); d > 0 {
			at = i
		}
	}
	chain := map[int]bool{at: true}
	for {
		before := -1
		for i, c := range calls {
			if c.Hop == calls[at].Hop-1 && c.To <= calls[at].From && (before < 0 || c.To > calls[before].To) {
				before = i
			}
		}
		if before < 0 || chain[before] {
			return chain
		}
		chain[before], at = true, before
	}
}

// fallRows chooses n calls and orders them by their beginning.
func fallRows(calls []Fall, chain map[int]bool, n int) (rows []int, hidden int) {
	rows = make([]int, len(calls))
	for i := range rows {
		rows[i] = i
	}
	if len(rows) > n {
		n = max(0, n-1) // the last line says what is missing
		slices.SortStableFunc(rows, func(a, b int) int {
			if chain[a] != chain[b] {
				if chain[a] {
					return -1
				}
				return 1
			}
			return cmp.Compare(calls[b].To-calls[b].From, calls[a].To-calls[a].From)
		})
		rows, hidden = rows[:n], len(rows)-n
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(calls[a].From, calls[b].From), cmp.Compare(calls[a].To, calls[b].To))
	})
	return rows, hidden
}

// falls is the layout of a waterfall: the widths of its columns, 0 = dropped.
type falls struct {
	hop, op, what, bar, took, bytes int
	total                           time.Duration
}

const fallBar = 8 // cells below which there is no axis

func layFalls(t *theme.Theme, calls []Fall, rows []int, total time.Duration, w int) falls {
	l := falls{hop: 4, op: 4, took: 4, bytes: 5, total: total}
	for _, i := range rows {
		c := calls[i]
		l.op = min(8, max(l.op, Width(Clean(c.Op, t.Glyph))))
		l.what = min(60, max(l.what, Width(Clean(c.What, t.Glyph))))
		l.took = max(l.took, Width(Millis(c.To-c.From)))
		l.bytes = max(l.bytes, Width(Bytes(c.Bytes)))
	}
	what := l.what
	l.what = min(what, max(6, w/3))
	l.bar = l.rest(w)
	if l.bar < fallBar {
		l.bytes = 0
		l.bar = l.rest(w)
	}
	if l.bar < fallBar {
		l.what = min(what, max(0, l.what-(fallBar-l.bar)))
		if l.what < 6 {
			l.what = 0
		}
		l.bar = l.rest(w)
	}
	if l.bar < fallBar {
		l.bar = 0
		l.what = min(what, max(0, l.rest(w)+l.what))
	}
	return l
}

// rest is what the columns and their gaps leave for the axis.
func (l falls) rest(w int) int {
	n := w - 1 - l.hop - l.op - 1 - l.took - 3 // a space before, and the mark behind
	if l.what > 0 {
		n -= l.what + 1
	}
	if l.bytes > 0 {
		n -= l.bytes + 1
	}
	return n - 1
}

func (l falls) heading(t *theme.Theme, w int) string {
	s := " " + Pad("hop", l.hop) + Pad("op", l.op+1)
	if l.what > 0 {
		s += Pad("call", l.what+1)
	}
	if l.bar > 0 {
		end := Millis(l.total)
		s += Pad("0", max(1, l.bar-Width(end))) + end + " "
	}
	s += PadLeft("took", l.took)
	if l.bytes > 0 {
		s += " " + PadLeft("bytes", l.bytes)
	}
	return Line(t, w, R(theme.Muted, s))
}

func (l falls) row(t *theme.Theme, c Fall, waited bool, w int) string {
	g := t.Glyph
	role, hop := theme.Muted, ""
	if waited {
		role, hop = theme.Accent, strconv.Itoa(c.Hop)
	}
	spans := []Span{S(" "), R(theme.Accent, Pad(Cut(hop, l.hop-1, g.More), l.hop)), S(Pad(Cut(Clean(c.Op, g), l.op, g.More), l.op+1))}
	if l.what > 0 {
		spans = append(spans, S(Pad(CutMiddle(Clean(c.What, g), l.what, g.More), l.what+1)))
	}
	if c.Failed && t.Fills(theme.Bad) {
		role = theme.Bad
	}
	if l.bar > 0 {
		lead, bar := fallSpan(g, c.From, c.To, l.total, l.bar)
		spans = append(spans, S(spaces(lead)), R(role, bar), S(spaces(l.bar-lead-Width(bar)+1)))
	}
	spans = append(spans, S(PadLeft(Millis(c.To-c.From), l.took)))
	if l.bytes > 0 {
		spans = append(spans, S(" "+PadLeft(Bytes(c.Bytes), l.bytes)))
	}
	if c.Failed {
		spans = append(spans, R(theme.Bad, " "+g.Bad))
	}
	return Line(t, w, spans...)
}

// fallSpan is a bar on an axis of w cells: it begins in the cell in which the
// call began, and ends to the eighth of a cell where the call ended.
func fallSpan(g theme.Glyphs, from, to, total time.Duration, w int) (lead int, bar string) {
	cells := func(d time.Duration) float64 { return float64(min(max(d, 0), total)) / float64(total) * float64(w) }
	lead = min(int(cells(from)), w-1)
	n := min(max(1, int(cells(to)*8+0.5)-lead*8), (w-lead)*8)
	bar = strings.Repeat(g.Eighths[7], n/8)
	if n%8 > 0 {
		bar += g.Eighths[n%8-1]
	}
	if strings.TrimSpace(bar) == "" { // the ASCII set has nothing that thin
		bar = g.Info
	}
	return lead, bar
}

// Millis writes how long a call took.
func Millis(d time.Duration) string {
	ms := float64(max(d, 0)) / float64(time.Millisecond)
	switch {
	case ms < 9.95:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	case ms < 99_999.5:
		return Count(int64(ms+0.5)) + " ms"
	}
	return Elapsed(d)
}
