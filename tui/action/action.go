// Package action is the one table of everything that a user can do.
//
// Keys, footer, help, palette, the command line and its verbs, docs/KEYS.md and
// the read-only gate are fed from it and from nothing else, so that none of
// them can promise what another does not keep. A screen asks for an action by
// its ID and never looks at a key.
//
// A user's key map (Read) changes keys only; one with which a key would mean
// two things, or a way out would have none, is refused.
package action

import (
	"fmt"
	"slices"
	"strings"
)

// ID names an action.
type ID string

// Scopes that are not the name of a screen.
const (
	Global = ""     // everywhere
	Lists  = "list" // wherever there is something to move in
)

// Action is one row of the table.
type Action struct {
	ID     ID
	Title  string   // one or two words, for the footer
	Help   string   // a phrase, for the help sheet
	Scopes []string // Global, Lists, or names of screens
	Keys   []string // as Bubble Tea spells them; the first is shown. One is a plain key
	Show   string   // how the keys are written where they are shown; "" = Keys[0]
	Footer int      // place in the footer, 1 first; 0 = not there
	Keep   int      // where the footer has too little room, the smallest goes first
	Pair   ID       // in the footer its key stands before this one's: one hint for both
	Writes bool     // opens the planner of a write
	// Enabled says why the action cannot be used now, "" when it can. nil: always.
	Enabled func(Context) string
}

// Context is what the gates of the table look at.
type Context struct {
	Screen      string
	Items       int  // in the focused list
	Openable    bool // enter leads somewhere
	Detail      bool // there is a detail pane to flip to
	More, Less  bool // the pane with the focus can be given more of the window, or less
	Tree        bool // the navigator is shown
	Deep        bool // there is a screen to go back to
	Tabs        bool // the screen has tabs
	Columns     bool // the screen has columns to move in
	Loads       bool // the screen shows something that is loaded
	Truncated   bool // more stands behind what is shown
	Graph       bool // a graph is open
	Filters     bool // the list can be narrowed
	Sorts       bool // and ordered
	Chooses     bool // columns can be hidden
	Copies      bool // something can be copied
	Exports     bool // something can be written to a file
	Pins        bool // what is selected can be compared
	Pinned      bool // something of the same kind is marked
	Before      bool // it is known what came before what is selected
	Destination bool // t leads somewhere
	Travelling  bool // the screens show another moment than now
	Remote      bool // the graph is reached over a network
	Opened      bool // the graph answers
	ReadOnly    bool // nothing may be written until it is unlocked
	Writing     bool // a write runs
	Pending     bool // a recovery is known to be pending
	// Why no entity can be inserted here, changed or deleted; "" = one can.
	NoInsert, NoEdit, NoDelete string
}

// Key is how the action's keys are shown; "" when it has none.
func (a Action) Key() string {
	if a.Show != "" {
		return a.Show
	}
	return a.first()
}

// first is how the first key is shown.
func (a Action) first() string {
	if len(a.Keys) == 0 {
		return ""
	}
	return spell(a.Keys[0])
}

// Why says why the action cannot be used, "" when it can.
func (a Action) Why(c Context) string {
	if a.Writes {
		if why := c.unwritable(); why != "" {
			return why
		}
	}
	if a.Enabled == nil {
		return ""
	}
	return a.Enabled(c)
}

// unwritable is why nothing can be written now, whatever it is; "" when
// something can.
func (c Context) unwritable() string {
	switch {
	case !c.Graph:
		return "no graph is open"
	case !c.Opened:
		return "the graph is not open yet"
	case c.ReadOnly:
		return "read-only until it is unlocked"
	case c.Travelling:
		return "a moment that is past is shown"
	}
	return unless(!c.Writing, "a write is running")
}

// In says whether the action belongs to a scope.
func (a Action) In(scope string) bool {
	for _, s := range a.Scopes {
		if s == scope {
			return true
		}
	}
	return false
}

// Harmless says that fingers do the action without the head: no key of it may
// confirm anything.
func (a Action) Harmless() bool { return harmless[a.ID] }

// Map is the table with the keys that are in force.
type Map struct{ actions []Action }

// Default is the table with its own keys.
func Default() *Map { return &Map{Table} }

// Actions are all actions in the order of the table.
func (m *Map) Actions() []Action { return m.actions }

// Find returns the action that a key means on a screen.
func (m *Map) Find(screen, key string) (Action, bool) {
	for _, scope := range []string{screen, Lists, Global} {
		for _, a := range m.actions {
			if a.In(scope) && slices.Contains(a.Keys, key) {
				return a, true
			}
		}
	}
	return Action{}, false
}

// Get returns an action by its ID.
func (m *Map) Get(id ID) Action {
	for _, a := range m.actions {
		if a.ID == id {
			return a
		}
	}
	return Action{}
}

// Key is how the key of an action is shown; "" when it has none.
func (m *Map) Key(id ID) string { return m.Get(id).Key() }

// Hint is how the keys of an action are shown in the footer.
func (m *Map) Hint(a Action) string {
	if a.Pair == "" {
		return a.first()
	}
	return m.Both(a.Pair, a.ID)
}

// Both is how the keys of two actions are shown that belong together; "" when
// neither has one.
func (m *Map) Both(a, b ID) string {
	return strings.TrimSpace(m.Get(a).first() + " " + m.Get(b).first())
}

// Is says that a key means an action, wherever one is.
func (m *Map) Is(id ID, key string) bool { return slices.Contains(m.Get(id).Keys, key) }

// Of lists the actions of a scope in the order of the table.
func (m *Map) Of(scope string) []Action {
	var out []Action
	for _, a := range m.actions {
		if a.In(scope) {
			out = append(out, a)
		}
	}
	return out
}

// Check finds what is wrong with a table: an ID twice, an action that neither
// a plain key nor a verb of the command line reaches, a key that means two
// things on one screen, or a write on a key that fingers know.
func Check(table []Action, screens []string) []error {
	var errs []error
	ids := map[ID]bool{}
	for _, a := range table {
		if ids[a.ID] {
			errs = append(errs, fmt.Errorf("action %s stands twice", a.ID))
		}
		ids[a.ID] = true
		if !hasPlainKey(a) && !hasVerb(a.ID) {
			errs = append(errs, fmt.Errorf("action %s has no plain key and no verb", a.ID))
		}
	}
	return append(errs, clashes(table, screens)...)
}

// clashes are keys that mean two things on one screen, and writes on keys that
// fingers know from elsewhere.
func clashes(table []Action, screens []string) []error {
	var errs []error
	for _, a := range table {
		for _, k := range a.Keys {
			if a.Writes && (len(k) != 1 || k[0] < 'A' || k[0] > 'Z') {
				errs = append(errs, fmt.Errorf("action %s writes and is on %s, which is not a capital letter", a.ID, k))
			}
			if a.Writes && slices.ContainsFunc(table, func(b Action) bool { return harmless[b.ID] && slices.Contains(b.Keys, k) }) {
				errs = append(errs, fmt.Errorf("action %s writes and is on %s, a key for moving or reading again", a.ID, k))
			}
		}
	}
	said := map[string]bool{}
	for _, screen := range screens {
		owner := map[string]ID{}
		for _, scope := range []string{screen, Lists, Global} {
			for _, a := range table {
				if !a.In(scope) {
					continue
				}
				for _, k := range a.Keys {
					o, taken := owner[k]
					if pair := k + string(o) + string(a.ID); taken && o != a.ID && !said[pair] {
						said[pair] = true
						errs = append(errs, fmt.Errorf("on %s the key %s means %s and %s", screen, k, o, a.ID))
					}
					owner[k] = a.ID
				}
			}
		}
	}
	return errs
}

// harmless are the actions that fingers do without the head: no write may
// stand on a key of theirs.
var harmless = map[ID]bool{
	Down: true, Up: true, Top: true, Bottom: true, PageDown: true, PageUp: true, HalfDown: true, HalfUp: true, Open: true,
	Flip: true, PrevTab: true, NextTab: true, PrevCol: true, NextCol: true, Back: true, Leave: true, Reload: true, Follow: true,
}

// hasPlainKey: a single character, or a key that every keyboard has.
func hasPlainKey(a Action) bool {
	for _, k := range a.Keys {
		switch k {
		case "enter", "esc", "tab", "up", "down", "left", "right", "ctrl+c":
			return true
		}
		if len(k) == 1 {
			return true
		}
	}
	return false
}
