package part

import (
	"github.com/omnideck/omnideck/tui/theme"
)

// Doc is a page of lines that can be scrolled: the detail of something. It is
// built for a width, because it wraps.
type Doc struct {
	t     *theme.Theme
	w     int
	lines []string
}

// NewDoc starts a page of w cells.
func NewDoc(t *theme.Theme, w int) *Doc { return &Doc{t: t, w: w} }

// Head adds a heading.
func (d *Doc) Head(text string) *Doc {
	if len(d.lines) > 0 {
		d.lines = append(d.lines, Blank(d.w))
	}
	d.lines = append(d.lines, Line(d.t, d.w, S(" "), R(theme.Strong, Clean(text, d.t.Glyph))))
	return d
}

// Line adds a line of spans, cut at the width.
func (d *Doc) Line(spans ...Span) *Doc {
	d.lines = append(d.lines, Line(d.t, d.w, append([]Span{S(" ")}, spans...)...))
	return d
}

// Text adds a paragraph, wrapped.
func (d *Doc) Text(role theme.Role, text string) *Doc {
	for _, l := range Wrap(Clean(text, d.t.Glyph), d.w-2) {
		d.lines = append(d.lines, Line(d.t, d.w, S(" "), R(role, l)))
	}
	return d
}

// Indent adds a paragraph that begins n cells further right.
func (d *Doc) Indent(n int, text string) *Doc {
	for _, l := range Wrap(Clean(text, d.t.Glyph), d.w-2-n) {
		d.lines = append(d.lines, Line(d.t, d.w, S(spaces(n+1)), S(l)))
	}
	return d
}

// docLabel is the width of the names of facts.
const docLabel = 14

// Fact adds a name and a value; the value is wrapped beside the name. A value
// that is "" is left out.
func (d *Doc) Fact(name, value string) *Doc { return d.FactRole(name, theme.Text, value) }

// FactRole is Fact with a role for the value.
func (d *Doc) FactRole(name string, role theme.Role, value string) *Doc {
	if value == "" {
		return d
	}
	label := Pad(Cut(Clean(name, d.t.Glyph), docLabel-1, d.t.Glyph.More), docLabel)
	for i, l := range Wrap(Clean(value, d.t.Glyph), max(8, d.w-docLabel-2)) {
		if i > 0 {
			label = spaces(docLabel)
		}
		d.lines = append(d.lines, Line(d.t, d.w, S(" "), R(theme.Muted, label), R(role, l)))
	}
	return d
}

// Gap adds an empty line.
func (d *Doc) Gap() *Doc {
	d.lines = append(d.lines, Blank(d.w))
	return d
}

// Add appends finished lines of the page's width.
func (d *Doc) Add(lines ...string) *Doc {
	d.lines = append(d.lines, lines...)
	return d
}

// Len is the number of lines.
func (d *Doc) Len() int { return len(d.lines) }

// Window returns h lines from top on, top being brought into range. The last
// line says how much is below when there is more.
func (d *Doc) Window(h int, top *int) []string {
	*top = min(max(0, *top), max(0, len(d.lines)-h))
	out := append([]string(nil), d.lines[*top:min(len(d.lines), *top+h)]...)
	if below := len(d.lines) - *top - h; below > 0 && h > 1 {
		out[h-1] = Line(d.t, d.w, R(theme.Muted, " "+d.t.Glyph.Folded+" "+Plural(below+1, "line", "lines")+" more"))
	}
	return Fit(out, d.w, h)
}

// Width is the number of cells of a line.
func (d *Doc) Width() int { return d.w }

// Theme is the theme that the page is painted in.
func (d *Doc) Theme() *theme.Theme { return d.t }
