package theme

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// xterm's sixteen colours, the reference for the contrast of a theme that
// leaves its palette to the terminal.
var xterm = [16]uint32{
	0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
}

func luminance(c uint32) float64 {
	part := func(shift uint) float64 {
		v := float64(c>>shift&0xff) / 255
		if v <= 0.03928 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

func contrast(a, b uint32) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// foreground is the colour of a role's style; faint text is taken as two
// thirds of the way from the background, as terminals draw it.
func foreground(sgr string, fg, bg uint32) uint32 {
	out := fg
	for _, p := range strings.Split(sgr, ";") {
		n, err := strconv.Atoi(p)
		switch {
		case err != nil:
		case n >= 30 && n <= 37:
			out = xterm[n-30]
		case n >= 90 && n <= 97:
			out = xterm[n-90+8]
		case n == 2:
			mix := func(shift uint) uint32 {
				a, b := float64(out>>shift&0xff), float64(bg>>shift&0xff)
				return uint32(b+(a-b)*2/3) << shift
			}
			out = mix(16) | mix(8) | mix(0)
		}
	}
	return out
}

func TestContrast(t *testing.T) {
	for _, c := range []struct {
		bg     Background
		colour uint32
		need   float64
	}{
		{Dark, 0x000000, 4.5}, {Light, 0xffffff, 4.5},
		// Nobody told the background: no palette colour reaches 4.5 on both, so
		// the few that are used are those that come closest.
		{Unknown, 0x000000, 3.9}, {Unknown, 0xffffff, 3.9},
	} {
		for _, name := range Names() {
			th, err := New(name, c.bg, false)
			if err != nil {
				t.Fatal(err)
			}
			fg := uint32(0xffffff)
			if c.colour == 0xffffff {
				fg = 0
			}
			for r := range roleCount {
				if got := contrast(foreground(th.SGR(r), fg, c.colour), c.colour); got < c.need {
					t.Errorf("%s on background %d: role %d (%q) has a contrast of %.2f, want %.1f", name, c.bg, r, th.SGR(r), got, c.need)
				}
			}
		}
	}
}

func TestSelectionIsSeenWithoutColour(t *testing.T) {
	for _, name := range Names() {
		for _, bg := range []Background{Unknown, Dark, Light} {
			th, err := New(name, bg, false)
			if err != nil {
				t.Fatal(err)
			}
			if th.SGR(Select) != "7" {
				t.Errorf("%s: the selected row is %q, want reverse", name, th.SGR(Select))
			}
		}
	}
}

func TestFromEnv(t *testing.T) {
	for _, c := range []struct {
		env         string
		flag        string
		name        string
		ascii, asks bool
	}{
		{env: "TERM=xterm", asks: true},
		{env: "TERM=xterm NO_COLOR=1", name: "mono"},
		{env: "TERM=xterm NO_COLOR=", asks: true},
		{env: "TERM=xterm CLICOLOR=0", name: "mono"},
		{env: "TERM=dumb", name: "mono"},
		{env: "TERM=xterm NO_COLOR=1", flag: "ansi16", name: "ansi16", asks: true},
		{env: "TERM=xterm OMNIDECK_THEME=mono", name: "mono"},
		{env: "TERM=xterm SSH_TTY=/dev/pts/1"},
		{env: "TERM=xterm LANG=C", ascii: true, asks: true},
		{env: "TERM=xterm LANG=C LC_ALL=de_DE.UTF-8", asks: true},
		{env: "TERM=xterm LC_CTYPE=ja_JP.eucJP LANG=en_US.UTF-8", ascii: true, asks: true},
	} {
		name, ascii, asks := FromEnv(strings.Fields(c.env), c.flag, false)
		if name != c.name || ascii != c.ascii || asks != c.asks {
			t.Errorf("%s, flag %q: %q, ASCII %v, asks %v", c.env, c.flag, name, ascii, asks)
		}
	}
	if _, err := New("neon", Unknown, false); err == nil || !strings.Contains(err.Error(), "ansi16, mono") {
		t.Errorf("an unknown theme: %v", err)
	}
}

func TestGlyphsAreOneCellOfCommonBlocks(t *testing.T) {
	for _, set := range []Glyphs{unicodeGlyphs, asciiGlyphs} {
		for _, g := range set.All() {
			if len([]rune(g)) != 1 && g != set.Null {
				t.Errorf("%q is not one character", g)
			}
			if r := []rune(g)[0]; r >= 0xe000 && r <= 0xf8ff {
				t.Errorf("%q is of a private-use area", g)
			}
		}
	}
	for _, g := range asciiGlyphs.All() {
		if g[0] >= 0x80 {
			t.Errorf("%q is not ASCII", g)
		}
	}
}
