package screen

import (
	"strings"

	"github.com/omnideck/omnideck/engine/form"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// Widths of a form.
const (
	formMost = 118 // cells of the whole
	formName = 20
	formType = 16
	formHint = 3  // lines below the fields about the one that is selected
	formLow  = 24 // lines of a form for which two are enough
)

// Render draws the form in a box of at most w cells and h lines.
func (f *Form) Render(e *Env, w, h int) []string {
	t := e.Theme
	w = min(w, formMost)
	inner := w - 2
	title := part.Clean(f.Title()+" on "+BranchName(f.branch), t.Glyph)
	if f.shape == nil {
		return part.Box(t, title, f.renderAbsent(e, inner, h-2), w)
	}
	tail := f.tail(e, inner, h)
	lines := f.renderFields(e, inner, max(1, h-2-len(tail)))
	return part.Box(t, title, append(lines, tail...), w)
}

// renderAbsent is what stands there instead of fields.
func (f *Form) renderAbsent(e *Env, w, h int) []string {
	t := e.Theme
	d := part.NewDoc(t, w)
	if f.why != "" {
		d.Text(theme.Bad, t.Glyph.Bad+" "+f.why)
	} else {
		d.Add(absent(e, &f.open, w, max(4, h-2))...)
	}
	d.Line(part.R(theme.Muted, "esc leaves"))
	return d.Window(min(d.Len(), max(1, h)), new(int))
}

// renderFields draws the window of fields around the selected one.
func (f *Form) renderFields(e *Env, w, h int) []string {
	var lines []string
	name, typ := f.widths(e)
	from, to := 0, 0
	for i := range f.fields {
		if i == f.list.Sel {
			from = len(lines)
		}
		lines = append(lines, f.renderField(e, i, name, typ, w)...)
		if i == f.list.Sel {
			to = len(lines)
		}
	}
	if f.list.Sel == len(f.fields) {
		from, to = len(lines), len(lines)+1
	}
	lines = append(lines, f.button(e, w))
	h = min(h, len(lines))
	f.drawn = h
	top := min(max(f.list.Top, to-h), from)
	top = min(max(0, top), len(lines)-h)
	f.list.Top = top
	out := append([]string(nil), lines[top:top+h]...)
	more := func(at, n int) {
		sign := " " + e.Theme.Glyph.Folded + part.Count(n) + " "
		out[at] = part.Over([]string{out[at]}, nil, w, part.Bottom)[0]
		out[at] = cutAt(out[at], w-part.Width(sign)) + part.Line(e.Theme, part.Width(sign), part.R(theme.Muted, sign))
	}
	if top > 0 && h > 2 && from > top {
		more(0, top)
	}
	if below := len(lines) - top - h; below > 0 && h > 2 && to < top+h {
		more(h-1, below)
	}
	return out
}

// cutAt is the beginning of a painted line in exactly w cells.
func cutAt(line string, w int) string {
	return part.Over([]string{part.Blank(w)}, []string{line}, w, part.Bottom)[0]
}

// widths are those of the columns of names and types.
func (f *Form) widths(e *Env) (name, typ int) {
	for _, x := range f.fields {
		name = max(name, part.Width(part.Clean(x.Name, e.Theme.Glyph)))
		typ = max(typ, part.Width(part.Clean(fieldTypeOf(x), e.Theme.Glyph)))
	}
	return min(name, formName), min(typ, formType)
}

// fieldTypeOf is the type as it stands beside the name: the words of an enum
// are in the field.
func fieldTypeOf(x *formField) string {
	s := gridType(x.Type)
	if s != x.Type && x.Nullable {
		s += "?"
	}
	return s
}

func (f *Form) renderField(e *Env, i, name, typ, w int) []string {
	t := e.Theme
	g := t.Glyph
	x := f.fields[i]
	selected := i == f.list.Sel
	lead, role := "  ", theme.Text
	if selected {
		lead, role = g.Pointer+" ", theme.Strong
	}
	mark := "  "
	switch {
	case x.Key:
		mark = "k "
	case !x.Nullable:
		mark = "* "
	}
	if x.changed() && f.verb == formEdit {
		mark = "~ "
	}
	spans := []part.Span{
		part.R(theme.Strong, lead), part.R(theme.Accent, mark), part.R(role, pad(e, x.Name, name)), part.S("  "),
		part.R(theme.Muted, pad(e, fieldTypeOf(x), typ)), part.S("  "),
	}
	n := part.SpanWidth(spans)
	line := part.Line(t, n, spans...) + f.renderValue(e, x, selected, max(1, w-n-1)) + part.Blank(1)
	out := []string{line}
	bad := x.wrong()
	if bad == "" && x.lacking() && f.asked {
		bad = "required"
	}
	if bad != "" {
		most := 2
		if selected {
			most = 4
		}
		for k, l := range part.Wrap(part.Clean(bad, g), max(10, w-9)) {
			if k == most {
				break
			}
			sign := g.Bad + " "
			if k > 0 {
				sign = "  "
			}
			out = append(out, part.Line(t, w, part.S("      "), part.R(theme.Bad, sign+l)))
		}
	}
	return out
}

func pad(e *Env, s string, w int) string {
	return part.Pad(part.Cut(part.Clean(s, e.Theme.Glyph), w, e.Theme.Glyph.More), w)
}

// renderValue draws what stands in a field, in exactly w cells.
func (f *Form) renderValue(e *Env, x *formField, selected bool, w int) string {
	t := e.Theme
	g := t.Glyph
	switch {
	case x.fixed:
		return part.Line(t, w, part.R(theme.Muted, part.Clean(x.was.Text, g)))
	case x.kept:
		return f.renderKept(e, x, selected, w)
	case x.Kind == form.Choice:
		return f.renderChoice(e, x, selected, w)
	case !x.given && !selected:
		return part.Line(t, w, part.R(theme.Muted, x.none(g)))
	case !x.given && x.Nullable:
		return behindCursor(t, w, g.Null+" null")
	case !x.given:
		return behindCursor(t, w, x.none(g))
	case selected && x.text.String() == "":
		return behindCursor(t, w, `"" empty text`)
	case selected:
		room := w
		said := f.proof(e, x)
		n := part.SpanWidth(said)
		if n > 0 && part.Width(x.text.String())+1+n < w {
			room = w - n
		} else {
			said, n = nil, 0
		}
		return x.text.Render(t, room) + part.Line(t, n, said...)
	}
	text := strings.ReplaceAll(x.text.String(), "\n", g.Break)
	if text == "" {
		return part.Line(t, w, part.R(theme.Muted, `""`))
	}
	said := f.proof(e, x)
	text = part.Clean(text, g)
	room := w - part.SpanWidth(said)
	if room < w/2 {
		said, room = nil, w
	}
	if text == g.Null || text == `""` { // a text that looks like the sign for none
		text = `"` + text + `"`
	}
	return part.Line(t, w, append([]part.Span{part.S(part.Cut(text, room, g.More))}, said...)...)
}

// none is what stands in a field that has no value.
func (x *formField) none(g theme.Glyphs) string {
	if x.Nullable {
		return g.Null
	}
	return "required"
}

// behindCursor draws what stands in an empty field in which one types.
func behindCursor(t *theme.Theme, w int, what string) string {
	var empty part.Field
	return empty.Render(t, 1) + part.Line(t, w-1, part.R(theme.Muted, what))
}

// renderKept draws a value that stays, and that is not looked at.
func (f *Form) renderKept(e *Env, x *formField, selected bool, w int) string {
	what := part.Head(x.known, 200) + ", kept"
	if x.Kind != form.Blob {
		what = part.Head(part.Clean(x.known, e.Theme.Glyph), 40) + e.Theme.Glyph.More + " too long to edit here, kept"
	}
	what = part.Clean(what, e.Theme.Glyph)
	if selected {
		return behindCursor(e.Theme, w, what)
	}
	return part.Line(e.Theme, w, part.R(theme.Muted, what))
}

// proof is what was found behind the text of a field.
func (f *Form) proof(e *Env, x *formField) []part.Span {
	g := e.Theme.Glyph
	switch {
	case x.probe.Busy():
		return []part.Span{part.R(theme.Muted, "  looking"+g.More)}
	case x.found != nil && x.found.wrong == "":
		return []part.Span{part.R(theme.OK, "  "+g.OK+" "), part.R(theme.Muted, part.Cut(part.Clean(x.found.said, g), 40, g.More))}
	}
	return nil
}

// renderChoice draws all choices of the selected field, the one that is taken
// of another.
func (f *Form) renderChoice(e *Env, x *formField, selected bool, w int) string {
	t := e.Theme
	g := t.Glyph
	if !selected {
		if x.given {
			return part.Line(t, w, part.S(part.Clean(x.text.String(), g)))
		}
		return part.Line(t, w, part.R(theme.Muted, x.none(g)))
	}
	var spans []part.Span
	at := 0
	put := func(text string, on bool) {
		if on {
			at = len(spans)
			spans = append(spans, part.R(theme.Select, " "+text+" "))
			return
		}
		spans = append(spans, part.R(theme.Muted, " "+text+" "))
	}
	if x.Nullable {
		put(g.Null, !x.given)
	}
	found := false
	for _, c := range x.Choices {
		on := x.given && x.text.String() == c
		found = found || on
		put(part.Clean(c, g), on)
	}
	if x.given && !found { // what was kept in a draft, or an enum that was narrowed
		put(part.Clean(x.text.String(), g), true)
	}
	// The one that is taken stays in sight.
	first := 0
	for first < at && part.SpanWidth(spans[first:at+1]) > w-2 {
		first++
	}
	if first > 0 {
		spans = append([]part.Span{part.R(theme.Muted, g.More)}, spans[first:]...)
	}
	return part.Line(t, w, spans...)
}

// button is the place that sends.
func (f *Form) button(e *Env, w int) string {
	t := e.Theme
	text := "review the " + string(f.verb)
	if f.list.Sel == len(f.fields) {
		return part.Line(t, w, part.R(theme.Strong, t.Glyph.Pointer+" "), part.R(theme.Select, " "+text+" "))
	}
	return part.Line(t, w, part.S("   "), part.R(theme.Accent, text))
}

// tail is what stands below the fields: about the selected one, what was said
// last, and the keys.
func (f *Form) tail(e *Env, w, h int) []string {
	t := e.Theme
	g := t.Glyph
	out := []string{part.Rule(t, "", w)}
	about := part.Wrap(part.Clean(f.about(e), g), w-2)
	most := formHint
	if h < formLow {
		most--
	}
	for i := range most {
		line := ""
		if i < len(about) {
			line = about[i]
			if i == most-1 && len(about) > most {
				line = part.Cut(line, w-3, "") + g.More
			}
		}
		out = append(out, part.Line(t, w, part.S(" "), part.R(theme.Muted, line)))
	}
	said, role := f.said, theme.Warn
	switch {
	case said != "":
	case f.sending && f.Busy():
		said, role = "looking at what is there"+g.More, theme.Muted
	case f.offers.Busy():
		said, role = "looking for ids"+g.More, theme.Muted
	default:
		said, role = f.count(), theme.Muted
	}
	for i, l := range part.Wrap(part.Clean(said, g), w-2) {
		if i < 3 {
			out = append(out, part.Line(t, w, part.S(" "), part.R(role, l)))
		}
	}
	return append(out, part.Line(t, w, part.R(theme.Muted, " "+f.keys(e))))
}

// about is what is known of the selected field.
func (f *Form) about(e *Env) string {
	x := f.current()
	if x == nil {
		return f.says()
	}
	dot := " " + e.Theme.Glyph.Dot + " "
	text := x.Type
	if part.Width(x.Name) > formName {
		text = x.Name + " " + text
	}
	if x.Key {
		text += ", part of the key"
	} else if !x.Nullable {
		text += ", required"
	}
	switch x.Kind {
	case form.Choice:
	case form.Blob:
		text += ": the path of a file on this machine, whose bytes become the value"
	default:
		text += ": " + x.Accepts
	}
	if len(x.Rules) > 0 {
		text += dot + strings.Join(x.Rules, " ")
	}
	if x.About != "" {
		text += dot + x.About
	}
	return text
}

// says is what happens when the form is sent.
func (f *Form) says() string {
	if f.verb == formInsert {
		return "It is planned first, and shown before anything is written. What is null is not sent."
	}
	return "It is planned first, and shown before anything is written. Only what was changed is sent, for the one with " + part.Head(f.where.Said, 200) + "."
}

// count says how far one is.
func (f *Form) count() string {
	lacking, wrong, changed := 0, 0, 0
	for _, x := range f.fields {
		switch {
		case x.wrong() != "":
			wrong++
		case x.lacking():
			lacking++
		}
		if x.changed() {
			changed++
		}
	}
	var out []string
	if lacking > 0 {
		out = append(out, part.Plural(lacking, "field is", "fields are")+" to be filled in")
	}
	if wrong > 0 {
		out = append(out, part.Plural(wrong, "field is wrong", "fields are wrong"))
	}
	if f.verb == formEdit {
		out = append(out, part.Count(changed)+" of "+part.Count(len(f.fields))+" changed")
	}
	if len(out) == 0 {
		return "nothing is wrong"
	}
	return strings.Join(out, ", ")
}

// keys are those that mean something now.
func (f *Form) keys(e *Env) string {
	x := f.current()
	var out []string
	switch {
	case x == nil:
		out = append(out, "enter reviews it")
	case x.Kind == form.Choice:
		out = append(out, e.both()+" choose", "^s review")
	default:
		out = append(out, "enter next", "^s review")
	}
	if x != nil && !x.fixed {
		if x.Kind == form.End {
			out = append(out, "^f looks for one")
		}
		if x.Nullable {
			out = append(out, "^x null")
		}
		if x.Kind == form.Text {
			out = append(out, "^j line")
		}
		if x.changed() && f.verb == formEdit {
			out = append(out, "^r as it was")
		}
	}
	esc := "esc leaves"
	if f.changed() {
		esc = "esc keeps draft"
	}
	return strings.Join(append(out, esc), " "+e.Theme.Glyph.Dot+" ")
}

// both is how the keys to the sides are shown.
func (e *Env) both() string { return e.Theme.Glyph.Back + " " + e.Theme.Glyph.Arrow }
