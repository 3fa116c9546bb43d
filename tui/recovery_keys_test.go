package tui

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/runner"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// at runs a test on the sample graph with these records.
func at(t *testing.T, ws *fake.Workspace, screen string, w, h int, run func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := settled(t, ws, Options{URI: ws.Address, Screen: screen}, w, h)
		run(b)
		b.stop()
	})
}

// What is pending stands in the header of every screen at every size, and one
// request in all asks for it: none where the screen reads it anyway.
func TestPendingIsOnEveryScreen(t *testing.T) {
	for _, c := range []struct {
		chip    string
		records []engine.RecoveryRecord
	}{
		{"1 recov", []engine.RecoveryRecord{record(1, "Load", "main", engine.RecoverBack, 5*time.Hour)}},
		{"in 18 s", []engine.RecoveryRecord{record(2, "Mutation", "main", engine.RecoverForward, 12*time.Second)}},
		{"refused", []engine.RecoveryRecord{refusedRecord(), record(2, "Mutation", "main", engine.RecoverForward, 12*time.Second)}},
	} {
		for _, place := range places {
			if place.name == "plain" || place.name == "unlock" {
				continue
			}
			ws := foundIn(c.records...)
			at(t, ws, place.start, 80, 24, func(b *bench) {
				b.keys(place.keys...)
				for _, size := range append([][2]int{{60, 15}}, sizes...) {
					b.w, b.h = size[0], size[1]
					if head := text(b.draw()[:1]); !strings.Contains(head, c.chip) || !strings.Contains(head, "recov") {
						t.Errorf("%s at %v: %q is not in the header: %s", place.name, size, c.chip, head)
					}
				}
				want := 1
				if place.start == "overview" {
					want = 0
				}
				if n := ws.Asked("PendingRecords"); n != want {
					t.Errorf("%s: the records were asked for %d times, want %d", place.name, n, want)
				}
			})
		}
	}
	at(t, foundIn(), "tables", 80, 24, func(b *bench) {
		b.lacks("recov")
		b.keys("V")
		b.shows("nothing is pending")
	})
}

// It is known again after r, after a write, and when another moment is looked at.
func TestPendingIsAskedAgain(t *testing.T) {
	ws := foundIn(record(1, "Load", "main", engine.RecoverBack, 5*time.Hour))
	at(t, ws, "commits", 80, 24, func(b *bench) {
		b.shows("1 recov")
		b.keys("j", "t")
		b.shows("1 recov")
		b.keys("t", "4")
		if n := ws.Asked("PendingRecords"); n != 1 {
			t.Errorf("asked %d times", n)
		}
		ws.InfoAnswer.PendingRecovery = nil
		b.keys("r")
		b.lacks("recov")
	})
}

// The review runs what it shows: nothing but the drawn letter, and not in the
// first moments, not while it is locked, and not after it became another thing.
func TestWhatConfirmsARecovery(t *testing.T) {
	ws := oldAndYoung()
	at(t, ws, "tables", 120, 40, func(b *bench) {
		b.keys("V")
		letter := func() string { return b.writer.Hints(&b.env)[0].Key }
		first := letter()
		b.keys(first)
		if n, _ := ws.Recovered(); n != 0 {
			t.Fatal("an early key ran it")
		}
		for _, k := range everyKey() {
			if k == letter() || k == "H" || k == "ctrl+c" || strings.Contains(k, "space") || k == " " || k == "=" || k == "y" {
				continue
			}
			b.clock = b.clock.Add(time.Millisecond)
			b.keys(k)
			if b.writer == nil {
				b.overlays = nil
				b.keys("V")
			}
			b.clock = b.clock.Add(time.Second)
			b.send(struct{}{})
		}
		if n, _ := ws.Recovered(); n != 0 {
			t.Fatal("another key than the letter ran it")
		}
		b.overlays, b.writer, b.clock = nil, nil, fake.Epoch.Add(time.Second)
		b.keys("V")
		b.clock = b.clock.Add(time.Second)
		b.keys("H") // now it would do more
		b.keys(letter())
		if n, _ := ws.Recovered(); n != 0 {
			t.Fatal("a key ran what it had just become")
		}
		b.shows("At once: be sure", "publish 1 operation, take 1 operation back", "--apply --now")
		b.keys("tab", "space")
		b.shows("[ ] ! Mutation", "take 1 operation back; 1 is left out", "--now --operation 01KD8W3Q4Y8ZT5V6M2B0000001")
		b.clock = b.clock.Add(time.Second)
		b.keys("H", "space")
		b.clock = b.clock.Add(time.Second)
		b.keys(letter())
		n, o := ws.Recovered()
		want := []string{ws.Recovering.Plans[0].Records[0].Key}
		if n != 1 || !slices.Equal(o.Only, want) || o.Now || o.Moved || o.Plan != ws.Recovering.Plans[0] {
			t.Errorf("%d runs, with %+v", n, o)
		}
		if !b.wrote || b.env.Writes == 0 {
			t.Error("the screens are not read again")
		}
	})
}

// A moved record is left out until it is taken in, and then the graph's name is
// asked; what runs is what was confirmed.
func TestMovedRecordAsksForTheName(t *testing.T) {
	ws := foundIn(movedRecord(), record(1, "Load", "main", engine.RecoverBack, 5*time.Hour))
	at(t, ws, "tables", 100, 30, func(b *bench) {
		b.keys("V")
		b.shows("[ ] ! Mutation", "1 is left out")
		b.clock = b.clock.Add(time.Second)
		b.keys("space")
		b.shows("[x] ! Mutation", "the graph's name is asked then", "--moved")
		b.confirms()
		b.shows("recover a moved graph", "s3://lab/harbor")
		b.clock = b.clock.Add(time.Second)
		b.typeIn("harbor")
		b.keys("enter")
		if n, _ := ws.Recovered(); n != 0 {
			t.Fatal("half of a name ran it")
		}
		b.typeIn(".omni")
		b.keys("enter")
		if n, o := ws.Recovered(); n != 1 || !o.Moved || len(o.Only) != 2 {
			t.Errorf("%d runs, with %+v", n, o)
		}
	})
}

// A locked graph is looked at and not acted on; it is unlocked from the review.
func TestRecoveryOfALockedGraph(t *testing.T) {
	ws := foundIn(record(1, "Load", "main", engine.RecoverBack, 5*time.Hour))
	ws.IsRemote = true
	at(t, ws, "tables", 100, 30, func(b *bench) {
		b.keys("V")
		b.clock = b.clock.Add(time.Second)
		b.shows("read-only: U and the graph's name")
		for _, k := range strings.Split("acfimnosxz", "") {
			b.keys(k)
		}
		if n, _ := ws.Recovered(); n != 0 || b.writer == nil {
			t.Fatal("it ran while the graph is locked")
		}
		b.keys("enter")
		b.shows("nothing ran: the graph is read-only; U unlocks it")
		if _, err := ws.Recover(t.Context(), engine.RecoverOptions{}); !errors.As(err, new(*engine.ReadOnlyError)) {
			t.Errorf("the workspace itself: %v", err)
		}
		b.keys("U")
		b.clock = b.clock.Add(time.Second)
		b.typeIn("harbor.omni")
		b.keys("enter")
		b.clock = b.clock.Add(time.Second)
		b.shows("to take 1 operation back")
		b.send(struct{}{})
		b.draw()
		b.clock = b.clock.Add(time.Second)
		b.keys(b.writer.Hints(&b.env)[0].Key)
		if n, _ := ws.Recovered(); n != 1 {
			t.Errorf("%d runs", n)
		}
	})
	none := foundIn()
	none.IsRemote = true
	at(t, none, "tables", 100, 30, func(b *bench) {
		b.keys("U")
		b.clock = b.clock.Add(time.Second)
		b.typeIn("harbor.omni")
		b.keys("enter")
		if b.env.Locked || b.writer != nil || none.Asked("PlanRecovery") != 0 {
			t.Errorf("locked is %v, a plan was asked for %d times", b.env.Locked, none.Asked("PlanRecovery"))
		}
	})
}

// Before the first write of a session what is pending is shown once; the write goes
// on, whether it was recovered or not.
func TestBeforeTheFirstWrite(t *testing.T) {
	for _, runs := range []bool{false, true} {
		ws := foundIn(record(1, "Load", "main", engine.RecoverBack, 5*time.Hour))
		ws.Recovering.Receipts = []*engine.RecoveryReceipt{receiptOf(true, recoveryOf())}
		at(t, ws, "tables", 100, 30, func(b *bench) {
			b.keys("W")
			b.shows("Before the first write", "esc on to mutate")
			if runs {
				ws.InfoAnswer.PendingRecovery = nil
				b.confirms()
				b.shows("1 of 1 record recovered", "remains       nothing")
				b.keys("enter")
			} else {
				b.keys("esc")
			}
			if b.writer == nil || b.writer.Verb() != "mutate" || b.writer.Step() != runner.Draft {
				t.Fatal("the write does not go on")
			}
			b.keys("esc", "L")
			if b.writer == nil || b.writer.Verb() != "load" {
				t.Error("it is shown before the second write too")
			}
		})
	}
	ws := foundIn(record(1, "Load", "main", engine.RecoverBack, 5*time.Hour))
	at(t, ws, "node:Port/rows", 120, 40, func(b *bench) {
		b.keys("I")
		b.shows("Before the first write")
		b.keys("esc")
		if len(b.overlays) != 1 || b.form() == nil {
			t.Error("the form does not open")
		}
	})
}

// It is reached by the palette, the command line, the overview, and from a write
// that it stands in the way of; wheel and click move in it; what it shows is copied.
func TestWaysIntoARecovery(t *testing.T) {
	ws := foundIn(refusedRecord(), record(1, "Load", "main", engine.RecoverBack, 5*time.Hour))
	at(t, ws, "overview", 100, 30, func(b *bench) {
		open := func(how string) {
			t.Helper()
			if b.writer == nil || !b.writer.Recovers() || !strings.Contains(text(b.draw()), "2 records pending") {
				t.Fatalf("%s does not open it:\n%s", how, text(b.draw()))
			}
			b.keys("esc")
			if b.writer != nil || len(b.overlays) > 0 {
				t.Fatalf("%s: esc does not close it", how)
			}
		}
		b.keys("p")
		b.typeIn("recovery")
		b.keys("enter")
		open("the palette")
		b.keys(":")
		b.typeIn("recover")
		b.keys("enter")
		open("the command line")
		b.keys(":")
		b.typeIn("omnideck recover " + ws.Address)
		b.keys("enter")
		open("a line from a shell")
		for i := 0; i < 20 && !strings.Contains(text(b.draw()), "▸ ! Load on main"); i++ {
			b.keys("j")
		}
		b.keys("enter")
		b.shows("─ 2 of 2 ─", "the load stopped")
		open("the overview")
		b.keys("V")
		x := b.writer
		b.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
		b.draw()
		lines := b.draw()
		y := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "Load on main") })
		b.send(tea.MouseClickMsg{Button: tea.MouseLeft, X: 5, Y: y})
		b.shows("─ 2 of 2 ─")
		b.keys("y")
		b.shows("command line", "operation", "object key", "record as JSON", "plan as JSON")
		b.keys("1")
		b.shows("copied command line")
		if got := x.CommandLine(&b.env); got != "omnideck recover s3://acme-graphs/harbor.omni --apply" {
			t.Errorf("the line is %s", got)
		}
		b.keys("esc")
	})
	ws = scripted(planFor("strict", updates))
	ws.Writing.Errs = []error{errRecovery}
	at(t, ws, "tables", 100, 30, func(b *bench) {
		b.asked().confirms()
		b.shows("V shows what recovery would do about it")
		b.keys("V")
		if b.writer == nil || !b.writer.Recovers() {
			t.Error("it does not lead to the recovery")
		}
	})
}

// An object that is not in the plan any more is told while it is shown, also when
// only the header has heard of it.
func TestWhatVanishesIsTold(t *testing.T) {
	ws := oldAndYoung()
	at(t, ws, "tables", 100, 30, func(b *bench) {
		b.keys("V")
		b.lacks("not there any more")
		b.env.Data.Note([]engine.Pending{{Key: ws.Recovering.Plans[0].Records[1].Key}})
		b.shows("It is not there any more")
	})
}

// A hidden recovery goes on, keeps other writes away, and is shown again; what
// cancels it says what that means.
func TestHiddenRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := foundIn(record(1, "Load", "main", engine.RecoverBack, 5*time.Hour))
		key := ws.Recovering.Plans[0].Records[0].Key
		ws.Recovering.Pause = time.Second
		for _, s := range []engine.RecoveryStep{engine.RecoveryLooks, engine.RecoveryDecides, engine.RecoveryRestores, engine.RecoveryPublish, engine.RecoveryAudits, engine.RecoverySettles} {
			ws.Recovering.Events = append(ws.Recovering.Events, engine.RecoveryEvent{Step: s, Key: key, N: 1, Of: 1, Table: "node:Port"})
		}
		ws.Recovering.Receipts = []*engine.RecoveryReceipt{receiptOf(true, recoveryOf())}
		l := start(t, Options{URI: ws.Address, Open: opens(ws), Screen: "tables"}, 100, 30)
		l.Wait(time.Second)
		l.Key("V")
		l.Wait(time.Second)
		l.Key(l.m.writer.Hints(&l.m.env)[0].Key)
		l.Wait(3500 * time.Millisecond)
		l.has(t, "running", "restored 1 table · node:Port", "^c stops it where it is")
		l.Key("esc")
		l.has(t, "recovery goes on")
		l.Wait(500 * time.Millisecond)
		l.Key("W")
		l.has(t, "running") // one thing at a time
		l.Key("esc", "3")
		l.Wait(4 * time.Second)
		l.has(t, "recovery: 1 of 1 record recovered")
		l.Key("V")
		l.has(t, "receipt", "it was taken back", "01KD8W3Q4Y8ZT5V6M2B00000R1")
		l.Key("enter", "0")
		l.Wait(time.Second)
		l.has(t, "recover", "ok, 1 record")
		l.close(t)
	})
}

// A cancelled recovery says that it is carried on by the next one.
func TestCancelledRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := foundIn(record(1, "Load", "main", engine.RecoverBack, 5*time.Hour))
		ws.Set("Recover", fake.Step{Hang: true})
		l := start(t, Options{URI: ws.Address, Open: opens(ws), Screen: "tables"}, 100, 30)
		l.Wait(time.Second)
		l.Key("V")
		l.Wait(time.Second)
		l.Key(l.m.writer.Hints(&l.m.env)[0].Key)
		l.Wait(time.Second)
		l.Key("ctrl+c")
		l.Wait(time.Second)
		l.has(t, "nothing was recovered", "r looks again")
		l.Key("r")
		l.Wait(time.Second)
		l.has(t, "review", "1 record pending")
		l.close(t)
	})
}

// While a record is waited for the screen moves once a second, and when its time
// is over the plan is read again once; then nothing moves.
func TestCountdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := foundIn(record(2, "Mutation", "main", engine.RecoverForward, 12*time.Second))
		after := recoveryOf(record(2, "Mutation", "main", engine.RecoverForward, 12*time.Second))
		after.LookedAt = fake.Epoch.Add(time.Minute)
		ws.Recovering.Plans = append(ws.Recovering.Plans, after)
		begin := time.Now()
		var clock atomic.Int64 // questions for the time: one for each message
		l := start(t, Options{URI: ws.Address, Open: opens(ws), Screen: "tables", Now: func() time.Time {
			clock.Add(1)
			return fake.Epoch.Add(time.Since(begin))
		}}, 80, 24)
		l.Wait(2400 * time.Millisecond) // an idle renderer draws four times a second
		l.has(t, "in 16 s")
		before := clock.Load()
		l.Wait(5 * time.Second)
		l.has(t, "in 11 s")
		if n := clock.Load() - before; n > 8 { // one message a second, and no other
			t.Errorf("%d messages in 5 s of a countdown", n)
		}
		l.Key("V")
		l.Wait(time.Second)
		l.has(t, "waits         10 s", "nothing can be done now; 1 waits 10 s")
		if n := ws.Asked("PlanRecovery"); n != 1 {
			t.Errorf("%d plans", n)
		}
		l.Wait(11 * time.Second)
		l.has(t, "to publish 1 operation", "1 recovery pending")
		l.lacks(t, "waits ")
		if n := ws.Asked("PlanRecovery"); n != 2 {
			t.Errorf("%d plans, want 2: one at the end of the countdown", n)
		}
		l.Wait(time.Second)
		before = clock.Load()
		l.Wait(20 * time.Second)
		if n := clock.Load() - before; n > 3 { // ages
			t.Errorf("%d messages in 20 s after the countdown", n)
		}
		l.close(t)
	})
}
