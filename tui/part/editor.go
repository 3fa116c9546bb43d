package part

import (
	"strings"

	"github.com/omnideck/omnideck/tui/theme"
)

// Editor is a text of several lines that is being edited. Its zero value holds
// one empty line.
type Editor struct {
	lines []Field
	row   int // of the cursor
	top   int // the first line that is drawn
	undo  []snapshot
	typed bool // the last edit was a typed character: the next one undoes with it
}

type snapshot struct {
	lines   []Field
	row, at int
}

// Bounds of an Editor.
const (
	EditorMax   = 64 << 10 // bytes
	editorLines = 2000
	editorUndo  = 100
)

// NewEditor is an editor with text in it and the cursor at its beginning.
func NewEditor(text string) Editor {
	var e Editor
	e.Set(text)
	e.undo = nil
	return e
}

// String is the text.
func (e *Editor) String() string {
	var b strings.Builder
	for i := range e.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.lines[i].String())
	}
	return b.String()
}

// Empty says that there is nothing but white space.
func (e *Editor) Empty() bool { return strings.TrimSpace(e.String()) == "" }

// Set puts another text in the place of all there is; it can be undone.
func (e *Editor) Set(text string) {
	e.settle()
	e.remember(false)
	e.lines, e.row, e.top = nil, 0, 0
	undo := e.undo
	e.Insert(text)
	e.undo, e.typed, e.row = undo, false, 0
	for i := range e.lines {
		e.lines[i].At = 0
	}
}

// settle makes sure that there is a line under the cursor.
func (e *Editor) settle() {
	if len(e.lines) == 0 {
		e.lines = []Field{{}}
	}
	e.row = min(max(0, e.row), len(e.lines)-1)
	e.lines[e.row].settle()
}

func (e *Editor) line() *Field { return &e.lines[e.row] }

// remember notes what is there before an edit.
func (e *Editor) remember(typed bool) {
	if typed && e.typed && len(e.undo) > 0 {
		return
	}
	e.typed = typed
	e.undo = append(e.undo, snapshot{append([]Field(nil), e.lines...), e.row, e.line().At})
	if len(e.undo) > editorUndo {
		e.undo = e.undo[1:]
	}
}

// Insert puts text at the cursor, as typed or as pasted, tabs as two spaces. It
// says whether all of it found room.
func (e *Editor) Insert(text string) bool {
	e.settle()
	text = strings.ReplaceAll(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\t", "  ")
	room := EditorMax - len(e.String())
	fits := len(text) <= room
	text = Head(text, max(0, room))
	e.remember(len([]rune(text)) == 1 && text != "\n" && text != " ")
	if text == "}" && strings.TrimSpace(e.line().String()) == "" && e.line().At >= 2 { // it stands where its block began
		e.line().Text, e.line().At = e.line().Text[:e.line().At-2], e.line().At-2
	}
	for i, l := range strings.Split(text, "\n") {
		if i > 0 {
			if len(e.lines) >= editorLines {
				return false
			}
			e.split("")
		}
		if l != "" {
			fits = e.line().Insert(l) && fits
		}
	}
	return fits
}

// split breaks the line at the cursor; what follows begins with indent.
func (e *Editor) split(indent string) {
	f := e.line()
	rest := NewField(indent)
	at := rest.At
	rest.Text = append(rest.Text, f.Text[f.At:]...)
	rest.At = at
	f.Text = f.Text[:f.At:f.At]
	e.lines = append(e.lines[:e.row+1:e.row+1], append([]Field{rest}, e.lines[e.row+1:]...)...)
	e.row++
}

// join puts the next line behind the one of the cursor.
func (e *Editor) join() {
	f := e.line()
	f.At = len(f.Text)
	f.Text = append(f.Text[:f.At:f.At], e.lines[e.row+1].Text...)
	e.lines = append(e.lines[:e.row+1:e.row+1], e.lines[e.row+2:]...)
}

// Key handles the name of a key and says whether it is one that edits.
func (e *Editor) Key(name string) bool {
	e.settle()
	if e.moved(name) {
		e.typed = false
		return true
	}
	f := e.line()
	switch name {
	case "enter":
		if len(e.lines) >= editorLines {
			return true
		}
		e.remember(false)
		e.split(e.indent())
	case "ctrl+z":
		e.back()
	case "backspace":
		e.remember(false)
		if f.At == 0 && e.row > 0 {
			e.row--
			e.join()
		} else {
			f.Key(name)
		}
	case "delete", "ctrl+k":
		e.remember(false)
		if f.At == len(f.Text) && e.row+1 < len(e.lines) {
			e.join()
		} else {
			f.Key(name)
		}
	case "ctrl+u", "ctrl+w", "alt+backspace", "alt+d":
		e.remember(false)
		return f.Key(name)
	default:
		return f.Key(name)
	}
	return true
}

// indent is what a new line begins with: what this one does, and more behind an
// open brace.
func (e *Editor) indent() string {
	f := e.line()
	before := string(f.Text[:f.At])
	in := before[:len(before)-len(strings.TrimLeft(before, " "))]
	if strings.HasSuffix(strings.TrimSpace(before), "{") {
		in += "  "
	}
	return in
}

func (e *Editor) back() {
	n := len(e.undo)
	if n == 0 {
		return
	}
	s := e.undo[n-1]
	e.undo, e.typed = e.undo[:n-1], false
	e.lines, e.row = s.lines, s.row
	e.settle()
	e.line().At = s.at
	e.line().settle()
}

// moved carries out a key that moves the cursor from line to line.
func (e *Editor) moved(name string) bool {
	f := e.line()
	to := e.row
	switch name {
	case "up":
		to--
	case "down":
		to++
	case "pgup":
		to -= 10
	case "pgdown":
		to += 10
	case "ctrl+home":
		e.row, e.lines[0].At = 0, 0
		return true
	case "ctrl+end":
		e.row = len(e.lines) - 1
		e.line().At = len(e.line().Text)
		return true
	case "left", "ctrl+left", "alt+left", "alt+b":
		if f.At > 0 || e.row == 0 {
			return false
		}
		e.row--
		e.line().At = len(e.line().Text)
		return true
	case "right", "ctrl+right", "alt+right", "alt+f":
		if f.At < len(f.Text) || e.row == len(e.lines)-1 {
			return false
		}
		e.row++
		e.line().At = 0
		return true
	default:
		return false
	}
	at := f.At
	switch {
	case to < 0:
		to, at = 0, 0
	case to >= len(e.lines):
		to = len(e.lines) - 1
		at = len(e.lines[to].Text)
	}
	e.row = to
	e.line().At = at
	e.line().settle()
	return true
}

// Place is where the cursor stands: line and character, both from 1.
func (e *Editor) Place() (line, column int) {
	e.settle()
	return e.row + 1, e.line().At + 1
}

// MoveTo puts the cursor at a place, or as near to it as there is text.
func (e *Editor) MoveTo(line, column int) {
	e.settle()
	e.row = line - 1
	e.settle()
	e.line().At = column - 1
	e.line().settle()
}

// Len is the number of lines.
func (e *Editor) Len() int { return max(1, len(e.lines)) }

// gutter is the width of the line numbers and the mark before them.
const gutter = 6

// Render draws h lines of w cells around the cursor. The line bad, from 1, is
// marked; 0 marks none. The cursor is drawn where the editor has the focus.
func (e *Editor) Render(t *theme.Theme, w, h int, focus bool, bad int) []string {
	e.settle()
	if e.row < e.top {
		e.top = e.row
	}
	if e.row >= e.top+h {
		e.top = e.row - h + 1
	}
	e.top = min(max(0, e.top), max(0, len(e.lines)-h))
	var out []string
	for i := e.top; i < min(len(e.lines), e.top+h); i++ {
		number := Count(i + 1)
		number = spaces(max(0, gutter-3-len(number))) + number
		role, mark := theme.Muted, " "
		if i+1 == bad {
			role, mark = theme.Bad, t.Glyph.Bad
		}
		lead := Line(t, gutter, R(role, mark+number+" "), R(theme.Border, t.Glyph.V))
		room := max(1, w-gutter)
		if focus && i == e.row {
			out = append(out, lead+e.lines[i].Render(t, room))
		} else {
			out = append(out, lead+Line(t, room, S(Clean(e.lines[i].String(), t.Glyph))))
		}
	}
	return Fit(out, w, h)
}
