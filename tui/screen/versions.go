package screen

import "github.com/omnideck/omnideck/tui/action"

// Versions shows the version chain of one table as a screen of its own.
type Versions struct {
	*chain
}

// NewVersions makes the screen for a table, `__manifest` included.
func NewVersions(table string) *Versions { return &Versions{chain: newChain(table)} }

// Name implements Screen.
func (s *Versions) Name() string { return action.OnVersions }

// Title implements Screen.
func (s *Versions) Title() string { return "versions of " + s.table }

// Place implements Screen.
func (s *Versions) Place() string { return "versions" }

// Start implements Screen.
func (s *Versions) Start(e *Env) []Request { return s.start(e) }

// Reload implements Screen.
func (s *Versions) Reload(e *Env) []Request { return s.reload(e) }

// Panes implements Screen.
func (s *Versions) Panes(*Env) []Pane { return s.panes() }

// Context implements Screen.
func (s *Versions) Context(e *Env) action.Context { return s.context(e) }

// Do implements Screen.
func (s *Versions) Do(e *Env, id action.ID) Effect { return s.do(e, id) }

// Render implements Screen.
func (s *Versions) Render(e *Env, a Area) []string { return s.render(e, a) }
