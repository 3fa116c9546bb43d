package screen

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Operations shows what was asked of the store: the operations of this
// session one by one, and what the ledger of this machine remembers of each
// operation on this graph.
type Operations struct {
	tab     int // 0 session, 1 ledger
	session browse
	ledger  browse
	made    *sessionRows
	traced  traced
}

// traced is how the requests of an operation were drawn last: there may be
// hundreds, which stand still while one moves over the rest.
type traced struct {
	of    tracedOf
	lines []string
}

type tracedOf struct {
	record *Record
	its    workspace.Reading
	run    bool
	kept   bool
	w      int
	masked bool
	theme  *theme.Theme
}

// The tabs.
const (
	sessionTab = iota
	ledgerTab
)

var operationTabs = []string{"this session", "before"}

// NewOperations makes the screen.
func NewOperations() *Operations {
	o := &Operations{}
	o.session = newBrowse(60, o.sessionList)
	o.ledger = newBrowse(56, o.ledgerList)
	return o
}

// Show chooses a tab by its place: "ledger" is what was before.
func (o *Operations) Show(tab string) *Operations {
	if tab == "ledger" {
		o.tab = ledgerTab
	}
	return o
}

// Name implements Screen.
func (o *Operations) Name() string { return action.OnOps }

// Title implements Screen.
func (o *Operations) Title() string { return "operations" }

// Place implements Screen.
func (o *Operations) Place() string {
	if o.tab == ledgerTab {
		return "operations/ledger"
	}
	return "operations"
}

func (o *Operations) list() *browse {
	if o.tab == ledgerTab {
		return &o.ledger
	}
	return &o.session
}

// Start implements Screen. The ledger was asked for when the graph was opened;
// it is read again when one comes here, because this session has gone on.
func (o *Operations) Start(e *Env) []Request {
	if e.Data.Ledger.wanted(e) {
		return o.Reload(e)
	}
	return o.list().need(e)
}

// Reload implements Screen.
func (o *Operations) Reload(e *Env) []Request { return []Request{e.Data.AskLedger(e)} }

// Panes implements Screen.
func (o *Operations) Panes(e *Env) []Pane {
	out := []Pane{&e.Data.Ledger}
	if w := &o.list().lens.work; w.busy {
		out = append(out, w)
	}
	return out
}

// Context implements Screen.
func (o *Operations) Context(e *Env) action.Context {
	c := o.list().context(e)
	c.Tabs = true
	return c
}

// Do implements Screen.
func (o *Operations) Do(e *Env, id action.ID) Effect {
	switch id {
	case action.NextTab, action.PrevTab:
		o.tab = 1 - o.tab
		return Effect{Ask: o.list().need(e)}
	case action.Flip, action.Open:
		o.list().flip(e)
	default:
		o.list().move(e, id)
	}
	return Effect{}
}

// InDetail implements Screen.
func (o *Operations) InDetail() bool { return o.list().InDetail() }

// CloseDetail implements Screen.
func (o *Operations) CloseDetail() { o.list().CloseDetail() }

// Filter implements Filterer.
func (o *Operations) Filter() string { return o.list().Filter() }

// SetFilter implements Filterer.
func (o *Operations) SetFilter(e *Env, text string) Effect { return o.list().SetFilter(e, text) }

// NextMatch implements Filterer.
func (o *Operations) NextMatch(e *Env, d int) Effect { return o.list().NextMatch(e, d) }

// SortColumns implements Sorter.
func (o *Operations) SortColumns(e *Env) []string { return o.list().SortColumns(e) }

// Sorted implements Sorter.
func (o *Operations) Sorted() (int, bool) { return o.list().Sorted() }

// SetSort implements Sorter.
func (o *Operations) SetSort(e *Env, column int, desc bool) Effect {
	return o.list().SetSort(e, column, desc)
}

// Exports implements Exporter.
func (o *Operations) Exports(e *Env) *Export { return o.list().Exports(e) }

// Keep implements Keeper: of the ledger, because a session ends with the
// program.
func (o *Operations) Keep() json.RawMessage { return o.ledger.Keep() }

// Restore implements Keeper.
func (o *Operations) Restore(raw json.RawMessage) { o.ledger.Restore(raw) }

// Copies implements Copier.
func (o *Operations) Copies(e *Env) []Copy {
	var out []Copy
	if i, ok := o.list().selected(e); ok {
		l := o.list().of(e)
		if text, err := json.Marshal(l.record(i)); err == nil {
			out = append(out, Copy{"operation as JSON", string(text)})
		}
		if o.tab == sessionTab {
			if r := o.made.rows[i].record; r.CLI != "" {
				out = append(out, Copy{"command line of the write", r.CLI})
			}
		}
		if led, ok := e.Data.Ledger.Get(); ok && o.tab == ledgerTab {
			g := led.groups[i]
			if text, err := json.Marshal(led.Entries[g.at[len(g.at)-1]]); err == nil {
				out = append(out, Copy{"last line of the ledger", string(text)})
			}
		}
	}
	return append(out, Copy{"command that lists the ledger", shell.Line("ops", e.Address)})
}

// Render implements Screen.
func (o *Operations) Render(e *Env, a Area) []string {
	b := o.list()
	l := b.of(e)
	n := 0
	if l.n > 0 {
		n = b.settle(l)
	}
	key := ""
	if n > 0 {
		key = l.key(b.lens.item(b.list.Sel))
	}
	list := func(w, h int, focused bool) []string {
		out := []string{part.Tabs(e.Theme, operationTabs, o.tab, w)}
		if o.tab == ledgerTab {
			out = append(out, o.ledgerHead(e, l, n, w, h)...)
		} else {
			out = append(out, title(e, w, "operations", b.facts(e, l, n, part.Count(l.n)+", newest first"), nil))
		}
		switch {
		case l.n > 0 && n == 0:
			out = append(out, b.noMatch(e, w))
		case n > 0:
			out = append(out, o.table(e, l).Render(e.Theme, w, max(0, h-len(out)), &b.list, focused)...)
		case o.tab == sessionTab:
			out = append(out, part.Line(e.Theme, w, part.S("  "), part.R(theme.Muted, "nothing was asked of the store yet")))
		}
		return part.Fit(out, w, h)
	}
	detail := func(w int) *part.Doc {
		d := part.NewDoc(e.Theme, w)
		if n > 0 && o.tab == ledgerTab {
			o.runsDoc(e, d, b.lens.item(b.list.Sel))
		} else if n > 0 {
			o.recordDoc(e, d, o.made.rows[b.lens.item(b.list.Sel)].record, w)
		}
		return d
	}
	return b.render(e, a, key, list, detail)
}

func (o *Operations) table(e *Env, l listing) part.Table {
	if o.tab == ledgerTab {
		return o.ledgerTable(e, l)
	}
	return o.sessionTable(e, l)
}

// Outcome says in a few words how an operation ended.
func (r *Record) Outcome() string {
	switch {
	case r.Running():
		return "running"
	case r.Receipt != nil && r.Receipt.Commit != nil:
		return "ok, commit " + r.Receipt.Commit.ID
	case r.Err == nil && len(r.Told) > 0:
		return "ok, " + part.Plural(len(r.Told), "record", "records")
	case r.Err == nil && r.Reading().Requests() == 0:
		return "ok, no request"
	case r.Err == nil:
		return "ok"
	case errors.Is(r.Err, context.Canceled):
		return "cancelled"
	case incomplete(r.Err):
		return "incomplete: " + r.Err.Error()
	}
	return "failed: " + r.Err.Error()
}

// Where names what an operation looked at.
func (r *Record) Where() string {
	branch := r.At.Branch
	if branch == "" {
		branch = "main"
	}
	if r.At.Version != 0 {
		return branch + " v" + part.Count(r.At.Version)
	}
	return branch
}

// Wall is how long an operation took, or has been running.
func (r *Record) Wall(now time.Time) time.Duration {
	if r.Running() {
		return now.Sub(r.Began)
	}
	return r.Ended.Sub(r.Began)
}

// recordDoc writes out one operation in full: what it cost, what it cost
// before, and each of its requests while they are kept.
func (o *Operations) recordDoc(e *Env, d *part.Doc, r *Record, w int) {
	v := r.Reading()
	d.Head(r.Name())
	if r.Table != "" {
		d.Fact("table", r.Table)
	}
	d.Fact("looked at", r.Where())
	if r.URI != e.URI {
		d.Fact("graph", r.URI)
	}
	d.Fact("asked by", r.From)
	d.Fact("began", part.When(r.Began))
	outcome, role := r.Outcome(), theme.Text
	if r.Err != nil {
		role = theme.Bad
	}
	d.FactRole("outcome", role, outcome)
	if !e.Masked {
		d.Fact("took", part.Millis(r.Wall(e.Now)))
		d.Fact("hops", part.Count(v.Hops)+": the longest chain of requests that waited for one another")
	}
	d.Fact("requests", requestsFact(v.Requests()))
	if n := e.Over(r); n > 0 {
		budget, _ := e.Budget(r)
		d.FactRole("budget", theme.Warn, e.Theme.Glyph.Warn+" over by "+part.Count(n)+": at most "+part.Count(budget)+" were declared")
	} else if budget, ok := e.Budget(r); ok {
		d.Fact("budget", "at most "+part.Count(budget))
	}
	if was, ok := e.Before(r); ok {
		text := part.Plural(was.Requests, "request", "requests") + ", " + part.When(was.At)
		if !r.Running() && r.Err == nil {
			text += " (" + shift(was.Requests, v.Requests()) + ")"
		}
		d.Fact("before", text)
	}
	d.Fact("bytes", part.Bytes(v.BytesRead)+" in, "+part.Bytes(v.BytesWritten)+" out")
	if r.Writes {
		receiptFacts(d, r)
	} else if v.Put+v.Delete > 0 {
		d.FactRole("wrote", theme.Write, part.Plural(v.Put+v.Delete, "request", "requests")+" that change the store: looking must not")
	}
	if v.Retries > 0 {
		d.FactRole("retries", theme.Warn, part.Count(v.Retries))
	}
	if v.Failed > 0 {
		d.FactRole("failed", theme.Bad, part.Plural(v.Failed, "request", "requests"))
	}
	of := tracedOf{record: r, its: v, run: r.Running(), kept: r.Meter != nil, w: w, masked: e.Masked, theme: e.Theme}
	if o.traced.of != of {
		o.traced = traced{of, traceLines(e, r, w)}
	}
	d.Add(o.traced.lines...)
}

// receiptFacts are what a write came to.
func receiptFacts(d *part.Doc, r *Record) {
	if r.Expected > 0 {
		d.Fact("expected", "about "+part.Plural(r.Expected, "request", "requests")+", by its plan")
	}
	if out := r.Receipt; out != nil {
		if out.Commit != nil {
			d.Fact("commit", out.Commit.ID+" on "+out.Branch)
		}
		for _, t := range out.Tables {
			d.Fact("moved", t.Table+" v"+part.Count(t.From)+" to v"+part.Count(t.To)+": inserted "+part.Count(t.Inserted)+", updated "+part.Count(t.Updated)+", deleted "+part.Count(t.Deleted)+"; "+part.Plural(t.Rows, "row", "rows"))
		}
	}
	for _, line := range r.Told {
		d.Fact("settled", line)
	}
	d.Fact("command", r.CLI)
}

// traceLines are the requests of an operation, while they are kept.
func traceLines(e *Env, r *Record, w int) []string {
	d := part.NewDoc(e.Theme, w)
	tr, ok := r.Trace()
	switch {
	case !ok:
		d.Gap().Text(theme.Muted, "Its requests are kept only while it is among the newest "+part.Count(tracesKept)+".")
	case r.Reading().Requests() > 0:
		d.Gap().Add(Matrix(e, tr, w)...)
		if slow := Slowest(e, tr, 5, w); len(slow) > 0 {
			d.Gap().Add(slow...)
		}
		d.Gap().Add(Waterfall(e, tr, w, 0)...)
	}
	return d.Window(d.Len(), new(int))
}

func requestsFact(n int64) string {
	if n == 0 {
		return "zero: it was answered from memory"
	}
	return part.Count(n)
}

// shift writes how a cost moved: the sign is its mark.
func shift(before, now int64) string {
	switch {
	case now > before:
		return "+" + part.Count(now-before)
	case now < before:
		return part.Count(now - before)
	}
	return "the same"
}

// records as they are exported.
type recordLine struct {
	Began     time.Time `json:"began"`
	Operation string    `json:"operation"`
	Table     string    `json:"table,omitempty"`
	URI       string    `json:"uri"`
	Looked    string    `json:"at"`
	Get       int64     `json:"get"`
	Head      int64     `json:"head"`
	List      int64     `json:"list"`
	Put       int64     `json:"put"`
	Delete    int64     `json:"delete"`
	Read      int64     `json:"bytes_read"`
	Written   int64     `json:"bytes_written"`
	Hops      int       `json:"hops"`
	Retries   int64     `json:"retries"`
	Failed    int64     `json:"failed"`
	MS        float64   `json:"ms"`
	Outcome   string    `json:"outcome"`
	Commit    string    `json:"commit,omitempty"` // of a write
	Command   string    `json:"command,omitempty"`
}

func (x sessionRow) line() recordLine {
	v, r := x.reading, x.record
	line := recordLine{
		Began: r.Began.UTC(), Operation: r.Name(), Table: r.Table, URI: r.URI, Looked: r.Where(),
		Get: v.Get, Head: v.Head, List: v.List, Put: v.Put, Delete: v.Delete, Read: v.BytesRead, Written: v.BytesWritten,
		Hops: v.Hops, Retries: v.Retries, Failed: v.Failed, MS: float64(x.wall.Microseconds()) / 1000, Outcome: strings.TrimSpace(x.outcome),
		Command: r.CLI,
	}
	if r.Receipt != nil && r.Receipt.Commit != nil {
		line.Commit = r.Receipt.Commit.ID
	}
	return line
}
