package screen

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/workspace"
)

// lens narrows and orders the items of a list, without touching the data: it
// maps places in the list that is shown to items.
//
// A short list is arranged when it is looked at. A long one is arranged by a
// command, because Update must not wait; until that has answered, the order
// before it is shown, or nothing where the data are new.
type lens struct {
	text   string // of the filter
	filter *part.Filter
	last   *part.Filter // the last one that was not empty
	column int          // of the order; -1 = that of the data
	desc   bool

	atOnce  bool   // however long the list is, no command arranges it
	restore string // a filter that is set once there is something to filter

	of      any       // what order was made from
	from    lensState // and how
	order   []int32   // item by place; nil = all, in the order of the data
	pending bool      // order is not what was asked for
	work    work
}

type lensState struct {
	n, column int
	text      string
	desc      bool
}

// facet is one property of the items of a list, by which it can be narrowed
// and ordered. Its functions rest on values that never change: they may be
// called outside of Update.
type facet struct {
	name string
	text func(i int) string
	num  func(i int) float64 // what it is ordered by; nil: by text
}

// inUpdate is how many items are arranged without a command.
const inUpdate = 5000

func newLens() lens {
	l := lens{column: -1}
	l.work.name = "order"
	return l
}

func names(facets []facet) []string {
	out := make([]string, len(facets))
	for i, f := range facets {
		out[i] = f.name
	}
	return out
}

// set changes the filter; a text that is none leaves the lens as it is.
func (l *lens) set(text string, facets []facet) error {
	f, err := part.ParseFilter(text, names(facets))
	if err != nil {
		return err
	}
	l.text, l.filter = text, f
	if !f.Empty() {
		l.last = f
	}
	return nil
}

// whole says that all items are shown in the order of the data.
func (l *lens) whole(facets []facet) bool {
	return l.filter.Empty() && (l.column < 0 || l.column >= len(facets))
}

// look makes the order for n items, when something it rests on has changed. of
// identifies the data: a pointer that is new with every answer.
func (l *lens) look(n int, of any, facets []facet) {
	now := lensState{n, l.column, l.text, l.desc}
	if l.of == of && l.from == now && !l.pending {
		return
	}
	if v, ok := l.work.Get(); ok && v.of == of && v.from == now {
		l.of, l.from, l.order, l.pending = of, now, v.order, false
		return
	}
	switch {
	case l.whole(facets):
		l.of, l.from, l.order, l.pending = of, now, nil, false
	case n <= inUpdate || l.atOnce:
		l.of, l.from, l.pending = of, now, false
		l.order = arrange(n, l.filter, l.column, l.desc, facets, nil)
	case l.of == of && l.from.n == n:
		l.pending = true // the order before stays
	default:
		l.of, l.from, l.order, l.pending = of, lensState{n: n, column: -2}, []int32{}, true
	}
}

// need asks for the order when it is one for a command.
func (l *lens) need(e *Env, n int, of any, facets []facet) []Request {
	l.look(n, of, facets)
	if !l.pending {
		l.work.Abandon() // what it is about is no longer wanted
		return nil
	}
	now := lensState{n, l.column, l.text, l.desc}
	if l.work.busy && l.work.of == of && l.work.from == now {
		return nil
	}
	l.work.Abandon()
	stop := &atomic.Bool{}
	l.work.stop, l.work.of, l.work.from = stop, of, now
	filter, column, desc := l.filter, l.column, l.desc
	return []Request{l.work.askLocal(e, func(ctx context.Context, _ workspace.Workspace) (*arranged, error) {
		order := arrange(n, filter, column, desc, facets, func() bool { return stop.Load() || ctx.Err() != nil })
		return &arranged{of, now, order}, nil
	})}
}

// arranged is an order and what it was made from.
type arranged struct {
	of    any
	from  lensState
	order []int32
}

// work is the pane of a list that is being arranged. To abandon it ends the
// command too.
type work struct {
	Load[*arranged]
	of   any
	from lensState
	stop *atomic.Bool
}

// Abandon implements Pane.
func (w *work) Abandon() {
	if w.busy && w.stop != nil {
		w.stop.Store(true)
	}
	w.Load.Abandon()
}

const stopEvery = 4096 // items between two looks at whether to go on

// arrange is the work of a lens: it is apart so that a long list can be
// arranged outside of Update. stop may be nil; when it says true, the answer
// is nobody's.
func arrange(n int, filter *part.Filter, column int, desc bool, facets []facet, stop func() bool) []int32 {
	order := make([]int32, 0, min(n, 1<<16))
	all := names(facets)
	item := 0
	text := func(c int) string { return facets[c].text(item) }
	for ; item < n; item++ {
		if item%stopEvery == 0 && stop != nil && stop() {
			return order
		}
		if filter.Match(all, text) {
			order = append(order, int32(item))
		}
	}
	if column >= 0 && column < len(facets) {
		sortBy(order, facets[column], desc)
	}
	return order
}

// sortBy orders items; equal ones keep the order of the data.
func sortBy(order []int32, f facet, desc bool) {
	sign := 1
	if desc {
		sign = -1
	}
	if f.num != nil {
		keys := make([]keyed[float64], len(order))
		for p, i := range order {
			keys[p] = keyed[float64]{f.num(int(i)), i}
		}
		sortKeys(order, keys, sign)
		return
	}
	keys := make([]keyed[string], len(order))
	for p, i := range order {
		keys[p] = keyed[string]{strings.ToLower(f.text(int(i))), i}
	}
	sortKeys(order, keys, sign)
}

type keyed[K cmp.Ordered] struct {
	key  K
	item int32
}

func sortKeys[K cmp.Ordered](order []int32, keys []keyed[K], sign int) {
	slices.SortFunc(keys, func(a, b keyed[K]) int {
		if d := cmp.Compare(a.key, b.key); d != 0 {
			return sign * d
		}
		return cmp.Compare(a.item, b.item)
	})
	for p := range keys {
		order[p] = keys[p].item
	}
}

// len is how many of n items are shown.
func (l *lens) len(n int) int {
	if l.order == nil {
		return n
	}
	return len(l.order)
}

// item is the item at a place of the list that is shown.
func (l *lens) item(place int) int {
	if l.order == nil {
		return place
	}
	return int(l.order[place])
}

// place is where an item stands in the list that is shown; false when it does
// not.
func (l *lens) place(item int) (int, bool) {
	if l.order == nil {
		return item, true
	}
	p := slices.Index(l.order, int32(item))
	return p, p >= 0
}

// said describes what the lens does, for the title of the list; "" = nothing.
func (l *lens) said(shown, n int, facets []facet) string {
	var out []string
	switch {
	case l.pending && !l.filter.Empty():
		out = append(out, "looking for /"+l.text)
	case l.pending:
		out = append(out, "being ordered")
	case !l.filter.Empty():
		out = append(out, part.Count(shown)+" of "+part.Count(n)+" match /"+l.text)
	}
	if l.column >= 0 && l.column < len(facets) {
		by := "by " + facets[l.column].name
		if l.desc {
			by += " down"
		}
		out = append(out, by)
	}
	return strings.Join(out, ", ")
}
