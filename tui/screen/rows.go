package screen

import (
	"context"
	"maps"
	"slices"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

const (
	pageRows   = 200 // rows of one question
	pagesKept  = 8   // pages that are kept around the one looked at
	searchKept = 50  // pages that are kept while words narrow what is loaded
)

// rows is a window over the rows of a table. Pages of 200 are read when they
// are looked at; the id stays at the left while the other columns scroll.
//
// A condition and an order are the engine's: they are about the whole table,
// and another question. Words narrow what is loaded, and nothing else.
type rows struct {
	split
	table string
	now   query // what the pages answer
	pages map[int]*Load[*engine.RowPage]
	next  *asked // another question, until its first page has come
	sieve sieve
	total int // rows as far as known: recorded count, or where the rows really ended
	ended bool
	col   int             // columns that are scrolled past
	hide  map[string]bool // columns by name
	shape *engine.RowPage // the page that told the columns last
	goal  int             // row to select once it is known to exist; 0 = none
}

// query is which rows are asked for, and in which order.
type query struct {
	where, sort string
	desc        bool
}

// asked is a question with its first page, which is not there yet or could not
// be had: the rows of the question before stay until it is.
type asked struct {
	query
	first Load[*engine.RowPage]
}

func newRows(table string) *rows {
	return &rows{split: split{share: 62}, table: table, pages: map[int]*Load[*engine.RowPage]{}, hide: map[string]bool{}}
}

func (r *rows) label() string { return "rows" }

func (r *rows) scope() string { return action.OnRows }

func (r *rows) start(e *Env) []Request { return r.need(e) }

func (r *rows) reload(e *Env) []Request {
	if r.next != nil {
		return []Request{r.askNext(e)}
	}
	for n, p := range r.pages {
		if n != r.page() {
			p.reset() // an answer on its way is for nobody
			delete(r.pages, n)
		}
	}
	return []Request{r.ask(e, r.page())}
}

// written reads again what a write may have changed.
func (r *rows) written(e *Env) Effect { return Effect{Ask: r.reload(e)} }

// at is the row at a place of the list.
func (r *rows) at(place int) int {
	if r.sieve.on() && place < len(r.sieve.found) {
		return r.sieve.found[max(0, place)]
	}
	return place
}

// count is how many places the list has.
func (r *rows) count() int {
	if r.sieve.on() {
		return len(r.sieve.found)
	}
	return r.total
}

func (r *rows) page() int { return r.at(r.list.Sel) / pageRows }

// need asks for the page of the selection, and for the next one when the
// selection comes near it.
func (r *rows) need(e *Env) []Request {
	r.take()
	if r.next != nil {
		if r.next.first.wanted(e) {
			return []Request{r.askNext(e)}
		}
		return nil
	}
	if r.sieve.on() {
		if p := r.pages[0]; len(r.pages) == 0 || p != nil && p.wanted(e) { // none: what was kept of it narrows it already
			return []Request{r.ask(e, 0)}
		}
		return nil
	}
	var out []Request
	at := r.at(r.list.Sel)
	for _, n := range []int{r.page(), (at + 60) / pageRows, max(0, at-60) / pageRows} {
		if n > 0 && n*pageRows >= r.total && (r.ended || !r.follows(n)) {
			continue
		}
		if p := r.pages[n]; p == nil || p.wanted(e) {
			out = append(out, r.ask(e, n))
		}
	}
	for n, p := range r.pages {
		if d := n - r.page(); d > pagesKept/2 || d < -pagesKept/2 {
			p.reset()
			delete(r.pages, n)
		}
	}
	return out
}

// follows says that a page stands behind one that is known not to be the last.
func (r *rows) follows(n int) bool {
	p := r.pages[n-1]
	if p == nil {
		return false
	}
	v, ok := p.Get()
	return ok && v.Truncated && len(v.Rows) == pageRows
}

func (r *rows) ask(e *Env, n int) Request {
	p := r.pages[n]
	if p == nil {
		p = &Load[*engine.RowPage]{name: "rows " + part.Count(n*pageRows+1) + " to " + part.Count((n+1)*pageRows)}
		r.pages[n] = p
	}
	return p.ask(e, r.reader(e, r.now, n))
}

func (r *rows) reader(e *Env, q query, n int) func(context.Context, workspace.Workspace) (*engine.RowPage, error) {
	at, table := e.At, r.table
	return func(ctx context.Context, ws workspace.Workspace) (*engine.RowPage, error) {
		return ws.Rows(ctx, table, at, engine.RowsOptions{Offset: uint64(n) * pageRows, Limit: pageRows, Where: q.where, Sort: q.sort, Desc: q.desc})
	}
}

func (r *rows) askNext(e *Env) Request {
	return r.next.first.ask(e, r.reader(e, r.next.query, 0))
}

// take learns from the pages how many rows there are. When the first page of
// another question has come, its rows take the place of those before.
func (r *rows) take() {
	if r.next != nil {
		if v, ok := r.next.first.Get(); ok && v != nil && r.next.first.Problem() == nil {
			for _, p := range r.pages {
				p.reset()
			}
			r.now, r.pages = r.next.query, map[int]*Load[*engine.RowPage]{0: &r.next.first}
			r.next, r.total, r.ended = nil, 0, false
			r.list.Sel, r.list.Top = 0, 0
		}
	}
	for n, p := range r.pages {
		v, ok := p.Get()
		if !ok || v == nil {
			continue
		}
		r.shape = v
		here := n*pageRows + len(v.Rows)
		switch {
		case !v.Truncated && (len(v.Rows) > 0 || n == 0):
			r.total, r.ended = here, true
		case r.ended:
		case r.now.where != "": // the recorded count is that of all rows
			r.total = max(r.total, here)
		default:
			r.total = max(here, int(min(v.Total, 1<<40)))
		}
	}
	if r.goal > 0 && r.total > 0 {
		r.list.Sel, r.goal = min(r.goal, r.total-1), 0
	}
	r.sieve.look(r.pages)
}

func (r *rows) panes() []Pane {
	var out []Pane
	if r.next != nil {
		out = append(out, &r.next.first)
	}
	for _, n := range slices.Sorted(maps.Keys(r.pages)) {
		out = append(out, r.pages[n])
	}
	return out
}

// current is the page of the selection.
func (r *rows) current() (*engine.RowPage, *Load[*engine.RowPage]) {
	p := r.pages[r.page()]
	if p == nil {
		return nil, nil
	}
	v, _ := p.Get()
	return v, p
}

// row finds the row at a place in the pages that are there.
func (r *rows) row(place int) (*engine.RowPage, *engine.Row) {
	i := r.at(place)
	if p := r.pages[i/pageRows]; p != nil {
		if v, ok := p.Get(); ok && v != nil && i%pageRows < len(v.Rows) {
			return v, &v.Rows[i%pageRows]
		}
	}
	return nil, nil
}

func (r *rows) context(*Env) action.Context {
	r.take()
	_, row := r.selected()
	c := action.Context{Items: r.count(), Openable: row != nil, Detail: row != nil, Columns: row != nil, Truncated: !r.ended}
	c.NoEdit, c.NoDelete = noChange(r.table, row != nil)
	return c
}

// selected is the row that is selected, and its page.
func (r *rows) selected() (*engine.RowPage, *engine.Row) {
	if r.count() == 0 {
		return nil, nil
	}
	return r.row(r.list.Sel)
}

func (r *rows) do(e *Env, id action.ID) Effect {
	r.take()
	page, row := r.selected()
	switch id {
	case action.Open:
		if row != nil {
			return Effect{Push: NewEntity(r.table, row.ID)}
		}
	case action.Insert:
		return Effect{Form: NewInsert(e, r.table, nil, r.written)}
	case action.Edit, action.Delete:
		if row != nil {
			return Effect{Form: newChange(e, id, r.table, row.ID, r.written)}
		}
	case action.Flip:
		r.onRight = !r.onRight && row != nil
	case action.NextCol:
		if page != nil {
			r.col = min(r.col+1, max(0, len(r.visible(page))-2))
		}
	case action.PrevCol:
		r.col = max(0, r.col-1)
	case action.Bottom:
		if out := r.further(e); out != nil && !r.onRight {
			return Effect{Ask: out}
		}
		r.move(id, r.count())
	default:
		r.move(id, r.count())
	}
	return Effect{Ask: r.need(e)}
}

func (r *rows) render(e *Env, a Area) []string {
	r.take()
	r.list.Settle(r.count(), nil)
	page, row := r.selected()
	shown := ""
	if row != nil {
		shown = row.ID
	}
	list := func(w, h int, focused bool) []string { return r.renderList(e, w, h, focused) }
	if !a.Wide && !r.onRight || row == nil {
		return r.alone(list(a.W, a.H, true), a.W)
	}
	detail := func(w int) *part.Doc { return rowDoc(e, w, page, row) }
	return r.split.render(e, a, shown, list, detail)
}

func (r *rows) renderList(e *Env, w, h int, focused bool) []string {
	t := e.Theme
	page, load := r.current()
	var state Pane
	if load != nil {
		state = load
	}
	name := part.Clean(r.table, t.Glyph)
	if page == nil {
		page = r.shape
	}
	if r.next != nil && r.next.first.Busy() {
		state = &r.next.first
	}
	if page == nil {
		out := []string{title(e, w, name, "", state)}
		if state != nil {
			out = append(out, absent(e, state, w, h-len(out))...)
		}
		return part.Fit(out, w, h)
	}
	asked := r.asking(e, w)
	facts := r.facts(h - 3 - len(asked))
	if cols := r.columns(e, page, w, max(0, h-3)); r.count() > 0 && len(cols) < len(page.Columns) {
		facts += " " + t.Glyph.Dot + " " + part.Count(len(cols)) + " of " + part.Count(len(page.Columns)) + " columns"
	}
	out := append([]string{title(e, w, name, facts, state)}, asked...)
	if load != nil && load.Problem() != nil {
		out = append(out, problem(e, load, w, 0)...)
	}
	tail := r.tail(e, w)
	room := max(0, h-len(out)-len(tail))
	if r.count() == 0 {
		return part.Fit(append(append(out, part.Line(t, w, part.S("  "), part.R(theme.Muted, r.nothing()))), tail...), w, h)
	}
	out = append(out, r.grid(e, page, w, room, focused)...)
	return part.Fit(append(out, tail...), w, h)
}

// facts says which rows of how many are shown, and how sure the total is.
func (r *rows) facts(window int) string {
	n := r.count()
	r.list.Fit(n, max(1, window))
	from, to := r.list.Top+1, min(n, r.list.Top+max(1, window))
	s := part.Count(from) + " to " + part.Count(to) + " of " + part.Count(n)
	switch {
	case r.sieve.on():
		return part.Count(n) + " of " + part.Plural(r.sieve.loaded, "loaded row", "loaded rows")
	case n == 0:
		return "0 rows"
	case r.now.where != "" && r.ended:
		return s + " that match"
	case r.now.where != "":
		return s + " so far, more match"
	case !r.ended:
		s += " recorded"
	}
	return s
}
