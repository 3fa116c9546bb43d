package screen

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// drawn is what a split drew last: what a click at a line means.
type drawn struct {
	list  []string // its lines
	w     int      // its width; 0 = there was no list
	right int      // where the detail begins, beside it; 0 = it was not beside it

	more, less bool // the list can be given more, or less
}

// Click implements Clicker: it selects the item of a line, or gives the focus
// to the side that was clicked at.
func (s *split) Click(e *Env, x, y int) bool {
	if s.drawn.right > 0 && x >= s.drawn.right {
		s.onRight = true
		return true
	}
	if x >= s.drawn.w || y >= len(s.drawn.list) || blankLine(s.drawn.list[y]) {
		return false
	}
	pointer := pointerLine(s.drawn.list, e.Theme)
	if pointer < 0 {
		return false
	}
	at := s.list.Sel + y - pointer
	if at < s.list.Top || at >= s.list.Top+s.list.Window() {
		return false
	}
	s.onRight = false
	s.list.Move(at-s.list.Sel, at+1)
	return true
}

// Select selects the item with a key, when there is one.
func (s *split) Select(key string) {
	s.list.Remember(key)
	s.onRight = false
}

func blankLine(line string) bool { return strings.TrimSpace(ansi.Strip(line)) == "" }

// pointerLine is the line of the selected item.
func pointerLine(lines []string, t *theme.Theme) int {
	for i, l := range lines {
		if strings.HasPrefix(ansi.Strip(l), t.Glyph.Pointer+" ") {
			return i
		}
	}
	return -1
}

// Select selects the item with a key in the tab that is shown.
func (s *Table) Select(key string) {
	if x, ok := s.tabs[s.active].(interface{ Select(string) }); ok {
		x.Select(key)
	}
}

// Room implements Divided: that of the tab that is shown.
func (s *Table) Room() (more, less bool) {
	if d, ok := s.tabs[s.active].(Divided); ok {
		return d.Room()
	}
	return false, false
}

// Click implements Clicker: a tab, or what is below the tabs.
func (s *Table) Click(e *Env, x, y int) bool {
	if y > 0 {
		c, ok := s.tabs[s.active].(Clicker)
		return ok && c.Click(e, x, y-1)
	}
	labels := make([]string, len(s.tabs))
	for i, t := range s.tabs {
		labels[i] = t.label()
	}
	i, ok := tabAt(e, labels, s.active, x)
	if ok {
		s.active = i
	}
	return ok
}

// Room implements Divided: that of the tab that is shown.
func (o *Operations) Room() (more, less bool) { return o.list().Room() }

// Click implements Clicker: a tab, or what is below the tabs.
func (o *Operations) Click(e *Env, x, y int) bool {
	b := o.list()
	if y > 0 || x >= b.drawn.w {
		return b.Click(e, x, y)
	}
	i, ok := tabAt(e, operationTabs, o.tab, x)
	if ok {
		o.tab = i
	}
	return ok
}

// tabAt is the tab at a cell of the line of tabs.
func tabAt(e *Env, labels []string, active, x int) (int, bool) {
	line := []rune(ansi.Strip(part.Tabs(e.Theme, labels, active, tabsWidth)))
	from := 0
	for i, l := range labels {
		at := strings.Index(string(line[from:]), l)
		if at < 0 {
			return 0, false
		}
		begin := from + len([]rune(string(line[from:])[:at]))
		from = begin + len([]rune(l))
		if x >= begin && x < from {
			return i, true
		}
	}
	return 0, false
}

// Click implements Clicker: a side, or what is below the sides.
func (s *Entity) Click(e *Env, x, y int) bool {
	if y > 0 {
		return s.side != sideFields && s.split.Click(e, x, y-1)
	}
	labels, active := s.labels()
	i, ok := tabAt(e, labels, active, x)
	if ok {
		s.show(e, s.sides()[i])
	}
	return ok
}

const tabsWidth = 400 // cells in which all tabs have room
