package tui

import (
	"strings"
	"unicode"

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
	paste(text string)
	// cover draws over the lines of the body.
	cover(m *model, body []string, w int) []string
}

// help is the sheet of everything that can be done here, from the table.
type help struct{ top int }

func (h *help) paste(string) {}

func (h *help) key(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	a, _ := m.env.Keys.Find(m.top().screen.Name(), k.String())
	switch a.ID {
	case action.Down:
		h.top++
	case action.Up:
		h.top--
	case action.PageDown, action.HalfDown:
		h.top += 10
	case action.PageUp, action.HalfUp:
		h.top -= 10
	case action.Top:
		h.top = 0
	case action.Bottom:
		h.top = 1 << 30
	case action.Help, action.Back, action.Leave, action.Open:
		return nil, true
	}
	return nil, false
}

func (h *help) cover(m *model, body []string, w int) []string {
	t := m.env.Theme
	c := m.context()
	lead := part.Sides(t, w, []part.Span{part.S(" "), part.R(theme.Strong, "help"), part.R(theme.Muted, " "+t.Glyph.Dot+" "), part.S(c.Screen)},
		[]part.Span{part.R(theme.Muted, "? closes ")})
	var d *part.Doc
	if w >= 110 {
		lw := w / 2
		left, right := part.NewDoc(t, lw), part.NewDoc(t, w-lw)
		sheet(left, m.env.Keys, c, "on this screen", c.Screen)
		sheet(left, m.env.Keys, c, "moving", action.Lists)
		sheet(right, m.env.Keys, c, "everywhere", action.Global)
		n := max(left.Len(), right.Len())
		l, r := left.Window(n, new(int)), right.Window(n, new(int))
		d = part.NewDoc(t, w)
		for i := range n {
			d.Add(l[i] + r[i])
		}
	} else {
		d = part.NewDoc(t, w)
		sheet(d, m.env.Keys, c, "on this screen", c.Screen)
		sheet(d, m.env.Keys, c, "moving", action.Lists)
		sheet(d, m.env.Keys, c, "everywhere", action.Global)
	}
	return append([]string{lead}, d.Window(len(body)-1, &h.top)...)
}

const helpKeys = 14 // cells of the keys

// sheet lists the actions of a scope; what cannot be used now says why.
func sheet(d *part.Doc, keys *action.Map, c action.Context, title, scope string) {
	actions := keys.Of(scope)
	if len(actions) == 0 {
		return
	}
	d.Head(title)
	for _, a := range actions {
		key := part.Pad(a.Key(), helpKeys)
		if why := a.Why(c); why != "" {
			d.Line(part.R(theme.Muted, key+a.Help+" ("+why+")"))
			continue
		}
		d.Line(part.R(theme.Accent, key), part.S(a.Help))
	}
}

// prompt asks for one line of text.
type prompt struct {
	*screen.Prompt
	text []rune
	at   int
}

const promptMax = 4096 // characters of an address

func newPrompt(p *screen.Prompt) *prompt {
	return &prompt{Prompt: p, text: []rune(p.Text), at: len([]rune(p.Text))}
}

func (p *prompt) paste(text string) {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	for _, r := range line {
		p.insert(r)
	}
}

func (p *prompt) insert(r rune) {
	if unicode.IsControl(r) || len(p.text) >= promptMax {
		return
	}
	p.text = append(p.text, 0)
	copy(p.text[p.at+1:], p.text[p.at:])
	p.text[p.at] = r
	p.at++
}

func (p *prompt) key(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch k.String() {
	case "esc":
		return nil, true
	case "enter":
		uri := strings.TrimSpace(string(p.text))
		if uri == "" {
			return nil, true
		}
		return m.effect(p.Done(&m.env, uri)), true
	case "left":
		p.at = max(0, p.at-1)
	case "right":
		p.at = min(len(p.text), p.at+1)
	case "home", "ctrl+a":
		p.at = 0
	case "end", "ctrl+e":
		p.at = len(p.text)
	case "ctrl+u":
		p.text, p.at = p.text[p.at:], 0
	case "backspace":
		if p.at > 0 {
			p.text = append(p.text[:p.at-1], p.text[p.at:]...)
			p.at--
		}
	case "delete":
		if p.at < len(p.text) {
			p.text = append(p.text[:p.at], p.text[p.at+1:]...)
		}
	default:
		for _, r := range k.Text {
			p.insert(r)
		}
	}
	return nil, false
}

func (p *prompt) cover(m *model, body []string, w int) []string {
	t := m.env.Theme
	inner := w - 4
	before, after := string(p.text[:p.at]), string(p.text[p.at:])
	before = part.CutLeft(part.Clean(before, t.Glyph), max(1, inner-10), t.Glyph.More)
	at, rest := " ", ""
	if after != "" {
		r := []rune(after)
		at, rest = part.Clean(string(r[:1]), t.Glyph), part.Clean(string(r[1:]), t.Glyph)
	}
	field := part.Line(t, w-2, part.S(" "), part.S(before), part.R(theme.Select, at), part.S(rest))
	hint := part.Line(t, w-2, part.R(theme.Muted, " enter "+p.Hint+" "+t.Glyph.Dot+" esc keeps what is shown"))
	box := part.Box(t, p.Title, []string{field, hint}, w)
	if len(body) < len(box) {
		return part.Fit(box, w, len(body))
	}
	return append(body[:len(body)-len(box):len(body)-len(box)], box...)
}
