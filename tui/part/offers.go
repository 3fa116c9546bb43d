package part

import (
	"github.com/omnideck/omnideck/tui/theme"
)

// Offer is one line of a palette. Its texts are clean.
type Offer struct {
	Kind   string // what it is: action, branch, type
	Text   string
	At     []int // bytes of Text that match what was typed
	Detail string
	Key    string // that does the same, "" = none
	Why    string // why it cannot be used now, "" = it can
}

// Offers draws the window of n offers around the selected one: kind, text,
// detail, and the key at the end of the line.
func Offers(t *theme.Theme, n int, offer func(i int) Offer, l *List, w, h int) []string {
	l.Settle(n, nil)
	l.Fit(n, max(h, 1))
	kind := 0
	shown := make([]Offer, 0, max(h, 0))
	for i := l.Top; i < min(n, l.Top+h); i++ {
		o := offer(i)
		kind = max(kind, Width(o.Kind))
		shown = append(shown, o)
	}
	var out []string
	for i, o := range shown {
		out = append(out, o.line(t, w, kind, l.Top+i == l.Sel))
	}
	return Fit(out, w, h)
}

// line draws one offer. The key stays while there is room for some of the
// text beside it.
func (o Offer) line(t *theme.Theme, w, kind int, selected bool) string {
	lead, role := S("  "), theme.Text
	if selected {
		lead = R(theme.Strong, t.Glyph.Pointer+" ")
	}
	if o.Why != "" {
		role = theme.Muted
	}
	left := []Span{lead}
	if kind > 0 && w >= 4*kind {
		left = append(left, R(theme.Muted, Pad(o.Kind, kind)+spaces(columnGap)))
	}
	left = append(left, Matched(role, o.Text, o.At)...)
	detail := o.Detail
	if o.Why != "" {
		detail = "(" + o.Why + ")"
	}
	if detail != "" {
		left = append(left, R(theme.Muted, spaces(columnGap)+detail))
	}
	var right []Span
	if n := Width(o.Key); n > 0 && n+2 <= w/3 {
		right = []Span{R(theme.Accent, " "+o.Key), S(" ")}
	}
	if selected {
		n := SpanWidth(right)
		return Selected(t, w-n, theme.Select, left...) + Selected(t, n, theme.Select, right...)
	}
	return Sides(t, w, left, right)
}
