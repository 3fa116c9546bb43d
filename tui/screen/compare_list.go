package screen

import (
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
)

// changeList is a comparison as a board: what T tells of the whole stands
// above, below it the changes, which can be narrowed and ordered.
type changeList[T any] struct {
	board
	limit int  // changes that are asked for
	hide  bool // properties that are equal are not shown
	data  Load[*T]
	set   *changeSet
	above int // places over the changes, while these are not filtered
	of    *T  // what set and above were made of

	key  func(place int) string // what the selection keeps to
	read func(*T) (set *changeSet, above int)
}

func newChangeList[T any](share int, key func(int) string, read func(*T) (*changeSet, int)) changeList[T] {
	return changeList[T]{board: newBoard(share), limit: firstChanges, hide: true, set: newChangeSet(nil, nil), key: key, read: read}
}

// start asks for what is lacking. reload asks for the comparison.
func (c *changeList[T]) start(e *Env, reload func(*Env) []Request) []Request {
	out := c.need(e)
	if c.data.wanted(e) {
		out = append(out, reload(e)...)
	}
	return out
}

// Panes implements Screen.
func (c *changeList[T]) Panes(*Env) []Pane { return c.working([]Pane{&c.data}) }

// need asks for the order of a long list.
func (c *changeList[T]) need(e *Env) []Request {
	d, ok := c.arrange()
	if !ok {
		return nil
	}
	return c.lens.need(e, len(c.set.changes), d, c.set.facets())
}

// arrange makes the list fit the answer.
func (c *changeList[T]) arrange() (*T, bool) {
	d, ok := c.data.Get()
	if !ok || d == nil {
		return nil, false
	}
	if d != c.of {
		c.of = d
		c.set, c.above = c.read(d)
	}
	if c.heads = c.above; !c.lens.filter.Empty() {
		c.heads = 0
	}
	n := len(c.set.changes)
	c.lens.look(n, d, c.set.facets())
	c.list.Settle(c.places(n), c.key)
	return d, true
}

// moves handles the actions of every comparison. There is more to ask for when
// the answer was truncated.
func (c *changeList[T]) moves(e *Env, id action.ID, truncated bool, reload func(*Env) []Request) Effect {
	switch {
	case id == action.HideSame:
		c.hide = !c.hide
	case id == action.Bottom && truncated && !c.onRight && !c.data.Busy():
		c.limit *= 10
		return Effect{Ask: reload(e), Note: "reading up to " + part.Count(c.limit) + " changes"}
	default:
		if c.move(id, c.places(len(c.set.changes))) && !c.onRight {
			c.list.Remember(c.key(c.list.Sel))
		}
	}
	return Effect{}
}

// Filter implements Filterer.
func (c *changeList[T]) Filter() string { return c.lens.text }

// SetFilter implements Filterer.
func (c *changeList[T]) SetFilter(e *Env, text string) Effect {
	out := c.narrow(text, c.set.facets())
	out.Ask = c.need(e)
	return out
}

// NextMatch implements Filterer.
func (c *changeList[T]) NextMatch(_ *Env, d int) Effect {
	return c.match(d, len(c.set.changes), c.set.facets())
}

// SortColumns implements Sorter.
func (c *changeList[T]) SortColumns(*Env) []string { return names(c.set.facets()) }

// Sorted implements Sorter.
func (c *changeList[T]) Sorted() (int, bool) { return c.lens.column, c.lens.desc }

// SetSort implements Sorter.
func (c *changeList[T]) SetSort(e *Env, column int, desc bool) Effect {
	c.lens.column, c.lens.desc = column, desc
	return Effect{Ask: c.need(e)}
}
