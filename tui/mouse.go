package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/screen"
)

// The mouse is the terminal's own unless it was asked for: what one selects
// with it then is copied as in any other program.

// mouseMode is what the terminal is asked to report.
func (m *model) mouseMode() tea.MouseMode {
	if m.mouse && !m.plain {
		return tea.MouseModeCellMotion
	}
	return tea.MouseModeNone
}

func (m *model) switchMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		return m.say("the mouse selects and scrolls; hold shift to select text")
	}
	return m.say("the mouse is the terminal's again")
}

const wheelLines = 3 // that one notch of the wheel moves

// wheel moves in the list, or in the detail that has the focus.
func (m *model) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	id := action.Down
	switch msg.Button {
	case tea.MouseWheelDown:
	case tea.MouseWheelUp:
		id = action.Up
	default:
		return nil
	}
	if n := len(m.overlays); n > 0 {
		code := tea.KeyDown
		if id == action.Up {
			code = tea.KeyUp
		}
		cmd, _ := m.overlayKey(tea.KeyPressMsg{Code: code})
		return cmd
	}
	var cmds []tea.Cmd
	for range wheelLines {
		if m.navFocus() {
			m.tree().Do(&m.env, id)
			continue
		}
		cmds = append(cmds, m.effect(m.top().screen.Do(&m.env, id)))
	}
	return tea.Batch(cmds...)
}

// click selects what was clicked at, when the screen knows what that is.
func (m *model) click(msg tea.MouseClickMsg) tea.Cmd {
	if n := len(m.overlays); n > 0 || msg.Button != tea.MouseLeft {
		if n > 0 && m.writer != nil && m.overlays[n-1] == overlay(m.writer) && msg.Button == tea.MouseLeft {
			m.writer.Click(msg.Y - m.bodyTop())
		}
		return nil
	}
	x, y := m.inBody(msg.X, msg.Y)
	if x < -1 {
		return m.navClick(y)
	}
	if c, ok := m.top().screen.(screen.Clicker); ok && x >= 0 && y >= 0 && c.Click(&m.env, x, y) {
		return m.enter()
	}
	return nil
}

// inBody is a place on the screen as one inside the area of the topmost
// screen.
func (m *model) inBody(x, y int) (int, int) {
	y -= m.bodyTop()
	if m.showsNav() {
		x -= navWidth + 1
	}
	return x, y
}
