package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/tui/action"
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
		op     *screen.Record // that it was asked in; nil = in none
		leads  bool           // others may have waited for it
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
	m.ws, m.first, m.warm = msg.ws, nil, false
	m.env.Remote, m.env.Locked, m.env.Address = m.ws.Remote(), m.ws.Remote(), m.ws.URI()
	m.wsCtx, m.all = m.ws.Scope(m.ctx)
	cmds := []tea.Cmd{m.lookPending(false)}
	for _, w := range waiting {
		cmds = append(cmds, m.ask(w.visit, w.reqs))
	}
	cmds = append(cmds, m.ask(m.nav, m.env.Data.MissingLedger(&m.env)))
	return tea.Batch(cmds...)
}

// discard closes a graph that came too late.
func (m *model) discard(ws workspace.Workspace) tea.Cmd {
	if ws == nil {
		return nil
	}
	return safely("closing a graph", func() tea.Msg {
		_ = ws.Close() // nothing was written through it
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
			cmds = append(cmds, m.run(v, r, m.ctx, nil, nil))
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
	var cmds []tea.Cmd
	var names []string
	for _, r := range reqs {
		if r.Aside {
			cmds = append(cmds, m.run(v, r, m.ctx, m.ws, nil))
		} else {
			if len(names) == 0 || names[len(names)-1] != r.Name {
				names = append(names, r.Name)
			}
		}
	}
	if names == nil {
		return cmds
	}
	ctx, meter := m.ws.Scope(v.ctx)
	op := m.env.Ops.Begin(screen.Record{
		Visit: v.id, URI: m.env.URI, From: v.screen.Title(), At: m.env.At, Names: names, Table: tableOf(v.screen.Place()),
		Began: m.env.Now, Meter: meter,
	}, len(names))
	if v != m.nav {
		m.last, m.lastName, m.op = meter, op.Name(), op
		m.drawer.back, m.drawer.scroll = 0, 0
	}
	m.lead(reqs, meter)
	for _, r := range reqs {
		if !r.Aside {
			cmds = append(cmds, m.run(v, r, ctx, m.ws, op))
		}
	}
	return cmds
}

// tableOf is the table that a place is about; "" = the whole graph.
func tableOf(place string) string {
	table, _, _ := strings.Cut(place, "/")
	if strings.HasPrefix(table, "node:") || strings.HasPrefix(table, "edge:") {
		return table
	}
	return ""
}

func (m *model) run(v *visit, r screen.Request, ctx context.Context, ws workspace.Workspace, op *screen.Record) tea.Cmd {
	id := v.id
	return safely("reading "+r.Name, func() tea.Msg {
		data, err := r.Run(ctx, ws)
		return loadedMsg{id, r.Pane, r.Target, r.Gen, data, err, op, !r.Aside && !r.Alone && !r.Local()}
	})
}

// takeLoaded hands an answer to its pane.
func (m *model) takeLoaded(msg loadedMsg) tea.Cmd {
	if msg.op != nil {
		m.env.Ops.Answer(msg.op, msg.err, m.env.Now)
		m.dirty = m.dirty || !msg.op.Running() && m.showsOps()
	}
	if !msg.pane.Settle(msg.target, msg.gen, msg.data, msg.err, m.env.Now) {
		return nil
	}
	m.env.Data.Note(msg.data)
	m.warm = m.warm || msg.leads && msg.err == nil
	m.dirty = true
	m.sample()
	if m.noteAsks && !m.busy() {
		m.note, m.noteAsks = "", false
	}
	for _, o := range m.overlays {
		if l, ok := o.(interface{ loaded(*model) }); ok {
			l.loaded(m)
		}
	}
	var cmds []tea.Cmd
	for _, o := range slices.Clone(m.overlays) {
		if l, ok := o.(interface{ settled(*model) tea.Cmd }); ok {
			cmds = append(cmds, l.settled(m))
		}
	}
	top := m.top()
	if msg.visit == top.id {
		// What came may make the screen want more: the page after an end that moved.
		cmds = append(cmds, m.ask(top, top.screen.Start(&m.env)))
	}
	return tea.Batch(append(cmds, m.age())...)
}

// enter asks for what the looked-at screen and the navigator lack.
func (m *model) enter() tea.Cmd {
	if m.keep.waiting { // where one was is not known yet
		return nil
	}
	top := m.top()
	cmds := []tea.Cmd{m.lookPending(false), m.ask(top, top.screen.Start(&m.env))}
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
	if v == m.nav { // in whose name it is asked
		m.env.Data.Pending.Abandon()
	}
	for _, o := range m.overlays { // it asked in the name of the screen below it
		if x, ok := o.(interface{ panes() []screen.Pane }); ok && v == m.top() {
			for _, p := range x.panes() {
				p.Abandon()
			}
		}
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
	for _, o := range m.overlays {
		if x, ok := o.(interface{ panes() []screen.Pane }); ok {
			panes = append(panes, x.panes()...)
		}
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
	if m.ticking || !m.busy() && m.export == nil && !m.working() {
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
	m.dirty = m.dirty || m.busy() || m.export != nil || m.working() || m.seen != before
	return m.tick()
}

// showsOps says that operations are among what is shown.
func (m *model) showsOps() bool {
	return m.drawerOpen() || m.top().screen.Name() == action.OnOps
}

// sample reads the meter of the scope that is shown, and its detail when that
// may have changed.
func (m *model) sample() {
	meter := m.shown()
	m.seen = workspace.Reading{}
	if meter != nil {
		m.seen = meter.Sample()
	}
	if meter != m.of || m.seen != m.at {
		m.of, m.at, m.detail, m.p95 = meter, m.seen, cost.Trace{}, 0
		if meter != nil {
			m.detail = meter.Trace()
			m.p95 = screen.Percentile(m.detail, 0.95)
		}
	}
	m.env.Failing = ""
	if n := len(m.detail.Calls); n > 0 && m.scope == 0 && m.seen.Failed > 0 && m.detail.Calls[n-1].Failed {
		m.env.Failing = m.detail.Calls[n-1].Err
	}
	if m.scope == 2 {
		m.seen = m.before.Add(m.seen)
	}
}

// shown is the meter of the scope that is shown; nil when there is none yet.
func (m *model) shown() workspace.Meter {
	switch m.scope {
	case 0:
		if m.writerShown() && m.writer.meter != nil {
			return m.writer.meter
		}
		return m.top().meter
	case 1:
		return m.last
	}
	return m.all
}

// age arranges that ages are redrawn when their words stop being true: one
// timer, seconds to hours ahead. Of one that has run out the message is on its
// way, and arranges the next: what is due then is not put off by whatever comes in
// the same moment.
func (m *model) age() tea.Cmd {
	due := m.nextAge()
	if due.IsZero() || !m.ageDue.IsZero() && !due.Before(m.ageDue) {
		return nil
	}
	m.ageDue = due
	return m.after(due.Sub(m.env.Now), ageMsg{})
}
