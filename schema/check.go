package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Check says what is wrong with an IR in itself: one sentence for each rule
// broken, none when it is sound. The Rust engine refuses a graph for any.
func (ir *IR) Check() []string {
	c := checker{ids: map[uint64]string{}, types: map[uint64]*Type{}, props: map[uint64]owned{}}
	if ir.Version != IRVersion {
		c.say("ir_version is %d, expected %d", ir.Version, IRVersion)
	}
	if !canonicalULID(ir.Domain) {
		c.say("schema_identity_domain is %q, expected a canonical ULID", ir.Domain)
	}
	for _, types := range ir.kinds() {
		for i := range types {
			c.collect(&types[i])
		}
	}
	if ir.NextID <= c.max {
		c.say("next_identity_id is %d, expected more than the greatest identity %d", ir.NextID, c.max)
	}
	for k, types := range ir.kinds() {
		c.sorted(fmt.Sprintf("%ss", Kind(k)), names(types, func(t Type) string { return t.Name }))
		for i := range types {
			c.typ(&types[i])
		}
	}
	return c.found
}

type owned struct {
	owner *Type
	prop  *Property
}

type checker struct {
	found []string
	ids   map[uint64]string
	max   uint64
	types map[uint64]*Type
	props map[uint64]owned
}

func (c *checker) say(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

func canonicalULID(s string) bool {
	if len(s) != 26 || s[0] > '7' {
		return false
	}
	return strings.Trim(s, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == ""
}

func names[T any](items []T, name func(T) string) []string {
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = name(it)
	}
	return out
}

// sorted demands ascending texts, none twice.
func (c *checker) sorted(what string, keys []string) {
	for i := 1; i < len(keys); i++ {
		if keys[i-1] >= keys[i] {
			c.say("%s are not sorted and unique: %q stands before %q", what, keys[i-1], keys[i])
			return
		}
	}
}

func (c *checker) identity(n uint64, what string) {
	if other, twice := c.ids[n]; twice {
		c.say("identity %d is that of %s and of %s", n, other, what)
	}
	c.ids[n] = what
	c.max = max(c.max, n)
}

func (c *checker) collect(t *Type) {
	name := t.Kind.String() + " " + t.Name
	c.identity(t.ID, name)
	c.types[t.ID] = t
	if t.Kind != KindInterface {
		c.identity(t.Incarnation, "the table of "+name)
	}
	for i := range t.Properties {
		p := &t.Properties[i]
		c.identity(p.ID, t.Name+"."+p.Name)
		c.props[p.ID] = owned{t, p}
	}
}

// reserved are names of columns that Lance makes up.
var reserved = []string{"_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version", "_row_last_updated_at_version"}

func (c *checker) typ(t *Type) {
	c.annotations(t.Name, t.Annotations)
	c.sorted("properties of "+t.Name, names(t.Properties, func(p Property) string { return p.Name }))
	for i := range t.Properties {
		c.property(t, &t.Properties[i])
	}
	c.sorted("constraints of "+t.Name, names(t.Constraints, Constraint.sortKey))
	for _, k := range t.Constraints {
		c.constraint(t, k)
	}
	switch t.Kind {
	case KindNode:
		c.implements(t)
	case KindEdge:
		c.typeRef(t.Name, t.From, KindNode)
		c.typeRef(t.Name, t.To, KindNode)
	}
}

// typedAnnotations have members of their own in the IR.
var typedAnnotations = []string{"rename_from", "embed", "key", "unique", "index"}

func (c *checker) annotations(what string, as []Annotation) {
	for _, a := range as {
		if slices.Contains(typedAnnotations, a.Name) {
			c.say("annotation @%s stands among the free annotations of %s", a.Name, what)
		}
	}
	c.sorted("annotations of "+what, names(as, func(a Annotation) string { return string(a.json().Append(nil)) }))
}

func (c *checker) property(t *Type, p *Property) {
	name := t.Name + "." + p.Name
	if slices.Contains(reserved, p.Name) {
		c.say("property %s has a name that is reserved for a storage column", name)
	}
	c.annotations(name, p.Annotations)
	c.sorted("enum values of "+name, p.Type.Enum)
	for i := 1; i < len(p.Constraints); i++ {
		if slices.Index(propertyConstraints, p.Constraints[i-1]) >= slices.Index(propertyConstraints, p.Constraints[i]) {
			c.say("property_constraints of %s are not sorted and unique", name)
		}
	}
	switch {
	case t.Kind != KindNode && (!p.Declared || len(p.Satisfies) > 0):
		c.say("%s property %s is marked as coming from an interface", t.Kind, name)
	case t.Kind == KindEdge && p.Embed != nil:
		c.say("edge property %s has an embed source", name)
	case t.Kind == KindNode && !p.Declared && len(p.Satisfies) == 0:
		c.say("property %s is injected but names no interface property", name)
	}
	if p.Embed != nil {
		c.propRef(name, p.Embed.Source, t)
	}
	for i, ref := range p.Satisfies {
		if i > 0 && p.Satisfies[i-1].compare(ref) >= 0 {
			c.say("satisfies_interface_properties of %s are not sorted and unique", name)
		}
		if c.propRef(name, ref, nil) {
			c.satisfies(t, p, ref)
		}
	}
}

func (r PropRef) compare(o PropRef) int {
	return cmp.Or(cmp.Compare(r.OwnerID, o.OwnerID), strings.Compare(r.OwnerName, o.OwnerName), cmp.Compare(r.ID, o.ID), strings.Compare(r.Name, o.Name))
}

func (c *checker) satisfies(t *Type, p *Property, ref PropRef) {
	target := c.props[ref.ID]
	implemented := slices.ContainsFunc(t.Implements, func(r TypeRef) bool { return r.ID == ref.OwnerID })
	switch {
	case target.owner.Kind != KindInterface:
		c.say("property %s.%s satisfies %s.%s, which is of no interface", t.Name, p.Name, ref.OwnerName, ref.Name)
	case t.Kind == KindNode && !implemented:
		c.say("property %s.%s satisfies an interface that %s does not implement: %s", t.Name, p.Name, t.Name, ref.OwnerName)
	case t.Kind == KindNode && !target.prop.Type.equal(p.Type):
		c.say("property %s.%s is of another type than %s.%s, which it satisfies", t.Name, p.Name, ref.OwnerName, ref.Name)
	}
}

func (p PropType) equal(o PropType) bool {
	return p.Scalar == o.Scalar && p.Nullable == o.Nullable && p.List == o.List && (p.Enum == nil) == (o.Enum == nil) && slices.Equal(p.Enum, o.Enum)
}

// propRef demands that id, name and owner agree; owner nil = any.
func (c *checker) propRef(what string, ref PropRef, owner *Type) bool {
	target, ok := c.props[ref.ID]
	if !ok || target.owner.ID != ref.OwnerID || target.owner.Name != ref.OwnerName || target.prop.Name != ref.Name || owner != nil && owner.ID != ref.OwnerID {
		c.say("%s refers to property %d as %s.%s of type %d, which is not what that identity stands for", what, ref.ID, ref.OwnerName, ref.Name, ref.OwnerID)
		return false
	}
	return true
}

func (c *checker) typeRef(what string, ref TypeRef, kind Kind) bool {
	target, ok := c.types[ref.ID]
	if !ok || target.Kind != kind || target.Name != ref.Name {
		c.say("%s refers to %s %s by identity %d, which does not stand for it", what, kind, ref.Name, ref.ID)
		return false
	}
	return true
}

// implements demands sound references and that each property of each interface
// is fulfilled.
func (c *checker) implements(t *Type) {
	type contract struct{ owner, property uint64 }
	fulfilled := map[contract]bool{}
	for _, p := range t.Properties {
		for _, r := range p.Satisfies {
			fulfilled[contract{r.OwnerID, r.ID}] = true
		}
	}
	for i, ref := range t.Implements {
		if i > 0 {
			if prev := t.Implements[i-1]; cmp.Or(cmp.Compare(prev.ID, ref.ID), strings.Compare(prev.Name, ref.Name)) >= 0 {
				c.say("the interfaces of %s are not sorted and unique", t.Name)
			}
		}
		if !c.typeRef(t.Name, ref, KindInterface) {
			continue
		}
		for _, want := range c.types[ref.ID].Properties {
			if !fulfilled[contract{ref.ID, want.ID}] {
				c.say("node %s implements %s but no property of it satisfies %s.%s", t.Name, ref.Name, ref.Name, want.Name)
			}
		}
	}
}

func (c *checker) constraint(t *Type, k Constraint) {
	for _, f := range k.Fields {
		if f.Prop != nil {
			c.propRef(fmt.Sprintf("a constraint of %s", t.Name), *f.Prop, t)
			continue
		}
		if f.TableID != t.ID || f.Incarnation != t.Incarnation || f.TableName != t.Name || t.Kind == KindNode && f.Role != "id" {
			c.say("a constraint of %s refers to a system column of another table: %s of %s", t.Name, f.Role, f.TableName)
		}
	}
}

// sortKey is the text by which constraints of a type are ordered.
func (c Constraint) sortKey() string {
	switch c.Kind {
	case "range":
		return fmt.Sprintf("range:%s:%s:%s", c.Fields[0].Name(), debugBound(c.Min), debugBound(c.Max))
	case "check":
		return fmt.Sprintf("check:%s:%s", c.Fields[0].Name(), c.Pattern)
	}
	return c.Kind + ":" + strings.Join(c.names(), ",")
}

// debugBound is the bound as Rust's Debug prints it.
func debugBound(b *Bound) string {
	switch {
	case b == nil:
		return "None"
	case !b.IsFloat:
		return fmt.Sprintf("Some(Integer(%d))", b.Int)
	}
	return "Some(Float(" + debugFloat(b.Float) + "))"
}

// debugFloat prints plainly from 1e-4 to below 1e16, else with a short
// exponent: 0.5 2.0 1e-5 1.5e16.
func debugFloat(x float64) string {
	if a := max(x, -x); a == 0 || a >= 1e-4 && a < 1e16 {
		s := strconv.FormatFloat(x, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	mantissa, exp, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	n, _ := strconv.Atoi(exp)
	return fmt.Sprintf("%se%d", mantissa, n)
}
