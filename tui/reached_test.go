package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// reached is a state of the workstation over the scripted graph, and how one gets
// there.
type reached struct {
	name  string
	reach func(t *testing.T, o Options, w, h int) *bench
}

// drawEach draws every state at every size.
func drawEach(t *testing.T, states []reached) {
	for _, step := range states {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", step.name, size[0], size[1]), func(t *testing.T) {
				var out []string
				synctest.Test(t, func(t *testing.T) {
					b := step.reach(t, Options{URI: fake.Harbor().Address, Screen: "tables"}, size[0], size[1])
					out = b.draw()
					check(t, out, size[0], size[1])
					b.stop()
				})
				golden.RequireEqual(t, []byte(text(out)))
			})
		}
	}
}

// drawWhole: every state is whole at every size, and draws nothing but ASCII,
// glyphs of the theme, and what was typed.
func drawWhole(t *testing.T, states []reached, typed string) {
	for _, ascii := range []bool{false, true} {
		th, err := theme.New("mono", theme.Unknown, ascii)
		if err != nil {
			t.Fatal(err)
		}
		allowed := strings.Join(th.Glyph.All(), "") + typed
		for _, step := range states {
			synctest.Test(t, func(t *testing.T) {
				b := step.reach(t, Options{URI: fake.Harbor().Address, Screen: "tables", ASCII: ascii}, 120, 40)
				for _, r := range ansi.Strip(strings.Join(b.draw(), "")) {
					if r > 0x7e && !strings.ContainsRune(allowed, r) {
						t.Errorf("%s, ascii %v: draws %q", step.name, ascii, r)
						break
					}
				}
				for w := 20; w <= 220 && !ascii; w += pace.Of(7, 60) {
					for k := range 2 {
						checkSize(t, b, step.name, w, 5+(w*7+k*31)%66)
					}
				}
				b.stop()
			})
		}
	}
}
