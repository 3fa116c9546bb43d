// Package theme maps roles to styles and names the glyphs of the screens.
//
// A part never names a colour: it paints text in a Role. What a role looks
// like is decided here, once. No meaning rests on a colour alone; whoever
// paints OK, Warn or Bad also writes a mark or a word.
//
// Each theme says which background it is for. Text has a contrast of at least
// 4.5 there, lines and lanes of 3; contrast has 7 and nothing faint. None
// paints a background of its own behind text, but for chips.
//
//	ansi16    the default: the sixteen colours of the terminal and its own
//	          foreground, in variants for a dark, a light and an unknown
//	          background. None of the sixteen can be read on both black and
//	          white, so on an unknown one text has no colour but that of chips.
//	          Muted text is the terminal's faint foreground, the only grey that
//	          follows every palette.
//	dark      24-bit colours for #000000 to #282a36, and Solarized's #002b36
//	light     24-bit colours for #eeeeee to #ffffff, and Solarized's #fdf6e3
//	contrast  24-bit colours for the same but for greys, and no colour when the
//	          background is unknown
//	mono      no colour at all
//
// What terminals with fewer colours get is decided by ForProfile.
package theme

import (
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
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
	Lane4
	Lane5
	Lane6
	Lane7
	Match   // what a filter or a palette found in a text
	Travel  // the header while the screens show a moment that is past
	RW      // a chip: writing is unlocked
	Added   // only the newer of two has it
	Removed // only the older of two has it
	Changed // what differs between two
	roleCount
)

// Lane is the role of the n-th lane of a graph.
func Lane(n int) Role { return Lane0 + Role(n%8) }

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

	bg      Background
	profile colorprofile.Profile
	sgr     styles
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

// Fills says that blocks painted in a role look filled: its style sets no
// background of its own.
func (t *Theme) Fills(r Role) bool {
	p := strings.Split(t.sgr[r], ";")
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == "38": // a foreground: 38;2;r;g;b or 38;5;n
			i += 2
			if p[i-1] == "2" {
				i += 2
			}
		case p[i] == "7", len(p[i]) == 2 && p[i][0] == '4':
			return false
		}
	}
	return true
}

// ParseBackground reads dark and light.
func ParseBackground(dark bool) Background {
	if dark {
		return Dark
	}
	return Light
}

// Names lists the themes that New knows.
func Names() []string { return []string{"ansi16", "dark", "light", "contrast", "mono"} }

// New makes a theme by name; "" is ansi16. bg matters to the themes that have
// variants. ascii replaces every glyph by one below 0x80.
func New(name string, bg Background, ascii bool) (*Theme, error) {
	if name == "" {
		name = "ansi16"
	}
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("choosing a theme: found %q, expected one of %s", name, strings.Join(Names(), ", "))
	}
	t := &Theme{Name: name, Glyph: unicodeGlyphs, bg: bg, profile: colorprofile.TrueColor}
	if ascii {
		t.Glyph = asciiGlyphs
	}
	t.sgr = t.styles()
	return t, nil
}

// On is the variant of the theme for a background.
func (t *Theme) On(bg Background) *Theme {
	out := *t
	out.bg = bg
	out.sgr = out.styles()
	return &out
}

// Named is the theme of another name for the same terminal.
func (t *Theme) Named(name string) (*Theme, error) {
	n, err := New(name, t.bg, false)
	if err != nil {
		return nil, err
	}
	n.Glyph = t.Glyph
	return n.ForProfile(t.profile), nil
}

// ForProfile is the theme for a terminal that shows only the colours of a
// profile: what is nearest for one of 256; with sixteen, dark and light look
// like ansi16 and contrast as on an unknown background, because what is nearest
// to their colours there cannot be read.
func (t *Theme) ForProfile(p colorprofile.Profile) *Theme {
	out := *t
	out.profile = p
	out.sgr = out.styles()
	return &out
}

func (t *Theme) styles() styles {
	few := t.profile <= colorprofile.ANSI
	switch {
	case t.profile < colorprofile.ANSI && t.Name == "contrast":
		return bare
	case t.profile < colorprofile.ANSI || t.Name == "mono":
		return mono
	case t.Name == "ansi16":
		return sixteen[t.bg]
	case t.Name == "dark" && few:
		return sixteen[Dark]
	case t.Name == "light" && few:
		return sixteen[Light]
	case t.Name == "contrast" && few:
		return contrasts[Unknown]
	}
	s := map[string]styles{"dark": dark, "light": light, "contrast": contrasts[t.bg]}[t.Name]
	if t.profile == colorprofile.ANSI256 {
		for r := range s {
			s[r] = reduce(s[r], t.profile)
		}
	}
	return s
}

// reduce replaces the 24-bit colours of a style by the nearest of a profile.
func reduce(sgr string, p colorprofile.Profile) string {
	parts := strings.Split(sgr, ";")
	for i := 0; i+4 < len(parts); i++ {
		if (parts[i] != "38" && parts[i] != "48") || parts[i+1] != "2" {
			continue
		}
		var rgb [3]uint8
		for k := range rgb {
			n, _ := strconv.ParseUint(parts[i+2+k], 10, 8) // the tables below hold nothing else
			rgb[k] = uint8(n)
		}
		if c, ok := p.Convert(color.RGBA{rgb[0], rgb[1], rgb[2], 0xff}).(ansi.IndexedColor); ok {
			parts = slices.Concat(parts[:i+1], []string{"5", strconv.Itoa(int(c))}, parts[i+5:])
		}
	}
	return strings.Join(parts, ";")
}

// FromEnv chooses a theme's name, glyph set and whether the background may be
// asked for, which only themes with variants need. flag wins over OMNIDECK_THEME; NO_COLOR, CLICOLOR=0 and a dumb
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
	mayAsk = (name == "" || name == "ansi16" || name == "contrast") && !remote && get("TERM") != "dumb"
	return name, ascii || !utf8Locale(get), mayAsk
}

// Environ is the environment for whoever asks it again what the terminal can
// show: when a theme with colours was named, nothing in it takes them away.
func Environ(env []string, name string) []string {
	if name == "" || name == "mono" {
		return env
	}
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		return strings.HasPrefix(e, "NO_COLOR=") || strings.HasPrefix(e, "CLICOLOR=")
	})
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
