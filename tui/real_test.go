package tui

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/harness"
	"github.com/omnideck/omnideck/tui/workspace"
)

// midlife opens the embedded graph in a store in memory whose every request
// takes ten milliseconds and which refuses to be written to.
func midlife(t *testing.T) (func(context.Context, string) (workspace.Workspace, error), *refusing) {
	t.Helper()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	filled := false
	mem, err := fixtures.Store(memstore.Options{Name: "midlife", Latency: func(blob.Op, string) time.Duration {
		if !filled {
			return 0
		}
		return 10 * time.Millisecond
	}, Now: func() time.Time { return look }}, files)
	if err != nil {
		t.Fatal(err)
	}
	filled = true
	store := &refusing{Store: mem}
	return func(ctx context.Context, uri string) (workspace.Workspace, error) {
		return workspace.Open(ctx, uri, engine.Options{Store: store, NoCache: true})
	}, store
}

// look is when the embedded graph is looked at, minutes after it was written.
var look = time.Date(2026, 11, 29, 15, 30, 0, 0, time.UTC)

// refusing is a store on which every write fails and is counted.
type refusing struct {
	blob.Store
	writes atomic.Int64
}

func (r *refusing) Put(context.Context, string, []byte) (blob.Attrs, error) {
	r.writes.Add(1)
	return blob.Attrs{}, blob.ErrReadOnly
}

func (r *refusing) PutIfAbsent(context.Context, string, []byte) (blob.Attrs, error) {
	r.writes.Add(1)
	return blob.Attrs{}, blob.ErrReadOnly
}

func (r *refusing) Delete(context.Context, string) error {
	r.writes.Add(1)
	return blob.ErrReadOnly
}

// realPlaces are the screens of the embedded graph, and what is pressed there.
var realPlaces = []struct {
	name, start string
	keys        []string
}{
	{"overview", "overview", nil},
	{"branches", "branches", []string{"j", "j", "j"}},
	{"commits", "commits", []string{"j", "j", "j"}},
	{"tables", "tables", []string{"G", "k"}},
	{"manifest", "versions", nil},
	{"fragments", "node:Port", nil},
	{"chain", "node:Port/versions", []string{"j"}},
	{"rows", "node:Port/rows", []string{"j", "j"}},
	{"edges", "edge:CallsAt/rows", []string{"G", "tab"}},
	{"schema", "edge:CallsAt/schema", nil},
	{"indexes", "node:Port/indexes", nil},
	{"entity", "node:Port/rows/NLRTM", []string{"j", "j"}},
	{"edge-and-back", "node:Port/rows/NLRTM", []string{"j", "x", "j", "enter", "esc"}},
	{"find", "find/NLRTM", nil},
	{"compare", "commits", []string{"=", "G", "D"}},
	{"compare-row", "node:Port/rows/DEHAM", []string{"=", ":", "a", "t", "space", "2", "enter", "D"}},
	{"travel", "commits", []string{"G", "k", "t", "4"}},
	{"where", "node:Port/rows", []string{"/", "d", "e", "p", "t", "h", "_", "m", ">", "2", "0", "enter"}},
	{"drawer", "tables", []string{"m"}},
	{"operations", "overview", []string{"3", "4", "0"}},
	{"meter", "branches", []string{"3", "4", "s", "s"}},
	{"other-branch", "branches", []string{"G", "t", "4"}},
}

// TestMidlife runs the whole program over the real engine, and compares what
// stands on the emulated terminal. The counts in the status line are part of
// it: they change only when what a screen costs changes.
func TestMidlife(t *testing.T) {
	for i, place := range realPlaces {
		for j, size := range sizes {
			if pace.Race && j != i%len(sizes) { // each place and each size, not with each other
				continue
			}
			t.Run(fmt.Sprintf("%s/%dx%d", place.name, size[0], size[1]), func(t *testing.T) {
				var shown string
				synctest.Test(t, func(t *testing.T) {
					open, store := midlife(t)
					begin := time.Now()
					l := start(t, Options{URI: "mem://midlife", Open: open, Screen: place.start, Now: func() time.Time { return look.Add(time.Since(begin)) }}, size[0], size[1])
					l.Wait(4 * time.Second)
					for _, k := range place.keys {
						l.Key(k)
						l.Wait(2 * time.Second)
					}
					shown = l.Text()
					if n := store.writes.Load(); n != 0 {
						t.Errorf("%d writes", n)
					}
					l.close(t)
				})
				if strings.HasPrefix(place.start, "find/") || strings.Contains(place.start, "/rows/") {
					// A look-up that found its row lets go of the reads beside it: how many of
					// them had begun is chance.
					shown = counts.ReplaceAllString(shown, " GET …")
				}
				golden.RequireEqual(t, []byte(trimmed(shown)))
			})
		}
	}
}

// counts are the status line.
var counts = regexp.MustCompile(`(?m)^ GET \d+ HEAD .*$`)

// trimmed is a screen without trailing blanks, and without a docked drawer:
// which of the questions that run at one moment is charged with a request that
// they share is chance. The status line counts the whole screen.
func trimmed(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	drawer := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "── meter") })
	for i := range lines {
		if drawer >= 0 && i > drawer && i < len(lines)-2 {
			lines[i] = ""
		}
		if i == drawer {
			lines[i] = "── meter"
		}
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// TestTenThousandRandomKeysWriteNothing walks through the real engine's
// answers in every direction, over a store that counts writes.
func TestTenThousandRandomKeysWriteNothing(t *testing.T) {
	t.Chdir(t.TempDir()) // some of them export, which writes no graph
	names := keyNames()
	synctest.Test(t, func(t *testing.T) {
		open, store := midlife(t)
		ws, err := open(t.Context(), "mem://midlife")
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(t, ws, Options{URI: ws.URI()}, 120, 40)
		b.drain()
		rng := rand.New(rand.NewPCG(7, 7))
		for i := range pace.Of(10_000, 1000) {
			b.send(harness.Press(names[rng.IntN(len(names))]))
			if i%40 == 0 {
				b.drain()
				b.draw()
			}
			b.cmds = b.cmds[max(0, len(b.cmds)-4):] // answers that nobody waits for
			if b.crash != nil {
				t.Fatalf("key %d: %v while %s\n%s", i, b.crash.cause, b.crash.during, b.crash.stack)
			}
		}
		b.drain()
		b.stop()
		if n := store.writes.Load(); n != 0 {
			t.Errorf("%d writes", n)
		}
	})
}

// TestResizing ends at the screen that a program started at that size shows.
func TestResizing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, _ := midlife(t)
		begin := time.Now()
		now := func() time.Time { return look.Add(time.Since(begin)) }
		l := start(t, Options{URI: "mem://midlife", Open: open, Now: now}, 80, 24)
		l.Wait(3 * time.Second)
		want := l.Text()
		for _, s := range [][2]int{{40, 10}, {200, 60}, {61, 16}, {120, 40}, {20, 5}, {80, 24}} {
			l.Resize(s[0], s[1])
		}
		if got := l.Text(); got != want {
			t.Errorf("after resizing:\n%s\nbefore:\n%s", got, want)
		}
		l.close(t)
	})
}
