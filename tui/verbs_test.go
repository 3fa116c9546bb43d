package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

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

// verbPlaces are command lines and the place that they lead to; ADDRESS is the graph's.
var verbPlaces = map[string]string{
	"info": "overview", "commits": "commits", "log": "commits", "snapshot": "tables", "branches": "branches", "versions": "versions",
	"fragments Port": "node:Port/fragments", "indexes node:Port": "node:Port/indexes", "rows Vessel": "node:Vessel/rows",
	"schema Port": "node:Port/schema", "versions edge:CallsAt": "edge:CallsAt/versions", "neighbors Port 'a b'": "node:Port/rows/a b",
	"omnideck find NLRTM": "find/NLRTM", ":diff main review/ports": "diff/main..review/ports",
	"omnideck rows ADDRESS Port":      "node:Port/rows",
	`rows Port --where "tonnage > 9"`: "node:Port/rows", "holds Port 40": "node:Port/versions",
}

// badVerbs are command lines that lead nowhere, and a part of what is said of them.
var badVerbs = map[string]string{
	"fragmnts": "did you mean fragments?", "rows": "expected rows TYPE", "rows Ports": "there is no type Ports",
	"rows port": "did you mean node:Port?", "theme pink": `found "pink"`, "holds Port x": "expected the number of a version",
	`rows Port --where "tonnage > 9`: "the quote \" is not closed", "rows Port --where x": "reading the condition behind --where", "bogus": "help lists them",
	"at": "expected at COMMIT", "info now": "takes no word behind it", "rows Port --where": "no condition behind --where",
}

// enterLine writes a command line and presses enter; what it asks for is not
// answered yet.
func (b *bench) enterLine(line string) {
	b.keys(":", "ctrl+u")
	b.typeIn(line)
	b.keys("enter")
}

func TestCommandLine(t *testing.T) {
	on(t, Options{}, func(b *bench, ws *fake.Workspace) {
		b.keys("4", "1")
		run := func(line string) {
			b.enterLine(line)
			b.drain()
		}
		for line, place := range verbPlaces {
			line = strings.ReplaceAll(line, "ADDRESS", ws.Address)
			run(line)
			if b.place() != place || len(b.overlays) > 0 {
				t.Errorf("%s leads to %s with %d overlays, want %s", line, b.place(), len(b.overlays), place)
				b.overlays = nil
			}
		}
		for line, want := range badVerbs {
			b.enterLine(line)
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
		draftsAreKept(t, b, ws)
	})
}

// draftsAreKept: a line that failed is the draft of the next one, lines are found
// again with the arrows, and tab completes the name of a type.
func draftsAreKept(t *testing.T, b *bench, ws *fake.Workspace) {
	t.Helper()
	ws.Set("ResolveAt", fake.Step{Err: errors.New("no commit ends in XYZ")})
	b.enterLine("at XYZ")
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
}

// TestEveryVerbIsKept: what the help promises of a verb, with the words that
// may be left out and without them, can be carried out.
func TestEveryVerbIsKept(t *testing.T) {
	sample := strings.NewReplacer("[--where EXPR]", "--where 'tonnage > 9'", "[TABLE]", "node:Port", "TABLE", "node:Port", "TYPE", "Port", "COMMIT|VERSION|BRANCH", "main",
		"VERSION", "40", "A B", "main review/ports", "ID", "NLRTM", "NAME", "dark", "[FILE]", "")
	for _, v := range action.Verbs {
		lines := []string{v.Name + " " + sample.Replace(v.Args)}
		if required, _, optional := strings.Cut(v.Args, "["); optional {
			lines = append(lines, v.Name+" "+sample.Replace(required))
		}
		for _, line := range lines {
			on(t, Options{Screen: "tables"}, func(b *bench, _ *fake.Workspace) {
				if v.Name == "quit" {
					return // it would leave
				}
				b.env.Locked = v.Name == "unlock" // a locked graph refuses those that write
				b.keys(":")
				b.typeIn(line)
				b.keys("enter")
				b.drain()
				for _, o := range b.overlays {
					if c, ok := o.(*command); ok {
						t.Errorf(":%s: %s", line, c.said)
					}
				}
			})
		}
	}
}

// TestCommandHints: the line says what it knows, and which words may follow.
func TestCommandHints(t *testing.T) {
	on(t, Options{}, func(b *bench, _ *fake.Workspace) {
		b.keys("4", "1", ":")
		b.shows("help lists the verbs")
		b.typeIn("theme ")
		b.shows("theme NAME: ansi16, dark, light, contrast, mono")
		b.keys("ctrl+u")
		b.typeIn("rows ")
		b.shows("rows TYPE [--where EXPR]: ", "Port")
		b.keys("ctrl+u")
		b.typeIn("help")
		b.keys("enter")
		b.typeIn("filter")
		b.shows("in a filter: terms, all of which must match", "column:>100")
	})
}

// TestRefusalGoesWithTheNextKey: why a key did nothing does not hide the keys
// that do something any longer than until the next one; news stays.
func TestRefusalGoesWithTheNextKey(t *testing.T) {
	on(t, Options{}, func(b *bench, _ *fake.Workspace) {
		b.keys("esc")
		b.shows("this is the first screen")
		b.keys("j")
		b.lacks("this is the first screen")
		b.shows("? help")
		b.say("wrote a file")
		b.keys("j")
		b.shows("wrote a file")
	})
}

func TestUnlockAsksForTheName(t *testing.T) {
	on(t, Options{}, func(b *bench, ws *fake.Workspace) {
		if !b.env.Locked {
			t.Fatal("a remote graph is not locked")
		}
		b.shows(" RO ")
		b.keys("U")
		b.shows("allow writing", "Unlocking allows to write", "pending")
		b.typeIn("harbor.omni") // in the first moments: swallowed
		b.keys("enter")
		b.send(tea.PasteMsg{Content: "harbor.omni"})
		if !b.env.Locked || b.overlays[0].(*confirm).field.String() != "" {
			t.Fatal("keys of the first moments were taken")
		}
		b.clock = b.clock.Add(screen.Moment)
		b.typeIn("harbor")
		b.keys("enter")
		b.shows("it stays locked")
		b.typeIn(".omni")
		b.keys("enter")
		if b.env.Locked {
			t.Fatal("the name does not unlock it")
		}
		b.shows(" RW ", "Writing is unlocked", "1 record pending", "take 1 operation back")
		b.keys("esc", "U")
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
		b.shows("p ^p")
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

func TestPaletteOpensAtOnce(t *testing.T) {
	ws := million()
	var b *bench
	synctest.Test(t, func(t *testing.T) {
		b = newBench(t, ws, Options{URI: ws.Address, Screen: "commits", Theme: "ansi16"}, 200, 60)
		b.drain()
		b.keys("G")
		b.stop()
	})
	pace.Within(t, "the slowest key in the palette with a million commits, to the finished frame", 16*time.Millisecond, func() (worst time.Duration) {
		for _, k := range []string{"ctrl+p", "0", "1", "x", "backspace", "esc"} {
			worst = max(worst, pace.Thread(func() {
				b.Update(press(k))
				_ = b.View()
			}))
		}
		return worst
	})
}

func ExampleOptions_keys() {
	_, err := action.Read([]byte("[keys]\nsort = [\"y\"]\nback = []\n"))
	fmt.Println(err)
	// Output:
	// binding the keys: action back (go back) has no key any more, and it is a way out: give it one
	// binding the keys: on picker the key y means sort and copy
}
