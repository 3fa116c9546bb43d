package manifest

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// gathered is every row of one version of `__manifest`, deleted ones included:
// sound commits and version rows packed, the few others whole. Rows are taken
// one by one; then group tells which of them share an object id, mark and
// supersede say which are deleted, and decide which have lost their place to a
// newer one.
type gathered struct {
	others   []Row
	commits  commitRows
	versions versionRows
	whole    bool // nothing is packed

	gone    [lists]bitset // deleted
	twin    [lists]bitset // others share the object id
	dropped [lists]bitset // live, but a newer live row has the object id
	order   []int32       // of versions
	groups  map[string][]rowRef
}

// rowRef is a row of one of the lists.
type rowRef struct {
	list listOf
	row  int32
}

// listOf names a list.
type listOf uint8

const (
	inOthers listOf = iota
	inCommits
	inVersions
	lists
)

// gather takes rows that stay as they are. whole: nothing is packed.
func gather(rows []Row, whole bool) *gathered {
	g := &gathered{whole: whole}
	for i := range rows {
		g.take(&rows[i], func(s string) string { return s })
	}
	return g
}

// take adds a row. Where its texts are needed later, keep makes them last.
func (g *gathered) take(r *Row, keep func(string) string) {
	var c Commit
	at := rowRef{inOthers, int32(len(g.others))}
	switch {
	case g.whole:
		g.other(r, keep)
	case r.Kind == KindVersion && checkVersion(r) == nil:
		at = rowRef{inVersions, int32(g.versions.Len())}
		id, _ := r.identity()
		g.versions.add(r, id)
	case r.Kind == KindCommit && checkCommit(r, &c) == nil && isULID(r.ObjectID):
		at = rowRef{inCommits, int32(g.commits.Len())}
		g.commits.add(&c, r.spot())
	default:
		g.other(r, keep)
	}
	if r.Deleted {
		g.gone[at.list].set(int(at.row))
	}
}

// other keeps a row whole.
func (g *gathered) other(r *Row, keep func(string) string) {
	g.others = append(g.others, r.kept(keep))
}

// kept is the row with texts that last, as keep makes them. Of a kind that nobody
// knows the long texts are never asked for.
func (r *Row) kept(keep func(string) string) Row {
	o := *r
	switch r.Kind {
	case KindTable, KindVersion, KindTombstone, KindCommit, KindHead:
	default:
		o.Metadata.V, o.Location.V = "", ""
	}
	for _, s := range []*string{&o.ObjectID, &o.Kind, &o.Location.V, &o.Metadata.V, &o.Alias, &o.Branch.V} {
		*s = keep(*s)
	}
	return o
}

// len is the number of rows in a list.
func (g *gathered) len(l listOf) int {
	return [lists]int{len(g.others), g.commits.Len(), g.versions.Len()}[l]
}

func (g *gathered) all() int { return g.len(inOthers) + g.len(inCommits) + g.len(inVersions) }

func (g *gathered) spot(at rowRef) spot {
	switch at.list {
	case inCommits:
		return g.commits.spots.at(int(at.row))
	case inVersions:
		return g.versions.spots.at(int(at.row))
	}
	return g.others[at.row].spot()
}

// row is a row with what messages about it need.
func (g *gathered) row(at rowRef) *Row {
	r := &Row{}
	i := int(at.row)
	switch at.list {
	case inOthers:
		return &g.others[i]
	case inCommits:
		r.Kind, r.ObjectID, r.Version = KindCommit, g.commits.ID(i), Number{g.commits.Version(i), true}
	case inVersions:
		n := &g.versions.names[g.versions.of[i]]
		r.Kind, r.Alias, r.Version = KindVersion, n.alias, Number{g.versions.versions.At(i), true}
		r.Table, r.Incarnation = Number{n.Table, true}, Number{n.Incarnation, true}
		r.ObjectID = r.canonicalID(n.Identity)
	}
	s := g.spot(at)
	r.Fragment, r.Offset, r.Updated = s.fragment, s.offset, s.updated
	return r
}

// group finds the rows that share an object id.
func (g *gathered) group() {
	g.groups = map[string][]rowRef{}
	for i := range g.others {
		id := g.others[i].ObjectID
		g.groups[id] = append(g.groups[id], rowRef{inOthers, int32(i)})
	}
	g.order = g.versions.order()
	g.commits.index(func(earlier, row int) { g.pair(inCommits, int32(earlier), int32(row)) })
	for k := 1; k < len(g.order); k++ {
		if a, b := g.order[k-1], g.order[k]; g.versions.sameID(int(a), int(b)) {
			g.pair(inVersions, a, b)
		}
	}
	for id, refs := range g.groups {
		if refs[0].list == inOthers {
			if at, ok := g.packed(id); ok && !slices.Contains(refs, at) {
				refs = append(refs, at)
			}
		}
		if len(refs) == 1 {
			delete(g.groups, id)
			continue
		}
		slices.SortFunc(refs, func(a, b rowRef) int { return g.spot(a).compare(g.spot(b)) })
		for _, at := range refs {
			g.twin[at.list].set(int(at.row))
		}
		g.groups[id] = refs
	}
}

// pair notes two rows of one list with one object id, the earlier of which may
// have been noted as the later of another pair.
func (g *gathered) pair(l listOf, a, b int32) {
	id := g.row(rowRef{l, a}).ObjectID
	refs := g.groups[id]
	if first := (rowRef{l, a}); len(refs) == 0 || refs[len(refs)-1] != first {
		refs = append(refs, first)
	}
	g.groups[id] = append(refs, rowRef{l, b})
}

// packed is a packed row of that object id: of several the last.
func (g *gathered) packed(id string) (rowRef, bool) {
	switch p := parseObjectID(id); p.kind {
	case KindCommit:
		row, ok := g.commits.Find(id)
		return rowRef{inCommits, int32(row)}, ok
	case KindVersion:
		v := &g.versions
		after := sort.Search(len(g.order), func(k int) bool {
			i := int(g.order[k])
			return cmp.Or(v.identity(i).compare(p.id), cmp.Compare(v.versions.At(i), p.version)) > 0
		})
		if after == 0 {
			return rowRef{}, false
		}
		i := int(g.order[after-1])
		return rowRef{inVersions, int32(i)}, v.identity(i) == p.id && v.versions.At(i) == p.version
	}
	return rowRef{}, false
}

// decide drops live rows whose place a newer live row has taken.
func (g *gathered) decide() {
	for _, refs := range g.groups {
		later := false
		for _, at := range slices.Backward(refs) {
			if !g.deleted(at) {
				if later {
					g.dropped[at.list].set(int(at.row))
				}
				later = true
			}
		}
	}
}

func (g *gathered) deleted(at rowRef) bool { return g.gone[at.list].has(int(at.row)) }

func (g *gathered) mark(at rowRef, gone bool) {
	if gone {
		g.gone[at.list].set(int(at.row))
	} else {
		g.gone[at.list].clear(int(at.row))
	}
}

// event is a row that is not simply taken or left.
type event struct {
	id string
	at rowRef
	spot
}

// events are the live rows that are looked at one by one: those that are whole
// and those that share an object id. They come in the order of object ids, those
// of one by when they were written.
func (g *gathered) events() []event {
	var out []event
	for i := range g.others {
		if at := (rowRef{inOthers, int32(i)}); !g.deleted(at) {
			out = append(out, event{g.others[i].ObjectID, at, g.spot(at)})
		}
	}
	for id, refs := range g.groups {
		for _, at := range refs {
			if at.list != inOthers && !g.deleted(at) {
				out = append(out, event{id, at, g.spot(at)})
			}
		}
	}
	slices.SortFunc(out, func(a, b event) int {
		if c := strings.Compare(a.id, b.id); c != 0 {
			return c
		}
		return a.spot.compare(b.spot)
	})
	return out
}

// best are the published version rows: of each table the live one of the
// greatest version.
func (g *gathered) best() map[Identity]int32 {
	out := map[Identity]int32{}
	for _, row := range g.order {
		if !g.gone[inVersions].has(int(row)) && !g.dropped[inVersions].has(int(row)) {
			out[g.versions.identity(int(row))] = row
		}
	}
	return out
}

// unkept are the published version rows whose metadata is not at hand, because
// a greater version of their table is gone without another row in its place.
func (g *gathered) unkept() (rows []int32) {
	for _, row := range g.best() {
		if _, ok := g.versions.meta(int(row)); !ok {
			rows = append(rows, row)
		}
	}
	return rows
}
