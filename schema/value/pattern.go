package value

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// pattern is a @check.
type pattern struct {
	source     string
	re         *regexp.Regexp
	boundaries bool // has \b or \B
}

func (p *pattern) check(owner, property, text string) error {
	if p.boundaries && strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		return refuse(property, RulePattern, "@check on %s.%s: whether value '%s' matches pattern '%s' cannot be judged here: it has \\b or \\B, and the value is not ASCII", owner, property, shorten(text), p.source)
	}
	if !p.re.MatchString(text) {
		return refuse(property, RuleCheck, "@check violation on %s.%s: value '%s' does not match pattern '%s'", owner, property, shorten(text), p.source)
	}
	return nil
}

// compilePattern rewrites a pattern of Rust's regex for Go (package comment).
func compilePattern(source string) (*pattern, error) {
	t := translator{rest: source}
	if err := t.all(); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(t.out.String())
	if err != nil {
		return nil, fmt.Errorf("this program cannot read it: %w", err)
	}
	return &pattern{source, re, t.boundaries}, nil
}

type translator struct {
	rest       string
	out        strings.Builder
	boundaries bool
}

// take copies n bytes.
func (t *translator) take(n int) {
	t.out.WriteString(t.rest[:n])
	t.rest = t.rest[n:]
}

func (t *translator) all() error {
	for t.rest != "" {
		var err error
		switch {
		case t.rest[0] == '\\':
			err = t.escape(false)
		case t.rest[0] == '[':
			err = t.class()
		case strings.HasPrefix(t.rest, "(?"):
			err = t.group()
		case t.rest[0] == '{' && !repetition.MatchString(t.rest):
			err = fmt.Errorf("a brace without a count: %s", shorten(t.rest))
		default:
			t.take(1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// repetition is what a brace must start.
var repetition = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)

// group refuses flags that Go does not have.
func (t *translator) group() error {
	flags := t.rest[2:]
	for i := range len(flags) {
		switch c := flags[i]; {
		case c == ':' || c == ')' || c == 'P' || c == '<':
			t.take(2)
			return nil
		case strings.IndexByte("xuR", c) >= 0:
			return fmt.Errorf("the flag %c of Rust's regex is not supported by this program", c)
		}
	}
	t.take(2)
	return nil
}

// class copies a class in brackets.
func (t *translator) class() error {
	t.take(1)
	if strings.HasPrefix(t.rest, "^") {
		t.take(1)
	}
	for first := true; t.rest != ""; first = false {
		switch {
		case t.rest[0] == ']' && !first:
			t.take(1)
			return nil
		case strings.HasPrefix(t.rest, "[:"):
			end := strings.Index(t.rest, ":]")
			if end < 0 {
				return fmt.Errorf("a class [: is not closed")
			}
			t.take(end + 2)
		case t.rest[0] == '[' || strings.HasPrefix(t.rest, "&&") || strings.HasPrefix(t.rest, "--") || strings.HasPrefix(t.rest, "~~"):
			return fmt.Errorf("operations on classes are not supported by this program: %s", shorten(t.rest))
		case t.rest[0] == '\\':
			if err := t.escape(true); err != nil {
				return err
			}
		default:
			t.take(1)
		}
	}
	return nil // Go says that the bracket is missing
}

// escape copies or rewrites what starts with a backslash.
func (t *translator) escape(inClass bool) error {
	if len(t.rest) < 2 {
		t.take(1)
		return nil // Go says that it stands at the end
	}
	switch c := t.rest[1]; c {
	case 'd', 'D', 'w', 'W', 's', 'S':
		t.rest = t.rest[2:]
		switch {
		case inClass:
			t.out.WriteString(perl(c))
		case c == 'W' || c == 'S':
			t.out.WriteString("[^" + perl(c+'a'-'A') + "]")
		default:
			t.out.WriteString("[" + perl(c) + "]")
		}
		return nil
	case 'b', 'B':
		if strings.HasPrefix(t.rest[2:], "{") {
			return fmt.Errorf("\\%c{…} of Rust's regex is not supported by this program", c)
		}
		t.boundaries = true
	case 'Q', 'E', 'C', '<', '>':
		return fmt.Errorf("\\%c is no escape, or is not supported by this program", c)
	case 'u', 'U', 'x':
		return t.codePoint(c)
	case 'p', 'P':
		if end := strings.IndexByte(t.rest, '}'); end > 0 && t.rest[2:3] == "{" {
			t.take(end + 1)
			return nil
		}
	}
	t.take(2)
	return nil
}

// codePoint rewrites \x41, \x{1F600}, \u00e9, \u{e9}, \U0001F600.
func (t *translator) codePoint(c byte) error {
	digits, rest := "", t.rest[2:]
	if strings.HasPrefix(rest, "{") {
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return fmt.Errorf("\\%c{ is not closed", c)
		}
		digits, rest = rest[1:end], rest[end+1:]
	} else {
		n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if len(rest) < n {
			return fmt.Errorf("\\%c needs %d digits", c, n)
		}
		digits, rest = rest[:n], rest[n:]
	}
	t.rest = rest
	t.out.WriteString(`\x{` + digits + `}`)
	return nil
}

// perl is the body of the classes \d \w \s of Unicode, and of their negations.
func perl(c byte) string {
	switch c {
	case 'd':
		return `\p{Nd}`
	case 'D':
		return `\P{Nd}`
	case 's':
		return `\t-\r\x{85}\p{Z}`
	case 'S':
		return notSpace()
	case 'w':
		return word()
	}
	return notWord()
}

// wordTables make a word character.
var wordTables = []*unicode.RangeTable{unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control}

// word spells what the last two tables add to the classes that have a name.
var word = sync.OnceValue(func() string {
	var out strings.Builder
	out.WriteString(`\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}`)
	for _, table := range wordTables[5:] {
		for _, r := range table.R16 {
			spellRange(&out, rune(r.Lo), rune(r.Hi))
		}
		for _, r := range table.R32 {
			spellRange(&out, rune(r.Lo), rune(r.Hi))
		}
	}
	return out.String()
})

var (
	notSpace = sync.OnceValue(func() string { return others(unicode.White_Space) })
	notWord  = sync.OnceValue(func() string { return others(wordTables...) })
)

// others spells the characters that are in none of the tables.
func others(tables ...*unicode.RangeTable) string {
	var out strings.Builder
	start := rune(0)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.In(r, tables...) {
			if start < r {
				spellRange(&out, start, r-1)
			}
			start = r + 1
		}
	}
	spellRange(&out, start, unicode.MaxRune)
	return out.String()
}

func spellRange(out *strings.Builder, from, to rune) { fmt.Fprintf(out, `\x{%x}-\x{%x}`, from, to) }
