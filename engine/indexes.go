package engine

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/index"
)

// indexesOf tells the indexes that a manifest lists, by name.
func indexesOf(m *format.Manifest, bases map[uint32]format.BasePath) ([]TableIndex, error) {
	list, err := index.Describe(m)
	if err != nil {
		return nil, err
	}
	there := make(map[uint64]bool, len(m.Fragments))
	for i := range m.Fragments {
		there[m.Fragments[i].ID] = true
	}
	out := make([]TableIndex, 0, len(list))
	for _, x := range list {
		t := TableIndex{
			Name: x.Name, Kind: indexKind(x), Fields: x.Columns,
			CoveredFragments: len(x.Covered), UncoveredFragments: len(x.Uncovered), CoveredRows: x.CoveredRows,
			Segments: make([]IndexSegment, 0, len(x.Segments)),
		}
		for i := range x.Segments {
			t.Segments = append(t.Segments, segmentOf(&x.Segments[i], there, bases))
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b TableIndex) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// segmentOf tells a segment of an index. Some writers record no files, which is
// not the same as none.
func segmentOf(s *index.Segment, there map[uint64]bool, bases map[uint32]format.BasePath) IndexSegment {
	x := IndexSegment{UUID: s.UUID, Version: s.DatasetVersion, CreatedAt: s.CreatedAt, Fragments: len(s.Fragments), Base: baseName(s.Base, bases)}
	for _, f := range s.Fragments {
		if !there[uint64(f)] {
			x.Missing++
		}
	}
	known := len(s.Files) > 0
	for _, f := range s.Files {
		known = known && f.Size > 0
	}
	if known {
		x.Bytes = &s.Bytes
	}
	return x
}

// Fields of the details message of a vector index that say how it keeps
// vectors.
const (
	vectorHNSW = 3
	vectorPQ   = 4
	vectorSQ   = 5
	vectorRQ   = 6
	vectorFlat = 8
)

// indexKind spells a kind; of a vector index also how it is built, where its
// details say so: ivf_flat, ivf_hnsw_sq.
func indexKind(x index.Index) string {
	if x.Kind != index.Vector || len(x.Segments) == 0 {
		return string(x.Kind)
	}
	name, how := "ivf", ""
	for b := x.Segments[0].Details; len(b) > 0; {
		field, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			break
		}
		switch field {
		case vectorHNSW:
			name = "ivf_hnsw"
		case vectorPQ:
			how = "_pq"
		case vectorSQ:
			how = "_sq"
		case vectorRQ:
			how = "_rq"
		case vectorFlat:
			how = "_flat"
		}
		m := protowire.ConsumeFieldValue(field, wire, b[n:])
		if m < 0 {
			break
		}
		b = b[n+m:]
	}
	return name + how
}
