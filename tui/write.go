package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/runner"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/workspace"
)

// writer is the overlay of a write, from its draft to its receipt. There is one
// at most. A running write may be hidden: then it is known and not shown.
type writer struct {
	*runner.Runner
	gen    uint64 // of the plan or the run that is waited for
	cancel context.CancelFunc
	meter  workspace.Meter // of the plan or the run; nil before there was one
	op     *screen.Record
	done   chan struct{} // closed when the run has ended; nil = none began
}

type (
	plannedRecoveryMsg struct {
		of   *writer
		gen  uint64
		plan *engine.RecoveryPlan
		err  error
	}
	recoveredMsg struct {
		of  *writer
		gen uint64
		out *engine.RecoveryReceipt
		err error
	}
	plannedMsg struct {
		of    *writer
		gen   uint64
		plan  *engine.WritePlan
		split *engine.ChunkPlan
		err   error
	}
	writtenMsg struct {
		of     *writer
		gen    uint64
		out    *engine.Receipt
		chunks *engine.ChunkedReceipt
		err    error
	}
)

// writing says that a write runs.
func (m *model) writing() bool { return m.writer != nil && m.writer.Step() == runner.Running }

// working says that the writer waits for the store.
func (m *model) working() bool {
	return m.writer != nil && (m.writer.Step() == runner.Running || m.writer.Step() == runner.Planning)
}

// writerShown says that the writer is above the screens.
func (m *model) writerShown() bool {
	for _, o := range m.overlays {
		if o == overlay(m.writer) && m.writer != nil {
			return true
		}
	}
	return false
}

// openMutate begins a draft of a mutate, or shows the write there is.
func (m *model) openMutate() tea.Cmd {
	if m.writer != nil {
		return m.showWriter()
	}
	r := runner.NewMutation(&m.env, m.drafts, m.shownTable())
	m.startWriter(r)
	if s := &m.env.Data.Schema; s.Loaded().IsZero() && !s.Busy() && s.Problem() == nil {
		return m.ask(m.nav, []screen.Request{m.env.Data.AskSchema(&m.env)})
	}
	return nil
}

// openLoad begins a draft of a load, or shows the write there is.
func (m *model) openLoad() tea.Cmd {
	if m.writer != nil {
		return m.showWriter()
	}
	m.startWriter(runner.NewLoading(&m.env, m.drafts))
	return nil
}

func (m *model) startWriter(r *runner.Runner) {
	m.writer = &writer{Runner: r}
	m.show(m.writer)
	m.sample()
}

func (m *model) showWriter() tea.Cmd {
	if !m.writerShown() {
		m.show(m.writer)
	}
	return m.tick()
}

// openWrite plans what a screen wants to be written.
func (m *model) openWrite(w *screen.Write) tea.Cmd {
	switch why := m.why(action.Mutate); {
	case w.Mutate == nil && w.Load == nil:
		return nil
	case m.writer != nil:
		return tea.Batch(m.say("a write is there already: "+m.writer.Title()), m.showWriter())
	case why != "":
		return m.refuse(w.Title + ": " + why)
	}
	m.startWriter(runner.New(&m.env, *w))
	return m.planWrite()
}

// key implements overlay.
func (x *writer) key(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	do := x.Key(&m.env, k)
	m.keepWriter()
	return m.carry(do), false
}

// paste implements overlay.
func (x *writer) paste(m *model, text string) tea.Cmd {
	x.Paste(&m.env, text)
	m.keepWriter()
	return nil
}

// keepWriter keeps what was typed into the draft.
func (m *model) keepWriter() {
	for name, text := range m.writer.Drafts() {
		m.keepDraft(name, text)
	}
}

// cover implements overlay.
func (x *writer) cover(m *model, body []string, w int) []string {
	return x.Render(&m.env, w, len(body), x.used())
}

// used is what was asked for the plan or the run.
func (x *writer) used() workspace.Reading {
	if x.meter == nil {
		return workspace.Reading{}
	}
	return x.meter.Sample()
}

// carry does what the runner wants.
func (m *model) carry(do runner.Do) tea.Cmd {
	var cmds []tea.Cmd
	if do.Note != "" {
		cmds = append(cmds, m.say(do.Note))
	}
	if do.Ask != nil {
		cmds = append(cmds, m.ask(m.nav, do.Ask))
	}
	x := m.writer
	switch {
	case do.Menu != nil:
		m.menu(do.Menu)
	case do.Copy != nil:
		cmds = append(cmds, m.copyOut(*do.Copy))
	case do.Copies != nil:
		m.offerCopies(do.Copies)
	case do.Plan && x.Recovers():
		cmds = append(cmds, m.planRecovery())
	case do.Run && x.Recovers():
		cmds = append(cmds, m.runRecovery())
	case do.Confirm:
		m.confirmMoved()
	case do.Unlock:
		cmds = append(cmds, m.switchLock())
	case do.Plan:
		cmds = append(cmds, m.planWrite())
	case do.Run:
		cmds = append(cmds, m.runWrite())
	case do.Stop:
		m.stopPlanning()
	case do.Hide:
		m.shut(x)
	case do.Close:
		m.shut(x)
		m.writer = nil
		m.sample() // what the writer asked for is not shown any more
	}
	if do.Show != "" {
		cmds = append(cmds, m.act(do.Show))
	}
	m.sample()
	return tea.Batch(cmds...)
}

// begin counts what is asked for from now on, as an operation of its own.
func (x *writer) begin(m *model, name string) context.Context {
	x.gen++
	ctx, meter := m.ws.Scope(m.wsCtx)
	ctx, x.cancel = context.WithCancel(ctx)
	x.meter = meter
	x.op = m.env.Ops.Begin(screen.Record{
		URI: m.env.URI, From: x.Title(), At: m.env.At, Names: []string{name}, Began: m.env.Now, Meter: meter,
	}, 1)
	m.last, m.lastName, m.op = meter, name, x.op
	m.drawer.back, m.drawer.scroll = 0, 0
	m.sample()
	return ctx
}

// planWrite asks what the write would do.
func (m *model) planWrite() tea.Cmd {
	x := m.writer
	if m.ws == nil {
		x.Planned(&m.env, nil, nil, errors.New("the graph is not open"), 0)
		return nil
	}
	ctx := x.begin(m, "plan "+x.Verb())
	ws, w, o, gen, cancel := m.ws, x.Write, m.writeOptions(x), x.gen, x.cancel
	return tea.Batch(m.tick(), safely("planning a write", func() tea.Msg {
		defer cancel()
		plan, split, err := planOf(ctx, ws, w, o)
		return plannedMsg{x, gen, plan, split, err}
	}))
}

// writeOptions are those of all writes of the workstation.
func (m *model) writeOptions(x *writer) engine.WriteOptions {
	return engine.WriteOptions{Branch: x.Branch, Actor: m.opt.Actor}
}

func planOf(ctx context.Context, ws workspace.Workspace, w screen.Write, o engine.WriteOptions) (*engine.WritePlan, *engine.ChunkPlan, error) {
	switch {
	case w.Mutate != nil:
		mo := *w.Mutate
		mo.WriteOptions = o
		p, err := ws.PlanMutate(ctx, mo)
		return p, nil, err
	case w.Load.Chunk:
		split, err := ws.PlanChunks(ctx, loadOptions(w.Load, o))
		return nil, split, err
	}
	p, err := ws.PlanLoad(ctx, loadOptions(w.Load, o))
	return p, nil, err
}

// loadOptions opens the file of a load, anew each time that it is read.
func loadOptions(l *screen.LoadDraft, o engine.WriteOptions) engine.LoadOptions {
	return engine.LoadOptions{WriteOptions: o, Mode: l.Mode, Input: func() (io.ReadCloser, error) {
		f, err := openFile(l.File)
		if err != nil {
			return nil, fmt.Errorf("reading the lines to load: %w", err)
		}
		return f, nil
	}}
}

func (m *model) takePlanned(msg plannedMsg) tea.Cmd {
	m.env.Ops.Answer(msg.of.op, msg.err, m.env.Now)
	if msg.of != m.writer || msg.gen != msg.of.gen {
		return nil
	}
	m.dirty = true
	if expect := msg.of.Write.Expect; expect != nil && msg.err == nil && msg.plan != nil {
		msg.err = expect(msg.plan)
	}
	msg.of.Planned(&m.env, msg.plan, msg.split, msg.err, msg.of.used().Requests())
	m.sample()
	return nil
}

// stopPlanning ends the plan at once; its answer comes too late.
func (m *model) stopPlanning() {
	x := m.writer
	if x.cancel != nil {
		x.cancel()
	}
	x.gen++
	if x.Recovers() {
		m.shut(x)
		m.writer = nil
		return
	}
	x.Planned(&m.env, nil, nil, context.Canceled, x.used().Requests())
	if x.Step() == runner.Refused { // a screen made it, and has the draft
		m.shut(x)
		m.writer = nil
	}
}

// runWrite runs what was confirmed.
func (m *model) runWrite() tea.Cmd {
	x := m.writer
	if why := m.why(action.Mutate); why != "" {
		return m.refuse(x.Title() + ": " + why)
	}
	x.Start(&m.env)
	ctx := x.begin(m, x.Verb())
	x.op.Writes, x.op.CLI = true, x.CommandLine(&m.env)
	if p := x.Plan(); p != nil {
		x.op.Expected = p.RequestsEstimate
	}
	m.wrote = true
	x.done = make(chan struct{})
	ws, w, o, gen, cancel, done := m.ws, x.Write, m.writeOptions(x), x.gen, x.cancel, x.done
	o.Plan, o.Events = x.Plan(), x.Progress().Event
	return tea.Batch(m.tick(), safely("writing to the graph", func() tea.Msg {
		defer close(done)
		defer cancel()
		msg := writtenMsg{of: x, gen: gen}
		msg.out, msg.chunks, msg.err = written(ctx, ws, w, o, x.Progress())
		return msg
	}))
}

func written(ctx context.Context, ws workspace.Workspace, w screen.Write, o engine.WriteOptions, p *runner.Progress) (*engine.Receipt, *engine.ChunkedReceipt, error) {
	switch {
	case w.Mutate != nil:
		mo := *w.Mutate
		mo.WriteOptions = o
		out, err := ws.Mutate(ctx, mo)
		return out, nil, err
	case w.Load.Chunk:
		chunks, err := ws.LoadChunks(ctx, loadOptions(w.Load, o), p.Chunk)
		if chunks == nil {
			return nil, nil, err
		}
		return &chunks.Receipt, chunks, err
	}
	out, err := ws.Load(ctx, loadOptions(w.Load, o))
	return out, nil, err
}

// takeWritten takes the receipt, or why there is none.
func (m *model) takeWritten(msg writtenMsg) tea.Cmd {
	x := msg.of
	if msg.out != nil {
		x.op.Receipt = msg.out
	}
	m.env.Ops.Answer(x.op, msg.err, m.env.Now)
	if x != m.writer || msg.gen != x.gen {
		return nil
	}
	m.dirty = true
	if x.Ended(&m.env, msg.out, msg.chunks, msg.err, x.used().Requests()) {
		m.env.Writes++ // others wrote: what the screens show is old too
		return tea.Batch(m.planWrite(), m.afterWrite())
	}
	var cmds []tea.Cmd
	if msg.err == nil || engine.Wrote(msg.err) {
		m.env.Writes++
		m.keepWriter()
		if done := x.Write.Done; done != nil && msg.err == nil {
			cmds = append(cmds, m.effect(done(&m.env, msg.out)))
		}
		cmds = append(cmds, m.afterWrite())
	}
	if !m.writerShown() {
		cmds = append(cmds, m.say(x.Outcome()+"; "+m.keyOr(action.Mutate, "mutate")+" shows it"))
	}
	m.sample()
	return tea.Batch(cmds...)
}

// afterWrite reads again what is shown; what is not is read when one goes there.
func (m *model) afterWrite() tea.Cmd {
	cmds := []tea.Cmd{m.enter()}
	var header []screen.Request
	if p := &m.env.Data.Info; !p.Busy() && !p.Loaded().IsZero() {
		header = append(header, m.env.Data.AskInfo(&m.env))
	} else if !p.Busy() {
		header = append(header, m.env.Data.AskPending(&m.env))
	}
	if p := &m.env.Data.Snapshot; !p.Busy() && !p.Loaded().IsZero() {
		header = append(header, m.env.Data.AskSnapshot(&m.env))
	}
	return tea.Batch(append(cmds, m.ask(m.nav, header))...)
}

// interruptWrite cancels a plan or a write, as far as that is possible; false
// when there is none.
func (m *model) interruptWrite() (tea.Cmd, bool) {
	switch {
	case !m.working():
		return nil, false
	case m.writer.Step() == runner.Planning:
		m.stopPlanning()
		return m.say("planning was cancelled; nothing was written"), true
	}
	m.writer.cancel()
	if m.writer.Progress().Durable() {
		return m.say(m.writer.Stops(&m.env)), true
	}
	return m.say("cancelling: " + m.writer.Title()), true
}

// writePatience is how long the end of the program waits for a write that is on
// its way into the graph. A program that is killed then leaves a record, and the
// next one that writes finishes it or takes it back.
const writePatience = 5 * time.Second

// awaitWrite waits for a running write at the end of the program.
func (m *model) awaitWrite() {
	if !m.writing() || m.writer.done == nil {
		return
	}
	t := time.NewTimer(writePatience)
	defer t.Stop()
	select {
	case <-m.writer.done:
	case <-t.C:
	}
}

// writeHints are what the keys do in the writer, when it is the topmost.
func (m *model) writeHints() ([]part.Hint, bool) {
	n := len(m.overlays)
	if n == 0 || m.writer == nil || m.overlays[n-1] != overlay(m.writer) {
		return nil, false
	}
	return m.writer.Hints(&m.env), true
}
