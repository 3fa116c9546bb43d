package tui

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

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
	mem.states[fake.Harbor().Address] = []byte(`{"place":"operations"}`)
	run("", func(l *live) {
		l.has(t, "findings") // and not the empty list of operations of a session that is over
	})
	mem.states[fake.Harbor().Address] = []byte(`{"place": 3`)
	run("", func(l *live) {
		l.has(t, "is ignored", "overview")
	})
}

func TestASlowStateHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		var asked atomic.Bool
		slow := func(string) ([]byte, error) {
			if !asked.Swap(true) {
				time.Sleep(time.Minute)
			}
			return []byte(`{"place":"commits"}`), nil
		}
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
		if got := screen.Stripped(in); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
	if got := scrubbed("diff s3://a:b@c/d main"); got != "diff s3://c/d main" {
		t.Errorf("scrubbed: %s", got)
	}
}
