package screen

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/engine/form"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Key handles a key: its name, and the text that it types. What it asks for is
// in the effect; leave says that the user goes, and Draft what is to be kept.
func (f *Form) Key(e *Env, name, typed string) (out Effect, leave bool) {
	if name == "esc" {
		return Effect{}, true
	}
	if f.shape == nil {
		if e.Keys.Is(action.Reload, name) && f.why == "" && !f.open.Busy() {
			out.Ask = f.Start(e)
		}
		return out, f.why != "" && name == "enter"
	}
	f.said, f.sending = "", false
	if to, ok := f.moved(name); ok {
		return f.move(e, to), false
	}
	x := f.current()
	switch {
	case name == "ctrl+s" || name == "enter" && x == nil:
		return f.submit(e), false
	case x == nil:
		return Effect{}, false
	case name == "ctrl+x":
		f.said = x.null()
	case name == "ctrl+r":
		x.reset()
	case name == "ctrl+f" && x.Kind == form.End && !x.fixed:
		return f.lookUp(e, x), false
	default:
		if !printable(typed) {
			typed = ""
		}
		x.key(name, typed)
	}
	return Effect{}, false
}

// Paste puts a text into the field.
func (f *Form) Paste(text string) {
	if x := f.current(); x != nil && f.shape != nil && !x.fixed && x.textual() {
		f.said, f.sending = "", false
		x.enter(text)
	}
}

// moved is the place that a key goes to.
func (f *Form) moved(name string) (int, bool) {
	at, last := f.list.Sel, len(f.fields)
	switch name {
	case "down", "tab":
		return f.next(at, 1), true
	case "up", "shift+tab":
		return f.next(at, -1), true
	case "enter":
		return f.next(at, 1), f.current() != nil
	case "pgdown":
		return f.next(min(at+max(1, f.drawn-2), last)-1, 1), true
	case "pgup":
		to := max(at-max(1, f.drawn-2), 0)
		if i := f.next(to+1, -1); i <= to {
			return i, true
		}
		return f.next(-1, 1), true // all from there on are fixed
	case "ctrl+home":
		return f.next(-1, 1), true
	case "ctrl+end":
		return last, true
	}
	return at, false
}

// move goes to a place; what stands behind the text of the field that is left
// is looked at.
func (f *Form) move(e *Env, to int) Effect {
	var out Effect
	if x := f.current(); x != nil && to != f.list.Sel {
		out.Ask = x.look(e, f.branch)
	}
	if x := f.current(); x != nil && x.textual() {
		x.text.At = len(x.text.Text)
	}
	f.list.Sel = to
	return out
}

// lookUp looks for nodes of an end's type, in whose id or texts the text of the
// field stands.
func (f *Form) lookUp(e *Env, x *formField) Effect {
	if f.offers.Busy() {
		return Effect{}
	}
	f.forEnd = x.at
	table, text, at := x.Type, x.text.String(), engine.At{Branch: f.branch}
	schema, _ := e.Data.Schema.Get()
	if o, ok := f.open.Get(); ok && o.schema != nil {
		schema = o.schema
	}
	where := ""
	if text != "" {
		where = "id contains " + whereText(text)
		for _, p := range textsOf(schema, table) {
			where += " or " + p + " contains " + whereText(text)
		}
	}
	return Effect{Ask: []Request{f.offers.ask(e, func(ctx context.Context, ws workspace.Workspace) (*lookedUp, error) {
		page, err := ws.Rows(ctx, table, at, engine.RowsOptions{Where: where, Limit: offersMax})
		if err != nil {
			return &lookedUp{wrong: "looking for a " + typeOf(table) + ": " + err.Error()}, ctx.Err()
		}
		return &lookedUp{text: text, page: page}, nil
	})}}
}

// lookedUp are the nodes that may be meant.
type lookedUp struct {
	text  string
	wrong string
	page  *engine.RowPage
}

const (
	offersMax = 200 // nodes that are offered
	textsMax  = 4   // properties that are looked through
)

// textsOf are properties of a table that hold text.
func textsOf(s *engine.Schema, table string) []string {
	if s == nil {
		return nil
	}
	t := declared(s, table)
	if t == nil {
		return nil
	}
	var out []string
	for _, p := range t.Properties {
		if p.Type == "String" && len(out) < textsMax {
			out = append(out, p.Name)
		}
	}
	return out
}

// offered asks which of the nodes is meant.
func (f *Form) offered(e *Env, l *lookedUp) Effect {
	f.offers.reset()
	x := f.fields[f.forEnd]
	switch {
	case l.wrong != "":
		f.said = l.wrong
		return Effect{}
	case len(l.page.Rows) == 0:
		f.said = "no " + typeOf(x.Type) + " has " + whereText(l.text) + " in its id or a text"
		if l.text == "" {
			f.said = "there is no " + typeOf(x.Type)
		}
		return Effect{}
	}
	m := &Menu{Title: x.Name + ": " + typeOf(x.Type), Items: make([]MenuItem, 0, len(l.page.Rows))}
	if l.page.Truncated {
		m.Title += ", the first " + part.Count(len(l.page.Rows)) + "; type more of it to narrow them"
	}
	for i := range l.page.Rows {
		row := &l.page.Rows[i]
		label := labelOf(l.page, row)
		m.Items = append(m.Items, MenuItem{Label: part.Head(row.ID, 200), Detail: label})
	}
	m.Choose = func(_ *Env, i int) Effect {
		row := &l.page.Rows[i]
		x.set(form.Entry{Given: true, Text: row.ID})
		x.found = &probed{text: row.ID, said: labelOf(l.page, row)}
		f.list.Sel = f.next(x.at, 1)
		return Effect{}
	}
	return Effect{Menu: m}
}

// DraftName is under which name a draft of the form is kept; "" for none.
func (f *Form) DraftName() string {
	if f.verb == formDelete {
		return ""
	}
	return "form " + strings.TrimSpace(string(f.verb)+" "+f.table+" "+f.id)
}

// Draft is what was typed and not sent; "" = nothing.
func (f *Form) Draft() string {
	if f.shape == nil {
		return f.unsaved
	}
	if !f.changed() {
		return ""
	}
	texts := map[string]*string{}
	for _, x := range f.fields {
		if !x.changed() {
			continue
		}
		texts[x.Name] = nil
		if x.given {
			s := x.text.String()
			texts[x.Name] = &s
		}
	}
	raw, err := json.Marshal(texts)
	if err != nil {
		return ""
	}
	return string(raw)
}

// Restore puts a draft into the fields, as soon as there are any.
func (f *Form) Restore(draft string) {
	f.unsaved = draft
	if f.shape != nil {
		f.restore(draft)
	}
}

func (f *Form) restore(draft string) {
	f.unsaved = ""
	var texts map[string]*string
	if json.Unmarshal([]byte(draft), &texts) != nil {
		return
	}
	some := false
	for _, x := range f.fields {
		s, ok := texts[x.Name]
		if !ok || x.fixed {
			continue
		}
		some = true
		if s == nil {
			x.set(form.Entry{})
		} else {
			x.set(form.Entry{Given: true, Text: *s})
		}
	}
	if some {
		f.said = "what was typed here before is back; ^r puts a field back as it was"
	}
}
