package manifest

import (
	"cmp"
	"slices"
	"strings"
)

// Compare orders commits by the head key: manifest version, then time, then
// id. The greatest of a branch is its lineage maximum.
func (c Commit) Compare(o Commit) int {
	return cmp.Or(cmp.Compare(c.ManifestVersion, o.ManifestVersion), cmp.Compare(c.CreatedAt, o.CreatedAt), strings.Compare(c.ID, o.ID))
}

// Table finds a live table by alias.
func (s *State) Table(alias string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(s.Tables, alias, func(e Entry, alias string) int { return strings.Compare(e.Alias, alias) })
	if !ok {
		return Entry{}, false
	}
	return s.Tables[i], true
}

// ByIdentity finds a live table by identity.
func (s *State) ByIdentity(id Identity) (Entry, bool) {
	i := slices.IndexFunc(s.Tables, func(e Entry) bool { return e.Identity == id })
	if i < 0 {
		return Entry{}, false
	}
	return s.Tables[i], true
}

// Commit finds a commit by id.
func (s *State) Commit(id string) (Commit, bool) {
	i, ok := s.byID[id]
	if !ok {
		return Commit{}, false
	}
	return s.Commits[i], true
}

func (s *State) has(id string) bool { _, ok := s.byID[id]; return ok }

// Head is the effective head of a branch ("" or main = main): its own
// graph_head row when present (own), else the lineage maximum. "" when there
// is no commit at all.
func (s *State) Head(branch string) (id string, own bool) {
	if branch == "" {
		branch = Main
	}
	if id, own = s.Heads[branch]; own {
		return id, true
	}
	if len(s.Commits) > 0 {
		return s.Commits[0].ID, false
	}
	return "", false
}

// Change is what one publish did to one table.
type Change struct {
	Identity
	Alias      string // current alias; the row's own when the table is gone
	From, To   uint64 // 0 = the table did not exist before / is gone after
	RowsBefore uint64
	RowsAfter  uint64
}

// moment is a row that moved a table: version 0 is a tombstone.
type moment struct {
	at      uint64 // manifest version
	version uint64
	rows    uint64
	alias   string
	tomb    uint64
}

// Changes are the moves of every publish that the rows still tell, by the
// manifest version that it made. Versions that moved no table are absent. Rows
// outlive data, so the history reaches back to the first version even where
// the tables' old versions were cleaned away.
func (s *State) Changes() map[uint64][]Change {
	out := map[uint64][]Change{}
	moments := s.moments()
	aliases := map[Identity]string{}
	for _, r := range s.Registrations {
		aliases[r.Identity] = r.Alias
	}
	ids := make([]Identity, 0, len(moments))
	for id := range moments {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, Identity.compare)
	for _, id := range ids {
		for at, c := range moves(moments[id]) {
			c.Identity = id
			if alias, ok := aliases[id]; ok {
				c.Alias = alias
			}
			out[at] = append(out[at], c)
		}
	}
	for at := range out {
		slices.SortStableFunc(out[at], func(a, b Change) int { return strings.Compare(a.Alias, b.Alias) })
	}
	return out
}

// moments are the rows by table. A row that was rewritten in place (owner
// hand-off) keeps the version that first wrote it, which is when it moved the
// table.
func (s *State) moments() map[Identity][]moment {
	out := map[Identity][]moment{}
	for i := range s.Versions {
		v := &s.Versions[i]
		out[v.Identity] = append(out[v.Identity], moment{at: v.Created, version: v.Version, rows: v.Rows, alias: v.Alias})
	}
	for _, t := range s.Tombstones {
		out[t.Identity] = append(out[t.Identity], moment{at: t.Updated, tomb: t.Version, alias: t.Alias})
	}
	return out
}

// moves replays the moments of one table.
func moves(ms []moment) map[uint64]Change {
	slices.SortFunc(ms, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.version, b.version)) })
	out := map[uint64]Change{}
	var top, tomb, rows uint64
	visible := func() (uint64, uint64) {
		if tomb != 0 && tomb >= top {
			return 0, 0
		}
		return top, rows
	}
	for i := 0; i < len(ms); {
		c := Change{Alias: ms[i].alias}
		c.From, c.RowsBefore = visible()
		at := ms[i].at
		for ; i < len(ms) && ms[i].at == at; i++ {
			tomb = max(tomb, ms[i].tomb)
			if ms[i].tomb == 0 && ms[i].version >= top {
				top, rows = ms[i].version, ms[i].rows
			}
		}
		if c.To, c.RowsAfter = visible(); c.From != c.To {
			out[at] = c
		}
	}
	return out
}
