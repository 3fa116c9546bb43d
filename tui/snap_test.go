package tui

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
	"github.com/omnideck/omnideck/tui/workspace"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// snapPlaces are the places of the embedded graph, and keys that lead on from
// them.
var snapPlaces = []struct {
	place string
	keys  string
}{
	{"overview", ""},
	{"overview", "tab j"},
	{"branches", "j j"},
	{"commits", "j enter"},
	{"tables", "j enter tab"},
	{"versions", "j"},
	{"node:Port", ""},
	{"node:Port/versions", "j"},
	{"node:Port/rows", "j enter"},
	{"edge:CallsAt/rows", "G"},
	{"tables", "?"},
	{"branches", "M m"},
	{"operations", "j"},
	{"node:Port/schema", "j"},
	{"node:Vessel/indexes", ""},
	{"operations/ledger", ""},
	{"node:Port/rows/NLRTM", "j"},
	{"find/NLRTM", "enter"},
	{"diff/archive..main", "j enter"},
	{"commits", "/ m a i n"},
	{"tables", "ctrl+p P o r t"},
	{"commits", "j t 1"},
	{"commits", "j = j j D"},
}

// sameEveryTime snaps every place at every size, again and again.
func sameEveryTime(t *testing.T, uri string, runs int, open func(context.Context, string) (workspace.Workspace, error)) {
	t.Helper()
	for i, p := range pace.Every(t, 8, snapPlaces) {
		for j, size := range sizes {
			if runs == 2 && j != i%len(sizes) { // a slow store: one size each
				continue
			}
			first := ""
			for run := range runs {
				shot, err := Snap(t.Context(), SnapOptions{
					Options: Options{URI: uri, Open: open, Screen: p.place, Width: size[0], Height: size[1], Now: func() time.Time { return look }},
					Press:   strings.Fields(p.keys), Pinned: true,
				})
				if err != nil || shot.Failed != nil {
					t.Fatalf("%s %q: %v, %v", p.place, p.keys, err, shot.Failed)
				}
				got := strings.Join(shot.Lines, "\n")
				if run == 0 {
					first = got
				}
				if got != first {
					t.Errorf("%s %q at %dx%d: run %d differs:\n%s\nthe first:\n%s", p.place, p.keys, size[0], size[1], run+1, shot.Picture().Text(), first)
					break
				}
			}
		}
	}
}

// runs is how often each picture is drawn: n times, or as often as
// OMNIDECK_SNAP_RUNS says.
func runs(n int) int {
	if more, err := strconv.Atoi(os.Getenv("OMNIDECK_SNAP_RUNS")); err == nil && more > 1 {
		return more
	}
	return pace.Of(n, 2)
}

// TestSnapIsTheSame: the picture of an unchanged graph is the same every time,
// the counts of requests in it included, however long each request takes.
func TestSnapIsTheSame(t *testing.T) {
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("mem", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow := false
			mem, err := fixtures.Store(memstore.Options{Name: "midlife", Now: func() time.Time { return look }, Latency: func(blob.Op, string) time.Duration {
				if !slow {
					return 0
				}
				return rand.N(60 * time.Millisecond)
			}}, files)
			if err != nil {
				t.Fatal(err)
			}
			slow = true
			sameEveryTime(t, "mem://midlife", runs(6), opener(engine.Options{Store: kept{mem}, NoCache: true, Concurrency: 1}))
		})
	})
	t.Run("file", func(t *testing.T) {
		dir := t.TempDir()
		unpack(t, files, dir)
		sameEveryTime(t, dir, runs(3), opener(engine.Options{Concurrency: 1}))
	})
	t.Run("s3", func(t *testing.T) {
		l := lab.Test(t, lab.Options{Between: jitter})
		unpack(t, files, l.Path("midlife"))
		sameEveryTime(t, l.URI("midlife"), runs(2), opener(engine.Options{NoCache: true, Concurrency: 1}))
	})
}

// kept is a store that outlives the graphs that are opened over it.
type kept struct{ blob.Store }

func (kept) Close() error { return nil }

func opener(o engine.Options) func(context.Context, string) (workspace.Workspace, error) {
	return func(ctx context.Context, uri string) (workspace.Workspace, error) { return workspace.Open(ctx, uri, o) }
}

// jitter makes each answer come a little later or a little more.
func jitter(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(rand.N(4 * time.Millisecond))
		h.ServeHTTP(w, r)
	})
}

func unpack(t *testing.T, files map[string][]byte, dir string) {
	t.Helper()
	if err := fixtures.Write(dir, files); err != nil {
		t.Fatal(err)
	}
}

// harbor are the options of a shot of the scripted graph.
func harbor(ws *fake.Workspace, screen string, keys ...string) SnapOptions {
	return SnapOptions{
		Options: Options{URI: ws.Address, Open: opens(ws), Screen: screen, Width: 80, Height: 24, Now: func() time.Time { return fake.Epoch }},
		Press:   keys,
	}
}

// TestSnapPressesKeys: what a key asks for has come before the next one.
func TestSnapPressesKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		ws.Set("", fake.Step{Delay: 3 * time.Second})
		shot, err := Snap(t.Context(), harbor(ws, "overview", "4", "enter", "tab"))
		if err != nil {
			t.Fatal(err)
		}
		if len(shot.Lines) != 24 || !strings.Contains(shot.Picture().Text(), "versions") || ws.Asked("Snapshot") == 0 {
			t.Errorf("the screen is\n%s", shot.Picture().Text())
		}
		if ws.Closed() != 1 {
			t.Errorf("closed %d times", ws.Closed())
		}
	})
}

// TestSnapFails: bad options say what would be good ones, and what cannot be
// drawn is no picture.
func TestSnapFails(t *testing.T) {
	for want, change := range map[string]func(*SnapOptions){
		"expected 20x5 to 500x200":        func(o *SnapOptions) { o.Width = 19 },
		"found the size 80x201":           func(o *SnapOptions) { o.Height = 201 },
		`reading the key "entr"`:          func(o *SnapOptions) { o.Press = []string{"j", "entr"} },
		"number 2, q, leaves the program": func(o *SnapOptions) { o.Press = []string{"j", "q"} },
		`found "pink"`:                    func(o *SnapOptions) { o.Theme = "pink" },
		"no way in": func(o *SnapOptions) {
			o.Open = func(context.Context, string) (workspace.Workspace, error) { return nil, errors.New("no way in") }
		},
	} {
		o := harbor(fake.Harbor(), "overview")
		change(&o)
		if shot, err := Snap(t.Context(), o); err == nil || shot != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v", want, shot, err)
		}
	}
}

// TestSnapOfFailures: a failure is drawn; that nothing was read is said beside
// the picture.
func TestSnapOfFailures(t *testing.T) {
	ws := fake.Harbor()
	ws.Set("", fake.Step{Err: errDamaged})
	shot, err := Snap(t.Context(), harbor(ws, "branches"))
	if err != nil || !errors.Is(shot.Failed, errDamaged) || !strings.Contains(shot.Picture().Text(), "shorter than a manifest can be") {
		t.Errorf("%v, %v", shot, err)
	}
	ws = fake.Harbor()
	ws.Set("Info", fake.Step{Err: errDamaged})
	shot, err = Snap(t.Context(), harbor(ws, "overview"))
	if err != nil || shot.Failed != nil || !strings.Contains(shot.Picture().Text(), "shorter than a manifest can be") {
		t.Errorf("%v, %v", shot, err)
	}
}

// TestSnapEnds: with its context, with the screen as it stood then, also when a
// question never ends; and at a panic.
func TestSnapEnds(t *testing.T) {
	for name, step := range map[string]fake.Step{"hangs": {Hang: true}, "deaf": {Hang: true, Deaf: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ws := fake.Harbor()
				ws.Set("Branches", step)
				gone := errors.New("time is up")
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, gone)
				defer cancel()
				begin := time.Now()
				shot, err := Snap(ctx, harbor(ws, "branches"))
				if !errors.Is(err, gone) || shot == nil || !strings.Contains(shot.Picture().Text(), "reading branches") {
					t.Errorf("%v, %v", shot, err)
				}
				if took := time.Since(begin); took > time.Minute+deaf {
					t.Errorf("took %s", took)
				}
				ws.Release()
			})
		})
	}
	ws := fake.Harbor()
	ws.Set("Branches", fake.Step{Panic: "a screw is loose"})
	o := harbor(ws, "branches")
	o.CrashDir = t.TempDir()
	shot, err := Snap(t.Context(), o)
	var crash *CrashError
	if !errors.As(err, &crash) || shot != nil || !strings.Contains(fmt.Sprint(crash.Cause), "a screw is loose") || crash.File == "" {
		t.Errorf("%v, %v", shot, err)
	}
}

// TestSnapAtEverySize: each place fills each size exactly, without an error.
func TestSnapAtEverySize(t *testing.T) {
	widths := []int{20, 35, 50, 59, 60, 80, 99, 100, 120, 140, 159, 160, 180, 199, 200, 220}
	heights := []int{5, 9, 14, 15, 20, 29, 30, 45, 59, 60, 70}
	ws := fake.Harbor()
	ws.Script = nil // no question takes time
	for _, p := range pace.Every(t, 5, snapPlaces) {
		for i, w := range widths {
			for j, h := range heights {
				if (i+j)%3 != 0 { // every width and every height, not with each other
					continue
				}
				o := harbor(ws, p.place, strings.Fields(p.keys)...)
				o.Width, o.Height, o.ASCII = w, h, i%2 == 0
				shot, err := Snap(t.Context(), o)
				if err != nil {
					t.Fatalf("%s %q at %dx%d: %v", p.place, p.keys, w, h, err)
				}
				checkFrame(t, fmt.Sprintf("%s %q", p.place, p.keys), shot)
			}
		}
	}
}

func checkFrame(t *testing.T, what string, s *Shot) {
	t.Helper()
	if len(s.Lines) != s.H {
		t.Errorf("%s at %dx%d has %d lines", what, s.W, s.H, len(s.Lines))
	}
	for y, l := range s.Lines {
		if n := ansi.StringWidth(l); n != s.W {
			t.Errorf("%s at %dx%d: line %d has %d cells: %q", what, s.W, s.H, y+1, n, l)
		}
	}
}
