package tui

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/harness"
	"github.com/omnideck/omnideck/tui/runner"
	"github.com/omnideck/omnideck/tui/workspace"
)

// watched is a store that counts what would change it, and says it at once, on
// whatever goroutine writes.
type watched struct {
	blob.Store
	remote bool
	writes atomic.Int64
	told   func() // set before anything is written
}

func (s *watched) Properties() blob.Properties {
	p := s.Store.Properties()
	p.Remote = p.Remote || s.remote
	return p
}

func (s *watched) wrote() {
	s.writes.Add(1)
	if s.told != nil {
		s.told()
	}
}

func (s *watched) Put(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	s.wrote()
	return s.Store.Put(ctx, key, data)
}

func (s *watched) PutIfAbsent(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	s.wrote()
	return s.Store.PutIfAbsent(ctx, key, data)
}

func (s *watched) Delete(ctx context.Context, key string) error {
	s.wrote()
	return s.Store.Delete(ctx, key)
}

// writableDemo is the embedded graph in a store in memory, to be written to.
func writableDemo(t *testing.T, remote bool) *watched {
	t.Helper()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := fixtures.Store(memstore.Options{Name: "midlife"}, files) // without latency: a lock that is held over a sleep stops a bubble's clock
	if err != nil {
		t.Fatal(err)
	}
	return &watched{Store: mem, remote: remote}
}

func (s *watched) open(ctx context.Context, uri string) (workspace.Workspace, error) {
	return workspace.Open(ctx, uri, engine.Options{Store: s, NoCache: true, Write: true})
}

// mutateBeside is another program that writes to the same graph.
func mutateBeside(t *testing.T, s *watched, source string) {
	t.Helper()
	g, err := engine.Open(t.Context(), "mem://midlife", engine.Options{Store: s.Store, NoCache: true, Write: true})
	if err == nil {
		_, _, err = g.Mutate(t.Context(), engine.MutateOptions{Source: source})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// planned types a mutation into W and waits for its plan.
func (l *live) planned(source string) {
	l.Key("W", "ctrl+t", "0", "esc", "esc", "W") // an empty draft, kept or not
	l.Send(tea.PasteMsg{Content: source})
	l.Key("ctrl+r")
	l.Wait(3 * time.Second)
}

// confirm does what the review asks for, and waits for the receipt.
func (l *live) confirm() {
	if k := l.m.writer.Hints(&l.m.env)[0].Key; k == "tab" {
		l.Key("tab", "enter")
	} else {
		l.Key(k)
	}
	l.Wait(5 * time.Second)
}

// TestWritingThroughTheWholeProgram writes to the embedded graph as a person
// would, over the real engine.
func TestWritingThroughTheWholeProgram(t *testing.T) {
	dir := t.TempDir()
	lines := filepath.Join(dir, "checked.jsonl")
	if err := os.WriteFile(lines, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		store := writableDemo(t, false)
		l := start(t, Options{URI: "mem://midlife", Open: store.open, Screen: "tables", Now: time.Now}, 120, 40)
		l.Wait(4 * time.Second)

		l.planned(`query add() { insert Port { code: "XXTST", name: "Test", country: "XX" } }`)
		l.has(t, "review", "node:Port", "+1", "Cancel", "Run: insert 1 row", "--plan", "sandbox in memory")
		if n := store.writes.Load(); n != 0 {
			t.Errorf("a plan made %d writes", n)
		}
		l.Key("enter") // the focus is on Cancel
		l.has(t, "draft")
		l.Key("ctrl+r")
		l.Wait(3 * time.Second)
		l.confirm()
		l.has(t, "receipt", "✓ commit", "+1", "expected")
		l.Key("0")
		l.Wait(2 * time.Second)
		l.has(t, "mutate", "ok, commit", "plan mutate")

		l.planned(`query change($n: String) { update Port set { name: $n } where code = "XXTST" }`)
		l.has(t, "draft", "parameter")
		l.Send(tea.PasteMsg{Content: `{"n": "Changed"}`}) // where the focus went
		l.Key("tab", "enter")
		l.Wait(3 * time.Second)
		l.has(t, "review", "to update 1 row")
		l.confirm()
		l.has(t, "receipt", "✓ commit")
		l.Key("esc")
		l.Key(":")
		l.Send(tea.PasteMsg{Content: "neighbors Port XXTST"})
		l.Key("enter")
		l.Wait(3 * time.Second)
		l.has(t, "Changed")

		l.planned(`query deep() { update Port set { depth_m: 900.5 } where code = "XXTST" }`)
		l.has(t, "refused: nothing was written", "node:Port", "XXTST", "depth_m", "900.5")
		l.Key("esc", "esc")

		l.planned(`query gone() { delete Port where country = "XX" }`)
		l.has(t, "to delete 1 row")
		mutateBeside(t, store, `query q() { insert Port { code: "XXTWO", name: "Two", country: "XX" } }`)
		l.confirm()
		l.has(t, "the graph moved while you looked", "delete 1 row → delete 2 rows", "to delete 2 rows")
		l.confirm()
		l.has(t, "receipt", "-2")
		l.Key("esc")
		l.close(t)
	})
}

// TestOverwritingIsTyped: rows that a load takes the place of are counted, and the
// count is typed before it runs.
func TestOverwritingIsTyped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "partners.jsonl")
	text := `{"edge":"Partner","from":"blue-anchor","to":"blue-anchor","data":{"strength":"weak"}}` + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		store := writableDemo(t, false)
		l := start(t, Options{URI: "mem://midlife", Open: store.open, Screen: "tables", Now: time.Now}, 120, 40)
		l.Wait(4 * time.Second)
		l.Key("L")
		l.Send(tea.PasteMsg{Content: file})
		l.Key("enter", "o", "ctrl+r")
		l.Wait(4 * time.Second)
		l.has(t, "review", "edge:Partner", "Type ")
		plan := l.m.writer.Plan()
		if plan == nil {
			l.close(t)
			return // has said what is there instead
		}
		want := "main"
		if n := plan.Tables[0].Deleted; n >= 10 {
			want = strconv.FormatUint(n, 10)
		}
		l.Key("enter", "x", "enter")
		l.has(t, "nothing ran")
		if n := store.writes.Load(); n != 0 {
			t.Errorf("%d writes before it was confirmed", n)
		}
		l.Key("ctrl+u")
		l.Send(tea.PasteMsg{Content: want})
		l.Key("enter")
		l.Wait(5 * time.Second)
		l.has(t, "receipt", "✓ commit", "edge:Partner")
		l.close(t)
	})
}

// TestLoadingInChunks loads a file in several commits, over the real engine.
func TestLoadingInChunks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ports.jsonl")
	var text strings.Builder
	for i := range 8200 {
		text.WriteString(`{"type":"Port","data":{"code":"C` + string(rune('A'+i%26)) + strings.Repeat("x", i/26%20) + string(rune('0'+i/520%10)) + string(rune('0'+i/5200)) + `","name":"N","country":"XX"}}` + "\n")
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		store := writableDemo(t, false)
		l := start(t, Options{URI: "mem://midlife", Open: store.open, Screen: "tables", Now: time.Now}, 120, 40)
		l.Wait(4 * time.Second)
		l.Key("L")
		l.Send(tea.PasteMsg{Content: file})
		l.Key("enter", "enter", "space", "ctrl+r")
		l.Wait(4 * time.Second)
		l.has(t, "review", "8200 nodes", "load 8200 entities in 2 commits")
		l.confirm()
		l.Wait(20 * time.Second)
		l.has(t, "loaded: 2 commits for 2 chunks")
		l.close(t)
	})
}

// TestRandomKeysWriteNothingWhileLocked: thousands of keys on a remote graph,
// which could be written to if it were unlocked, change nothing.
func TestRandomKeysWriteNothingWhileLocked(t *testing.T) {
	t.Chdir(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		store := writableDemo(t, true)
		b := walk(t, store, 7)
		if n := store.writes.Load(); !b.env.Locked || n != 0 {
			t.Errorf("locked is %v, %d writes", b.env.Locked, n)
		}
		b.stop()
	})
}

// TestRandomKeysWriteOnlyWhatWasConfirmed: on a graph that may be written to,
// nothing changes it but a write that was confirmed.
func TestRandomKeysWriteOnlyWhatWasConfirmed(t *testing.T) {
	t.Chdir(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		store := writableDemo(t, false)
		b := walk(t, store, 8)
		n := store.writes.Load()
		if n > 0 && !b.wrote {
			t.Errorf("%d writes, and none was confirmed", n)
		}
		t.Logf("%d writes", n)
		b.stop()
	})
}

// walk presses random keys, with a mutation and a file to be found in the drafts.
func walk(t *testing.T, store *watched, seed uint64) *bench {
	ws, err := store.open(t.Context(), "mem://midlife")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, ws, Options{URI: ws.URI()}, 120, 40)
	b.drain()
	store.told = func() {
		if !b.writing() {
			t.Errorf("a write while none runs, on %s", b.top().screen.Place())
		}
	}
	names := append(everyKey(), "W", "W", "L", "ctrl+r", "ctrl+r", "ctrl+r")
	rng := rand.New(rand.NewPCG(seed, 7))
	planned := 0
	for i := range pace.Of(4000, 400) {
		if i%50 == 0 && !b.writing() {
			b.overlays, b.writer = nil, nil
			b.drafts["mutate query"], b.drafts["mutate params"] = `query q() { insert Port { code: "XX", name: "X", country: "XX" } }`, ""
			b.keys("W", "ctrl+r")
			b.clock = b.clock.Add(time.Second)
		}
		before := b.writing()
		b.send(harness.Press(names[rng.IntN(len(names))]))
		if b.writing() && !before && b.writer.Plan() == nil && b.writer.Write.Load == nil {
			t.Error("a write began without a plan")
		}
		if b.writer != nil && b.writer.Step() == runner.Review {
			planned++
		}
		if i%3 == 0 {
			b.drain()
		}
		b.cmds = b.cmds[max(0, len(b.cmds)-12):]
		if b.crash != nil {
			t.Fatalf("key %d: %v while %s\n%s", i, b.crash.cause, b.crash.during, b.crash.stack)
		}
	}
	b.drain()
	if planned == 0 && !store.remote {
		t.Error("no plan was ever looked at: the walk says nothing")
	}
	return b
}
