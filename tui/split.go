package tui

import (
	tea "charm.land/bubbletea/v2"
)

// The line between list and detail can be moved. Where it stands is kept for
// each layout, because what is right in one is not in another.
var layouts = []string{"stacked", "two", "three"}

const (
	shiftStep = 4  // percent that one key moves the line
	shiftMost = 60 // percent that it can be moved away from where a screen has it
)

// layout is how a window of this width is divided.
func (m *model) layout() string {
	switch {
	case m.w < wideFrom:
		return layouts[0]
	case !m.showsNav():
		return layouts[1]
	}
	return layouts[2]
}

// shift puts the line of a layout at a distance from where a screen has it.
func (m *model) shift(layout string, by int) {
	if by = min(max(-shiftMost, by), shiftMost); by == 0 {
		delete(m.shifts, layout)
		return
	}
	m.shifts[layout] = by
}

// grow gives the pane with the focus more of the window, or less.
func (m *model) grow(by int) tea.Cmd {
	if m.top().screen.InDetail() {
		by = -by
	}
	layout := m.layout()
	m.shift(layout, m.shifts[layout]+by)
	return nil
}
