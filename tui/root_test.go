package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
		b.shows(" at …451383")
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
		b.shows("nothing is marked yet")
		b.keys("=")
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

func TestExportWritesWholeFilesOnly(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "commits.ndjson")
	on(t, Options{Screen: "commits"}, func(b *bench, _ *fake.Workspace) {
		export := func(name string) {
			b.keys("e", "ctrl+u")
			b.send(tea.PasteMsg{Content: name})
			b.keys("enter")
			b.drain()
		}
		export(file)
		b.shows("wrote ", "60 rows")
		text, err := os.ReadFile(file)
		if err != nil || strings.Count(string(text), "\n") != 60 {
			t.Fatalf("the file has %d lines, %v", strings.Count(string(text), "\n"), err)
		}
		if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		export(file)
		b.shows("overwrite a file", "is there already")
		b.send(tea.PasteMsg{Content: file}) // too early: meant for something else
		b.clock = b.clock.Add(time.Second)
		b.keys("x", "enter")
		b.shows("it stays")
		b.keys("ctrl+u")
		b.send(tea.PasteMsg{Content: file})
		b.keys("enter")
		b.drain()
		if text, _ := os.ReadFile(file); len(text) < 100 {
			t.Errorf("typing the name again does not overwrite: %q", text)
		}
		export(filepath.Join(dir, "no", "folder"))
		b.shows("nothing was left there") // however long the sentence is
		export(dir)
		b.shows("it is a folder")
		b.keys("e")
		b.typeIn("x")
		b.keys("esc", "e")
		b.shows("commits.ndjsonx")
		b.keys("esc")
		names, err := os.ReadDir(dir)
		if err != nil || len(names) != 1 {
			t.Errorf("left in the folder: %v, %v", names, err)
		}
	})
}

func TestPaletteFindsAndActs(t *testing.T) {
	on(t, Options{Screen: "commits"}, func(b *bench, ws *fake.Workspace) {
		b.keys("2", "4", "1", "p")
		b.shows("palette", "copy")
		b.typeIn("portrows")
		b.keys("enter")
		if b.place() != "node:Port/rows" {
			t.Errorf("node:Port rows in the palette leads to %s", b.place())
		}
		id := ws.Log[17].ID
		b.keys("ctrl+p")
		b.typeIn(strings.ToLower(id[len(id)-6:]))
		b.shows("commit")
		b.keys("enter")
		if b.place() != "commits" {
			t.Fatalf("a commit in the palette leads to %s", b.place())
		}
		b.shows("commit " + id)
		b.keys("p")
		b.typeIn("reviewports")
		b.keys("enter")
		if b.env.At.Branch != "review/ports" {
			t.Errorf("a branch in the palette shows %v", b.env.At)
		}
		b.keys("p")
		b.typeIn("unlock")
		b.keys("enter")
		b.shows("allow writing")
		b.keys("esc", "p")
		b.typeIn("zzzzzzqqq")
		b.shows("nothing that is loaded is called that")
		b.keys("esc")
	})
}

func TestCommandLine(t *testing.T) {
	on(t, Options{}, func(b *bench, ws *fake.Workspace) {
		b.keys("4", "1")
		run := func(line string) {
			b.keys(":", "ctrl+u")
			b.typeIn(line)
			b.keys("enter")
			b.drain()
		}
		for line, place := range map[string]string{
			"info": "overview", "commits": "commits", "log": "commits", "snapshot": "tables", "branches": "branches", "versions": "versions",
			"fragments Port": "node:Port/fragments", "indexes node:Port": "node:Port/indexes", "rows Vessel": "node:Vessel/rows",
			"schema Port": "node:Port/schema", "versions edge:CallsAt": "edge:CallsAt/versions", "neighbors Port 'a b'": "node:Port/rows/a b",
			"omnideck find NLRTM": "find/NLRTM", ":diff main review/ports": "diff/main..review/ports",
			`rows Port --where "tonnage > 9"`: "node:Port/rows", "holds Port 40": "node:Port/versions",
		} {
			run(line)
			if b.place() != place || len(b.overlays) > 0 {
				t.Errorf("%s leads to %s with %d overlays, want %s", line, b.place(), len(b.overlays), place)
				b.overlays = nil
			}
		}
		for line, want := range map[string]string{
			"fragmnts": "did you mean fragments?", "rows": "expected rows TYPE", "rows Ports": "there is no type Ports",
			"rows port": "did you mean node:Port?", "theme pink": `found "pink"`, "holds Port x": "expected the number of a version",
			"at": "expected at COMMIT", "info now": "takes no word behind it", "rows Port --where": "no condition behind --where",
		} {
			b.keys(":", "ctrl+u")
			b.typeIn(line)
			b.keys("enter")
			b.shows(want)
			if c, ok := b.overlays[0].(*command); !ok || c.field.String() != line {
				t.Errorf("%s: the text is not kept", line)
			}
			b.keys("esc")
		}
		run("theme contrast")
		if b.env.Theme.Name != "contrast" {
			t.Errorf("the theme is %s", b.env.Theme.Name)
		}
		run("mouse")
		if !b.mouse {
			t.Error(":mouse does not take the mouse")
		}
		run("meter-drawer")
		if !b.drawer.open {
			t.Error("the name of an action is no verb")
		}
		ws.Set("ResolveAt", fake.Step{Err: errors.New("no commit ends in XYZ")})
		b.keys(":", "ctrl+u")
		b.typeIn("at XYZ")
		b.keys("enter")
		b.drain()
		b.shows("no commit ends in XYZ")
		b.keys("esc", ":")
		b.shows("at XYZ") // the draft
		b.keys("ctrl+u", "up")
		b.shows("at XYZ")
		b.keys("up")
		b.shows("meter-drawer")
		b.keys("up", "down", "down", "esc")
		b.keys(":", "ctrl+u")
		b.typeIn("fragments nod")
		b.keys("tab")
		if c := b.overlays[0].(*command); !strings.HasPrefix(c.field.String(), "fragments node:") {
			t.Errorf("tab makes %q", c.field.String())
		}
	})
}

func TestUnlockAsksForTheName(t *testing.T) {
	on(t, Options{}, func(b *bench, ws *fake.Workspace) {
		if !b.env.Locked {
			t.Fatal("a remote graph is not locked")
		}
		b.shows(" RO ")
		b.keys("U")
		b.shows("allow writing", "No action of this release writes", "pending")
		b.typeIn("harbor.omni") // in the first moments: swallowed
		b.keys("enter")
		b.send(tea.PasteMsg{Content: "harbor.omni"})
		if !b.env.Locked || b.overlays[0].(*confirm).field.String() != "" {
			t.Fatal("keys of the first moments were taken")
		}
		b.clock = b.clock.Add(wait)
		b.typeIn("harbor")
		b.keys("enter")
		b.shows("it stays locked")
		b.typeIn(".omni")
		b.keys("enter")
		if b.env.Locked {
			t.Fatal("the name does not unlock it")
		}
		b.shows(" RW ")
		b.keys("U")
		if !b.env.Locked {
			t.Error("U again does not lock it")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		ws.IsRemote = false
		b := newBench(t, ws, Options{URI: ws.Address}, 100, 30)
		b.drain()
		b.keys("U")
		b.shows("never locked")
		if b.env.Locked || len(b.overlays) > 0 {
			t.Error("a graph on this machine is locked")
		}
		b.stop()
	})
}

func TestFollowReadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		l := start(t, Options{URI: ws.Address, Open: opens(ws), Screen: "branches"}, 100, 30)
		l.Wait(time.Second)
		l.Key("R")
		l.Wait(16 * time.Second)
		l.has(t, "follow 5 s")
		if n := ws.Asked("Branches"); n != 5 {
			t.Errorf("the branches were read %d times in 16 s, want 5: once, at R, and every 5 s", n)
		}
		l.Key("R")
		n := ws.Asked("Branches")
		l.Wait(time.Minute)
		if got := ws.Asked("Branches"); got != n {
			t.Errorf("read %d times more after following ended", got-n)
		}
		l.close(t)
	})
}

func TestMouseSelects(t *testing.T) {
	on(t, Options{Screen: "branches", Mouse: true}, func(b *bench, _ *fake.Workspace) {
		b.draw()
		lines := strings.Split(text(b.draw()), "\n")
		y := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "▸") })
		b.send(tea.MouseClickMsg{X: 5, Y: y + 2, Button: tea.MouseLeft})
		lines = strings.Split(text(b.draw()), "\n")
		if !strings.HasPrefix(lines[y+2], "▸") {
			t.Errorf("a click selects nothing:\n%s", strings.Join(lines, "\n"))
		}
		b.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
		if lines = strings.Split(text(b.draw()), "\n"); !strings.HasPrefix(lines[y], "▸") {
			t.Error("the wheel does not move")
		}
		b.send(tea.MouseClickMsg{X: 80, Y: y, Button: tea.MouseLeft})
		if !b.top().screen.InDetail() {
			t.Error("a click on the detail does not focus it")
		}
		for y := range 30 {
			b.send(tea.MouseClickMsg{X: y * 3, Y: y, Button: tea.MouseLeft})
			b.draw()
		}
		b.keys("4", "enter")
		tabs := strings.Split(text(b.draw()), "\n")[3]
		x := len([]rune(tabs[:strings.Index(tabs, "indexes")]))
		b.send(tea.MouseClickMsg{X: x + 1, Y: 3, Button: tea.MouseLeft})
		b.drain()
		if !strings.HasSuffix(b.place(), "/indexes") {
			t.Errorf("a click on a tab leads to %s", b.place())
		}
	})
}

func TestUserKeysAreShownAndMeant(t *testing.T) {
	keys, err := action.Read([]byte("[keys]\nreload = [\"ctrl+r\"]\nfind = []\n"))
	if err != nil {
		t.Fatal(err)
	}
	on(t, Options{Keys: keys}, func(b *bench, ws *fake.Workspace) {
		n := ws.Asked("Info")
		b.keys("r", "i")
		if ws.Asked("Info") != n || len(b.overlays) > 0 {
			t.Error("keys that were taken away still do something")
		}
		b.keys("ctrl+r")
		if ws.Asked("Info") != n+1 {
			t.Error("the new key does nothing")
		}
		b.keys("?")
		b.typeIn("reload")
		b.shows("^r")
		b.keys("esc")
		b.typeIn("find an")
		b.shows(":find")
		b.keys("esc", "esc")
	})
}

func TestHelpIsSearched(t *testing.T) {
	on(t, Options{}, func(b *bench, _ *fake.Workspace) {
		b.keys("?")
		b.shows("everywhere", "typing narrows")
		b.typeIn("palette")
		b.shows("^p p")
		b.lacks("j down")
		b.keys("esc")
		b.shows("j down")
		b.keys("?")
		b.lacks("typing narrows")
		b.keys("?")
		b.typeIn("palette")
		b.send(tea.KeyPressMsg{Code: tea.KeyEscape, Mod: tea.ModAlt})
		b.lacks("typing narrows")
	})
}

// memory keeps states as cli does.
type memory struct{ states map[string][]byte }

func (s *memory) load(graph string) ([]byte, error) { return s.states[graph], nil }
func (s *memory) save(graph string, state []byte) error {
	s.states[graph] = state
	return nil
}

func TestStateOutlivesTheProgram(t *testing.T) {
	mem := &memory{map[string][]byte{}}
	run := func(screen string, test func(l *live)) {
		synctest.Test(t, func(t *testing.T) {
			ws := fake.Harbor()
			l := start(t, Options{URI: ws.Address, Open: opens(ws), Screen: screen, LoadState: mem.load, SaveState: mem.save}, 100, 30)
			l.Wait(time.Second)
			test(l)
			l.close(t)
		})
	}
	run("", func(l *live) {
		l.Key("2", "j", "j", "w", ":", "l", "o", "g", "enter", "4", "j", "enter", ":", "a", "t", "esc")
		l.Wait(4 * time.Second)
		if len(mem.states) != 1 {
			t.Fatalf("%d states were kept after a few seconds", len(mem.states))
		}
		l.Key("G")
	})
	if text := string(mem.states[fake.Harbor().Address]); strings.Contains(text, "secret") || !strings.Contains(text, `"commands":["log"]`) {
		t.Errorf("kept: %s", text)
	}
	run("", func(l *live) {
		if len(l.m.stack) != 2 || !l.m.env.Wide || !slices.Equal(l.m.commands, []string{"log"}) || l.m.drafts["command"] != "at" {
			t.Errorf("restored: %d screens, wide %v, %q, %q", len(l.m.stack), l.m.env.Wide, l.m.commands, l.m.drafts)
		}
		l.Key("2")
		l.Wait(time.Second)
		if at, _, _ := l.m.top().screen.(interface {
			Keep() json.RawMessage
		}).Keep(), 0, 0; !strings.Contains(string(at), "key") {
			t.Errorf("the branches were not restored: %s", at)
		}
	})
	run("commits", func(l *live) {
		if l.m.top().screen.Place() != "commits" {
			t.Errorf("a screen that was named is not shown, but %s", l.m.top().screen.Place())
		}
	})
	mem.states[fake.Harbor().Address] = []byte(`{"place": 3`)
	run("", func(l *live) {
		l.has(t, "is ignored", "overview")
	})
}

func TestASlowStateHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		slow := func(string) ([]byte, error) { time.Sleep(time.Minute); return []byte(`{"place":"commits"}`), nil }
		saved := 0
		save := func(string, []byte) error { saved++; return nil }
		l := start(t, Options{URI: ws.Address, Open: opens(ws), LoadState: slow, SaveState: save}, 80, 24)
		l.Wait(time.Second)
		l.has(t, "overview", "types")
		l.Key("2")
		l.Wait(5 * time.Second)
		if saved != 0 {
			t.Error("a state that was never read was written over")
		}
		l.Wait(2 * time.Minute)
		if l.m.top().screen.Place() != "branches" {
			t.Errorf("a late state moved one to %s", l.m.top().screen.Place())
		}
		l.close(t)
	})
}

func TestStrippedAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"/srv/a?b": "/srv/a?b", "demo:": "demo:", "s3://b/g.omni": "s3://b/g.omni",
		"s3://id:secret@b/g.omni?x=1#y": "s3://b/g.omni", "s3://%zz": "",
	} {
		if got := stripped(in); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
	if got := scrubbed("diff s3://a:b@c/d main"); got != "diff s3://c/d main" {
		t.Errorf("scrubbed: %s", got)
	}
}

// TestPasteOfAMegabyte: whatever stands on top, a paste is taken in no time
// and breaks no frame, at sizes that leave room for nothing too.
func TestPasteOfAMegabyte(t *testing.T) {
	t.Chdir(t.TempDir()) // keys may export
	big := strings.Repeat("all of it \x1b[31m日本 ", 1<<16)
	for _, open := range [][]string{nil, {"/"}, {":"}, {"p"}, {"?"}, {"U"}, {"i"}, {"o"}, {"y"}, {"e"}} {
		on(t, Options{Screen: "commits"}, func(b *bench, _ *fake.Workspace) {
			b.keys(open...)
			b.clock = b.clock.Add(time.Second)
			begin := time.Now()
			b.send(tea.PasteMsg{Content: big})
			for _, size := range [][2]int{{40, 10}, {60, 15}, {80, 24}, {1, 1}, {200, 60}} {
				b.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				lines := b.draw()
				if len(lines) != size[1] {
					t.Fatalf("%v: %d lines at %v", open, len(lines), size)
				}
				check(t, lines, size[0], size[1])
			}
			_ = begin
			b.keys("enter")
			b.drain()
			b.draw()
		})
	}
}

// TestPaletteOpensAtOnce with a million commits loaded.
func TestPaletteOpensAtOnce(t *testing.T) {
	ws := million()
	var b *bench
	synctest.Test(t, func(t *testing.T) {
		b = newBench(t, ws, Options{URI: ws.Address, Screen: "commits", Theme: "ansi16"}, 200, 60)
		b.drain()
		b.keys("G")
		b.stop()
	})
	best := map[string]time.Duration{}
	for range 20 {
		for _, k := range []string{"ctrl+p", "0", "1", "x", "backspace", "esc"} {
			begin := time.Now()
			b.Update(press(k))
			_ = b.View()
			if d := time.Since(begin); best[k] == 0 || d < best[k] {
				best[k] = d
			}
		}
	}
	t.Logf("a key in the palette with a million commits, to the finished frame: %v", best)
	for k, d := range best {
		if d > 16*time.Millisecond {
			t.Errorf("%s takes %v at best, the budget is 16 ms", k, d)
		}
	}
}

func TestKeysWhileOpening(t *testing.T) {
	t.Chdir(t.TempDir()) // keys may export
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil, Options{URI: "s3://acme/harbor.omni"}, 80, 24)
		for _, k := range keyNames() {
			b.send(press(k))
			for _, o := range b.overlays {
				_ = o
				b.send(press("enter"))
			}
			if lines := b.draw(); len(lines) != b.h || b.crash != nil {
				t.Fatalf("%s while the graph is opened: %d lines, crash %v", k, len(lines), b.crash)
			}
			b.overlays = nil
		}
		b.stop()
	})
}

func ExampleOptions_keys() {
	_, err := action.Read([]byte("[keys]\nsort = [\"y\"]\nback = []\n"))
	fmt.Println(err)
	// Output:
	// binding the keys: action back (go back) has no key any more, and it is a way out: give it one
	// binding the keys: on picker the key y means sort and copy
}

// TestOverlaysAtEverySize: with names that are long and wide, whatever stands
// above the screens leaves every frame whole.
func TestOverlaysAtEverySize(t *testing.T) {
	for _, open := range [][]string{
		{"/"}, {":"}, {":", "x", "enter"}, {"p"}, {"p", "v", "e"}, {"?"}, {"?", "c"}, {"U"}, {"i"}, {"o"}, {"y"}, {"e"}, {"z"}, {"w"}, {"="},
	} {
		synctest.Test(t, func(t *testing.T) {
			ws := wideNames()
			ws.IsRemote = true
			b := newBench(t, ws, Options{URI: ws.Address, Screen: "branches"}, 100, 30)
			b.drain()
			b.keys("4", "3", "2")
			b.keys(open...)
			for w := 20; w <= 220; w += 3 {
				for k := range 3 {
					b.w, b.h = w, 5+(w*7+k*23)%66
					check(t, b.draw(), b.w, b.h)
				}
				if t.Failed() {
					t.Fatalf("%v at %dx%d:\n%s", open, b.w, b.h, text(b.draw()))
				}
			}
			b.stop()
		})
	}
}
