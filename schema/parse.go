package schema

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/omnideck/omnideck/internal/lex"
)

// parser reads a text by the grammar of the package comment. A rule that does
// not match returns false and the parse fails, but for the two places that go
// back: @card after an edge's target, and a body's end.
type parser struct {
	*lex.Cursor
	file   *file
	pieces int
}

// maxPieces bounds the declarations, properties, annotations, constraints and
// enum values of a text, each of which costs some hundred bytes.
const maxPieces = 1 << 17

// piece counts one more, and says whether it may be kept.
func (p *parser) piece() bool {
	p.pieces++
	return p.pieces <= maxPieces
}

// parse reads the grammar of a whole text, and what a value alone can break:
// escapes, numbers, enum values, reserved names.
func parse(src string) (*file, error) {
	p := &parser{Cursor: lex.New(src), file: &file{src: src}}
	ok := true
	for ok && !p.End() {
		ok = p.declaration()
	}
	if p.pieces > maxPieces {
		return nil, p.file.fail(StageParse, p.Mark(), "the schema has more than %d declarations, properties, annotations and constraints", maxPieces)
	}
	if err := p.Err(ok); err != nil {
		var e *lex.Error
		errors.As(err, &e)
		return nil, &SourceError{StageParse, e.Pos, e.Problem}
	}
	return p.file, nil
}

func (p *parser) declaration() bool {
	word, ok := p.TakeAny("interface", "node", "edge")
	if !ok {
		return false
	}
	d := &decl{at: p.Next()}
	d.name, ok = p.TypeName()
	if !ok || !p.piece() {
		return false
	}
	p.file.decls = append(p.file.decls, d)
	switch word {
	case "interface":
		d.kind = KindInterface
		return p.Take("{") && p.body(d)
	case "node":
		d.kind = KindNode
		return p.annotations(&d.annotations) && p.implements(d) && p.Take("{") && p.body(d)
	}
	d.kind = KindEdge
	if !p.Take(":") || !p.typeName(&d.from) || !p.Take("->") || !p.typeName(&d.to) {
		return false
	}
	p.card(d)
	if !p.annotations(&d.annotations) {
		return false
	}
	if p.Take("{") {
		return p.body(d)
	}
	return true
}

func (p *parser) typeName(n *name) (ok bool) {
	n.at = p.Next()
	n.text, ok = p.TypeName()
	return ok
}

func (p *parser) implements(d *decl) bool {
	if !p.Take("implements") {
		return true
	}
	for {
		var n name
		if !p.typeName(&n) || !p.piece() {
			return false
		}
		d.implements = append(d.implements, n)
		if !p.Take(",") {
			return true
		}
	}
}

// card reads @card(lo..hi) if all of it stands there. Otherwise it is left to
// be read as an annotation of that name.
func (p *parser) card(d *decl) {
	mark := p.Mark()
	at := p.Next()
	if !p.Take("@card") || !p.Take("(") {
		p.Reset(mark)
		return
	}
	lo, ok := p.Integer()
	if !ok || !p.Take("..") {
		p.Reset(mark)
		return
	}
	hi, bounded := p.Integer()
	if !p.Take(")") {
		p.Reset(mark)
		return
	}
	var err error
	if d.card.Min, err = strconv.ParseUint(lo, 10, 32); err != nil {
		p.Refuse(at, "invalid cardinality min: %s", shorten(lo))
	}
	if !bounded {
		return
	}
	n, err := strconv.ParseUint(hi, 10, 32)
	if err != nil {
		p.Refuse(at, "invalid cardinality max: %s", shorten(hi))
	}
	d.card.Max = &n
	if d.card.Min > n {
		p.Refuse(at, "cardinality min (%d) exceeds max (%d)", d.card.Min, n)
	}
}

// body reads what stands between the braces, the opening one was read.
func (p *parser) body(d *decl) bool {
	for !p.Take("}") {
		if at := p.Next(); d.kind != KindInterface && p.Take("@") {
			if !p.rule(d, at) {
				return false
			}
			continue
		}
		if !p.property(d) {
			return false
		}
	}
	d.addOwnRules(d.props)
	return true
}

// addOwnRules turns @key, @unique and @index of properties into constraints.
func (d *decl) addOwnRules(props []*prop) {
	for _, q := range props {
		for _, a := range q.annotations {
			if a.Value == nil && slices.Contains(propertyConstraints, a.Name) {
				d.rules = append(d.rules, rule{kind: a.Name, columns: []string{q.name}, at: a.at})
			}
		}
	}
}

func (p *parser) property(d *decl) bool {
	q := &prop{at: p.Next()}
	var ok bool
	if q.name, ok = p.Ident(); !ok || !p.Take(":") || !p.piece() {
		return false
	}
	if slices.Contains(reserved, q.name) {
		p.Refuse(q.at, "property name '%s' is reserved for a column that the storage makes up itself; choose another name", q.name)
	}
	d.props = append(d.props, q)
	return p.propType(&q.typ) && p.annotations(&q.annotations)
}

// BaseTypes are the types but Vector and enum, in the order of the grammar,
// which matches the first that stands there: DateTime before Date.
var BaseTypes = []string{"String", "Blob", "Bool", "I32", "I64", "U32", "U64", "F32", "F64", "DateTime", "Date"}

func (p *parser) propType(t *PropType) bool {
	at := p.Next()
	word, ok := p.TakeAny(append([]string{"[", "enum", "Vector"}, BaseTypes...)...)
	switch {
	case !ok:
		return false
	case word == "[":
		t.List = true
		if t.Scalar.Name, ok = p.TakeAny(BaseTypes...); !ok || !p.Take("]") {
			return false
		}
		if t.Scalar.Name == "Blob" {
			p.Refuse(at, "list of Blob is not supported")
		}
	case word == "enum":
		t.Scalar.Name = "String"
		if !p.enum(t, at) {
			return false
		}
	case word == "Vector":
		t.Scalar.Name = "Vector"
		if !p.vector(t) {
			return false
		}
	default:
		t.Scalar.Name = word
	}
	t.Nullable = p.Take("?")
	return true
}

func (p *parser) vector(t *PropType) bool {
	if !p.Take("(") {
		return false
	}
	at := p.Next()
	digits, ok := p.Integer()
	if !ok || !p.Take(")") {
		return false
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	switch {
	case err != nil:
		p.Refuse(at, "invalid Vector dimension: %s is more than %d", shorten(digits), maxDim)
	case n == 0:
		p.Refuse(at, "Vector dimension must be greater than zero")
	case n > maxDim:
		p.Refuse(at, "Vector dimension %d exceeds maximum supported %d", n, maxDim)
	}
	t.Scalar.Dim = n
	return true
}

// maxDim is the longest vector that Arrow can hold.
const maxDim = 1<<31 - 1

func (p *parser) enum(t *PropType, at int) bool {
	if !p.Take("(") {
		return false
	}
	sign := func(b byte) bool { return lex.Alnum(b) || b == '-' }
	for {
		v, ok := p.Run("enum value", sign, sign)
		if !ok || !p.piece() {
			return false
		}
		t.Enum = append(t.Enum, v)
		if !p.Take(",") {
			break
		}
	}
	slices.Sort(t.Enum)
	if n := len(t.Enum); len(slices.Compact(slices.Clone(t.Enum))) < n {
		p.Refuse(at, "enum type cannot include duplicate values")
	}
	return p.Take(")")
}

// constraintNames are the words that with a parenthesis start a body constraint
// and never an annotation.
var constraintNames = []string{"key", "unique", "index", "range", "check"}

func (p *parser) seesRule() bool {
	return slices.ContainsFunc(constraintNames, func(n string) bool { return p.Sees("@", n, "(") })
}

// annotations reads all that follow.
func (p *parser) annotations(out *[]annotation) bool {
	for p.Sees("@") && !p.seesRule() {
		a := annotation{at: p.Next()}
		var ok bool
		if p.Take("@"); true {
			a.Name, ok = p.Ident()
		}
		if !ok || !p.piece() || p.Take("(") && !(p.arguments(&a) && p.Take(")")) {
			return false
		}
		*out = append(*out, a)
	}
	return true
}

func (p *parser) arguments(a *annotation) bool {
	v, ok := p.literal()
	if !ok {
		v, ok = p.Ident()
	}
	if !ok {
		return false
	}
	a.Value = &v
	kwargs := map[string]string{}
	for p.Take(",") {
		k, ok := p.Ident()
		if !ok || !p.Take("=") || !p.piece() {
			return false
		}
		if kwargs[k], ok = p.literal(); !ok {
			return false
		}
	}
	for k, v := range kwargs {
		a.Kwargs = append(a.Kwargs, [2]string{k, v})
	}
	slices.SortFunc(a.Kwargs, func(x, y [2]string) int { return strings.Compare(x[0], y[0]) })
	return true
}

// literal reads a string, number or boolean, and gives it as text.
func (p *parser) literal() (string, bool) {
	for _, read := range []func() (string, bool){p.Quoted, p.Float, p.Integer} {
		if v, ok := read(); ok {
			return v, true
		}
	}
	return p.TakeAny("true", "false")
}
