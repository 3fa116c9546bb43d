package tui

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	condition "github.com/omnideck/omnideck/engine/where"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/runner"
	"github.com/omnideck/omnideck/tui/screen"
)

// verb carries out a line of the command line. An error says what is wrong
// with the line; the line stays.
func (m *model) verb(c *command, line string) (tea.Cmd, error) {
	words, open := split(strings.TrimPrefix(line, ":"))
	if open != 0 {
		return nil, fmt.Errorf("the quote %c is not closed: a word that holds one stands in quotes of the other kind", open)
	}
	if len(words) > 0 && words[0] == "omnideck" { // pasted from a shell
		words = slices.DeleteFunc(words[1:], func(w string) bool { return w == m.env.Address || w == screen.Stripped(m.env.URI) })
	}
	if len(words) == 0 {
		return nil, nil
	}
	name, args := words[0], words[1:]
	v, ok := action.FindVerb(name)
	if !ok {
		if a := m.env.Keys.Get(action.ID(name)); a.ID != "" && len(args) == 0 {
			return m.acted(a.ID)
		}
		if slices.Contains(action.ShellVerbs, name) {
			return nil, fmt.Errorf("%s is done in a shell: %s", name, shell.Line(name, m.env.Address))
		}
		return nil, fmt.Errorf("there is no verb %q%s; the verb help lists them", name, nearest(name))
	}
	if run := verbTable()[v.Name]; run != nil {
		if m.picking() && !slices.Contains([]string{"theme", "mouse", "quit"}, v.Name) {
			return nil, fmt.Errorf("%s: no graph is open; choose one first", v.Name)
		}
		return run(m, c, v, args)
	}
	if len(args) > 0 {
		return nil, fmt.Errorf("%s takes no word behind it, found %q", v.Name, args[0])
	}
	return m.acted(v.Act)
}

// nearest names a verb that may have been meant.
func nearest(name string) string {
	if len(name) < 2 {
		return ""
	}
	hits := part.Rank(name, len(verbNames()), func(i int) string { return verbNames()[i] }, 1)
	if len(hits) == 0 {
		return ""
	}
	return ", did you mean " + verbNames()[hits[0].Index] + "?"
}

// acted carries out an action, or says why it cannot be.
func (m *model) acted(id action.ID) (tea.Cmd, error) {
	a := m.env.Keys.Get(id)
	if why := m.why(id); why != "" {
		return nil, fmt.Errorf("%s: %s", a.Title, why)
	}
	c := m.context()
	if !a.In(c.Screen) && !a.In(action.Lists) && !a.In(action.Global) {
		return nil, fmt.Errorf("%s: not on this screen", a.Title)
	}
	return m.do(id), nil
}

type verbFunc func(m *model, c *command, v action.Verb, args []string) (tea.Cmd, error)

// verbTable holds the verbs that are more than an action.
func verbTable() map[string]verbFunc {
	return map[string]verbFunc{
		"versions": tableVerb("versions"), "fragments": tableVerb("fragments"), "indexes": tableVerb("indexes"), "schema": tableVerb("schema"),
		"rows": rowsVerb, "find": findVerb, "neighbors": neighborsVerb, "diff": diffVerb, "at": atVerb, "now": nowVerb,
		"holds": holdsVerb, "theme": themeVerb, "mouse": mouseVerb, "write": writeVerb, "load": loadVerb, "lock": lockVerb, "export": exportVerb, "quit": quitVerb,
	}
}

// count checks how many words follow a verb.
func count(v action.Verb, args []string, least, most int) error {
	if len(args) < least || len(args) > most {
		return fmt.Errorf("%s: found %s, expected %s", v.Name, part.Plural(len(args), "word", "words"), strings.TrimSpace(v.Name+" "+v.Args))
	}
	return nil
}

// open opens a place; an error says why there is none.
func (m *model) openPlace(place string) (tea.Cmd, error) {
	if _, err := screen.At(place); err != nil {
		return nil, err
	}
	return m.visit(place), nil
}

// table is the table that a word names: node:Port, or Port when one type alone
// is called that.
func (m *model) table(word string) (string, error) {
	snap, known := m.env.Data.Snapshot.Get()
	if !known {
		if isTable(word) {
			return word, nil
		}
		return "", fmt.Errorf("the types of the graph are not read yet: name it in full, node:%s or edge:%s", word, word)
	}
	var found, near []string
	for _, ds := range snap.Datasets {
		switch {
		case ds.Table() == word:
			return word, nil
		case ds.TypeName == word:
			found = append(found, ds.Table())
		case strings.EqualFold(ds.TypeName, word) || strings.EqualFold(ds.Table(), word):
			near = append(near, ds.Table())
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("%s is the name of %s: say which", word, strings.Join(found, " and "))
	case len(near) > 0:
		return "", fmt.Errorf("there is no type %s; did you mean %s?", word, near[0])
	}
	return "", fmt.Errorf("there is no type %s at what the screens show", word)
}

func tableVerb(tab string) verbFunc {
	return func(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
		if tab == "versions" && (len(args) == 0 || len(args) == 1 && args[0] == "__manifest") {
			return m.acted(action.Versions)
		}
		if err := count(v, args, 1, 1); err != nil {
			return nil, err
		}
		table, err := m.table(args[0])
		if err != nil {
			return nil, err
		}
		return m.openPlace(table + "/" + tab)
	}
}

func rowsVerb(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
	where := ""
	if i := slices.Index(args, "--where"); i >= 0 {
		where = strings.TrimSpace(strings.Join(args[i+1:], " "))
		if where == "" {
			return nil, fmt.Errorf("rows: found no condition behind --where, expected one such as %s", `rows Port --where "tonnage > 9"`)
		}
		if _, err := condition.Parse(where); err != nil {
			return nil, fmt.Errorf("rows: reading the condition behind --where: %w", err)
		}
		args = args[:i]
	}
	if err := count(v, args, 1, 1); err != nil {
		return nil, err
	}
	table, err := m.table(args[0])
	if err != nil {
		return nil, err
	}
	cmd, err := m.openPlace(table + "/rows")
	if err != nil || where == "" {
		return cmd, err
	}
	f, ok := m.top().screen.(screen.Filterer)
	if !ok {
		return cmd, fmt.Errorf("rows: they cannot be narrowed here")
	}
	return tea.Batch(cmd, m.effect(f.SetFilter(&m.env, where))), nil
}

func findVerb(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
	if err := count(v, args, 1, 1); err != nil {
		return nil, err
	}
	return m.openPlace("find/" + args[0])
}

func neighborsVerb(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
	if err := count(v, args, 2, 2); err != nil {
		return nil, err
	}
	table, err := m.table(args[0])
	if err != nil {
		return nil, err
	}
	return m.openPlace(table + "/rows/" + args[1])
}

func diffVerb(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
	if err := count(v, args, 2, 2); err != nil {
		return nil, err
	}
	return m.openPlace("diff/" + args[0] + ".." + args[1])
}

func atVerb(m *model, c *command, v action.Verb, args []string) (tea.Cmd, error) {
	if err := count(v, args, 1, 1); err != nil {
		return nil, err
	}
	if m.ws == nil {
		return nil, fmt.Errorf("the graph is not open yet")
	}
	c.wait = args[0]
	return m.resolve(c, args[0]), nil
}

func nowVerb(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
	if err := count(v, args, 0, 0); err != nil {
		return nil, err
	}
	return m.toNow(), nil
}

func holdsVerb(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
	if err := count(v, args, 2, 2); err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(args[1], "v"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("holds: found %q, expected the number of a version", args[1])
	}
	table := args[0]
	var cmd tea.Cmd
	if table == "__manifest" {
		cmd = m.root(action.Versions)
	} else {
		if table, err = m.table(table); err != nil {
			return nil, err
		}
		if cmd, err = m.openPlace(table + "/versions"); err != nil {
			return nil, err
		}
	}
	if s, ok := m.top().screen.(interface{ Select(key string) }); ok {
		s.Select(part.Count(n))
	}
	return cmd, nil
}

func themeVerb(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
	if err := count(v, args, 1, 1); err != nil {
		return nil, err
	}
	t, err := m.env.Theme.Named(args[0])
	if err != nil {
		return nil, err
	}
	m.env.Theme = t
	return m.say("the colours are " + t.Name), nil
}

func mouseVerb(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
	if err := count(v, args, 0, 0); err != nil {
		return nil, err
	}
	return m.switchMouse(), nil
}

func writeVerb(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
	if err := count(v, args, 0, 0); err != nil {
		return nil, err
	}
	if m.env.Remote && !m.env.Locked {
		return m.say("it is unlocked already"), nil
	}
	return m.acted(action.Unlock)
}

func lockVerb(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
	if err := count(v, args, 0, 0); err != nil {
		return nil, err
	}
	if !m.env.Remote {
		return nil, fmt.Errorf("lock: a graph on this machine is never locked")
	}
	return m.lock(), nil
}

func exportVerb(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
	if err := count(v, args, 0, 1); err != nil {
		return nil, err
	}
	what := m.exports()
	if what == nil {
		return nil, fmt.Errorf("export: nothing here can be written to a file")
	}
	if len(args) == 0 {
		return m.askExport(), nil
	}
	return m.startExport(what, args[0], false), nil
}

func loadVerb(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
	if err := count(v, args, 0, 1); err != nil {
		return nil, err
	}
	if len(args) > 0 && m.writer == nil && m.why(action.Load) == "" {
		m.keepDraft(runner.DraftFile, args[0])
	}
	return m.acted(action.Load)
}

func quitVerb(m *model, _ *command, v action.Verb, args []string) (tea.Cmd, error) {
	if err := count(v, args, 0, 0); err != nil {
		return nil, err
	}
	if m.writing() {
		return nil, errors.New(m.progress())
	}
	return tea.Quit, nil
}
