package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/paint"
	keypress "github.com/omnideck/omnideck/tui/press"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// SnapOptions of Snap. Of Options those count that say what is shown: URI,
// Open, Screen, Theme, ASCII, Keys, Now, Width and Height.
type SnapOptions struct {
	Options
	// Ground is the background for which a theme is chosen that has variants.
	Ground theme.Background
	// At is where in history to look, as ResolveAt reads it, on Branch; "" is the
	// head. Both may be "".
	At, Branch string
	// Press are keys, as Bubble Tea spells them: each is pressed when all that
	// the one before asked for has come.
	Press []string
	// Pinned makes the picture of an unchanged graph the same every time: the
	// questions are asked one after the other, so that the counts of requests
	// do not depend on who came first, and the ledger is that of the moment Now.
	// Open has its part: no disk cache, and one request in flight.
	Pinned bool
}

// Shot is a screen that was drawn once.
type Shot struct {
	Lines []string // H lines of W cells, with SGR sequences
	W, H  int
	// Failed is why nothing of what the screen shows could be read; nil when
	// anything was.
	Failed error
}

// Picture is the shot as cells.
func (s *Shot) Picture() *paint.Picture { return paint.Lines(s.Lines, s.W) }

// Limits of a shot, in cells.
const (
	SnapMinWidth, SnapMinHeight = 20, 5
	SnapMaxWidth, SnapMaxHeight = 500, 200
)

// Snap draws a screen once, without a terminal: it opens the graph, runs what
// the screen asks for until nothing is left, presses the keys and draws. It
// waits for no timer, and draws no measured time. When ctx ends before, it
// returns the screen as it stood then beside the cause. A panic becomes a
// *CrashError. No goroutine is left but one whose question is deaf to the end
// of its context.
func Snap(ctx context.Context, o SnapOptions) (*Shot, error) {
	if o.Width < SnapMinWidth || o.Height < SnapMinHeight || o.Width > SnapMaxWidth || o.Height > SnapMaxHeight {
		return nil, fmt.Errorf("drawing a screen: found the size %dx%d, expected %dx%d to %dx%d", o.Width, o.Height, SnapMinWidth, SnapMinHeight, SnapMaxWidth, SnapMaxHeight)
	}
	keys := make([]tea.KeyPressMsg, 0, len(o.Press))
	for _, name := range o.Press {
		k, err := keypress.Key(name)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	th, err := theme.New(o.Theme, o.Ground, o.ASCII)
	if err != nil {
		return nil, err
	}
	ws, err := o.Open(ctx, o.URI)
	if err != nil {
		return nil, err
	}
	defer func() { _ = ws.Close() }() // nothing is written through it
	at, err := o.moment(ctx, ws)
	if err != nil {
		return nil, err
	}
	if o.Pinned {
		ws = pinned{ws, o.Now()}
	}
	o.Options.Open = func(context.Context, string) (workspace.Workspace, error) { return ws, nil }
	// What outlives the program is none of a picture's business.
	o.Opened, o.LoadState, o.SaveState, o.SaveCopy = nil, nil, nil, nil
	m := newModel(ctx, o.Options, th)
	m.still, m.w, m.h = true, o.Width, o.Height
	m.env.At, m.env.Masked = at, true
	st := newStage(ctx, m, o.Pinned)
	defer st.close()
	return st.play(keys, o.Press)
}

// moment is the place in history that is asked for.
func (o SnapOptions) moment(ctx context.Context, ws workspace.Workspace) (engine.At, error) {
	if o.At == "" {
		return engine.At{Branch: o.Branch}, nil
	}
	return ws.ResolveAt(ctx, o.At, o.Branch)
}

// play runs the first questions, the keys, and draws.
func (s *stage) play(keys []tea.KeyPressMsg, names []string) (*Shot, error) {
	s.later(s.m.Init())
	err := s.settle()
	for i := 0; i < len(keys) && err == nil; i++ {
		s.send(keys[i])
		if err = s.settle(); errors.Is(err, errLeft) {
			return nil, fmt.Errorf("pressing the keys: number %d, %s, leaves the program: %w", i+1, names[i], err)
		}
	}
	var crash *CrashError
	if errors.As(err, &crash) {
		return nil, err
	}
	s.m.sample()
	shot := &Shot{Lines: s.draw(), W: s.m.w, H: s.m.h}
	if s.m.crash != nil {
		return nil, s.m.crash.write(s.m.opt)
	}
	if err == nil {
		shot.Failed = failed(s.m.top().screen.Panes(&s.m.env))
	}
	return shot, err
}

// draw is the frame as it stands.
func (s *stage) draw() []string {
	s.m.dirty = true
	return strings.Split(s.m.View().Content, "\n")
}

// failed is why no pane has anything to show; nil when one has, or none failed.
func failed(panes []screen.Pane) error {
	var first error
	for _, p := range panes {
		if !p.Loaded().IsZero() {
			return nil
		}
		if first == nil {
			first = p.Problem()
		}
	}
	return first
}

// pinned is a workspace as of a moment: the ledger has no later line.
type pinned struct {
	workspace.Workspace
	now time.Time
}

// Operations implements workspace.Workspace.
func (p pinned) Operations(ctx context.Context, n int) ([]cost.Entry, error) {
	all, err := p.Workspace.Operations(ctx, 0)
	var then []cost.Entry
	for _, e := range all {
		if !e.At.After(p.now) {
			then = append(then, e)
		}
	}
	if n > 0 && len(then) > n {
		then = then[len(then)-n:]
	}
	return then, err
}
