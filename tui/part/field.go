package part

import (
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/tui/theme"
)

// Field is one line of text that is being edited. Edits make a new Text, so
// that a copied Field is a draft of its own.
type Field struct {
	Text  []rune
	At    int    // the cursor stands before Text[At]
	Ghost string // what completes the text, drawn behind it; an edit forgets it
	// Whole fields hold any text as it is: line breaks, drawn as a sign, and all
	// else that is not drawn. The others hold one line without control characters.
	Whole bool
}

// How many characters a Field holds.
const (
	FieldMax = 4096
	WholeMax = 32 << 10 // of a whole one
)

// NewWhole is a whole field with text in it and the cursor at its beginning.
func NewWhole(text string) Field { return Field{Text: []rune(text), Whole: true} }

// NewField is a field with text in it and the cursor behind the text.
func NewField(text string) Field {
	var f Field
	f.Insert(text)
	return f
}

// String is the text.
func (f *Field) String() string { return string(f.Text) }

// Insert puts text at the cursor, as typed or as pasted: its first line that
// is not empty, tabs as spaces, without other control characters; of a whole
// field all of it. It says whether all of that found room.
func (f *Field) Insert(text string) bool {
	f.settle()
	f.Ghost = ""
	most := FieldMax
	if f.Whole {
		most = WholeMax
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	} else {
		text = strings.TrimLeft(text, "\r\n")
		if i := strings.IndexAny(text, "\r\n"); i >= 0 {
			text = text[:i]
		}
	}
	var in []rune
	for _, r := range text {
		switch {
		case f.Whole:
		case r == '\t':
			r = ' '
		case unicode.IsControl(r):
			continue
		}
		if len(f.Text)+len(in) >= most {
			f.replace(f.At, f.At, in)
			return false
		}
		in = append(in, r)
	}
	f.replace(f.At, f.At, in)
	return true
}

// Accept takes the completion as typed. It says whether there was one.
func (f *Field) Accept() bool {
	if f.Ghost == "" {
		return false
	}
	f.settle()
	f.At = len(f.Text)
	f.Insert(f.Ghost)
	return true
}

// Key handles the name of a key and says whether it is one that edits. Right
// and end accept the completion when the cursor stands behind the text.
func (f *Field) Key(name string) bool {
	f.settle()
	switch name {
	case "right", "end", "ctrl+e":
		if f.At == len(f.Text) && f.Accept() {
			return true
		}
	}
	if to, ok := f.moved(name); ok {
		f.At = to
		return true
	}
	from, to := f.At, f.At
	switch name {
	case "backspace":
		from = f.left()
	case "delete":
		to = f.right()
	case "ctrl+u":
		from = 0
	case "ctrl+k":
		to = len(f.Text)
	case "ctrl+w":
		from = f.wordLeft(func(r rune) bool { return !unicode.IsSpace(r) })
	case "alt+backspace":
		from = f.wordLeft(inWord)
	case "alt+d":
		to = f.wordRight()
	default:
		return false
	}
	if from < to {
		f.Ghost = ""
		f.replace(from, to, nil)
	}
	return true
}

// moved is where a key moves the cursor to.
func (f *Field) moved(name string) (at int, ok bool) {
	switch name {
	case "left":
		return f.left(), true
	case "right":
		return f.right(), true
	case "home", "ctrl+a":
		return 0, true
	case "end", "ctrl+e":
		return len(f.Text), true
	case "alt+b", "alt+left", "ctrl+left":
		return f.wordLeft(inWord), true
	case "alt+f", "alt+right", "ctrl+right":
		return f.wordRight(), true
	}
	return 0, false
}

// settle brings a cursor that was set from outside into range.
func (f *Field) settle() { f.At = min(max(0, f.At), len(f.Text)) }

// replace puts in for Text[from:to], the cursor behind it.
func (f *Field) replace(from, to int, in []rune) {
	f.Text = slices.Concat(f.Text[:from], in, f.Text[to:])
	f.At = from + len(in)
}

// left and right are where the cursor stands one drawn character further, so
// that a letter and its accents go together.
func (f *Field) left() int {
	at := 0
	for _, c := range fieldCells(string(f.Text), theme.Glyphs{}) {
		if at+c.runes >= f.At {
			break
		}
		at += c.runes
	}
	return at
}

func (f *Field) right() int {
	at := 0
	for _, c := range fieldCells(string(f.Text), theme.Glyphs{}) {
		if at += c.runes; at > f.At {
			break
		}
	}
	return at
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func (f *Field) wordLeft(in func(rune) bool) int {
	at := f.At
	for at > 0 && !in(f.Text[at-1]) {
		at--
	}
	for at > 0 && in(f.Text[at-1]) {
		at--
	}
	return at
}

func (f *Field) wordRight() int {
	at := f.At
	for at < len(f.Text) && !inWord(f.Text[at]) {
		at++
	}
	for at < len(f.Text) && inWord(f.Text[at]) {
		at++
	}
	return at
}

// fieldCell is one drawn character: what stands for it, and of how many runes
// it is made.
type fieldCell struct {
	text  string
	w     int
	runes int
}

// fieldCells draws each character of text by itself, because the cursor may
// stand on any of them.
func fieldCells(s string, g theme.Glyphs) []fieldCell {
	out := make([]fieldCell, 0, len(s))
	if plain(s) {
		for i := range len(s) {
			out = append(out, fieldCell{s[i : i+1], 1, 1})
		}
		return out
	}
	var drawn strings.Builder
	for len(s) > 0 {
		cluster, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if cluster == "" {
			break
		}
		s = s[len(cluster):]
		c := fieldCell{text: cleanCluster(cluster, w, g), runes: len([]rune(cluster))}
		if cluster == "\n" && g.Break != "" {
			c.text = g.Break
		}
		if unsettled(c.text) {
			c.text = g.Broken
		}
		c.w = Width(c.text)
		drawn.WriteString(c.text)
		out = append(out, c)
	}
	if unsettled(drawn.String()) { // neighbours that would join: see Clean
		for i := range out {
			if !plain(out[i].text) {
				out[i].text, out[i].w = g.Broken, 1
			}
		}
	}
	return out
}

// Render draws the field in w cells: the part of the text around the cursor,
// the cell of the cursor reversed.
func (f *Field) Render(t *theme.Theme, w int) string {
	if w <= 0 {
		return ""
	}
	at := min(max(0, f.At), len(f.Text))
	cells := fieldCells(string(f.Text), t.Glyph)
	ghost := len(cells)
	if at == len(f.Text) && f.Ghost != "" {
		cells = append(cells, fieldCells(Head(f.Ghost, FieldMax), t.Glyph)...)
	}
	cur := 0
	for n := 0; cur < ghost && n+cells[cur].runes <= at; cur++ {
		n += cells[cur].runes
	}
	if cur == len(cells) {
		cells = append(cells, fieldCell{text: " ", w: 1})
	}
	if cells[cur].w > w {
		return t.Paint(theme.Select, t.Glyph.More)
	}
	from, to, less, more := fieldWindow(cells, cur, w)
	var b strings.Builder
	used := 0
	put := func(role theme.Role, from, to int) {
		var s strings.Builder
		for _, c := range cells[min(from, to):to] {
			s.WriteString(c.text)
			used += c.w
		}
		b.WriteString(t.Paint(role, s.String()))
	}
	if less {
		b.WriteString(t.Paint(theme.Muted, t.Glyph.More))
		used++
	}
	put(theme.Text, from, cur)
	put(theme.Select, cur, cur+1)
	put(theme.Text, cur+1, max(cur+1, min(to, ghost)))
	put(theme.Muted, max(cur+1, ghost), max(to, cur+1, ghost))
	if more {
		b.WriteString(t.Paint(theme.Muted, t.Glyph.More))
		used++
	}
	b.WriteString(spaces(w - used))
	return b.String()
}

// fieldWindow is which cells are shown of w, with some of what follows the
// cursor, and whether there is room to say that something stands before and
// behind them.
func fieldWindow(cells []fieldCell, cur, w int) (from, to int, less, more bool) {
	at, total := 0, 0
	for i, c := range cells {
		if i <= cur {
			at += c.w
		}
		total += c.w
	}
	if total <= w {
		return 0, len(cells), false, false
	}
	// Columns from start on are shown, the first of them by the sign.
	start, x := at+min(w/4, total-at)-w, 0
	if start > 0 {
		for from < cur && x <= start {
			x += cells[from].w
			from++
		}
	}
	room := w
	if less = from > 0 && w > cells[cur].w; less {
		room--
	}
	used := 0
	for to = from; to < len(cells) && used+cells[to].w <= room; to++ {
		used += cells[to].w
	}
	if to == len(cells) {
		return from, to, less, false
	}
	for used > room-1 && to > cur+1 {
		to--
		used -= cells[to].w
	}
	return from, to, less, used < room
}
