package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/workspace"
)

// The messages that commands bring back. Each names the question that it
// answers, so that an answer nobody waits for changes nothing.
type (
	openedMsg struct {
		gen uint64
		uri string
		ws  workspace.Workspace
		err error
	}
	loadedMsg struct {
		visit  uint64
		pane   screen.Pane
		target string
		gen    uint64
		data   any
		err    error
	}
	tickMsg struct{}
	ageMsg  struct{}
	noteMsg struct{}
)

// open begins to open a graph.
func (m *model) open(uri string) tea.Cmd {
	m.opening = true
	m.openGen++
	gen, ctx, open, opened := m.openGen, m.ctx, m.opt.Open, m.opt.Opened
	return safely("opening "+uri, func() tea.Msg {
		ws, err := open(ctx, uri)
		if err == nil && opened != nil {
			opened(uri)
		}
		return openedMsg{gen, uri, ws, err}
	})
}

// takeOpened takes the opened graph and asks what was waiting for it.
func (m *model) takeOpened(msg openedMsg) tea.Cmd {
	if msg.gen != m.openGen {
		return m.discard(msg.ws)
	}
	m.opening = false
	waiting := m.waiting
	m.waiting = nil
	if msg.err != nil {
		err := fmt.Errorf("opening %s: %w", msg.uri, msg.err)
		for _, w := range waiting {
			for _, r := range w.reqs {
				r.Pane.Settle(r.Target, r.Gen, nil, err, m.env.Now)
			}
		}
		return nil
	}
	m.ws = msg.ws
	m.env.Remote, m.env.Locked, m.env.Address = m.ws.Remote(), m.ws.Remote(), m.ws.URI()
	m.wsCtx, m.all = m.ws.Scope(m.ctx)
	var cmds []tea.Cmd
	for _, w := range waiting {
		cmds = append(cmds, m.ask(w.visit, w.reqs))
	}
	return tea.Batch(cmds...)
}

// discard closes a graph that came too late.
func (m *model) discard(ws workspace.Workspace) tea.Cmd {
	if ws == nil {
		return nil
	}
	return safely("closing a graph", func() tea.Msg {
		_ = ws.Close() // nothing is written through it
		return nil
	})
}

// ask turns requests into commands. They are one operation of the meter.
func (m *model) ask(v *visit, reqs []screen.Request) tea.Cmd {
	if len(reqs) == 0 {
		return nil
	}
	var cmds []tea.Cmd
	var remote []screen.Request
	for _, r := range reqs {
		if r.Local() {
			cmds = append(cmds, m.run(v, r, m.ctx, nil))
		} else {
			remote = append(remote, r)
		}
	}
	if len(remote) > 0 && m.ws == nil {
		m.waiting = append(m.waiting, waiting{v, remote})
		if !m.opening {
			cmds = append(cmds, m.open(m.env.URI))
		}
	} else if len(remote) > 0 {
		cmds = append(cmds, m.askGraph(v, remote)...)
	}
	return tea.Batch(append(cmds, m.tick())...)
}

func (m *model) askGraph(v *visit, reqs []screen.Request) []tea.Cmd {
	if v.meter == nil {
		v.inCtx, v.meter = m.ws.Scope(m.wsCtx)
	}
	if v.ctx == nil {
		v.ctx, v.cancel = context.WithCancel(v.inCtx)
	}
	ctx, meter := m.ws.Scope(v.ctx)
	if v != m.nav {
		var names []string
		for _, r := range reqs {
			names = append(names, r.Name)
		}
		m.last, m.lastName = meter, strings.Join(names, ", ")
	}
	var cmds []tea.Cmd
	for _, r := range reqs {
		cmds = append(cmds, m.run(v, r, ctx, m.ws))
	}
	return cmds
}

func (m *model) run(v *visit, r screen.Request, ctx context.Context, ws workspace.Workspace) tea.Cmd {
	id := v.id
	return safely("reading "+r.Name, func() tea.Msg {
		data, err := r.Run(ctx, ws)
		return loadedMsg{id, r.Pane, r.Target, r.Gen, data, err}
	})
}

// takeLoaded hands an answer to its pane.
func (m *model) takeLoaded(msg loadedMsg) tea.Cmd {
	if !msg.pane.Settle(msg.target, msg.gen, msg.data, msg.err, m.env.Now) {
		return nil
	}
	m.dirty = true
	m.sample()
	top := m.top()
	if msg.visit != top.id {
		return m.age()
	}
	// What came may make the screen want more: the page after an end that moved.
	return tea.Batch(m.ask(top, top.screen.Start(&m.env)), m.age())
}

// enter asks for what the looked-at screen and the navigator lack.
func (m *model) enter() tea.Cmd {
	top := m.top()
	cmds := []tea.Cmd{m.ask(top, top.screen.Start(&m.env))}
	if m.showsNav() {
		cmds = append(cmds, m.ask(m.nav, m.nav.screen.Start(&m.env)))
	}
	return tea.Batch(append(cmds, m.age())...)
}

// leave ends the questions of a screen that is no longer looked at.
func (m *model) leave(v *visit) {
	if v.cancel != nil {
		v.cancel()
		v.ctx, v.cancel = nil, nil
	}
	for _, p := range v.screen.Panes(&m.env) {
		p.Abandon()
	}
	kept := m.waiting[:0]
	for _, w := range m.waiting {
		if w.visit != v {
			kept = append(kept, w)
		}
	}
	m.waiting = kept
}

// busy says that an answer is waited for that would change what is shown.
func (m *model) busy() bool {
	if m.opening {
		return true
	}
	panes := m.top().screen.Panes(&m.env)
	if m.showsNav() {
		panes = append(panes, m.nav.screen.Panes(&m.env)...)
	}
	for _, p := range panes {
		if p.Busy() {
			return true
		}
	}
	return false
}

// after sends a message later, unless the program ends before. A still screen
// waits for nothing.
func (m *model) after(d time.Duration, msg tea.Msg) tea.Cmd {
	if m.still {
		return nil
	}
	ctx := m.ctx
	return func() tea.Msg {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return msg
		case <-ctx.Done():
			return nil
		}
	}
}

const tickEvery = 100 * time.Millisecond

// tick samples the counters while something is in flight, and only then.
func (m *model) tick() tea.Cmd {
	if m.ticking || !m.busy() {
		return nil
	}
	m.ticking = true
	return m.after(tickEvery, tickMsg{})
}

// takeTick redraws what moves: counters, and the time that is waited.
func (m *model) takeTick() tea.Cmd {
	m.ticking = false
	before := m.seen
	m.sample()
	m.dirty = m.dirty || m.busy() || m.seen != before
	return m.tick()
}

// sample reads the meter of the scope that is shown.
func (m *model) sample() {
	m.seen = m.reading()
}

func (m *model) reading() workspace.Reading {
	switch m.scope {
	case 0:
		if v := m.top(); v.meter != nil {
			return v.meter.Sample()
		}
	case 1:
		if m.last != nil {
			return m.last.Sample()
		}
	default:
		if m.all != nil {
			return m.before.Add(m.all.Sample())
		}
		return m.before
	}
	return workspace.Reading{}
}

// age arranges that ages are redrawn when their words stop being true: one
// timer, seconds to hours ahead.
func (m *model) age() tea.Cmd {
	due := m.nextAge()
	if due.IsZero() || !m.ageDue.IsZero() && !due.Before(m.ageDue) && m.ageDue.After(m.env.Now) {
		return nil
	}
	m.ageDue = due
	return m.after(due.Sub(m.env.Now), ageMsg{})
}
