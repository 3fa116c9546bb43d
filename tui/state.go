package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/screen"
)

// What outlives the program is kept per graph: the place, where one was on each
// numbered screen, the width, the lines that were typed and those that were
// not sent off. The moment in history is not: one begins at now.

// keptState is a state as it is written. What is not understood is ignored.
type keptState struct {
	Place    string                        `json:"place,omitempty"`
	Top      json.RawMessage               `json:"top,omitempty"` // of the screen at Place, when it is no numbered one
	Screens  map[action.ID]json.RawMessage `json:"screens,omitempty"`
	Wide     bool                          `json:"wide,omitempty"`
	Splits   map[string]int                `json:"splits,omitempty"` // by layout, in percent
	Commands []string                      `json:"commands,omitempty"`
	Drafts   map[string]string             `json:"drafts,omitempty"`
}

const (
	saveEvery    = 3 * time.Second
	stateMax     = 1 << 20 // bytes of a state that is read
	keptCommands = 200
	loadTime     = 250 * time.Millisecond // that the first question waits for the state
)

type (
	stateMsg struct {
		graph string
		state []byte
		err   error
	}
	stateLateMsg struct{ graph string }
	saveMsg      struct{}
	savedMsg     struct{ err error }
)

// keeping is what the root knows of the state of the open graph.
type keeping struct {
	graph   string // its name there; "" = nothing is kept
	waiting bool   // what was kept has not come yet, and no screen began
	known   bool   // it has come: it may be written over
	due     bool   // a timer runs that looks for changes
	saved   []byte
	screens map[action.ID]json.RawMessage // for numbered screens that were not opened yet
	failed  bool                          // it was said that nothing can be kept
}

// passwords are what an address in the draft of a form has before its host. The
// rest of it is a value, and stays.
var passwords = regexp.MustCompile(`://[^/?#\s"@]*@`)

// scrubbed is a text that a user typed, with every address in it stripped.
func scrubbed(text string) string {
	words := strings.Split(text, " ")
	for i, w := range words {
		words[i] = screen.Stripped(w)
	}
	return strings.Join(words, " ")
}

// recall asks for what was kept of the graph. The first screen waits for it, a
// moment.
func (m *model) recall() tea.Cmd {
	m.keep = keeping{graph: screen.Stripped(m.env.URI)}
	load := m.opt.LoadState
	if load == nil || m.keep.graph == "" || strings.HasPrefix(m.keep.graph, "mem:") {
		m.keep.graph = ""
		return nil
	}
	m.keep.waiting = true
	graph := m.keep.graph
	return tea.Batch(m.after(loadTime, stateLateMsg{graph}), safely("reading the state of a graph", func() tea.Msg {
		state, err := load(graph)
		return stateMsg{graph, state, err}
	}))
}

// takeLate begins without the state.
func (m *model) takeLate(msg stateLateMsg) tea.Cmd {
	if !m.keep.waiting || msg.graph != m.keep.graph {
		return nil
	}
	m.keep.waiting, m.dirty = false, true
	return m.enter()
}

// takeState goes where one was, unless one is on one's way already.
func (m *model) takeState(msg stateMsg) tea.Cmd {
	if msg.graph != m.keep.graph || m.keep.known {
		return nil
	}
	m.dirty = true
	first := m.keep.waiting
	m.keep.waiting, m.keep.known = false, true
	var k keptState
	err := msg.err
	if err == nil && len(msg.state) > stateMax {
		err = fmt.Errorf("it has %d bytes, at most %d are read", len(msg.state), stateMax)
	}
	if err == nil && len(msg.state) > 0 {
		err = json.Unmarshal(msg.state, &k)
	}
	var cmds []tea.Cmd
	if err != nil {
		k = keptState{}
		cmds = append(cmds, m.say("what was kept of this graph cannot be read and is ignored: "+err.Error()))
	}
	m.keep.saved = msg.state
	m.adopt(k)
	if first {
		if m.opt.Screen == "" && len(m.stack) == 1 && m.isRoot(m.top()) && m.rootOf(m.top()) == action.Overview {
			m.resume(k)
		}
		cmds = append(cmds, m.enter())
	}
	return tea.Batch(cmds...)
}

// adopt takes over what does not move anyone.
func (m *model) adopt(k keptState) {
	m.widen(m.wide || k.Wide, m.plain)
	m.keep.screens = k.Screens
	for _, layout := range layouts {
		if m.shifts[layout] == 0 {
			m.shift(layout, k.Splits[layout])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.Drafts)) {
		text := k.Drafts[name]
		if len(text) <= draftMax && m.drafts[name] == "" && len(m.drafts) < keptCommands {
			m.drafts[name] = text
		}
	}
	if len(k.Commands) > keptCommands {
		k.Commands = k.Commands[len(k.Commands)-keptCommands:]
	}
	m.commands = append(k.Commands, m.commands...)
}

// resume goes to the place that was kept. Nothing was asked for yet.
func (m *model) resume(k keptState) {
	for id, v := range m.roots {
		m.restore(id, v.screen)
	}
	s, err := screen.At(k.Place)
	if err != nil || k.Place == "" || k.Place == string(action.Ops) { // those of a session that is over
		return
	}
	if id := numbered(s); id != "" {
		m.stack = []*visit{m.rootVisit(id)}
	} else {
		if r, ok := s.(screen.Keeper); ok && k.Top != nil {
			r.Restore(k.Top)
		}
		m.stack = append(m.stack[:1:1], m.newVisit(s))
	}
	m.trail = nil
	m.arrive()
}

// restore gives a numbered screen what was kept of it, once.
func (m *model) restore(id action.ID, s screen.Screen) {
	raw, ok := m.keep.screens[id]
	delete(m.keep.screens, id)
	if k, is := s.(screen.Keeper); ok && is {
		k.Restore(raw)
	}
}

// state is what is to be kept now.
func (m *model) state() []byte {
	top := m.top().screen
	k := keptState{Place: top.Place(), Screens: map[action.ID]json.RawMessage{}, Wide: m.wide, Splits: m.shifts, Drafts: map[string]string{}}
	for id, raw := range m.keep.screens {
		k.Screens[id] = raw
	}
	for id, v := range m.roots {
		if s, ok := v.screen.(screen.Keeper); ok {
			if raw := s.Keep(); raw != nil {
				k.Screens[id] = raw
			}
		}
	}
	if s, ok := top.(screen.Keeper); ok && !m.isRoot(m.top()) {
		k.Top = s.Keep()
	}
	for name, text := range m.drafts {
		switch {
		case name == "address" || len(text) > draftMax: // the first may hold a secret, and belongs to no graph
		case strings.HasPrefix(name, "form "), strings.HasPrefix(name, "mutate "): // every other letter stays
			k.Drafts[name] = passwords.ReplaceAllString(text, "://")
		default:
			k.Drafts[name] = scrubbed(text)
		}
	}
	for _, c := range m.commands[max(0, len(m.commands)-keptCommands):] {
		k.Commands = append(k.Commands, scrubbed(c))
	}
	out, err := json.Marshal(k)
	if err != nil {
		return nil
	}
	return out
}

// touch arranges that the state is looked at in a moment: the user did
// something.
func (m *model) touch() tea.Cmd {
	if m.opt.SaveState == nil || m.keep.graph == "" || !m.keep.known || m.keep.due {
		return nil
	}
	m.keep.due = true
	return m.after(saveEvery, saveMsg{})
}

// save writes the state when it changed; nil when there is nothing to write.
func (m *model) save() func() error {
	save := m.opt.SaveState
	m.keep.due = false
	if save == nil || m.keep.graph == "" || !m.keep.known {
		return nil
	}
	state, graph := m.state(), m.keep.graph
	if state == nil || bytes.Equal(state, m.keep.saved) {
		return nil
	}
	base, load := m.keep.saved, m.opt.LoadState
	m.keep.saved = state
	return func() error {
		if load != nil {
			if theirs, err := load(graph); err == nil {
				state = merged(base, theirs, state)
			}
		}
		return save(graph, state)
	}
}

func (m *model) saveLater() tea.Cmd {
	write := m.save()
	if write == nil {
		return nil
	}
	return safely("keeping the state of a graph", func() tea.Msg { return savedMsg{write()} })
}

// takeSaved says once that nothing can be kept.
func (m *model) takeSaved(msg savedMsg) tea.Cmd {
	if msg.err == nil || m.keep.failed {
		return nil
	}
	m.keep.failed, m.dirty = true, true
	return m.say("where you are cannot be kept for the next time: " + msg.err.Error())
}

// saveLast writes the state at the end, without waiting for a slow disk.
func (m *model) saveLast() {
	for _, o := range m.overlays {
		if f, ok := o.(*entityForm); ok {
			f.keep(m)
		}
	}
	write := m.save()
	if write == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = write() // there is nobody left to be told
	}()
	select {
	case <-done:
	case <-time.After(100 * time.Millisecond):
	}
}
