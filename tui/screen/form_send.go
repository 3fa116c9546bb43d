package screen

import (
	"context"
	"errors"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/engine/form"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// checked is what the whole entity is held against before it is handed over.
type checked struct {
	exists  bool // of an insert: an entity has the id already
	missing bool // of an edit: it is not there any more
	now     []form.Entry
	wrong   string
}

// submit looks at all of it, and asks what must be known to send it. What is
// asked already is waited for.
func (f *Form) submit(e *Env) Effect {
	f.asked = true
	if at, what := f.firstWrong(); what != "" {
		f.list.Sel, f.said = at, what
		return Effect{}
	}
	if f.verb == formEdit && !f.changed() {
		f.said = "nothing is changed"
		return Effect{}
	}
	f.sending = true
	var out Effect
	for _, x := range f.fields {
		out.Ask = append(out.Ask, x.look(e, f.branch)...)
	}
	f.offers.reset()
	f.check.reset()
	out.Ask = append(out.Ask, f.askCheck(e)...)
	if !f.Busy() {
		return f.send(e)
	}
	return out
}

// firstWrong is the first field that keeps it from being sent, and why.
func (f *Form) firstWrong() (at int, what string) {
	wrong, first := 0, -1
	for i, x := range f.fields {
		if x.lacking() || x.wrong() != "" {
			if wrong++; first < 0 {
				first = i
			}
		}
	}
	if wrong == 0 {
		return 0, ""
	}
	return first, part.Plural(wrong, "field keeps", "fields keep") + " it from being sent"
}

// askCheck asks for the entity as it is now: whether there is one already with
// the id that an insert makes, and whether another one changed it meanwhile.
func (f *Form) askCheck(e *Env) []Request {
	id := f.id
	if f.verb == formInsert {
		if id = f.shape.ID(f.entries()); id == "" {
			return nil
		}
	}
	table, at, shape, insert := f.table, engine.At{Branch: f.branch}, f.shape, f.verb == formInsert
	return []Request{f.check.ask(e, func(ctx context.Context, ws workspace.Workspace) (*checked, error) {
		page, err := ws.Entity(ctx, table, id, at)
		switch {
		case noEntity(err) != nil:
			return &checked{missing: true}, nil
		case err != nil:
			return &checked{wrong: "looking at what is there: " + err.Error()}, ctx.Err()
		case insert:
			return &checked{exists: true}, nil
		}
		now, err := shape.Read(page.Rows[0].Line)
		if err != nil {
			return &checked{wrong: err.Error()}, nil
		}
		return &checked{now: now}, nil
	})}
}

// send hands the write over, once all is known and right.
func (f *Form) send(e *Env) Effect {
	f.sending = false
	for _, x := range f.fields {
		if x.unproved() {
			f.said = "not sent: " + x.Name + " was not looked at"
			return Effect{}
		}
	}
	if at, what := f.firstWrong(); what != "" {
		f.list.Sel, f.said = at, what
		return Effect{}
	}
	c, ok := f.check.Get()
	switch {
	case f.check.Problem() != nil || !ok && f.needsCheck():
		f.said = "not sent: what is there now was not read"
		return Effect{}
	case ok && c.wrong != "":
		f.said = "not sent: " + c.wrong
		return Effect{}
	case ok && f.verb == formInsert && c.exists:
		f.list.Sel = max(0, f.keyField())
		f.said = "a " + typeOf(f.table) + " with this key is there already; an insert would replace all of it: edit it instead"
		return Effect{}
	case ok && f.verb == formEdit && c.missing:
		f.said = "it is not there any more: someone deleted it while it was edited here"
		return Effect{}
	case ok && f.verb == formEdit && f.overtaken(c.now):
		return Effect{}
	}
	w, err := f.write(e)
	switch {
	case errors.Is(err, form.ErrUnchanged):
		f.said = "nothing is changed"
		return Effect{}
	case err != nil:
		f.said = "not sent: " + err.Error()
		return Effect{}
	}
	return Effect{Write: w}
}

func (f *Form) needsCheck() bool {
	return f.verb == formEdit || f.shape.ID(f.entries()) != ""
}

func (f *Form) keyField() int {
	for i, x := range f.fields {
		if x.Key {
			return i
		}
	}
	return -1
}

// overtaken notes what was changed by others since the form was opened, and
// says so. What was typed stays; sent again, it is about the entity as it is
// now.
func (f *Form) overtaken(now []form.Entry) bool {
	var names []string
	for i, x := range f.fields {
		if now[i] == x.was {
			continue
		}
		names = append(names, x.Name)
		mine := x.changed()
		if x.was = now[i]; !mine {
			x.reset()
		}
	}
	if len(names) == 0 {
		return false
	}
	f.before = now
	for _, a := range f.shape.Addresses(now) {
		if a.Field == f.where.Field {
			f.where = a
		}
	}
	f.said = "someone changed " + strings.Join(names, ", ") + " meanwhile; look again, then send it"
	return true
}

// write is what is handed to the runner.
func (f *Form) write(e *Env) (*Write, error) {
	var m *form.Mutation
	var err error
	entries := f.entries()
	if f.verb == formInsert {
		m, err = f.shape.Insert(entries)
	} else {
		m, err = f.shape.Update(f.before, entries, f.where)
	}
	if err != nil {
		return nil, err
	}
	title := f.Title()
	if f.verb == formInsert {
		title = strings.TrimSpace("insert " + typeOf(f.table) + " " + f.shape.ID(entries))
	}
	return f.hand(e, title, m), nil
}

func (f *Form) writeDelete(e *Env) *Write { return f.hand(e, f.Title(), f.shape.Delete(f.where)) }

// paramsMax is how long parameters may be that stand in a command line.
const paramsMax = 32 << 10

func (f *Form) hand(e *Env, title string, m *form.Mutation) *Write {
	cli := ""
	if len(m.Params) > paramsMax {
		cli = onGraph(e, engine.At{Branch: f.branch}, "mutate", "-e", m.Source, "--params-file", "PARAMS.json")
	}
	return &Write{
		Title:  title,
		Mutate: &engine.MutateOptions{Source: m.Source, Name: m.Name, Params: m.Params},
		CLI:    cli,
		Shows:  f.shows,
		Expect: f.expect,
		Done: func(e *Env, _ *engine.Receipt) Effect {
			var out Effect
			if f.done != nil {
				out = f.done(e)
			}
			out.Shut = f
			return out
		},
	}
}

// expect says why a plan is not about this entity alone.
func (f *Form) expect(p *engine.WritePlan) error {
	var updated uint64
	for _, t := range p.Tables {
		updated += t.Updated
	}
	n, what := p.Nodes, "entity"
	if f.shape.Kind == "edge" {
		n, what = p.Edges, "edge"
	}
	switch {
	case f.verb == formInsert && updated > 0:
		return errors.New("a " + typeOf(f.table) + " with this key came meanwhile, and the insert would replace it; nothing was written")
	case f.verb != formInsert && n == 0:
		return errors.New("no " + typeOf(f.table) + " has " + f.where.Said + " any more; nothing was written")
	case f.verb != formInsert && n > 1:
		return errors.New(part.Plural(n, what, "entities") + " have " + f.where.Said + " by now, not this one alone; nothing was written")
	}
	return nil
}

// shownOfDeleted is how many values are shown of what is to be deleted.
const shownOfDeleted = 6

// shows writes what is changed, value by value, or what is deleted.
func (f *Form) shows(e *Env, d *part.Doc) {
	g := e.Theme.Glyph
	for i, x := range f.fields {
		if f.verb == formDelete && x.given && !x.kept && i < shownOfDeleted {
			d.Fact(x.Name, part.Head(shown(g, true, x.text.String()), 80))
		}
		if f.verb == formDelete || !x.changed() {
			continue
		}
		now := shown(g, x.given, x.text.String())
		if x.found != nil && x.Kind == form.Blob {
			now = x.found.said + " of " + now
		}
		if f.verb == formEdit {
			before := shown(g, x.was.Given, x.was.Text)
			if x.was.Kept {
				before = x.known
			}
			now = part.Head(before, 200) + " " + g.Arrow + " " + now
		}
		d.Fact(x.Name, part.Head(now, 400))
	}
	if f.verb != formInsert {
		d.Fact("found by", part.Head(f.where.Said, 400))
	}
	d.Gap()
}

// shown is a value for the eye.
func shown(g theme.Glyphs, given bool, text string) string {
	switch {
	case !given:
		return g.Null
	case text == "":
		return `""`
	}
	return strings.ReplaceAll(text, "\n", g.Break)
}
