package out

import (
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/tui/theme"
)

// Column is one column of a table.
type Column struct {
	Name  string
	Right bool // align to the right: numbers
}

// Cell is one value of a table.
type Cell struct {
	Text string
	Role theme.Role
}

// C is a plain cell.
func C(s string) Cell { return Cell{Text: s} }

// Layout bounds the columns of a table. The zero value cuts at 80 cells.
type Layout struct {
	MaxWidth int  // cells of one column; 0 = 80
	Wrap     bool // go on below instead of cutting
}

// DefaultMaxWidth is the widest column of a table, as in the Rust CLI.
const DefaultMaxWidth = 80

// Grid is a table whose widths are set: they are found from the first rows and
// kept, so that a long table can be printed as it is read.
type Grid struct {
	t      *Text
	cols   []Column
	layout Layout
	width  []int
}

// NewGrid measures sample rows and prints the head of the table.
func (t *Text) NewGrid(cols []Column, layout Layout, sample [][]Cell) *Grid {
	if layout.MaxWidth <= 0 {
		layout.MaxWidth = DefaultMaxWidth
	}
	g := &Grid{t: t, cols: cols, layout: layout, width: make([]int, len(cols))}
	for i, c := range cols {
		g.width[i] = ansi.StringWidth(Clean(c.Name))
	}
	for _, row := range sample {
		for i, c := range row {
			g.width[i] = max(g.width[i], ansi.StringWidth(Clean(c.Text)))
		}
	}
	head := make([]Cell, len(cols))
	for i, c := range cols {
		g.width[i] = min(g.width[i], layout.MaxWidth)
		head[i] = Cell{c.Name, theme.Muted}
	}
	g.Row(head)
	return g
}

// Table prints a whole table and cuts nothing.
func (t *Text) Table(cols []Column, rows [][]Cell) {
	g := t.NewGrid(cols, Layout{MaxWidth: math.MaxInt}, rows)
	for _, r := range rows {
		g.Row(r)
	}
}

// Row prints one row.
func (g *Grid) Row(row []Cell) {
	parts := make([][]string, len(row))
	lines := 1
	for i, c := range row {
		parts[i] = g.fit(Clean(c.Text), g.width[i])
		lines = max(lines, len(parts[i]))
	}
	for l := range lines {
		var b strings.Builder
		gap := 0
		for i, c := range row {
			s := ""
			if l < len(parts[i]) {
				s = parts[i][l]
			}
			pad := max(g.width[i]-ansi.StringWidth(s), 0)
			if g.cols[i].Right {
				gap, pad = gap+pad, 0
			}
			if s != "" {
				b.WriteString(strings.Repeat(" ", gap) + g.t.theme.Paint(c.Role, s))
				gap = 0
			}
			gap += pad + 2
		}
		g.t.Raw(b.String() + "\n")
	}
}

func (g *Grid) fit(s string, width int) []string {
	if ansi.StringWidth(s) <= width {
		return []string{s}
	}
	if g.layout.Wrap {
		return strings.Split(ansi.Hardwrap(s, width, true), "\n")
	}
	return []string{ansi.Truncate(s, width, g.t.theme.Glyph.More)}
}
