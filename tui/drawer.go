package tui

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// The drawer stands open at the bottom of a large window; elsewhere it opens
// over the lower part of the body.
const (
	drawerFromW, drawerFromH = 200, 60
	drawerHeight             = 8
	drawerColumns            = 150 // cells from which it has three columns
)

// drawer is the meter in detail.
type drawer struct {
	set    bool // the user opened or closed it; before, the size decides
	open   bool
	focus  bool // movement and export are the drawer's
	back   int  // operations before the last one; 0 = the last one
	scroll int
}

// counters are what the meter shows, as they were sampled last.
type counters struct {
	drawer drawer
	op     *screen.Record  // last operation of a screen
	of     workspace.Meter // that detail was taken from
	at     workspace.Reading
	detail cost.Trace
	p95    time.Duration
	drawn  drawn
	known  knownTerms
}

// docked says that the window is so large that the drawer takes no room from
// what matters.
func (m *model) docked() bool { return m.w >= drawerFromW && m.h >= drawerFromH }

// drawerOpen says that the drawer is shown.
func (m *model) drawerOpen() bool {
	if m.picking() {
		return false
	}
	if m.drawer.set {
		return m.drawer.open
	}
	return m.docked()
}

// switchDrawer opens the drawer with the focus in it, or closes it.
func (m *model) switchDrawer() tea.Cmd {
	open := !m.drawerOpen()
	m.drawer = drawer{set: true, open: open, focus: open}
	m.tree().focus = false
	m.sample()
	return nil
}

// drawerKey takes the actions that mean the drawer while it has the focus.
// Others go to the screen.
func (m *model) drawerKey(id action.ID) (tea.Cmd, bool) {
	d := &m.drawer
	if !m.drawerOpen() || !d.focus {
		return nil, false
	}
	switch id {
	case action.Down:
		d.scroll++
	case action.Up:
		d.scroll--
	case action.PageDown, action.HalfDown:
		d.scroll += drawerHeight - 2
	case action.PageUp, action.HalfUp:
		d.scroll = max(0, d.scroll-drawerHeight+2)
	case action.Top:
		d.scroll = 0
	case action.Bottom:
		d.scroll = 1 << 20
	case action.PrevTab:
		if m.env.Ops.Newest(d.back+1) != nil {
			d.back, d.scroll = d.back+1, 0
		}
	case action.NextTab:
		d.back, d.scroll = max(0, d.back-1), 0
	case action.Flip:
		d.focus = false
	case action.Back:
		if d.focus = false; !m.docked() {
			d.open = false
		}
	case action.Export:
		return m.exportCalls(), true
	default:
		return nil, false
	}
	m.dirty = true
	return nil, true
}

// looked is the operation that the drawer shows one by one.
func (m *model) looked() *screen.Record {
	if m.drawer.back == 0 && m.op != nil {
		return m.op
	}
	return m.env.Ops.Newest(m.drawer.back)
}

// exportCalls writes the requests of the operation that is shown.
func (m *model) exportCalls() tea.Cmd {
	r := m.looked()
	if r == nil {
		return m.say("no operation yet")
	}
	tr, ok := r.Trace()
	if !ok {
		return m.say("the requests of this operation are no longer kept")
	}
	return m.effect(screen.Effect{Export: callsExport(r, tr)})
}

// callLine is one request as it is exported.
type callLine struct {
	Operation string `json:"operation"`
	cost.Call
	MS float64 `json:"ms"`
}

func callsExport(r *screen.Record, tr cost.Trace) *screen.Export {
	title := part.Plural(len(tr.Calls), "request", "requests") + " of " + r.Name()
	if tr.Dropped > 0 {
		title += ", without the " + part.Count(tr.Dropped) + " oldest, which were not kept"
	}
	return &screen.Export{
		Name: "requests.ndjson", Title: title,
		Write: func(ctx context.Context, _ workspace.Workspace, w io.Writer) (int, error) {
			out := bufio.NewWriter(w)
			enc := json.NewEncoder(out)
			enc.SetEscapeHTML(false)
			for i, c := range tr.Calls {
				if ctx.Err() != nil {
					return i, ctx.Err()
				}
				if err := enc.Encode(callLine{r.Name(), c, float64(c.End.Sub(c.Start).Microseconds()) / 1000}); err != nil {
					return i, err
				}
			}
			return len(tr.Calls), out.Flush()
		},
	}
}

// drawerRoom is how many lines of the body the drawer takes for itself.
func (m *model) drawerRoom() int {
	if m.drawerOpen() && m.docked() {
		return drawerHeight
	}
	return 0
}

// coverWithDrawer puts the drawer over the lower part of a body of w cells.
func (m *model) coverWithDrawer(body []string, w int) []string {
	if !m.drawerOpen() || m.docked() {
		return body
	}
	n := min(len(body)-2, max(drawerHeight, len(body)*3/5))
	if n < 3 {
		return body
	}
	return append(body[:len(body)-n:len(body)-n], m.drawDrawer(w, n)...)
}

// drawDrawer draws exactly h lines of w cells.
func (m *model) drawDrawer(w, h int) []string {
	t := m.env.Theme
	r := m.looked()
	out := []string{m.drawerTitle(w, r)}
	switch {
	case r == nil:
		out = append(out, part.Line(t, w, part.R(theme.Muted, "  nothing was asked of the store yet")))
	case w >= drawerColumns:
		out = append(out, m.drawerColumns(r, w, h-1)...)
	default:
		out = append(out, m.drawerPage(r, w).Window(h-1, &m.drawer.scroll)...)
	}
	return part.Fit(out, w, h)
}

// drawerTitle names the operation that is shown, and what it cost before.
func (m *model) drawerTitle(w int, r *screen.Record) string {
	t, e := m.env.Theme, &m.env
	g := t.Glyph
	dot := part.R(theme.Muted, " "+g.Dot+" ")
	left := []part.Span{part.R(theme.Border, g.H+g.H+" "), part.R(theme.Strong, "meter")}
	if m.drawer.back > 0 {
		left = append(left, dot, part.R(theme.Accent, part.Count(m.drawer.back)+" before the last"))
	}
	if r != nil {
		left = append(left, dot, part.S(part.Clean(r.Name(), g)), dot, part.S(part.Plural(r.Reading().Requests(), "request", "requests")))
		if budget, ok := e.Budget(r); ok {
			if n := e.Over(r); n > 0 {
				left = append(left, part.R(theme.Warn, " "+g.Warn+" over its budget of "+part.Count(budget)))
			} else {
				left = append(left, part.R(theme.Muted, " of at most "+part.Count(budget)))
			}
		}
		if was, ok := e.Before(r); ok {
			left = append(left, part.R(theme.Muted, ", before "+part.Count(was.Requests)))
		}
		if v := r.Reading(); v.Failed+v.Retries > 0 {
			left = append(left, dot, part.R(theme.Bad, g.Bad+" "+part.Count(v.Failed)+" failed, "+part.Plural(v.Retries, "retry", "retries")))
		}
	}
	hint := ""
	if !m.drawer.focus { // else the footer says it
		hint = e.Key(action.Drawer) + " closes "
	}
	return part.Sides(t, w, append(left, part.S(" ")), []part.Span{part.R(theme.Muted, hint)})
}

// drawerHints are what the keys mean while the drawer has the focus.
func (m *model) drawerHints() []part.Hint {
	k := m.env.Keys
	why := ""
	if m.looked() == nil {
		why = "no operation yet"
	}
	return []part.Hint{
		{Key: k.Key(action.Drawer), Title: "close"}, {Key: k.Both(action.Down, action.Up), Title: "scroll"},
		{Key: k.Both(action.PrevTab, action.NextTab), Title: "older, newer operation", Why: why},
		{Key: k.Key(action.Export), Title: "export requests", Why: why}, {Key: k.Key(action.Flip), Title: "to the screen"},
		{Key: k.Key(action.Scope), Title: "scope"},
	}
}

// drawn is what the pages of the drawer rest on, and how they looked: they
// stand under every frame of a large window, and change only with the meter.
type drawn struct {
	of    drawnOf
	left  []string // columns
	slow  []string
	calls *part.Doc
	page  []string // all of them below each other
}

type drawnOf struct {
	record     *screen.Record
	its, scope workspace.Reading
	meter      workspace.Meter
	kept, run  bool
	w, h       int // h: of columns
	focus      bool
	byOp       bool
	masked     bool
	theme      *theme.Theme
}

// redraw says that the pages of the drawer must be drawn again, and forgets
// the old ones.
func (m *model) redraw(r *screen.Record, w, h int) bool {
	of := drawnOf{
		record: r, its: r.Reading(), scope: m.at, meter: m.of, kept: r.Meter != nil, run: r.Running(), w: w, h: h,
		focus: m.drawer.focus, byOp: m.scope == 1 || m.scope == 0 && len(m.detail.Calls) == 0, masked: m.env.Masked, theme: m.env.Theme,
	}
	if m.drawn.of == of {
		return false
	}
	m.drawn = drawn{of: of}
	return true
}

// drawerColumns is the drawer of a wide window: the matrix, what was slow, and
// the requests one by one.
func (m *model) drawerColumns(r *screen.Record, w, h int) []string {
	if m.redraw(r, w, h) {
		m.drawColumns(r, w, h)
	}
	d := &m.drawn
	left := d.left
	if d.slow != nil {
		left = part.Beside(m.env.Theme, left, d.slow)
	}
	return part.Beside(m.env.Theme, left, d.calls.Window(h, &m.drawer.scroll))
}

func (m *model) drawColumns(r *screen.Record, w, h int) {
	t, e := m.env.Theme, &m.env
	matrix := 52
	slow := 48
	if e.Masked { // nothing is said to have been slow
		slow = 0
	}
	fall := w - matrix - slow - min(slow, 1) - 1
	tr, ok := r.Trace()
	left := part.NewDoc(t, matrix).Add(screen.Matrix(e, m.scopeTrace(r), matrix)...)
	middle := part.NewDoc(t, slow)
	right := part.NewDoc(t, fall)
	switch {
	case !ok:
		right.Text(theme.Muted, "Its requests are no longer kept.")
	case r.Reading().Requests() == 0 && !r.Running():
		right.Text(theme.Text, "zero requests: it was answered from memory")
	default:
		middle.Add(screen.Slowest(e, tr, 5, slow)...)
		lines := h
		if m.drawer.focus { // all of them can be scrolled to
			lines = 0
		}
		right.Add(screen.Waterfall(e, tr, fall, lines)...)
	}
	m.drawn.left, m.drawn.slow, m.drawn.calls = left.Window(h, new(int)), nil, right
	if slow > 0 {
		m.drawn.slow = middle.Window(h, new(int))
	}
}

// scopeTrace is the trace of the scope that the status line shows; of an
// operation, and of a screen that has asked for nothing, it is that of the
// operation that is looked at.
func (m *model) scopeTrace(r *screen.Record) cost.Trace {
	if m.scope == 1 || m.scope == 0 && len(m.detail.Calls) == 0 {
		if tr, ok := r.Trace(); ok {
			return tr
		}
	}
	return m.detail
}

// drawerPage is the drawer of a narrow window: everything below each other.
func (m *model) drawerPage(r *screen.Record, w int) *part.Doc {
	d := part.NewDoc(m.env.Theme, w)
	if m.redraw(r, w, 0) {
		m.drawPage(r, d)
		m.drawn.page = d.Window(d.Len(), new(int))
	} else {
		d.Add(m.drawn.page...)
	}
	gaugeDoc(&m.env, d, w)
	return d
}

func (m *model) drawPage(r *screen.Record, d *part.Doc) {
	e, w := &m.env, d.Width()
	d.Add(screen.Matrix(e, m.scopeTrace(r), w)...)
	tr, ok := r.Trace()
	switch {
	case !ok:
		d.Text(theme.Muted, "Its requests are no longer kept.")
	case r.Reading().Requests() == 0 && !r.Running():
		d.Text(theme.Text, "zero requests: "+strings.TrimSpace(r.Name())+" was answered from memory")
	default:
		d.Add(screen.Slowest(e, tr, 5, w)...)
		d.Gap().Add(screen.Waterfall(e, tr, w, 0)...)
	}
}
