package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// divider is the column of the last line between panes.
func divider(b *bench) int {
	lines := b.draw()
	return strings.LastIndex(ansi.Strip(lines[len(lines)/2]), "│")
}

func TestTheLineBetweenPanesMoves(t *testing.T) {
	on(t, Options{Screen: "branches"}, func(b *bench, _ *fake.Workspace) {
		b.w, b.h = 120, 40
		was := divider(b)
		b.keys("+", "+")
		if now := divider(b); now <= was {
			t.Fatalf("+ moved the line from %d to %d", was, now)
		}
		b.keys("tab", "+", "+")
		if now := divider(b); now != was {
			t.Errorf("the detail took back what the list had got, and the line is at %d instead of %d", now, was)
		}
		b.keys("tab")
		for range 30 {
			b.draw()
			b.keys("-")
		}
		if now := divider(b); now < 120*shareLeast/100-1 {
			t.Errorf("the list can be squeezed to %d cells", now)
		}
		b.shows("shrink: no further")
		b.w = 200
		if len(b.shifts) != 1 || b.shifts["two"] >= 0 || b.layout() != "three" {
			t.Errorf("kept per layout: %v in %s", b.shifts, b.layout())
		}
		b.w = 80
		before := text(b.draw())
		b.keys("+")
		if text(b.draw()) == before {
			t.Error("the line above the preview does not move")
		}
		b.keys("w")
		b.draw()
		b.keys("+")
		b.shows("grow: one pane has it all")
	})
}

const shareLeast = 20

func TestNavigator(t *testing.T) {
	on(t, Options{Screen: "node:Port/versions"}, func(b *bench, _ *fake.Workspace) {
		b.send(tea.WindowSizeMsg{Width: 200, Height: 60})
		b.drain()
		b.keys("shift+tab")
		b.shows("to the screen")
		if r, _ := b.tree().selected(&b.env); r.table != "node:Port" {
			t.Errorf("it begins at %q instead of where one is", r.key())
		}
		b.keys("down", "enter")
		if b.place() != "node:Vessel/versions" || len(b.stack) != 2 || b.navFocus() {
			t.Errorf("enter leads to %s, %d deep, focus still there: %v", b.place(), len(b.stack), b.navFocus())
		}
		b.keys("T", "g", "enter")
		first := b.env.Branch()
		b.keys("j", "enter")
		if b.env.Branch() == first || !b.navFocus() {
			t.Errorf("a branch that is opened is not shown, or the focus went: %s", b.env.Branch())
		}
		b.keys("esc", "esc")
		if b.place() != "tables" {
			t.Errorf("esc leaves the navigator, and then the type; here: %s", b.place())
		}
		b.keys("T")
		b.w = 120
		b.keys("j")
		if b.navFocus() {
			t.Error("a navigator that is not shown has the focus")
		}
		b.keys("shift+tab")
		b.shows("160 columns")
	})
}

func TestSplitsAreKept(t *testing.T) {
	mem := &memory{map[string][]byte{}}
	run := func(test func(l *live)) {
		synctest.Test(t, func(t *testing.T) {
			ws := fake.Harbor()
			l := start(t, Options{URI: ws.Address, Open: opens(ws), LoadState: mem.load, SaveState: mem.save}, 120, 30)
			l.Wait(time.Second)
			test(l)
			l.close(t)
		})
	}
	run(func(l *live) { l.Key("2", "+", "+") })
	run(func(l *live) {
		if l.m.shifts["two"] != 2*shiftStep {
			t.Errorf("restored: %v", l.m.shifts)
		}
		l.Key("-", "-")
	})
	for g := range mem.states {
		mem.states[g] = []byte(`{"splits":{"two":-100000,"none":7,"three":99}}`)
	}
	run(func(l *live) {
		if l.m.shifts["two"] != -shiftMost || l.m.shifts["none"] != 0 {
			t.Errorf("restored from nonsense: %v", l.m.shifts)
		}
	})
}

func TestOperationsTakeTheMouseAndTheLine(t *testing.T) {
	on(t, Options{Screen: "commits"}, func(b *bench, _ *fake.Workspace) {
		b.send(tea.WindowSizeMsg{Width: 120, Height: 40})
		b.keys("4", "0")
		was := divider(b)
		b.keys("+")
		if now := divider(b); now <= was {
			t.Errorf("+ moved the line from %d to %d", was, now)
		}
		x := strings.Index(ansi.Strip(b.draw()[b.bodyTop()]), "before")
		b.send(tea.MouseClickMsg{Button: tea.MouseLeft, X: x, Y: b.bodyTop()})
		b.drain()
		if b.place() != "operations/ledger" {
			t.Errorf("a click at a tab leads to %s", b.place())
		}
	})
}
