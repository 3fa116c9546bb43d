package screen

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// browse is a list that can be narrowed, ordered, exported and kept, and the
// detail of its selected item. It knows nothing of the items but a listing,
// which the screen makes from what is loaded.
type browse struct {
	split
	lens   lens
	of     func(*Env) listing
	anchor string // key that was selected when the list was whole
}

// listing is what is listed now. The zero value is a list that is not there.
type listing struct {
	n      int
	of     any // identifies the data: a pointer that is new with every answer
	key    func(i int) string
	find   func(key string) (int, bool) // the item with a key; nil: each is looked at
	facets []facet
	record func(i int) any // what is exported of an item
	what   string          // file name of an export, without its ending
}

func newBrowse(share int, of func(*Env) listing) browse {
	return browse{split: split{share: share}, lens: newLens(), of: of}
}

// settle makes lens and position fit what is listed, and says how many items
// are shown.
func (b *browse) settle(l listing) int {
	if b.lens.restore != "" && l.facets != nil {
		_ = b.lens.set(b.lens.restore, l.facets) // it was read before
		b.lens.restore = ""
	}
	b.lens.look(l.n, l.of, l.facets)
	n := b.lens.len(l.n)
	key := func(p int) string { return l.key(b.lens.item(p)) }
	if l.find == nil {
		b.list.Settle(n, key)
		return n
	}
	b.list.SettleBy(n, key, func(key string) (int, bool) {
		i, ok := l.find(key)
		if !ok {
			return 0, false
		}
		return b.lens.place(i)
	})
	return n
}

// selected is the item that is selected; false when nothing is.
func (b *browse) selected(e *Env) (int, bool) {
	l := b.of(e)
	if l.n == 0 || b.settle(l) == 0 {
		return 0, false
	}
	return b.lens.item(b.list.Sel), true
}

// context is what all lists say of themselves.
func (b *browse) context(e *Env) action.Context {
	l := b.of(e)
	if l.n == 0 {
		return action.Context{}
	}
	n := b.settle(l)
	return action.Context{Items: n, Openable: n > 0, Detail: n > 0}
}

// move handles the movement actions. It says whether the selection may have
// changed.
func (b *browse) move(e *Env, id action.ID) bool {
	l := b.of(e)
	n := b.settle(l)
	if !b.split.move(id, n) {
		return false
	}
	if !b.onRight && b.list.Sel < n {
		b.list.Remember(l.key(b.lens.item(b.list.Sel)))
		b.anchor = ""
	}
	return true
}

// flip goes between list and detail, when there is something to show.
func (b *browse) flip(e *Env) {
	_, ok := b.selected(e)
	b.onRight = !b.onRight && ok
}

// with adds the pane of an order that is being made, which can be cancelled.
func (b *browse) with(panes ...Pane) []Pane {
	if b.lens.work.busy {
		panes = append(panes, &b.lens.work)
	}
	return panes
}

// Click implements Clicker.
func (b *browse) Click(e *Env, x, y int) bool {
	if !b.split.Click(e, x, y) {
		return false
	}
	b.anchor = ""
	return true
}

// need asks for what the lens lacks.
func (b *browse) need(e *Env) []Request {
	l := b.of(e)
	if l.n == 0 {
		return nil
	}
	b.settle(l)
	return b.lens.need(e, l.n, l.of, l.facets)
}

// Filter implements Filterer.
func (b *browse) Filter() string {
	if b.lens.restore != "" {
		return b.lens.restore
	}
	return b.lens.text
}

// SetFilter implements Filterer.
func (b *browse) SetFilter(e *Env, text string) Effect {
	l := b.of(e)
	if b.anchor == "" && b.list.Key != "" {
		b.anchor = b.list.Key
	}
	b.lens.restore = ""
	if l.facets == nil {
		b.lens.restore = strings.TrimSpace(text)
		return Effect{}
	}
	if err := b.lens.set(strings.TrimSpace(text), l.facets); err != nil {
		return Effect{Note: err.Error()}
	}
	if b.anchor != "" {
		b.list.Remember(b.anchor)
	}
	b.onRight = false
	return Effect{Ask: b.need(e)}
}

const lookedThrough = 10_000 // items that one search for a match looks at

// NextMatch implements Filterer.
func (b *browse) NextMatch(e *Env, d int) Effect {
	l := b.of(e)
	n := b.settle(l)
	if b.lens.last == nil {
		return Effect{Note: "nothing was looked for yet; " + press(e, action.Filter) + " does"}
	}
	all := names(l.facets)
	seen := 0
	for p := b.list.Sel + d; p >= 0 && p < n; p += d {
		i := b.lens.item(p)
		if b.lens.last.Match(all, func(c int) string { return l.facets[c].text(i) }) {
			b.list.Move(p-b.list.Sel, n)
			b.list.Remember(l.key(i))
			b.anchor = ""
			return Effect{}
		}
		if seen++; seen == lookedThrough {
			b.list.Move(p-b.list.Sel, n)
			b.list.Remember(l.key(i))
			return Effect{Note: "no match in the next " + part.Count(seen) + "; again looks further"}
		}
	}
	if d < 0 {
		return Effect{Note: "no match above"}
	}
	return Effect{Note: "no match below"}
}

// SortColumns implements Sorter.
func (b *browse) SortColumns(e *Env) []string { return names(b.of(e).facets) }

// Sorted implements Sorter.
func (b *browse) Sorted() (int, bool) { return b.lens.column, b.lens.desc }

// SetSort implements Sorter.
func (b *browse) SetSort(e *Env, column int, desc bool) Effect {
	b.lens.column, b.lens.desc = column, desc
	return Effect{Ask: b.need(e)}
}

// kept is what outlives the program.
type kept struct {
	Key    string `json:"key,omitempty"`
	Filter string `json:"filter,omitempty"`
	Column *int   `json:"column,omitempty"`
	Desc   bool   `json:"desc,omitempty"`
}

// Keep implements Keeper.
func (b *browse) Keep() json.RawMessage {
	k := kept{Key: b.list.Key, Filter: b.Filter(), Desc: b.lens.desc}
	if b.lens.column >= 0 {
		k.Column = &b.lens.column
	}
	if k == (kept{}) {
		return nil
	}
	out, err := json.Marshal(k)
	if err != nil {
		return nil // a key that is not text is not kept
	}
	return out
}

// Restore implements Keeper. The names of the columns are those of the facets
// of an empty list, which do not depend on what is in it.
func (b *browse) Restore(raw json.RawMessage) {
	var k kept
	if json.Unmarshal(raw, &k) != nil {
		return
	}
	if k.Key != "" {
		b.list.Remember(k.Key)
	}
	if k.Column != nil && *k.Column >= 0 && *k.Column < 64 {
		b.lens.column, b.lens.desc = *k.Column, k.Desc
	}
	b.lens.restore = k.Filter
}

// Exports implements Exporter: what is listed, one JSON object a line.
func (b *browse) Exports(e *Env) *Export {
	l := b.of(e)
	n := b.settle(l)
	if n == 0 || l.record == nil || b.lens.pending {
		return nil
	}
	items := b.lens // the order is never changed, only replaced
	return &Export{
		Name: l.what + ".ndjson", Title: part.Plural(n, "line", "lines") + " of JSON, as listed",
		Write: func(ctx context.Context, _ workspace.Workspace, w io.Writer) (int, error) {
			out := bufio.NewWriter(w)
			enc := json.NewEncoder(out)
			enc.SetEscapeHTML(false)
			for p := range n {
				if p%stopEvery == 0 && ctx.Err() != nil {
					return p, ctx.Err()
				}
				if err := enc.Encode(l.record(items.item(p))); err != nil {
					return p, err
				}
			}
			return n, out.Flush()
		},
	}
}

// noMatch is said where a filter leaves nothing, and where the order is still
// being made.
func (b *browse) noMatch(e *Env, w int) string {
	text := "nothing matches /" + part.Clean(b.lens.text, e.Theme.Glyph) + "; " + press(e, action.Filter) + " changes the filter"
	switch {
	case b.lens.pending && b.lens.work.busy:
		text = "looking" + e.Theme.Glyph.More + " " + press(e, action.Interrupt) + " cancels it"
	case b.lens.pending:
		text = "cancelled; " + press(e, action.Reload) + " reads and looks again"
	}
	return part.Line(e.Theme, w, part.S("  "), part.R(theme.Muted, text))
}

// facts are what the title of the list says: rest of a list that is whole,
// what is looked for in one that is not, and the order.
func (b *browse) facts(e *Env, l listing, shown int, rest string) string {
	said := part.Clean(b.lens.said(shown, l.n, l.facets), e.Theme.Glyph)
	switch {
	case said == "":
		return rest
	case rest == "" || !b.lens.filter.Empty():
		return said
	}
	return rest + " " + e.Theme.Glyph.Dot + " " + said
}

// Facets of the common kinds.

func textFacet(name string, text func(i int) string) facet { return facet{name: name, text: text} }

func countFacet[T ~int | ~int64 | ~uint64](name string, n func(i int) T) facet {
	return facet{
		name: name,
		text: func(i int) string {
			if v := n(i); v < 0 {
				return strconv.FormatInt(int64(v), 10)
			}
			return strconv.FormatUint(uint64(n(i)), 10)
		},
		num: func(i int) float64 { return float64(n(i)) },
	}
}

// optFacet is a number that may not be known; unknown ones come first.
func optFacet(name string, n func(i int) (float64, bool)) facet {
	return facet{
		name: name,
		text: func(i int) string {
			if v, ok := n(i); ok {
				return strconv.FormatFloat(v, 'f', -1, 64)
			}
			return ""
		},
		num: func(i int) float64 {
			if v, ok := n(i); ok {
				return v
			}
			return -1e300
		},
	}
}

func deref[T ~int | ~int64 | ~uint64](p *T) (float64, bool) {
	if p == nil {
		return 0, false
	}
	return float64(*p), true
}

// ageFacet is narrowed as it is shown, age:>2h; the youngest comes first.
func ageFacet(now time.Time, at func(i int) time.Time) facet {
	return facet{
		name: "age",
		text: func(i int) string { return part.Ago(now, at(i)) },
		num:  func(i int) float64 { return now.Sub(at(i)).Seconds() },
	}
}
