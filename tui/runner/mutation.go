package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// mutation is the draft of a mutate: the text of a .gq source, its parameters as
// a JSON object, and which of its queries is meant.
type mutation struct {
	query, params part.Editor
	focus         place
	table         string // node:Port, that was looked at; "" = none

	of    string // text that queries are of
	known []engine.QueryInfo
	pick  string

	said     string // what is wrong
	at       place  // where: inQuery or inParams; elsewhere = nowhere
	line     int    // of the text there; 0 = nowhere
	proposed string // the last template that was put in
}

// place is what has the focus.
type place int

const (
	inQuery place = iota
	inParams
	inChoice
	onPlan
	places
	elsewhere
)

// Names of the drafts.
const (
	draftQuery  = "mutate query"
	draftParams = "mutate params"
	draftPick   = "mutate name"
)

// NewMutation begins a draft of a mutate, with the texts that were kept. table is
// the type that was looked at; "" = none.
func NewMutation(e *screen.Env, kept map[string]string, table string) *Runner {
	d := &mutation{query: part.NewEditor(kept[draftQuery]), params: part.NewEditor(kept[draftParams]), pick: kept[draftPick], table: table}
	d.parse()
	r := &Runner{Branch: e.At.Branch, verb: "mutate", draft: d}
	r.enter(Draft, e.Now)
	return r
}

func (d *mutation) drafts() map[string]string {
	return map[string]string{draftQuery: d.query.String(), draftParams: d.params.String(), draftPick: d.pick}
}

// parse looks which queries there are, when the text is one of the language.
func (d *mutation) parse() {
	text := d.query.String()
	if text == d.of && d.of != "" {
		return
	}
	known, err := engine.Queries(text)
	d.of = text
	if err != nil {
		return // while one types it seldom is; the names that were there stay
	}
	d.known = slices.DeleteFunc(known, func(q engine.QueryInfo) bool { return q.Reads })
	if !slices.ContainsFunc(d.known, func(q engine.QueryInfo) bool { return q.Name == d.pick }) {
		d.pick = ""
		if len(d.known) > 0 {
			d.pick = d.known[0].Name
		}
	}
}

// read implements drafter.
func (d *mutation) read() (screen.Write, error) {
	source := d.query.String()
	if d.query.Empty() {
		return screen.Write{}, errors.New("there is no query yet: ^t puts one in for a type")
	}
	known, err := engine.Queries(source)
	if err != nil {
		return screen.Write{}, err
	}
	if len(known) == 0 {
		return screen.Write{}, errors.New("there is no query in it: expected query NAME() { … }")
	}
	m := &engine.MutateOptions{Source: source}
	if len(known) > 1 {
		if m.Name = d.pick; m.Name == "" {
			return screen.Write{}, errors.New("all of its queries read: expected one that inserts, updates or deletes")
		}
	}
	if !d.params.Empty() {
		m.Params = []byte(d.params.String())
		if err := jsonObject(m.Params); err != nil {
			return screen.Write{}, err
		}
	}
	title := "mutate"
	if d.pick != "" {
		title += " " + d.pick
	}
	return screen.Write{Title: title, Mutate: m}, nil
}

// paramsError is what is wrong with the text of the parameters.
type paramsError struct {
	line, column int
	text         string
}

func (e *paramsError) Error() string {
	return fmt.Sprintf("parameters: line %d, column %d: %s", e.line, e.column, e.text)
}

// jsonObject checks that a text is one JSON object.
func jsonObject(text []byte) error {
	var v map[string]json.RawMessage
	err := json.Unmarshal(text, &v)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		before := text[:min(int(max(1, syntax.Offset))-1, len(text))]
		line := bytes.Count(before, []byte("\n")) + 1
		column := len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:]))) + 1
		return &paramsError{line, column, syntax.Error()}
	}
	return &paramsError{1, 1, `expected one JSON object, such as {"code": "NLRTM"}`}
}

// blame implements drafter.
func (d *mutation) blame(err error) bool {
	d.said, d.at, d.line = err.Error(), elsewhere, 0
	var p *paramsError
	switch line, column, ok := engine.PlaceOf(err); {
	case errors.As(err, &p):
		d.at, d.line, d.focus = inParams, p.line, inParams
		d.params.MoveTo(p.line, p.column)
	case ok:
		d.at, d.line, d.focus = inQuery, line, inQuery
		d.query.MoveTo(line, column)
	case engine.AboutParams(err):
		d.at, d.focus = inParams, inParams
	default:
		return false
	}
	return true
}

// key implements drafter.
func (d *mutation) key(r *Runner, e *screen.Env, k tea.KeyPressMsg) Do {
	switch name := k.String(); name {
	case "esc":
		return Do{Close: true}
	case "ctrl+r":
		return r.submit(e)
	case "ctrl+t":
		return d.template(e)
	case "tab", "shift+tab":
		d.step(name == "tab")
		return Do{}
	case "enter":
		if d.focus == onPlan {
			return r.submit(e)
		}
	}
	d.edit(k)
	return Do{}
}

// step gives the focus to the next part.
func (d *mutation) step(on bool) {
	by := place(1)
	if !on {
		by = places - 1
	}
	d.focus = (d.focus + by) % places
	if d.focus == inChoice && len(d.known) < 2 {
		d.focus = (d.focus + by) % places
	}
}

// edit gives a key to the part that has the focus.
func (d *mutation) edit(k tea.KeyPressMsg) {
	name := k.String()
	switch d.focus {
	case inQuery, inParams:
		ed := d.editor()
		before := ed.String()
		if !ed.Key(name) && k.Text != "" {
			ed.Insert(k.Text)
		}
		if ed.String() != before {
			d.changed()
		}
	case inChoice:
		i := slices.IndexFunc(d.known, func(q engine.QueryInfo) bool { return q.Name == d.pick })
		n := len(d.known)
		switch name {
		case "right", "down", "l", "j", "space":
			d.pick = d.known[(i+1)%n].Name
		case "left", "up", "h", "k":
			d.pick = d.known[(i+n-1)%n].Name
		}
	case onPlan:
		if name == "up" || name == "left" {
			d.step(false)
		}
	}
}

func (d *mutation) editor() *part.Editor {
	if d.focus == inParams {
		return &d.params
	}
	return &d.query
}

// changed forgets what was wrong with a text that is no more.
func (d *mutation) changed() {
	d.said, d.at, d.line = "", elsewhere, 0
	d.parse()
}

// paste implements drafter.
func (d *mutation) paste(text string) {
	if d.focus == inQuery || d.focus == inParams {
		d.editor().Insert(text)
		d.changed()
	}
}

// render implements drafter.
func (d *mutation) render(_ *Runner, e *screen.Env, w, h int) []string {
	t := e.Theme
	head := func(at place, text string) string {
		mark := t.Glyph.H
		if d.focus == at {
			mark = t.Glyph.Pointer
		}
		return part.Line(t, 1, part.R(theme.Accent, mark)) + part.Rule(t, text, w-1)
	}
	var foot []string
	if len(d.known) > 1 {
		foot = append(foot, d.choice(e, w))
	}
	button := part.S("   Plan it ")
	if d.focus == onPlan {
		button = part.R(theme.Select, " "+t.Glyph.Pointer+" Plan it ")
	}
	foot = append(foot, part.Line(t, w, part.S(" "), button, part.R(theme.Muted, "  shows what would be done; nothing is written")))
	if d.said != "" {
		lines := part.Wrap(part.Clean(d.said, t.Glyph), max(10, w-4))
		for i, l := range lines[:min(len(lines), max(1, h/4))] {
			lead := "   "
			if i == 0 {
				lead = " " + t.Glyph.Bad + " "
			}
			foot = append(foot, part.Line(t, w, part.R(theme.Bad, lead), part.S(l)))
		}
	}
	rows := min(max(1, d.params.Len()), max(1, h/3))
	room := max(1, h-2-rows-len(foot))
	bad := func(at place) int {
		if d.at == at {
			return d.line
		}
		return 0
	}
	out := []string{head(inQuery, "query")}
	if d.query.Empty() && d.focus != inQuery || d.query.String() == "" && room > 2 {
		out = append(out, d.query.Render(t, w, 1, d.focus == inQuery, 0)...)
		hint := part.NewDoc(t, w)
		hint.Gap().Text(theme.Muted, "Type a mutation in .gq, or ^t puts in one for a type: insert, update, delete.")
		out = append(out, part.Fit(hint.Window(min(hint.Len(), room-1), new(int)), w, room-1)...)
	} else {
		out = append(out, d.query.Render(t, w, room, d.focus == inQuery, bad(inQuery))...)
	}
	out = append(out, head(inParams, "parameters, a JSON object"))
	out = append(out, d.params.Render(t, w, rows, d.focus == inParams, bad(inParams))...)
	return append(out, foot...)
}

// choice is the line of the queries that there are.
func (d *mutation) choice(e *screen.Env, w int) string {
	t := e.Theme
	spans := []part.Span{part.S(" "), part.R(theme.Muted, "which: ")}
	for _, q := range d.known {
		name := " " + part.Clean(q.Name, t.Glyph) + " "
		switch {
		case q.Name == d.pick && d.focus == inChoice:
			spans = append(spans, part.R(theme.Select, t.Glyph.Pointer+name))
		case q.Name == d.pick:
			spans = append(spans, part.R(theme.Chip, t.Glyph.Pointer+name))
		default:
			spans = append(spans, part.S(" "+name))
		}
	}
	return part.Line(t, w, spans...)
}

// hints implements drafter.
func (d *mutation) hints(*screen.Env) []part.Hint {
	out := []part.Hint{{Key: "^r", Title: "plan it", Keep: 90}, {Key: "tab", Title: "next part", Keep: 60}, {Key: "^t", Title: "template", Keep: 70}}
	if d.focus == inQuery || d.focus == inParams {
		out = append(out, part.Hint{Key: "^z", Title: "undo", Keep: 20})
	}
	return append(out, part.Hint{Key: "esc", Title: "leave, keeps the draft", Keep: 80})
}

var _ drafter = (*mutation)(nil)

// param spells a value of parameters as JSON.
func param(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return strings.TrimSpace(string(b))
}
