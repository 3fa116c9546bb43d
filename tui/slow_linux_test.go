package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/harness"
)

// stopwatch measures the processor time between a message and its frame. When a
// step is slow the walks are gone again; the least time of
// each step counts, because a busy machine and a garbage collection only add.
type stopwatch struct {
	*bench
	walk string
	step int
	best map[string]time.Duration
}

func (s *stopwatch) feed(what string, msg tea.Msg) {
	s.step++
	key := fmt.Sprintf("%s, step %d: %s on %s", s.walk, s.step, what, s.top().screen.Title())
	var cmd tea.Cmd
	took := pace.Thread(func() {
		_, cmd = s.Update(msg)
		_ = s.View()
	})
	if was := s.best[key]; was == 0 || took < was {
		s.best[key] = took
	}
	s.later(cmd)
}

// settle runs what was asked for, outside of the measurement, and measures
// what each answer makes of the screen.
func (s *stopwatch) settle() {
	for len(s.cmds) > 0 {
		cmd := s.cmds[0]
		s.cmds = s.cmds[1:]
		switch msg := cmd().(type) {
		case nil, tickMsg, ageMsg, noteMsg, followMsg, stateLateMsg, saveMsg, openedMsg:
		case tea.BatchMsg:
			for _, c := range msg {
				s.later(c)
			}
		default:
			s.feed(fmt.Sprintf("%T", msg), msg)
		}
	}
	s.ticking = false
}

func (s *stopwatch) keys(keys ...string) {
	for _, k := range keys {
		s.feed(k, harness.Press(k))
		s.settle()
	}
}

// typeIn types without waiting for what the letters before asked for.
func (s *stopwatch) typeIn(text string) {
	for _, r := range text {
		s.feed(string(r), tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	s.settle()
}

// about are keys that mean something on most screens, the drawer and the
// overlays among them.
var about = []string{
	"j", "k", "pgdown", "pgup", "ctrl+d", "ctrl+u", "G", "g", "G", "k", "g", "tab", "j", "k", "tab", "w", "j", "w", "z", "j", "z", "=", "D", "esc", "ctrl+o", "ctrl+o",
	"m", "m", "j", "h", "tab", "?", "j", "esc", "y", "j", "esc", "e", "esc", "o", "j", "esc", "c", "esc", "M", "r",
}

// walks go to every screen and through what is done with a long list.
var walks = []struct {
	name string
	do   func(s *stopwatch)
}{
	{"filter", func(s *stopwatch) {
		s.keys("3", "G", "ctrl+u", "/")
		s.typeIn("actor:ana rows:>100")
		s.keys("enter", "j", "pgdown", "G", "k", "n", "N", "esc", "j", "/")
		s.typeIn("nothing is like this")
		s.keys("enter", "esc", "k", "n", "N", "g", "n", "G", "ctrl+u", "/", "a", "backspace", "a", "esc")
	}},
	{"order", func(s *stopwatch) {
		s.keys("/", "a", "enter", "o", "j", "j", "enter", "j", "G", "g", "esc", "o", "enter", "j", "G", "o", "enter", "j")
	}},
	{"first parents", func(s *stopwatch) { s.keys("3", "g", "f", "j", "G", "k", "f", "j", "G", "f", "f", "g") }},
	{"palette", func(s *stopwatch) {
		s.keys("3", "ctrl+p")
		s.typeIn("01kd8w3")
		s.keys("down", "backspace", "backspace", "enter", "3", "ctrl+p")
		s.typeIn("100")
		s.keys("enter", "k", "ctrl+p")
		s.typeIn("no commit ends so")
		s.keys("esc")
	}},
	{"command", func(s *stopwatch) {
		s.keys("3", "G", ":")
		s.typeIn("versions node:Port")
		s.keys("tab", "up", "down", "enter", "j", "t", "t", "esc", ":")
		s.typeIn("at 01KD8W3Q4Y8ZT5V6M2B8500000")
		s.keys("enter", "esc", "3", "esc")
	}},
	{"travel", func(s *stopwatch) {
		s.keys("3", "G", "ctrl+u", "t", "1", "2", "3", "4", "5", "0", "3", "r", "t", "L", "i", "esc", "[", "]", "ctrl+o", "ctrl+o", "3")
	}},
}

// TestNoSlowKey: with a million commits loaded and the drawer open over
// operations of 512 requests, at 200x60, no key and no answer takes long to
// become a frame, on any screen. The budget is 16 ms of a screen; a quarter of
// it is left to the renderer and the terminal.
func TestNoSlowKey(t *testing.T) {
	const budget = 12 * time.Millisecond
	ws := million()
	ws.Detail = hostileTrace()
	ws.Detail.Calls = append(ws.Detail.Calls, ws.Detail.Calls[:212]...)
	best := map[string]time.Duration{}
	byTime := func(a, b string) int { return cmp.Compare(best[b], best[a]) }
	var steps []string
	pace.Within(t, "the slowest of all keys and answers, to the finished frame", budget, func() time.Duration {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, ws, Options{URI: ws.Address, Screen: "commits", Theme: "ansi16"}, 200, 60)
			b.drain()
			b.keys("G", "m", "tab")
			if h, ok := b.env.Data.History.Get(); !ok || h.Len() != len(ws.Log) {
				t.Fatal("the million commits are not loaded")
			}
			(&stopwatch{bench: b, best: best}).everywhere()
			b.stop()
		})
		steps = slices.SortedFunc(maps.Keys(best), byTime)
		return best[steps[0]]
	})
	for _, k := range steps[:5] {
		t.Logf("%v for %s", best[k], k)
	}
	if len(steps) < pace.Of(900, 200) {
		t.Errorf("only %d steps were measured", len(steps))
	}
}

// everywhere goes all walks, and to all places.
func (s *stopwatch) everywhere() {
	for _, w := range pace.Every(s.t, 2, walks) {
		s.walk, s.step = w.name, 0
		w.do(s)
	}
	for _, place := range pace.Every(s.t, 4, slices.Concat([]string{"overview", "branches", "commits", "tables", "versions", "operations"}, deepPlaces)) {
		s.walk, s.step = place, 0
		s.later(s.visit(place))
		s.settle()
		s.keys(about...)
		s.keys("/")
		s.typeIn("a")
		s.keys("enter", "o", "enter", "esc", "esc", "esc")
	}
}

var deepPlaces = []string{"node:Port/schema", "node:Port/fragments", "node:Port/versions", "node:Port/indexes", "node:Port/rows", "node:Port/rows/rotterdam", "find/rotterdam", "diff/main..review/ports"}
