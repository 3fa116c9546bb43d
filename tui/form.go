package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
)

// entityForm is the form of an entity above a screen.
type entityForm struct{ *screen.Form }

// openForm opens a form, with the draft of its name when there is one.
func (m *model) openForm(f *screen.Form) tea.Cmd {
	if name := f.DraftName(); name != "" {
		f.Restore(m.drafts[name])
	}
	m.show(&entityForm{f})
	return m.ask(m.top(), f.Start(&m.env))
}

// shutForm takes a form away that is done with, and its draft.
func (m *model) shutForm(f *screen.Form) {
	m.keepDraft(f.DraftName(), "")
	for _, o := range m.overlays {
		if x, ok := o.(*entityForm); ok && x.Form == f {
			m.shut(o)
			return
		}
	}
}

func (o *entityForm) key(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	e, leave := o.Key(&m.env, k.String(), k.Text)
	if leave {
		o.keep(m)
		for _, p := range o.Panes() {
			p.Abandon()
		}
	}
	return m.effect(e), leave
}

// keep keeps what was typed as a draft.
func (o *entityForm) keep(m *model) { m.keepDraft(o.DraftName(), o.Draft()) }

func (o *entityForm) paste(_ *model, text string) tea.Cmd {
	o.Paste(text)
	return nil
}

// settled goes on with what has come.
func (o *entityForm) settled(m *model) tea.Cmd { return m.effect(o.Settled(&m.env)) }

func (o *entityForm) panes() []screen.Pane { return o.Panes() }

func (o *entityForm) cover(m *model, body []string, w int) []string {
	return part.Over(body, o.Render(&m.env, w, len(body)), w, part.Upper)
}
