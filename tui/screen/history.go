package screen

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/workspace"
)

// History is the commits of all branches, as the engine packed them, laid out.
// It is made by the command that loads them and never changed.
type History struct {
	*engine.Log
	Limit  int // as asked for; 0 = all
	dag    *part.Dag
	newest map[string]int  // branch → row of its newest commit
	gone   map[string]bool // merged commits that no branch holds any more

	along string  // branch whose line is at hand, because the walk is long
	first []int32 // that line
}

// NewHistory lays out commits that are ordered newest first.
func NewHistory(log *engine.Log, limit int) *History {
	h := &History{Log: log, Limit: limit, newest: map[string]int{}, gone: map[string]bool{}}
	h.findGone()
	h.dag = part.NewDag(h.Len(), h.node)
	for i := range h.Len() {
		if name := h.Branch(i); i == 0 || name != h.Branch(i-1) {
			if _, ok := h.newest[name]; !ok {
				h.newest[name] = i
			}
		}
	}
	return h
}

// Truncated says that older commits may exist that were not asked for.
func (h *History) Truncated() bool { return h.Limit > 0 && h.Len() >= h.Limit }

// findGone looks for the merged parents that are not among the commits. Of a
// truncated history nothing can be said: they may be older.
func (h *History) findGone() {
	if h.Truncated() {
		return
	}
	for i := range h.Len() {
		if h.Merged(i) < 0 {
			if id := h.MergedID(i); id != "" {
				h.gone[id] = true
			}
		}
	}
}

func (h *History) node(i int) part.Node {
	n := part.Node{ID: h.ID(i), Parent: h.ParentID(i), Mark: h.mark(i)}
	if n.Mark == part.MarkMerge {
		if id := h.MergedID(i); !h.gone[id] {
			n.Merged = id
		}
	}
	return n
}

func (h *History) mark(i int) part.Mark {
	switch {
	case h.Merged(i) >= 0 || h.MergedID(i) != "":
		return part.MarkMerge
	case strings.HasPrefix(h.Actor(i), "omnigraph:"):
		return part.MarkSystem
	}
	return part.MarkCommit
}

// tables are the tables that a commit moved, as a filter sees them.
func (h *History) tables(i int) string {
	var first string
	var b strings.Builder
	n := 0
	for name := range h.Tables(i) {
		if n++; n == 1 {
			first = name
			continue
		}
		if n == 2 {
			b.WriteString(first + " ")
		}
		b.WriteString(name)
		b.WriteByte(' ')
	}
	switch n {
	case 0:
		return "no table moved"
	case 1:
		return first
	}
	return b.String()
}

// line is the newest commit of a branch and its first parents.
func (h *History) line(branch string) (rows []int32) {
	if branch == h.along {
		return h.first
	}
	i, ok := h.newest[branch]
	for ok {
		rows = append(rows, int32(i))
		next := h.Parent(i)
		i, ok = next, next > i // a child stands before its parents
	}
	return rows
}

// ancestors are the commits from which one comes, among the rows before to.
func (h *History) ancestors(sel, to int) map[int]bool {
	out := map[int]bool{sel: true}
	for i := sel; i < min(to, h.Len()); i++ {
		if out[i] {
			out[h.Parent(i)], out[h.Merged(i)] = true, true
		}
	}
	return out
}

// manyCommits is how many commits make a long history.
const manyCommits = 250_000

// firstCommits is how many commits are asked for at first.
const firstCommits = 500

// AskHistory asks for the newest commits; limit 0 for all.
func (s *Session) AskHistory(e *Env, limit int) Request {
	branch := e.Branch()
	return s.History.ask(e, func(ctx context.Context, ws workspace.Workspace) (*History, error) {
		log, err := ws.History(ctx, limit)
		if err != nil && !incomplete(err) {
			return nil, err
		}
		h := NewHistory(log, limit)
		h.first, h.along = slices.Clone(h.line(branch)), branch
		if h.Len() > manyCommits {
			debug.FreeOSMemory() // the layout of a million commits made a hundred megabytes in passing
		}
		return h, err
	})
}

// marked says in a word what is special about a point of the graph: that all
// screens show it, or that it was marked.
func marked(e *Env, at engine.At) string {
	var out []string
	if e.Travelling() && same(e.At, at) {
		out = append(out, "shown")
	}
	if e.Pinned != nil && e.Pinned.Kind == PinPoint && same(e.Pinned.At, at) {
		out = append(out, "marked")
	}
	return strings.Join(out, ", ")
}

// same says that two points are one, whether or not the version of a commit is
// told beside it.
func same(a, b engine.At) bool {
	if a.Commit != "" || b.Commit != "" {
		return a.Commit == b.Commit
	}
	return BranchName(a.Branch) == BranchName(b.Branch) && a.Version == b.Version
}
