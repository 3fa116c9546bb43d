package tui

import (
	"fmt"
	"image/color"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// TestColours compares the cells themselves, as a picture that can be looked
// at, for one screen in each theme and on each background.
func TestColours(t *testing.T) {
	for _, c := range []struct {
		theme, background string
		tells             color.Color
	}{
		{"ansi16", "unknown", nil}, {"ansi16", "dark", color.Black}, {"ansi16", "light", color.White}, {"mono", "unknown", nil},
	} {
		t.Run(c.theme+"/"+c.background, func(t *testing.T) {
			var picture string
			synctest.Test(t, func(t *testing.T) {
				ws := fake.Harbor()
				l := start(t, Options{URI: ws.Address, Open: opens(ws), Screen: "commits", Theme: c.theme}, 100, 24)
				if c.tells != nil {
					l.Send(tea.BackgroundColorMsg{Color: c.tells})
				}
				l.Wait(time.Second)
				l.Key("j", "j")
				picture = l.SVG(c.background == "light")
				l.close(t)
			})
			if c.theme == "mono" && strings.Count(picture, "#") != strings.Count(picture, "#e5e5e5")+strings.Count(picture, "#101010") {
				t.Error("the theme without colours draws in one")
			}
			golden.RequireEqual(t, []byte(picture))
		})
	}
}

// TestRowsArePaged: pages are asked for as one comes near them, far ones are
// forgotten, and the total is what the table really held.
func TestRowsArePaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		var asked []string
		page := fake.Ports(48_010) // fewer than the graph records
		ws.Page = func(table string, o engine.RowsOptions) *engine.RowPage {
			asked = append(asked, fmt.Sprint(o.Offset, "+", o.Limit))
			p := page(table, o)
			p.Total = 48_210
			return p
		}
		b := newBench(t, ws, Options{URI: ws.Address, Screen: "node:Port/rows"}, 80, 24)
		b.drain()
		has := func(want string) {
			t.Helper()
			if s := text(b.draw()); !strings.Contains(s, want) {
				t.Errorf("%q is not on the screen:\n%s", want, s)
			}
		}
		has("1 to 17 of 48 210 recorded")
		for range 9 { // near the end of the first page the second is asked for
			b.keys("pgdown")
		}
		if got := strings.Join(asked, " "); got != "0+200 200+200" {
			t.Errorf("asked for %s", got)
		}
		b.send(press("G"))
		has("row 48 210")
		b.drain()
		b.keys("G")
		has("of 48 010 ")
		has("port-48009")
		b.keys("g")
		has("port-00000")
		if n := len(b.top().screen.Panes(&b.env)); n > 10 {
			t.Errorf("%d pages are kept", n)
		}
		b.stop()
	})
}
