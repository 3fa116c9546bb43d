package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// help is the sheet of everything that can be done here, from the table.
// Typing narrows it.
type help struct {
	top   int
	field part.Field
}

func (h *help) paste(_ *model, text string) tea.Cmd {
	h.field.Insert(text)
	h.top = 0
	return nil
}

func (h *help) key(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	name := k.String()
	empty := h.field.String() == ""
	switch name {
	case "esc":
		if empty {
			return nil, true
		}
		h.field, h.top = part.Field{}, 0
		return nil, false
	case "enter":
		return nil, true
	case "down":
		h.top++
	case "up":
		h.top--
	case "pgdown", "ctrl+d":
		h.top += 10
	case "pgup":
		h.top -= 10
	case "home":
		h.top = 0
	case "end":
		h.top = 1 << 30
	default:
		if empty && m.env.Keys.Is(action.Help, name) {
			return nil, true
		}
		if typed(&h.field, k) {
			h.top = 0
		}
	}
	return nil, false
}

func (h *help) cover(m *model, body []string, w int) []string {
	t := m.env.Theme
	c := m.context()
	left := []part.Span{part.S(" "), part.R(theme.Strong, "help"), part.R(theme.Muted, " "+t.Glyph.Dot+" "), part.S(c.Screen)}
	hint := []part.Span{part.R(theme.Muted, "typing narrows "+t.Glyph.Dot+" arrows scroll "+t.Glyph.Dot+" esc closes ")}
	want := strings.ToLower(strings.TrimSpace(h.field.String()))
	if want != "" {
		left = append(left, part.R(theme.Muted, " "+t.Glyph.Dot+" "), part.R(theme.Accent, part.Clean(want, t.Glyph)))
		hint = []part.Span{part.R(theme.Muted, "esc shows all ")}
	}
	lead := part.Sides(t, w, left, hint)
	d := part.NewDoc(t, w)
	if w >= 110 {
		l, r := part.NewDoc(t, w/2), part.NewDoc(t, w-w/2)
		sheet(l, m.env.Keys, c, want, "on this screen", c.Screen)
		sheet(l, m.env.Keys, c, want, "in lists", action.Lists)
		filters(l, want)
		sheet(r, m.env.Keys, c, want, "everywhere", action.Global)
		verbs(r, want)
		n := max(l.Len(), r.Len())
		ll, rl := l.Window(n, new(int)), r.Window(n, new(int))
		for i := range n {
			d.Add(ll[i] + rl[i])
		}
	} else {
		sheet(d, m.env.Keys, c, want, "on this screen", c.Screen)
		sheet(d, m.env.Keys, c, want, "in lists", action.Lists)
		sheet(d, m.env.Keys, c, want, "everywhere", action.Global)
		verbs(d, want)
		filters(d, want)
	}
	if d.Len() == 0 {
		d.Text(theme.Muted, "nothing here is called that; esc shows all")
	}
	return append([]string{lead}, d.Window(len(body)-1, &h.top)...)
}

const helpKeys = 14 // cells of the keys

// sheet lists the actions of a scope; what cannot be used now says why.
func sheet(d *part.Doc, keys *action.Map, c action.Context, want, title, scope string) {
	headed := false
	for _, a := range keys.Of(scope) {
		if !mentions(want, a.Key(), a.Title, a.Help, string(a.ID)) {
			continue
		}
		if !headed {
			d.Head(title)
			headed = true
		}
		g := d.Theme().Glyph
		key := part.Pad(part.Cut(part.Clean(a.Key(), g), helpKeys-1, g.More), helpKeys)
		if a.Key() == "" {
			key = part.Pad(part.Cut(":"+string(a.ID), helpKeys-1, g.More), helpKeys)
		}
		if why := a.Why(c); why != "" {
			entry(d, theme.Muted, key, theme.Muted, a.Help+" ("+why+")")
			continue
		}
		entry(d, theme.Accent, key, theme.Text, a.Help)
	}
}

// entry adds a name and beside it what it means, wrapped.
func entry(d *part.Doc, nameRole theme.Role, name string, textRole theme.Role, text string) {
	for _, l := range part.Wrap(part.Clean(text, d.Theme().Glyph), max(8, d.Width()-part.Width(name)-2)) {
		d.Line(part.R(nameRole, name), part.R(textRole, l))
		name = part.Pad("", part.Width(name))
	}
}

// filterTerms are what a filter is made of, as package part reads it.
var filterTerms = [][2]string{
	{"word", "the word stands somewhere in the row, whatever its case"},
	{`"two words"`, "so does a text with spaces; in quotes nothing else is special"},
	{"column:word", "it stands in that column; column:=word: the column is it"},
	{"column:>100", "the number in that column is greater; <, >=, <= and = likewise, and numbers as they are shown: 61 KiB, 71 %, v41"},
	{"!term", "the term does not match"},
	{"~regex", "the regular expression matches; column:~regex likewise"},
	{"name = 'x'", "in the rows of a table: a condition, asked of the whole table; !=, <, <=, >, >=, in (a, b), contains, starts_with and is null likewise, with and, or, not"},
}

// filters explains what can be typed into a filter.
func filters(d *part.Doc, want string) {
	headed := false
	for _, f := range filterTerms {
		if !mentions(want, "filter", f[0], f[1]) {
			continue
		}
		if !headed {
			d.Head("in a filter: terms, all of which must match")
			headed = true
		}
		entry(d, theme.Accent, part.Pad(f[0], helpKeys), theme.Text, f[1])
	}
}

// verbs lists what the command line knows besides the names of actions.
func verbs(d *part.Doc, want string) {
	headed := false
	for _, v := range action.Verbs {
		if !mentions(want, ":"+v.Name, v.Args, v.Help, strings.Join(v.Also, " ")) {
			continue
		}
		if !headed {
			d.Head("on the command line")
			headed = true
		}
		name := strings.TrimSpace(":" + v.Name + " " + v.Args)
		entry(d, theme.Accent, part.Pad(name, 2*helpKeys)+" ", theme.Text, v.Help)
	}
}

func mentions(want string, texts ...string) bool {
	return want == "" || strings.Contains(strings.ToLower(strings.Join(texts, " ")), want)
}
