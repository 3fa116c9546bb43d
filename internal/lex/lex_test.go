package lex

import (
	"errors"
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	c := New("nodeShelf // a comment\n/* and\n one */{ _x9:[ 12 1.50 \"a\\\"\\\\\\n\nb\" 7.x")
	steps := []struct {
		name string
		ok   bool
	}{
		{"node", c.Take("node")},
		{"Shelf", func() bool { s, ok := c.TypeName(); return ok && s == "Shelf" }()},
		{"{", c.Take("{")},
		{"ident", func() bool { s, ok := c.Ident(); return ok && s == "_x9" }()},
		{": [ ahead", c.Sees(":", "[") && !c.Sees(":", "12") && c.Take(":") && c.Take("[")},
		{"no float", func() bool { _, ok := c.Float(); return !ok }()},
		{"integer", func() bool { s, ok := c.Integer(); return ok && s == "12" }()},
		{"float", func() bool { s, ok := c.Float(); return ok && s == "1.50" }()},
		{"string", func() bool { s, ok := c.Quoted(); return ok && s == "a\"\\\n\nb" }()},
		{"7. is no float", func() bool { _, ok := c.Float(); return !ok }()},
		{"7", func() bool { s, ok := c.Integer(); return ok && s == "7" }()},
		{"not the end", !c.End()},
	}
	for _, s := range steps {
		if !s.ok {
			t.Errorf("%s was not read as it stands", s.name)
		}
	}
}

func TestErrors(t *testing.T) {
	parse := func(src string) error {
		c := New(src)
		word, ok := c.TakeAny("edge", "node")
		if ok && word == "node" {
			_, ok = c.TypeName()
		}
		ok = ok && c.Take("(")
		if ok {
			_, ok = c.Quoted()
		}
		return c.Err(ok && c.End())
	}
	for src, want := range map[string]string{
		"":                         `parse error: line 1, column 1: expected "edge" or "node", found the end of the text`,
		"\n  édge":                 `parse error: line 2, column 3: expected "edge" or "node", found "é"`,
		"edge /* é */ shelf":       `parse error: line 1, column 14: expected "(", found "shelf"`,
		"edge /* open (":           `parse error: line 1, column 6: expected "(", found "/"`,
		"node shelf(":              `parse error: line 1, column 6: expected type_name, found "shelf"`,
		"edge(\n\"é\" # x":         `parse error: line 2, column 5: expected end of text, found "#"`,
		"edge(\"no end\\\"":        `parse error: line 1, column 15: expected '"' that ends the string, found the end of the text`,
		"edge(\"a\\d\"":            `parse error: line 1, column 8: unsupported escape sequence: \d; a string knows \" \\ \n \r \t`,
		"edge(\"a\\é\" x":          `parse error: line 1, column 12: expected end of text, found "x"`,
		"edge(\"\\":                `parse error: line 1, column 8: expected '"' that ends the string, found the end of the text`,
		"edge(\"a\ufffd\n\xffb\")": `parse error: line 2, column 1: the text is not UTF-8 here`,
	} {
		err := parse(src)
		var e *Error
		if !errors.As(err, &e) || err.Error() != want {
			t.Errorf("%q\n got %v\nwant %s", src, err, want)
		}
	}
	if err := parse("edge(\"fits\") "); err == nil || !strings.Contains(err.Error(), "found \")\"") {
		t.Errorf("got %v", err)
	}
	if err := parse("edge ( \"fits\" // é"); err != nil {
		t.Errorf("what fits is refused: %v", err)
	}
}

// TestRule: a rule of which nothing fits is named whole; of one that began,
// what is missing in it.
func TestRule(t *testing.T) {
	parse := func(src string) error {
		c := New(src)
		value := func() bool {
			return c.Rule("value", func() bool {
				_, ok := c.Float()
				if !ok {
					_, ok = c.Integer()
				}
				return ok || c.Take("[") && c.Take("]")
			})
		}
		ok := c.Take("=") && value()
		for ok && value() {
		}
		return c.Err(ok && c.End())
	}
	for src, want := range map[string]string{
		"= x":      `parse error: line 1, column 3: expected value, found "x"`,
		"= 1 2. x": `parse error: line 1, column 6: expected value or end of text, found "."`,
		"= 1 [ 2":  `parse error: line 1, column 7: expected "]", found "2"`,
		"":         `parse error: line 1, column 1: expected "=", found the end of the text`,
	} {
		if err := parse(src); err == nil || err.Error() != want {
			t.Errorf("%q\n got %v\nwant %s", src, err, want)
		}
	}
	if err := parse("= 1.5 2 []"); err != nil {
		t.Error(err)
	}
}
