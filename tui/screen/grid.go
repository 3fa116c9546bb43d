package screen

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

const (
	cellMax = 28 // cells that one value may take in the grid
	idMax   = 36 // an id of a generator, or a UUID
	gap     = 2
)

// grid draws the rows that stand in the window: names above types above
// values, the id pinned at the left.
func (r *rows) grid(e *Env, page *engine.RowPage, w, h int, focused bool) []string {
	if h < 3 {
		return nil
	}
	t := e.Theme
	r.list.Fit(r.count(), h-2)
	cols := r.columns(e, page, w, h-2)
	out := []string{r.heading(t, page, cols, w, false), r.heading(t, page, cols, w, true)}
	for i := r.list.Top; i < min(r.count(), r.list.Top+h-2); i++ {
		out = append(out, r.gridLine(e, i, cols, w, i == r.list.Sel, focused))
	}
	return part.Fit(out, w, h)
}

// visible are the columns that are not hidden: the id, the column by which the
// rows are ordered, those that the condition names, then the others.
func (r *rows) visible(page *engine.RowPage) []int {
	if len(page.Columns) == 0 {
		return nil
	}
	out := []int{0}
	if by := slices.Index(page.Columns, r.now.sort); by > 0 {
		out = append(out, by)
	}
	named := namesIn(r.now.where)
	for _, first := range []bool{true, false} {
		for c, name := range page.Columns {
			if !r.hide[name] && slices.Contains(named, name) == first && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// namesIn are the words of a condition that may name columns: what stands
// between quotes does not.
func namesIn(where string) []string {
	var out []string
	for i, piece := range strings.Split(where, "'") {
		if i%2 == 0 {
			out = append(out, strings.FieldsFunc(piece, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })...)
		}
	}
	return out
}

// hidden are the names of the columns that are not shown.
func (r *rows) hidden() []string { return slices.Sorted(maps.Keys(r.hide)) }

// gridCol is a column that is drawn.
type gridCol struct {
	at, width int
	right     bool
}

// columns chooses what is drawn, from the widths of the values in the window.
func (r *rows) columns(e *Env, page *engine.RowPage, w, h int) []gridCol {
	var out []gridCol
	room := w - 2
	for i, c := range r.visible(page) {
		if i > 0 && i <= r.col {
			continue
		}
		most := cellMax
		if c == 0 {
			most = idMax
		}
		col := r.measure(e, page, c, h)
		if c > 0 {
			most = min(most, max(room, 0))
			if room < min(col.width, 6) {
				break
			}
		}
		col.width = min(col.width, most)
		out = append(out, col)
		room -= col.width + gap
	}
	return out
}

func (r *rows) measure(e *Env, page *engine.RowPage, c, h int) gridCol {
	col := gridCol{at: c, width: part.Width(part.Clean(page.Columns[c], e.Theme.Glyph))}
	if c < len(page.Types) {
		col.width = max(col.width, min(14, part.Width(part.Clean(gridType(page.Types[c]), e.Theme.Glyph))))
		col.right = numeric(page.Types[c])
	}
	for i := r.list.Top; i < r.list.Top+h; i++ {
		if _, row := r.row(i); row != nil && c < len(row.Values) {
			text, _ := cell(e.Theme, row.Values[c], cellMax)
			col.width = max(col.width, part.Width(text))
		}
	}
	return col
}

// gridType is a type as it stands above a column: the words of an enum are in
// the schema.
func gridType(typ string) string {
	if strings.HasPrefix(typ, "enum(") {
		return "enum"
	}
	return typ
}

func numeric(typ string) bool {
	for _, p := range []string{"I32", "I64", "U32", "U64", "F32", "F64", "Int", "Float", "Double"} {
		if strings.HasPrefix(typ, p) {
			return true
		}
	}
	return false
}

func (r *rows) heading(t *theme.Theme, page *engine.RowPage, cols []gridCol, w int, types bool) string {
	spans := []part.Span{part.S("  ")}
	for _, c := range cols {
		text, role := page.Columns[c.at], theme.Strong
		if types {
			text, role = "", theme.Muted
			if c.at < len(page.Types) {
				text = gridType(page.Types[c.at])
			}
		}
		text = part.Cut(part.Clean(text, t.Glyph), c.width, t.Glyph.More)
		if c.right {
			text = part.PadLeft(text, c.width)
		}
		spans = append(spans, part.R(role, part.Pad(text, c.width)), part.S("  "))
	}
	return part.Line(t, w, spans...)
}

func (r *rows) gridLine(e *Env, i int, cols []gridCol, w int, selected, focused bool) string {
	t := e.Theme
	lead := "  "
	if selected {
		lead = t.Glyph.Pointer + " "
	}
	spans := []part.Span{part.S(lead)}
	_, row := r.row(i)
	if row == nil {
		spans = append(spans, part.R(theme.Muted, "row "+part.Count(r.at(i)+1)+" "+t.Glyph.More))
	} else {
		for _, c := range cols {
			v := engine.Cell{}
			if c.at < len(row.Values) {
				v = row.Values[c.at]
			}
			text, role := cell(t, v, c.width)
			if c.right {
				text = part.PadLeft(text, c.width)
			}
			spans = append(spans, part.R(role, part.Pad(text, c.width)), part.S("  "))
		}
	}
	switch {
	case selected && focused:
		return part.Selected(t, w, theme.Select, spans...)
	case selected:
		return part.Selected(t, w, theme.Mark, spans...)
	}
	return part.Line(t, w, spans...)
}

// cell is one value in at most w cells. What is cut is counted.
func cell(t *theme.Theme, v engine.Cell, w int) (string, theme.Role) {
	switch v.Kind {
	case engine.CellNull:
		return t.Glyph.Null, theme.Muted
	case engine.CellText:
		switch v.Text {
		case "":
			return "\"\"", theme.Muted
		case t.Glyph.Null, "\"\"": // text that looks like the sign for none
			return "\"" + v.Text + "\"", theme.Text
		}
	}
	text := v.Text
	role := theme.Text
	if v.Kind == engine.CellBlob || v.Kind == engine.CellVector {
		role = theme.Muted
	}
	const looked = 512 // bytes, more than any cell shows
	rest := len(text)
	text = part.Head(text, looked)
	rest -= len(text)
	text = part.Clean(text, t.Glyph)
	n := part.Width(text)
	if n <= w && rest == 0 {
		return text, role
	}
	if rest > 0 && w >= 12 {
		tail := t.Glyph.More + "+" + part.Bytes(int64(rest+n-w))
		return part.Cut(text, w-part.Width(tail), "") + tail, role
	}
	if v.Kind == engine.CellText && w >= 12 {
		tail := t.Glyph.More + "+" + part.Count(n-w)
		tail = t.Glyph.More + "+" + part.Count(n-(w-part.Width(tail)))
		return part.Cut(text, w-part.Width(tail), "") + tail, role
	}
	return part.Cut(text, w, t.Glyph.More), role
}
