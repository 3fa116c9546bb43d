package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// crash is a panic that was caught: in a command, in Update or in View.
type crash struct {
	during string
	cause  any
	stack  []byte
}

// crashMsg brings a crash of a command to the model.
type crashMsg struct{ *crash }

func caught(during string, cause any) *crash {
	return &crash{during: during, cause: cause, stack: debug.Stack()}
}

// safely wraps a command so that its panic becomes a message. Every command
// of this package passes through here.
func safely(during string, cmd tea.Cmd) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = crashMsg{caught(during, r)}
			}
		}()
		return cmd()
	}
}

// write leaves the trace in a file, after the terminal was restored.
func (c *crash) write(o Options) error {
	dir := o.CrashDir
	if dir == "" {
		dir = os.TempDir()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "omnideck crashed at %s\nwhile: %s\ngraph: %s\ncause: %v\n\n%s", o.Now().UTC().Format("2006-01-02T15:04:05Z"), c.during, o.URI, c.cause, c.stack)
	file := filepath.Join(dir, "omnideck-crash-"+o.Now().UTC().Format("20060102T150405")+fmt.Sprintf("-%d.txt", os.Getpid()))
	e := &CrashError{Cause: fmt.Sprintf("%v, while %s", c.cause, c.during), File: file}
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		e.File = ""
	}
	return e
}
