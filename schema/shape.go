package schema

import (
	"cmp"
	"slices"
	"strings"
)

// shape brings a checked text into canonical form: an IR whose identities are
// all 0 and whose references hold names alone.
func (f *file) shape() (*IR, *SourceError) {
	interfaces := map[string]map[string]*prop{}
	for _, d := range f.decls {
		if d.kind == KindInterface {
			interfaces[d.name] = d.byName()
		}
	}
	ir := &IR{}
	for _, d := range f.decls {
		t := Type{Kind: d.kind, Name: d.name, Properties: []Property{}}
		for _, p := range d.props {
			source := p
			if p.injected {
				var err *SourceError
				if source, err = f.injectedFrom(d, p, interfaces); err != nil {
					return nil, err
				}
			}
			t.Properties = append(t.Properties, source.canonical(d, p))
		}
		slices.SortStableFunc(t.Properties, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
		switch d.kind {
		case KindInterface:
			if twice(t.Properties) != "" {
				return nil, f.fail(StageCatalog, d.at, "duplicate property in schema shape for '%s'", d.name)
			}
			ir.Interfaces = append(ir.Interfaces, t)
		case KindNode:
			f.finish(d, &t)
			ir.Nodes = append(ir.Nodes, t)
		case KindEdge:
			if twice(t.Properties) != "" {
				return nil, f.fail(StageCatalog, d.at, "duplicate property in schema shape for '%s'", d.name)
			}
			f.finish(d, &t)
			ir.Edges = append(ir.Edges, t)
		}
	}
	for _, types := range ir.kinds() {
		slices.SortStableFunc(types, func(a, b Type) int { return strings.Compare(a.Name, b.Name) })
	}
	return ir, nil
}

// twice is the first name that stands twice among sorted properties, or "".
func twice(ps []Property) string {
	for i := 1; i < len(ps); i++ {
		if ps[i].Name == ps[i-1].Name {
			return ps[i].Name
		}
	}
	return ""
}

// injectedFrom is the interface property that an injected one takes its meaning
// from: that of the first interface by name. All of them must agree.
func (f *file) injectedFrom(d *decl, p *prop, interfaces map[string]map[string]*prop) (*prop, *SourceError) {
	refs := slices.Clone(p.satisfies)
	slices.SortFunc(refs, byOwnerName)
	var first *prop
	var meaning string
	for _, ref := range refs {
		q := interfaces[ref.OwnerName][ref.Name]
		text := string(q.canonical(d, q).shape().Append(nil))
		if first == nil {
			first, meaning = q, text
		} else if text != meaning {
			return nil, f.fail(StageCatalog, d.at, "interfaces contributing '%s.%s' have incompatible property semantics", d.name, p.name)
		}
	}
	return first, nil
}

func byOwnerName(a, b PropRef) int {
	return cmp.Or(strings.Compare(a.OwnerName, b.OwnerName), strings.Compare(a.Name, b.Name))
}

// canonical is the property as p is written, at the place that at has in d.
func (p *prop) canonical(d *decl, at *prop) Property {
	out := Property{
		Name: p.name, Type: p.typ, Annotations: canonicalAnnotations(p.annotations), Constraints: []string{},
		Declared: !at.injected, Satisfies: slices.Clone(at.satisfies),
	}
	for _, c := range propertyConstraints {
		if p.bare(c) {
			out.Constraints = append(out.Constraints, c)
		}
	}
	if i := slices.IndexFunc(p.annotations, func(a annotation) bool { return a.Name == "embed" }); i >= 0 && p.annotations[i].Value != nil {
		a := p.annotations[i]
		out.Embed = &Embed{Source: PropRef{OwnerName: d.name, Name: *a.Value}}
		for _, kw := range a.Kwargs {
			if kw[0] == "model" {
				out.Embed.Model = &kw[1]
			}
		}
	}
	slices.SortFunc(out.Satisfies, byOwnerName)
	out.Satisfies = slices.Compact(out.Satisfies)
	return out
}

// canonicalAnnotations are the free ones, by their JSON, each once.
func canonicalAnnotations(as []annotation) []Annotation {
	type keyed struct {
		a    Annotation
		text string
	}
	var all []keyed
	for _, a := range as {
		if !slices.Contains(typedAnnotations, a.Name) {
			all = append(all, keyed{a.Annotation, string(a.json().Append(nil))})
		}
	}
	slices.SortFunc(all, func(a, b keyed) int { return strings.Compare(a.text, b.text) })
	all = slices.CompactFunc(all, func(a, b keyed) bool { return a.text == b.text })
	out := make([]Annotation, len(all))
	for i, k := range all {
		out[i] = k.a
	}
	return out
}

// finish fills what a node or an edge has beyond its properties.
func (f *file) finish(d *decl, t *Type) {
	t.Annotations = canonicalAnnotations(d.annotations)
	for _, n := range d.implements {
		t.Implements = append(t.Implements, TypeRef{Name: n.text})
	}
	slices.SortFunc(t.Implements, func(a, b TypeRef) int { return strings.Compare(a.Name, b.Name) })
	t.Implements = slices.Compact(t.Implements)
	if d.kind == KindEdge {
		t.From, t.To, t.Card = TypeRef{Name: d.from.text}, TypeRef{Name: d.to.text}, d.card
	}
	for _, r := range d.rules {
		t.Constraints = append(t.Constraints, r.canonical(d))
	}
	slices.SortStableFunc(t.Constraints, func(a, b Constraint) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	t.Constraints = slices.CompactFunc(t.Constraints, Constraint.same)
}

func (r rule) canonical(d *decl) Constraint {
	c := Constraint{Kind: r.kind, Min: r.min, Max: r.max, Pattern: r.pattern}
	columns := slices.Clone(r.columns)
	slices.Sort(columns)
	for _, n := range slices.Compact(columns) {
		if d.kind == KindEdge && (n == "src" || n == "dst") {
			c.Fields = append(c.Fields, FieldRef{Role: n, TableName: d.name})
			continue
		}
		c.Fields = append(c.Fields, FieldRef{Prop: &PropRef{OwnerName: d.name, Name: n}})
	}
	return c
}

// same reports constraints that say the same: 0.0 and -0.0 are one bound.
func (c Constraint) same(o Constraint) bool {
	return c.Kind == o.Kind && c.Pattern == o.Pattern && slices.Equal(c.names(), o.names()) && c.Min.same(o.Min) && c.Max.same(o.Max)
}

func (b *Bound) same(o *Bound) bool {
	if b == nil || o == nil {
		return b == o
	}
	return *b == *o
}
