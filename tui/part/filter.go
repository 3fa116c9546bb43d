package part

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Filter is what a user types to narrow a list: terms, all of which must
// match. It is immutable; the zero value matches everything.
//
//	word          the word stands somewhere in the row, whatever its case
//	"two words"   so does a text with spaces; in quotes nothing else is special
//	column:word   it stands in that column; spaces of the column's name are left
//	              out or written as -
//	column:=word  that column is it
//	column:>100   the number in that column is greater; <, >=, <=, = likewise, and
//	              numbers as screens write them: 48 210, v41, 61 KiB, 71 %, 3 m
//	~regex        the regular expression (RE2) matches; column:~regex likewise
//	!term         the term does not match
//
// A term that says nothing yet, such as ! or column:, is not looked at.
type Filter struct{ terms []term }

type term struct {
	not    bool
	column string // "" = any
	at     int    // its place among the columns that the filter was read for
	text   []rune // folded
	plain  string // text, when it is ASCII
	re     *regexp.Regexp
	cmp    string // with a number, or = with text
	number float64
	isNum  bool
}

const filterMax = 1 << 10 // bytes of a filter

// ParseFilter reads a filter. The names of columns that exist are given, so
// that a term such as node:Port, whose first half is no column, is a word.
func ParseFilter(text string, columns []string) (*Filter, error) {
	if len(text) > filterMax {
		return nil, fmt.Errorf("reading a filter: %s is too long, at most %s are read", Bytes(int64(len(text))), Bytes(int64(filterMax)))
	}
	f := &Filter{}
	for _, word := range filterWords(text) {
		t, err := parseTerm(word, columns)
		if err != nil {
			return nil, err
		}
		if t.re != nil || t.cmp != "" || len(t.text) > 0 {
			f.terms = append(f.terms, t)
		}
	}
	return f, nil
}

// filterWord is a word of a filter, without its quotes.
type filterWord struct {
	text string
	open int // bytes before the first quote: there, signs mean something
}

// cut removes a sign from the front of a word.
func (w *filterWord) cut(sign string) bool {
	if len(sign) > w.open || !strings.HasPrefix(w.text, sign) {
		return false
	}
	w.text, w.open = w.text[len(sign):], w.open-len(sign)
	return true
}

// filterWords splits at spaces outside of quotes; an open one ends with the
// text.
func filterWords(text string) []filterWord {
	var out []filterWord
	var word strings.Builder
	quoted, open := false, -1
	end := func() {
		if word.Len() > 0 {
			w := filterWord{word.String(), open}
			if open < 0 {
				w.open = word.Len()
			}
			out = append(out, w)
		}
		word.Reset()
		open = -1
	}
	for _, r := range text {
		switch {
		case r == '"':
			quoted = !quoted
			if open < 0 {
				open = word.Len()
			}
		case (r == ' ' || r == '\t') && !quoted:
			end()
		default:
			word.WriteRune(r)
		}
	}
	end()
	return out
}

func parseTerm(w filterWord, columns []string) (term, error) {
	var t term
	t.not = w.cut("!")
	if i := strings.IndexByte(w.text[:w.open], ':'); i >= 0 {
		for c, name := range columns {
			if t.column == "" && sameColumn(name, w.text[:i]) {
				t.column, t.at = name, c
			}
		}
		if t.column != "" {
			w.cut(w.text[:i+1])
		}
	}
	if w.cut("~") {
		if w.text == "" {
			return t, nil
		}
		var err error
		if t.re, err = regexp.Compile("(?i)" + w.text); err != nil {
			return t, fmt.Errorf("reading a filter: ~%s is not a regular expression: %w", w.text, regexFault(err))
		}
		return t, nil
	}
	if t.column != "" {
		for _, op := range []string{">=", "<=", ">", "<", "="} {
			sign := w
			if !sign.cut(op) {
				continue
			}
			if v, ok := number(sign.text); ok {
				t.cmp, t.number, t.isNum = op, v, true
				return t, nil
			}
			if op == "=" || sign.text == "" {
				w = sign
				if sign.text != "" {
					t.cmp = op
				}
				break
			}
		}
	}
	t.setText(w.text)
	return t, nil
}

func (t *term) setText(s string) {
	ascii := true
	for _, r := range s {
		r = fold(r)
		ascii = ascii && r < utf8.RuneSelf
		t.text = append(t.text, r)
	}
	if ascii {
		t.plain = string(t.text)
	}
}

// regexFault is what is wrong with a regular expression, without what was put
// before it here.
func regexFault(err error) error {
	var s *syntax.Error
	if errors.As(err, &s) {
		return errors.New(string(s.Code))
	}
	return err
}

// sameColumn compares the name of a column with what was typed for it.
func sameColumn(name, typed string) bool {
	if strings.EqualFold(name, typed) {
		return true
	}
	bare := strings.NewReplacer(" ", "", "-", "", "_", "")
	return typed != "" && strings.EqualFold(bare.Replace(name), bare.Replace(typed))
}

// units are what stands behind numbers, in bytes, seconds and percent.
var units = []struct {
	name string
	by   float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"PiB", 1 << 50}, {"EiB", 1 << 60}, {"B", 1}, {"%", 1},
	{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400},
}

// number reads a number as the screens write them: groups apart, a sign, a v or
// < in front, a unit behind. An age of now is 0; < 1 m is less than one.
func number(s string) (float64, bool) {
	var buf [32]byte // no screen writes longer ones
	n, less := 0, false
	for i, r := range s {
		switch {
		case r == ' ' || r == '\u00a0' || r == '\u2009' || r == '\u202f':
			continue
		case r == '\u2212':
			r = '-'
		case n == 0 && r == '<' && !less:
			less = true
			continue
		case n == 0 && r == 'v' && i == 0:
			continue
		}
		if r >= utf8.RuneSelf || n == len(buf) {
			return 0, false
		}
		buf[n] = byte(r)
		n++
	}
	end := n
	for end > 0 && (buf[end-1] < '0' || buf[end-1] > '9') {
		end--
	}
	scale := 1.0
	switch unit := string(buf[end:n]); {
	case end == 0:
		return 0, unit == "now"
	case unit != "":
		if scale = unitOf(unit); scale == 0 {
			return 0, false
		}
	}
	for i, c := range buf[:end] {
		if (c < '0' || c > '9') && c != '.' && (i > 0 || c != '-' && c != '+') {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(buf[:end]), 64)
	v *= scale
	if less {
		v = math.Nextafter(v, math.Inf(-1))
	}
	return v, err == nil
}

func unitOf(name string) float64 {
	for i := range units {
		if u := &units[i]; u.name == name || len(name) > 1 && strings.EqualFold(u.name, name) {
			return u.by
		}
	}
	return 0
}

// Empty says that everything matches.
func (f *Filter) Empty() bool { return f == nil || len(f.terms) == 0 }

// Match says whether a row matches: names are its columns, text gives one.
func (f *Filter) Match(names []string, text func(column int) string) bool {
	if f == nil {
		return true
	}
	for i := range f.terms {
		if f.terms[i].match(names, text) == f.terms[i].not {
			return false
		}
	}
	return true
}

func (t *term) match(names []string, text func(int) string) bool {
	if t.column == "" {
		for c := range names {
			if t.in(text(c)) {
				return true
			}
		}
		return false
	}
	if t.at < len(names) && names[t.at] == t.column {
		return t.in(text(t.at))
	}
	for c, name := range names {
		if strings.EqualFold(name, t.column) {
			return t.in(text(c))
		}
	}
	return false
}

func (t *term) in(s string) bool {
	switch {
	case t.re != nil:
		return t.re.MatchString(s)
	case t.isNum:
		v, ok := number(s)
		return ok && t.compare(v)
	case t.cmp != "":
		n, ok := t.begins(s)
		return ok && n == len(s)
	}
	return t.stands(s)
}

func (t *term) compare(v float64) bool {
	switch t.cmp {
	case ">":
		return v > t.number
	case "<":
		return v < t.number
	case ">=":
		return v >= t.number
	case "<=":
		return v <= t.number
	}
	return v == t.number
}

// stands says whether the text of the term stands in s. Most of both are ASCII.
func (t *term) stands(s string) bool {
	p := t.plain
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return t.standsWide(s)
		}
		if p == "" || foldASCII[c] != p[0] || len(s)-i < len(p) {
			continue
		}
		k := 1
		for k < len(p) && s[i+k] < utf8.RuneSelf && foldASCII[s[i+k]] == p[k] {
			k++
		}
		if k == len(p) {
			return true
		}
	}
	return false
}

func (t *term) standsWide(s string) bool {
	for i := range s {
		if _, ok := t.begins(s[i:]); ok {
			return true
		}
	}
	return false
}

// begins says whether s begins with the text of the term, and with how many
// bytes.
func (t *term) begins(s string) (n int, ok bool) {
	for _, want := range t.text {
		r, size := utf8.DecodeRuneInString(s[n:])
		if size == 0 || fold(r) != want {
			return 0, false
		}
		n += size
	}
	return n, true
}
