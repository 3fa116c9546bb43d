package screen

import (
	"slices"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// Branches shows the branches as a tree of who was made from whom, and for
// each whom it needs and who needs it.
type Branches struct {
	split
}

// NewBranches makes the screen.
func NewBranches() *Branches { return &Branches{} }

// Name implements Screen.
func (b *Branches) Name() string { return action.OnBranches }

// Title implements Screen.
func (b *Branches) Title() string { return "branches" }

// Place implements Screen.
func (b *Branches) Place() string { return "branches" }

// Start implements Screen.
func (b *Branches) Start(e *Env) []Request {
	if e.Data.Branches.wanted() {
		return b.Reload(e)
	}
	return nil
}

// Reload implements Screen.
func (b *Branches) Reload(e *Env) []Request { return []Request{e.Data.AskBranches(e)} }

// Panes implements Screen.
func (b *Branches) Panes(e *Env) []Pane { return []Pane{&e.Data.Branches} }

// Context implements Screen.
func (b *Branches) Context(e *Env) action.Context {
	list, _ := e.Data.Branches.Get()
	return action.Context{Items: len(list), Openable: len(list) > 0, Detail: len(list) > 0}
}

// Do implements Screen.
func (b *Branches) Do(e *Env, id action.ID) Effect {
	data, _ := e.Data.Branches.Get()
	rows := tree(data)
	switch id {
	case action.Flip, action.Open:
		b.onRight = !b.onRight && len(rows) > 0
	default:
		if b.move(id, len(rows)) && b.list.Sel < len(rows) {
			b.list.Remember(rows[b.list.Sel].Name)
		}
	}
	return Effect{}
}

// Destination implements Traveller: the head of the selected branch.
func (b *Branches) Destination(e *Env) (at engine.At, name string, ok bool) {
	data, _ := e.Data.Branches.Get()
	rows := tree(data)
	if b.list.Sel >= len(rows) {
		return at, "", false
	}
	if name = rows[b.list.Sel].Name; name != "main" {
		at.Branch = name
	}
	return at, name, true
}

// Render implements Screen.
func (b *Branches) Render(e *Env, a Area) []string {
	p := &e.Data.Branches
	data, ok := p.Get()
	rows := tree(data)
	b.list.Settle(len(rows), func(i int) string { return rows[i].Name })
	key := ""
	if len(rows) > 0 {
		key = rows[b.list.Sel].Name
	}
	list := func(w, h int, focused bool) []string {
		facts := ""
		if ok {
			facts = part.Count(len(rows))
		}
		out := []string{title(e, w, "branches", facts, p)}
		if !ok || p.Problem() != nil {
			room := h - len(out)
			if len(rows) > 0 {
				room = 0
			}
			out = append(out, absent(e, p, w, room)...)
		}
		if len(rows) > 0 {
			out = append(out, b.table(e, rows).Render(e.Theme, w, max(0, h-len(out)), &b.list, focused)...)
		}
		return part.Fit(out, w, h)
	}
	detail := func(w int) *part.Doc {
		d := part.NewDoc(e.Theme, w)
		if len(rows) > 0 {
			branchDoc(e, d, rows[b.list.Sel])
		}
		return d
	}
	return b.render(e, a, key, list, detail)
}

func (b *Branches) table(e *Env, rows []treeRow) part.Table {
	g := e.Theme.Glyph
	return part.Table{
		Columns: []part.Column{
			{Title: "branch", Min: 18},
			{Title: "head"},
			{Title: "version", Right: true, Drop: 4},
			{Title: "ahead", Right: true, Drop: 2},
			{Title: "own tables", Right: true, Drop: 3},
			{Title: "needed by", Min: 9, Drop: 1},
			{Title: "state", Drop: 5},
		},
		N: len(rows), Heading: true,
		Row: func(i int) []part.Span {
			r := rows[i]
			name := r.lead(g) + part.Clean(r.Name, g)
			head := part.R(theme.Muted, "none")
			if r.Head != "" {
				head = part.S(part.Short(r.Head, g))
			}
			state, role := "", theme.Muted
			switch {
			case r.Problem != "":
				state, role = g.Bad+" unreadable", theme.Bad
			case len(r.Findings) > 0:
				state, role = g.Warn+" "+part.Plural(len(r.Findings), "finding", "findings"), theme.Warn
			case r.Name == e.Branch():
				state, role = "shown", theme.Accent
			case !r.OwnHead && r.Name != "main":
				state = "lazy"
			}
			version := ""
			if r.ManifestVersion > 0 {
				version = "v" + part.Count(r.ManifestVersion)
			}
			return []part.Span{
				part.S(name), head, part.S(version), part.S(orDash(r.Name == "main", part.Count(r.Ahead))),
				part.S(part.Count(r.OwnedTables)), part.S(orDash(len(r.NeededBy) == 0, part.Clean(strings.Join(r.NeededBy, ", "), g))), part.R(role, state),
			}
		},
	}
}

func orDash(dash bool, s string) string {
	if dash {
		return "-"
	}
	return s
}

const treeDepth = 6 // generations that are drawn

// treeRow is a branch at its place in the tree.
type treeRow struct {
	engine.Branch
	lines []bool // for each ancestor below the top, and for itself: more siblings follow
}

// lead draws the place in the tree, up to a depth that leaves room for names.
func (r treeRow) lead(g theme.Glyphs) string {
	var b strings.Builder
	shown := r.lines[max(0, len(r.lines)-treeDepth):]
	for i, more := range shown {
		switch {
		case i < len(shown)-1 && more:
			b.WriteString(g.V + " ")
		case i < len(shown)-1:
			b.WriteString("  ")
		case more:
			b.WriteString(g.TeeR + g.H)
		default:
			b.WriteString(g.BL + g.H)
		}
	}
	return b.String()
}

// tree orders branches depth first, each below the one that it was made from.
// Branches whose parent is missing, or that are their own ancestors, stand at
// the top.
func tree(branches []engine.Branch) []treeRow {
	known := map[string]bool{}
	for _, b := range branches {
		known[b.Name] = true
	}
	children := map[string][]engine.Branch{}
	for _, b := range branches {
		parent := b.Parent
		if parent == "" && b.Name != "main" && known["main"] {
			parent = "main"
		}
		if !known[parent] || parent == b.Name {
			parent = ""
		}
		children[parent] = append(children[parent], b)
	}
	var out []treeRow
	seen := map[string]bool{}
	var walk func(parent string, lines []bool)
	walk = func(parent string, lines []bool) {
		kids := children[parent]
		slices.SortFunc(kids, func(a, b engine.Branch) int { return strings.Compare(a.Name, b.Name) })
		for i, b := range kids {
			if seen[b.Name] {
				continue
			}
			seen[b.Name] = true
			here := lines
			if parent != "" {
				here = append(slices.Clone(lines), i < len(kids)-1)
			}
			out = append(out, treeRow{b, here})
			walk(b.Name, here)
		}
	}
	walk("", nil)
	for _, b := range branches {
		if !seen[b.Name] {
			seen[b.Name] = true
			out = append(out, treeRow{b, nil})
		}
	}
	return out
}

func branchDoc(e *Env, d *part.Doc, r treeRow) {
	d.Head(r.Name)
	if r.Problem != "" {
		d.FactRole("problem", theme.Bad, r.Problem)
	}
	if r.Name == "main" {
		d.Text(theme.Text, "The line that every graph begins with.")
	} else {
		from := branchOr(r.Parent)
		if r.ForkVersion > 0 {
			from += " at v" + part.Count(r.ForkVersion)
		}
		d.Fact("made from", from)
	}
	d.Fact("created", part.When(r.Created))
	d.Fact("head", r.Head)
	if r.ManifestVersion > 0 {
		d.Fact("version", "v"+part.Count(r.ManifestVersion)+" of its __manifest")
	}
	if !r.OwnHead && r.Name != "main" {
		d.Fact("state", "lazy: nothing was committed on it, it shows what "+branchOr(r.Parent)+" showed when it was made")
	}
	if r.Name != "main" {
		d.Fact("ahead", part.Plural(r.Ahead, "commit", "commits")+" that main does not have")
	}
	d.Fact("own tables", part.Plural(r.OwnedTables, "table", "tables")+" of which this branch has its own version")
	needs := "nothing of another branch"
	if r.Name != "main" {
		needs = branchOr(r.Parent) + ": it reads data written there"
	}
	d.Fact("needs", needs)
	by := "no branch"
	if len(r.NeededBy) > 0 {
		by = strings.Join(r.NeededBy, ", ") + ": cannot go while they read its data"
	}
	d.Fact("needed by", by)
	for _, f := range r.Findings {
		mark, role := severity(e.Theme, f.Severity)
		d.Gap()
		d.FactRole(mark+" "+f.ID, role, f.Title)
	}
}
