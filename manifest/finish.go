package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// finish draws the conclusions from the rows taken.
func (f *folder) finish() {
	f.checkTombstones()
	f.entries()
	f.sortState()
	f.checkUnpublished()
	f.checkAliases()
	f.checkLineage()
	for _, d := range f.doubts {
		if d.lineage && f.state.LineageDoubt == "" {
			f.state.LineageDoubt = d.text
		}
	}
}

func (f *folder) checkTombstones() {
	for _, t := range f.state.Tombstones {
		reg, ok := f.regs[t.Identity]
		switch {
		case !ok:
			f.problems = append(f.problems, Problem{RuleTombstone, true, t.row, t.Identity.String(), "no table row of identity " + t.Identity.String(), "the row that registers it"})
		case reg.Alias != t.Alias:
			f.problems = append(f.problems, Problem{RuleTombstone, true, t.row, reg.Alias, fmt.Sprintf("table_key %q", t.Alias), fmt.Sprintf("%q, as the table row says", reg.Alias)})
		}
	}
}

// entries makes the live tables from registrations, versions and tombstones.
func (f *folder) entries() {
	for id, v := range f.best {
		if tomb, ok := f.tombs[id]; ok && tomb >= v.Version {
			continue
		}
		e := Entry{Identity: id, Version: v.Version, Owner: v.Owner, Rows: v.Rows, Meta: v.meta, Published: v.Updated}
		if reg, ok := f.regs[id]; ok {
			e.Alias, e.Location = reg.Alias, reg.Location
		} else if !f.unregistered(&v.VersionRow, &e) {
			continue
		}
		for _, d := range f.doubts {
			if d.touches(&e) {
				e.Doubt = d.text
				break
			}
		}
		f.state.Tables = append(f.state.Tables, e)
	}
}

// unregistered makes an entry of a table whose registration is missing from
// what the version row says; false when that is not enough.
func (f *folder) unregistered(v *VersionRow, e *Entry) bool {
	row := RowRef{ObjectID: (&Row{Kind: KindVersion, Version: Number{v.Version, true}}).canonicalID(v.Identity), Kind: KindVersion}
	f.problems = append(f.problems, Problem{RuleRegistration, true, row, v.Identity.String(), "no table row of identity " + v.Identity.String(), "the row that registers it"})
	loc, ok := Location(v.Alias, v.Identity)
	e.Alias, e.Location = v.Alias, loc
	e.Doubt = fmt.Sprintf("its table row is missing: name and folder are those of the version row, which a rename would have left behind (%q)", v.Alias)
	return ok
}

// checkUnpublished reports registrations without any version.
func (f *folder) checkUnpublished() {
	for id, reg := range f.regs {
		if _, ok := f.best[id]; !ok {
			row := RowRef{ObjectID: (&Row{Kind: KindTable}).canonicalID(id), Kind: KindTable}
			f.problems = append(f.problems, Problem{RuleVersion, false, row, reg.Alias, "no table_version row", "at least one published version"})
		}
	}
}

func (f *folder) checkAliases() {
	byAlias := map[string]int{}
	for i := range f.state.Tables {
		e := &f.state.Tables[i]
		other, taken := byAlias[e.Alias]
		if !taken {
			byAlias[e.Alias] = i
			continue
		}
		o := &f.state.Tables[other]
		for _, pair := range [2][2]*Entry{{e, o}, {o, e}} {
			pair[0].Doubt = fmt.Sprintf("two live tables are called %s: %s and %s", e.Alias, pair[0].Identity, pair[1].Identity)
		}
		lo, hi := o.Identity, e.Identity
		if lo.compare(hi) > 0 {
			lo, hi = hi, lo
		}
		row := RowRef{ObjectID: (&Row{Kind: KindTable}).canonicalID(hi), Kind: KindTable}
		f.problems = append(f.problems, Problem{RuleAlias, true, row, e.Alias, fmt.Sprintf("identities %s and %s", lo, hi), "one live table a name"})
	}
}

// compare orders identities by number.
func (id Identity) compare(o Identity) int {
	return cmp.Or(cmp.Compare(id.Table, o.Table), cmp.Compare(id.Incarnation, o.Incarnation))
}

func (f *folder) sortState() {
	s := &f.state
	slices.SortFunc(s.Tables, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.Alias, b.Alias), a.Identity.compare(b.Identity))
	})
	s.Registrations = slices.SortedFunc(maps.Values(f.regs), func(a, b Registration) int { return a.Identity.compare(b.Identity) })
	slices.SortFunc(s.Tombstones, func(a, b Tombstone) int {
		return cmp.Or(a.Identity.compare(b.Identity), cmp.Compare(a.Version, b.Version))
	})
}

// checkLineage looks at what commits and heads say of each other. Nothing here
// makes the Rust engine refuse a graph.
func (f *folder) checkLineage() {
	s := &f.state
	problem := func(rule Rule, id, kind, found, expected string) {
		f.problems = append(f.problems, Problem{rule, false, RowRef{ObjectID: id, Kind: kind}, "", found, expected})
	}
	c, made := s.Commits, map[string]int{} // by branch, of one version
	for i := range c.Len() {
		version := c.Version(i)
		switch p := c.ParentRow(i, First); {
		case p >= 0 && c.Version(p) >= version:
			problem(RuleLineage, c.ID(i), KindCommit, fmt.Sprintf("manifest version %d, and %d of its parent", version, c.Version(p)), "a parent of an earlier version")
		case p < 0 && c.ParentID(i, First) != "":
			problem(RuleLineage, c.ID(i), KindCommit, "parent "+c.ParentID(i, First)+", which has no row", "a commit of this branch or of those it came from")
		}
		if i == 0 || c.Version(i-1) != version {
			clear(made)
		}
		if other, twice := made[c.Branch(i)]; twice {
			problem(RuleLineage, c.ID(i), KindCommit, fmt.Sprintf("manifest version %d, also that of commit %s", version, c.ID(other)), "one commit a version and branch")
		}
		made[c.Branch(i)] = i
	}
	for _, suffix := range slices.Sorted(maps.Keys(s.Heads)) {
		if _, ok := s.Commits.Find(s.Heads[suffix]); !ok {
			problem(RuleHead, headPrefix+suffix, KindHead, "commit "+s.Heads[suffix]+", which has no row", "a commit of the branch")
		}
	}
}
