package runner

import (
	"slices"
	"strings"
	"unicode"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/screen"
)

// template asks for a type and what is to be done with it, and puts the query
// in.
func (d *mutation) template(e *screen.Env) Do {
	s, ok := e.Data.Schema.Get()
	if !ok {
		if e.Data.Schema.Busy() {
			return Do{Note: "the schema is being read"}
		}
		return Do{Ask: []screen.Request{e.Data.AskSchema(e)}, Note: "reading the schema; ^t again shows its types"}
	}
	if len(s.Types) == 0 {
		return Do{Note: "the schema has no types"}
	}
	menu := &screen.Menu{Title: "a query for which type?"}
	for i, t := range s.Types {
		item := screen.MenuItem{Label: t.Name, Detail: t.Kind}
		if t.Kind == "edge" {
			item.Detail = "edge, " + t.From + " to " + t.To
		}
		if t.Kind+":"+t.Name == d.table {
			menu.Sel = i
		}
		menu.Items = append(menu.Items, item)
	}
	if !d.query.Empty() || !d.params.Empty() {
		menu.Items = append(menu.Items, screen.MenuItem{Key: "0", Label: "nothing", Detail: "an empty draft"})
	}
	menu.Choose = func(_ *screen.Env, i int) screen.Effect {
		if i == len(s.Types) {
			d.query.Set("")
			d.params.Set("")
			d.changed()
			return screen.Effect{}
		}
		return screen.Effect{Menu: d.verbs(s.Types[i])}
	}
	return Do{Menu: menu}
}

// verbs asks what is to be done with a type. An edge cannot be updated, nor a
// node of nothing but its key.
func (d *mutation) verbs(t engine.SchemaType) *screen.Menu {
	names := []string{"insert", "update", "delete"}
	if t.Kind == "edge" || !slices.ContainsFunc(t.Properties, func(p engine.SchemaProperty) bool { return !p.Key && !(p.Type == "Blob" && p.Nullable) }) {
		names = []string{"insert", "delete"}
	}
	menu := &screen.Menu{Title: t.Name}
	for _, n := range names {
		menu.Items = append(menu.Items, screen.MenuItem{Key: n[:1], Label: n})
	}
	menu.Choose = func(_ *screen.Env, i int) screen.Effect {
		d.put(queryFor(names[i], t))
		return screen.Effect{}
	}
	return menu
}

// put adds a query to the text, or replaces a template that nobody touched.
func (d *mutation) put(q made) {
	if d.query.Empty() || d.query.String() == d.proposed {
		d.query.Set(q.text)
		d.params.Set(q.params)
	} else {
		d.query.Key("ctrl+end")
		d.query.Insert("\n\n" + q.text)
		if d.params.Empty() {
			d.params.Set(q.params)
		}
	}
	d.proposed, d.focus, d.pick = d.query.String(), inQuery, q.name
	d.changed()
}

// made is a query for a type.
type made struct{ name, text, params string }

// queryFor writes a query that inserts, updates or deletes one entity of a type.
// An insert has a parameter for each property. An update sets one property and
// names the others: a parameter that is left at null would take a value away.
func queryFor(verb string, t engine.SchemaType) made {
	q := made{name: verb + "_" + snake(t.Name)}
	var params, sets, values, others []string
	take := func(name, typ string) {
		params = append(params, "$"+name+": "+typ)
		values = append(values, param(name)+": "+sample(typ))
	}
	where := ""
	switch key := keyOf(t); {
	case t.Kind == "edge":
		take("from", "String")
		where = " where from = $from"
	case verb != "insert":
		take(key.Name, paramType(key.Type))
		where = " where " + key.Name + " = $" + key.Name
	}
	if verb == "insert" && t.Kind == "edge" {
		take("to", "String")
		sets, where = []string{"from: $from", "to: $to"}, ""
	}
	for _, p := range t.Properties {
		typ := paramType(p.Type)
		if p.Nullable {
			typ += "?"
		}
		switch {
		case verb == "delete", verb == "update" && p.Key, p.Type == "Blob" && p.Nullable:
		case verb == "update" && len(sets) > 0:
			others = append(others, p.Name+" "+typ)
		default:
			take(p.Name, typ)
			sets = append(sets, p.Name+": $"+p.Name)
		}
	}
	head := map[string]string{"update": " set"}[verb]
	text := "query " + q.name + "(" + listed(params, "  ", "") + ") {\n  " + verb + " " + t.Name + head
	if verb != "delete" {
		text += " {" + listed(sets, "    ", " ") + "}"
	}
	q.text = text + where + "\n}"
	if len(others) > 0 {
		q.text += "\n// may be set too: " + strings.Join(others, ", ")
	}
	q.params = "{" + listed(values, "  ", "") + "}"
	return q
}

// listed puts a list on one line, with pad around it, or one item a line where it
// is long.
func listed(items []string, indent, pad string) string {
	if one := strings.Join(items, ", "); len(one) <= 56 {
		return pad + one + pad
	}
	return "\n" + indent + strings.Join(items, ",\n"+indent) + "\n" + indent[2:]
}

// keyOf is the property that an entity of a type is found by: the first of its
// key, else its id.
func keyOf(t engine.SchemaType) engine.SchemaProperty {
	for _, p := range t.Properties {
		if p.Key {
			return p
		}
	}
	return engine.SchemaProperty{Name: "id", Type: "String"}
}

// paramType is the type of a parameter for a property of a type.
func paramType(t string) string {
	if strings.HasPrefix(t, "enum(") {
		return "String"
	}
	if in, ok := strings.CutPrefix(t, "["); ok && strings.HasPrefix(in, "enum(") {
		return "[String]"
	}
	return t
}

// sample is a value of a parameter's type, to be overwritten.
func sample(typ string) string {
	switch {
	case strings.HasSuffix(typ, "?"):
		return "null"
	case strings.HasPrefix(typ, "["), strings.HasPrefix(typ, "Vector"):
		return "[]"
	case typ == "Bool":
		return "false"
	case typ == "Date":
		return `"2026-01-01"`
	case typ == "DateTime":
		return `"2026-01-01T00:00:00Z"`
	case strings.HasPrefix(typ, "I"), strings.HasPrefix(typ, "U"):
		return "0"
	case strings.HasPrefix(typ, "F"):
		return "0.0"
	}
	return `""`
}

// snake writes the name of a type as one of a query: CallsAt, calls_at.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
