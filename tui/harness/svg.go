package harness

import (
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// SVG draws the screen with the cells' own styles, for looking at: text stays
// text. The palette is that of xterm on a dark or a light background.
func (s *Term) SVG(light bool) string {
	const cw, ch = 9, 19
	fg, bg := "#e5e5e5", "#101010"
	if light {
		fg, bg = "#101010", "#ffffff"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"DejaVu Sans Mono, monospace\" font-size=\"15\"><rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n", s.w*cw, s.h*ch, bg)
	for y := range s.h {
		for x := 0; x < s.w; {
			n, text, c := s.run(x, y)
			f, back := hex(c.Style.Fg, fg), hex(c.Style.Bg, bg)
			if c.Style.Attrs&uv.AttrReverse != 0 {
				f, back = back, f
			}
			if back != bg {
				fmt.Fprintf(&b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", x*cw, y*ch, n*cw, ch, back)
			}
			if strings.TrimSpace(text) != "" {
				style := ""
				if c.Style.Attrs&uv.AttrBold != 0 {
					style += " font-weight=\"bold\""
				}
				if c.Style.Attrs&uv.AttrFaint != 0 {
					style += " fill-opacity=\"0.67\""
				}
				fmt.Fprintf(&b, "<text xml:space=\"preserve\" x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"%s\"%s>%s</text>\n", x*cw, y*ch+14, n*cw, f, style, html.EscapeString(text))
			}
			x += n
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// run is the longest stretch of cells of one style that begins at x.
func (s *Term) run(x, y int) (n int, text string, first uv.Cell) {
	first = s.Cell(x, y)
	for x+n < s.w {
		c := s.Cell(x+n, y)
		if !c.Style.Equal(&first.Style) {
			break
		}
		if c.Content == "" {
			c.Content = " "
		}
		text += c.Content
		n += max(1, c.Width)
	}
	return n, text, first
}

func hex(c color.Color, none string) string {
	if c == nil {
		return none
	}
	if i, ok := c.(ansi.BasicColor); ok {
		c = ansi.IndexedColor(i)
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
