package engine

import (
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
)

// placeOf names a file by where it is recorded to lie: numbers of bases may
// change from version to version, their paths do not.
type placeOf struct{ base, path string }

// filesOf visits the data files of a version.
func filesOf(s *lance.Snapshot, visit func(place placeOf, f *format.DataFile)) {
	m := s.Manifest()
	for i := range m.Fragments {
		for k := range m.Fragments[i].Files {
			f := &m.Fragments[i].Files[k]
			place := placeOf{path: f.Path}
			if f.Base.Set {
				b, _ := m.Base(f.Base.ID)
				place.base = b.Path
			}
			visit(place, f)
		}
	}
}

// dataBytes sums the data files of a version that are not among known, each
// once; nil when the manifest leaves out the size of one. Manifests record no
// size of deletion files.
func dataBytes(s *lance.Snapshot, known map[placeOf]bool) *uint64 {
	n, complete := uint64(0), true
	seen := map[placeOf]bool{}
	filesOf(s, func(place placeOf, f *format.DataFile) {
		if known[place] || seen[place] {
			return
		}
		seen[place] = true
		n += f.Size
		complete = complete && f.Size > 0
	})
	if !complete {
		return nil
	}
	return &n
}

// AddedBytes sums the data files of a version that an older version of the same
// chain does not name; nil when either was not read or a size is not recorded.
// Versions may have been removed between the two: what they added and the newer
// one still names is among it.
func AddedBytes(newer, older *lance.Snapshot) *uint64 {
	if newer == nil || older == nil {
		return nil
	}
	known := map[placeOf]bool{}
	filesOf(older, func(place placeOf, _ *format.DataFile) { known[place] = true })
	return dataBytes(newer, known)
}
