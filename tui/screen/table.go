package screen

import (
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
)

// tab is one view of a table. It has the duties of a screen.
type tab interface {
	label() string
	scope() string
	start(*Env) []Request
	reload(*Env) []Request
	panes() []Pane
	context(*Env) action.Context
	do(*Env, action.ID) Effect
	render(*Env, Area) []string
	InDetail() bool
	CloseDetail()
}

// Table shows one table: its fragments, versions and rows. A tab loads when it
// is first looked at.
type Table struct {
	table  string
	tabs   []tab
	active int
}

// NewTable makes the screen of a table, named node:T or edge:T.
func NewTable(table string) *Table {
	return &Table{table: table, tabs: []tab{newFragments(table), newChain(table), newRows(table)}}
}

// Name implements Screen.
func (s *Table) Name() string { return s.tabs[s.active].scope() }

// Title implements Screen.
func (s *Table) Title() string { return s.table }

// Place implements Screen.
func (s *Table) Place() string { return s.table + "/" + s.tabs[s.active].label() }

// Start implements Screen.
func (s *Table) Start(e *Env) []Request { return s.tabs[s.active].start(e) }

// Reload implements Screen.
func (s *Table) Reload(e *Env) []Request { return s.tabs[s.active].reload(e) }

// Panes implements Screen.
func (s *Table) Panes(*Env) []Pane { return s.tabs[s.active].panes() }

// Context implements Screen.
func (s *Table) Context(e *Env) action.Context {
	c := s.tabs[s.active].context(e)
	c.Tabs = true
	return c
}

// InDetail implements Screen.
func (s *Table) InDetail() bool { return s.tabs[s.active].InDetail() }

// CloseDetail implements Screen.
func (s *Table) CloseDetail() { s.tabs[s.active].CloseDetail() }

// Do implements Screen.
func (s *Table) Do(e *Env, id action.ID) Effect {
	switch id {
	case action.NextTab:
		s.active = (s.active + 1) % len(s.tabs)
		return Effect{Ask: s.Start(e)}
	case action.PrevTab:
		s.active = (s.active + len(s.tabs) - 1) % len(s.tabs)
		return Effect{Ask: s.Start(e)}
	}
	return s.tabs[s.active].do(e, id)
}

// Show makes a tab active by its label, before the first Start.
func (s *Table) Show(label string) *Table {
	for i, t := range s.tabs {
		if t.label() == label {
			s.active = i
		}
	}
	return s
}

// Render implements Screen.
func (s *Table) Render(e *Env, a Area) []string {
	var labels []string
	for _, t := range s.tabs {
		labels = append(labels, t.label())
	}
	out := []string{part.Tabs(e.Theme, labels, s.active, a.W)}
	a.H--
	return append(out, s.tabs[s.active].render(e, a)...)
}

// Versions shows the version chain of one table as a screen of its own.
type Versions struct {
	*chain
}

// NewVersions makes the screen for a table, `__manifest` included.
func NewVersions(table string) *Versions { return &Versions{chain: newChain(table)} }

// Name implements Screen.
func (s *Versions) Name() string { return action.OnVersions }

// Title implements Screen.
func (s *Versions) Title() string { return "versions of " + s.chain.table }

// Place implements Screen.
func (s *Versions) Place() string { return "versions" }

// Start implements Screen.
func (s *Versions) Start(e *Env) []Request { return s.chain.start(e) }

// Reload implements Screen.
func (s *Versions) Reload(e *Env) []Request { return s.chain.reload(e) }

// Panes implements Screen.
func (s *Versions) Panes(*Env) []Pane { return s.chain.panes() }

// Context implements Screen.
func (s *Versions) Context(e *Env) action.Context { return s.chain.context(e) }

// Do implements Screen.
func (s *Versions) Do(e *Env, id action.ID) Effect { return s.chain.do(e, id) }

// Render implements Screen.
func (s *Versions) Render(e *Env, a Area) []string { return s.chain.render(e, a) }
