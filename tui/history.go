package tui

import (
	"encoding/json"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/screen"
)

// spot is a place that was visited: the screens on the stack, the moment that
// they show, and where one was on the topmost.
type spot struct {
	stack []*visit
	at    engine.At
	root  action.ID // of stack[0]; "" = none of the numbered screens
	kept  json.RawMessage
}

// trailMax is how many places are remembered.
const trailMax = 100

// depart notes where one was on the screen that is about to be left.
func (m *model) depart() {
	if m.here >= len(m.trail) {
		return
	}
	if k, ok := m.top().screen.(screen.Keeper); ok {
		m.trail[m.here].kept = k.Keep()
	}
}

// arrive remembers the place that is looked at now. What was ahead in the
// history is forgotten, as in a browser.
func (m *model) arrive() {
	now := spot{stack: slices.Clone(m.stack), at: m.env.At, root: m.rootOf(m.stack[0])}
	if m.here < len(m.trail) {
		if was := m.trail[m.here]; was.at == now.at && slices.Equal(was.stack, now.stack) {
			return
		}
		m.trail = m.trail[:m.here+1]
	}
	m.trail = append(m.trail, now)
	if n := len(m.trail) - trailMax; n > 0 {
		m.trail = slices.Delete(m.trail, 0, n)
	}
	m.here = len(m.trail) - 1
}

// rootOf is the number key's action that shows a visit; "" when none does.
func (m *model) rootOf(v *visit) action.ID {
	for id, r := range m.roots {
		if r == v {
			return id
		}
	}
	return ""
}

// step goes back (-1) or forward (+1) in history.
func (m *model) step(d int) tea.Cmd {
	to := m.here + d
	if to < 0 || to >= len(m.trail) {
		if d < 0 {
			return m.say("this is the first place that was visited")
		}
		return m.say("this is the newest place that was visited")
	}
	m.depart()
	m.leave(m.top())
	s := m.trail[to]
	m.here = to
	m.stack = slices.Clone(s.stack)
	if s.root != "" {
		m.roots[s.root] = m.stack[0]
	}
	if s.at != m.env.At {
		m.leave(m.nav)
		m.env.At, m.warm = s.at, false
		m.env.Data.Retarget()
	}
	if k, ok := m.top().screen.(screen.Keeper); ok && s.kept != nil {
		k.Restore(s.kept)
	}
	m.sample()
	return m.enter()
}
