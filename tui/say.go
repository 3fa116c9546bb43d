package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
)

const (
	twice    = 2 * time.Second // between two interrupts that mean to leave
	noteTime = 3 * time.Second
	// noteLeast is how long a sentence stands although keys are pressed.
	noteLeast = time.Second
	// noteLetter is how much longer a sentence stands for each of its letters.
	noteLetter = 25 * time.Millisecond
)

// interrupt cancels what is loading; a second one leaves.
func (m *model) interrupt() tea.Cmd {
	again := !m.interrupted.IsZero() && m.env.Now.Sub(m.interrupted) <= twice
	if !again {
		if cmd, ok := m.interruptWrite(); ok {
			m.interrupted = m.env.Now
			return cmd
		}
	}
	if m.export != nil {
		m.export.cancel()
		return m.say("cancelling the export")
	}
	m.interrupted = m.env.Now
	if again {
		return tea.Quit
	}
	if !m.busy() {
		cmd := m.say(m.env.Key(action.Interrupt) + " again leaves")
		m.leaves = true
		return cmd
	}
	m.leave(m.top())
	m.leave(m.nav)
	if m.opening {
		m.openGen++
		m.opening = false
	}
	m.sample()
	cmd := m.say("cancelled; " + m.env.Key(action.Interrupt) + " again leaves, " + m.keyOr(action.Reload, "reload") + " reads again")
	m.leaves = true
	return cmd
}

// calm takes back what an interrupt promised: after another key the next one is
// a first one again, and cancels.
func (m *model) calm() {
	if m.interrupted.IsZero() {
		return
	}
	m.interrupted = time.Time{}
	if m.leaves {
		m.note = ""
	}
}

// say puts a sentence into the status line for a moment.
func (m *model) say(text string) tea.Cmd {
	m.note = part.Clean(text, m.env.Theme.Glyph)
	stays := noteTime + time.Duration(part.Width(m.note))*noteLetter
	m.noteAt, m.noteEnd, m.refused, m.noteAsks, m.leaves = m.env.Now, m.env.Now.Add(stays), false, false, false
	return m.after(stays, noteMsg{})
}

// refuse says why a key did nothing, until the next key.
func (m *model) refuse(text string) tea.Cmd {
	cmd := m.say(text)
	m.refused = true
	return cmd
}
