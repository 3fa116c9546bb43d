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
	pageRows  = 200 // rows of one question
	pagesKept = 8   // pages that are kept around the one looked at
)

// rows is a window over the rows of a table. Pages of 200 are read when they
// are looked at; the id stays at the left while the other columns scroll.
type rows struct {
	split
	table string
	pages map[int]*Load[*engine.RowPage]
	total int // rows as far as known: recorded count, or where the table really ended
	ended bool
	col   int             // first column that is not pinned
	shape *engine.RowPage // the page that told the columns last
}

func newRows(table string) *rows {
	return &rows{split: split{share: 62}, table: table, pages: map[int]*Load[*engine.RowPage]{}}
}

func (r *rows) label() string { return "rows" }

func (r *rows) scope() string { return action.OnRows }

func (r *rows) start(e *Env) []Request { return r.need(e) }

func (r *rows) reload(e *Env) []Request {
	for n, p := range r.pages {
		if n != r.page() {
			p.reset() // an answer on its way is for nobody
			delete(r.pages, n)
		}
	}
	return []Request{r.ask(e, r.page())}
}

func (r *rows) page() int { return r.list.Sel / pageRows }

// need asks for the page of the selection, and for the next one when the
// selection comes near it.
func (r *rows) need(e *Env) []Request {
	r.take()
	var out []Request
	ahead := (r.list.Sel + 60) / pageRows
	back := max(0, r.list.Sel-60) / pageRows
	for _, n := range []int{r.page(), ahead, back} {
		if n > 0 && n*pageRows >= r.total {
			continue
		}
		if p := r.pages[n]; p == nil || p.wanted() {
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

func (r *rows) ask(e *Env, n int) Request {
	p := r.pages[n]
	if p == nil {
		p = &Load[*engine.RowPage]{name: "rows " + part.Count(n*pageRows+1) + " to " + part.Count((n+1)*pageRows)}
		r.pages[n] = p
	}
	at := e.At
	return p.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.RowPage, error) {
		return ws.Rows(ctx, r.table, at, engine.RowsOptions{Offset: uint64(n) * pageRows, Limit: pageRows})
	})
}

// take learns from the pages how many rows there are.
func (r *rows) take() {
	for n, p := range r.pages {
		v, ok := p.Get()
		if !ok {
			continue
		}
		r.shape = v
		here := n*pageRows + len(v.Rows)
		switch {
		case !v.Truncated && (len(v.Rows) > 0 || n == 0):
			r.total, r.ended = here, true
		case !r.ended:
			r.total = max(here, int(min(v.Total, 1<<40)))
		}
	}
}

func (r *rows) panes() []Pane {
	var out []Pane
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

// row finds a row in the pages that are there.
func (r *rows) row(i int) (*engine.RowPage, *engine.Row) {
	if p := r.pages[i/pageRows]; p != nil {
		if v, ok := p.Get(); ok && i%pageRows < len(v.Rows) {
			return v, &v.Rows[i%pageRows]
		}
	}
	return nil, nil
}

func (r *rows) context(*Env) action.Context {
	r.take()
	_, row := r.row(r.list.Sel)
	return action.Context{Items: r.total, Openable: row != nil, Detail: row != nil, Columns: row != nil, Truncated: false}
}

func (r *rows) do(e *Env, id action.ID) Effect {
	r.take()
	page, row := r.row(r.list.Sel)
	switch id {
	case action.Open:
		if row != nil {
			return Effect{Push: NewEntity(r.table, row.ID)}
		}
	case action.Flip:
		r.onRight = !r.onRight && row != nil
	case action.NextCol:
		if page != nil {
			r.col = min(r.col+1, max(0, len(page.Columns)-2))
		}
	case action.PrevCol:
		r.col = max(0, r.col-1)
	default:
		r.move(id, r.total)
	}
	return Effect{Ask: r.need(e)}
}

func (r *rows) render(e *Env, a Area) []string {
	r.take()
	r.list.Settle(r.total, nil)
	page, row := r.row(r.list.Sel)
	shown := ""
	if row != nil {
		shown = row.ID
	}
	list := func(w, h int, focused bool) []string { return r.renderList(e, w, h, focused) }
	if !a.Wide && !r.onRight || row == nil {
		return list(a.W, a.H, true)
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
	if page == nil {
		out := []string{title(e, w, name, "", state)}
		if state != nil {
			out = append(out, absent(e, state, w, h-len(out))...)
		}
		return part.Fit(out, w, h)
	}
	facts := r.facts(h - 3)
	if cols := r.columns(e, page, w, max(0, h-3)); r.total > 0 && len(cols) < len(page.Columns) {
		facts += " " + t.Glyph.Dot + " " + part.Count(len(cols)) + " of " + part.Count(len(page.Columns)) + " columns"
	}
	out := []string{title(e, w, name, facts, state)}
	if state != nil && state.Problem() != nil {
		out = append(out, problem(e, state, w, 0)...)
	}
	if r.total == 0 {
		return part.Fit(append(out, part.Line(t, w, part.S("  "), part.R(theme.Muted, "no row"))), w, h)
	}
	return part.Fit(append(out, r.grid(e, page, w, max(0, h-len(out)), focused)...), w, h)
}

// facts says which rows of how many are shown, and how sure the total is.
func (r *rows) facts(window int) string {
	r.list.Fit(r.total, max(1, window))
	from, to := r.list.Top+1, min(r.total, r.list.Top+max(1, window))
	s := part.Count(from) + " to " + part.Count(to) + " of " + part.Count(r.total)
	if r.total == 0 {
		return "0 rows"
	}
	if !r.ended {
		s += " recorded"
	}
	return s
}
