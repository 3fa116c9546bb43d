package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// command is the line on which one types a verb. It shares its words with the
// command line of the shell, completes them from what is known, and keeps the
// text when a verb cannot be carried out.
type command struct {
	field part.Field
	said  string // why the last line could not be carried out
	wait  string // what is being looked for; "" = nothing
	back  int    // lines of the history that one has gone back; 0 = one's own
	own   string // what one typed before going back
}

// openCommand opens the line. What was left there the last time is offered as
// its completion.
func (m *model) openCommand() tea.Cmd {
	c := &command{}
	c.field.Ghost = m.drafts["command"]
	m.show(c)
	return m.names()
}

// loaded completes with what came meanwhile.
func (c *command) loaded(m *model) {
	if c.field.String() != "" {
		c.complete(m)
	}
}

func (c *command) paste(m *model, text string) tea.Cmd {
	c.field.Insert(text)
	c.edited(m)
	return nil
}

func (c *command) edited(m *model) {
	c.said, c.wait, c.back = "", "", 0
	c.complete(m)
}

func (c *command) key(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch k.String() {
	case "esc":
		if text := c.field.String(); text != "" {
			m.keepDraft("command", text)
		}
		return nil, true
	case "enter":
		return c.enter(m)
	case "up":
		c.older(m, 1)
		return nil, false
	case "down":
		c.older(m, -1)
		return nil, false
	case "tab":
		if c.field.Accept() {
			c.edited(m)
		}
		return nil, false
	case "backspace":
		if c.field.String() == "" {
			return nil, true
		}
	}
	before := c.field.String()
	typed(&c.field, k)
	if c.field.String() != before {
		c.edited(m)
	}
	return nil, false
}

// older shows a line of the history, n lines further back.
func (c *command) older(m *model, n int) {
	to := c.back + n
	if to < 0 || to > len(m.commands) {
		return
	}
	if c.back == 0 {
		c.own = c.field.String()
	}
	text := c.own
	if to > 0 {
		text = m.commands[len(m.commands)-to]
	}
	c.field, c.back, c.said = part.NewField(text), to, ""
}

// commandMax is how long a line may be that is remembered.
const commandMax = 1 << 10

func (c *command) enter(m *model) (tea.Cmd, bool) {
	text := strings.TrimSpace(c.field.String())
	if text == "" {
		return nil, true
	}
	if c.wait != "" {
		return nil, false
	}
	c.field.Ghost = ""
	cmd, err := m.verb(c, text)
	if err != nil {
		c.said = err.Error()
		return nil, false
	}
	m.remember(text)
	m.keepDraft("command", "")
	return cmd, c.wait == ""
}

// remember adds a line to the history of commands, where each stands once.
func (m *model) remember(text string) {
	if len(text) > commandMax {
		return
	}
	m.commands = append(slices.DeleteFunc(m.commands, func(s string) bool { return s == text }), text)
	if n := len(m.commands) - keptCommands; n > 0 {
		m.commands = slices.Delete(m.commands, 0, n)
	}
}

func (c *command) cover(m *model, body []string, w int) []string {
	t := m.env.Theme
	lines := []string{part.Line(t, 2, part.R(theme.Accent, " :")) + c.field.Render(t, w-4)}
	switch {
	case c.said != "":
		for _, l := range part.Wrap(part.Clean(c.said, t.Glyph), w-4) {
			lines = append(lines, part.Line(t, w-2, part.S(" "), part.R(theme.Bad, l)))
		}
	case c.wait != "":
		lines = append(lines, part.Line(t, w-2, part.R(theme.Muted, " looking for "+part.Clean(c.wait, t.Glyph)+t.Glyph.More+" esc stops it")))
	default:
		lines = append(lines, part.Line(t, w-2, part.R(theme.Muted, part.Cut(" "+c.hint(m), w-2, t.Glyph.More))))
	}
	return part.Over(body, part.Box(t, "command", lines, w), w, part.Bottom)
}

// hint says how the verb goes that is being typed, and which words may be the
// next.
func (c *command) hint(m *model) string {
	dot := m.env.Theme.Glyph.Dot
	text := c.field.String()
	words, _ := split(text)
	if len(words) == 0 && c.field.Ghost != "" {
		return "tab takes the line that was left here " + dot + " typing begins another"
	}
	if len(words) > 0 {
		if v, ok := action.FindVerb(words[0]); ok {
			out := strings.TrimSpace(v.Name+" "+v.Args) + ": "
			if next := m.candidates(words); len(next) > 0 && strings.HasSuffix(text, " ") {
				return out + part.Clean(strings.Join(next, ", "), m.env.Theme.Glyph)
			}
			return out + v.Help
		}
	}
	return "help lists the verbs " + dot + " tab completes " + dot + " up: lines before " + dot + " esc leaves"
}

// complete proposes how the word at the end of the line goes on.
func (c *command) complete(m *model) {
	c.field.Ghost = ""
	text := c.field.String()
	if c.field.At != len(c.field.Text) || text == "" || strings.ContainsAny(text, `"'`) {
		return
	}
	words := strings.Split(text, " ")
	last := words[len(words)-1]
	if last == "" {
		return
	}
	for _, name := range m.candidates(words[:len(words)-1]) {
		if len(name) > len(last) && strings.HasPrefix(name, last) && !strings.ContainsAny(name, " \"'") {
			c.field.Ghost = name[len(last):]
			return
		}
	}
}

// candidates are the words that may follow others on the command line.
func (m *model) candidates(before []string) []string {
	if len(before) == 0 {
		return verbNames()
	}
	v, ok := action.FindVerb(before[0])
	if !ok {
		return nil
	}
	if v.Name == "theme" {
		return theme.Names()
	}
	args := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(v.Args))
	if len(before) > len(args) {
		return nil
	}
	switch arg := args[len(before)-1]; {
	case arg == "TABLE":
		return append(m.tables(func(kind, name string) string { return kind + ":" + name }), "__manifest")
	case arg == "TYPE":
		return m.tables(func(_, name string) string { return name })
	case strings.Contains(arg, "BRANCH") || v.Name == "diff":
		names, _ := m.env.Data.Names.Get()
		return names
	case strings.HasPrefix(arg, "--"):
		return []string{arg}
	}
	return nil
}

func (m *model) tables(name func(kind, typ string) string) []string {
	snap, ok := m.env.Data.Snapshot.Get()
	if !ok {
		return nil
	}
	var out []string
	for _, ds := range snap.Datasets {
		out = append(out, name(ds.EntityKind, ds.TypeName))
	}
	return out
}

// verbNames are all first words, verbs before the names of actions.
func verbNames() []string {
	var out []string
	for _, v := range action.Verbs {
		out = append(append(out, v.Name), v.Also...)
	}
	for _, a := range action.Table {
		out = append(out, string(a.ID))
	}
	return out
}

// split makes words of a line: spaces part them, quotes hold them together.
// open is a quote that no other closes, 0 = none.
func split(line string) (out []string, open rune) {
	var word strings.Builder
	quote, any := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, any = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if any {
				out = append(out, word.String())
			}
			word.Reset()
			any = false
		default:
			word.WriteRune(r)
			any = true
		}
	}
	if any {
		out = append(out, word.String())
	}
	return out, quote
}
