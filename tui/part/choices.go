package part

import (
	"github.com/omnideck/omnideck/tui/theme"
)

// Choice is one line of a menu. It is what a screen.MenuItem is.
type Choice struct {
	Key    string // a letter that chooses it at once; "" = none
	Label  string
	Detail string
	On     bool // of a menu of switches
}

// Choices is a menu: a few lines, one of them selected.
type Choices struct {
	Items  []Choice
	Toggle bool // items are switches, drawn with their state
	List   List
}

// Find is the item that a key chooses.
func (c *Choices) Find(key string) (i int, ok bool) {
	for i, item := range c.Items {
		if item.Key != "" && item.Key == key {
			return i, true
		}
	}
	return 0, false
}

// Width is how many cells the menu takes when it has all that it wants.
func (c *Choices) Width(t *theme.Theme) int {
	label, detail := c.widths(t)
	n := c.lead() + label + 1
	if detail > 0 {
		n += columnGap + detail
	}
	return n
}

func (c *Choices) widths(t *theme.Theme) (label, detail int) {
	for _, item := range c.Items {
		label = max(label, Width(Clean(item.Label, t.Glyph)))
		detail = max(detail, Width(Clean(item.Detail, t.Glyph)))
	}
	return label, detail
}

// lead is what stands before the labels: pointer, switch, key.
func (c *Choices) lead() int {
	n := 2
	if c.Toggle {
		n += 4
	}
	for _, item := range c.Items {
		if item.Key != "" {
			return n + 3
		}
	}
	return n
}

// Render draws h lines of w cells around the selected item. The texts of the
// items need not be clean. When something is above or below, the last column
// says so.
func (c *Choices) Render(t *theme.Theme, w, h int) []string {
	c.List.Settle(len(c.Items), nil)
	c.List.Fit(len(c.Items), max(h, 1))
	label, _ := c.widths(t)
	var out []string
	for i := c.List.Top; i < min(len(c.Items), c.List.Top+h); i++ {
		left := c.line(t, i, label)
		var right []Span
		if i == c.List.Top && i > 0 || i == c.List.Top+h-1 && i < len(c.Items)-1 {
			right = []Span{R(theme.Muted, t.Glyph.Folded)}
		}
		if i == c.List.Sel {
			out = append(out, Selected(t, w-SpanWidth(right), theme.Select, left...)+Line(t, SpanWidth(right), right...))
			continue
		}
		out = append(out, Sides(t, w, left, right))
	}
	return Fit(out, w, h)
}

func (c *Choices) line(t *theme.Theme, i, label int) []Span {
	g, item := t.Glyph, c.Items[i]
	spans := []Span{S("  ")}
	if i == c.List.Sel {
		spans[0] = S(g.Pointer + " ")
	}
	if c.Toggle {
		mark := " "
		if item.On {
			mark = g.OK
		}
		spans = append(spans, S("["+mark+"] "))
	}
	if n := c.lead() - SpanWidth(spans); n > 0 {
		spans = append(spans, R(theme.Accent, Pad(Cut(Clean(item.Key, g), n-1, g.More), n)))
	}
	spans = append(spans, S(Pad(Clean(item.Label, g), label)))
	if item.Detail != "" {
		spans = append(spans, R(theme.Muted, spaces(columnGap)+Clean(item.Detail, g)))
	}
	return spans
}
