package tui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

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

func TestPasteOfAMegabyte(t *testing.T) {
	t.Chdir(t.TempDir()) // keys may export
	big := strings.Repeat("all of it \x1b[31m日本 ", 1<<16)
	for _, open := range [][]string{nil, {"/"}, {":"}, {"p"}, {"?"}, {"U"}, {"i"}, {"o"}, {"y"}, {"e"}} {
		on(t, Options{Screen: "commits"}, func(b *bench, _ *fake.Workspace) {
			b.keys(open...)
			b.clock = b.clock.Add(time.Second)
			b.send(tea.PasteMsg{Content: big})
			for _, size := range [][2]int{{40, 10}, {60, 15}, {80, 24}, {1, 1}, {200, 60}} {
				b.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				lines := b.draw()
				if len(lines) != size[1] {
					t.Fatalf("%v: %d lines at %v", open, len(lines), size)
				}
				check(t, lines, size[0], size[1])
			}
			b.keys("enter")
			b.drain()
			b.draw()
		})
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

func TestOverlaysAtEverySize(t *testing.T) {
	for _, open := range pace.Every(t, 4, [][]string{
		{"/"}, {":"}, {":", "x", "enter"}, {"p"}, {"p", "v", "e"}, {"?"}, {"?", "c"}, {"U"}, {"i"}, {"o"}, {"y"}, {"e"}, {"z"}, {"w"}, {"="},
	}) {
		synctest.Test(t, func(t *testing.T) {
			ws := wideNames()
			ws.IsRemote = true
			b := newBench(t, ws, Options{URI: ws.Address, Screen: "branches"}, 100, 30)
			b.drain()
			b.keys("4", "3", "2")
			b.keys(open...)
			for w := 20; w <= 220; w += pace.Of(3, 39) {
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
