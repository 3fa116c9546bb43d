package schema

import (
	"strconv"
	"strings"
)

// argument is one argument of a body constraint.
type argument struct {
	name     string // an identifier, else ""
	text     *string
	min, max *Bound
	bounds   bool // lo..hi
}

// rule reads a constraint of a body; its @ at offset at was read.
func (p *parser) rule(d *decl, at int) bool {
	r := rule{at: at}
	var ok bool
	if r.kind, ok = p.TakeAny(constraintNames...); !ok || !p.Take("(") {
		return false
	}
	var args []argument
	for {
		a, ok := p.argument()
		if !ok || !p.piece() {
			return false
		}
		args = append(args, a)
		if !p.Take(",") {
			break
		}
	}
	if !p.Take(")") {
		return false
	}
	p.bind(&r, args)
	d.rules = append(d.rules, r)
	return true
}

// bind gives the arguments their meaning. What follows the second one of @range
// and @check counts for nothing, as in the Rust engine.
func (p *parser) bind(r *rule, args []argument) {
	named := args
	switch r.kind {
	case "range":
		if len(args) < 2 {
			p.Refuse(r.at, "@range requires property name and bounds: @range(prop, min..max)")
			return
		}
		named = args[:1]
	case "check":
		if len(args) < 2 {
			p.Refuse(r.at, `@check requires property name and pattern: @check(prop, "regex")`)
			return
		}
		named = args[:1]
	}
	for _, a := range named {
		if a.name == "" {
			p.Refuse(r.at, "expected property name in constraint")
		}
		r.columns = append(r.columns, a.name)
	}
	switch {
	case r.kind == "range" && !args[1].bounds:
		p.Refuse(r.at, "expected range bounds (min..max) in @range constraint")
	case r.kind == "range":
		r.min, r.max = args[1].min, args[1].max
	case r.kind == "check" && args[1].text == nil:
		p.Refuse(r.at, "expected string argument in constraint")
	case r.kind == "check":
		r.pattern = *args[1].text
	}
}

func (p *parser) argument() (argument, bool) {
	mark := p.Mark()
	if a, ok := p.bounds(); ok {
		return a, true
	}
	p.Reset(mark)
	if text, ok := p.Quoted(); ok {
		return argument{text: &text}, true
	}
	for _, read := range []func() (string, bool){p.Float, p.Integer} {
		if _, ok := read(); ok {
			return argument{}, true
		}
	}
	if _, ok := p.TakeAny("true", "false"); ok {
		return argument{}, true
	}
	name, ok := p.Ident()
	return argument{name: name}, ok
}

// bounds reads lo..hi, lo.. or ..hi. The last one gives a lower bound (defect
// D1): graphs were written so, and both programs must refuse the same values.
func (p *parser) bounds() (a argument, ok bool) {
	a.bounds = true
	if a.min, ok = p.bound(); !ok {
		if !p.Take("..") {
			return a, false
		}
		a.min, ok = p.bound()
		return a, ok
	}
	if !p.Take("..") {
		return a, false
	}
	a.max, _ = p.bound()
	return a, true
}

// bound reads a number with its sign. An integer beyond 64 bits is a float, as
// in the Rust engine.
func (p *parser) bound() (*Bound, bool) {
	mark := p.Mark()
	at := p.Next()
	sign := ""
	if p.Take("-") {
		sign = "-"
		if p.Mark() != p.Next() {
			p.Reset(mark)
			return nil, false
		}
	}
	text, ok := p.Float()
	if !ok {
		text, ok = p.Integer()
	}
	if !ok {
		p.Reset(mark)
		return nil, false
	}
	if n, err := strconv.ParseInt(sign+text, 10, 64); err == nil {
		return &Bound{Int: n}, true
	}
	x, err := strconv.ParseFloat(sign+text, 64)
	if err != nil {
		p.Refuse(at, "invalid constraint bound: %s is beyond a double", shorten(sign+text))
	}
	return &Bound{IsFloat: true, Float: x}, true
}

// shorten cuts a text for a message.
func shorten(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
