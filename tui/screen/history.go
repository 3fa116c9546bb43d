package screen

import (
	"context"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/workspace"
)

// History is the commits of all branches, laid out. It is made by the command
// that loads them and never changed.
type History struct {
	Entries []engine.LogEntry
	Limit   int // as asked for; 0 = all
	dag     *part.Dag
	newest  map[string]int  // branch → row of its newest commit
	gone    map[string]bool // merged commits that no branch holds any more
}

// NewHistory lays out commits that are ordered newest first.
func NewHistory(entries []engine.LogEntry, limit int) *History {
	h := &History{Entries: entries, Limit: limit, newest: map[string]int{}, gone: map[string]bool{}}
	h.findGone()
	h.dag = part.NewDag(len(entries), h.node)
	for i := range entries {
		name := entries[i].BranchName()
		if _, ok := h.newest[name]; !ok {
			h.newest[name] = i
		}
	}
	return h
}

// Truncated says that older commits may exist that were not asked for.
func (h *History) Truncated() bool { return h.Limit > 0 && len(h.Entries) >= h.Limit }

// findGone looks for the merged parents that are not among the commits. Of a
// truncated history nothing can be said: they may be older.
func (h *History) findGone() {
	if h.Truncated() {
		return
	}
	for i := range h.Entries {
		if m := h.Entries[i].MergedParent; m != nil {
			h.gone[*m] = true
		}
	}
	for i := range h.Entries {
		delete(h.gone, h.Entries[i].ID)
	}
}

func (h *History) node(i int) part.Node {
	c := &h.Entries[i].Commit
	n := part.Node{ID: c.ID}
	if c.Parent != nil {
		n.Parent = *c.Parent
	}
	switch {
	case c.MergedParent != nil && *c.MergedParent != "":
		n.Mark = part.MarkMerge
		if !h.gone[*c.MergedParent] {
			n.Merged = *c.MergedParent
		}
	case c.Actor != nil && strings.HasPrefix(*c.Actor, "omnigraph:"):
		n.Mark = part.MarkSystem
	}
	return n
}

// line is the newest commit of a branch and its first parents.
func (h *History) line(branch string) (rows []int32) {
	i, ok := h.newest[branch]
	if !ok {
		return nil
	}
	for want := h.Entries[i].ID; i < len(h.Entries); i++ {
		c := &h.Entries[i].Commit
		if c.ID != want {
			continue
		}
		rows = append(rows, int32(i))
		if c.Parent == nil {
			break
		}
		want = *c.Parent
	}
	return rows
}

// ancestors are the commits from which one comes, among the h rows below it.
func (h *History) ancestors(sel, to int) map[int]bool {
	c := &h.Entries[sel].Commit
	want := map[string]bool{c.ID: true}
	out := map[int]bool{}
	for i := sel; i < min(to, len(h.Entries)); i++ {
		if c = &h.Entries[i].Commit; !want[c.ID] {
			continue
		}
		out[i] = true
		if c.Parent != nil {
			want[*c.Parent] = true
		}
		if c.MergedParent != nil {
			want[*c.MergedParent] = true
		}
	}
	return out
}

// firstCommits is how many commits are asked for at first.
const firstCommits = 500

// AskHistory asks for the newest commits; limit 0 for all.
func (s *Session) AskHistory(e *Env, limit int) Request {
	return s.History.ask(e, func(ctx context.Context, ws workspace.Workspace) (*History, error) {
		entries, err := ws.History(ctx, limit)
		if err != nil && !incomplete(err) {
			return nil, err
		}
		return NewHistory(entries, limit), err
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
