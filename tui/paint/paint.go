// Package paint turns a screen into a picture, and a picture into text or SVG.
//
// A Picture is cells: what a terminal would show of lines with SGR sequences,
// or of an emulated terminal. Text keeps the characters only. SVG keeps the
// cells' own styles (sixteen, 256 and 24-bit colours, bold, faint, italic,
// reverse, underline, struck out) and leaves text as text that can be
// selected; every stretch is placed by its cell, so that a wide character or a
// font that lacks a glyph shifts nothing behind it.
package paint

import (
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Picture is a grid of cells. A wide character fills its first cell; those
// behind it are empty.
type Picture struct {
	W, H  int
	cells []uv.Cell // row by row
}

// Lines is the picture of lines as a terminal of w cells would show them; what
// goes beyond the right edge is cut.
func Lines(lines []string, w int) *Picture {
	p := New(w, len(lines), func(int, int) uv.Cell { return uv.Cell{} })
	for y, l := range lines {
		row := uv.NewScreenBuffer(w, 1)
		row.Method = ansi.GraphemeWidth
		uv.NewStyledString(l).Draw(row, row.Bounds())
		for x := range w {
			if c := row.CellAt(x, 0); c != nil {
				p.cells[y*w+x] = *c
			}
		}
	}
	return p
}

// New is the picture of w by h cells.
func New(w, h int, cell func(x, y int) uv.Cell) *Picture {
	p := &Picture{W: max(0, w), H: max(0, h)}
	p.cells = make([]uv.Cell, 0, p.W*p.H)
	for y := range p.H {
		for x := range p.W {
			p.cells = append(p.cells, cell(x, y))
		}
	}
	return p
}

// At is one cell.
func (p *Picture) At(x, y int) uv.Cell { return p.cells[y*p.W+x] }

// Text is the picture as h lines without styles; blanks at their ends are
// left out.
func (p *Picture) Text() string {
	var b strings.Builder
	for y := range p.H {
		var l strings.Builder
		for x := 0; x < p.W; {
			c := p.At(x, y)
			l.WriteString(content(c))
			x += max(1, c.Width)
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	return b.String()
}

// content is what a cell shows.
func content(c uv.Cell) string {
	if c.Content == "" {
		return " "
	}
	return c.Content
}
