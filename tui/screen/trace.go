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
// are left out; copies stand with the puts. Where it is tight, operations of
// which there was none are left out too.
func Matrix(e *Env, tr cost.Trace, w int) []string {
	t := e.Theme
	wide := 6
	if w < 54 {
		wide = 5
	}
	shown := [6]bool{true, true, true, true, true, true}
	if w < 14+6*wide {
		shown = [6]bool{5: true}
		for _, c := range tr.Classes {
			for i, n := range [5]int64{c.Ops.Get, c.Ops.Head, c.Ops.List, c.Ops.Put + c.Ops.Copy, c.Ops.Delete} {
				shown[i] = shown[i] || n > 0
			}
		}
	}
	cells := func(role theme.Role, name string, ops [6]string) []part.Span {
		spans := []part.Span{part.S(" "), part.R(role, part.Pad(name, 13))}
		for i, s := range ops {
			if !shown[i] {
				continue
			}
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
		spans := []part.Span{part.S(" "), part.R(role, lead), part.S(part.PadLeft(part.Millis(c.End.Sub(c.Start)), 7) + " " + part.Pad(strings.ToUpper(c.Op), 7)),
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

// Waterfall draws the requests of a trace that are kept, in h lines; with h
// 0 all of them, however many lines that takes.
func Waterfall(e *Env, tr cost.Trace, w, h int) []string {
	if len(tr.Calls) == 0 {
		return nil
	}
	if e.Masked {
		return requests(e, tr, w, h)
	}
	g := e.Theme.Glyph
	begin := tr.Calls[0].Start
	falls := make([]part.Fall, len(tr.Calls))
	for i, c := range tr.Calls {
		op := strings.ToUpper(c.Op)
		if c.Attempt > 1 {
			op += "." + strconv.Itoa(c.Attempt)
		}
		falls[i] = part.Fall{
			Op: op, What: keyOf(c, g), From: c.Start.Sub(begin), To: c.End.Sub(begin),
			Bytes: c.Read + c.Written, Hop: c.Hop, Failed: c.Failed,
		}
	}
	var out []string
	if tr.Dropped > 0 {
		out = append(out, part.Line(e.Theme, w, part.R(theme.Muted, " "+g.Folded+" "+part.Plural(tr.Dropped, "older request", "older requests")+" not kept")))
	}
	if h <= 0 {
		h = len(falls) + 1
	} else {
		h -= len(out)
	}
	return append(out, part.Waterfall(e.Theme, falls, w, h)...)
}

// requests lists what was asked for without any time, in an order that does
// not depend on which answer came first.
func requests(e *Env, tr cost.Trace, w, h int) []string {
	g := e.Theme.Glyph
	calls := slices.Clone(tr.Calls)
	slices.SortStableFunc(calls, func(a, b cost.Call) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Read, b.Read))
	})
	out := []string{part.Line(e.Theme, w, part.R(theme.Muted, " "+part.Pad("op", 5)+part.Pad("call", max(4, w-16))+part.PadLeft("bytes", 9)))}
	for i, c := range calls {
		if h > 0 && i == h-2 && len(calls) > h-1 {
			return append(out, part.Line(e.Theme, w, part.R(theme.Muted, " "+g.Folded+" "+part.Plural(len(calls)-i, "request", "requests")+" more")))
		}
		key := part.CutLeft(keyOf(c, g), max(4, w-17), g.More)
		out = append(out, part.Line(e.Theme, w, part.S(" "+part.Pad(strings.ToUpper(c.Op), 5)), part.S(part.Pad(key, max(4, w-16))), part.R(theme.Muted, part.PadLeft(part.Bytes(c.Read+c.Written), 9))))
	}
	return out
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
