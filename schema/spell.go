package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// Spell is the type as .pg spells it, without '?': String, [I32], Vector(8),
// enum(a, b).
func (p PropType) Spell() string {
	s := p.Scalar.Name
	switch {
	case p.Enum != nil:
		s = "enum(" + strings.Join(p.Enum, ", ") + ")"
	case s == "Vector":
		s = fmt.Sprintf("Vector(%d)", p.Scalar.Dim)
	}
	if p.List {
		return "[" + s + "]"
	}
	return s
}

// Spell is the constraint as .pg spells it: @unique(a, b), @range(n, 0..5).
func (c Constraint) Spell() string {
	args := strings.Join(c.names(), ", ")
	switch c.Kind {
	case "range":
		args += ", " + spellBound(c.Min) + ".." + spellBound(c.Max)
	case "check":
		args += ", " + spellText(c.Pattern)
	}
	return "@" + c.Kind + "(" + args + ")"
}

func spellBound(b *Bound) string {
	switch {
	case b == nil:
		return ""
	case !b.IsFloat:
		return strconv.FormatInt(b.Int, 10)
	}
	s := strconv.FormatFloat(b.Float, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// spellText is a string literal of .pg.
func spellText(s string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + `"`
}

// Spell is @card(min..max), "" when unbounded from 0, which .pg leaves out.
func (c Card) Spell() string {
	switch {
	case c.Max != nil:
		return fmt.Sprintf("@card(%d..%d)", c.Min, *c.Max)
	case c.Min > 0:
		return fmt.Sprintf("@card(%d..)", c.Min)
	}
	return ""
}

// Spell is the annotation as .pg spells it: @description("…").
func (a Annotation) Spell() string {
	if a.Value == nil {
		return "@" + a.Name
	}
	args := spellText(*a.Value)
	for _, pair := range a.Kwargs {
		args += ", " + pair[0] + "=" + spellText(pair[1])
	}
	return "@" + a.Name + "(" + args + ")"
}

// SpellConstraints are all constraints of a type as .pg spells them, the
// cardinality of an edge type first.
func (t *Type) SpellConstraints() []string {
	out := []string{}
	if s := t.Card.Spell(); t.Kind == KindEdge && s != "" {
		out = append(out, s)
	}
	for _, c := range t.Constraints {
		out = append(out, c.Spell())
	}
	return out
}
