package ojson

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxDepth is how deep arrays and objects may nest.
const maxDepth = 127

// SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	Offset int // bytes from the beginning
	Text   string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not JSON at byte %d: %s", e.Offset, e.Text)
}

// Parse reads one value and requires that nothing follows it.
func Parse(data []byte) (Value, error) {
	var p parser
	return p.read(data, "")
}

// Parser reads many texts. It is not safe for concurrent use.
type Parser struct {
	members []Member // of the objects that are open
	items   []Value  // of the arrays that are open

	lastMembers []Member // of what Parse returned last
	lastItems   []Value
}

// Parse is Parse, but arrays and objects are valid until the next call; texts stay,
// and share one copy of the whole, which one that is kept keeps.
func (p *Parser) Parse(data []byte) (Value, error) {
	in := parser{members: p.members[:0], items: p.items[:0], doneMembers: p.lastMembers[:0], doneItems: p.lastItems[:0]}
	v, err := in.read(data, string(data))
	const most = 1 << 10 // what one large text needed is not held
	if max(cap(in.members), cap(in.items), cap(in.doneMembers), cap(in.doneItems)) <= most {
		*p = Parser{in.members, in.items, in.doneMembers, in.doneItems}
	}
	return v, err
}

func (p *parser) read(data []byte, text string) (Value, error) {
	if !utf8.Valid(data) {
		return Value{}, &SyntaxError{invalidAt(data), "not UTF-8"}
	}
	p.data, p.text = data, text
	v, err := p.value(0)
	if err == nil {
		if p.space(); p.pos < len(data) {
			err = p.fail("something follows the value")
		}
	}
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

func invalidAt(data []byte) int {
	n := 0
	for n < len(data) {
		r, size := utf8.DecodeRune(data[n:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		n += size
	}
	return n
}

type parser struct {
	data    []byte
	text    string // the same as data when values share it, "" when they do not
	pos     int
	members []Member // of the objects that are open
	items   []Value  // of the arrays that are open

	doneMembers []Member // of those that are read, where they share memory
	doneItems   []Value
}

// slice is a part of the text.
func (p *parser) slice(from, to int) string {
	if p.text != "" {
		return p.text[from:to]
	}
	return string(p.data[from:to])
}

func (p *parser) fail(text string) error {
	if p.pos >= len(p.data) {
		text = "the text ends too early"
	}
	return &SyntaxError{p.pos, text}
}

func (p *parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// next skips space and returns the byte there, 0 at the end.
func (p *parser) next() byte {
	p.space()
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

func (p *parser) value(depth int) (Value, error) {
	switch c := p.next(); {
	case c == '{' || c == '[':
		if depth == maxDepth {
			return Value{}, p.fail("nested too deep")
		}
		if c == '{' {
			return p.object(depth + 1)
		}
		return p.array(depth + 1)
	case c == '"':
		s, err := p.str()
		return Value{kind: String, text: s}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 't':
		return Value{kind: Bool, yes: true}, p.word("true")
	case c == 'f':
		return Value{kind: Bool}, p.word("false")
	case c == 'n':
		return Value{}, p.word("null")
	}
	return Value{}, p.fail("no value begins here")
}

func (p *parser) word(w string) error {
	if len(p.data)-p.pos < len(w) || string(p.data[p.pos:p.pos+len(w)]) != w {
		return p.fail("no value begins here")
	}
	p.pos += len(w)
	return nil
}

func (p *parser) array(depth int) (Value, error) {
	v, from := Value{kind: Array}, len(p.items)
	p.pos++
	if p.next() == ']' {
		p.pos++
		return v, nil
	}
	for {
		item, err := p.value(depth)
		if err != nil {
			return v, err
		}
		p.items = append(p.items, item)
		switch p.next() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			v.items = closed(p, &p.doneItems, p.items[from:])
			p.items = p.items[:from]
			return v, nil
		default:
			return v, p.fail("expected ',' or ']'")
		}
	}
}

func (p *parser) object(depth int) (Value, error) {
	v, from := Value{kind: Object}, len(p.members)
	p.pos++
	if p.next() == '}' {
		p.pos++
		return v, nil
	}
	for {
		if p.next() != '"' {
			return v, p.fail("expected a member's name")
		}
		name, err := p.str()
		if err != nil {
			return v, err
		}
		if p.next() != ':' {
			return v, p.fail("expected ':'")
		}
		p.pos++
		item, err := p.value(depth)
		if err != nil {
			return v, err
		}
		p.members = append(p.members, Member{name, item})
		switch p.next() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			v.members = closed(p, &p.doneMembers, p.members[from:])
			p.members = p.members[:from]
			return v, nil
		default:
			return v, p.fail("expected ',' or '}'")
		}
	}
}

// closed copies what an array or an object holds, to done where texts share memory.
func closed[T any](p *parser, done *[]T, held []T) []T {
	if p.text == "" {
		return append([]T(nil), held...)
	}
	from := len(*done)
	*done = append(*done, held...)
	return (*done)[from:len(*done):len(*done)]
}

// number checks the spelling and keeps it.
func (p *parser) number() (Value, error) {
	from := p.pos
	if p.data[p.pos] == '-' {
		p.pos++
	}
	switch {
	case p.pos < len(p.data) && p.data[p.pos] == '0':
		if p.pos++; p.pos < len(p.data) && isDigit(p.data[p.pos]) {
			return Value{}, p.fail("a number begins with 0")
		}
	case !p.digits():
		return Value{}, p.fail("expected a digit")
	}
	if p.pos < len(p.data) && p.data[p.pos] == '.' {
		if p.pos++; !p.digits() {
			return Value{}, p.fail("expected a digit after the point")
		}
	}
	if p.pos < len(p.data) && (p.data[p.pos] == 'e' || p.data[p.pos] == 'E') {
		p.pos++
		if p.pos < len(p.data) && (p.data[p.pos] == '+' || p.data[p.pos] == '-') {
			p.pos++
		}
		if !p.digits() {
			return Value{}, p.fail("expected a digit of the exponent")
		}
	}
	return Value{kind: Number, text: p.slice(from, p.pos)}, nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (p *parser) digits() bool {
	from := p.pos
	for p.pos < len(p.data) && isDigit(p.data[p.pos]) {
		p.pos++
	}
	return p.pos > from
}

// str reads a string; the fast way is one without escapes.
func (p *parser) str() (string, error) {
	p.pos++
	from := p.pos
	for p.pos < len(p.data) {
		switch c := p.data[p.pos]; {
		case c == '"':
			s := p.slice(from, p.pos)
			p.pos++
			return s, nil
		case c == '\\':
			return p.escaped(append([]byte(nil), p.data[from:p.pos]...))
		case c < ' ':
			return "", p.fail("control character in a string")
		}
		p.pos++
	}
	return "", p.fail("")
}

func (p *parser) escaped(out []byte) (string, error) {
	for p.pos < len(p.data) {
		c := p.data[p.pos]
		switch {
		case c == '"':
			p.pos++
			return string(out), nil
		case c < ' ':
			return "", p.fail("control character in a string")
		case c != '\\':
			out = append(out, c)
			p.pos++
			continue
		}
		r, err := p.escape()
		if err != nil {
			return "", err
		}
		out = utf8.AppendRune(out, r)
	}
	return "", p.fail("")
}

// escape reads one escape sequence, beginning at its backslash.
func (p *parser) escape() (rune, error) {
	p.pos++
	if p.pos >= len(p.data) {
		return 0, p.fail("")
	}
	c := p.data[p.pos]
	p.pos++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return p.unicode()
	}
	p.pos--
	return 0, p.fail("unknown escape sequence")
}

func (p *parser) unicode() (rune, error) {
	hi, err := p.hex4()
	if err != nil || hi < 0xD800 || hi > 0xDFFF {
		return hi, err
	}
	if hi >= 0xDC00 || len(p.data)-p.pos < 6 || p.data[p.pos] != '\\' || p.data[p.pos+1] != 'u' {
		return 0, p.fail("lone surrogate")
	}
	p.pos += 2
	lo, err := p.hex4()
	if err == nil && (lo < 0xDC00 || lo > 0xDFFF) {
		err = p.fail("lone surrogate")
	}
	return 0x10000 + (hi-0xD800)<<10 + (lo - 0xDC00), err
}

func (p *parser) hex4() (rune, error) {
	if len(p.data)-p.pos < 4 {
		p.pos = len(p.data)
		return 0, p.fail("")
	}
	n, err := strconv.ParseUint(string(p.data[p.pos:p.pos+4]), 16, 16)
	if err != nil {
		return 0, p.fail("expected four hexadecimal digits")
	}
	p.pos += 4
	return rune(n), nil
}
