package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

var sizes = [][2]int{{80, 24}, {120, 40}, {200, 60}}

// places are the screens, how each is reached when it is not a start, and in
// which states it is drawn: "" in all. The screens of package screen are drawn
// there in every state too; here it is what stands around them that counts.
var places = []struct {
	name, start string
	keys        []string
	states      string
}{
	{"overview", "overview", nil, ""},
	{"branches", "branches", nil, ""},
	{"commits", "commits", nil, "truncated"},
	{"tables", "tables", nil, ""},
	{"versions", "versions", nil, ""},
	{"fragments", "node:Port/fragments", nil, ""},
	{"chain", "node:Port/versions", nil, ""},
	{"rows", "node:Port/rows", nil, ""},
	{"operations", "operations", nil, ""},
	{"ledger", "operations/ledger", nil, ""},
	{"schema", "node:Port/schema", nil, "loaded wide-names error"},
	{"indexes", "node:Port/indexes", nil, "loaded wide-names error"},
	{"entity", "node:Port/rows/port-00000", nil, "loaded wide-names error"},
	{"find", "find/port-00000", nil, "loaded wide-names error"},
	{"compare", "diff/main..review/ports", nil, "loaded wide-names error"},
	{"finding", "overview", []string{"g", "enter"}, "loaded wide-names"},
	{"help", "tables", []string{"?"}, "loaded"},
	{"drawer", "commits", []string{"m"}, "loaded empty error wide-names"},
	{"palette", "tables", []string{"p", "p", "o"}, "loaded wide-names"},
	{"command", "tables", []string{":", "a", "t", "space", "r"}, "loaded wide-names"},
	{"filter", "commits", []string{"/", "b", "o", "t"}, "loaded wide-names"},
	{"filtered", "commits", []string{"/", "b", "o", "t", "enter"}, "loaded wide-names"},
	{"sort", "branches", []string{"o", "j"}, "loaded wide-names"},
	{"columns", "node:Port/rows", []string{"c"}, "loaded wide-names"},
	{"copy", "commits", []string{"y"}, "loaded wide-names"},
	{"marked", "commits", []string{"=", "j"}, "loaded"},
	{"unlock", "tables", []string{"U"}, "loaded wide-names"},
	{"wide", "tables", []string{"w"}, "loaded"},
	{"plain", "tables", []string{"z"}, "loaded"},
}

// drawnIn says whether a place is drawn in a state.
func drawnIn(in, state string) bool {
	switch {
	case state == "truncated": // the others are truncated in every state, or never
		return in == "truncated"
	case in == "" || in == "truncated":
		return true
	case state == "travelling" || state == "unlocked":
		return false
	}
	return slices.Contains(strings.Fields(in), state)
}

var errDamaged = &engine.DamagedError{Object: "__manifest/_versions/18446744073709551478.manifest", Size: 12, Readable: 136, Hint: "omnideck verify says what else is damaged", Err: errors.New("shorter than a manifest can be")}

// states are what a screen can be in.
var states = []struct {
	name string
	make func(t *testing.T, o Options, w, h int) *bench
}{
	{"loading", func(t *testing.T, o Options, w, h int) *bench {
		b := newBench(t, fake.Harbor(), o, w, h)
		b.clock = b.clock.Add(1300 * time.Millisecond)
		b.env.Now = b.clock
		return b
	}},
	{"loaded", func(t *testing.T, o Options, w, h int) *bench { return settled(t, fake.Harbor(), o, w, h) }},
	{"empty", func(t *testing.T, o Options, w, h int) *bench { return settled(t, fake.Empty(), o, w, h) }},
	{"error", func(t *testing.T, o Options, w, h int) *bench {
		ws := fake.Harbor()
		ws.Script = map[string]fake.Step{"": {Err: errDamaged, Get: 2, Hops: 2}}
		return settled(t, ws, o, w, h)
	}},
	{"stale", func(t *testing.T, o Options, w, h int) *bench {
		ws := fake.Harbor()
		b := settled(t, ws, o, w, h)
		b.clock = b.clock.Add(7 * time.Minute)
		ws.Script = map[string]fake.Step{"": {Err: errors.New("the store could not be reached: dial tcp 10.0.0.7:443: connection refused"), Get: 1, Hops: 1}}
		b.keys("r")
		return b
	}},
	{"busy", func(t *testing.T, o Options, w, h int) *bench {
		ws := fake.Harbor()
		b := settled(t, ws, o, w, h)
		b.clock = b.clock.Add(90 * time.Second)
		b.send(press("r"))
		b.clock = b.clock.Add(2 * time.Second)
		b.env.Now = b.clock
		return b
	}},
	{"truncated", func(t *testing.T, o Options, w, h int) *bench {
		ws := fake.Harbor()
		ws.Log = fake.History(700)
		return settled(t, ws, o, w, h)
	}},
	{"travelling", func(t *testing.T, o Options, w, h int) *bench {
		b := settled(t, fake.Harbor(), o, w, h)
		b.later(b.look(engine.At{Branch: "review/ports", Commit: fake.Harbor().Log[4].ID, Version: fake.Harbor().Log[4].ManifestVersion}))
		b.drain()
		return b
	}},
	{"unlocked", func(t *testing.T, o Options, w, h int) *bench {
		b := settled(t, fake.Harbor(), o, w, h)
		b.env.Locked = false
		return b
	}},
	{"wide-names", func(t *testing.T, o Options, w, h int) *bench { return settled(t, wideNames(), o, w, h) }},
}

func settled(t *testing.T, ws *fake.Workspace, o Options, w, h int) *bench {
	b := newBench(t, ws, o, w, h)
	b.drain()
	return b
}

// wideNames is the sample graph with names that are long, wide, hostile, or
// measured differently by different terminals.
func wideNames() *fake.Workspace {
	ws := fake.Harbor()
	long := "検査/とても長い名前の支店-with-a-name-that-goes-on-and-on-until-nobody-can-read-it"
	odd := "a\x1b[31mred\x07\u202egnp👩‍👩‍👦⚠️é"
	ws.Address = "s3://バケット/" + strings.Repeat("深い/", 20) + "港.omni"
	ws.IsRemote = false
	ws.BranchList[1].Name, ws.BranchList[2].Parent = long, long
	ws.BranchList[0].NeededBy[0] = long
	ws.BranchList[3].Name = odd
	ws.InfoAnswer.Findings[1].Title = strings.Repeat("見つかったもの ", 12) + odd
	for i := range ws.Log {
		if i%4 == 0 {
			ws.Log[i].Branch, ws.Log[i].Actor = &long, &odd
		}
	}
	ws.Tables.Datasets[3].TypeName = "港Port" + strings.Repeat("長", 30)
	ws.Tables.Datasets[1].TypeName = odd
	page := ws.Page
	ws.Page = func(table string, o engine.RowsOptions) *engine.RowPage {
		p := page(table, o)
		p.Columns[4] = "名前"
		for i := range p.Rows {
			p.Rows[i].Values[4].Text = "東京港" + strings.Repeat("の", i%20)
			if len(p.Rows[i].Values) > 5 {
				p.Rows[i].Values[5] = engine.Cell{Kind: engine.CellText, Text: odd}
			}
		}
		return p
	}
	for _, f := range ws.Layouts {
		if len(f.Fragments) > 0 {
			f.Fragments[0].Files[0].Path = long + odd
		}
	}
	return ws
}

// text is a frame without styles, lines cut at their last character.
func text(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(ansi.Strip(l), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// check asserts what holds for every frame: exactly h lines of exactly w
// cells, by both ways of measuring.
func check(t *testing.T, lines []string, w, h int) {
	t.Helper()
	if len(lines) != h {
		t.Errorf("%d lines, want %d", len(lines), h)
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n != w {
			t.Errorf("line %d has %d cells, want %d: %q", i, n, w, ansi.Strip(l))
		}
		if n := ansi.StringWidthWc(l); n != w {
			t.Errorf("line %d has %d cells without graphemes, want %d: %q", i, n, w, ansi.Strip(l))
		}
	}
}

func TestViews(t *testing.T) {
	for _, place := range pace.Every(t, 9, places) {
		for _, size := range sizes {
			for _, state := range states {
				if !drawnIn(place.states, state.name) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%dx%d/%s", place.name, size[0], size[1], state.name), func(t *testing.T) {
					var out []string
					synctest.Test(t, func(t *testing.T) {
						uri := fake.Harbor().Address
						b := state.make(t, Options{URI: uri, Screen: place.start}, size[0], size[1])
						b.keys(place.keys...)
						out = b.draw()
						check(t, out, size[0], size[1])
						b.stop()
					})
					golden.RequireEqual(t, []byte(text(out)))
				})
			}
		}
	}
}

func TestViewOfPicker(t *testing.T) {
	for _, size := range sizes {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			var out []string
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil, Options{Recents: recents}, size[0], size[1])
				b.drain()
				b.keys("j", "a", "s", "3", ":", "/", "/", "x")
				out = b.draw()
				check(t, out, size[0], size[1])
				b.stop()
			})
			golden.RequireEqual(t, []byte(text(out)))
		})
	}
}

// TestNothingChangedNothingDrawn: a frame is drawn again only when something
// that it shows has changed.
func TestNothingChangedNothingDrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := fake.Harbor()
		b := settled(t, ws, Options{URI: ws.Address}, 80, 24)
		first := b.View()
		if b.dirty {
			t.Fatal("the frame is dirty after it was drawn")
		}
		for _, msg := range []any{noteMsg{}, ageMsg{}, tickMsg{}, struct{}{}, loadedMsg{visit: 99, pane: &b.env.Data.Info, gen: 77}} {
			b.send(msg)
			if b.dirty {
				t.Errorf("%T makes the frame dirty, though nothing changed", msg)
			}
		}
		if again := b.View(); again.Content != first.Content {
			t.Error("the frame changed")
		}
		b.stop()
	})
}
