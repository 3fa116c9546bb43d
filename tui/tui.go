// Package tui is the terminal workstation: one root model that owns every
// screen, in Bubble Tea.
//
// Run starts it. It paints the first frame before it asks anything of the
// graph, loads each pane on its own, and never waits when it is left. Without
// a terminal there is nothing to run: the caller looks first, and prints what
// the verb info prints instead.
//
// How it is built: the root (model.go) routes messages (update.go), turns
// requests of screens into commands (load.go, lead.go) and composes the frame
// (view.go). Screens are structs that draw lines into an area (package
// screen), parts are pure functions (package part), keys come from one table
// (package action), and the graph is reached through one interface (package
// workspace). Nothing here does I/O outside a command, and a command never
// touches the model.
//
// What stands around the screens is here too, a file each: where one was and
// when (history.go, travel.go), what is kept of a graph between two runs
// (state.go), the meter's gauges and drawer, copying and exporting, and the
// overlays (overlay.go): help, palette, command line with its verbs, menus,
// prompts, and the dialogs that ask for a name.
//
// Snap draws a screen without a terminal. It feeds the same model (stage.go)
// until nothing is left to come.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Options of Run.
type Options struct {
	URI string // graph to open; "" shows the picker
	// Open makes the workspace of an address. It is called in a command and may
	// take as long as it likes.
	Open  func(ctx context.Context, uri string) (workspace.Workspace, error)
	Actor *string // recorded with what is written; nil = nobody
	// Screen is the place to begin at, as package screen spells places; "": where
	// one was the last time, else the overview.
	Screen string
	// Recents gives the graphs opened before, newest first; Opened is told each
	// graph that was opened. Both are called in commands; both may be nil.
	Recents func(ctx context.Context) ([]screen.Recent, error)
	Opened  func(uri string)

	Theme string // name of a theme; "" chooses by the environment
	ASCII bool   // draw with ASCII only
	Mouse bool   // take the mouse from the terminal at once
	// Keys are the keys in force, as action.Read makes them; nil = those of the
	// table.
	Keys *action.Map

	// LoadState gives what SaveState was told about a graph in an earlier run,
	// nil when nothing; graph is its address without user info and query. They
	// are called in commands, SaveState also at the end. nil: nothing is kept.
	LoadState func(graph string) ([]byte, error)
	SaveState func(graph string, state []byte) error
	// SaveCopy writes what was copied to a file and says to which; nil: to none.
	SaveCopy func(text []byte) (file string, err error)

	Input  io.Reader // nil = the terminal
	Output io.Writer // nil = the terminal
	Env    []string  // nil = os.Environ()
	Now    func() time.Time
	// CrashDir is where a crash leaves its trace; "" = os.TempDir().
	CrashDir string

	// For tests, which have no terminal.
	Width, Height int  // 0 = ask the terminal
	NoInput       bool // keys come from Program.Send only
}

// CrashError is returned when the program had to give up. The terminal is
// restored by then.
type CrashError struct {
	Cause any
	File  string // where the trace was written; "" when it could not be
}

func (e *CrashError) Error() string {
	s := fmt.Sprintf("omnideck had to stop: %v", e.Cause)
	if e.File != "" {
		s += "; the trace is in " + e.File
	}
	return s + "; looking at a graph does not change it, so nothing needs to be repaired"
}

// Run shows the workstation until the user leaves it.
func Run(ctx context.Context, o Options) error {
	p, m, err := program(ctx, o)
	if err != nil {
		return err
	}
	_, err = p.Run()
	m.stop()
	if err != nil || m.crash != nil {
		m.part()
	}
	if m.crash != nil {
		return m.crash.write(m.opt)
	}
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, tea.ErrProgramKilled) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return context.Canceled
	}
	if err != nil {
		return fmt.Errorf("running the terminal interface: %w", err)
	}
	return nil
}

// program makes the Bubble Tea program and its model.
func program(ctx context.Context, o Options) (*tea.Program, *model, error) {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if _, err := screen.At(o.Screen); err != nil {
		return nil, nil, err
	}
	name, ascii, ask := theme.FromEnv(o.Env, o.Theme, o.ASCII)
	th, err := theme.New(name, theme.Unknown, ascii)
	if err != nil {
		return nil, nil, err
	}
	m := newModel(ctx, o, th)
	m.askBackground = ask && !o.NoInput
	if o.Output == nil {
		o.Output = os.Stdout
	}
	env := theme.Environ(o.Env, name)
	m.out = &colorprofile.Writer{Forward: o.Output}
	switch {
	case o.NoInput:
		m.out.Profile = colorprofile.ANSI
	case th.Name == "mono":
		m.out.Profile = colorprofile.ASCII
	default:
		m.out.Profile = colorprofile.Detect(o.Output, env)
	}
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithEnvironment(env), tea.WithOutput(o.Output), tea.WithColorProfile(m.out.Profile)}
	switch {
	case o.NoInput:
		opts = append(opts, tea.WithInput(nil), tea.WithoutSignalHandler())
	case o.Input != nil:
		opts = append(opts, tea.WithInput(o.Input))
	}
	if o.Width == 0 && !o.NoInput {
		o.Width, o.Height = sizeOf(o.Output)
	}
	if o.Width > 0 {
		opts = append(opts, tea.WithWindowSize(o.Width, o.Height))
		m.w, m.h = o.Width, o.Height
	}
	p := tea.NewProgram(m, opts...)
	m.quit = p.Quit
	m.begun = func() *rounds { return roundsOf(p) }
	return p, m, nil
}

// greet draws the first frame as soon as the terminal is ours; the renderer
// draws the same over it in its next round.
func (m *model) greet() {
	if m.out == nil || m.w <= 0 || m.h <= 0 {
		return
	}
	var b strings.Builder
	b.WriteString(ansi.SetModeAltScreenSaveCursor + ansi.HideCursor)
	view := m.View()
	if m.crash != nil {
		return
	}
	for y, line := range strings.Split(view.Content, "\n") {
		b.WriteString(ansi.CursorPosition(1, y+1) + line)
	}
	b.WriteString(ansi.CursorPosition(1, 1))
	_, _ = io.WriteString(m.out, b.String()) // the renderer meets the same error
	m.dirty, m.greeted = true, true
}

// part leaves the screen that greet took. The renderer does not leave what it did
// not enter, and on a slow machine it may not have drawn yet, however long ago that
// was; to leave twice does no more than once.
func (m *model) part() {
	if m.greeted {
		_, _ = io.WriteString(m.out, ansi.ShowCursor+ansi.ResetModeAltScreenSaveCursor)
	}
}

// sizeOf is the size of the terminal that is written to, 0 when it cannot be
// told yet. Knowing it at once is what the first frame needs.
func sizeOf(out io.Writer) (w, h int) {
	f, ok := out.(interface{ Fd() uintptr })
	if !ok {
		return 0, 0
	}
	w, h, err := term.GetSize(f.Fd())
	if err != nil {
		return 0, 0
	}
	return w, h
}

// first is the screen to begin with, and the number key's action that shows
// it, "" when none does.
func (o Options) first() (screen.Screen, action.ID) {
	if o.URI == "" {
		return screen.NewPicker(o.Recents), ""
	}
	s, err := screen.At(o.Screen)
	if err != nil {
		s = screen.NewOverview()
	}
	return s, numbered(s)
}
