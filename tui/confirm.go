package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// confirm asks to type a name before something is done that is not to happen
// by habit. For its first moments it takes no key but esc, and no paste.
type confirm struct {
	title  string
	name   string // to be typed
	why    string // it is asked: one word for what enter does
	wrong  string // said when something else was typed
	facts  func(m *model, d *part.Doc)
	done   func(m *model) tea.Cmd
	opened time.Time
	field  part.Field
	said   string
}

func (m *model) confirm(c *confirm) {
	c.opened = m.env.Now
	m.show(c)
}

func (c *confirm) paste(m *model, text string) tea.Cmd {
	if !m.env.Unready(c.opened) {
		c.field.Insert(text)
	}
	return nil
}

func (c *confirm) key(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch name := k.String(); {
	case name == "esc":
		return nil, true
	case m.env.Unready(c.opened):
		return nil, false
	case name == "enter":
		if strings.TrimSpace(c.field.String()) != c.name {
			c.said = c.wrong
			return nil, false
		}
		return c.done(m), true
	}
	if typed(&c.field, k) {
		c.said = ""
	}
	return nil, false
}

func (c *confirm) cover(m *model, body []string, w int) []string {
	t := m.env.Theme
	inner := min(w-4, 76)
	d := part.NewDoc(t, inner)
	c.facts(m, d)
	d.Gap()
	d.Text(theme.Strong, "Type "+c.name+" to "+c.why+":")
	d.Add(part.Line(t, 1, part.S(" ")) + c.field.Render(t, inner-1))
	if c.said != "" {
		d.Text(theme.Bad, c.said)
	}
	d.Line(part.R(theme.Muted, "esc leaves everything as it is"))
	lines := d.Window(d.Len(), new(int))
	if n := len(lines) - (len(body) - 2); n > 0 && n < len(lines) {
		lines = lines[n:] // the field stays in sight
	}
	return part.Over(body, part.Box(t, part.Clean(c.title, t.Glyph), lines, inner+2), w, part.Centre)
}
