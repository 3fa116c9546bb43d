package screen

import (
	"encoding/json"
	"slices"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
)

// tab is one view of a table. It has the duties of a screen.
type tab interface {
	label() string
	scope() string
	start(*Env) []Request
	reload(*Env) []Request
	panes() []Pane
	context(*Env) action.Context
	do(*Env, action.ID) Effect
	render(*Env, Area) []string
	InDetail() bool
	CloseDetail()
}

// Table shows one table: its schema, fragments, versions, indexes and rows. A
// tab loads when it is first looked at; what it offers beyond that is what the
// screen offers.
type Table struct {
	table  string
	tabs   []tab
	active int
}

// NewTable makes the screen of a table, named node:T or edge:T. It opens on
// the fragments, which cost one manifest.
func NewTable(table string) *Table {
	data := &Load[*engine.Fragments]{name: "fragments"}
	return &Table{table: table, active: 1, tabs: []tab{
		newSchemaTab(table), newFragments(table, data), newChain(table), newIndexes(table, data), newRows(table),
	}}
}

// Name implements Screen.
func (s *Table) Name() string { return s.tabs[s.active].scope() }

// Title implements Screen.
func (s *Table) Title() string { return s.table }

// Place implements Screen.
func (s *Table) Place() string { return s.table + "/" + s.tabs[s.active].label() }

// Start implements Screen.
func (s *Table) Start(e *Env) []Request { return s.tabs[s.active].start(e) }

// Reload implements Screen.
func (s *Table) Reload(e *Env) []Request { return s.tabs[s.active].reload(e) }

// Panes implements Screen.
func (s *Table) Panes(e *Env) []Pane {
	if p, ok := s.tabs[s.active].(interface{ panesOf(*Env) []Pane }); ok {
		return p.panesOf(e)
	}
	return s.tabs[s.active].panes()
}

// Context implements Screen.
func (s *Table) Context(e *Env) action.Context {
	c := s.tabs[s.active].context(e)
	c.Tabs = true
	return c
}

// InDetail implements Screen.
func (s *Table) InDetail() bool { return s.tabs[s.active].InDetail() }

// CloseDetail implements Screen.
func (s *Table) CloseDetail() { s.tabs[s.active].CloseDetail() }

// Do implements Screen.
func (s *Table) Do(e *Env, id action.ID) Effect {
	switch id {
	case action.NextTab:
		return s.turn(e, 1)
	case action.PrevTab:
		return s.turn(e, -1)
	}
	return s.tabs[s.active].do(e, id)
}

// turn goes to another tab. What only the one before was waiting for is given
// up, and asked again when one comes back.
func (s *Table) turn(e *Env, d int) Effect {
	before := s.Panes(e)
	s.active = (s.active + len(s.tabs) + d) % len(s.tabs)
	now := s.Panes(e)
	for _, p := range before {
		if p.Busy() && !slices.Contains(now, p) {
			p.Abandon()
		}
	}
	return Effect{Ask: s.Start(e)}
}

// Show makes a tab active by its label, before the first Start.
func (s *Table) Show(label string) *Table {
	for i, t := range s.tabs {
		if t.label() == label {
			s.active = i
		}
	}
	return s
}

// Render implements Screen.
func (s *Table) Render(e *Env, a Area) []string {
	var labels []string
	for _, t := range s.tabs {
		labels = append(labels, t.label())
	}
	out := []string{part.Tabs(e.Theme, labels, s.active, a.W)}
	a.H--
	return append(out, s.tabs[s.active].render(e, a)...)
}

// offer is what the active tab offers.
func offer[T any](s *Table) (T, bool) {
	t, ok := s.tabs[s.active].(T)
	return t, ok
}

// Filter implements Filterer.
func (s *Table) Filter() string {
	if t, ok := offer[Filterer](s); ok {
		return t.Filter()
	}
	return ""
}

// SetFilter implements Filterer.
func (s *Table) SetFilter(e *Env, text string) Effect {
	if t, ok := offer[Filterer](s); ok {
		return t.SetFilter(e, text)
	}
	return Effect{Note: "there is nothing to filter here"}
}

// TypeFilter implements TypingFilterer.
func (s *Table) TypeFilter(e *Env, text string) Effect {
	if t, ok := offer[TypingFilterer](s); ok {
		return t.TypeFilter(e, text)
	}
	return s.SetFilter(e, text)
}

// FilterHelp implements TypingFilterer.
func (s *Table) FilterHelp(e *Env) string {
	if t, ok := offer[TypingFilterer](s); ok {
		return t.FilterHelp(e)
	}
	return ""
}

// NextMatch implements Filterer.
func (s *Table) NextMatch(e *Env, d int) Effect {
	if t, ok := offer[Filterer](s); ok {
		return t.NextMatch(e, d)
	}
	return Effect{}
}

// SortColumns implements Sorter.
func (s *Table) SortColumns(e *Env) []string {
	if t, ok := offer[Sorter](s); ok {
		return t.SortColumns(e)
	}
	return nil
}

// Sorted implements Sorter.
func (s *Table) Sorted() (column int, desc bool) {
	if t, ok := offer[Sorter](s); ok {
		return t.Sorted()
	}
	return -1, false
}

// SetSort implements Sorter.
func (s *Table) SetSort(e *Env, column int, desc bool) Effect {
	if t, ok := offer[Sorter](s); ok {
		return t.SetSort(e, column, desc)
	}
	return Effect{}
}

// ChoosableColumns implements Chooser.
func (s *Table) ChoosableColumns(e *Env) []MenuItem {
	if t, ok := offer[Chooser](s); ok {
		return t.ChoosableColumns(e)
	}
	return nil
}

// SwitchColumn implements Chooser.
func (s *Table) SwitchColumn(e *Env, i int) Effect {
	if t, ok := offer[Chooser](s); ok {
		return t.SwitchColumn(e, i)
	}
	return Effect{}
}

// Copies implements Copier.
func (s *Table) Copies(e *Env) []Copy {
	if t, ok := offer[Copier](s); ok {
		return t.Copies(e)
	}
	return nil
}

// Exports implements Exporter.
func (s *Table) Exports(e *Env) *Export {
	if t, ok := offer[Exporter](s); ok {
		return t.Exports(e)
	}
	return nil
}

// Pin implements Pinner.
func (s *Table) Pin(e *Env) *Pin {
	if t, ok := offer[Pinner](s); ok {
		return t.Pin(e)
	}
	return nil
}

// SinceBefore implements Predecessor.
func (s *Table) SinceBefore(e *Env) Screen {
	if t, ok := offer[Predecessor](s); ok {
		return t.SinceBefore(e)
	}
	return nil
}

// Destination implements Traveller.
func (s *Table) Destination(e *Env) (at engine.At, name string, ok bool) {
	if t, ok := offer[Traveller](s); ok {
		return t.Destination(e)
	}
	return engine.At{}, "", false
}

// Keep implements Keeper: each tab by its label.
func (s *Table) Keep() json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, t := range s.tabs {
		if k, ok := t.(Keeper); ok {
			if raw := k.Keep(); raw != nil {
				all[t.label()] = raw
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return nil // a tab kept what is no JSON
	}
	return raw
}

// Restore implements Keeper.
func (s *Table) Restore(raw json.RawMessage) {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return
	}
	for _, t := range s.tabs {
		if k, ok := t.(Keeper); ok && all[t.label()] != nil {
			k.Restore(all[t.label()])
		}
	}
}
