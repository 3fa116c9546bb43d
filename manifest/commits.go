package manifest

import (
	"cmp"
	"hash/maphash"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/internal/packed"
)

// Commits are the graph_commit rows of a state, newest first (manifest version,
// time, id), packed: about fifty bytes each. They are immutable; several states
// and answers may share them. The zero value is none.
type Commits struct {
	ids      []ulid
	odd      map[int32]string // ids that are no canonical ULID, by row
	versions packed.Numbers
	created  []int64  // µs
	by       []uint32 // in bylines
	bylines  []byline
	parents  [2][]int32 // rows, by Side, or none or away
	away     map[side]string
	slots    []int32 // a hash table from ids to 1 + row; 0 = free
	twice    bool
	base     *Commits // older rows, in one piece; nil: all are here
}

// byline is who made a commit, and where.
type byline struct {
	branch string
	actor  string
	acted  bool // false: actor is none
}

// Side tells the two parents of a commit apart.
type Side uint8

// The first parent, and the one that was merged in.
const (
	First Side = iota
	Merged
)

// side is one parent of one row.
type side struct {
	row int32
	of  Side
}

// What stands where a parent has no row.
const (
	none = -1
	away = -2 // it has an id, in Commits.away
)

// CommitsOf packs commits, in the order of Commits.
func CommitsOf(list []Commit) *Commits {
	var c commitRows
	for i := range list {
		c.add(&list[i], spot{})
	}
	return c.pack(nil)
}

// Len is the number of commits.
func (c *Commits) Len() int {
	if c.base != nil {
		return len(c.ids) + len(c.base.ids)
	}
	return len(c.ids)
}

// in says in which list, and where, a row lies.
func (c *Commits) in(i int) (*Commits, int) {
	if c.base != nil && i >= len(c.ids) {
		return c.base, i - len(c.ids)
	}
	return c, i
}

// At is the commit in a row.
func (c *Commits) At(i int) Commit {
	return Commit{
		ID: c.ID(i), Branch: c.Branch(i), ManifestVersion: c.Version(i), Parent: c.ParentID(i, First), MergedParent: c.ParentID(i, Merged),
		Actor: c.Actor(i), CreatedAt: c.CreatedAt(i),
	}
}

// All are the commits with their rows, newest first.
func (c *Commits) All() iter.Seq2[int, Commit] {
	return func(yield func(int, Commit) bool) {
		for i := range c.Len() {
			if !yield(i, c.At(i)) {
				return
			}
		}
	}
}

// ID is the id of the commit in a row.
func (c *Commits) ID(i int) string {
	c, i = c.in(i)
	if len(c.odd) > 0 {
		if id, ok := c.odd[int32(i)]; ok {
			return id
		}
	}
	return c.ids[i].String()
}

// Branch is the branch it was made on, "" = main.
func (c *Commits) Branch(i int) string { return c.byline(i).branch }

// byline is who made the commit in a row.
func (c *Commits) byline(i int) *byline {
	c, i = c.in(i)
	return &c.bylines[c.by[i]]
}

// Actor is who made it; nil = not recorded.
func (c *Commits) Actor(i int) *string {
	if b := c.byline(i); b.acted {
		return &b.actor
	}
	return nil
}

// Version is the manifest version that it made.
func (c *Commits) Version(i int) uint64 {
	c, i = c.in(i)
	return c.versions.At(i)
}

// CreatedAt is when it was made, in µs since 1970, UTC.
func (c *Commits) CreatedAt(i int) int64 {
	c, i = c.in(i)
	return c.created[i]
}

// ParentRow is the row of a parent, negative when it has none.
func (c *Commits) ParentRow(i int, s Side) int {
	l, i := c.in(i)
	row := int(l.parents[s][i])
	if l == c.base && row >= 0 {
		row += len(c.ids)
	}
	return row
}

// ParentID is the id of a parent, with or without a row; "" = there is none.
func (c *Commits) ParentID(i int, s Side) string {
	switch k := c.ParentRow(i, s); k {
	case none:
		return ""
	case away:
		l, i := c.in(i)
		return l.away[side{int32(i), s}]
	default:
		return c.ID(k)
	}
}

// Twice says that an id stands in more than one row. No graph of the current
// generation gives such a list.
func (c *Commits) Twice() bool { return c.twice }

// Find is the row of the commit with an id; of several the last.
func (c *Commits) Find(id string) (int, bool) { return c.find(keyOf(id)) }

// FindAs is the row of the commit that has the id of another list's row.
func (c *Commits) FindAs(o *Commits, row int) (int, bool) { return c.find(o.key(row)) }

// CompareID orders the ids in rows of two lists.
func (c *Commits) CompareID(i int, o *Commits, j int) int {
	c, i = c.in(i)
	o, j = o.in(j)
	if len(c.odd) == 0 && len(o.odd) == 0 {
		return c.ids[i].compare(o.ids[j])
	}
	return strings.Compare(c.ID(i), o.ID(j))
}

// SameAt says that rows of two lists hold the same commit.
func (c *Commits) SameAt(i int, o *Commits, j int) bool {
	if c.key(i) != o.key(j) || c.Version(i) != o.Version(j) || c.CreatedAt(i) != o.CreatedAt(j) || *c.byline(i) != *o.byline(j) {
		return false
	}
	for _, s := range []Side{First, Merged} {
		a, b := c.ParentRow(i, s), o.ParentRow(j, s)
		if a >= 0 && b >= 0 {
			if c.key(a) != o.key(b) {
				return false
			}
		} else if c.ParentID(i, s) != o.ParentID(j, s) {
			return false
		}
	}
	return true
}

// commitKey is an id: a ULID, or the text of what is none.
type commitKey struct {
	ulid ulid
	text string
	odd  bool
}

func keyOf(id string) commitKey {
	u, ok := parseULID(id)
	if !ok {
		return commitKey{text: id, odd: true}
	}
	return commitKey{ulid: u}
}

var commitSeed = maphash.MakeSeed()

// slot is the place of a table of size slots where the search for k begins.
func (k *commitKey) slot(size int) int {
	var h uint64
	if k.odd {
		h = maphash.String(commitSeed, k.text)
	} else {
		h = maphash.Bytes(commitSeed, k.ulid[:])
	}
	hi, _ := bits.Mul64(h, uint64(size))
	return int(hi)
}

func (c *Commits) key(i int) commitKey {
	c, i = c.in(i)
	if len(c.odd) > 0 {
		if id, ok := c.odd[int32(i)]; ok {
			return commitKey{text: id, odd: true}
		}
	}
	return commitKey{ulid: c.ids[i]}
}

func (c *Commits) find(k commitKey) (int, bool) {
	if len(c.slots) > 0 {
		if s := c.search(k); c.slots[s] != 0 {
			return int(c.slots[s]) - 1, true
		}
	}
	if c.base != nil {
		row, ok := c.base.find(k)
		return len(c.ids) + row, ok
	}
	return 0, false
}

// search is the slot that holds the key, or the free one where it belongs.
func (c *Commits) search(k commitKey) int {
	s := k.slot(len(c.slots))
	for c.slots[s] != 0 && c.key(int(c.slots[s])-1) != k {
		if s++; s == len(c.slots) {
			s = 0
		}
	}
	return s
}

// index makes the table of ids, three quarters full. twin is told of every row
// whose id an earlier row has.
func (c *Commits) index(twin func(earlier, row int)) {
	c.slots = make([]int32, len(c.ids)+len(c.ids)/3+1)
	for i := range c.ids {
		s := c.search(c.key(i))
		if c.slots[s] != 0 {
			twin(int(c.slots[s])-1, i)
		}
		c.slots[s] = int32(i) + 1
	}
}

// spot says where a row lies and when it was written.
type spot struct {
	fragment, updated uint64
	offset            uint32
}

// compare says which of two rows of one object id was written first.
func (p spot) compare(o spot) int {
	return cmp.Or(cmp.Compare(p.updated, o.updated), cmp.Compare(p.fragment, o.fragment), cmp.Compare(p.offset, o.offset))
}

// address is the row's address, as lance.ColRowAddress has it.
func (p spot) address() uint64 { return p.fragment<<32 | uint64(p.offset) }

// spots is a column of them.
type spots struct {
	fragment, updated packed.Numbers
	offset            []uint32
}

func (p *spots) add(at spot) {
	p.fragment.Add(at.fragment)
	p.updated.Add(at.updated)
	p.offset = append(p.offset, at.offset)
}

func (p *spots) at(i int) spot { return spot{p.fragment.At(i), p.updated.At(i), p.offset[i]} }

// commitRows are graph_commit rows as they are read, deleted ones among them.
type commitRows struct {
	Commits // in the order read; parents stand below, slots are made by index
	spots
	parent ulids
	merged map[int32]ulid
	names  table[byline]
}

// ulids are parents; the zero one is none.
type ulids []ulid

func (c *commitRows) add(k *Commit, at spot) {
	row := int32(len(c.ids))
	id := keyOf(k.ID)
	if id.odd {
		if c.odd == nil {
			c.odd = map[int32]string{}
		}
		c.odd[row] = strings.Clone(k.ID)
	}
	c.ids = append(c.ids, id.ulid)
	c.versions.Add(k.ManifestVersion)
	c.created = append(c.created, k.CreatedAt)
	c.by = append(c.by, c.numbered(k))
	c.spots.add(at)
	c.parent = append(c.parent, c.parentOf(k.Parent, side{row, First}))
	if u := c.parentOf(k.MergedParent, side{row, Merged}); u != (ulid{}) {
		if c.merged == nil {
			c.merged = map[int32]ulid{}
		}
		c.merged[row] = u
	}
}

// numbered numbers who made a commit. Its texts are copied when they are new.
func (c *commitRows) numbered(k *Commit) uint32 {
	b := bylineOf(k)
	if n, ok := c.names.known[b]; ok {
		return n
	}
	b.branch, b.actor = strings.Clone(b.branch), strings.Clone(b.actor)
	return c.names.number(b)
}

func bylineOf(k *Commit) byline {
	b := byline{branch: k.Branch}
	if k.Actor != nil {
		b.actor, b.acted = *k.Actor, true
	}
	return b
}

// parentOf is a parent as a ULID; what is none, or zero, is kept as text.
func (c *commitRows) parentOf(id string, at side) ulid {
	if id == "" {
		return ulid{}
	}
	u, ok := parseULID(id)
	if !ok || u == (ulid{}) {
		if c.away == nil {
			c.away = map[side]string{}
		}
		c.away[at] = strings.Clone(id)
		return ulid{}
	}
	return u
}

// newest orders rows: the newest first.
func (c *commitRows) newest(a, b int32) int {
	i, j := int(a), int(b)
	if o := cmp.Or(cmp.Compare(c.Version(j), c.Version(i)), cmp.Compare(c.created[j], c.created[i])); o != 0 {
		return o
	}
	return c.CompareID(j, &c.Commits, i)
}

// pack makes the list of the rows that are not left out (nil: of all). The
// columns of c are let go on the way.
func (c *commitRows) pack(leave func(row int) bool) *Commits {
	rows := make([]int32, 0, len(c.ids))
	for i := range c.ids {
		if leave == nil || !leave(i) {
			rows = append(rows, int32(i))
		}
	}
	if !slices.IsSortedFunc(rows, c.newest) {
		slices.SortFunc(rows, c.newest)
	}
	c.spots, c.slots = spots{}, nil
	out := &Commits{}
	for i, r := range rows {
		if id, ok := c.odd[r]; ok {
			if out.odd == nil {
				out.odd = map[int32]string{}
			}
			out.odd[int32(i)] = id
		}
	}
	out.ids, c.ids = packed.Pick(c.ids, rows), nil
	out.versions, c.versions = c.versions.Pick(rows), packed.Numbers{}
	out.created, c.created = packed.Pick(c.created, rows), nil
	out.by, c.by = packed.Pick(c.by, rows), nil
	out.bylines = repick(c.names.values, out.by)
	out.index(func(int, int) { out.twice = true })
	out.link(c, rows)
	return out
}

// link finds the rows of the parents.
func (c *Commits) link(from *commitRows, rows []int32) {
	for s := range c.parents {
		c.parents[s] = make([]int32, len(rows))
	}
	for i, r := range rows {
		for _, s := range []Side{First, Merged} {
			u := from.merged[r]
			if s == First {
				u = from.parent[r]
			}
			c.parents[s][i] = c.linked(u, from.away[side{r, s}], side{int32(i), s})
		}
	}
}

// linked is what stands for a parent that is a ULID or a text or none.
func (c *Commits) linked(u ulid, text string, at side) int32 {
	k := commitKey{ulid: u}
	switch {
	case text != "":
		k = keyOf(text)
	case u == (ulid{}):
		return none
	default:
		text = ""
	}
	if row, ok := c.find(k); ok {
		return int32(row)
	}
	if text == "" {
		text = u.String()
	}
	c.setAway(at, text)
	return away
}

// awaits says that a commit of that id, which has no row, is a parent of one here.
func (c *Commits) awaits(id string) bool {
	for _, text := range c.away {
		if text == id {
			return true
		}
	}
	return c.base != nil && c.base.awaits(id)
}

func (c *Commits) setAway(at side, text string) {
	if c.away == nil {
		c.away = map[side]string{}
	}
	c.away[at] = text
}
