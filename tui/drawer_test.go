package tui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

func shows(t *testing.T, b *bench, want ...string) string {
	t.Helper()
	all := text(b.draw())
	for _, w := range want {
		if !strings.Contains(all, w) {
			t.Errorf("%q is not shown:\n%s", w, all)
		}
	}
	return all
}

func hides(t *testing.T, b *bench, not ...string) {
	t.Helper()
	all := text(b.draw())
	for _, w := range not {
		if strings.Contains(all, w) {
			t.Errorf("%q is shown:\n%s", w, all)
		}
	}
}

// TestDrawer opens it where there is no room for it, reads in it, leaves it,
// and finds it open where there is.
func TestDrawer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := settled(t, fake.Harbor(), Options{URI: fake.Harbor().Address}, 80, 24)
		hides(t, b, "manifest.scan")
		b.keys("3", "m")
		shows(t, b, "meter · commits · 4 requests", "class ", "manifest.scan     3", "slowest", "m close", "export requests")
		b.keys("G")
		shows(t, b, "about 284 reads by the Rust engine", "frag 138 !", "omnigraph optimize")
		b.keys("g", "h")
		shows(t, b, "meter · 1 before the last · info, branch names, snapshot · 12 requests")
		b.keys("j", "2") // what is not the drawer's goes on to the screen
		shows(t, b, "meter · branches", "branches · 4")
		b.keys("esc")
		hides(t, b, "manifest.scan")
		b.w, b.h = 200, 60
		hides(t, b, "manifest.scan") // it was closed
		b.drawer.set = false
		all := shows(t, b, "meter · branches", "slowest", "hop op", "LIST __manifest/_versions/")
		if n := strings.Count(all, "__manifest/data/0003.lance"); n != 2 {
			t.Errorf("a request stands %d times on the screen, among the slowest and among all\n%s", n, all)
		}
		b.keys("j") // without focus the keys are the screen's
		if b.drawer.scroll != 0 || b.top().screen.Context(&b.env).Items == 0 {
			t.Error("a drawer without focus took a key")
		}
		b.keys("m")
		hides(t, b, "manifest.scan")
		b.stop()
	})
}

// TestDrawerSaysNothingWasAsked: an operation that asked no store is said to
// have asked none.
func TestDrawerSaysNothingWasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		ws.Script = map[string]fake.Step{}
		b := settled(t, ws, Options{URI: ws.Address, Screen: "tables"}, 80, 24)
		b.keys("m")
		shows(t, b, "zero requests: snapshot was answered from memory", "meter · snapshot · 0 requests")
		b.keys("m", "0")
		shows(t, b, "ok, no request")
		b.stop()
	})
}

// TestExportOfRequests writes the requests of the operation that is shown.
func TestExportOfRequests(t *testing.T) {
	begin := fake.Epoch
	r := &screen.Record{Names: []string{"info", "snapshot"}}
	x := callsExport(r, cost.Trace{Dropped: 3, Calls: []cost.Call{
		{Op: "get", Key: "a<b", Class: "schema", Start: begin, End: begin.Add(1500 * time.Microsecond), Hop: 1, Attempt: 1},
		{Op: "list", Key: "__recovery/", Class: "recovery", Start: begin, End: begin, Hop: 2, Attempt: 2, Err: "no route", Failed: true},
	}})
	var out bytes.Buffer
	n, err := x.Write(t.Context(), nil, &out)
	if n != 2 || err != nil || !strings.Contains(x.Title, "without the 3 oldest") {
		t.Errorf("%d lines, %v, title %q", n, err, x.Title)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var first struct {
		Operation, Op, Key string
		MS                 float64
	}
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first.Operation != "info, snapshot" || first.Op != "get" || first.Key != "a<b" || first.MS != 1.5 {
		t.Errorf("line %s: %+v, %v", lines[0], first, err)
	}
	if !strings.Contains(lines[1], `"attempt":2`) || !strings.Contains(lines[1], `"failed":true`) {
		t.Errorf("line %s", lines[1])
	}
}

// TestEveryOperationIsKept: 200 of them, the newest 20 with their requests;
// what was cancelled ends as such.
func TestEveryOperationIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := settled(t, fake.Harbor(), Options{URI: fake.Harbor().Address, Screen: "overview"}, 80, 24)
		for range 230 {
			b.keys("r")
		}
		ops := b.env.Ops
		if ops.Len() != 200 || ops.Newest(0).Seq != 231 || ops.Newest(199).Seq != 32 || ops.Newest(200) != nil {
			t.Errorf("%d operations are kept, the newest is %d", ops.Len(), ops.Newest(0).Seq)
		}
		for i := range ops.Len() {
			r := ops.Newest(i)
			if _, ok := r.Trace(); ok != (i < 20) || r.Running() || r.Reading().Requests() != 12 {
				t.Fatalf("operation %d back: trace %v, running %v, %d requests", i, ok, r.Running(), r.Reading().Requests())
			}
		}
		b.send(press("r"))
		b.send(press("ctrl+c"))
		if !ops.Newest(0).Running() {
			t.Error("it has ended before its answer came")
		}
		b.drain()
		if r := ops.Newest(0); r.Running() || r.Outcome() != "cancelled" {
			t.Errorf("a cancelled operation: running %v, %s", r.Running(), r.Outcome())
		}
		b.stop()
	})
}

// TestCostBefore: the same operation is compared with the ledger at first, and
// with this session from then on; only in the scope of an operation, and not
// where pictures must come out the same.
func TestCostBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		b := settled(t, ws, Options{URI: ws.Address, Screen: "tables"}, 120, 24)
		if n := ws.Asked("Operations"); n != 1 {
			t.Errorf("the ledger was read %d times", n)
		}
		hides(t, b, "before 136")
		b.keys("s")
		shows(t, b, "before 136", "operation snapshot")
		b.clock = b.clock.Add(time.Minute)
		b.keys("r")
		shows(t, b, "before 4")
		b.env.Masked = true
		hides(t, b, "p95", "hops", "█▃▃")
		b.stop()
	})
}

// TestOverBudget: a screen that asks for more than it declared says so.
func TestOverBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		ws.InfoAnswer.Manifest.Fragments = 6
		b := settled(t, ws, Options{URI: ws.Address}, 100, 24) // 8+6+3, 4 and 2+6 are declared
		hides(t, b, "over budget")
		ws.Set("Snapshot", fake.Step{Get: 11, Hops: 3})
		b.keys("4", "r")
		shows(t, b, "! 3 over budget")
		b.keys("m")
		shows(t, b, "over its budget of 8")
		ws.InfoAnswer.GraphManifestVersion++ // the graph went on: F is not known to be the same
		if _, ok := b.env.Budget(b.op); ok {
			t.Error("a budget is declared for another version than F was read at")
		}
		b.stop()
	})
}

// TestGauges: always there once known, short where it is narrow, unknown when
// the manifest could not be read, and said to be a lower bound where it is.
func TestGauges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, fake.Harbor(), Options{URI: fake.Harbor().Address}, 80, 24)
		hides(t, b, "frag", "vers 0")
		b.drain()
		shows(t, b, "frag 138 !  vers 768 ✗")
		for _, key := range []string{"2", "3", "4", "5", "0"} {
			b.keys(key)
			shows(t, b, "frag 138 !")
		}
		b.keys("3", "j", "t")
		shows(t, b, "frag 138 !", "main at v136 ")
		b.keys("t", "5")
		b.w = 200
		shows(t, b, "138 fragments, about 284 reads a write (predicted) !", "versions, 1 LIST page")
		b.stop()

		ws := fake.Harbor()
		ws.InfoAnswer.Manifest = engine.ManifestInfo{Fragments: 12, Versions: 1000}
		b = settled(t, ws, Options{URI: ws.Address}, 80, 24)
		shows(t, b, "frag 12  vers 1000+ ✗✗")
		b.stop()

		ws = fake.Harbor()
		ws.Set("Info", fake.Step{Err: errDamaged})
		b = settled(t, ws, Options{URI: ws.Address}, 80, 24)
		shows(t, b, "? fragments  ? versions")
		b.stop()
	})
}

// TestWritesShowAsADefect: looking must not write, so a count that is not zero
// is marked, in every theme.
func TestWritesShowAsADefect(t *testing.T) {
	th, err := theme.New("mono", theme.Unknown, false)
	if err != nil {
		t.Fatal(err)
	}
	line := part.Meter{Get: 3, Put: 1, Scope: "screen"}.Render(th, 80)
	if !strings.Contains(line, th.Paint(theme.Write, "✗ PUT 1")) || strings.Contains(ansi.Strip(line), "✗ DEL") {
		t.Errorf("%q", line)
	}
}

// TestStatusLineGivesWay: in each width what matters most is there.
func TestStatusLineGivesWay(t *testing.T) {
	th, err := theme.New("mono", theme.Unknown, false)
	if err != nil {
		t.Fatal(err)
	}
	m := part.Meter{
		Get: 14, Head: 2, List: 1, Bytes: 212 << 10, Hops: 6, InFlight: 3, Failed: 2, Retries: 1, P95: "23 ms", Spark: "▁▂▇▃▁", Was: "before 31",
		Over: "4 over budget", Scope: "screen",
	}
	for _, c := range []struct {
		w    int
		want string
	}{
		{160, "GET 14 HEAD 2 LIST 1 PUT 0 DEL 0 · 212 KiB · hops 6 · 3 in flight · 1 retry · 2 failed · ! 4 over budget · p95 23 ms · before 31 · ▁▂▇▃▁"},
		{150, "2 failed · ! 4 over budget · p95 23 ms · before 31"},
		{138, "2 failed · ! 4 over budget · p95 23 ms"},
		{122, "DEL 0 · 212 KiB · hops 6 · 3 in flight · 1 retry · 2 failed · ! 4 over budget"},
		{110, "DEL 0 · hops 6 · 3 in flight · 1 retry · 2 failed · ! 4 over budget"},
		{100, "DEL 0 · 3 in flight · 1 retry · 2 failed · ! 4 over budget"},
	} {
		line := ansi.Strip(m.Render(th, c.w))
		if !strings.Contains(line, c.want) || ansi.StringWidth(line) != c.w {
			t.Errorf("%d cells: %q", c.w, line)
		}
	}
	m.Failed, m.Retries, m.InFlight, m.Over, m.Was = 0, 0, 0, "", ""
	if line := ansi.Strip(m.Render(th, 80)); strings.TrimSpace(line) != "GET 14 HEAD 2 LIST 1 PUT 0 DEL 0 · 212 KiB · hops 6 · p95 23 ms · ▁▂▇▃▁ screen" {
		t.Errorf("as tui.md draws it: %q", line)
	}
}

// TestDrawerAtEverySize draws it, focused, over and below every size, with
// failures, hostile keys, and more calls than lines.
func TestDrawerAtEverySize(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ws := wideNames()
			ws.Detail = hostileTrace()
			b := settled(t, ws, Options{URI: ws.Address, ASCII: ascii}, 80, 24)
			b.keys("m")
			for w := 20; w <= 220; w += pace.Of(1, 29) {
				for k, scroll := range []int{0, 7, 1 << 20} {
					b.drawer.scroll = scroll
					checkSize(t, b, "drawer", w, 5+(w*11+k*23)%66)
				}
			}
			b.w, b.h = 200, 60
			for _, r := range ansi.Strip(strings.Join(b.drawDrawer(200, 40), "")) {
				if ascii && r > 0x7e && r != '日' && r != '本' {
					t.Fatalf("draws %q", r)
				}
			}
			b.stop()
		})
	}
}

func hostileTrace() cost.Trace {
	tr := cost.Trace{Dropped: 88}
	for _, c := range cost.Classes {
		tr.Classes = append(tr.Classes, cost.ClassCount{Class: c, Ops: cost.Ops{Get: 1 << 40, Put: 3, Copy: 1}})
	}
	for i := range 300 {
		at := fake.Epoch.Add(time.Duration(i) * time.Millisecond)
		c := cost.Call{Op: "get", Key: fmt.Sprintf("a\x1b[31m/%d/日本\u202e", i), Class: "data.scan", Start: at, End: at.Add(time.Duration(i%7) * time.Second), Hop: 1 + i/3, Attempt: 1 + i%2}
		if i%50 == 0 {
			c.Err, c.Failed = errors.New("line one\nline two\x07").Error(), true
		}
		tr.Calls = append(tr.Calls, c)
	}
	return tr
}

// TestDrawerIsCheap measures the drawer alone at 200x60, over an operation of
// 512 requests: it is drawn with every frame.
func TestDrawerIsCheap(t *testing.T) {
	ws := fake.Harbor()
	ws.Detail = hostileTrace()
	ws.Detail.Calls = append(ws.Detail.Calls, ws.Detail.Calls[:212]...)
	var b *bench
	synctest.Test(t, func(t *testing.T) {
		b = settled(t, ws, Options{URI: ws.Address, Screen: "commits", Theme: "ansi16"}, 200, 60)
		b.stop()
	})
	pace.Within(t, "the drawer, 512 requests, of a frame of 16 ms", 5*time.Millisecond, func() time.Duration {
		b.drawn = drawn{}
		var lines []string
		took := pace.Thread(func() { lines = b.drawDrawer(200, drawerHeight) })
		check(t, lines, 200, drawerHeight)
		return took
	})
}

// TestDrawerIdles: with the drawer open nothing is drawn and no tick runs
// while nothing is in flight.
func TestDrawerIdles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		b := settled(t, ws, Options{URI: ws.Address}, 200, 60)
		first := b.View()
		for _, msg := range []any{noteMsg{}, ageMsg{}, tickMsg{}, struct{}{}} {
			b.send(msg)
			if b.dirty || b.ticking {
				t.Errorf("%T: dirty %v, ticking %v", msg, b.dirty, b.ticking)
			}
		}
		if b.View().Content != first.Content {
			t.Error("the frame changed")
		}
		b.send(press("r"))
		if !b.ticking {
			t.Error("no tick while something is in flight")
		}
		b.drain()
		if b.busy() {
			t.Error("busy after everything has come")
		}
		b.stop()
	})
}
