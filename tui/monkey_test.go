package tui

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/runner"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// moody is a store that refuses every write, and every read while it has a
// mood.
type moody struct {
	refusing
	mood atomic.Pointer[error]
}

func (s *moody) Get(ctx context.Context, key string, r blob.Range) (blob.Object, error) {
	if mood := s.mood.Load(); mood != nil {
		return blob.Object{}, *mood
	}
	return s.Store.Get(ctx, key, r)
}

func (s *moody) Head(ctx context.Context, key string) (blob.Attrs, error) {
	if mood := s.mood.Load(); mood != nil {
		return blob.Attrs{}, *mood
	}
	return s.Store.Head(ctx, key)
}

func (s *moody) List(ctx context.Context, o blob.ListOptions) iter.Seq2[blob.Entry, error] {
	if mood := s.mood.Load(); mood != nil {
		return func(yield func(blob.Entry, error) bool) { yield(blob.Entry{}, *mood) }
	}
	return s.Store.List(ctx, o)
}

// monkey uses the program as nobody would: any key, click, paste, line of text
// and size at any moment, while answers come in any order, late, or not well.
type monkey struct {
	*bench
	rng     *rand.Rand
	names   []string
	moods   func(error)
	reached map[string]int
}

// hostileTexts are typed and pasted.
var hostileTexts = []string{
	"", " ", "x", "rows", "main", "node:Port", "NLRTM", "state:!ok", "version:>3", "~(", "!~[", "a:b:c", "\x1b[31mred\x07", "\u202e", "\xff\xfe", "\x00", "日本語",
	"👩‍👩‍👦", "⚠️", strings.Repeat("長", 300), "'", `"`, "..", "1..", "-1", "99999999999999999999", "NaN", "1e999", "= or and", "id = 'x' and (", "country in ('NL', 'DE')", "depth_m > 10",
}

// lines are what is typed at the command line; nothing here names a file
// outside of the folder that the test works in.
func (k *monkey) line() string {
	word := func(of ...string) string { return of[k.rng.IntN(len(of))] }
	table := word("Port", "node:Port", "Vessel", "Vessel", "Carrier", "edge:CallsAt", "CallsAt", "__manifest", "Nothing", "node:")
	id := word("NLRTM", "9000000", "blue-anchor", "no such id", "'", "a/b")
	point := word("main", "review", "review/ports", "archive", "3", "1", "nowhere", "01K", "latest", "0")
	switch k.rng.IntN(12) {
	case 0:
		return word("mouse", "info", "branches", "log", "snapshot", "versions", "ops", "now", "lock", "write", "keys", "reload", "schema", "mouse", "follow", "sort", "columns")
	case 1:
		return word("versions", "fragments", "indexes", "schema", "rows") + " " + table
	case 2:
		return "rows " + table + " --where " + word(hostileTexts...)
	case 3:
		return "find " + id
	case 4:
		return "neighbors " + table + " " + id
	case 5, 6:
		return "diff " + point + " " + word("main", "3", "5", point)
	case 7:
		return "at " + point
	case 8:
		return "holds " + table + " " + word("1", "v3", "x", "18446744073709551615")
	case 9:
		return "theme " + word(append(theme.Names(), "none")...)
	case 10:
		if k.rng.IntN(2) == 0 {
			return word("schema", "indexes", "rows", "rows") + " " + word("Vessel", "CallsAt", "edge:CallsAt")
		}
		return "export " + word("out", "a.ndjson", "b.json", ".", "nodir")
	}
	return strings.NewReplacer("/", "", "~", "").Replace(word(hostileTexts...)) + " " + word(hostileTexts[:8]...)
}

// everyKey is every key of a keyboard, with and without what is held down
// beside it.
func everyKey() []string {
	names := append(keyNames(), "q", "ctrl+c", "enter", "enter", "enter", "tab", "esc", "esc", "backspace")
	for r := rune('!'); r < 0x7f; r++ {
		names = append(names, string(r), "ctrl+"+string(r), "alt+"+string(r))
	}
	for _, k := range []string{"enter", "tab", "esc", "up", "down", "left", "right", "home", "end", "pgup", "pgdown", "delete", "backspace", "insert", "space", "f1", "f12"} {
		names = append(names, k, "shift+"+k, "ctrl+"+k, "alt+"+k)
	}
	return names
}

// tour are lines that lead to places which are hard to meet by chance, and keys to
// press there.
var tour = [][]string{
	{"at 3"}, {"schema Vessel"}, {"indexes Vessel"}, {"mouse"}, {"rows Vessel"}, {"neighbors Vessel 9000000"}, {"fragments Vessel"}, {"diff 1 main"}, {"rows edge:CallsAt"},
	{"info", "enter"}, // a finding
}

// lead goes to the next place of the tour.
func (k *monkey) lead(i int) {
	for len(k.overlays) > 0 {
		k.shut(k.overlays[0])
	}
	k.press(":")
	to := tour[i%len(tour)]
	k.do(tea.PasteMsg{Content: to[0]})
	k.press("enter")
	k.some()
	for _, key := range to[1:] {
		k.press(key)
	}
}

// step does one thing.
func (k *monkey) step() string {
	switch n := k.rng.IntN(40); {
	case n < 9 && len(k.overlays) > 0 && k.rng.IntN(3) > 0:
		return k.talk()
	case n < 1:
		return k.do(tea.WindowSizeMsg{Width: k.rng.IntN(221), Height: k.rng.IntN(71)})
	case n < 2:
		return k.do(tea.WindowSizeMsg{Width: 80 + k.rng.IntN(140), Height: 24 + k.rng.IntN(46)})
	case n < 4:
		x, y := k.rng.IntN(k.w+3)-1, k.rng.IntN(k.h+3)-1
		switch k.rng.IntN(4) {
		case 0:
			return k.do(tea.MouseWheelMsg{X: x, Y: y, Button: []tea.MouseButton{tea.MouseWheelDown, tea.MouseWheelUp, tea.MouseWheelLeft}[k.rng.IntN(3)]})
		case 1:
			return k.do(tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft})
		case 2:
			return k.do(tea.MouseMotionMsg{X: x, Y: y})
		}
		return k.do(tea.MouseClickMsg{X: x, Y: y, Button: []tea.MouseButton{tea.MouseLeft, tea.MouseRight}[k.rng.IntN(2)]})
	case n < 5:
		return k.do(tea.PasteMsg{Content: hostileTexts[k.rng.IntN(len(hostileTexts))]})
	case n < 6:
		if k.rng.IntN(3) == 0 {
			k.moods(errors.New("the store is in a mood: \x1b[31m403\u202e"))
		} else {
			k.moods(nil)
		}
		return "mood"
	case n < 7:
		k.clock = k.clock.Add(time.Duration(k.rng.IntN(100_000)) * time.Millisecond)
		return "time"
	case n < 15:
		k.some()
		return "answers"
	}
	return k.press(k.names[k.rng.IntN(len(k.names))])
}

// talk types into what is open, and most of the time sends it off.
func (k *monkey) talk() string {
	if k.rng.IntN(2) == 0 {
		k.press("ctrl+u")
	}
	text := hostileTexts[k.rng.IntN(len(hostileTexts))]
	switch o := k.overlays[len(k.overlays)-1].(type) {
	case *command:
		text = k.line()
	case *palette:
		text = []string{"Port", "main", "sort", "diff", "export", "copy", "travel", "find", "o", "", "rev"}[k.rng.IntN(11)]
	case *confirm:
		text = []string{o.name, "no"}[k.rng.IntN(2)]
		k.clock = k.clock.Add(time.Second)
	case *prompt:
		if o.done != nil || strings.HasPrefix(o.Title, "export") {
			text = []string{"out", "b.json", "nodir"}[k.rng.IntN(3)]
		} else if k.rng.IntN(2) == 0 {
			text = []string{"NLRTM", "3", "main", "2", "port"}[k.rng.IntN(5)]
		}
	case *writer:
		return k.draft(o)
	case *help, *menu:
		return k.press([]string{"j", "k", "1", "2", "3", "0", "space", "enter", "G", "esc"}[k.rng.IntN(10)])
	}
	k.do(tea.PasteMsg{Content: text})
	if k.rng.IntN(3) == 0 {
		k.some()
	}
	if k.rng.IntN(8) == 0 {
		return k.press([]string{"esc", "tab", "up", "down", "left"}[k.rng.IntN(5)])
	}
	return k.press("enter")
}

// draft goes on with a write, wherever it stands.
func (k *monkey) draft(x *writer) string {
	switch x.Step() {
	case runner.Draft:
		if k.rng.IntN(3) == 0 {
			k.do(tea.PasteMsg{Content: []string{"query q() { delete Port where country = \"NL\" }", "query r() {\n insert Port { code: \"x\", name: \"y\", country: \"z\" }\n}", "no-such-file.jsonl", hostileTexts[k.rng.IntN(len(hostileTexts))]}[k.rng.IntN(4)]})
		}
		return k.press([]string{"ctrl+r", "ctrl+t", "tab", "enter", "up", "ctrl+z", "backspace", "m", "o", "space", "esc"}[k.rng.IntN(11)])
	case runner.Review:
		k.clock = k.clock.Add(time.Second)
		k.press(x.Hints(&k.env)[0].Key)
	}
	return k.press([]string{"enter", "esc", "y", "j", "3", "r"}[k.rng.IntN(6)])
}

// write opens a write, where one may be.
func (k *monkey) write() {
	k.env.Locked = false
	k.ws.Lock(false)
	k.later(k.toNow())
	name := []string{"W", "W", "L"}[k.rng.IntN(3)]
	k.press(name)
	if k.writer != nil && k.writer.Recovers() && k.writerShown() && !k.writing() {
		k.press("esc")
		if k.writer == nil {
			k.press(name)
		}
	}
	if k.writer != nil && k.writerShown() && k.writer.Step() == runner.Draft {
		k.press("ctrl+t")
		k.press("0")
		k.press("esc")
		k.do(tea.PasteMsg{Content: "query q() { delete Port where country = \"NL\" }"})
		k.press("ctrl+r")
	}
}

// press presses a key, unless it would write a file somewhere else or leave.
func (k *monkey) press(name string) string {
	if n := len(k.overlays); n > 0 && name == "enter" {
		text := ""
		switch o := k.overlays[n-1].(type) {
		case *command:
			text = o.field.String()
			if w, _ := split(text); len(w) > 0 && slices.Contains([]string{"q", "quit", "exit", "leave", "interrupt"}, strings.TrimPrefix(w[0], ":")) {
				name = "esc"
			}
		case *prompt:
			text = o.field.String()
		}
		if strings.ContainsAny(text, "/~\x00") && !strings.HasPrefix(text, "s3://") {
			name = "esc"
		}
	}
	return k.do(press(name))
}

func (k *monkey) do(msg tea.Msg) string {
	k.send(msg)
	return fmt.Sprintf("%T %v", msg, msg)
}

// some lets some of what was asked for come, in any order.
func (k *monkey) some() {
	n := k.rng.IntN(12)
	if k.rng.IntN(4) == 0 {
		n = 200
	}
	for ; n > 0 && len(k.cmds) > 0; n-- {
		i := k.rng.IntN(len(k.cmds))
		cmd := k.cmds[i]
		k.cmds = slices.Delete(k.cmds, i, i+1)
		switch msg := cmd().(type) {
		case nil, openedMsg:
		case tea.BatchMsg:
			for _, c := range msg {
				k.later(c)
			}
		case tea.QuitMsg, tea.InterruptMsg: // it would have ended; the monkey plays on
		default:
			k.send(msg)
		}
	}
}

// look notes what is open now.
func (k *monkey) look() {
	k.reached["screen "+k.top().screen.Name()]++
	for _, o := range k.overlays {
		k.reached[fmt.Sprintf("%T", o)]++
		if x, ok := o.(*writer); ok {
			k.reached[fmt.Sprintf("write step %d", x.Step())]++
			if x.Recovers() {
				k.reached["recovery"]++
			}
		}
	}
	for what, is := range map[string]bool{
		"pinned": k.env.Pinned != nil, "travelling": k.env.Travelling(), "branch": k.env.Branch() != "main", "drawer": k.drawerOpen(), "drawer focus": k.drawer.focus && k.drawerOpen(),
		"following": k.following, "exporting": k.export != nil, "mouse": k.mouse, "plain": k.plain, "wide": k.wide, "history": k.here < len(k.trail)-1, "deep": len(k.stack) > 2,
		"filtered": k.filtered(), "detail": k.top().screen.InDetail(), "note": k.note != "", "unlocked": k.env.Remote && !k.env.Locked,
	} {
		if is {
			k.reached[what]++
		}
	}
}

// TestMonkey: whatever is done, every frame is whole, nothing panics, nothing
// is written to the store and nothing outside of the folder one is in, and all
// of the program is met.
func TestMonkey(t *testing.T) {
	seeds, steps := uint64(4), pace.Of(2500, 100) // what must be met is met in the long run without the detector
	if n, err := strconv.Atoi(os.Getenv("OMNIDECK_MONKEYS")); err == nil && n > 0 {
		seeds, steps = uint64(n), 10_000
	}
	reached := map[string]int{}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Chdir(t.TempDir())
			synctest.Test(t, func(t *testing.T) { playOn(t, seed, steps, reached) })
		})
	}
	want := []string{
		"pinned", "travelling", "branch", "drawer", "drawer focus", "following", "mouse", "plain", "wide", "history", "deep", "filtered", "detail", "note", "unlocked", "exported", "copied", "kept",
		"*tui.command", "*tui.palette", "*tui.prompt", "*tui.menu", "*tui.help", "*tui.confirm",
		"*tui.writer", "recovery", "write step 0", "write step 1", "write step 2", "write step 3", "write step 4", "write step 5",
	}
	for _, s := range action.Screens {
		if s != action.OnPicker && s != action.OnRecovery {
			want = append(want, "screen "+s)
		}
	}
	for _, w := range want {
		if reached[w] == 0 && !pace.Race {
			t.Errorf("%q was never met", w)
		}
	}
	for _, w := range slices.Sorted(maps.Keys(reached)) {
		t.Logf("%6d %s", reached[w], w)
	}
}

// newMonkey is a monkey over the embedded graph with even seeds, and over the
// scripted one, which is remote, with odd ones. store counts the writes to the
// embedded graph.
func newMonkey(t *testing.T, seed uint64, reached map[string]int) (k *monkey, store *moody) {
	t.Helper()
	mem, err := fixtures.DemoStore()
	if err != nil {
		t.Fatal(err)
	}
	store = &moody{}
	store.Store = mem
	k = &monkey{rng: rand.New(rand.NewPCG(seed, 7)), names: everyKey(), reached: reached}
	k.moods = func(err error) {
		store.mood.Store(nil)
		if err != nil {
			store.mood.Store(&err)
		}
	}
	var ws workspace.Workspace
	if seed%2 == 0 {
		ws, err = workspace.Open(t.Context(), "mem://demo", engine.Options{Store: store, NoCache: true, Write: true})
	} else {
		f := wideNames()
		f.IsRemote, f.Writing, ws = true, scripted(planFor("strict", updates), planFor("additive", inserts)).Writing, f
		f.Writing.Pause, f.Writing.Durable = 0, 0
		k.moods = func(err error) { f.Set("", fake.Step{Err: err, Get: 1}) }
	}
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		URI: ws.URI(), Theme: "ansi16",
		LoadState: func(string) ([]byte, error) { return nil, nil },
		SaveState: func(string, []byte) error { reached["kept"]++; return nil },
		SaveCopy:  func([]byte) (string, error) { reached["copied"]++; return "copy", nil },
	}
	k.bench = newBench(t, ws, o, 120, 40)
	return k, store
}

// playOn lets a monkey play in the folder one is in, and lets every request that
// it left end.
func playOn(t *testing.T, seed uint64, steps int, reached map[string]int) {
	k, store := newMonkey(t, seed, reached)
	for i := range steps {
		if i%60 == 59 {
			k.lead(i / 60)
			if i%180 == 179 {
				k.write()
			}
		}
		what := k.step()
		lines := k.draw()
		if k.crash != nil {
			t.Fatalf("seed %d, step %d, %s: %v\n%s", seed, i, what, k.crash.cause, k.crash.stack)
		}
		if err := k.frameIsWhole(lines); err != nil {
			t.Fatalf("seed %d, step %d, %s, at %dx%d on %s: %v\n%s", seed, i, what, k.w, k.h, k.top().screen.Place(), err, ansi.Strip(strings.Join(lines, "\n")))
		}
		k.look()
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	reached["exported"] += len(files)
	k.moods(nil)
	k.following = false
	k.stop()
	for _, cmd := range k.cmds { // what was never answered ends with the program
		cmd()
	}
	if n := store.writes.Load(); n != 0 && !k.wrote {
		t.Errorf("%d writes, and none was confirmed", n)
	}
}

func (k *monkey) frameIsWhole(lines []string) error {
	if len(lines) != max(k.h, 0) && k.w > 0 && k.h > 0 {
		return fmt.Errorf("%d lines of %d", len(lines), k.h)
	}
	for y, l := range lines {
		if ansi.StringWidth(l) != k.w {
			return fmt.Errorf("line %d has %d cells: %q", y, ansi.StringWidth(l), l)
		}
		for _, r := range ansi.Strip(l) {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e' || r == '\ufffd' && strings.Contains(l, "\xff") {
				return fmt.Errorf("line %d holds %q: %q", y, r, l)
			}
		}
	}
	return nil
}
