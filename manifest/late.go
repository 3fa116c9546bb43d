package manifest

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"github.com/omnideck/omnideck/internal/packed"
)

// lateMax is how many rows a packed list carries beside the rows of the list
// that it grew from. Then one list is made of both. A publish so costs in
// proportion to lateMax, and every lateMax-th in proportion to all rows.
const lateMax = 512

// with is the list with a newer commit before all others. It shares the rows of
// c, which stays as it is. The id is a ULID that no row has.
func (c *Commits) with(k Commit) *Commits {
	base, own := c, &Commits{}
	if c.base != nil {
		base, own = c.base, c
	}
	if len(own.ids) >= lateMax {
		base, own = c.flat(), &Commits{}
	}
	out := &Commits{base: base, twice: c.twice}
	id, _ := parseULID(k.ID)
	out.ids = append([]ulid{id}, own.ids...)
	out.versions.Add(k.ManifestVersion)
	out.created = append([]int64{k.CreatedAt}, own.created...)
	out.bylines = slices.Clone(own.bylines)
	out.by = append([]uint32{out.maker(bylineOf(&k))}, own.by...)
	for i := range own.ids {
		out.versions.Add(own.versions.At(i))
	}
	for s, parent := range [2]string{k.Parent, k.MergedParent} {
		first := int32(none)
		if row, ok := c.Find(parent); ok && parent != "" {
			first = int32(row) + 1
		} else if parent != "" {
			out.setAway(side{0, Side(s)}, parent)
			first = away
		}
		out.parents[s] = append(make([]int32, 0, len(out.ids)), first)
		for _, p := range own.parents[s] {
			if p >= 0 {
				p++
			}
			out.parents[s] = append(out.parents[s], p)
		}
	}
	for at, text := range own.away {
		out.setAway(side{at.row + 1, at.of}, text)
	}
	out.index(func(int, int) { out.twice = true })
	return out
}

// maker numbers who made a commit.
func (c *Commits) maker(b byline) uint32 {
	i := slices.Index(c.bylines, b)
	if i < 0 {
		i = len(c.bylines)
		c.bylines = append(c.bylines, b)
	}
	return uint32(i)
}

// flat is the same list in one piece.
func (c *Commits) flat() *Commits {
	if c.base == nil {
		return c
	}
	n, b := int32(len(c.ids)), c.base
	out := &Commits{
		ids: slices.Concat(c.ids, b.ids), created: slices.Concat(c.created, b.created),
		by: slices.Concat(c.by, b.by), bylines: slices.Clone(b.bylines), away: maps.Clone(c.away),
	}
	for i, k := range c.by {
		out.by[i] = out.maker(c.bylines[k])
	}
	for _, l := range []*Commits{c, b} {
		for i := range l.ids {
			out.versions.Add(l.versions.At(i))
		}
	}
	for s := range out.parents {
		out.parents[s] = slices.Concat(c.parents[s], b.parents[s])
		for i := int(n); i < len(out.parents[s]); i++ {
			if out.parents[s][i] >= 0 {
				out.parents[s][i] += n
			}
		}
	}
	for at, text := range b.away {
		out.setAway(side{at.row + n, at.of}, text)
	}
	if len(b.odd) > 0 {
		out.odd = make(map[int32]string, len(b.odd))
		for row, id := range b.odd {
			out.odd[row+n] = id
		}
	}
	out.index(func(int, int) { out.twice = true })
	return out
}

// compareRow orders a row of a list in one piece and a row that may be in it.
func (v *Versions) compareRow(i int, o *VersionRow) int {
	r := VersionRow{Identity: v.names[v.of[i]].Identity, Version: v.versions.At(i), Updated: v.updated.At(i)}
	return r.compare(o)
}

// compare orders rows as Versions does.
func (r *VersionRow) compare(o *VersionRow) int {
	return cmp.Or(r.Identity.compare(o.Identity), cmp.Compare(r.Version, o.Version), cmp.Compare(r.Updated, o.Updated))
}

func (r *VersionRow) sameID(o *VersionRow) bool {
	return r.Identity == o.Identity && r.Version == o.Version
}

// with is the list with rows put in where they belong, each of which has its
// object id alone or is newer than the one that has it, whose place it takes.
// It shares the rows of v, which stays as it is.
func (v *Versions) with(rows []VersionRow) Versions {
	if len(rows) == 0 {
		return *v
	}
	whole := *v // v may be what the result is assigned to
	base, own := &whole, &Versions{}
	if v.base != nil {
		base, own = v.base, v
	}
	if len(own.of) >= lateMax {
		flat := v.flat()
		base, own = &flat, &Versions{}
	}
	late := make([]VersionRow, 0, len(own.of)+len(rows))
	for i := range own.of {
		late = append(late, own.raw(i))
	}
	late = append(late, rows...)
	slices.SortFunc(late, func(a, b VersionRow) int { return a.compare(&b) })
	out, names := Versions{base: base, gone: slices.Clone(own.gone)}, table[versionName]{}
	for i := range late {
		r := &late[i]
		r.Superseded = r.Superseded || i+1 < len(late) && r.sameID(&late[i+1])
		at := sort.Search(len(base.of), func(k int) bool { return base.compareRow(k, r) > 0 })
		if at > 0 {
			if before := base.raw(at - 1); before.sameID(r) && !before.Superseded && !slices.Contains(out.gone, int32(at-1)) {
				out.gone = append(out.gone, int32(at-1))
			}
		}
		out.at = append(out.at, int32(at))
		out.push(r, names.number(versionName{r.Identity, r.Alias, r.Owner}))
	}
	out.names = names.values
	slices.Sort(out.gone)
	return out
}

// raw is a row of a list in one piece, or of what a list has itself.
func (v *Versions) raw(i int) VersionRow { return v.told(i, v.updated.At(i)) }

// push appends a row.
func (v *Versions) push(r *VersionRow, name uint32) {
	if r.Superseded {
		v.past.set(len(v.of))
	}
	v.of = append(v.of, name)
	v.versions.Add(r.Version)
	v.rows.Add(r.Rows)
	v.created.Add(r.Created)
	v.updated.Add(r.Updated)
}

// flat is the same list in one piece.
func (v *Versions) flat() Versions {
	if v.base == nil {
		return *v
	}
	b, names := v.base, table[versionName]{}
	for _, n := range b.names {
		names.number(n)
	}
	out := Versions{of: make([]uint32, 0, v.Len())}
	next, gone := 0, v.gone
	for i := range len(b.of) + 1 {
		for ; next < len(v.at) && int(v.at[next]) == i; next++ {
			r := v.raw(next)
			out.push(&r, names.number(v.names[v.of[next]]))
		}
		if i == len(b.of) {
			break
		}
		left := len(gone) > 0 && int(gone[0]) == i
		if left {
			gone = gone[1:]
		}
		if left || b.past.has(i) {
			out.past.set(len(out.of))
		}
		out.of = append(out.of, b.of[i])
		for _, c := range [...]struct{ to, from *packed.Numbers }{{&out.versions, &b.versions}, {&out.rows, &b.rows}, {&out.created, &b.created}, {&out.updated, &b.updated}} {
			c.to.Add(c.from.At(i))
		}
	}
	out.names = names.values
	return out
}
