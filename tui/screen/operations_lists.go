package screen

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// sessionRows are the operations of the session at one moment, newest first.
type sessionRows struct {
	changes uint64
	rows    []sessionRow
}

type sessionRow struct {
	record  *Record
	reading workspace.Reading
	wall    time.Duration
	outcome string
}

// rowsOf copies what changes while an operation runs, so that a list can rest
// on it. The copy is made anew when an operation began or ended.
func (o *Operations) rowsOf(e *Env) *sessionRows {
	if e.Ops == nil {
		return &sessionRows{}
	}
	if o.made != nil && o.made.changes == e.Ops.changes {
		return o.made
	}
	o.made = &sessionRows{changes: e.Ops.changes}
	for _, r := range slices.Backward(e.Ops.all) {
		o.made.rows = append(o.made.rows, sessionRow{r, r.Reading(), r.Wall(e.Now), r.Outcome()})
	}
	return o.made
}

func (o *Operations) sessionList(e *Env) listing {
	s := o.rowsOf(e)
	rows := s.rows
	of := func(f func(workspace.Reading) int64) func(int) int64 {
		return func(i int) int64 { return f(rows[i].reading) }
	}
	return listing{
		n: len(rows), of: s, what: "operations",
		key:    func(i int) string { return strconv.FormatUint(rows[i].record.Seq, 10) },
		record: func(i int) any { return rows[i].line() },
		facets: []facet{
			textFacet("operation", func(i int) string { return rows[i].record.Name() + " " + rows[i].record.Table }),
			ageFacet(e.Now, func(i int) time.Time { return rows[i].record.Began }),
			textFacet("branch", func(i int) string { return rows[i].record.Where() }),
			countFacet("requests", of(workspace.Reading.Requests)),
			countFacet("reads", of(func(r workspace.Reading) int64 { return r.Get })),
			countFacet("writes", of(func(r workspace.Reading) int64 { return r.Put })),
			countFacet("lists", of(func(r workspace.Reading) int64 { return r.List })),
			countFacet("heads", of(func(r workspace.Reading) int64 { return r.Head })),
			countFacet("deletes", of(func(r workspace.Reading) int64 { return r.Delete })),
			countFacet("in", of(func(r workspace.Reading) int64 { return r.BytesRead })),
			countFacet("hops", of(func(r workspace.Reading) int64 { return int64(r.Hops) })),
			countFacet("ms", func(i int) int64 { return rows[i].wall.Milliseconds() }),
			countFacet("retries", of(func(r workspace.Reading) int64 { return r.Retries })),
			textFacet("outcome", func(i int) string { return rows[i].outcome }),
		},
	}
}

func (o *Operations) sessionTable(e *Env, l listing) part.Table {
	g := e.Theme.Glyph
	rows := o.made.rows
	// Requests that no operation made need no column.
	used := func(title string, n func(workspace.Reading) int64) string {
		if slices.ContainsFunc(rows, func(x sessionRow) bool { return n(x.reading) > 0 || x.record.Running() && n(x.record.Reading()) > 0 }) {
			return title
		}
		return ""
	}
	head := used("head", func(v workspace.Reading) int64 { return v.Head })
	del := used("del", func(v workspace.Reading) int64 { return v.Delete })
	return part.Table{
		Columns: []part.Column{
			{Title: "operation", Min: 22, Max: 44},
			{Title: "age", Right: true, Drop: 6},
			{Title: "branch", Min: 4, Max: 18, Drop: 5},
			{Title: "read", Right: true}, {Title: "write", Right: true, Drop: 1}, {Title: "list", Right: true, Drop: 2},
			{Title: head, Right: true, Drop: 4, Marks: true}, {Title: del, Right: true, Drop: 3, Marks: true},
			{Title: "in", Right: true, Drop: 8}, {Title: "out", Right: true, Drop: 10},
			{Title: "hops", Right: true, Drop: 7}, {Title: "took", Right: true, Drop: 6},
			{Title: "retries", Right: true, Drop: 9},
			{Title: "outcome", Min: 12, Max: 40},
		},
		N: o.session.lens.len(l.n), Heading: true,
		Row: func(p int) []part.Span {
			x := rows[o.session.lens.item(p)]
			r, v := x.record, x.record.Reading()
			name := r.Name()
			if r.Table != "" {
				name += " of " + r.Table
			}
			hops, took := part.Count(v.Hops), part.Millis(r.Wall(e.Now))
			if e.Masked {
				hops, took = "", ""
			}
			heads, deleted := part.S(part.Count(v.Head)), written(g, r, v.Delete)
			if head == "" {
				heads.Text = ""
			}
			if del == "" {
				deleted.Text = ""
			}
			return []part.Span{
				part.S(part.Clean(name, g)), part.R(theme.Muted, part.Ago(e.Now, r.Began)), part.R(theme.Accent, part.Clean(r.Where(), g)),
				part.R(overRole(e, r), part.Count(v.Get)), written(g, r, v.Put), part.S(part.Count(v.List)), heads, deleted,
				part.S(part.Bytes(v.BytesRead)), part.S(part.Bytes(v.BytesWritten)), part.S(hops), part.S(took),
				part.S(some(v.Retries)), outcomeSpan(e, r),
			}
		},
	}
}

func overRole(e *Env, r *Record) theme.Role {
	if e.Over(r) > 0 {
		return theme.Warn
	}
	return theme.Text
}

// written is a count of requests that change the store: none is right where
// nothing was to be written.
func written(g theme.Glyphs, r *Record, n int64) part.Span {
	if r.Writes {
		return part.S(part.Count(n))
	}
	if n > 0 {
		return part.R(theme.Write, g.Bad+" "+part.Count(n))
	}
	return part.R(theme.Muted, "0")
}

func outcomeSpan(e *Env, r *Record) part.Span {
	g := e.Theme.Glyph
	text := part.Clean(r.Outcome(), g)
	switch {
	case r.Running():
		return part.R(theme.Accent, text)
	case r.Err == nil && e.Over(r) > 0:
		return part.R(theme.Warn, g.Warn+" "+text+", over budget by "+part.Count(e.Over(r)))
	case r.Err == nil:
		return part.R(theme.OK, text)
	case text == "cancelled":
		return part.R(theme.Muted, text)
	}
	return part.R(theme.Bad, g.Bad+" "+text)
}

func (o *Operations) ledgerList(e *Env) listing {
	led, ok := e.Data.Ledger.Get()
	if !ok || led == nil {
		return listing{}
	}
	gs := led.groups
	last := func(i int) int64 { return led.Entries[gs[i].at[len(gs[i].at)-1]].Requests }
	return listing{
		n: len(gs), of: led, what: "ledger",
		key:    func(i int) string { return gs[i].operation + "\x00" + gs[i].table },
		record: func(i int) any { return gs[i].line(led) },
		facets: []facet{
			textFacet("operation", func(i int) string { return gs[i].operation }),
			textFacet("table", func(i int) string { return gs[i].table }),
			countFacet("runs", func(i int) int { return len(gs[i].at) }),
			countFacet("failed", func(i int) int { return gs[i].failed }),
			countFacet("last", last),
			countFacet("median", func(i int) int64 { return gs[i].median }),
			countFacet("change", func(i int) int64 { return gs[i].delta() }),
			countFacet("min", func(i int) int64 { return gs[i].lo }),
			countFacet("max", func(i int) int64 { return gs[i].hi }),
			ageFacet(e.Now, func(i int) time.Time { return led.Entries[gs[i].at[len(gs[i].at)-1]].At }),
		},
	}
}

// delta is by how much the last good run differs from the median before it.
func (r *runs) delta() int64 {
	if r.median < 0 {
		return 0
	}
	return r.costs[len(r.costs)-1] - r.median
}

// groupLine is a group as it is exported.
type groupLine struct {
	Operation string    `json:"operation"`
	Table     string    `json:"table,omitempty"`
	Runs      int       `json:"runs"`
	Failed    int       `json:"failed"`
	Last      *int64    `json:"last_requests"`
	Median    *int64    `json:"median_before"`
	Min       int64     `json:"min_requests"`
	Max       int64     `json:"max_requests"`
	At        time.Time `json:"at"`
}

func (r *runs) line(led *Ledger) groupLine {
	out := groupLine{Operation: r.operation, Table: r.table, Runs: len(r.at), Failed: r.failed, Min: r.lo, Max: r.hi, At: led.Entries[r.at[len(r.at)-1]].At}
	if n := len(r.costs); n > 0 {
		out.Last = &r.costs[n-1]
	}
	if r.median >= 0 {
		out.Median = &r.median
	}
	return out
}

// ledgerHead is what stands above the ledger's list: how it is, and what a
// rising cost asks for.
func (o *Operations) ledgerHead(e *Env, l listing, shown, w, h int) []string {
	p := &e.Data.Ledger
	led, ok := p.Get()
	facts := ""
	if ok && led != nil {
		facts = part.Plural(len(led.Entries), "line", "lines") + " of this machine's ledger"
	}
	out := []string{title(e, w, "operations", o.ledger.facts(e, l, shown, facts), p)}
	if !ok || p.Problem() != nil {
		room := h - 2
		if l.n > 0 {
			room = 0
		}
		return append(out, absent(e, p, w, room)...)
	}
	if l.n == 0 {
		return append(out, sayMuted(e, w, "the ledger holds nothing about this graph yet; a program without a ledger keeps none")...)
	}
	var rising []string
	for _, g := range led.groups {
		if g.slope() > 0 {
			rising = append(rising, g.operation)
		}
	}
	if len(rising) > 0 {
		text := strings.Join(rising[:min(3, len(rising))], ", ") + " costs more from run to run: compact __manifest"
		out = append(out, part.Line(e.Theme, w, part.S(" "), part.R(theme.Warn, e.Theme.Glyph.Warn+" "+part.Clean(text, e.Theme.Glyph))))
	}
	return out
}

func (o *Operations) ledgerTable(e *Env, l listing) part.Table {
	g := e.Theme.Glyph
	led, _ := e.Data.Ledger.Get()
	return part.Table{
		Columns: []part.Column{
			{Title: "operation", Min: 12, Max: 40},
			{Title: "runs", Right: true, Drop: 3},
			{Title: "before", Right: true}, {Title: "", Drop: 2}, {Title: "last"}, {Title: "change", Right: true},
			{Title: "min", Right: true, Drop: 5}, {Title: "max", Right: true, Drop: 4},
			{Title: "last runs", Drop: 1},
			{Title: "age", Right: true, Drop: 6},
		},
		N: o.ledger.lens.len(l.n), Heading: true,
		Row: func(p int) []part.Span {
			r := &led.groups[o.ledger.lens.item(p)]
			name := r.operation
			if r.table != "" {
				name += " of " + r.table
			}
			out := []part.Span{part.S(part.Clean(name, g)), part.S(part.Count(len(r.at)))}
			out = append(out, r.costSpans(g)...)
			newest := led.Entries[r.at[len(r.at)-1]]
			return append(out, part.S(Trend(g, r.costs)), part.R(theme.Muted, part.Ago(e.Now, newest.At)))
		},
	}
}

// costSpans are before, arrow, last, change, min and max.
func (r *runs) costSpans(g theme.Glyphs) []part.Span {
	n := len(r.costs)
	if n == 0 {
		return []part.Span{part.S(""), part.S(""), part.R(theme.Bad, g.Bad+" never ended well"), part.S(""), part.S(""), part.S("")}
	}
	before, mark, role := part.R(theme.Muted, "first"), part.S(""), theme.Text
	if r.median >= 0 {
		d := r.delta()
		before = part.S(part.Count(r.median))
		mark = part.S(shift(r.median, r.costs[n-1]))
		if d == 0 {
			mark = part.R(theme.Muted, "=")
		} else if r.slope() > 0 || d >= 3 && d*10 >= r.median {
			role = theme.Warn
			mark = part.R(theme.Warn, g.Warn+" "+mark.Text)
		}
	}
	return []part.Span{before, part.R(theme.Muted, g.Arrow), part.R(role, part.Count(r.costs[n-1])), mark, part.S(part.Count(r.lo)), part.S(part.Count(r.hi))}
}

// Trend is the sparkline of the newest costs.
func Trend(g theme.Glyphs, costs []int64) string {
	var heights []float64
	most := 0.0
	for _, c := range costs[max(0, len(costs)-slopeRuns):] {
		heights = append(heights, float64(c))
		most = max(most, float64(c))
	}
	return part.Spark(g, heights, most, len(heights))
}

const runLines = 100 // of a group that its detail shows

// runsDoc writes out the runs of one operation.
func (o *Operations) runsDoc(e *Env, d *part.Doc, i int) {
	led, _ := e.Data.Ledger.Get()
	r := &led.groups[i]
	g := e.Theme.Glyph
	d.Head(r.operation)
	d.Fact("table", r.table)
	d.Fact("runs", part.Count(len(r.at))+", of which "+part.Count(r.failed)+" failed")
	if n := len(r.costs); n > 0 {
		d.Fact("last", part.Plural(r.costs[n-1], "request", "requests"))
		if r.median >= 0 {
			d.Fact("before", part.Count(r.median)+" was the median ("+shift(r.median, r.costs[n-1])+")")
		}
		d.Fact("range", part.Count(r.lo)+" to "+part.Count(r.hi))
		d.Fact("last runs", Trend(g, r.costs))
	}
	if s := r.slope(); s > 0 {
		d.Gap().Text(theme.Warn, g.Warn+" It rises by "+strconv.FormatFloat(s, 'f', 1, 64)+" requests a run. Each commit adds a fragment to __manifest, and every read of the graph reads each of them: compact it, which `omnigraph optimize` does.")
	}
	d.Gap()
	for k, at := range slices.Backward(r.at) {
		if len(r.at)-k > runLines {
			d.Line(part.R(theme.Muted, g.Folded+" "+part.Plural(k+1, "older run", "older runs")))
			break
		}
		x := led.Entries[at]
		spans := []part.Span{part.R(theme.Muted, part.When(x.At)+"  "), part.S(part.PadLeft(part.Plural(x.Requests, "request", "requests"), 15))}
		if !e.Masked {
			spans = append(spans, part.R(theme.Muted, "  hops "+part.Count(x.Hops)+"  "+part.Millis(time.Duration(x.MS*float64(time.Millisecond)))))
		}
		if x.Retries > 0 {
			spans = append(spans, part.R(theme.Warn, "  "+part.Plural(x.Retries, "retry", "retries")))
		}
		if x.Commit != "" {
			spans = append(spans, part.R(theme.Accent, "  "+part.Short(part.Clean(x.Commit, g), g)))
		}
		d.Line(spans...)
		if x.Outcome != "ok" {
			d.Line(part.S("    "), part.R(theme.Bad, g.Bad+" "+part.Clean(x.Outcome, g)))
		}
	}
}
