package tui

import (
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// navigator is the column at the left of a wide window: branches and types.
// It has its own questions and its own meter, so that a screen costs the same
// at every width.
type navigator struct{}

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

// Do implements screen.Screen.
func (n *navigator) Do(*screen.Env, action.ID) screen.Effect { return screen.Effect{} }

// InDetail implements screen.Screen.
func (n *navigator) InDetail() bool { return false }

// CloseDetail implements screen.Screen.
func (n *navigator) CloseDetail() {}

// Render implements screen.Screen.
func (n *navigator) Render(e *screen.Env, a screen.Area) []string {
	t := e.Theme
	d := part.NewDoc(t, a.W)
	d.Head("branches")
	names, ok := e.Data.Names.Get()
	if !ok {
		d.Text(theme.Muted, screen.Short(&e.Data.Names))
	}
	for i, name := range names {
		if i == 12 && len(names) > 13 {
			d.Line(part.R(theme.Muted, "  "+t.Glyph.Folded+" "+part.Count(len(names)-i)+" more"))
			break
		}
		lead, role := "  ", theme.Text
		if name == e.Branch() {
			lead, role = t.Glyph.Pointer+" ", theme.Accent
		}
		d.Line(part.R(role, lead+part.Clean(name, t.Glyph)))
	}
	d.Head("types")
	snap, ok := e.Data.Snapshot.Get()
	if !ok {
		d.Text(theme.Muted, screen.Short(&e.Data.Snapshot))
	} else {
		for _, ds := range snap.Datasets {
			count := part.Count(ds.EntityCount)
			name := part.Cut(part.Clean(ds.Table(), t.Glyph), a.W-5-len(count), t.Glyph.More)
			d.Line(part.S("  "+part.Pad(name, a.W-5-len(count))+" "), part.R(theme.Muted, count))
		}
	}
	return d.Window(a.H, new(int))
}
