package part

import (
	"github.com/omnideck/omnideck/tui/theme"
)

// List is where one is in a list: the selected item, known by its key so that
// a reload does not move it, and the window around it.
type List struct {
	Sel, Top int
	Key      string // key of the selected item; "" = none chosen yet
	window   int    // rows of the last frame
	widths   []int  // widest cells seen, per column
	moved    bool   // the user chose; before, the first item is selected whatever comes
}

// Move selects another item, d away, of n.
func (l *List) Move(d, n int) {
	l.Sel = min(max(0, l.Sel+d), max(0, n-1))
	l.Key, l.moved = "", true
}

// Page moves by a window, or by half of one.
func (l *List) Page(d, n int, half bool) {
	step := max(1, l.window-1)
	if half {
		step = max(1, l.window/2)
	}
	l.Move(d*step, n)
}

// Window is the number of rows of the last frame.
func (l *List) Window() int { return l.window }

// Settle makes the position fit n items: the item with the remembered key when
// it still exists, else the same place. key may be nil when items have none.
func (l *List) Settle(n int, key func(i int) string) {
	l.SettleBy(n, key, func(want string) (int, bool) {
		for i := range n {
			if key(i) == want {
				return i, true
			}
		}
		return 0, false
	})
}

// SettleBy is Settle for items that are found by their key in a quicker way
// than by looking at each.
func (l *List) SettleBy(n int, key func(i int) string, find func(key string) (int, bool)) {
	if key != nil && l.Key != "" && (l.Sel >= n || key(l.Sel) != l.Key) {
		if i, ok := find(l.Key); ok {
			l.Sel = i
		}
	}
	l.Sel = min(max(0, l.Sel), max(0, n-1))
	if key != nil && n > 0 && l.moved {
		l.Key = key(l.Sel)
	}
}

// Remember notes the key of the selected item, as one that was chosen.
func (l *List) Remember(key string) { l.Key, l.moved = key, true }

// Fit moves the window of h rows so that the selected of n items is in it.
func (l *List) Fit(n, h int) {
	l.window = h
	if l.Sel < l.Top {
		l.Top = l.Sel
	}
	if l.Sel >= l.Top+h {
		l.Top = l.Sel - h + 1
	}
	l.Top = min(max(0, l.Top), max(0, n-h))
}

// Column describes one column of a Table.
type Column struct {
	Title string
	Right bool // numbers
	Drop  int  // columns with the greatest Drop vanish first when it gets tight; 0 = never
	Min   int  // cells that the column may be cut down to; 0 = never cut
	Max   int  // cells that it may take; 0 = as many as its text
	Marks bool // as wide as the window needs, not as the widest cell that was ever seen
}

// Table is a list with columns.
type Table struct {
	Columns []Column
	N       int
	Row     func(i int) []Span // one span a column, clean
	Heading bool               // draw the titles
	// Lead is drawn before the first column, LeadWidth cells wide: the lanes of
	// a graph.
	Lead      func(i int) []Span
	LeadWidth int
}

// Render draws the window of the table around the selection. The state is
// adjusted to the size.
func (tb Table) Render(t *theme.Theme, w, h int, l *List, focused bool) []string {
	var out []string
	rows := h
	if tb.Heading {
		rows--
	}
	rows = max(rows, 0)
	l.Fit(tb.N, rows)
	cells := make([][]Span, 0, rows)
	for i := l.Top; i < min(tb.N, l.Top+rows); i++ {
		cells = append(cells, tb.Row(i))
	}
	widths := tb.layout(w-2-tb.LeadWidth, l, cells)
	if tb.Heading {
		out = append(out, tb.heading(t, w, widths))
	}
	for i, row := range cells {
		out = append(out, tb.line(t, w, widths, row, l.Top+i, l.Top+i == l.Sel, focused))
	}
	return Fit(out, w, h)
}

const columnGap = 2

// layout gives each column its width; -1 drops it.
func (tb Table) layout(w int, l *List, cells [][]Span) []int {
	if len(l.widths) != len(tb.Columns) {
		l.widths = make([]int, len(tb.Columns))
	}
	for c, col := range tb.Columns {
		n := l.widths[c]
		if col.Marks {
			n = 0
		}
		if tb.Heading {
			n = max(n, Width(col.Title))
		}
		for _, row := range cells {
			n = max(n, Width(row[c].Text))
		}
		l.widths[c] = n
	}
	out := make([]int, len(tb.Columns))
	for c, col := range tb.Columns {
		out[c] = l.widths[c]
		if col.Max > 0 {
			out[c] = min(out[c], max(col.Max, col.Min))
		}
		if out[c] == 0 {
			out[c] = -1 // nothing stands in it
		}
	}
	tb.squeeze(out, w)
	return out
}

// squeeze cuts columns that may be cut, then drops columns, then cuts whatever
// is left, until the row fits.
func (tb Table) squeeze(out []int, w int) {
	for over(out, w) > 0 {
		if tb.shrink(out, over(out, w)) {
			continue
		}
		worst := -1
		for c, col := range tb.Columns {
			if out[c] >= 0 && col.Drop > 0 && (worst < 0 || col.Drop > tb.Columns[worst].Drop) {
				worst = c
			}
		}
		if worst < 0 {
			return
		}
		out[worst] = -1
	}
}

// shrink takes from the widest column that is above its minimum.
func (tb Table) shrink(out []int, by int) bool {
	room := 0
	for c, col := range tb.Columns {
		if col.Min > 0 && out[c] > col.Min {
			room += out[c] - col.Min
		}
	}
	if room < by {
		return false
	}
	for range by {
		widest := -1
		for c, col := range tb.Columns {
			if col.Min > 0 && out[c] > col.Min && (widest < 0 || out[c] > out[widest]) {
				widest = c
			}
		}
		out[widest]--
	}
	return true
}

func over(widths []int, w int) int {
	n := -columnGap
	for _, c := range widths {
		if c >= 0 {
			n += c + columnGap
		}
	}
	return n - w
}

func (tb Table) heading(t *theme.Theme, w int, widths []int) string {
	spans := []Span{S("  " + spaces(tb.LeadWidth))}
	for c, col := range tb.Columns {
		if widths[c] >= 0 {
			spans = append(spans, R(theme.Muted, place(Cut(col.Title, widths[c], t.Glyph.More), widths[c], col.Right)+spaces(columnGap)))
		}
	}
	return Line(t, w, trimTail(spans)...)
}

func (tb Table) line(t *theme.Theme, w int, widths []int, row []Span, i int, selected, focused bool) string {
	lead := "  "
	if selected {
		lead = t.Glyph.Pointer + " "
	}
	spans := []Span{S(lead)}
	if tb.Lead != nil {
		l := tb.Lead(i)
		spans = append(append(spans, l...), S(spaces(tb.LeadWidth-SpanWidth(l))))
	}
	for c, col := range tb.Columns {
		if widths[c] >= 0 {
			text := Cut(row[c].Text, widths[c], t.Glyph.More)
			pad := S(spaces(widths[c] - Width(text))) // is not painted: it would be seen in a chip
			if col.Right {
				spans = append(spans, pad, R(row[c].Role, text), S(spaces(columnGap)))
			} else {
				spans = append(spans, R(row[c].Role, text), pad, S(spaces(columnGap)))
			}
		}
	}
	spans = trimTail(spans)
	switch {
	case selected && focused:
		return Selected(t, w, theme.Select, spans...)
	case selected:
		return Selected(t, w, theme.Mark, spans...)
	}
	return Line(t, w, spans...)
}

// trimTail removes the spaces behind the last column.
func trimTail(spans []Span) []Span {
	last := &spans[len(spans)-1]
	for len(last.Text) > 0 && last.Text[len(last.Text)-1] == ' ' {
		last.Text = last.Text[:len(last.Text)-1]
	}
	return spans
}

func place(s string, w int, right bool) string {
	if right {
		return PadLeft(s, w)
	}
	return Pad(s, w)
}
