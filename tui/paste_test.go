package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// TestPastes: a megabyte pasted into anything that is typed into is cut to one
// line that can be edited at once; pasted onto a screen or a menu it
// does nothing.
func TestPastes(t *testing.T) {
	slowest, where := time.Duration(0), ""
	mega := strings.Repeat("q\x1b[31m\r\n長:~(\"\u202e\x00 ", 1<<16)
	for _, start := range []string{"overview", "commits", "node:Port/rows", "node:Port/rows/port-00000", "operations"} {
		for _, open := range [][]string{nil, {":"}, {"/"}, {"p", "p"}, {"ctrl+p"}, {"i"}, {"e"}, {"U"}, {"y"}, {"o"}, {"?"}} {
			synctest.Test(t, func(t *testing.T) {
				ws := fake.Harbor()
				b := newBench(t, ws, Options{URI: ws.Address, Screen: start}, 80, 24)
				b.drain()
				b.keys(open...)
				b.clock = b.clock.Add(time.Second)
				before, place, covered := strings.Join(b.draw(), "\n"), b.top().screen.Place(), len(b.overlays) > 0
				after := ""
				took := pace.Thread(func() {
					b.send(tea.PasteMsg{Content: mega})
					after = strings.Join(b.draw(), "\n")
					b.keys("x", "left", "backspace", "home", "delete", "end")
					b.draw()
				})
				if took > slowest {
					slowest, where = took, fmt.Sprintf("%s %v", start, open)
				}
				if b.crash != nil {
					t.Fatalf("%s %v: %v\n%s", start, open, b.crash.cause, b.crash.stack)
				}
				if typed := covered && open[0] != "y" && open[0] != "o"; !typed && after != before {
					t.Errorf("%s %v: a paste changes what is shown:\n%s", start, open, after)
				}
				if got := b.top().screen.Place(); covered && got != place {
					t.Errorf("%s %v: a paste leads to %s", start, open, got)
				}
				b.stop()
			})
		}
	}
	pace.Check(t, "a paste and six keys on "+where, slowest, time.Second, pace.Allowed(time.Second))
}
