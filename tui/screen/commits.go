package screen

import (
	"slices"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// Commits shows the commit graph of all branches. Its lanes are drawn while
// the list is whole and in its own order; a list that is narrowed or ordered
// otherwise, and the line of first parents, have none.
type Commits struct {
	browse
	toEnd bool // go to the end when the rest has come
	first bool // only the line of first parents
	line  *firstLine
}

// firstLine is the line of first parents of a branch, and what it was made
// from.
type firstLine struct {
	of     *History
	branch string
	rows   []int32
}

// NewCommits makes the screen.
func NewCommits() *Commits {
	c := &Commits{}
	c.browse = newBrowse(62, c.listing)
	return c
}

// Name implements Screen.
func (c *Commits) Name() string { return action.OnCommits }

// Title implements Screen.
func (c *Commits) Title() string { return "commits" }

// Place implements Screen.
func (c *Commits) Place() string { return "commits" }

// Start implements Screen.
func (c *Commits) Start(e *Env) []Request {
	if e.Data.History.wanted(e) {
		return []Request{e.Data.AskHistory(e, firstCommits)}
	}
	return c.need(e)
}

// Reload implements Screen.
func (c *Commits) Reload(e *Env) []Request {
	limit := firstCommits
	if h, ok := e.Data.History.Get(); ok {
		limit = h.Limit
	}
	return []Request{e.Data.AskHistory(e, limit)}
}

// Panes implements Screen.
func (c *Commits) Panes(e *Env) []Pane { return c.with(&e.Data.History) }

// base is the row of the i-th item: all commits, or those of the line.
func (c *Commits) base(e *Env, h *History) (n int, row func(i int) int, of any) {
	if !c.first {
		return h.Len(), func(i int) int { return i }, h
	}
	if l := c.line; l == nil || l.of != h || l.branch != e.Branch() {
		c.line = &firstLine{of: h, branch: e.Branch()}
		c.line.rows = h.line(e.Branch())
	}
	rows := c.line.rows
	return len(rows), func(i int) int { return int(rows[i]) }, c.line
}

// find is the item that is a commit.
func (c *Commits) find(h *History, id string) (int, bool) {
	row, ok := h.Find(id)
	if !ok || !c.first {
		return row, ok
	}
	return slices.BinarySearch(c.line.rows, int32(row))
}

func (c *Commits) listing(e *Env) listing {
	h, ok := e.Data.History.Get()
	if !ok {
		return listing{}
	}
	n, row, of := c.base(e, h)
	return listing{
		n: n, of: of, what: "commits",
		key:    func(i int) string { return h.ID(row(i)) },
		find:   func(id string) (int, bool) { return c.find(h, id) },
		record: func(i int) any { return h.Entry(row(i)) },
		facets: []facet{
			textFacet("commit", func(i int) string { return h.ID(row(i)) }),
			countFacet("version", func(i int) uint64 { return h.Version(row(i)) }),
			textFacet("branch", func(i int) string { return h.Branch(row(i)) }),
			textFacet("actor", func(i int) string { return h.Actor(row(i)) }),
			ageFacet(e.Now, func(i int) time.Time { return h.Time(row(i)) }),
			textFacet("changed", func(i int) string { return h.tables(row(i)) }),
			countFacet("rows", func(i int) int64 { return h.RowsDelta(row(i)) }),
			textFacet("kind", func(i int) string { return kindOf(h, row(i)) }),
		},
	}
}

// Context implements Screen.
func (c *Commits) Context(e *Env) action.Context {
	out := c.context(e)
	if h, ok := e.Data.History.Get(); ok {
		out.Truncated = h.Truncated()
	}
	return out
}

// entry is the selected commit.
func (c *Commits) entry(e *Env) (*History, *engine.LogEntry, int) {
	i, ok := c.selected(e)
	if !ok {
		return nil, nil, 0
	}
	h, _ := e.Data.History.Get()
	_, row, _ := c.base(e, h)
	en := h.Entry(row(i))
	return h, &en, row(i)
}

// Do implements Screen.
func (c *Commits) Do(e *Env, id action.ID) Effect {
	h, ok := e.Data.History.Get()
	if !ok {
		return Effect{}
	}
	switch {
	case id == action.Flip || id == action.Open:
		c.flip(e)
	case id == action.FirstLine:
		return c.switchLine(e, h)
	case id == action.Bottom && h.Truncated() && !c.onRight:
		c.toEnd = true
		return Effect{Ask: []Request{e.Data.AskHistory(e, 0)}, Note: "reading all commits"}
	default:
		if c.move(e, id) {
			c.toEnd = false
		}
	}
	return Effect{}
}

// switchLine shows only the line of first parents, or all commits again.
func (c *Commits) switchLine(e *Env, h *History) Effect {
	if !c.first {
		if _, ok := h.newest[e.Branch()]; !ok {
			return Effect{Note: "none of the commits that were read is of " + e.Branch()}
		}
	}
	if _, en, _ := c.entry(e); en != nil && c.list.Key == "" {
		c.list.Remember(en.ID)
	}
	c.first = !c.first
	return Effect{Ask: c.need(e)}
}

// point is a commit as a place in history.
func point(en *engine.LogEntry) engine.At {
	at := engine.At{Commit: en.ID, Version: en.ManifestVersion}
	if en.Branch != nil {
		at.Branch = *en.Branch
	}
	return at
}

// Destination implements Traveller: the selected commit.
func (c *Commits) Destination(e *Env) (engine.At, string, bool) {
	_, en, _ := c.entry(e)
	if en == nil {
		return engine.At{}, "", false
	}
	return point(en), "commit " + part.Short(en.ID, e.Theme.Glyph), true
}

// Pin implements Pinner.
func (c *Commits) Pin(e *Env) *Pin {
	_, en, _ := c.entry(e)
	if en == nil {
		return nil
	}
	return &Pin{Kind: PinPoint, Label: "commit " + part.Short(en.ID, e.Theme.Glyph), At: point(en)}
}

// SinceBefore implements Predecessor: what the selected commit changed.
func (c *Commits) SinceBefore(e *Env) Screen {
	_, en, _ := c.entry(e)
	if en == nil || en.Parent == nil {
		return nil
	}
	return newComparePoints(*en.Parent, en.ID, nil, c.Pin(e))
}

// Copies implements Copier.
func (c *Commits) Copies(e *Env) []Copy {
	_, en, _ := c.entry(e)
	if en == nil {
		return nil
	}
	out := []Copy{
		{"commit id", en.ID},
		{"flag that reads there", "--at " + en.ID},
		{"command that shows the commit", shell.Line("commit", "show", e.Address, en.ID)},
		{"command that lists the branch", shell.Line("log", e.Address, "--branch", en.BranchName())},
		{"command that shows the tables there", shell.Line("snapshot", e.Address, "--at", en.ID)},
		{"branch", en.BranchName()},
	}
	if en.Actor != nil {
		out = append(out, Copy{"actor", *en.Actor})
	}
	return append(out, jsonCopy("commit as JSON", en)...)
}

// Render implements Screen.
func (c *Commits) Render(e *Env, a Area) []string {
	p := &e.Data.History
	h, ok := p.Get()
	if !ok {
		out := append([]string{title(e, a.W, "commits", "", p)}, absent(e, p, a.W, a.H-1)...)
		return part.Fit(out, a.W, a.H)
	}
	l := c.listing(e)
	n := c.settle(l)
	if c.toEnd && !h.Truncated() {
		c.toEnd = false
		c.list.Move(n, n)
	}
	key := ""
	_, en, row := c.entry(e)
	if en != nil {
		key = en.ID
	}
	list := func(w, height int, focused bool) []string { return c.renderList(e, h, l, n, w, height, focused) }
	detail := func(w int) *part.Doc {
		d := part.NewDoc(e.Theme, w)
		if en != nil {
			commitDoc(e, d, h, row)
		}
		return d
	}
	return c.render(e, a, key, list, detail)
}

func (c *Commits) renderList(e *Env, h *History, l listing, n, w, height int, focused bool) []string {
	var p Pane = &e.Data.History
	if c.lens.work.busy && !p.Busy() {
		p = &c.lens.work
	}
	out := []string{title(e, w, "commits", c.title(e, h, l, n), p)}
	if e.Data.History.Problem() != nil {
		out = append(out, problem(e, &e.Data.History, w, 0)...)
	}
	switch {
	case l.n == 0:
		out = append(out, part.Line(e.Theme, w, part.S("  "), part.R(theme.Muted, "no commit yet")))
		return part.Fit(out, w, height)
	case n == 0:
		return part.Fit(append(out, c.noMatch(e, w)), w, height)
	}
	rest := height - len(out)
	if h.Truncated() {
		rest--
	}
	rest = max(rest, 0)
	out = append(out, c.table(e, h, n, w, rest).Render(e.Theme, w, rest, &c.list, focused)...)
	if h.Truncated() {
		out = append(out, part.Line(e.Theme, w, part.R(theme.Muted, " "+e.Theme.Glyph.Folded+" older commits were not read "+e.Theme.Glyph.Dot+" "+press(e, action.Bottom)+" reads them and goes to the end")))
	}
	return part.Fit(out, w, height)
}

// title says which commits the list is about, and what is looked for.
func (c *Commits) title(e *Env, h *History, l listing, n int) string {
	dot := " " + e.Theme.Glyph.Dot + " "
	if !c.lens.filter.Empty() {
		s := c.facts(e, l, n, "")
		if c.first {
			s += dot + "first parents of " + part.Clean(e.Branch(), e.Theme.Glyph)
		}
		if h.Truncated() {
			s += dot + "older ones not read"
		}
		return s
	}
	s := part.Count(l.n) + " on all branches"
	switch {
	case c.first:
		s = part.Count(l.n) + " first parents of " + part.Clean(e.Branch(), e.Theme.Glyph)
		if h.Truncated() {
			s += " among the newest " + part.Count(h.Len())
		}
	case h.Truncated():
		s = "newest " + part.Count(l.n) + ", older ones not read"
	}
	return c.facts(e, l, n, s)
}

// table lays out the window that is about to be drawn.
func (c *Commits) table(e *Env, h *History, n, w, height int) part.Table {
	g := e.Theme.Glyph
	c.list.Fit(n, height)
	from := c.list.Top
	_, base, _ := c.base(e, h)
	row := func(p int) int { return base(c.lens.item(p)) }
	graph := c.lens.order == nil && !c.first
	lanes, lead := c.lanes(e, h, graph, row, n, from, height)
	// A wide list says more: the moment, and the tables by their names.
	dated, room := w >= datedFrom, w-lead-48
	if dated {
		room -= 18
	}
	bold := map[int]bool{}
	if graph {
		bold = h.ancestors(row(c.list.Sel), row(c.list.Sel)+height)
	}
	tb := part.Table{
		Columns: commitColumns(),
		N:       n, LeadWidth: lead,
		Lead: func(i int) []part.Span {
			if i < from || i >= from+len(lanes) {
				return nil
			}
			return lanes[i-from]
		},
		Row: func(p int) []part.Span {
			i := row(p)
			en := h.Entry(i)
			when := ""
			if dated {
				when = en.Time().UTC().Format("2006-01-02 15:04")
			}
			branch, idRole := part.R(theme.Muted, part.Clean(en.BranchName(), g)), theme.Text
			if h.newest[en.BranchName()] == i {
				branch = part.R(theme.Chip, branch.Text)
			}
			if bold[i] {
				idRole = theme.Strong
			}
			return []part.Span{
				part.R(idRole, part.Short(en.ID, g)), part.R(theme.Accent, marked(e, point(&en))),
				part.R(theme.Muted, "v"+part.Count(en.ManifestVersion)), branch,
				part.S(part.Clean(h.Actor(i), g)), part.R(theme.Muted, part.Ago(e.Now, en.Time())), part.R(theme.Muted, when), summarySpan(en.Changed, g, room),
			}
		},
	}
	return tb
}

// datedFrom is the width from which commits are listed with their moment.
const datedFrom = 110

func commitColumns() []part.Column {
	return []part.Column{
		{Title: "commit"},
		{Marks: true},
		{Title: "version", Right: true, Drop: 6},
		{Title: "branch", Min: 10, Max: 24, Drop: 3},
		{Title: "actor", Min: 8, Max: 18, Drop: 5},
		{Title: "age", Right: true, Drop: 4},
		{Title: "time", Drop: 7},
		{Title: "changed", Min: 16, Drop: 2},
	}
}

// lanes are what stands before the rows of the window: lanes of the graph, or
// only the marks of the commits.
func (c *Commits) lanes(e *Env, h *History, graph bool, row func(int) int, n, from, height int) (out [][]part.Span, width int) {
	width = 2
	if graph {
		for _, l := range h.dag.Window(e.Theme, from, height) {
			width = max(width, l.Width())
			out = append(out, l.Cells)
		}
		return out, width
	}
	g := e.Theme.Glyph
	for p := from; p < min(n, from+height); p++ {
		mark := [...]string{part.MarkCommit: g.Commit, part.MarkMerge: g.Merge, part.MarkSystem: g.System}[h.mark(row(p))]
		out = append(out, []part.Span{part.R(theme.Lane(0), mark)})
	}
	return out, width
}

func kindOf(h *History, row int) string {
	return [...]string{part.MarkCommit: "commit", part.MarkMerge: "merge", part.MarkSystem: "system"}[h.mark(row)]
}

func rowsOf(changed []engine.TableChange) int64 {
	var n int64
	for i := range changed {
		n += changed[i].RowsDelta
	}
	return n
}
