package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/screen"
)

// travel goes to the moment that is selected; where one is there already, or
// none is selected, back to now.
func (m *model) travel() tea.Cmd {
	if at, name, ok := m.elsewhere(); ok {
		return tea.Batch(m.say("all screens show "+name), m.look(at))
	}
	return m.toNow()
}

// elsewhere is the moment that is selected, when it is not the one that is
// shown.
func (m *model) elsewhere() (at engine.At, name string, ok bool) {
	if t, is := m.top().screen.(screen.Traveller); is {
		at, name, ok = t.Destination(&m.env)
	}
	return at, name, ok && at != m.env.At
}

// toNow shows the head again of the branch that was shown before one left for
// another moment.
func (m *model) toNow() tea.Cmd {
	if !m.env.Travelling() {
		return m.say("all screens show the head of " + m.env.Branch() + " already")
	}
	home := engine.At{Branch: m.env.At.Branch}
	if m.home != nil {
		home = *m.home
	}
	cmd := m.look(home)
	return tea.Batch(m.say("all screens show the head of "+m.env.Branch()), cmd)
}

// look shows another branch or moment on all screens. The place on the stack
// stays, but what it shows is read anew.
func (m *model) look(at engine.At) tea.Cmd {
	m.depart()
	m.leave(m.top())
	m.leave(m.nav)
	branch := m.env.Branch()
	if was := m.env.At; !m.env.Travelling() {
		m.home = &was
	}
	m.env.At, m.warm = at, false
	m.env.Data.Retarget()
	for id, v := range m.roots {
		// Its chain is the branch's own.
		if id == action.Versions && m.env.Branch() != branch {
			m.leave(v)
			delete(m.roots, id)
			if m.stack[0] == v {
				m.stack[0] = m.rootVisit(id)
			}
		}
	}
	m.stack = slices.Clone(m.stack)
	for i, v := range m.stack {
		if i == 0 && m.isRoot(v) {
			continue
		}
		again := anew(v.screen)
		if again == nil && i > 0 {
			m.stack = m.stack[:i]
			break
		}
		if again != nil {
			m.stack[i] = m.newVisit(again)
		}
	}
	m.sample()
	m.arrive()
	return m.enter()
}

// anew makes a screen again that has nothing loaded; nil for one that cannot
// be asked for by its place.
func anew(old screen.Screen) screen.Screen {
	place := old.Place()
	s, err := screen.At(place)
	if err != nil || s.Place() != place || s.Name() != old.Name() {
		return nil
	}
	if k, ok := old.(screen.Keeper); ok {
		if n, ok := s.(screen.Keeper); ok {
			if kept := k.Keep(); kept != nil {
				n.Restore(kept)
			}
		}
	}
	return s
}

// resolvedMsg brings what a text such as a commit's suffix means.
type resolvedMsg struct {
	line *command // that waits for it
	text string
	at   engine.At
	err  error
}

// resolve asks what a branch, version or commit means.
func (m *model) resolve(line *command, text string) tea.Cmd {
	ws, ctx, branch := m.ws, m.wsCtx, m.env.At.Branch
	return safely("looking for "+text, func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, resolveTime)
		defer cancel()
		at, err := ws.ResolveAt(ctx, text, branch)
		return resolvedMsg{line, text, at, err}
	})
}

// resolveTime is how long a store may take to say what a commit is.
const resolveTime = time.Minute

func (m *model) takeResolved(msg resolvedMsg) tea.Cmd {
	if !slices.Contains(m.overlays, overlay(msg.line)) || msg.line.wait != msg.text {
		return nil // nobody waits for it any more
	}
	m.dirty = true
	msg.line.wait = ""
	if msg.err != nil {
		msg.line.said = msg.err.Error()
		return nil
	}
	m.shut(msg.line)
	if msg.at == m.env.At {
		return m.say("all screens show " + msg.text + " already")
	}
	return tea.Batch(m.say("all screens show "+msg.text), m.look(msg.at))
}
