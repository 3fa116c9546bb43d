package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			m.crash, cmd = caught("handling a message", r), tea.Quit
		}
	}()
	m.env.Now = m.opt.Now()
	return m, m.update(msg)
}

func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.dirty = m.dirty || msg.Width != m.w || msg.Height != m.h
		m.w, m.h = msg.Width, msg.Height
		return m.enter()
	case tea.BackgroundColorMsg:
		m.env.Theme, m.dirty = m.env.Theme.On(theme.ParseBackground(msg.IsDark())), true
	case tea.ColorProfileMsg:
		m.env.Theme, m.dirty = m.env.Theme.ForProfile(msg.Profile), true
	case tea.KeyPressMsg:
		m.dirty = true
		return m.key(msg)
	case tea.PasteMsg:
		m.dirty = true
		if n := len(m.overlays); n > 0 {
			m.overlays[n-1].paste(msg.Content)
		}
	case openedMsg:
		m.dirty = true
		return m.takeOpened(msg)
	case loadedMsg:
		return m.takeLoaded(msg)
	case tickMsg:
		return m.takeTick()
	case ageMsg:
		if !m.env.Now.Before(m.ageDue) {
			m.ageDue = time.Time{}
			m.dirty = true
			return m.age()
		}
	case noteMsg:
		if !m.env.Now.Before(m.noteEnd) {
			m.dirty = m.dirty || m.note != ""
			m.note = ""
		}
	case crashMsg:
		m.crash = msg.crash
		return tea.Quit
	}
	return nil
}

// context is what the gates of the action table look at.
func (m *model) context() action.Context {
	c := m.top().screen.Context(&m.env)
	c.Screen = m.top().screen.Name()
	c.Deep = m.deep()
	c.Graph = !m.picking()
	c.Loads = len(m.top().screen.Panes(&m.env)) > 0
	c.ReadOnly = m.env.Locked
	m.offers(&c)
	return c
}

// offers notes what the looked-at screen can do beyond the duties of all.
func (m *model) offers(c *action.Context) {
	s, e := m.top().screen, &m.env
	_, c.Filters = s.(screen.Filterer)
	_, c.Sorts = s.(screen.Sorter)
	_, c.Chooses = s.(screen.Chooser)
	if t, ok := s.(screen.Traveller); ok {
		_, _, c.Destination = t.Destination(e)
	}
	c.Travelling = e.Travelling()
	if p, ok := s.(screen.Pinner); ok {
		pin := p.Pin(e)
		c.Pins = pin != nil
		c.Pinned = pin != nil && e.Pinned != nil && e.Pinned.Kind == pin.Kind
	}
	if x, ok := s.(screen.Copier); ok {
		c.Copies = len(x.Copies(e)) > 0
	}
	if x, ok := s.(screen.Exporter); ok {
		c.Exports = x.Exports(e) != nil
	}
}

// deep says that there is something to go back to.
func (m *model) deep() bool {
	return len(m.stack) > 1 || m.pickable() || m.top().screen.InDetail()
}

// pickable says that the program began with the picker, to which one can go
// back.
func (m *model) pickable() bool { return m.opt.URI == "" && !m.picking() }

// key gives a key to the topmost overlay, else looks its action up.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if n := len(m.overlays); n > 0 && name != "ctrl+c" {
		o := m.overlays[n-1]
		cmd, done := o.key(m, k)
		if done && n <= len(m.overlays) && m.overlays[n-1] == o {
			m.overlays = append(m.overlays[:n-1], m.overlays[n:]...)
		}
		return cmd
	}
	c := m.context()
	a, ok := m.env.Keys.Find(c.Screen, name)
	if !ok {
		return nil
	}
	if cmd, ok := m.drawerKey(a.ID); ok {
		return cmd
	}
	if why := a.Why(c); why != "" && a.ID != action.Leave {
		return m.say(a.Title + ": " + why)
	}
	return m.do(a.ID)
}

// do carries out an action.
func (m *model) do(id action.ID) tea.Cmd {
	switch id {
	case action.Overview, action.Branches, action.Commits, action.Tables, action.Versions, action.Ops:
		return m.root(id)
	case action.Back:
		return m.back()
	case action.Leave:
		if m.deep() {
			return m.back()
		}
		return tea.Quit
	case action.Interrupt:
		return m.interrupt()
	case action.Reload:
		return m.reload()
	case action.Travel:
		return m.travel()
	case action.Scope:
		m.scope = (m.scope + 1) % 3
		m.sample()
		return nil
	case action.Drawer:
		return m.switchDrawer()
	case action.Help:
		m.overlays = append(m.overlays, &help{})
		return nil
	}
	return m.effect(m.top().screen.Do(&m.env, id))
}

func (m *model) reload() tea.Cmd {
	// Clearing heals a screen into which something else has written.
	cmds := []tea.Cmd{tea.ClearScreen, m.ask(m.top(), m.top().screen.Reload(&m.env))}
	if m.showsNav() && m.top().id != m.nav.id {
		cmds = append(cmds, m.ask(m.nav, m.nav.screen.Start(&m.env)))
	}
	return tea.Batch(cmds...)
}

// effect carries out what an action of a screen asked for.
func (m *model) effect(e screen.Effect) tea.Cmd {
	var cmds []tea.Cmd
	if e.Note != "" {
		cmds = append(cmds, m.say(e.Note))
	}
	switch {
	case e.Push != nil:
		m.leave(m.top())
		m.stack = append(m.stack, m.newVisit(e.Push))
		m.sample()
		cmds = append(cmds, m.enter())
	case e.Look != nil:
		cmds = append(cmds, m.look(*e.Look))
	case e.URI != "":
		cmds = append(cmds, m.choose(e.URI))
	case e.Prompt != nil:
		m.overlays = append(m.overlays, newPrompt(e.Prompt))
	}
	if len(e.Ask) > 0 {
		cmds = append(cmds, m.ask(m.top(), e.Ask))
	}
	return tea.Batch(cmds...)
}

// root shows one of the numbered screens, as it was left.
func (m *model) root(id action.ID) tea.Cmd {
	v := m.roots[id]
	if v == nil {
		v = m.newVisit(rootScreens()[id])
		m.roots[id] = v
	}
	if len(m.stack) == 1 && m.top() == v {
		return nil
	}
	m.leave(m.top())
	m.stack = []*visit{v}
	m.sample()
	return m.enter()
}

// back goes from the detail to the list, to the screen before, from the first one to the picker.
func (m *model) back() tea.Cmd {
	if top := m.top().screen; top.InDetail() {
		top.CloseDetail()
		return nil
	}
	m.leave(m.top())
	if len(m.stack) > 1 {
		m.stack = m.stack[:len(m.stack)-1]
		m.sample()
		return m.enter()
	}
	return m.forget()
}

// travel goes to the moment that is selected; where one is there already, or
// none is selected, back to now.
func (m *model) travel() tea.Cmd {
	if t, ok := m.top().screen.(screen.Traveller); ok {
		if at, name, ok := t.Destination(&m.env); ok && at != m.env.At {
			return tea.Batch(m.say("all screens show "+name), m.look(at))
		}
	}
	if m.env.Travelling() {
		return tea.Batch(m.say("all screens show the head of "+m.env.Branch()), m.look(engine.At{Branch: m.env.At.Branch}))
	}
	return nil
}

// look shows another branch on all screens. Where one was on each of them is
// kept.
func (m *model) look(at engine.At) tea.Cmd {
	m.leave(m.top())
	m.leave(m.nav)
	m.env.At = at
	m.env.Data.Retarget()
	for id, v := range m.roots {
		if id == action.Versions { // its chain is the branch's own
			m.leave(v)
			delete(m.roots, id)
		}
	}
	m.stack = m.stack[:1]
	return m.enter()
}

// choose opens a graph from the picker.
func (m *model) choose(uri string) tea.Cmd {
	m.leave(m.top())
	m.env.URI, m.env.Address, m.env.At, m.env.Data = uri, uri, engine.At{}, screen.NewSession()
	v := m.newVisit(screen.NewOverview())
	m.roots = map[action.ID]*visit{action.Overview: v}
	m.stack = []*visit{v}
	m.nav = m.newVisit(&navigator{})
	return tea.Batch(m.open(uri), m.enter())
}

// forget closes the graph and shows the picker again.
func (m *model) forget() tea.Cmd {
	m.leave(m.nav)
	for _, v := range m.roots {
		m.leave(v)
	}
	if m.all != nil {
		m.before = m.before.Add(m.all.Sample())
		m.before.InFlight = 0
	}
	m.openGen++ // a graph that is still being opened comes too late
	cmd := m.discard(m.ws)
	m.ws, m.all, m.last, m.op, m.opening, m.waiting = nil, nil, nil, nil, false, nil
	m.env.URI, m.env.Remote, m.env.At, m.env.Data = "", false, engine.At{}, screen.NewSession()
	m.roots = map[action.ID]*visit{}
	m.stack = []*visit{m.newVisit(screen.NewPicker(m.opt.Recents))}
	m.sample()
	return tea.Batch(cmd, m.enter())
}

const (
	twice    = 2 * time.Second // between two interrupts that mean to leave
	noteTime = 4 * time.Second
)

// interrupt cancels what is loading; a second one leaves.
func (m *model) interrupt() tea.Cmd {
	again := !m.interrupted.IsZero() && m.env.Now.Sub(m.interrupted) <= twice
	m.interrupted = m.env.Now
	if again {
		return tea.Quit
	}
	if !m.busy() {
		return m.say("^c again leaves")
	}
	m.leave(m.top())
	m.leave(m.nav)
	if m.opening {
		m.openGen++
		m.opening = false
	}
	m.sample()
	return m.say("cancelled; ^c again leaves, r reads again")
}

// say puts a sentence into the status line for a moment.
func (m *model) say(text string) tea.Cmd {
	m.note = part.Clean(text, m.env.Theme.Glyph)
	m.noteEnd = m.env.Now.Add(noteTime)
	return m.after(noteTime, noteMsg{})
}
