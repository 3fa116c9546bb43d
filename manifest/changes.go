package manifest

import (
	"cmp"
	"iter"
	"slices"
)

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

// Changes are the moves of every publish that the rows still tell, with the
// manifest version that it made: table after table, each in the order of these
// versions. Rows outlive data, so the history reaches back to the first version
// even where the tables' old versions were cleaned away. No list is made of
// them.
func (s *State) Changes() iter.Seq2[uint64, Change] {
	return func(yield func(uint64, Change) bool) {
		aliases := map[Identity]string{}
		for _, r := range s.Registrations {
			aliases[r.Identity] = r.Alias
		}
		ended := map[Identity][]Tombstone{}
		for _, t := range s.Tombstones {
			ended[t.Identity] = append(ended[t.Identity], t)
		}
		for from := 0; from < s.Versions.Len(); {
			id, to := s.Versions.identity(from), from+1
			for to < s.Versions.Len() && s.Versions.identity(to) == id {
				to++
			}
			n, at := s.moments(from, to, ended[id])
			more := moves(n, at, func(when uint64, c Change) bool {
				c.Identity = id
				if alias, ok := aliases[id]; ok {
					c.Alias = alias
				}
				return yield(when, c)
			})
			if !more {
				return
			}
			from = to
		}
	}
}

// moments are the rows of one table, by when they moved it. A row that was
// rewritten in place (owner hand-off) keeps the version that first wrote it,
// which is when it moved the table. As a rule the rows stand in that order.
func (s *State) moments(from, to int, ended []Tombstone) (n int, at func(i int) moment) {
	v, sorted := &s.Versions, len(ended) == 0
	row := func(i int) moment {
		l, i := v.in(from + i)
		return moment{at: l.created.At(i), version: l.versions.At(i), rows: l.rows.At(i), alias: l.names[l.of[i]].alias}
	}
	for i := from + 1; i < to && sorted; i++ {
		sorted = row(i-1-from).at <= row(i-from).at
	}
	if sorted {
		return to - from, row
	}
	all := make([]moment, 0, to-from+len(ended))
	for i := range to - from {
		all = append(all, row(i))
	}
	for _, t := range ended {
		all = append(all, moment{at: t.Updated, tomb: t.Version, alias: t.Alias})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.version, b.version)) })
	return len(all), func(i int) moment { return all[i] }
}

// moves replays the n moments of one table; false when yield ended it.
func moves(n int, moment func(i int) moment, yield func(at uint64, c Change) bool) bool {
	var top, tomb, rows uint64
	visible := func() (uint64, uint64) {
		if tomb != 0 && tomb >= top {
			return 0, 0
		}
		return top, rows
	}
	for i := 0; i < n; {
		first := moment(i)
		c := Change{Alias: first.alias}
		c.From, c.RowsBefore = visible()
		for ; i < n; i++ {
			m := moment(i)
			if m.at != first.at {
				break
			}
			tomb = max(tomb, m.tomb)
			if m.tomb == 0 && m.version >= top {
				top, rows = m.version, m.rows
			}
		}
		if c.To, c.RowsAfter = visible(); c.From != c.To && !yield(first.at, c) {
			return false
		}
	}
	return true
}
