package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// overlay stands above the screens and sees keys first.
type overlay interface {
	// key handles a key; done closes the overlay.
	key(*model, tea.KeyPressMsg) (cmd tea.Cmd, done bool)
	paste(m *model, text string) tea.Cmd
	// cover draws over the lines of the body.
	cover(m *model, body []string, w int) []string
}

// show puts an overlay above the others.
func (m *model) show(o overlay) { m.overlays = append(m.overlays, o) }

// shut takes an overlay away, wherever it stands.
func (m *model) shut(o overlay) {
	for i, x := range m.overlays {
		if x == o {
			m.overlays = append(m.overlays[:i:i], m.overlays[i+1:]...)
			return
		}
	}
}

// overlayKey gives a key to the topmost overlay. A key that cancels, and is
// none that one types, goes past it.
func (m *model) overlayKey(k tea.KeyPressMsg) (tea.Cmd, bool) {
	n := len(m.overlays)
	if n == 0 || k.Text == "" && m.env.Keys.Is(action.Interrupt, k.String()) {
		return nil, false
	}
	o := m.overlays[n-1]
	cmd, done := o.key(m, k)
	if done {
		m.shut(o)
	}
	return cmd, true
}

// typed edits a field with a key and says whether it did.
func typed(f *part.Field, k tea.KeyPressMsg) bool {
	if f.Key(k.String()) {
		return true
	}
	return k.Text != "" && f.Insert(k.Text)
}

// prompt asks for one line of text.
type prompt struct {
	*screen.Prompt
	field part.Field
	said  string                       // of the last change
	done  func(*model, string) tea.Cmd // instead of Done, for questions of the root's own
}

// prompt opens a prompt, with the draft of its name when there is one.
func (m *model) prompt(p *screen.Prompt) *prompt {
	text := p.Text
	if draft := m.drafts[p.Draft]; p.Draft != "" && draft != "" {
		text = draft
	}
	o := &prompt{Prompt: p, field: part.NewField(text)}
	m.show(o)
	return o
}

func (p *prompt) paste(m *model, text string) tea.Cmd {
	p.field.Insert(text)
	return p.changed(m)
}

func (p *prompt) changed(m *model) tea.Cmd {
	if p.Change == nil {
		return nil
	}
	e := p.Change(&m.env, p.field.String())
	p.said, e.Note = e.Note, ""
	return m.effect(e)
}

func (p *prompt) key(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch k.String() {
	case "esc":
		if text := p.field.String(); text != p.Text {
			m.keepDraft(p.Draft, text)
		}
		if p.Cancel != nil {
			return m.effect(p.Cancel(&m.env)), true
		}
		return nil, true
	case "enter":
		text := strings.TrimSpace(p.field.String())
		if text == "" && p.Change == nil {
			return nil, true
		}
		m.keepDraft(p.Draft, "")
		if p.done != nil {
			return p.done(m, text), true
		}
		return m.effect(p.Done(&m.env, text)), true
	}
	before := p.field.String()
	typed(&p.field, k)
	if p.field.String() != before {
		return p.changed(m), false
	}
	return nil, false
}

func (p *prompt) cover(m *model, body []string, w int) []string {
	t := m.env.Theme
	lines := []string{part.Line(t, 1, part.S(" ")) + p.field.Render(t, w-3)}
	if p.said != "" {
		for _, l := range part.Wrap(part.Clean(p.said, t.Glyph), w-4) {
			lines = append(lines, part.Line(t, w-2, part.S(" "), part.R(theme.Bad, l)))
		}
	}
	keeps := "esc keeps what is shown"
	if p.Draft != "" {
		keeps = "esc keeps the text for the next time"
	}
	if p.Cancel != nil {
		keeps = "esc puts back what was"
	}
	lines = append(lines, part.Line(t, w-2, part.R(theme.Muted, " enter "+p.Hint+" "+t.Glyph.Dot+" "+keeps)))
	return part.Over(body, part.Box(t, part.Clean(p.Title, t.Glyph), lines, w), w, part.Bottom)
}

// How long a draft may be: that is kept for the next time, and that is
// remembered at all.
const (
	draftMax  = part.EditorMax
	draftHeld = 1 << 20
)

// keepDraft remembers a text that was not sent off; "" forgets it.
func (m *model) keepDraft(name, text string) {
	if name == "" {
		return
	}
	if text = strings.TrimSpace(text); text == "" || len(text) > draftHeld {
		delete(m.drafts, name)
		return
	}
	m.drafts[name] = text
}

// menu asks for a choice from a few.
type menu struct {
	*screen.Menu
	choices part.Choices
	act     func(m *model, i int) tea.Cmd // instead of Choose, for choices of the root's own
}

func (m *model) menu(s *screen.Menu) {
	o := &menu{Menu: s}
	o.choices.List.Sel = s.Sel
	o.read()
	m.show(o)
}

// read takes over the items, which a choice may have changed.
func (o *menu) read() {
	o.choices.Toggle = o.Toggle
	o.choices.Items = o.choices.Items[:0]
	for _, i := range o.Items {
		o.choices.Items = append(o.choices.Items, part.Choice(i))
	}
}

func (o *menu) paste(*model, string) tea.Cmd { return nil }

func (o *menu) key(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	name := k.String()
	n := len(o.choices.Items)
	if i, ok := o.choices.Find(name); ok {
		o.choices.List.Sel = i
		return o.choose(m, i)
	}
	if name == "space" && o.Toggle {
		return o.choose(m, o.choices.List.Sel)
	}
	a, _ := m.env.Keys.Find(action.OnFinding, name)
	switch a.ID {
	case action.Open:
		return o.choose(m, o.choices.List.Sel)
	case action.Back, action.Leave:
		return nil, true
	case action.Down:
		o.choices.List.Move(1, n)
	case action.Up:
		o.choices.List.Move(-1, n)
	case action.Top:
		o.choices.List.Move(-n, n)
	case action.Bottom:
		o.choices.List.Move(n, n)
	case action.PageDown, action.HalfDown:
		o.choices.List.Page(1, n, false)
	case action.PageUp, action.HalfUp:
		o.choices.List.Page(-1, n, false)
	}
	return nil, false
}

// choose tells what was chosen. A menu of switches stays open.
func (o *menu) choose(m *model, i int) (tea.Cmd, bool) {
	if i < 0 || i >= len(o.Items) || o.Choose == nil && o.act == nil {
		return nil, true
	}
	if o.act != nil {
		return o.act(m, i), true
	}
	if o.Toggle {
		o.Items[i].On = !o.Items[i].On
	}
	cmd := m.effect(o.Choose(&m.env, i))
	o.read()
	return cmd, !o.Toggle
}

func (o *menu) cover(m *model, body []string, w int) []string {
	t := m.env.Theme
	hint := " enter chooses " + t.Glyph.Dot + " esc leaves"
	if o.Toggle {
		hint = " space switches " + t.Glyph.Dot + " esc leaves"
	}
	inner := min(max(o.choices.Width(t), part.Width(hint)+1, part.Width(o.Title)+4), w-4)
	lines := o.choices.Render(t, inner, min(len(o.choices.Items), max(1, len(body)-3)))
	lines = append(lines, part.Line(t, inner, part.R(theme.Muted, hint)))
	return part.Over(body, part.Box(t, part.Clean(o.Title, t.Glyph), lines, inner+2), w, part.Centre)
}
