package screen

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Object shows one object of the store as it lies there: its key, its size,
// and its first bytes.
type Object struct {
	page split
	key  string
	data Load[*engine.Object]
}

const firstBytes = 4 << 10 // of an object that are read

// NewObject makes the screen of an object.
func NewObject(key string) *Object {
	o := &Object{key: key, page: split{onRight: true}}
	o.data.name = "object"
	return o
}

// Name implements Screen.
func (o *Object) Name() string { return action.OnFinding }

// Title implements Screen.
func (o *Object) Title() string { return "object" }

// Place implements Screen: an object is come upon.
func (o *Object) Place() string { return "overview" }

// Start implements Screen.
func (o *Object) Start(e *Env) []Request {
	if o.data.wanted(e) {
		return o.Reload(e)
	}
	return nil
}

// Reload implements Screen.
func (o *Object) Reload(e *Env) []Request {
	return []Request{o.data.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.Object, error) {
		return ws.Object(ctx, o.key, firstBytes)
	})}
}

// Panes implements Screen.
func (o *Object) Panes(*Env) []Pane { return []Pane{&o.data} }

// Context implements Screen.
func (o *Object) Context(*Env) action.Context { return action.Context{} }

// InDetail implements Screen: it is nothing but detail.
func (o *Object) InDetail() bool { return false }

// CloseDetail implements Screen.
func (o *Object) CloseDetail() {}

// Do implements Screen.
func (o *Object) Do(_ *Env, id action.ID) Effect {
	o.page.move(id, 0)
	return Effect{}
}

// Copies implements Copier.
func (o *Object) Copies(*Env) []Copy { return []Copy{{"object key", o.key}} }

// Render implements Screen.
func (o *Object) Render(e *Env, a Area) []string {
	out := []string{title(e, a.W, "object", "", &o.data)}
	d := part.NewDoc(e.Theme, a.W)
	d.Fact("key", o.key)
	v, ok := o.data.Get()
	if ok {
		d.Fact("size", sizeWords(v))
	}
	if !ok || o.data.Problem() != nil {
		room := a.H - 1 - d.Len()
		if ok {
			room = 0
		}
		d.Add(absent(e, &o.data, a.W, room)...)
	}
	if ok {
		d.Gap()
		if lines, ok := textLines(v.Bytes); ok {
			for _, l := range lines {
				rest := strings.TrimLeft(l, " ")
				d.Indent(min(len(l)-len(rest), a.W/2), rest)
			}
		} else {
			d.Add(part.HexDump(e.Theme, v.Bytes, 0, a.W)...)
		}
		if rest := v.Size - int64(len(v.Bytes)); rest > 0 {
			d.Line(part.R(theme.Muted, part.Bytes(rest)+" more were not read"))
		}
	}
	return part.Fit(append(out, d.Window(max(0, a.H-1), &o.page.scroll)...), a.W, a.H)
}

// textLines are the lines of bytes that are text, the last of which may be cut
// in a character. Zeros and other controls are not text.
func textLines(b []byte) ([]string, bool) {
	for n := 0; n < utf8.UTFMax && len(b) > 0 && !utf8.Valid(b); n++ {
		b = b[:len(b)-1]
	}
	s := strings.TrimRight(string(b), "\n")
	bad := func(r rune) bool {
		return r == utf8.RuneError || r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f
	}
	if s == "" || strings.ContainsFunc(s, bad) {
		return nil, false
	}
	s = strings.NewReplacer("\r\n", "\n", "\t", "    ").Replace(s)
	return strings.Split(s, "\n"), true
}

func sizeWords(v *engine.Object) string {
	if v.Size < 1024 {
		return part.Plural(v.Size, "byte", "bytes")
	}
	return part.Bytes(v.Size) + ", " + part.Plural(v.Size, "byte", "bytes")
}
