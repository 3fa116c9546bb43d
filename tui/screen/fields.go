package screen

import (
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// rowDoc is one record, every value in full up to what a screen can show.
func rowDoc(e *Env, w int, page *engine.RowPage, row *engine.Row) *part.Doc {
	d := part.NewDoc(e.Theme, w)
	rowFields(e, d, "", page, row)
	return d
}

// Widths of the columns of a record.
const (
	fieldName = 18 // at most
	fieldType = 14 // at most; twice that where there is room
	fieldRoom = 26 // that a value needs to stand beside them
)

// fields writes records: names, types and values as three columns where there
// is room, else each value below its name.
type fields struct {
	e          *Env
	d          *part.Doc
	name, typ  int // widths; typ 0 = the type stands behind the name
	beside     bool
	valueWidth int
	sign       part.Span // in front of every name
}

func newFields(e *Env, d *part.Doc, page *engine.RowPage) *fields {
	f := &fields{e: e, d: d}
	widest := fieldType
	if d.Width() > 80 {
		widest *= 2
	}
	for i, n := range page.Columns {
		f.name = max(f.name, min(fieldName, part.Width(part.Clean(n, e.Theme.Glyph))))
		if i < len(page.Types) {
			f.typ = max(f.typ, min(widest, part.Width(part.Clean(page.Types[i], e.Theme.Glyph))))
		}
	}
	f.valueWidth = d.Width() - f.name - f.typ - 6
	f.beside = f.valueWidth >= fieldRoom
	return f
}

// fieldLines is how many lines of a record are written out.
const fieldLines = 500

// rowFields writes a record out, every value in full up to what a screen can
// show. table is its type, "" where that is plain.
func rowFields(e *Env, d *part.Doc, table string, page *engine.RowPage, row *engine.Row) {
	d.Head(strings.TrimPrefix(table+" "+row.ID, " "))
	f := newFields(e, d, page)
	if row.Src != "" || row.Dst != "" {
		f.value("from", "", part.R(theme.Accent, row.Src))
		f.value("to", "", part.R(theme.Accent, row.Dst))
	}
	for i, name := range page.Columns {
		if d.Len() >= fieldLines {
			d.Line(part.R(theme.Muted, "  "+part.Plural(len(page.Columns)-i, "property", "properties")+" more; the verb rows prints all of them"))
			return
		}
		if i >= len(row.Values) || name == "id" || row.Src != "" && (name == "src" || name == "dst") {
			continue
		}
		typ := ""
		if i < len(page.Types) {
			typ = page.Types[i]
		}
		f.cell(name, typ, row.Values[i])
	}
}

func (f *fields) cell(name, typ string, v engine.Cell) {
	switch {
	case v.Kind == engine.CellNull:
		f.value(name, typ, part.R(theme.Muted, f.e.Theme.Glyph.Null+" null"))
		return
	case v.Text == "":
		f.value(name, typ, part.R(theme.Muted, "\"\" empty text"))
		return
	}
	shown := part.Head(v.Text, part.CleanMax)
	f.value(name, typ, part.S(shown))
	if rest := len(v.Text) - len(shown); rest > 0 {
		f.d.Line(part.R(theme.Muted, "  "+part.Bytes(int64(rest))+" more; the verb rows prints all of it"))
	}
}

// value writes one field. The text may have several lines.
func (f *fields) value(name, typ string, v part.Span) {
	g := f.e.Theme.Glyph
	name, typ = part.Clean(name, g), part.Clean(typ, g)
	if !f.beside {
		f.d.Line(f.sign, part.R(theme.Strong, name), part.R(theme.Muted, " "+typ))
		for _, l := range f.lines(v.Text, f.d.Width()-4) {
			f.d.Line(part.S("  "), part.R(v.Role, l))
		}
		return
	}
	more := g.More
	name, typ = part.Pad(part.Cut(name, f.name, more), f.name), part.Pad(part.Cut(typ, f.typ, more), f.typ)
	for i, l := range f.lines(v.Text, f.valueWidth) {
		if i > 0 {
			name, typ = part.Pad("", f.name), part.Pad("", f.typ)
		}
		spans := []part.Span{f.sign, part.R(theme.Strong, name), part.S("  ")}
		if f.typ > 0 {
			spans = append(spans, part.R(theme.Muted, typ), part.S("  "))
		}
		f.d.Line(append(spans, part.R(v.Role, l))...)
	}
}

func (f *fields) lines(text string, w int) []string {
	var out []string
	for _, l := range strings.Split(text, "\n") {
		out = append(out, part.Wrap(part.Clean(l, f.e.Theme.Glyph), max(1, w))...)
	}
	return out
}
