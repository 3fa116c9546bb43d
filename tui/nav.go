package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// navigator is the column at the left of a wide window: branches and types as
// a tree. It has its own questions and its own meter, so that a screen costs
// the same at every width.
type navigator struct {
	list  part.List
	focus bool   // movement is the navigator's
	table string // that the screen is about; "" = none
	drawn []navRow
	top   int // the first of the drawn rows that is seen
}

// navRow is a line of the tree: a heading, a branch, a type, or words.
type navRow struct {
	head, branch, table, said string
	rows                      uint64 // of a type
	last                      bool   // of its heading
}

// key is what a row is remembered by; "" for one that cannot be selected.
func (r navRow) key() string {
	switch {
	case r.branch != "":
		return "branch " + r.branch
	case r.table != "":
		return "type " + r.table
	}
	return ""
}

// navBranches is how many branches are drawn while the focus is elsewhere, so
// that types stay in sight.
const navBranches = 12

// Name implements screen.Screen.
func (n *navigator) Name() string { return "" }

// Title implements screen.Screen.
func (n *navigator) Title() string { return "navigator" }

// Place implements screen.Screen.
func (n *navigator) Place() string { return "" }

// Start implements screen.Screen.
func (n *navigator) Start(e *screen.Env) []screen.Request { return e.Data.Missing(e) }

// Reload implements screen.Screen.
func (n *navigator) Reload(e *screen.Env) []screen.Request {
	return []screen.Request{e.Data.AskNames(e), e.Data.AskSnapshot(e)}
}

// Panes implements screen.Screen.
func (n *navigator) Panes(e *screen.Env) []screen.Pane {
	return []screen.Pane{&e.Data.Names, &e.Data.Snapshot}
}

// Context implements screen.Screen.
func (n *navigator) Context(*screen.Env) action.Context { return action.Context{} }

// Do implements screen.Screen: it moves.
func (n *navigator) Do(e *screen.Env, id action.ID) screen.Effect {
	screen.MoveList(&n.list, id, len(n.selectable(e)))
	return screen.Effect{}
}

// InDetail implements screen.Screen.
func (n *navigator) InDetail() bool { return false }

// CloseDetail implements screen.Screen.
func (n *navigator) CloseDetail() {}

// tree is everything in it.
func (n *navigator) tree(e *screen.Env) []navRow {
	var out []navRow
	names, ok := e.Data.Names.Get()
	out = append(out, navRow{head: headed("branches", len(names), ok)})
	if !ok {
		out = append(out, navRow{said: screen.Short(&e.Data.Names)})
	}
	shown := names
	if !n.focus && len(names) > navBranches+1 {
		shown = names[:navBranches]
		if at := slices.Index(names, e.Branch()); at >= navBranches {
			shown = append(slices.Clone(names[:navBranches-1]), names[at])
		}
	}
	for i, name := range shown {
		out = append(out, navRow{branch: name, last: i == len(names)-1})
	}
	if hidden := len(names) - len(shown); hidden > 0 {
		out = append(out, navRow{said: e.Theme.Glyph.Folded + " " + part.Count(hidden) + " more"})
	}
	snap, ok := e.Data.Snapshot.Get()
	if !ok {
		return append(out, navRow{}, navRow{head: "types"}, navRow{said: screen.Short(&e.Data.Snapshot)})
	}
	for _, kind := range []string{"node", "edge"} {
		at := len(out)
		for i := range snap.Datasets {
			if d := &snap.Datasets[i]; strings.HasPrefix(d.Table(), kind+":") {
				out = append(out, navRow{table: d.Table(), rows: d.EntityCount})
			}
		}
		if count := len(out) - at; count > 0 {
			out[len(out)-1].last = true
			out = slices.Insert(out, at, navRow{}, navRow{head: headed(kind+"s", count, true)})
		}
	}
	return out
}

func headed(what string, n int, known bool) string {
	if !known {
		return what
	}
	return what + " " + part.Count(n)
}

// selectable are the rows that can be selected.
func (n *navigator) selectable(e *screen.Env) []navRow {
	return slices.DeleteFunc(n.tree(e), func(r navRow) bool { return r.key() == "" })
}

// selected is the row that enter opens.
func (n *navigator) selected(e *screen.Env) (navRow, bool) {
	rows := n.selectable(e)
	n.list.Settle(len(rows), func(i int) string { return rows[i].key() })
	if len(rows) == 0 {
		return navRow{}, false
	}
	return rows[n.list.Sel], true
}

// Render implements screen.Screen.
func (n *navigator) Render(e *screen.Env, a screen.Area) []string {
	n.drawn = n.tree(e)
	key := navRow{table: n.table}.key() // what stays in sight
	if n.focus {
		sel, _ := n.selected(e)
		key = sel.key()
	}
	at := max(0, slices.IndexFunc(n.drawn, func(r navRow) bool { return key != "" && r.key() == key }))
	if at < n.top || at >= n.top+a.H-1 {
		n.top = at - a.H/2
	}
	if n.top = min(max(0, n.top), max(0, len(n.drawn)-a.H)); at < a.H-1 {
		n.top = 0 // with the headings above it
	}
	n.list.Fit(len(n.drawn), a.H) // a page is what is seen
	out := make([]string, 0, a.H)
	for i := n.top; i < min(len(n.drawn), n.top+a.H); i++ {
		out = append(out, n.line(e, n.drawn[i], a.W, n.focus && i == at))
	}
	if below := len(n.drawn) - n.top - a.H; below > 0 && len(out) > 1 {
		out[len(out)-1] = part.Line(e.Theme, a.W, part.R(theme.Muted, " "+e.Theme.Glyph.Folded+" "+part.Count(below+1)+" more"))
	}
	return part.Fit(out, a.W, a.H)
}

func (n *navigator) line(e *screen.Env, r navRow, w int, selected bool) string {
	t := e.Theme
	g := t.Glyph
	switch {
	case r.head != "":
		return part.Line(t, w, part.S(" "), part.R(theme.Strong, r.head))
	case r.key() == "":
		return part.Line(t, w, part.S("   "), part.R(theme.Muted, part.Clean(r.said, g)))
	}
	lead, tee, mark, role := " ", g.TeeR, " ", theme.Text
	if r.last {
		tee = g.BL
	}
	if selected {
		lead = g.Pointer
	}
	if r.branch != "" && r.branch == e.Branch() || r.table != "" && r.table == n.table {
		mark, role = g.Commit, theme.Accent
	}
	name, count := r.branch, ""
	if r.table != "" {
		_, name, _ = strings.Cut(r.table, ":")
		count = part.Count(r.rows)
	}
	room := w - 5 - part.Width(count)
	name = part.Pad(part.Cut(part.Clean(name, g), room, g.More), room)
	spans := []part.Span{part.S(lead), part.R(theme.Border, tee), part.R(role, mark), part.R(role, name), part.S(" "), part.R(theme.Muted, count)}
	if selected {
		return part.Selected(t, w, theme.Select, spans...)
	}
	return part.Line(t, w, spans...)
}

// tree is the navigator as what it is.
func (m *model) tree() *navigator { return m.nav.screen.(*navigator) }

// navFocus says that movement is the navigator's.
func (m *model) navFocus() bool { return m.tree().focus && m.showsNav() }

// switchNav gives the focus to the navigator, on where one is, and back.
func (m *model) switchNav() tea.Cmd {
	n := m.tree()
	if n.focus = !n.focus; n.focus {
		m.drawer.focus = false
		n.list.Remember(navRow{branch: m.env.Branch()}.key())
		if n.table = m.shownTable(); n.table != "" {
			n.list.Remember(navRow{table: n.table}.key())
		}
	}
	return nil
}

// shownTable is the type that the screen is about; "" = none.
func (m *model) shownTable() string {
	for i := len(m.stack) - 1; i >= 0; i-- {
		name, _, _ := strings.Cut(m.stack[i].screen.Place(), "/")
		if strings.HasPrefix(name, "node:") || strings.HasPrefix(name, "edge:") {
			return name
		}
	}
	return ""
}

// navKey takes the actions that mean the navigator while it has the focus.
func (m *model) navKey(id action.ID) (tea.Cmd, bool) {
	if !m.navFocus() {
		return nil, false
	}
	switch id {
	case action.Down, action.Up, action.Top, action.Bottom, action.PageDown, action.PageUp, action.HalfDown, action.HalfUp:
		m.tree().Do(&m.env, id)
	case action.Open, action.Travel:
		if r, ok := m.tree().selected(&m.env); ok {
			return m.navOpen(r), true
		}
	case action.Tree, action.Flip, action.Back, action.Leave, action.NextTab:
		m.tree().focus = false
	case action.PrevTab:
	case action.Help, action.Palette, action.Command, action.Drawer, action.Scope, action.Reload, action.Follow, action.Interrupt:
		return nil, false
	default:
		m.tree().focus = false // it means the screen
		return nil, false
	}
	return nil, true
}

// navOpen shows a branch on all screens, or a type in the tab that one is in.
func (m *model) navOpen(r navRow) tea.Cmd {
	if r.branch != "" {
		at := engine.At{Branch: r.branch}
		if r.branch == "main" {
			at.Branch = ""
		}
		if at == m.env.At {
			return m.say("all screens show " + r.branch + " already")
		}
		return tea.Batch(m.say("all screens show "+r.branch), m.look(at))
	}
	m.tree().focus = false
	if r.table == m.top().screen.Title() {
		return nil
	}
	place := r.table
	if words := strings.Split(m.top().screen.Place(), "/"); m.shownTable() != "" && len(words) > 1 {
		place += "/" + words[1]
	}
	s, err := screen.At(place)
	if err != nil {
		return m.say(err.Error())
	}
	m.depart()
	m.leave(m.top())
	m.stack = []*visit{m.rootVisit(action.Tables), m.newVisit(s)}
	m.sample()
	m.arrive()
	return m.enter()
}

// navClick opens what was clicked at.
func (m *model) navClick(y int) tea.Cmd {
	n := m.tree()
	if i := n.top + y; y >= 0 && i < len(n.drawn) && n.drawn[i].key() != "" {
		n.list.Remember(n.drawn[i].key())
		return m.navOpen(n.drawn[i])
	}
	return nil
}

// navHints are what the keys mean while the navigator has the focus.
func (m *model) navHints() []part.Hint {
	k := m.env.Keys
	return []part.Hint{
		{Key: k.Get(action.Down).Keys[0] + " " + k.Get(action.Up).Keys[0], Title: "move"}, {Key: k.Key(action.Open), Title: "show the branch, open the type"},
		{Key: k.Key(action.Flip), Title: "to the screen"}, {Key: k.Key(action.Palette), Title: "palette"}, {Key: k.Key(action.Help), Title: "help"},
	}
}
