package screen

import (
	"path"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// page is a screen of text that is known already: the evidence of a finding.
type page struct {
	title   string
	build   func(*Env, *part.Doc)
	objects []string // keys of objects that it names
	next    string   // place of the next step; "" = it is not here
	copies  func(*Env) []Copy
	scroll  split
}

func newPage(title string, build func(*Env, *part.Doc)) *page {
	return &page{title: title, build: build, scroll: split{onRight: true}}
}

// NewFinding shows one finding with its evidence and next step.
func NewFinding(f engine.Finding) Screen {
	p := newPage(f.ID, func(e *Env, d *part.Doc) { findingDoc(e, d, f) })
	p.objects = objectsOf(f)
	p.copies = func(e *Env) []Copy { return findingCopies(e, f) }
	p.next = nextPlace(f)
	return p
}

func pendingCopies(r engine.Pending) []Copy {
	out := []Copy{{"object key", r.Key}}
	if r.OperationID != "" {
		out = append(out, Copy{"operation", r.OperationID})
	}
	return append(out, jsonCopy("recovery as JSON", r)...)
}

// objectsOf are the keys among the evidence of a finding that are those of
// objects, not of folders or tables.
func objectsOf(f engine.Finding) []string {
	var out []string
	for _, ev := range f.Evidence {
		if strings.Contains(path.Base(ev.Key), ".") && !strings.HasSuffix(ev.Key, "/") && !slices.Contains(out, ev.Key) {
			out = append(out, ev.Key)
		}
	}
	return out
}

func findingCopies(e *Env, f engine.Finding) []Copy {
	var out []Copy
	if f.Action != nil {
		out = append(out, Copy{"next step", nextStep(e, f)})
	}
	for i, ev := range f.Evidence {
		if i == 8 {
			break
		}
		out = append(out, Copy{"evidence", ev.Key})
	}
	out = append(out, Copy{"sentence", f.ID + " " + f.Title})
	return append(out, jsonCopy("finding as JSON", f)...)
}

// nextStep is the command line that a finding proposes, about this graph.
func nextStep(e *Env, f engine.Finding) string {
	return shell.Line(append(append(strings.Fields(f.Action.Verb), e.Address), f.Action.Args...)...)
}

// nextPlace is where the next step of a finding is shown here; "" = nowhere.
func nextPlace(f engine.Finding) string {
	switch {
	case f.Action == nil:
		return ""
	case f.Action.Verb == "branch list":
		return "branches"
	case f.Action.Verb == "versions" && len(f.Action.Args) == 1 && f.Action.Args[0] != manifestTable:
		return f.Action.Args[0] + "/versions"
	case f.Action.Verb == "versions":
		return "versions"
	}
	return ""
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
func (p *page) Context(*Env) action.Context {
	return action.Context{Items: len(p.objects), Openable: p.next != ""}
}

// Copies implements Copier.
func (p *page) Copies(e *Env) []Copy { return p.copies(e) }

// InDetail implements Screen: a page is nothing but detail.
func (p *page) InDetail() bool { return false }

// CloseDetail implements Screen.
func (p *page) CloseDetail() {}

// Do implements Screen.
func (p *page) Do(_ *Env, id action.ID) Effect {
	if id == action.Open && p.next != "" {
		s, err := At(p.next)
		if err != nil {
			return Effect{Note: err.Error()}
		}
		return Effect{Push: s}
	}
	if id == action.Raw {
		return openObject(p.objects)
	}
	p.scroll.move(id, 0)
	return Effect{}
}

// openObject shows an object: the only one, or the one that is chosen.
func openObject(keys []string) Effect {
	switch len(keys) {
	case 0:
		return Effect{}
	case 1:
		return Effect{Push: NewObject(keys[0])}
	}
	m := &Menu{Title: "which object", Choose: func(_ *Env, i int) Effect { return Effect{Push: NewObject(keys[i])} }}
	for _, k := range keys {
		m.Items = append(m.Items, MenuItem{Label: k})
	}
	return Effect{Menu: m}
}

// Render implements Screen.
func (p *page) Render(e *Env, a Area) []string {
	d := part.NewDoc(e.Theme, a.W)
	p.build(e, d)
	return d.Window(a.H, &p.scroll.scroll)
}

// findingDoc writes a finding out: what, how sure, on which evidence, and
// what to do.
func findingDoc(e *Env, d *part.Doc, f engine.Finding) {
	t := e.Theme
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
	for i, ev := range f.Evidence {
		if i == 0 || ev.Key != f.Evidence[i-1].Key {
			d.Text(theme.Strong, ev.Key)
		}
		if ev.Fact != f.Title {
			d.Text(theme.Text, ev.Fact)
		}
	}
	if f.Action != nil {
		d.Head("next step")
		d.Text(theme.Text, nextStep(e, f))
		d.Fact("danger", f.Action.Danger)
	}
	d.Gap()
	hint := press(e, action.Copy) + " copies evidence and next step"
	if nextPlace(f) != "" {
		hint = press(e, action.Open) + " goes to the next step " + t.Glyph.Dot + " " + hint
	}
	if len(objectsOf(f)) > 0 {
		hint = press(e, action.Raw) + " shows the object itself " + t.Glyph.Dot + " " + hint
	}
	d.Text(theme.Muted, hint)
}
