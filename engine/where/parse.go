package where

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokKind uint8

const (
	tokEnd tokKind = iota
	tokWord
	tokString
	tokNumber
	tokSign // operators, parentheses, comma
)

type token struct {
	kind tokKind
	text string // of a string without quotes and escapes
	pos  int
}

func (t token) String() string {
	switch t.kind {
	case tokEnd:
		return "the end"
	case tokString:
		return "a string"
	}
	return t.text
}

func (t token) is(word string) bool {
	return t.kind == tokWord && strings.EqualFold(t.text, word)
}

func (t token) sign(s string) bool { return t.kind == tokSign && t.text == s }

type parser struct {
	text  string
	pos   int
	tok   token
	depth int
	err   *Error
}

// Parse reads a condition.
func Parse(text string) (*Expr, error) {
	if len(text) > maxText {
		return nil, fail(text, 0, "", "the condition has %d bytes, at most %d are read", len(text), maxText)
	}
	p := &parser{text: text}
	p.next()
	root := p.or()
	if p.err == nil && p.tok.kind != tokEnd {
		p.fail(p.tok.pos, "%s stands where `and`, `or` or the end was expected", p.tok)
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Expr{text, root}, nil
}

// fail keeps the first error and lets the rest of the text end.
func (p *parser) fail(pos int, msg string, args ...any) {
	if p.err == nil {
		p.err = fail(p.text, pos, "", msg, args...)
	}
	p.tok = token{pos: len(p.text)}
	p.pos = len(p.text)
}

func (p *parser) next() {
	for p.pos < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.pos:])
		if !unicode.IsSpace(r) {
			break
		}
		p.pos += n
	}
	start := p.pos
	if start == len(p.text) {
		p.tok = token{pos: start}
		return
	}
	switch c := p.text[start]; {
	case c == '"' || c == '\'':
		p.str(c)
	case wordByte(c) && (c < '0' || c > '9'):
		p.take(tokWord, wordByte)
	case c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.':
		p.pos++
		p.take(tokNumber, func(c byte) bool {
			return wordByte(c) && c < utf8.RuneSelf || c == '.' || (c == '-' || c == '+') && (p.text[p.pos-1]|0x20) == 'e'
		})
		p.tok.text, p.tok.pos = p.text[start:p.pos], start
	default:
		p.operator()
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

func (p *parser) take(kind tokKind, ok func(byte) bool) {
	start := p.pos
	for p.pos < len(p.text) && ok(p.text[p.pos]) {
		p.pos++
	}
	p.tok = token{kind, p.text[start:p.pos], start}
}

func (p *parser) str(quote byte) {
	start := p.pos
	var b strings.Builder
	for i := start + 1; i < len(p.text); i++ {
		switch c := p.text[i]; c {
		case quote:
			p.pos = i + 1
			p.tok = token{tokString, b.String(), start}
			return
		case '\\':
			i++
			if i == len(p.text) {
				break
			}
			switch e := p.text[i]; e {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '"', '\'', '\\':
				b.WriteByte(e)
			default:
				p.fail(i-1, `\%c is no escape: known are \" \' \\ \n \t`, e)
				return
			}
		default:
			b.WriteByte(c)
		}
	}
	p.fail(start, "this string has no closing %c", quote)
}

func (p *parser) operator() {
	for _, s := range []string{"==", "!=", "<>", "<=", ">=", "=", "<", ">", "(", ")", ","} {
		if strings.HasPrefix(p.text[p.pos:], s) {
			p.tok = token{tokSign, s, p.pos}
			p.pos += len(s)
			return
		}
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	p.fail(p.pos, "%q means nothing here", r)
}

func (p *parser) or() node {
	a := p.and()
	for p.err == nil && p.tok.is("or") {
		p.next()
		a = orNode{a, p.and()}
	}
	return a
}

func (p *parser) and() node {
	a := p.not()
	for p.err == nil && p.tok.is("and") {
		p.next()
		a = andNode{a, p.not()}
	}
	return a
}

func (p *parser) not() node {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.tok.pos, "the condition nests deeper than %d", maxDepth)
		return nil
	}
	defer func() { p.depth-- }()
	switch {
	case p.tok.is("not"):
		p.next()
		return notNode{p.not()}
	case p.tok.sign("("):
		p.next()
		a := p.or()
		if !p.tok.sign(")") {
			p.fail(p.tok.pos, "%s stands where ) was expected", p.tok)
		}
		p.next()
		return a
	}
	return p.test()
}

// test reads what stands after a name.
func (p *parser) test() node {
	name := p.tok
	if name.kind != tokWord {
		p.fail(name.pos, "%s stands where the name of a property was expected", name)
		return nil
	}
	p.next()
	t := testNode{name: name, at: p.tok.pos}
	negate := false
	if p.tok.is("not") {
		negate = true
		p.next()
	}
	switch {
	case p.tok.is("in"):
		t.op = "in"
		p.next()
		p.list(&t)
	case p.tok.is("contains"), p.tok.is("starts_with"):
		t.op = strings.ToLower(p.tok.text)
		p.next()
		t.lits = append(t.lits, p.literal())
	case negate:
		p.fail(p.tok.pos, "%s stands where in, contains or starts_with was expected", p.tok)
	case p.tok.is("is"):
		t.op = "null"
		p.next()
		if p.tok.is("not") {
			negate = true
			p.next()
		}
		if !p.tok.is("null") {
			p.fail(p.tok.pos, "%s stands where null was expected: a value is compared with =", p.tok)
		}
		p.next()
	default:
		p.compare(&t)
	}
	if negate {
		return notNode{t}
	}
	return t
}

func (p *parser) compare(t *testNode) {
	ops := map[string]string{"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
	op, ok := ops[p.tok.text]
	if !ok || p.tok.kind != tokSign {
		p.fail(p.tok.pos, "%s stands where a comparison of %s was expected: = != < <= > >= in contains starts_with is", p.tok, t.name.text)
		return
	}
	t.op = op
	p.next()
	t.lits = append(t.lits, p.literal())
}

func (p *parser) list(t *testNode) {
	if !p.tok.sign("(") {
		p.fail(p.tok.pos, "%s stands where ( was expected after in", p.tok)
		return
	}
	p.next()
	for {
		t.lits = append(t.lits, p.literal())
		if p.err != nil || !p.tok.sign(",") {
			break
		}
		p.next()
	}
	if !p.tok.sign(")") {
		p.fail(p.tok.pos, "%s stands where , or ) was expected", p.tok)
	}
	p.next()
}

func (p *parser) literal() literal {
	t := p.tok
	switch {
	case t.kind == tokString:
		p.next()
		return literal{kind: litString, text: t.text, pos: t.pos}
	case t.kind == tokNumber:
		p.next()
		return literal{kind: litNumber, text: t.text, pos: t.pos}
	case t.is("true"), t.is("false"):
		p.next()
		return literal{kind: litBool, b: t.is("true"), pos: t.pos}
	case t.is("date"), t.is("datetime"):
		return p.timeLiteral(t)
	case t.is("null"):
		p.fail(t.pos, "nothing compares with null: ask with `is null` or `is not null`")
	case t.kind == tokWord:
		p.fail(t.pos, "%s stands where a value was expected: text stands in quotes", t)
	default:
		p.fail(t.pos, "%s stands where a value was expected", t)
	}
	return literal{}
}

func (p *parser) timeLiteral(word token) literal {
	kind := litDate
	if word.is("datetime") {
		kind = litDateTime
	}
	p.next()
	if !p.tok.sign("(") {
		p.fail(p.tok.pos, `%s stands where ( was expected: %s("2024-02-29")`, p.tok, strings.ToLower(word.text))
		return literal{}
	}
	p.next()
	s := p.tok
	if s.kind != tokString {
		p.fail(s.pos, "%s stands where a string was expected", s)
		return literal{}
	}
	p.next()
	if !p.tok.sign(")") {
		p.fail(p.tok.pos, "%s stands where ) was expected", p.tok)
	}
	p.next()
	return literal{kind: kind, text: s.text, pos: s.pos}
}
