package part

import (
	"strconv"

	"github.com/omnideck/omnideck/tui/theme"
)

// Bar is one line of a histogram.
type HistBar struct {
	Label string
	Count int
}

// Hist draws a horizontal histogram in eighths of cells, w cells wide. Empty
// bars at both ends are left out, those between others are kept: a gap in a
// distribution says something.
func Hist(t *theme.Theme, bars []HistBar, w int) []string {
	for len(bars) > 0 && bars[0].Count == 0 {
		bars = bars[1:]
	}
	for len(bars) > 0 && bars[len(bars)-1].Count == 0 {
		bars = bars[:len(bars)-1]
	}
	label, number, most := 0, 0, 0
	for _, b := range bars {
		label = max(label, Width(b.Label))
		number = max(number, len(strconv.Itoa(b.Count)))
		most = max(most, b.Count)
	}
	room := w - label - number - 4
	out := make([]string, 0, len(bars))
	for _, b := range bars {
		bar := Bar(t.Glyph, float64(b.Count), float64(most), room)
		spans := []Span{S(" "), R(theme.Muted, PadLeft(b.Label, label)), S(" ")}
		if bar != "" {
			spans = append(spans, R(theme.Accent, bar), S(" "))
		}
		out = append(out, Line(t, w, append(spans, S(strconv.Itoa(b.Count)))...))
	}
	return out
}

// Gauge draws a share between two borders: ▕███  ▏ 71 %.
func Gauge(g theme.Glyphs, share float64, w int) string {
	share = min(max(share, 0), 1)
	return g.V + Pad(Bar(g, share, 1, w), w) + g.V + PadLeft(Percent(share), 6)
}

// Percent writes a share so that 0 % and 100 % mean none and all.
func Percent(share float64) string {
	switch {
	case share <= 0:
		return "0 %"
	case share >= 1:
		return "100 %"
	case share < 0.001:
		return "< 0.1 %"
	case share > 0.999:
		return "99.9 %"
	case share < 0.1 || share > 0.99:
		return strconv.FormatFloat(share*100, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(share*100, 'f', 0, 64) + " %"
}
