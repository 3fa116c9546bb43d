// Package screen holds the screens: one file a screen.
//
// A screen is a struct that the root model owns and changes only in its
// Update. It asks for data by returning Requests, which the root turns into
// commands; it gets answers through its panes, which drop what is stale. It
// draws itself as lines for an area that it is given. It knows no key: the
// action table does.
//
// A pane is one thing that is loaded, with its own state: never asked,
// loading, loaded and when, failed and why. What several screens show is
// loaded once, in the Session. "Damaged" is a failure with a sentence, never
// an empty list.
//
// What a screen can do beyond showing it offers by small interfaces (Filterer,
// Sorter, Chooser, Copier, Exporter, Pinner, Keeper, Clicker), which the root
// looks for. Most lists are a browse (any list and its detail) or a board (a
// list below fixed places), narrowed and ordered by a lens. At finds a screen
// by its place, the one spelling that flags, history and kept state share.
package screen

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Env is what every screen may look at. The root sets it before each call.
type Env struct {
	Theme   *theme.Theme
	Now     time.Time
	URI     string // as it was asked for
	Address string // as the graph spells it
	Remote  bool
	Locked  bool      // nothing may be written until the user unlocks it
	At      engine.At // what all screens show
	Writes  uint64    // writes of this program to the graph: what was read before the last one is old
	Pinned  *Pin      // what was marked, to be compared; nil = nothing
	Wide    bool      // lists take the whole width, details are behind them
	Failing string    // how the requests of this screen fail now that are tried again; "" = they do not
	Masked  bool      // draw no measured time and no hops: a picture that must come out the same again
	Keys    *action.Map
	Data    *Session
	Ops     *Records // operations of this run of the program, of every graph
	// ReadFile reads a file of the user's machine; nil: none can be read.
	ReadFile ReadFile
}

// ReadFile gives the first bytes of a file, at most so many. A path may begin
// with ~/. The error is a sentence.
type ReadFile func(ctx context.Context, path string, most int64) ([]byte, error)

// Key is how the key of an action is shown now: the user may have moved it.
func (e *Env) Key(id action.ID) string { return e.Keys.Key(id) }

// Sandbox says that the graph lives in memory: what is written to it ends with
// the program.
func (e *Env) Sandbox() bool {
	return e.URI == "demo:" || strings.HasPrefix(e.URI, "mem:")
}

// Travelling says that the screens show a moment that is not the newest one.
func (e *Env) Travelling() bool { return e.At.Commit != "" || e.At.Version != 0 }

// Branch is the branch that the screens show.
func (e *Env) Branch() string {
	return BranchName(e.At.Branch)
}

// BranchName is a branch as it is called: main has no name where it is asked for.
func BranchName(branch string) string { return cmp.Or(branch, "main") }

// Unready says that what confirms something stands there only since a moment ago:
// it takes no key and no paste, which were meant for what stood there before.
func (e *Env) Unready(since time.Time) bool { return e.Now.Sub(since) < Moment }

// Moment is how long that takes.
const Moment = 425 * time.Millisecond

// Request is a question to the workspace.
type Request struct {
	Name   string // what is asked for, for the meter: "snapshot"
	Aside  bool   // asks no store: no operation of the meter
	Alone  bool   // asks nothing of the store that another question asks too
	Pane   Pane
	Target string
	Gen    uint64
	Run    func(ctx context.Context, ws workspace.Workspace) (any, error)

	local bool // asks no graph: ws may be nil
}

// Local says that the request needs no graph.
func (r Request) Local() bool { return r.local }

// Effect is what an action does beyond changing the screen itself.
type Effect struct {
	Push   Screen // go deeper
	Ask    []Request
	Look   *engine.At // show this on all screens
	Note   string     // said in the status line
	URI    string     // open this graph (picker)
	Prompt *Prompt    // ask for a line of text
	Menu   *Menu      // ask for a choice
	Export *Export    // write a file
	Form   *Form      // fill in the form of an entity
	Shut   *Form      // this form is done with, and its draft
	Write  *Write     // plan a change of the graph, and show it before it runs
	// Recover shows what recovery would do, at the record with this key.
	Recover string
}

// Prompt asks for one line of text.
type Prompt struct {
	Title string
	Text  string // to begin with
	Hint  string // what enter does
	// Draft names the draft that is kept when the prompt is left with esc; ""
	// keeps none.
	Draft string
	// Change is told every change of the text, for a filter that works while one
	// types; may be nil. Done is told the text at enter.
	Change func(*Env, string) Effect
	Done   func(*Env, string) Effect
	// Cancel is told that the prompt was left with esc; may be nil.
	Cancel func(*Env) Effect
}

// Menu asks for a choice from a few.
type Menu struct {
	Title  string
	Items  []MenuItem
	Sel    int
	Toggle bool // items are switched on and off, and the menu stays open
	// Choose is told the item at enter, or at each switch.
	Choose func(e *Env, i int) Effect
}

// MenuItem is one line of a Menu.
type MenuItem struct {
	Key    string // a letter that chooses it at once; "" = none
	Label  string
	Detail string
	On     bool // of a Toggle menu
}

// Export is a file that can be written from what is shown. It is streamed from
// the store, not from the screen.
type Export struct {
	Name  string // proposed file name
	Title string // what will be in it
	// Write gives the bytes and says how many rows there were.
	Write func(ctx context.Context, ws workspace.Workspace, w io.Writer) (rows int, err error)
}

// Copy is something that can be put on the clipboard.
type Copy struct {
	Label string // "id", "row as JSON", "command line"
	Text  string
}

// PinKind is what a Pin marks. Two pins of one kind can be compared.
type PinKind uint8

// The kinds of pins.
const (
	PinPoint   PinKind = iota // a point of the graph: commit, branch, version of __manifest
	PinVersion                // a version of a table
	PinRow                    // an entity
)

// Pin is a thing that was marked to be compared with another one.
type Pin struct {
	Kind    PinKind
	Label   string    // for people: "commit …7QX2M9", "node:Port v41", "node:Port rotterdam"
	At      engine.At // of a point, and where a row was read
	Table   string    // of a version and of a row
	Branch  string    // of a version
	Version uint64    // of a version
	ID      string    // of a row
}

// What a screen may offer beyond Screen. The root looks for these by type.
type (
	// Filterer narrows what it lists to what matches a filter, in the words of
	// part.ParseFilter. A filter that cannot be read is said in the Note.
	Filterer interface {
		Filter() string
		SetFilter(*Env, string) Effect
		// NextMatch selects the next item (+1) or the one before (-1) that the last
		// filter matches, when the list is whole.
		NextMatch(e *Env, d int) Effect
	}
	// TypingFilterer is a Filterer that does less while the filter is typed than
	// at its end: SetFilter would ask the store at every letter. FilterHelp says
	// in a line what can be typed; "" = what all lists take.
	TypingFilterer interface {
		Filterer
		TypeFilter(*Env, string) Effect
		FilterHelp(*Env) string
	}
	// Sorter orders what it lists. Column -1 is the order of the data.
	Sorter interface {
		SortColumns(*Env) []string
		Sorted() (column int, desc bool)
		SetSort(e *Env, column int, desc bool) Effect
	}
	// Chooser has columns that can be hidden.
	Chooser interface {
		ChoosableColumns(*Env) []MenuItem
		SwitchColumn(e *Env, i int) Effect
	}
	// Copier says what of the selected thing can be copied, the likeliest first.
	Copier interface{ Copies(*Env) []Copy }
	// Exporter says what can be written to a file; nil when nothing.
	Exporter interface{ Exports(*Env) *Export }
	// Pinner says what = marks; nil when nothing.
	Pinner interface{ Pin(*Env) *Pin }
	// Predecessor compares what is selected with what came before it, a commit
	// with its parent. nil: nothing did, or it is not known what.
	Predecessor interface{ SinceBefore(*Env) Screen }
	// Traveller says where in history t goes, and its name for people.
	Traveller interface {
		Destination(*Env) (at engine.At, name string, ok bool)
	}
	// Keeper has a position that outlives the program: selection, filter, sort,
	// columns. Restore is called with what Keep returned: before the first Start
	// when that was in an earlier run, later when one goes back in history. It
	// ignores what it does not understand.
	Keeper interface {
		Keep() json.RawMessage
		Restore(json.RawMessage)
	}
	// Clicker takes a click at a place inside its area. It says whether it hit
	// something.
	Clicker interface{ Click(e *Env, x, y int) bool }
	// Divided says whether Area.Shift can give the list more, or less, of what
	// list and detail were last drawn in together.
	Divided interface{ Room() (more, less bool) }
)

// Area is where a screen draws.
type Area struct {
	W, H  int
	Wide  bool // list and detail beside each other
	Aside bool // the focus is elsewhere
	Shift int  // how much more of it the list takes than it would, in percent; negative: less
}

// Screen is one screen.
type Screen interface {
	Name() string  // its scope in the action table
	Title() string // its place in the breadcrumb
	Place() string // how it is asked for: package comment of place.go
	// Start asks for what is shown and was never asked for, or was cancelled.
	Start(*Env) []Request
	// Reload asks again for what is shown.
	Reload(*Env) []Request
	// Panes are what the screen shows now.
	Panes(*Env) []Pane
	Context(*Env) action.Context
	Do(*Env, action.ID) Effect
	// InDetail says that the detail has the focus; CloseDetail gives it back to
	// the list.
	InDetail() bool
	CloseDetail()
	// Render draws exactly H lines of W cells.
	Render(*Env, Area) []string
}

// Session is what is known of the open graph, shared by all screens.
type Session struct {
	Info     Load[*engine.Info]
	Names    Load[[]string]
	Snapshot Load[*engine.Snapshot]
	Branches Load[[]engine.Branch]
	History  Load[*History]
	Schema   Load[*engine.Schema]
	Ledger   Load[*Ledger]
	Pending  Load[[]engine.Pending] // asked for where Info is not
	Left     *Left                  // what is known of pending recoveries, from whatever was read last; nil = nothing
	Chain    *engine.Versions       // of __manifest as it was read last; nil = not read
}

// NewSession makes the session of a graph of which nothing is known yet.
func NewSession() *Session {
	s := &Session{}
	s.Info.name, s.Names.name, s.Snapshot.name, s.Branches.name, s.History.name = "info", "branch names", "snapshot", "branches", "commits"
	s.Schema.name, s.Ledger.name, s.Pending.name = "schema", "ledger", "pending records"
	return s
}

// Retarget forgets what belongs to what was looked at before.
func (s *Session) Retarget() {
	s.Info.reset()
	s.Snapshot.reset()
}

// AskInfo asks for the overview of the graph.
func (s *Session) AskInfo(e *Env) Request {
	at := e.At
	return s.Info.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.Info, error) { return ws.Info(ctx, at) })
}

// AskNames asks for the names of the branches.
func (s *Session) AskNames(e *Env) Request {
	r := s.Names.ask(e, func(ctx context.Context, ws workspace.Workspace) ([]string, error) { return ws.BranchNames(ctx) })
	r.Alone = true
	return r
}

// AskSnapshot asks for the published tables.
func (s *Session) AskSnapshot(e *Env) Request {
	at := e.At
	return s.Snapshot.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.Snapshot, error) {
		return ws.Snapshot(ctx, at)
	})
}

// AskBranches asks for the branches with details.
func (s *Session) AskBranches(e *Env) Request {
	return s.Branches.ask(e, func(ctx context.Context, ws workspace.Workspace) ([]engine.Branch, error) { return ws.Branches(ctx) })
}

// AskSchema asks for the accepted schema.
func (s *Session) AskSchema(e *Env) Request {
	return s.Schema.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.Schema, error) { return ws.Schema(ctx) })
}

// Missing asks for what the navigator shows and nobody has asked for yet.
func (s *Session) Missing(e *Env) []Request {
	var out []Request
	if s.Names.wanted(e) {
		out = append(out, s.AskNames(e))
	}
	if s.Snapshot.wanted(e) {
		out = append(out, s.AskSnapshot(e))
	}
	return out
}

// split is the common shape of a screen: a list, and the detail of the
// selected item. Wide areas show both, others the list with a preview below
// when there is room, or one of them.
type split struct {
	list    part.List
	onRight bool // the detail has the focus
	scroll  int  // first line of the detail
	shown   string
	drawn   drawn
	share   int // of a wide area that the list takes, in percent; 0 = 46
}

// InDetail implements Screen.
func (s *split) InDetail() bool { return s.onRight }

// CloseDetail implements Screen.
func (s *split) CloseDetail() { s.onRight = false }

// move handles the movement actions. It says whether the selection may have
// changed.
func (s *split) move(id action.ID, n int) bool {
	if s.onRight {
		return Scroll(&s.scroll, id)
	}
	return MoveList(&s.list, id, n)
}

// MoveList carries out an action in a list of n places, when it is one that
// moves.
func MoveList(l *part.List, id action.ID, n int) bool {
	switch id {
	case action.Down:
		l.Move(1, n)
	case action.Up:
		l.Move(-1, n)
	case action.Top:
		l.Move(-n, n)
	case action.Bottom:
		l.Move(n, n)
	case action.PageDown, action.HalfDown:
		l.Page(1, n, id == action.HalfDown)
	case action.PageUp, action.HalfUp:
		l.Page(-1, n, id == action.HalfUp)
	default:
		return false
	}
	return true
}

// Scroll carries out an action on the first line that is shown of a text, when it
// is one that moves. Who draws knows how far it goes.
func Scroll(top *int, id action.ID) bool {
	switch id {
	case action.Down:
		*top++
	case action.Up:
		*top--
	case action.Top:
		*top = 0
	case action.Bottom:
		*top = 1 << 30
	case action.PageDown, action.HalfDown:
		*top += 10
	case action.PageUp, action.HalfUp:
		*top = max(0, *top-10)
	default:
		return false
	}
	return true
}

// alone notes that only the list was drawn.
func (s *split) alone(lines []string, w int) []string {
	s.drawn = drawn{list: lines, w: w}
	return lines
}

// Room implements Divided.
func (s *split) Room() (more, less bool) { return s.drawn.more, s.drawn.less }

// shareMin is what is left to each of the two when the line between them is
// moved, in percent.
const shareMin = 20

// preview is the least height at which a narrow area shows the detail below
// the list.
const previewFrom = 18

// render composes list and detail. key names what the detail shows: when it
// changes, the detail begins at its top again.
func (s *split) render(e *Env, a Area, key string, list func(w, h int, focused bool) []string, detail func(w int) *part.Doc) []string {
	if key != s.shown {
		s.shown, s.scroll = key, 0
	}
	t := e.Theme
	s.drawn = drawn{}
	draw := func(w, h int, focused bool) []string {
		s.drawn.list, s.drawn.w = list(w, h, focused), w
		return s.drawn.list
	}
	switch {
	case s.onRight && (e.Wide || !a.Wide):
		return detail(a.W).Window(a.H, &s.scroll)
	case a.Wide && !e.Wide:
		share := s.share
		if share == 0 {
			share = 46
		}
		share = min(max(shareMin, share+a.Shift), 100-shareMin)
		s.drawn.more, s.drawn.less = share < 100-shareMin, share > shareMin
		lw := a.W * share / 100
		rw := a.W - lw - 1
		s.drawn.right = lw + 1
		return part.Beside(t, draw(lw, a.H, !s.onRight && !a.Aside), detail(rw).Window(a.H, &s.scroll))
	case a.H < previewFrom || e.Wide:
		return draw(a.W, a.H, !a.Aside)
	}
	doc := detail(a.W)
	least := a.H * shareMin / 100
	most := min(doc.Len(), a.H-1-least)
	below := min(doc.Len(), a.H*2/5)
	if a.Shift != 0 {
		below = min(most, max(least, below-a.H*a.Shift/100))
	}
	if below == 0 {
		return draw(a.W, a.H, true)
	}
	lines := draw(a.W, a.H-below-1, !a.Aside)
	// What a short list leaves empty is the detail's.
	more := min(blankTail(lines), doc.Len()-below)
	s.drawn.more, s.drawn.less = below > least && blankTail(lines) == 0, below+more < most
	lines, below = lines[:len(lines)-more], below+more
	s.drawn.list = lines
	top := 0
	return append(append(lines[:len(lines):len(lines)], part.Rule(t, "", a.W)), doc.Window(below, &top)...)
}

// blankTail counts the lines at the end in which nothing stands.
func blankTail(lines []string) int {
	n := 0
	for n < len(lines) && blankLine(lines[len(lines)-1-n]) {
		n++
	}
	return n
}
