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
func (m *model) Update(msg tea.Msg) (same tea.Model, cmd tea.Cmd) {
	same = m // after a panic too: Bubble Tea has no other
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
		return tea.Batch(m.key(msg), m.touch())
	case tea.PasteMsg:
		m.dirty = true
		if n := len(m.overlays); n > 0 {
			return m.overlays[n-1].paste(m, part.Head(msg.Content, pasteMax))
		}
	case tea.MouseWheelMsg:
		m.dirty = true
		return m.wheel(msg)
	case tea.MouseClickMsg:
		m.dirty = true
		return tea.Batch(m.click(msg), m.touch())
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
			return tea.Batch(m.ripen(), m.age())
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
	return m.updateOwn(msg)
}

// pasteMax is how much of a paste is looked at: more than any field holds, so
// that a field that is full says so.
const pasteMax = 256 << 10

// updateOwn takes the messages of the root's own commands.
func (m *model) updateOwn(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case resolvedMsg:
		return m.takeResolved(msg)
	case stateMsg:
		return m.takeState(msg)
	case stateLateMsg:
		return m.takeLate(msg)
	case saveMsg:
		return m.saveLater()
	case savedMsg:
		return m.takeSaved(msg)
	case copiedMsg:
		return m.takeCopied(msg)
	case exportedMsg:
		return m.takeExported(msg)
	case followMsg:
		return m.takeFollow(msg)
	case plannedRecoveryMsg:
		return m.takePlannedRecovery(msg)
	case recoveredMsg:
		return m.takeRecovered(msg)
	case plannedMsg:
		return m.takePlanned(msg)
	case writtenMsg:
		return m.takeWritten(msg)
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
	// Where it is is known only when it is open.
	c.Opened, c.ReadOnly, c.Remote = m.ws != nil, m.env.Locked, m.env.Remote || m.ws == nil
	c.Writing, c.Pending = m.writing(), m.env.Data.Left.Len() > 0
	m.offers(&c)
	return c
}

// offers notes what the looked-at screen can do beyond the duties of all.
func (m *model) offers(c *action.Context) {
	s, e := m.top().screen, &m.env
	_, c.Filters = s.(screen.Filterer)
	if x, ok := s.(screen.Sorter); ok {
		c.Sorts = len(x.SortColumns(e)) > 0
	}
	if x, ok := s.(screen.Chooser); ok {
		c.Chooses = len(x.ChoosableColumns(e)) > 0
	}
	if t, ok := s.(screen.Traveller); ok {
		_, _, c.Destination = t.Destination(e)
	}
	c.Travelling = e.Travelling()
	if d, ok := s.(screen.Divided); ok {
		c.More, c.Less = d.Room()
		if s.InDetail() {
			c.More, c.Less = c.Less, c.More
		}
	}
	c.Tree = m.showsNav()
	if p, ok := s.(screen.Pinner); ok {
		pin := p.Pin(e)
		c.Pins = pin != nil
		c.Pinned = pin != nil && e.Pinned != nil && e.Pinned.Kind == pin.Kind
	}
	if x, ok := s.(screen.Predecessor); ok && !c.Pinned {
		c.Before = x.SinceBefore(e) != nil
	}
	c.Copies = s.Place() != "" // there is always its command line
	if x, ok := s.(screen.Exporter); ok {
		c.Exports = x.Exports(e) != nil
	}
}

// deep says that there is something to go back to.
func (m *model) deep() bool {
	return len(m.stack) > 1 || m.pickable() || m.top().screen.InDetail() || m.filtered()
}

// pickable says that the program began with the picker, to which one can go
// back.
func (m *model) pickable() bool { return m.opt.URI == "" && !m.picking() }

// key gives a key to the topmost overlay, else looks its action up.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	if k.Code == tea.KeyEscape && k.Mod == tea.ModAlt { // two in quick succession arrive as this
		once := tea.KeyPressMsg{Code: tea.KeyEscape}
		return tea.Batch(m.key(once), m.key(once))
	}
	if m.longNote() || m.refused || m.env.Now.Sub(m.noteAt) >= noteLeast { // it covers what the key is for, or was read
		m.note, m.refused = "", false
	}
	if cmd, taken := m.overlayKey(k); taken {
		return cmd
	}
	a, ok := m.env.Keys.Find(m.top().screen.Name(), k.String())
	if !ok {
		return nil
	}
	if a.ID != action.Interrupt {
		m.calm()
	}
	if cmd, ok := m.drawerKey(a.ID); ok {
		return cmd
	}
	if cmd, ok := m.navKey(a.ID); ok {
		return cmd
	}
	return m.act(a.ID)
}

// act carries out an action, or says why it cannot be.
func (m *model) act(id action.ID) tea.Cmd {
	if why := m.why(id); why != "" {
		return m.refuse(m.env.Keys.Get(id).Title + ": " + why)
	}
	return m.do(id)
}

// why says why an action cannot be carried out, and what would help.
func (m *model) why(id action.ID) string {
	a, c := m.env.Keys.Get(id), m.context()
	if (id == action.Mutate || id == action.Load) && m.writer != nil {
		c.Writing = false // it is shown
	}
	why := a.Why(c)
	switch {
	case why == "" || id == action.Leave:
		return ""
	case id == action.Compare && m.pin() != nil:
		return why + "; " + m.keyOr(action.Mark, "mark") + " marks this"
	case a.Writes && c.Opened && c.ReadOnly:
		return why + "; " + m.keyOr(action.Unlock, "write") + " unlocks it"
	case a.Writes && c.Travelling:
		return why + "; " + m.keyOr(action.Travel, "now") + " comes back to now"
	}
	return why
}

// do carries out an action that can be.
func (m *model) do(id action.ID) tea.Cmd {
	if m.env.Keys.Get(id).Writes && m.recoversFirst() {
		return m.recoverBefore(id)
	}
	if own := ownActions()[id]; own != nil {
		return own(m)
	}
	switch id {
	case action.Overview, action.Branches, action.Commits, action.Tables, action.Versions, action.Ops:
		return m.root(id)
	case action.Leave:
		if m.export != nil && !m.deep() || m.writing() && len(m.stack) == 1 && !m.top().screen.InDetail() {
			return m.say(m.progress())
		}
		if m.deep() {
			return m.back()
		}
		return tea.Quit
	case action.Scope:
		m.scope = (m.scope + 1) % 3
		m.sample()
		return nil
	case action.Drawer:
		return m.switchDrawer()
	case action.Help:
		m.show(&help{})
		return nil
	case action.Wide:
		m.widen(!m.wide, m.plain)
		return nil
	case action.Plain:
		m.widen(m.wide, !m.plain)
		return nil
	case action.Tree:
		return m.switchNav()
	case action.Grow:
		return m.grow(shiftStep)
	case action.Shrink:
		return m.grow(-shiftStep)
	}
	return m.effect(m.top().screen.Do(&m.env, id))
}

// widen gives the list the whole width, or the pane the whole window.
func (m *model) widen(wide, plain bool) {
	m.wide, m.plain = wide, plain
	m.env.Wide = wide || plain
}

// ownActions are those that the root carries out whatever the screen.
func ownActions() map[action.ID]func(*model) tea.Cmd {
	return map[action.ID]func(*model) tea.Cmd{
		action.Back: (*model).back, action.Interrupt: (*model).interrupt, action.Reload: (*model).reload, action.Travel: (*model).travel,
		action.Filter: (*model).filter, action.Sort: (*model).sort, action.Columns: (*model).columns, action.Mark: (*model).mark,
		action.Compare: (*model).compare, action.Copy: (*model).copies, action.Export: (*model).askExport, action.Find: (*model).find,
		action.Palette: (*model).openPalette, action.Command: (*model).openCommand, action.Follow: (*model).switchFollow, action.Unlock: (*model).switchLock,
		action.Mutate: (*model).openMutate, action.Load: (*model).openLoad, action.Recover: (*model).openRecovery,
		action.NextMatch: func(m *model) tea.Cmd { return m.match(1) }, action.PrevMatch: func(m *model) tea.Cmd { return m.match(-1) },
		action.HistBack: func(m *model) tea.Cmd { return m.step(-1) }, action.HistNext: func(m *model) tea.Cmd { return m.step(1) },
	}
}

func (m *model) reload() tea.Cmd {
	m.first = nil // what was asked before may hang
	// Clearing heals a screen into which something else has written.
	return tea.Batch(tea.ClearScreen, m.lookPending(true), m.again())
}

// again asks anew for what is shown.
func (m *model) again() tea.Cmd {
	cmds := []tea.Cmd{m.ask(m.top(), m.top().screen.Reload(&m.env))}
	if m.showsNav() && m.top().id != m.nav.id {
		cmds = append(cmds, m.ask(m.nav, m.nav.screen.Start(&m.env)))
	}
	return tea.Batch(cmds...)
}

// followEvery is how long a screen that is followed stands.
const followEvery = 5 * time.Second

// followMsg says that it is time to read again.
type followMsg struct{ gen uint64 }

func (m *model) switchFollow() tea.Cmd {
	m.following = !m.following
	m.followGen++
	if !m.following {
		return m.say("not followed any more")
	}
	return tea.Batch(m.again(), m.after(followEvery, followMsg{m.followGen}))
}

// takeFollow reads again, unless what was asked for before is not there yet.
func (m *model) takeFollow(msg followMsg) tea.Cmd {
	if !m.following || msg.gen != m.followGen {
		return nil
	}
	next := m.after(followEvery, msg)
	if m.busy() {
		return next
	}
	m.dirty = true
	return tea.Batch(m.again(), next)
}

// effect carries out what an action of a screen asked for.
func (m *model) effect(e screen.Effect) tea.Cmd {
	var cmds []tea.Cmd
	if e.Note != "" {
		cmds = append(cmds, m.say(e.Note))
		m.noteAsks = len(e.Ask) > 0
	}
	if e.Shut != nil {
		m.shutForm(e.Shut)
	}
	switch {
	case e.Push != nil:
		m.depart()
		m.leave(m.top())
		m.stack = append(m.stack[:len(m.stack):len(m.stack)], m.newVisit(e.Push))
		m.sample()
		m.arrive()
		cmds = append(cmds, m.enter())
	case e.Look != nil:
		cmds = append(cmds, m.look(*e.Look))
	case e.URI != "":
		cmds = append(cmds, m.choose(e.URI))
	case e.Prompt != nil:
		m.prompt(e.Prompt)
	case e.Menu != nil:
		m.menu(e.Menu)
	case e.Export != nil:
		m.exportThis(e.Export)
	case e.Recover != "":
		cmds = append(cmds, m.recoverAt(e.Recover))
	case e.Write != nil:
		cmds = append(cmds, m.openWrite(e.Write))
	case e.Form != nil:
		cmds = append(cmds, m.openForm(e.Form))
	}
	if len(e.Ask) > 0 {
		cmds = append(cmds, m.ask(m.top(), e.Ask))
	}
	return tea.Batch(cmds...)
}

// root shows one of the numbered screens, as it was left.
func (m *model) root(id action.ID) tea.Cmd {
	if rootScreens()[id] == nil {
		return nil
	}
	v := m.rootVisit(id)
	if len(m.stack) == 1 && m.top() == v {
		return nil
	}
	m.depart()
	m.leave(m.top())
	m.stack = []*visit{v}
	m.sample()
	m.arrive()
	return m.enter()
}

// rootVisit is the visit of a numbered screen, made when there is none.
func (m *model) rootVisit(id action.ID) *visit {
	v := m.roots[id]
	if v == nil {
		v = m.newVisit(rootScreens()[id])
		m.restore(id, v.screen)
		m.roots[id] = v
	}
	return v
}

// back goes from the detail to the list, from a narrowed list to the whole one,
// to the screen before, from the first one to the picker.
func (m *model) back() tea.Cmd {
	if top := m.top().screen; top.InDetail() {
		top.CloseDetail()
		return nil
	}
	if m.filtered() {
		return m.effect(m.top().screen.(screen.Filterer).SetFilter(&m.env, ""))
	}
	if len(m.stack) == 1 {
		return m.forget()
	}
	m.depart()
	m.leave(m.top())
	m.stack = m.stack[: len(m.stack)-1 : len(m.stack)-1]
	m.sample()
	m.arrive()
	return m.enter()
}

// choose opens a graph from the picker.
func (m *model) choose(uri string) tea.Cmd {
	m.leave(m.top())
	m.env.URI, m.env.Address, m.env.At, m.env.Data = uri, uri, engine.At{}, screen.NewSession()
	m.anewGraph()
	v := m.newVisit(screen.NewOverview())
	m.roots = map[action.ID]*visit{action.Overview: v}
	m.stack = []*visit{v}
	m.nav = m.newVisit(&navigator{})
	m.arrive()
	return tea.Batch(m.open(uri), m.recall(), m.enter())
}

// anewGraph forgets what belonged to the graph before.
func (m *model) anewGraph() {
	m.trail, m.here, m.home, m.env.Pinned, m.env.Locked, m.following = nil, 0, nil, nil, false, false
	m.commands, m.keep, m.foretold = nil, keeping{}, false
	address := m.drafts["address"]
	m.drafts = map[string]string{}
	m.keepDraft("address", address)
}

// forget closes the graph and shows the picker again.
func (m *model) forget() tea.Cmd {
	if m.writing() {
		return m.say(m.progress())
	}
	m.writer, m.wrote = nil, false
	saved := m.saveLater()
	if m.export != nil {
		m.export.cancel()
	}
	m.leave(m.top())
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
	m.anewGraph()
	m.roots = map[action.ID]*visit{}
	m.stack = []*visit{m.newVisit(screen.NewPicker(m.opt.Recents))}
	m.sample()
	m.arrive()
	return tea.Batch(saved, cmd, m.enter())
}
