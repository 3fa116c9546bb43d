package tui

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// TestInterruptsOfTwoQuestions: two interrupts leave only when nothing was
// pressed between them; else the second cancels what was asked since.
func TestInterruptsOfTwoQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		ws.Set("History", fake.Step{Hang: true, Get: 1})
		l := start(t, Options{URI: ws.Address, Open: opens(ws)}, 80, 24)
		l.Wait(time.Second)
		l.Key("ctrl+c")
		l.has(t, "^c again leaves")
		l.Key("3")
		l.lacks(t, "again leaves")
		l.Key("ctrl+c")
		l.has(t, "cancelled; ^c again leaves")
		if ended, _ := l.Ended(); ended {
			t.Error("the interrupt of a question has ended the program")
		}
		l.Key("ctrl+c")
		if ended, err := l.Ended(); !ended || err != nil {
			t.Errorf("after two in a row the program has ended: %v, %v", ended, err)
		}
		l.close(t)
	})
}

// TestASilentStore: a pane that waits long says how to stop waiting, and one
// that shows what was read before says how old that is while it waits.
func TestASilentStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		ws.Set("History", fake.Step{Hang: true, Get: 1})
		l := start(t, Options{URI: ws.Address, Open: opens(ws), Screen: "commits"}, 80, 24)
		l.Wait(time.Second)
		l.lacks(t, "gives up")
		l.Wait(5 * time.Second)
		l.has(t, "still waiting for the store; ^c gives up")
		l.Key("4")
		l.Wait(3 * time.Minute)
		ws.Set("Snapshot", fake.Step{Hang: true, Get: 1})
		l.Key("r")
		l.Wait(2 * time.Second)
		l.has(t, "3 m old", "loading 2.0 s", "edge:CallsAt")
		ws.Set("Snapshot", fake.Step{Err: errors.New("the store broke off")})
		l.Key("ctrl+c", "r")
		l.Wait(time.Second)
		l.has(t, "stale 3 m", "the store broke off", "edge:CallsAt")
		l.close(t)
	})
}
