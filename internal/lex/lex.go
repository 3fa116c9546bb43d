// Package lex is the cursor under the parsers of both languages, .pg and .gq
// (package schema and package query).
//
// # Rules of the text
//
// UTF-8. Space, tab, CR and LF are white space; // starts a comment to the end
// of the line, /* one to the next */ (a block comment that does not end is no
// comment, so the grammar refuses it). Both may stand before any token, never
// inside one. There are no reserved words and a word needs no separator:
// "nodeShelf" reads as node and Shelf. So nothing is cut into tokens ahead of
// time; the grammar asks for what it expects, in its order, and goes back to a
// mark where an alternative failed.
//
//	ident      a-z or _, then letters, digits, _       (ASCII)
//	type name  A-Z, then letters, digits, _            (ASCII)
//	string     "…" with \" \\ \n \r \t; line breaks may stand in it
//	integer    digits                                   (no sign)
//	float      digits . digits                          (no sign, no exponent)
//
// # Errors
//
// Every question that was answered with no is remembered; the error is at the
// farthest place where one was asked, and lists what was asked there. What fits
// the grammar and breaks a rule of its own (an escape that does not exist) is
// noted with Refuse and reported only when the whole text fits the grammar.
package lex

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Pos is a place in a text.
type Pos struct {
	Offset int // bytes from the start
	Line   int // from 1
	Col    int // characters from the start of the line, from 1
}

func (p Pos) String() string { return fmt.Sprintf("line %d, column %d", p.Line, p.Col) }

// Error says where a text is not of the language, and why.
type Error struct {
	Pos
	Problem string
}

func (e *Error) Error() string { return fmt.Sprintf("parse error: %s: %s", e.Pos, e.Problem) }

// Cursor reads one text.
type Cursor struct {
	src    string
	at     int
	far    int      // farthest place where something was missing
	wanted []wanted // what was missing there, each once
	fault  *Error   // of the text as a whole, or the first that Refuse noted
}

// wanted is what a place lacks: a kind of token, or a text.
type wanted struct {
	name   string
	letter bool // a text, to be taken letter by letter
}

func (w wanted) String() string {
	if w.letter {
		return strconv.Quote(w.name)
	}
	return w.name
}

// New starts at the beginning of a text.
func New(src string) *Cursor {
	c := &Cursor{src: src}
	if !utf8.ValidString(src) {
		i := 0
		for _, r := range src {
			if r == utf8.RuneError && !strings.HasPrefix(src[i:], "\uFFFD") {
				break
			}
			i += utf8.RuneLen(r)
		}
		c.Refuse(i, "the text is not UTF-8 here")
		c.src = ""
		c.fault.Pos = Position(src, i)
	}
	return c
}

// Position of a byte offset.
func Position(src string, offset int) Pos {
	before := src[:min(max(offset, 0), len(src))]
	line := strings.LastIndexByte(before, '\n') + 1
	return Pos{Offset: len(before), Line: strings.Count(before, "\n") + 1, Col: utf8.RuneCountInString(before[line:]) + 1}
}

// Pos of a byte offset of this text.
func (c *Cursor) Pos(offset int) Pos { return Position(c.src, offset) }

// Mark is where the cursor stands, for Reset.
func (c *Cursor) Mark() int { return c.at }

// Reset goes back to a mark.
func (c *Cursor) Reset(mark int) { c.at = mark }

// Next skips white space and comments and returns the offset of what follows.
func (c *Cursor) Next() int {
	for {
		rest := c.src[c.at:]
		switch {
		case rest == "":
			return c.at
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			c.at++
		case strings.HasPrefix(rest, "//"):
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				c.at += end
			} else {
				c.at = len(c.src)
			}
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return c.at
			}
			c.at += end + 4
		default:
			return c.at
		}
	}
}

// want notes that something was missing here and goes back to the mark.
func (c *Cursor) want(mark int, what wanted) {
	switch {
	case c.at > c.far:
		c.far, c.wanted = c.at, append(c.wanted[:0], what)
	case c.at == c.far && !slices.Contains(c.wanted, what):
		c.wanted = append(c.wanted, what)
	}
	c.at = mark
}

// Take reads a text that must stand next, letter by letter.
func (c *Cursor) Take(text string) bool {
	_, ok := c.TakeAny(text)
	return ok
}

// TakeAny reads the first of the texts that stands next.
func (c *Cursor) TakeAny(texts ...string) (string, bool) {
	mark := c.at
	c.Next()
	for _, text := range texts {
		if strings.HasPrefix(c.src[c.at:], text) {
			c.at += len(text)
			return text, true
		}
	}
	for _, text := range texts {
		c.want(c.at, wanted{text, true})
	}
	c.at = mark
	return "", false
}

// Sees reports whether the texts stand next, one after the other. It reads
// nothing and leaves no trace in the error.
func (c *Cursor) Sees(texts ...string) bool {
	mark := c.at
	defer c.Reset(mark)
	for _, text := range texts {
		c.Next()
		if !strings.HasPrefix(c.src[c.at:], text) {
			return false
		}
		c.at += len(text)
	}
	return true
}

// Token reads a token. what is its name in errors; length says how many bytes
// of a text belong to it, 0 when it does not start with one.
func (c *Cursor) Token(what string, length func(rest string) int) (string, bool) {
	mark := c.at
	start := c.Next()
	n := length(c.src[start:])
	if n == 0 {
		c.want(mark, wanted{name: what})
		return "", false
	}
	c.at = start + n
	return c.src[start:c.at], true
}

// Run reads a token: a byte of first, then as many of rest as follow.
func (c *Cursor) Run(what string, first, rest func(byte) bool) (string, bool) {
	return c.Token(what, func(s string) int {
		if s == "" || !first(s[0]) {
			return 0
		}
		n := 1
		for n < len(s) && rest(s[n]) {
			n++
		}
		return n
	})
}

// Rule runs a piece of the grammar and goes back to where it began when it does
// not fit. When nothing of it fits, the error says that what was expected, not
// each of its beginnings.
func (c *Cursor) Rule(what string, parse func() bool) bool {
	mark := c.at
	start := c.Next()
	before := 0
	if c.far == start {
		before = len(c.wanted)
	}
	if parse() {
		return true
	}
	if c.far == start {
		c.wanted = c.wanted[:min(before, len(c.wanted))]
	}
	if c.far <= start {
		c.at = start
		c.want(mark, wanted{name: what})
	}
	c.at = mark
	return false
}

// Digit reports an ASCII digit.
func Digit(b byte) bool { return b >= '0' && b <= '9' }

// Lower reports what an ident starts with.
func Lower(b byte) bool { return b >= 'a' && b <= 'z' || b == '_' }

// Upper reports what a type name starts with.
func Upper(b byte) bool { return b >= 'A' && b <= 'Z' }

// Alnum reports what stands in names: ASCII letters, digits, _.
func Alnum(b byte) bool { return Lower(b) || Upper(b) || Digit(b) }

// Ident reads a name of a property, an annotation or an alias.
func (c *Cursor) Ident() (string, bool) { return c.Run("ident", Lower, Alnum) }

// TypeName reads a name of a type.
func (c *Cursor) TypeName() (string, bool) { return c.Run("type_name", Upper, Alnum) }

// Integer reads digits.
func (c *Cursor) Integer() (string, bool) { return c.Run("integer", Digit, Digit) }

// Float reads digits, a point, digits; nothing when one of the three is
// missing.
func (c *Cursor) Float() (string, bool) {
	return c.Token("float", func(s string) int {
		whole := 0
		for whole < len(s) && Digit(s[whole]) {
			whole++
		}
		n := whole + 1
		for n < len(s) && Digit(s[n]) {
			n++
		}
		if whole == 0 || n == whole+1 || n > len(s) || s[whole] != '.' {
			return 0
		}
		return n
	})
}

// Quoted reads a string and returns what it stands for.
func (c *Cursor) Quoted() (string, bool) {
	mark := c.at
	start := c.Next()
	if !strings.HasPrefix(c.src[start:], `"`) {
		c.want(mark, wanted{name: "string"})
		return "", false
	}
	var out strings.Builder
	for i := start + 1; i < len(c.src); i++ {
		switch b := c.src[i]; b {
		case '"':
			c.at = i + 1
			return out.String(), true
		case '\\':
			i += c.escape(i, &out) - 1
		default:
			out.WriteByte(b)
		}
	}
	c.at = len(c.src)
	c.want(mark, wanted{name: `'"' that ends the string`})
	return "", false
}

// escape reads the escape at an offset and returns its length in bytes.
func (c *Cursor) escape(i int, out *strings.Builder) int {
	r, n := utf8.DecodeRuneInString(c.src[i+1:])
	if k := strings.IndexRune(`"\nrt`, r); k >= 0 {
		out.WriteByte("\"\\\n\r\t"[k])
	} else if n > 0 {
		c.Refuse(i, `unsupported escape sequence: \%c; a string knows \" \\ \n \r \t`, r)
	}
	return 1 + n
}

// End reports that nothing but white space and comments is left.
func (c *Cursor) End() bool {
	if c.Next() == len(c.src) {
		return true
	}
	c.want(c.at, wanted{name: "end of text"})
	return false
}

// Refuse notes what is wrong at an offset of a text that fits the grammar. The
// first one counts.
func (c *Cursor) Refuse(offset int, format string, args ...any) {
	if c.fault == nil {
		c.fault = &Error{c.Pos(offset), fmt.Sprintf(format, args...)}
	}
}

// Err is what the parser returns: the place where a parse that did not come to
// the end failed, or else what Refuse noted; nil when there is nothing.
func (c *Cursor) Err(parsed bool) error {
	switch {
	case !parsed && (c.fault == nil || c.src != ""):
		return &Error{c.Pos(c.far), "expected " + list(c.wanted) + ", found " + c.found()}
	case c.fault != nil:
		return c.fault
	}
	return nil
}

// list spells alternatives: a, b or c.
func list(all []wanted) string {
	out := ""
	for i, w := range all {
		switch {
		case i > 0 && i == len(all)-1:
			out += " or "
		case i > 0:
			out += ", "
		}
		out += w.String()
	}
	return out
}

// found spells the start of what stands where the parse failed.
func (c *Cursor) found() string {
	const most = 24
	rest := c.src[c.far:]
	if rest == "" {
		return "the end of the text"
	}
	end := 0
	for end < len(rest) && end < most && Alnum(rest[end]) {
		end++
	}
	if end == 0 {
		_, end = utf8.DecodeRuneInString(rest)
	}
	return fmt.Sprintf("%q", rest[:end])
}
