package screen

import (
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// page is a screen of text that is known already: evidence of a finding, a
// pending recovery.
type page struct {
	title, key string
	build      func(*part.Doc)
	scroll     split
}

func newPage(title, key string, build func(*part.Doc)) *page {
	return &page{title: title, key: key, build: build, scroll: split{onRight: true}}
}

// NewFinding shows one finding with its evidence and next step.
func NewFinding(f engine.Finding) Screen {
	p := newPage(f.ID, "finding/"+f.ID, nil)
	p.build = func(d *part.Doc) { findingDoc(d.Theme(), d, f) }
	return p
}

// Name implements Screen.
func (p *page) Name() string { return action.OnFinding }

// Title implements Screen.
func (p *page) Title() string { return p.title }

// Place implements Screen: a finding is not asked for, it is come upon.
func (p *page) Place() string { return "overview" }

// Start implements Screen.
func (p *page) Start(*Env) []Request { return nil }

// Reload implements Screen.
func (p *page) Reload(*Env) []Request { return nil }

// Panes implements Screen.
func (p *page) Panes(*Env) []Pane { return nil }

// Context implements Screen.
func (p *page) Context(*Env) action.Context { return action.Context{} }

// InDetail implements Screen: a page is nothing but detail.
func (p *page) InDetail() bool { return false }

// CloseDetail implements Screen.
func (p *page) CloseDetail() {}

// Do implements Screen.
func (p *page) Do(_ *Env, id action.ID) Effect {
	p.scroll.move(id, 0)
	return Effect{}
}

// Render implements Screen.
func (p *page) Render(e *Env, a Area) []string {
	d := part.NewDoc(e.Theme, a.W)
	p.build(d)
	return d.Window(a.H, &p.scroll.scroll)
}

// findingDoc writes a finding out: what, how sure, on which evidence, and
// what to do.
func findingDoc(t *theme.Theme, d *part.Doc, f engine.Finding) {
	mark, role := severity(t, f.Severity)
	d.Line(part.R(role, mark+" "+string(f.Severity)), part.R(theme.Strong, "  "+part.Clean(f.ID, t.Glyph)))
	d.Text(theme.Text, f.Title)
	if f.Trust != "" {
		d.Head("still trustworthy")
		d.Text(theme.Text, f.Trust)
	}
	d.Head("evidence")
	if len(f.Evidence) == 0 {
		d.Text(theme.Muted, "none was kept")
	}
	for _, ev := range f.Evidence {
		d.Text(theme.Strong, ev.Key)
		d.Text(theme.Text, ev.Fact)
	}
	if f.Action != nil {
		d.Head("next step")
		d.Text(theme.Text, "omnideck "+strings.Join(append([]string{f.Action.Verb}, f.Action.Args...), " "))
		d.Fact("danger", f.Action.Danger)
	}
}
