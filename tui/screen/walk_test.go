package screen

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// walk is a stack of screens over a workspace that answers at once: what the
// root does with effects, without a program.
type walk struct {
	t     testing.TB
	e     *Env
	ws    *fake.Workspace
	stack []Screen
	note  string
}

func newWalk(t testing.TB, ws *fake.Workspace, s Screen) *walk {
	t.Helper()
	if ws.Script == nil || ws.Script[""].Delay > 0 {
		ws.Script = map[string]fake.Step{}
	}
	th := mono(t)
	e := &Env{Theme: th, Now: fake.Epoch, URI: ws.Address, Address: ws.Address, Keys: action.Default(), Data: NewSession()}
	return &walk{t: t, e: e, ws: ws, stack: []Screen{s}}
}

func (b *walk) top() Screen { return b.stack[len(b.stack)-1] }

// load asks what the screen lacks until it lacks nothing.
func (b *walk) load() *walk {
	b.answer(b.top().Start(b.e))
	return b
}

func (b *walk) answer(reqs []Request) {
	b.t.Helper()
	for round := 0; len(reqs) > 0; round++ {
		if round > 50 {
			b.t.Fatalf("%s asks without end: %s", b.top().Title(), reqs[0].Name)
		}
		for _, q := range reqs {
			data, err := q.Run(b.t.Context(), b.ws)
			q.Pane.Settle(q.Target, q.Gen, data, err, b.e.Now)
		}
		reqs = b.top().Start(b.e)
	}
}

func (b *walk) effect(f Effect) {
	b.t.Helper()
	if f.Note != "" {
		b.note = f.Note
	}
	if f.Push != nil {
		b.stack = append(b.stack, f.Push)
		b.load()
		return
	}
	b.answer(f.Ask)
}

func (b *walk) do(ids ...action.ID) *walk {
	b.t.Helper()
	for _, id := range ids {
		if id == action.Back {
			if b.top().InDetail() {
				b.top().CloseDetail()
			} else {
				b.stack = b.stack[:len(b.stack)-1]
				b.load()
			}
			continue
		}
		b.effect(b.top().Do(b.e, id))
	}
	return b
}

func (b *walk) filter(text string) *walk {
	b.t.Helper()
	b.effect(b.top().(Filterer).SetFilter(b.e, text))
	return b
}

// text is what is drawn, without styles, checked for its size.
func (b *walk) text(w, h int) string {
	b.t.Helper()
	lines := b.top().Render(b.e, Area{W: w, H: h, Wide: w >= 100})
	if len(lines) != h {
		b.t.Fatalf("%s draws %d lines into %dx%d", b.top().Title(), len(lines), w, h)
	}
	out := make([]string, h)
	for i, l := range lines {
		if n := ansi.StringWidth(l); n != w {
			b.t.Fatalf("%s: line %d is %d cells wide, not %d: %q", b.top().Title(), i, n, w, l)
		}
		out[i] = strings.TrimRight(ansi.Strip(l), " ")
	}
	return strings.Join(out, "\n") + "\n"
}
