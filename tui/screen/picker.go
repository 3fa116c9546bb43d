package screen

import (
	"context"
	"strings"
	"time"

	"github.com/omnideck/omnideck/internal/shell"
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

// Picker chooses a graph: those opened before, whether or not they can be
// reached now, the embedded one, or an address that is typed.
type Picker struct {
	browse
	read    func(context.Context) ([]Recent, error)
	recents Load[[]Recent]
	made    *choices
}

// choices are the graphs that are offered, and when they were read.
type choices struct {
	at   time.Time
	n    int // as read
	list []Recent
}

// NewPicker makes the screen; read gives the graphs opened before, newest
// first. nil: none are remembered.
func NewPicker(read func(context.Context) ([]Recent, error)) *Picker {
	p := &Picker{read: read}
	p.recents.name = "recent graphs"
	p.browse = newBrowse(0, p.listing)
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
	if p.read != nil && p.recents.wanted(e) {
		return p.Reload(e)
	}
	return p.need(e)
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

func (p *Picker) choices() *choices {
	recents, _ := p.recents.Get()
	at := p.recents.Loaded()
	if p.made != nil && p.made.at == at && p.made.n == len(recents) {
		return p.made
	}
	p.made = &choices{at: at, n: len(recents), list: make([]Recent, 0, len(recents)+1)}
	for _, r := range recents {
		if r.URI != Demo && !strings.HasPrefix(r.URI, "mem:") { // memory is gone
			p.made.list = append(p.made.list, r)
		}
	}
	p.made.list = append(p.made.list, Recent{URI: Demo})
	return p.made
}

func (p *Picker) listing(e *Env) listing {
	c := p.choices()
	return listing{
		n: len(c.list), of: c,
		key: func(i int) string { return c.list[i].URI },
		facets: []facet{
			textFacet("address", func(i int) string { return c.list[i].URI }),
			ageFacet(e.Now, func(i int) time.Time { return c.list[i].Last }),
		},
	}
}

// Context implements Screen.
func (p *Picker) Context(e *Env) action.Context {
	out := p.context(e)
	out.Detail = false
	return out
}

// Do implements Screen.
func (p *Picker) Do(e *Env, id action.ID) Effect {
	i, ok := p.selected(e)
	switch {
	case id == action.Address:
		return Effect{Prompt: &Prompt{Title: "address of a graph", Hint: "opens", Draft: "address", Done: func(_ *Env, uri string) Effect { return Effect{URI: uri} }}}
	case id == action.Flip:
	case id == action.Open && ok:
		return Effect{URI: p.choices().list[i].URI}
	default:
		p.move(e, id)
	}
	return Effect{}
}

// Copies implements Copier.
func (p *Picker) Copies(e *Env) []Copy {
	i, ok := p.selected(e)
	if !ok {
		return nil
	}
	uri := p.choices().list[i].URI
	return []Copy{{"address", uri}, {"command that opens it", shell.Line(uri)}}
}

// Render implements Screen.
func (p *Picker) Render(e *Env, a Area) []string {
	t := e.Theme
	l := p.listing(e)
	n := p.settle(l)
	var state Pane
	if p.read != nil {
		state = &p.recents
	}
	out := []string{title(e, a.W, "open a graph", p.facts(e, l, n, ""), state), part.Blank(a.W)}
	if state != nil && state.Problem() != nil {
		out = append(out, problem(e, state, a.W, 0)...)
	}
	tb := part.Table{
		Columns: []part.Column{{Title: "address", Min: 12}, {Title: "opened", Drop: 1, Right: true}},
		N:       n,
		Row: func(at int) []part.Span {
			r := p.made.list[p.lens.item(at)]
			if r.URI == Demo {
				return []part.Span{part.S(Demo), part.R(theme.Muted, "the graph inside this program")}
			}
			return []part.Span{part.S(part.Clean(r.URI, t.Glyph)), part.R(theme.Muted, agoWords(e, r.Last))}
		},
	}
	foot := []string{
		part.Blank(a.W),
		part.Line(t, a.W, part.S("  "), part.R(theme.Muted, press(e, action.Address)+" types another address: a folder, s3://bucket/graph, gs://, azblob://")),
		part.Line(t, a.W, part.S("  "), part.R(theme.Muted, "Looking never writes to a graph.")),
	}
	if n == 0 {
		return part.Fit(append(append(out, p.noMatch(e, a.W)), foot...), a.W, a.H)
	}
	h := min(n, max(1, a.H-len(out)-len(foot)))
	out = append(out, tb.Render(t, a.W, h, &p.list, true)...)
	return part.Fit(append(out, foot...), a.W, a.H)
}

// agoWords says how long ago a graph was opened.
func agoWords(e *Env, at time.Time) string {
	switch s := part.Ago(e.Now, at); s {
	case "", "now":
		return s
	default:
		return s + " ago"
	}
}
