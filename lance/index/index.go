// Package index says what the indexes of a table are and what they cover, by
// the index section of a manifest alone: no index file is read.
//
// An index is one or more segments of one name, each with a folder
// _indices/<uuid>/ of its own. A segment covers the fragments of its bitmap
// (portable 32-bit Roaring; empty bytes mean unknown, which is not the same as
// an empty bitmap) as far as they still exist. Rows of other fragments are not
// in it and have to be scanned. The kind is the type of the details message,
// told by what follows the last dot of its URL, whatever the case.
package index

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/omnideck/omnideck/lance/format"
)

// Kind is what an index can answer.
type Kind string

// The kinds that Lance 10 builds.
const (
	BTree     Kind = "btree"
	Bitmap    Kind = "bitmap"
	LabelList Kind = "label_list"
	NGram     Kind = "ngram"
	FullText  Kind = "inverted"
	Vector    Kind = "vector"
	ZoneMap   Kind = "zonemap"
	Bloom     Kind = "bloom_filter"
	RTree     Kind = "rtree"
	FM        Kind = "fm"
	Reuse     Kind = "fragment_reuse" // system: how row addresses moved
	MemWAL    Kind = "mem_wal"        // system
	Unknown   Kind = "unknown"
)

var kinds = map[string]Kind{
	"btreeindexdetails": BTree, "bitmapindexdetails": Bitmap, "labellistindexdetails": LabelList,
	"ngramindexdetails": NGram, "invertedindexdetails": FullText, "vectorindexdetails": Vector,
	"zonemapindexdetails": ZoneMap, "bloomfilterindexdetails": Bloom, "rtreeindexdetails": RTree,
	"fmindexdetails": FM, "fragmentreuseindexdetails": Reuse, "memwalindexdetails": MemWAL,
}

// KindOf tells the kind by the URL of the details message.
func KindOf(url string) Kind {
	name := url[strings.LastIndexAny(url, "./")+1:]
	if k, ok := kinds[strings.ToLower(name)]; ok {
		return k
	}
	return Unknown
}

// System reports whether Lance keeps the index for itself.
func (k Kind) System() bool { return k == Reuse || k == MemWAL }

// Segment is one segment and what it covers.
type Segment struct {
	format.Index
	Kind Kind
	// Fragments of the bitmap, ascending; those that exist no more included.
	Fragments []uint32
	Known     bool // false: the bitmap says nothing
	Bytes     uint64
}

// Index is all segments of one name.
type Index struct {
	Name     string
	Kind     Kind     // of the first segment
	Columns  []string // dotted names, "#7" for a field that the schema has not
	Segments []Segment
	// Covered and Uncovered are the ids of the table's fragments that some
	// segment covers, or none.
	Covered, Uncovered []uint64
	CoveredRows        uint64 // live rows, as far as the manifest records them
	UncoveredRows      uint64
	Known              bool // false: some segment's coverage is unknown, Covered may lack fragments
	Bytes              uint64
	Problems           []string // overlapping segments, different columns or kinds under one name
}

// maxBitmap bounds the fragments of one segment that are listed one by one.
const maxBitmap = 1 << 20

// Describe puts the segments of a manifest together by name, in the order in
// which the names appear. An error wraps format.ErrCorrupt.
func Describe(m *format.Manifest) ([]Index, error) {
	list, err := m.Indexes()
	if err != nil {
		return nil, err
	}
	var out []Index
	for _, x := range list {
		s, err := segment(x)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(out, func(o Index) bool { return o.Name == x.Name })
		if i < 0 {
			i = len(out)
			out = append(out, Index{Name: x.Name, Kind: s.Kind, Columns: columns(m.Schema, x.Fields), Known: true})
		}
		out[i].add(s)
	}
	for i := range out {
		out[i].cover(m)
	}
	return out, nil
}

func segment(x format.Index) (Segment, error) {
	s := Segment{Index: x, Kind: KindOf(x.DetailsURL)}
	for _, f := range x.Files {
		s.Bytes += f.Size
	}
	if len(x.Bitmap) == 0 {
		return s, nil
	}
	bits, err := readBitmap(x.Bitmap)
	if err != nil {
		return s, format.Corruptf("index %q, segment %s: %w", x.Name, x.UUID, err)
	}
	s.Known = true
	s.Fragments = bits
	return s, nil
}

// readBitmap reads the numbers of a Roaring bitmap.
func readBitmap(b []byte) (out []uint32, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a malformed fragment bitmap: %v", p)
		}
	}()
	bits := roaring.New()
	n, err := bits.ReadFrom(bytes.NewReader(b))
	if err == nil {
		err = bits.Validate()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("a malformed fragment bitmap: %w", err)
	case n != int64(len(b)):
		return nil, fmt.Errorf("a fragment bitmap of %d bytes in %d", n, len(b))
	case bits.GetCardinality() > maxBitmap:
		return nil, fmt.Errorf("a fragment bitmap of %d fragments", bits.GetCardinality())
	}
	return bits.ToArray(), nil
}

// add takes a segment in and notes what does not fit.
func (x *Index) add(s Segment) {
	problem := func(text string, args ...any) { x.Problems = append(x.Problems, fmt.Sprintf(text, args...)) }
	if len(x.Segments) > 0 {
		first := &x.Segments[0]
		if !slices.Equal(first.Fields, s.Fields) {
			problem("segment %s indexes fields %v, segment %s fields %v", first.UUID, first.Fields, s.UUID, s.Fields)
		}
		if first.Kind != s.Kind {
			problem("segment %s is of kind %s, segment %s of kind %s", first.UUID, first.Kind, s.UUID, s.Kind)
		}
	}
	for i := range x.Segments {
		if f, ok := overlap(x.Segments[i].Fragments, s.Fragments); ok {
			problem("segments %s and %s both cover fragment %d", x.Segments[i].UUID, s.UUID, f)
		}
	}
	x.Segments = append(x.Segments, s)
	x.Bytes += s.Bytes
	x.Known = x.Known && s.Known
}

// overlap finds the first number in both of two ascending lists.
func overlap(a, b []uint32) (uint32, bool) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			return a[0], true
		}
	}
	return 0, false
}

// cover divides the table's fragments.
func (x *Index) cover(m *format.Manifest) {
	covered := map[uint64]bool{}
	for _, s := range x.Segments {
		for _, f := range s.Fragments {
			covered[uint64(f)] = true
		}
	}
	for i := range m.Fragments {
		f := &m.Fragments[i]
		rows, _ := f.LiveRows()
		if covered[f.ID] {
			x.Covered = append(x.Covered, f.ID)
			x.CoveredRows += rows
		} else {
			x.Uncovered = append(x.Uncovered, f.ID)
			x.UncoveredRows += rows
		}
	}
}

// columns spells the names of fields.
func columns(s *format.Schema, ids []int32) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = fmt.Sprintf("#%d", id)
		if path := fieldPath(s.Fields, id); path != "" {
			out[i] = path
		}
	}
	return out
}

func fieldPath(fields []*format.Field, id int32) string {
	for _, f := range fields {
		if f.ID == id {
			return f.Name
		}
		if p := fieldPath(f.Children, id); p != "" {
			return f.Name + "." + p
		}
	}
	return ""
}
