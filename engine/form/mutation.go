package form

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/internal/ojson"
)

// Mutation is a query that writes, and its parameters as a JSON object.
type Mutation struct {
	Name   string
	Source string
	Params []byte
}

// ErrUnchanged: nothing would be written.
var ErrUnchanged = errors.New("nothing is changed")

// Insert is the mutation that inserts the entity. Where the type has a key and
// an entity has it already, it would replace that one whole: the caller looks
// first. The error names the first field that is wrong.
func (f *Form) Insert(entries []Entry) (*Mutation, error) {
	w := f.writer("insert")
	for i := range f.Fields {
		if err := w.set(i, entries[i]); err != nil {
			return nil, err
		}
	}
	return w.done("insert "+f.Type+" {\n"+w.body.String()+"  }", nil), nil
}

// Update is the mutation that changes what is not as it was before, and nothing
// else. The error is ErrUnchanged, or names the first field that is wrong.
func (f *Form) Update(before, now []Entry, where Address) (*Mutation, error) {
	w := f.writer("update")
	for i := range f.Fields {
		if now[i] == before[i] || now[i].Kept {
			continue
		}
		if f.Fields[i].Key {
			return nil, fmt.Errorf("%s: part of the key, which cannot be changed", f.Fields[i].Name)
		}
		if err := w.set(i, now[i]); err != nil {
			return nil, err
		}
	}
	if w.body.Len() == 0 {
		return nil, ErrUnchanged
	}
	return w.done("update "+f.Type+" set {\n"+w.body.String()+"  }", &where), nil
}

// Delete is the mutation that deletes the entity, and with a node every edge
// that touches it.
func (f *Form) Delete(where Address) *Mutation {
	return f.writer("delete").done("delete "+f.Type, &where)
}

// writer writes one mutation.
type writer struct {
	form   *Form
	name   string
	body   strings.Builder
	params []string // as they are declared
	names  []string
	values []ojson.Member
}

func (f *Form) writer(verb string) *writer {
	return &writer{form: f, name: verb + "_" + strings.ToLower(f.Type)}
}

// set assigns an entry to its property. What an insert leaves null is not
// named: it is null all the same.
func (w *writer) set(i int, e Entry) error {
	x := &w.form.Fields[i]
	v, _, err := w.form.value(i, e)
	if err != nil {
		return fmt.Errorf("%s: %w", x.Name, err)
	}
	if !e.Given && strings.HasPrefix(w.name, "insert") {
		return nil
	}
	fmt.Fprintf(&w.body, "    %s: $%s\n", x.Name, w.param(x.Name, x, v))
	return nil
}

// param declares a parameter of the type of a field, and returns its name.
func (w *writer) param(name string, x *Field, v ojson.Value) string {
	if name == "__nanograph_now" { // the name of now()
		name += "_"
	}
	typ := x.prop
	typ.Enum = nil
	spelled := typ.Spell()
	if x.Nullable {
		spelled += "?"
	}
	w.params = append(w.params, "$"+name+": "+spelled)
	w.names = append(w.names, name)
	w.values = append(w.values, ojson.Member{Name: name, Value: v})
	return name
}

// done is the whole query: a statement, and which rows it is about.
func (w *writer) done(statement string, where *Address) *Mutation {
	if where != nil {
		name := where.Field
		for slices.Contains(w.names, name) {
			name += "_now"
		}
		statement += " where " + where.Field + " = $" + w.param(name, where.field, where.param)
	}
	return &Mutation{
		Name:   w.name,
		Source: "query " + w.name + "(" + strings.Join(w.params, ", ") + ") {\n  " + statement + "\n}\n",
		Params: ojson.Obj(w.values...).Append(nil),
	}
}
