package screen

import (
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/part"
)

// board is a split whose list a user can narrow and order. Its first heads
// places hold what no filter hides: the thing itself, the counts.
type board struct {
	split
	lens
	heads int
}

func newBoard(share int) board {
	b := board{split: split{share: share}, lens: newLens()}
	b.atOnce = true
	return b
}

// places is how many places the list has when n items stand behind the heads.
func (b *board) places(n int) int { return b.heads + b.lens.len(n) }

// at is the item at a place; ok is false for a head and for no place at all.
func (b *board) at(place, n int) (item int, ok bool) {
	if place < b.heads || place >= b.places(n) {
		return 0, false
	}
	return b.lens.item(place - b.heads), true
}

// narrow sets the filter.
func (b *board) narrow(text string, facets []facet) Effect {
	if err := b.lens.set(text, facets); err != nil {
		return Effect{Note: err.Error()}
	}
	return Effect{}
}

// working adds the list to the panes while a command arranges it.
func (b *board) working(panes []Pane) []Pane {
	if b.lens.work.Busy() {
		return append(panes, &b.lens.work)
	}
	return panes
}

// match selects the next item, or the one before, that the newest filter
// matches. n items stand behind the heads.
func (b *board) match(d, n int, facets []facet) Effect {
	f := b.lens.last
	if f.Empty() {
		return Effect{Note: "nothing was filtered yet"}
	}
	all, count := names(facets), b.places(n)
	for step := 1; step <= count; step++ {
		place := ((b.list.Sel+d*step)%count + count) % count
		if i, ok := b.at(place, n); ok && f.Match(all, func(c int) string { return facets[c].text(i) }) {
			b.list.Move(place-b.list.Sel, count)
			return Effect{}
		}
	}
	return Effect{Note: "nothing matches the last filter"}
}

// aim makes a pane forget what belongs to another moment than the one that is
// shown.
func (l *Load[T]) aim(e *Env) {
	if l.target != "" && l.target != target(e) {
		l.reset()
	}
}

// typeOf is a table's name without its kind.
func typeOf(table string) string {
	_, name, _ := strings.Cut(table, ":")
	return name
}

// isEdge says that a table holds edges.
func isEdge(table string) bool { return strings.HasPrefix(table, "edge:") }

// nodeTable is the table of a node type; "" of one that is not known.
func nodeTable(typ string) string {
	if typ == "" {
		return ""
	}
	return "node:" + typ
}

// onGraph spells a verb about the open graph at a moment.
func onGraph(e *Env, at engine.At, verb string, args ...string) string {
	words := append([]string{verb, e.Address}, args...)
	if at.Branch != "" && at.Branch != "main" {
		words = append(words, "--branch", at.Branch)
	}
	switch {
	case at.Commit != "":
		words = append(words, "--at", at.Commit)
	case at.Version != 0:
		words = append(words, "--at", plainNumber(at.Version))
	}
	return shell.Line(words...)
}

// moment names a point in history in few words.
func moment(at engine.At, more string) string {
	switch {
	case at.Commit != "":
		if len(at.Commit) > 8 {
			return "commit " + more + at.Commit[len(at.Commit)-6:]
		}
		return "commit " + at.Commit
	case at.Version != 0:
		return branchOf(at) + " v" + part.Count(at.Version)
	}
	return branchOf(at)
}

func branchOf(at engine.At) string {
	if at.Branch == "" {
		return "main"
	}
	return at.Branch
}
