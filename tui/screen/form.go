package screen

import (
	"context"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/engine/form"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/workspace"
)

// formVerb is what a form is for.
type formVerb string

const (
	formInsert formVerb = "insert"
	formEdit   formVerb = "edit"
	formDelete formVerb = "delete"
)

// Form is one entity that is inserted, changed or deleted, field by field as
// the schema has them. It stands above a screen, and takes every key.
//
// Opening it reads the entity anew and looks for a comparison that means it
// alone. What is typed is judged at once; ends of edges and files are looked at
// when their field is left. Only when nothing is wrong is there a Write, with
// what was changed and nothing else. Of a delete there is no field: the Write
// follows the reading.
type Form struct {
	verb   formVerb
	table  string
	id     string // "" = an insert
	branch string
	ends   map[string]string // given beforehand: from, to
	done   func(*Env) Effect // after the write

	open   Load[*opened]
	shape  *form.Form // nil: not there yet, or nothing can be written
	why    string     // nothing can be written
	before []form.Entry
	where  form.Address
	fields []*formField
	list   part.List // the last place is that which sends

	check   Load[*checked] // of a whole entity, before it is handed over
	sending bool
	asked   bool // to be sent once: what is required is said
	offers  Load[*lookedUp]
	forEnd  int    // the field for which was looked
	said    string // of the last thing that was done
	unsaved string // a draft to be put into the fields once they are there
	drawn   int    // lines of fields in the window
}

// opened is what a form begins with.
type opened struct {
	schema *engine.Schema // nil: the one that was known
	shape  *form.Form
	before []form.Entry
	known  []string // what is known of values that are kept, by field
	where  form.Address
	why    string // nothing can be written; the others are nil
}

// NewInsert is a form for a new entity of a table, on the branch that is shown.
// ends are what from and to begin with. done is what follows the write.
func NewInsert(e *Env, table string, ends map[string]string, done func(*Env) Effect) *Form {
	return newForm(e, formInsert, table, "", ends, done)
}

// NewEdit is a form that changes an entity.
func NewEdit(e *Env, table, id string, done func(*Env) Effect) *Form {
	return newForm(e, formEdit, table, id, nil, done)
}

// NewDelete deletes an entity.
func NewDelete(e *Env, table, id string, done func(*Env) Effect) *Form {
	return newForm(e, formDelete, table, id, nil, done)
}

func newForm(e *Env, verb formVerb, table, id string, ends map[string]string, done func(*Env) Effect) *Form {
	f := &Form{verb: verb, table: table, id: id, branch: e.At.Branch, ends: ends, done: done}
	f.open.name, f.check.name, f.offers.name = strings.TrimSpace(table+" "+id), strings.TrimSpace("what is there of "+table+" "+id), "ids"
	return f
}

// Start asks for what the form begins with.
func (f *Form) Start(e *Env) []Request {
	known, _ := e.Data.Schema.Get()
	if e.Data.Schema.Problem() != nil {
		known = nil
	}
	verb, table, id, at := f.verb, f.table, f.id, engine.At{Branch: f.branch}
	return []Request{f.open.ask(e, func(ctx context.Context, ws workspace.Workspace) (*opened, error) {
		return openForm(ctx, ws, known, verb, table, id, at)
	})}
}

// openForm reads what a form begins with. What stands against it for good is
// said in the answer; an error may be gone the next time.
func openForm(ctx context.Context, ws workspace.Workspace, schema *engine.Schema, verb formVerb, table, id string, at engine.At) (*opened, error) {
	out := &opened{}
	if schema == nil {
		var err error
		if schema, err = ws.Schema(ctx); err != nil {
			return nil, err
		}
		out.schema = schema
	}
	shape, err := schema.Form(table)
	if err != nil {
		out.why = err.Error()
		return out, nil
	}
	if why := shape.NoUpdate(); verb == formEdit && why != "" {
		out.why = why
		return out, nil
	}
	if verb == formInsert {
		out.shape, out.before, out.known = shape, shape.Empty(), make([]string, len(shape.Fields))
		return out, nil
	}
	page, err := ws.Entity(ctx, table, id, at)
	if err != nil {
		return nil, err
	}
	row := &page.Rows[0]
	if out.before, err = shape.Read(row.Line); err != nil {
		return nil, err
	}
	out.known = knownOf(shape, page, row)
	where, why, err := addressOf(ctx, ws, shape, out.before, table, id, at)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return &opened{schema: out.schema, why: why}, nil
	}
	out.shape, out.where = shape, where
	return out, nil
}

// knownOf says of each field what its cell shows.
func knownOf(shape *form.Form, page *engine.RowPage, row *engine.Row) []string {
	out := make([]string, len(shape.Fields))
	for i := range shape.Fields {
		for c, name := range page.Columns {
			if name == shape.Fields[i].Column && c < len(row.Values) {
				out[i] = row.Values[c].Text
			}
		}
	}
	return out
}

// addressOf finds a comparison that means one entity and no other, or says that
// the language has none.
func addressOf(ctx context.Context, ws workspace.Workspace, shape *form.Form, entries []form.Entry, table, id string, at engine.At) (form.Address, string, error) {
	var shared []string
	for _, a := range shape.Addresses(entries) {
		if a.Sure {
			return a, "", nil
		}
		page, err := ws.Rows(ctx, table, at, engine.RowsOptions{Where: a.Where, Limit: 2})
		if err != nil {
			return a, "", err
		}
		if len(page.Rows) == 1 && page.Rows[0].ID == id {
			return a, "", nil
		}
		shared = append(shared, a.Said)
	}
	why := "The language finds what it changes and deletes by one comparison of one property. "
	if len(shared) == 0 {
		return form.Address{}, why + "No property of this entity has a value that can be compared.", nil
	}
	return form.Address{}, why + "None means this entity alone: others too have " + strings.Join(shared, ", ") + ". A mutation can only be about all of them.", nil
}

// Panes are what the form waits for.
func (f *Form) Panes() []Pane {
	out := []Pane{&f.open, &f.check, &f.offers}
	for _, x := range f.fields {
		out = append(out, &x.probe)
	}
	return out
}

// Busy says that the form waits for something.
func (f *Form) Busy() bool {
	for _, p := range f.Panes() {
		if p.Busy() {
			return true
		}
	}
	return false
}

// Settled takes what has come, and says what follows.
func (f *Form) Settled(e *Env) Effect {
	if o, ok := f.open.Get(); ok && f.shape == nil && f.why == "" {
		f.begin(o)
		if f.shape != nil && f.verb == formDelete {
			return Effect{Shut: f, Write: f.writeDelete(e)}
		}
	}
	if l, ok := f.offers.Get(); ok {
		return f.offered(e, l)
	}
	for _, x := range f.fields {
		x.take()
	}
	if f.sending && !f.Busy() {
		return f.send(e)
	}
	return Effect{}
}

// begin makes the fields.
func (f *Form) begin(o *opened) {
	if f.why = o.why; f.why != "" {
		return
	}
	f.shape, f.before, f.where = o.shape, o.before, o.where
	for i := range f.shape.Fields {
		x := &formField{Field: &f.shape.Fields[i], shape: f.shape, at: i, was: f.before[i], known: o.known[i]}
		x.probe.name = x.Name
		x.fixed = f.verb != formInsert && (x.Key || x.Kind == form.End)
		x.reset()
		if id, ok := f.ends[x.Name]; ok && x.Kind == form.End {
			x.set(form.Entry{Given: true, Text: id})
		}
		f.fields = append(f.fields, x)
	}
	f.list.Sel = f.next(-1, 1)
	if f.unsaved != "" {
		f.restore(f.unsaved)
	}
}

// next is the place from another one on, in a direction, at which something can
// be done; the same when there is none.
func (f *Form) next(from, d int) int {
	for i := from + d; i >= 0 && i <= len(f.fields); i += d {
		if i == len(f.fields) || !f.fields[i].fixed {
			return i
		}
	}
	return from
}

// current is the field that is selected; nil when the place that sends is.
func (f *Form) current() *formField {
	if f.list.Sel >= 0 && f.list.Sel < len(f.fields) {
		return f.fields[f.list.Sel]
	}
	return nil
}

// entries are what stands in the fields now.
func (f *Form) entries() []form.Entry {
	out := make([]form.Entry, len(f.fields))
	for i, x := range f.fields {
		out[i] = x.value()
	}
	return out
}

// changed says that something would be lost if the form went.
func (f *Form) changed() bool {
	for _, x := range f.fields {
		if x.changed() {
			return true
		}
	}
	return false
}

// Title says what the form is for.
func (f *Form) Title() string {
	return strings.TrimSpace(string(f.verb) + " " + typeOf(f.table) + " " + f.id)
}

// Selected is the name of the field that is selected; "" when it is the place
// that sends.
func (f *Form) Selected() string {
	if x := f.current(); x != nil {
		return x.Name
	}
	return ""
}
