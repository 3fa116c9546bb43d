package screen

import (
	"slices"
	"strings"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// Branches shows the branches as a tree of who was made from whom, and for
// each whom it needs and who needs it. A list that is narrowed or ordered
// otherwise is drawn without the tree.
type Branches struct {
	browse
	made *branchRows
}

// branchRows is the tree, and what it was made from.
type branchRows struct {
	at   time.Time // when the branches came
	n    int
	rows []treeRow
}

// NewBranches makes the screen.
func NewBranches() *Branches {
	b := &Branches{}
	b.browse = newBrowse(0, b.listing)
	return b
}

// Name implements Screen.
func (b *Branches) Name() string { return action.OnBranches }

// Title implements Screen.
func (b *Branches) Title() string { return "branches" }

// Place implements Screen.
func (b *Branches) Place() string { return "branches" }

// Start implements Screen.
func (b *Branches) Start(e *Env) []Request {
	if e.Data.Branches.wanted(e) {
		return b.Reload(e)
	}
	return b.need(e)
}

// Reload implements Screen.
func (b *Branches) Reload(e *Env) []Request { return []Request{e.Data.AskBranches(e)} }

// Panes implements Screen.
func (b *Branches) Panes(e *Env) []Pane { return b.with(&e.Data.Branches) }

// tree is what is listed, made once for each answer.
func (b *Branches) tree(e *Env) *branchRows {
	data, _ := e.Data.Branches.Get()
	if at := e.Data.Branches.Loaded(); b.made == nil || b.made.at != at || b.made.n != len(data) {
		b.made = &branchRows{at, len(data), tree(data)}
	}
	return b.made
}

func (b *Branches) listing(e *Env) listing {
	t := b.tree(e)
	rows := t.rows
	return listing{
		n: len(rows), of: t, what: "branches",
		key:    func(i int) string { return rows[i].Name },
		record: func(i int) any { return rows[i].Branch },
		facets: []facet{
			textFacet("branch", func(i int) string { return rows[i].Name }),
			textFacet("head", func(i int) string { return rows[i].Head }),
			countFacet("version", func(i int) uint64 { return rows[i].ManifestVersion }),
			countFacet("ahead", func(i int) int { return rows[i].Ahead }),
			countFacet("tables", func(i int) int { return rows[i].OwnedTables }),
			ageFacet(e.Now, func(i int) time.Time { return rows[i].Created }),
			textFacet("parent", func(i int) string { return rows[i].Parent }),
			textFacet("needed", func(i int) string { return strings.Join(rows[i].NeededBy, " ") }),
			textFacet("state", func(i int) string { return stateWord(rows[i]) }),
		},
	}
}

// stateWord is what a filter sees of the state of a branch.
func stateWord(r treeRow) string {
	switch {
	case r.Problem != "":
		return "unreadable"
	case len(r.Findings) > 0:
		return "finding"
	case !r.OwnHead && r.Name != "main":
		return "lazy"
	}
	return ""
}

// Context implements Screen.
func (b *Branches) Context(e *Env) action.Context { return b.context(e) }

// branch is the one that is selected.
func (b *Branches) branch(e *Env) *treeRow {
	i, ok := b.selected(e)
	if !ok {
		return nil
	}
	return &b.tree(e).rows[i]
}

// Do implements Screen.
func (b *Branches) Do(e *Env, id action.ID) Effect {
	switch id {
	case action.Flip, action.Open:
		b.flip(e)
	default:
		b.move(e, id)
	}
	return Effect{}
}

// headOf is the head of a branch as a point of the graph.
func headOf(name string) engine.At {
	if name == "main" {
		return engine.At{}
	}
	return engine.At{Branch: name}
}

// Destination implements Traveller: the head of the selected branch.
func (b *Branches) Destination(e *Env) (engine.At, string, bool) {
	r := b.branch(e)
	if r == nil {
		return engine.At{}, "", false
	}
	return headOf(r.Name), r.Name, true
}

// Pin implements Pinner: the head of the selected branch.
func (b *Branches) Pin(e *Env) *Pin {
	r := b.branch(e)
	if r == nil {
		return nil
	}
	return &Pin{Kind: PinPoint, Label: "branch " + r.Name, At: headOf(r.Name)}
}

// Copies implements Copier.
func (b *Branches) Copies(e *Env) []Copy {
	r := b.branch(e)
	if r == nil {
		return nil
	}
	out := []Copy{{"branch", r.Name}}
	if r.Head != "" {
		out = append(out, Copy{"head commit", r.Head})
	}
	out = append(out,
		Copy{"command that lists its commits", shell.Line("log", e.Address, "--branch", r.Name)},
		Copy{"command that shows its tables", shell.Line("snapshot", e.Address, "--branch", r.Name)})
	return append(out, jsonCopy("branch as JSON", r.Branch)...)
}

// Render implements Screen.
func (b *Branches) Render(e *Env, a Area) []string {
	p := &e.Data.Branches
	_, ok := p.Get()
	l := b.listing(e)
	n := b.settle(l)
	rows := b.made.rows
	key := ""
	if n > 0 {
		key = l.key(b.lens.item(b.list.Sel))
	}
	list := func(w, h int, focused bool) []string {
		facts := ""
		if ok {
			facts = b.facts(e, l, n, branchCounts(rows))
		}
		out := []string{title(e, w, "branches", facts, p)}
		if !ok || p.Problem() != nil {
			room := h - len(out)
			if len(rows) > 0 {
				room = 0
			}
			out = append(out, absent(e, p, w, room)...)
		}
		switch {
		case n > 0:
			out = append(out, b.table(e, rows, n).Render(e.Theme, w, max(0, h-len(out)), &b.list, focused)...)
		case l.n > 0:
			out = append(out, b.noMatch(e, w))
		}
		return part.Fit(out, w, h)
	}
	detail := func(w int) *part.Doc {
		d := part.NewDoc(e.Theme, w)
		if n > 0 {
			branchDoc(e, d, rows, rows[b.lens.item(b.list.Sel)])
		}
		return d
	}
	return b.render(e, a, key, list, detail)
}

// branchCounts says how many branches there are, and how many are lazy.
func branchCounts(rows []treeRow) string {
	lazy, bad := 0, 0
	for _, r := range rows {
		switch {
		case r.Problem != "":
			bad++
		case stateWord(r) == "lazy":
			lazy++
		}
	}
	s := part.Count(len(rows))
	if lazy > 0 {
		s += ", " + part.Count(lazy) + " lazy"
	}
	if bad > 0 {
		s += ", " + part.Count(bad) + " unreadable"
	}
	return s
}

func (b *Branches) table(e *Env, rows []treeRow, n int) part.Table {
	g := e.Theme.Glyph
	return part.Table{
		Columns: []part.Column{
			{Title: "branch", Min: 18, Max: 60},
			{Title: "head"},
			{Title: "version", Right: true, Drop: 4},
			{Title: "ahead", Right: true, Drop: 1},
			{Title: "own tables", Right: true, Drop: 3},
			{Title: "needed by", Min: 9, Drop: 2},
			{Title: "state"},
		},
		N: n, Heading: true,
		Row: func(p int) []part.Span {
			r := rows[b.lens.item(p)]
			name := part.Clean(r.Name, g)
			if b.lens.order == nil {
				name = r.lead(g) + name
			}
			head := part.R(theme.Muted, "none")
			if r.Head != "" {
				head = part.S(part.Short(r.Head, g))
			}
			version := ""
			if r.ManifestVersion > 0 {
				version = "v" + part.Count(r.ManifestVersion)
			}
			return []part.Span{
				part.S(name), head, part.S(version), part.S(orDash(r.Name == "main" || r.Problem != "", part.Count(r.Ahead))),
				part.S(orDash(r.Problem != "", part.Count(r.OwnedTables))), part.S(orDash(len(r.NeededBy) == 0, part.Clean(strings.Join(r.NeededBy, ", "), g))), branchState(e, r),
			}
		},
	}
}

// branchState is what is special about a branch, the worst first.
func branchState(e *Env, r treeRow) part.Span {
	g := e.Theme.Glyph
	switch {
	case r.Problem != "":
		return part.R(theme.Bad, g.Bad+" unreadable")
	case len(r.Findings) > 0:
		return part.R(theme.Warn, g.Warn+" "+part.Plural(len(r.Findings), "finding", "findings"))
	case e.Pinned != nil && e.Pinned.Kind == PinPoint && same(e.Pinned.At, headOf(r.Name)):
		return part.R(theme.Accent, "marked")
	case r.Name == e.Branch() && e.Travelling():
		return part.R(theme.Accent, "shown, earlier")
	case r.Name == e.Branch():
		return part.R(theme.Accent, "shown")
	case !r.OwnHead && r.Name != "main":
		return part.R(theme.Muted, "lazy")
	}
	return part.S("")
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

func branchDoc(e *Env, d *part.Doc, rows []treeRow, r treeRow) {
	d.Head(r.Name)
	if r.Problem != "" {
		d.FactRole("problem", theme.Bad, r.Problem)
	}
	if r.Name == "main" {
		d.Text(theme.Text, "The line that every graph begins with.")
	} else {
		from := BranchName(r.Parent)
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
	if !r.OwnHead && r.Name != "main" && r.Problem == "" {
		d.Fact("state", "lazy: nothing was committed on it, it shows what "+BranchName(r.Parent)+" showed when it was made")
	}
	if r.Name != "main" && r.Problem == "" {
		d.Fact("ahead", part.Plural(r.Ahead, "commit", "commits")+" that main does not have")
	}
	if r.Problem == "" {
		d.Fact("own tables", part.Plural(r.OwnedTables, "table", "tables")+" of which this branch has its own version")
	}
	d.Fact("needs", needsWords(rows, r))
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
	dot := " " + e.Theme.Glyph.Dot + " "
	d.Gap().Text(theme.Muted, press(e, action.Travel)+" shows this branch on all screens"+dot+press(e, action.Mark)+" marks it, "+press(e, action.Compare)+" on another compares the two")
}

// needsWords names the branches whose data a branch reads: those that say that
// it needs them.
func needsWords(rows []treeRow, r treeRow) string {
	var out []string
	for _, o := range rows {
		if slices.Contains(o.NeededBy, r.Name) {
			out = append(out, o.Name)
		}
	}
	switch {
	case len(out) > 0:
		return strings.Join(out, ", ") + ": it reads data written there"
	case r.Name == "main":
		return "nothing of another branch"
	case r.Problem != "":
		return "not known"
	}
	return "nothing of another branch that is there"
}
