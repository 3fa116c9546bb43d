package part

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnideck/omnideck/tui/theme"
)

// Node is one commit as the graph sees it: its key, the keys of its parents
// ("" = none), and what mark it gets.
type Node struct {
	ID, Parent, Merged string
	Mark               Mark
}

// Mark is the kind of a commit.
type Mark uint8

// The marks.
const (
	MarkCommit Mark = iota
	MarkMerge
	MarkSystem
)

// Dag is the layout of a commit graph with one row per commit, newest first.
//
// Lanes: a commit takes the first lane that waits for it, other lanes that
// wait for it close into it; its first parent keeps the lane, its second
// parent joins the lane that waits for it already or opens the nearest free
// one. The lanes are kept every dagStep rows, and the rows in between are
// computed when they are looked at, so that a million commits cost the lanes
// of some thousand.
type Dag struct {
	n     int
	node  func(i int) Node
	marks [][]string // lanes before row dagStep·i: the key that each waits for, "" = free
}

const (
	dagStep  = 256
	dagLanes = 8 // lanes that are drawn
)

// NewDag walks n commits once. node must answer the same until the end.
func NewDag(n int, node func(i int) Node) *Dag {
	d := &Dag{n: n, node: node}
	var lanes []string
	for i := range n {
		if i%dagStep == 0 {
			d.marks = append(d.marks, slices.Clone(lanes))
		}
		lanes, _ = step(lanes, node(i))
	}
	return d
}

// Len is the number of rows.
func (d *Dag) Len() int { return d.n }

// Row is the drawing of one row, before it is painted.
type Row struct {
	Cells  []Span // lanes, two cells each
	Hidden int    // lanes that are not drawn
	Mark   Mark
}

// Width is the number of cells of the row.
func (r Row) Width() int { return SpanWidth(r.Cells) }

// Window lays out rows [from, from+h).
func (d *Dag) Window(t *theme.Theme, from, h int) []Row {
	from = min(max(0, from), d.n)
	to := min(d.n, from+h)
	if from >= to {
		return nil
	}
	lanes := slices.Clone(d.marks[from/dagStep])
	out := make([]Row, 0, to-from)
	for i := from / dagStep * dagStep; i < to; i++ {
		node := d.node(i)
		before := slices.Clone(lanes)
		var s laneStep
		lanes, s = step(lanes, node)
		if i >= from {
			out = append(out, drawRow(t, before, lanes, s, node.Mark))
		}
	}
	return out
}

// laneStep says what one commit did to the lanes.
type laneStep struct {
	col    int   // its own lane
	closed []int // lanes that end in it
	opened int   // lane that its second parent opened, -1 = none
	joined int   // lane of the second parent that was there already, -1 = none
}

// step applies one commit to the lanes, in place where it can.
func step(lanes []string, c Node) ([]string, laneStep) {
	s := laneStep{col: -1, opened: -1, joined: -1}
	for i, want := range lanes {
		if want != c.ID || want == "" {
			continue
		}
		if s.col < 0 {
			s.col = i
		} else {
			s.closed = append(s.closed, i)
		}
	}
	if s.col < 0 {
		lanes, s.col = free(lanes, 0, nil)
	}
	for _, i := range s.closed {
		lanes[i] = ""
	}
	lanes[s.col] = c.Parent
	if c.Merged != "" && c.Merged != c.Parent {
		if i := slices.Index(lanes, c.Merged); i >= 0 {
			s.joined = i
		} else {
			lanes, s.opened = free(lanes, s.col+1, s.closed)
			lanes[s.opened] = c.Merged
		}
	}
	for len(lanes) > 0 && lanes[len(lanes)-1] == "" {
		lanes = lanes[:len(lanes)-1]
	}
	return lanes, s
}

// free finds the first free lane from at on that is not in taken, adding one
// when there is none.
func free(lanes []string, at int, taken []int) ([]string, int) {
	for i := at; i < len(lanes); i++ {
		if lanes[i] == "" && !slices.Contains(taken, i) {
			return lanes, i
		}
	}
	for len(lanes) < at {
		lanes = append(lanes, "")
	}
	for slices.Contains(taken, len(lanes)) {
		lanes = append(lanes, "")
	}
	return append(lanes, ""), len(lanes)
}

// drawRow paints one row from the lanes before and after it. Each lane has a
// cell for its line and one for the connector to the next lane.
func drawRow(t *theme.Theme, before, after []string, s laneStep, mark Mark) Row {
	n := max(len(before), len(after), s.col+1)
	left, right := s.col, s.col
	for _, i := range append(slices.Clone(s.closed), s.opened, s.joined) {
		if i >= 0 {
			left, right = min(left, i), max(right, i)
		}
	}
	drawn := min(n, dagLanes)
	row := Row{Mark: mark, Hidden: n - drawn}
	for i := range drawn {
		lane := theme.Lane(i)
		row.Cells = append(row.Cells, R(lane, laneGlyph(t, before, after, s, mark, i, left, right)))
		connector := " "
		if i >= left && i < right {
			connector = t.Glyph.H
		}
		row.Cells = append(row.Cells, R(theme.Lane(max(i, s.col)), connector))
	}
	if row.Hidden > 0 {
		row.Cells = append(row.Cells, R(theme.Muted, t.Glyph.Folded+strconv.Itoa(row.Hidden)))
	}
	return row
}

func laneGlyph(t *theme.Theme, before, after []string, s laneStep, mark Mark, i, left, right int) string {
	g := t.Glyph
	above := i < len(before) && before[i] != ""
	below := i < len(after) && after[i] != ""
	switch {
	case i == s.col:
		return [...]string{g.Commit, g.Merge, g.System}[mark]
	case slices.Contains(s.closed, i) && i > s.col && i == right:
		return g.BR
	case slices.Contains(s.closed, i) && i < s.col && i == left:
		return g.BL
	case i == s.opened && i == right:
		return g.TR
	case i == s.joined && i > s.col && i == right:
		return g.TeeL
	case i == s.joined && i < s.col && i == left:
		return g.TeeR
	case i > left && i < right && slices.Contains(s.closed, i) && !below:
		return g.TeeUp
	case i > left && i < right && i == s.opened:
		return g.TeeDown
	case i > left && i < right && (above || below):
		return g.Cross
	case i > left && i < right:
		return g.H
	case above || below:
		return g.V
	}
	return " "
}

// Text is the row without styles.
func (r Row) Text() string {
	var b strings.Builder
	for _, c := range r.Cells {
		b.WriteString(c.Text)
	}
	return b.String()
}
