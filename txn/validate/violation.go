package validate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
)

// Rule is what is broken.
type Rule string

// The rules (package comment). Those of single values are value's.
const (
	RuleRequired  = Rule(value.RuleRequired)
	RuleType      = Rule(value.RuleType)
	RuleEnum      = Rule(value.RuleEnum)
	RuleRange     = Rule(value.RuleRange)
	RuleCheck     = Rule(value.RuleCheck)
	RulePattern   = Rule(value.RulePattern)
	RuleKey       = Rule(value.RuleKey)
	RuleUnique    = Rule("unique")
	RuleEndpoint  = Rule("endpoint")
	RuleCardMax   = Rule("cardMax")
	RuleCardMin   = Rule("cardMin")
	RuleExists    = Rule("exists")
	RuleDuplicate = Rule("duplicate") // of whole tables: an id stands twice
)

// Violation is one rule broken by one row, or by several together.
type Violation struct {
	Rule    Rule
	Type    *schema.Type
	IDs     []string // of entities of Type: the holders of one value in order of their being said; none of a cardinality
	Columns []string // those that the rule is about
	Value   string   // what was found: a value, a tuple as (a, b), the id of an end or of a source, a number of edges
	Bound   string   // what was expected: a bound, a pattern, the allowed values, the type that has no such node
	Text    string   // the sentence
}

func (v *Violation) Error() string { return v.Text }

// tuple is one item plainly, several as (a, b).
func tuple(items []string) string {
	if len(items) == 1 {
		return items[0]
	}
	return "(" + strings.Join(items, ", ") + ")"
}

func uniqueViolation(t *schema.Type, columns, texts []string, prior, id string) *Violation {
	v := &Violation{Rule: RuleUnique, Type: t, IDs: []string{prior, id}, Columns: columns, Value: tuple(texts)}
	v.Text = fmt.Sprintf("@unique violation on %s.%s: value '%s' held by '%s' and '%s'", t.Name, tuple(columns), v.Value, prior, id)
	return v
}

func endViolation(edge *schema.Type, id, column, end, node string) *Violation {
	return &Violation{
		Rule: RuleEndpoint, Type: edge, IDs: []string{id}, Columns: []string{column}, Value: end, Bound: node,
		Text: fmt.Sprintf("%s '%s' not found in %s (edge %s '%s')", column, end, node, edge.Name, id),
	}
}

func cardViolation(edge *schema.Type, src string, n uint64, rule Rule, limit uint64) *Violation {
	word := "max"
	if rule == RuleCardMin {
		word = "min"
	}
	return &Violation{
		Rule: rule, Type: edge, Columns: []string{"src"}, Value: src, Bound: fmt.Sprint(limit),
		Text: fmt.Sprintf("@card violation on edge %s: source '%s' has %d edges (%s %d)", edge.Name, src, n, word, limit),
	}
}

func existsViolation(t *schema.Type, id string) *Violation {
	return &Violation{
		Rule: RuleExists, Type: t, IDs: []string{id}, Columns: []string{"id"}, Value: id,
		Text: fmt.Sprintf("%s type '%s' already has this id ('%s')", t.Kind, t.Name, id),
	}
}

// valueViolation tells of which entity a value is refused.
func valueViolation(t *schema.Type, id, column string, v value.Value, err error) *Violation {
	out := &Violation{Rule: RuleType, Type: t, IDs: []string{id}, Columns: []string{column}, Value: spell(v)}
	var refusal *value.Refusal
	if errors.As(err, &refusal) {
		out.Rule = Rule(refusal.Rule)
	}
	out.Bound = boundOf(t, column, out.Rule)
	out.Text = fmt.Sprintf("%v (%s %s '%s')", err, t.Kind, t.Name, id)
	return out
}

// boundOf is what the schema says about a column where a rule is broken.
func boundOf(t *schema.Type, column string, rule Rule) string {
	p, ok := t.Property(column)
	if !ok {
		return ""
	}
	switch rule {
	case RuleEnum:
		return strings.Join(p.Type.Enum, ", ")
	case RuleRequired, RuleType:
		return p.Type.Spell()
	case RuleRange:
		return spellOf(t.Ranges(), column)
	}
	return spellOf(t.Checks(), column)
}

func spellOf(cs []schema.Constraint, column string) string {
	var out []string
	for _, c := range cs {
		if c.Fields[0].Name() == column {
			out = append(out, c.Spell())
		}
	}
	return strings.Join(out, " ")
}

// spell is a value as a message shows it.
func spell(v value.Value) string {
	const most = 200
	s := v.Text()
	if v.Kind() != value.Text {
		s = string(v.JSON().Append(nil))
	}
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
