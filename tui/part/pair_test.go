package part

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/theme"
)

func TestHexDump(t *testing.T) {
	data := []byte("LANC\x00\x01\x02\xff{}\n 0123456789~\x7f\x80")
	got := "\n" + stripped(HexDump(mono(t, false), data, 0x1f0, 79))
	if want := `
 000001f0  4c 41 4e 43  00 01 02 ff  7b 7d 0a 20  30 31 32 33  LANC····{}· 0123
 00000200  34 35 36 37  38 39 7e 7f  80                        456789~··
`; got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
	got = "\n" + stripped(HexDump(mono(t, true), data[:9], 1<<40, 50))
	if want := `
 10000000000  4c 41 4e 43  00 01 02 ff  LANC....
 10000000008  7b                        {
`; got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
	if n := len(HexDump(mono(t, false), nil, 0, 80)); n != 0 {
		t.Errorf("no bytes are %d lines", n)
	}
	everySize(t, false, func(w int) int { return len(HexDump(mono(t, true), data, 5, w)) }, func(th *theme.Theme, w, _ int) []string {
		return HexDump(th, data, 5, w)
	})
}

func TestPairs(t *testing.T) {
	long := strings.Repeat("the same words again ", 40)
	for _, c := range []struct {
		p    Pair
		w    int
		want []string // in the drawing
		not  []string
	}{
		{Pair{Name: "name", Old: "Rotterdam", New: "Rotterdam"}, 70, []string{" = name", "Rotterdam ", "│ ="}, nil},
		{Pair{Name: "name", Old: "Rotterdam", New: "Rotterdam"}, 40, []string{" = name", "Rotterdam"}, []string{"│"}},
		{Pair{Name: "depth", Old: "21.0", New: "24.0"}, 70, []string{"2\x1b[1;4m1\x1b[m.0", "2\x1b[1;4m4\x1b[m.0"}, nil},
		{Pair{Name: "depth", Old: "21.0", New: "24.0"}, 40, []string{"~", "- ", "+ ", "2\x1b[1;4m1\x1b[m.0", "2\x1b[1;4m4\x1b[m.0"}, []string{"│"}},
		{Pair{Name: "x", New: "n", NoOld: true}, 70, []string{"+", "n"}, nil},
		{Pair{Name: "x", Old: "o", NoNew: true}, 70, []string{"-", "o"}, nil},
		{Pair{Name: "text", Old: long + "old" + long, New: long + "new" + long}, 80, []string{"\x1b[1;4mold\x1b[m", "\x1b[1;4mnew\x1b[m", "…"}, nil},
		{Pair{Name: "accent", Old: "cafe\u0301 x", New: "cafe\u0300 x"}, 80, []string{"caf\x1b[1;4me\u0301\x1b[m", "caf\x1b[1;4me\u0300\x1b[m"}, nil},
		{Pair{Name: "wide", Old: "日本港", New: "日本湾"}, 80, []string{"日本\x1b[1;4m港\x1b[m", "日本\x1b[1;4m湾\x1b[m"}, nil},
		{Pair{Name: "unseen", Old: "a\x01b", New: "a\x02b"}, 80, []string{`"\x01"`, `"\x02"`}, nil},
		{Pair{Name: "end", Old: "ab", New: "abc"}, 80, []string{"\x1b[1;4mc\x1b[m"}, nil},
		{Pair{Name: "far", Old: strings.Repeat("é", 20_000) + "1", New: strings.Repeat("é", 20_000) + "2"}, 80, []string{"é\x1b[1;4m1\x1b[m", "é\x1b[1;4m2\x1b[m"}, nil},
	} {
		got := strings.Join(c.p.Render(mono(t, false), 8, c.w), "\n")
		for _, s := range c.want {
			if !strings.Contains(got, s) && !strings.Contains(ansi.Strip(got), s) {
				t.Errorf("%s at %d: %q is not in %q", c.p.Name, c.w, s, got)
			}
		}
		for _, s := range c.not {
			if strings.Contains(ansi.Strip(got), s) {
				t.Errorf("%s at %d: %q is in %q", c.p.Name, c.w, s, got)
			}
		}
	}
}

func TestPairsAtEverySize(t *testing.T) {
	for i, s := range hard {
		for _, p := range []Pair{
			{Name: s, Old: s, New: hard[(i+1)%len(hard)]}, {Name: "n", Old: s + "x" + s, New: s + "y" + s}, {Name: s, Old: s, New: s},
			{Name: s, New: s, NoOld: true}, {Name: s, Old: s, NoNew: true},
		} {
			everySize(t, true, func(w int) int { return len(p.Render(mono(t, false), 14, w)) }, func(th *theme.Theme, w, _ int) []string {
				return p.Render(th, 14, w)
			})
		}
	}
}

func FuzzPair(f *testing.F) {
	zalgo := "e" + strings.Repeat("\u0301", 600)
	f.Add(zalgo+"\u0302", zalgo+"\u0303", uint8(50))
	for i, s := range hard {
		f.Add(s, hard[(i+3)%len(hard)], uint8(70))
	}
	th := mono(f, false)
	f.Fuzz(func(t *testing.T, a, b string, w uint8) {
		head, tail := shared(a, b)
		if a != b && (a[:head] != b[:head] || a[len(a)-tail:] != b[len(b)-tail:] || head+tail > min(len(a), len(b))) {
			t.Errorf("%q and %q share %d and %d", a, b, head, tail)
		}
		for _, l := range (Pair{Name: "n", Old: a, New: b}).Render(th, 5, int(w)) {
			if n := ansi.StringWidth(l); n != int(w) {
				t.Errorf("%q and %q in %d cells have %d", a, b, w, n)
			}
		}
	})
}

// TestFitsIsTrue: what fits is drawn whole, at every width.
func TestFitsIsTrue(t *testing.T) {
	th, err := theme.New("mono", theme.Unknown, false)
	if err != nil {
		t.Fatal(err)
	}
	for w := 20; w < 120; w += pace.Of(1, 17) {
		for n := 1; n < 60; n++ {
			for _, p := range []Pair{
				{Name: "depth", Old: "begin" + strings.Repeat("a", n), New: "begin" + strings.Repeat("b", n)},
				{Name: "tags", Old: `["container"]`, New: `["container",` + strings.Repeat("b", n) + `]`, OldW: 16},
				{Name: "depth", New: strings.Repeat("b", n), NoOld: true},
				{Name: "depth", Old: strings.Repeat("a", n), New: "begin", OldW: n},
			} {
				all := ansi.Strip(strings.Join(p.Render(th, 5, w), "\n"))
				whole := strings.Contains(all, p.New) && strings.Contains(all, p.Old)
				if fits := p.Fits(th, 5, w); fits != whole {
					t.Fatalf("%d cells, %d letters: fits is %v, but drawn is\n%s", w, n, fits, all)
				}
			}
		}
	}
}
