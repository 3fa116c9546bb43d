package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/harness"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// TestEverySize draws every screen in every width from 20 to 220 and every
// height from 5 to 70, in a pattern that meets each width with heights from
// all over the range, and each height with many widths.
func TestEverySize(t *testing.T) {
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			t.Parallel()
			for _, ws := range []*fake.Workspace{fake.Harbor(), wideNames()} {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t, ws, Options{URI: ws.Address, Screen: place.start}, 80, 24)
					b.drain()
					b.keys(place.keys...)
					for w := 20; w <= 220; w += pace.Of(1, 40) {
						for k := range 3 {
							h := 5 + (w*7+k*23)%66
							checkSize(t, b, place.name, w, h)
						}
					}
					b.stop()
				})
			}
		})
	}
}

func checkSize(t *testing.T, b *bench, place string, w, h int) {
	t.Helper()
	b.w, b.h = w, h
	lines := b.draw()
	ok := len(lines) == h
	for _, l := range lines {
		ok = ok && ansi.StringWidth(l) == w && ansi.StringWidthWc(l) == w
	}
	all := ansi.Strip(strings.Join(lines, "\n"))
	if !ok {
		t.Fatalf("%s at %dx%d is not %d lines of %d cells:\n%s", place, w, h, h, w, all)
	}
	if !strings.Contains(all, "GET ") {
		t.Fatalf("%s at %dx%d has no status line:\n%s", place, w, h, all)
	}
	if (w < minWidth || h < minHeight) != strings.Contains(strings.Join(strings.Fields(all), ""), "omnideckneeds60x15") {
		t.Fatalf("%s at %dx%d: notice shown or missing wrongly:\n%s", place, w, h, all)
	}
}

// TestGlyphs: what is drawn around the data is ASCII or a glyph of the theme,
// and ASCII alone in ASCII mode.
func TestGlyphs(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		allowed := map[rune]bool{}
		th, err := theme.New("mono", theme.Unknown, ascii)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range th.Glyph.All() {
			for _, r := range g {
				allowed[r] = true
			}
		}
		for _, place := range pace.Every(t, 3, places) {
			for _, state := range states {
				if state.name == "wide-names" {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					b := state.make(t, Options{URI: fake.Harbor().Address, Screen: place.start, ASCII: ascii}, 200, 60)
					b.keys(place.keys...)
					for _, r := range ansi.Strip(strings.Join(b.draw(), "")) {
						if r > 0x7e && (ascii || !allowed[r]) {
							t.Errorf("%s, %s, ascii %v: draws %q", place.name, state.name, ascii, r)
							break
						}
					}
					b.stop()
				})
			}
		}
	}
}

// keyNames is everything that can be pressed: all keys of the table, and some
// that mean nothing.
func keyNames() []string {
	names := []string{"x", "Z", "M", "O", "C", "X", "delete", "ctrl+x", ":", "/", "é", "日"}
	for _, a := range action.Default().Actions() {
		for _, k := range a.Keys {
			if k != "q" && k != "ctrl+c" && k != " " {
				names = append(names, k)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// million is a history as long as none that was seen yet.
func million() *fake.Workspace {
	n := pace.Of(1_000_000, 10_000)
	ws := fake.Harbor()
	base := ws.Log
	log := make([]engine.LogEntry, 0, n)
	branch, actor := "review/ports", "ana"
	ids := make([]string, n+1)
	for i := range ids {
		ids[i] = fmt.Sprintf("01KD8W3Q4Y8ZT5V6M2B%07d", 9_000_000-i)
	}
	for i := range n {
		e := engine.LogEntry{Commit: engine.Commit{ID: ids[i], ManifestVersion: uint64(n - i), Actor: &actor, CreatedAt: fake.Epoch.UnixMicro() - int64(i)*60_000_000}}
		e.Parent, e.Changed = &ids[i+1], base[i%len(base)].Changed
		if i%12 == 3 {
			e.MergedParent = &ids[min(i+1+i%7, n)]
		}
		if i%5 == 1 {
			e.Branch = &branch
		}
		log = append(log, e)
	}
	ws.Log = log
	return ws
}

// TestKeyToFrameWithAMillionCommits measures from a key to the finished frame
// at 200x60, where the drawer is open, over an operation of 512 requests.
func TestKeyToFrameWithAMillionCommits(t *testing.T) {
	ws := million()
	ws.Detail = hostileTrace()
	ws.Detail.Calls = append(ws.Detail.Calls, ws.Detail.Calls[:212]...)
	var b *bench
	synctest.Test(t, func(t *testing.T) {
		b = newBench(t, ws, Options{URI: ws.Address, Screen: "commits", Theme: "ansi16"}, 200, 60)
		b.drain()
		b.keys("G")
		b.stop()
	})
	h, ok := b.env.Data.History.Get()
	if !ok || h.Len() != len(ws.Log) {
		t.Fatal("the million commits are not loaded")
	}
	keys := []string{"k", "k", "pgup", "ctrl+u", "j", "g", "j", "pgdown", "tab", "j", "tab", "end", "k", "home", "G", "ctrl+u"}
	pace.Within(t, "key to frame, 200x60, 1 000 000 commits, the 99th percentile", 16*time.Millisecond, func() time.Duration {
		var took []time.Duration
		for i := range 600 {
			msg, content := press(keys[i%len(keys)]), ""
			took = append(took, pace.Thread(func() {
				b.Update(msg)
				content = b.View().Content
			}))
			if !strings.Contains(content, "commits") {
				t.Fatal("the frame does not show the commits")
			}
		}
		slices.Sort(took)
		return took[len(took)*99/100]
	})
}

// running is a program whose output is only kept, over a graph that answers by
// a script.
type running struct {
	*tea.Program
	m    *model
	ws   *fake.Workspace
	out  *lockedBuffer
	done chan error
}

func run(t *testing.T, step fake.Step) *running {
	t.Helper()
	s := &running{ws: fake.Harbor(), out: &lockedBuffer{mark: "overview"}, done: make(chan error, 1)}
	s.ws.Script = map[string]fake.Step{"": step}
	var err error
	s.Program, s.m, err = program(t.Context(), Options{
		URI: s.ws.Address, Open: opens(s.ws), Output: s.out, NoInput: true, Width: 80, Height: 24, Env: []string{"TERM=xterm-256color"},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, err := s.Run(); s.m.stop(); s.done <- err }()
	return s
}

// unheard questions do not even hear that they are cancelled.
var unheard = fake.Step{Hang: true, Deaf: true, Get: 1}

// end waits for the program, which was told to quit.
func (s *running) end(t *testing.T) {
	t.Helper()
	if err := <-s.done; err != nil {
		t.Fatal(err)
	}
}

// TestFirstFrameIsQuick measures from the start of the program to the first
// frame on the output, with a store that never answers: in a bubble, where time
// passes only when nothing can go on, it is there before any did, so that the time
// of the processor is all it takes.
func TestFirstFrameIsQuick(t *testing.T) {
	pace.Within(t, "first frame", 100*time.Millisecond, func() (took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			var s *running
			took = pace.Process(func() {
				s = run(t, unheard)
				synctest.Wait()
			})
			if s.out.seen().IsZero() {
				t.Error("time has to pass before the first frame")
			}
			s.Quit()
			s.ws.Release()
			s.end(t)
		})
		return took
	})
}

// TestQuittingNeverWaits quits while 64 questions hang that do not even hear
// that they are cancelled.
func TestQuittingNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if took := quitAmongQuestions(t); took > 200*time.Millisecond {
			t.Errorf("quitting waits %v", took)
		}
	})
}

func quitAmongQuestions(t *testing.T) time.Duration {
	t.Helper()
	s := run(t, unheard)
	asked := func() int {
		n := 0
		for _, method := range []string{"Info", "BranchNames", "Snapshot", "Branches", "History", "Versions"} {
			n += s.ws.Asked(method)
		}
		return n
	}
	for i := 0; asked() < 64; i++ {
		s.Send(harness.Press(string(rune('1' + i%5))))
		synctest.Wait()
	}
	begin := time.Now()
	s.Send(harness.Press("q"))
	s.end(t)
	took := time.Since(begin)
	s.ws.Release()
	return took
}
