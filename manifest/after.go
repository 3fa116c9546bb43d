package manifest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/lance"
)

// apply folds the rows of a plan into the state of its base: what a reading of
// the version will give, without one. Lists are shared with the base where they
// did not change.
func (p *plan) apply() {
	s := p.base.State
	if s.Ignored == nil {
		s.Ignored = map[string]int{}
	}
	s.at = places{cloned(s.at.heads), cloned(s.at.tables), cloned(s.at.versions)}
	if len(p.regs) > 0 {
		s.Registrations = p.registrations()
	}
	if len(p.tombs) > 0 {
		s.Tombstones = slices.Clone(s.Tombstones)
	}
	var rows []VersionRow
	for _, r := range p.rows() {
		id, _ := r.identity()
		switch r.Kind {
		case KindVersion:
			rows = append(rows, p.versionRow(&r, id))
		case KindTombstone:
			s.Tombstones = append(s.Tombstones, Tombstone{Identity: id, Alias: r.Alias, Version: r.Version.V, Updated: p.version, row: r.ref()})
		}
	}
	s.Versions = s.Versions.with(rows)
	slices.SortFunc(s.Tombstones, func(a, b Tombstone) int {
		return cmp.Or(a.Identity.compare(b.Identity), cmp.Compare(a.Version, b.Version))
	})
	if p.commit != nil {
		s.Commits = s.Commits.with(*p.commit)
		s.Heads = cloned(s.Heads)
		s.Heads[orMain(p.base.Branch)] = p.commit.ID
	}
	if len(p.regs)+len(p.tops)+len(p.tombs) > 0 {
		s.Tables = p.tables(&s)
	}
	p.after = s
}

// cloned is a copy that can be written to.
func cloned[K comparable, V any](m map[K]V) map[K]V {
	out := make(map[K]V, len(m)+1)
	maps.Copy(out, m)
	return out
}

func (p *plan) registrations() []Registration {
	out := slices.Clone(p.base.Registrations)
	for id, reg := range p.regs {
		i, known := slices.BinarySearchFunc(out, id, func(r Registration, id Identity) int { return r.Identity.compare(id) })
		if known {
			out[i] = reg
		} else {
			out = slices.Insert(out, i, reg)
		}
	}
	return out
}

func (p *plan) versionRow(r *Row, id Identity) VersionRow {
	out := VersionRow{
		Identity: id, Alias: r.Alias, Version: r.Version.V, Owner: r.Branch.V, Rows: r.Rows.V,
		Created: p.version, Updated: p.version,
	}
	if old, ok := p.base.top(id); ok && old.Version == out.Version {
		out.Created = old.Created
	}
	return out
}

// tables are the live tables.
func (p *plan) tables(s *State) []Entry {
	out := make([]Entry, 0, len(s.Tables)+len(p.tops))
	for _, e := range s.Tables {
		if _, published := p.tops[e.Identity]; published {
			continue
		}
		if reg, renamed := p.regs[e.Identity]; renamed {
			e.Alias = reg.Alias
		}
		if tomb, ends := p.tombs[e.Identity]; !ends || tomb < e.Version {
			out = append(out, e)
		}
	}
	for id, u := range p.tops {
		if p.tombs[id] >= u.Version {
			continue
		}
		reg, _ := s.registration(id)
		out = append(out, Entry{
			Identity: id, Alias: reg.Alias, Location: reg.Location, Version: u.Version, Owner: u.Owner, Rows: u.Rows,
			Meta: u.Meta, Published: p.version,
		})
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.Alias, b.Alias), a.Identity.compare(b.Identity))
	})
	return out
}

// place notes where the rows lie now.
func (p *plan) place(rows []Row) {
	at := &p.after.at
	for i := range rows {
		r := &rows[i]
		id, _ := r.identity()
		here := r.spot().address()
		switch r.Kind {
		case KindTable:
			at.tables[id] = here
		case KindVersion:
			at.versions[id] = here
		case KindHead:
			at.heads[strings.TrimPrefix(r.ObjectID, headPrefix)] = here
		case KindTombstone:
			for k := range p.after.Tombstones {
				if t := &p.after.Tombstones[k]; t.Identity == id && t.Version == r.Version.V {
					t.row = r.ref()
				}
			}
		}
	}
}

// view is what stands there after the plan became the version of a snapshot.
func (p *plan) view(snap *lance.Snapshot) *View {
	base := p.base
	known := map[uint64]bool{}
	if base.Snapshot != nil {
		for _, f := range base.Snapshot.Fragments() {
			known[f.ID] = true
		}
	}
	for _, f := range snap.Fragments() {
		if !known[f.ID] {
			rows := p.rows()
			for i := range rows {
				rows[i].Fragment, rows[i].Offset = f.ID, uint32(i)
			}
			p.place(rows)
		}
	}
	return &View{Head: *newHead(snap, base.Ref, nil, base.opened), State: p.after, filed: base.filed}
}
