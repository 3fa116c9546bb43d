package engine

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/internal/packed"
	"github.com/omnideck/omnideck/manifest"
)

// Commits are commits in an order, packed: a million take about fifty
// megabytes. They share the memory of what was read, and are immutable. Places
// count from 0.
type Commits struct {
	graph *branches.Graph
	order []int32 // numbers in graph by place; nil = place and number are one
	place []int32 // places by number, -1 = not among them; nil with order
	n     int
}

// inOrder are the first commits of a graph in an order of theirs; nil is that
// of their numbers, limit 0 = all.
func inOrder(g *branches.Graph, order []int32, limit int) Commits {
	n := g.Len()
	if limit > 0 {
		n = min(n, limit)
	}
	c := Commits{graph: g, n: n}
	if order == nil {
		return c
	}
	c.order, c.place = slices.Clip(slices.Clone(order[:n])), make([]int32, g.Len())
	for i := range c.place {
		c.place[i] = -1
	}
	for i, k := range c.order {
		c.place[k] = int32(i)
	}
	return c
}

// Len is the number of commits.
func (c *Commits) Len() int { return c.n }

func (c *Commits) in(i int) (list *manifest.Commits, row int) {
	if c.order != nil {
		i = int(c.order[i])
	}
	return c.graph.In(i)
}

func (c *Commits) placed(number int) (i int, ok bool) {
	if c.order != nil {
		number = int(c.place[number])
	}
	return number, number >= 0 && number < c.n
}

// ID is the id of the commit at a place.
func (c *Commits) ID(i int) string {
	list, row := c.in(i)
	return list.ID(row)
}

// Find is the place of the commit with an id.
func (c *Commits) Find(id string) (i int, ok bool) {
	if c.n == 0 {
		return 0, false
	}
	number, ok := c.graph.Find(id)
	if !ok {
		return 0, false
	}
	return c.placed(number)
}

// Commit is the commit at a place.
func (c *Commits) Commit(i int) Commit {
	list, row := c.in(i)
	return commitOf(list.At(row))
}

// Version is the manifest version that the commit made.
func (c *Commits) Version(i int) uint64 {
	list, row := c.in(i)
	return list.Version(row)
}

// Branch is the name of the branch that it was made on.
func (c *Commits) Branch(i int) string {
	list, row := c.in(i)
	return nameOf(list.Branch(row))
}

// Actor is who made it; "" = not recorded.
func (c *Commits) Actor(i int) string {
	list, row := c.in(i)
	if a := list.Actor(row); a != nil {
		return *a
	}
	return ""
}

// Time is when it was made.
func (c *Commits) Time(i int) time.Time {
	list, row := c.in(i)
	return time.UnixMicro(list.CreatedAt(row)).UTC()
}

// Parent is the place of its first parent, Merged that of the commit merged
// into it: -1 when there is none or it is not among these.
func (c *Commits) Parent(i int) int { return c.parent(i, manifest.First) }

// Merged: see Parent.
func (c *Commits) Merged(i int) int { return c.parent(i, manifest.Merged) }

func (c *Commits) parent(i int, s manifest.Side) int {
	number := i
	if c.order != nil {
		number = int(c.order[i])
	}
	p := c.graph.Parent(number, s)
	if p < 0 {
		return -1
	}
	if p, ok := c.placed(p); ok {
		return p
	}
	return -1
}

// ParentID is the id of its first parent, MergedID that of the commit merged
// into it, among these or not; "" = none.
func (c *Commits) ParentID(i int) string {
	list, row := c.in(i)
	return list.ParentID(row, manifest.First)
}

// MergedID: see ParentID.
func (c *Commits) MergedID(i int) string {
	list, row := c.in(i)
	return list.ParentID(row, manifest.Merged)
}

// All are the commits in their order.
func (c *Commits) All() iter.Seq[Commit] {
	return func(yield func(Commit) bool) {
		for i := range c.n {
			if !yield(c.Commit(i)) {
				return
			}
		}
	}
}

// MarshalJSON writes a list of Commit.
func (c *Commits) MarshalJSON() ([]byte, error) { return list(c.All()) }

// list writes a JSON list without making one of what it holds.
func list[T any](all iter.Seq[T]) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // whoever writes the whole decides
	b.WriteByte('[')
	for v := range all {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		if err := enc.Encode(v); err != nil {
			return nil, err
		}
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// Log is commits with the tables that each one moved, packed.
type Log struct {
	Commits
	first     []uint32 // of the moves of each commit, and the end
	table     []uint32 // in tables
	tables    []string
	from, to  packed.Numbers
	rows      packed.Numbers // see signed
	fragments map[uint32]int // where they are known
}

// folded keeps negative numbers that are small small: the sign is the lowest
// bit. unfolded is its inverse.
func folded(n int64) uint64   { return uint64(n)<<1 ^ uint64(n>>63) }
func unfolded(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }

// LogOf packs entries, in their order. Ids are unique, and empty ones none.
func LogOf(entries []LogEntry) *Log {
	commits := make([]manifest.Commit, len(entries))
	or := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	for i, e := range entries {
		commits[i] = manifest.Commit{
			ID: e.ID, Branch: or(e.Branch), ManifestVersion: e.ManifestVersion, Parent: or(e.Parent), MergedParent: or(e.MergedParent),
			Actor: e.Actor, CreatedAt: e.CreatedAt,
		}
	}
	g := branches.NewGraph(manifest.CommitsOf(commits))
	order := make([]int32, 0, g.Len())
	for i := range commits {
		if n, ok := g.Find(commits[i].ID); ok {
			order = append(order, int32(n))
		}
	}
	l := &Log{Commits: inOrder(g, order, 0), fragments: map[uint32]int{}}
	names := map[string]uint32{}
	for i := range entries {
		l.first = append(l.first, uint32(len(l.table)))
		for _, c := range entries[i].Changed {
			if c.FragmentsDelta != nil {
				l.fragments[uint32(len(l.table))] = *c.FragmentsDelta
			}
			l.table = append(l.table, l.name(names, c.Table))
			l.from.Add(c.FromVersion)
			l.to.Add(c.ToVersion)
			l.rows.Add(folded(c.RowsDelta))
		}
	}
	l.first = append(l.first, uint32(len(l.table)))
	return l
}

func (l *Log) name(known map[string]uint32, table string) uint32 {
	k, ok := known[table]
	if !ok {
		k = uint32(len(l.tables))
		known[table] = k
		l.tables = append(l.tables, table)
	}
	return k
}

// Entry is the commit at a place, with the tables that it moved.
func (l *Log) Entry(i int) LogEntry { return LogEntry{l.Commit(i), l.Changed(i)} }

// Entries are the commits in their order.
func (l *Log) Entries() iter.Seq[LogEntry] {
	return func(yield func(LogEntry) bool) {
		for i := range l.n {
			if !yield(l.Entry(i)) {
				return
			}
		}
	}
}

// MarshalJSON writes a list of LogEntry.
func (l *Log) MarshalJSON() ([]byte, error) { return list(l.Entries()) }

// Changed are the tables that a commit moved; never nil.
func (l *Log) Changed(i int) []TableChange {
	out := make([]TableChange, 0, l.first[i+1]-l.first[i])
	for k := l.first[i]; k < l.first[i+1]; k++ {
		c := TableChange{Table: l.tables[l.table[k]], FromVersion: l.from.At(int(k)), ToVersion: l.to.At(int(k)), RowsDelta: unfolded(l.rows.At(int(k)))}
		if n, ok := l.fragments[k]; ok {
			c.FragmentsDelta = &n
		}
		out = append(out, c)
	}
	return out
}

// RowsDelta is the change of rows of a commit in all tables.
func (l *Log) RowsDelta(i int) (n int64) {
	for k := l.first[i]; k < l.first[i+1]; k++ {
		n += unfolded(l.rows.At(int(k)))
	}
	return n
}

// Tables are the names of the tables that a commit moved, and the versions
// that it moved them to.
func (l *Log) Tables(i int) iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for k := l.first[i]; k < l.first[i+1]; k++ {
			if !yield(l.tables[l.table[k]], l.to.At(int(k))) {
				return
			}
		}
	}
}

// fill tells what the commits did, from the states of the lists that the graph
// was made of. It goes over them twice and makes no list of changes.
func (l *Log) fill(states []*manifest.State) {
	count := make([]uint32, l.n+1)
	moves := l.moves(states)
	for i := range moves {
		count[i]++
	}
	l.first = count
	at := uint32(0)
	for i := range count {
		at, l.first[i] = at+count[i], at
	}
	l.table = make([]uint32, at)
	l.from, l.to, l.rows = packed.Make(int(at)), packed.Make(int(at)), packed.Make(int(at))
	names := map[string]uint32{}
	for i, c := range moves { // first[i] is where the next move of i goes
		k := int(l.first[i])
		l.first[i]++
		l.table[k] = l.name(names, c.Alias)
		l.from.Set(k, c.From)
		l.to.Set(k, c.To)
		l.rows.Set(k, folded(int64(c.RowsAfter)-int64(c.RowsBefore)))
	}
	copy(l.first[1:], l.first[:l.n])
	l.first[0] = 0
	for i := range l.n {
		l.sort(int(l.first[i]), int(l.first[i+1]))
	}
}

// sort brings the moves of one commit into the order of tables.
func (l *Log) sort(from, to int) {
	inOrder := true
	for k := from + 1; k < to && inOrder; k++ {
		inOrder = l.tables[l.table[k-1]] <= l.tables[l.table[k]]
	}
	if inOrder {
		return
	}
	type move struct {
		table          uint32
		from, to, rows uint64
	}
	all := make([]move, 0, to-from)
	for k := from; k < to; k++ {
		all = append(all, move{l.table[k], l.from.At(k), l.to.At(k), l.rows.At(k)})
	}
	slices.SortStableFunc(all, func(a, b move) int { return strings.Compare(l.tables[a.table], l.tables[b.table]) })
	for i, m := range all {
		k := from + i
		l.table[k] = m.table
		l.from.Set(k, m.from)
		l.to.Set(k, m.to)
		l.rows.Set(k, m.rows)
	}
}

// moves are the changes that commits of the log made, with the places of these.
func (l *Log) moves(states []*manifest.State) iter.Seq2[int, manifest.Change] {
	return func(yield func(int, manifest.Change) bool) {
		for s, state := range states {
			w := byVersion{rows: state.Commits, least: l.oldest(state.Commits)}
			if w.least == math.MaxUint64 {
				continue
			}
			for at, c := range state.Changes() {
				for row := w.first(at); row < w.rows.Len() && w.rows.Version(row) == at; row++ {
					if n, ok := l.graph.Number(s, row); ok {
						if i, ok := l.placed(n); ok && !yield(i, c) {
							return
						}
					}
				}
			}
		}
	}
}

// oldest is the least manifest version of the commits that a list gave to the
// log; none has less.
func (l *Log) oldest(list *manifest.Commits) uint64 {
	if l.n == l.graph.Len() {
		return 0
	}
	least := uint64(math.MaxUint64)
	for i := range l.n {
		if in, row := l.in(i); in == list {
			least = min(least, in.Version(row))
		}
	}
	return least
}

// byVersion looks for the commits of manifest versions, which as a rule come in
// their order.
type byVersion struct {
	rows  *manifest.Commits
	least uint64
	last  int
}

// first is the first row of a version, or one of another version when there is
// none.
func (w *byVersion) first(at uint64) int {
	n := w.rows.Len()
	if at < w.least || n == 0 {
		return n
	}
	from, to := w.last, n
	if from = min(from, n-1); w.rows.Version(from) <= at {
		from, to = 0, from
		for step := 1; to-step > 0; step *= 2 {
			if w.rows.Version(to-step) > at {
				from = to - step
				break
			}
			to -= step
		}
	}
	w.last = from + sort.Search(to-from, func(i int) bool { return w.rows.Version(from+i) <= at })
	return w.last
}
