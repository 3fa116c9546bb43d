// Package screen holds the screens: one file a screen.
//
// A screen is a struct that the root model owns and changes only in its
// Update. It asks for data by returning Requests, which the root turns into
// commands; it gets answers through its panes, which drop what is stale. It
// draws itself as lines for an area that it is given. It knows no key: the
// action table does.
//
// A pane is one thing that is loaded, with its own state: never asked,
// loading, loaded and when, failed and why. What several screens show is
// loaded once, in the Session. "Damaged" is a failure with a sentence, never
// an empty list.
package screen

import (
	"context"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Env is what every screen may look at. The root sets it before each call.
type Env struct {
	Theme   *theme.Theme
	Now     time.Time
	URI     string // as it was asked for
	Address string // as the graph spells it
	Remote  bool
	At      engine.At // what all screens show
	Data    *Session
}

// Branch is the branch that the screens show.
func (e *Env) Branch() string {
	if e.At.Branch == "" {
		return "main"
	}
	return e.At.Branch
}

// Request is a question to the workspace.
type Request struct {
	Name   string // what is asked for, for the meter: "snapshot"
	Pane   Pane
	Target string
	Gen    uint64
	Run    func(ctx context.Context, ws workspace.Workspace) (any, error)
}

// Effect is what an action does beyond changing the screen itself.
type Effect struct {
	Push Screen // go deeper
	Ask  []Request
	Look *engine.At // show this on all screens
	Note string     // said in the status line
	URI  string     // open this graph (picker)
	Type string     // ask for a line of text with this title (picker)
}

// Area is where a screen draws.
type Area struct {
	W, H int
	Wide bool // list and detail beside each other
}

// Screen is one screen.
type Screen interface {
	Name() string  // its scope in the action table
	Title() string // its place in the breadcrumb
	// Start asks for what is shown and was never asked for, or was cancelled.
	Start(*Env) []Request
	// Reload asks again for what is shown.
	Reload(*Env) []Request
	// Panes are what the screen shows now.
	Panes(*Env) []Pane
	Context(*Env) action.Context
	Do(*Env, action.ID) Effect
	// InDetail says that the detail has the focus; CloseDetail gives it back to
	// the list.
	InDetail() bool
	CloseDetail()
	// Render draws exactly H lines of W cells.
	Render(*Env, Area) []string
}

// Session is what is known of the open graph, shared by all screens.
type Session struct {
	Info     Load[*engine.Info]
	Names    Load[[]string]
	Snapshot Load[*engine.Snapshot]
	Branches Load[[]engine.Branch]
	History  Load[*History]
}

// NewSession makes the session of a graph of which nothing is known yet.
func NewSession() *Session {
	s := &Session{}
	s.Info.name, s.Names.name, s.Snapshot.name, s.Branches.name, s.History.name = "info", "branch names", "snapshot", "branches", "commits"
	return s
}

// Retarget forgets what belongs to what was looked at before.
func (s *Session) Retarget() {
	s.Info.reset()
	s.Snapshot.reset()
}

// AskInfo asks for the overview of the graph.
func (s *Session) AskInfo(e *Env) Request {
	at := e.At
	return s.Info.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.Info, error) { return ws.Info(ctx, at) })
}

// AskNames asks for the names of the branches.
func (s *Session) AskNames(e *Env) Request {
	return s.Names.ask(e, func(ctx context.Context, ws workspace.Workspace) ([]string, error) { return ws.BranchNames(ctx) })
}

// AskSnapshot asks for the published tables.
func (s *Session) AskSnapshot(e *Env) Request {
	at := e.At
	return s.Snapshot.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.Snapshot, error) {
		return ws.Snapshot(ctx, at)
	})
}

// AskBranches asks for the branches with details.
func (s *Session) AskBranches(e *Env) Request {
	return s.Branches.ask(e, func(ctx context.Context, ws workspace.Workspace) ([]engine.Branch, error) { return ws.Branches(ctx) })
}

// Missing asks for what the navigator shows and nobody has asked for yet.
func (s *Session) Missing(e *Env) []Request {
	var out []Request
	if s.Names.wanted() {
		out = append(out, s.AskNames(e))
	}
	if s.Snapshot.wanted() {
		out = append(out, s.AskSnapshot(e))
	}
	return out
}

// split is the common shape of a screen: a list, and the detail of the
// selected item. Wide areas show both, others the list with a preview below
// when there is room, or one of them.
type split struct {
	list    part.List
	onRight bool // the detail has the focus
	scroll  int  // first line of the detail
	shown   string
	share   int // of a wide area that the list takes, in percent; 0 = 46
}

// InDetail implements Screen.
func (s *split) InDetail() bool { return s.onRight }

// CloseDetail implements Screen.
func (s *split) CloseDetail() { s.onRight = false }

// move handles the movement actions. It says whether the selection may have
// changed.
func (s *split) move(id action.ID, n int) bool {
	if s.onRight {
		return s.scrollDetail(id)
	}
	switch id {
	case action.Down:
		s.list.Move(1, n)
	case action.Up:
		s.list.Move(-1, n)
	case action.Top:
		s.list.Move(-n, n)
	case action.Bottom:
		s.list.Move(n, n)
	case action.PageDown:
		s.list.Page(1, n, false)
	case action.PageUp:
		s.list.Page(-1, n, false)
	case action.HalfDown:
		s.list.Page(1, n, true)
	case action.HalfUp:
		s.list.Page(-1, n, true)
	default:
		return false
	}
	return true
}

func (s *split) scrollDetail(id action.ID) bool {
	switch id {
	case action.Down:
		s.scroll++
	case action.Up:
		s.scroll--
	case action.Top:
		s.scroll = 0
	case action.Bottom:
		s.scroll = 1 << 30
	case action.PageDown, action.HalfDown:
		s.scroll += 10
	case action.PageUp, action.HalfUp:
		s.scroll = max(0, s.scroll-10)
	default:
		return false
	}
	return true
}

// preview is the least height at which a narrow area shows the detail below
// the list.
const previewFrom = 18

// render composes list and detail. key names what the detail shows: when it
// changes, the detail begins at its top again.
func (s *split) render(e *Env, a Area, key string, list func(w, h int, focused bool) []string, detail func(w int) *part.Doc) []string {
	if key != s.shown {
		s.shown, s.scroll = key, 0
	}
	t := e.Theme
	switch {
	case a.Wide:
		share := s.share
		if share == 0 {
			share = 46
		}
		lw := a.W * share / 100
		rw := a.W - lw - 1
		return part.Beside(t, list(lw, a.H, !s.onRight), detail(rw).Window(a.H, &s.scroll))
	case s.onRight:
		return detail(a.W).Window(a.H, &s.scroll)
	case a.H < previewFrom:
		return list(a.W, a.H, true)
	}
	doc := detail(a.W)
	below := min(doc.Len(), a.H*2/5)
	if below == 0 {
		return list(a.W, a.H, true)
	}
	top := 0
	lines := append(list(a.W, a.H-below-1, true), part.Rule(t, "", a.W))
	return append(lines, doc.Window(below, &top)...)
}
