// Package harness drives the whole program in tests: a real Bubble Tea
// program, written to an emulated terminal, under a simulated clock.
//
// Use it inside synctest.Test only, with stores whose latency is a sleep and
// without real files or sockets. Every step settles before it returns: no
// polling, no real time. Read the screen only through Text, Cells and SVG.
package harness

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"

	"github.com/omnideck/omnideck/tui/press"
)

// Term is a running program and the terminal that it writes to.
type Term struct {
	t    testing.TB
	emu  *vt.SafeEmulator
	p    *tea.Program
	w, h int
	done chan error
	err  error
}

// frame is longer than the renderer waits between two flushes. It is no number of
// milliseconds, so that a test never looks in the very moment in which a timer of
// the program fires that began with a key: whether that is drawn already is chance.
const frame = 40*time.Millisecond + 137*time.Microsecond

// Start runs the program that build makes for an output, and settles.
func Start(t testing.TB, w, h int, build func(out io.Writer) *tea.Program) *Term {
	t.Helper()
	emu := vt.NewSafeEmulator(w, h)
	// Without a terminal as input the renderer counts on LF meaning CRLF.
	if _, err := emu.Write([]byte("\x1b[20h")); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, emu) }() // answers of the terminal go nowhere
	s := &Term{t: t, emu: emu, w: w, h: h, done: make(chan error, 1)}
	s.p = build(emu)
	go func() {
		_, err := s.p.Run()
		s.done <- err
	}()
	s.Wait(0)
	return s
}

// Wait lets time pass, then settles.
func (s *Term) Wait(d time.Duration) {
	time.Sleep(d + frame)
	synctest.Wait()
}

// Key presses keys one after the other, settling after each.
func (s *Term) Key(keys ...string) {
	for _, k := range keys {
		s.p.Send(Press(k))
		s.Wait(0)
	}
}

// Send sends any message, then settles.
func (s *Term) Send(msg tea.Msg) {
	s.p.Send(msg)
	s.Wait(0)
}

// Resize changes the size of the terminal.
func (s *Term) Resize(w, h int) {
	s.emu.Resize(w, h)
	s.w, s.h = w, h
	s.Send(tea.WindowSizeMsg{Width: w, Height: h})
}

// Ended says whether the program has ended, and how.
func (s *Term) Ended() (bool, error) {
	select {
	case s.err = <-s.done:
		s.done <- s.err
		return true, s.err
	default:
		return false, nil
	}
}

// Close ends the program and lets every timer run out, as a simulated clock
// demands before the test ends.
func (s *Term) Close() error {
	s.p.Quit()
	s.err = <-s.done
	s.done <- s.err
	_ = s.emu.Close() // nothing is read from it any more
	time.Sleep(time.Hour)
	synctest.Wait()
	return s.err
}

// Text is the screen as text, h lines of w cells.
func (s *Term) Text() string {
	var b strings.Builder
	for y := range s.h {
		for x := 0; x < s.w; {
			c := s.emu.CellAt(x, y)
			if c == nil || c.Content == "" {
				b.WriteByte(' ')
				x++
				continue
			}
			b.WriteString(c.Content)
			x += max(1, c.Width)
		}
		b.WriteByte('\n')
	}
	s.read()
	return b.String()
}

// read takes the lock of the emulator once more: cells are read outside of it, and
// what the renderer writes next comes after that.
func (s *Term) read() { _ = s.emu.CellAt(0, 0) }

// Cell is the content and style of one place on the screen.
func (s *Term) Cell(x, y int) uv.Cell {
	c := s.emu.CellAt(x, y)
	if c == nil {
		return uv.Cell{}
	}
	defer s.read()
	return *c
}

// Press is the message of a key, spelled as Bubble Tea spells keys.
func Press(name string) tea.KeyPressMsg {
	k, err := press.Key(name)
	if err != nil {
		panic(err)
	}
	return k
}
