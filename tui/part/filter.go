package part

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Filter is what a user types to narrow a list: terms, all of which must
// match. It is immutable; the zero value matches everything.
//
//	word          the word stands somewhere in the row, whatever its case
//	"two words"   so does a text with spaces
//	column:word   it stands in that column
//	column:>100   the number in that column is greater; <, >=, <=, = likewise
//	~regex        the regular expression matches; column:~regex likewise
//	!term         the term does not match
type Filter struct{ terms []term }

type term struct {
	not    bool
	column string // lower case; "" = any
	text   string // lower case
	re     *regexp.Regexp
	cmp    string
	number float64
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
		f.terms = append(f.terms, t)
	}
	return f, nil
}

// filterWords splits at spaces outside of quotes; quotes are removed, an open
// one ends with the text.
func filterWords(text string) []string {
	var out []string
	var word strings.Builder
	quoted, any := false, false
	for _, r := range text {
		switch {
		case r == '"':
			quoted, any = !quoted, true
		case (r == ' ' || r == '\t') && !quoted:
			if any {
				out = append(out, word.String())
			}
			word.Reset()
			any = false
		default:
			word.WriteRune(r)
			any = true
		}
	}
	if any {
		out = append(out, word.String())
	}
	return out
}

func parseTerm(word string, columns []string) (term, error) {
	var t term
	word, t.not = strings.CutPrefix(word, "!")
	if name, rest, ok := strings.Cut(word, ":"); ok {
		for _, c := range columns {
			if strings.EqualFold(c, name) {
				t.column, word = strings.ToLower(c), rest
			}
		}
	}
	if re, ok := strings.CutPrefix(word, "~"); ok {
		var err error
		if t.re, err = regexp.Compile("(?i)" + re); err != nil {
			return t, fmt.Errorf("reading a filter: ~%s is not a regular expression: %w", re, err)
		}
		return t, nil
	}
	if t.column != "" {
		for _, op := range []string{">=", "<=", ">", "<", "="} {
			if n, ok := strings.CutPrefix(word, op); ok {
				if v, ok := number(n); ok {
					t.cmp, t.number = op, v
					return t, nil
				}
			}
		}
	}
	t.text = strings.ToLower(word)
	return t, nil
}

// number reads a number as the screens write them: groups apart, a sign or a
// v in front, %, or bytes of a unit behind.
func number(s string) (float64, bool) {
	s = strings.TrimPrefix(strings.TrimSpace(strings.ReplaceAll(s, " ", "")), "v")
	scale := 1.0
	for _, u := range []struct {
		name string
		by   float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}, {"%", 1}} {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			s, scale = n, u.by
			break
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v * scale, err == nil
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
	for c, name := range names {
		if t.column != "" && !strings.EqualFold(name, t.column) {
			continue
		}
		if t.in(text(c)) {
			return true
		}
	}
	return false
}

func (t *term) in(s string) bool {
	switch {
	case t.re != nil:
		return t.re.MatchString(s)
	case t.cmp != "":
		v, ok := number(s)
		if !ok {
			return false
		}
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
	return strings.Contains(strings.ToLower(s), t.text)
}
