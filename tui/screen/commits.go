package screen

import (
	"context"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// History is the commits of all branches, laid out. It is made by the command
// that loads them and never changed.
type History struct {
	Entries []engine.LogEntry
	Limit   int // as asked for; 0 = all
	dag     *part.Dag
	newest  map[string]int  // branch → row of its newest commit
	gone    map[string]bool // merged commits that no branch holds any more
}

// NewHistory lays out commits that are ordered newest first.
func NewHistory(entries []engine.LogEntry, limit int) *History {
	h := &History{Entries: entries, Limit: limit, newest: map[string]int{}, gone: map[string]bool{}}
	h.findGone()
	h.dag = part.NewDag(len(entries), h.node)
	for i := range entries {
		name := entries[i].BranchName()
		if _, ok := h.newest[name]; !ok {
			h.newest[name] = i
		}
	}
	return h
}

// Truncated says that older commits may exist that were not asked for.
func (h *History) Truncated() bool { return h.Limit > 0 && len(h.Entries) >= h.Limit }

// findGone looks for the merged parents that are not among the commits. Of a
// truncated history nothing can be said: they may be older.
func (h *History) findGone() {
	if h.Truncated() {
		return
	}
	for i := range h.Entries {
		if m := h.Entries[i].MergedParent; m != nil {
			h.gone[*m] = true
		}
	}
	for i := range h.Entries {
		delete(h.gone, h.Entries[i].ID)
	}
}

func (h *History) node(i int) part.Node {
	c := &h.Entries[i].Commit
	n := part.Node{ID: c.ID}
	if c.Parent != nil {
		n.Parent = *c.Parent
	}
	switch {
	case c.MergedParent != nil && *c.MergedParent != "":
		n.Mark = part.MarkMerge
		if !h.gone[*c.MergedParent] {
			n.Merged = *c.MergedParent
		}
	case c.Actor != nil && strings.HasPrefix(*c.Actor, "omnigraph:"):
		n.Mark = part.MarkSystem
	}
	return n
}

// firstCommits is how many commits are asked for at first.
const firstCommits = 500

// AskHistory asks for the newest commits; limit 0 for all.
func (s *Session) AskHistory(e *Env, limit int) Request {
	return s.History.ask(e, func(ctx context.Context, ws workspace.Workspace) (*History, error) {
		entries, err := ws.History(ctx, limit)
		if err != nil && !incomplete(err) {
			return nil, err
		}
		return NewHistory(entries, limit), err
	})
}

// Commits shows the commit graph of all branches.
type Commits struct {
	split
	toEnd bool // go to the end when the rest has come
}

// NewCommits makes the screen.
func NewCommits() *Commits { return &Commits{split: split{share: 56}} }

// Name implements Screen.
func (c *Commits) Name() string { return action.OnCommits }

// Title implements Screen.
func (c *Commits) Title() string { return "commits" }

// Place implements Screen.
func (c *Commits) Place() string { return "commits" }

// Start implements Screen.
func (c *Commits) Start(e *Env) []Request {
	if e.Data.History.wanted() {
		return []Request{e.Data.AskHistory(e, firstCommits)}
	}
	return nil
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
func (c *Commits) Panes(e *Env) []Pane { return []Pane{&e.Data.History} }

// Context implements Screen.
func (c *Commits) Context(e *Env) action.Context {
	h, ok := e.Data.History.Get()
	if !ok {
		return action.Context{}
	}
	n := len(h.Entries)
	return action.Context{Items: n, Openable: n > 0, Detail: n > 0, Truncated: h.Truncated()}
}

// Do implements Screen.
func (c *Commits) Do(e *Env, id action.ID) Effect {
	h, ok := e.Data.History.Get()
	if !ok {
		return Effect{}
	}
	switch {
	case id == action.Flip || id == action.Open:
		c.onRight = !c.onRight && len(h.Entries) > 0
	case id == action.Bottom && h.Truncated() && !c.onRight:
		c.toEnd = true
		return Effect{Ask: []Request{e.Data.AskHistory(e, 0)}, Note: "reading all commits"}
	default:
		if c.move(id, len(h.Entries)) && c.list.Sel < len(h.Entries) {
			c.list.Remember(h.Entries[c.list.Sel].ID)
			c.toEnd = false
		}
	}
	return Effect{}
}

// Render implements Screen.
func (c *Commits) Render(e *Env, a Area) []string {
	p := &e.Data.History
	h, ok := p.Get()
	if !ok {
		out := append([]string{title(e, a.W, "commits", "", p)}, absent(e, p, a.W, a.H-1)...)
		return part.Fit(out, a.W, a.H)
	}
	if c.toEnd && !h.Truncated() {
		c.toEnd = false
		c.list.Move(len(h.Entries), len(h.Entries))
	}
	c.list.Settle(len(h.Entries), func(i int) string { return h.Entries[i].ID })
	key := ""
	if len(h.Entries) > 0 {
		key = h.Entries[c.list.Sel].ID
	}
	list := func(w, height int, focused bool) []string { return c.renderList(e, h, w, height, focused) }
	detail := func(w int) *part.Doc {
		d := part.NewDoc(e.Theme, w)
		if len(h.Entries) > 0 {
			commitDoc(d, h, h.Entries[c.list.Sel])
		}
		return d
	}
	return c.render(e, a, key, list, detail)
}

func (c *Commits) renderList(e *Env, h *History, w, height int, focused bool) []string {
	p := &e.Data.History
	n := len(h.Entries)
	facts := part.Count(n) + " on all branches"
	if h.Truncated() {
		facts = "newest " + part.Count(n) + ", older ones not read"
	}
	out := []string{title(e, w, "commits", facts, p)}
	if p.Problem() != nil {
		out = append(out, problem(e, p, w, 0)...)
	}
	if n == 0 {
		out = append(out, part.Line(e.Theme, w, part.S("  "), part.R(theme.Muted, "no commit yet")))
		return part.Fit(out, w, height)
	}
	rest := height - len(out)
	if h.Truncated() {
		rest--
	}
	rest = max(rest, 0)
	out = append(out, c.table(e, h, rest).Render(e.Theme, w, rest, &c.list, focused)...)
	if h.Truncated() {
		out = append(out, part.Line(e.Theme, w, part.R(theme.Muted, " "+e.Theme.Glyph.Folded+" older commits were not read "+e.Theme.Glyph.Dot+" G reads them and goes to the end")))
	}
	return part.Fit(out, w, height)
}

// table lays out the window that is about to be drawn.
func (c *Commits) table(e *Env, h *History, height int) part.Table {
	g := e.Theme.Glyph
	c.list.Fit(len(h.Entries), height)
	from := c.list.Top
	lanes := h.dag.Window(e.Theme, from, height)
	lead := 2
	for _, l := range lanes {
		lead = max(lead, l.Width())
	}
	return part.Table{
		Columns: []part.Column{
			{Title: "commit"},
			{Title: "version", Right: true, Drop: 6},
			{Title: "branch", Min: 10, Max: 24, Drop: 3},
			{Title: "actor", Min: 8, Max: 18, Drop: 5},
			{Title: "age", Right: true, Drop: 4},
			{Title: "changed", Min: 16, Drop: 2},
		},
		N: len(h.Entries), LeadWidth: lead,
		Lead: func(i int) []part.Span {
			if i < from || i >= from+len(lanes) {
				return nil
			}
			return lanes[i-from].Cells
		},
		Row: func(i int) []part.Span {
			en := &h.Entries[i]
			branch, role := part.Clean(en.BranchName(), g), theme.Muted
			if h.newest[en.BranchName()] == i {
				role = theme.Accent
			}
			actor := ""
			if en.Actor != nil {
				actor = part.Clean(*en.Actor, g)
			}
			return []part.Span{
				part.S(part.Short(en.ID, g)), part.R(theme.Muted, "v"+part.Count(en.ManifestVersion)), part.R(role, branch),
				part.S(actor), part.R(theme.Muted, part.Ago(e.Now, en.Time())), part.S(summary(en.Changed, g)),
			}
		},
	}
}

// summary says in a few words what a commit did.
func summary(changed []engine.TableChange, g theme.Glyphs) string {
	if len(changed) == 0 {
		return "no table moved"
	}
	if len(changed) > 2 {
		var n int64
		for _, c := range changed {
			n += c.RowsDelta
		}
		return part.Count(len(changed)) + " tables " + signed(n)
	}
	var out []string
	for _, c := range changed {
		out = append(out, part.Clean(c.Table, g)+" "+change(c))
	}
	return strings.Join(out, ", ")
}

func change(c engine.TableChange) string {
	switch {
	case c.FromVersion == 0:
		return "made, " + signed(c.RowsDelta)
	case c.ToVersion == 0:
		return "dropped"
	}
	return signed(c.RowsDelta)
}

func signed(n int64) string {
	if n >= 0 {
		return "+" + part.Count(n)
	}
	return part.Count(n)
}

func commitDoc(d *part.Doc, h *History, en engine.LogEntry) {
	kind := "commit"
	if en.MergedParent != nil {
		kind = "merge"
	}
	d.Head(kind + " " + en.ID)
	d.Fact("time", part.When(en.Time()))
	d.Fact("branch", en.BranchName())
	d.Fact("version", "v"+part.Count(en.ManifestVersion)+" of __manifest")
	if en.Actor != nil {
		d.Fact("actor", *en.Actor)
	} else {
		d.FactRole("actor", theme.Muted, "none recorded")
	}
	if en.Parent != nil {
		d.Fact("parent", *en.Parent)
	} else {
		d.FactRole("parent", theme.Muted, "none: the first commit")
	}
	if en.MergedParent != nil {
		merged := *en.MergedParent
		if h.gone[merged] {
			merged += ", which no branch holds any more"
		}
		d.Fact("merged", merged)
	}
	d.Head("changed")
	if len(en.Changed) == 0 {
		d.Text(theme.Muted, "no table: this commit moved only the graph itself")
	}
	for _, c := range en.Changed {
		changeLine(d, c)
	}
	if len(en.Changed) > 0 {
		d.Text(theme.Muted, "from the counts that the graph records; no rows were read")
	}
}

func changeLine(d *part.Doc, c engine.TableChange) {
	g := d.Theme().Glyph
	spans := []part.Span{part.R(theme.Strong, part.Pad(part.Clean(c.Table, g), 20)), part.S("  " + part.PadLeft(change(c), 10))}
	versions := "v" + part.Count(c.FromVersion) + " " + g.Arrow + " v" + part.Count(c.ToVersion)
	switch {
	case c.FromVersion == 0:
		versions = "v" + part.Count(c.ToVersion)
	case c.ToVersion == 0:
		versions = "v" + part.Count(c.FromVersion) + " " + g.Arrow + " none"
	}
	spans = append(spans, part.R(theme.Muted, "  "+versions))
	if c.FragmentsDelta != nil {
		spans = append(spans, part.R(theme.Muted, "  fragments "+signed(int64(*c.FragmentsDelta))))
	}
	d.Line(spans...)
}
