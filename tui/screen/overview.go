package screen

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// Overview shows what can be said of a graph without reading rows.
type Overview struct {
	split
	at []int // line of each item in the outline that was drawn last

	measured     *engine.Snapshot // of which the widths are:
	nameW, rowsW int
}

// NewOverview makes the screen.
func NewOverview() *Overview { return &Overview{} }

// Name implements Screen.
func (o *Overview) Name() string { return action.OnOverview }

// Title implements Screen.
func (o *Overview) Title() string { return "overview" }

// Place implements Screen.
func (o *Overview) Place() string { return "overview" }

// Start implements Screen.
func (o *Overview) Start(e *Env) []Request {
	if e.Data.Info.wanted(e) && e.Data.Names.wanted(e) && e.Data.Snapshot.wanted(e) {
		return o.Reload(e)
	}
	var out []Request
	if e.Data.Info.wanted(e) {
		out = append(out, e.Data.AskInfo(e))
	}
	if e.Data.Names.wanted(e) {
		out = append(out, e.Data.AskNames(e))
	}
	if e.Data.Snapshot.wanted(e) {
		out = append(out, e.Data.AskSnapshot(e))
	}
	return out
}

// Reload implements Screen.
func (o *Overview) Reload(e *Env) []Request {
	return []Request{e.Data.AskInfo(e), e.Data.AskNames(e), e.Data.AskSnapshot(e)}
}

// Panes implements Screen.
func (o *Overview) Panes(e *Env) []Pane {
	return []Pane{&e.Data.Info, &e.Data.Names, &e.Data.Snapshot}
}

// item is one thing on the overview that can be selected.
type item struct {
	key    string
	spans  func() []part.Span // what stands in its line
	more   string             // a second line
	open   func() Effect
	detail func(*part.Doc)
	copies func() []Copy
}

// block is a heading and the items, or the words, under it.
type block struct {
	head  string
	facts string
	pane  Pane
	lines []string // said instead of items
	items []item
}

// Context implements Screen.
func (o *Overview) Context(e *Env) action.Context {
	items := o.items(e)
	return action.Context{Items: len(items), Openable: len(items) > 0 && items[min(o.list.Sel, len(items)-1)].open != nil, Detail: len(items) > 0 || o.failed(e)}
}

// Do implements Screen.
func (o *Overview) Do(e *Env, id action.ID) Effect {
	items := o.items(e)
	switch id {
	case action.Open:
		if o.list.Sel < len(items) && items[o.list.Sel].open != nil {
			return items[o.list.Sel].open()
		}
	case action.Flip:
		o.onRight = !o.onRight
	default:
		if o.move(id, len(items)) && o.list.Sel < len(items) {
			o.list.Remember(items[o.list.Sel].key)
		}
	}
	return Effect{}
}

// Copies implements Copier: of the selected thing, and of the graph.
func (o *Overview) Copies(e *Env) []Copy {
	var out []Copy
	if items := o.items(e); o.list.Sel < len(items) {
		out = items[o.list.Sel].copies()
	}
	if info, ok := e.Data.Info.Get(); ok && info.HeadCommit != "" {
		out = append(out, Copy{"head commit", info.HeadCommit})
	}
	return append(out, Copy{"address", e.Address}, Copy{"command that tells this", shell.Line("info", e.Address)})
}

// Keep implements Keeper.
func (o *Overview) Keep() json.RawMessage {
	if o.list.Key == "" {
		return nil
	}
	raw, err := json.Marshal(kept{Key: o.list.Key})
	if err != nil {
		return nil // a key that is not text is not kept
	}
	return raw
}

// Restore implements Keeper.
func (o *Overview) Restore(raw json.RawMessage) {
	var k kept
	if json.Unmarshal(raw, &k) == nil && k.Key != "" {
		o.list.Remember(k.Key)
	}
}

func (o *Overview) items(e *Env) []item {
	var out []item
	for _, b := range o.blocks(e, 80, 0) {
		out = append(out, b.items...)
	}
	return out
}

// Render implements Screen.
func (o *Overview) Render(e *Env, a Area) []string {
	items := o.items(e)
	o.list.Settle(len(items), func(i int) string { return items[i].key })
	key := ""
	if len(items) > 0 {
		key = items[o.list.Sel].key
	}
	list := func(w, h int, focused bool) []string { return o.outline(e, w, h, focused) }
	detail := func(w int) *part.Doc {
		d := part.NewDoc(e.Theme, w)
		if len(items) > 0 {
			items[o.list.Sel].detail(d)
		} else {
			o.problems(e, d)
		}
		return d
	}
	if !a.Wide && !o.onRight { // the outline is the page; no preview
		return o.alone(list(a.W, a.H, true), a.W)
	}
	return o.render(e, a, key, list, detail)
}

func (o *Overview) failed(e *Env) bool {
	for _, p := range o.Panes(e) {
		if p.Problem() != nil {
			return true
		}
	}
	return false
}

// problems writes out in full what failed, for the detail.
func (o *Overview) problems(e *Env, d *part.Doc) {
	for _, p := range o.Panes(e) {
		if err := p.Problem(); err != nil {
			d.Head("reading " + p.Name())
			for _, l := range strings.Split(err.Error(), "\n") {
				d.Text(theme.Text, l)
			}
			if step := engine.NextStep(err); step != "" {
				d.Text(theme.Text, step)
			}
			if more := engine.Details(err); more != "" {
				d.Text(theme.Muted, more)
			}
		}
	}
}

// Click implements Clicker: it selects the item of a line, of which one may
// have two.
func (o *Overview) Click(e *Env, x, y int) bool {
	if o.drawn.right > 0 && x >= o.drawn.right {
		o.onRight = true
		return true
	}
	items, pointer := o.items(e), pointerLine(o.drawn.list, e.Theme)
	if x >= o.drawn.w || y < 0 || y >= len(o.drawn.list) || pointer < 0 || len(o.at) != len(items) {
		return false
	}
	line := o.at[o.list.Sel] + y - pointer
	for i, at := range o.at {
		if line == at || items[i].more != "" && line == at+1 {
			o.onRight = false
			o.list.Move(i-o.list.Sel, len(items))
			o.list.Remember(items[i].key)
			return true
		}
	}
	return false
}

// outline draws the facts and the blocks, the window around the selection.
func (o *Overview) outline(e *Env, w, h int, focused bool) []string {
	lines, at := o.page(e, w, h, h, focused)
	if len(lines) > h && o.failed(e) { // failures in full do not fit
		lines, at = o.page(e, w, h, 0, focused)
	}
	return window(e, lines, w, h, at, at > 0)
}

// page is all of the outline, with failures of up to room lines each, and the
// line of the selection; 0 = none. Items that no window of h lines can show are
// blank.
func (o *Overview) page(e *Env, w, h, room int, focused bool) (lines []string, at int) {
	t := e.Theme
	lines = o.facts(e, w, room)
	n := 0
	for _, b := range o.blocks(e, w, room) {
		lines = append(lines, part.Blank(w), title(e, w, b.head, b.facts, b.pane))
		lines = append(lines, b.lines...)
		for _, it := range b.items {
			o.at = append(o.at[:n], len(lines))
			if n == o.list.Sel {
				at = len(lines)
			}
			lines = append(lines, o.itemLines(t, it, w, n, n > h && (n < o.list.Sel-h || n > o.list.Sel+h), focused)...)
			n++
		}
	}
	return lines, at
}

// itemLines are the lines of item n; of one that is far from what is seen they
// are blank.
func (o *Overview) itemLines(t *theme.Theme, it item, w, n int, far, focused bool) []string {
	role := theme.Mark
	if focused {
		role = theme.Select
	}
	first := ""
	switch {
	case far:
	case n == o.list.Sel:
		first = part.Selected(t, w, role, append([]part.Span{part.S(t.Glyph.Pointer + " ")}, it.spans()...)...)
	default:
		first = part.Line(t, w, append([]part.Span{part.S("  ")}, it.spans()...)...)
	}
	switch {
	case it.more == "":
		return []string{first}
	case far:
		return []string{first, ""}
	}
	return []string{first, part.Line(t, w, part.S(it.more))}
}

// window cuts h lines around line at, saying how much is above and below.
func window(e *Env, lines []string, w, h, at int, follow bool) []string {
	t := e.Theme
	top := 0
	if follow && at > h-3 {
		top = min(at-h+3, len(lines)-h)
	}
	top = max(0, top)
	out := append([]string(nil), lines[top:min(len(lines), top+h)]...)
	if below := len(lines) - top - h; below > 0 && len(out) > 1 {
		out[len(out)-1] = part.Line(t, w, part.R(theme.Muted, "  "+t.Glyph.Folded+" "+part.Plural(below+1, "line", "lines")+" more"))
	}
	if top > 0 && len(out) > 1 {
		out[0] = part.Line(t, w, part.R(theme.Muted, "  "+t.Glyph.Folded+" "+part.Plural(top+1, "line", "lines")+" above"))
	}
	return part.Fit(out, w, h)
}

// facts is the upper part: what the graph is. A failure takes up to room lines.
func (o *Overview) facts(e *Env, w, room int) []string {
	info, ok := e.Data.Info.Get()
	out := []string{title(e, w, "overview", "", &e.Data.Info)}
	d := part.NewDoc(e.Theme, w)
	d.Fact("address", address(e, info))
	if !ok {
		return append(append(out, d.Window(d.Len(), new(int))...), absent(e, &e.Data.Info, w, room)...)
	}
	if e.Data.Info.Problem() != nil {
		out = append(out, problem(e, &e.Data.Info, w, room)...)
	}
	dot := " " + e.Theme.Glyph.Dot + " "
	if info.Kind != "" && info.Kind != "omnigraph" {
		d.FactRole("kind", theme.Warn, info.Kind+": not a graph")
	}
	f := wordsOf(info, dot)
	d.FactRole("head", unreadRole(info), f.head)
	d.Fact("branches", branchFact(e, info))
	d.FactRole("rows", unreadRole(info), f.rows)
	d.Fact("__manifest", f.manifest)
	var store []string
	for _, f := range info.Store {
		if f.Value != address(e, info) {
			store = append(store, f.Name+" "+f.Value)
		}
	}
	d.Fact("store", strings.Join(store, dot))
	return append(out, d.Window(d.Len(), new(int))...)
}

// address is where the graph lies: of one on this machine the whole path.
func address(e *Env, info *engine.Info) string {
	if info != nil {
		for _, f := range info.Store {
			if f.Name == "root" && filepath.IsAbs(f.Value) {
				return f.Value
			}
		}
	}
	return e.Address
}

// words are what the overview says of a graph.
type words struct{ head, rows, manifest string }

// wordsOf puts an overview into words. What could not be read is said to be
// so: it must not look like nothing.
func wordsOf(info *engine.Info, dot string) words {
	m := info.Manifest
	versions := part.Plural(m.Versions, "version", "versions")
	if !m.Exact {
		versions = "at least " + versions
	}
	if unread(info) {
		return words{head: "could not be read, see the findings", rows: "not known", manifest: versions + dot + "the newest could not be read"}
	}
	f := words{
		head:     "v" + part.Count(info.GraphManifestVersion) + " on " + info.Branch,
		rows:     part.Count(info.Rows) + " in " + part.Plural(info.Types, "type", "types") + dot + "as recorded, not counted",
		manifest: part.Plural(m.Fragments, "fragment", "fragments") + dot + versions + dot + part.Bytes(m.Bytes) + dot + "schema " + part.Count(info.InternalSchemaVersion),
	}
	if info.HeadCommit != "" {
		f.head = info.HeadCommit + dot + f.head
	}
	return f
}

// unread says that the state of the branch could not be read: versions begin
// at 1.
func unread(info *engine.Info) bool { return info.GraphManifestVersion == 0 }

func unreadRole(info *engine.Info) theme.Role {
	if unread(info) {
		return theme.Bad
	}
	return theme.Text
}

// branchFact counts the branches and names them when they are known.
func branchFact(e *Env, info *engine.Info) string {
	if info.Branches == 0 {
		return "could not be listed, see the findings"
	}
	s := part.Count(info.Branches)
	names, ok := e.Data.Names.Get()
	if !ok {
		if e.Data.Names.Problem() != nil {
			return s + " " + e.Theme.Glyph.Dot + " their names could not be read: " + e.Data.Names.Problem().Error()
		}
		return s
	}
	for i, n := range names {
		if i == 0 {
			s += " " + e.Theme.Glyph.Dot + " "
		} else {
			s += ", "
		}
		if i == 6 && len(names) > 7 {
			return s + "and " + part.Count(len(names)-i) + " more"
		}
		s += n
	}
	return s
}
