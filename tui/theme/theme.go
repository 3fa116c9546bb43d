// Package theme maps roles to styles and names the glyphs of the screens.
//
// A part never names a colour: it paints text in a Role. What a role looks
// like is decided here, once. No meaning rests on a colour alone; whoever
// paints OK, Warn or Bad also writes a mark or a word.
//
// The default theme uses the sixteen colours of the terminal and its own
// foreground, and comes in three variants: for a dark background, for a light
// one, and for an unknown one, which uses only those colours that can be read
// on both. Muted text is the terminal's faint foreground, because that is the
// only grey that follows every palette. Mono has no colour at all.
package theme

import (
	"fmt"
	"strings"
)

// Role is what a piece of text means.
type Role uint8

// The roles.
const (
	Text   Role = iota
	Muted       // secondary: units, hints, ages
	Strong      // names and headings
	Accent      // where one is: breadcrumb, active tab, keys
	Select      // the selected row of the focused pane
	Mark        // the selected row of a pane without focus
	OK          // verified, complete
	Warn        // works, but look at it
	Bad         // wrong
	Write       // counts of writes that are not zero
	Chip        // a word that stands out: RO, head
	Border      // lines between panes
	Lane0       // lanes of the commit graph, by position
	Lane1
	Lane2
	Lane3
	Match // what a filter or a palette found in a text
	roleCount
)

// Lane is the role of the n-th lane of a graph.
func Lane(n int) Role { return Lane0 + Role(n%4) }

// Background is what is known of the terminal's background.
type Background uint8

// The backgrounds.
const (
	Unknown Background = iota
	Dark
	Light
)

// Theme is a set of styles and glyphs. It is immutable.
type Theme struct {
	Name  string
	Glyph Glyphs
	sgr   [roleCount]string
}

// Paint wraps text in the style of a role. Text must not hold escapes.
func (t *Theme) Paint(r Role, text string) string {
	if t.sgr[r] == "" || text == "" {
		return text
	}
	return "\x1b[" + t.sgr[r] + "m" + text + "\x1b[m"
}

// SGR is the style of a role as the parameters of a select-graphic-rendition
// sequence, "" for plain text.
func (t *Theme) SGR(r Role) string { return t.sgr[r] }

// ParseBackground reads dark and light.
func ParseBackground(dark bool) Background {
	if dark {
		return Dark
	}
	return Light
}

// Names lists the themes that New knows.
func Names() []string { return []string{"ansi16", "mono"} }

// New makes a theme by name; "" is ansi16. ascii replaces every glyph by one
// below 0x80.
func New(name string, bg Background, ascii bool) (*Theme, error) {
	t := &Theme{Name: name, Glyph: unicodeGlyphs}
	if ascii {
		t.Glyph = asciiGlyphs
	}
	t.sgr[Muted], t.sgr[Strong], t.sgr[Accent] = "2", "1", "1"
	t.sgr[Select], t.sgr[Mark], t.sgr[Chip] = "7", "1", "7"
	t.sgr[Bad], t.sgr[Write], t.sgr[Border] = "1", "1;7", "2"
	t.sgr[Match] = "1;4"
	switch name {
	case "", "ansi16":
		t.Name = "ansi16"
		t.colours(bg)
	case "mono":
	default:
		return nil, fmt.Errorf("choosing a theme: found %q, expected one of %s", name, strings.Join(Names(), ", "))
	}
	return t, nil
}

// colours adds the sixteen-colour variant for a background. The numbers are
// SGR foregrounds: 31–36 the dark set, 91–96 the bright one.
func (t *Theme) colours(bg Background) {
	type set struct {
		accent, ok, warn, bad string
		lanes                 [4]string
	}
	s := map[Background]set{
		Dark:    {"96", "92", "93", "91", [4]string{"96", "95", "92", "93"}},
		Light:   {"34", "34", "35", "31", [4]string{"34", "35", "31", ""}},
		Unknown: {"94", "", "35", "91", [4]string{"94", "35", "", "90"}},
	}[bg]
	join := func(a, b string) string { return strings.Trim(a+";"+b, ";") }
	t.sgr[Accent] = join("1", s.accent)
	t.sgr[OK] = s.ok
	t.sgr[Warn] = s.warn
	t.sgr[Bad] = join("1", s.bad)
	t.sgr[Write] = join("1;7", s.bad)
	for i, c := range s.lanes {
		t.sgr[Lane0+Role(i)] = c
	}
}

// FromEnv chooses a theme's name, glyph set and whether the background may be
// asked for. flag wins over OMNIDECK_THEME; NO_COLOR, CLICOLOR=0 and a dumb
// terminal mean mono unless a theme was named. A locale that is not UTF-8
// means ASCII. Over SSH nothing is asked: the answer may come late and be
// read as keys.
func FromEnv(env []string, flag string, ascii bool) (name string, useASCII, mayAsk bool) {
	get := func(key string) string {
		v := ""
		for _, e := range env {
			if s, ok := strings.CutPrefix(e, key+"="); ok {
				v = s
			}
		}
		return v
	}
	name = flag
	if name == "" {
		name = get("OMNIDECK_THEME")
	}
	if name == "" && (get("NO_COLOR") != "" || get("CLICOLOR") == "0" || get("TERM") == "dumb") {
		name = "mono"
	}
	remote := get("SSH_CONNECTION") != "" || get("SSH_TTY") != ""
	mayAsk = name != "mono" && !remote && get("TERM") != "dumb"
	return name, ascii || !utf8Locale(get), mayAsk
}

// utf8Locale asks the first of LC_ALL, LC_CTYPE and LANG that is set. None
// set is taken as UTF-8: minimal containers have no locale and modern
// terminals around them.
func utf8Locale(get func(string) string) bool {
	for _, k := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(get(k)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}
