package manifest

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/rowid"
)

// since is the version folded from an older view of its branch and the rows of
// the fragments that the view has not: one GET for each of those. The publishes in
// between are taken one by one, as this program takes its own. nil: something is
// there that these rows do not tell (a compaction, a deletion of another kind, a
// row that breaks a rule, a branch made again), or more came than was there, and
// everything is to be read. A fragment that the view has is not looked for: that its
// file is damaged since only a full reading tells.
func (h *Head) since(ctx context.Context, old *View) *View {
	c := catchUp{now: h, old: old, fresh: map[uint64]bool{}, gone: map[uint64]uint64{}}
	if !c.related() || !c.grown() {
		return nil
	}
	rows, ok := c.read(ctx)
	if !ok {
		return nil
	}
	state := old.State
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Updated == rows[0].Updated {
			n++
		}
		p := newPlan(&View{Head: old.Head, State: state})
		p.version = rows[0].Updated
		if !c.publish(p, rows[:n]) {
			return nil
		}
		state, rows = p.after, rows[n:]
	}
	for _, left := range c.gone {
		if left != 0 {
			return nil
		}
	}
	return &View{Head: *h, State: state, filed: old.filed}
}

// catchUp is a reading of what came after a view.
type catchUp struct {
	now   *Head
	old   *View
	fresh map[uint64]bool   // fragments that the view has not
	gone  map[uint64]uint64 // rows deleted since in fragments that it has, of which no newer row was seen yet
}

// related says that the view is an older state of the same branch, or this one, and sound, and
// that what it was read from is read in the same way now.
func (c *catchUp) related() bool {
	h, old := c.now, c.old
	same := h.Branch == old.Branch && (h.Ref == nil) == (old.Ref == nil) && h.RefErr == nil
	if same && h.Ref != nil {
		same = slices.Equal(h.Ref.Identifier, old.Ref.Identifier)
	}
	for _, base := range old.Snapshot.Manifest().BasePaths {
		same = same && slices.Contains(h.Snapshot.Manifest().BasePaths, base)
	}
	return same && h.Version >= old.Version && h.Stamp == old.Stamp && laidOut(h.Snapshot.Schema()) && !h.opened.ReadDeletions &&
		len(old.Problems) == 0 && old.Publishable() == nil
}

// grown says that every fragment of the view is still there, and notes what is
// new. What else was deleted in a fragment can be told from newer rows only where
// these told all before.
func (c *catchUp) grown() bool {
	there := map[uint64]*format.Fragment{}
	for i, f := range c.now.Snapshot.Fragments() {
		there[f.ID], c.fresh[f.ID] = &c.now.Snapshot.Fragments()[i], true
	}
	if len(there) != len(c.now.Snapshot.Fragments()) {
		return false
	}
	for _, f := range c.old.Snapshot.Fragments() {
		n := there[f.ID]
		if n == nil || !sameRows(&f, n) || !writtenBy(&f, c.old.Version) || !sameDeletion(f.Deletion, n.Deletion) && slices.Contains(c.old.filed, f.ID) {
			return false
		}
		before, after := deletedIn(&f), deletedIn(n)
		if after < before || (n.Deletion != nil && after == 0) {
			return false
		}
		if after > before {
			c.gone[f.ID] = after - before
		}
		delete(c.fresh, f.ID)
	}
	return len(c.fresh) <= len(c.old.Snapshot.Fragments()) // a fragment takes more work here than in a full reading
}

func deletedIn(f *format.Fragment) uint64 {
	if f.Deletion == nil {
		return 0
	}
	return f.Deletion.Rows
}

func sameDeletion(a, b *format.DeletionFile) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// writtenBy says that a version has all rows of the fragment as they are: any that
// comes later is newer.
func writtenBy(f *format.Fragment, version uint64) bool {
	versions, err := rowid.DecodeVersions(f.LastUpdated.Inline)
	if err != nil {
		return false
	}
	_, last := versions.Bounds()
	return last <= version
}

// sameRows says that two fragments have the same rows, deleted ones included.
func sameRows(a, b *format.Fragment) bool {
	sequence := func(a, b format.Sequence) bool {
		return a.Present == b.Present && a.External == nil && b.External == nil && bytes.Equal(a.Inline, b.Inline)
	}
	return a.PhysicalRows == b.PhysicalRows && sequence(a.RowIDs, b.RowIDs) && sequence(a.LastUpdated, b.LastUpdated) && sequence(a.CreatedAt, b.CreatedAt) &&
		slices.EqualFunc(a.Files, b.Files, func(a, b format.DataFile) bool {
			return a.Path == b.Path && a.Base == b.Base && slices.Equal(a.Fields, b.Fields) && slices.Equal(a.ColumnIndices, b.ColumnIndices)
		})
}

// read takes the rows of the new fragments in the order in which they were
// written.
func (c *catchUp) read(ctx context.Context) ([]Row, bool) {
	if len(c.fresh) == 0 {
		return nil, true
	}
	names, err := wanted(c.now.Snapshot.Schema())
	if err != nil {
		return nil, false
	}
	var rows []Row
	err = c.now.scan(ctx, lance.ScanOptions{Columns: names, Fragments: slices.Sorted(maps.Keys(c.fresh)), WithVersions: true}, func(r *Row) {
		rows = append(rows, r.kept(strings.Clone))
	})
	if err != nil {
		return nil, false
	}
	slices.SortFunc(rows, func(a, b Row) int { return a.spot().compare(b.spot()) })
	return rows, c.deletions(rows)
}

// deletions says that the rows that are deleted in the new fragments are those
// whose place a newer one took, and that every other row is the only one of its
// object id.
func (c *catchUp) deletions(rows []Row) bool {
	g := gather(rows, true)
	g.group()
	var counts []deletionCount
	for _, f := range c.now.Snapshot.Fragments() {
		if c.fresh[f.ID] && f.Deletion != nil {
			counts = append(counts, deletionCount{f.ID, f.Deletion.Rows})
		}
	}
	if len(g.supersede(counts)) > 0 {
		return false
	}
	g.decide()
	for i := range rows {
		if g.dropped[inOthers].has(i) {
			return false
		}
	}
	return true
}

// publish takes the rows of one version.
func (c *catchUp) publish(p *plan, rows []Row) bool {
	if p.version <= c.old.Version || p.version > c.now.Version {
		return false
	}
	head := ""
	for i := range rows {
		r := &rows[i]
		at, replaces, ok := p.told(r, &head)
		if !ok {
			return false
		}
		if fragment := at >> 32; replaces && !c.fresh[fragment] {
			if c.gone[fragment] == 0 {
				return false
			}
			c.gone[fragment]--
		}
	}
	if p.commit != nil && p.commit.ID != head || p.commit == nil && head != "" {
		return false
	}
	for id := range p.tops {
		_, added := p.regs[id]
		if _, known := p.base.registration(id); !known && !added {
			return false
		}
	}
	p.added = rows
	p.apply()
	p.place(rows)
	return p.check() == nil
}

// told takes a row that somebody published on the base, the head's commit into
// head. at is the address of the row that it replaces, if it does. ok: it breaks no
// rule, and is newer than what the base has.
func (p *plan) told(r *Row, head *string) (at uint64, replaces, ok bool) {
	id, _ := r.identity()
	switch r.Kind {
	case KindTable:
		at, replaces = p.base.at.tables[id]
		return at, replaces, p.toldTable(r, id)
	case KindVersion:
		at = p.base.at.versions[id]
		replaces, ok = p.toldVersion(r, id)
		return at, replaces, ok
	case KindTombstone:
		reg, known := p.base.registration(id)
		top, any := p.base.top(id)
		ok = checkTable(r) == nil && known && reg.Alias == r.Alias && any && r.Version.V >= top.Version && r.Version.V > p.base.ended(id) && p.tombs[id] == 0
		p.tombs[id] = r.Version.V
		return 0, false, ok
	case KindCommit:
		return 0, false, p.toldCommit(r)
	case KindHead:
		at, replaces = p.base.at.heads[orMain(p.base.Branch)]
		commit, err := parseHeadMeta(r.Metadata.V)
		ok = checkLineageRow(r) == nil && err == nil && commit != "" && *head == "" && r.ObjectID == headPrefix+orMain(p.base.Branch)
		*head = commit
		return at, replaces, ok
	}
	return 0, false, false
}

func (p *plan) toldVersion(r *Row, id Identity) (replaces, ok bool) {
	top, any := p.base.top(id)
	_, twice := p.tops[id]
	if twice || checkVersion(r) != nil || any && r.Version.V < top.Version || r.Version.V <= p.base.ended(id) || p.versionRow(r, id).Created != r.Created {
		return false, false
	}
	meta, err := parseTableMeta(r.Metadata.V)
	p.tops[id] = Update{Identity: id, Alias: r.Alias, Version: r.Version.V, Owner: r.Branch.V, Rows: r.Rows.V, Meta: meta}
	return any && top.Version == r.Version.V, err == nil
}

func (p *plan) toldTable(r *Row, id Identity) bool {
	want, ok := Location(r.Alias, id)
	old, known := p.base.registration(id)
	_, twice := p.regs[id]
	if twice || !ok || checkTable(r) != nil || !r.Location.Set || r.Location.V != want || known && old.Location != want {
		return false
	}
	p.regs[id] = Registration{id, r.Alias, want}
	return true
}

func (p *plan) toldCommit(r *Row) bool {
	c := &Commit{}
	if p.commit != nil || checkCommit(r, c) != nil || !isULID(r.ObjectID) || c.ManifestVersion != p.version || c.Branch != p.base.Branch {
		return false
	}
	_, taken := p.base.Commits.Find(c.ID)
	_, known := p.base.Commits.Find(c.Parent)
	p.commit = c
	return !taken && (known || c.Parent == "") && c.MergedParent != c.ID && !p.base.Commits.awaits(c.ID)
}
