package schema

import (
	"slices"
	"strings"

	"github.com/omnideck/omnideck/internal/ojson"
)

// ParseIR reads _schema.ir.json. It checks what can be read of each member;
// Check says whether the whole is sound.
func ParseIR(data []byte) (*IR, error) {
	v, err := ojson.Parse(data)
	if err != nil {
		return nil, err
	}
	r := new(ojson.Reader)
	f := r.Open(v, "")
	ir := &IR{Version: f.Uint("ir_version", 32), Domain: f.Str("schema_identity_domain"), NextID: f.Uint("next_identity_id", 64)}
	f.Each("interfaces", true, func(f ojson.Fields) {
		ir.Interfaces = append(ir.Interfaces, Type{Kind: KindInterface, Name: f.Str("name"), ID: id(f, "type_id"), Properties: properties(f)})
	})
	f.Each("nodes", true, func(f ojson.Fields) {
		t := table(f, KindNode)
		f.Each("implements", true, func(f ojson.Fields) { t.Implements = append(t.Implements, typeRef(f)) })
		ir.Nodes = append(ir.Nodes, t)
	})
	f.Each("edges", true, func(f ojson.Fields) {
		t := table(f, KindEdge)
		t.From, t.To = typeRef(f.Object("from_type")), typeRef(f.Object("to_type"))
		t.Card = card(f.Object("cardinality"))
		ir.Edges = append(ir.Edges, t)
	})
	if err := r.Err(); err != nil {
		return nil, err
	}
	return ir, nil
}

// id reads an identity, which is never zero.
func id(f ojson.Fields, name string) uint64 {
	n := f.Uint(name, 64)
	if n == 0 {
		f.Fail(name, "found 0, expected an identity")
	}
	return n
}

func table(f ojson.Fields, kind Kind) Type {
	return Type{
		Kind: kind, Name: f.Str("name"), ID: id(f, "type_id"), Incarnation: id(f, "table_incarnation_id"),
		Annotations: annotations(f), Properties: properties(f), Constraints: constraints(f),
	}
}

func typeRef(f ojson.Fields) TypeRef { return TypeRef{id(f, "type_id"), f.Str("type_name")} }

func propRef(f ojson.Fields) PropRef {
	return PropRef{id(f, "owner_type_id"), f.Str("owner_type_name"), id(f, "property_id"), f.Str("property_name")}
}

func card(f ojson.Fields) Card {
	c := Card{Min: f.Uint("min", 32)}
	if f.Has("max") {
		n := f.Uint("max", 32)
		c.Max = &n
	}
	return c
}

func annotations(f ojson.Fields) (out []Annotation) {
	f.Each("annotations", true, func(f ojson.Fields) {
		a := Annotation{Name: f.Str("name"), Value: f.OptStr("value")}
		if v, ok := f.Value("kwargs"); ok {
			a.Kwargs = kwargs(f, v)
		}
		out = append(out, a)
	})
	return out
}

// kwargs reads a map of strings; of a name that stands twice the last counts.
func kwargs(f ojson.Fields, v ojson.Value) [][2]string {
	if v.Kind() != ojson.Object {
		f.Fail("kwargs", "found %s, expected an object", v.Kind())
	}
	last := map[string]string{}
	for _, m := range v.Members() {
		if m.Value.Kind() != ojson.String {
			f.Fail("kwargs", "%q is a %s, expected a string", m.Name, m.Value.Kind())
		}
		last[m.Name] = m.Value.Text()
	}
	var out [][2]string
	for k, v := range last {
		out = append(out, [2]string{k, v})
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out
}

func properties(f ojson.Fields) (out []Property) {
	f.Each("properties", true, func(f ojson.Fields) {
		p := Property{
			Name: f.Str("name"), ID: id(f, "property_id"), Type: propType(f.Object("prop_type")), Annotations: annotations(f),
			Constraints: f.Strs("property_constraints"), Declared: f.Bool("declared_directly"),
		}
		for _, c := range p.Constraints {
			if !slices.Contains(propertyConstraints, c) {
				f.Fail("property_constraints", "found %q, expected key, unique or index", c)
			}
		}
		if e, ok := f.OptObject("embed_source"); ok {
			p.Embed = &Embed{propRef(e.Object("source")), e.OptStr("model")}
		}
		f.Each("satisfies_interface_properties", true, func(f ojson.Fields) { p.Satisfies = append(p.Satisfies, propRef(f)) })
		out = append(out, p)
	})
	return out
}

// propertyConstraints in the order in which a property lists them.
var propertyConstraints = []string{"key", "unique", "index"}

func propType(f ojson.Fields) PropType {
	t := PropType{Nullable: f.Bool("nullable"), List: f.Bool("list")}
	if f.Has("enum_values") {
		t.Enum = f.Strs("enum_values")
	}
	v, _ := f.Value("scalar")
	switch {
	case v.Kind() == ojson.String && slices.Contains(BaseTypes, v.Text()):
		t.Scalar.Name = v.Text()
	case v.Kind() == ojson.Object && len(v.Members()) == 1 && v.Members()[0].Name == "Vector":
		dim, err := v.Members()[0].Value.Uint(32)
		if err != nil {
			f.Fail("scalar", "%v", err)
		}
		t.Scalar = Scalar{"Vector", dim}
	default:
		f.Fail("scalar", "found %s, expected a type", v.Append(nil))
	}
	return t
}

func constraints(f ojson.Fields) (out []Constraint) {
	f.Each("constraints", true, func(f ojson.Fields) {
		c := Constraint{Kind: f.Str("kind")}
		switch c.Kind {
		case "key", "unique", "index":
			f.Each("fields", true, func(f ojson.Fields) { c.Fields = append(c.Fields, fieldRef(f)) })
		case "range":
			c.Fields = []FieldRef{fieldRef(f.Object("field"))}
			c.Min, c.Max = bound(f, "min"), bound(f, "max")
		case "check":
			c.Fields = []FieldRef{fieldRef(f.Object("field"))}
			c.Pattern = f.Str("pattern")
		default:
			f.Fail("kind", "found %q, expected key, unique, index, range or check", c.Kind)
		}
		out = append(out, c)
	})
	return out
}

func fieldRef(f ojson.Fields) FieldRef {
	switch kind := f.Str("kind"); kind {
	case "property":
		p := propRef(f)
		return FieldRef{Prop: &p}
	case "system":
		r := FieldRef{Role: f.Str("role"), TableID: id(f, "stable_table_id"), TableName: f.Str("table_type_name"), Incarnation: id(f, "table_incarnation_id")}
		if r.Role != "id" && r.Role != "src" && r.Role != "dst" {
			f.Fail("role", "found %q, expected id, src or dst", r.Role)
		}
		return r
	default:
		f.Fail("kind", "found %q, expected property or system", kind)
	}
	return FieldRef{}
}

// bound reads {"Integer":n}, {"Float":x}, or nothing.
func bound(f ojson.Fields, name string) *Bound {
	v, ok := f.Value(name)
	if !ok {
		return nil
	}
	if v.Kind() == ojson.Object && len(v.Members()) == 1 {
		var b Bound
		var err error
		switch m := v.Members()[0]; m.Name {
		case "Integer":
			b.Int, err = m.Value.Int()
		case "Float":
			b.IsFloat = true
			b.Float, err = m.Value.Float()
		default:
			f.Fail(name, "found %q, expected Integer or Float", m.Name)
		}
		if err != nil {
			f.Fail(name, "%v", err)
		}
		return &b
	}
	f.Fail(name, "found %s, expected a bound", v.Append(nil))
	return nil
}
