package manifest

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/omnideck/omnideck/internal/packed"
)

// VersionRow is one table_version row: a version that some publish named. It
// outlives the version itself.
type VersionRow struct {
	Identity
	Alias      string // as spelled when the row was written
	Version    uint64
	Owner      string // "" = main
	Rows       uint64
	Created    uint64 // manifest version that first wrote the row; 0 = not known
	Updated    uint64 // manifest version that last wrote the row; 0 = not known
	Superseded bool   // a newer row of the same object_id took its place (owner hand-off)
}

// Versions are the table_version rows of a state, by identity, version and
// Updated, packed: about twenty bytes each. They are immutable. The zero value
// is none.
type Versions struct {
	of       []uint32 // in names
	names    []versionName
	versions packed.Numbers
	rows     packed.Numbers
	created  packed.Numbers
	updated  packed.Numbers
	past     bitset // Superseded

	base *Versions // where most rows are, in one piece; nil: all are here
	at   []int32   // of each row here: so many rows of base stand before it
	gone []int32   // rows of base whose place one here took, ascending
}

// versionName is what version rows have in common.
type versionName struct {
	Identity
	alias, owner string
}

// Len is the number of rows.
func (v *Versions) Len() int {
	if v.base != nil {
		return len(v.of) + len(v.base.of)
	}
	return len(v.of)
}

// in says in which list, and where, a row lies.
func (v *Versions) in(i int) (*Versions, int) {
	if v.base == nil {
		return v, i
	}
	k := sort.Search(len(v.at), func(k int) bool { return int(v.at[k])+k >= i })
	if k < len(v.at) && int(v.at[k])+k == i {
		return v, k
	}
	return v.base, i - k
}

// At is a row.
func (v *Versions) At(i int) VersionRow {
	l, row := v.in(i)
	r := l.raw(row)
	if l == v.base && len(v.gone) > 0 {
		_, gone := slices.BinarySearch(v.gone, int32(row))
		r.Superseded = r.Superseded || gone
	}
	return r
}

func (v *Versions) told(i int, updated uint64) VersionRow {
	n := &v.names[v.of[i]]
	return VersionRow{
		Identity: n.Identity, Alias: n.alias, Owner: n.owner, Version: v.versions.At(i), Rows: v.rows.At(i),
		Created: v.created.At(i), Updated: updated, Superseded: v.past.has(i),
	}
}

func (v *Versions) identity(i int) Identity {
	l, row := v.in(i)
	return l.names[l.of[row]].Identity
}

// Of are the rows of one table.
func (v *Versions) Of(id Identity) iter.Seq[VersionRow] {
	return func(yield func(VersionRow) bool) {
		from := sort.Search(v.Len(), func(i int) bool { return v.identity(i).compare(id) >= 0 })
		for i := from; i < v.Len() && v.identity(i) == id; i++ {
			if !yield(v.At(i)) {
				return
			}
		}
	}
}

// versionRows are table_version rows as they are read, deleted ones among them.
type versionRows struct {
	Versions // in the order read; names stand below
	spots
	known table[versionName]
	tops  map[Identity]*topVersion
}

// topVersion is the greatest version of a table, with the metadata of its rows.
type topVersion struct {
	version uint64
	rows    []metaRow
}

type metaRow struct {
	row  int32
	text []byte
}

func (v *versionRows) add(r *Row, id Identity) {
	row := int32(len(v.of))
	v.of = append(v.of, v.name(versionName{id, r.Alias, r.Branch.V}))
	v.versions.Add(r.Version.V)
	v.rows.Add(r.Rows.V)
	v.created.Add(r.Created)
	v.spots.add(r.spot())
	if v.tops == nil {
		v.tops = map[Identity]*topVersion{}
	}
	top := v.tops[id]
	if top == nil {
		top = &topVersion{version: r.Version.V}
		v.tops[id] = top
	}
	if r.Version.V > top.version {
		top.version, top.rows = r.Version.V, top.rows[:0]
	}
	if r.Version.V == top.version {
		top.note(row, r.Metadata.V)
	}
}

// note keeps the metadata of a row, in the memory of those that were forgotten.
func (t *topVersion) note(row int32, text string) {
	if n := len(t.rows); n < cap(t.rows) {
		t.rows = t.rows[:n+1]
	} else {
		t.rows = append(t.rows, metaRow{})
	}
	m := &t.rows[len(t.rows)-1]
	m.row, m.text = row, append(m.text[:0], text...)
}

// name numbers what rows have in common. Its texts are copied when they are new.
func (v *versionRows) name(n versionName) uint32 {
	if k, ok := v.known.known[n]; ok {
		return k
	}
	n.alias, n.owner = strings.Clone(n.alias), strings.Clone(n.owner)
	k := v.known.number(n)
	v.names = v.known.values
	return k
}

// meta is the metadata of a row, when it was kept.
func (v *versionRows) meta(row int) (text string, ok bool) {
	top := v.tops[v.identity(row)]
	if top == nil {
		return "", false
	}
	i := slices.IndexFunc(top.rows, func(m metaRow) bool { return m.row == int32(row) })
	if i < 0 {
		return "", false
	}
	return string(top.rows[i].text), true
}

// keep keeps the metadata of a row that is published although its table has a
// greater version.
func (v *versionRows) keep(row int32, text string) {
	v.tops[v.identity(int(row))].note(row, text)
}

// sameID says that two rows have one object id.
func (v *versionRows) sameID(i, j int) bool {
	return v.versions.At(i) == v.versions.At(j) && v.identity(i) == v.identity(j)
}

// order is the rows by identity and version, those of one object id by when they
// were written.
func (v *versionRows) order() []int32 {
	rows := make([]int32, len(v.of))
	for i := range rows {
		rows[i] = int32(i)
	}
	ranks := v.ranks()
	by := func(a, b int32) int {
		i, j := int(a), int(b)
		if c := cmp.Or(cmp.Compare(ranks[v.of[i]], ranks[v.of[j]]), cmp.Compare(v.versions.At(i), v.versions.At(j))); c != 0 {
			return c
		}
		return v.spots.at(i).compare(v.spots.at(j))
	}
	slices.SortFunc(rows, by)
	return rows
}

// ranks are the places of the names' identities in their order.
func (v *versionRows) ranks() []int {
	ids := make([]Identity, len(v.names))
	for i := range v.names {
		ids[i] = v.names[i].Identity
	}
	slices.SortFunc(ids, Identity.compare)
	ids = slices.Compact(ids)
	ranks := make([]int, len(v.names))
	for i := range v.names {
		ranks[i], _ = slices.BinarySearchFunc(ids, v.names[i].Identity, Identity.compare)
	}
	return ranks
}

// pack makes the list of rows, in that order. The columns of v are let go on
// the way.
func (v *versionRows) pack(rows []int32, past bitset) Versions {
	var out Versions
	for i, r := range rows {
		if past.has(int(r)) {
			out.past.set(i)
		}
	}
	out.of, v.of = packed.Pick(v.of, rows), nil
	out.names = repick(v.names, out.of)
	out.versions, v.versions = v.versions.Pick(rows), packed.Numbers{}
	out.rows, v.rows = v.rows.Pick(rows), packed.Numbers{}
	out.created, v.created = v.created.Pick(rows), packed.Numbers{}
	out.updated = v.spots.updated.Pick(rows)
	v.spots = spots{}
	return out
}

// bitset is a set of rows.
type bitset []uint64

func (b bitset) has(i int) bool { return i>>6 < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

func (b *bitset) set(i int) {
	for i>>6 >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[i>>6] |= 1 << (i & 63)
}

func (b bitset) clear(i int) {
	if b.has(i) {
		b[i>>6] &^= 1 << (i & 63)
	}
}
