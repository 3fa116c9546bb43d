package screen

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/workspace"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// stage is a screen over a workspace, without a root: its questions are
// answered at once.
type stage struct {
	t  *testing.T
	e  *Env
	ws *fake.Workspace
	s  Screen
}

func onStage(t *testing.T, ws *fake.Workspace, s Screen) *stage {
	t.Helper()
	e := env(t)
	e.Now, e.URI, e.Address = fake.Epoch, ws.Address, ws.Address
	e.Keys = action.Default()
	ws.Script = map[string]fake.Step{"": {}}
	st := &stage{t, e, ws, s}
	st.answer(s.Start(e))
	return st
}

// answer runs requests, and what comes of them.
func (st *stage) answer(reqs []Request) {
	for n := 0; len(reqs) > 0; n++ {
		if n > 8 {
			st.t.Fatal("the screen never stops asking")
		}
		for _, r := range reqs {
			var ws workspace.Workspace = st.ws
			if r.Local() {
				ws = nil
			}
			v, err := r.Run(context.Background(), ws)
			r.Pane.Settle(r.Target, r.Gen, v, err, st.e.Now)
		}
		reqs = st.s.Start(st.e)
	}
}

// press carries out actions; a screen that is gone to is looked at.
func (st *stage) press(ids ...action.ID) *stage {
	for _, id := range ids {
		eff := st.s.Do(st.e, id)
		if eff.Push != nil {
			st.s = eff.Push
			eff.Ask = append(eff.Ask, st.s.Start(st.e)...)
		}
		st.answer(eff.Ask)
	}
	return st
}

func (st *stage) filter(text string) *stage {
	eff := st.s.(Filterer).SetFilter(st.e, text)
	if eff.Note != "" {
		st.t.Fatal(eff.Note)
	}
	st.answer(eff.Ask)
	return st
}

func (st *stage) sort(column string, desc bool) *stage {
	s := st.s.(Sorter)
	for i, c := range s.SortColumns(st.e) {
		if c == column {
			st.answer(s.SetSort(st.e, i, desc).Ask)
			return st
		}
	}
	st.t.Fatalf("nothing is ordered by %s", column)
	return st
}

// draw is the screen as text, after it was checked to be exactly as large as
// its area.
func (st *stage) draw(w, h int) string {
	st.t.Helper()
	lines := st.s.Render(st.e, Area{W: w, H: h, Wide: w >= 100})
	ok := len(lines) == h
	for _, l := range lines {
		ok = ok && ansi.StringWidth(l) == w && ansi.StringWidthWc(l) == w
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(ansi.Strip(l), " ") + "\n")
	}
	if !ok {
		st.t.Fatalf("%s at %dx%d is not %d lines of %d cells:\n%s", st.s.Title(), w, h, h, w, b.String())
	}
	return b.String()
}

// A list leaves no line empty that its detail could fill.
func TestShortListsLeaveTheirRoomToTheDetail(t *testing.T) {
	for _, sc := range scenes {
		t.Run(sc.name, func(t *testing.T) {
			above, below, ok := strings.Cut(sc.make(t).draw(80, 21), "\n"+strings.Repeat("─", 80))
			if ok && strings.HasSuffix(above, "\n") && strings.Contains(below, "lines more") {
				t.Errorf("the list ends with an empty line, the detail is cut:\n%s%s", above, below)
			}
		})
	}
}

var errStore = errors.New("the store could not be reached: dial tcp 10.0.0.7:443: connection refused")

// scenes are the list screens in the states that they can be in.
var scenes = []struct {
	name string
	make func(*testing.T) *stage
}{
	{"commits", func(t *testing.T) *stage {
		return onStage(t, fake.Harbor(), NewCommits()).press(action.Down, action.Down)
	}},
	{"commits-filter", func(t *testing.T) *stage {
		return onStage(t, fake.Harbor(), NewCommits()).filter("actor:bot branch:review rows:>10")
	}},
	{"commits-no-match", func(t *testing.T) *stage { return onStage(t, fake.Harbor(), NewCommits()).filter("nobody") }},
	{"commits-sorted", func(t *testing.T) *stage { return onStage(t, fake.Harbor(), NewCommits()).sort("rows", true) }},
	{"commits-first-parents", func(t *testing.T) *stage { return onStage(t, fake.Harbor(), NewCommits()).press(action.FirstLine) }},
	{"commits-travelling", func(t *testing.T) *stage {
		st := onStage(t, fake.Harbor(), NewCommits()).press(action.Down)
		st.e.At, _, _ = st.s.(Traveller).Destination(st.e)
		st.press(action.Down, action.Down)
		st.e.Pinned = st.s.(Pinner).Pin(st.e)
		return st
	}},
	{"branches-filter", func(t *testing.T) *stage {
		return onStage(t, fake.Harbor(), NewBranches()).filter("parent:main").sort("ahead", true)
	}},
	{"tables-layouts", func(t *testing.T) *stage {
		return onStage(t, fake.Harbor(), NewTables()).press(action.Layouts, action.Down)
	}},
	{"tables-sorted", func(t *testing.T) *stage {
		return onStage(t, fake.Harbor(), NewTables()).filter("node:").sort("rows", true)
	}},
	{"chain", func(t *testing.T) *stage { return onStage(t, fake.Harbor(), NewTable("node:Port").Show("versions")) }},
	{"chain-held", func(t *testing.T) *stage {
		return onStage(t, fake.Harbor(), NewVersions(manifestTable)).filter("!held:nothing")
	}},
	{"chain-error", func(t *testing.T) *stage {
		st := onStage(t, fake.Harbor(), NewVersions(manifestTable))
		st.ws.Script = map[string]fake.Step{"Versions": {Err: errStore}}
		st.answer(st.s.Reload(st.e))
		return st
	}},
	{"object", func(t *testing.T) *stage {
		return onStage(t, fake.Harbor(), NewVersions(manifestTable)).press(action.Raw)
	}},
	{"object-error", func(t *testing.T) *stage {
		st := onStage(t, fake.Harbor(), NewVersions(manifestTable))
		st.ws.Script = map[string]fake.Step{"Object": {Err: errStore}}
		return st.press(action.Raw)
	}},
	{"schema", func(t *testing.T) *stage { return onStage(t, fake.Harbor(), NewTable("node:Port").Show("schema")) }},
	{"schema-edge", func(t *testing.T) *stage {
		return onStage(t, fake.Harbor(), NewTable("edge:CallsAt").Show("schema")).press(action.Down)
	}},
	{"schema-unknown", func(t *testing.T) *stage { return onStage(t, fake.Harbor(), NewTable("node:Gone").Show("schema")) }},
	{"schema-damaged", func(t *testing.T) *stage {
		ws := fake.Harbor()
		ws.Contract = &engine.Schema{Source: "node Port {", Finding: &engine.Finding{
			ID: "G5", Severity: engine.SeverityError, Title: "_schema.ir.json does not fit _schema.pg", Trust: "the rows", Evidence: []engine.Evidence{{Key: "_schema.ir.json", Fact: "hash differs"}}}}
		return onStage(t, ws, NewTable("node:Port").Show("schema"))
	}},
	{"schema-error", func(t *testing.T) *stage {
		st := onStage(t, fake.Harbor(), NewTables())
		st.ws.Script = map[string]fake.Step{"Schema": {Err: errStore}}
		st.s = NewTable("node:Port").Show("schema")
		st.answer(st.s.Start(st.e))
		return st
	}},
	{"fragments-filter", func(t *testing.T) *stage {
		return onStage(t, fake.Harbor(), NewTable("node:Port")).filter("deleted:>0").sort("bytes", true)
	}},
	{"indexes", func(t *testing.T) *stage { return onStage(t, fake.Harbor(), NewTable("node:Port").Show("indexes")) }},
	{"indexes-none", func(t *testing.T) *stage { return onStage(t, fake.Harbor(), NewTable("node:Vessel").Show("indexes")) }},
	{"indexes-loading", func(t *testing.T) *stage {
		st := onStage(t, fake.Harbor(), NewTables())
		st.s = NewTable("node:Port").Show("indexes")
		st.s.Start(st.e)
		return st
	}},
	{"finding", func(t *testing.T) *stage {
		return onStage(t, fake.Harbor(), NewFinding(fake.Harbor().InfoAnswer.Findings[0]))
	}},
	{"picker", func(t *testing.T) *stage { return onStage(t, fake.Harbor(), NewPicker(someRecents)).filter("s3") }},
}

func someRecents(context.Context) ([]Recent, error) {
	return []Recent{
		{URI: "s3://acme-graphs/harbor.omni", Last: fake.Epoch.Add(-1e12)}, {URI: "/srv/graphs/new.omni", Last: fake.Epoch.Add(-1e14)},
		{URI: "s3://gone/\x1b[31mred", Last: fake.Epoch}, {URI: "mem:x"},
	}, nil
}

func TestScenes(t *testing.T) {
	for _, sc := range scenes {
		for _, size := range [][2]int{{80, 21}, {120, 34}, {171, 54}} {
			t.Run(fmt.Sprintf("%s/%dx%d", sc.name, size[0], size[1]), func(t *testing.T) {
				golden.RequireEqual(t, []byte(sc.make(t).draw(size[0], size[1])))
			})
		}
	}
}

// TestScenesFitEveryArea: whatever the size, a screen is as large as its area,
// in list and in detail.
func TestScenesFitEveryArea(t *testing.T) {
	for _, sc := range scenes {
		st := sc.make(t)
		for w := 20; w <= 220; w += pace.Of(3, 42) {
			for k := range 2 {
				st.draw(w, 2+(w*7+k*31)%64)
			}
			if w%9 == 2 {
				st.s.Do(st.e, action.Flip)
				st.s.Do(st.e, action.Down)
			}
		}
	}
}

// TestEveryListOffersTheSame: each list screen can be narrowed, ordered,
// copied from, exported and kept.
func TestEveryListOffersTheSame(t *testing.T) {
	for _, sc := range scenes {
		st := sc.make(t)
		switch st.s.(type) {
		case *page, *Object:
			continue
		case *Picker:
		default:
			if x, ok := st.s.(Exporter); !ok || x.Exports(st.e) == nil && st.s.Context(st.e).Items > 0 {
				t.Errorf("%s exports nothing", sc.name)
			}
		}
		for what, ok := range map[string]bool{"narrowed": is[Filterer](st.s), "ordered": is[Sorter](st.s), "copied from": is[Copier](st.s), "kept": is[Keeper](st.s)} {
			if !ok {
				t.Errorf("%s cannot be %s", sc.name, what)
			}
		}
		for _, c := range st.s.(Copier).Copies(st.e) {
			if c.Label == "" || c.Text == "" {
				t.Errorf("%s: an empty copy %q %q", sc.name, c.Label, c.Text)
			}
		}
	}
}

func is[T any](s Screen) bool { _, ok := s.(T); return ok }

// TestMovedKeysAreNamed: a text names the key that the user chose.
func TestMovedKeysAreNamed(t *testing.T) {
	st := onStage(t, fake.Harbor(), NewTables())
	keys, err := action.Bind(action.User{action.Layouts: {"Y"}})
	if err != nil {
		t.Fatal(err)
	}
	st.e.Keys = keys
	if got := st.draw(120, 34); !strings.Contains(got, "Y reads how all tables lie on disk") {
		t.Errorf("the key that was moved is not named:\n%s", got)
	}
}

// TestTheTextOfATypeIsItsOwn finds types whose names begin alike, in one line
// or many.
func TestTheTextOfATypeIsItsOwn(t *testing.T) {
	source := "node Portal { a: String }\nnode Port {\n  b: String\n}\nedge Port: Port -> Portal @card(0..1)\nedge Ports: Port -> Port {\n}\n"
	for _, c := range []struct{ kind, name, want string }{
		{"node", "Port", "node Port {|  b: String|}"}, {"node", "Portal", "node Portal { a: String }"},
		{"edge", "Port", "edge Port: Port -> Portal @card(0..1)"}, {"edge", "Ports", "edge Ports: Port -> Port {|}"}, {"node", "Gone", ""},
	} {
		if got := strings.Join(sourceOf(source, c.kind, c.name), "|"); got != c.want {
			t.Errorf("%s %s is %q, want %q", c.kind, c.name, got, c.want)
		}
	}
}

// TestVersionsTravelWhereTheyWerePublished: a version of a table leads to the
// commit that published it, and to nowhere when none is known.
func TestVersionsTravelWhereTheyWerePublished(t *testing.T) {
	st := onStage(t, fake.Harbor(), NewTable("node:Port").Show("versions"))
	tr := st.s.(Traveller)
	if _, _, ok := tr.Destination(st.e); ok {
		t.Error("no commit is known, and yet there is somewhere to go")
	}
	st.answer([]Request{st.e.Data.AskHistory(st.e, 0)})
	at, name, ok := tr.Destination(st.e)
	h, _ := st.e.Data.History.Get()
	var want *engine.LogEntry
	for i := range h.Len() {
		en := h.Entry(i)
		for _, c := range en.Changed {
			if c.Table == "node:Port" && c.ToVersion == 44 && en.BranchName() == "main" {
				want = &en
			}
		}
	}
	if want == nil {
		t.Fatal("the sample has no commit that publishes v44")
	}
	if !ok || at.Commit != want.ID || !strings.Contains(name, part.Short(want.ID, st.e.Theme.Glyph)) {
		t.Errorf("v44 leads to %v %q, want %s", at, name, want.ID)
	}
}

func TestCommandsAreSpelledForAShell(t *testing.T) {
	got := shell.Line("rows", "s3://b/a graph", "node:Port", "--where", "name = 'x'", "")
	want := `omnideck rows 's3://b/a graph' node:Port --where 'name = '\''x'\''' ''`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestACancelledFilterIsSaidAndAskedAgain: a long list that is being arranged
// can be cancelled; nothing is shown as if it matched, and coming back looks
// again.
func TestACancelledFilterIsSaidAndAskedAgain(t *testing.T) {
	ws := fake.Harbor()
	ws.Log = longHistory(inUpdate + 1)
	st := onStage(t, ws, NewCommits())
	st.answer([]Request{st.e.Data.AskHistory(st.e, 0)})
	c := st.s.(*Commits)
	asked := c.SetFilter(st.e, "actor:nobody").Ask
	if got := st.draw(120, 34); len(asked) != 1 || !strings.Contains(got, "looking for /actor:nobody") || !strings.Contains(got, "loading") {
		t.Errorf("while it is looked for:\n%s", got)
	}
	for _, p := range c.Panes(st.e) {
		p.Abandon()
	}
	if v, err := asked[0].Run(t.Context(), nil); asked[0].Pane.Settle(asked[0].Target, asked[0].Gen, v, err, st.e.Now) {
		t.Error("the answer was taken after the question was given up")
	}
	st.answer(c.Start(st.e))
	if got := st.draw(120, 34); !strings.Contains(got, "0 of 5001 match") || !strings.Contains(got, "nothing matches") {
		t.Errorf("after coming back:\n%s", got)
	}
	st.answer([]Request{st.e.Data.AskHistory(st.e, 0)})
	if got := st.draw(120, 34); !strings.Contains(got, "0 of 5001 match") {
		t.Errorf("after a reload:\n%s", got)
	}
}

// TestSelectionOutlivesAReload: the selected commit stays selected when newer
// ones come, in the whole list and in a narrowed one.
func TestSelectionOutlivesAReload(t *testing.T) {
	for _, filter := range []string{"", "node:Port"} {
		ws := fake.Harbor()
		newer := ws.Log
		ws.Log = newer[5:]
		st := onStage(t, ws, NewCommits()).filter(filter).press(action.Down, action.Down)
		_, was, _ := st.s.(*Commits).entry(st.e)
		ws.Log = newer
		st.answer(st.s.Reload(st.e))
		if _, now, _ := st.s.(*Commits).entry(st.e); now == nil || now.ID != was.ID {
			t.Errorf("/%s: %v is selected, %s was", filter, now, was.ID)
		}
	}
}

// TestATabThatIsLeftAsksAgain: what only the tab before was waiting for is
// given up; what both wait for is not.
func TestATabThatIsLeftAsksAgain(t *testing.T) {
	st := onStage(t, fake.Harbor(), NewTables())
	s := NewTable("node:Port").Show("versions")
	st.s = s
	s.Start(st.e)
	versions := s.Panes(st.e)
	st.press(action.NextTab)
	for _, p := range versions {
		if p.Busy() {
			t.Errorf("%s is still waited for", p.Name())
		}
	}
	st.press(action.PrevTab)
	if got := st.draw(120, 34); !strings.Contains(got, "held by") {
		t.Errorf("the versions did not come when they were come back to:\n%s", got)
	}
	other := NewTable("node:Port").Show("versions")
	st.filter("operation:Append").press(action.Down)
	kept := s.Keep()
	other.Restore(kept)
	if other.Filter() != "operation:Append" {
		t.Errorf("%s gives the filter %q back", kept, other.Filter())
	}
}

// TestTheVersionThatIsLookedAtIsMarked: whether one travelled to a commit or to
// a version, and when it is marked too.
func TestTheVersionThatIsLookedAtIsMarked(t *testing.T) {
	for want, at := range map[string]engine.At{"shown": {Commit: "01X", Version: 135}, "shown, marked": {Version: 135}} {
		st := onStage(t, fake.Harbor(), NewVersions(manifestTable)).press(action.Down, action.Down)
		st.e.At = at
		if strings.Contains(want, "marked") {
			st.e.Pinned = st.s.(Pinner).Pin(st.e)
		}
		c := st.s.(*Versions)
		if got := c.marked(st.e, 135); got != want {
			t.Errorf("%+v: v135 is %q, want %q", at, got, want)
		}
		if got := c.marked(st.e, 136); got != "" {
			t.Errorf("%+v: v136 is %q", at, got)
		}
		if got := st.draw(171, 54); !strings.Contains(got, "what all screens show now") {
			t.Errorf("the detail does not say so:\n%s", got)
		}
	}
}

// The next step of a finding is a whole command line, and enter goes there.
func TestWaitingSaysWhyItTakesLong(t *testing.T) {
	e := onStage(t, fake.Harbor(), NewCommits()).e
	p := &Load[int]{name: "commits", busy: true}
	if got := strings.Join(absent(e, p, 80, 10), "\n"); strings.Contains(got, "tried again") {
		t.Errorf("nothing fails:\n%s", got)
	}
	e.Failing = "store unavailable: dial tcp 127.0.0.1:9: connect: connection refused"
	lines := absent(e, p, 60, 10)
	got := ansi.Strip(strings.Join(lines, "\n"))
	for _, want := range []string{"reading commits", "connection refused", "it is tried again, ^c gives up"} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("%q is not said:\n%s", want, got)
		}
	}
	p.since, p.at = e.Now.Add(-2*time.Second), e.Now.Add(-3*time.Minute)
	if got := ansi.Strip(title(e, 80, "commits", "", p)); !strings.HasSuffix(strings.TrimSpace(got), "3 m old · ! trying again 2.0 s") {
		t.Errorf("what is shown is old, and reading it again fails: %q", got)
	}
	e.Failing = ""
	if got := ansi.Strip(title(e, 80, "commits", "", p)); !strings.Contains(got, "3 m old") || !strings.HasSuffix(strings.TrimSpace(got), "loading 2.0 s") {
		t.Errorf("what is shown is old, and read again: %q", got)
	}
}

// What a condition is about stands beside the id, not behind the right edge.
func TestConditionColumnsComeFirst(t *testing.T) {
	page := &engine.RowPage{Columns: []string{"id", "built", "kind", "name", "tonnage"}}
	for where, want := range map[string]string{
		"":                                     "[0 1 2 3 4]",
		"tonnage > 10":                         "[0 4 1 2 3]",
		"kind = 'name' and (tonnage >= 3)":     "[0 2 4 1 3]",
		"id = 'x'":                             "[0 1 2 3 4]",
		"kind in ('built', 'it''s') and ton=1": "[0 2 1 3 4]",
	} {
		r := newRows("node:Vessel")
		r.now.where = where
		if got := fmt.Sprint(r.visible(page)); got != want {
			t.Errorf("where %s: %s, want %s", where, got, want)
		}
	}
}
