package tui

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// Sizes at which the layout changes.
const (
	minWidth, minHeight = 60, 15 // below: a notice
	wideFrom            = 100    // list and detail beside each other
	navFrom             = 160    // and the navigator at the left
	navWidth            = 28
	tallFrom            = 30 // a breadcrumb and a line of findings of their own
)

// View implements tea.Model. It draws only when something changed.
func (m *model) View() (v tea.View) {
	if !m.dirty {
		return m.view
	}
	m.dirty = false
	defer func() {
		if r := recover(); r != nil {
			m.crash, v = caught("drawing "+m.top().screen.Title(), r), m.view
			go m.quit()
		}
	}()
	v = tea.NewView(strings.Join(m.frame(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "omnideck"
	if name := m.name(); name != "" {
		v.WindowTitle += " " + part.Clean(name, m.env.Theme.Glyph)
	}
	v.MouseMode = m.mouseMode()
	m.view = v
	m.rounds.hurry()
	return v
}

// frame is the whole screen: h lines of w cells.
func (m *model) frame() []string {
	w, h := m.w, m.h
	if w <= 0 || h <= 0 {
		return nil
	}
	if w < minWidth || h < minHeight {
		return m.notice(w, h)
	}
	out := []string{m.header(w)}
	bodyHeight := h - 3
	if m.tall() {
		out = append(out, m.crumbs(w), part.Rule(m.env.Theme, "", w))
		bodyHeight -= 2
	}
	drawer := m.drawerRoom()
	out = append(out, m.body(w, bodyHeight-drawer)...)
	if drawer > 0 {
		out = append(out, m.drawDrawer(w, drawer)...)
	}
	return append(out, m.status(w), m.keys(w))
}

// tall says that there is room for the breadcrumb.
func (m *model) tall() bool { return m.h >= tallFrom && !m.plain }

// bodyTop is the line at which the body begins.
func (m *model) bodyTop() int {
	if m.tall() {
		return 3
	}
	return 1
}

// notice is what a window gets in which nothing can be read.
func (m *model) notice(w, h int) []string {
	t := m.env.Theme
	text := part.Count(w) + "x" + part.Count(h) + ": omnideck needs " + part.Count(minWidth) + "x" + part.Count(minHeight)
	out := make([]string, 0, h)
	for _, l := range part.Wrap(text, w) {
		out = append(out, part.Line(t, w, part.S(l)))
	}
	if len(out) < h {
		out = append(part.Fit(out, w, h-1), m.status(w))
	}
	return part.Fit(out, w, h)
}

func (m *model) name() string {
	uri := strings.TrimRight(m.env.Address, "/")
	if uri == "" || strings.HasSuffix(uri, ":") {
		return uri
	}
	return path.Base(uri)
}

func (m *model) header(w int) string {
	hd := part.Header{Name: m.name(), URI: m.env.Address, Remote: m.env.Remote, Locked: m.env.Locked, Past: m.env.Travelling()}
	if m.picking() {
		hd.Name = "omnideck"
		return hd.Render(m.env.Theme, w)
	}
	hd.Branch = m.env.Branch()
	if snap, ok := m.env.Data.Snapshot.Get(); ok {
		hd.At = snap.GraphManifestVersion
	}
	if info, ok := m.env.Data.Info.Get(); ok {
		hd.Head, hd.At = info.HeadCommit, info.GraphManifestVersion
		hd.Worst = screen.WorstFinding(m.env.Theme, info.Findings)
	}
	hd.Gauges, hd.Pending = m.gauges(), m.env.Data.Left.Chip(m.env.Theme, m.env.Now)
	if m.env.Travelling() {
		if hd.Head == "" {
			hd.Head = m.env.At.Commit
		}
		if hd.At == 0 {
			hd.At = m.env.At.Version
		}
		if at, ok := ulidTime(hd.Head); ok {
			hd.Travel = part.Ago(m.env.Now, at)
		}
	}
	if m.following {
		hd.Follow = part.Count(int(followEvery/time.Second)) + " s"
	}
	switch since := m.waitingSince(); {
	case !since.IsZero():
		hd.Age = "reading " + part.Elapsed(m.env.Now.Sub(since))
	case m.opening:
		hd.Age = "opening"
	default:
		hd.Age = m.shownAge()
	}
	return hd.Render(m.env.Theme, w)
}

// ulidTime is the moment that a commit id begins with.
func ulidTime(id string) (time.Time, bool) {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	if len(id) != 26 || id[0] > '7' {
		return time.Time{}, false
	}
	ms := int64(0)
	for _, c := range id[:10] {
		d := strings.IndexRune(digits, c)
		if d < 0 {
			return time.Time{}, false
		}
		ms = ms<<5 | int64(d)
	}
	return time.UnixMilli(ms), true
}

// waitingSince is when the oldest question was asked that is still open.
func (m *model) waitingSince() time.Time {
	var at time.Time
	for _, p := range m.panes() {
		if p.Busy() && (at.IsZero() || p.Since().Before(at)) {
			at = p.Since()
		}
	}
	return at
}

// shownAge is the age of the oldest thing that is shown.
func (m *model) shownAge() string {
	var at time.Time
	for _, p := range m.top().screen.Panes(&m.env) {
		if l := p.Loaded(); !l.IsZero() && (at.IsZero() || l.Before(at)) {
			at = l
		}
	}
	return part.Ago(m.env.Now, at)
}

func (m *model) panes() []screen.Pane {
	panes := m.top().screen.Panes(&m.env)
	if m.showsNav() {
		panes = append(panes, m.nav.screen.Panes(&m.env)...)
	}
	return panes
}

// nextAge is when the words of an age that is shown stop being true.
func (m *model) nextAge() time.Time {
	var due time.Time
	for _, p := range m.panes() {
		if p.Loaded().IsZero() {
			continue
		}
		_, left := part.Age(m.env.Now.Sub(p.Loaded()))
		if at := m.env.Now.Add(left); due.IsZero() || at.Before(due) {
			due = at
		}
	}
	if at := m.nextPending(); due.IsZero() || !at.IsZero() && at.Before(due) {
		due = at
	}
	return due
}

// crumbs is the line of a tall window that names the screens, and the way to
// where one is.
func (m *model) crumbs(w int) string {
	t := m.env.Theme
	spans := []part.Span{part.S(" ")}
	first := m.stack[0]
	for i, id := range []action.ID{action.Overview, action.Branches, action.Commits, action.Tables, action.Versions, action.Ops} {
		if m.picking() {
			break
		}
		a := m.env.Keys.Get(id)
		here := m.roots[id] == first
		spans = append(spans, part.R(theme.Muted, a.Key()+" "))
		if here {
			spans = append(spans, part.R(theme.Chip, " "+a.Title+" "))
		} else {
			spans = append(spans, part.S(" "+a.Title+" "))
		}
		if i < 5 {
			spans = append(spans, part.S(" "))
		}
	}
	for i, v := range m.stack {
		if i == 0 && m.isRoot(v) {
			continue
		}
		spans = append(spans, part.R(theme.Muted, " "+t.Glyph.Pointer+" "), part.R(theme.Accent, part.Clean(v.screen.Title(), t.Glyph)))
	}
	return part.Line(t, w, spans...)
}

func (m *model) isRoot(v *visit) bool {
	for _, r := range m.roots {
		if r == v {
			return true
		}
	}
	return false
}

func (m *model) showsNav() bool {
	return m.w >= navFrom && m.h >= minHeight && !m.picking() && !m.plain
}

// body draws the screen, the navigator beside it where there is room, and the
// overlays above.
func (m *model) body(w, h int) []string {
	a := screen.Area{W: w, H: h, Wide: w >= wideFrom, Shift: m.shifts[m.layout()], Aside: m.navFocus() || m.drawerOpen() && m.drawer.focus}
	var out []string
	switch {
	case m.keep.waiting:
		out = part.Fit(nil, w, h)
	case m.showsNav():
		a.W = w - navWidth - 1
		m.tree().table = m.shownTable()
		nav := m.nav.screen.Render(&m.env, screen.Area{W: navWidth, H: h})
		out = part.Beside(m.env.Theme, nav, m.top().screen.Render(&m.env, a))
	default:
		out = m.top().screen.Render(&m.env, a)
	}
	out = m.coverWithDrawer(out, w)
	for _, o := range m.overlays {
		out = o.cover(m, out, w)
	}
	if m.longNote() {
		out = part.Over(out, m.noteBox(), w, part.Bottom)
	}
	return out
}

// longNote says that what is to be said does not fit into the last line.
func (m *model) longNote() bool { return part.Width(m.note) > m.w-2 }

// noteBox is a long note above the last lines.
func (m *model) noteBox() []string {
	t := m.env.Theme
	var lines []string
	for _, l := range part.Wrap(m.note, m.w-4) {
		lines = append(lines, part.Line(t, m.w-2, part.S(" "), part.R(theme.Accent, l)))
	}
	return part.Box(t, "", lines, m.w)
}

var scopes = []string{"screen", "operation", "since start"}

const sparkOps = 8 // operations in the sparkline

// mayWrite says that the scope of the meter holds an operation that was to change
// the graph.
func (m *model) mayWrite() bool {
	switch m.scope {
	case 0:
		return m.writerShown() && m.writer.op != nil && m.writer.op.Writes
	case 1:
		return m.op != nil && m.op.Writes
	}
	return m.wrote
}

// status is the line of the meter.
func (m *model) status(w int) string {
	r, e := m.seen, &m.env
	line := part.Meter{
		Get: r.Get, Head: r.Head, List: r.List, Put: r.Put, Delete: r.Delete, Bytes: r.BytesRead + r.BytesWritten,
		Hops: r.Hops, InFlight: r.InFlight, Failed: r.Failed, Retries: r.Retries, Scope: scopes[m.scope], Masked: e.Masked,
		Writes: m.mayWrite(),
	}
	if len(m.detail.Calls) > 0 {
		line.P95 = part.Millis(m.p95)
	}
	if m.env.Ops.Len() > 1 {
		line.Spark = screen.Trend(e.Theme.Glyph, m.env.Ops.Costs(sparkOps))
	}
	over := int64(0)
	switch {
	case m.scope == 0:
		for _, op := range m.env.Ops.Of(m.top().id) {
			over += e.Over(op)
		}
	case m.scope == 1 && m.op != nil:
		over = e.Over(m.op)
		line.Scope = part.Cut(line.Scope+" "+part.Clean(m.lastName, e.Theme.Glyph), max(len(line.Scope), w/4), e.Theme.Glyph.More)
		if was, ok := e.Before(m.op); ok && !m.op.Running() {
			line.Was = "before " + part.Count(was.Requests)
		}
	}
	if over > 0 {
		line.Over = part.Count(over) + " over budget"
	}
	return line.Render(e.Theme, w)
}

func (m *model) keys(w int) string {
	c := m.context()
	for _, note := range []string{m.note, m.progress()} {
		if note != "" && part.Width(note) <= w-2 {
			return part.Line(m.env.Theme, w, part.S(" "), part.R(theme.Accent, note))
		}
	}
	if hints, ok := m.writeHints(); ok {
		return part.Keys(m.env.Theme, hints, w)
	}
	if len(m.overlays) > 0 {
		return part.Keys(m.env.Theme, nil, w)
	}
	if m.drawerOpen() && m.drawer.focus {
		return part.Keys(m.env.Theme, m.drawerHints(), w)
	}
	if m.navFocus() {
		return part.Keys(m.env.Theme, m.navHints(), w)
	}
	var hints []part.Hint
	for place := 1; place <= 9; place++ {
		for _, a := range m.env.Keys.Actions() {
			if a.ID == action.Recover && !c.Pending || a.Footer != place || !(a.In(c.Screen) || a.In(action.Lists) || a.In(action.Global)) {
				continue
			}
			why := a.Why(c)
			if why != "" && !a.In(c.Screen) || a.ID == action.Leave && c.Deep {
				continue
			}
			hint := part.Hint{Key: m.env.Keys.Hint(a), Title: a.Title, Why: why, Keep: a.Keep}
			if why != "" {
				hint.Keep = 0
			}
			if a.ID == action.Travel && c.Travelling {
				if _, _, ok := m.elsewhere(); !ok {
					hint.Title = "back to now"
				}
			}
			hints = append(hints, hint)
		}
	}
	slices.SortStableFunc(hints, func(a, b part.Hint) int { return cmp.Compare(min(1, len(a.Why)), min(1, len(b.Why))) })
	if !m.picking() {
		if from, to := m.env.Key(action.Overview), m.env.Key(action.Versions); from != "" && to != "" {
			hints = append([]part.Hint{{Key: from + "-" + to, Title: "screens", Keep: 35}}, hints...)
		}
	}
	return part.Keys(m.env.Theme, hints, w)
}
