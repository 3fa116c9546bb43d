package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// switchLock asks for the name of a remote graph before anything may be
// written to it, and locks it again. The dialog says what is pending; once it is
// unlocked, what recovery would do about it is shown.
func (m *model) switchLock() tea.Cmd {
	if m.ws == nil {
		return m.say("the graph is not open yet")
	}
	if !m.env.Locked {
		return m.lock()
	}
	m.confirm(&confirm{
		title: "allow writing", name: m.name(), why: "unlock it",
		wrong: "the graph is called " + m.name() + "; it stays locked",
		facts: func(m *model, d *part.Doc) {
			d.Fact("graph", m.env.Address)
			m.pending(d)
			d.Text(theme.Muted, "Unlocking allows to write until the graph is closed or locked; each write is planned and shown before it runs.")
		},
		done: func(m *model) tea.Cmd {
			m.env.Locked = false
			m.ws.Lock(false)
			said := m.say("unlocked: " + m.name() + " may be written to; " + m.keyOr(action.Unlock, "lock") + " locks it")
			return tea.Batch(said, m.recoverUnlocked())
		},
	})
	return m.lookPending(false)
}

func (m *model) lock() tea.Cmd {
	m.env.Locked = m.env.Remote
	if m.ws != nil {
		m.ws.Lock(m.env.Locked)
	}
	return m.say("locked: nothing may be written to " + m.name())
}

// keyOr is the first key of an action, or a verb that does the same.
func (m *model) keyOr(id action.ID, verb string) string {
	if k, _, _ := strings.Cut(m.env.Key(id), " "); k != "" {
		return k
	}
	return ":" + verb
}

// pending says what recovery would be about, which is shown next.
func (m *model) pending(d *part.Doc) {
	left := m.env.Data.Left
	if left != nil && left.Locked {
		d.FactRole("lock", theme.Bad, "that of a schema apply is there: every write is refused until it is gone; what is safe is shown next")
	}
	switch p := &m.env.Data.Info; {
	case left.Len() > 0:
		chip := left.Chip(m.env.Theme, m.env.Now).Long
		d.FactRole("pending", chip.Role, chip.Text)
		d.Text(theme.Muted, "What recovery would do about it is shown next. Nothing is done before it is confirmed.")
	case left != nil:
		d.Fact("pending", "nothing: no operation left a record")
	case p.Busy() || m.env.Data.Pending.Busy():
		d.FactRole("pending", theme.Muted, "reading")
	default:
		d.FactRole("pending", theme.Warn, "not read: what an interrupted write left is looked at next")
	}
}
