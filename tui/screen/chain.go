package screen

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// chain is the `_versions` chain of one table, newest first, with what holds
// each version. The chain comes from a listing; what each version did is in
// its manifest, one request each, and is read for the newest ones only.
type chain struct {
	browse
	table string
	all   Load[*engine.Versions]
	limit int // how many manifests are read; 0 = all
	made  *published
}

// firstManifests is how many manifests are read without being asked to.
const firstManifests = 24

func newChain(table string) *chain {
	c := &chain{table: table, limit: firstManifests}
	c.browse = newBrowse(56, c.listing)
	c.all.name = "versions"
	return c
}

func (c *chain) label() string { return "versions" }

func (c *chain) scope() string { return action.OnVersions }

func (c *chain) start(e *Env) []Request {
	var out []Request
	if c.all.wanted(e) {
		out = append(out, c.ask(e))
	}
	return append(out, c.need(e)...)
}

func (c *chain) reload(e *Env) []Request { return []Request{c.ask(e)} }

func (c *chain) ask(e *Env) Request {
	branch, newest := e.Branch(), c.limit
	return c.all.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.Versions, error) {
		return ws.Versions(ctx, c.table, branch, engine.VersionsOptions{Holders: true, Details: true, Newest: newest})
	})
}

func (c *chain) panes() []Pane { return c.with(&c.all) }

// unread is the number of versions whose manifest was not read.
func (c *chain) unread() int {
	n := 0
	if v, ok := c.all.Get(); ok {
		for i := range v.Versions {
			if x := &v.Versions[i]; x.Fragments == nil && x.Problem == "" {
				n++
			}
		}
	}
	return n
}

func (c *chain) listing(e *Env) listing {
	v, ok := c.all.Get()
	if !ok {
		return listing{}
	}
	rows := v.Versions
	g := e.Theme.Glyph
	return listing{
		n: len(rows), of: v, what: fileName(c.table) + "-versions",
		key:    func(i int) string { return part.Count(rows[i].Version) },
		record: func(i int) any { return rows[i] },
		facets: []facet{
			countFacet("version", func(i int) uint64 { return rows[i].Version }),
			ageFacet(e.Now, func(i int) time.Time { return rows[i].CreatedAt }),
			textFacet("operation", func(i int) string { return rows[i].Operation + rows[i].Problem }),
			optFacet("rows", func(i int) (float64, bool) { return deref(rows[i].Rows) }),
			optFacet("change", func(i int) (float64, bool) { return rowChange(rows, i) }),
			optFacet("fragments", func(i int) (float64, bool) { return deref(rows[i].Fragments) }),
			countFacet("manifest", func(i int) int64 { return rows[i].ManifestBytes }),
			optFacet("data", func(i int) (float64, bool) { return deref(rows[i].DataBytes) }),
			optFacet("added", func(i int) (float64, bool) { return deref(rows[i].AddedBytes) }),
			textFacet("held", func(i int) string { return heldText(rows[i].HeldBy) }),
			textFacet("state", func(i int) string { return gutter(g, v, rows[i].Version).Text }),
		},
	}
}

func (c *chain) context(e *Env) action.Context {
	out := c.browse.context(e)
	out.Truncated = c.unread() > 0 && !c.all.Busy()
	return out
}

// version is the one that is selected.
func (c *chain) version(e *Env) (*engine.Versions, *engine.Version) {
	v, ok := c.all.Get()
	i, some := c.selected(e)
	if !ok || !some {
		return v, nil
	}
	return v, &v.Versions[i]
}

func (c *chain) do(e *Env, id action.ID) Effect {
	_, x := c.version(e)
	switch id {
	case action.Decode:
		if n := c.unread(); n > 0 && !c.all.Busy() {
			c.limit = 0
			return Effect{Ask: []Request{c.ask(e)}, Note: "reading " + part.Plural(n, "more manifest", "more manifests")}
		}
	case action.Raw:
		if x != nil {
			return Effect{Push: NewObject(x.Key)}
		}
	case action.Flip, action.Open:
		c.flip(e)
	default:
		c.move(e, id)
	}
	return Effect{}
}

// own says that the chain is that of the graph's own table: a version of it is
// a point of the graph.
func (c *chain) own() bool { return c.table == manifestTable }

// ownAt is a version of `__manifest` as a point of the graph.
func ownAt(e *Env, version uint64) engine.At { return engine.At{Branch: e.At.Branch, Version: version} }

// Destination implements Traveller: a version of the graph's own table, or the
// graph version that published a version of another one, where the commits
// that are known say it.
func (c *chain) Destination(e *Env) (engine.At, string, bool) {
	_, x := c.version(e)
	if x == nil {
		return engine.At{}, "", false
	}
	if c.own() {
		return ownAt(e, x.Version), "v" + part.Count(x.Version) + " of the graph", true
	}
	en := c.publisher(e, x.Version)
	if en == nil {
		return engine.At{}, "", false
	}
	return point(en), "commit " + part.Short(en.ID, e.Theme.Glyph) + ", which published v" + part.Count(x.Version) + " of " + part.Clean(c.table, e.Theme.Glyph), true
}

// published is which commit published which version of the table.
type published struct {
	of     *History
	branch string
	by     map[uint64]int
}

const commitsLooked = 100_000 // newest commits that are looked at for a publisher

// publisher is the commit of the branch that published a version; nil when
// none is known.
func (c *chain) publisher(e *Env, version uint64) *engine.LogEntry {
	h, ok := e.Data.History.Get()
	if !ok {
		return nil
	}
	if p := c.made; p == nil || p.of != h || p.branch != e.Branch() {
		c.made = &published{of: h, branch: e.Branch(), by: map[uint64]int{}}
		for i := range min(h.Len(), commitsLooked) {
			if h.Branch(i) == e.Branch() {
				c.made.note(h, i, c.table)
			}
		}
	}
	if i, ok := c.made.by[version]; ok {
		en := h.Entry(i)
		return &en
	}
	return nil
}

// note remembers which versions of the table a commit published.
func (p *published) note(h *History, i int, table string) {
	for name, v := range h.Tables(i) {
		if v > 0 && name == table {
			p.by[v] = i
		}
	}
}

// Pin implements Pinner.
func (c *chain) Pin(e *Env) *Pin {
	_, x := c.version(e)
	switch {
	case x == nil:
		return nil
	case c.own():
		return &Pin{Kind: PinPoint, Label: "version " + part.Count(x.Version) + " of the graph", At: ownAt(e, x.Version)}
	}
	return &Pin{Kind: PinVersion, Label: c.table + " v" + part.Count(x.Version), Table: c.table, Branch: e.Branch(), Version: x.Version}
}

// SinceBefore implements Predecessor: what the selected version changed.
func (c *chain) SinceBefore(e *Env) Screen {
	v, x := c.version(e)
	i, _ := c.selected(e)
	if x == nil || i+1 >= len(v.Versions) {
		return nil
	}
	before, pin := v.Versions[i+1].Version, c.Pin(e)
	a := *pin
	if a.Version = before; c.own() {
		a.Version, a.At = 0, ownAt(e, before)
	}
	return NewCompare(a, *pin)
}

// Copies implements Copier.
func (c *chain) Copies(e *Env) []Copy {
	_, x := c.version(e)
	if x == nil {
		return nil
	}
	n := strconv.FormatUint(x.Version, 10)
	args := []string{"versions", e.Address}
	if !c.own() {
		args = append(args, c.table)
	}
	if e.Branch() != "main" {
		args = append(args, "--branch", e.Branch())
	}
	out := []Copy{{"version", n}, {"object key", x.Key}}
	if x.Transaction != "" {
		out = append(out, Copy{"transaction", x.Transaction})
	}
	out = append(out, Copy{"command that lists the versions", shell.Line(args...)})
	holds := []string{"holds", e.Address, c.table, n}
	if e.Branch() != "main" {
		holds = append(holds, "--branch", e.Branch())
	}
	out = append(out, Copy{"command that says what holds it", shell.Line(holds...)})
	return append(out, jsonCopy("version as JSON", x)...)
}

func (c *chain) render(e *Env, a Area) []string {
	v, ok := c.all.Get()
	if !ok {
		out := append([]string{title(e, a.W, c.what(e), "", &c.all)}, absent(e, &c.all, a.W, a.H-1)...)
		return part.Fit(out, a.W, a.H)
	}
	l := c.listing(e)
	n := c.settle(l)
	rows := v.Versions
	shown := ""
	if n > 0 {
		shown = l.key(c.lens.item(c.list.Sel))
	}
	list := func(w, h int, focused bool) []string { return c.renderList(e, v, l, n, w, h, focused) }
	detail := func(w int) *part.Doc {
		d := part.NewDoc(e.Theme, w)
		if n > 0 {
			c.versionDoc(e, d, v, rows, c.lens.item(c.list.Sel))
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

func (c *chain) renderList(e *Env, v *engine.Versions, l listing, n, w, h int, focused bool) []string {
	t := e.Theme
	out := []string{title(e, w, c.what(e), c.chainFacts(e, v, l, n), &c.all)}
	if c.all.Problem() != nil {
		out = append(out, problem(e, &c.all, w, 0)...)
	}
	switch {
	case l.n == 0:
		return part.Fit(append(out, part.Line(t, w, part.S("  "), part.R(theme.Muted, "no version on this branch"))), w, h)
	case n == 0:
		return part.Fit(append(out, c.noMatch(e, w)), w, h)
	}
	note := ""
	if n := c.unread(); n > 0 {
		note = " " + t.Glyph.Folded + " what the oldest " + part.Count(n) + " did was not read " + t.Glyph.Dot + " " + press(e, action.Decode) + " reads it, " + part.Plural(n, "request", "requests")
	}
	rest := h - len(out)
	if note != "" && rest > 4 {
		rest--
	}
	out = append(out, c.grid(e, v, v.Versions, n).Render(t, w, max(0, rest), &c.list, focused)...)
	if note != "" && len(out) < h {
		out = append(out, part.Line(t, w, part.R(theme.Muted, note)))
	}
	return part.Fit(out, w, h)
}

// chainFacts says how long the chain is, and what opening it costs.
func (c *chain) chainFacts(e *Env, v *engine.Versions, l listing, n int) string {
	dot := " " + e.Theme.Glyph.Dot + " "
	count := part.Count(v.Count)
	if v.Count > l.n {
		count = "newest " + part.Count(l.n) + " of " + count
	}
	if worst := WorstFinding(e.Theme, v.Findings); worst.Text != "" {
		count += dot + worst.Text
	}
	s := count + dot + part.Plural(v.ListPages, "LIST page", "LIST pages") + dot + part.Bytes(v.Bytes)
	if l.n > 0 {
		if oldest := v.Versions[l.n-1].CreatedAt; !oldest.IsZero() {
			s += dot + "oldest " + part.Ago(e.Now, oldest)
		}
	}
	return c.facts(e, l, n, s)
}

func (c *chain) grid(e *Env, v *engine.Versions, rows []engine.Version, n int) part.Table {
	g := e.Theme.Glyph
	all := !incomplete(c.all.Problem())
	return part.Table{
		Columns: []part.Column{
			{Title: ""},
			{Title: "version", Right: true}, {Title: ""}, {Title: "age", Right: true, Drop: 4}, {Title: "operation", Min: 10, Max: 18, Drop: 1},
			{Title: "rows", Right: true, Drop: 3}, {Title: "change", Right: true, Drop: 6}, {Title: "fragments", Right: true, Drop: 7}, {Title: "manifest", Right: true, Drop: 8},
			{Title: "data", Right: true, Drop: 9}, {Title: "added", Right: true, Drop: 10},
			{Title: "held by", Min: 24, Drop: 2},
		},
		N: n, Heading: true,
		Row: func(p int) []part.Span {
			i := c.lens.item(p)
			r := &rows[i]
			return []part.Span{
				gutter(g, v, r.Version), part.S(part.Count(r.Version)), part.R(theme.Accent, c.marked(e, r.Version)),
				part.R(theme.Muted, part.Ago(e.Now, r.CreatedAt)), operation(e, r),
				rowsCell(r), changeCell(rows, i), fragmentsCell(e, rows, i), part.R(theme.Muted, part.Bytes(r.ManifestBytes)),
				bytesCell(r.DataBytes), bytesCell(r.AddedBytes), heldCell(r.HeldBy, all, g),
			}
		},
	}
}

// marked says in a word that a version is the one that the screens show, or
// that it was marked.
func (c *chain) marked(e *Env, version uint64) string {
	if c.own() {
		s := marked(e, ownAt(e, version))
		at := e.At.Version // also of a commit
		if snap, ok := e.Data.Snapshot.Get(); ok && at == 0 {
			at = snap.GraphManifestVersion
		}
		if e.At.Commit != "" && at == version {
			s = strings.TrimSuffix("shown, "+s, ", ")
		}
		return s
	}
	if p := e.Pinned; p != nil && p.Kind == PinVersion && p.Table == c.table && BranchName(p.Branch) == e.Branch() && p.Version == version {
		return "marked"
	}
	snap, ok := e.Data.Snapshot.Get()
	if !ok || !e.Travelling() {
		return ""
	}
	for i := range snap.Datasets {
		if d := &snap.Datasets[i]; d.Version == version && d.Table() == c.table {
			return "shown"
		}
	}
	return ""
}
