package part

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// FuzzClean: whatever a store holds, what is drawn of it is measured alike by
// every terminal, alone and between spaces.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "日本", "\x1b[31m", "👩‍👩‍👦", "\x00ः", "क्षि", "e\u0301", "\u1100\u1161", "\u0d4e ", "🇩🇪🇩", "\u0600"} {
		f.Add(s)
	}
	g := mono(f, false).Glyph
	f.Fuzz(func(t *testing.T, s string) {
		c := Clean(s, g)
		for _, in := range []string{c, " " + c + " ", c + "x"} {
			if a, b := ansi.StringWidth(in), ansi.StringWidthWc(in); a != b {
				t.Errorf("%q, cleaned to %q, is %d cells with graphemes and %d without", s, in, a, b)
			}
		}
		if again := Clean(c, g); again != c {
			t.Errorf("cleaning %q twice gives %q, once %q", s, again, c)
		}
	})
}
