package screen

import (
	"context"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// chain is the `_versions` chain of one table, newest first, with what holds
// each version. The chain comes from a listing; what each version did is in
// its manifest, one request each, and is read for the newest ones only.
type chain struct {
	split
	table string
	list  Load[*engine.Versions] // all versions, without their manifests
	read  Load[*engine.Versions] // the newest ones, with
	limit int                    // how many are read; 0 = all
}

// firstManifests is how many manifests are read without being asked to.
const firstManifests = 24

func newChain(table string) *chain {
	c := &chain{table: table, limit: firstManifests, split: split{share: 56}}
	c.list.name, c.read.name = "versions", "operations"
	return c
}

func (c *chain) label() string { return "versions" }

func (c *chain) scope() string { return action.OnVersions }

func (c *chain) start(e *Env) []Request {
	var out []Request
	if c.list.wanted() {
		out = append(out, c.askList(e))
	}
	if c.read.wanted() {
		out = append(out, c.askRead(e))
	}
	return out
}

func (c *chain) reload(e *Env) []Request { return []Request{c.askList(e), c.askRead(e)} }

func (c *chain) askList(e *Env) Request {
	branch := e.Branch()
	return c.list.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.Versions, error) {
		return ws.Versions(ctx, c.table, branch, engine.VersionsOptions{Holders: true})
	})
}

func (c *chain) askRead(e *Env) Request {
	branch, limit := e.Branch(), c.limit
	return c.read.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.Versions, error) {
		return ws.Versions(ctx, c.table, branch, engine.VersionsOptions{Limit: limit, Details: true})
	})
}

func (c *chain) panes() []Pane { return []Pane{&c.list, &c.read} }

// unread is the number of versions whose manifest was not read.
func (c *chain) unread() int {
	v, ok := c.list.Get()
	r, read := c.read.Get()
	if !ok || !read {
		return 0
	}
	return max(0, len(v.Versions)-len(r.Versions))
}

func (c *chain) context(*Env) action.Context {
	v, ok := c.list.Get()
	if !ok {
		return action.Context{}
	}
	n := len(v.Versions)
	return action.Context{Items: n, Openable: n > 0, Detail: n > 0, Truncated: c.unread() > 0 && !c.read.Busy()}
}

func (c *chain) do(e *Env, id action.ID) Effect {
	v, ok := c.list.Get()
	switch {
	case !ok:
	case id == action.Decode:
		if n := c.unread(); n > 0 && !c.read.Busy() {
			c.limit = 0
			return Effect{Ask: []Request{c.askRead(e)}, Note: "reading " + part.Plural(n, "more manifest", "more manifests")}
		}
	case id == action.Flip || id == action.Open:
		c.onRight = !c.onRight && len(v.Versions) > 0
	default:
		if c.move(id, len(v.Versions)) && c.split.list.Sel < len(v.Versions) {
			c.split.list.Remember(part.Count(v.Versions[c.split.list.Sel].Version))
		}
	}
	return Effect{}
}

// merged is the chain with what was read of each version. Both answers may be
// of different moments, so a version is matched by its number and its object.
func (c *chain) merged(v *engine.Versions) []engine.Version {
	out := append([]engine.Version(nil), v.Versions...)
	r, ok := c.read.Get()
	if !ok {
		return out
	}
	known := make(map[string]engine.Version, len(r.Versions))
	for _, x := range r.Versions {
		known[x.Key] = x
	}
	for i := range out {
		if x, ok := known[out[i].Key]; ok {
			x.HeldBy = out[i].HeldBy
			out[i] = x
		}
	}
	return out
}

func (c *chain) render(e *Env, a Area) []string {
	v, ok := c.list.Get()
	if !ok {
		out := append([]string{title(e, a.W, c.what(e), "", &c.list)}, absent(e, &c.list, a.W, a.H-1)...)
		return part.Fit(out, a.W, a.H)
	}
	rows := c.merged(v)
	key := func(i int) string { return part.Count(rows[i].Version) }
	c.split.list.Settle(len(rows), key)
	shown := ""
	if len(rows) > 0 {
		shown = key(c.split.list.Sel)
	}
	list := func(w, h int, focused bool) []string { return c.renderList(e, v, rows, w, h, focused) }
	detail := func(w int) *part.Doc {
		d := part.NewDoc(e.Theme, w)
		if len(rows) > 0 {
			c.versionDoc(d, v, rows, c.split.list.Sel)
		}
		if len(v.Findings) > 0 {
			d.Head("findings on this chain")
		}
		for _, f := range v.Findings {
			mark, role := severity(e.Theme, f.Severity)
			d.Text(role, mark+" "+f.ID+" "+f.Title)
		}
		return d
	}
	return c.split.render(e, a, shown, list, detail)
}

func (c *chain) what(e *Env) string { return "versions of " + part.Clean(c.table, e.Theme.Glyph) }

func (c *chain) renderList(e *Env, v *engine.Versions, rows []engine.Version, w, h int, focused bool) []string {
	t := e.Theme
	dot := " " + t.Glyph.Dot + " "
	count := part.Count(v.Count)
	if v.Count > len(rows) {
		count = "newest " + part.Count(len(rows)) + " of " + count
	}
	if worst := WorstFinding(t, v.Findings); worst.Text != "" {
		count += dot + worst.Text
	}
	facts := count + dot + part.Plural(v.ListPages, "LIST page", "LIST pages") + dot + part.Bytes(v.Bytes)
	var state Pane = &c.list
	if c.read.Busy() && !c.list.Busy() {
		state = &c.read
	}
	out := []string{title(e, w, c.what(e), facts, state)}
	for _, p := range []Pane{&c.list, &c.read} {
		if p.Problem() != nil {
			out = append(out, problem(e, p, w, 0)...)
		}
	}
	if len(rows) == 0 {
		return part.Fit(append(out, part.Line(t, w, part.S("  "), part.R(theme.Muted, "no version on this branch"))), w, h)
	}
	note := ""
	if n := c.unread(); n > 0 {
		note = " " + t.Glyph.Folded + " what the oldest " + part.Count(n) + " did was not read" + dot + "d reads it, " + part.Plural(n, "request", "requests")
	}
	rest := h - len(out)
	if note != "" && rest > 4 {
		rest--
	}
	out = append(out, c.grid(e, v, rows).Render(t, w, max(0, rest), &c.split.list, focused)...)
	if note != "" && len(out) < h {
		out = append(out, part.Line(t, w, part.R(theme.Muted, note)))
	}
	return part.Fit(out, w, h)
}

func (c *chain) grid(e *Env, v *engine.Versions, rows []engine.Version) part.Table {
	g := e.Theme.Glyph
	return part.Table{
		Columns: []part.Column{
			{Title: ""},
			{Title: "version", Right: true}, {Title: "age", Right: true, Drop: 4}, {Title: "operation", Min: 10, Max: 18, Drop: 1},
			{Title: "rows", Right: true, Drop: 3}, {Title: "change", Right: true, Drop: 6}, {Title: "fragments", Right: true, Drop: 7}, {Title: "manifest", Right: true, Drop: 5},
			{Title: "held by", Min: 14, Drop: 2},
		},
		N: len(rows), Heading: true,
		Row: func(i int) []part.Span {
			r := rows[i]
			return []part.Span{
				c.gutter(e, v, r), part.S(part.Count(r.Version)), part.R(theme.Muted, part.Ago(e.Now, r.CreatedAt)), operation(e, r),
				rowsCell(r), changeCell(rows, i), fragmentsCell(e, rows, i), part.R(theme.Muted, part.Bytes(r.ManifestBytes)), heldCell(r.HeldBy, !incomplete(c.list.Problem()), g),
			}
		},
	}
}

// gutter marks the head of the chain and what the graph publishes; when they
// differ, what lies between is drift.
func (c *chain) gutter(e *Env, v *engine.Versions, r engine.Version) part.Span {
	switch {
	case r.Version == v.Head && (r.Version == v.Published || v.Published == 0):
		return part.R(theme.OK, "HP")
	case r.Version == v.Head:
		return part.R(theme.Warn, "H")
	case r.Version == v.Published:
		return part.R(theme.OK, "P")
	case v.Published > 0 && r.Version > v.Published:
		return part.R(theme.Warn, e.Theme.Glyph.V)
	}
	return part.S("")
}

func operation(e *Env, r engine.Version) part.Span {
	switch {
	case r.Problem != "":
		return part.R(theme.Bad, e.Theme.Glyph.Bad+" unreadable")
	case r.Operation == "":
		return part.R(theme.Muted, "not read")
	}
	return part.S(part.Clean(r.Operation, e.Theme.Glyph))
}

func rowsCell(r engine.Version) part.Span {
	if r.Rows == nil {
		return part.R(theme.Muted, "-")
	}
	return part.S(part.Count(*r.Rows))
}

// changeCell is the change of rows against the version before, when both are
// known.
func changeCell(rows []engine.Version, i int) part.Span {
	if i+1 >= len(rows) || rows[i].Rows == nil || rows[i+1].Rows == nil {
		return part.R(theme.Muted, "")
	}
	d := int64(*rows[i].Rows) - int64(*rows[i+1].Rows)
	if d == 0 {
		return part.R(theme.Muted, "-")
	}
	return part.S(signed(d))
}

func fragmentsCell(e *Env, rows []engine.Version, i int) part.Span {
	r := rows[i]
	if r.Fragments == nil {
		return part.R(theme.Muted, "-")
	}
	s := part.Count(*r.Fragments)
	if i+1 < len(rows) && rows[i+1].Fragments != nil && *rows[i+1].Fragments != *r.Fragments {
		s = part.Count(*rows[i+1].Fragments) + e.Theme.Glyph.Arrow + s
	}
	return part.S(s)
}

// holderWord says in words why a version must stay.
func holderWord(h engine.Holder) string {
	switch h.Kind {
	case "head":
		return "head of " + branchOr(h.Name)
	case "published":
		return "published by " + branchOr(h.Name)
	case "lazy_branch":
		return "lazy branch " + h.Name
	case "merge_base":
		return "merge base of " + h.Name
	case "recovery":
		return "pending recovery " + h.Name
	}
	return strings.TrimSpace(strings.ReplaceAll(h.Kind, "_", " ") + " " + h.Name)
}

// heldCell says what holds a version; all says that every holder is known.
func heldCell(held []engine.Holder, all bool, g theme.Glyphs) part.Span {
	if len(held) == 0 && !all {
		return part.R(theme.Warn, "unknown")
	}
	if len(held) == 0 {
		return part.R(theme.Muted, "nothing")
	}
	s := holderWord(held[0])
	if len(held) > 1 {
		s += " +" + part.Count(len(held)-1)
	}
	return part.S(part.Clean(s, g))
}

func (c *chain) versionDoc(d *part.Doc, v *engine.Versions, rows []engine.Version, i int) {
	r := rows[i]
	d.Head("v" + part.Count(r.Version) + " of " + c.table)
	switch {
	case r.Version == v.Head && v.Published == 0:
		d.Fact("state", "head: what the graph shows")
	case r.Version == v.Head && r.Version == v.Published:
		d.Fact("state", "head, and what the graph publishes")
	case r.Version == v.Head:
		d.FactRole("state", theme.Warn, "head, but the graph publishes v"+part.Count(v.Published)+": what lies between is drift")
	case r.Version == v.Published:
		d.Fact("state", "what the graph publishes")
	case v.Published > 0 && r.Version > v.Published:
		d.FactRole("state", theme.Warn, "newer than the published v"+part.Count(v.Published)+": drift")
	}
	if r.Problem != "" {
		d.FactRole("problem", theme.Bad, r.Problem)
	}
	switch {
	case len(r.HeldBy) > 0:
	case incomplete(c.list.Problem()):
		d.FactRole("held by", theme.Warn, "unknown: what may hold it cannot be read whole")
	default:
		d.Fact("held by", "nothing: a cleanup may remove it")
	}
	for n, h := range r.HeldBy {
		name := "held by"
		if n > 0 {
			name = " "
		}
		d.Fact(name, holderWord(h))
	}
	d.Fact("written", part.When(r.CreatedAt))
	if r.Operation != "" {
		d.Fact("operation", r.Operation)
	} else if r.Problem == "" {
		d.FactRole("operation", theme.Muted, "its manifest was not read; d reads all")
	}
	if r.Rows != nil {
		d.Fact("rows", part.Count(*r.Rows))
	}
	if r.Fragments != nil {
		d.Fact("fragments", part.Count(*r.Fragments))
	}
	d.Fact("manifest", part.Bytes(r.ManifestBytes))
	d.Fact("object", r.Key)
	d.Fact("transaction", r.Transaction)
	d.Fact("writer", r.Writer)
	d.Gap()
	d.Text(theme.Muted, "oldest in the chain: v"+part.Count(v.Oldest))
}
