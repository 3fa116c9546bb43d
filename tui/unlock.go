package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// switchLock asks for the name of a remote graph before anything may be
// written to it, and locks it again. The dialog shows what is pending, since
// writing is what starts recovery.
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
			return m.say("unlocked: " + m.name() + " may be written to; " + m.keyOr(action.Unlock, "lock") + " locks it")
		},
	})
	if p := &m.env.Data.Info; p.Loaded().IsZero() && !p.Busy() {
		return m.ask(m.top(), []screen.Request{m.env.Data.AskInfo(&m.env)})
	}
	return nil
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

// pending says what the next write would first have to finish or undo.
func (m *model) pending(d *part.Doc) {
	p := &m.env.Data.Info
	info, ok := p.Get()
	switch {
	case !ok && p.Busy():
		d.FactRole("pending", theme.Muted, "reading")
	case !ok, slices.Contains(info.Unread, engine.UnreadRecovery):
		d.FactRole("pending", theme.Warn, "not read: what an interrupted write left is not known")
	case len(info.PendingRecovery) == 0:
		d.Fact("pending", "nothing: no write was interrupted")
	default:
		for _, r := range info.PendingRecovery {
			d.FactRole("pending", theme.Warn, pendingLine(r))
		}
		d.Text(theme.Muted, "`omnideck recover` shows what is right about it. A write that it stands in the way of first finishes it or takes it back, once it is old, and is refused where nobody may.")
	}
}

func pendingLine(r engine.Pending) string {
	s := strings.ToLower(r.Kind)
	if s == "" {
		s = "a write"
	}
	if r.Branch != "" {
		s += " on " + r.Branch
	}
	s += ", " + part.Plural(len(r.Tables), "table", "tables")
	if r.Problem != "" {
		s += ": " + r.Problem
	}
	return s
}
