package screen

import (
	"context"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/workspace"
)

// History is the commits of all branches, laid out. It is made by the command
// that loads them and never changed. A million commits are held in about a
// hundred bytes each: what the engine answered is let go.
type History struct {
	Limit  int // as asked for; 0 = all
	log    commitLog
	dag    *part.Dag
	newest map[string]int  // branch → row of its newest commit
	gone   map[string]bool // merged commits that no branch holds any more

	along string  // branch whose line is at hand, because the walk is long
	first []int32 // that line
}

// NewHistory lays out commits that are ordered newest first.
func NewHistory(entries []engine.LogEntry, limit int) *History {
	h := &History{Limit: limit, newest: map[string]int{}, gone: map[string]bool{}}
	h.log.fill(entries)
	h.findGone()
	h.dag = part.NewDag(h.Len(), h.node)
	for i := range h.Len() {
		if name := h.log.branch(i); i == 0 || name != h.log.branch(i-1) {
			if _, ok := h.newest[name]; !ok {
				h.newest[name] = i
			}
		}
	}
	return h
}

// Len is the number of commits.
func (h *History) Len() int { return len(h.log.rows) }

// Entry is a commit, by its row.
func (h *History) Entry(i int) engine.LogEntry { return h.log.entry(i) }

// ID is the id of the commit at a place.
func (h *History) ID(i int) string { return h.log.id(i) }

// Truncated says that older commits may exist that were not asked for.
func (h *History) Truncated() bool { return h.Limit > 0 && h.Len() >= h.Limit }

// findGone looks for the merged parents that are not among the commits. Of a
// truncated history nothing can be said: they may be older.
func (h *History) findGone() {
	if h.Truncated() {
		return
	}
	for key, id := range h.log.outside {
		if key.merged {
			h.gone[id] = true
		}
	}
}

func (h *History) node(i int) part.Node {
	n := part.Node{ID: h.log.id(i)}
	n.Parent, _ = h.log.parent(i)
	merged, ok := h.log.merged(i)
	switch {
	case ok && merged != "":
		n.Mark = part.MarkMerge
		if !h.gone[merged] {
			n.Merged = merged
		}
	case strings.HasPrefix(h.log.actor(i), "omnigraph:"):
		n.Mark = part.MarkSystem
	}
	return n
}

// line is the newest commit of a branch and its first parents.
func (h *History) line(branch string) (rows []int32) {
	if branch == h.along {
		return h.first
	}
	i, ok := h.newest[branch]
	for ok {
		rows = append(rows, int32(i))
		next := h.log.rows[i].parent
		i, ok = int(next), int(next) > i // a child stands before its parents
	}
	return rows
}

// ancestors are the commits from which one comes, among the rows before to.
func (h *History) ancestors(sel, to int) map[int]bool {
	out := map[int]bool{sel: true}
	for i := sel; i < min(to, h.Len()); i++ {
		if out[i] {
			r := &h.log.rows[i]
			out[int(r.parent)], out[int(r.merged)] = true, true
		}
	}
	return out
}

// firstCommits is how many commits are asked for at first.
const firstCommits = 500

// AskHistory asks for the newest commits; limit 0 for all.
func (s *Session) AskHistory(e *Env, limit int) Request {
	branch := e.Branch()
	return s.History.ask(e, func(ctx context.Context, ws workspace.Workspace) (*History, error) {
		entries, err := ws.History(ctx, limit)
		if err != nil && !incomplete(err) {
			return nil, err
		}
		h := NewHistory(entries, limit)
		h.first, h.along = slices.Clip(h.line(branch)), branch
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
	return branchOr(a.Branch) == branchOr(b.Branch) && a.Version == b.Version
}
