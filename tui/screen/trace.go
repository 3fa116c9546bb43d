package screen

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// Matrix draws the requests of a trace by path class and operation: a heading,
// and a line for each class that was asked. Classes of which nothing was asked
// are left out; copies stand with the puts.
func Matrix(e *Env, tr cost.Trace, w int) []string {
	t := e.Theme
	wide := 6
	if w < 54 {
		wide = 5
	}
	cells := func(role theme.Role, name string, ops [6]string) []part.Span {
		spans := []part.Span{part.S(" "), part.R(role, part.Pad(name, 13))}
		for i, s := range ops {
			r := role
			if (i == 3 || i == 4) && s != "" && role == theme.Text {
				r = theme.Write
			}
			spans = append(spans, part.S(strings.Repeat(" ", max(0, wide-part.Width(s)))), part.R(r, s))
		}
		return spans
	}
	out := []string{part.Line(t, w, cells(theme.Muted, "class", [6]string{"GET", "HEAD", "LIST", "PUT", "DEL", "all"})...)}
	for _, c := range tr.Classes {
		o := c.Ops
		out = append(out, part.Line(t, w, cells(theme.Text, c.Class, [6]string{
			some(o.Get), some(o.Head), some(o.List), some(o.Put + o.Copy), some(o.Delete), some(o.Total()),
		})...))
	}
	return out
}

// some writes a count, and nothing for none.
func some(n int64) string {
	if n == 0 {
		return ""
	}
	return part.Count(n)
}

// Slowest draws the n slowest requests of a trace, those that failed before
// all others.
func Slowest(e *Env, tr cost.Trace, n, w int) []string {
	t := e.Theme
	if e.Masked {
		return nil
	}
	calls := slices.Clone(tr.Calls)
	slices.SortStableFunc(calls, func(a, b cost.Call) int {
		if a.Failed != b.Failed {
			if a.Failed {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.End.Sub(b.Start), a.End.Sub(a.Start))
	})
	out := []string{part.Line(t, w, part.R(theme.Muted, " slowest"))}
	for _, c := range calls[:min(n, len(calls))] {
		lead, role := "  ", theme.Text
		if c.Failed {
			lead, role = t.Glyph.Bad+" ", theme.Bad
		}
		spans := []part.Span{part.S(" "), part.R(role, lead), part.S(part.PadLeft(Took(c.End.Sub(c.Start)), 7) + " " + part.Pad(strings.ToUpper(c.Op), 7)),
			part.S(part.CutLeft(keyOf(c, t.Glyph), max(8, w-21), t.Glyph.More))}
		if c.Attempt > 1 {
			spans = append(spans, part.R(theme.Warn, " attempt "+strconv.Itoa(c.Attempt)))
		}
		out = append(out, part.Line(t, w, spans...))
		if c.Failed {
			out = append(out, part.Line(t, w, part.S("     "), part.R(theme.Bad, part.Clean(c.Err, t.Glyph))))
		}
	}
	return out
}

// keyOf is the key of a call; that of the root itself is not empty to the eye.
func keyOf(c cost.Call, g theme.Glyphs) string {
	if c.Key == "" {
		return "/"
	}
	return part.Clean(c.Key, g)
}

// Took writes how long something took.
func Took(d time.Duration) string {
	switch {
	case d < 0:
		return "0 ms"
	case d < 10*time.Millisecond:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + " ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	return part.Elapsed(d)
}

// serial marks the calls that make the longest chain of calls each of which
// began after the one before had ended: what the operation had to wait for.
func serial(calls []cost.Call) []bool {
	on := make([]bool, len(calls))
	at := -1
	for i, c := range calls {
		if at < 0 || c.Hop > calls[at].Hop || c.Hop == calls[at].Hop && c.End.After(calls[at].End) {
			at = i
		}
	}
	for at >= 0 {
		on[at] = true
		prev := -1
		for i, c := range calls {
			if c.Hop == calls[at].Hop-1 && !c.End.After(calls[at].Start) && (prev < 0 || c.End.After(calls[prev].End)) {
				prev = i
			}
		}
		at = prev
	}
	return on
}

// Waterfall draws every request of a trace that is kept, in order of
// beginning: operation, class or key, when it began, how long it took, its
// hop. The serial chain is marked.
func Waterfall(e *Env, tr cost.Trace, w int) []string {
	t := e.Theme
	if e.Masked {
		return nil
	}
	if len(tr.Calls) == 0 {
		return nil
	}
	f := newFall(tr, w)
	lead := " " + t.Glyph.Pointer + " waits for the one before"
	if tr.Dropped > 0 {
		lead = " " + t.Glyph.Folded + " " + part.Plural(tr.Dropped, "older request", "older requests") + " not kept; " + t.Glyph.Pointer + " waits for the one before"
	}
	out := make([]string, 0, len(tr.Calls)+1)
	out = append(out, part.Sides(t, w, []part.Span{part.R(theme.Muted, lead)}, []part.Span{part.R(theme.Muted, "took  hop ")}))
	for i := range tr.Calls {
		out = append(out, f.line(t, tr.Calls[i], f.chain[i]))
	}
	return out
}

// fall is how a waterfall is laid out.
type fall struct {
	w, key, bars int
	begin        time.Time
	total        time.Duration
	chain        []bool
}

func newFall(tr cost.Trace, w int) fall {
	f := fall{w: w, begin: tr.Calls[0].Start, chain: serial(tr.Calls)}
	for _, c := range tr.Calls {
		f.total = max(f.total, c.End.Sub(f.begin))
	}
	rest := w - 3 - 7 - 13 // mark, operation, time and hop
	f.key = min(34, max(8, rest*45/100))
	if f.bars = rest - f.key - 1; f.bars < 6 {
		f.bars, f.key = 0, max(0, rest)
	}
	return f
}

func (f fall) line(t *theme.Theme, c cost.Call, chained bool) string {
	g := t.Glyph
	mark, role := "  ", theme.Muted
	if chained {
		mark, role = g.Pointer+" ", theme.Accent
	}
	op := theme.Text
	switch {
	case c.Failed:
		op, mark = theme.Bad, g.Bad+" "
	case c.Op == "put" || c.Op == "delete" || c.Op == "copy":
		op = theme.Write
	}
	key := c.Class
	if room := f.key - part.Width(c.Class) - 1; room >= 6 {
		key += " " + part.CutLeft(keyOf(c, g), room, g.More)
	}
	key = part.Pad(part.Cut(key, f.key, g.More), f.key)
	left := []part.Span{part.S(" "), part.R(role, mark), part.R(op, part.Pad(strings.ToUpper(c.Op), 6)), part.S(" " + key + " ")}
	if f.bars > 0 {
		left = append(left, part.R(role, f.bar(g, c)))
	}
	right := []part.Span{part.S(" " + part.PadLeft(Took(c.End.Sub(c.Start)), 7) + " "), part.R(role, part.PadLeft(strconv.Itoa(c.Hop), 3)), part.S(" ")}
	return part.Sides(t, f.w, left, right)
}

// bar is the time of a call within that of all.
func (f fall) bar(g theme.Glyphs, c cost.Call) string {
	if f.total <= 0 {
		return g.Eighths[7]
	}
	at := func(d time.Duration) int { return int(int64(d) * int64(f.bars) / int64(f.total)) }
	from := min(max(0, at(c.Start.Sub(f.begin))), f.bars-1)
	n := max(1, min(at(c.End.Sub(c.Start)), f.bars-from))
	return strings.Repeat(" ", from) + strings.Repeat(g.Eighths[7], n)
}

// Percentile is how long the p-th part of the kept requests took at most.
func Percentile(tr cost.Trace, p float64) time.Duration {
	took := make([]time.Duration, len(tr.Calls))
	for i, c := range tr.Calls {
		took[i] = c.End.Sub(c.Start)
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[min(len(took)-1, int(p*float64(len(took))))]
}
