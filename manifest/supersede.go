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

// superseded says that a newer row of the object id was written: refs are the
// rows of that id.
func (g *gathered) superseded(at rowRef, refs []rowRef) bool {
	newest := g.spot(refs[len(refs)-1]).written()
	return g.spot(at).written().before(newest)
}

func (s spot) written() written { return written{s.updated, s.fragment} }

// supersede marks the rows that are deleted, as far as the rows themselves
// tell: where as many rows of a fragment as the manifest counts deleted are
// superseded by a newer row of their object id, those are the deleted ones. It
// returns the fragments whose deletion file must be read instead.
func (g *gathered) supersede(counts []deletionCount) (unread []uint64) {
	of := make(map[uint64]int, len(counts))
	for i, c := range counts {
		of[c.fragment] = i
	}
	gone := make([][]rowRef, len(counts)) // superseded rows, by counts
	for _, refs := range g.groups {
		for _, at := range refs {
			if c, ok := of[g.spot(at).fragment]; ok && g.superseded(at, refs) {
				gone[c] = append(gone[c], at)
			}
		}
	}
	for i, c := range counts {
		if c.rows == 0 || uint64(len(gone[i])) != c.rows {
			unread = append(unread, c.fragment)
			continue
		}
		for _, at := range gone[i] {
			g.mark(at, true)
		}
	}
	return unread
}
