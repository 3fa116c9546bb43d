package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// visit is a screen that was opened: its place on the stack, the context of
// its questions, and what they cost so far.
type visit struct {
	id     uint64
	screen screen.Screen
	ctx    context.Context // of the questions now in flight; nil when none may be
	cancel context.CancelFunc
	meter  workspace.Meter // nil before the graph is open
	inCtx  context.Context // carries the meter; parent of ctx
}

// model is the root: the only Bubble Tea model there is.
type model struct {
	opt     Options
	env     screen.Env
	ctx     context.Context // ends when the program does
	end     context.CancelFunc
	quit    func()
	out     *colorprofile.Writer // where the program draws; nil without a program
	greeted bool                 // greet drew
	begun   func() *rounds       // told when the renderer runs; nil without a program
	rounds  *rounds
	w, h    int

	ws      workspace.Workspace
	wsCtx   context.Context // carries the graph's meter
	opening bool
	openGen uint64
	waiting []waiting // requests made before the graph was open
	first   *lead     // question that others wait for; nil = none was asked
	warm    bool      // an answer came: what questions share is remembered
	all     workspace.Meter
	before  workspace.Reading // of graphs closed before this one

	roots    map[action.ID]*visit
	stack    []*visit
	nav      *visit
	nextID   uint64
	overlays []overlay
	trail    []spot // places visited, oldest first
	here     int    // the one that is looked at

	wide, plain, mouse bool
	shifts             map[string]int // of the line between list and detail, by layout
	following          bool
	followGen          uint64
	drafts             map[string]string
	commands           []string // lines of the command line, oldest first
	export             *export  // that is being written; nil = none
	writer             *writer  // write that is drafted, planned, shown or run; nil = none
	wrote              bool     // this run of the program wrote to a graph
	foretold           bool     // what is pending was shown before the first write
	keep               keeping

	last     workspace.Meter // of the last operation
	lastName string
	scope    int // 0 screen, 1 operation, 2 since start
	seen     workspace.Reading
	counters

	ticking  bool
	ageDue   time.Time
	note     string
	home     *engine.At // what was shown before one left for another moment
	noteAt   time.Time  // when it was said
	noteAsks bool       // it says what is being read, and stands no longer than that
	noteEnd  time.Time
	refused  bool // the note says why a key did nothing

	askBackground bool
	interrupted   time.Time
	leaves        bool // the note says that another interrupt leaves
	crash         *crash

	dirty bool
	still bool // the screen is drawn once: no timer runs
	view  tea.View
}

type waiting struct {
	visit *visit
	reqs  []screen.Request
}

func newModel(ctx context.Context, o Options, th *theme.Theme) *model {
	m := &model{opt: o, roots: map[action.ID]*visit{}, drafts: map[string]string{}, shifts: map[string]int{}, quit: func() {}, dirty: true, mouse: o.Mouse}
	m.ctx, m.end = context.WithCancel(ctx)
	m.env = screen.Env{Theme: th, URI: o.URI, Address: o.URI, Data: screen.NewSession(), Keys: o.Keys, Now: o.Now(), Ops: &screen.Records{}, ReadFile: readFile}
	if m.env.Keys == nil {
		m.env.Keys = action.Default()
	}
	s, id := o.first()
	v := m.newVisit(s)
	m.stack = []*visit{v}
	if id != "" {
		m.roots[id] = v
	}
	m.nav = m.newVisit(&navigator{})
	m.arrive()
	return m
}

// rootScreens makes the screens that a number key opens.
func rootScreens() map[action.ID]screen.Screen {
	return map[action.ID]screen.Screen{
		action.Overview: screen.NewOverview(),
		action.Branches: screen.NewBranches(),
		action.Commits:  screen.NewCommits(),
		action.Tables:   screen.NewTables(),
		action.Versions: screen.NewVersions("__manifest"),
		action.Ops:      screen.NewOperations(),
	}
}

// numbered is the number key's action that shows a screen; "" when none does.
func numbered(s screen.Screen) action.ID {
	id := action.ID(s.Name())
	if r := rootScreens()[id]; r != nil && r.Place() == s.Place() {
		return id
	}
	return ""
}

func (m *model) newVisit(s screen.Screen) *visit {
	m.nextID++
	return &visit{id: m.nextID, screen: s}
}

// Init implements tea.Model: it starts to open the graph, after the first
// frame was painted from nothing.
func (m *model) Init() tea.Cmd {
	m.env.Now = m.opt.Now()
	var cmds []tea.Cmd
	if m.opt.URI != "" {
		cmds = append(cmds, m.open(m.opt.URI), m.recall())
	}
	cmds = append(cmds, m.enter())
	if m.askBackground {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	cmds = append(cmds, m.tick())
	if m.begun != nil {
		m.rounds = m.begun()
	}
	m.greet()
	return tea.Batch(cmds...)
}

// top is the screen that is looked at.
func (m *model) top() *visit { return m.stack[len(m.stack)-1] }

// picking says that no graph was chosen yet.
func (m *model) picking() bool { return m.env.URI == "" }

// stop ends everything that is still running, without waiting for it longer
// than a moment.
func (m *model) stop() {
	m.rounds.stop()
	m.saveLast()
	m.end()
	m.awaitWrite()
	if m.export != nil {
		select {
		case <-m.export.done: // its leftovers are removed
		case <-time.After(100 * time.Millisecond):
		}
	}
	if m.ws == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = m.ws.Close() // what was written has ended, or goes on without us
	}()
	select {
	case <-done:
	case <-time.After(50 * time.Millisecond):
	}
}
