package screen

import (
	"slices"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/engine/where"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// sieve narrows the rows that are loaded to those in which words stand.
type sieve struct {
	text   string
	filter *part.Filter
	last   *part.Filter // the newest one that was not empty
	found  []int        // rows
	loaded int          // rows that were looked at
	of     []*engine.RowPage
}

func (s *sieve) on() bool { return !s.filter.Empty() }

// set changes the words. The columns are those of the rows.
func (s *sieve) set(text string, columns []string) error {
	f, err := part.ParseFilter(text, columns)
	if err != nil {
		return err
	}
	s.text, s.filter, s.of = text, f, nil
	if !f.Empty() {
		s.last = f
	}
	return nil
}

// look finds the rows that match, when pages have come or gone.
func (s *sieve) look(pages map[int]*Load[*engine.RowPage]) {
	if !s.on() {
		s.found, s.of = nil, nil
		return
	}
	var all []*engine.RowPage
	var from []int
	for _, n := range sortedKeys(pages) {
		if v, ok := pages[n].Get(); ok && v != nil {
			all, from = append(all, v), append(from, n*pageRows)
		}
	}
	if s.of != nil && slices.Equal(all, s.of) {
		return
	}
	s.of, s.found, s.loaded = all, []int{}, 0
	for p, page := range all {
		for i := range page.Rows {
			s.loaded++
			if rowMatches(s.filter, page, &page.Rows[i]) {
				s.found = append(s.found, from[p]+i)
			}
		}
	}
}

func rowMatches(f *part.Filter, page *engine.RowPage, row *engine.Row) bool {
	return f.Match(page.Columns, func(c int) string {
		if c < len(row.Values) {
			return row.Values[c].Text
		}
		return ""
	})
}

func sortedKeys[T any](m map[int]T) []int {
	out := make([]int, 0, len(m))
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// condition says whether a filter is meant as a condition for the engine, and
// what is wrong with it when it is none.
func condition(text string) (meant bool, err error) {
	if strings.TrimSpace(text) == "" {
		return false, nil
	}
	if _, err = where.Parse(text); err == nil {
		return true, nil
	}
	return looksLikeOne(text), err
}

// looksLikeOne: a comparison sign that no column and colon stand before, or
// one of the words that compare, behind a name.
func looksLikeOne(text string) bool {
	if i := strings.IndexAny(text, "=<>"); i > 0 && text[i-1] != ':' && !strings.HasPrefix(text, "~") && !strings.HasPrefix(text, "\"") {
		return true
	}
	words := strings.Fields(strings.ToLower(text))
	for i, w := range words {
		switch w {
		case "contains", "starts_with":
			return i > 0
		case "is", "in":
			return i == 1 && len(words) > 2 && (strings.HasPrefix(words[2], "(") || words[2] == "null" || words[2] == "not")
		}
	}
	return false
}

// Filter implements Filterer.
func (r *rows) Filter() string {
	switch {
	case r.next != nil:
		return r.next.where
	case r.sieve.on():
		return r.sieve.text
	}
	return r.now.where
}

// TypeFilter implements TypingFilterer: words narrow while one types, a
// condition is asked at the end.
func (r *rows) TypeFilter(e *Env, text string) Effect {
	if meant, _ := condition(text); meant || r.begun(text) {
		text = ""
	}
	return r.words(e, text)
}

// begun says that a condition may have been begun: its first word is a column.
func (r *rows) begun(text string) bool {
	words := strings.Fields(text)
	if strings.EqualFold(strings.Join(words[:min(1, len(words))], ""), "not") {
		words = words[1:]
	}
	return len(words) > 0 && r.shape != nil && slices.Contains(r.shape.Columns, words[0])
}

// FilterHelp implements TypingFilterer.
func (r *rows) FilterHelp(*Env) string {
	return "code = 'x' and n >= 3 asks the table; words search the loaded rows"
}

// SetFilter implements Filterer. A text that reads as a condition is asked of
// the whole table; other words narrow the rows that are loaded.
func (r *rows) SetFilter(e *Env, text string) Effect {
	text = strings.TrimSpace(text)
	meant, err := condition(text)
	if meant && err != nil {
		return Effect{Note: "reading the condition: " + err.Error()}
	}
	if meant {
		_ = r.sieve.set("", nil)
		q := r.asked()
		q.where = text
		return r.question(e, q)
	}
	out := r.words(e, text)
	if q := r.asked(); q.where != "" {
		q.where = ""
		return r.question(e, q)
	}
	return out
}

// words narrows the loaded rows; the selected row stays selected when it
// matches.
func (r *rows) words(e *Env, text string) Effect {
	r.take()
	at := r.at(r.list.Sel)
	var columns []string
	if r.shape != nil {
		columns = r.shape.Columns
	}
	if err := r.sieve.set(text, columns); err != nil {
		return Effect{Note: err.Error()}
	}
	r.sieve.look(r.pages)
	place := at
	if r.sieve.on() {
		place, _ = slices.BinarySearch(r.sieve.found, at)
	}
	r.list.Move(place-r.list.Sel, r.count())
	return Effect{Ask: r.need(e)}
}

// asked is the newest question.
func (r *rows) asked() query {
	if r.next != nil {
		return r.next.query
	}
	return r.now
}

// question asks another question; the rows of the one before stay until it is
// answered.
func (r *rows) question(e *Env, q query) Effect {
	if r.next != nil {
		r.next.first.Abandon()
		r.next = nil
	}
	if q == r.now {
		return Effect{Ask: r.need(e)}
	}
	r.onRight = false
	r.next = &asked{query: q}
	r.next.first.name = "rows 1 to " + part.Count(pageRows)
	return Effect{Ask: []Request{r.askNext(e)}}
}

// further asks for the page behind those that words were looked for in.
func (r *rows) further(e *Env) []Request {
	if !r.sieve.on() || r.next != nil || len(r.pages) >= searchKept {
		return nil
	}
	last := 0
	for n, p := range r.pages {
		if p.Busy() {
			return nil
		}
		last = max(last, n)
	}
	p := r.pages[last]
	if p == nil {
		return nil
	}
	if v, ok := p.Get(); ok && v != nil && v.Truncated {
		return []Request{r.ask(e, last+1)}
	}
	return nil
}

// NextMatch implements Filterer: over the rows that are loaded.
func (r *rows) NextMatch(e *Env, d int) Effect {
	r.take()
	f := r.sieve.last
	if f == nil {
		return Effect{Note: "no words were looked for yet; " + press(e, action.Filter) + " does"}
	}
	for place := r.list.Sel + d; place >= 0 && place < r.count(); place += d {
		page, row := r.row(place)
		if row == nil {
			return Effect{Note: "no match in the loaded rows " + direction(d)}
		}
		if rowMatches(f, page, row) {
			r.list.Move(place-r.list.Sel, r.count())
			return Effect{Ask: r.need(e)}
		}
	}
	return Effect{Note: "no match " + direction(d)}
}

func direction(d int) string {
	if d < 0 {
		return "above"
	}
	return "below"
}

// SortColumns implements Sorter.
func (r *rows) SortColumns(*Env) []string {
	if r.shape == nil {
		return nil
	}
	return r.shape.Columns
}

// Sorted implements Sorter.
func (r *rows) Sorted() (column int, desc bool) {
	q := r.asked()
	if r.shape == nil || q.sort == "" {
		return -1, false
	}
	return slices.Index(r.shape.Columns, q.sort), q.desc
}

// SetSort implements Sorter: the engine orders the whole table.
func (r *rows) SetSort(e *Env, column int, desc bool) Effect {
	q := r.asked()
	q.sort, q.desc = "", false
	if r.shape != nil && column >= 0 && column < len(r.shape.Columns) {
		q.sort, q.desc = r.shape.Columns[column], desc
		delete(r.hide, q.sort)
		r.col = 0
	}
	return r.question(e, q)
}

// asking says which rows are shown, and what became of another question.
func (r *rows) asking(e *Env, w int) []string {
	t := e.Theme
	var out []string
	if said := r.now.said(); said != "" {
		out = append(out, part.Line(t, w, part.S("  "), part.R(theme.Accent, part.Clean(said, t.Glyph))))
	}
	if r.sieve.on() {
		out = append(out, part.Line(t, w, part.S("  "), part.R(theme.Accent, part.Clean("/"+r.sieve.text, t.Glyph)), part.R(theme.Muted, " in the loaded rows")))
	}
	switch n := r.next; {
	case n == nil:
	case n.first.Busy():
		out = append(out, part.Line(t, w, part.S("  "), part.R(theme.Muted, "asking for rows "+part.Clean(n.saidOr("in the order of the table"), t.Glyph)+t.Glyph.More+" the rows below are those before")))
	case n.first.Problem() != nil:
		for i, l := range part.Wrap(part.Clean(n.first.Problem().Error(), t.Glyph), max(10, w-5)) {
			lead := "    "
			if i == 0 {
				lead = "  " + t.Glyph.Bad + " "
			}
			if i == problemLines {
				break
			}
			out = append(out, part.Line(t, w, part.R(theme.Bad, lead), part.S(l)))
		}
		out = append(out, part.Line(t, w, part.S("    "), part.R(theme.Muted, "the rows below are those before; "+press(e, action.Filter)+" changes the filter, "+press(e, action.Sort)+" the order, "+press(e, action.Reload)+" asks again")))
	default:
		out = append(out, part.Line(t, w, part.S("  "), part.R(theme.Muted, "cancelled; the rows below are those before, "+press(e, action.Reload)+" asks again")))
	}
	return out
}

func (q query) said() string {
	var out []string
	if q.where != "" {
		out = append(out, "where "+q.where)
	}
	if q.sort != "" {
		by := "by " + q.sort
		if q.desc {
			by += " down"
		}
		out = append(out, by)
	}
	return strings.Join(out, ", ")
}

func (q query) saidOr(none string) string {
	if s := q.said(); s != "" {
		return s
	}
	return none
}

// nothing says why the list is empty.
func (r *rows) nothing() string {
	switch {
	case r.sieve.on():
		return "no loaded row matches"
	case r.now.where != "":
		return "no row of the table matches"
	}
	return "no row"
}

// tail says what was not looked at.
func (r *rows) tail(e *Env, w int) []string {
	if !r.sieve.on() || r.ended && r.sieve.loaded >= r.total {
		return nil
	}
	t := e.Theme
	text := t.Glyph.Folded + " words look in the loaded rows only " + t.Glyph.Dot + " "
	if len(r.pages) < searchKept {
		text += press(e, action.Bottom) + " loads " + part.Count(pageRows) + " more " + t.Glyph.Dot + " "
	}
	return []string{part.Line(t, w, part.S("  "), part.R(theme.Muted, text+"id contains "+whereText("x")+" asks for all"))}
}
