package screen

import (
	"hash/maphash"
	"strings"
	"time"

	"github.com/omnideck/omnideck/engine"
)

// commitLog holds commits close together: ids end to end, names once, parents
// as rows. It is filled once.
type commitLog struct {
	ids     string
	ends    []uint64 // of the ids
	rows    []commitRow
	slots   []int32  // a hash table from ids to 1 + row; 0 = free
	names   []string // of branches, actors and tables
	outside map[outsideKey]string
	moved   moves
}

// commitRow is one commit. A name of -1 is none; a parent of -1 is none, or
// stands in outside.
type commitRow struct {
	version        uint64
	created        int64
	parent, merged int32
	branch, actor  int32
	moves          uint32 // the first of its moves
}

// outsideKey is a parent that is not among the commits.
type outsideKey struct {
	row    int32
	merged bool
}

// moves are what commits did to tables, one after the other.
type moves struct {
	from, to  []uint64
	rows      []int64
	table     []int32
	fragments map[uint32]int // where they are known
}

func (l *commitLog) fill(entries []engine.LogEntry) {
	n, bytes := 0, 0
	for i := range entries {
		n += len(entries[i].Changed)
		bytes += len(entries[i].ID)
	}
	l.rows, l.ends, l.outside = make([]commitRow, 0, len(entries)), make([]uint64, 0, len(entries)), map[outsideKey]string{}
	l.moved = moves{from: make([]uint64, 0, n), to: make([]uint64, 0, n), rows: make([]int64, 0, n), table: make([]int32, 0, n), fragments: map[uint32]int{}}
	var ids strings.Builder
	ids.Grow(bytes)
	for i := range entries {
		ids.WriteString(entries[i].ID)
		l.ends = append(l.ends, uint64(ids.Len()))
	}
	l.ids = ids.String()
	l.index()
	known := map[string]int32{}
	name := func(s *string) int32 {
		if s == nil {
			return -1
		}
		k, ok := known[*s]
		if !ok {
			k = int32(len(l.names))
			l.names = append(l.names, strings.Clone(*s))
			known[l.names[k]] = k
		}
		return k
	}
	row := func(i int, id *string, merged bool) int32 {
		if id == nil {
			return -1
		}
		if k, ok := l.find(*id); ok {
			return int32(k)
		}
		l.outside[outsideKey{int32(i), merged}] = strings.Clone(*id)
		return -1
	}
	for i := range entries {
		e := &entries[i]
		l.rows = append(l.rows, commitRow{
			version: e.ManifestVersion, created: e.CreatedAt, branch: name(e.Branch), actor: name(e.Actor),
			parent: row(i, e.Parent, false), merged: row(i, e.MergedParent, true), moves: uint32(len(l.moved.from)),
		})
		for _, c := range e.Changed {
			l.moved.add(c, name(&c.Table))
		}
	}
}

// index makes the table of ids, at most half full. Of commits with one id it
// knows the first.
func (l *commitLog) index() {
	size := 2
	for size < 2*len(l.ends) {
		size *= 2
	}
	l.slots = make([]int32, size)
	for i := range l.ends {
		if s, ok := l.slot(l.id(i)); !ok {
			l.slots[s] = int32(i) + 1
		}
	}
}

var idSeed = maphash.MakeSeed()

// slot is where an id stands in the table, or, with false, where it would.
func (l *commitLog) slot(id string) (int, bool) {
	mask := len(l.slots) - 1
	s := int(maphash.String(idSeed, id)) & mask
	for l.slots[s] != 0 && l.id(int(l.slots[s])-1) != id {
		s = (s + 1) & mask
	}
	return s, l.slots[s] != 0
}

// find is the row of the commit with an id.
func (l *commitLog) find(id string) (int, bool) {
	s, ok := l.slot(id)
	return int(l.slots[s]) - 1, ok
}

func (m *moves) add(c engine.TableChange, table int32) {
	if c.FragmentsDelta != nil {
		m.fragments[uint32(len(m.from))] = *c.FragmentsDelta
	}
	m.from, m.to = append(m.from, c.FromVersion), append(m.to, c.ToVersion)
	m.rows, m.table = append(m.rows, c.RowsDelta), append(m.table, table)
}

func (l *commitLog) id(i int) string {
	if i == 0 {
		return l.ids[:l.ends[0]]
	}
	return l.ids[l.ends[i-1]:l.ends[i]]
}

func (l *commitLog) name(k int32) string {
	if k < 0 {
		return ""
	}
	return l.names[k]
}

func (l *commitLog) branch(i int) string {
	if l.rows[i].branch < 0 {
		return "main"
	}
	return l.names[l.rows[i].branch]
}

func (l *commitLog) actor(i int) string { return l.name(l.rows[i].actor) }

func (l *commitLog) time(i int) time.Time { return time.UnixMicro(l.rows[i].created).UTC() }

func (l *commitLog) parent(i int) (string, bool) {
	if k := l.rows[i].parent; k >= 0 {
		return l.id(int(k)), true
	}
	id, ok := l.outside[outsideKey{int32(i), false}]
	return id, ok
}

func (l *commitLog) merged(i int) (string, bool) {
	if k := l.rows[i].merged; k >= 0 {
		return l.id(int(k)), true
	}
	id, ok := l.outside[outsideKey{int32(i), true}]
	return id, ok
}

// span is where the moves of a commit stand.
func (l *commitLog) span(i int) (from, to int) {
	from, to = int(l.rows[i].moves), len(l.moved.from)
	if i+1 < len(l.rows) {
		to = int(l.rows[i+1].moves)
	}
	return from, to
}

// entry is a commit as the engine told it.
func (l *commitLog) entry(i int) engine.LogEntry {
	r := &l.rows[i]
	optional := func(s string, ok bool) *string {
		if !ok {
			return nil
		}
		return &s
	}
	e := engine.LogEntry{Commit: engine.Commit{
		ID: l.id(i), ManifestVersion: r.version, CreatedAt: r.created,
		Branch: optional(l.name(r.branch), r.branch >= 0), Actor: optional(l.name(r.actor), r.actor >= 0),
		Parent: optional(l.parent(i)), MergedParent: optional(l.merged(i)),
	}}
	from, to := l.span(i)
	e.Changed = make([]engine.TableChange, 0, to-from)
	for k := from; k < to; k++ {
		c := engine.TableChange{Table: l.name(l.moved.table[k]), FromVersion: l.moved.from[k], ToVersion: l.moved.to[k], RowsDelta: l.moved.rows[k]}
		if n, ok := l.moved.fragments[uint32(k)]; ok {
			c.FragmentsDelta = &n
		}
		e.Changed = append(e.Changed, c)
	}
	return e
}

// delta is the change of rows of a commit in all tables.
func (l *commitLog) delta(i int) (n int64) {
	from, to := l.span(i)
	for _, d := range l.moved.rows[from:to] {
		n += d
	}
	return n
}

// tables are the tables that a commit moved, as a filter sees them.
func (l *commitLog) tables(i int) string {
	from, to := l.span(i)
	switch to - from {
	case 0:
		return "no table moved"
	case 1:
		return l.name(l.moved.table[from])
	}
	var b strings.Builder
	for _, k := range l.moved.table[from:to] {
		b.WriteString(l.name(k))
		b.WriteByte(' ')
	}
	return b.String()
}
