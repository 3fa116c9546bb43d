package tui

import (
	"context"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/harness"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// bench is a root model that is fed by hand: no program, no terminal, and a
// clock that the test turns. Questions wait until they are drained. It lives
// in a synctest bubble, because timers are among what it drains.
type bench struct {
	*model
	t     testing.TB
	clock time.Time
	cmds  []tea.Cmd
}

// newBench opens a graph and a screen, at which nothing is loaded yet.
func newBench(t testing.TB, ws workspace.Workspace, o Options, w, h int) *bench {
	t.Helper()
	name := o.Theme
	if name == "" {
		name = "mono"
	}
	th, err := theme.New(name, theme.Unknown, o.ASCII)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, clock: fake.Epoch}
	o.Now = func() time.Time { return b.clock }
	o.Open = func(context.Context, string) (workspace.Workspace, error) { return ws, nil }
	b.model = newModel(t.Context(), o, th)
	b.w, b.h = w, h
	b.later(b.Init())
	if ws != nil {
		b.later(b.takeOpened(openedMsg{gen: b.openGen, uri: o.URI, ws: ws}))
	}
	return b
}

func (b *bench) later(cmd tea.Cmd) {
	if cmd != nil {
		b.cmds = append(b.cmds, cmd)
	}
}

// drain runs all commands and what comes of them, timers excepted.
func (b *bench) drain() {
	for len(b.cmds) > 0 {
		cmd := b.cmds[0]
		b.cmds = b.cmds[1:]
		switch msg := cmd().(type) {
		case nil, tickMsg, ageMsg, noteMsg, followMsg, stateLateMsg, saveMsg:
		case tea.BatchMsg:
			for _, c := range msg {
				b.later(c)
			}
		case openedMsg: // the bench has opened it already
		default:
			b.send(msg)
		}
	}
	b.ticking, b.dirty = false, true
}

func (b *bench) send(msg tea.Msg) {
	_, cmd := b.Update(msg)
	b.later(cmd)
}

// keys presses keys, draining after each.
func (b *bench) keys(names ...string) {
	for _, k := range names {
		b.send(harness.Press(k))
		b.drain()
	}
}

// draw is the frame as it would be drawn now.
func (b *bench) draw() []string {
	b.dirty = true
	return b.frame()
}

func press(k string) tea.Msg { return harness.Press(k) }

func recents(context.Context) ([]screen.Recent, error) {
	return []screen.Recent{
		{URI: "s3://acme-graphs/harbor.omni", Last: fake.Epoch.Add(-20 * time.Minute)},
		{URI: "/srv/graphs/new.omni", Last: fake.Epoch.Add(-50 * time.Hour)},
	}, nil
}
