package tui

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/tui/harness"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// TestRounds: the renderer's ticker is found in this Bubble Tea; without a new
// frame it becomes calm, and with one it is busy at once, so that a key is drawn
// in the bubble's next four milliseconds.
func TestRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := run(t, fake.Step{})
		synctest.Wait()
		if s.m.rounds == nil {
			t.Fatal("Bubble Tea keeps its ticker elsewhere now: the renderer is at one pace")
		}
		for _, key := range []string{"?", "?"} {
			time.Sleep(20 * time.Second) // of the bubble
			synctest.Wait()
			if !calm(s.m.rounds) {
				t.Error("long without a frame, and the renderer still looks often")
			}
			before := len(s.out.String())
			s.Send(harness.Press(key))
			time.Sleep(roundBusy)
			synctest.Wait()
			if calm(s.m.rounds) || len(s.out.String()) == before {
				t.Errorf("%s is not drawn after %v", key, roundBusy)
			}
		}
		s.Quit()
		s.end(t)
	})
}

func calm(r *rounds) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.isCalm
}

// A frame every second, as a countdown has, comes just when the timer of the one
// before fires: whichever is first, the renderer looks soon.
func TestAFrameIsNotKeptWaiting(t *testing.T) {
	for name, meet := range map[string]func(*rounds){
		"frame, then timer": func(r *rounds) { r.hurry(); r.quiet() },
		"timer, then frame": func(r *rounds) { r.quiet(); r.hurry() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRounds(time.NewTicker(roundCalm))
				defer r.stop()
				defer r.ticker.Stop()
				r.hurry()
				time.Sleep(calmAfter)
				meet(r)
				synctest.Wait()
				for range 2 { // the first may be one that nobody took
					time.Sleep(roundBusy)
					synctest.Wait() // the ticker is due in the same moment
					select {
					case <-r.ticker.C:
					default:
						t.Fatalf("the renderer does not look %v after a frame", roundBusy)
					}
				}
			})
		})
	}
}
