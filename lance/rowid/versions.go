package rowid

import (
	"math"
	"sort"

	"google.golang.org/protobuf/encoding/protowire"
)

// Versions is a version per row of a fragment, in physical order. It is
// immutable.
type Versions struct{ runs []run }

// run is rows of one version, up to but not including position end.
type run struct{ end, version uint64 }

// DecodeVersions reads a serialized RowDatasetVersionSequence. No bytes are an
// empty sequence.
func DecodeVersions(b []byte) (*Versions, error) {
	v := new(Versions)
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return nil, err
		}
		b = rest
		if !f.is(1, protowire.BytesType) {
			continue
		}
		if err := v.addRun(f.b); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (v *Versions) addRun(b []byte) error {
	var n, version uint64
	span := false
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return err
		}
		b = rest
		switch {
		case f.is(1, protowire.BytesType):
			seg, err := parseSegment(f.b)
			if err != nil {
				return err
			}
			n, span = seg.n, true
		case f.is(2, protowire.VarintType):
			version = f.n
		}
	}
	if !span {
		return damaged("a run of version %d has no span", version)
	}
	at := v.Len()
	if n > math.MaxUint64-at {
		return damaged("more than 2^64 values")
	}
	switch last := len(v.runs) - 1; {
	case n == 0:
	case last >= 0 && v.runs[last].version == version:
		v.runs[last].end += n
	default:
		v.runs = append(v.runs, run{at + n, version})
	}
	return nil
}

// Len is the number of rows, by the sequence's own claim.
func (v *Versions) Len() uint64 {
	if len(v.runs) == 0 {
		return 0
	}
	return v.runs[len(v.runs)-1].end
}

// At is the version of the row at position i. i must be less than Len.
func (v *Versions) At(i uint64) uint64 { return v.runs[v.find(i)].version }

func (v *Versions) find(i uint64) int {
	return sort.Search(len(v.runs), func(k int) bool { return v.runs[k].end > i })
}

// Append appends the versions of positions from..to (to excluded, at most
// Len).
func (v *Versions) Append(dst []uint64, from, to uint64) []uint64 {
	for k := v.find(from); from < to; k++ {
		for end := min(to, v.runs[k].end); from < end; from++ {
			dst = append(dst, v.runs[k].version)
		}
	}
	return dst
}

// Bounds are the lowest and the highest version; both 0 when there is none.
func (v *Versions) Bounds() (lowest, highest uint64) {
	for k, r := range v.runs {
		if k == 0 {
			lowest = r.version
		}
		lowest, highest = min(lowest, r.version), max(highest, r.version)
	}
	return lowest, highest
}
