package paint

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSVGKeepsEveryStyle: each style of a cell is found in the picture, at its
// place, and text that is not styled carries nothing.
func TestSVGKeepsEveryStyle(t *testing.T) {
	p := Lines([]string{
		"plain \x1b[1mbold\x1b[m \x1b[2mfaint\x1b[m \x1b[3mitalic\x1b[m",
		"\x1b[31mred\x1b[m \x1b[96mcyan\x1b[m \x1b[38;5;208mindexed\x1b[m \x1b[38;2;1;2;3mtrue\x1b[m",
		"\x1b[7mreverse\x1b[m \x1b[4munder\x1b[m \x1b[9mstruck\x1b[m \x1b[44mground\x1b[m",
		"a世b <&>\"",
		"",
	}, 40)
	svg := p.SVG(Dark)
	for _, want := range []string{
		`width="360" height="85"`,
		`<text x="0" y="13" textLength="45">plain</text>`,
		`<text x="54" y="13" textLength="36" font-weight="bold">bold</text>`,
		`<text x="99" y="13" textLength="45" fill-opacity="0.67">faint</text>`,
		`font-style="italic">italic</text>`,
		`fill="#cd0000">red</text>`, `fill="#00ffff">cyan</text>`, `fill="#ff8700">indexed</text>`, `fill="#010203">true</text>`,
		`<rect x="0" y="34" width="63" height="17" fill="#e5e5e5"/>`, `fill="#101010">reverse</text>`,
		`text-decoration="underline">under</text>`, `text-decoration="line-through">struck</text>`,
		`height="17" fill="#0000ee"/>`,
		`<text x="0" y="64" textLength="9">a</text>`, `<text x="9" y="64" textLength="18">世</text>`, `<text x="27" y="64" textLength="54">b &lt;&amp;&gt;&#34;</text>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	if light := p.SVG(Light); !strings.Contains(light, `fill="#ffffff"/>`) || !strings.Contains(light, `fill="#101010">`) {
		t.Error("the light picture is not on a light ground")
	}
	const text = "plain bold faint italic\nred cyan indexed true\nreverse under struck ground\na世b <&>\"\n\n"
	if got := p.Text(); got != text {
		t.Errorf("text is %q", got)
	}
}

// TestAnyText: whatever is drawn, the picture has its size and is XML.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "lines")
		w := rapid.IntRange(0, 20).Draw(t, "w")
		p := Lines(lines, w)
		if n := strings.Count(p.Text(), "\n"); n != len(lines) {
			t.Fatalf("%d lines became %d", len(lines), n)
		}
		d := xml.NewDecoder(strings.NewReader(p.SVG(Light)))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
}
