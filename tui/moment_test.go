package tui

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/harness"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// Two things that happen in the same moment come in either order.

// A countdown that ends when something else comes: the plan is read again all the
// same, whichever is first.
func TestACountdownEndsBesideSomethingElse(t *testing.T) {
	other := tea.WindowSizeMsg{Width: 81, Height: 24}
	for name, msgs := range map[string][]tea.Msg{
		"it is first": {ageMsg{}, other}, "it is second": {other, ageMsg{}},
	} {
		t.Run(name, func(t *testing.T) {
			ws := foundIn(record(2, "Mutation", "main", engine.RecoverForward, 12*time.Second))
			ws.Script = nil
			now := fake.Epoch
			st := staged(t, Options{URI: ws.Address, Open: opens(ws), Screen: "tables", Now: func() time.Time { return now }})
			defer st.close()
			handed(t, st, harness.Press("V"))
			if n := ws.Asked("PlanRecovery"); n != 1 {
				t.Fatalf("%d plans", n)
			}
			for range 18 { // each second is told
				now = now.Add(time.Second)
				if now.Equal(fake.Epoch.Add(18 * time.Second)) {
					handed(t, st, msgs...)
				} else {
					handed(t, st, ageMsg{})
				}
			}
			if n := ws.Asked("PlanRecovery"); n != 2 {
				t.Errorf("%d plans, want 2: one at the end of the countdown", n)
			}
		})
	}
}

// staged is a screen on a stage, with what it asked for at first.
func staged(t *testing.T, o Options) *stage {
	t.Helper()
	th, err := theme.New("ansi16", theme.Dark, false)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(t.Context(), o, th)
	m.still, m.w, m.h = true, 80, 24
	st := newStage(t.Context(), m, false)
	st.later(m.Init())
	if err := st.settle(); err != nil {
		t.Fatal(err)
	}
	return st
}

// handed hands messages over, one right after the other, and waits for what
// comes of them.
func handed(t *testing.T, st *stage, msgs ...tea.Msg) {
	t.Helper()
	for _, msg := range msgs {
		st.send(msg)
	}
	if err := st.settle(); err != nil {
		t.Fatal(err)
	}
}

// An answer that comes just when time is up does not hide that it is.
func TestTimeIsUpBesideAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("time is up")
		ws := fake.Harbor()
		ws.Script = nil
		for range 64 { // either may be met first
			st := staged(t, Options{URI: ws.Address, Open: opens(ws), Screen: "tables", Now: time.Now})
			ctx, cancel := context.WithCancelCause(t.Context())
			st.ctx = ctx
			st.start(func() tea.Msg { return nil })
			synctest.Wait() // the answer is there
			cancel(gone)
			if err := st.settle(); !errors.Is(err, gone) {
				t.Fatalf("it ends with %v, want %v", err, gone)
			}
			st.close()
		}
	})
}
