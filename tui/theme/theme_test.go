package theme

import (
	"image/color"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
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

// seen is what a style looks like on a background: the colours of the text
// and of what is behind it. Faint text is taken as two thirds of the way from
// the background, as terminals draw it.
func seen(t *testing.T, sgr string, fg, bg uint32) (text, behind uint32) {
	text, behind = fg, bg
	faint, reverse := false, false
	p := strings.Split(sgr, ";")
	for i := 0; i < len(p); i++ {
		n := 0
		if p[i] != "" {
			n = atoi(t, p[i])
		}
		switch {
		case n == 38 || n == 48:
			c := &text
			if n == 48 {
				c = &behind
			}
			if p[i+1] == "5" {
				*c = rgb(ansi.IndexedColor(atoi(t, p[i+2])))
				i += 2
				continue
			}
			*c = uint32(atoi(t, p[i+2])<<16 | atoi(t, p[i+3])<<8 | atoi(t, p[i+4]))
			i += 4
		case n >= 30 && n <= 37:
			text = xterm[n-30]
		case n >= 90 && n <= 97:
			text = xterm[n-90+8]
		case n >= 40 && n <= 47:
			behind = xterm[n-40]
		case n == 2:
			faint = true
		case n == 7:
			reverse = true
		case n > 4:
			t.Fatalf("style %q: %d is not known here", sgr, n)
		}
	}
	if faint {
		mix := func(shift uint) uint32 {
			a, b := float64(text>>shift&0xff), float64(behind>>shift&0xff)
			return uint32(b+(a-b)*2/3) << shift
		}
		text = mix(16) | mix(8) | mix(0)
	}
	if reverse {
		text, behind = behind, text
	}
	return text, behind
}

func atoi(t *testing.T, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func rgb(c color.Color) uint32 {
	r, g, b, _ := c.RGBA()
	return r>>8<<16 | g>>8<<8 | b>>8
}

// The backgrounds that themes claim.
var (
	black = []uint32{0x000000, 0x101010}
	white = []uint32{0xffffff}
	snow  = []uint32{0xffffff, 0xfafafa, 0xfdf6e3}
	night = []uint32{0x000000, 0x101010, 0x1e1e1e, 0x282a36, 0x002b36}
	sheet = []uint32{0xffffff, 0xfafafa, 0xeeeeee, 0xfdf6e3}
)

func TestContrast(t *testing.T) {
	for _, c := range []struct {
		name string
		bg   Background
		on   []uint32
		text float64 // least contrast of text
		line float64 // and of lines and lanes
	}{
		{"ansi16", Dark, black, 4.5, 3}, {"ansi16", Light, white, 4.5, 3}, {"ansi16", Unknown, append(black, white...), 4.5, 3},
		{"mono", Unknown, append(black, white...), 4.5, 3},
		{"dark", Unknown, night, 4.5, 3}, {"light", Unknown, sheet, 4.5, 3},
		{"contrast", Dark, night, 7, 7}, {"contrast", Light, snow, 7, 7}, {"contrast", Unknown, append(night, sheet...), 7, 7},
	} {
		th, err := New(c.name, c.bg, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI, colorprofile.ASCII} {
			for _, on := range c.on {
				checkContrast(t, th.ForProfile(p), p, on, c.text, c.line)
			}
		}
	}
}

func checkContrast(t *testing.T, th *Theme, p colorprofile.Profile, on uint32, text, line float64) {
	if p <= colorprofile.ANSI && th.Name != "contrast" && on != 0 && on != 0x101010 && on != 0xffffff {
		return // looks like ansi16, which is for black and white
	}
	fg := uint32(0xe5e5e5)
	if luminance(on) > 0.5 {
		fg = 0x101010
	}
	if th.Name == "contrast" && fg == 0xe5e5e5 {
		fg = 0xffffff
	}
	for r := range roleCount {
		need := text
		if r == Border || r >= Lane0 && r <= Lane7 {
			need = line
		}
		if got := contrast(seen(t, th.SGR(r), fg, on)); got < need {
			t.Errorf("%s with %v on #%06x: role %d (%q) has a contrast of %.2f, want %.1f", th.Name, p, on, r, th.SGR(r), got, need)
		}
	}
}

// TestVariantsKeepWhatTheTerminalCanShow: a background that is told later
// brings no colour back.
func TestVariantsKeepWhatTheTerminalCanShow(t *testing.T) {
	for _, name := range Names() {
		th, err := New(name, Unknown, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI, colorprofile.ASCII} {
			want, err := New(name, Light, true)
			if err != nil {
				t.Fatal(err)
			}
			if *th.ForProfile(p).On(Light) != *want.ForProfile(p) {
				t.Errorf("%s with %v differs by what was told first", name, p)
			}
		}
	}
}

func TestFills(t *testing.T) {
	for _, name := range Names() {
		for _, bg := range []Background{Unknown, Dark, Light} {
			th, err := New(name, bg, false)
			if err != nil {
				t.Fatal(err)
			}
			for _, th := range []*Theme{th, th.ForProfile(colorprofile.ANSI256), th.ForProfile(colorprofile.ANSI)} {
				for r := range roleCount {
					_, behind := seen(t, th.SGR(r), 0x123456, 0x654321)
					if fills := behind == 0x654321; th.Fills(r) != fills {
						t.Errorf("%s on %d: role %d (%q) fills: %v", name, bg, r, th.SGR(r), !fills)
					}
				}
			}
		}
	}
}

// TestContrastThemeIsNeverFaint: what stands out is bold there.
func TestContrastThemeIsNeverFaint(t *testing.T) {
	for _, bg := range []Background{Unknown, Dark, Light} {
		th, err := New("contrast", bg, false)
		if err != nil {
			t.Fatal(err)
		}
		for r := range roleCount {
			if p := strings.Split(th.SGR(r), ";"); p[0] == "2" {
				t.Errorf("role %d is faint", r)
			}
		}
		for _, r := range []Role{Strong, Accent, OK, Warn, Bad, Write, Chip, Match, Travel, RW} {
			if !strings.HasPrefix(th.SGR(r), "1") {
				t.Errorf("role %d is %q, want bold", r, th.SGR(r))
			}
		}
	}
}

// TestFewerColours: with 256 there is no 24-bit colour, with sixteen none of
// the 256, without colours none.
func TestFewerColours(t *testing.T) {
	for _, name := range Names() {
		th, err := New(name, Dark, true)
		if err != nil {
			t.Fatal(err)
		}
		if th.ForProfile(colorprofile.TrueColor).sgr != th.sgr {
			t.Errorf("%s changes where nothing has to", name)
		}
		for p, not := range map[colorprofile.Profile][]string{
			colorprofile.ANSI256: {";2;"}, colorprofile.ANSI: {"38;", "48;"}, colorprofile.ASCII: {"3", "9", "41", "43", "48"}, colorprofile.NoTTY: {"3", "9"},
		} {
			few := th.ForProfile(p)
			if few.Name != name || few.Glyph.Pointer != ">" {
				t.Errorf("%s becomes %s", name, few.Name)
			}
			for r := range roleCount {
				for _, s := range not {
					if strings.Contains(few.SGR(r), s) {
						t.Errorf("%s with %v: role %d is %q", name, p, r, few.SGR(r))
					}
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
		{env: "TERM=xterm OMNIDECK_THEME=dark NO_COLOR=1", name: "dark"},
		{env: "TERM=xterm OMNIDECK_THEME=mono", flag: "light", name: "light"},
		{env: "TERM=dumb OMNIDECK_THEME=mono", flag: "contrast", name: "contrast"},
		{env: "TERM=xterm", flag: "contrast", name: "contrast", asks: true},
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
	env := []string{"NO_COLOR=1", "TERM=xterm", "CLICOLOR=0"}
	if got := Environ(env, "dark"); len(got) != 1 || got[0] != "TERM=xterm" || len(env) != 3 || env[0] != "NO_COLOR=1" {
		t.Errorf("for dark, the environment is %q", got)
	}
	if got := Environ(env, "mono"); len(got) != 3 {
		t.Errorf("for mono, the environment is %q", got)
	}
	if _, err := New("neon", Unknown, false); err == nil || !strings.Contains(err.Error(), "ansi16, dark, light, contrast, mono") {
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
