package screen

import (
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// schemaTab is what the accepted schema says of one type: for an edge its ends
// first, then the properties; in the detail the constraints and the text as it
// was written.
type schemaTab struct {
	browse
	table string
	made  *schemaList
}

// schemaList is what is listed, and what it was made from.
type schemaList struct {
	of    *engine.Schema
	typ   *engine.SchemaType
	items []schemaItem
}

// schemaItem is an end of an edge, or a property.
type schemaItem struct {
	end  string // from or to; "" = a property
	node string // of an end
	prop engine.SchemaProperty
}

func newSchemaTab(table string) *schemaTab {
	s := &schemaTab{table: table}
	s.browse = newBrowse(0, s.listing)
	return s
}

func (s *schemaTab) label() string { return "schema" }

func (s *schemaTab) scope() string { return action.OnSchema }

func (s *schemaTab) start(e *Env) []Request {
	if e.Data.Schema.wanted(e) {
		return s.reload(e)
	}
	return nil
}

func (s *schemaTab) reload(e *Env) []Request { return []Request{e.Data.AskSchema(e)} }

func (s *schemaTab) panes() []Pane { return nil }

func (s *schemaTab) panesOf(e *Env) []Pane { return []Pane{&e.Data.Schema} }

// list is the type as it is listed; nil when the schema is not there.
func (s *schemaTab) contents(e *Env) *schemaList {
	v, ok := e.Data.Schema.Get()
	if !ok {
		return nil
	}
	if s.made != nil && s.made.of == v {
		return s.made
	}
	s.made = &schemaList{of: v, typ: declared(v, s.table)}
	t := s.made.typ
	if t == nil {
		return s.made
	}
	if t.Kind == "edge" {
		s.made.items = append(s.made.items, schemaItem{end: "from", node: t.From}, schemaItem{end: "to", node: t.To})
	}
	for _, p := range t.Properties {
		s.made.items = append(s.made.items, schemaItem{prop: p})
	}
	return s.made
}

// declared finds the type of a table.
func declared(v *engine.Schema, table string) *engine.SchemaType {
	kind, name, _ := strings.Cut(table, ":")
	for i := range v.Types {
		if t := &v.Types[i]; t.Kind == kind && t.Name == name {
			return t
		}
	}
	return nil
}

func (it schemaItem) name() string {
	if it.end != "" {
		return it.end
	}
	return it.prop.Name
}

func (it schemaItem) typ() string {
	if it.end != "" {
		return "node:" + it.node
	}
	return it.prop.Type
}

func (it schemaItem) role() string {
	switch {
	case it.end != "":
		return "end"
	case it.prop.Key:
		return "key"
	}
	return ""
}

func (s *schemaTab) listing(e *Env) listing {
	c := s.contents(e)
	if c == nil {
		return listing{}
	}
	items := c.items
	return listing{
		n: len(items), of: c, what: fileName(s.table) + "-schema",
		key: func(i int) string { return items[i].end + "/" + items[i].name() },
		record: func(i int) any {
			if items[i].end != "" {
				return map[string]string{"end": items[i].end, "node": items[i].node}
			}
			return items[i].prop
		},
		facets: []facet{
			textFacet("property", func(i int) string { return items[i].name() }),
			textFacet("type", func(i int) string { return items[i].typ() }),
			textFacet("null", func(i int) string { return nullWord(items[i]) }),
			textFacet("role", func(i int) string { return items[i].role() }),
			textFacet("constraints", func(i int) string { return strings.Join(constraintsOf(c.typ, items[i].name()), " ") }),
		},
	}
}

func nullWord(it schemaItem) string {
	switch {
	case it.end != "":
		return ""
	case it.prop.Nullable:
		return "may be null"
	}
	return "required"
}

// constraintsOf are the constraints of a type that name a property.
func constraintsOf(t *engine.SchemaType, name string) []string {
	var out []string
	for _, c := range t.Constraints {
		_, args, ok := strings.Cut(c, "(")
		for _, w := range strings.FieldsFunc(args, func(r rune) bool { return strings.ContainsRune("(), \t", r) }) {
			if ok && w == name {
				out = append(out, c)
				break
			}
		}
	}
	return out
}

func (s *schemaTab) item(e *Env) *schemaItem {
	i, ok := s.selected(e)
	if !ok {
		return nil
	}
	return &s.contents(e).items[i]
}

func (s *schemaTab) context(e *Env) action.Context {
	out := s.browse.context(e)
	out.Detail = s.contents(e) != nil
	return out
}

func (s *schemaTab) do(e *Env, id action.ID) Effect {
	it := s.item(e)
	switch {
	case id == action.Open && it != nil && it.end != "":
		return Effect{Push: NewTable("node:" + it.node).Show("schema")}
	case id == action.Flip || id == action.Open:
		s.onRight = !s.onRight && s.contents(e) != nil
	default:
		s.move(e, id)
	}
	return Effect{}
}

// Copies implements Copier.
func (s *schemaTab) Copies(e *Env) []Copy {
	c := s.contents(e)
	if c == nil {
		return nil
	}
	var out []Copy
	if it := s.item(e); it != nil {
		out = append(out, Copy{"name", it.name()}, Copy{"type", it.typ()})
	}
	if c.typ != nil {
		out = append(out, Copy{"schema of this type as it was written", strings.Join(sourceOf(c.of.Source, c.typ.Kind, c.typ.Name), "\n")})
	}
	return append(out, Copy{"whole schema", c.of.Source}, Copy{"command that prints the schema", shell.Line("schema", "show", e.Address)})
}

func (s *schemaTab) render(e *Env, a Area) []string {
	c := s.contents(e)
	p := &e.Data.Schema
	name := part.Clean(s.table, e.Theme.Glyph)
	if c == nil {
		out := append([]string{title(e, a.W, name, "", p)}, absent(e, p, a.W, a.H-1)...)
		return part.Fit(out, a.W, a.H)
	}
	l := s.listing(e)
	n := s.settle(l)
	shown := s.table
	if n > 0 {
		shown = l.key(s.lens.item(s.list.Sel))
	}
	list := func(w, h int, focused bool) []string {
		out := []string{title(e, w, name, s.facts(e, l, n, typeFacts(c)), p)}
		if p.Problem() != nil {
			out = append(out, problem(e, p, w, 0)...)
		}
		out = append(out, contractLines(e, c, w)...)
		switch {
		case c.typ == nil, l.n == 0:
			return part.Fit(append(out, part.Line(e.Theme, w, part.S("  "), part.R(theme.Muted, s.nothing(c)))), w, h)
		case n == 0:
			return part.Fit(append(out, s.noMatch(e, w)), w, h)
		}
		return part.Fit(append(out, s.grid(e, c, n).Render(e.Theme, w, max(0, h-len(out)), &s.list, focused)...), w, h)
	}
	detail := func(w int) *part.Doc {
		d := part.NewDoc(e.Theme, w)
		s.typeDoc(e, d, c, n)
		return d
	}
	return s.split.render(e, a, shown, list, detail)
}

func (s *schemaTab) nothing(c *schemaList) string {
	switch {
	case c.typ != nil:
		return "the type has no property of its own"
	case len(c.of.Types) == 0 && c.of.Finding != nil:
		return "the types could not be read; the text, as far as it was, is in the detail"
	}
	return "the accepted schema has no such type: it may have been dropped"
}

func typeFacts(c *schemaList) string {
	if c.typ == nil {
		return ""
	}
	s := part.Plural(len(c.typ.Properties), "property", "properties")
	if n := len(c.typ.Constraints); n > 0 {
		s += ", " + part.Plural(n, "constraint", "constraints")
	}
	return s
}

// contractLines say what is wrong with the contract, or that it is of another
// moment than the rest.
func contractLines(e *Env, c *schemaList, w int) []string {
	d := part.NewDoc(e.Theme, w)
	if f := c.of.Finding; f != nil {
		mark, role := severity(e.Theme, f.Severity)
		d.Text(role, mark+" "+f.ID+" "+f.Title)
		if f.Trust != "" {
			d.Text(theme.Muted, "still trustworthy: "+f.Trust)
		}
	}
	if c.of.Staged {
		d.Text(theme.Warn, e.Theme.Glyph.Warn+" published but not yet promoted: the staged schema is shown")
	}
	if e.Travelling() {
		d.Text(theme.Muted, "the schema as accepted now: a graph keeps no older one")
	}
	return d.Window(d.Len(), new(int))
}

func (s *schemaTab) grid(e *Env, c *schemaList, n int) part.Table {
	g := e.Theme.Glyph
	return part.Table{
		Columns: []part.Column{
			{Title: "property", Min: 10, Max: 40}, {Title: "type", Min: 8, Max: 36}, {Title: "null", Drop: 2}, {Title: "role", Drop: 3}, {Title: "constraints", Min: 8, Max: 48, Drop: 1},
		},
		N: n, Heading: true,
		Row: func(p int) []part.Span {
			it := c.items[s.lens.item(p)]
			name, typ := part.R(theme.Strong, part.Clean(it.name(), g)), part.S(part.Clean(it.typ(), g))
			if it.end != "" {
				name, typ = part.S(it.end), part.R(theme.Accent, typ.Text)
			}
			return []part.Span{
				name, typ, part.R(theme.Muted, nullWord(it)), part.R(theme.Accent, it.role()),
				part.R(theme.Muted, part.Clean(strings.Join(constraintsOf(c.typ, it.name()), " "), g)),
			}
		},
	}
}

// typeDoc writes the type out, the selected property first.
func (s *schemaTab) typeDoc(e *Env, d *part.Doc, c *schemaList, n int) {
	if n > 0 {
		it := c.items[s.lens.item(s.list.Sel)]
		d.Head(it.name())
		d.Fact("type", it.typ())
		d.Fact("null", nullWord(it))
		if it.prop.Key {
			d.Fact("key", "yes: it makes the id")
		}
		for _, con := range constraintsOf(c.typ, it.name()) {
			d.Fact("constraint", con)
		}
		if it.end != "" {
			d.Text(theme.Muted, press(e, action.Open)+" goes to that type")
		}
	}
	source := strings.Split(strings.TrimRight(c.of.Source, "\n"), "\n")
	if c.typ != nil {
		if len(c.typ.Implements)+len(c.typ.Constraints) > 0 {
			d.Head(c.typ.Kind + " " + c.typ.Name)
		}
		if len(c.typ.Implements) > 0 {
			d.Fact("implements", strings.Join(c.typ.Implements, ", "))
		}
		for _, con := range c.typ.Constraints {
			d.Fact("constraint", con)
		}
		source = sourceOf(c.of.Source, c.typ.Kind, c.typ.Name)
	}
	if c.of.Source == "" {
		return
	}
	d.Head("as it was written")
	for i, l := range source {
		if i == sourceLines {
			d.Text(theme.Muted, part.Count(len(source)-i)+" lines more; the verb schema show prints them")
			break
		}
		d.Line(part.R(theme.Muted, part.Clean(strings.ReplaceAll(l, "\t", "    "), e.Theme.Glyph)))
	}
}

const sourceLines = 2000 // of a schema that are shown

// sourceOf finds the lines of a type in the text of a schema. Where they are
// not found, there are none.
func sourceOf(source, kind, name string) []string {
	var out []string
	depth := 0
	for _, l := range strings.Split(source, "\n") {
		if out == nil {
			f := strings.FieldsFunc(l, func(r rune) bool { return strings.ContainsRune(" \t:{", r) })
			if len(f) < 2 || f[0] != kind || f[1] != name {
				continue
			}
		}
		out = append(out, l)
		depth += strings.Count(l, "{") - strings.Count(l, "}")
		if depth <= 0 {
			break
		}
	}
	return out
}
