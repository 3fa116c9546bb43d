package schema

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/internal/ojson"
)

// JSON is the IR as a value whose compact text is hashed and whose pretty text
// is the file.
func (ir *IR) JSON() ojson.Value {
	return ojson.Obj(
		m("ir_version", ojson.Uint(ir.Version)),
		m("schema_identity_domain", ojson.Str(ir.Domain)),
		m("next_identity_id", ojson.Uint(ir.NextID)),
		m("interfaces", list(ir.Interfaces, func(t Type) ojson.Value {
			return ojson.Obj(m("name", ojson.Str(t.Name)), m("type_id", ojson.Uint(t.ID)), m("properties", list(t.Properties, Property.json)))
		})),
		m("nodes", list(ir.Nodes, func(t Type) ojson.Value {
			return ojson.Obj(
				m("name", ojson.Str(t.Name)), m("type_id", ojson.Uint(t.ID)), m("table_incarnation_id", ojson.Uint(t.Incarnation)),
				m("annotations", list(t.Annotations, Annotation.json)), m("implements", list(t.Implements, TypeRef.json)),
				m("properties", list(t.Properties, Property.json)), m("constraints", list(t.Constraints, Constraint.json)))
		})),
		m("edges", list(ir.Edges, func(t Type) ojson.Value {
			return ojson.Obj(
				m("name", ojson.Str(t.Name)), m("type_id", ojson.Uint(t.ID)), m("table_incarnation_id", ojson.Uint(t.Incarnation)),
				m("from_type", t.From.json()), m("to_type", t.To.json()), m("cardinality", t.Card.json()),
				m("annotations", list(t.Annotations, Annotation.json)), m("properties", list(t.Properties, Property.json)),
				m("constraints", list(t.Constraints, Constraint.json)))
		})))
}

// Hash is schema_ir_hash.
func (ir *IR) Hash() string { return hash(ir.JSON()) }

func hash(v ojson.Value) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(v.Append(nil))) }

func m(name string, v ojson.Value) ojson.Member { return ojson.Member{Name: name, Value: v} }

func list[T any](items []T, one func(T) ojson.Value) ojson.Value {
	values := make([]ojson.Value, len(items))
	for i, item := range items {
		values[i] = one(item)
	}
	return ojson.Arr(values...)
}

// opt is null of nil.
func opt[T any](p *T, one func(T) ojson.Value) ojson.Value {
	if p == nil {
		return ojson.Value{}
	}
	return one(*p)
}

func (r TypeRef) json() ojson.Value {
	return ojson.Obj(m("type_id", ojson.Uint(r.ID)), m("type_name", ojson.Str(r.Name)))
}

func (c Card) json() ojson.Value {
	return ojson.Obj(m("min", ojson.Uint(c.Min)), m("max", opt(c.Max, ojson.Uint)))
}

func (a Annotation) json() ojson.Value {
	members := []ojson.Member{m("name", ojson.Str(a.Name)), m("value", ojson.OptStr(a.Value))}
	if len(a.Kwargs) > 0 {
		var kw []ojson.Member
		for _, pair := range a.Kwargs {
			kw = append(kw, m(pair[0], ojson.Str(pair[1])))
		}
		members = append(members, m("kwargs", ojson.Obj(kw...)))
	}
	return ojson.Obj(members...)
}

func (t PropType) json() ojson.Value {
	scalar := ojson.Str(t.Scalar.Name)
	if t.Scalar.Name == "Vector" {
		scalar = ojson.Obj(m("Vector", ojson.Uint(t.Scalar.Dim)))
	}
	enum := ojson.Value{}
	if t.Enum != nil {
		enum = ojson.Strs(t.Enum)
	}
	return ojson.Obj(m("scalar", scalar), m("nullable", ojson.Yes(t.Nullable)), m("list", ojson.Yes(t.List)), m("enum_values", enum))
}

func (r PropRef) members() []ojson.Member {
	return []ojson.Member{
		m("owner_type_id", ojson.Uint(r.OwnerID)), m("owner_type_name", ojson.Str(r.OwnerName)),
		m("property_id", ojson.Uint(r.ID)), m("property_name", ojson.Str(r.Name)),
	}
}

func (r PropRef) json() ojson.Value { return ojson.Obj(r.members()...) }

func (p Property) json() ojson.Value {
	return ojson.Obj(
		m("name", ojson.Str(p.Name)), m("property_id", ojson.Uint(p.ID)), m("prop_type", p.Type.json()),
		m("annotations", list(p.Annotations, Annotation.json)), m("property_constraints", ojson.Strs(p.Constraints)),
		m("embed_source", opt(p.Embed, func(e Embed) ojson.Value {
			return ojson.Obj(m("source", e.Source.json()), m("model", ojson.OptStr(e.Model)))
		})),
		m("declared_directly", ojson.Yes(p.Declared)), m("satisfies_interface_properties", list(p.Satisfies, PropRef.json)))
}

func (f FieldRef) json() ojson.Value {
	if f.Prop != nil {
		return ojson.Obj(append([]ojson.Member{m("kind", ojson.Str("property"))}, f.Prop.members()...)...)
	}
	return ojson.Obj(m("kind", ojson.Str("system")), m("stable_table_id", ojson.Uint(f.TableID)),
		m("table_type_name", ojson.Str(f.TableName)), m("table_incarnation_id", ojson.Uint(f.Incarnation)), m("role", ojson.Str(f.Role)))
}

func (b Bound) json() ojson.Value {
	if b.IsFloat {
		return ojson.Obj(m("Float", ojson.Float(b.Float)))
	}
	return ojson.Obj(m("Integer", ojson.Int(b.Int)))
}

func (c Constraint) json() ojson.Value {
	kind := m("kind", ojson.Str(c.Kind))
	switch c.Kind {
	case "range":
		return ojson.Obj(kind, m("field", c.Fields[0].json()), m("min", opt(c.Min, Bound.json)), m("max", opt(c.Max, Bound.json)))
	case "check":
		return ojson.Obj(kind, m("field", c.Fields[0].json()), m("pattern", ojson.Str(c.Pattern)))
	}
	return ojson.Obj(kind, m("fields", list(c.Fields, FieldRef.json)))
}

// Shape is the IR without identities, as a value whose compact text is hashed.
func (ir *IR) Shape() ojson.Value {
	return ojson.Obj(
		m("interfaces", list(ir.Interfaces, Type.shape)), m("nodes", list(ir.Nodes, Type.shape)), m("edges", list(ir.Edges, Type.shape)))
}

func (t Type) shape() ojson.Value {
	name, props := m("name", ojson.Str(t.Name)), m("properties", list(t.Properties, Property.shape))
	annotations, constraints := m("annotations", list(t.Annotations, Annotation.json)), m("constraints", list(t.Constraints, Constraint.shape))
	switch t.Kind {
	case KindNode:
		var implements []string
		for _, r := range t.Implements {
			implements = append(implements, r.Name)
		}
		slices.Sort(implements)
		return ojson.Obj(name, annotations, m("implements", ojson.Strs(slices.Compact(implements))), props, constraints)
	case KindEdge:
		return ojson.Obj(name, m("from_type", ojson.Str(t.From.Name)), m("to_type", ojson.Str(t.To.Name)), m("cardinality", t.Card.json()),
			annotations, props, constraints)
	}
	return ojson.Obj(name, props)
}

// ShapeHash is schema_shape_hash.
func (ir *IR) ShapeHash() string { return hash(ir.Shape()) }

func (p Property) shape() ojson.Value {
	satisfies := slices.Clone(p.Satisfies)
	slices.SortFunc(satisfies, func(a, b PropRef) int {
		if c := strings.Compare(a.OwnerName, b.OwnerName); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	satisfies = slices.CompactFunc(satisfies, func(a, b PropRef) bool { return a.OwnerName == b.OwnerName && a.Name == b.Name })
	return ojson.Obj(
		m("name", ojson.Str(p.Name)), m("prop_type", p.Type.json()), m("annotations", list(p.Annotations, Annotation.json)),
		m("property_constraints", ojson.Strs(p.Constraints)),
		m("embed_source", opt(p.Embed, func(e Embed) ojson.Value {
			return ojson.Obj(m("property_name", ojson.Str(e.Source.Name)), m("model", ojson.OptStr(e.Model)))
		})),
		m("declared_directly", ojson.Yes(p.Declared)),
		m("satisfies_interface_properties", list(satisfies, func(r PropRef) ojson.Value {
			return ojson.Obj(m("owner_name", ojson.Str(r.OwnerName)), m("property_name", ojson.Str(r.Name)))
		})))
}

// shape tags a constraint by its name: {"Key":[…]}, {"Range":{…}}.
func (c Constraint) shape() ojson.Value {
	switch c.Kind {
	case "range":
		return ojson.Obj(m("Range", ojson.Obj(m("property", ojson.Str(c.Fields[0].Name())), m("min", opt(c.Min, Bound.json)), m("max", opt(c.Max, Bound.json)))))
	case "check":
		return ojson.Obj(m("Check", ojson.Obj(m("property", ojson.Str(c.Fields[0].Name())), m("pattern", ojson.Str(c.Pattern)))))
	}
	tag := map[string]string{"key": "Key", "unique": "Unique", "index": "Index"}[c.Kind]
	return ojson.Obj(m(tag, ojson.Strs(c.names())))
}

// names of the columns.
func (c Constraint) names() []string {
	var names []string
	for _, f := range c.Fields {
		names = append(names, f.Name())
	}
	return names
}
