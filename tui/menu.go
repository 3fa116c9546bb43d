package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/screen"
)

// filter asks for a filter of the list, which works while one types.
func (m *model) filter() tea.Cmd {
	f, ok := m.top().screen.(screen.Filterer)
	if !ok {
		return nil
	}
	was, while, how := f.Filter(), f.SetFilter, "words, column:value, column:>9, !not, ~regex"
	if t, ok := f.(screen.TypingFilterer); ok {
		while = t.TypeFilter
		if help := t.FilterHelp(&m.env); help != "" {
			how = help
		}
	}
	m.prompt(&screen.Prompt{
		Title: "filter: " + how, Text: was, Hint: "keeps it",
		Change: while,
		Done:   f.SetFilter,
		Cancel: func(e *screen.Env) screen.Effect { return f.SetFilter(e, was) },
	})
	return nil
}

// filtered says that the list which has the focus is narrowed.
func (m *model) filtered() bool {
	f, ok := m.top().screen.(screen.Filterer)
	return ok && f.Filter() != "" && !m.top().screen.InDetail()
}

// match goes to the next item that the last filter matches.
func (m *model) match(d int) tea.Cmd {
	if f, ok := m.top().screen.(screen.Filterer); ok {
		return m.effect(f.NextMatch(&m.env, d))
	}
	return nil
}

// sort asks for a column to order the list by. The column that it is ordered
// by already is turned round.
func (m *model) sort() tea.Cmd {
	s, ok := m.top().screen.(screen.Sorter)
	if !ok {
		return nil
	}
	columns := s.SortColumns(&m.env)
	if len(columns) == 0 {
		return m.say("there is nothing to sort by yet")
	}
	by, desc := s.Sorted()
	items := []screen.MenuItem{{Key: "0", Label: "as it comes", Detail: "the order of the data"}}
	for i, c := range columns {
		item := screen.MenuItem{Label: c}
		if i < 9 {
			item.Key = strconv.Itoa(i + 1)
		}
		if i == by {
			item.Detail = "smallest first; again: greatest first"
			if desc {
				item.Detail = "greatest first; again: smallest first"
			}
		}
		items = append(items, item)
	}
	m.menu(&screen.Menu{Title: "sort by", Items: items, Sel: max(0, by+1), Choose: func(e *screen.Env, i int) screen.Effect {
		return s.SetSort(e, i-1, i-1 == by && i > 0 && !desc)
	}})
	return nil
}

// columns asks which columns are shown.
func (m *model) columns() tea.Cmd {
	c, ok := m.top().screen.(screen.Chooser)
	if !ok {
		return nil
	}
	items := c.ChoosableColumns(&m.env)
	if len(items) == 0 {
		return m.say("there are no columns to choose from yet")
	}
	o := &screen.Menu{Title: "columns", Items: items, Toggle: true}
	o.Choose = func(e *screen.Env, i int) screen.Effect {
		eff := c.SwitchColumn(e, i)
		if now := c.ChoosableColumns(e); len(now) == len(o.Items) {
			o.Items = now // the screen may keep one that must stay
		}
		return eff
	}
	m.menu(o)
	return nil
}

// pin is what is selected, as something that can be compared.
func (m *model) pin() *screen.Pin {
	if p, ok := m.top().screen.(screen.Pinner); ok {
		return p.Pin(&m.env)
	}
	return nil
}

// mark remembers what is selected, to compare another thing with it. The same
// again forgets it.
func (m *model) mark() tea.Cmd {
	pin := m.pin()
	switch {
	case pin == nil:
		return nil
	case m.env.Pinned != nil && *m.env.Pinned == *pin:
		m.env.Pinned = nil
		return m.say("nothing is marked any more")
	}
	m.env.Pinned = pin
	return m.say("marked " + pin.Label + "; " + m.keyOr(action.Compare, "compare") + " on another" + elsewhen(pin) + " compares them")
}

// elsewhen reminds that a row can be compared with itself.
func elsewhen(p *screen.Pin) string {
	if p.Kind == screen.PinRow {
		return ", or at another moment,"
	}
	return ""
}

// compare opens what is marked beside what is selected. Where nothing of its
// kind is marked, that is what came before it.
func (m *model) compare() tea.Cmd {
	a, b := m.env.Pinned, m.pin()
	switch {
	case b == nil:
		return nil
	case a == nil || a.Kind != b.Kind:
		if p, ok := m.top().screen.(screen.Predecessor); ok {
			if since := p.SinceBefore(&m.env); since != nil {
				return m.effect(screen.Effect{Push: since})
			}
		}
		return nil
	case *a == *b:
		return m.say("this is what is marked: choose another" + elsewhen(b) + " to compare it with")
	}
	return m.effect(screen.Effect{Push: screen.NewCompare(*a, *b)})
}

// find asks for the id of an entity.
func (m *model) find() tea.Cmd {
	m.prompt(&screen.Prompt{Title: "id of a node or an edge", Hint: "looks for it in all types", Draft: "find", Done: func(_ *screen.Env, id string) screen.Effect {
		return screen.Effect{Push: screen.NewFind(id)}
	}})
	return nil
}
