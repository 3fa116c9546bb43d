package screen

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/engine/form"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/workspace"
)

// formField is a field of a form and what was typed into it.
type formField struct {
	*form.Field
	shape *form.Form
	at    int // in the shape
	was   form.Entry
	known string // of a value that is kept
	fixed bool   // cannot be changed

	text  part.Field
	given bool
	kept  bool
	full  bool // the last text did not all fit
	probe Load[*probed]
	found *probed // about the text as it is now; nil = not looked at
}

// probed is what was found behind a text: a node, or a file.
type probed struct {
	text  string
	said  string
	wrong string
	entry form.Entry // of a file: its bytes
}

// reset puts back what was there when the form was opened.
func (x *formField) reset() { x.set(x.was) }

func (x *formField) set(e form.Entry) {
	x.given, x.kept, x.full, x.found = e.Given, e.Kept, false, nil
	x.text = part.NewWhole("")
	if !e.Kept {
		x.text = part.NewWhole(e.Text)
		x.text.At = len(x.text.Text)
	}
}

// value is the entry that stands in the field. Of a file it is its path until
// it was read.
func (x *formField) value() form.Entry {
	switch {
	case x.kept:
		return x.was
	case !x.given:
		return form.Entry{}
	case x.Kind == form.Blob && x.found != nil && x.found.wrong == "":
		return x.found.entry
	}
	return form.Entry{Given: true, Text: x.text.String()}
}

func (x *formField) changed() bool {
	if x.kept {
		return false
	}
	return x.given != x.was.Given || x.was.Kept || x.given && x.text.String() != x.was.Text
}

// lacking says that the field must be filled in and is not.
func (x *formField) lacking() bool { return !x.given && !x.Nullable }

// wrong is what is wrong with the field; "" for nothing. What was there and is
// as it was is not judged: it is not sent.
func (x *formField) wrong() string {
	switch {
	case x.full:
		return "it was cut: a field takes " + part.Count(part.WholeMax) + " characters; load takes more"
	case !x.changed() || x.lacking():
		return ""
	case x.found != nil && x.found.wrong != "":
		return x.found.wrong
	case x.Kind == form.Blob && x.given && x.found == nil:
		return ""
	}
	if err := x.shape.Check(x.at, x.value()); err != nil {
		return err.Error()
	}
	return ""
}

// textual says that what the field holds is typed.
func (x *formField) textual() bool { return x.Kind != form.Choice }

// key handles a key that is the field's.
func (x *formField) key(name, typed string) bool {
	if x.fixed {
		return false
	}
	if !x.textual() {
		return x.choose(name, typed)
	}
	before := x.text.String()
	switch {
	case name == "ctrl+j" && x.Kind == form.Text:
		x.enter("\n")
	case name == "backspace" && before == "" && (x.given || x.kept):
		x.given, x.kept = false, false
	case x.text.Key(name):
		if x.text.String() != before {
			x.edited()
		}
	case typed != "":
		x.enter(typed)
	default:
		return false
	}
	return true
}

// enter puts text at the cursor, as typed or as pasted.
func (x *formField) enter(text string) {
	if x.Kind != form.Text {
		text = strings.Trim(text, "\r\n")
		text = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(text)
	}
	fits := x.text.Insert(text)
	x.edited()
	x.full = x.full || !fits
}

// edited notes that the text is another one. What cannot be an empty text is
// null when it is.
func (x *formField) edited() {
	x.kept, x.found = false, nil
	x.full = x.full && len(x.text.Text) >= part.WholeMax
	x.given = x.Kind == form.Text || x.text.String() != ""
}

// choose handles a key on a field with choices.
func (x *formField) choose(name, typed string) bool {
	n := len(x.Choices)
	at := -1
	if x.given {
		at = slices.Index(x.Choices, x.text.String())
	}
	switch {
	case name == "right" || name == "space":
		at++
	case name == "left":
		at--
	case name == "backspace" || name == "delete":
		x.pick(-1)
		return true
	case typed != "":
		for step := 1; step <= n; step++ {
			i := (at + step + n) % n
			if strings.EqualFold(part.Head(x.Choices[i], len(typed)), typed) {
				x.pick(i)
				break
			}
		}
		return true
	default:
		return false
	}
	// Null stands before the first choice where it is one.
	low := 0
	if x.Nullable {
		low = -1
	}
	if at < low {
		at = n - 1
	}
	if at >= n {
		at = low
	}
	x.pick(at)
	return true
}

// pick takes a choice; -1 is none.
func (x *formField) pick(i int) {
	x.text, x.given = part.NewWhole(""), i >= 0
	if i >= 0 {
		x.text = part.NewWhole(x.Choices[i])
	}
	x.kept, x.found = false, nil
}

// null takes the value away, or gives an empty text for it.
func (x *formField) null() string {
	switch {
	case x.fixed:
		return ""
	case x.given || x.kept:
		if !x.Nullable {
			return x.Name + " is required"
		}
		x.text, x.given, x.kept, x.found = part.NewWhole(""), false, false, nil
	case x.Kind == form.Text:
		x.text, x.given, x.found = part.NewWhole(""), true, nil
	}
	return ""
}

// unproved says that behind the text stands something that was not looked at.
func (x *formField) unproved() bool {
	return (x.Kind == form.End || x.Kind == form.Blob) && x.given && !x.kept && x.changed() && x.found == nil && !x.probe.Busy()
}

// look asks what stands behind the text.
func (x *formField) look(e *Env, branch string) []Request {
	if !x.unproved() {
		return nil
	}
	text := x.text.String()
	if x.Kind == form.Blob {
		read := e.ReadFile
		return []Request{x.probe.askLocal(e, func(ctx context.Context, _ workspace.Workspace) (*probed, error) {
			return readBlob(ctx, read, text), nil
		})}
	}
	table, at := x.Type, engine.At{Branch: branch}
	return []Request{x.probe.ask(e, func(ctx context.Context, ws workspace.Workspace) (*probed, error) {
		page, err := ws.Entity(ctx, table, text, at)
		if noEntity(err) != nil {
			return &probed{text: text, wrong: "no " + typeOf(table) + " has this id; ^f looks for one"}, nil
		}
		if err != nil {
			return &probed{text: text, wrong: "it could not be looked at: " + err.Error()}, ctx.Err()
		}
		return &probed{text: text, said: labelOf(page, &page.Rows[0])}, nil
	})}
}

// blobMax is how large a file may be that becomes a value.
const blobMax = 31 << 20

func readBlob(ctx context.Context, read ReadFile, path string) *probed {
	if read == nil {
		return &probed{text: path, wrong: "no file can be read here"}
	}
	data, err := read(ctx, path, blobMax+1)
	switch {
	case err != nil:
		return &probed{text: path, wrong: err.Error()}
	case len(data) > blobMax:
		return &probed{text: path, wrong: "it has more than " + part.Bytes(int64(blobMax)) + ", which no mutation takes"}
	}
	return &probed{text: path, said: part.Bytes(int64(len(data))), entry: form.Bytes(data)}
}

// take takes the answer of a probe. One about another text is dropped.
func (x *formField) take() {
	if p, ok := x.probe.Get(); ok && !x.probe.Busy() && p.text == x.text.String() && x.given {
		x.found = p
	}
}

// labelOf is what a node is called beside its id: its name where it has one,
// else the first of its texts.
func labelOf(page *engine.RowPage, row *engine.Row) string {
	label := ""
	for c, name := range page.Columns {
		if c == 0 || c >= len(row.Values) || row.Values[c].Kind != engine.CellText || row.Values[c].Text == "" || row.Values[c].Text == row.ID {
			continue
		}
		switch text := name + " " + part.Head(row.Values[c].Text, 60); {
		case name == "name" || name == "title" || name == "label":
			return text
		case label == "":
			label = text
		}
	}
	if label == "" {
		return "it is there"
	}
	return label
}

// printable says that typed text is one to be put into a field.
func printable(typed string) bool {
	return typed != "" && strings.IndexFunc(typed, unicode.IsControl) < 0
}
