package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/workspace"
)

// export is a file that is being written.
type export struct {
	file    string
	cancel  context.CancelFunc
	written atomic.Int64
	done    chan struct{} // closed when the command has ended, its leftovers removed
}

type exportedMsg struct {
	run  *export
	what *screen.Export
	rows int
	err  error
}

// existsError says that a file is there which was not to be overwritten.
type existsError struct {
	file  string
	bytes int64
}

func (e *existsError) Error() string { return e.file + " is there already" }

// askExport asks for the name of the file.
func (m *model) askExport() tea.Cmd {
	if m.export != nil {
		return m.say(m.progress() + "; one export at a time")
	}
	what := m.exports()
	if what == nil {
		return m.say("there is nothing to export yet")
	}
	m.exportThis(what)
	return nil
}

// exportThis asks for the name of the file for something that can be exported.
func (m *model) exportThis(what *screen.Export) {
	o := m.prompt(&screen.Prompt{Title: "export " + what.Title + ": name of the file", Text: what.Name, Hint: "writes it", Draft: "export " + what.Name})
	o.done = func(m *model, file string) tea.Cmd { return m.startExport(what, file, false) }
}

func (m *model) exports() *screen.Export {
	if x, ok := m.top().screen.(screen.Exporter); ok {
		return x.Exports(&m.env)
	}
	return nil
}

// startExport begins to write. The file gets its name when it is whole.
func (m *model) startExport(what *screen.Export, file string, overwrite bool) tea.Cmd {
	if m.ws == nil {
		return m.say("no graph is open")
	}
	if m.export != nil {
		return m.say(m.progress() + "; one export at a time")
	}
	ctx, cancel := context.WithCancel(m.wsCtx)
	x := &export{file: file, cancel: cancel, done: make(chan struct{})}
	m.export = x
	ws := m.ws
	run := safely("exporting to "+file, func() tea.Msg {
		defer close(x.done)
		defer cancel()
		rows, err := x.write(ctx, ws, what, overwrite)
		return exportedMsg{x, what, rows, err}
	})
	return tea.Batch(run, m.tick())
}

// write writes beside the file and renames at the end, so that a file of that
// name is always a whole one.
func (x *export) write(ctx context.Context, ws workspace.Workspace, what *screen.Export, overwrite bool) (int, error) {
	file := x.file
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return 0, err
		}
		file = filepath.Join(home, rest)
	}
	switch info, err := os.Lstat(file); {
	case err == nil && info.IsDir():
		return 0, errors.New("it is a folder, expected the name of a file")
	case err == nil && !overwrite:
		return 0, &existsError{x.file, info.Size()}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return 0, err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".omnideck-export-*")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already when it was renamed
	rows, err := what.Write(ctx, ws, counted{tmp, &x.written})
	if err == nil {
		err = ctx.Err()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return rows, err
	}
	err = putInPlace(tmp.Name(), file, overwrite)
	var exists *existsError
	if errors.As(err, &exists) {
		exists.file = x.file // as it was typed
	}
	return rows, err
}

// putInPlace gives the finished file its name, without taking that of a file
// which came meanwhile.
func putInPlace(tmp, file string, overwrite bool) error {
	if err := os.Chmod(tmp, 0o644); err != nil {
		return err
	}
	if overwrite {
		return os.Rename(tmp, file)
	}
	err := os.Link(tmp, file)
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		return &existsError{file: file}
	}
	// No links here.
	if info, err := os.Lstat(file); err == nil {
		return &existsError{file, info.Size()}
	}
	return os.Rename(tmp, file)
}

// counted counts what is written, for the status line.
type counted struct {
	io.Writer
	n *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// progress says how far a hidden write or the export is; "" when none is
// running.
func (m *model) progress() string {
	if m.writing() && !m.writerShown() {
		return m.writer.Line(&m.env)
	}
	if m.export == nil {
		return ""
	}
	return "writing " + part.Clean(m.export.file, m.env.Theme.Glyph) + ": " + part.Bytes(m.export.written.Load()) + "; " + m.env.Key(action.Interrupt) + " cancels it"
}

func (m *model) takeExported(msg exportedMsg) tea.Cmd {
	if m.export == msg.run {
		m.export = nil
	}
	m.dirty = true
	m.sample()
	var exists *existsError
	switch {
	case msg.err == nil:
		return m.say(fmt.Sprintf("wrote %s: %s, %s", msg.run.file, part.Plural(msg.rows, "row", "rows"), part.Bytes(msg.run.written.Load())))
	case errors.As(msg.err, &exists):
		m.askOverwrite(msg.what, exists)
		return nil
	case errors.Is(msg.err, context.Canceled):
		return m.say("the export was cancelled; " + msg.run.file + " was not written")
	}
	return m.say("writing " + msg.run.file + ": " + msg.err.Error() + "; nothing was left there")
}

// askOverwrite: a file that is there is replaced only when its name was typed
// again.
func (m *model) askOverwrite(what *screen.Export, found *existsError) {
	m.confirm(&confirm{
		title: "overwrite a file", name: found.file, why: "overwrite it", wrong: "the file is called " + found.file + "; it stays as it is",
		facts: func(_ *model, d *part.Doc) {
			d.Fact("file", found.file+" is there already, "+part.Bytes(found.bytes))
			d.Fact("export", what.Title)
		},
		done: func(m *model) tea.Cmd { return m.startExport(what, found.file, true) },
	})
}
