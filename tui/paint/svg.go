package paint

import (
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Palette is what a terminal makes of colours that have no value of their own.
type Palette struct {
	Text, Ground string // "#rrggbb"
	Basic        [16]string
}

// xterm are the sixteen colours of xterm.
var xterm = [16]string{
	"#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5",
	"#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff",
}

// The palettes.
var (
	Dark  = Palette{Text: "#e5e5e5", Ground: "#101010", Basic: xterm}
	Light = Palette{Text: "#101010", Ground: "#ffffff", Basic: xterm}
)

// Cells of an SVG in its units, and where in a cell letters stand.
const cellW, cellH, base = 9, 17, 13

// SVG is the picture as a document of W·9 by H·17 units.
func (p *Picture) SVG(pal Palette) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="15" fill="%s">`+"\n",
		p.W*cellW, p.H*cellH, pal.Text)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", pal.Ground)
	for y := range p.H {
		for x := 0; x < p.W; {
			r := p.run(x, y)
			r.draw(&b, pal, y)
			x += r.n
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// run is a stretch of cells of one style.
type run struct {
	x, n  int
	text  string
	style uv.Style
}

// run is the longest stretch that begins at x. A character that is not one
// cell wide is a stretch of its own: fonts disagree on its width.
func (p *Picture) run(x, y int) run {
	r := run{x: x, style: p.At(x, y).Style}
	var text strings.Builder
	for x+r.n < p.W {
		c := p.At(x+r.n, y)
		wide := c.Width > 1
		if !c.Style.Equal(&r.style) || wide && r.n > 0 {
			break
		}
		text.WriteString(content(c))
		r.n += max(1, c.Width)
		if wide {
			break
		}
	}
	r.n = min(r.n, p.W-x)
	r.text = text.String()
	return r
}

// draw writes the ground of a stretch where it has one, and its letters.
func (r run) draw(b *strings.Builder, pal Palette, y int) {
	fg, ground := pal.hex(r.style.Fg, pal.Text), pal.hex(r.style.Bg, pal.Ground)
	if r.style.Attrs&uv.AttrReverse != 0 {
		fg, ground = ground, fg
	}
	if ground != pal.Ground {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", r.x*cellW, y*cellH, r.n*cellW, cellH, ground)
	}
	lined := r.style.Underline != uv.UnderlineNone || r.style.Attrs&uv.AttrStrikethrough != 0
	if !lined { // blanks at the ends say nothing
		r.text = strings.TrimRight(r.text, " ")
		letters := strings.TrimLeft(r.text, " ")
		r.x += len(r.text) - len(letters)
		r.text = letters
	}
	if r.text == "" || r.style.Attrs&uv.AttrConceal != 0 {
		return
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d"%s>%s</text>`+"\n", r.x*cellW, y*cellH+base, ansi.StringWidth(r.text)*cellW, r.looks(fg, pal), legal(r.text))
}

// looks are the attributes of letters that are not as everywhere.
func (r run) looks(fg string, pal Palette) string {
	s := ""
	if fg != pal.Text {
		s += fmt.Sprintf(` fill="%s"`, fg)
	}
	if r.style.Attrs&uv.AttrBold != 0 {
		s += ` font-weight="bold"`
	}
	if r.style.Attrs&uv.AttrFaint != 0 {
		s += ` fill-opacity="0.67"`
	}
	if r.style.Attrs&uv.AttrItalic != 0 {
		s += ` font-style="italic"`
	}
	var lines []string
	if r.style.Underline != uv.UnderlineNone {
		lines = append(lines, "underline")
	}
	if r.style.Attrs&uv.AttrStrikethrough != 0 {
		lines = append(lines, "line-through")
	}
	if len(lines) > 0 {
		s += ` text-decoration="` + strings.Join(lines, " ") + `"`
	}
	return s
}

// legal is text as XML can hold it: a character that XML forbids is replaced.
func legal(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0xfffe || r == 0xffff {
			return 0xfffd
		}
		return r
	}, text))
}

// hex is a colour as #rrggbb; none stands for no colour.
func (pal Palette) hex(c color.Color, none string) string {
	switch c := c.(type) {
	case nil:
		return none
	case ansi.BasicColor:
		return pal.Basic[c&15]
	case ansi.IndexedColor:
		if c < 16 {
			return pal.Basic[c]
		}
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
