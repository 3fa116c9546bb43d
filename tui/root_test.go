package tui

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// on runs a test on a bench in a bubble, with the first screen loaded.
func on(t *testing.T, o Options, test func(b *bench, ws *fake.Workspace)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		o.URI = ws.Address
		b := newBench(t, ws, o, 100, 30)
		b.drain()
		test(b, ws)
		if b.crash != nil {
			t.Errorf("crashed: %v\n%s", b.crash.cause, b.crash.stack)
		}
		b.stop()
	})
}

// typeIn types a text, a key a character.
func (b *bench) typeIn(s string) {
	for _, r := range s {
		if r == ' ' {
			b.send(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "})
			b.drain()
			continue
		}
		b.keys(string(r))
	}
}

func (b *bench) shows(want ...string) {
	b.t.Helper()
	s := text(b.draw())
	for _, w := range want {
		if !strings.Contains(s, w) {
			b.t.Errorf("%q is not on the screen:\n%s", w, s)
		}
	}
}

func (b *bench) lacks(not ...string) {
	b.t.Helper()
	s := text(b.draw())
	for _, w := range not {
		if strings.Contains(s, w) {
			b.t.Errorf("%q is on the screen:\n%s", w, s)
		}
	}
}

func (b *bench) place() string { return b.top().screen.Place() }

func TestFilterIsLiveAndGoesWithEsc(t *testing.T) {
	on(t, Options{Screen: "branches"}, func(b *bench, ws *fake.Workspace) {
		all := len(ws.BranchList)
		b.keys("/")
		b.typeIn("review")
		b.shows("filter: words", "esc puts back what was")
		if got := b.context().Items; got == 0 || got >= all {
			t.Errorf("%d of %d branches match while one types", got, all)
		}
		b.keys("esc")
		if got := b.context().Items; got != all {
			t.Errorf("%d branches after esc, want %d", got, all)
		}
		b.keys("/")
		b.typeIn("review")
		b.keys("enter")
		b.shows("match /review")
		if !b.context().Deep {
			t.Error("a narrowed list on the first screen says that there is nothing to go back to")
		}
		b.keys("esc")
		if got := b.context().Items; got != all || b.place() != "branches" {
			t.Errorf("esc on a narrowed list: %d of %d branches on %s", got, all, b.place())
		}
		b.keys("n")
		b.lacks("nothing was looked for yet")
		b.keys("/")
		b.typeIn("~[")
		b.shows("is not a regular expression", "~[")
	})
}

func TestSortMenuTurnsRound(t *testing.T) {
	on(t, Options{Screen: "tables"}, func(b *bench, _ *fake.Workspace) {
		b.keys("o")
		b.shows("sort by", "as it comes")
		b.keys("2", "o")
		b.shows("smallest first; again: greatest first")
		b.keys("enter", "o")
		b.shows("greatest first; again: smallest first")
		b.keys("0", "o")
		b.lacks("smallest first")
		b.keys("esc")
	})
}

func TestColumnsCanBeHidden(t *testing.T) {
	on(t, Options{Screen: "node:Port/rows"}, func(b *bench, _ *fake.Workspace) {
		if why := b.env.Keys.Get(action.Columns).Why(b.context()); why != "" {
			t.Fatalf("columns of rows: %s", why)
		}
		b.keys("c")
		b.shows("columns", "space switches")
		b.keys("j", "space", "esc")
		b.lacks("space switches")
	})
}

func TestWideAndPlain(t *testing.T) {
	on(t, Options{Screen: "branches"}, func(b *bench, _ *fake.Workspace) {
		beside := func() bool { return strings.Count(text(b.draw()), "│") > 10 }
		if !beside() {
			t.Fatal("list and detail are not beside each other")
		}
		b.keys("w")
		if beside() {
			t.Error("w leaves the detail beside the list")
		}
		b.keys("tab")
		b.shows("its __manifest")
		b.keys("tab", "w")
		if !beside() {
			t.Error("w again does not bring it back")
		}
		b.mouse = true
		b.keys("z")
		if b.View().MouseMode != tea.MouseModeNone {
			t.Error("a plain pane takes the mouse")
		}
		b.lacks("─────")
		b.keys("z")
		if b.draw(); b.View().MouseMode != tea.MouseModeCellMotion {
			t.Error("the mouse is not taken again")
		}
	})
}

func TestHistoryIsABrowsers(t *testing.T) {
	on(t, Options{}, func(b *bench, _ *fake.Workspace) {
		b.keys("2", "j", "4", "j", "enter", "3", "j", "j")
		b.keys("b")
		if b.place() == "commits" || len(b.stack) != 2 {
			t.Fatalf("one back from the commits is %s", b.place())
		}
		b.keys("b", "b")
		if b.place() != "branches" {
			t.Fatalf("three back is %s", b.place())
		}
		b.keys("v", "]", "v")
		if b.place() != "commits" {
			t.Fatalf("forward again is %s", b.place())
		}
		b.keys("v")
		b.shows("this is the newest place")
		b.keys("b", "b", "5", "]")
		b.shows("this is the newest place")
		for range 2 * trailMax {
			b.keys("3", "4")
		}
		if len(b.trail) != trailMax {
			t.Errorf("%d places are remembered, want %d", len(b.trail), trailMax)
		}
	})
}

func TestHistoryGoesThroughTime(t *testing.T) {
	on(t, Options{Screen: "commits"}, func(b *bench, ws *fake.Workspace) {
		b.keys("j", "j", "t")
		if !b.env.Travelling() {
			t.Fatal("t on a commit does not travel")
		}
		there := b.env.At
		b.shows(" at ", "…451383, ")
		b.keys("4", "enter")
		b.keys("b", "b", "b")
		if b.env.Travelling() {
			t.Errorf("back before the journey, the screens show %v", b.env.At)
		}
		b.keys("v")
		if b.env.At != there {
			t.Errorf("forward into the past: %v, want %v", b.env.At, there)
		}
		b.keys(":")
		b.typeIn("now")
		b.keys("enter")
		if b.env.Travelling() {
			t.Error(":now leaves one in the past")
		}
	})
}

func TestTravelKeepsThePlace(t *testing.T) {
	on(t, Options{Screen: "tables"}, func(b *bench, ws *fake.Workspace) {
		b.keys("j", "enter", "l")
		place := b.place()
		n := ws.Asked("Fragments") + ws.Asked("Versions") + ws.Asked("Rows")
		b.keys(":")
		b.typeIn("at 120")
		b.keys("enter")
		b.drain()
		if b.place() != place || b.env.At.Commit != "120" {
			t.Errorf("at %v on %s, want 120 on %s", b.env.At, b.place(), place)
		}
		if got := ws.Asked("Fragments") + ws.Asked("Versions") + ws.Asked("Rows"); got == n {
			t.Error("what stands on the screen was not read for the other moment")
		}
	})
}

func TestMarkAndCompare(t *testing.T) {
	on(t, Options{Screen: "commits"}, func(b *bench, _ *fake.Workspace) {
		b.keys("D")
		if b.top().screen.Name() != action.OnCompare {
			t.Errorf("D with nothing marked opens %s, want what the commit changed", b.top().screen.Name())
		}
		b.keys("esc", "=")
		b.shows("marked ")
		b.keys("D")
		b.shows("this is what is marked")
		b.keys("j", "D")
		if b.top().screen.Name() != action.OnCompare {
			t.Errorf("D opens %s", b.top().screen.Name())
		}
		b.keys("esc", "k", "space")
		if b.env.Pinned != nil {
			t.Error("marking the same again does not forget it")
		}
	})
}

func TestCompareOfARowNeedsAMark(t *testing.T) {
	on(t, Options{Screen: "node:Port/rows"}, func(b *bench, _ *fake.Workspace) {
		b.keys("D")
		b.shows("nothing is marked yet; = marks this")
		b.keys("=")
		b.shows("D on another, or at another moment, compares them")
	})
}

// The end of travelling is where it began, not the branch of the commit.
func TestTravelEndsWhereItBegan(t *testing.T) {
	on(t, Options{Screen: "commits"}, func(b *bench, _ *fake.Workspace) {
		b.keys("/")
		b.typeIn("branch:review")
		b.keys("enter", "t")
		if b.env.Branch() == "main" {
			t.Fatalf("at %v, want a commit of another branch", b.env.At)
		}
		b.clock = b.clock.Add(noteLeast)
		b.keys("k")
		b.shows("t back to now")
		b.keys("j")
		b.shows("t look at it")
		b.keys("t", "t")
		if b.env.Travelling() || b.env.Branch() != "main" {
			t.Errorf("at %v, want the head of main, where one was", b.env.At)
		}
	})
}

// A sentence makes room for the keys as soon as one goes on.
func TestNoteGoesWithTheNextKey(t *testing.T) {
	on(t, Options{Screen: "commits"}, func(b *bench, _ *fake.Workspace) {
		b.keys("=", "j")
		b.shows("marked ")
		b.clock = b.clock.Add(noteLeast)
		b.keys("j")
		b.shows("? help")
	})
}

// What says that something is read stands no longer than the reading.
func TestNoteOfAQuestionGoesWithTheAnswer(t *testing.T) {
	on(t, Options{Screen: "tables"}, func(b *bench, _ *fake.Workspace) {
		b.keys("a")
		b.drain()
		if b.note != "" {
			t.Errorf("all is read, and still it says %q", b.note)
		}
	})
}

func TestCopySaysWhichWay(t *testing.T) {
	var saved string
	save := func(text []byte) (string, error) { saved = string(text); return "/cache/copied.txt", nil }
	on(t, Options{Screen: "commits", SaveCopy: save}, func(b *bench, _ *fake.Workspace) {
		b.keys("y")
		b.shows("copy", "command line", "place")
		b.keys("1")
		b.shows("to the terminal's clipboard (OSC 52) and to /cache/copied.txt")
		if len(saved) != 26 {
			t.Errorf("the id in the file is %q", saved)
		}
		b.opt.SaveCopy = func([]byte) (string, error) { return "", errors.New("disk full") }
		b.keys("y", "1")
		b.shows("could not be written:", "disk full")
	})
}

func TestCommandLinesOfPlaces(t *testing.T) {
	on(t, Options{}, func(b *bench, ws *fake.Workspace) {
		b.env.URI = "s3://key:secret@acme/harbor.omni?token=x"
		b.env.At.Branch = "review/ports"
		for place, want := range map[string]string{
			"overview":                 "omnideck info s3://acme/harbor.omni --branch review/ports",
			"commits":                  "omnideck log s3://acme/harbor.omni --graph",
			"versions":                 "omnideck versions s3://acme/harbor.omni --branch review/ports",
			"node:Port/rows":           "omnideck rows s3://acme/harbor.omni Port --branch review/ports",
			"node:Port/rows/it's here": `omnideck neighbors s3://acme/harbor.omni Port 'it'\''s here' --branch review/ports`,
			"diff/a..b":                "omnideck diff s3://acme/harbor.omni a b",
			"find/NLRTM":               "omnideck find s3://acme/harbor.omni NLRTM --branch review/ports",
		} {
			if got := b.commandLine(place); got != want {
				t.Errorf("%s: %s, want %s", place, got, want)
			}
		}
	})
}

// memory keeps states as cli does.
// TestPasteOfAMegabyte: whatever stands on top, a paste is taken in no time
// and breaks no frame, at sizes that leave room for nothing too.
// TestPaletteOpensAtOnce with a million commits loaded.
// TestOverlaysAtEverySize: with names that are long and wide, whatever stands
// above the screens leaves every frame whole.
