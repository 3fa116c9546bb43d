package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
)

// clipMax is how much is sent to the terminal for its clipboard: terminals and
// multiplexers drop what is longer, some without a word.
const clipMax = 100 << 10

// copies asks what is to be copied.
func (m *model) copies() tea.Cmd {
	var all []screen.Copy
	if c, ok := m.top().screen.(screen.Copier); ok {
		all = c.Copies(&m.env)
	}
	known := map[string]bool{}
	for _, c := range all {
		known[c.Label] = true
	}
	place := m.top().screen.Place()
	for _, c := range []screen.Copy{{Label: "command line", Text: m.commandLine(place)}, {Label: "place", Text: place}} {
		if !known[c.Label] && c.Text != "" {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return m.say("there is nothing to copy yet")
	}
	m.offerCopies(all)
	return nil
}

// offerCopies lets one choose from what can be copied.
func (m *model) offerCopies(all []screen.Copy) {
	items := make([]screen.MenuItem, len(all))
	for i, c := range all {
		items[i] = screen.MenuItem{Label: c.Label, Detail: part.Head(c.Text, 200)}
		if i < 9 {
			items[i].Key = strconv.Itoa(i + 1)
		}
	}
	m.show(m.copyMenu(all, items))
}

func (m *model) copyMenu(all []screen.Copy, items []screen.MenuItem) overlay {
	o := &menu{Menu: &screen.Menu{Title: "copy", Items: items}}
	o.act = func(m *model, i int) tea.Cmd { return m.copyOut(all[i]) }
	o.read()
	return o
}

// copiedMsg says how the file of a copy went.
type copiedMsg struct {
	what screen.Copy
	clip bool
	file string
	err  error
}

// copyOut sends a text to the terminal's clipboard, and always also to a file:
// whether a terminal took it cannot be known.
func (m *model) copyOut(c screen.Copy) tea.Cmd {
	clip := len(c.Text) <= clipMax
	var cmds []tea.Cmd
	if clip {
		cmds = append(cmds, tea.SetClipboard(c.Text))
	}
	save := m.opt.SaveCopy
	if save == nil {
		return tea.Batch(append(cmds, m.takeCopied(copiedMsg{what: c, clip: clip}))...)
	}
	return tea.Batch(append(cmds, safely("writing a copy", func() tea.Msg {
		file, err := save([]byte(c.Text))
		return copiedMsg{c, clip, file, err}
	}))...)
}

func (m *model) takeCopied(msg copiedMsg) tea.Cmd {
	m.dirty = true
	what := msg.what.Label + ", " + part.Bytes(int64(len(msg.what.Text)))
	var to []string
	if msg.clip {
		to = append(to, "to the terminal's clipboard (OSC 52)")
	}
	if msg.file != "" && msg.err == nil {
		to = append(to, "to "+msg.file)
	}
	said := "copied " + what + ": " + strings.Join(to, " and ")
	switch {
	case len(to) == 0:
		said = "not copied: " + what + " is too long for the clipboard of a terminal, at most " + part.Bytes(int64(clipMax))
	case !msg.clip:
		said = "copied " + what + ", too long for the clipboard of a terminal: to " + msg.file
	}
	if msg.err != nil {
		said += "; the file could not be written: " + msg.err.Error()
	}
	return m.say(said)
}

// commandLine is the verb that shows the same as a place.
func (m *model) commandLine(place string) string {
	uri := screen.Stripped(m.env.URI)
	if uri == "" {
		return "omnideck"
	}
	var args []string
	at := m.atArgs()
	table, tab, _ := strings.Cut(place, "/")
	switch {
	case place == "overview":
		args = append(args, "info", uri)
	case place == "branches":
		args, at = append(args, "branch", "list", uri, "--details"), nil
	case place == "commits":
		args, at = append(args, "log", uri, "--graph"), nil
	case place == "tables":
		args = append(args, "snapshot", uri)
	case place == "versions":
		args, at = append(args, "versions", uri), m.branchArgs()
	case place == "operations":
		args, at = append(args, "ops", uri), nil
	case table == "find":
		args = append(args, "find", uri, tab)
	case table == "diff":
		a, b, _ := strings.Cut(tab, "..")
		args, at = append(args, "diff", uri, a, b), nil
	case isTable(table):
		return m.tableLine(uri, table, tab)
	default:
		args = append(args, "info", uri)
	}
	return shell.Line(append(args, at...)...)
}

// tableLine is the verb for a tab of a table.
func (m *model) tableLine(uri, table, tab string) string {
	_, typ, _ := strings.Cut(table, ":")
	tab, id, entity := strings.Cut(tab, "/")
	switch {
	case tab == "rows" && entity:
		return shell.Line(append([]string{"neighbors", uri, typ, id}, m.atArgs()...)...)
	case tab == "rows":
		return shell.Line(append([]string{"rows", uri, typ}, m.atArgs()...)...)
	case tab == "versions":
		return shell.Line(append([]string{"versions", uri, table}, m.branchArgs()...)...)
	case tab == "schema":
		return shell.Line("schema", "show", uri)
	}
	return shell.Line(append([]string{"fragments", uri, table}, m.atArgs()...)...)
}

func isTable(name string) bool {
	return strings.HasPrefix(name, "node:") || strings.HasPrefix(name, "edge:")
}

func (m *model) branchArgs() []string {
	if b := m.env.At.Branch; b != "" {
		return []string{"--branch", b}
	}
	return nil
}

// atArgs are the flags for the moment that all screens show.
func (m *model) atArgs() []string {
	switch at := m.env.At; {
	case at.Commit != "":
		return []string{"--at", at.Commit}
	case at.Version != 0:
		return append(m.branchArgs(), "--at", strconv.FormatUint(at.Version, 10))
	}
	return m.branchArgs()
}
