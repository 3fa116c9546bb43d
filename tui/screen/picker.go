package screen

import (
	"context"
	"strings"
	"time"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Recent is a graph that was opened before.
type Recent struct {
	URI  string
	Last time.Time
}

// Demo is the address of the embedded graph.
const Demo = "demo:"

// Picker chooses a graph: those opened before, the embedded one, or an address
// that is typed.
type Picker struct {
	split
	read    func(context.Context) ([]Recent, error)
	recents Load[[]Recent]
}

// NewPicker makes the screen; read gives the graphs opened before, newest
// first. nil: none are remembered.
func NewPicker(read func(context.Context) ([]Recent, error)) *Picker {
	p := &Picker{read: read}
	p.recents.name = "recent graphs"
	return p
}

// Name implements Screen.
func (p *Picker) Name() string { return action.OnPicker }

// Title implements Screen.
func (p *Picker) Title() string { return "open a graph" }

// Place implements Screen.
func (p *Picker) Place() string { return "" }

// Start implements Screen.
func (p *Picker) Start(e *Env) []Request {
	if p.read != nil && p.recents.wanted() {
		return p.Reload(e)
	}
	return nil
}

// Reload implements Screen.
func (p *Picker) Reload(e *Env) []Request {
	if p.read == nil {
		return nil
	}
	r := p.recents.askLocal(e, func(ctx context.Context, _ workspace.Workspace) ([]Recent, error) { return p.read(ctx) })
	return []Request{r}
}

// Panes implements Screen.
func (p *Picker) Panes(*Env) []Pane {
	if p.read == nil {
		return nil
	}
	return []Pane{&p.recents}
}

func (p *Picker) choices() []Recent {
	recents, _ := p.recents.Get()
	out := make([]Recent, 0, len(recents)+1)
	for _, r := range recents {
		if r.URI != Demo && !strings.HasPrefix(r.URI, "mem:") { // memory is gone
			out = append(out, r)
		}
	}
	return append(out, Recent{URI: Demo})
}

// Context implements Screen.
func (p *Picker) Context(*Env) action.Context {
	return action.Context{Items: len(p.choices()), Openable: true}
}

// Do implements Screen.
func (p *Picker) Do(_ *Env, id action.ID) Effect {
	list := p.choices()
	switch id {
	case action.Open:
		return Effect{URI: list[min(p.list.Sel, len(list)-1)].URI}
	case action.Address:
		return Effect{Prompt: &Prompt{Title: "address of a graph", Hint: "opens", Draft: "address", Done: func(_ *Env, uri string) Effect { return Effect{URI: uri} }}}
	default:
		if p.move(id, len(list)) {
			p.list.Remember(list[p.list.Sel].URI)
		}
	}
	return Effect{}
}

// Render implements Screen.
func (p *Picker) Render(e *Env, a Area) []string {
	t := e.Theme
	list := p.choices()
	p.list.Settle(len(list), func(i int) string { return list[i].URI })
	var state Pane
	if p.read != nil {
		state = &p.recents
	}
	out := []string{title(e, a.W, "open a graph", "", state), part.Blank(a.W)}
	if state != nil && state.Problem() != nil {
		out = append(out, problem(e, state, a.W, 0)...)
	}
	tb := part.Table{
		Columns: []part.Column{{Title: "address", Min: 12}, {Title: "opened", Drop: 1, Right: true}},
		N:       len(list),
		Row: func(i int) []part.Span {
			if list[i].URI == Demo {
				return []part.Span{part.S(Demo), part.R(theme.Muted, "the graph inside this program")}
			}
			return []part.Span{part.S(part.Clean(list[i].URI, t.Glyph)), part.R(theme.Muted, part.Ago(e.Now, list[i].Last)+" ago")}
		},
	}
	foot := []string{
		part.Blank(a.W),
		part.Line(t, a.W, part.S("  "), part.R(theme.Muted, "a types another address: a folder, s3://bucket/graph, gs://, azblob://")),
		part.Line(t, a.W, part.S("  "), part.R(theme.Muted, "Looking never writes to a graph.")),
	}
	h := min(len(list), max(1, a.H-len(out)-len(foot)))
	out = append(out, tb.Render(t, a.W, h, &p.list, true)...)
	return part.Fit(append(out, foot...), a.W, a.H)
}
