package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/harness"
	"github.com/omnideck/omnideck/tui/workspace"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// live is a whole program on an emulated terminal.
type live struct {
	*harness.Term
	m *model
}

func start(t *testing.T, o Options, w, h int) *live {
	t.Helper()
	o.Width, o.Height, o.NoInput = w, h, true
	o.Env = append([]string{"TERM=xterm-256color"}, o.Env...)
	if o.Theme == "" {
		o.Theme = "ansi16"
	}
	if o.Now == nil { // the bubble's clock begins in 2000
		begin := time.Now()
		o.Now = func() time.Time { return fake.Epoch.Add(time.Since(begin)) }
	}
	l := &live{}
	l.Term = harness.Start(t, w, h, func(out io.Writer) *tea.Program {
		o.Output = out
		p, m, err := program(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		l.m = m
		return p
	})
	return l
}

func opens(ws workspace.Workspace) func(context.Context, string) (workspace.Workspace, error) {
	return func(context.Context, string) (workspace.Workspace, error) { return ws, nil }
}

func (l *live) close(t *testing.T) {
	t.Helper()
	l.m.end()
	_ = l.Close() // how the program ended is asserted by the tests that care
	l.m.stop()
}

// lacks fails when one of the texts is on the screen.
func (l *live) lacks(t *testing.T, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if strings.Contains(l.Text(), s) {
			t.Errorf("%q is on the screen:\n%s", s, l.Text())
		}
	}
}

func (l *live) has(t *testing.T, want ...string) {
	t.Helper()
	s := l.Text()
	for _, w := range want {
		if !strings.Contains(s, w) {
			t.Errorf("%q is not on the screen:\n%s", w, s)
		}
	}
}

func TestFirstFrameComesBeforeAnyAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := false
		l := start(t, Options{URI: "s3://nowhere/g", Open: func(ctx context.Context, _ string) (workspace.Workspace, error) {
			opened = true
			<-ctx.Done()
			return nil, ctx.Err()
		}}, 80, 24)
		l.has(t, "overview", "reading", "q quit", "GET 0")
		l.Wait(3 * time.Second)
		l.has(t, "reading 3.")
		if !opened {
			t.Error("the graph was not being opened")
		}
		l.Key("ctrl+c")
		l.has(t, "cancelled")
		l.Key("q")
		if ended, err := l.Ended(); !ended || err != nil {
			t.Errorf("after q the program has ended: %v, %v", ended, err)
		}
		l.close(t)
	})
}

func TestPanesFailAndAreRetriedOnTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		ws.Set("Snapshot", fake.Step{Err: errors.New("the listing ended early"), Delay: 50 * time.Millisecond})
		ws.Set("Info", fake.Step{Delay: 5 * time.Second, Get: 9, Hops: 3})
		l := start(t, Options{URI: ws.Address, Open: opens(ws)}, 80, 24)
		l.Wait(time.Second)
		l.has(t, "the listing ended early", "reading info", "in flight")
		l.Wait(5 * time.Second)
		l.has(t, "an interrupted load", "the listing ended early")
		ws.Set("Snapshot", fake.Step{})
		l.Key("r")
		l.Wait(6 * time.Second)
		l.has(t, "edge:CallsAt")
		l.close(t)
	})
}

func TestLeavingAScreenEndsItsQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		ws.Set("History", fake.Step{Hang: true, Get: 1})
		l := start(t, Options{URI: ws.Address, Open: opens(ws), Screen: "commits"}, 80, 24)
		l.Wait(time.Second)
		if got := l.m.seen.InFlight; got != 1 {
			t.Errorf("%d requests in flight, want 1", got)
		}
		l.Key("4")
		l.Wait(time.Second)
		if got := l.m.all.Sample().InFlight; got != 0 {
			t.Errorf("%d requests in flight after the screen was left, want 0", got)
		}
		l.has(t, "edge:CallsAt")
		ws.Set("History", fake.Step{})
		l.Key("3")
		l.has(t, "60 on all branches")
		if n := ws.Asked("History"); n != 2 {
			t.Errorf("the history was asked for %d times, want 2: cancelled, and again", n)
		}
		l.Key("4", "3")
		if n := ws.Asked("History"); n != 2 {
			t.Errorf("the history was asked for %d times, want 2: it is there", n)
		}
		l.close(t)
	})
}

func TestIdleMeansNoTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		l := start(t, Options{URI: ws.Address, Open: opens(ws)}, 80, 24)
		l.Wait(time.Second)
		if l.m.ticking {
			t.Error("the counters are sampled while nothing is in flight")
		}
		l.has(t, "now")
		l.Wait(3 * time.Minute)
		l.has(t, " 3 m")
		l.close(t)
	})
}

func TestScopesOfTheMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		l := start(t, Options{URI: ws.Address, Open: opens(ws)}, 80, 24)
		l.Wait(time.Second)
		l.has(t, "GET 9 HEAD 0 LIST 3", "screen")
		l.Key("2")
		l.Wait(time.Second)
		l.has(t, "GET 3 HEAD 0 LIST 1")
		l.Key("r")
		l.Wait(time.Second)
		l.has(t, "GET 9 HEAD 0 LIST 3") // r also asked what is pending
		l.Key("s")
		l.has(t, "GET 3 HEAD 0 LIST 1", "operation branches")
		l.Key("s")
		l.has(t, "GET 18 HEAD 0 LIST 6", "since start")
		l.Key("s")
		l.has(t, "screen")
		l.close(t)
	})
}

func TestStaleAnswersAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		ws.Set("Snapshot", fake.Step{Hang: true, Deaf: true})
		l := start(t, Options{URI: ws.Address, Open: opens(ws), Screen: "tables"}, 80, 24)
		ws.Set("Snapshot", fake.Step{})
		l.Key("r")
		l.has(t, "edge:CallsAt")
		loaded := l.m.env.Data.Snapshot.Loaded()
		ws.Release() // the first question comes back at last, with an error
		l.Wait(time.Minute)
		if p := &l.m.env.Data.Snapshot; p.Problem() != nil || !p.Loaded().Equal(loaded) {
			t.Errorf("a stale answer was taken: %v, %v", p.Problem(), p.Loaded())
		}
		l.close(t)
	})
}

func TestLookingAtAnotherBranch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		l := start(t, Options{URI: ws.Address, Open: opens(ws), Screen: "branches"}, 80, 24)
		l.Wait(time.Second)
		l.Key("j", "t")
		l.has(t, "harbor.omni · review/ports", "all screens show review/ports")
		if l.m.env.At.Branch != "review/ports" {
			t.Errorf("the branch that is shown is %q", l.m.env.At.Branch)
		}
		l.Key("4", "4", "2", "k", "t")
		l.has(t, "harbor.omni · main")
		l.close(t)
	})
}

func TestPickerOpensAndGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		var opened []string
		l := start(t, Options{Open: opens(ws), Recents: recents, Opened: func(uri string) { opened = append(opened, uri) }}, 80, 24)
		l.has(t, "/srv/graphs/new.omni", "demo:")
		l.Key("1")
		l.has(t, "no graph is open")
		l.Key("enter")
		l.Wait(time.Second)
		l.has(t, "an interrupted load")
		l.Key("q")
		l.has(t, "open a graph")
		if ws.Closed() != 1 {
			t.Errorf("the graph was closed %d times", ws.Closed())
		}
		l.Key("a")
		l.Send(tea.PasteMsg{Content: "s3://other/graph\nsecond line"})
		l.Key("!", "backspace", "enter")
		l.Wait(time.Second)
		if got := strings.Join(opened, " "); got != "s3://acme-graphs/harbor.omni s3://other/graph" {
			t.Errorf("opened %q", got)
		}
		l.Key("q", "q")
		if ended, _ := l.Ended(); !ended {
			t.Error("q on the picker does not leave")
		}
		l.close(t)
	})
}

func TestPanicInACommandLeavesTheTerminalAsItWas(t *testing.T) {
	ws := fake.Harbor()
	ws.Set("Snapshot", fake.Step{Panic: "index out of range"})
	dir := t.TempDir()
	var out lockedBuffer
	err := Run(t.Context(), Options{
		URI: ws.Address, Open: opens(ws), CrashDir: dir, Output: &out, NoInput: true, Width: 80, Height: 24, Env: []string{"TERM=xterm-256color"},
	})
	var crash *CrashError
	if !errors.As(err, &crash) {
		t.Fatalf("Run returned %v, want a crash", err)
	}
	if !strings.Contains(crash.Error(), "index out of range, while reading snapshot") {
		t.Errorf("the crash says %q", crash.Error())
	}
	trace, err := os.ReadFile(crash.File)
	if err != nil || filepath.Dir(crash.File) != dir || !bytes.Contains(trace, []byte("goroutine")) {
		t.Errorf("the trace in %q is %q, %v", crash.File, trace, err)
	}
	const enterAlt, leaveAlt, showCursor = "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25h"
	s := out.String()
	if strings.Contains(s, enterAlt) && (!strings.Contains(s, leaveAlt) || strings.LastIndex(s, leaveAlt) < strings.LastIndex(s, enterAlt)) {
		t.Error("the alternate screen was not left")
	}
	if strings.Contains(s, "\x1b[?25l") && strings.LastIndex(s, showCursor) < strings.LastIndex(s, "\x1b[?25l") {
		t.Error("the cursor was not shown again")
	}
}

// empty answers with nothing where the contract demands an answer.
type empty struct{ *fake.Workspace }

func (empty) Snapshot(context.Context, engine.At) (*engine.Snapshot, error) { return nil, nil }

func TestPanicWhileDrawingIsACrashToo(t *testing.T) {
	ws := empty{fake.Harbor()}
	var out lockedBuffer
	err := Run(t.Context(), Options{
		URI: ws.Address, Open: opens(ws), Screen: "tables", CrashDir: filepath.Join(t.TempDir(), "missing"),
		Output: &out, NoInput: true, Width: 80, Height: 24, Env: []string{"TERM=xterm-256color"},
	})
	var crash *CrashError
	if !errors.As(err, &crash) || crash.File != "" || !strings.Contains(crash.Error(), "nil pointer") {
		t.Fatalf("Run returned %v, want a crash without a file", err)
	}
	if s := out.String(); strings.LastIndex(s, "\x1b[?1049l") < strings.LastIndex(s, "\x1b[?1049h") {
		t.Error("the alternate screen was entered and not left")
	}
}

// A panic in Update ends the program as it is left, and by nobody's second panic.
func TestPanicInUpdateKeepsTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		b := settled(t, ws, Options{URI: ws.Address}, 80, 24)
		b.overlays = append(b.overlays, nil)
		if same, cmd := b.Update(press("j")); same != tea.Model(b.model) || cmd == nil || b.crash == nil {
			t.Errorf("after a panic the model is %v, the crash %v", same, b.crash)
		}
		b.stop()
	})
}

// A program that is killed before the renderer has drawn leaves the screen that it
// took at once, however long the machine stood still in between.
func TestKilledAfterAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		ws.Set("", fake.Step{Hang: true})
		var out lockedBuffer
		var looks atomic.Int64
		ctx, kill := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- Run(ctx, Options{
				URI: ws.Address, Open: opens(ws), Output: &out, NoInput: true, Width: 80, Height: 24, Env: []string{"TERM=xterm-256color"},
				Now: func() time.Time { return fake.Epoch.Add(time.Duration(looks.Add(1)) * time.Second) }, // a second goes from look to look
			})
		}()
		synctest.Wait() // before any round of the renderer
		kill()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		if s := out.String(); !strings.Contains(s, "\x1b[?1049h") || strings.LastIndex(s, "\x1b[?1049l") < strings.LastIndex(s, "\x1b[?1049h") {
			t.Errorf("the alternate screen was entered and not left: %q", s)
		}
		time.Sleep(time.Hour) // timers run out
	})
}

type lockedBuffer struct {
	mu    sync.Mutex
	b     bytes.Buffer
	first time.Time
	mark  string
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.b.Write(p)
	if l.first.IsZero() && l.mark != "" && strings.Contains(l.b.String(), l.mark) {
		l.first = time.Now()
	}
	return n, err
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lockedBuffer) seen() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first
}
