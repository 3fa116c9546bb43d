package value

import (
	"math"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/schema"
)

// Rules are what single values of a type must keep: enum values, @range and
// @check. Null keeps every rule; a list keeps ranges and patterns.
type Rules struct {
	owner    string
	ranges   map[string][]schema.Constraint
	patterns map[string][]*pattern
	enums    map[string][]string
}

// NewRules reads the rules of a type. The error is a *Refusal: a pattern that
// is wrong or that Go cannot evaluate stops every write of its type, as in the
// Rust engine.
func NewRules(t *schema.Type) (*Rules, error) {
	r := &Rules{t.Name, map[string][]schema.Constraint{}, map[string][]*pattern{}, map[string][]string{}}
	for i := range t.Properties {
		if p := &t.Properties[i]; p.Type.Enum != nil {
			r.enums[p.Name] = p.Type.Enum
		}
	}
	for _, c := range t.Ranges() {
		name := c.Fields[0].Name()
		r.ranges[name] = append(r.ranges[name], c)
	}
	for _, c := range t.Checks() {
		name := c.Fields[0].Name()
		p, err := compilePattern(c.Pattern)
		if err != nil {
			return nil, refuse(name, RulePattern, "@check on %s.%s has invalid regex '%s': %v", t.Name, name, c.Pattern, err)
		}
		r.patterns[name] = append(r.patterns[name], p)
	}
	return r, nil
}

// Check says whether a value keeps the rules of its property. The error is a
// *Refusal.
func (r *Rules) Check(property string, v Value) error {
	if v.kind == Null {
		return nil
	}
	if x, ok := v.Number(); ok {
		for _, c := range r.ranges[property] {
			if err := r.inRange(property, c, x); err != nil {
				return err
			}
		}
	}
	if v.kind != Text {
		return nil
	}
	for _, p := range r.patterns[property] {
		if err := p.check(r.owner, property, v.text); err != nil {
			return err
		}
	}
	if allowed, ok := r.enums[property]; ok && !slices.Contains(allowed, v.text) {
		return refuse(property, RuleEnum, "invalid enum value '%s' for %s.%s (expected: %s)", shorten(v.text), r.owner, property, strings.Join(allowed, ", "))
	}
	return nil
}

func (r *Rules) inRange(property string, c schema.Constraint, x float64) error {
	switch {
	case math.IsNaN(x):
		return refuse(property, RuleRange, "@range violation on %s.%s: value is NaN", r.owner, property)
	case c.Min != nil && x < c.Min.Number():
		return refuse(property, RuleRange, "@range violation on %s.%s: value %s < min %s", r.owner, property, decimals(x), decimals(c.Min.Number()))
	case c.Max != nil && x > c.Max.Number():
		return refuse(property, RuleRange, "@range violation on %s.%s: value %s > max %s", r.owner, property, decimals(x), decimals(c.Max.Number()))
	}
	return nil
}
