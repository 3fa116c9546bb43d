package runner

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// loading is the draft of a load: a file of JSON lines, what it does with what
// is there, and whether it may take several commits.
type loading struct {
	file  part.Field
	mode  int
	chunk bool
	focus int // onFile … onGo
	said  string
}

const (
	onFile = iota
	onMode
	onChunk
	onGo
	loadParts
)

// offered is a mode, and what it does.
type offered struct {
	mode engine.LoadMode
	what string
}

// modes in the order in which they are offered.
var modes = []offered{
	{engine.LoadAppend, "adds entities, and refuses an id that is there"},
	{engine.LoadMerge, "adds entities, and replaces those whose id is there"},
	{engine.LoadOverwrite, "replaces all entities of each type that occurs"},
}

// Names of the drafts.
const (
	DraftFile  = "load file"
	draftMode  = "load mode"
	draftChunk = "load chunk"
)

// NewLoading begins a draft of a load, with what was kept.
func NewLoading(e *screen.Env, kept map[string]string) *Runner {
	d := &loading{file: part.NewField(kept[DraftFile]), chunk: kept[draftChunk] != ""}
	for i, m := range modes {
		if string(m.mode) == kept[draftMode] {
			d.mode = i
		}
	}
	r := &Runner{Branch: e.At.Branch, verb: "load", draft: d}
	r.enter(Draft, e.Now)
	return r
}

func (d *loading) drafts() map[string]string {
	out := map[string]string{DraftFile: d.file.String(), draftMode: string(modes[d.mode].mode), draftChunk: ""}
	if d.chunk {
		out[draftChunk] = "yes"
	}
	return out
}

// splits: an overwrite is one commit.
func (d *loading) splits() bool { return d.chunk && modes[d.mode].mode != engine.LoadOverwrite }

// read implements drafter.
func (d *loading) read() (screen.Write, error) {
	file := strings.TrimSpace(d.file.String())
	if file == "" {
		return screen.Write{}, errors.New("there is no file yet: expected the path of one with JSON lines, as export writes them")
	}
	return screen.Write{Title: "load " + file, Load: &screen.LoadDraft{File: file, Mode: modes[d.mode].mode, Chunk: d.splits()}}, nil
}

// blame implements drafter: a draft of a load has no place for an error of its
// plan, but what it lacks is said there.
func (d *loading) blame(err error) bool {
	d.said = err.Error()
	return strings.TrimSpace(d.file.String()) == ""
}

// key implements drafter.
func (d *loading) key(r *Runner, e *screen.Env, k tea.KeyPressMsg) Do {
	name := k.String()
	switch name {
	case "esc":
		return Do{Close: true}
	case "ctrl+r":
		return r.submit(e)
	case "tab", "down":
		d.focus = (d.focus + 1) % loadParts
		return Do{}
	case "shift+tab", "up":
		d.focus = (d.focus + loadParts - 1) % loadParts
		return Do{}
	case "enter":
		if d.focus == onGo {
			return r.submit(e)
		}
		d.focus++
		return Do{}
	}
	switch n := len(modes); d.focus {
	case onFile:
		if d.file.Key(name) || k.Text != "" && d.file.Insert(k.Text) {
			d.said = ""
		}
	case onMode:
		switch name {
		case "right", "l", "space":
			d.mode = (d.mode + 1) % n
		case "left", "h":
			d.mode = (d.mode + n - 1) % n
		default:
			if i := slices.IndexFunc(modes, func(m offered) bool { return name == string(m.mode[:1]) }); i >= 0 {
				d.mode = i
			}
		}
	case onChunk:
		if name == "space" || name == "left" || name == "right" || name == "h" || name == "l" {
			d.chunk = !d.chunk
		}
	}
	return Do{}
}

// paste implements drafter.
func (d *loading) paste(text string) {
	if d.focus == onFile {
		d.file.Insert(text)
		d.said = ""
	}
}

const loadLabel = 10

// render implements drafter.
func (d *loading) render(_ *Runner, e *screen.Env, w, h int) []string {
	t := e.Theme
	g := t.Glyph
	lead := func(at int, name string) string {
		mark := " "
		if d.focus == at {
			mark = g.Pointer
		}
		return part.Line(t, loadLabel, part.R(theme.Accent, mark), part.R(theme.Muted, " "+name))
	}
	out := []string{part.Blank(w)}
	file := d.file
	if d.focus == onFile {
		out = append(out, lead(onFile, "file")+file.Render(t, w-loadLabel-1)+" ")
	} else {
		out = append(out, lead(onFile, "file")+part.Line(t, w-loadLabel, part.S(part.CutLeft(part.Clean(file.String(), g), w-loadLabel-1, g.More))))
	}
	out = append(out, part.Blank(w))
	spans := []part.Span{}
	for i, m := range modes {
		text := "( ) " + string(m.mode)
		role := theme.Text
		if i == d.mode {
			text = "(*) " + string(m.mode)
			if role = theme.Strong; d.focus == onMode {
				role = theme.Select
			}
		}
		spans = append(spans, part.R(role, text), part.S("   "))
	}
	out = append(out, lead(onMode, "mode")+part.Line(t, w-loadLabel, spans...))
	out = append(out, part.Line(t, w, part.S(part.Pad("", loadLabel)), part.R(theme.Muted, modes[d.mode].what)))
	out = append(out, part.Blank(w))
	out = append(out, lead(onChunk, "chunks")+d.chunkLine(e, w-loadLabel), part.Blank(w))
	button := part.S("   Plan it ")
	if d.focus == onGo {
		button = part.R(theme.Select, " "+g.Pointer+" Plan it ")
	}
	out = append(out, part.Line(t, w, part.S(" "), button, part.R(theme.Muted, "  shows what would be done; nothing is written")))
	if d.said != "" {
		for i, l := range part.Wrap(part.Clean(d.said, g), max(10, w-4)) {
			mark := "   "
			if i == 0 {
				mark = " " + g.Bad + " "
			}
			out = append(out, part.Line(t, w, part.R(theme.Bad, mark), part.S(l)))
		}
	}
	return part.Fit(out, w, h)
}

func (d *loading) chunkLine(e *screen.Env, w int) string {
	if modes[d.mode].mode == engine.LoadOverwrite {
		return part.Line(e.Theme, w, part.R(theme.Muted, "an overwrite is one commit"))
	}
	text, role := "[ ] one commit, of at most 8 192 entities and 32 MiB of a type", theme.Text
	if d.chunk {
		text = "[x] as many commits as it takes; broken off, the same load goes on"
	}
	if d.focus == onChunk {
		role = theme.Select
	}
	return part.Line(e.Theme, w, part.R(role, text))
}

// hints implements drafter.
func (d *loading) hints(*screen.Env) []part.Hint {
	out := []part.Hint{{Key: "^r", Title: "plan it", Keep: 90}, {Key: "tab", Title: "next", Keep: 60}}
	switch d.focus {
	case onMode:
		out = append(out, part.Hint{Key: "a m o", Title: "mode", Keep: 70})
	case onChunk:
		out = append(out, part.Hint{Key: "space", Title: "switches it", Keep: 70})
	}
	return append(out, part.Hint{Key: "esc", Title: "leave, keeps the draft", Keep: 80})
}

var _ drafter = (*loading)(nil)
