package screen

import (
	"cmp"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/tui/part"
)

// lens narrows and orders the items of a list, without touching the data: it
// maps places in the list that is shown to items.
type lens struct {
	text   string // of the filter
	filter *part.Filter
	column int // of the order; -1 = that of the data
	desc   bool

	of    any // what order was made from
	from  lensState
	order []int // item by place; nil = all, in the order of the data
}

type lensState struct {
	n, column int
	text      string
	desc      bool
}

// facet is one property of the items of a list, by which it can be narrowed
// and ordered.
type facet struct {
	name string
	text func(i int) string
	less func(i, j int) int // nil: by text
}

func newLens() lens { return lens{column: -1} }

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
	return nil
}

// look makes the order for n items, when something it rests on has changed. of
// identifies the data: a pointer that is new with every answer.
func (l *lens) look(n int, of any, facets []facet) {
	now := lensState{n, l.column, l.text, l.desc}
	if l.of == of && l.from == now {
		return
	}
	l.of, l.from, l.order = of, now, nil
	if l.filter.Empty() && (l.column < 0 || l.column >= len(facets)) {
		return
	}
	l.order = arrange(n, l.filter, l.column, l.desc, facets)
}

// arrange is the work of a lens: it is apart so that a long list can be
// arranged outside of Update.
func arrange(n int, filter *part.Filter, column int, desc bool, facets []facet) []int {
	order := make([]int, 0, n)
	all := names(facets)
	for i := range n {
		if filter.Match(all, func(c int) string { return facets[c].text(i) }) {
			order = append(order, i)
		}
	}
	if column >= 0 && column < len(facets) {
		f := facets[column]
		slices.SortStableFunc(order, func(a, b int) int {
			d := 0
			if f.less != nil {
				d = f.less(a, b)
			} else {
				d = cmp.Compare(strings.ToLower(f.text(a)), strings.ToLower(f.text(b)))
			}
			if desc {
				return -d
			}
			return d
		})
	}
	return order
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
	return l.order[place]
}

// said describes what the lens does, for the title of the list; "" = nothing.
func (l *lens) said(shown, n int, facets []facet) string {
	var out []string
	if !l.filter.Empty() {
		out = append(out, part.Count(shown)+" of "+part.Count(n)+" match /"+l.text)
	}
	if l.column >= 0 && l.column < len(facets) {
		by := "by " + facets[l.column].name
		if l.desc {
			by += ", greatest first"
		}
		out = append(out, by)
	}
	return strings.Join(out, ", ")
}
