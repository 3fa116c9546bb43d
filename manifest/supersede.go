package manifest

// written says when a row was written: the version, then the fragment, which
// tells two apart that one compaction gave the same version.
type written struct {
	version, fragment uint64
}

func (w written) before(o written) bool {
	return w.version < o.version || w.version == o.version && w.fragment < o.fragment
}

// deletionCount is what the manifest says about the deletion file of one
// fragment.
type deletionCount struct {
	fragment uint64
	rows     uint64 // rows deleted; 0 = not recorded
}

// supersede marks the rows that are deleted, as far as the rows themselves
// tell: where as many rows of a fragment as the manifest counts deleted are
// superseded by a newer row of their object id, those are the deleted ones. It
// returns the fragments whose deletion file must be read instead.
func supersede(rows []Row, counts []deletionCount) (unread []uint64) {
	at := make(map[uint64]int, len(counts))
	for i, c := range counts {
		at[c.fragment] = i
	}
	newest := make(map[string]written, len(rows))
	for i := range rows {
		w := written{rows[i].Updated, rows[i].Fragment}
		if old, ok := newest[rows[i].ObjectID]; !ok || old.before(w) {
			newest[rows[i].ObjectID] = w
		}
	}
	gone := make([][]int, len(counts)) // superseded rows, by counts
	for i := range rows {
		if c, ok := at[rows[i].Fragment]; ok {
			if w := (written{rows[i].Updated, rows[i].Fragment}); w.before(newest[rows[i].ObjectID]) {
				gone[c] = append(gone[c], i)
			}
		}
	}
	for i, c := range counts {
		if c.rows == 0 || uint64(len(gone[i])) != c.rows {
			unread = append(unread, c.fragment)
			continue
		}
		for _, r := range gone[i] {
			rows[r].Deleted = true
		}
	}
	return unread
}
