package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/runner"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// Recovery of what other operations left. That something is pending is known from
// whatever was read last (screen.Session.Left) and stands in the header of every
// screen. What would be done is asked when the user wants to see it, unlocks the
// graph, or is about to write for the first time; it is the writer's overlay that
// shows it (write.go), so that one thing at a time changes the graph.

// lookPending asks what is pending, where nothing on the screen tells it anyway and
// nothing has told it yet; again: anew. It is on the meter of that screen: what the
// status line counts is all that was asked.
func (m *model) lookPending(again bool) tea.Cmd {
	if m.ws == nil || m.picking() {
		return nil
	}
	info := screen.Pane(&m.env.Data.Info)
	for _, p := range m.top().screen.Panes(&m.env) {
		if p == info {
			return nil
		}
	}
	p := &m.env.Data.Pending
	if p.Busy() || !again && (m.env.Data.Left != nil || p.Problem() != nil) {
		return nil
	}
	return m.ask(m.top(), []screen.Request{m.env.Data.AskPending(&m.env)})
}

// nextPending is when what is said of pending recoveries stops being true: at the
// next second while one is waited for, else when the age of the oldest changes.
func (m *model) nextPending() time.Time {
	now := m.env.Now
	until := m.env.Data.Left.Next(now)
	if m.writerShown() {
		if at := m.writer.Waits(now); !at.IsZero() && (until.IsZero() || at.Before(until)) {
			until = at
		}
	}
	if !until.IsZero() {
		return now.Add(screen.NextSecond(until.Sub(now)))
	}
	if at := m.env.Data.Left.Oldest(); !at.IsZero() && at.Before(now) {
		_, left := part.Age(now.Sub(at))
		return now.Add(left)
	}
	return time.Time{}
}

// openRecovery shows what recovery would do, or what is there already.
func (m *model) openRecovery() tea.Cmd {
	switch {
	case m.writer == nil:
		return m.startRecovery(runner.Why{})
	case m.writer.Recovers():
		return m.showWriter()
	}
	return tea.Batch(m.say("a write is there already: "+m.writer.Title()), m.showWriter())
}

// recoverAt is openRecovery with one record in view.
func (m *model) recoverAt(key string) tea.Cmd {
	if m.writer != nil {
		return m.openRecovery()
	}
	return m.startRecovery(runner.Why{At: key})
}

func (m *model) startRecovery(why runner.Why) tea.Cmd {
	m.foretold = true
	m.startWriter(runner.NewRecovery(&m.env, m.name(), why))
	return m.planRecovery()
}

// recoverUnlocked shows what is pending when writing was unlocked, unless it is
// known that nothing is.
func (m *model) recoverUnlocked() tea.Cmd {
	if left := m.env.Data.Left; m.writer != nil || left != nil && left.Len() == 0 && !left.Locked {
		return nil
	}
	return m.startRecovery(runner.Why{Unlocked: true})
}

// recoversFirst says that the first write is about to begin, and something is
// pending that was not shown.
func (m *model) recoversFirst() bool {
	return !m.foretold && !m.wrote && m.writer == nil && m.ws != nil && m.env.Data.Left.Len() > 0
}

// recoverBefore shows what is pending before a write, which goes on afterwards.
func (m *model) recoverBefore(id action.ID) tea.Cmd {
	return m.startRecovery(runner.Why{Then: id})
}

// planRecovery asks what recovery would do.
func (m *model) planRecovery() tea.Cmd {
	x := m.writer
	ctx := x.begin(m, "plan recovery")
	ws, gen, cancel := m.ws, x.gen, x.cancel
	return tea.Batch(m.tick(), safely("planning a recovery", func() tea.Msg {
		defer cancel()
		plan, err := ws.PlanRecovery(ctx)
		return plannedRecoveryMsg{x, gen, plan, err}
	}))
}

func (m *model) takePlannedRecovery(msg plannedRecoveryMsg) tea.Cmd {
	m.env.Ops.Answer(msg.of.op, msg.err, m.env.Now)
	if msg.of != m.writer || msg.gen != msg.of.gen {
		return nil
	}
	m.dirty = true
	if msg.err == nil {
		m.env.Data.Note(msg.plan)
	}
	do := msg.of.TakeRecovery(&m.env, msg.plan, msg.err, msg.of.used().Requests())
	m.sample()
	return tea.Batch(m.carry(do), m.age())
}

// ripen looks again when a record that was waited for may be acted on: its writer
// may have ended it. Only what is on the screen is looked at again.
func (m *model) ripen() tea.Cmd {
	n := len(m.overlays)
	if n == 0 || m.writer == nil || m.overlays[n-1] != overlay(m.writer) || !m.writer.Ripe(&m.env) {
		return nil
	}
	return m.planRecovery()
}

// confirmMoved asks for the name of a graph that was moved since the records were
// written, before it runs what was confirmed.
func (m *model) confirmMoved() {
	x := m.writer
	opt := x.Options()
	m.confirm(&confirm{
		title: "recover a moved graph", name: m.name(), why: "recover",
		wrong: "the graph is called " + m.name() + "; nothing was done",
		facts: func(m *model, d *part.Doc) {
			d.Fact("graph", m.env.Address)
			for _, root := range x.Roots() {
				d.FactRole("written at", theme.Warn, root)
			}
			d.Text(theme.Text, "The records name tables at another address. Be sure that this graph was moved or copied from there, and that nothing recovers it there.")
		},
		done: func(m *model) tea.Cmd {
			if m.writer != x || x.Step() != runner.Review {
				return nil
			}
			return m.runRecovering(opt)
		},
	})
}

// runRecovery does what was confirmed.
func (m *model) runRecovery() tea.Cmd { return m.runRecovering(m.writer.Options()) }

func (m *model) runRecovering(o engine.RecoverOptions) tea.Cmd {
	x := m.writer
	if m.env.Locked {
		return m.refuse(x.Title() + ": read-only until it is unlocked; " + m.keyOr(action.Unlock, "write") + " unlocks it")
	}
	line := x.CommandLine(&m.env)
	x.StartRecovery(&m.env, o.Only)
	o.Events = x.Recovering
	ctx := x.begin(m, "recover")
	x.op.Writes, x.op.CLI = true, line
	m.wrote = true
	x.done = make(chan struct{})
	ws, gen, cancel, done := m.ws, x.gen, x.cancel, x.done
	return tea.Batch(m.tick(), safely("recovering", func() tea.Msg {
		defer close(done)
		defer cancel()
		out, err := ws.Recover(ctx, o)
		return recoveredMsg{x, gen, out, err}
	}))
}

// takeRecovered takes the receipt, or why there is none.
func (m *model) takeRecovered(msg recoveredMsg) tea.Cmd {
	x := msg.of
	if x == m.writer && msg.gen == x.gen {
		x.RecoveryEnded(&m.env, msg.out, msg.err, x.used().Requests())
		x.op.Told = x.Told()
	}
	m.env.Ops.Answer(x.op, msg.err, m.env.Now)
	if x != m.writer || msg.gen != x.gen {
		return nil
	}
	m.dirty = true
	m.env.Writes++
	if msg.out != nil {
		m.env.Data.Note(msg.out.Remaining)
	}
	cmds := []tea.Cmd{m.afterWrite()}
	if !m.writerShown() {
		cmds = append(cmds, m.say(x.Outcome()+"; "+m.keyOr(action.Recover, "recover")+" shows it"))
	}
	m.sample()
	return tea.Batch(cmds...)
}
