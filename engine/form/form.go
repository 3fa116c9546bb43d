package form

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
)

// Kind is how a field is written.
type Kind uint8

// The kinds.
const (
	Text   Kind = iota // any text
	Number             // a JSON number
	Choice             // one of Choices
	Time               // a date, or a date and time
	JSON               // a list or a vector
	Blob               // bytes
	End                // the id of a node
)

// Field is one property of the entity, or an end of the edge.
type Field struct {
	Name     string // as .gq names it: a property, from, to
	Column   string // as rows name it: a property, src, dst
	Type     string // as .pg spells it: F64?; of an end node:Port
	Kind     Kind
	Key      bool // is part of the key, which makes the id
	Nullable bool
	Choices  []string // of a Choice
	Accepts  string   // what can be written, in words
	Rules    []string // of the schema, that name this property alone, as .pg spells them
	About    string   // its @description

	prop schema.PropType
}

// Form is the fields of a type.
type Form struct {
	Kind   string // node or edge
	Type   string
	Fields []Field

	typ   *schema.Type
	rules *value.Rules
}

// New makes the form of a node or edge type. The error says why nothing of the
// type can be written at all.
func New(t *schema.Type) (*Form, error) {
	rules, err := value.NewRules(t)
	if err != nil {
		return nil, fmt.Errorf("no %s can be written: %w", t.Name, err)
	}
	f := &Form{Kind: t.Kind.String(), Type: t.Name, typ: t, rules: rules}
	if t.Kind == schema.KindEdge {
		f.Fields = append(f.Fields, end("from", "src", t.From.Name), end("to", "dst", t.To.Name))
	}
	var key []string
	for _, k := range t.Key() {
		key = append(key, k.Name)
	}
	rank := func(p *schema.Property) int {
		switch {
		case slices.Contains(key, p.Name):
			return 0
		case !p.Type.Nullable:
			return 1
		}
		return 2
	}
	for want := range 3 {
		for i := range t.Properties {
			if p := &t.Properties[i]; rank(p) == want {
				f.Fields = append(f.Fields, property(t, p, want == 0))
			}
		}
	}
	return f, nil
}

func end(name, column, node string) Field {
	return Field{
		Name: name, Column: column, Type: "node:" + node, Kind: End, Accepts: "the id of a " + node,
		prop: schema.PropType{Scalar: schema.Scalar{Name: "String"}},
	}
}

func property(t *schema.Type, p *schema.Property, key bool) Field {
	f := Field{Name: p.Name, Column: p.Name, Type: p.Type.Spell(), Key: key, Nullable: p.Type.Nullable, prop: p.Type}
	if f.Nullable {
		f.Type += "?"
	}
	f.Kind, f.Accepts = kindOf(p.Type)
	switch {
	case p.Type.Enum != nil:
		f.Choices = p.Type.Enum
	case f.Kind == Choice:
		f.Choices = []string{"true", "false"}
	}
	for _, c := range t.Constraints {
		if len(c.Fields) == 1 && c.Fields[0].Name() == p.Name && c.Kind != "index" && c.Kind != "key" {
			f.Rules = append(f.Rules, c.Spell())
		}
	}
	for _, a := range p.Annotations {
		if a.Name == "description" && a.Value != nil {
			f.About = *a.Value
		}
	}
	return f
}

// kindOf says how values of a type are written.
func kindOf(t schema.PropType) (Kind, string) {
	name := t.Scalar.Name
	switch {
	case t.List:
		return JSON, "a JSON array of " + items[name]
	case name == "Vector":
		return JSON, fmt.Sprintf("a JSON array of %d numbers", t.Scalar.Dim)
	case t.Enum != nil:
		return Choice, "one of " + strings.Join(t.Enum, ", ")
	case name == "Bool":
		return Choice, "true or false"
	case name == "Blob":
		return Blob, "the bytes of a file"
	case name == "String":
		return Text, "any text"
	case name == "Date":
		return Time, "a date: 2026-11-29 or 20261129"
	case name == "DateTime":
		return Time, "2026-11-29T14:02:11Z, with a fraction or another zone (+02:00) if need be, or a date for its midnight in UTC"
	}
	return Number, numbers[name]
}

var numbers = map[string]string{
	"I32": "a whole number from -2147483648 to 2147483647",
	"I64": "a whole number from -9223372036854775808 to 9223372036854775807",
	"U32": "a whole number from 0 to 4294967295",
	"U64": "a whole number from 0 to 9223372036854775807; load takes greater ones",
	"F32": "a number, such as 1.5 or 2e3, rounded to 32 bits",
	"F64": "a number, such as 1.5 or 2e3",
}

var items = map[string]string{
	"String": "texts: [\"a\", \"b\"]", "Bool": "true and false", "I32": "whole numbers", "I64": "whole numbers", "U32": "whole numbers", "U64": "whole numbers",
	"F32": "numbers", "F64": "numbers", "Date": "dates: [\"2026-11-29\"]", "DateTime": "times: [\"2026-11-29T14:02:11Z\"]",
}

// Alias is the type as tables are named: node:Port.
func (f *Form) Alias() string { return f.Kind + ":" + f.Type }

// NoUpdate says why no entity of the type can be changed; "" when one can.
func (f *Form) NoUpdate() string {
	if f.Kind == "edge" {
		return "the language cannot change an edge: delete it and insert it anew"
	}
	if !slices.ContainsFunc(f.Fields, func(x Field) bool { return !x.Key }) {
		return "all of it is its key, which cannot be changed: delete it and insert it anew"
	}
	return ""
}

// Entry is what stands in a field. The zero Entry is null.
type Entry struct {
	Given bool
	Kept  bool // a value that is there and stays; Text says what is known of it
	Text  string
}

// Empty is the entries of an entity that does not exist yet.
func (f *Form) Empty() []Entry { return make([]Entry, len(f.Fields)) }
